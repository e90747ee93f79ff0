/* SPDX-License-Identifier: MIT */
/* Kernels of test-jit.c: loops that lanes leave at different times. */
#include "../support/simt_device.h"

#define THREADS 256

typedef struct Args {
    u64 *out;
    const u64 *data; /* of each thread: address, turns */
    u64 stride;      /* bytes between the words that a thread goes to */
    u64 table;       /* of 64 Ki words, for some */
} Args;

/* Reads and writes a word in each turn. */
ENTRY(walk, (const Args *a))
{
    u32 t = GID;
    u64 at = a->data[2 * t], turns = a->data[2 * t + 1], stride = a->stride;
    u32 sum = t;

    for (u64 i = 0; i < turns; i++) {
        volatile u32 *p = (volatile u32 *)(at + i * stride);

        sum = sum * 31 + *p;
        *p = sum;
    }
    a->out[t] = sum;
}

/* Nothing but loads, from where each thread wants: words up, by what is known and
 * what is not, halfwords down, and what a table has for them. */
ENTRY(collect, (const Args *a))
{
    u32 t = GID, sum = t, last = 0;
    u64 from = a->data[2 * t], turns = a->data[2 * t + 1], stride = a->stride;
    float x = 0;

#pragma clang loop unroll(disable)
    for (u32 round = 0; round < 2; round++) {
        u64 at = from, up = from, down = from;

#pragma clang loop unroll(disable)
        for (u64 i = 0; i < turns; i++) {
            u32 v = *(volatile u32 *)at, w = *(volatile u32 *)up;
            i64 half;

            asm volatile("addi %0, %0, -2\n lh %1, (%0)"
                         : "+r"(down), "=r"(half));
            last = *(volatile u32 *)(a->table + 4 * ((v ^ w) & 0xffff));
            sum = sum * 31 + last + (u32)half;
            x = x * 0.5f + *(volatile float *)(up + 4);
            at += stride;
            up += 8;
        }
    }
    a->out[t] = sum;
    a->out[THREADS + t] = __builtin_bit_cast(u32, x);
    a->out[2 * THREADS + t] = last;
}

/* All threads take the same number of turns, at words that are evenly spaced; n
 * is so until it leaves the range of 32 bits. data: the first thread's word,
 * turns, bytes from thread to thread. */
ENTRY(abreast, (const Args *a))
{
    u32 t = TIDY * NTID + TID, sum = t;
    u64 at = a->data[0] + a->data[2] * t, turns = a->data[1];
    u64 stride = a->stride;
    i32 n = (i32)t - 100;

    for (u64 i = 0; i < turns; i++) {
        volatile u32 *p = (volatile u32 *)(at + i * stride);
        u32 v = *p;

        if (v & 4) {
            sum ^= v + t;
        }
        if (n < -1000000000) {
            sum += 3;
        }
        sum = sum * 31 + v;
        *p = sum;
        n = n * 3 + (i32)i;
    }
    a->out[t] = sum + (u32)n;
}

/* Numbers that are one more from thread to thread, small or not. data: the first
 * thread's, turns, a limit. */
ENTRY(compare_lines, (const Args *a))
{
    u32 t = TIDY * NTID + TID;
    u64 n = a->data[0] + t, turns = a->data[1], limit = a->data[2], sum = t;

    for (u64 i = 0; i < turns; i++) {
        barrier(); /* code begins behind it, and is worth it */
        for (u32 k = 0; k < 3; k++) {
            u64 less, more;

            __asm__ volatile("sltu %0, %2, %3\n slt %1, %3, %2"
                             : "=&r"(less), "=r"(more)
                             : "r"(n), "r"(limit));
            sum = (sum * 31 + less + 2 * more + i) ^ sum >> 7;
        }
    }
    a->out[t] = sum;
}

/* A float that one operand alone reads, behind a load that code for whole warps leaves
 * in front of (each thread has its own at that address) and a branch. data: turns. */
