/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait for each other: in one warp, in one block, in several.
 * out[0] counts threads that saw everything go right.
 */
#include "../support/simt_device.h"

typedef struct Args {
    u64 *out;
} Args;

#define TOTAL ((u64)NTID * (u32)CSR(0xcc9))

#define LOAD(p)     __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define ADD(p, v)   __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
#define SWAP(p, v)  __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL)

static int cas(u64 *p, u64 old, u64 now)
{
    return __atomic_compare_exchange_n(p, &old, now, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static void went_right(u64 *out, int ok)
{
    if (ok) {
        ADD(&out[0], 1);
    }
}

/* What a lock protects: nobody else is here, and every thread comes once. */
static int inside(u64 *out)
{
    volatile u64 *v = out;
    u64 me = GID + 1, n = v[2];
    int ok = v[3] == 0;

    v[3] = me;
    for (volatile int i = 0; i < 3; i++) {
    }
    ok = ok && v[3] == me;
    v[3] = 0;
    v[2] = n + 1;
    return ok;
}

/* Behind the lock: the last thread finds that none was lost. */
static void after(u64 *out, int ok)
{
    if (ADD(&out[4], 1) == TOTAL - 1) {
        ok = ok && LOAD(&out[2]) == TOTAL;
    }
    went_right(out, ok);
}

ENTRY(spin_lock, (const Args *a))
{
    u64 *out = a->out;
    int ok;

    while (!cas(&out[1], 0, 1)) {
    }
    ok = inside(out);
    STORE(&out[1], 0);
    after(out, ok);
}

ENTRY(ticket_lock, (const Args *a))
{
    u64 *out = a->out, mine = ADD(&out[5], 1);
    int ok;

    while (LOAD(&out[6]) != mine) {
    }
    ok = inside(out);
    STORE(&out[6], mine + 1);
    after(out, ok);
}

/* One inside the other, always in the same order. */
ENTRY(two_locks, (const Args *a))
{
    u64 *out = a->out, *outer = &out[8 + GID % 3];
    int ok;

    while (SWAP(outer, 1)) {
    }
    while (SWAP(&out[1], 1)) {
    }
    ok = inside(out);
    STORE(&out[1], 0);
    STORE(outer, 0);
    after(out, ok);
}

/* Each thread waits at a place of its own for the one before it. */
ENTRY(queue_lock, (const Args *a))
{
    u64 *out = a->out, *nodes = out + 64, me = GID + 1, before, next;
    u64 *mine = nodes + 2 * me; /* next thread, may enter */
    int ok;

    before = SWAP(&out[1], me);
    if (before) {
        STORE(&nodes[2 * before], me);
        while (!LOAD(&mine[1])) {
        }
    }
    ok = inside(out);
    if (!LOAD(&mine[0]) && !cas(&out[1], me, 0)) {
        while (!LOAD(&mine[0])) {
        }
    }
    next = LOAD(&mine[0]);
    if (next) {
        STORE(&nodes[2 * next + 1], 1);
    }
    after(out, ok);
}

ENTRY(lrsc_lock, (const Args *a))
{
    u64 *out = a->out, t;
    int ok;

    __asm__ volatile("1: lr.d.aq %0, (%1)\n"
                     "bnez %0, 1b\n"
                     "sc.d %0, %2, (%1)\n"
                     "bnez %0, 1b"
                     : "=&r"(t)
                     : "r"(&out[1]), "r"(1ul)
                     : "memory");
    ok = inside(out);
    STORE(&out[1], 0);
    after(out, ok);
}

/* Thread n waits for thread n - 1, without atomics or fences in the loop. */
ENTRY(chain_up, (const Args *a))
{
    volatile u64 *flags = a->out + 64;
    u64 me = GID;

    while (me && !flags[me - 1]) {
    }
    flags[me] = me ? flags[me - 1] + 1 : 1;
    went_right(a->out, flags[me] == me + 1);
}

/* Thread n waits for thread n + 1, which may be in a block yet to begin. */
ENTRY(chain_down, (const Args *a))
{
    u64 *flags = a->out + 64, me = GID, last = TOTAL - 1;

    while (me != last && !LOAD(&flags[me + 1])) {
    }
    STORE(&flags[me], me == last ? 1 : LOAD(&flags[me + 1]) + 1);
    went_right(a->out, flags[me] == last - me + 1);
}

/* Neighbours take turns. */
ENTRY(ping_pong, (const Args *a))
{
    u64 me = GID, *ball = a->out + 64 + me / 2;

    for (u64 turn = 0; turn < 40; turn++) {
        while (LOAD(ball) != 2 * turn + (me & 1)) {
        }
        STORE(ball, 2 * turn + (me & 1) + 1);
    }
    went_right(a->out, LOAD(ball) >= 79);
}

/* Values go from thread to thread through boxes that hold one each. */
ENTRY(pipeline, (const Args *a))
{
    u64 me = GID, last = TOTAL - 1, *box = a->out + 64, v;
    int ok = 1;

    for (u64 i = 1; i <= 8; i++) {
        v = i << 16;
        if (me) {
            do {
                v = LOAD(&box[me - 1]);
            } while (!v);
            STORE(&box[me - 1], 0);
        }
        ok = ok && v == (i << 16) + me;
        if (me != last) {
            while (LOAD(&box[me])) {
            }
            STORE(&box[me], v + 1);
        }
    }
    went_right(a->out, ok);
}

/* Thread n of a block and the n-th from its end, in shared memory. */
ENTRY(warps_handshake, (const Args *a))
{
    u64 *box = (u64 *)SHARED_BASE, me = TID, other = NTID - 1 - me;
    int ok = 1;

    for (u64 i = 1; i <= 20; i++) {
        STORE(&box[me], i * 1000 + me);
        while (LOAD(&box[other]) / 1000 < i) {
        }
        ok = ok && LOAD(&box[other]) % 1000 == other;
    }
    went_right(a->out, ok);
}
