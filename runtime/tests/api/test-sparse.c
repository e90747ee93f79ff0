/* SPDX-License-Identifier: MIT */
/* Sparse arrays: their tiles, and memory that comes and goes in streams. What
 * kernels read of them: tests/scenario/sparse.maca. */
#include "env.h"

enum { TILE = 65536, POOL = 2 << 20, W = 1024, H = 16 /* of a tile of words */ };

static const mcChannelFormatDesc word = {32, 0, 0, 0,
                                         mcChannelFormatKindUnsigned};

static mcArray_t make(size_t width, size_t height, size_t depth, unsigned flags)
{
    mcArray_t array = NULL;

    ok(mcMalloc3DArray(&array, &word, (mcExtent){width, height, depth},
                       flags | mcArraySparse));
    return array;
}

static mcMemAllocationProp pool_prop(int device)
{
    return (mcMemAllocationProp){
        .type = mcMemAllocationTypePinned,
        .location = {mcMemLocationTypeDevice, device},
        .allocFlags.usage = MC_MEM_CREATE_USAGE_TILE_POOL,
    };
}

static mcMemGenericAllocationHandle make_pool(int device)
{
    mcMemAllocationProp prop = pool_prop(device), got;
    mcMemGenericAllocationHandle pool = 0;

    ok(mcMemCreate(&pool, POOL, &prop, 0));
    ok(mcMemGetAllocationPropertiesFromHandle(&got, pool));
    g_assert_cmpuint(got.allocFlags.usage, ==, MC_MEM_CREATE_USAGE_TILE_POOL);
    return pool;
}

/* A tile of level 0 of an array. */
static mcArrayMapInfo tile_info(mcArray_t array, unsigned x, unsigned y,
                                mcMemGenericAllocationHandle pool,
                                uint64_t offset)
{
    return (mcArrayMapInfo){
        .resourceType = mcResourceTypeArray,
        .resource.array = array,
        .subresource.sparseLevel = {.offsetX = x * W, .offsetY = y * H,
                                    .extentWidth = W, .extentHeight = H,
                                    .extentDepth = 1},
        .memOperationType = pool ? MC_MEM_OPERATION_TYPE_MAP
                                 : MC_MEM_OPERATION_TYPE_UNMAP,
        .memHandle.memHandle = pool,
        .offset = offset,
        .deviceBitMask = 1,
    };
}

static void map_tile(mcArray_t array, unsigned x, unsigned y,
                     mcMemGenericAllocationHandle pool, uint64_t offset)
{
    mcArrayMapInfo info = tile_info(array, x, y, pool, offset);

    ok(mcMemMapArrayAsync(&info, 1, NULL));
}

static uint32_t *words_of(size_t count, uint32_t seed)
{
    uint32_t *words = g_new(uint32_t, count);

    for (size_t i = 0; i < count; i++) {
        words[i] = seed + (uint32_t)i * 2654435761u;
    }
    return words;
}

/* A part of a slice is what a tile's words say, or 0. */
static void check_part(mcArray_t array, size_t x, size_t y, size_t z, size_t w,
                       size_t h, const uint32_t *want)
{
    g_autofree uint32_t *got = g_new(uint32_t, w * h);
    mcMemcpy3DParms p = {
        .srcArray = array,
        .srcPos = {x, y, z},
        .dstPtr = {got, w * 4, w, h},
        .extent = {w, h, 1},
        .kind = mcMemcpyDeviceToHost,
    };

    memset(got, 0xcc, w * h * 4);
    ok(mcMemcpy3D(&p));
    for (size_t i = 0; i < w * h; i++) {
        if (got[i] != (want ? want[i] : 0)) {
            g_error("(%zu, %zu, %zu): 0x%x, expected 0x%x", x + i % w,
                    y + i / w, z, got[i], want ? want[i] : 0);
        }
    }
}

