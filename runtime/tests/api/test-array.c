/* SPDX-License-Identifier: MIT */
/* Arrays: what they are, and copies to and from them. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "env.h"

/* Of 4 bytes. */
static const mcChannelFormatDesc word = {32, 0, 0, 0,
                                         mcChannelFormatKindUnsigned};

static mcArray_t make(size_t width, size_t height, size_t depth)
{
    mcArray_t array = NULL;

    ok(mcMalloc3DArray(&array, &word, (mcExtent){width, height, depth}, 0));
    g_assert_nonnull(array);
    return array;
}

/* ---- making ---- */

static void test_channels(void)
{
    static const struct {
        mcChannelFormatDesc desc;
        unsigned size; /* 0: there is no such element */
    } cases[] = {
        {{8, 0, 0, 0, mcChannelFormatKindSigned}, 1},
        {{8, 8, 0, 0, mcChannelFormatKindUnsigned}, 2},
        {{8, 8, 8, 8, mcChannelFormatKindUnsigned}, 4},
        {{16, 0, 0, 0, mcChannelFormatKindFloat}, 2},
        {{16, 16, 16, 16, mcChannelFormatKindSigned}, 8},
        {{32, 0, 0, 0, mcChannelFormatKindFloat}, 4},
        {{32, 32, 32, 32, mcChannelFormatKindFloat}, 16},
        {{0, 0, 0, 0, mcChannelFormatKindUnsigned}, 0},
        {{8, 8, 8, 0, mcChannelFormatKindUnsigned}, 0},
        {{8, 16, 0, 0, mcChannelFormatKindUnsigned}, 0},
        {{8, 0, 8, 0, mcChannelFormatKindUnsigned}, 0},
        {{8, 8, 0, 8, mcChannelFormatKindUnsigned}, 0},
        {{64, 0, 0, 0, mcChannelFormatKindUnsigned}, 0},
        {{8, 0, 0, 0, mcChannelFormatKindFloat}, 0},
        {{32, 0, 0, 0, mcChannelFormatKindNone}, 0},
        {{32, 0, 0, 0, (mcChannelFormatKind)-1}, 0},
        {{-8, 0, 0, 0, mcChannelFormatKindSigned}, 0},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        mcChannelFormatDesc d = cases[i].desc, got;
        mcArray_t array;
        uint8_t data[64];

        d = mcCreateChannelDesc(d.x, d.y, d.z, d.w, d.f);
        if (!cases[i].size) {
            fails(mcErrorInvalidChannelDescriptor,
                  mcMallocArray(&array, &d, 4, 0, 0));
            continue;
        }
        ok(mcMallocArray(&array, &d, 4, 0, 0));
        ok(mcGetChannelDesc(&got, array));
        g_assert_cmpint(memcmp(&got, &cases[i].desc, sizeof(got)), ==, 0);
        /* Its rows have so many bytes. */
        ok(mcMemcpyHtoA(array, 0, data, 4 * cases[i].size));
        fails(mcErrorInvalidValue,
              mcMemcpyHtoA(array, 0, data, 4 * cases[i].size + 1));
        ok(mcFreeArray(array));
    }
}

static void test_info(void)
{
    static const mcExtent extents[] = {{1, 0, 0}, {7, 3, 0}, {7, 3, 5},
                                       {1000, 1, 1}};

    for (unsigned i = 0; i < G_N_ELEMENTS(extents); i++) {
        mcArray_t array = make(extents[i].width, extents[i].height,
                               extents[i].depth);
        mcArray3DDescriptor d3;
        mcArrayDescriptor d2;
        mcChannelFormatDesc desc;
        mcExtent extent;
        unsigned flags = 7;

        ok(mcArrayGetInfo(&desc, &extent, &flags, array));
        g_assert_cmpint(memcmp(&desc, &word, sizeof(desc)), ==, 0);
        g_assert_cmpint(memcmp(&extent, &extents[i], sizeof(extent)), ==, 0);
        g_assert_cmpuint(flags, ==, mcArrayDefault);
        ok(mcArrayGetInfo(NULL, NULL, NULL, array));
        ok(mcArray3DGetDescriptor(&d3, array));
        g_assert_cmpuint(d3.Width, ==, extents[i].width);
        g_assert_cmpuint(d3.Height, ==, extents[i].height);
        g_assert_cmpuint(d3.Depth, ==, extents[i].depth);
        g_assert_cmpint(d3.Format, ==, MC_AD_FORMAT_UNSIGNED_INT32);
        g_assert_cmpuint(d3.NumChannels, ==, 1);
        g_assert_cmpuint(d3.Flags, ==, 0);
        ok(mcArrayGetDescriptor(&d2, array));
        g_assert_cmpuint(d2.Width, ==, extents[i].width);
        g_assert_cmpuint(d2.Height, ==, extents[i].height);
        g_assert_cmpint(d2.Format, ==, MC_AD_FORMAT_UNSIGNED_INT32);
        ok(mcFreeArray(array));
        fails(mcErrorInvalidResourceHandle, mcFreeArray(array));
        fails(mcErrorInvalidResourceHandle,
              mcArrayGetInfo(NULL, NULL, NULL, array));
    }
}