ENTRY(floats, (const Args *a))
{
    u32 t = TIDY * NTID + TID, sum = t;
    volatile u32 own[2];

    own[0] = t * 5;
    for (u32 i = 0; i < a->data[0]; i++) {
        float f, g, r;
        u32 v;

        __asm__ volatile("fcvt.s.w %0, %1" : "=f"(f) : "r"(t * 3 + i));
        v = own[0];
        __asm__ volatile("fcvt.s.w %0, %1" : "=f"(g) : "r"(v));
        if (i & 4) {
            own[0] = v + i;
            sum += v;
        }
        __asm__ volatile("fmadd.s %0, %1, %1, %2" : "=f"(r) : "f"(g), "f"(f));
        sum = sum * 31 + __builtin_bit_cast(u32, r);
    }
    a->out[t] = sum;
}

/* A loop with barriers, words and bytes of shared memory that lie side by side
 * upwards and downwards, and one word for each row. data: turns,
 * threads. */
ENTRY(wave, (const Args *a))
{
    u32 t = TIDY * NTID + TID, n = (u32)a->data[1], turns = (u32)a->data[0];
    volatile u32 *words = (volatile u32 *)SHARED_BASE;
    volatile u32 *rows = words + 2 * n, *two;
    volatile u8 *bytes = (volatile u8 *)(rows + n);
    u32 sum = t * 7;

    words[t] = t * 3;
    words[n + t] = t;
    if (TID == 0) {
        rows[TIDY] = t;
    }
    bytes[t] = (u8)(t * 5);
    barrier();
    for (u32 i = 0; i < turns; i++) {
        two = words + (i & 1 ? n : 0);
        sum = sum * 5 + two[n - 1 - t] + bytes[n - 1 - t] + rows[TIDY];
        if (t >= i && t < n - i) {
            sum += two[t] ^ bytes[t];
        }
        barrier();
        words[(i & 1 ? 0 : n) + t] = sum;
        bytes[t] = (u8)(sum >> 3);
        if (TID == 0) {
            rows[TIDY] = sum;
        }
        barrier();
    }
    a->out[t] = sum;
}

/* Words side by side, a warp's own: of lanes in another order in each turn, or of
 * all lanes up; some of them overlap. data: where, turns, bytes from lane to lane
 * (of a warp, 4096). */
ENTRY(pairs, (const Args *a))
{
    u32 t = GID, lane = t & 63, sum = t;
    u64 mine = a->data[0] + 4096 * (u64)(t >> 6), apart = a->data[2];
    volatile u32 *up = (volatile u32 *)(mine + lane * apart);

    for (u32 i = 0; i < a->data[1]; i++) {
        u32 k = (lane * (u32)a->stride + i) & 63;
        volatile u32 *p = (volatile u32 *)(mine + k * apart);
        u32 x = p[0], y = p[1];

        sum = sum * 31 + x * 3 + y;
        if (y & 4) {
            p[1] = x;
            p[0] = sum;
        }
        y = up[1];
        x = up[0];
        up[0] = sum ^ y;
        up[1] = x + i;
        sum += x;
    }
    a->out[t] = sum;
}

/* Words and double words of lanes in groups that are side by side, or nearly so;
 * some groups are at one place, where the last lane's counts. data: where, turns,
 * which bits of the lane's number say where it goes, which eight is not side by
 * side, whether a third of the lanes waits; stride: which bits are inverted. */
ENTRY(eights, (const Args *a))
{
    u32 t = GID, lane = (t & 63) ^ (u32)a->stride, sum = t;
    u64 mine = a->data[0] + 8192 * (u64)(t >> 6);

    for (u32 i = 0; i < a->data[1]; i++) {
        u32 k = (lane & (u32)a->data[2]) + (i & 15);
        volatile u64 *p;
        volatile u32 *q;
        u64 x;

        k ^= lane >> 3 == a->data[3];
        p = (volatile u64 *)mine + k;
        q = (volatile u32 *)(mine + 4096) + k;
        if (a->data[4] && (t + i) % 3 == 0) {
            continue;
        }
        x = *p;
        sum = sum * 31 + (u32)x + *q;
        *q = sum;
        *p = x * 5 + sum;
    }
    a->out[t] = sum;
}

