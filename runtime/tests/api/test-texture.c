/* SPDX-License-Identifier: MIT */
/* Texture and surface objects, and the arrays that are for them: what they are
 * made of and what is refused. What kernels read: tests/mxcc/textures.maca. */
#include "env.h"

static const mcChannelFormatDesc real = {32, 0, 0, 0, mcChannelFormatKindFloat};
static const mcChannelFormatDesc bytes = {8, 8, 8, 8,
                                          mcChannelFormatKindUnsigned};
static const mcChannelFormatDesc word = {32, 0, 0, 0,
                                         mcChannelFormatKindSigned};

static mcArray_t make(const mcChannelFormatDesc *desc, size_t width,
                      size_t height, size_t depth, unsigned flags)
{
    mcArray_t array = NULL;

    ok(mcMalloc3DArray(&array, desc, (mcExtent){width, height, depth}, flags));
    return array;
}

static mcResourceDesc of_array(mcArray_t array)
{
    mcResourceDesc r = {.resType = mcResourceTypeArray};

    r.res.array.array = array;
    return r;
}

static mcResourceDesc of_memory(void *memory, const mcChannelFormatDesc *desc,
                                size_t size)
{
    mcResourceDesc r = {.resType = mcResourceTypeLinear};

    r.res.linear.devPtr = memory;
    r.res.linear.desc = *desc;
    r.res.linear.sizeInBytes = size;
    return r;
}

static mcResourceDesc of_rows(void *memory, const mcChannelFormatDesc *desc,
                              size_t width, size_t height, size_t pitch)
{
    mcResourceDesc r = {.resType = mcResourceTypePitch2D};

    r.res.pitch2D.devPtr = memory;
    r.res.pitch2D.desc = *desc;
    r.res.pitch2D.width = width;
    r.res.pitch2D.height = height;
    r.res.pitch2D.pitchInBytes = pitch;
    return r;
}

static const mcTextureDesc plain = {
    .addressMode = {mcAddressModeClamp, mcAddressModeClamp, mcAddressModeClamp},
};

static mcError_t create(const mcResourceDesc *r, const mcTextureDesc *t,
                        const mcResourceViewDesc *v)
{
    mcTextureObject_t object = 0;
    mcError_t error = mcCreateTextureObject(&object, r, t, v);

    if (error == mcSuccess) {
        g_assert_cmpuint(object, !=, 0);
        ok(mcDestroyTextureObject(object));
    } else {
        g_assert_cmpuint(object, ==, 0);
    }
    return error;
}

/* ---- arrays ---- */

static void test_flags(void)
{
    static const struct {
        size_t width, height, depth;
        unsigned flags;
        bool fits;
    } cases[] = {
        {8, 0, 0, mcArraySurfaceLoadStore, true},
        {8, 8, 0, mcArraySurfaceLoadStore | mcArrayTextureGather, true},
        {8, 8, 8, mcArraySurfaceLoadStore, true},
        {8, 0, 0, mcArrayTextureGather, false},
        {8, 8, 2, mcArrayTextureGather, false},
        {32769, 8, 0, mcArrayTextureGather, false},
        {8, 0, 5, mcArrayLayered, true},
        {8, 8, 5, mcArrayLayered, true},
        {8, 8, 0, mcArrayLayered, false},
        {32769, 1, 1, mcArrayLayered, false},
        {1, 1, 2048, mcArrayLayered, true},
        {1, 1, 2049, mcArrayLayered, false},
        {8, 8, 6, mcArrayCubemap, true},
        {8, 8, 12, mcArrayCubemap, false},
        {8, 8, 5, mcArrayCubemap, false},
        {8, 4, 6, mcArrayCubemap, false},
        {8, 8, 0, mcArrayCubemap, false},
        {8, 8, 12, mcArrayCubemap | mcArrayLayered, true},
        {8, 8, 13, mcArrayCubemap | mcArrayLayered, false},
        {1, 1, 2046, mcArrayCubemap | mcArrayLayered, true},
        {1, 1, 2052, mcArrayCubemap | mcArrayLayered, false},
        {8, 8, 6, mcArrayCubemap | mcArraySurfaceLoadStore, true},
        {8, 0, 5, 0, false},
        {0, 8, 6, mcArrayLayered, false},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        mcExtent e = {cases[i].width, cases[i].height, cases[i].depth}, got;
        mcArray_t array = NULL;
        unsigned flags;

        if (!cases[i].fits) {
            fails(mcErrorInvalidValue,
                  mcMalloc3DArray(&array, &real, e, cases[i].flags));
            continue;
        }
        ok(mcMalloc3DArray(&array, &real, e, cases[i].flags));
        ok(mcArrayGetInfo(NULL, &got, &flags, array));
        g_assert_cmpuint(flags, ==, cases[i].flags);
        g_assert_cmpint(memcmp(&got, &e, sizeof(e)), ==, 0);
        ok(mcFreeArray(array));
        mcArray3DDescriptor d = {e.width, e.height, e.depth,
                                 MC_AD_FORMAT_FLOAT, 1, cases[i].flags};
        mcArray3DDescriptor back;
        ok(mcArray3DCreate(&array, &d));
        ok(mcArray3DGetDescriptor(&back, array));
        g_assert_cmpuint(back.Depth, ==, d.Depth);
        g_assert_cmpuint(back.Flags, ==, d.Flags);
        ok(mcArrayDestroy(array));
    }
}

