/* SPDX-License-Identifier: MIT */
/* Kernels of test_step.c: without end, each does what takes hosts longest. */
#include "../support/simt_device.h"

typedef struct Args {
    u64 small, other; /* pages of 4 KiB whose translations evict each other */
    u64 hole;         /* a page behind DMA */
    u64 chain;        /* code: a jump in each of many pages */
} Args;

/* Lanes touch 64 pages; none of them is in the TLB. */
#define PAGES(a, i) \
    ((volatile u64 *)(((LANE + (i)) & 1 ? (a)->small : (a)->other) + \
                      (LANE + (i)) / 2 % 256 * 4096 + LANE * 8))

ENTRY(gather, (const Args *a))
{
    for (u64 i = 0;; i++) {
        (void)*PAGES(a, i);
    }
}

ENTRY(scatter, (const Args *a))
{
    for (u64 i = 0;; i++) {
        *PAGES(a, i) = i;
    }
}

/* Each access is in two pages. */
ENTRY(straddle, (const Args *a))
{
    for (u64 i = 0;; i++) {
        u64 at = (LANE & 1 ? a->small : a->other) + (i + LANE) % 255 * 4096;

        (void)*(volatile u64 *)(at + 4092);
    }
}

ENTRY(atomics, (const Args *a))
{
    for (u64 i = 0;; i++) {
        __atomic_fetch_add((u64 *)PAGES(a, i), 1, __ATOMIC_RELAXED);
    }
}

ENTRY(dma, (const Args *a))
{
    for (;;) {
        (void)((volatile u64 *)a->hole)[LANE];
        ((volatile u64 *)a->hole)[LANE + 64] = 1;
    }
}

ENTRY(products, (const Args *a))
{
    for (;;) {
        /* mx.mma.f32.f16 f4, x28, x28; mx.mma.i32.i8 x12, x28, x28 */
        __asm__ volatile(".insn r 0x0b, 5, 0, x4, x28, x28\n\t"
                         ".insn r 0x0b, 5, 2, x12, x28, x28" :::
                         "x12", "x13", "x14", "x15", "f4", "f5", "f6", "f7");
    }
}

/* As many sets of equal lanes as there are lanes. */
ENTRY(matches, (const Args *a))
{
    for (;;) {
        (void)match_any(LANE * 12345);
    }
}

/* Lanes part at each branch, and meet again. */
ENTRY(branches, (const Args *a))
{
    volatile u32 count = 0;

    for (u64 i = 0;; i++) {
        for (u32 n = 0; n < LANE; n++) {
            count++;
        }
    }
}

/* One lane after the other, in the software's arithmetic. */
ENTRY(soft, (const Args *a))
{
    double x = LANE + 1.5, y = 0;

    for (;;) {
        __asm__ volatile("fdiv.d %0, %1, %2, rtz\n\tfsqrt.d %0, %0, rup"
                         : "=f"(y) : "f"(x), "f"(y));
    }
}

ENTRY(divide, (const Args *a))
{
    u64 x = ~LANE, y = LANE + 3;

    for (;;) {
        __asm__ volatile("divu %0, %0, %1\n\trem %0, %0, %1\n\tnot %0, %0"
                         : "+r"(x) : "r"(y));
    }
}

/* A page without a jump: only at its end somebody looks whether it is enough. */
ENTRY(straight, (const Args *a))
{
    u64 x = ~LANE, y = LANE + 3;

    for (;;) {
        __asm__ volatile(".balign 4096\n\t.rept 1020\n\tdivu %0, %1, %2\n\t"
                         ".endr" : "=r"(x) : "r"(x), "r"(y));
    }
}

/* Every instruction is in a page that has to be fetched and decoded. */
ENTRY(fetches, (const Args *a))
{
    ((void (*)(void))a->chain)();
}

/* Blocks that do nothing: what remains is to start them. */
ENTRY(nothing, (const Args *a))
{
}