static void write_part(mcArray_t array, size_t x, size_t y, size_t z, size_t w,
                       size_t h, const uint32_t *words)
{
    mcMemcpy3DParms p = {
        .dstArray = array,
        .dstPos = {x, y, z},
        .srcPtr = {(void *)words, w * 4, w, h},
        .extent = {w, h, 1},
        .kind = mcMemcpyHostToDevice,
    };

    ok(mcMemcpy3D(&p));
}

/* ---- what they are ---- */

static void check_properties(const mcArraySparseProperties *p, unsigned width,
                             unsigned first, uint64_t tail)
{
    g_assert_cmpuint(p->tileExtent.width, ==, width);
    g_assert_cmpuint(p->tileExtent.height, ==, H);
    g_assert_cmpuint(p->tileExtent.depth, ==, 1);
    g_assert_cmpuint(p->miptailFirstLevel, ==, first);
    g_assert_cmpuint(p->miptailSize, ==, tail);
    g_assert_cmpuint(p->flags, ==,
                     tail ? mcArraySparsePropertiesSingleMipTail : 0);
}

static void test_properties(void)
{
    static const mcChannelFormatDesc large = {32, 32, 32, 32,
                                              mcChannelFormatKindFloat};
    mcArraySparseProperties p;
    mcMipmappedArray_t mipmap;
    mcArray_t array, level;

    array = make(W, H, 0, 0);
    ok(mcArrayGetSparseProperties(&p, array));
    check_properties(&p, W, 0, 0);
    fails(mcErrorInvalidValue, mcArrayGetSparseProperties(NULL, array));
    ok(mcFreeArray(array));
    fails(mcErrorInvalidResourceHandle, mcArrayGetSparseProperties(&p, array));
    /* Smaller than a tile in one dimension: all tail. 15 rows of 8 KiB. */
    array = make(2048, 15, 0, 0);
    ok(mcArrayGetSparseProperties(&p, array));
    check_properties(&p, W, 0, 2 * TILE);
    ok(mcFreeArray(array));
    ok(mcMalloc3DArray(&array, &large, (mcExtent){256, 16, 0}, mcArraySparse));
    ok(mcArrayGetSparseProperties(&p, array));
    check_properties(&p, 256, 0, 0);
    ok(mcFreeArray(array));
    ok(mcMallocArray(&array, &word, W, H, 0));
    fails(mcErrorInvalidValue, mcArrayGetSparseProperties(&p, array));
    ok(mcFreeArray(array));

    /* 4096 x 128, 2048 x 64, 1024 x 32; 512 x 16 is narrower than a tile. */
    ok(mcMallocMipmappedArray(&mipmap, &word, (mcExtent){4096, 128, 0}, 13,
                              mcArraySparse));
    ok(mcMipmappedArrayGetSparseProperties(&p, mipmap));
    check_properties(&p, W, 3, TILE);
    fails(mcErrorInvalidValue,
          mcMipmappedArrayGetSparseProperties(NULL, mipmap));
    ok(mcGetMipmappedArrayLevel(&level, mipmap, 0));
    fails(mcErrorInvalidValue, mcArrayGetSparseProperties(&p, level));
    ok(mcFreeMipmappedArray(mipmap));
    fails(mcErrorInvalidResourceHandle,
          mcMipmappedArrayGetSparseProperties(&p, mipmap));
    ok(mcMallocMipmappedArray(&mipmap, &word, (mcExtent){4096, 128, 0}, 3,
                              mcArraySparse));
    ok(mcMipmappedArrayGetSparseProperties(&p, mipmap));
    check_properties(&p, W, 0, 0);
    ok(mcFreeMipmappedArray(mipmap));
    ok(mcMallocMipmappedArray(&mipmap, &word, (mcExtent){4096, 128, 0}, 3, 0));
    fails(mcErrorInvalidValue, mcMipmappedArrayGetSparseProperties(&p, mipmap));
    ok(mcFreeMipmappedArray(mipmap));

    fails(mcErrorInvalidValue,
          mcMallocArray(&array, &word, W, 0, mcArraySparse));
    fails(mcErrorInvalidValue,
          mcMalloc3DArray(&array, &word, (mcExtent){64, 64, 6},
                          mcArraySparse | mcArrayCubemap));
    fails(mcErrorInvalidValue,
          mcMalloc3DArray(&array, &word, (mcExtent){64, 0, 6},
                          mcArraySparse | mcArrayLayered));
}