/* Layers and faces do not halve. */
static void test_layered_levels(void)
{
    mcMipmappedArray_t mipmap;
    mcExtent e = {8, 8, 12}, got;
    mcArray_t level;
    unsigned flags;

    ok(mcMallocMipmappedArray(&mipmap, &real, e, 4,
                              mcArrayCubemap | mcArrayLayered));
    ok(mcGetMipmappedArrayLevel(&level, mipmap, 3));
    ok(mcArrayGetInfo(NULL, &got, &flags, level));
    g_assert_cmpuint(got.width, ==, 1);
    g_assert_cmpuint(got.height, ==, 1);
    g_assert_cmpuint(got.depth, ==, 12);
    g_assert_cmpuint(flags, ==, mcArrayCubemap | mcArrayLayered);
    ok(mcFreeMipmappedArray(mipmap));
    e = (mcExtent){4, 0, 64};
    fails(mcErrorInvalidValue,
          mcMallocMipmappedArray(&mipmap, &real, e, 4, mcArrayLayered));
    ok(mcMallocMipmappedArray(&mipmap, &real, e, 3, mcArrayLayered));
    ok(mcFreeMipmappedArray(mipmap));
}

/* ---- textures ---- */

static void test_objects(void)
{
    mcArray_t array = make(&real, 16, 8, 0, mcArraySurfaceLoadStore);
    mcResourceDesc r = of_array(array), got;
    mcTextureDesc t = plain, modes;
    mcResourceViewDesc v = {mcResViewFormatFloat1, 16, 8, 0, 0, 0, 0, 0}, view;
    mcTextureObject_t a = 0, b = 0;
    mcSurfaceObject_t s = 0;

    t.borderColor[2] = 0.5f;
    t.maxAnisotropy = 99;
    ok(mcCreateTextureObject(&a, &r, &t, NULL));
    ok(mcCreateTextureObject(&b, &r, &t, &v));
    ok(mcCreateSurfaceObject(&s, &r));
    g_assert_true(a && b && s && a != b && a != s && b != s);
    ok(mcGetTextureObjectResourceDesc(&got, a));
    g_assert_cmpint(got.resType, ==, mcResourceTypeArray);
    g_assert_true(got.res.array.array == array);
    ok(mcGetSurfaceObjectResourceDesc(&got, s));
    g_assert_true(got.res.array.array == array);
    ok(mcGetTextureObjectTextureDesc(&modes, a));
    g_assert_cmpint(memcmp(&modes, &t, sizeof(t)), ==, 0);
    ok(mcGetTextureObjectResourceViewDesc(&view, b));
    g_assert_cmpint(memcmp(&view, &v, sizeof(v)), ==, 0);
    fails(mcErrorInvalidValue, mcGetTextureObjectResourceViewDesc(&view, a));
    /* One kind is not the other. */
    fails(mcErrorInvalidValue, mcDestroySurfaceObject(a));
    fails(mcErrorInvalidValue, mcDestroyTextureObject(s));
    fails(mcErrorInvalidValue, mcGetSurfaceObjectResourceDesc(&got, a));
    fails(mcErrorInvalidValue, mcGetTextureObjectResourceDesc(&got, s));
    fails(mcErrorInvalidValue, mcGetTextureObjectResourceDesc(NULL, a));
    fails(mcErrorInvalidValue, mcGetTextureObjectTextureDesc(NULL, a));
    fails(mcErrorInvalidValue, mcGetTextureObjectResourceViewDesc(NULL, b));
    fails(mcErrorInvalidValue, mcGetSurfaceObjectResourceDesc(NULL, s));
    ok(mcDestroyTextureObject(a));
    fails(mcErrorInvalidValue, mcDestroyTextureObject(a));
    fails(mcErrorInvalidValue, mcGetTextureObjectTextureDesc(&modes, a));
    ok(mcDestroyTextureObject(b));
    ok(mcDestroySurfaceObject(s));
    fails(mcErrorInvalidValue, mcDestroySurfaceObject(s));
    fails(mcErrorInvalidValue, mcDestroyTextureObject(a + 8));
    ok(mcDestroyTextureObject(0));
    ok(mcDestroySurfaceObject(0));
    ok(mcFreeArray(array));
    fails(mcErrorInvalidResourceHandle, create(&r, &t, NULL));
}

