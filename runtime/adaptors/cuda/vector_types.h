/* SPDX-License-Identifier: MIT */
/* char1 ... double4, and dim3. */
#ifndef MXGPU_CUDA_VECTOR_TYPES_H
#define MXGPU_CUDA_VECTOR_TYPES_H

#include "cuda_adaptor/mc.h"

#endif
