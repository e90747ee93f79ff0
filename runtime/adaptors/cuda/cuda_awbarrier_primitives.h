/* SPDX-License-Identifier: MIT */
/* Part of cuda_awbarrier.h. */
#ifndef _CUDA_AWBARRIER_PRIMITIVES_H_
#define _CUDA_AWBARRIER_PRIMITIVES_H_

#include "cuda_awbarrier.h"

#endif
