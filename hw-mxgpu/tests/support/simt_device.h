/* SPDX-License-Identifier: MIT */
/* What kernels of these tests are written with. */
#ifndef SIMT_DEVICE_H
#define SIMT_DEVICE_H

#include <stdint.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef int32_t i32;
typedef uint64_t u64;
typedef int64_t i64;

#define CSR(n)                                                                 \
    ({                                                                         \
        u64 v_;                                                                \
        __asm__ volatile("csrr %0, " #n : "=r"(v_));                           \
        v_;                                                                    \
    })
#define TID   ((u32)CSR(0xcc0))
#define TIDY  ((u32)CSR(0xcc1))
#define NTID  ((u32)CSR(0xcc3))
#define CTAID ((u32)CSR(0xcc6))
#define LANE  ((u32)CSR(0xccc))
#define GID   (CTAID * NTID + TID)

#define CONVERGENT __attribute__((convergent, always_inline)) static inline
#define KERNEL     __attribute__((noinline, used, section(".text.kernel"))) void

CONVERGENT void barrier(void)
{
    __asm__ volatile(".insn r 0x0b, 0, 1, x0, x0, x0" ::: "memory");
}

CONVERGENT u64 bar_op_and(u64 v)
{
    u64 r;
    __asm__ volatile(".insn r 0x0b, 0, 2, %0, %1, x0" : "=r"(r) : "r"(v) : "memory");
    return r;
}

CONVERGENT u64 bar_op_or(u64 v)
{
    u64 r;
    __asm__ volatile(".insn r 0x0b, 0, 3, %0, %1, x0" : "=r"(r) : "r"(v) : "memory");
    return r;
}

CONVERGENT u64 bar_op_count(u64 v)
{
    u64 r;
    __asm__ volatile(".insn r 0x0b, 0, 4, %0, %1, x0" : "=r"(r) : "r"(v) : "memory");
    return r;
}

CONVERGENT void warpsync(u64 mask)
{
    __asm__ volatile(".insn r 0x0b, 0, 5, x0, %0, x0" ::"r"(mask) : "memory");
}

CONVERGENT u64 shfl(u64 v, u64 lane)
{
    u64 r;
    __asm__ volatile(".insn r 0x0b, 1, 0, %0, %1, %2" : "=r"(r) : "r"(v), "r"(lane));
    return r;
}

CONVERGENT u64 ballot(u64 v)
{
    u64 r;
    __asm__ volatile(".insn r 0x0b, 2, 0, %0, %1, x0" : "=r"(r) : "r"(v));
    return r;
}

CONVERGENT u64 active(void)
{
    u64 r;
    __asm__ volatile(".insn r 0x0b, 2, 1, %0, x0, x0" : "=r"(r));
    return r;
}

CONVERGENT u64 match_any(u64 v)
{
    u64 r;
    __asm__ volatile(".insn r 0x0b, 2, 2, %0, %1, x0" : "=r"(r) : "r"(v));
    return r;
}

CONVERGENT __attribute__((noreturn)) void thread_exit(void)
{
    __asm__ volatile(".insn r 0x0b, 0, 0, x0, x0, x0" ::: "memory");
    __builtin_unreachable();
}

#define SHARED_BASE 0xffffffffe0000000ull

/* A kernel: entered with a0 = args, leaves through mx.exit. */
#define ENTRY(name, body_args)                                                 \
    __attribute__((noinline)) static void name##_body body_args;               \
    KERNEL name(void *args_)                                                   \
    {                                                                          \
        name##_body(args_);                                                    \
        thread_exit();                                                         \
    }                                                                          \
    static void name##_body body_args

#endif
