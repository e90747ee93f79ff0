/* SPDX-License-Identifier: MIT */
/* Textures and surfaces by the other description. */
#include <string.h>

#include "api/api.h"
#include "api/texture/array_format.h"
#include "core/texture/texture.h"

#define FLAGS                                                                  \
    (MC_TRSF_READ_AS_INTEGER | MC_TRSF_NORMALIZED_COORDINATES | MC_TRSF_SRGB | \
     MC_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | MC_TRSF_SEAMLESS_CUBEMAP)

/* ---- there ---- */

static mcError_t read_resource(const MC_RESOURCE_DESC *from, mcResourceDesc *to)
{
    if (from->flags) {
        return mcErrorInvalidValue;
    }
    memset(to, 0, sizeof(*to));
    to->resType = (mcResourceType)from->resType;
    switch ((int)from->resType) {
    case MC_RESOURCE_TYPE_ARRAY:
        to->res.array.array = from->res.array.hArray;
        return mcSuccess;
    case MC_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->res.mipmap.mipmap = from->res.mipmap.hMipmappedArray;
        return mcSuccess;
    case MC_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return mc_api_channels(from->res.linear.format,
                               from->res.linear.numChannels,
                               &to->res.linear.desc);
    case MC_RESOURCE_TYPE_PITCH2D:
        to->res.pitch2D.devPtr = from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return mc_api_channels(from->res.pitch2D.format,
                               from->res.pitch2D.numChannels,
                               &to->res.pitch2D.desc);
    default:
        return mcErrorInvalidValue;
    }
}