/* ---- tiles ---- */

static void test_tiles(void)
{
    mcMemGenericAllocationHandle pool = make_pool(0);
    g_autofree uint32_t *one = words_of(W * H, 1), *two = words_of(W * H, 2);
    /* The last column has 100 words, the last row of tiles 5 rows. */
    mcArray_t array = make(2 * W + 100, 2 * H + 5, 0, 0);

    check_part(array, 0, 0, 0, 2 * W + 100, 2 * H + 5, NULL);
    map_tile(array, 1, 0, pool, 0);
    map_tile(array, 0, 1, pool, 3 * TILE);
    write_part(array, W, 0, 0, W, H, one);
    write_part(array, 0, H, 0, W, H, two);
    check_part(array, W, 0, 0, W, H, one);
    check_part(array, 0, H, 0, W, H, two);
    check_part(array, 0, 0, 0, W, H, NULL);
    check_part(array, 2 * W, 0, 0, 100, 2 * H + 5, NULL);
    check_part(array, 0, 2 * H, 0, 2 * W, 5, NULL);
    /* The same memory at a second tile; the first one goes. */
    map_tile(array, 1, 1, pool, 0);
    check_part(array, W, H, 0, W, H, one);
    map_tile(array, 1, 0, 0, 0);
    check_part(array, W, 0, 0, W, H, NULL);
    check_part(array, W, H, 0, W, H, one);
    /* Another place for a tile that has one. */
    map_tile(array, 1, 1, pool, 3 * TILE);
    check_part(array, W, H, 0, W, H, two);
    /* Tiles at both edges: extents end where the array does, or a tile. */
    mcArrayMapInfo info = tile_info(array, 2, 2, pool, 4 * TILE);
    info.subresource.sparseLevel.extentWidth = 100;
    ok(mcMemMapArrayAsync(&info, 1, NULL));
    write_part(array, 2 * W, 2 * H, 0, 100, 5, one);
    check_part(array, 2 * W, 2 * H, 0, 100, 5, one);
    check_part(array, 2 * W, H, 0, 100, H, NULL);
    ok(mcFreeArray(array));
    ok(mcMemRelease(pool));
}

/* Several tiles at once lie row behind row. */
static void test_regions(void)
{
    mcMemGenericAllocationHandle pool = make_pool(0);
    mcArray_t array = make(3 * W, 3 * H, 0, 0), other = make(W, 6 * H, 0, 0);
    g_autofree uint32_t *words = words_of(W * H, 7);
    mcArrayMapInfo infos[2] = {tile_info(array, 1, 1, pool, 2 * TILE),
                               tile_info(other, 0, 0, pool, 0)};

    infos[0].subresource.sparseLevel.extentWidth = 2 * W;
    infos[0].subresource.sparseLevel.extentHeight = 2 * H;
    infos[1].subresource.sparseLevel.extentHeight = 6 * H;
    ok(mcMemMapArrayAsync(infos, 2, NULL));
    for (unsigned i = 0; i < 4; i++) {
        write_part(array, W + i % 2 * W, H + i / 2 * H, 0, W, H, words);
        check_part(other, 0, (2 + i) * H, 0, W, H, words);
        words[5] = ~i;
    }
    /* And out of it all but the first. */
    infos[0] = tile_info(array, 2, 1, 0, 0);
    infos[1] = tile_info(array, 1, 2, 0, 0);
    infos[1].subresource.sparseLevel.extentWidth = 2 * W;
    ok(mcMemMapArrayAsync(infos, 2, NULL));
    check_part(array, 2 * W, H, 0, W, H, NULL);
    check_part(array, W, 2 * H, 0, 2 * W, H, NULL);
    words = (g_free(words), words_of(W * H, 7));
    check_part(array, W, H, 0, W, H, words);
    ok(mcMemMapArrayAsync(infos, 0, NULL));
    ok(mcFreeArray(array));
    ok(mcFreeArray(other));
    ok(mcMemRelease(pool));
}

