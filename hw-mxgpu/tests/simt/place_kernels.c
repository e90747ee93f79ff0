/* SPDX-License-Identifier: MIT */
/* The kernel of test-places.c: one access of each lane where it is told. */
#include "../support/simt_device.h"
#include "place_ops.h"

typedef struct Args {
    u64 *out;
    const u64 *data; /* of each lane: address, or 0, and operand */
    u64 op;
} Args;

#define CASE_LOAD(n, ID, name, bytes, is_signed)                               \
    case n:                                                                    \
        if (at) {                                                              \
            __asm__ volatile(name " %0, (%1)" : "=r"(r) : "r"(at) : "memory"); \
        }                                                                      \
        break;
#define CASE_STORE(n, ID, name, bytes)                                         \
    case n:                                                                    \
        if (at) {                                                              \
            __asm__ volatile(name " %0, (%1)" ::"r"(b), "r"(at) : "memory");   \
        }                                                                      \
        break;
#define CASE_AMO(n, ID, insn, bytes, expr)                                     \
    case n:                                                                    \
        if (at) {                                                              \
            __asm__ volatile(insn : "=r"(r) : "r"(at), "r"(b) : "memory");     \
        }                                                                      \
        break;

ENTRY(places, (const Args *a))
{
    volatile u64 *own = (volatile u64 *)(0xfffffffff8000000ull - PLACE_STACK);
    volatile u64 *shared = (volatile u64 *)SHARED_BASE;
    u64 t = TID, at = a->data[2 * t], b = a->data[2 * t + 1], r = PLACE_NONE;

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
