/* SPDX-License-Identifier: MIT */
#include "texture_image.h"

#include <string.h>

#include "base/log.h"
#include "core/memory/range.h"

typedef struct mxgpu_texture Image;
typedef struct mxgpu_texture_level Level;

/* ---- texels ---- */

static const struct {
    mcChannelFormatKind kind;
    int bits;
    unsigned plain, normalized; /* MXGPU_TEXTURE_* */
} formats[] = {
    {mcChannelFormatKindUnsigned, 8, MXGPU_TEXTURE_U8, MXGPU_TEXTURE_UN8},
    {mcChannelFormatKindSigned, 8, MXGPU_TEXTURE_S8, MXGPU_TEXTURE_SN8},
    {mcChannelFormatKindUnsigned, 16, MXGPU_TEXTURE_U16, MXGPU_TEXTURE_UN16},
    {mcChannelFormatKindSigned, 16, MXGPU_TEXTURE_S16, MXGPU_TEXTURE_SN16},
    {mcChannelFormatKindFloat, 16, MXGPU_TEXTURE_F16, MXGPU_TEXTURE_F16},
};

static bool is_float(const Image *image, const mcChannelFormatDesc *d)
{
    return image->decode >= MXGPU_TEXTURE_F16 ||
           d->f == mcChannelFormatKindFloat;
}

/* How texels are read; those of 32 bits as they are. */
static mcError_t set_format(const McTextureShape *shape,
                            const mcChannelFormatDesc *d, Image *image)
{
    const mcTextureDesc *t = &shape->texture;

    image->element = mc_element_size(d);
    if (!image->element) {
        return mcErrorInvalidChannelDescriptor;
    }
    image->channels = d->w ? 4 : d->y ? 2 : 1;
    image->decode = MXGPU_TEXTURE_B32;
    for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (formats[i].kind == d->f && formats[i].bits == d->x) {
            image->decode = t->readMode == mcReadModeNormalizedFloat
                                ? formats[i].normalized
                                : formats[i].plain;
        }
    }
    if (t->sRGB && image->decode == MXGPU_TEXTURE_UN8) {
        image->decode = MXGPU_TEXTURE_SRGB8;
    }
    if (shape->resource.resType != mcResourceTypeLinear &&
        (t->filterMode || (t->mipmapFilterMode && image->levels > 1)) &&
        !is_float(image, d)) {
        mc_error("texture: filters what is not read as float");
        return mcErrorInvalidFilterSetting;
    }
    return mcSuccess;
}

/* ---- resources ---- */

static void set_level(const McArray *array, Level *level)
{
    *level = (Level){
        .base = array->va,
        .slice = array->rows * array->pitch,
        .pitch = array->pitch,
        .width = array->shape.extent.width,
        .height = array->rows,
        .depth = array->slices,
    };
}

static bool fits(const McArray *array)
{
    mcExtent e = array->shape.extent;

    if (array->shape.flags & (mcArrayLayered | mcArrayCubemap)) {
        return true; /* it would not exist */
    }
    if (e.depth) {
        return e.width <= MC_TEXTURE_CUBE && e.height <= MC_TEXTURE_CUBE &&
               e.depth <= MC_TEXTURE_CUBE;
    }
    return e.width <= (array->mipmap ? MC_MIPMAP_WIDTH : MC_TEXTURE_WIDTH) &&
           e.height <= (array->mipmap ? MC_MIPMAP_WIDTH : MC_TEXTURE_HEIGHT);
}

static mcError_t from_array(const McArray *array, Image *image)
{
    if (!fits(array)) {
        mc_error("texture: the array is larger than the device's limits");
        return mcErrorInvalidValue;
    }
    image->levels = 1;
    set_level(array, &image->level[0]);
    return mcSuccess;
}

static mcError_t from_mipmap(const McMipmap *mipmap, Image *image)
{
    mcError_t error = from_array(mipmap->level[0], image);

    if (error == mcSuccess && mipmap->levels > MXGPU_TEXTURE_LEVELS) {
        error = mcErrorInvalidValue;
    }
    for (unsigned i = 0; i < mipmap->levels && error == mcSuccess; i++) {
        set_level(mipmap->level[i], &image->level[i]);
    }
    image->levels = mipmap->levels;
    return error;
}

/* Memory of the runtime's that a device may read. */
static bool is_memory(uint64_t address, uint64_t size)
{
    McRange range;
    uint64_t last;

    return size && !__builtin_add_overflow(address, size - 1, &last) &&
           address % MC_TEXTURE_ALIGN == 0 && mc_range_find(address, &range) &&
           mc_range_find(last, &range);
}

static mcError_t from_linear(const mcResourceDesc *r, Image *image)
{
    unsigned element = mc_element_size(&r->res.linear.desc);
    uint64_t base = (uintptr_t)r->res.linear.devPtr;
    uint64_t size = r->res.linear.sizeInBytes;

    if (!element) {
        return mcErrorInvalidChannelDescriptor;
    }
    if (!is_memory(base, size) || size / element > MC_LINEAR_WIDTH) {
        mc_error("texture: %llu bytes at %p: not aligned memory of at most %d "
                 "texels", (unsigned long long)size, r->res.linear.devPtr,
                 MC_LINEAR_WIDTH);
        return mcErrorInvalidValue;
    }
    image->levels = 1;
    image->level[0] = (Level){base, 0, 0, size / element, 1, 1};
    return mcSuccess;
}