static void test_null(void)
{
    mcArray_t array = make(&real, 16, 8, 0, mcArraySurfaceLoadStore);
    mcResourceDesc r = of_array(array);
    mcTextureObject_t object;

    fails(mcErrorInvalidValue, mcCreateTextureObject(NULL, &r, &plain, NULL));
    fails(mcErrorInvalidValue,
          mcCreateTextureObject(&object, NULL, &plain, NULL));
    fails(mcErrorInvalidValue, mcCreateTextureObject(&object, &r, NULL, NULL));
    fails(mcErrorInvalidValue, mcCreateSurfaceObject(NULL, &r));
    fails(mcErrorInvalidValue, mcCreateSurfaceObject(&object, NULL));
    r.resType = (mcResourceType)4;
    fails(mcErrorInvalidValue, create(&r, &plain, NULL));
    r = of_array(NULL);
    fails(mcErrorInvalidResourceHandle, create(&r, &plain, NULL));
    r.resType = mcResourceTypeMipmappedArray;
    fails(mcErrorInvalidResourceHandle, create(&r, &plain, NULL));
    r.res.mipmap.mipmap = (mcMipmappedArray_t)array;
    fails(mcErrorInvalidResourceHandle, create(&r, &plain, NULL));
    ok(mcFreeArray(array));
}

static void test_modes(void)
{
    mcArray_t array = make(&bytes, 16, 8, 0, 0);
    mcArray_t words = make(&word, 16, 8, 0, 0);
    mcResourceDesc r = of_array(array), integers = of_array(words);
    mcTextureDesc t = plain;

    for (unsigned i = 0; i < 3; i++) {
        t.addressMode[i] = (mcTextureAddressMode)4;
        fails(mcErrorInvalidValue, create(&r, &t, NULL));
        t.addressMode[i] = mcAddressModeBorder;
    }
    t.filterMode = (mcTextureFilterMode)2;
    fails(mcErrorInvalidValue, create(&r, &t, NULL));
    t.filterMode = mcFilterModePoint;
    t.mipmapFilterMode = (mcTextureFilterMode)2;
    fails(mcErrorInvalidValue, create(&r, &t, NULL));
    t.mipmapFilterMode = mcFilterModePoint;
    t.readMode = (mcTextureReadMode)2;
    fails(mcErrorInvalidValue, create(&r, &t, NULL));
    t.readMode = mcReadModeElementType;
    t.filterMode = mcFilterModeLinear;
    fails(mcErrorInvalidFilterSetting, create(&r, &t, NULL));
    t.readMode = mcReadModeNormalizedFloat;
    ok(create(&r, &t, NULL));
    /* Those of 32 bits stay integers. */
    fails(mcErrorInvalidFilterSetting, create(&integers, &t, NULL));
    t.filterMode = mcFilterModePoint;
    ok(create(&integers, &t, NULL));
    ok(mcFreeArray(array));
    ok(mcFreeArray(words));
    array = make(&real, 8, 8, 6, mcArrayCubemap);
    r = of_array(array);
    t.seamlessCubemap = 1;
    ok(create(&r, &t, NULL));
    t.filterMode = mcFilterModeLinear;
    fails(mcErrorNotSupported, create(&r, &t, NULL));
    t.seamlessCubemap = 0;
    ok(create(&r, &t, NULL));
    ok(mcFreeArray(array));
}

