/* SPDX-License-Identifier: MIT */
/*
 * Fetches from textures in all modes: what headers do not inline. Coordinates
 * are of 8 bits of fraction where texels are filtered. Whatever a coordinate
 * is, only texels of the level are read.
 */
#include <stdint.h>

#include "mxgpu/texture.h"

#define INLINE static inline __attribute__((always_inline))

typedef struct mxgpu_texture Texture;
typedef struct mxgpu_texture_level Level;
typedef struct mxgpu_texel Texel;

typedef union Reg {
    uint32_t u;
    float f;
} Reg;

typedef struct Regs {
    Reg r[4];
} Regs;

/* ---- numbers ---- */

/* Saturates; NaN is the largest. */
INLINE int32_t floor_int(float x)
{
    int32_t i;

    __asm__("fcvt.w.s %0, %1, rdn" : "=r"(i) : "f"(x));
    return i;
}

INLINE int32_t clamp(int32_t i, int32_t last)
{
    i = i < 0 ? 0 : i;
    return i > last ? last : i;
}

INLINE float from_half(uint32_t h)
{
    uint32_t sign = (h & 0x8000) << 16, bits = h & 0x7fff;
    Reg r;

    if (bits >= 0x7c00) {
        r.u = 0x7f800000 | (bits & 0x3ff) << 13;
    } else {
        r.u = bits << 13;
        r.f *= 0x1p112f; /* other bias; subnormals come right, too */
    }
    r.u |= sign;
    return r.f;
}

INLINE Reg real(float f)
{
    return (Reg){.f = f};
}

INLINE Reg whole(uint32_t u)
{
    return (Reg){.u = u};
}

/* ---- texels ---- */

INLINE float signed_norm(int32_t v, float most)
{
    float f = (float)v / most;

    return f < -1 ? -1 : f;
}

INLINE Reg load_channel(const Texture *t, const uint8_t *p, unsigned c)
{
    const uint16_t *p16 = (const uint16_t *)p;

    switch (t->decode) {
    case MXGPU_TEXTURE_U8:
        return whole(p[c]);
    case MXGPU_TEXTURE_S8:
        return whole((uint32_t)(int8_t)p[c]);
    case MXGPU_TEXTURE_U16:
        return whole(p16[c]);
    case MXGPU_TEXTURE_S16:
        return whole((uint32_t)(int16_t)p16[c]);
    case MXGPU_TEXTURE_F16:
        return real(from_half(p16[c]));
    case MXGPU_TEXTURE_SRGB8:
        if (c < 3) {
            return real(((const float *)t->srgb)[p[c]]);
        }
        return real(p[c] / 255.0f);
    case MXGPU_TEXTURE_UN8:
        return real(p[c] / 255.0f);
    case MXGPU_TEXTURE_SN8:
        return real(signed_norm((int8_t)p[c], 127));
    case MXGPU_TEXTURE_UN16:
        return real(p16[c] / 65535.0f);
    case MXGPU_TEXTURE_SN16:
        return real(signed_norm((int16_t)p16[c], 32767));
    default:
        return whole(((const uint32_t *)p)[c]);
    }
}

/* Channels that there are not, are 0. */
INLINE Regs load(const Texture *t, const uint8_t *p)
{
    Regs v = {{load_channel(t, p, 0)}};

    if (t->channels > 1) {
        v.r[1] = load_channel(t, p, 1);
    }
    if (t->channels > 2) {
        v.r[2] = load_channel(t, p, 2);
        v.r[3] = load_channel(t, p, 3);
    }
    return v;
}

INLINE Texel pack(Regs v)
{
    return (Texel){v.r[0].u | (uint64_t)v.r[1].u << 32,
                   v.r[2].u | (uint64_t)v.r[3].u << 32};
}

/* ---- coordinates ---- */

typedef struct Axis {
    int32_t first, second; /* texels; -1: border */
    float fraction;        /* of the second one */
} Axis;

INLINE int32_t either(const Axis *axis, unsigned second)
{
    return second ? axis->second : axis->first;
}

