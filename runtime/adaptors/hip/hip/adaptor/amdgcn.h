/* SPDX-License-Identifier: MIT */
/*
 * What programs call of the built-in functions of AMD's compiler, as functions.
 * A warp has 64 lanes here, too. There are none for data paths that depend on
 * that hardware (DPP, buffers, matrix cores): those names are not declared.
 */
#ifndef MXGPU_HIP_AMDGCN_H
#define MXGPU_HIP_AMDGCN_H

#define MXGPU_AMDGCN __device__ static inline __attribute__((always_inline))

/* ---- where a thread is ---- */

#define MXGPU_AMDGCN_AXIS(axis)                                                \
    MXGPU_AMDGCN unsigned __builtin_amdgcn_workitem_id_##axis()                \
    {                                                                          \
        return threadIdx.axis;                                                 \
    }                                                                          \
    MXGPU_AMDGCN unsigned __builtin_amdgcn_workgroup_id_##axis()               \
    {                                                                          \
        return blockIdx.axis;                                                  \
    }                                                                          \
    MXGPU_AMDGCN unsigned short __builtin_amdgcn_workgroup_size_##axis()       \
    {                                                                          \
        return (unsigned short)blockDim.axis;                                  \
    }                                                                          \
    MXGPU_AMDGCN unsigned __builtin_amdgcn_grid_size_##axis()                  \
    {                                                                          \
        return gridDim.axis * blockDim.axis;                                   \
    }
MXGPU_AMDGCN_AXIS(x)
MXGPU_AMDGCN_AXIS(y)
MXGPU_AMDGCN_AXIS(z)
#undef MXGPU_AMDGCN_AXIS

MXGPU_AMDGCN unsigned __builtin_amdgcn_wavefrontsize()
{
    return 64;
}

/* Lanes of a mask below the own one, of the lower and the upper 32. */
MXGPU_AMDGCN unsigned __builtin_amdgcn_mbcnt_lo(unsigned mask, unsigned add)
{
    unsigned lane = __lane_id();

    return add + __popc(lane < 32 ? mask & ((1u << lane) - 1) : mask);
}

MXGPU_AMDGCN unsigned __builtin_amdgcn_mbcnt_hi(unsigned mask, unsigned add)
{
    unsigned lane = __lane_id();

    return add + (lane < 32 ? 0 : __popc(mask & ((1u << (lane - 32)) - 1)));
}

/* ---- order ---- */

MXGPU_AMDGCN void __builtin_amdgcn_s_barrier()
{
    __syncthreads();
}

/* Lanes of a warp run together; the compiler must not move memory accesses. */
MXGPU_AMDGCN void __builtin_amdgcn_wave_barrier()
{
    __asm__ volatile("" ::: "memory");
}

/* For all of the system, which every scope is part of. */
MXGPU_AMDGCN void __builtin_amdgcn_fence(unsigned, const char *)
{
    __threadfence_system();
}

MXGPU_AMDGCN void __builtin_amdgcn_s_waitcnt(int)
{
    __threadfence_block();
}

MXGPU_AMDGCN void __builtin_amdgcn_sched_barrier(int)
{
}

MXGPU_AMDGCN void __builtin_amdgcn_s_setprio(short)
{
}

/* In steps of 64 cycles. */
MXGPU_AMDGCN void __builtin_amdgcn_s_sleep(int steps)
{
    __nanosleep(64u * (unsigned)steps);
}

MXGPU_AMDGCN unsigned long long __builtin_amdgcn_s_memtime()
{
    return clock64();
}

MXGPU_AMDGCN unsigned long long __builtin_amdgcn_s_memrealtime()
{
    return wall_clock64();
}

/* ---- lanes ---- */

MXGPU_AMDGCN int __builtin_amdgcn_readlane(int value, int lane)
{
    return __shfl(value, lane, 64);
}

/* The lanes that run together. */
MXGPU_AMDGCN unsigned long __builtin_amdgcn_read_exec()
{
    return __activemask();
}

MXGPU_AMDGCN unsigned __builtin_amdgcn_read_exec_lo()
{
    return (unsigned)(unsigned long)__activemask();
}

MXGPU_AMDGCN unsigned __builtin_amdgcn_read_exec_hi()
{
    return (unsigned)((unsigned long)__activemask() >> 32);
}

