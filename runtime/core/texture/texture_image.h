/* SPDX-License-Identifier: MIT */
/* What users say of textures and surfaces, as kernels read it. */
#ifndef MC_CORE_TEXTURE_IMAGE_H
#define MC_CORE_TEXTURE_IMAGE_H

#include "array.h"
#include "mcr/mc_texture.h"
#include "mxgpu/texture.h"

/* What a user said; of a surface only the resource. */
typedef struct McTextureShape {
    mcResourceDesc resource;
    mcTextureDesc texture;
    mcResourceViewDesc view;
    bool has_view, surface;
} McTextureShape;

/* All but the table of sRGB, whose address it only has a place for. */
mcError_t mc_texture_image(const McTextureShape *shape,
                           struct mxgpu_texture *image);

#endif
