/* SPDX-License-Identifier: MIT */
/* cuProfilerStart() and cuProfilerStop(). */
#ifndef __cuda_cuda_profiler_h__
#define __cuda_cuda_profiler_h__

#include "cuda.h"

#endif