/* The other description means the same. */
static void test_descriptors(void)
{
    static const struct {
        mcArrayFormat format;
        mcChannelFormatKind kind;
        int bits;
    } formats[] = {
        {MC_AD_FORMAT_UNSIGNED_INT8, mcChannelFormatKindUnsigned, 8},
        {MC_AD_FORMAT_UNSIGNED_INT16, mcChannelFormatKindUnsigned, 16},
        {MC_AD_FORMAT_UNSIGNED_INT32, mcChannelFormatKindUnsigned, 32},
        {MC_AD_FORMAT_SIGNED_INT8, mcChannelFormatKindSigned, 8},
        {MC_AD_FORMAT_SIGNED_INT16, mcChannelFormatKindSigned, 16},
        {MC_AD_FORMAT_SIGNED_INT32, mcChannelFormatKindSigned, 32},
        {MC_AD_FORMAT_HALF, mcChannelFormatKindFloat, 16},
        {MC_AD_FORMAT_FLOAT, mcChannelFormatKindFloat, 32},
    };
    mcArray_t array;

    for (unsigned i = 0; i < G_N_ELEMENTS(formats); i++) {
        for (unsigned channels = 1; channels <= 4; channels *= 2) {
            mcArrayDescriptor d2 = {16, 4, formats[i].format, channels}, got2;
            mcArray3DDescriptor d3 = {16, 4, 2, formats[i].format, channels, 0};
            mcArray3DDescriptor got3;
            mcChannelFormatDesc desc;
            int bits = formats[i].bits;

            ok(mcArrayCreate(&array, &d2));
            ok(mcArrayGetDescriptor(&got2, array));
            g_assert_cmpint(memcmp(&got2, &d2, sizeof(d2)), ==, 0);
            ok(mcGetChannelDesc(&desc, array));
            g_assert_cmpint(desc.f, ==, formats[i].kind);
            g_assert_cmpint(desc.x, ==, bits);
            g_assert_cmpint(desc.y, ==, channels > 1 ? bits : 0);
            g_assert_cmpint(desc.w, ==, channels > 2 ? bits : 0);
            ok(mcArrayDestroy(array));
            ok(mcArray3DCreate(&array, &d3));
            ok(mcArray3DGetDescriptor(&got3, array));
            g_assert_cmpuint(got3.Depth, ==, 2);
            g_assert_cmpuint(got3.NumChannels, ==, channels);
            ok(mcArrayDestroy(array));
        }
    }
    mcArrayDescriptor d2 = {16, 4, (mcArrayFormat)4, 1};
    fails(mcErrorInvalidChannelDescriptor, mcArrayCreate(&array, &d2));
    d2.Format = MC_AD_FORMAT_FLOAT;
    for (unsigned channels = 0; channels <= 5; channels++) {
        if (channels != 1 && channels != 2 && channels != 4) {
            d2.NumChannels = channels;
            fails(mcErrorInvalidChannelDescriptor,
                  mcArrayCreate(&array, &d2));
        }
    }
}

static void test_make_errors(void)
{
    static const unsigned unsupported[] = {
        mcArrayColorAttachment, mcArrayDeferredMapping,
    };
    mcArray3DDescriptor d3 = {4, 4, 4, MC_AD_FORMAT_FLOAT, 1, 0};
    mcArrayDescriptor d2 = {4, 4, MC_AD_FORMAT_FLOAT, 1};
    mcExtent extent = {4, 4, 4};
    mcArray_t array;
    int local;

    fails(mcErrorInvalidValue, mcMallocArray(NULL, &word, 4, 0, 0));
    fails(mcErrorInvalidValue, mcMallocArray(&array, NULL, 4, 0, 0));
    fails(mcErrorInvalidValue, mcMallocArray(&array, &word, 0, 0, 0));
    fails(mcErrorInvalidValue, mcMallocArray(&array, &word, 0, 4, 0));
    fails(mcErrorInvalidValue, mcMallocArray(&array, &word, SIZE_MAX, 0, 0));
    fails(mcErrorInvalidValue, mcMallocArray(&array, &word, 4, SIZE_MAX, 0));
    fails(mcErrorInvalidValue, mcMallocArray(&array, &word, 4, 4, 0x100));
    fails(mcErrorMemoryAllocation,
          mcMallocArray(&array, &word, 1 << 20, 1 << 24, 0));
    for (unsigned i = 0; i < G_N_ELEMENTS(unsupported); i++) {
        fails(mcErrorNotSupported,
              mcMallocArray(&array, &word, 4, 4, unsupported[i]));
        fails(mcErrorNotSupported,
              mcMalloc3DArray(&array, &word, extent, unsupported[i]));
        d3.Flags = unsupported[i];
        fails(mcErrorNotSupported, mcArray3DCreate(&array, &d3));
    }
    fails(mcErrorInvalidValue, mcMalloc3DArray(NULL, &word, extent, 0));
    fails(mcErrorInvalidValue, mcMalloc3DArray(&array, NULL, extent, 0));
    extent.height = 0; /* of layers only */
    fails(mcErrorInvalidValue, mcMalloc3DArray(&array, &word, extent, 0));
    fails(mcErrorInvalidValue, mcArrayCreate(NULL, &d2));
    fails(mcErrorInvalidValue, mcArrayCreate(&array, NULL));
    fails(mcErrorInvalidValue, mcArray3DCreate(NULL, &d3));
    fails(mcErrorInvalidValue, mcArray3DCreate(&array, NULL));
    ok(mcFreeArray(NULL));
    fails(mcErrorInvalidResourceHandle, mcArrayDestroy(NULL));
    fails(mcErrorInvalidResourceHandle, mcFreeArray((mcArray_t)&local));
    array = make(4, 4, 0);
    fails(mcErrorInvalidValue, mcGetChannelDesc(NULL, array));
    fails(mcErrorInvalidValue, mcArrayGetDescriptor(NULL, array));
    fails(mcErrorInvalidValue, mcArray3DGetDescriptor(NULL, array));
    ok(mcArrayDestroy(array));
    fails(mcErrorInvalidResourceHandle, mcArrayDestroy(array));
}

/* ---- boxes ---- */

/* Every kind of memory on the other side. */
enum { PAGEABLE, PINNED, MANAGED, DEVICE, PLACES };
#define SIZE (64u << 10)

static uint8_t *memories[PLACES];

static void memories_new(void)
{
    memories[PAGEABLE] = g_malloc(SIZE);
    memories[PINNED] = env_malloc_host(SIZE);
    ok(mcMallocManaged((void **)&memories[MANAGED], SIZE, mcMemAttachGlobal));
    memories[DEVICE] = env_malloc(SIZE);
}

static void memories_free(void)
{
    g_free(memories[PAGEABLE]);
    ok(mcFreeHost(memories[PINNED]));
    ok(mcFree(memories[MANAGED]));
    ok(mcFree(memories[DEVICE]));
}

