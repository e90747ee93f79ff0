/* SPDX-License-Identifier: MIT */
#include "core/texture/texture_reference.h"

#include <string.h>

#include "api/api.h"
#include "core/memory/range.h"
#include "core/texture/texture_limits.h"

/* The modes of a variable. */
static McTextureShape shape_of(const textureReference *ref)
{
    McTextureShape shape = {
        .texture = {
            .filterMode = ref->filterMode,
            .readMode = ref->readMode,
            .sRGB = ref->sRGB,
            .normalizedCoords = ref->normalized,
            .maxAnisotropy = ref->maxAnisotropy,
            .mipmapFilterMode = ref->mipmapFilterMode,
            .mipmapLevelBias = ref->mipmapLevelBias,
            .minMipmapLevelClamp = ref->minMipmapLevelClamp,
            .maxMipmapLevelClamp = ref->maxMipmapLevelClamp,
        },
    };

    memcpy(shape.texture.addressMode, ref->addressMode,
           sizeof(shape.texture.addressMode));
    return shape;
}

/* It is a variable of the program, and may be looked at. */
#define API_REFERENCE(ctx, ref, surface)                                       \
    do {                                                                       \
        uint64_t address_;                                                     \
        API_TRY(mc_reference_find(ctx, ref, surface, &address_));              \
    } while (0)

/* Down to where textures may begin. */
static mcError_t align(const void *ptr, size_t *offset, void **base,
                       size_t *between)
{
    *between = (uintptr_t)ptr % MC_TEXTURE_ALIGN;
    *base = (void *)((uintptr_t)ptr - *between);
    if (*between && !offset) {
        return mcErrorInvalidValue;
    }
    return mcSuccess;
}

/* Of size what the allocation has from there on, and a texture can be. */
static size_t room(const void *ptr, const mcChannelFormatDesc *desc,
                   size_t size)
{
    size_t most = (size_t)MC_LINEAR_WIDTH * mc_element_size(desc);
    McRange range;

    if (mc_range_find((uintptr_t)ptr, &range)) {
        size_t left = range.base + range.size - (uintptr_t)ptr;

        most = left < most ? left : most;
    }
    return size < most ? size : most;
}

