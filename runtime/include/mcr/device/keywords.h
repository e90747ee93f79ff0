/* SPDX-License-Identifier: MIT */
/*
 * Keywords of kernels. mx-kernel-link finds kernels and their bounds by the
 * annotations, and extern __shared__ arrays because they are weak.
 */
#ifndef MCR_DEVICE_KEYWORDS_H
#define MCR_DEVICE_KEYWORDS_H

#define __host__     __attribute__((host))
#define __device__   __attribute__((device))

/* Host and device see a pointer to it, which registration sets. */
#define __managed__  __attribute__((managed))

#ifdef __MACA_ARCH__
#define __constant__ __attribute__((constant, annotate("mxgpu.constant")))
#define __global__ __attribute__((global, annotate("mxgpu.kernel")))
#define __shared__ __attribute__((shared, weak_import))
#define __launch_bounds__(...)                                                 \
    __attribute__((launch_bounds(__VA_ARGS__),                                 \
                   annotate("mxgpu.launch_bounds", __VA_ARGS__)))
#else
#define __constant__ __attribute__((constant))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif

/* __noinline__ is the compiler's own keyword here: as a macro it would break
 * the C++ library, which writes __attribute__((__noinline__)). */
#define __forceinline__ inline __attribute__((always_inline))

#define __align__(n) __attribute__((aligned(n)))

/* A parameter that is read where it was passed: all are. */
#define __grid_constant__

/* Functions of these headers. Their instructions count for the line they are
 * called from: that is what faults and hot lines should name. */
#define __MC_INLINE__ inline __attribute__((always_inline, nodebug))
#define __MC_DEVICE__ static __device__ __MC_INLINE__
#define __MC_BOTH__   static __host__ __device__ __MC_INLINE__

#endif
