/* SPDX-License-Identifier: MIT */
/* Inputs of the works and the check of their results, the same for each peer. */
#ifndef MXGPU_BENCH_DATA_H
#define MXGPU_BENCH_DATA_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef FN
#define FN static inline
#define GLOBAL
#define SQRT sqrtf
#include "bodies.h"
#endif

enum bench_work {
    SAXPY, SGEMM, SGEMM_TILED, MANDELBROT, REDUCE, NBODY, HASH, WORKS
};
static const char *const bench_names[WORKS] = {
    "saxpy", "sgemm", "sgemm-tiled", "mandelbrot", "reduce", "nbody", "hash"
};

/* Input and output bytes of a work: a, b are inputs, out the result. */
typedef struct BenchData {
    size_t a_size, b_size, out_size;
    void *a, *b, *out;
} BenchData;

static inline double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_find(const char *name)
{
    for (int i = 0; i < WORKS; i++) {
        if (!strcmp(name, bench_names[i])) {
            return i;
        }
    }
    return -1;
}

/* Small multiples of 1/4: sums of 512 products are exact in f32. */
static inline float bench_a(unsigned i)
{
    return (float)((int)(i * 7 % 13) - 6) * 0.25f;
}

static inline float bench_b(unsigned i)
{
    return (float)((int)(i * 11 % 17) - 8) * 0.25f;
}

static inline void bench_fill(float *p, size_t n, float (*f)(unsigned))
{
    for (size_t i = 0; i < n; i++) {
        p[i] = f((unsigned)i);
    }
}

static inline BenchData bench_data(int work)
{
    enum { gemm = GEMM_N * GEMM_N * 4 };
    /* a, b and out of each work, in the order of enum bench_work */
    static const size_t sizes[WORKS][3] = {
        {SAXPY_N * 4, 0, SAXPY_N * 4},
        {gemm, gemm, gemm},
        {gemm, gemm, gemm},
        {0, 0, MANDEL_N * MANDEL_N * 4},
        {REDUCE_N * 4ul, 0, 4},
        {NBODY_N * 16, 0, NBODY_N * 16},
        {0, 0, HASH_N * 4},
    };
    BenchData d = {sizes[work][0], sizes[work][1], sizes[work][2], 0, 0, 0};

    d.a = calloc(1, d.a_size + 64);
    d.b = calloc(1, d.b_size + 64);
    d.out = calloc(1, d.out_size + 64);
    if (!d.a || !d.b || !d.out) {
        fprintf(stderr, "bench: out of memory\n");
        exit(2);
    }
    if (work == REDUCE) {
        for (uint32_t i = 0; i < REDUCE_N; i++) {
            ((int32_t *)d.a)[i] = (int32_t)(i * 2654435761u >> 8) - (1 << 20);
        }
    } else {
        bench_fill((float *)d.a, d.a_size / 4, bench_a);
        bench_fill((float *)d.b, d.b_size / 4, bench_b);
    }
    return d;
}

/* Sets out to what the work starts from; before each run. */
static inline void bench_begin(int work, BenchData *d)
{
    if (work == SAXPY) {
        bench_fill((float *)d->out, SAXPY_N, bench_b);
    } else {
        memset(d->out, 0, d->out_size);
    }
}

static inline int bench_check_nbody(const BenchData *d)
{
    const float *p = (const float *)d->a, *o = (const float *)d->out;

    for (int i = 0; i < NBODY_N; i += 511) {
        double ax = 0, scale = 0;
        for (int j = 0; j < NBODY_N; j++) {
            double dx = p[4 * j] - p[4 * i], dy = p[4 * j + 1] - p[4 * i + 1];
            double dz = p[4 * j + 2] - p[4 * i + 2];
            double r = sqrt(dx * dx + dy * dy + dz * dz + 0.01f);
            ax += dx * p[4 * j + 3] / (r * r * r);
            scale += fabs(dx * p[4 * j + 3] / (r * r * r));
        }
        if (!(fabs(ax - o[4 * i]) <= 1e-4 * scale + 1e-6)) {
            return 0;
        }
    }
    return 1;
}

static inline int bench_check_sgemm(const BenchData *d)
{
    const float *a = (const float *)d->a, *b = (const float *)d->b;
    const float *c = (const float *)d->out;

    for (int row = 0; row < GEMM_N; row += 37) {
        for (int col = 0; col < GEMM_N; col++) {
            if (c[row * GEMM_N + col] !=
                sgemm_item(a, b, GEMM_N, row, col)) {
                return 0;
            }
        }
    }
    return 1;
}

/* Contraction of a * b + c may differ between peers, so that a point at the
 * border may escape one step apart: bound the share of such points. */
static inline int bench_check_mandel(const BenchData *d)
{
    const int *o = (const int *)d->out;
    int points = 0, differ = 0;

    for (int y = 0; y < MANDEL_N; y += 17) {
        for (int x = 0; x < MANDEL_N; x++) {
            points++;
            differ += o[y * MANDEL_N + x] != mandel_item(x, y);
        }
    }
    return differ * 50 <= points;
}

/* Whether out is right. */
static inline int bench_check(int work, const BenchData *d)
{
    uint32_t sum = 0;

    switch (work) {
    case SAXPY:
        for (unsigned i = 0; i < SAXPY_N; i++) {
            if (((float *)d->out)[i] !=
                saxpy_item(0.5f, bench_a(i), bench_b(i))) {
                return 0;
            }
        }
        return 1;
    case SGEMM:
    case SGEMM_TILED:
        return bench_check_sgemm(d);
    case MANDELBROT:
        return bench_check_mandel(d);
    case REDUCE:
        for (size_t i = 0; i < REDUCE_N; i++) {
            sum += ((uint32_t *)d->a)[i];
        }
        return sum == *(uint32_t *)d->out;
    case NBODY:
        return bench_check_nbody(d);
    case HASH:
        for (unsigned i = 0; i < HASH_N; i += 31) {
            if (((uint32_t *)d->out)[i] != hash_item(i)) {
                return 0;
            }
        }
        return 1;
    }
    return 0;
}

/* One line a run, read by scripts/bench. */
static inline void bench_report(int work, double seconds, int ok)
{
    printf("%s %.9f %d\n", bench_names[work], seconds, ok);
    fflush(stdout);
}

#endif