static void test_linear(void)
{
    const mcChannelFormatDesc three = {8, 8, 8, 0, mcChannelFormatKindUnsigned};
    uint8_t *memory = env_malloc(4096), *pinned = env_malloc_host(4096);
    mcResourceDesc r = of_memory(memory, &real, 4096);
    mcTextureDesc t = plain;
    mcDeviceProp_t p;
    size_t most;

    ok(mcGetDeviceProperties(&p, 0));
    ok(create(&r, &t, NULL));
    t.filterMode = mcFilterModeLinear; /* has no meaning here */
    ok(create(&r, &t, NULL));
    r = of_memory(memory, &word, 4096);
    ok(create(&r, &t, NULL));
    r = of_memory(memory + p.textureAlignment, &word, 16);
    ok(create(&r, &t, NULL));
    r = of_memory(pinned, &word, 4096);
    ok(create(&r, &t, NULL));
    r = of_memory(memory + 4, &real, 16);
    fails(mcErrorInvalidValue, create(&r, &t, NULL));
    r = of_memory(memory, &real, 0);
    fails(mcErrorInvalidValue, create(&r, &t, NULL));
    r = of_memory(NULL, &real, 16);
    fails(mcErrorInvalidValue, create(&r, &t, NULL));
    r = of_memory(memory, &real, SIZE_MAX);
    fails(mcErrorInvalidValue, create(&r, &t, NULL));
    r = of_memory(memory, &real, (size_t)1 << 40);
    fails(mcErrorInvalidValue, create(&r, &t, NULL));
    r = of_memory(memory, &three, 16);
    fails(mcErrorInvalidChannelDescriptor, create(&r, &t, NULL));
    r = of_memory(memory, &real, 4096);
    mcResourceViewDesc v = {mcResViewFormatFloat1, 1024, 1, 1, 0, 0, 0, 0};
    fails(mcErrorInvalidValue, create(&r, &t, &v));
    mcSurfaceObject_t s;
    fails(mcErrorInvalidValue, mcCreateSurfaceObject(&s, &r));
    ok(mcDeviceGetTexture1DLinearMaxWidth(&most, &real, 0));
    g_assert_cmpuint(most, ==, p.maxTexture1DLinear);
    fails(mcErrorInvalidValue,
          mcDeviceGetTexture1DLinearMaxWidth(NULL, &real, 0));
    fails(mcErrorInvalidValue,
          mcDeviceGetTexture1DLinearMaxWidth(&most, NULL, 0));
    fails(mcErrorInvalidDevice,
          mcDeviceGetTexture1DLinearMaxWidth(&most, &real, 99));
    fails(mcErrorInvalidChannelDescriptor,
          mcDeviceGetTexture1DLinearMaxWidth(&most, &three, 0));
    ok(mcFree(memory));
    ok(mcFreeHost(pinned));
    r = of_memory(memory, &real, 16);
    fails(mcErrorInvalidValue, create(&r, &t, NULL));
}

static void test_rows(void)
{
    uint8_t *memory = env_malloc(64 * 1024);
    mcResourceDesc r = of_rows(memory, &real, 60, 100, 256);
    mcDeviceProp_t p;

    ok(mcGetDeviceProperties(&p, 0));
    ok(create(&r, &plain, NULL));
    r.res.pitch2D.pitchInBytes = 240 + p.texturePitchAlignment / 2;
    ok(create(&r, &plain, NULL)); /* 256 */
    r.res.pitch2D.pitchInBytes = 248;
    fails(mcErrorInvalidValue, create(&r, &plain, NULL));
    r.res.pitch2D.pitchInBytes = 224; /* less than a row */
    fails(mcErrorInvalidValue, create(&r, &plain, NULL));
    r = of_rows(memory, &real, 0, 100, 256);
    fails(mcErrorInvalidValue, create(&r, &plain, NULL));
    r = of_rows(memory, &real, 60, 0, 256);
    fails(mcErrorInvalidValue, create(&r, &plain, NULL));
    r = of_rows(memory + 32, &real, 60, 100, 256);
    fails(mcErrorInvalidValue, create(&r, &plain, NULL));
    r = of_rows(memory, &real, 60, p.maxTexture2DLinear[1] + 1, 256);
    fails(mcErrorInvalidValue, create(&r, &plain, NULL));
    r = of_rows(memory, &real, p.maxTexture2DLinear[0] + 1, 1, 1 << 20);
    fails(mcErrorInvalidValue, create(&r, &plain, NULL));
    r = of_rows(memory, &real, 60, 100, (size_t)p.maxTexture2DLinear[2] * 2);
    fails(mcErrorInvalidValue, create(&r, &plain, NULL));
    r = of_rows(&p, &real, 1, 1, 256);
    fails(mcErrorInvalidValue, create(&r, &plain, NULL));
    r = of_rows(memory, &(mcChannelFormatDesc){0}, 60, 100, 256);
    fails(mcErrorInvalidChannelDescriptor, create(&r, &plain, NULL));
    ok(mcFree(memory));
}