/* All indices and sizes, as one number for each thread. data: turns. */
ENTRY(indices, (const Args *a))
{
    u64 sum = 0;
    u32 at = 0;

    for (u64 i = 0; i < a->data[0]; i++) {
        u32 x = (u32)CSR(0xcc0), y = (u32)CSR(0xcc1), z = (u32)CSR(0xcc2);
        u32 nx = (u32)CSR(0xcc3), ny = (u32)CSR(0xcc4), nz = (u32)CSR(0xcc5);
        u64 block = (CSR(0xcc8) * CSR(0xcca) + CSR(0xcc7)) * CSR(0xcc9) +
                    CSR(0xcc6);

        at = (u32)block * nx * ny * nz + (z * ny + y) * nx + x;
        sum = sum * 31 + x + 1000 * (y + 1000 * (u64)z);
        sum = sum * 31 + nx + 3 * ny + 5 * nz;
        sum = sum * 31 + CSR(0xcc9) + 3 * CSR(0xcca) + 5 * CSR(0xccb);
        barrier();
    }
    a->out[at] = sum;
}

#define QUOTIENT(op)                                                           \
    ({                                                                         \
        u64 q;                                                                 \
        __asm__ volatile(op " %0, %1, %2" : "=r"(q) : "r"(x), "r"(y));         \
        q;                                                                     \
    })

/* What all threads divide alike. data: numbers, how many. */
ENTRY(quotients, (const Args *a))
{
    const volatile u64 *numbers = (const volatile u64 *)a->data[0];
    u64 n = a->data[1], sum = GID;

    for (u64 i = 0; i < n * n; i++) {
        u64 x = numbers[i / n], y = numbers[i % n];

        sum = sum * 31 + QUOTIENT("div") + QUOTIENT("divu") * 3;
        sum = sum * 31 + QUOTIENT("rem") + QUOTIENT("remu") * 3;
        sum = sum * 31 + QUOTIENT("divw") + QUOTIENT("divuw") * 3;
        sum = sum * 31 + QUOTIENT("remw") + QUOTIENT("remuw") * 3;
    }
    a->out[GID] = sum;
}

#define FROM_FLOAT(insn, v)                                                    \
    ({                                                                         \
        u64 result;                                                            \
                                                                               \
        __asm__ volatile(insn : "=r"(result) : "f"(v));                        \
        result;                                                                \
    })
#define TO_FLOAT(type, insn, v)                                                \
    ({                                                                         \
        type result;                                                           \
                                                                               \
        __asm__ volatile(insn : "=f"(result) : "r"(v));                        \
        result;                                                                \
    })
#define TO_INTEGERS(rm)                                                        \
    (FROM_FLOAT("fcvt.w.s %0, %1, " rm, f) +                                   \
     FROM_FLOAT("fcvt.wu.s %0, %1, " rm, f) * 3 +                              \
     FROM_FLOAT("fcvt.l.s %0, %1, " rm, f) * 5 +                               \
     FROM_FLOAT("fcvt.lu.s %0, %1, " rm, f) * 7 +                              \
     FROM_FLOAT("fcvt.w.d %0, %1, " rm, d) * 11 +                              \
     FROM_FLOAT("fcvt.wu.d %0, %1, " rm, d) * 13 +                             \
     FROM_FLOAT("fcvt.l.d %0, %1, " rm, d) * 17 +                              \
     FROM_FLOAT("fcvt.lu.d %0, %1, " rm, d) * 19)