static size_t upto(GRand *rand, size_t most)
{
    return g_rand_int(rand) % (most + 1);
}

enum { W = 37, H = 11, D = 5 }; /* of the array: words, rows, slices */

static size_t word_at(size_t x, size_t y, size_t z)
{
    return ((z * H + y) * W + x) * 4;
}

/* All of the array, in rows without gaps. */
static void whole(mcArray_t array, uint8_t *image, bool put)
{
    mcMemcpy3DParms p = {.extent = {W, H, D}, .kind = mcMemcpyDefault};
    mcPitchedPtr image_ptr = {image, W * 4, W * 4, H};

    if (put) {
        p.srcPtr = image_ptr;
        p.dstArray = array;
    } else {
        p.dstPtr = image_ptr;
        p.srcArray = array;
    }
    ok(mcMemcpy3D(&p));
}

/* Random boxes in both directions, to reference. */
static void test_boxes(void)
{
    GRand *rand = g_rand_new_with_seed(g_test_rand_int());
    mcArray_t array = make(W, H, D);
    static uint8_t image[W * H * D * 4], out[sizeof(image)], data[SIZE],
        got[SIZE];
    mcStream_t stream;

    memories_new();
    ok(mcStreamCreate(&stream));
    env_pattern(image, sizeof(image), 1);
    whole(array, image, true);
    for (unsigned round = 0; round < 80; round++) {
        mcMemcpy3DParms p = {.kind = mcMemcpyDefault};
        mcPos at = {upto(rand, W - 1), upto(rand, H - 1), upto(rand, D - 1)};
        uint8_t *other = memories[round % PLACES];
        bool put = round / PLACES % 2;

        p.extent = (mcExtent){1 + upto(rand, W - 1 - at.x),
                              1 + upto(rand, H - 1 - at.y),
                              1 + upto(rand, D - 1 - at.z)};
        mcPos shift = {upto(rand, 9), upto(rand, 2), upto(rand, 1)};
        mcPitchedPtr ptr = {other, shift.x + p.extent.width * 4 +
                                       upto(rand, 30), 0,
                            shift.y + p.extent.height + upto(rand, 2)};
        env_pattern(data, SIZE, round);
        ok(mcMemcpy(other, data, SIZE, mcMemcpyDefault));
        ok(mcDeviceSynchronize());
        if (put) {
            p.srcPtr = ptr, p.srcPos = shift;
            p.dstArray = array, p.dstPos = at;
        } else {
            p.dstPtr = ptr, p.dstPos = shift;
            p.srcArray = array, p.srcPos = at;
        }
        if (upto(rand, 1)) {
            ok(mcMemcpy3D(&p));
        } else {
            ok(mcMemcpy3DAsync(&p, stream));
            ok(mcStreamSynchronize(stream));
        }
        for (size_t z = 0; z < p.extent.depth; z++) {
            for (size_t y = 0; y < p.extent.height; y++) {
                uint8_t *a = image + word_at(at.x, at.y + y, at.z + z);
                uint8_t *b = data + ((shift.z + z) * ptr.ysize + shift.y + y) *
                                        ptr.pitch + shift.x;

                memcpy(put ? a : b, put ? b : a, p.extent.width * 4);
            }
        }
        ok(mcMemcpy(got, other, SIZE, mcMemcpyDefault));
        g_assert_cmpint(memcmp(got, data, SIZE), ==, 0);
        whole(array, out, false);
        g_assert_cmpint(memcmp(out, image, sizeof(image)), ==, 0);
    }
    ok(mcStreamDestroy(stream));
    memories_free();
    ok(mcFreeArray(array));
    g_rand_free(rand);
}

/* Between arrays of different extents and element kinds of one size. */
static void test_array_boxes(void)
{
    mcArray_t a = make(W, H, D), b, narrow;
    const mcChannelFormatDesc pairs = {16, 16, 0, 0,
                                       mcChannelFormatKindUnsigned};
    const mcChannelFormatDesc byte = {8, 0, 0, 0,
                                      mcChannelFormatKindUnsigned};
    static uint8_t image[W * H * D * 4], out[5 * 4 * 3 * 4];

    ok(mcMalloc3DArray(&b, &pairs, (mcExtent){5, 4, 3}, 0));
    ok(mcMalloc3DArray(&narrow, &byte, (mcExtent){W, H, D}, 0));
    env_pattern(image, sizeof(image), 3);
    whole(a, image, true);
    mcMemcpy3DParms p = {
        .srcArray = a,
        .srcPos = {W - 5, H - 4, D - 3},
        .dstArray = b,
        .extent = {5, 4, 3},
        .kind = mcMemcpyDeviceToDevice,
    };
    ok(mcMemcpy3D(&p));
    mcMemcpy3DParms back = {
        .srcArray = b,
        .dstPtr = {out, 5 * 4, 5 * 4, 4},
        .extent = {5, 4, 3},
        .kind = mcMemcpyDeviceToHost,
    };
    ok(mcMemcpy3D(&back));
    for (unsigned z = 0; z < 3; z++) {
        for (unsigned y = 0; y < 4; y++) {
            g_assert_cmpint(memcmp(out + (z * 4 + y) * 20,
                                   image + word_at(W - 5, H - 4 + y, D - 3 + z),
                                   20), ==, 0);
        }
    }
    p.dstArray = narrow;
    fails(mcErrorInvalidValue, mcMemcpy3D(&p)); /* bytes are no words */
    p.dstArray = b;
    p.srcPos.x++;
    fails(mcErrorInvalidValue, mcMemcpy3D(&p));
    p.srcPos.x = SIZE_MAX / 2;
    fails(mcErrorInvalidValue, mcMemcpy3D(&p));
    p.srcPos.x = 0;
    p.extent.width = SIZE_MAX;
    fails(mcErrorInvalidValue, mcMemcpy3D(&p));
    p.extent.width = 5;
    p.dstPos.z = 1;
    fails(mcErrorInvalidValue, mcMemcpy3D(&p));
    p.dstPos.z = 0;
    p.kind = mcMemcpyHostToDevice; /* an array is device memory */
    fails(mcErrorInvalidValue, mcMemcpy3D(&p));
    fails(mcErrorInvalidValue, /* slices */
          mcMemcpyArrayToArray(narrow, 0, 0, narrow, 0, 0, 0,
                               mcMemcpyDeviceToDevice));
    ok(mcFreeArray(a));
    fails(mcErrorInvalidResourceHandle, mcMemcpy3D(&p));
    ok(mcFreeArray(b));
    ok(mcFreeArray(narrow));
}