static void test_array_limits(void)
{
    mcDeviceProp_t p;

    ok(mcGetDeviceProperties(&p, 0));
    const struct {
        mcExtent extent;
        bool fits;
    } cases[] = {
        {{p.maxTexture1D, 0, 0}, true},
        {{p.maxTexture1D + 1, 0, 0}, false},
        {{1, p.maxTexture2D[1], 0}, true},
        {{1, p.maxTexture2D[1] + 1, 0}, false},
        {{1, 1, p.maxTexture3D[2]}, true},
        {{1, 1, p.maxTexture3D[2] + 1}, false},
        {{p.maxTexture3D[0] + 1, 1, 1}, false},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        mcExtent e = cases[i].extent;
        mcArray_t array = make(&real, e.width, e.height, e.depth, 0);
        mcResourceDesc r = of_array(array);

        fails(cases[i].fits ? mcSuccess : mcErrorInvalidValue,
              create(&r, &plain, NULL));
        ok(mcFreeArray(array));
    }
}

/* ---- views ---- */

static void test_views(void)
{
    mcMipmappedArray_t mipmap;
    mcResourceDesc r = {.resType = mcResourceTypeMipmappedArray};
    const mcResourceViewDesc good = {mcResViewFormatUnsignedChar4, 16, 8, 4,
                                     1, 2, 1, 3};
    mcResourceViewDesc v = good;

    ok(mcMallocMipmappedArray(&mipmap, &real, (mcExtent){16, 8, 4}, 4,
                              mcArrayLayered));
    r.res.mipmap.mipmap = mipmap;
    ok(create(&r, &plain, &v));
    for (unsigned f = 0; f <= mcResViewFormatFloat4; f++) {
        bool four = f == mcResViewFormatNone || f == 3 || f == 6 || f == 8 ||
                    f == 11 || f == 13 || f == 16 || f == 20 || f == 22;

        v.format = (mcResourceViewFormat)f;
        fails(four ? mcSuccess : mcErrorInvalidValue, create(&r, &plain, &v));
    }
    for (unsigned f = mcResViewFormatUnsignedBlockCompressed1;
         f <= mcResViewFormatUnsignedBlockCompressed7; f++) {
        v.format = (mcResourceViewFormat)f;
        fails(mcErrorNotSupported, create(&r, &plain, &v));
    }
    v.format = (mcResourceViewFormat)0x23;
    fails(mcErrorInvalidValue, create(&r, &plain, &v));
#define WRONG(member, value)                                                   \
    v = good;                                                                  \
    v.member = value;                                                          \
    fails(mcErrorInvalidValue, create(&r, &plain, &v))
    WRONG(width, 8);
    WRONG(height, 4);
    WRONG(depth, 3);
    WRONG(firstMipmapLevel, 3);
    WRONG(lastMipmapLevel, 4);
    WRONG(firstLayer, 4);
    WRONG(lastLayer, 4);
#undef WRONG
    ok(mcFreeMipmappedArray(mipmap));
}

/* ---- surfaces ---- */

