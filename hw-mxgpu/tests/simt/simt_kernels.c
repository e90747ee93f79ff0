/* SPDX-License-Identifier: MIT */
/* Kernels of test_simt.c. out[] is what its expectations are about. */
#include "../support/simt_device.h"

typedef struct Args {
    u64 *out;
    u64 *data;
    u64 n;
} Args;

/* One instruction each, whatever the alignment. */
static inline u64 load64(const volatile void *p)
{
    u64 v;

    __asm__ volatile("ld %0, (%1)" : "=r"(v) : "r"(p) : "memory");
    return v;
}

static inline u64 load32(const volatile void *p)
{
    u64 v;

    __asm__ volatile("lwu %0, (%1)" : "=r"(v) : "r"(p) : "memory");
    return v;
}

static inline void store64(void *p, u64 v)
{
    __asm__ volatile("sd %0, (%1)" ::"r"(v), "r"(p) : "memory");
}

static inline void store32(void *p, u64 v)
{
    __asm__ volatile("sw %0, (%1)" ::"r"(v), "r"(p) : "memory");
}

ENTRY(identity, (const Args *a))
{
    a->out[GID] = GID;
}

/* Nested branches in a loop whose trip count differs by lane. */
ENTRY(collatz, (const Args *a))
{
    u64 x = GID + 1, steps = 0;

    while (x != 1) {
        if (x & 1) {
            if (x % 3 == 0) {
                steps += 2;
            }
            x = 3 * x + 1;
        } else {
            x /= 2;
        }
        steps++;
        if (steps > 1000) {
            break;
        }
    }
    a->out[GID] = steps;
}

__attribute__((noinline)) static u64 fib(u64 n)
{
    volatile u64 keep = n;

    return n < 2 ? n : fib(n - 1) + fib(keep - 2);
}

ENTRY(recurse, (const Args *a))
{
    a->out[GID] = fib(GID % 12);
}

__attribute__((noinline)) static u64 f0(u64 x) { return x + 1; }
__attribute__((noinline)) static u64 f1(u64 x) { return x * 3; }
__attribute__((noinline)) static u64 f2(u64 x) { return x ^ 0xff; }
__attribute__((noinline)) static u64 f3(u64 x) { return ~x; }

ENTRY(indirect, (const Args *a))
{
    u64 (*volatile f)(u64) = GID % 4 == 0 ? f0 : GID % 4 == 1 ? f1
                             : GID % 4 == 2 ? f2 : f3;
    u64 v = f(GID);

    /* all lanes are together again */
    a->out[GID] = v + (active() == ~0ull ? 1000 : 0);
}

ENTRY(early_exit, (const Args *a))
{
    if (GID % 3 == 0) {
        thread_exit();
    }
    a->out[GID] = __builtin_popcountll(active());
    barrier();
    a->out[GID] += 100;
}

/* A lock that lanes of one warp, and warps, take in turn. */
ENTRY(spin_lock, (const Args *a))
{
    u32 *lock = (u32 *)a->data, *count = lock + 1;

    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {
    }
    *(volatile u32 *)count += 1;
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

ENTRY(ticket_lock, (const Args *a))
{
    u32 *next = (u32 *)a->data, *serving = next + 1, *count = next + 2;
    u32 mine = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);

    while (__atomic_load_n(serving, __ATOMIC_ACQUIRE) != mine) {
    }
    *(volatile u32 *)count += 1;
    __atomic_store_n(serving, mine + 1, __ATOMIC_RELEASE);
}

/* Lane n waits, without atomics, for lane n + 1 of the block. */
ENTRY(chain, (const Args *a))
{
    volatile u64 *flag = a->data;
    u32 t = TID;

    if (t + 1 < NTID) {
        while (!flag[t + 1]) {
        }
    }
    flag[t] = 1;
    a->out[GID] = 1;
}

ENTRY(barriers, (const Args *a))
{
    volatile u64 *s = (volatile u64 *)SHARED_BASE;
    u32 t = TID, n = NTID;
    u64 sum = 0;

    for (u32 round = 0; round < 5; round++) {
        s[t] = t + round;
        barrier();
        sum += s[(t + 1) % n];
        barrier();
    }
    a->out[GID] = sum;
}