/* ---- rows ---- */

static void test_rows(void)
{
    mcArray_t a = make(W, H, 0), b = make(W, H, 0), deep = make(W, H, D);
    static uint8_t data[64 * 8], out[64 * 8];
    mcStream_t stream;

    memories_new();
    ok(mcStreamCreate(&stream));
    for (unsigned i = 0; i < PLACES; i++) {
        env_pattern(data, sizeof(data), i);
        ok(mcMemcpy(memories[i], data, sizeof(data), mcMemcpyDefault));
        if (i % 2) {
            ok(mcMemcpy2DToArray(a, 4, 2, memories[i], 64, 50, 8,
                                 mcMemcpyDefault));
        } else {
            ok(mcMemcpy2DToArrayAsync(a, 4, 2, memories[i], 64, 50, 8,
                                      mcMemcpyDefault, stream));
            ok(mcStreamSynchronize(stream));
        }
        ok(mcMemcpy2DArrayToArray(b, 96, 3, a, 4, 2, 50, 8,
                                  mcMemcpyDeviceToDevice));
        ok(mcMemset(memories[DEVICE], 0, sizeof(data)));
        memset(memories[PAGEABLE], 0, sizeof(data));
        unsigned to = (i + 1) % PLACES;
        ok(mcDeviceSynchronize());
        if (i % 2) {
            ok(mcMemcpy2DFromArray(memories[to], 64, b, 96, 3, 50, 8,
                                   mcMemcpyDefault));
        } else {
            ok(mcMemcpy2DFromArrayAsync(memories[to], 64, b, 96, 3, 50, 8,
                                        mcMemcpyDefault, stream));
            ok(mcStreamSynchronize(stream));
        }
        ok(mcMemcpy(out, memories[to], sizeof(out), mcMemcpyDefault));
        for (unsigned y = 0; y < 8; y++) {
            g_assert_cmpint(memcmp(out + y * 64, data + y * 64, 50), ==, 0);
        }
    }
    fails(mcErrorInvalidValue, mcMemcpy2DToArray(a, W * 4, 0, data, 64, 1, 1,
                                                 mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue, mcMemcpy2DToArray(a, 0, H - 7, data, 64, 8, 8,
                                                 mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue, mcMemcpy2DToArray(a, SIZE_MAX, 0, data, 64, 8, 8,
                                                 mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue, mcMemcpy2DToArray(deep, 0, 0, data, 64, 8, 8,
                                                 mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue, mcMemcpy2DToArray(a, 0, 0, NULL, 64, 8, 8,
                                                 mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue, mcMemcpy2DToArray(a, 0, 0, data, 64, 8, 8,
                                                 mcMemcpyDeviceToHost));
    fails(mcErrorInvalidPitchValue,
          mcMemcpy2DToArray(a, 0, 0, data, 64, 65, 8, mcMemcpyHostToDevice));
    fails(mcErrorInvalidMemcpyDirection,
          mcMemcpy2DToArray(a, 0, 0, data, 64, 8, 8, (mcMemcpyKind)5));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpy2DToArray(NULL, 0, 0, data, 64, 8, 8, mcMemcpyHostToDevice));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpy2DToArrayAsync(a, 0, 0, data, 64, 8, 8, mcMemcpyHostToDevice,
                                 (mcStream_t)data));
    fails(mcErrorInvalidPitchValue,
          mcMemcpy2DFromArray(out, 8, a, 0, 0, 9, 1, mcMemcpyDeviceToHost));
    fails(mcErrorInvalidValue,
          mcMemcpy2DFromArray(NULL, 64, a, 0, 0, 8, 1, mcMemcpyDeviceToHost));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpy2DFromArrayAsync(out, 64, NULL, 0, 0, 8, 1,
                                   mcMemcpyDeviceToHost, stream));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpy2DArrayToArray(NULL, 0, 0, a, 0, 0, 8, 1, mcMemcpyDefault));
    fails(mcErrorInvalidValue,
          mcMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, W * 4 + 1, 1,
                                 mcMemcpyDefault));
    ok(mcStreamDestroy(stream));
    memories_free();
    ok(mcFreeArray(a));
    ok(mcFreeArray(b));
    ok(mcFreeArray(deep));
}

/* ---- bytes, row behind row ---- */

