/* SPDX-License-Identifier: MIT */
/* Kernels of bench_simt.c. */
#include "../support/simt_device.h"

typedef struct SaxpyArgs { float a; const float *x; float *y; } SaxpyArgs;
ENTRY(saxpy, (const SaxpyArgs *a))
{
    u32 i = GID;

    a->y[i] = a->a * a->x[i] + a->y[i];
}

typedef struct GemmArgs { const float *a, *b; float *c; int n; } GemmArgs;

ENTRY(sgemm, (const GemmArgs *g))
{
    u32 j = GID, i = (u32)CSR(0xcc7) * (u32)CSR(0xcc4) + (u32)CSR(0xcc1);
    const float *a = g->a, *b = g->b;
    float s = 0;
    int n = g->n;

    for (int k = 0; k < n; k++) {
        s += a[i * n + k] * b[k * n + j];
    }
    g->c[i * n + j] = s;
}

#define T 16
ENTRY(sgemmt, (const GemmArgs *g))
{
    float (*as)[T] = (void *)SHARED_BASE, (*bs)[T] = as + T;
    u32 tx = TID, ty = (u32)CSR(0xcc1), j = CTAID * T + tx,
        i = (u32)CSR(0xcc7) * T + ty;
    float s = 0;
    int n = g->n;

    for (int k0 = 0; k0 < n; k0 += T) {
        as[ty][tx] = g->a[i * n + k0 + tx];
        bs[ty][tx] = g->b[(k0 + ty) * n + j];
        barrier();
        for (int k = 0; k < T; k++) {
            s += as[ty][k] * bs[k][tx];
        }
        barrier();
    }
    g->c[i * n + j] = s;
}

typedef struct MandelArgs { u32 *o; int n; } MandelArgs;
ENTRY(mandel, (const MandelArgs *a))
{
    int px = GID, py = (u32)CSR(0xcc7) * (u32)CSR(0xcc4) + (u32)CSR(0xcc1);
    float cx = -2.0f + (float)px * (3.0f / 1024.0f);
    float cy = -1.5f + (float)py * (3.0f / 1024.0f), x = 0, y = 0;
    u32 it = 0;

    while (it < 256) {
        float xx = x * x, yy = y * y, xy = x * y;

        if (!(xx + yy <= 4.0f)) {
            break;
        }
        y = xy + xy + cy;
        x = xx - yy + cx;
        it++;
    }
    a->o[py * a->n + px] = it;
}

typedef struct ReduceArgs { const i32 *in; i32 *out; } ReduceArgs;
ENTRY(reduce, (const ReduceArgs *a))
{
    i32 *l = (i32 *)SHARED_BASE;
    u32 t = TID;
    const i32 *p = a->in + CTAID * 2048 + t;
    i32 s = 0;

    for (int k = 0; k < 8; k++) {
        s += p[k * 256];
    }
    l[t] = s;
    barrier();
    for (u32 h = 128; h; h >>= 1) {
        if (t < h) {
            l[t] += l[t + h];
        }
        barrier();
    }
    if (t == 0) {
        __atomic_fetch_add(a->out, l[0], __ATOMIC_RELAXED);
    }
}

typedef struct NbodyArgs { const float *p; float *o; int n; } NbodyArgs;
ENTRY(nbody, (const NbodyArgs *a))
{
    u32 i = GID;
    const float *p = a->p;
    float mx = p[4 * i], my = p[4 * i + 1], mz = p[4 * i + 2];
    float ax = 0, ay = 0, az = 0;

    for (int j = 0; j < a->n; j++) {
        float dx = p[4 * j] - mx, dy = p[4 * j + 1] - my;
        float dz = p[4 * j + 2] - mz;
        float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
        float inv = 1.0f / __builtin_sqrtf(r2);
        float s = p[4 * j + 3] * inv * inv * inv;

        ax += dx * s;
        ay += dy * s;
        az += dz * s;
    }
    a->o[4 * i] = ax;
    a->o[4 * i + 1] = ay;
    a->o[4 * i + 2] = az;
    a->o[4 * i + 3] = 0;
}

typedef struct HashArgs { u32 *o; } HashArgs;
ENTRY(hash, (const HashArgs *a))
{
    u32 x = GID * 2654435761u, y = x ^ 0x9e3779b9u, z = ~x;

    for (int i = 0; i < 64; i++) {
        x += (y << 7 | y >> 25) ^ z;
        y ^= (z << 13 | z >> 19) + x;
        z += (x & y) | (~x & z);
        x ^= x >> 15;
    }
    a->o[2 * GID] = x;
    a->o[2 * GID + 1] = y + z;
}
ENTRY(empty, (void *a)) {}