ENTRY(barrier_ops, (const Args *a))
{
    u32 t = TID;
    u64 r = bar_op_and(t < NTID);

    r |= bar_op_and(t != 5) << 1;
    r |= bar_op_or(t == 5) << 2;
    r |= bar_op_or(0) << 3;
    r |= bar_op_count(t % 3 == 0) << 8;
    a->out[GID] = r;
}

/* Half of the threads never arrive: they exit. */
ENTRY(barrier_exit, (const Args *a))
{
    if (TID & 1) {
        thread_exit();
    }
    barrier();
    a->out[GID] = 7;
}

ENTRY(deadlock, (const Args *a))
{
    if (TID == 3) {
        warpsync(1ull << 63 | 8);
    }
    barrier();
}

/* Odd lanes wait with what they compare with while others write theirs. */
ENTRY(compare, (const Args *a))
{
    u64 t = GID, old = t, *at = (u64 *)a->data + t;

    *at = t;
    asm volatile("andi t0, %1, 1\n"
                 "bnez t0, 1f\n"
                 "li %0, -1\n"
                 "1: .insn r 0x2f, 3, 0x14, %0, %2, %3" /* amocas.d */
                 : "+r"(old)
                 : "r"(t), "r"(at), "r"(t + 100)
                 : "t0", "memory");
    a->out[t] = old == t ? *at : 0;
}

ENTRY(lanes, (const Args *a))
{
    u64 t = LANE, r;

    r = shfl(t * 10, (t + 1) & 63);
    r += ballot(t & 1) == 0xaaaaaaaaaaaaaaaaull ? 1000 : 0;
    r += match_any(t / 4) == 0xfull << (t & ~3ull) ? 2000 : 0;
    if (t & 1) {
        r += active() == 0xaaaaaaaaaaaaaaaaull ? 4000 : 0;
        /* lane t - 1 is not active: 0 */
        r += shfl(t, t - 1) == 0 ? 8000 : 0;
    }
    a->out[GID] = r;
}

ENTRY(syncs, (const Args *a))
{
    u64 t = LANE, seen;

    for (volatile u64 i = 0; i < t % 7; i++) {
    }
    warpsync(~0ull);
    seen = active();
    a->out[GID] = seen == ~0ull;
}

/* Local arrays: misaligned and lane-dependent private addresses. */
ENTRY(private_memory, (const Args *a))
{
    volatile u8 bytes[256];
    u64 sum = 0;

    for (u32 i = 0; i < 256; i++) {
        bytes[(i * 7 + TID) & 255] = (u8)(i + TID);
    }
    for (u32 i = 0; i + 8 <= 256; i += 5) {
        sum += load64(bytes + (i + TID) % 249);
        sum ^= load32(bytes + i);
    }
    a->out[GID] = sum;
}

/* What is evenly spaced over the lanes, or would be but for one lane or but for
 * 32 bits, goes to the stack and comes back. */
ENTRY(reloaded, (const Args *a))
{
    u32 t = TID + 16 * TIDY;
    volatile u64 wide[4];
    volatile int word[4];
    u64 sum = 0;

    for (u32 odd = 0; odd < 64; odd += 7) {
        wide[0] = a->data[0];
        wide[1] = a->data[0] + 24 * TID + 1000 * TIDY;
        wide[2] = a->data[0] + 24 * t + (t % 64 == odd);
        wide[3] = (u64)t << 40 | TIDY << 3;
        word[0] = (int)(u32)a->data[1];
        word[1] = (int)((u32)a->data[1] + t); /* wraps in some warps */
        word[2] = (int)(t % 64 == odd ? 5 : t);
        word[3] = (int)(TID - 7 * TIDY);
        for (u32 i = 0; i < 4; i++) {
            sum = sum * 31 + wide[i];
            sum = sum * 31 + (u64)(long)word[i];
        }
    }
    a->out[t] = sum;
}