static void test_lines(void)
{
    enum { ROW = W * 4, ALL = ROW * H };
    mcArray_t a = make(W, H, 0), b = make(W, H, 0), odd = make(10, 40, 0);
    static uint8_t image[ALL], data[ALL], out[ALL];
    GRand *rand = g_rand_new_with_seed(g_test_rand_int());
    mcStream_t stream;

    ok(mcStreamCreate(&stream));
    env_pattern(image, ALL, 1);
    ok(mcMemcpyToArray(a, 0, 0, image, ALL, mcMemcpyHostToDevice));
    for (unsigned round = 0; round < 60; round++) {
        size_t at = upto(rand, ALL - 1), n = upto(rand, ALL - at);

        env_pattern(data, ALL, round);
        if (round % 2) {
            ok(mcMemcpyToArray(a, at % ROW, at / ROW, data, n,
                               mcMemcpyHostToDevice));
        } else {
            ok(mcMemcpyToArrayAsync(a, at % ROW, at / ROW, data, n,
                                    mcMemcpyDefault, stream));
            ok(mcStreamSynchronize(stream));
        }
        memcpy(image + at, data, n);
        at = upto(rand, ALL - 1), n = upto(rand, ALL - at);
        if (round % 2) {
            ok(mcMemcpyFromArray(out, a, at % ROW, at / ROW, n,
                                 mcMemcpyDeviceToHost));
        } else {
            ok(mcMemcpyFromArrayAsync(out, a, at % ROW, at / ROW, n,
                                      mcMemcpyDefault, stream));
        }
        g_assert_cmpint(memcmp(out, image + at, n), ==, 0);
    }
    /* Rows of the same length, and of others. */
    ok(mcMemcpyArrayToArray(b, 0, 0, a, 0, 0, ALL, mcMemcpyDeviceToDevice));
    ok(mcMemcpyFromArray(out, b, 0, 0, ALL, mcMemcpyDeviceToHost));
    g_assert_cmpint(memcmp(out, image, ALL), ==, 0);
    ok(mcMemcpyArrayToArray(odd, 3, 1, a, 100, 2, 1000, mcMemcpyDefault));
    ok(mcMemcpyFromArray(out, odd, 3, 1, 1000, mcMemcpyDeviceToHost));
    /* 40 bytes of a row, of which 3 were not written */
    g_assert_cmpint(memcmp(out, image + 2 * ROW + 100, 1000), ==, 0);

    ok(mcMemcpyToArray(a, 0, H, data, 0, mcMemcpyHostToDevice)); /* nothing */
    fails(mcErrorInvalidValue,
          mcMemcpyToArray(a, 1, 0, data, ALL, mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue,
          mcMemcpyToArray(a, 0, H, data, 1, mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue,
          mcMemcpyToArray(a, ROW + 1, 0, data, 1, mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue,
          mcMemcpyToArray(a, 0, SIZE_MAX, data, 1, mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue,
          mcMemcpyToArray(a, 0, 0, NULL, 1, mcMemcpyHostToDevice));
    fails(mcErrorInvalidValue,
          mcMemcpyToArray(a, 0, 0, data, 1, mcMemcpyHostToHost));
    fails(mcErrorInvalidMemcpyDirection,
          mcMemcpyToArray(a, 0, 0, data, 1, (mcMemcpyKind)5));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpyToArray(NULL, 0, 0, data, 1, mcMemcpyHostToDevice));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpyToArrayAsync(a, 0, 0, data, 1, mcMemcpyHostToDevice,
                               (mcStream_t)data));
    fails(mcErrorInvalidValue,
          mcMemcpyFromArray(NULL, a, 0, 0, 1, mcMemcpyDeviceToHost));
    fails(mcErrorInvalidValue,
          mcMemcpyFromArray(out, a, 1, 0, ALL, mcMemcpyDeviceToHost));
    fails(mcErrorInvalidMemcpyDirection,
          mcMemcpyFromArray(out, a, 0, 0, 1, (mcMemcpyKind)-1));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpyFromArrayAsync(out, NULL, 0, 0, 1, mcMemcpyDeviceToHost,
                                 stream));
    fails(mcErrorInvalidValue,
          mcMemcpyArrayToArray(b, 1, 0, a, 0, 0, ALL, mcMemcpyDefault));
    fails(mcErrorInvalidValue,
          mcMemcpyArrayToArray(b, 0, 0, a, 0, 1, ALL, mcMemcpyDefault));
    fails(mcErrorInvalidMemcpyDirection,
          mcMemcpyArrayToArray(b, 0, 0, a, 0, 0, 1, (mcMemcpyKind)9));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpyArrayToArray(b, 0, 0, NULL, 0, 0, 1, mcMemcpyDefault));
    ok(mcStreamDestroy(stream));
    ok(mcFreeArray(a));
    ok(mcFreeArray(b));
    ok(mcFreeArray(odd));
    g_rand_free(rand);
}

static void test_row(void)
{
    enum { ALL = W * 4 };
    mcArray_t a = make(W, 0, 0), b = make(W, 0, 0), rows = make(W, 2, 0);
    uint8_t data[ALL], out[ALL], *d = env_malloc(ALL);
    mcStream_t stream;

    ok(mcStreamCreate(&stream));
    env_pattern(data, ALL, 5);
    ok(mcMemcpyHtoA(a, 0, data, ALL));
    ok(mcMemcpyAtoA(b, 0, a, 0, ALL));
    ok(mcMemcpyAtoD(d, b, 7, ALL - 7));
    ok(mcMemcpyDtoA(b, 3, d, ALL - 7));
    ok(mcMemcpyAtoH(out, b, 3, ALL - 7));
    g_assert_cmpint(memcmp(out, data + 7, ALL - 7), ==, 0);
    env_pattern(data, ALL, 6);
    ok(mcMemcpyHtoAAsync(a, 5, data, 9, stream));
    ok(mcMemcpyAtoHAsync(out, a, 5, 9, stream));
    ok(mcStreamSynchronize(stream));
    g_assert_cmpint(memcmp(out, data, 9), ==, 0);

    fails(mcErrorInvalidValue, mcMemcpyHtoA(a, 1, data, ALL));
    fails(mcErrorInvalidValue, mcMemcpyHtoA(rows, 0, data, 1));
    fails(mcErrorInvalidValue, mcMemcpyHtoA(a, 0, NULL, 1));
    fails(mcErrorInvalidResourceHandle, mcMemcpyHtoA(NULL, 0, data, 1));
    fails(mcErrorInvalidValue, mcMemcpyHtoAAsync(rows, 0, data, 1, stream));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpyHtoAAsync(a, 0, data, 1, (mcStream_t)data));
    fails(mcErrorInvalidValue, mcMemcpyAtoH(out, a, ALL, 1));
    fails(mcErrorInvalidResourceHandle, mcMemcpyAtoH(out, NULL, 0, 1));
    fails(mcErrorInvalidValue, mcMemcpyAtoHAsync(NULL, a, 0, 1, stream));
    fails(mcErrorInvalidValue, mcMemcpyDtoA(a, 0, data, 1)); /* of the host */
    fails(mcErrorInvalidResourceHandle, mcMemcpyDtoA(NULL, 0, d, 1));
    fails(mcErrorInvalidValue, mcMemcpyAtoD(out, a, 0, 1));
    fails(mcErrorInvalidResourceHandle, mcMemcpyAtoD(d, NULL, 0, 1));
    fails(mcErrorInvalidValue, mcMemcpyAtoA(rows, 0, a, 0, 1));
    fails(mcErrorInvalidValue, mcMemcpyAtoA(b, 0, a, 1, ALL));
    fails(mcErrorInvalidResourceHandle, mcMemcpyAtoA(b, 0, NULL, 0, 1));
    ok(mcStreamDestroy(stream));
    ok(mcFree(d));
    ok(mcFreeArray(a));
    ok(mcFreeArray(b));
    ok(mcFreeArray(rows));
}

