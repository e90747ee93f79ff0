/* SPDX-License-Identifier: MIT */
/*
 * Atomic operations on shared and global memory; each returns the old value.
 * They are atomic for all threads and the CPU and order nothing else. Forms
 * with _block and _system are the same.
 */
#ifndef MCR_DEVICE_ATOMICS_H
#define MCR_DEVICE_ATOMICS_H

#include "builtins.h"
#include "intrinsics.h"

/* Templates, so that a program's own function of the same name and type, from
 * when there was none, is the one that is called. */
#define __MC_ATOMIC_FN template <class = void> __MC_DEVICE__

#define __MC_ATOMIC(name, type, builtin)                                       \
    __MC_ATOMIC_FN type name(type *p, type v)                                  \
    {                                                                          \
        return builtin(p, v, __ATOMIC_RELAXED);                                \
    }                                                                          \
    __MC_ATOMIC_FN type name##_block(type *p, type v)                          \
    {                                                                          \
        return name(p, v);                                                     \
    }                                                                          \
    __MC_ATOMIC_FN type name##_system(type *p, type v)                         \
    {                                                                          \
        return name(p, v);                                                     \
    }
#define __MC_ATOMICS(name, builtin)                                            \
    __MC_ATOMIC(name, int, builtin)                                            \
    __MC_ATOMIC(name, unsigned, builtin)                                       \
    __MC_ATOMIC(name, long, builtin)                                           \
    __MC_ATOMIC(name, unsigned long, builtin)                                  \
    __MC_ATOMIC(name, long long, builtin)                                      \
    __MC_ATOMIC(name, unsigned long long, builtin)

__MC_ATOMICS(atomicAdd, __atomic_fetch_add)
__MC_ATOMICS(atomicSub, __atomic_fetch_sub)
__MC_ATOMICS(atomicAnd, __atomic_fetch_and)
__MC_ATOMICS(atomicOr, __atomic_fetch_or)
__MC_ATOMICS(atomicXor, __atomic_fetch_xor)
__MC_ATOMICS(atomicMin, __atomic_fetch_min)
__MC_ATOMICS(atomicMax, __atomic_fetch_max)
__MC_ATOMICS(atomicExch, __atomic_exchange_n)

#undef __MC_ATOMICS

#define __MC_FATOMIC(name, type, f7)                                           \
    __MC_ATOMIC_FN type name(type *p, type v)                                  \
    {                                                                          \
        unsigned long r;                                                       \
                                                                               \
        __MC_INSN(MXGPU_F3_FATOMIC, f7, r, p, __mc_atomic_bits(v));            \
        return __mc_atomic_value(r, v);                                        \
    }                                                                          \
    __MC_ATOMIC_FN type name##_block(type *p, type v)                          \
    {                                                                          \
        return name(p, v);                                                     \
    }                                                                          \
    __MC_ATOMIC_FN type name##_system(type *p, type v)                         \
    {                                                                          \
        return name(p, v);                                                     \
    }

__MC_DEVICE__ unsigned long __mc_atomic_bits(float v)
{
    return __float_as_uint(v);
}

__MC_DEVICE__ unsigned long __mc_atomic_bits(double v)
{
    return __double_as_longlong(v);
}

__MC_DEVICE__ float __mc_atomic_value(unsigned long bits, float)
{
    return __uint_as_float((unsigned)bits);
}

__MC_DEVICE__ double __mc_atomic_value(unsigned long bits, double)
{
    return __longlong_as_double((long long)bits);
}

__MC_FATOMIC(atomicAdd, float, MXGPU_F7_FADD_S)
__MC_FATOMIC(atomicAdd, double, MXGPU_F7_FADD_D)
__MC_FATOMIC(atomicMin, float, MXGPU_F7_FMIN_S)
__MC_FATOMIC(atomicMin, double, MXGPU_F7_FMIN_D)
__MC_FATOMIC(atomicMax, float, MXGPU_F7_FMAX_S)
__MC_FATOMIC(atomicMax, double, MXGPU_F7_FMAX_D)

#undef __MC_FATOMIC

#define __MC_SCOPES(name, type)                                                \
    __MC_ATOMIC_FN type name##_block(type *p, type v)                          \
    {                                                                          \
        return name(p, v);                                                     \
    }                                                                          \
    __MC_ATOMIC_FN type name##_system(type *p, type v)                         \
    {                                                                          \
        return name(p, v);                                                     \
    }

__MC_ATOMIC_FN float atomicSub(float *p, float v)
{
    return atomicAdd(p, -v);
}

__MC_ATOMIC_FN double atomicSub(double *p, double v)
{
    return atomicAdd(p, -v);
}

__MC_ATOMIC_FN float atomicExch(float *p, float v)
{
    return __uint_as_float(atomicExch((unsigned *)p, __float_as_uint(v)));
}

