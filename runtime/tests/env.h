/* SPDX-License-Identifier: MIT */
/* What the tests share. They run on the fake back end and on real ones. */
#ifndef MC_TESTS_ENV_H
#define MC_TESTS_ENV_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "mcr/mc_runtime_api.h"

extern const unsigned char env_image[]; /* kernels/kernels.c, ELF */
extern const size_t env_image_size;

#define ok(call) env_expect(call, mcSuccess, #call, __FILE__, __LINE__)
#define fails(error, call) env_expect(call, error, #call, __FILE__, __LINE__)

static inline void env_expect(mcError_t got, mcError_t want, const char *call,
                              const char *file, int line)
{
    if (got != want) {
        g_error("%s:%d: %s: %s, expected %s", file, line, call,
                mcGetErrorName(got), mcGetErrorName(want));
    }
}

/* A kernel of env_image, loaded once a context. */
mcFunction_t env_kernel(const char *name);
/* Launches with one pointer argument. */
mcError_t env_launch(const char *name, unsigned threads, void *pointer,
                     mcStream_t stream);
/* The host symbol of a kernel of env_image, registered as a program's own. */
const void *env_symbol(const char *name);
/* Devices are those of a guest: each belongs to one process, and its memory
 * cannot be given to another one. */
bool env_vfio(void);
/* Through the kernel driver, which serves several processes. */
bool env_driver(void);
/* What runs tests gives them two devices at least; the first one is current. */
void env_two_devices(void);
/* After a device reset. */
void env_forget(void);

static inline void *env_malloc(size_t size)
{
    void *p = NULL;

    ok(mcMalloc(&p, size));
    g_assert_nonnull(p);
    return p;
}

static inline void *env_malloc_host(size_t size)
{
    void *p = NULL;

    ok(mcMallocHost(&p, size, mcMallocHostDefault));
    g_assert_nonnull(p);
    return p;
}

static inline void env_pattern(uint8_t *data, size_t size, unsigned seed)
{
    uint32_t x = seed * 2654435761u + 1;

    for (size_t i = 0; i < size; i++) {
        x = x * 1664525u + 1013904223u;
        data[i] = x >> 24;
    }
}

#endif