/* ---- rows by a structure ---- */

static void test_param(void)
{
    mcArray_t array = make(W, H, 0);
    static uint8_t data[64 * 8], out[64 * 8];
    uint8_t *d = env_malloc(sizeof(data)), *pinned = env_malloc_host(64 * 8);
    mc_Memcpy2D to_device = {
        .srcXInBytes = 3, .srcY = 1,
        .srcMemoryType = mcMemoryTypeHost, .srcHost = data, .srcPitch = 64,
        .dstXInBytes = 5, .dstY = 2,
        .dstMemoryType = mcMemoryTypeDevice, .dstDevice = d, .dstPitch = 64,
        .WidthInBytes = 20, .Height = 5,
    }, to_array = {
        .srcXInBytes = 5, .srcY = 2,
        .srcMemoryType = mcMemoryTypeDevice, .srcDevice = d, .srcPitch = 64,
        .dstXInBytes = 9, .dstY = 4,
        .dstMemoryType = mcMemoryTypeArray, .dstArray = array,
        .WidthInBytes = 20, .Height = 5,
    }, to_any = {
        .srcXInBytes = 9, .srcY = 4,
        .srcMemoryType = mcMemoryTypeArray, .srcArray = array,
        .dstXInBytes = 1, .dstY = 0,
        .dstMemoryType = mcMemoryTypeManaged, .dstDevice = pinned,
        .dstPitch = 33,
        .WidthInBytes = 20, .Height = 5,
    }, bad;
    mcStream_t stream;

    ok(mcStreamCreate(&stream));
    env_pattern(data, sizeof(data), 1);
    ok(mcMemcpyParam2D(&to_device));
    ok(mcDeviceSynchronize());
    ok(mcMemcpyParam2DAsync(&to_array, stream));
    ok(mcStreamSynchronize(stream));
    ok(mcMemcpy2DUnaligned(&to_any));
    for (unsigned y = 0; y < 5; y++) {
        g_assert_cmpint(memcmp(pinned + y * 33 + 1, data + (y + 1) * 64 + 3,
                               20), ==, 0);
    }
    bad = to_any;
    bad.dstMemoryType = mcMemoryTypeHost;
    bad.dstHost = out;
    ok(mcMemcpyParam2D(&bad));
    g_assert_cmpint(memcmp(out + 1, data + 64 + 3, 20), ==, 0);

    fails(mcErrorInvalidValue, mcMemcpyParam2D(NULL));
    fails(mcErrorInvalidValue, mcMemcpyParam2DAsync(NULL, stream));
    fails(mcErrorInvalidValue, mcMemcpy2DUnaligned(NULL));
    for (int type = -1; type <= 11; type++) {
        if (type != mcMemoryTypeHost && type != mcMemoryTypeDevice &&
            type != mcMemoryTypeManaged && type != mcMemoryTypeArray) {
            bad = to_device;
            bad.srcMemoryType = (mcMemoryType)type;
            fails(mcErrorInvalidValue, mcMemcpyParam2D(&bad));
            bad = to_device;
            bad.dstMemoryType = (mcMemoryType)type;
            fails(mcErrorInvalidValue, mcMemcpyParam2D(&bad));
        }
    }
    bad = to_device;
    bad.srcPitch = 22; /* 23 bytes of a row */
    fails(mcErrorInvalidPitchValue, mcMemcpyParam2D(&bad));
    bad = to_device;
    bad.dstPitch = SIZE_MAX;
    fails(mcErrorInvalidPitchValue, mcMemcpyParam2D(&bad));
    bad = to_device;
    bad.srcXInBytes = SIZE_MAX;
    fails(mcErrorInvalidPitchValue, mcMemcpyParam2D(&bad));
    bad = to_device;
    bad.srcHost = NULL;
    fails(mcErrorInvalidValue, mcMemcpyParam2D(&bad));
    bad = to_device;
    bad.dstY = SIZE_MAX / 2;
    fails(mcErrorInvalidValue, mcMemcpyParam2D(&bad));
    bad = to_device;
    bad.dstY = 6; /* behind the allocation */
    fails(mcErrorInvalidValue, mcMemcpyParam2D(&bad));
    bad = to_device;
    bad.dstDevice = out; /* not the device's */
    fails(mcErrorInvalidValue, mcMemcpyParam2D(&bad));
    bad = to_array;
    bad.dstArray = (mcArray_t)data;
    fails(mcErrorInvalidResourceHandle, mcMemcpyParam2D(&bad));
    bad.dstArray = NULL;
    fails(mcErrorInvalidResourceHandle, mcMemcpyParam2D(&bad));
    bad = to_array;
    bad.dstY = H - 4;
    fails(mcErrorInvalidValue, mcMemcpyParam2D(&bad));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpyParam2DAsync(&to_array, (mcStream_t)data));
    bad = to_device;
    bad.Height = 0;
    bad.dstY = 0;
    ok(mcMemcpyParam2D(&bad));
    ok(mcStreamDestroy(stream));
    ok(mcFree(d));
    ok(mcFreeHost(pinned));
    ok(mcFreeArray(array));
}

/* ---- two devices ---- */

