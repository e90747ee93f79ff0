/* SPDX-License-Identifier: MIT */
/* nvcuda::wmma, of the runtime's own header. */
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__

#include "cuda_fp16.h"
#include "cuda_bf16.h"

#if defined(__cplusplus) && defined(__MXCC__)
#include <maca_mma.h>
#endif

#endif
