/* SPDX-License-Identifier: MIT */
/* make_char1() ... make_double4(). */
#ifndef MXGPU_CUDA_VECTOR_FUNCTIONS_H
#define MXGPU_CUDA_VECTOR_FUNCTIONS_H

#include "cuda_adaptor/mc.h"

#endif
