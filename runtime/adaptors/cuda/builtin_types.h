/* SPDX-License-Identifier: MIT */
/* All types. */
#ifndef MXGPU_CUDA_BUILTIN_TYPES_H
#define MXGPU_CUDA_BUILTIN_TYPES_H

#include "cuda_adaptor/types.h"

#endif