static void test_devices(void)
{
    mcArray_t near = make(W, H, D), far;
    static uint8_t image[W * H * D * 4], out[sizeof(image)];
    mcStream_t stream;

    env_two_devices();
    ok(mcStreamCreate(&stream));
    ok(mcSetDevice(1));
    far = make(W, H, D);
    uint8_t *memory = env_malloc(sizeof(image));
    ok(mcSetDevice(0));
    env_pattern(image, sizeof(image), 1);
    whole(near, image, true);
    mcMemcpy3DParms p = {
        .srcArray = near, .dstArray = far, .extent = {W, H, D},
        /* the kind says nothing */
    };
    ok(mcMemcpy3DPeer(&p));
    whole(far, out, false);
    g_assert_cmpint(memcmp(out, image, sizeof(image)), ==, 0);
    p.dstArray = NULL;
    p.dstPtr = (mcPitchedPtr){memory, W * 4, W * 4, H};
    p.kind = mcMemcpyDeviceToDevice;
    ok(mcMemcpy3DPeerAsync(&p, stream));
    ok(mcStreamSynchronize(stream));
    ok(mcMemcpy(out, memory, sizeof(out), mcMemcpyDefault));
    g_assert_cmpint(memcmp(out, image, sizeof(image)), ==, 0);
    fails(mcErrorInvalidValue, mcMemcpy3DPeer(NULL));
    fails(mcErrorInvalidValue, mcMemcpy3DPeerAsync(NULL, stream));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpy3DPeerAsync(&p, (mcStream_t)image));
    p.kind = (mcMemcpyKind)5;
    fails(mcErrorInvalidMemcpyDirection, mcMemcpy3DPeer(&p));
    /* An array goes with its device. */
    ok(mcSetDevice(1));
    ok(mcDeviceReset());
    fails(mcErrorInvalidResourceHandle, mcFreeArray(far));
    ok(mcSetDevice(0));
    ok(mcStreamDestroy(stream));
    ok(mcFreeArray(near));
}

/* ---- mipmapped arrays ---- */

static void test_mipmap(void)
{
    mcMipmappedArray_t mipmap;
    mcArray3DDescriptor desc = {13, 6, 3, MC_AD_FORMAT_SIGNED_INT16, 2, 0};
    static const mcExtent levels[] = {{13, 6, 3}, {6, 3, 1}, {3, 1, 1},
                                      {1, 1, 1}};
    static uint8_t data[13 * 6 * 4], out[sizeof(data)];
    mcArray_t level, again;
    mcExtent extent;

    for (unsigned form = 0; form < 2; form++) {
        if (form) {
            ok(mcMipmappedArrayCreate(&mipmap, &desc, 4));
        } else {
            ok(mcMallocMipmappedArray(&mipmap, &word, levels[0], 4, 0));
        }
        for (unsigned i = 0; i < 4; i++) {
            mcMemcpy3DParms p = {.kind = mcMemcpyDefault};

            ok(mcGetMipmappedArrayLevel(&level, mipmap, i));
            ok(mcMipmappedArrayGetLevel(&again, mipmap, i));
            g_assert_true(level == again);
            ok(mcArrayGetInfo(NULL, &extent, NULL, level));
            g_assert_cmpint(memcmp(&extent, &levels[i], sizeof(extent)), ==,
                            0);
            env_pattern(data, sizeof(data), i);
            p.srcPtr = (mcPitchedPtr){data, extent.width * 4, 0, extent.height};
            p.dstArray = level;
            p.extent = extent;
            p.extent.depth = 1;
            ok(mcMemcpy3D(&p));
            fails(mcErrorInvalidResourceHandle, mcFreeArray(level));
            fails(mcErrorInvalidResourceHandle, mcArrayDestroy(level));
        }
        for (unsigned i = 0; i < 4; i++) { /* none of them is another's */
            mcMemcpy3DParms p = {.kind = mcMemcpyDefault};
            size_t size = levels[i].width * levels[i].height * 4;

            ok(mcGetMipmappedArrayLevel(&level, mipmap, i));
            env_pattern(data, sizeof(data), i);
            p.dstPtr = (mcPitchedPtr){out, levels[i].width * 4, 0,
                                      levels[i].height};
            p.srcArray = level;
            p.extent = levels[i];
            p.extent.depth = 1;
            ok(mcMemcpy3D(&p));
            g_assert_cmpint(memcmp(out, data, size), ==, 0);
        }
        fails(mcErrorInvalidValue, mcGetMipmappedArrayLevel(&level, mipmap, 4));
        fails(mcErrorInvalidValue, mcGetMipmappedArrayLevel(NULL, mipmap, 0));
        fails(mcErrorInvalidValue, mcMipmappedArrayGetLevel(NULL, mipmap, 0));
        ok(form ? mcMipmappedArrayDestroy(mipmap)
                : mcFreeMipmappedArray(mipmap));
        fails(mcErrorInvalidResourceHandle,
              mcArrayGetInfo(NULL, NULL, NULL, level));
        fails(mcErrorInvalidResourceHandle, mcFreeMipmappedArray(mipmap));
        fails(mcErrorInvalidResourceHandle, mcMipmappedArrayDestroy(mipmap));
    }
    ok(mcFreeMipmappedArray(NULL));
    fails(mcErrorInvalidResourceHandle, mcMipmappedArrayDestroy(NULL));
    fails(mcErrorInvalidResourceHandle,
          mcGetMipmappedArrayLevel(&level, NULL, 0));
    fails(mcErrorInvalidResourceHandle,
          mcMipmappedArrayGetLevel(&level, NULL, 0));
    fails(mcErrorInvalidValue,
          mcMallocMipmappedArray(&mipmap, &word, levels[0], 0, 0));
    fails(mcErrorInvalidValue,
          mcMallocMipmappedArray(&mipmap, &word, levels[0], 5, 0));
    fails(mcErrorInvalidValue,
          mcMallocMipmappedArray(NULL, &word, levels[0], 1, 0));
    fails(mcErrorInvalidValue,
          mcMallocMipmappedArray(&mipmap, NULL, levels[0], 1, 0));
    fails(mcErrorNotSupported,
          mcMallocMipmappedArray(&mipmap, &word, levels[0], 1,
                                 mcArrayDeferredMapping));
    fails(mcErrorInvalidValue, mcMipmappedArrayCreate(NULL, &desc, 1));
    fails(mcErrorInvalidValue, mcMipmappedArrayCreate(&mipmap, NULL, 1));
    fails(mcErrorInvalidValue, mcMipmappedArrayCreate(&mipmap, &desc, 0));
    desc.NumChannels = 3;
    fails(mcErrorInvalidChannelDescriptor,
          mcMipmappedArrayCreate(&mipmap, &desc, 1));
}