MXGPU_AMDGCN int __builtin_amdgcn_readfirstlane(int value)
{
    return __shfl(value, __ffsll((unsigned long long)__activemask()) - 1, 64);
}

/* address: four times the lane to read. */
MXGPU_AMDGCN int __builtin_amdgcn_ds_bpermute(int address, int value)
{
    return __shfl(value, address >> 2 & 63, 64);
}

MXGPU_AMDGCN unsigned long long __builtin_amdgcn_ballot_w64(bool predicate)
{
    return __ballot(predicate);
}

/* ---- bits and bytes ---- */

MXGPU_AMDGCN unsigned __builtin_amdgcn_ubfe(unsigned source, unsigned offset,
                                            unsigned width)
{
    return source >> (offset & 31) & ((1u << (width & 31)) - 1);
}

MXGPU_AMDGCN int __builtin_amdgcn_sbfe(int source, unsigned offset,
                                       unsigned width)
{
    unsigned bits = __builtin_amdgcn_ubfe((unsigned)source, offset, width);
    unsigned unused = 32 - (width & 31);

    return unused == 32 ? 0 : (int)(bits << unused) >> unused;
}

MXGPU_AMDGCN unsigned __builtin_amdgcn_alignbit(unsigned high, unsigned low,
                                                unsigned shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}

MXGPU_AMDGCN unsigned __builtin_amdgcn_alignbyte(unsigned high, unsigned low,
                                                 unsigned bytes)
{
    return __builtin_amdgcn_alignbit(high, low, 8 * (bytes & 3));
}

/* Each byte of selector is a byte of low (0 to 3) or high (4 to 7), a sign of
 * one of their halves (8 to 11), 0 (12) or 255. */
MXGPU_AMDGCN unsigned __builtin_amdgcn_perm(unsigned high, unsigned low,
                                            unsigned selector)
{
    unsigned long long source = (unsigned long long)high << 32 | low;
    unsigned result = 0;

    for (int i = 0; i < 32; i += 8) {
        unsigned which = selector >> i & 255;
        unsigned byte =
            which < 8 ? (unsigned)(source >> 8 * which) & 255 :
            which < 12 ? (source >> (16 * (which - 8) + 15) & 1) * 255u :
            which == 12 ? 0 : 255;

        result |= byte << i;
    }
    return result;
}

MXGPU_AMDGCN unsigned __builtin_amdgcn_sad_u8(unsigned a, unsigned b,
                                              unsigned c)
{
    return __vsadu4(a, b) + c;
}

MXGPU_AMDGCN unsigned __builtin_amdgcn_mul_u24(unsigned a, unsigned b)
{
    return __umul24(a, b);
}

MXGPU_AMDGCN int __builtin_amdgcn_mul_i24(int a, int b)
{
    return __mul24(a, b);
}

/* ---- numbers ---- */

#define MXGPU_AMDGCN_REAL(name, type, call)                                    \
    MXGPU_AMDGCN type __builtin_amdgcn_##name(type x)                          \
    {                                                                          \
        return call;                                                           \
    }
MXGPU_AMDGCN_REAL(rcpf, float, 1 / x)
MXGPU_AMDGCN_REAL(rcp, double, 1 / x)
MXGPU_AMDGCN_REAL(rsqf, float, rsqrtf(x))
MXGPU_AMDGCN_REAL(rsq, double, rsqrt(x))
MXGPU_AMDGCN_REAL(sqrtf, float, sqrtf(x))
MXGPU_AMDGCN_REAL(sqrt, double, sqrt(x))
MXGPU_AMDGCN_REAL(exp2f, float, exp2f(x))
MXGPU_AMDGCN_REAL(logf, float, log2f(x))
MXGPU_AMDGCN_REAL(sinf, float, sinpif(2 * x)) /* of turns */
MXGPU_AMDGCN_REAL(cosf, float, cospif(2 * x))
MXGPU_AMDGCN_REAL(fractf, float, x - floorf(x))
MXGPU_AMDGCN_REAL(fract, double, x - floor(x))
#undef MXGPU_AMDGCN_REAL

/* The one in the middle. */
MXGPU_AMDGCN float __builtin_amdgcn_fmed3f(float a, float b, float c)
{
    return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

MXGPU_AMDGCN float __builtin_amdgcn_ldexpf(float x, int exponent)
{
    return ldexpf(x, exponent);
}

#undef MXGPU_AMDGCN

#endif
