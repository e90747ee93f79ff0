/* SPDX-License-Identifier: MIT */
/*
 * The mc* interface under HIP's names: a program sees functions and types of
 * HIP, and no macro has one of their names, but for those that are macros in
 * HIP too. The other headers of this folder include this one first.
 */
#ifndef MXGPU_HIP_MC_H
#define MXGPU_HIP_MC_H

#include "hip/hip_version.h"

/* As HIP for AMD's devices has it: warps have 64 threads here, too. */
#if !defined(__HIP_PLATFORM_AMD__) && !defined(__HIP_PLATFORM_NVIDIA__)
#define __HIP_PLATFORM_AMD__ 1
#endif

#include "hip/adaptor/names.h"

#define __MC_VECTOR_CONSTRUCTORS__ 1 /* float4(1, 2, 3, 4) */
/* Beside the folder of HIP's headers where only that one is searched. */
#if __has_include(<mcr/mc_vector_types.h>)
#include <mcr/mc_vector_types.h>
#include "dim3.h"
#include <mcr/mc_runtime_api.h>
#else
#include "../../../mcr/mc_vector_types.h"
#include "dim3.h"
#include "../../../mcr/mc_runtime_api.h"
#endif

#include "hip/adaptor/flags.h"

/* Keywords, for sources that only the host's compiler sees. */
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
#define __launch_bounds__(...)
#endif

#endif
