/* SPDX-License-Identifier: MIT */
/* Types of textures come with the runtime's. */
#ifndef MXGPU_CUDA_TEXTURE_TYPES_H
#define MXGPU_CUDA_TEXTURE_TYPES_H

#include "cuda_adaptor/types.h"

#endif
