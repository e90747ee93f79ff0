/* SPDX-License-Identifier: MIT */
#include "texture_reference.h"

#include <stdlib.h>

#include "core/copy/copy.h"
#include "core/program/program.h"
#include "core/stream/stream.h"

typedef struct Binding {
    struct Binding *next;
    const void *symbol;
    int device;
    uint64_t serial; /* of the context; of an older one it means nothing */
    uint64_t object;
    size_t offset;
    bool bound;
} Binding;

static pthread_mutex_t reference_lock = PTHREAD_MUTEX_INITIALIZER;
static Binding *bindings;

/* Under the lock. */
static Binding *find(const McContext *ctx, const void *symbol)
{
    for (Binding *b = bindings; b; b = b->next) {
        if (b->symbol == symbol && b->device == ctx->device) {
            if (b->serial != ctx->serial) {
                b->object = 0;
                b->bound = false;
                b->serial = ctx->serial;
            }
            return b;
        }
    }
    return NULL;
}

mcError_t mc_reference_find(McContext *ctx, const void *symbol, bool surface,
                            uint64_t *address)
{
    size_t at = surface ? offsetof(surfaceReference, surfaceObject)
                        : offsetof(textureReference, textureObject);
    uint64_t size;
    mcError_t error = symbol ? mc_symbol_variable(ctx, symbol, address, &size)
                             : mcErrorInvalidSymbol;

    if (error == mcErrorInvalidSymbol ||
        (error == mcSuccess && size != (surface ? sizeof(surfaceReference)
                                                : sizeof(textureReference)))) {
        return surface ? mcErrorInvalidSurface : mcErrorInvalidTexture;
    }
    *address += at;
    return error;
}

/* The binding's record, made when there is none; what it names now. */
static mcError_t prepare(McContext *ctx, const void *symbol, uint64_t *object)
{
    mcError_t error = mcSuccess;

    pthread_mutex_lock(&reference_lock);
    Binding *b = find(ctx, symbol);
    if (!b && (b = calloc(1, sizeof(*b)))) {
        b->symbol = symbol;
        b->device = ctx->device;
        b->serial = ctx->serial;
        b->next = bindings;
        bindings = b;
    }
    if (b) {
        *object = b->object;
    } else {
        error = mcErrorMemoryAllocation;
    }
    pthread_mutex_unlock(&reference_lock);
    return error;
}

mcError_t mc_reference_bind(McContext *ctx, const void *symbol,
                            const McTextureShape *shape, size_t offset)
{
    uint64_t address, object, old = 0;
    mcError_t error = mc_reference_find(ctx, symbol, shape->surface, &address);

    if (error == mcSuccess) {
        error = prepare(ctx, symbol, &old);
    }
    if (error == mcSuccess) {
        error = mc_texture_new(ctx, shape, &object);
    }
    if (error != mcSuccess) {
        return error;
    }
    if (old) {
        error = mc_context_sync(ctx);
    }
    if (error == mcSuccess) {
        error = mc_copy(ctx->null_stream, (void *)(uintptr_t)address, &object,
                        sizeof(object), mcMemcpyHostToDevice, true);
    }
    if (error != mcSuccess) {
        mc_texture_free(object, shape->surface);
        return error;
    }
    pthread_mutex_lock(&reference_lock);
    Binding *b = find(ctx, symbol);
    old = b->object;
    b->object = object;
    b->offset = offset;
    b->bound = true;
    pthread_mutex_unlock(&reference_lock);
    mc_texture_free(old, shape->surface);
    return mcSuccess;
}

void mc_reference_unbind(McContext *ctx, const void *symbol)
{
    pthread_mutex_lock(&reference_lock);
    Binding *b = find(ctx, symbol);
    if (b) {
        b->bound = false;
    }
    pthread_mutex_unlock(&reference_lock);
}

bool mc_reference_offset(McContext *ctx, const void *symbol, size_t *offset)
{
    pthread_mutex_lock(&reference_lock);
    Binding *b = find(ctx, symbol);
    bool bound = b && b->bound;
    if (bound) {
        *offset = b->offset;
    }
    pthread_mutex_unlock(&reference_lock);
    return bound;
}