INLINE float weight_of(const Axis *axis, unsigned second)
{
    return second ? axis->fraction : 1 - axis->fraction;
}

/* Coordinates that repeat: in one period, from 0 to below 1. */
INLINE float repeat(const Texture *t, unsigned k, float x)
{
    int32_t period = floor_int(x);

    x -= (float)period;
    if (t->address[k] == MXGPU_TEXTURE_MIRROR && (period & 1)) {
        x = 1 - x;
    }
    return __builtin_fminf(__builtin_fmaxf(x, 0), 0x1.fffffep-1f);
}

INLINE int32_t texel_at(const Texture *t, unsigned k, int32_t i, int32_t n)
{
    if (t->address[k] == MXGPU_TEXTURE_BORDER) {
        return (uint32_t)i < (uint32_t)n ? i : -1;
    }
    if (t->address[k] == MXGPU_TEXTURE_WRAP) {
        i = i < 0 ? i + n : i;
        i = i >= n ? i - n : i;
    }
    return clamp(i, n - 1);
}

INLINE Axis resolve(const Texture *t, unsigned k, float x, uint32_t size,
                    int linear)
{
    int32_t n = (int32_t)size, i;
    float fraction = 0;

    if (t->normalized) {
        if (t->address[k] == MXGPU_TEXTURE_WRAP ||
            t->address[k] == MXGPU_TEXTURE_MIRROR) {
            x = repeat(t, k, x);
        }
        x *= (float)n;
    }
    /* Farther beyond the edge is the same; NaN is before it. */
    x = __builtin_fminf(__builtin_fmaxf(x, -2), (float)n + 2);
    if (linear) {
        int32_t fixed = floor_int(__builtin_fmaf(x, 256, -127.5f));

        i = fixed >> 8;
        fraction = (float)(fixed & 255) * 0x1p-8f;
    } else {
        i = floor_int(x);
    }
    return (Axis){texel_at(t, k, i, n), texel_at(t, k, i + 1, n), fraction};
}

INLINE Regs texel(const Texture *t, const Level *l, int32_t x, int32_t y,
                  int32_t z)
{
    if ((x | y | z) < 0) {
        return (Regs){{whole(t->border[0]), whole(t->border[1]),
                       whole(t->border[2]), whole(t->border[3])}};
    }
    return load(t, (const uint8_t *)l->base + (uint64_t)z * l->slice +
                       (uint64_t)y * l->pitch + (uint64_t)x * t->element);
}

INLINE void add(Regs *sum, Regs v, float weight, unsigned channels)
{
    sum->r[0].f += weight * v.r[0].f;
    if (channels > 1) {
        sum->r[1].f += weight * v.r[1].f;
    }
    if (channels > 2) {
        sum->r[2].f += weight * v.r[2].f;
        sum->r[3].f += weight * v.r[3].f;
    }
}

/* ---- one level ---- */

typedef struct Place {
    float x, y, z;
    int32_t layer;
} Place;

INLINE Regs point(const Texture *t, const Level *l, unsigned dims, Place p)
{
    int32_t y = 0, z = dims == 3 ? 0 : clamp(p.layer, (int32_t)l->depth - 1);
    int32_t x = resolve(t, 0, p.x, l->width, 0).first;

    if (dims > 1) {
        y = resolve(t, 1, p.y, l->height, 0).first;
    }
    if (dims > 2) {
        z = resolve(t, 2, p.z, l->depth, 0).first;
    }
    return texel(t, l, x, y, z);
}