/* ---- where the lanes of a warp each go to a place of their own */

typedef struct PlaceArgs { void *at; u32 n, mask; } PlaceArgs;

/* An array of the thread, and the same in shared memory. */
#define DEF_TABLE(name, DECLARE)                                               \
    ENTRY(name, (const PlaceArgs *a))                                          \
    {                                                                          \
        DECLARE;                                                               \
        u32 x = GID * 2654435761u, sum = 0;                                    \
                                                                               \
        for (u32 i = 0; i < 32; i++) {                                         \
            t[i] = x + i;                                                      \
        }                                                                      \
        for (u32 i = 0; i < a->n; i++) {                                       \
            u32 from = (x >> 16) % 32;                                         \
                                                                               \
            x = x * 1664525u + 1013904223u;                                    \
            sum += t[from];                                                    \
            t[(from + i) % 32] = sum;                                          \
        }                                                                      \
        ((u32 *)a->at)[GID] = sum;                                             \
    }
DEF_TABLE(ptable, volatile u32 t[32])
DEF_TABLE(stable, volatile u32 *t = (u32 *)SHARED_BASE + 32 * TID)

#define DEF_ATOMIC(name, T, WHERE, DO)                                         \
    ENTRY(name, (const PlaceArgs *a))                                          \
    {                                                                          \
        T *at = (T *)a->at + (WHERE), s = 0, v = (T)GID;                       \
                                                                               \
        for (u32 i = 0; i < a->n; i++) {                                       \
            s += DO;                                                           \
        }                                                                      \
        if (s == (T)1234567) {                                                 \
            *at = s;                                                           \
        }                                                                      \
    }
#define RELAXED __ATOMIC_RELAXED
static inline float fetch_fadd(float *at, float v)
{
    u32 bits;

    __builtin_memcpy(&bits, &v, sizeof(bits));
    __asm__ volatile(".insn r 0x0b, 3, 0, %0, %1, %2"
                     : "=r"(bits)
                     : "r"(at), "r"(bits)
                     : "memory");
    __builtin_memcpy(&v, &bits, sizeof(v));
    return v;
}
DEF_ATOMIC(add_own, u32, GID, __atomic_fetch_add(at, v, RELAXED))
DEF_ATOMIC(add_one, u32, 0, __atomic_fetch_add(at, v, RELAXED))
DEF_ATOMIC(or_own, u64, GID, __atomic_fetch_or(at, v, RELAXED))
DEF_ATOMIC(or_one, u64, 0, __atomic_fetch_or(at, v, RELAXED))
DEF_ATOMIC(max_own, u64, GID, __atomic_fetch_max(at, v + i, RELAXED))
DEF_ATOMIC(max_one, u64, 0, __atomic_fetch_max(at, v + i, RELAXED))
DEF_ATOMIC(fadd_own, float, GID, fetch_fadd(at, v))
DEF_ATOMIC(fadd_one, float, 0, fetch_fadd(at, v))

/* Histogram in shared memory, with a count a lane or so for each bin. */
ENTRY(bins, (const PlaceArgs *a))
{
    u32 *at = (u32 *)SHARED_BASE, x = GID * 2654435761u;

    for (u32 i = 0; i < a->n; i++) {
        x = x * 1664525u + 1013904223u;
        __atomic_fetch_add(at + (x >> 26), 1, RELAXED);
    }
}

/* Doublewords anywhere in "mask" + 1 of them. */
ENTRY(gather, (const PlaceArgs *a))
{
    const u64 *from = a->at;
    u32 x = GID * 2654435761u;
    u64 sum = 0;

    for (u32 i = 0; i < a->n; i++) {
        x = x * 1664525u + 1013904223u;
        sum += from[x >> 8 & a->mask];
    }
    if (sum == 1) {
        *(u64 *)a->at = sum;
    }
}
ENTRY(scatter, (const PlaceArgs *a))
{
    u64 *to = a->at;
    u32 x = GID * 2654435761u;

    for (u32 i = 0; i < a->n; i++) {
        x = x * 1664525u + 1013904223u;
        to[x >> 8 & a->mask] = x;
    }
}