MC_EXPORT mcError_t mcBindTexture(size_t *offset, const textureReference *ref,
                                  const void *ptr,
                                  const mcChannelFormatDesc *desc, size_t size)
{
    size_t between;
    void *base;

    API_ENTER("%p, %p, %p, %p, %zu", (void *)offset, (const void *)ref, ptr,
              (const void *)desc, size);
    API_CHECK(desc && ptr, mcErrorInvalidValue);
    API_TRY(align(ptr, offset, &base, &between));
    API_CONTEXT(ctx);
    API_UNSAFE();
    API_REFERENCE(ctx, ref, false);
    McTextureShape shape = shape_of(ref);
    shape.resource.resType = mcResourceTypeLinear;
    shape.resource.res.linear.devPtr = base;
    shape.resource.res.linear.desc = *desc;
    shape.resource.res.linear.sizeInBytes = room(ptr, desc, size) + between;
    API_TRY(mc_reference_bind(ctx, ref, &shape, between));
    if (offset) {
        *offset = between;
    }
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcBindTexture2D(size_t *offset, const textureReference *ref,
                                    const void *ptr,
                                    const mcChannelFormatDesc *desc,
                                    size_t width, size_t height, size_t pitch)
{
    size_t between, element;
    void *base;

    API_ENTER("%p, %p, %p, %p, %zu, %zu, %zu", (void *)offset,
              (const void *)ref, ptr, (const void *)desc, width, height, pitch);
    API_CHECK(desc && ptr, mcErrorInvalidValue);
    API_TRY(align(ptr, offset, &base, &between));
    element = mc_element_size(desc);
    API_CHECK(element, mcErrorInvalidChannelDescriptor);
    API_CHECK(between % element == 0, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_UNSAFE();
    API_REFERENCE(ctx, ref, false);
    McTextureShape shape = shape_of(ref);
    shape.resource.resType = mcResourceTypePitch2D;
    shape.resource.res.pitch2D.devPtr = base;
    shape.resource.res.pitch2D.desc = *desc;
    shape.resource.res.pitch2D.width = width + between / element;
    shape.resource.res.pitch2D.height = height;
    shape.resource.res.pitch2D.pitchInBytes = pitch;
    API_TRY(mc_reference_bind(ctx, ref, &shape, between));
    if (offset) {
        *offset = between;
    }
    API_RETURN(mcSuccess);
}

static bool same(const mcChannelFormatDesc *a, const mcChannelFormatDesc *b)
{
    return a->x == b->x && a->y == b->y && a->z == b->z && a->w == b->w &&
           a->f == b->f;
}

static mcError_t check_array(const void *handle, const mcChannelFormatDesc *d)
{
    McArray *array __attribute__((cleanup(mc_api_put_object))) =
        handle ? mc_handle_get(handle, MC_HANDLE_ARRAY) : NULL;

    if (!array) {
        return mcErrorInvalidResourceHandle;
    }
    return same(d, &array->shape.channels) ? mcSuccess
                                           : mcErrorInvalidChannelDescriptor;
}

MC_EXPORT mcError_t mcBindTextureToArray(const textureReference *ref,
                                         mcArray_const_t array,
                                         const mcChannelFormatDesc *desc)
{
    API_ENTER("%p, %p, %p", (const void *)ref, (const void *)array,
              (const void *)desc);
    API_CHECK(desc, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_UNSAFE();
    API_REFERENCE(ctx, ref, false);
    API_TRY(check_array(array, desc));
    McTextureShape shape = shape_of(ref);
    shape.resource.resType = mcResourceTypeArray;
    shape.resource.res.array.array = (mcArray_t)(uintptr_t)array;
    API_RETURN(mc_reference_bind(ctx, ref, &shape, 0));
}

MC_EXPORT mcError_t mcBindTextureToMipmappedArray(
    const textureReference *ref, mcMipmappedArray_const_t mipmap,
    const mcChannelFormatDesc *desc)
{
    API_ENTER("%p, %p, %p", (const void *)ref, (const void *)mipmap,
              (const void *)desc);
    API_CHECK(desc, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_UNSAFE();
    API_REFERENCE(ctx, ref, false);
    API_OBJECT(McMipmap, levels, mipmap, MC_HANDLE_MIPMAP,
               mcErrorInvalidResourceHandle);
    API_CHECK(same(desc, &levels->level[0]->shape.channels),
              mcErrorInvalidChannelDescriptor);
    McTextureShape shape = shape_of(ref);
    shape.resource.resType = mcResourceTypeMipmappedArray;
    shape.resource.res.mipmap.mipmap = (mcMipmappedArray_t)(uintptr_t)mipmap;
    API_RETURN(mc_reference_bind(ctx, ref, &shape, 0));
}

MC_EXPORT mcError_t mcUnbindTexture(const textureReference *ref)
{
    API_ENTER("%p", (const void *)ref);
    API_CONTEXT(ctx);
    API_REFERENCE(ctx, ref, false);
    mc_reference_unbind(ctx, ref);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGetTextureAlignmentOffset(size_t *offset,
                                                const textureReference *ref)
{
    API_ENTER("%p, %p", (void *)offset, (const void *)ref);
    API_CHECK(offset, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_REFERENCE(ctx, ref, false);
    API_CHECK(mc_reference_offset(ctx, ref, offset),
              mcErrorInvalidTextureBinding);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGetTextureReference(const textureReference **ref,
                                          const void *symbol)
{
    API_ENTER("%p, %p", (void *)ref, symbol);
    API_CHECK(ref, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_REFERENCE(ctx, symbol, false);
    *ref = symbol;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcBindSurfaceToArray(const surfaceReference *ref,
                                         mcArray_const_t array,
                                         const mcChannelFormatDesc *desc)
{
    McTextureShape shape = {.surface = true};

    API_ENTER("%p, %p, %p", (const void *)ref, (const void *)array,
              (const void *)desc);
    API_CHECK(desc, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_UNSAFE();
    API_REFERENCE(ctx, ref, true);
    API_TRY(check_array(array, desc));
    shape.resource.resType = mcResourceTypeArray;
    shape.resource.res.array.array = (mcArray_t)(uintptr_t)array;
    API_RETURN(mc_reference_bind(ctx, ref, &shape, 0));
}

MC_EXPORT mcError_t mcGetSurfaceReference(const surfaceReference **ref,
                                          const void *symbol)
{
    API_ENTER("%p, %p", (void *)ref, symbol);
    API_CHECK(ref, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_REFERENCE(ctx, symbol, true);
    *ref = symbol;
    API_RETURN(mcSuccess);
}
