/* SPDX-License-Identifier: MIT */
/* Types of surfaces come with the runtime's. */
#ifndef MXGPU_CUDA_SURFACE_TYPES_H
#define MXGPU_CUDA_SURFACE_TYPES_H

#include "cuda_adaptor/types.h"

#endif