static void test_surfaces(void)
{
    mcArray_t array = make(&real, 16, 8, 0, 0);
    mcResourceDesc r = of_array(array);
    mcMipmappedArray_t mipmap;
    mcSurfaceObject_t s = 0;

    fails(mcErrorInvalidValue, mcCreateSurfaceObject(&s, &r));
    ok(mcFreeArray(array));
    fails(mcErrorInvalidResourceHandle, mcCreateSurfaceObject(&s, &r));
    ok(mcMallocMipmappedArray(&mipmap, &real, (mcExtent){16, 8, 0}, 2,
                              mcArraySurfaceLoadStore));
    r.resType = mcResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = mipmap;
    fails(mcErrorInvalidValue, mcCreateSurfaceObject(&s, &r));
    ok(mcGetMipmappedArrayLevel(&array, mipmap, 1));
    r = of_array(array);
    ok(mcCreateSurfaceObject(&s, &r));
    ok(mcDestroySurfaceObject(s));
    ok(mcFreeMipmappedArray(mipmap));
}

/* ---- the other description ---- */

/* What is made by one is seen by the other. */
static void test_driver_texture(void)
{
    uint8_t *memory = env_malloc(8192);
    MC_RESOURCE_DESC r = {.resType = MC_RESOURCE_TYPE_PITCH2D}, back;
    MC_TEXTURE_DESC t = {.flags = MC_TRSF_SRGB |
                                  MC_TRSF_NORMALIZED_COORDINATES,
                         .filterMode = MC_TR_FILTER_MODE_LINEAR,
                         .addressMode = {MC_TR_ADDRESS_MODE_MIRROR,
                                         MC_TR_ADDRESS_MODE_BORDER,
                                         MC_TR_ADDRESS_MODE_WRAP},
                         .borderColor = {1, 2, 3, 4}}, modes;
    MC_RESOURCE_VIEW_DESC view;
    mcTextureObject_t object;
    mcResourceDesc plain_r;
    mcTextureDesc plain_t;

    r.res.pitch2D.devPtr = memory;
    r.res.pitch2D.format = MC_AD_FORMAT_UNSIGNED_INT8;
    r.res.pitch2D.numChannels = 4;
    r.res.pitch2D.width = 60;
    r.res.pitch2D.height = 30;
    r.res.pitch2D.pitchInBytes = 256;
    ok(mcTexObjectCreate(&object, &r, &t, NULL));
    ok(mcTexObjectGetResourceDesc(&back, object));
    g_assert_cmpint(back.resType, ==, r.resType);
    g_assert_true(back.res.pitch2D.devPtr == memory);
    g_assert_cmpint(back.res.pitch2D.format, ==, MC_AD_FORMAT_UNSIGNED_INT8);
    g_assert_cmpuint(back.res.pitch2D.numChannels, ==, 4);
    g_assert_cmpuint(back.res.pitch2D.width, ==, 60);
    g_assert_cmpuint(back.res.pitch2D.height, ==, 30);
    g_assert_cmpuint(back.res.pitch2D.pitchInBytes, ==, 256);
    ok(mcTexObjectGetTextureDesc(&modes, object));
    g_assert_cmpint(memcmp(&modes, &t, sizeof(t)), ==, 0);
    ok(mcGetTextureObjectResourceDesc(&plain_r, object));
    g_assert_cmpint(memcmp(&plain_r.res.pitch2D.desc, &bytes, sizeof(bytes)),
                    ==, 0);
    ok(mcGetTextureObjectTextureDesc(&plain_t, object));
    g_assert_cmpint(plain_t.readMode, ==, mcReadModeNormalizedFloat);
    g_assert_cmpint(plain_t.sRGB, ==, 1);
    g_assert_cmpint(plain_t.addressMode[1], ==, mcAddressModeBorder);
    fails(mcErrorInvalidValue, mcTexObjectGetResourceViewDesc(&view, object));
    fails(mcErrorInvalidValue, mcTexObjectGetResourceDesc(NULL, object));
    fails(mcErrorInvalidValue, mcTexObjectGetTextureDesc(NULL, object));
    ok(mcTexObjectDestroy(object));
    fails(mcErrorInvalidValue, mcTexObjectDestroy(object));
    fails(mcErrorInvalidValue, mcTexObjectGetResourceDesc(&back, object));
    fails(mcErrorInvalidValue, mcTexObjectGetTextureDesc(&modes, object));
    ok(mcTexObjectDestroy(0));
    fails(mcErrorInvalidValue, mcTexObjectCreate(NULL, &r, &t, NULL));
    fails(mcErrorInvalidValue, mcTexObjectCreate(&object, NULL, &t, NULL));
    fails(mcErrorInvalidValue, mcTexObjectCreate(&object, &r, NULL, NULL));
    t.flags |= MC_TRSF_READ_AS_INTEGER;
    fails(mcErrorInvalidFilterSetting,
          mcTexObjectCreate(&object, &r, &t, NULL));
    t.flags = 0x80;
    fails(mcErrorInvalidValue, mcTexObjectCreate(&object, &r, &t, NULL));
    t.flags = 0;
    r.flags = 1;
    fails(mcErrorInvalidValue, mcTexObjectCreate(&object, &r, &t, NULL));
    r.flags = 0;
    r.res.pitch2D.numChannels = 3;
    fails(mcErrorInvalidChannelDescriptor,
          mcTexObjectCreate(&object, &r, &t, NULL));
    r.resType = MC_RESOURCE_TYPE_LINEAR;
    r.res.linear.format = (mcArrayFormat)0;
    fails(mcErrorInvalidChannelDescriptor,
          mcTexObjectCreate(&object, &r, &t, NULL));
    r.res.linear.devPtr = memory;
    r.res.linear.format = MC_AD_FORMAT_HALF;
    r.res.linear.numChannels = 2;
    r.res.linear.sizeInBytes = 400;
    ok(mcTexObjectCreate(&object, &r, &t, NULL));
    ok(mcTexObjectGetResourceDesc(&back, object));
    g_assert_cmpint(back.res.linear.format, ==, MC_AD_FORMAT_HALF);
    g_assert_cmpuint(back.res.linear.numChannels, ==, 2);
    g_assert_cmpuint(back.res.linear.sizeInBytes, ==, 400);
    ok(mcTexObjectDestroy(object));
    r.resType = (MCresourcetype)4;
    fails(mcErrorInvalidValue, mcTexObjectCreate(&object, &r, &t, NULL));
    ok(mcFree(memory));
}

