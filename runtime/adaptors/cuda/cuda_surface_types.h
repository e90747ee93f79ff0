/* SPDX-License-Identifier: MIT */
/* Part of cuda_runtime.h. */
#ifndef __CUDA_SURFACE_TYPES_H__
#define __CUDA_SURFACE_TYPES_H__

#include "cuda_runtime.h"

#endif
