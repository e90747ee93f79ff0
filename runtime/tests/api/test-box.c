/* SPDX-License-Identifier: MIT */
/* Copies and fills of rows and slices, to reference. */
#include <stdlib.h>

#include "env.h"

#define SIZE (768u << 10) /* of each memory: more than a staging chunk */

enum { PAGEABLE, PINNED, DEVICE, PLACES };

typedef struct Memories {
    uint8_t *at[PLACES][2]; /* source, target */
    uint8_t *image;         /* what the target should be */
} Memories;

static void memories_new(Memories *m)
{
    for (unsigned i = 0; i < 2; i++) {
        m->at[PAGEABLE][i] = g_malloc(SIZE);
        m->at[PINNED][i] = env_malloc_host(SIZE);
        m->at[DEVICE][i] = env_malloc(SIZE);
    }
    m->image = g_malloc(SIZE);
}

static void memories_free(Memories *m)
{
    for (unsigned i = 0; i < 2; i++) {
        g_free(m->at[PAGEABLE][i]);
        ok(mcFreeHost(m->at[PINNED][i]));
        ok(mcFree(m->at[DEVICE][i]));
    }
    g_free(m->image);
}

static size_t upto(GRand *rand, size_t most)
{
    return g_rand_int(rand) % (most + 1);
}

static mcPitchedPtr side(GRand *rand, void *ptr, mcPos pos, mcExtent extent)
{
    mcPitchedPtr p = {ptr, 0, 0, 0};

    p.xsize = extent.width;
    p.pitch = pos.x + extent.width + upto(rand, upto(rand, 1) ? 4 : 300);
    p.ysize = pos.y + extent.height + upto(rand, 2);
    return p;
}

static bool fits(const mcPitchedPtr *p, mcPos pos, mcExtent extent)
{
    return (pos.z + extent.depth) * p->ysize * p->pitch <= SIZE;
}

/* Shapes of all kinds: long rows, many rows, many slices, without gaps. */
static mcMemcpy3DParms random_copy(GRand *rand, Memories *m)
{
    static const size_t widths[] = {1, 40, 4096, 600000};
    static const size_t heights[] = {1, 7, 700};
    mcMemcpy3DParms p = {.kind = mcMemcpyDefault};

    do {
        p.extent.width = 1 + upto(rand, widths[upto(rand, 3)] - 1);
        p.extent.height = 1 + upto(rand, heights[upto(rand, 2)] - 1);
        p.extent.depth = 1 + upto(rand, heights[upto(rand, 2)] - 1);
        p.srcPos = (mcPos){upto(rand, 20), upto(rand, 3), upto(rand, 2)};
        p.dstPos = (mcPos){upto(rand, 20), upto(rand, 3), upto(rand, 2)};
        p.srcPtr = side(rand, NULL, p.srcPos, p.extent);
        p.dstPtr = side(rand, NULL, p.dstPos, p.extent);
        if (upto(rand, 3) == 0) { /* rows without gaps */
            p.srcPos = p.dstPos = (mcPos){0, 0, 0};
            p.srcPtr.pitch = p.dstPtr.pitch = p.extent.width;
            p.srcPtr.ysize = p.dstPtr.ysize = p.extent.height + upto(rand, 1);
        }
    } while (!fits(&p.srcPtr, p.srcPos, p.extent) ||
             !fits(&p.dstPtr, p.dstPos, p.extent));
    p.srcPtr.ptr = m->at[upto(rand, PLACES - 1)][0];
    p.dstPtr.ptr = m->at[upto(rand, PLACES - 1)][1];
    return p;
}

static size_t place(const mcPitchedPtr *p, mcPos pos, size_t y, size_t z)
{
    return ((pos.z + z) * p->ysize + pos.y + y) * p->pitch + pos.x;
}

/* The rows of a copy, or of a fill with value. */
static void reference(uint8_t *image, const uint8_t *in,
                      const mcMemcpy3DParms *p, int value)
{
    for (size_t z = 0; z < p->extent.depth; z++) {
        for (size_t y = 0; y < p->extent.height; y++) {
            uint8_t *row = image + place(&p->dstPtr, p->dstPos, y, z);

            if (in) {
                memcpy(row, in + place(&p->srcPtr, p->srcPos, y, z),
                       p->extent.width);
            } else {
                memset(row, value, p->extent.width);
            }
        }
    }
}

static void check(Memories *m, const void *target)
{
    uint8_t *out = g_malloc(SIZE);

    ok(mcMemcpy(out, target, SIZE, mcMemcpyDefault));
    g_assert_cmpint(memcmp(out, m->image, SIZE), ==, 0);
    g_free(out);
}

