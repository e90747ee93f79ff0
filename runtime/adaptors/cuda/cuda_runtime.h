/* SPDX-License-Identifier: MIT */
/*
 * CUDA's runtime interface and, when mxcc compiles a file with kernels, the
 * language of kernels. mxcc includes this header before such a file.
 */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#if defined(__MXCC__) && defined(__CUDACC_RTC__) && __cplusplus < 202002L
#define __MC_RTC_LEAN__ 1
#include "mcr/device/rtc_begin.h"
#endif

#include "cuda_runtime_api.h"

#ifdef __MXCC__
#include "mcr/mc_runtime.h"
#include "cuda_device_runtime_api.h"
#include "device_launch_parameters.h"
#endif

#include "vector_functions.h"

#ifdef __MC_RTC_LEAN__
#include "mcr/device/rtc_end.h"
#endif

#endif
