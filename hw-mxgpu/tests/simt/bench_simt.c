/* SPDX-License-Identifier: MIT */
/*
 * Times kernels on one compute unit and one host thread:
 *   bench_simt KERNELS.elf [NAME]
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "simt_host.h"

static double now(void)
{
    struct timespec t; /* of the processor: other work does not count */

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double run(SimtHost *h, const char *name, MxgpuDispatch d,
                  unsigned reps)
{
    MxgpuSimtCounters before, after;
    double t, best = 1e9;

    for (unsigned i = 0; i < reps; i++) {
        MxgpuDispatchFault f;

        mxgpu_simt_counters(h->simt, &before);
        t = now();
        f = simt_host_run(h, &d);
        t = now() - t;
        mxgpu_simt_counters(h->simt, &after);
        best = t < best ? t : best;
        if (f.code) {
            printf("%s: fault %d at %#lx pc %#lx\n", name, f.code,
                   (long)f.addr, (long)f.pc);
            return best;
        }
    }
    printf("%-8s %8.2f ms, %6.2f M warp instructions, %.2f ns each, "
           "lanes %.1f%%, tlb misses %lu\n",
           name, best * 1e3,
           (after.warp_instructions - before.warp_instructions) * 1e-6,
           best * 1e9 / (after.warp_instructions - before.warp_instructions),
           100.0 * (after.lane_instructions - before.lane_instructions) /
               (64.0 * (after.warp_instructions - before.warp_instructions)),
           (long)(after.tlb_misses - before.tlb_misses));
    return best;
}

#define X (HOST_DATA_VA + (16 << 20))
#define Y (HOST_DATA_VA + (96 << 20))
#define Z (HOST_DATA_VA + (160 << 20))

static bool want(int argc, char **argv, const char *name)
{
    return argc < 3 || strcmp(argv[2], name) == 0;
}

static void gemm(SimtHost *h, const char *name, unsigned bx, unsigned by)
{
    MxgpuDispatch d = simt_host_dispatch(simt_host_symbol(h, name), 512 / bx,
                                         bx);
    float *a = simt_host_data(h, X), *b = simt_host_data(h, Y);
    const float *c = simt_host_data(h, Z);
    struct { uint64_t a, b, c; int n; } args = { X, Y, Z, 512 };
    unsigned wrong = 0;

    d.grid[1] = 512 / by;
    d.block[1] = by;
    d.shared = d.shared_static = 4096;
    for (unsigned i = 0; i < 512 * 512; i++) {
        a[i] = (int)(i * 7 % 13) - 6;
        b[i] = (int)(i * 5 % 17) - 8;
    }
    memcpy(simt_host_data(h, HOST_DATA_VA), &args, sizeof(args));
    run(h, name, d, 3);
    for (unsigned i = 0; i < 512; i += 37) {
        for (unsigned j = 0; j < 512; j++) {
            float s = 0;

            for (unsigned k = 0; k < 512; k++) {
                s += a[i * 512 + k] * b[k * 512 + j];
            }
            wrong += s != c[i * 512 + j];
        }
    }
    if (wrong) {
        printf("%s: %u wrong\n", name, wrong);
    }
}

/* Kernels in which each lane has a place of its own to go to, 64 times; what
 * the loop takes a lane and turn. */
static void places(SimtHost *h, int argc, char **argv)
{
    static const struct {
        const char *name;
        unsigned mib; /* gather, scatter: of the range */
    } kernels[] = {
        {"ptable"},   {"stable"},   {"add_own"},  {"add_one"},  {"or_own"},
        {"or_one"},   {"max_own"},  {"max_one"},  {"fadd_own"}, {"fadd_one"},
        {"bins"},     {"gather", 1}, {"gather", 16}, {"gather", 64},
        {"scatter", 1}, {"scatter", 16},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(kernels); i++) {
        const unsigned threads = 256 * 64, turns = 64;
        struct { uint64_t at; uint32_t n, mask; } args = {
            X, turns, (kernels[i].mib << 17) - 1,
        };
        MxgpuDispatch d;
        double best;

        if (!want(argc, argv, kernels[i].name)) {
            continue;
        }
        memcpy(simt_host_data(h, HOST_DATA_VA), &args, sizeof(args));
        d = simt_host_dispatch(simt_host_symbol(h, kernels[i].name),
                               threads / 256, 256);
        d.shared = d.shared_static = 32768;
        best = run(h, kernels[i].name, d, 7);
        printf("         %u MiB, %.2f ns a lane and turn\n", kernels[i].mib,
               best * 1e9 / threads / turns);
    }
}

int main(int argc, char **argv)
{
    SimtHost *h = simt_host_new(1);
    uint64_t *args = simt_host_data(h, HOST_DATA_VA);
    MxgpuDispatch d;

    simt_host_load(h, argv[1]);
    if (want(argc, argv, "sgemm")) {
        gemm(h, "sgemm", 64, 4);
        gemm(h, "sgemm", 16, 16);
    }
    if (want(argc, argv, "sgemmt")) {
        gemm(h, "sgemmt", 16, 16);
    }
    if (want(argc, argv, "saxpy")) {
        struct { float a; uint64_t x, y; } s = { 0.5f, X, Y };

        memcpy(args, &s, sizeof(s));
        run(h, "saxpy", simt_host_dispatch(simt_host_symbol(h, "saxpy"),
                                           (1 << 22) / 256, 256), 5);
    }
    if (want(argc, argv, "mandel")) {
        struct { uint64_t o; int n; } m = { X, 1024 };

        memcpy(args, &m, sizeof(m));
        d = simt_host_dispatch(simt_host_symbol(h, "mandel"), 1024 / 16, 16);
        d.grid[1] = 1024 / 16;
        d.block[1] = 16;
        run(h, "mandel", d, 3);
    }
    if (want(argc, argv, "reduce")) {
        args[0] = X;
        args[1] = HOST_DATA_VA + 4096;
        d = simt_host_dispatch(simt_host_symbol(h, "reduce"), (1 << 24) / 2048,
                               256);
        d.shared = d.shared_static = 1024;
        run(h, "reduce", d, 3);
    }
    if (want(argc, argv, "nbody")) {
        struct { uint64_t p, o; int n; } n = { X, Y, 4096 };
        float *p = simt_host_data(h, X);

        for (unsigned i = 0; i < 4 * 4096; i++) {
            p[i] = (i * 2654435761u >> 8) * 0x1p-24f + 0.1f;
        }
        memcpy(args, &n, sizeof(n));
        run(h, "nbody", simt_host_dispatch(simt_host_symbol(h, "nbody"), 16,
                                           256), 3);
    }
    if (want(argc, argv, "hash")) {
        args[0] = X;
        run(h, "hash", simt_host_dispatch(simt_host_symbol(h, "hash"), 256,
                                          256), 5);
    }
    if (want(argc, argv, "empty")) {
        run(h, "empty", simt_host_dispatch(simt_host_symbol(h, "empty"), 1,
                                           64), 100);
        run(h, "empty", simt_host_dispatch(simt_host_symbol(h, "empty"),
                                           (1 << 20) / 256, 256), 10);
        run(h, "empty", simt_host_dispatch(simt_host_symbol(h, "empty"),
                                           1 << 16, 32), 10);
    }
    places(h, argc, argv);
    simt_host_free(h);
    return 0;
}
