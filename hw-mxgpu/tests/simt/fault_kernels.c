/* SPDX-License-Identifier: MIT */
/* Kernels of test-fault.c: they run into pages that are not there. */
#include "../support/simt_device.h"

typedef struct Args {
    u64 base;  /* where the pages are */
    u64 out;   /* memory that is there */
    u64 n;
} Args;

static u64 warp_number(void)
{
    return GID / 64;
}

/* Each warp has a page of its own, and adds to a word of each lane. */
ENTRY(storm, (const Args *a))
{
    u64 *at = (u64 *)(a->base + warp_number() * 4096) + LANE;

    __atomic_fetch_add(at, 1, __ATOMIC_RELAXED);
    at[64] = GID;
}

/*
 * One instruction of each kind whose last lane alone needs a page that is not
 * there: lanes are 64 bytes apart, on two pages. Behind each, what lanes stored
 * is changed by an atomic that adds, so that a store that was done twice shows.
 */
#define EACH_LANE(T, V)                                                        \
    do {                                                                       \
        volatile T *p_ = (volatile T *)(a->base + LANE * 64 + 64);             \
        *p_ = (T)(V);                                                          \
    } while (0)

ENTRY(store_each, (const Args *a))
{
    EACH_LANE(u64, LANE + 1);
}

ENTRY(store_float, (const Args *a))
{
    EACH_LANE(float, LANE + 1);
}

/* Each lane's eight bytes, one of them over the border of two pages. */
ENTRY(store_split, (const Args *a))
{
    u64 at = a->base + LANE * 64 + 60;

    __asm__ volatile("sd %0, 0(%1)" ::"r"((u64)LANE + 1), "r"(at) : "memory");
}

ENTRY(add_each, (const Args *a))
{
    __atomic_fetch_add((u64 *)(a->base + LANE * 64 + 64), LANE + 1,
                       __ATOMIC_RELAXED);
}

/* Loads, with a register that is also the address. */
ENTRY(load_each, (const Args *a))
{
    u64 x = a->base + LANE * 64 + 64;

    __asm__ volatile("ld %0, 0(%0)" : "+r"(x)::"memory");
    ((u64 *)a->out)[LANE] = x;
}

/* The first warp of a block needs a page; the others say that they have come
 * to the barrier, which opens when it has. */
ENTRY(barrier_wait, (const Args *a))
{
    u64 *out = (u64 *)a->out;
    u64 v = 0;

    if (TID < 64) {
        v = *(volatile u64 *)a->base;
    } else {
        __atomic_fetch_add(&out[0], 1, __ATOMIC_RELAXED);
    }
    barrier();
    __atomic_fetch_add(&out[1], 1 + v, __ATOMIC_RELAXED);
}

/* Lanes of one warp, some of which need a page: the others go on, and end. */
ENTRY(some_lanes, (const Args *a))
{
    u64 *out = (u64 *)a->out;

    if (LANE % 2) {
        *(volatile u64 *)a->base = 7;
    } else {
        __atomic_fetch_add(&out[0], 1, __ATOMIC_RELAXED);
    }
}

/* For ever. */
ENTRY(endless, (const Args *a))
{
    for (;;) {
        (*(volatile u64 *)a->out)++;
    }
}
