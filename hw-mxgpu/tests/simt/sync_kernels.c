/* SPDX-License-Identifier: MIT */
/* Kernels of test_simt_sync.c: named barriers and the grid's. */
#include "../support/simt_device.h"

typedef struct Args {
    volatile u64 *out;
    volatile u64 *data;
    u64 n;
} Args;

CONVERGENT void bar_sync(u64 id, u64 count)
{
    __asm__ volatile(".insn r 0x0b, 0, 6, x0, %0, %1" ::"r"(id), "r"(count)
                     : "memory");
}

CONVERGENT void bar_arrive(u64 id, u64 count)
{
    __asm__ volatile(".insn r 0x0b, 0, 7, x0, %0, %1" ::"r"(id), "r"(count)
                     : "memory");
}

CONVERGENT void grid_sync(void)
{
    __asm__ volatile(".insn r 0x0b, 0, 8, x0, x0, x0" ::: "memory");
}

#define NCTAID ((u32)CSR(0xcc9))
#define SHARED ((volatile u64 *)SHARED_BASE)

/* The first warp fills a buffer and goes on, the second one empties it. */
ENTRY(produce, (const Args *a))
{
    u64 sum = 0;

    for (u64 i = 1; i <= a->n; i++) {
        if (TID < 64) {
            SHARED[LANE] = i * 100 + LANE;
            bar_arrive(1, 128);
            bar_sync(2, 128);
        } else {
            bar_sync(1, 128);
            sum += SHARED[63 - LANE];
            bar_arrive(2, 128);
        }
    }
    a->out[GID] = sum;
}

/* Different barriers in one warp, one that opens four times, and one for those
 * who have not ended. */
ENTRY(lanes_meet, (const Args *a))
{
    SHARED[LANE] = LANE;
    bar_sync(3 + (LANE & 1) * 12, 32);
    a->out[GID] = SHARED[LANE ^ 2];
    bar_sync(5, 16);
    if (LANE & 1) {
        bar_sync(6, 0);
        a->out[GID] += 100;
    } else if (LANE & 2) {
        bar_arrive(7, 1);
        a->out[GID] += 1000;
    }
}

/* Threads that only arrive, and end before the others come. */
ENTRY(arrive_end, (const Args *a))
{
    if (TID < 40) {
        bar_arrive(1, 0);
        __asm__ volatile(".insn r 0x0b, 0, 0, x0, x0, x0"); /* mx.exit */
    }
    bar_sync(1, 0);
    a->out[GID] = 7;
}

/* Threads wait one by one at barriers that never open; the last warp opens
 * another one 64 times in each instruction. */
ENTRY(open_often, (const Args *a))
{
    if (TID < NTID - 64) {
        for (u32 lane = 0; lane < 64; lane++) {
            if (LANE == lane) {
                bar_sync(2 + lane % 2, NTID);
            }
        }
    }
    for (;;) {
        bar_arrive(1, 1);
        bar_arrive(1, 1);
        bar_arrive(1, 1);
        bar_arrive(1, 1);
    }
}

ENTRY(wrong, (const Args *a))
{
    switch (a->n) {
    case 0: bar_sync(16, 0); break;
    case 1: bar_sync(1, 65); break;
    case 2: bar_sync(1, LANE < 32 ? 40 : 50); break;
    case 3: bar_sync(1, LANE < 32 ? 0 : 64); break;
    case 4: bar_sync(LANE & 1, 64); break; /* 32 wait for ever */
    case 5: bar_arrive(~0ull, 0); break;
    case 6:
        if (LANE & 1) {
            barrier();
        } else {
            bar_sync(2, 0);
        }
        break;
    case 7: grid_sync(); break;
    case 8: /* cooperative: two sorts of barriers */
        if (LANE & 1) {
            barrier();
        } else {
            grid_sync();
        }
        break;
    }
}

/* Each block says something each round, and everyone reads it all. */
ENTRY(rounds, (const Args *a))
{
    u64 bad = 0;

    for (u64 r = 0; r < a->n; r++) {
        u64 mine = r * 1000 + CTAID;

        if (TID == NTID - 1) {
            a->data[CTAID] = mine;
        }
        if ((TID + r) & 1) {
            grid_sync();
        } else {
            grid_sync();
        }
        for (u32 i = 0; i < NCTAID; i++) {
            bad += a->data[i] != r * 1000 + i;
        }
        grid_sync();
    }
    a->out[GID] = 7 + bad + 100 * CSR(0xcd3);
}

/* Threads and blocks that end do not count. */
ENTRY(leave, (const Args *a))
{
    for (u64 r = 0; r < a->n; r++) {
        if (CTAID % 3 == r % 4 || TID % 5 == r) {
            break;
        }
        grid_sync();
        a->out[GID] = r + 1;
    }
}

/* Block n ends the kernel while others wait for it. */
ENTRY(fail, (const Args *a))
{
    if (CTAID == a->n) {
        for (volatile u32 i = 0; i < 3000; i++) {
        }
        __asm__ volatile("ebreak");
    }
    grid_sync();
    a->out[GID] = 1;
}

ENTRY(busy, (const Args *a))
{
    for (u64 i = 0; i < 5000; i++) {
        __asm__ volatile("");
    }
    a->data[0x10000 + GID] = GID + 1;
}

/* Block i waits for block data[i] - 1, if data[i] is not 0, and then says that
 * it is through. */
ENTRY(wait_for, (const Args *a))
{
    u64 whom = a->data[CTAID];

    while (whom && !a->out[whom - 1]) {
    }
    a->out[CTAID] = 1;
}
