/* SPDX-License-Identifier: MIT */
/*
 * Texture and surface objects: descriptions in device memory (mxgpu/texture.h),
 * whose addresses are what users have. They are looked up, never followed.
 * Thread-safe.
 */
#ifndef MC_CORE_TEXTURE_H
#define MC_CORE_TEXTURE_H

#include "core/context/context.h"
#include "texture_image.h"

/* mcErrorInvalidValue, mcErrorInvalidResourceHandle,
 * mcErrorInvalidChannelDescriptor, mcErrorInvalidFilterSetting,
 * mcErrorNotSupported, mcErrorMemoryAllocation. */
mcError_t mc_texture_new(McContext *ctx, const McTextureShape *shape,
                         uint64_t *object);
/* False: there is no such object, or it is of the other kind. */
bool mc_texture_free(uint64_t object, bool surface);
bool mc_texture_find(uint64_t object, bool surface, McTextureShape *shape);

/* The context goes, and nobody uses it. */
void mc_textures_detach(McContext *ctx);

#endif
