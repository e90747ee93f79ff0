/* SPDX-License-Identifier: MIT */
/* Kernels of test_state.c: a little of all the state that threads have. */
#include "../support/simt_device.h"

typedef struct Args {
    u64 *out;
    u64 *data;
    u64 n;
} Args;

CONVERGENT void bar_sync(u64 id, u64 count)
{
    __asm__ volatile(".insn r 0x0b, 0, 6, x0, %0, %1" ::"r"(id), "r"(count)
                     : "memory");
}

CONVERGENT void grid_sync(void)
{
    __asm__ volatile(".insn r 0x0b, 0, 8, x0, x0, x0" ::: "memory");
}

#define SHARED ((volatile u64 *)SHARED_BASE)

static u64 mix(u64 x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15;
    return x ^ x >> 29;
}

/* Frames of different depth, and what they leave on the stack. */
__attribute__((noinline)) static u64 walk(u64 x, u32 depth)
{
    volatile u64 local[8];

    for (u32 i = 0; i < 8; i++) {
        local[i] = mix(x + i);
    }
    return depth ? local[depth % 8] + walk(local[x % 8], depth - 1)
                 : local[3];
}

static u64 bits(double d)
{
    u64 v;

    __builtin_memcpy(&v, &d, sizeof(v));
    return v;
}

/* A value that nobody else's store may come between. */
static void add_reserved(u64 *at, u64 v)
{
    u64 old, failed;

    do {
        __asm__ volatile("lr.d %0, (%2)\n"
                         "add %0, %0, %3\n"
                         "sc.d %1, %0, (%2)"
                         : "=&r"(old), "=&r"(failed)
                         : "r"(at), "r"(v)
                         : "memory");
    } while (failed);
}

/* Lanes that diverge, meet, wait for each other in every way, and round. */
ENTRY(all_sorts, (const Args *a))
{
    u64 x = mix(GID + 1);
    float f = (float)TID;
    double d = 1.0 / (1 + TID);

    for (u64 i = 0; i < a->n; i++) {
        if (x & 1) {
            x = walk(x, x >> 3 & 7);
        } else if (x & 2) {
            x = mix(x) + shfl(x, LANE ^ 1);
        }
        __asm__ volatile("csrw frm, %0" ::"r"(x >> 5 & 3));
        f = f * 1.25f + (float)(x & 0xff);
        d = d / 3 + (double)f;
        __asm__ volatile("csrw frm, zero");
        SHARED[TID] = x;
        barrier();
        x += SHARED[TID ^ 65 % NTID];
        bar_sync(1, 0);
        x += bar_op_count(x & 1);
        if (LANE % 9 == 0) {
            add_reserved(&a->data[x % 4], 1);
        }
        __atomic_fetch_add(&a->data[4 + x % 8], x & 0xff, __ATOMIC_RELAXED);
        warpsync(~0ull);
        x ^= ballot(x & 4) + match_any(x & 3);
    }
    a->out[GID] = x ^ bits(d) ^ (u64)(i64)f;
}

/* A grid whose blocks all wait for each other. */
ENTRY(together, (const Args *a))
{
    u64 sum = 0;

    for (u64 i = 0; i < a->n; i++) {
        a->data[GID] = mix(GID + i);
        grid_sync();
        for (u32 k = 0; k < 16; k++) {
            sum += a->data[(GID * 7 + k * 61) % (4 * NTID)];
        }
        grid_sync();
    }
    a->out[GID] = sum;
}

/* Many short blocks: units take several of them at once. */
ENTRY(small, (const Args *a))
{
    __atomic_fetch_add(&a->data[LANE], CTAID, __ATOMIC_RELAXED);
    a->out[CTAID] += TID == 0;
}