static void test_driver_arrays(void)
{
    mcArray_t array = make(&real, 16, 8, 0, mcArraySurfaceLoadStore);
    MC_RESOURCE_DESC r = {.resType = MC_RESOURCE_TYPE_ARRAY}, back;
    MC_TEXTURE_DESC t = {.flags = MC_TRSF_READ_AS_INTEGER};
    MC_RESOURCE_VIEW_DESC v = {.format = MC_RES_VIEW_FORMAT_SINT_1X32,
                               .width = 16, .height = 8}, view;
    mcMipmappedArray_t mipmap;
    mcTextureObject_t object;
    mcSurfaceObject_t s;

    r.res.array.hArray = array;
    ok(mcTexObjectCreate(&object, &r, &t, &v));
    ok(mcTexObjectGetResourceViewDesc(&view, object));
    g_assert_cmpint(memcmp(&view, &v, sizeof(v)), ==, 0);
    fails(mcErrorInvalidValue, mcTexObjectGetResourceViewDesc(NULL, object));
    ok(mcTexObjectDestroy(object));
    fails(mcErrorInvalidValue, mcTexObjectGetResourceViewDesc(&view, object));
    v.format = MC_RES_VIEW_FORMAT_UNSIGNED_BC7;
    fails(mcErrorNotSupported, mcTexObjectCreate(&object, &r, &t, &v));
    ok(mcSurfObjectCreate(&s, &r));
    ok(mcSurfObjectGetResourceDesc(&back, s));
    g_assert_true(back.res.array.hArray == array);
    fails(mcErrorInvalidValue, mcSurfObjectGetResourceDesc(NULL, s));
    fails(mcErrorInvalidValue, mcTexObjectDestroy(s));
    ok(mcSurfObjectDestroy(s));
    fails(mcErrorInvalidValue, mcSurfObjectDestroy(s));
    fails(mcErrorInvalidValue, mcSurfObjectGetResourceDesc(&back, s));
    ok(mcSurfObjectDestroy(0));
    fails(mcErrorInvalidValue, mcSurfObjectCreate(NULL, &r));
    fails(mcErrorInvalidValue, mcSurfObjectCreate(&s, NULL));
    r.flags = 1;
    fails(mcErrorInvalidValue, mcSurfObjectCreate(&s, &r));
    r.flags = 0;
    ok(mcFreeArray(array));
    fails(mcErrorInvalidResourceHandle, mcSurfObjectCreate(&s, &r));
    fails(mcErrorInvalidResourceHandle,
          mcTexObjectCreate(&object, &r, &t, NULL));
    ok(mcMallocMipmappedArray(&mipmap, &real, (mcExtent){16, 8, 0}, 2, 0));
    r.resType = MC_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.res.mipmap.hMipmappedArray = mipmap;
    ok(mcTexObjectCreate(&object, &r, &t, NULL));
    ok(mcTexObjectGetResourceDesc(&back, object));
    g_assert_true(back.res.mipmap.hMipmappedArray == mipmap);
    ok(mcTexObjectDestroy(object));
    fails(mcErrorInvalidValue, mcSurfObjectCreate(&s, &r));
    ok(mcFreeMipmappedArray(mipmap));
}