__MC_ATOMIC_FN double atomicExch(double *p, double v)
{
    return __longlong_as_double(
        atomicExch((long long *)p, __double_as_longlong(v)));
}

__MC_SCOPES(atomicSub, float)
__MC_SCOPES(atomicSub, double)
__MC_SCOPES(atomicExch, float)
__MC_SCOPES(atomicExch, double)

/* Stores v if the value is compare. */
#define __MC_CAS(name, type)                                                   \
    __MC_ATOMIC_FN type name(type *p, type compare, type v)                    \
    {                                                                          \
        __atomic_compare_exchange_n(p, &compare, v, false, __ATOMIC_RELAXED,   \
                                    __ATOMIC_RELAXED);                         \
        return compare;                                                        \
    }
#define __MC_CASES(name)                                                       \
    __MC_CAS(name, int)                                                        \
    __MC_CAS(name, unsigned)                                                   \
    __MC_CAS(name, long)                                                       \
    __MC_CAS(name, unsigned long)                                              \
    __MC_CAS(name, long long)                                                  \
    __MC_CAS(name, unsigned long long)

__MC_CASES(atomicCAS)
__MC_CASES(atomicCAS_block)
__MC_CASES(atomicCAS_system)

#undef __MC_CASES
#undef __MC_CAS

#define __MC_CAS_FLOAT(name)                                                   \
    __MC_ATOMIC_FN float name(float *p, float compare, float v)                \
    {                                                                          \
        return __uint_as_float(name((unsigned *)p, __float_as_uint(compare),   \
                                    __float_as_uint(v)));                      \
    }                                                                          \
    __MC_ATOMIC_FN double name(double *p, double compare, double v)            \
    {                                                                          \
        return __longlong_as_double(name((long long *)p,                       \
                                         __double_as_longlong(compare),        \
                                         __double_as_longlong(v)));            \
    }                                                                          \
    /* By way of the aligned word around it. */                                \
    __MC_ATOMIC_FN unsigned short name(unsigned short *p,                      \
                                      unsigned short compare,                  \
                                      unsigned short v)                        \
    {                                                                          \
        unsigned *word = (unsigned *)((unsigned long)p & ~3ul);                \
        unsigned shift = ((unsigned long)p & 2) * 8;                           \
        unsigned old = *(volatile unsigned *)word, seen;                       \
                                                                               \
        while ((unsigned short)(old >> shift) == compare) {                    \
            seen = name(word, old, (old & ~(0xffffu << shift)) |               \
                                       (unsigned)v << shift);                  \
            if (seen == old) {                                                 \
                break;                                                         \
            }                                                                  \
            old = seen;                                                        \
        }                                                                      \
        return (unsigned short)(old >> shift);                                 \
    }
__MC_CAS_FLOAT(atomicCAS)
__MC_CAS_FLOAT(atomicCAS_block)
__MC_CAS_FLOAT(atomicCAS_system)

#undef __MC_CAS_FLOAT

/* Of vectors: each element on its own. */
#define __MC_ATOMIC_VECTOR(name)                                               \
    __MC_ATOMIC_FN float2 name(float2 *p, float2 v)                            \
    {                                                                          \
        return make_float2(name(&p->x, v.x), name(&p->y, v.y));                \
    }                                                                          \
    __MC_ATOMIC_FN float4 name(float4 *p, float4 v)                            \
    {                                                                          \
        return make_float4(name(&p->x, v.x), name(&p->y, v.y),                 \
                           name(&p->z, v.z), name(&p->w, v.w));                \
    }
__MC_ATOMIC_VECTOR(atomicAdd)
__MC_ATOMIC_VECTOR(atomicAdd_block)
__MC_ATOMIC_VECTOR(atomicAdd_system)
#undef __MC_ATOMIC_VECTOR

/* Counts up to limit, then from 0. */
__MC_ATOMIC_FN unsigned atomicInc(unsigned *p, unsigned limit)
{
    unsigned old = *(volatile unsigned *)p, seen;

    while ((seen = atomicCAS(p, old, old >= limit ? 0 : old + 1)) != old) {
        old = seen;
    }
    return old;
}

/* Counts down to 0, then from limit. */
__MC_ATOMIC_FN unsigned atomicDec(unsigned *p, unsigned limit)
{
    unsigned old = *(volatile unsigned *)p, seen;

    while ((seen = atomicCAS(p, old,
                             old == 0 || old > limit ? limit : old - 1)) !=
           old) {
        old = seen;
    }
    return old;
}

__MC_SCOPES(atomicInc, unsigned)
__MC_SCOPES(atomicDec, unsigned)

#undef __MC_SCOPES

#undef __MC_ATOMIC_FN

#endif