static mcError_t read_texture(const MC_TEXTURE_DESC *from, mcTextureDesc *to)
{
    if (from->flags & ~FLAGS) {
        return mcErrorInvalidValue;
    }
    *to = (mcTextureDesc){
        .filterMode = (mcTextureFilterMode)from->filterMode,
        .readMode = from->flags & MC_TRSF_READ_AS_INTEGER
                        ? mcReadModeElementType
                        : mcReadModeNormalizedFloat,
        .sRGB = !!(from->flags & MC_TRSF_SRGB),
        .normalizedCoords = !!(from->flags & MC_TRSF_NORMALIZED_COORDINATES),
        .maxAnisotropy = from->maxAnisotropy,
        .mipmapFilterMode = (mcTextureFilterMode)from->mipmapFilterMode,
        .mipmapLevelBias = from->mipmapLevelBias,
        .minMipmapLevelClamp = from->minMipmapLevelClamp,
        .maxMipmapLevelClamp = from->maxMipmapLevelClamp,
        .disableTrilinearOptimization =
            !!(from->flags & MC_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
        .seamlessCubemap = !!(from->flags & MC_TRSF_SEAMLESS_CUBEMAP),
    };
    for (unsigned i = 0; i < 3; i++) {
        to->addressMode[i] = (mcTextureAddressMode)from->addressMode[i];
    }
    memcpy(to->borderColor, from->borderColor, sizeof(to->borderColor));
    return mcSuccess;
}

static mcResourceViewDesc read_view(const MC_RESOURCE_VIEW_DESC *from)
{
    return (mcResourceViewDesc){
        (mcResourceViewFormat)from->format, from->width, from->height,
        from->depth, from->firstMipmapLevel, from->lastMipmapLevel,
        from->firstLayer, from->lastLayer,
    };
}

/* ---- and back ---- */

static void write_resource(const mcResourceDesc *from, MC_RESOURCE_DESC *to)
{
    memset(to, 0, sizeof(*to));
    to->resType = (MCresourcetype)from->resType;
    switch ((int)from->resType) {
    case mcResourceTypeArray:
        to->res.array.hArray = from->res.array.array;
        break;
    case mcResourceTypeMipmappedArray:
        to->res.mipmap.hMipmappedArray = from->res.mipmap.mipmap;
        break;
    case mcResourceTypeLinear:
        to->res.linear.devPtr = from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        to->res.linear.format = mc_api_format(&from->res.linear.desc,
                                              &to->res.linear.numChannels);
        break;
    case mcResourceTypePitch2D:
        to->res.pitch2D.devPtr = from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        to->res.pitch2D.format = mc_api_format(&from->res.pitch2D.desc,
                                               &to->res.pitch2D.numChannels);
        break;
    }
}

static unsigned flags_of(const mcTextureDesc *t)
{
    unsigned flags = 0;

    flags |= t->readMode == mcReadModeElementType ? MC_TRSF_READ_AS_INTEGER : 0;
    flags |= t->normalizedCoords ? MC_TRSF_NORMALIZED_COORDINATES : 0;
    flags |= t->sRGB ? MC_TRSF_SRGB : 0;
    flags |= t->disableTrilinearOptimization
                 ? MC_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
                 : 0;
    flags |= t->seamlessCubemap ? MC_TRSF_SEAMLESS_CUBEMAP : 0;
    return flags;
}

static void write_texture(const mcTextureDesc *from, MC_TEXTURE_DESC *to)
{
    *to = (MC_TEXTURE_DESC){
        .filterMode = (MCfilter_mode)from->filterMode,
        .flags = flags_of(from),
        .maxAnisotropy = from->maxAnisotropy,
        .mipmapFilterMode = (MCfilter_mode)from->mipmapFilterMode,
        .mipmapLevelBias = from->mipmapLevelBias,
        .minMipmapLevelClamp = from->minMipmapLevelClamp,
        .maxMipmapLevelClamp = from->maxMipmapLevelClamp,
    };
    for (unsigned i = 0; i < 3; i++) {
        to->addressMode[i] = (MCaddress_mode)from->addressMode[i];
    }
    memcpy(to->borderColor, from->borderColor, sizeof(to->borderColor));
}

/* ---- objects ---- */

MC_EXPORT mcError_t mcTexObjectCreate(mcTextureObject_t *out,
                                      const MC_RESOURCE_DESC *resource,
                                      const MC_TEXTURE_DESC *texture,
                                      const MC_RESOURCE_VIEW_DESC *view)
{
    McTextureShape shape = {.has_view = view};
    uint64_t object;

    API_ENTER("%p, %p, %p, %p", (void *)out, (const void *)resource,
              (const void *)texture, (const void *)view);
    API_CHECK(out && resource && texture, mcErrorInvalidValue);
    API_TRY(read_resource(resource, &shape.resource));
    API_TRY(read_texture(texture, &shape.texture));
    if (view) {
        shape.view = read_view(view);
    }
    API_CONTEXT(ctx);
    API_TRY(mc_texture_new(ctx, &shape, &object));
    *out = object;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcTexObjectDestroy(mcTextureObject_t object)
{
    API_ENTER("0x%llx", object);
    API_CHECK(!object || mc_texture_free(object, false), mcErrorInvalidValue);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcTexObjectGetResourceDesc(MC_RESOURCE_DESC *resource,
                                               mcTextureObject_t object)
{
    McTextureShape shape;

    API_ENTER("%p, 0x%llx", (void *)resource, object);
    API_CHECK(resource && mc_texture_find(object, false, &shape),
              mcErrorInvalidValue);
    write_resource(&shape.resource, resource);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcTexObjectGetTextureDesc(MC_TEXTURE_DESC *texture,
                                              mcTextureObject_t object)
{
    McTextureShape shape;

    API_ENTER("%p, 0x%llx", (void *)texture, object);
    API_CHECK(texture && mc_texture_find(object, false, &shape),
              mcErrorInvalidValue);
    write_texture(&shape.texture, texture);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcTexObjectGetResourceViewDesc(MC_RESOURCE_VIEW_DESC *view,
                                                   mcTextureObject_t object)
{
    McTextureShape shape;

    API_ENTER("%p, 0x%llx", (void *)view, object);
    API_CHECK(view && mc_texture_find(object, false, &shape) && shape.has_view,
              mcErrorInvalidValue);
    const mcResourceViewDesc *v = &shape.view;
    *view = (MC_RESOURCE_VIEW_DESC){
        (MCresourceViewFormat)v->format, v->width, v->height, v->depth,
        v->firstMipmapLevel, v->lastMipmapLevel, v->firstLayer, v->lastLayer,
        {0},
    };
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcSurfObjectCreate(mcSurfaceObject_t *out,
                                       const MC_RESOURCE_DESC *resource)
{
    McTextureShape shape = {.surface = true};
    uint64_t object;

    API_ENTER("%p, %p", (void *)out, (const void *)resource);
    API_CHECK(out && resource, mcErrorInvalidValue);
    API_TRY(read_resource(resource, &shape.resource));
    API_CONTEXT(ctx);
    API_TRY(mc_texture_new(ctx, &shape, &object));
    *out = object;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcSurfObjectDestroy(mcSurfaceObject_t object)
{
    API_ENTER("0x%llx", object);
    API_CHECK(!object || mc_texture_free(object, true), mcErrorInvalidValue);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcSurfObjectGetResourceDesc(MC_RESOURCE_DESC *resource,
                                                mcSurfaceObject_t object)
{
    McTextureShape shape;

    API_ENTER("%p, 0x%llx", (void *)resource, object);
    API_CHECK(resource && mc_texture_find(object, true, &shape),
              mcErrorInvalidValue);
    write_resource(&shape.resource, resource);
    API_RETURN(mcSuccess);
}