INLINE Regs linear(const Texture *t, const Level *l, unsigned dims, Place p)
{
    int32_t layer = clamp(p.layer, (int32_t)l->depth - 1);
    Axis x = resolve(t, 0, p.x, l->width, 1), y = {0, 0, 0};
    Axis z = {layer, layer, 0};
    Regs sum = {{{0}}};

    if (dims > 1) {
        y = resolve(t, 1, p.y, l->height, 1);
    }
    if (dims > 2) {
        z = resolve(t, 2, p.z, l->depth, 1);
    }
    /* Not unrolled: the formats' code once, and few registers. */
#pragma clang loop unroll(disable)
    for (unsigned i = 0; i < 1u << dims; i++) {
        unsigned a = i & 1, b = i >> 1 & 1, c = i >> 2;
        float weight = weight_of(&x, a);

        if (dims > 1) {
            weight *= weight_of(&y, b);
        }
        if (dims > 2) {
            weight *= weight_of(&z, c);
        }
        add(&sum, texel(t, l, either(&x, a), either(&y, b), either(&z, c)),
            weight, t->channels);
    }
    return sum;
}

INLINE Regs level(const Texture *t, const Level *l, unsigned dims, Place p)
{
    return t->linear ? linear(t, l, dims, p) : point(t, l, dims, p);
}

/* ---- levels ---- */

/* Levels that are wanted, first in 256ths. */
INLINE int32_t level_of(const Texture *t, float lod)
{
    float last = (float)(t->levels - 1);

    lod = __builtin_fminf(__builtin_fmaxf(lod + t->bias, t->min_level),
                          t->max_level);
    lod = __builtin_fminf(__builtin_fmaxf(lod, 0), last);
    return t->mip_linear ? floor_int(__builtin_fmaf(lod, 256, 0.5f))
                         : floor_int(lod + 0.5f) << 8;
}

INLINE Regs sample(const Texture *t, unsigned dims, Place p, float lod)
{
    int32_t last = t->levels - 1, fixed = last ? level_of(t, lod) : 0;
    Regs sum = level(t, t->level + (fixed >> 8), dims, p);

    if (t->mip_linear && last) {
        float fraction = (float)(fixed & 255) * 0x1p-8f;
        Regs first = sum;

        sum = (Regs){{{0}}};
        add(&sum, first, 1 - fraction, t->channels);
        add(&sum, level(t, t->level + clamp((fixed >> 8) + 1, last), dims, p),
            fraction, t->channels);
    }
    return sum;
}

Texel __mc_texture_1d(const Texture *t, float x, int layer, float lod);
Texel __mc_texture_2d(const Texture *t, float x, float y, int layer, float lod);
Texel __mc_texture_3d(const Texture *t, float x, float y, float z, float lod);
Texel __mc_texture_load(const Texture *t, int x);
Texel __mc_texture_gather(const Texture *t, float x, float y, unsigned channel);

Texel __mc_texture_1d(const Texture *t, float x, int layer, float lod)
{
    return pack(sample(t, 1, (Place){x, 0, 0, layer}, lod));
}

Texel __mc_texture_2d(const Texture *t, float x, float y, int layer, float lod)
{
    return pack(sample(t, 2, (Place){x, y, 0, layer}, lod));
}

Texel __mc_texture_3d(const Texture *t, float x, float y, float z, float lod)
{
    return pack(sample(t, 3, (Place){x, y, z, 0}, lod));
}

/* By number; beyond the end everything is 0. */
Texel __mc_texture_load(const Texture *t, int x)
{
    Regs v = {{{0}}};

    if ((uint32_t)x < t->level[0].width) {
        v = load(t, (const uint8_t *)t->level[0].base +
                        (uint64_t)(uint32_t)x * t->element);
    }
    return pack(v);
}

/* One channel of the four texels that a filter would use, from the lower left
 * one on against the clock. */
Texel __mc_texture_gather(const Texture *t, float x, float y, unsigned channel)
{
    const Level *l = t->level;
    Axis i = resolve(t, 0, x, l->width, 1), j = resolve(t, 1, y, l->height, 1);
    Regs v;

    for (unsigned k = 0; k < 4; k++) {
        Regs one = texel(t, l, either(&i, k == 1 || k == 2), either(&j, k < 2),
                         0);

        v.r[k] = channel == 0   ? one.r[0]
                 : channel == 1 ? one.r[1]
                 : channel == 2 ? one.r[2]
                                : one.r[3];
    }
    return pack(v);
}