/* Each thread another number of the list. data: doubles, how many. */
ENTRY(conversions, (const Args *a))
{
    const volatile u64 *numbers = (const volatile u64 *)a->data[0];
    u64 n = a->data[1], sum = GID;

    for (u64 i = 0; i < n; i++) {
        u64 bits = numbers[(i + GID) % n];
        double d = TO_FLOAT(double, "fmv.d.x %0, %1", bits);
        float f = (float)d;

        sum = sum * 31 + TO_INTEGERS("rne") + TO_INTEGERS("rtz") * 3;
        sum = sum * 31 + TO_INTEGERS("rdn") + TO_INTEGERS("rup") * 3;
        sum = sum * 31 + TO_INTEGERS("dyn");
        sum = sum * 31 + FROM_FLOAT("fclass.s %0, %1", f) +
              FROM_FLOAT("fclass.d %0, %1", d) * 3;
        f = TO_FLOAT(float, "fcvt.s.l %0, %1, rne", bits);
        sum = sum * 31 + FROM_FLOAT("fmv.x.w %0, %1", f);
        f = TO_FLOAT(float, "fcvt.s.lu %0, %1, rne", bits);
        sum = sum * 31 + FROM_FLOAT("fmv.x.w %0, %1", f);
        d = TO_FLOAT(double, "fcvt.d.l %0, %1, rne", bits);
        sum = sum * 31 + FROM_FLOAT("fmv.x.d %0, %1", d);
        d = TO_FLOAT(double, "fcvt.d.lu %0, %1, rne", bits);
        sum = sum * 31 + FROM_FLOAT("fmv.x.d %0, %1", d);
    }
    a->out[GID] = sum;
}

/* One number for each row, which other lanes of it write in each turn, or none, or all.
 * data: where, bytes from row to row, turns. */
ENTRY(levels, (const Args *a))
{
    u32 t = TIDY * NTID + TID, sum = t * 7;
    u64 row = a->data[0] + a->data[1] * (u64)TIDY;
    float x = (float)t;
    u32 turns = (u32)a->data[2];

#pragma clang loop unroll(disable)
    for (u32 i = 0; i < turns; i++) {
        u32 bits = (t + 1) * 2654435761u >> (i & 15);

        if (!(bits & 7)) {
            *(volatile u64 *)row = sum * 0x100000001ull;
            *(volatile u32 *)(row + 8) = sum ^ t;
        }
        if (__builtin_expect(TID == (i & 3), 1)) {
            *(volatile unsigned short *)(row + 14) = (unsigned short)sum;
            *(volatile float *)(row + 16) = x;
        }
        *(volatile u8 *)(row + 13) = (u8)(sum >> 3);
        sum = sum * 5 + *(volatile u32 *)(row + 4) + *(volatile u32 *)(row + 8) +
              *(volatile u32 *)(row + 12) + *(volatile u32 *)(row + 16);
    }
    a->out[t] = sum;
}

/* Arrays in shared memory, which each block looks at from another place on: lanes that
 * are outside of them do not. data: bytes, words and halfwords behind each other; how
 * many of each; how much further thread 208 looks, down; what comes out; ... up. */
#define BELOW(i, n)                                                            \
    ({                                                                         \
        u64 end_ = (n);                                                        \
                                                                               \
        asm volatile("" : "+r"(end_)); /* each `if` for itself, in order */    \
        __builtin_expect((i) < end_, 1);                                       \
    })

