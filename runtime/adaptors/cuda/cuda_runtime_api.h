/* SPDX-License-Identifier: MIT */
/* CUDA's runtime interface, over the mc* one. C11 and C++17. */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#include "cuda_adaptor/functions.h"
#include "cuda_adaptor/absent.h"

#endif
