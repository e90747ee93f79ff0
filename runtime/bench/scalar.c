/* SPDX-License-Identifier: MIT */
/* The works as plain loops on one thread. usage: scalar WORK RUNS */
#include "data.h"

static void saxpy(BenchData *d)
{
    const float *x = d->a;
    float *y = d->out;

    for (int i = 0; i < SAXPY_N; i++) {
        y[i] = saxpy_item(0.5f, x[i], y[i]);
    }
}

static void sgemm(BenchData *d)
{
    for (int row = 0; row < GEMM_N; row++) {
        for (int col = 0; col < GEMM_N; col++) {
            ((float *)d->out)[row * GEMM_N + col] =
                sgemm_item(d->a, d->b, GEMM_N, row, col);
        }
    }
}

static void tile(const float *a, const float *b, float *c, int by, int bx)
{
    float acc[GEMM_TILE][GEMM_TILE] = {{0}};

    for (int k0 = 0; k0 < GEMM_N; k0 += GEMM_TILE) {
        float as[GEMM_TILE][GEMM_TILE], bs[GEMM_TILE][GEMM_TILE];

        for (int y = 0; y < GEMM_TILE; y++) {
            for (int x = 0; x < GEMM_TILE; x++) {
                as[y][x] = a[(by + y) * GEMM_N + k0 + x];
                bs[y][x] = b[(k0 + y) * GEMM_N + bx + x];
            }
        }
        for (int y = 0; y < GEMM_TILE; y++) {
            for (int x = 0; x < GEMM_TILE; x++) {
                for (int k = 0; k < GEMM_TILE; k++) {
                    acc[y][x] += as[y][k] * bs[k][x];
                }
            }
        }
    }
    for (int y = 0; y < GEMM_TILE; y++) {
        memcpy(&c[(by + y) * GEMM_N + bx], acc[y], sizeof acc[y]);
    }
}

static void sgemm_tiled(BenchData *d)
{
    for (int by = 0; by < GEMM_N; by += GEMM_TILE) {
        for (int bx = 0; bx < GEMM_N; bx += GEMM_TILE) {
            tile(d->a, d->b, d->out, by, bx);
        }
    }
}

static void mandelbrot(BenchData *d)
{
    for (int y = 0; y < MANDEL_N; y++) {
        for (int x = 0; x < MANDEL_N; x++) {
            ((int *)d->out)[y * MANDEL_N + x] = mandel_item(x, y);
        }
    }
}

static void reduce(BenchData *d)
{
    const uint32_t *in = d->a;
    uint32_t sum = 0;

    for (int i = 0; i < REDUCE_N; i++) {
        sum += in[i];
    }
    *(uint32_t *)d->out = sum;
}

static void nbody(BenchData *d)
{
    const float *p = d->a;
    float *o = d->out;

    for (int i = 0; i < NBODY_N; i++) {
        float ax = 0, ay = 0, az = 0;

        for (int j = 0; j < NBODY_N; j++) {
            nbody_item(p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * j],
                       p[4 * j + 1], p[4 * j + 2], p[4 * j + 3], &ax, &ay,
                       &az);
        }
        o[4 * i] = ax;
        o[4 * i + 1] = ay;
        o[4 * i + 2] = az;
    }
}

static void hash(BenchData *d)
{
    for (unsigned i = 0; i < HASH_N; i++) {
        ((uint32_t *)d->out)[i] = hash_item(i);
    }
}

int main(int argc, char **argv)
{
    static void (*const works[WORKS])(BenchData *) = {
        saxpy, sgemm, sgemm_tiled, mandelbrot, reduce, nbody, hash
    };
    int work = argc > 2 ? bench_find(argv[1]) : -1;
    int runs = argc > 2 ? atoi(argv[2]) : 0;

    if (work < 0 || runs < 1) {
        fprintf(stderr, "usage: scalar WORK RUNS\n");
        return 2;
    }
    BenchData d = bench_data(work);
    for (int i = 0; i < runs; i++) {
        bench_begin(work, &d);
        double start = bench_now();
        works[work](&d);
        double seconds = bench_now() - start;
        bench_report(work, seconds, bench_check(work, &d));
    }
    return 0;
}
