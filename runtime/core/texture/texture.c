/* SPDX-License-Identifier: MIT */
#include "texture.h"

#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "core/memory/alloc.h"

#define SLOTS 64 /* descriptions in a piece of memory */
/* So many must be free before one is used again: programs that free an object
 * while a kernel still reads it are less surprised. */
#define KEEP_FREE SLOTS

#define SLOT sizeof(struct mxgpu_texture)

typedef struct Piece {
    struct Piece *next;
    McMapping mapping;
} Piece;

typedef struct Object {
    McNode node; /* by address, while it exists */
    McContext *ctx;
    uint64_t va;
    struct mxgpu_texture *cpu;
    struct Object *next; /* free, from the one that is so for longest */
    McTextureShape shape;
} Object;

struct McTextures {
    Piece *pieces;
    Object *first_free, *last_free;
    unsigned free;
    uint64_t srgb; /* address of its table */
};

static int compare(const McNode *a, const McNode *b)
{
    return mc_order(mc_container_of(a, Object, node)->va,
                    mc_container_of(b, Object, node)->va);
}

static int order(const McNode *node, const void *key)
{
    return mc_order(mc_container_of(node, Object, node)->va,
                    *(const uint64_t *)key);
}

/* Over the tree and what contexts have. */
static pthread_mutex_t texture_lock = PTHREAD_MUTEX_INITIALIZER;
static McTree objects = {.compare = compare};

/* Under the lock. */
static Object *find(uint64_t va, bool surface)
{
    McNode *node = mc_tree_lower(&objects, &va, order);
    Object *object = node ? mc_container_of(node, Object, node) : NULL;

    return object && object->va == va && object->shape.surface == surface
               ? object
               : NULL;
}

/* ---- memory ---- */

/* x to the power of 2.4, from 0.08 to 1: the fifth root of x to the 12th, by
 * Newton's method. */
static double power(double x)
{
    double x3 = x * x * x, y = 1;

    for (unsigned i = 0; i < 40; i++) {
        double y2 = y * y;

        y -= (y - x3 * x3 * x3 * x3 / (y2 * y2)) / 5;
    }
    return y;
}

/* IEC 61966-2-1. */
static void fill_srgb(float *table)
{
    for (unsigned i = 0; i < 256; i++) {
        double c = i / 255.0;

        table[i] = c <= 0.04045 ? c / 12.92 : power((c + 0.055) / 1.055);
    }
}

/* Under the lock. */
static void add_free(McTextures *t, Object *object)
{
    object->next = NULL;
    if (t->last_free) {
        t->last_free->next = object;
    } else {
        t->first_free = object;
    }
    t->last_free = object;
    t->free++;
}

/* Under the lock, which is not held while the device maps memory. */
static mcError_t grow(McContext *ctx)
{
    Piece *piece = calloc(1, sizeof(*piece));
    Object *made[SLOTS] = {NULL};
    mcError_t error = mcErrorMemoryAllocation;
    bool all = piece;

    for (unsigned i = 0; i < SLOTS && all; i++) {
        made[i] = calloc(1, sizeof(*made[i]));
        all = made[i];
    }
    if (all) {
        pthread_mutex_unlock(&texture_lock);
        error = mc_mapping_new(ctx, SLOTS * SLOT, MXGPU_PTE_READ,
                               &piece->mapping);
        pthread_mutex_lock(&texture_lock);
    }
    if (error == mcSuccess && !ctx->textures) {
        ctx->textures = calloc(1, sizeof(*ctx->textures));
        if (!ctx->textures) {
            mc_mapping_free(ctx, &piece->mapping);
            error = mcErrorMemoryAllocation;
        }
    }
    if (error != mcSuccess) {
        for (unsigned i = 0; i < SLOTS; i++) {
            free(made[i]);
        }
        free(piece);
        return error;
    }
    McTextures *t = ctx->textures;
    uint8_t *cpu = ctx->ops->cpu(piece->mapping.bo);
    for (unsigned i = 0; i < SLOTS; i++) {
        made[i]->ctx = ctx;
        made[i]->va = piece->mapping.va + i * SLOT;
        made[i]->cpu = (struct mxgpu_texture *)(cpu + i * SLOT);
        if (i == 0 && !t->srgb) {
            fill_srgb((float *)(void *)cpu);
            t->srgb = made[i]->va;
            free(made[i]);
        } else {
            add_free(t, made[i]);
        }
    }
    piece->next = t->pieces;
    t->pieces = piece;
    return mcSuccess;
}

/* Under the lock. */
static mcError_t take(McContext *ctx, Object **out)
{
    McTextures *t = ctx->textures;
    mcError_t error = t && t->free > KEEP_FREE ? mcSuccess : grow(ctx);

    t = ctx->textures;
    if (error != mcSuccess && !(t && t->free)) {
        return error;
    }
    *out = t->first_free;
    t->first_free = t->first_free->next;
    if (!t->first_free) {
        t->last_free = NULL;
    }
    t->free--;
    return mcSuccess;
}

/* ---- objects ---- */

mcError_t mc_texture_new(McContext *ctx, const McTextureShape *shape,
                         uint64_t *out)
{
    struct mxgpu_texture image;
    Object *object;

    mcError_t error = mc_texture_image(shape, &image);
    if (error != mcSuccess) {
        return error;
    }
    pthread_mutex_lock(&texture_lock);
    error = take(ctx, &object);
    if (error == mcSuccess) {
        image.srgb = ctx->textures->srgb;
        memcpy(object->cpu, &image, sizeof(image));
        object->shape = *shape;
        mc_tree_insert(&objects, &object->node);
        *out = object->va;
    }
    pthread_mutex_unlock(&texture_lock);
    return error;
}

bool mc_texture_free(uint64_t va, bool surface)
{
    pthread_mutex_lock(&texture_lock);
    Object *object = find(va, surface);
    if (object) {
        mc_tree_remove(&objects, &object->node);
        add_free(object->ctx->textures, object);
    }
    pthread_mutex_unlock(&texture_lock);
    return object;
}

bool mc_texture_find(uint64_t va, bool surface, McTextureShape *shape)
{
    pthread_mutex_lock(&texture_lock);
    Object *object = find(va, surface);
    if (object) {
        *shape = object->shape;
    }
    pthread_mutex_unlock(&texture_lock);
    return object;
}

/* Under the lock. */
static void free_objects(McContext *ctx)
{
    for (McNode *n = mc_tree_first(&objects), *next; n; n = next) {
        Object *object = mc_container_of(n, Object, node);

        next = mc_tree_next(n);
        if (object->ctx == ctx) {
            mc_tree_remove(&objects, n);
            free(object);
        }
    }
    for (Object *o = ctx->textures->first_free, *next; o; o = next) {
        next = o->next;
        free(o);
    }
}

void mc_textures_detach(McContext *ctx)
{
    McTextures *t = ctx->textures;

    if (!t) {
        return;
    }
    pthread_mutex_lock(&texture_lock);
    free_objects(ctx);
    ctx->textures = NULL;
    pthread_mutex_unlock(&texture_lock);
    for (Piece *p = t->pieces, *next; p; p = next) {
        next = p->next;
        mc_mapping_free(ctx, &p->mapping);
        free(p);
    }
    free(t);
}