static void test_copies(void)
{
    GRand *rand = g_rand_new_with_seed(g_test_rand_int());
    uint8_t *in = g_malloc(SIZE);
    mcStream_t stream;
    Memories m;

    memories_new(&m);
    ok(mcStreamCreate(&stream));
    for (unsigned round = 0; round < 60; round++) {
        mcMemcpy3DParms p = random_copy(rand, &m);

        env_pattern(in, SIZE, round);
        memset(m.image, 0xee, SIZE);
        reference(m.image, in, &p, 0);
        ok(mcMemcpy(p.srcPtr.ptr, in, SIZE, mcMemcpyDefault));
        ok(mcMemset(m.at[DEVICE][1], 0xee, SIZE));
        memset(m.at[PAGEABLE][1], 0xee, SIZE);
        memset(m.at[PINNED][1], 0xee, SIZE);
        ok(mcDeviceSynchronize());
        if (round % 2) {
            ok(mcMemcpy3D(&p));
        } else {
            ok(mcMemcpy3DAsync(&p, stream));
            ok(mcStreamSynchronize(stream));
        }
        check(&m, p.dstPtr.ptr);
    }
    ok(mcStreamDestroy(stream));
    memories_free(&m);
    g_free(in);
    g_rand_free(rand);
}

static void test_fills(void)
{
    GRand *rand = g_rand_new_with_seed(g_test_rand_int());
    mcStream_t stream;
    Memories m;

    memories_new(&m);
    ok(mcStreamCreate(&stream));
    for (unsigned round = 0; round < 30; round++) {
        mcMemcpy3DParms p = random_copy(rand, &m);
        mcPitchedPtr *to = &p.dstPtr;

        p.dstPos = (mcPos){0, 0, 0};
        to->ptr = m.at[PINNED + upto(rand, 1)][1];
        memset(m.image, 0xee, SIZE);
        reference(m.image, NULL, &p, round);
        ok(mcMemset(to->ptr, 0xee, SIZE));
        ok(mcDeviceSynchronize());
        if (round % 2) {
            ok(mcMemset3D(*to, round, p.extent));
        } else {
            ok(mcMemset3DAsync(*to, 0x100 + round, p.extent, stream));
            ok(mcStreamSynchronize(stream));
        }
        check(&m, to->ptr);
    }
    ok(mcStreamDestroy(stream));
    memories_free(&m);
    g_rand_free(rand);
}

static void test_elements(void)
{
    uint8_t *d = env_malloc(4096), *out = g_malloc(4096);

    ok(mcMemset(d, 0xee, 4096));
    ok(mcMemsetD2D32(d + 4, 36, 0x04030201, 5, 9));
    ok(mcMemcpy(out, d, 4096, mcMemcpyDefault));
    for (unsigned i = 0; i < 4096; i++) {
        unsigned row = (i - 4) / 36, x = (i - 4) % 36;

        g_assert_cmphex(out[i], ==,
                        i >= 4 && row < 9 && x < 20 ? x % 4 + 1 : 0xee);
    }
    fails(mcErrorInvalidValue, mcMemsetD2D32(d + 2, 36, 0, 5, 9));
    fails(mcErrorInvalidValue, mcMemsetD2D32(d, 34, 0, 5, 9));
    ok(mcFree(d));
    g_free(out);
}

/* Each width, in and out of stream order. */
static void test_widths(void)
{
    uint8_t *d = env_malloc(4096), *out = g_malloc(4096);
    mcStream_t s;

    ok(mcStreamCreate(&s));
    ok(mcMemset(d, 0, 4096));
    ok(mcMemsetD2D8(d + 1, 100, 1, 3, 2));
    ok(mcMemsetD2D8Async(d + 8, 100, 2, 3, 2, s));
    ok(mcMemsetD2D16Async(d + 16, 100, 0x0403, 2, 2, s));
    ok(mcMemsetD2D32Async(d + 32, 100, 0x08070605, 1, 2, s));
    ok(mcMemcpyAsync(out, d, 4096, mcMemcpyDefault, s));
    ok(mcStreamSynchronize(s));
    for (unsigned i = 0; i < 4096; i++) {
        unsigned x = i % 100, want = 0;

        if (i < 200) {
            want = x >= 1 && x < 4      ? 1
                   : x >= 8 && x < 11   ? 2
                   : x >= 16 && x < 20  ? 3 + x % 2
                   : x >= 32 && x < 36  ? 5 + x - 32
                                        : 0;
        }
        g_assert_cmpuint(out[i], ==, want);
    }
    fails(mcErrorInvalidPitchValue, mcMemsetD2D8(d, 2, 0, 3, 2));
    fails(mcErrorInvalidPitchValue, mcMemsetD2D8Async(d, 2, 0, 3, 2, s));
    fails(mcErrorInvalidValue, mcMemsetD2D16Async(d, 5, 0, 2, 2, s));
    fails(mcErrorInvalidValue, mcMemsetD2D32Async(d, 4096, 0, 1, 2, s));
    fails(mcErrorInvalidValue,
          mcMemsetD2D32Async(d, 4, 0, SIZE_MAX / 2, 1, s));
    fails(mcErrorInvalidResourceHandle,
          mcMemsetD2D8Async(d, 100, 0, 3, 2, (mcStream_t)&s));
    ok(mcStreamDestroy(s));
    ok(mcFree(d));
    g_free(out);
}

