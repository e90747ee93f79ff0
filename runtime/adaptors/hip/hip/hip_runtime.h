/* SPDX-License-Identifier: MIT */
/*
 * HIP's runtime interface and, when mxcc compiles a file with kernels, the
 * language of kernels. mxcc includes this header before such a file.
 */
#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_H
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H

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

#endif
