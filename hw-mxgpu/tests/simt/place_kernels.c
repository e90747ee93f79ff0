/* SPDX-License-Identifier: MIT */
/* The kernel of test-places.c: one access of each lane where it is told. */
#include "../support/simt_device.h"
#include "place_ops.h"

typedef struct Args {
    u64 *out;
    const u64 *data; /* of each thread: address, or 0, and operand; then, for
                      * lines: address, steps in x and y */
    u64 op;
} Args;

#define CASE_LOAD(n, ID, name, bytes, is_signed)                               \
    case n:                                                                    \
        if (at) {                                                              \
            __asm__ volatile(name " %0, (%1)"                                  \
                             : "=&r"(r) : "r"(at) : "memory", "ft0");          \
        }                                                                      \
        break;
#define CASE_STORE(n, ID, name, bytes)                                         \
    case n:                                                                    \
        if (at) {                                                              \
            __asm__ volatile(name " %0, (%1)"                                  \
                             ::"r"(b), "r"(at) : "memory", "ft0");             \
        }                                                                      \
        break;
#define CASE_AMO(n, ID, insn, bytes, expr)                                     \
    case n:                                                                    \
        if (at) {                                                              \
            __asm__ volatile(insn : "=r"(r) : "r"(at), "r"(b) : "memory");     \
        }                                                                      \
        break;

static inline __attribute__((always_inline)) void go(const Args *a, u64 t,
                                                     u64 at)
{
    volatile u64 *own = (volatile u64 *)(0xfffffffff8000000ull - PLACE_STACK);
    volatile u64 *shared = (volatile u64 *)SHARED_BASE;
    u64 b = a->data[2 * t + 1], r = PLACE_NONE;

    for (u64 k = 0; k < PLACE_PRIVATE; k++) {
        own[k] = PLACE_FILL(t, k);
    }
    for (u64 k = t; k < PLACE_SHARED; k += 64) {
        shared[k] = PLACE_FILL(100, k);
    }
    barrier();
    switch (a->op) {
        PLACE_LOADS(CASE_LOAD)
        PLACE_STORES(CASE_STORE)
        PLACE_AMOS(CASE_AMO)
    }
    barrier();
    a->out[t] = r;
    for (u64 k = 0; k < PLACE_PRIVATE; k++) {
        a->out[PLACE_OUT_PRIVATE + t * PLACE_PRIVATE + k] = own[k];
    }
    for (u64 k = t; k < PLACE_SHARED; k += 64) {
        a->out[PLACE_OUT_SHARED + k] = shared[k];
    }
}

ENTRY(places, (const Args *a))
{
    go(a, TID, a->data[2 * TID]);
}

ENTRY(lines, (const Args *a))
{
    const u64 *line = a->data + 128;

    go(a, TID + NTID * TIDY, line[0] + TID * line[1] + TIDY * line[2]);
}
