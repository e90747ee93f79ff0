/* SPDX-License-Identifier: MIT */
/* What kernels may call of the runtime comes with its own headers. */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "cuda_runtime_api.h"

#endif
