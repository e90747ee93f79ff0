/* SPDX-License-Identifier: MIT */
/* Where a thread is, and barriers, fences and clocks. */
#ifndef MCR_DEVICE_BUILTINS_H
#define MCR_DEVICE_BUILTINS_H

#include "keywords.h"
#include "mcr/mc_vector_types.h"
#include "mxgpu/isa.h"
#include "mxgpu/kernel.h"

/*
 * Warps have 64 lanes. mxcc --warp-size=32 is for programs that count on 32:
 * each half of a warp is one to them, which is all that the names of kernels
 * show. __mc_... functions are about the warp as it is.
 */
#ifdef __MC_WARP_SIZE__
static constexpr int warpSize = __MC_WARP_SIZE__;
#else
static constexpr int warpSize = 64;
#endif
static_assert(warpSize == 32 || warpSize == 64, "warps have 32 or 64 lanes");

/* A value that does not change while the thread runs, at most max. */
template <unsigned csr, unsigned long max>
__MC_DEVICE__ unsigned __mc_csr()
{
    unsigned long v;

    __asm__("csrr %0, %1" : "=r"(v) : "i"(csr));
    __builtin_assume(v <= max);
    return (unsigned)v;
}

/* Instructions of isa.h; "memory" because others' stores become visible. */
#define __MC_INSN(f3, f7, rd, rs1, rs2)                                        \
    __asm__ volatile(".insn r 0x0b, %1, %2, %0, %3, %z4"                       \
                     : "=r"(rd)                                                \
                     : "i"(f3), "i"(f7), "r"(rs1), "rJ"(rs2)                   \
                     : "memory")

#define __MC_COORDINATES(type, object, csr_x, csr_y, csr_z, max_x, max_yz)     \
    struct type {                                                              \
        __declspec(property(get = __x)) unsigned x;                            \
        __declspec(property(get = __y)) unsigned y;                            \
        __declspec(property(get = __z)) unsigned z;                            \
        __device__ __MC_INLINE__ unsigned __x() const                        \
        {                                                                      \
            return __mc_csr<csr_x, max_x>();                                   \
        }                                                                      \
        __device__ __MC_INLINE__ unsigned __y() const                        \
        {                                                                      \
            return __mc_csr<csr_y, max_yz>();                                  \
        }                                                                      \
        __device__ __MC_INLINE__ unsigned __z() const                        \
        {                                                                      \
            return __mc_csr<csr_z, max_yz>();                                  \
        }                                                                      \
        __device__ __MC_INLINE__ operator uint3() const                      \
        {                                                                      \
            return make_uint3(__x(), __y(), __z());                            \
        }                                                                      \
        __device__ __MC_INLINE__ operator dim3() const                       \
        {                                                                      \
            return dim3(__x(), __y(), __z());                                  \
        }                                                                      \
    };                                                                         \
    static const __device__ type object = {}

__MC_COORDINATES(__mc_threadIdx_t, threadIdx, MXGPU_CSR_TID_X,
                 MXGPU_CSR_TID_Y, MXGPU_CSR_TID_Z, 1023, 1023);
__MC_COORDINATES(__mc_blockDim_t, blockDim, MXGPU_CSR_NTID_X,
                 MXGPU_CSR_NTID_Y, MXGPU_CSR_NTID_Z, 1024, 1024);
__MC_COORDINATES(__mc_blockIdx_t, blockIdx, MXGPU_CSR_CTAID_X,
                 MXGPU_CSR_CTAID_Y, MXGPU_CSR_CTAID_Z, 0xffffffff,
                 0xffffffff);
__MC_COORDINATES(__mc_gridDim_t, gridDim, MXGPU_CSR_NCTAID_X,
                 MXGPU_CSR_NCTAID_Y, MXGPU_CSR_NCTAID_Z, 0xffffffff,
                 0xffffffff);

__MC_DEVICE__ unsigned __mc_lane_id()
{
    return __mc_csr<MXGPU_CSR_LANE, 63>();
}

__MC_DEVICE__ unsigned __lane_id()
{
    return __mc_lane_id() & (warpSize - 1);
}

__MC_DEVICE__ unsigned __warp_id()
{
    unsigned warp = __mc_csr<MXGPU_CSR_WARP, 15>();

    return warpSize == 64 ? warp : 2 * warp + __mc_lane_id() / 32;
}

/* The compute unit that runs the block. */
__MC_DEVICE__ unsigned __smid()
{
    return __mc_csr<MXGPU_CSR_CU, 0xffff>();
}

/* Waits until every thread of the block that has not ended is here. */
__MC_DEVICE__ void __syncthreads()
{
    __asm__ volatile(".insn r 0x0b, %0, %1, x0, x0, x0"
                     :
                     : "i"(MXGPU_F3_CONTROL), "i"(MXGPU_F7_BARRIER)
                     : "memory");
}

