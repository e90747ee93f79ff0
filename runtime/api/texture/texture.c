/* SPDX-License-Identifier: MIT */
#include "core/texture/texture.h"

#include "api/api.h"
#include "core/texture/texture_limits.h"

/* ---- textures ---- */

MC_EXPORT mcError_t mcCreateTextureObject(mcTextureObject_t *out,
                                          const mcResourceDesc *resource,
                                          const mcTextureDesc *texture,
                                          const mcResourceViewDesc *view)
{
    uint64_t object;

    API_ENTER("%p, %p, %p, %p", (void *)out, (const void *)resource,
              (const void *)texture, (const void *)view);
    API_CHECK(out && resource && texture, mcErrorInvalidValue);
    McTextureShape shape = {
        .resource = *resource,
        .texture = *texture,
        .has_view = view,
    };
    if (view) {
        shape.view = *view;
    }
    API_CONTEXT(ctx);
    API_TRY(mc_texture_new(ctx, &shape, &object));
    *out = object;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDestroyTextureObject(mcTextureObject_t object)
{
    API_ENTER("0x%llx", object);
    API_CHECK(!object || mc_texture_free(object, false), mcErrorInvalidValue);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGetTextureObjectResourceDesc(mcResourceDesc *resource,
                                                   mcTextureObject_t object)
{
    McTextureShape shape;

    API_ENTER("%p, 0x%llx", (void *)resource, object);
    API_CHECK(resource && mc_texture_find(object, false, &shape),
              mcErrorInvalidValue);
    *resource = shape.resource;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGetTextureObjectTextureDesc(mcTextureDesc *texture,
                                                  mcTextureObject_t object)
{
    McTextureShape shape;

    API_ENTER("%p, 0x%llx", (void *)texture, object);
    API_CHECK(texture && mc_texture_find(object, false, &shape),
              mcErrorInvalidValue);
    *texture = shape.texture;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGetTextureObjectResourceViewDesc(
    mcResourceViewDesc *view, mcTextureObject_t object)
{
    McTextureShape shape;

    API_ENTER("%p, 0x%llx", (void *)view, object);
    API_CHECK(view && mc_texture_find(object, false, &shape) && shape.has_view,
              mcErrorInvalidValue);
    *view = shape.view;
    API_RETURN(mcSuccess);
}

/* ---- surfaces ---- */

MC_EXPORT mcError_t mcCreateSurfaceObject(mcSurfaceObject_t *out,
                                          const mcResourceDesc *resource)
{
    uint64_t object;

    API_ENTER("%p, %p", (void *)out, (const void *)resource);
    API_CHECK(out && resource, mcErrorInvalidValue);
    McTextureShape shape = {.resource = *resource, .surface = true};
    API_CONTEXT(ctx);
    API_TRY(mc_texture_new(ctx, &shape, &object));
    *out = object;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDestroySurfaceObject(mcSurfaceObject_t object)
{
    API_ENTER("0x%llx", object);
    API_CHECK(!object || mc_texture_free(object, true), mcErrorInvalidValue);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcGetSurfaceObjectResourceDesc(mcResourceDesc *resource,
                                                   mcSurfaceObject_t object)
{
    McTextureShape shape;

    API_ENTER("%p, 0x%llx", (void *)resource, object);
    API_CHECK(resource && mc_texture_find(object, true, &shape),
              mcErrorInvalidValue);
    *resource = shape.resource;
    API_RETURN(mcSuccess);
}

/* ---- limits ---- */

MC_EXPORT mcError_t mcDeviceGetTexture1DLinearMaxWidth(
    size_t *width, const mcChannelFormatDesc *desc, int device)
{
    API_ENTER("%p, %p, %d", (void *)width, (const void *)desc, device);
    API_CHECK(width && desc, mcErrorInvalidValue);
    API_DEVICE(device);
    API_CHECK(mc_element_size(desc), mcErrorInvalidChannelDescriptor);
    *width = MC_LINEAR_WIDTH;
    API_RETURN(mcSuccess);
}