static void test_slices(void)
{
    mcMemGenericAllocationHandle pool = make_pool(0);
    mcArray_t layers = make(W, H, 3, mcArrayLayered), solid = make(W, H, 3, 0);
    g_autofree uint32_t *words = words_of(W * H, 3);
    mcArrayMapInfo info = tile_info(layers, 0, 0, pool, TILE);

    info.subresource.sparseLevel.layer = 1;
    ok(mcMemMapArrayAsync(&info, 1, NULL));
    info = tile_info(solid, 0, 0, pool, 0);
    info.subresource.sparseLevel.offsetZ = 1;
    info.subresource.sparseLevel.extentDepth = 2;
    ok(mcMemMapArrayAsync(&info, 1, NULL));
    write_part(layers, 0, 0, 1, W, H, words);
    check_part(solid, 0, 0, 2, W, H, words); /* the same memory */
    check_part(layers, 0, 0, 0, W, H, NULL);
    check_part(layers, 0, 0, 2, W, H, NULL);
    check_part(solid, 0, 0, 0, W, H, NULL);

    /* What does not exist. */
    info.subresource.sparseLevel.extentDepth = 3;
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL));
    info.subresource.sparseLevel.extentDepth = 0;
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL));
    info = tile_info(solid, 0, 0, pool, 0);
    info.subresource.sparseLevel.layer = 1;
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL));
    info = tile_info(layers, 0, 0, pool, 0);
    info.subresource.sparseLevel.layer = 3;
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL));
    info.subresource.sparseLevel.layer = 0;
    info.subresource.sparseLevel.offsetZ = 1;
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL));
    ok(mcFreeArray(layers));
    ok(mcFreeArray(solid));
    ok(mcMemRelease(pool));
}

static void test_levels(void)
{
    mcMemGenericAllocationHandle pool = make_pool(0);
    g_autofree uint32_t *words = words_of(W * H, 4);
    mcMipmappedArray_t mipmap;
    mcArray_t level[6];

    /* 2048 x 32, 1024 x 16; the tail from 512 x 8 on. */
    ok(mcMallocMipmappedArray(&mipmap, &word, (mcExtent){2 * W, 2 * H, 0}, 6,
                              mcArraySparse));
    for (unsigned i = 0; i < 6; i++) {
        ok(mcGetMipmappedArrayLevel(&level[i], mipmap, i));
    }
    mcArrayMapInfo info = tile_info(NULL, 0, 0, pool, 0);
    info.resourceType = mcResourceTypeMipmappedArray;
    info.resource.mipmap = mipmap;
    info.subresource.sparseLevel.level = 1;
    ok(mcMemMapArrayAsync(&info, 1, NULL));
    write_part(level[1], 0, 0, 0, W, H, words);
    check_part(level[1], 0, 0, 0, W, H, words);
    check_part(level[0], 0, 0, 0, 2 * W, 2 * H, NULL);
    for (unsigned i = 2; i < 6; i++) {
        check_part(level[i], 0, 0, 0, 2 * W >> i, 2 * H >> i, NULL);
    }
    info.subresource.sparseLevel.level = 2; /* of the tail */
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL));

    memset(&info.subresource, 0, sizeof(info.subresource));
    info.subresourceType = MC_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
    info.offset = TILE;
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL)); /* of 0 */
    info.subresource.miptail.size = 2 * TILE;
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL));
    info.subresource.miptail.size = TILE;
    info.subresource.miptail.offset = TILE;
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL));
    info.subresource.miptail.offset = 0;
    info.subresource.miptail.layer = 1;
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL));
    info.subresource.miptail.layer = 0;
    ok(mcMemMapArrayAsync(&info, 1, NULL));
    for (unsigned i = 2; i < 6; i++) {
        write_part(level[i], 0, 0, 0, 2 * W >> i, 2 * H >> i, words + i);
    }
    for (unsigned i = 2; i < 6; i++) {
        check_part(level[i], 0, 0, 0, 2 * W >> i, 2 * H >> i, words + i);
    }
    info.memOperationType = MC_MEM_OPERATION_TYPE_UNMAP;
    info.memHandle.memHandle = 0;
    ok(mcMemMapArrayAsync(&info, 1, NULL));
    check_part(level[2], 0, 0, 0, W / 2, H / 2, NULL);
    check_part(level[1], 0, 0, 0, W, H, words);
    ok(mcFreeMipmappedArray(mipmap));
    ok(mcMemRelease(pool));
}

