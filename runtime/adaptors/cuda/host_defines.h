/* SPDX-License-Identifier: MIT */
/* Keywords of kernels, for sources that only the host's compiler sees. With
 * kernels they are those of mcr/device/keywords.h. */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#ifdef __MXCC__
#include "mcr/device/keywords.h"
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__
#endif

#define __builtin_align__(n) __align__(n)
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __no_return__ __attribute__((noreturn))

#endif