ENTRY(edges, (const Args *a))
{
    u64 t = TID, n = a->data[1], sum = t, d, down, up;
    volatile u8 *bytes = (volatile u8 *)a->data[0];
    volatile u32 *words = (volatile u32 *)(bytes + n);
    volatile unsigned short *halves = (volatile unsigned short *)(words + n);

    for (u64 i = t; i < n; i += NTID) {
        bytes[i] = (u8)(i * 7);
        words[i] = (u32)i * 2654435761u;
        halves[i] = (unsigned short)(i * 77);
    }
    barrier();
    t = TID;
    d = 16 * (u64)CTAID;
    down = d - t;
    up = t + d - n;
    if (BELOW(down, n)) {
        sum = sum * 5 + bytes[down] + words[down];
    }
    if (BELOW(down, n + (t == 208 ? a->data[2] : 0))) {
        sum ^= halves[down];
    }
    if (BELOW(up, n + (t == 208 ? a->data[4] : 0))) {
        sum = sum * 3 + halves[up];
    }
    if (BELOW(up, n)) {
        sum += words[up] ^ bytes[up];
    }
    barrier();
    up = TID + 16 * (u64)CTAID - n;
    if (BELOW(up, n)) {
        halves[up] = (unsigned short)(up * 78);
        words[up] = (u32)up * 2654435769u;
    }
    barrier();
    t = TID;
    sum = sum * 7 + halves[t] + words[t];
    *(volatile u64 *)(a->data[3] + 8 * (NTID * (u64)CTAID + t)) = sum;
}

/* Between barriers all warps begin the same code again, with other registers than it
 * left: a line whose step it changes, a number that is no word any more. data: turns,
 * the first turn to do so. */
ENTRY(changing, (const Args *a))
{
    u64 turns = a->data[0], first = a->data[1], line = TID * 4ull, grows = 3;
    u64 t = TID, sum = t;

#pragma clang loop unroll(disable)
    for (u64 i = 0; i < turns; i++) {
        u64 more = i >= first;

        asm volatile("" : "+r"(more)); /* to be multiplied */
        sum = sum * 31 + line;
        sum ^= (sum >> 7) + grows;
        sum += (line << 3) ^ (grows << 1);
        sum = sum * 5 + (line >> 1) + (u32)(grows + line);
        line += TID * more;
        grows += grows * more + 1;
        barrier();
    }
    a->out[t] = sum + line * grows;
}

/* Short rows of indices, to their end: up, and down. What is odd of the stride is in the
 * way: then they do not come to their end. */
ENTRY(rows, (const Args *a))
{
    u32 t = GID, sum = t;
    u64 from = a->data[2 * t], turns = a->data[2 * t + 1], p = from;
    u64 end = from + 4 * turns + (a->stride & 3);
    float x = 0;

#pragma clang loop unroll(disable)
    do {
        u32 index = *(volatile unsigned short *)p;

        asm volatile("sh2add zero, %0, %1" ::"r"(index), "r"(a->table));
        x = x * 0.5f + *(volatile float *)(a->table + 4ull * index);
        p += 4;
    } while (p != end);
    a->out[THREADS + t] = __builtin_bit_cast(u32, x);
#pragma clang loop unroll(disable)
    do {
        p -= 8;
        sum = sum * 31 +
              *(volatile u32 *)(a->table + *(volatile unsigned short *)(p + 4));
    } while (p != from - 4 * turns);
    a->out[t] = sum;
    a->out[2 * THREADS + t] = p;
}

/* Floating point of both widths, calls, branches in the loop, an array that is
 * indexed by lane, and atomics. */
static __attribute__((noinline)) double step(double x, u32 k)
{
    return k & 4 ? x * 1.5 + k : x / (k + 2.0);
}

ENTRY(mixed, (const Args *a))
{
    u32 t = GID, own[16];
    u64 turns = a->data[2 * t + 1];
    u32 *counts = (u32 *)a->data[2 * t];
    float f = (float)t;
    double d = t;
    i32 n = (i32)(t * 2654435761u);

    for (u32 k = 0; k < 16; k++) {
        own[k] = k * t;
    }
    for (u64 i = 0; i < turns; i++) {
        if (n & 1) {
            f = f * 0.75f + (float)(n % 7);
            n = n * 3 + 1;
        } else {
            f = f < 100.0f ? f + 1.0f : -f;
            n >>= 1;
        }
        d = step(d, (u32)i + t);
        own[(u32)n % 16] += (u32)i;
        __atomic_fetch_add(&counts[(u32)n % 64], 1, __ATOMIC_RELAXED);
        if ((n & 0xff) == 0x55) {
            break;
        }
    }
    for (u32 k = 0; k < 16; k++) {
        n = n * 5 + (i32)own[k];
    }
    a->out[3 * t] = (u32)n;
    __builtin_memcpy(&a->out[3 * t + 1], &d, 8);
    a->out[3 * t + 2] = 0;
    __builtin_memcpy(&a->out[3 * t + 2], &f, 4);
}