/* ---- streams ---- */

static void test_order(void)
{
    mcMemGenericAllocationHandle pool = make_pool(0);
    mcArray_t array = make(W, H, 0, 0);
    uint32_t *words = env_malloc_host(4 * W * H);
    uint32_t *got = env_malloc_host(3 * 4 * W * H);
    mcArrayMapInfo info[3] = {tile_info(array, 0, 0, pool, 0),
                              tile_info(array, 0, 0, pool, TILE),
                              tile_info(array, 0, 0, 0, 0)};
    mcStream_t stream;

    ok(mcStreamCreate(&stream));
    for (unsigned i = 0; i < W * H; i++) {
        words[i] = i + 1;
    }
    /* A map, two copies, another map, a copy, an unmap, a copy; then nobody
     * has waited for anything yet. */
    ok(mcMemMapArrayAsync(&info[0], 1, stream));
    ok(mcMemcpy2DToArrayAsync(array, 0, 0, words, 4 * W, 4 * W, H,
                              mcMemcpyHostToDevice, stream));
    ok(mcMemcpy2DFromArrayAsync(got, 4 * W, array, 0, 0, 4 * W, H,
                                mcMemcpyDeviceToHost, stream));
    ok(mcMemMapArrayAsync(&info[1], 1, stream));
    ok(mcMemcpy2DToArrayAsync(array, 0, 0, words + 1, 4 * W, 4 * W, H - 1,
                              mcMemcpyHostToDevice, stream));
    ok(mcMemMapArrayAsync(&info[2], 1, stream));
    ok(mcMemcpy2DFromArrayAsync(got + W * H, 4 * W, array, 0, 0, 4 * W, H,
                                mcMemcpyDeviceToHost, stream));
    ok(mcMemMapArrayAsync(&info[1], 1, stream));
    ok(mcMemcpy2DFromArrayAsync(got + 2 * W * H, 4 * W, array, 0, 0, 4 * W, 1,
                                mcMemcpyDeviceToHost, stream));
    ok(mcStreamSynchronize(stream));
    for (unsigned i = 0; i < W * H; i++) {
        g_assert_cmpuint(got[i], ==, i + 1);
        g_assert_cmpuint(got[W * H + i], ==, 0);
    }
    g_assert_cmpuint(got[2 * W * H], ==, 2);

    /* Captures do not know it. */
    mcGraph_t graph;
    ok(mcStreamBeginCapture(stream, mcStreamCaptureModeRelaxed));
    fails(mcErrorStreamCaptureUnsupported,
          mcMemMapArrayAsync(info, 1, stream));
    fails(mcErrorStreamCaptureInvalidated, mcStreamEndCapture(stream, &graph));
    ok(mcStreamDestroy(stream));
    ok(mcFreeArray(array));
    ok(mcMemRelease(pool));
    ok(mcFreeHost(words));
    ok(mcFreeHost(got));
}

/* While tiles come and go, work of other streams finds each page with its memory
 * or without. */