/* Memory of another interface: what it writes is what is read here. */
static void test_external(void)
{
    enum { OFFSET = 100, FILE_SIZE = 8192, W0 = 12, H0 = 4 };
    int fd = memfd_create("levels", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    uint8_t *theirs, out[W0 * H0 * 4];
    mcExternalMemory_t memory;
    mcMipmappedArray_t mipmap;
    mcArray_t level;

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(ftruncate(fd, FILE_SIZE), ==, 0);
    theirs = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    g_assert_true(theirs != MAP_FAILED);
    env_pattern(theirs, FILE_SIZE, 1);
    mcExternalMemoryHandleDesc handle = {
        .type = mcExternalMemoryHandleTypeOpaqueFd,
        .handle.fd = fd,
        .size = FILE_SIZE,
    };
    ok(mcImportExternalMemory(&memory, &handle));
    mcExternalMemoryMipmappedArrayDesc desc = {
        .offset = OFFSET,
        .arrayDesc = {W0, H0, 0, MC_AD_FORMAT_FLOAT, 1, 0},
    }, bad;

    for (desc.numLevels = 1; desc.numLevels <= 4; desc.numLevels++) {
        size_t at = OFFSET, width = W0, height = H0;

        ok(mcExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &desc));
        for (unsigned i = 0; i < desc.numLevels; i++) {
            size_t size = width * height * 4;

            ok(mcGetMipmappedArrayLevel(&level, mipmap, i));
            ok(mcMemcpyFromArray(out, level, 0, 0, size,
                                 mcMemcpyDeviceToHost));
            g_assert_cmpint(memcmp(out, theirs + at, size), ==, 0);
            memset(out, i + 1, size);
            ok(mcMemcpyToArray(level, 0, 0, out, size, mcMemcpyHostToDevice));
            ok(mcDeviceSynchronize());
            g_assert_cmpint(memcmp(out, theirs + at, size), ==, 0);
            at += size;
            width = MAX(width / 2, 1), height = MAX(height / 2, 1);
        }
        ok(mcFreeMipmappedArray(mipmap));
    }
    desc.numLevels = 1;
    fails(mcErrorInvalidValue,
          mcExternalMemoryGetMappedMipmappedArray(NULL, memory, &desc));
    fails(mcErrorInvalidValue,
          mcExternalMemoryGetMappedMipmappedArray(&mipmap, memory, NULL));
    fails(mcErrorInvalidResourceHandle,
          mcExternalMemoryGetMappedMipmappedArray(&mipmap, NULL, &desc));
    bad = desc;
    bad.offset = FILE_SIZE - W0 * H0 * 4 + 1;
    fails(mcErrorInvalidValue,
          mcExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &bad));
    bad = desc;
    bad.numLevels = 5;
    fails(mcErrorInvalidValue,
          mcExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &bad));
    bad = desc;
    bad.arrayDesc.NumChannels = 3;
    fails(mcErrorInvalidChannelDescriptor,
          mcExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &bad));
    bad = desc;
    bad.arrayDesc.Flags = mcArrayColorAttachment;
    fails(mcErrorNotSupported,
          mcExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &bad));

    /* It outlives the import, and goes with the device. */
    ok(mcExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &desc));
    ok(mcDestroyExternalMemory(memory));
    ok(mcGetMipmappedArrayLevel(&level, mipmap, 0));
    ok(mcMemcpyFromArray(out, level, 0, 0, 4, mcMemcpyDeviceToHost));
    g_assert_cmpint(memcmp(out, theirs + OFFSET, 4), ==, 0);
    ok(mcDeviceReset());
    env_forget();
    fails(mcErrorInvalidResourceHandle, mcFreeMipmappedArray(mipmap));
    fails(mcErrorInvalidResourceHandle,
          mcMemcpyFromArray(out, level, 0, 0, 4, mcMemcpyDeviceToHost));
    munmap(theirs, FILE_SIZE);
}

/* What is not freed goes with the device, with its memory. */
static void test_reset(void)
{
    size_t before, after, total;
    mcMipmappedArray_t mipmap;

    ok(mcDeviceReset());
    env_forget();
    ok(mcMemGetInfo(&before, &total));
    make(1024, 1024, 0);
    ok(mcMallocMipmappedArray(&mipmap, &word, (mcExtent){512, 512, 0}, 10, 0));
    ok(mcMemGetInfo(&after, &total));
    g_assert_cmpuint(after, <=, before - (4u << 20));
    ok(mcDeviceReset());
    ok(mcMemGetInfo(&after, &total));
    g_assert_cmpuint(after, ==, before);
    mcArray_t array = make(1024, 1024, 0);
    ok(mcFreeArray(array));
    ok(mcMallocMipmappedArray(&mipmap, &word, (mcExtent){512, 512, 0}, 10, 0));
    ok(mcFreeMipmappedArray(mipmap));
    ok(mcMemGetInfo(&after, &total));
    g_assert_cmpuint(after, ==, before);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/array/channels", test_channels);
    g_test_add_func("/array/info", test_info);
    g_test_add_func("/array/descriptors", test_descriptors);
    g_test_add_func("/array/make-errors", test_make_errors);
    g_test_add_func("/array/boxes", test_boxes);
    g_test_add_func("/array/array-boxes", test_array_boxes);
    g_test_add_func("/array/rows", test_rows);
    g_test_add_func("/array/lines", test_lines);
    g_test_add_func("/array/row", test_row);
    g_test_add_func("/array/param", test_param);
    g_test_add_func("/array/devices", test_devices);
    g_test_add_func("/array/mipmap", test_mipmap);
    g_test_add_func("/array/external", test_external);
    g_test_add_func("/array/reset", test_reset);
    return g_test_run();
}
