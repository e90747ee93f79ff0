/* SPDX-License-Identifier: MIT */
/* Where a thread is: of mxcc's own headers when it compiles kernels. Elsewhere
 * the names exist, and nothing can use them. */
#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "vector_types.h"

#ifndef __MXCC__
#ifdef __cplusplus
extern "C" {
#endif
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
extern const int warpSize;
#ifdef __cplusplus
}
#endif
#endif

#endif