/* Lanes take a lock in turns: one that holds it must get on. */
ENTRY(locks, (const Args *a))
{
    u32 t = GID;
    volatile u32 *lock = (volatile u32 *)a->data[0], *count = lock + 1;

    for (u64 i = 0; i < a->data[2 * t + 1]; i++) {
        u32 done = 0;

        while (!done) {
            if (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) == 0) {
                *count += 1;
                __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
                done = 1;
            }
        }
    }
    a->out[t] = 1;
}

/* Each thread waits for what the one behind it in its warp writes. */
ENTRY(chain, (const Args *a))
{
    u32 t = GID;
    volatile u32 *flags = (volatile u32 *)a->data[0];
    u32 spins = 0;

    if (TID != NTID - 1) {
        while (!flags[t + 1]) {
            spins++;
        }
    }
    flags[t] = 1;
    a->out[t] = spins > 0;
}

/* ---- atomics */

#define AMO(op, at, v)                                                         \
    ({                                                                         \
        u64 old_;                                                              \
        asm volatile(op " %0, %2, (%1)"                                        \
                     : "=r"(old_)                                              \
                     : "r"(at), "r"(v)                                         \
                     : "memory");                                              \
        old_;                                                                  \
    })
#define FAMO(f7, at, v)                                                        \
    ({                                                                         \
        u64 old_;                                                              \
        asm volatile(".insn r 0x0b, 3, " #f7 ", %0, %1, %2"                    \
                     : "=r"(old_)                                              \
                     : "r"(at), "r"(v)                                         \
                     : "memory");                                              \
        old_;                                                                  \
    })
#define LR(op, at)                                                             \
    ({                                                                         \
        u64 old_;                                                              \
        asm volatile(op " %0, (%1)" : "=r"(old_) : "r"(at) : "memory");        \
        old_;                                                                  \
    })
#define BOTH_AMO(op, at, v)                                                    \
    (AMO("amo" op ".w", at, v) * 3 + AMO("amo" op ".d", (at) + 8, v))
#define APART 4096 /* bytes of each operation */

static __attribute__((always_inline)) inline u64 all_amo(u64 at, u64 v)
{
    u64 sum = BOTH_AMO("add", at, v);

    sum = sum * 31 + BOTH_AMO("swap", at + APART, v);
    sum = sum * 31 + BOTH_AMO("xor", at + 2 * APART, v);
    sum = sum * 31 + BOTH_AMO("and", at + 3 * APART, v);
    sum = sum * 31 + BOTH_AMO("or", at + 4 * APART, v);
    sum = sum * 31 + BOTH_AMO("min", at + 5 * APART, v);
    sum = sum * 31 + BOTH_AMO("max", at + 6 * APART, v);
    sum = sum * 31 + BOTH_AMO("minu", at + 7 * APART, v);
    sum = sum * 31 + BOTH_AMO("maxu", at + 8 * APART, v);
    sum = sum * 31 + FAMO(0, at + 9 * APART, v);
    sum = sum * 31 + FAMO(1, at + 9 * APART + 8, v);
    sum = sum * 31 + FAMO(2, at + 10 * APART, v) + FAMO(3, at + 10 * APART + 8, v);
    return sum * 31 + FAMO(4, at + 10 * APART, v) +
           FAMO(5, at + 10 * APART + 8, v);
}

/* Reservations that hold, of another address or size, without any, and of what has
 * changed meanwhile. */
