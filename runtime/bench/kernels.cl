/* SPDX-License-Identifier: MIT */
#define FN static inline
#define GLOBAL __global
#define SQRT sqrt
#ifdef BENCH_OCLGRIND /* Oclgrind knows no funnel shifts of LLVM */
#define ROTATE(x, n) rotate((uint)(x), (uint)(n))
#endif
#include "bodies.h"

__kernel void saxpy(__global const float *x, __global const float *unused,
                    __global float *y)
{
    size_t i = get_global_id(0);

    y[i] = saxpy_item(0.5f, x[i], y[i]);
}

__kernel void sgemm(__global const float *a, __global const float *b,
                    __global float *c)
{
    int col = get_global_id(0), row = get_global_id(1);

    c[row * GEMM_N + col] = sgemm_item(a, b, GEMM_N, row, col);
}

__kernel __attribute__((reqd_work_group_size(GEMM_TILE, GEMM_TILE, 1))) void
sgemm_tiled(__global const float *a, __global const float *b,
            __global float *c)
{
    __local float as[GEMM_TILE][GEMM_TILE], bs[GEMM_TILE][GEMM_TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;

    for (int k0 = 0; k0 < GEMM_N; k0 += GEMM_TILE) {
        as[y][x] = a[row * GEMM_N + k0 + x];
        bs[y][x] = b[(k0 + y) * GEMM_N + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < GEMM_TILE; k++) {
            sum += as[y][k] * bs[k][x];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * GEMM_N + col] = sum;
}

__kernel void mandelbrot(__global const float *unused_a,
                         __global const float *unused_b, __global int *out)
{
    int x = get_global_id(0), y = get_global_id(1);

    out[y * MANDEL_N + x] = mandel_item(x, y);
}

__kernel __attribute__((reqd_work_group_size(REDUCE_BLOCK, 1, 1))) void
reduce(__global const int *in, __global const float *unused, __global int *out)
{
    __local int part[REDUCE_BLOCK];
    unsigned t = get_local_id(0);
    unsigned base = get_group_id(0) * REDUCE_BLOCK * REDUCE_PER + t;
    int sum = 0;

    for (int k = 0; k < REDUCE_PER; k++) {
        sum += in[base + k * REDUCE_BLOCK];
    }
    part[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (unsigned half_size = REDUCE_BLOCK / 2; half_size; half_size /= 2) {
        if (t < half_size) {
            part[t] += part[t + half_size];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) {
        atomic_add(out, part[0]);
    }
}

__kernel void nbody(__global const float4 *p, __global const float *unused,
                    __global float4 *out)
{
    size_t i = get_global_id(0);
    float4 me = p[i];
    float ax = 0, ay = 0, az = 0;

    for (int j = 0; j < NBODY_N; j++) {
        float4 q = p[j];

        nbody_item(me.x, me.y, me.z, q.x, q.y, q.z, q.w, &ax, &ay, &az);
    }
    out[i] = (float4)(ax, ay, az, 0);
}

__kernel void hash(__global const float *unused_a,
                   __global const float *unused_b, __global unsigned *out)
{
    size_t i = get_global_id(0);

    out[i] = hash_item(i);
}