ENTRY(atomics, (const Args *a))
{
    u64 *d = a->data;
    u32 t = GID;

    __atomic_fetch_add(&d[0], 1, __ATOMIC_RELAXED);
    __atomic_fetch_xor(&d[1], 1ull << (t % 64), __ATOMIC_RELAXED);
    __atomic_fetch_or((u32 *)&d[2], 1u << (t % 32), __ATOMIC_RELAXED);
    for (;;) { /* compare and swap through lr and sc */
        u64 old = __atomic_load_n(&d[3], __ATOMIC_RELAXED);

        if (__atomic_compare_exchange_n(&d[3], &old, old + t, 0,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            break;
        }
    }
    __asm__ volatile("amomaxu.d x0, %0, (%1)" ::"r"((u64)t), "r"(&d[4])
                     : "memory");
    __asm__ volatile("amomin.w x0, %0, (%1)" ::"r"(-(i64)t), "r"(&d[5])
                     : "memory");
    float one = 1.0f;
    u32 bits;
    __builtin_memcpy(&bits, &one, 4);
    __asm__ volatile(".insn r 0x0b, 3, 0, x0, %0, %1" ::"r"(&d[6]),
                     "r"((u64)bits) : "memory");
    double half = 0.5;
    u64 wide;
    __builtin_memcpy(&wide, &half, 8);
    __asm__ volatile(".insn r 0x0b, 3, 1, x0, %0, %1" ::"r"(&d[7]), "r"(wide)
                     : "memory");
    __atomic_fetch_add((u32 *)SHARED_BASE, 1, __ATOMIC_RELAXED);
    barrier();
    a->out[t] = *(volatile u32 *)SHARED_BASE;
}

ENTRY(csrs, (const Args *a))
{
    u64 *o = a->out + 24 * (CSR(0xcc6) + 2 * CSR(0xcc7));

    if (CSR(0xcc0) == 2 && CSR(0xcc1) == 1 && CSR(0xcc2) == 1) {
        o[0] = CSR(0xcc3); o[1] = CSR(0xcc4); o[2] = CSR(0xcc5);
        o[3] = CSR(0xcc6); o[4] = CSR(0xcc7); o[5] = CSR(0xcc8);
        o[6] = CSR(0xcc9); o[7] = CSR(0xcca); o[8] = CSR(0xccb);
        o[9] = CSR(0xccc); o[10] = CSR(0xccd); o[11] = CSR(0xcce);
        o[12] = CSR(0xccf); o[13] = CSR(0xcd1); o[14] = CSR(0xcd2);
        o[15] = CSR(0xc01) != 0;
    }
}

/* Copies n bytes at any alignment, each thread its share. */
ENTRY(unaligned, (const Args *a))
{
    u8 *to = (u8 *)a->out + TID * 13, *from = (u8 *)a->data + TID * 13 + 1;

    store64(to, load64(from));
    store32(to + 8, load32(from + 8));
}

/* One access of the kind that data[0] says at address n. */
ENTRY(access, (const Args *a))
{
    u64 at = a->n;

    if (TID != 70) {
        thread_exit();
    }
    switch (a->data[0]) {
    case 0: a->out[0] = *(volatile u8 *)at; break;
    case 1: *(volatile u8 *)at = 1; break;
    case 2: a->out[0] = *(volatile u64 *)at; break;
    case 3: *(volatile u64 *)at = 1; break;
    case 4: __atomic_fetch_add((u32 *)at, 1, __ATOMIC_RELAXED); break;
    case 5: ((void (*)(void))at)(); break;
    case 6: __asm__ volatile("li a7, 2\n\tecall" ::: "a7"); break;
    case 7: __asm__ volatile("ebreak"); break;
    case 8: __asm__ volatile("csrw 0xcc0, x0"); break;
    case 9: __asm__ volatile("csrr x0, 0x300"); break;
    case 11: __asm__ volatile("li a7, 1\n\tecall" ::: "a7"); break;
    case 10: a->out[0] = *(volatile u32 *)at; break;
    default: __asm__ volatile(".word 0xffffffff"); break;
    }
}

ENTRY(forever, (const Args *a))
{
    for (;;) {
        __asm__ volatile("");
    }
}

/* What earlier threads left in private and shared memory. */
ENTRY(leftovers, (const Args *a))
{
    volatile u64 *p = (volatile u64 *)(0xfffffffff8000000ull - 8192);
    u64 seen = 0;

    for (u32 i = 0; i < 900; i++) {
        seen |= p[i];
        p[i] = ~0ull;
    }
    seen |= *(volatile u64 *)(SHARED_BASE + 8 * TID);
    *(volatile u64 *)(SHARED_BASE + 8 * TID) = ~0ull;
    a->out[GID] = seen;
}