static __attribute__((always_inline)) inline u64 all_reserved(u64 at, u64 v)
{
    u64 sum = LR("lr.w", at), old = LR("lr.d", at + 8);

    sum = sum * 31 + AMO("sc.w", at, v) + 2 * AMO("sc.d", at + 8, v) + old;
    old = LR("lr.d", at + 8);
    sum = sum * 31 + AMO("sc.d", at + 8, v + 1) + 2 * AMO("sc.d", at + 8, v) + old;
    old = LR("lr.w", at);
    sum = sum * 31 + AMO("sc.d", at, v) + 2 * AMO("sc.w", at, v) + old;
    old = LR("lr.w", at + APART);
    (void)AMO("amoadd.w", at + APART, v & 1);
    sum = sum * 31 + AMO("sc.w", at + APART, v) + old;
    return sum;
}

#define CAS(f3, at, with, v)                                                   \
    ({                                                                         \
        u64 old_ = (with);                                                     \
        asm volatile(".insn r 0x2f, " #f3 ", 0x14, %0, %1, %2"                 \
                     : "+r"(old_)                                              \
                     : "r"(at), "r"(v)                                         \
                     : "memory");                                              \
        old_;                                                                  \
    })

/* What is there, but for the half that words do not look at; what is not; the same
 * by all lanes. */
static __attribute__((always_inline)) inline u64 all_compared(u64 at, u64 v)
{
    u64 sum = CAS(2, at, *(volatile u32 *)at | v << 32, v);

    sum = sum * 31 + CAS(3, at + 8, *(volatile u64 *)(at + 8), v);
    sum = sum * 31 + CAS(2, at, v + 1, v) * 3 + CAS(3, at + 8, v ^ 1ull << 40, 9);
    return sum * 31 + CAS(2, at, 5, 5) + CAS(3, at + 8, v, 7);
}

static __attribute__((always_inline)) inline u64 all_atomics(u64 at, u64 v)
{
    return all_amo(at, v) * 31 + all_reserved(at + 11 * APART, v);
}

/* data: where, turns, bytes between threads, lanes that go, lanes that do it in
 * the first turn; a lane that goes further in a turn, and how far. */
static __attribute__((always_inline)) inline void
go(const Args *a, u64 (*does)(u64 at, u64 v))
{
    u32 t = TIDY * NTID + GID, lane = t & 63;
    u64 at = a->data[0] + t * a->data[2], sum = t;
    u64 turns = a->data[3] >> lane & 1 ? a->data[1] : 0;
    u64 stride = a->stride + (lane == a->data[5] ? a->data[6] : 0);

    for (u64 i = 0; i < turns; i++) {
        if (a->data[4] >> ((lane + i) & 63) & 1) {
            sum = sum * 31 + does(at, sum ^ i << 32);
        }
        at += stride;
    }
    a->out[t] = sum;
}

ENTRY(atomics, (const Args *a))
{
    go(a, all_atomics);
}

ENTRY(compares, (const Args *a))
{
    go(a, all_compared);
}

/* The first ones by all at one place; of numbers that are each lane's and the
 * warp's. */
ENTRY(atomics_one, (const Args *a))
{
    u32 t = GID, lane = t & 63;
    u64 at = a->data[0], sum = t, does = a->data[4];
    u64 turns = a->data[3] >> lane & 1 ? a->data[1] : 0;

    for (u64 i = 0; i < turns; i++) {
        u64 v = sum ^ i << 32;

        if (does >> ((lane + i) & 63) & 1) {
            sum = sum * 31 + BOTH_AMO("add", at, v) + BOTH_AMO("max", at + 16, i);
            sum = sum * 31 + BOTH_AMO("add", at + 32, i) + FAMO(0, at + 48, v);
            sum = sum * 31 + BOTH_AMO("add", at + 64, 0x980000003ull);
            sum = sum * 31 + LR("lr.w", at + 56) + AMO("sc.w", at + 56, v);
        }
    }
    a->out[t] = sum;
}