static void test_meanwhile(void)
{
    enum { TURNS = 40 };
    mcMemGenericAllocationHandle pool = make_pool(0);
    mcArray_t array = make(W, H, 0, 0);
    uint32_t *got = env_malloc_host(4 * W * H);
    mcArrayMapInfo info[2] = {tile_info(array, 0, 0, pool, 0),
                              tile_info(array, 0, 0, 0, 0)};
    g_autofree uint32_t *words = g_new(uint32_t, W * H);
    mcStream_t maps, reads;

    ok(mcStreamCreateWithFlags(&maps, mcStreamNonBlocking));
    ok(mcStreamCreateWithFlags(&reads, mcStreamNonBlocking));
    for (unsigned i = 0; i < W * H; i++) {
        words[i] = 5;
    }
    ok(mcMemMapArrayAsync(&info[0], 1, NULL));
    write_part(array, 0, 0, 0, W, H, words);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        ok(mcMemMapArrayAsync(&info[1 - turn % 2], 1, maps));
        ok(mcMemcpy2DFromArrayAsync(got, 4 * W, array, 0, 0, 4 * W, H,
                                    mcMemcpyDeviceToHost, reads));
        ok(mcStreamSynchronize(reads));
        for (unsigned i = 0; i < W * H; i++) {
            g_assert_true(got[i] == 0 || got[i] == 5);
        }
    }
    ok(mcStreamSynchronize(maps));
    check_part(array, 0, 0, 0, W, H, words); /* the last one was a map */
    ok(mcStreamDestroy(maps));
    ok(mcStreamDestroy(reads));
    ok(mcFreeArray(array));
    ok(mcMemRelease(pool));
    ok(mcFreeHost(got));
}

/* A device that is reset while maps wait for their turn: they hold what they
 * would map, and let it go. */
static void test_reset(void)
{
    mcMemGenericAllocationHandle pool = make_pool(0);
    mcArray_t array = make(W, H, 0, 0);
    uint64_t *gate = env_malloc_host(sizeof(*gate));
    mcArrayMapInfo info = tile_info(array, 0, 0, pool, 0);
    size_t before, total;
    mcStream_t stream;

    *gate = 0;
    ok(mcStreamCreateWithFlags(&stream, mcStreamNonBlocking));
    ok(mcStreamWaitValue64(stream, gate, 1, MC_STREAM_WAIT_VALUE_EQ));
    ok(mcMemMapArrayAsync(&info, 1, stream));
    info = tile_info(array, 0, 0, 0, 0);
    ok(mcMemMapArrayAsync(&info, 1, stream));
    ok(mcMemRelease(pool));
    fails(mcErrorNotReady, mcStreamQuery(stream));
    ok(mcDeviceReset());
    env_forget();
    ok(mcMemGetInfo(&before, &total));
    g_assert_cmpuint(before, >, total - (64 << 20));
    fails(mcErrorInvalidResourceHandle, mcFreeArray(array));
}

/* What has no memory cannot be written; the device fails, and is made anew with
 * all that was mapped. */
static void test_write_nowhere(void)
{
    mcMemGenericAllocationHandle pool = make_pool(0);
    g_autofree uint32_t *words = words_of(W * H, 9);
    mcArray_t array = make(2 * W, H, 0, 0);

    map_tile(array, 0, 0, pool, 0);
    write_part(array, 0, 0, 0, W, H, words);
    fails(mcErrorIllegalAddress,
          mcMemcpy2DToArray(array, 4 * W, 0, words, 4 * W, 4 * W, H,
                            mcMemcpyHostToDevice));
    ok(mcDeviceReset());
    env_forget();
    fails(mcErrorInvalidResourceHandle, mcFreeArray(array));
    fails(mcErrorInvalidValue, mcMemRelease(pool));
    array = make(2 * W, H, 0, 0);
    check_part(array, 0, 0, 0, 2 * W, H, NULL);
    ok(mcFreeArray(array));
}

/* ---- pools ---- */

static size_t free_memory(void)
{
    size_t free, total;

    ok(mcMemGetInfo(&free, &total));
    return free;
}

