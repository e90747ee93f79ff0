/* SPDX-License-Identifier: MIT */
/*
 * What a call costs with many objects alive: makes 1,000, 10,000 and 100,000 of
 * a kind, or as many as the argument says at most, and destroys them in
 * another order. Prints the kind, the number, and microseconds a call for each.
 *   ninja -C build runtime/tests/bench-objects
 *   MXGPU_DEVICE=sim build/runtime/tests/bench-objects [COUNT]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "kernels-image.h"
#include "mcr/mc_runtime_api.h"

#define COUNT 100000u
#define PIECE 4096u

static void *object[COUNT];
static uint8_t *memory;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static mcError_t malloc_make(unsigned i)
{
    return mcMalloc(&object[i], 512);
}

static mcError_t malloc_drop(unsigned i)
{
    return mcFree(object[i]);
}

static mcError_t event_make(unsigned i)
{
    return mcEventCreate((mcEvent_t *)&object[i]);
}

static mcError_t event_drop(unsigned i)
{
    return mcEventDestroy((mcEvent_t)object[i]);
}

static mcError_t stream_make(unsigned i)
{
    return mcStreamCreate((mcStream_t *)&object[i]);
}

static mcError_t stream_drop(unsigned i)
{
    return mcStreamDestroy((mcStream_t)object[i]);
}

static mcError_t register_make(unsigned i)
{
    return mcHostRegister(memory + (size_t)i * PIECE, PIECE, 0);
}

static mcError_t register_drop(unsigned i)
{
    return mcHostUnregister(memory + (size_t)i * PIECE);
}

static mcError_t module_make(unsigned i)
{
    return mcModuleLoadData((mcModule_t *)&object[i], env_image);
}

static mcError_t module_drop(unsigned i)
{
    return mcModuleUnload((mcModule_t)object[i]);
}

static const struct {
    const char *name;
    mcError_t (*make)(unsigned i), (*drop)(unsigned i);
} kinds[] = {
    {"malloc", malloc_make, malloc_drop},
    {"event", event_make, event_drop},
    {"stream", stream_make, stream_drop},
    {"host-register", register_make, register_drop},
    {"module", module_make, module_drop},
};

static void check(mcError_t error, const char *name, unsigned i)
{
    if (error != mcSuccess) {
        fprintf(stderr, "%s %u: %s\n", name, i, mcGetErrorName(error));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    unsigned most = argc > 1 ? (unsigned)atoi(argv[1]) : COUNT;

    memory = mmap(NULL, (size_t)COUNT * PIECE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || most > COUNT) {
        return 1;
    }
    check(mcDeviceSynchronize(), "device", 0);
    for (unsigned k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        for (unsigned count = 1000; count <= most; count *= 10) {
            double start = now();

            for (unsigned i = 0; i < count; i++) {
                check(kinds[k].make(i), kinds[k].name, i);
            }
            double middle = now();
            for (unsigned i = 0; i < count; i++) {
                check(kinds[k].drop((i * 7919ull) % count), kinds[k].name, i);
            }
            printf("%s %u make %.2f drop %.2f us\n", kinds[k].name, count,
                   (middle - start) * 1e6 / count,
                   (now() - middle) * 1e6 / count);
            fflush(stdout);
        }
    }
    return 0;
}
