/* SPDX-License-Identifier: MIT */
/*
 * Texture and surface variables of programs: each may be bound to an object on
 * each device, whose address is in the device's variable. Thread-safe.
 */
#ifndef MC_CORE_TEXTURE_REFERENCE_H
#define MC_CORE_TEXTURE_REFERENCE_H

#include "texture.h"

/* Makes an object and binds the variable to it; offset is kept for who asks.
 * mcErrorInvalidTexture, mcErrorInvalidSurface: no such variable. Waits for
 * the device when something was bound: launched kernels use that. */
mcError_t mc_reference_bind(McContext *ctx, const void *symbol,
                            const McTextureShape *shape, size_t offset);
/* The variable of the device stays as it is until it is bound again. */
void mc_reference_unbind(McContext *ctx, const void *symbol);
/* False: it is not bound. */
bool mc_reference_offset(McContext *ctx, const void *symbol, size_t *offset);
/* Errors as of binding. */
mcError_t mc_reference_find(McContext *ctx, const void *symbol, bool surface,
                            uint64_t *address);

#endif