static void test_pool_life(void)
{
    g_autofree uint32_t *words = words_of(W * H, 5);
    mcArray_t array = make(W, H, 0, 0), second = make(W, H, 0, 0);
    size_t before = free_memory();
    mcMemGenericAllocationHandle pool = make_pool(0);

    g_assert_cmpuint(free_memory(), <=, before - POOL);
    map_tile(array, 0, 0, pool, POOL - TILE);
    map_tile(second, 0, 0, pool, POOL - TILE);
    write_part(array, 0, 0, 0, W, H, words);
    ok(mcMemRelease(pool)); /* the tiles keep it */
    check_part(second, 0, 0, 0, W, H, words);
    mcArrayMapInfo info = tile_info(array, 0, 0, pool, 0);
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL));
    map_tile(array, 0, 0, 0, 0);
    ok(mcFreeArray(array));
    check_part(second, 0, 0, 0, W, H, words);
    g_assert_cmpuint(free_memory(), <=, before - POOL);
    map_tile(second, 0, 0, 0, 0);
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(free_memory(), >=, before);
    ok(mcFreeArray(second));
}

/* A tile pool is of use for nothing else. */
static void test_pool_errors(void)
{
    mcMemGenericAllocationHandle pool = make_pool(0);
    mcMemAllocationProp prop = pool_prop(0);
    mcDeviceptr_t va = NULL;
    size_t grain = 0;

    ok(mcMemAddressReserve(&va, POOL, 0, NULL, 0));
    fails(mcErrorInvalidValue, mcMemMap(va, POOL, 0, pool, 0));
    ok(mcMemAddressFree(va, POOL));
    ok(mcMemGetAllocationGranularity(&grain, &prop,
                                     MC_MEM_ALLOC_GRANULARITY_MINIMUM));
    g_assert_cmpuint(grain % TILE, ==, 0);
    prop.allocFlags.usage = 0x8001;
    fails(mcErrorInvalidValue, mcMemCreate(&pool, POOL, &prop, 0));
    ok(mcMemRelease(pool));
}

/* ---- what is refused ---- */

static mcArrayMapInfo good; /* for a tile of an array */

static void refused(mcArrayMapInfo info)
{
    mcArrayMapInfo both[2] = {good, info};

    fails(mcErrorInvalidValue, mcMemMapArrayAsync(both, 2, NULL));
}

#define REFUSED(member, value)                                                 \
    do {                                                                       \
        mcArrayMapInfo info = good;                                            \
        info.member = value;                                                   \
        refused(info);                                                         \
    } while (0)

