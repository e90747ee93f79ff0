/* SPDX-License-Identifier: MIT */
/*
 * CUDA's driver interface, over the mc* one. C11 and C++17. What it has is in
 * cuda_adaptor/driver.def. Handles are the same as those of cuda_runtime_api.h,
 * and contexts the same objects.
 */
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__

#define CUDA_VERSION 11060
#define CUDAAPI
#define CUDA_CB

#include "cuda_adaptor/driver_types.h"

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || \
    defined(MACA_API_PER_THREAD_DEFAULT_STREAM) || \
    defined(__MXCC_PER_THREAD__)
#include "cuda_adaptor/driver_per_thread.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define CU(name, parameters, call) CUresult CUDAAPI name parameters;
#define CUS CU
#include "cuda_adaptor/driver.def"
#undef CUS
#undef CU

/* Called by these names the stream NULL is the legacy one, always. */
#define CU_V2(name) extern __typeof__(name) name##_v2;
#define CUS_V2 CU_V2
#include "cuda_adaptor/driver_versions.def"
#undef CUS_V2
#undef CU_V2

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **pStr);
CUresult CUDAAPI cuGetErrorString(CUresult error, const char **pStr);
/* NULL, and CUDA_ERROR_NOT_FOUND, when there is none of that name. */
CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **pfn,
                                  int cudaVersion, unsigned long long flags);

#ifdef __cplusplus
}
#endif

#endif