static void test_rows_errors(void)
{
    const size_t big = 0x80000000u;
    uint8_t *d = env_malloc(4096), h[64];

    fails(mcErrorInvalidPitchValue,
          mcMemcpy2D(h, big, d, 64, 16, 2, mcMemcpyDeviceToHost));
    fails(mcErrorInvalidPitchValue,
          mcMemcpy2D(d, 64, h, big, 16, 2, mcMemcpyHostToDevice));
    fails(mcErrorInvalidPitchValue,
          mcMemcpy2D(h, big, h, 32, 16, 2, mcMemcpyHostToHost));
    fails(mcErrorInvalidPitchValue, mcMemset2D(d, big, 0, 16, 2));
    fails(mcErrorInvalidValue,
          mcMemcpy2D(NULL, 32, h, 32, 16, 2, mcMemcpyHostToHost));
    fails(mcErrorInvalidMemcpyDirection,
          mcMemcpy2D(h, 32, d, 64, 16, 2, (mcMemcpyKind)-1));
    ok(mcFree(d));
}

static void test_slices_errors(void)
{
    uint8_t *d = env_malloc(4096), h[512];
    const mcMemcpy3DParms good = {
        .srcPtr = {h, 16, 10, 4},
        .dstPtr = {d, 32, 10, 8},
        .extent = {10, 4, 3},
        .kind = mcMemcpyHostToDevice,
    };
    mcMemcpy3DParms p = good;

    ok(mcMemcpy3D(&p));
    fails(mcErrorInvalidValue, mcMemcpy3D(NULL));
    p.srcPtr.ptr = NULL;
    fails(mcErrorInvalidValue, mcMemcpy3D(&p));
    p = good;
    p.srcArray = (mcArray_t)h;
    fails(mcErrorInvalidValue, mcMemcpy3D(&p));
    p.srcPtr.ptr = NULL;
    fails(mcErrorInvalidResourceHandle, mcMemcpy3D(&p)); /* no array */
    p = good;
    p.kind = (mcMemcpyKind)7;
    fails(mcErrorInvalidMemcpyDirection, mcMemcpy3D(&p));
    p = good;
    p.dstPos.x = 23;
    fails(mcErrorInvalidPitchValue, mcMemcpy3D(&p));
    p = good;
    p.srcPtr.pitch = (size_t)INT32_MAX + 1;
    fails(mcErrorInvalidPitchValue, mcMemcpy3D(&p));
    p = good;
    p.dstPos.y = 5; /* the slices would overlap */
    fails(mcErrorInvalidValue, mcMemcpy3D(&p));
    p.extent.depth = 1;
    ok(mcMemcpy3D(&p));
    p = good;
    p.dstPos.z = 15; /* behind the allocation */
    fails(mcErrorInvalidValue, mcMemcpy3D(&p));
    p.dstPos.z = SIZE_MAX / 2;
    fails(mcErrorInvalidValue, mcMemcpy3D(&p));
    p = good;
    p.extent.height = 0;
    p.dstPos.z = SIZE_MAX;
    ok(mcMemcpy3D(&p));
    p = good;
    p.kind = mcMemcpyDeviceToHost;
    fails(mcErrorInvalidValue, mcMemcpy3D(&p));

    mcPitchedPtr to = {d, 32, 10, 8};
    ok(mcMemset3D(to, 1, (mcExtent){32, 8, 16}));
    fails(mcErrorInvalidValue, mcMemset3D(to, 1, (mcExtent){32, 8, 17}));
    fails(mcErrorInvalidValue, mcMemset3D(to, 1, (mcExtent){32, 9, 2}));
    fails(mcErrorInvalidPitchValue, mcMemset3D(to, 1, (mcExtent){33, 8, 2}));
    ok(mcMemset3D(to, 1, (mcExtent){33, 8, 0}));
    to.ptr = NULL;
    fails(mcErrorInvalidValue, mcMemset3D(to, 1, (mcExtent){32, 8, 2}));
    ok(mcFree(d));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/box/copies", test_copies);
    g_test_add_func("/box/fills", test_fills);
    g_test_add_func("/box/elements", test_elements);
    g_test_add_func("/box/widths", test_widths);
    g_test_add_func("/box/rows-errors", test_rows_errors);
    g_test_add_func("/box/slices-errors", test_slices_errors);
    return g_test_run();
}