/* The same, and whether the predicate holds for all, for any, for how many. */
__MC_DEVICE__ int __syncthreads_and(int predicate)
{
    unsigned long r;

    __MC_INSN(MXGPU_F3_CONTROL, MXGPU_F7_BAR_AND, r, (long)predicate, 0L);
    return (int)r;
}

__MC_DEVICE__ int __syncthreads_or(int predicate)
{
    unsigned long r;

    __MC_INSN(MXGPU_F3_CONTROL, MXGPU_F7_BAR_OR, r, (long)predicate, 0L);
    return (int)r;
}

__MC_DEVICE__ int __syncthreads_count(int predicate)
{
    unsigned long r;

    __MC_INSN(MXGPU_F3_CONTROL, MXGPU_F7_BAR_COUNT, r, (long)predicate, 0L);
    return (int)r;
}

/* Barrier number id (0 to 15) of the block, apart from __syncthreads(): opens
 * when count threads have arrived; without count, all that have not ended. */
__MC_DEVICE__ void __barrier_sync_count(unsigned id, unsigned count)
{
    __asm__ volatile(".insn r 0x0b, %0, %1, x0, %2, %3"
                     :
                     : "i"(MXGPU_F3_CONTROL), "i"(MXGPU_F7_BAR_SYNC),
                       "r"((unsigned long)id), "r"((unsigned long)count)
                     : "memory");
}

__MC_DEVICE__ void __barrier_sync(unsigned id)
{
    __barrier_sync_count(id, 0);
}

/* Counts as arrived and does not wait. */
__MC_DEVICE__ void __barrier_arrive_count(unsigned id, unsigned count)
{
    __asm__ volatile(".insn r 0x0b, %0, %1, x0, %2, %3"
                     :
                     : "i"(MXGPU_F3_CONTROL), "i"(MXGPU_F7_BAR_ARRIVE),
                       "r"((unsigned long)id), "r"((unsigned long)count)
                     : "memory");
}

__MC_DEVICE__ void __barrier_arrive(unsigned id)
{
    __barrier_arrive_count(id, 0);
}

/* All threads of the grid: kernels of mcLaunchCooperativeKernel only. */
__MC_DEVICE__ void __grid_sync()
{
    __asm__ volatile(".insn r 0x0b, %0, %1, x0, x0, x0"
                     :
                     : "i"(MXGPU_F3_CONTROL), "i"(MXGPU_F7_GRID_SYNC)
                     : "memory");
}

__MC_DEVICE__ bool __is_cooperative()
{
    return __mc_csr<MXGPU_CSR_COOPERATIVE, 1>();
}

/* Earlier accesses are visible to the block, the device, or everyone before
 * later ones. */
__MC_DEVICE__ void __threadfence_block()
{
    __asm__ volatile("fence rw, rw" ::: "memory");
}

__MC_DEVICE__ void __threadfence()
{
    __asm__ volatile("fence rw, rw" ::: "memory");
}

__MC_DEVICE__ void __threadfence_system()
{
    __asm__ volatile("fence" ::: "memory");
}

/* Nanoseconds of the device. */
__MC_DEVICE__ long long wall_clock64()
{
    long long v;

    __asm__ volatile("csrr %0, time" : "=r"(v)::"memory");
    return v;
}

/* Ticks of the rate that mcDeviceAttributeClockRate states, 1 GHz: programs
 * turn them into time. (The instructions of a warp are in CSR cycle.) */
__MC_DEVICE__ long long clock64()
{
    return wall_clock64();
}

__MC_DEVICE__ long __clock()
{
    return (long)clock64();
}

__MC_DEVICE__ long long __clock64()
{
    return clock64();
}

__MC_DEVICE__ long clock()
{
    return (long)clock64();
}

__MC_DEVICE__ unsigned long long __globaltimer()
{
    return (unsigned long long)wall_clock64();
}

/* At least so many nanoseconds; threads of the warp that went another way run
 * meanwhile. */
__MC_DEVICE__ void __nanosleep(unsigned ns)
{
    unsigned long long start = __globaltimer();

    do {
        __threadfence_block();
    } while (__globaltimer() - start < ns);
}

/* Ends the kernel with mcErrorLaunchFailure. */
__attribute__((noreturn)) __MC_DEVICE__ void __trap()
{
    __asm__ volatile("ebreak" ::: "memory");
    __builtin_unreachable();
}

/* Of the C library, beside the host's. */
extern "C" __attribute__((noreturn)) __device__ __MC_INLINE__ void
abort() noexcept
{
    __trap();
}

/* There is no debugger to stop in: the same as __trap(). */
__attribute__((noreturn)) __MC_DEVICE__ void __brkpt()
{
    __trap();
}

#endif