/* ---- many ---- */

/* More than a piece of memory has room for; an address is not used again at
 * once. */
static void test_many(void)
{
    static mcTextureObject_t objects[500];
    mcArray_t array = make(&real, 16, 8, 0, 0);
    mcResourceDesc r = of_array(array), got;
    mcTextureObject_t object;

    for (unsigned i = 0; i < G_N_ELEMENTS(objects); i++) {
        ok(mcCreateTextureObject(&objects[i], &r, &plain, NULL));
        g_assert_cmpuint(objects[i] % 8, ==, 0);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(objects); i += 2) {
        ok(mcDestroyTextureObject(objects[i]));
    }
    for (unsigned i = 1; i < G_N_ELEMENTS(objects); i += 2) {
        ok(mcGetTextureObjectResourceDesc(&got, objects[i]));
        ok(mcDestroyTextureObject(objects[i]));
    }
    for (unsigned i = 0; i < 1000; i++) {
        mcTextureObject_t before = objects[0];

        ok(mcCreateTextureObject(&object, &r, &plain, NULL));
        ok(mcDestroyTextureObject(object));
        g_assert_cmpuint(object, !=, before);
        objects[0] = object;
    }
    ok(mcFreeArray(array));
}

/* They end with the context. */
static void test_reset(void)
{
    mcArray_t array = make(&real, 16, 8, 0, 0);
    mcResourceDesc r = of_array(array);
    mcTextureObject_t object;

    ok(mcCreateTextureObject(&object, &r, &plain, NULL));
    ok(mcDeviceReset());
    env_forget();
    fails(mcErrorInvalidValue, mcDestroyTextureObject(object));
    fails(mcErrorInvalidValue, mcGetTextureObjectResourceDesc(&r, object));
    array = make(&real, 16, 8, 0, 0);
    r = of_array(array);
    ok(create(&r, &plain, NULL));
    ok(mcFreeArray(array));
}

static void *makes_many(void *opaque)
{
    mcResourceDesc *r = opaque;

    for (unsigned i = 0; i < 300; i++) {
        ok(create(r, &plain, NULL));
    }
    return NULL;
}

static void test_threads(void)
{
    mcArray_t array = make(&real, 16, 8, 0, 0);
    mcResourceDesc r = of_array(array);
    GThread *threads[4];

    for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++) {
        threads[i] = g_thread_new("makes", makes_many, &r);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++) {
        g_thread_join(threads[i]);
    }
    ok(mcFreeArray(array));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/texture/flags", test_flags);
    g_test_add_func("/texture/layered-levels", test_layered_levels);
    g_test_add_func("/texture/objects", test_objects);
    g_test_add_func("/texture/null", test_null);
    g_test_add_func("/texture/modes", test_modes);
    g_test_add_func("/texture/linear", test_linear);
    g_test_add_func("/texture/rows", test_rows);
    g_test_add_func("/texture/array-limits", test_array_limits);
    g_test_add_func("/texture/views", test_views);
    g_test_add_func("/texture/surfaces", test_surfaces);
    g_test_add_func("/texture/driver-texture", test_driver_texture);
    g_test_add_func("/texture/driver-arrays", test_driver_arrays);
    g_test_add_func("/texture/many", test_many);
    g_test_add_func("/texture/reset", test_reset);
    g_test_add_func("/texture/threads", test_threads);
    return g_test_run();
}