static void test_errors(void)
{
    mcMemAllocationProp plain_prop = pool_prop(0);
    mcMemGenericAllocationHandle pool = make_pool(0), plain;
    mcArray_t array = make(2 * W, 2 * H, 0, 0), whole;
    mcMipmappedArray_t mipmap;
    mcArrayMapInfo info;

    plain_prop.allocFlags.usage = 0;
    ok(mcMemCreate(&plain, POOL, &plain_prop, 0));
    ok(mcMallocArray(&whole, &word, W, H, 0));
    ok(mcMallocMipmappedArray(&mipmap, &word, (mcExtent){W, H, 0}, 1,
                              mcArraySparse));
    good = tile_info(array, 1, 1, pool, 0);
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(NULL, 1, NULL));
    fails(mcErrorInvalidResourceHandle,
          mcMemMapArrayAsync(&good, 1, (mcStream_t)&good));
    REFUSED(resourceType, mcResourceTypeLinear);
    REFUSED(resource.array, whole);
    REFUSED(subresourceType, (mcArraySparseSubresourceType)2);
    REFUSED(subresourceType, MC_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL);
    REFUSED(subresource.sparseLevel.level, 1);
    REFUSED(subresource.sparseLevel.layer, 1);
    REFUSED(subresource.sparseLevel.offsetX, 1);
    REFUSED(subresource.sparseLevel.offsetX, 2 * W);
    REFUSED(subresource.sparseLevel.offsetX, (unsigned)-W);
    REFUSED(subresource.sparseLevel.offsetY, H + 1);
    REFUSED(subresource.sparseLevel.offsetY, 2 * H);
    REFUSED(subresource.sparseLevel.offsetZ, 1);
    REFUSED(subresource.sparseLevel.extentWidth, 0);
    REFUSED(subresource.sparseLevel.extentWidth, 2 * W);
    REFUSED(subresource.sparseLevel.extentWidth, W - 1);
    REFUSED(subresource.sparseLevel.extentHeight, 0);
    REFUSED(subresource.sparseLevel.extentHeight, H - 1);
    REFUSED(subresource.sparseLevel.extentHeight, UINT32_MAX);
    REFUSED(subresource.sparseLevel.extentDepth, 0);
    REFUSED(subresource.sparseLevel.extentDepth, 2);
    REFUSED(memOperationType, MC_MEM_OPERATION_TYPE_UNMAP); /* of a pool */
    REFUSED(memOperationType, (mcMemOperationType)0);
    REFUSED(memHandleType, (mcMemHandleType)1);
    REFUSED(memHandle.memHandle, 0);
    REFUSED(memHandle.memHandle, plain);
    REFUSED(memHandle.memHandle, UINT64_MAX);
    REFUSED(offset, 1);
    REFUSED(offset, POOL);
    REFUSED(offset, UINT64_MAX - TILE + 1);
    REFUSED(deviceBitMask, 0);
    REFUSED(deviceBitMask, 2);
    REFUSED(deviceBitMask, 3);
    REFUSED(flags, 1);
    REFUSED(reserved[0], 1);
    REFUSED(reserved[1], 1);
    info = good;
    ok(mcGetMipmappedArrayLevel(&info.resource.array, mipmap, 0));
    refused(info);
    info.resource.array = (mcArray_t)&info;
    fails(mcErrorInvalidResourceHandle, mcMemMapArrayAsync(&info, 1, NULL));
    info.resourceType = mcResourceTypeMipmappedArray;
    fails(mcErrorInvalidResourceHandle, mcMemMapArrayAsync(&info, 1, NULL));
    /* Of all that nothing was done, of the good ones either. */
    check_part(array, 0, 0, 0, 2 * W, 2 * H, NULL);
    ok(mcFreeArray(array));
    ok(mcFreeArray(whole));
    ok(mcFreeMipmappedArray(mipmap));
    ok(mcMemRelease(pool));
    ok(mcMemRelease(plain));
}

static void test_two_devices(void)
{
    env_two_devices();
    ok(mcSetDevice(1));
    mcMemGenericAllocationHandle home = make_pool(1), away = make_pool(0);
    g_autofree uint32_t *words = words_of(W * H, 6);
    mcArray_t array = make(W, H, 0, 0);
    mcArrayMapInfo info = tile_info(array, 0, 0, away, 0);

    info.deviceBitMask = 2;
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL));
    info.memHandle.memHandle = home;
    ok(mcSetDevice(0));
    fails(mcErrorInvalidValue, mcMemMapArrayAsync(&info, 1, NULL));
    ok(mcSetDevice(1));
    ok(mcMemMapArrayAsync(&info, 1, NULL));
    write_part(array, 0, 0, 0, W, H, words);
    check_part(array, 0, 0, 0, W, H, words);
    /* The device goes with its pool, arrays of the other one stay. */
    ok(mcDeviceReset());
    env_forget();
    ok(mcMemRelease(away));
    ok(mcSetDevice(0));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sparse/properties", test_properties);
    g_test_add_func("/sparse/tiles", test_tiles);
    g_test_add_func("/sparse/regions", test_regions);
    g_test_add_func("/sparse/slices", test_slices);
    g_test_add_func("/sparse/levels", test_levels);
    g_test_add_func("/sparse/order", test_order);
    g_test_add_func("/sparse/meanwhile", test_meanwhile);
    g_test_add_func("/sparse/reset", test_reset);
    g_test_add_func("/sparse/write-nowhere", test_write_nowhere);
    g_test_add_func("/sparse/pool-life", test_pool_life);
    g_test_add_func("/sparse/pool-errors", test_pool_errors);
    g_test_add_func("/sparse/errors", test_errors);
    g_test_add_func("/sparse/two-devices", test_two_devices);
    return g_test_run();
}