static mcError_t from_rows(const mcResourceDesc *r, Image *image)
{
    unsigned element = mc_element_size(&r->res.pitch2D.desc);
    size_t width = r->res.pitch2D.width, height = r->res.pitch2D.height;
    size_t pitch = r->res.pitch2D.pitchInBytes;
    uint64_t base = (uintptr_t)r->res.pitch2D.devPtr;

    if (!element) {
        return mcErrorInvalidChannelDescriptor;
    }
    if (!width || !height || width > MC_PITCHED_WIDTH ||
        height > MC_PITCHED_HEIGHT || pitch > MC_PITCHED_BYTES ||
        pitch % MC_TEXTURE_ROWS || pitch < width * element ||
        !is_memory(base, (height - 1) * pitch + width * element)) {
        mc_error("texture: %zu rows of %zu texels at %p, %zu bytes apart: not "
                 "aligned memory within the device's limits", height, width,
                 r->res.pitch2D.devPtr, pitch);
        return mcErrorInvalidValue;
    }
    image->levels = 1;
    image->level[0] = (Level){base, pitch * height, pitch, width, height, 1};
    return mcSuccess;
}

/* What the resource is, its channels, and flags of its array. */
static mcError_t set_resource(const mcResourceDesc *r, Image *image,
                              mcChannelFormatDesc *channels, unsigned *flags)
{
    mcError_t error = mcErrorInvalidResourceHandle;
    McMipmap *mipmap;
    McArray *array;

    *flags = 0;
    switch ((int)r->resType) {
    case mcResourceTypeArray:
        array = mc_handle_get(r->res.array.array, MC_HANDLE_ARRAY);
        if (array) {
            *channels = array->shape.channels;
            *flags = array->shape.flags;
            error = from_array(array, image);
            mc_handle_put(array);
        }
        return error;
    case mcResourceTypeMipmappedArray:
        mipmap = mc_handle_get(r->res.mipmap.mipmap, MC_HANDLE_MIPMAP);
        if (mipmap) {
            *channels = mipmap->level[0]->shape.channels;
            *flags = mipmap->level[0]->shape.flags;
            error = from_mipmap(mipmap, image);
            mc_handle_put(mipmap);
        }
        return error;
    case mcResourceTypeLinear:
        *channels = r->res.linear.desc;
        return from_linear(r, image);
    case mcResourceTypePitch2D:
        *channels = r->res.pitch2D.desc;
        return from_rows(r, image);
    default:
        return mcErrorInvalidValue;
    }
}

/* ---- views ---- */

static const mcChannelFormatKind kinds[] = {
    mcChannelFormatKindUnsigned, mcChannelFormatKindSigned,
};

/* Formats come in threes: of 1, 2, 4 channels. */
static mcChannelFormatDesc view_format(mcResourceViewFormat format)
{
    unsigned n = (unsigned)format - 1, group = n / 3;
    unsigned channels = 1u << n % 3;
    int bits = group < 6 ? 8 << group / 2 : group == 6 ? 16 : 32;

    return (mcChannelFormatDesc){
        bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
        channels > 2 ? bits : 0,
        group < 6 ? kinds[group % 2] : mcChannelFormatKindFloat};
}

static bool same_extent(const mcResourceViewDesc *v, const Level *level)
{
    return v->width == level->width &&
           (v->height ? v->height : 1) == level->height &&
           (v->depth ? v->depth : 1) == level->depth;
}

static mcError_t set_view(const McTextureShape *shape, unsigned flags,
                          Image *image, mcChannelFormatDesc *channels)
{
    const mcResourceViewDesc *v = &shape->view;
    bool layered = flags & mcArrayLayered;
    unsigned last_layer = image->level[0].depth - 1;

    if (shape->resource.resType > mcResourceTypeMipmappedArray ||
        (unsigned)v->format > mcResViewFormatUnsignedBlockCompressed7 ||
        v->firstMipmapLevel > v->lastMipmapLevel ||
        v->lastMipmapLevel >= image->levels || v->firstLayer > v->lastLayer ||
        v->lastLayer > (layered ? last_layer : 0)) {
        return mcErrorInvalidValue;
    }
    if (v->format >= mcResViewFormatUnsignedBlockCompressed1) {
        mc_error("texture: views of compressed blocks are not supported");
        return mcErrorNotSupported;
    }
    if (!same_extent(v, &image->level[0])) {
        return mcErrorInvalidValue;
    }
    if (v->format != mcResViewFormatNone) {
        mcChannelFormatDesc other = view_format(v->format);

        if (mc_element_size(&other) != mc_element_size(channels)) {
            return mcErrorInvalidValue;
        }
        *channels = other;
    }
    image->levels = v->lastMipmapLevel - v->firstMipmapLevel + 1;
    memmove(image->level, image->level + v->firstMipmapLevel,
            image->levels * sizeof(image->level[0]));
    for (unsigned i = 0; i < image->levels && layered; i++) {
        image->level[i].base += v->firstLayer * image->level[i].slice;
        image->level[i].depth = v->lastLayer - v->firstLayer + 1;
    }
    return mcSuccess;
}

