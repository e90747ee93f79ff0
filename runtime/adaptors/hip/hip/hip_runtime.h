/* SPDX-License-Identifier: MIT */
/*
 * HIP's runtime interface and, when mxcc compiles a file with kernels, the
 * language of kernels. mxcc includes this header before such a file.
 */
#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_H
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H

#if defined(__MXCC__) && defined(__HIPCC_RTC__) && __cplusplus < 202002L
#define __MC_RTC_LEAN__ 1
#include "mcr/device/rtc_begin.h"
#endif

#include "hip/hip_runtime_api.h"
#include "hip/hip_vector_types.h"

#ifdef __MXCC__
#include "mcr/mc_runtime.h"
#include "hip/adaptor/device.h"
#else
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#endif

#ifdef __MC_RTC_LEAN__
#include "mcr/device/rtc_end.h"
/* As HIPRTC has them. */
typedef int int32_t;
typedef long long int64_t;
typedef unsigned uint32_t;
typedef unsigned long long uint64_t;
#endif

#endif
