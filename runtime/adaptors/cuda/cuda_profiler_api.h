/* SPDX-License-Identifier: MIT */
/* cudaProfilerStart() and cudaProfilerStop(). */
#ifndef __CUDA_PROFILER_API_H__
#define __CUDA_PROFILER_API_H__

#include "cuda_adaptor/functions.h"

#endif