/* ---- modes ---- */

static unsigned address_mode(const mcTextureDesc *t, unsigned i)
{
    unsigned mode = t->addressMode[i];

    return !t->normalizedCoords && (mode == mcAddressModeWrap ||
                                    mode == mcAddressModeMirror)
               ? MXGPU_TEXTURE_CLAMP
               : mode;
}

static mcError_t check_modes(const mcTextureDesc *t)
{
    for (unsigned i = 0; i < 3; i++) {
        if ((unsigned)t->addressMode[i] > mcAddressModeBorder) {
            return mcErrorInvalidValue;
        }
    }
    return (unsigned)t->filterMode <= mcFilterModeLinear &&
                   (unsigned)t->mipmapFilterMode <= mcFilterModeLinear &&
                   (unsigned)t->readMode <= mcReadModeNormalizedFloat
               ? mcSuccess
               : mcErrorInvalidValue;
}

static mcError_t set_modes(const McTextureShape *shape, unsigned flags,
                           Image *image)
{
    const mcTextureDesc *t = &shape->texture;
    bool cube = flags & mcArrayCubemap;

    if (cube && t->seamlessCubemap && t->filterMode) {
        mc_error("texture: cubemaps are not filtered across edges");
        return mcErrorNotSupported;
    }
    image->normalized = t->normalizedCoords || cube;
    for (unsigned i = 0; i < 3; i++) {
        const Level *l = &image->level[0];
        uint32_t size = i == 0 ? l->width : i == 1 ? l->height : l->depth;

        /* Of a cubemap coordinates are those in a face. */
        image->address[i] = cube ? MXGPU_TEXTURE_CLAMP : address_mode(t, i);
        image->scale[i] = image->normalized ? size : 1;
    }
    image->linear = t->filterMode &&
                    shape->resource.resType != mcResourceTypeLinear;
    image->mip_linear = t->mipmapFilterMode;
    image->bias = t->mipmapLevelBias;
    image->min_level = t->minMipmapLevelClamp;
    image->max_level = t->maxMipmapLevelClamp;
    memcpy(image->border, t->borderColor, sizeof(image->border));
    return mcSuccess;
}

static void set_fast(const mcResourceDesc *r, const mcChannelFormatDesc *d,
                     Image *image)
{
    uint32_t format = MXGPU_TEXTURE_FORMAT(image->decode, image->channels);
    bool plain = image->decode <= MXGPU_TEXTURE_B32;
    bool real = image->decode == MXGPU_TEXTURE_UN8 ||
                (image->decode == MXGPU_TEXTURE_B32 &&
                 d->f == mcChannelFormatKindFloat);

    image->fast1d = r->resType == mcResourceTypeLinear && plain
                        ? format
                        : MXGPU_TEXTURE_SLOW;
    image->fast2d = MXGPU_TEXTURE_SLOW;
    if (image->levels == 1 && image->address[0] == MXGPU_TEXTURE_CLAMP &&
        image->address[1] == MXGPU_TEXTURE_CLAMP &&
        (image->linear ? real : plain)) {
        image->fast2d = format | (image->linear ? MXGPU_TEXTURE_LINEAR : 0);
    }
}

static mcError_t texture_image(const McTextureShape *shape, unsigned flags,
                               mcChannelFormatDesc *channels, Image *image)
{
    mcError_t error = check_modes(&shape->texture);

    if (error == mcSuccess && shape->has_view) {
        error = set_view(shape, flags, image, channels);
    }
    if (error == mcSuccess) {
        error = set_modes(shape, flags, image);
    }
    if (error == mcSuccess) {
        error = set_format(shape, channels, image);
    }
    if (error == mcSuccess) {
        set_fast(&shape->resource, channels, image);
    }
    return error;
}

mcError_t mc_texture_image(const McTextureShape *shape, Image *image)
{
    mcChannelFormatDesc channels;
    unsigned flags;

    memset(image, 0, sizeof(*image));
    if (shape->surface && shape->resource.resType != mcResourceTypeArray) {
        return mcErrorInvalidValue;
    }
    mcError_t error = set_resource(&shape->resource, image, &channels, &flags);
    if (error != mcSuccess) {
        return error;
    }
    if (!shape->surface) {
        return texture_image(shape, flags, &channels, image);
    }
    if (!(flags & mcArraySurfaceLoadStore)) {
        mc_error("surface: the array was made without mcArraySurfaceLoadStore");
        return mcErrorInvalidValue;
    }
    image->element = mc_element_size(&channels);
    image->level[0].width *= image->element;
    return mcSuccess;
}
