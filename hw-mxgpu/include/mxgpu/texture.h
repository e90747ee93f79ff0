/* SPDX-License-Identifier: MIT */
/*
 * What a texture object and a surface object are: the device address of one of
 * these, which the runtime writes and kernels read. It does not change while
 * the object exists.
 */
#ifndef MXGPU_TEXTURE_H
#define MXGPU_TEXTURE_H

#include "types.h"

/* How a channel in memory becomes a register. */
enum {
    MXGPU_TEXTURE_U8,
    MXGPU_TEXTURE_S8,
    MXGPU_TEXTURE_U16,
    MXGPU_TEXTURE_S16,
    MXGPU_TEXTURE_B32,   /* as it is: integers and float */
    MXGPU_TEXTURE_F16,   /* the others give a float */
    MXGPU_TEXTURE_UN8,   /* 0 to 1 */
    MXGPU_TEXTURE_SN8,   /* -1 to 1 */
    MXGPU_TEXTURE_UN16,
    MXGPU_TEXTURE_SN16,
    MXGPU_TEXTURE_SRGB8, /* by a table, but the fourth channel, as UN8 */
};

/* Addresses beyond the edge. */
enum {
    MXGPU_TEXTURE_WRAP,
    MXGPU_TEXTURE_CLAMP,
    MXGPU_TEXTURE_MIRROR,
    MXGPU_TEXTURE_BORDER,
};

/* One number that says what an inlined fetch has to do. */
#define MXGPU_TEXTURE_FORMAT(decode, channels) ((decode) | (channels) << 8)
#define MXGPU_TEXTURE_LINEAR 0x10000u    /* of floats, and of UN8 */
#define MXGPU_TEXTURE_SLOW   0xffffffffu /* a library function knows */

struct mxgpu_texture_level {
    uint64_t base;    /* device address */
    uint64_t slice;   /* bytes from slice to slice, or layer to layer */
    uint32_t pitch;   /* bytes from row to row */
    uint32_t width;   /* texels; of a surface bytes */
    uint32_t height;
    uint32_t depth;   /* slices, or layers */
};
MXGPU_ASSERT_SIZE(struct mxgpu_texture_level, 32);

#define MXGPU_TEXTURE_LEVELS 29

struct mxgpu_texture {
    uint32_t fast2d;     /* FORMAT, LINEAR: two dimensions, clamped */
    uint32_t fast1d;     /* FORMAT: texels by number, 0 beyond the end */
    float scale[3];      /* of coordinates: to texels of the first level */
    uint32_t decode;
    uint32_t channels;   /* 1, 2, 4 */
    uint32_t element;    /* bytes */
    uint8_t address[3];  /* x, y, z */
    uint8_t normalized;  /* coordinates from 0 to 1 */
    uint8_t linear;      /* within a level; texels are floats */
    uint8_t mip_linear;  /* between levels; likewise */
    uint8_t levels;      /* at least 1 */
    uint8_t reserved;
    float bias, min_level, max_level;
    uint32_t border[4];  /* registers */
    uint32_t reserved2;
    uint64_t srgb;       /* address of 256 floats */
    uint64_t reserved3[2];
    struct mxgpu_texture_level level[MXGPU_TEXTURE_LEVELS];
};
MXGPU_ASSERT_SIZE(struct mxgpu_texture, 1024);

/* Four registers, of which a texel may have fewer: x | y << 32. */
struct mxgpu_texel {
    uint64_t xy, zw;
};

#endif
