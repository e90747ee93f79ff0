/* SPDX-License-Identifier: MIT */
/*
 * CUDA's runtime interface and, when mxcc compiles a file with kernels, the
 * language of kernels. mxcc includes this header before such a file.
 */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "cuda_runtime_api.h"

#ifdef __MXCC__
#include "mcr/mc_runtime.h"
#include "device_launch_parameters.h"
#endif

#include "vector_functions.h"

#endif
