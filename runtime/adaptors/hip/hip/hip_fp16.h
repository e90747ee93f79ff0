/* SPDX-License-Identifier: MIT */
/* half and half2, of the runtime's own header. */
#ifndef HIP_INCLUDE_HIP_HIP_FP16_H
#define HIP_INCLUDE_HIP_HIP_FP16_H

#include "hip/hip_runtime.h"

#ifdef __cplusplus
#if __has_include("../../common/maca_fp16.h")
#include "../../common/maca_fp16.h"
#else
#include <common/maca_fp16.h>
#endif
#endif

#endif
