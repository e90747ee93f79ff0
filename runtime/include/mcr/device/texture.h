/* SPDX-License-Identifier: MIT */
/*
 * Texture functions: of objects, with the texel as result or through a pointer,
 * and of texture<> variables. docs/textures.md says what they compute.
 */
#ifndef MCR_DEVICE_TEXTURE_H
#define MCR_DEVICE_TEXTURE_H

#include "texture_fetch.h"

#define __MC_STRIP(...) __VA_ARGS__

/* The forms of a function whose texel, of type T, is the value of an expression
 * with the description t and the parameters. */
#define __MC_TEXTURE(name, parameters, ...)                                    \
    template <class T>                                                         \
    __MC_DEVICE__ T name(mcTextureObject_t object, __MC_STRIP parameters)      \
    {                                                                          \
        const struct mxgpu_texture *t = (const struct mxgpu_texture *)object;  \
        return __VA_ARGS__;                                                    \
    }                                                                          \
    template <class T>                                                         \
    __MC_DEVICE__ void name(T *value, mcTextureObject_t object,                \
                            __MC_STRIP parameters)                             \
    {                                                                          \
        const struct mxgpu_texture *t = (const struct mxgpu_texture *)object;  \
        *value = __VA_ARGS__;                                                  \
    }

/* A function, the same with a level, and with gradients of a type. */
#define __MC_TEXTURE_LEVELS(name, parameters, gradient, plain, level_of, lod)  \
    __MC_TEXTURE(name, parameters, plain)                                      \
    __MC_TEXTURE(name##Lod, (__MC_STRIP parameters, float level), level_of)    \
    __MC_TEXTURE(name##Grad,                                                   \
                 (__MC_STRIP parameters, gradient dx, gradient dy),            \
                 ([&] {                                                        \
                     float level = lod;                                        \
                     return level_of;                                          \
                 }()))

__MC_TEXTURE(tex1Dfetch, (int x), __mc_fetch_number<T>(t, x))

__MC_TEXTURE_LEVELS(tex1D, (float x), float,
                    __mc_from_texel<T>(__mc_texture_1d(t, x, 0, 0)),
                    __mc_from_texel<T>(__mc_texture_1d(t, x, 0, level)),
                    __mc_lod(__mc_square(t, dx), __mc_square(t, dy)))

__MC_TEXTURE_LEVELS(tex1DLayered, (float x, int layer), float,
                    __mc_from_texel<T>(__mc_texture_1d(t, x, layer, 0)),
                    __mc_from_texel<T>(__mc_texture_1d(t, x, layer, level)),
                    __mc_lod(__mc_square(t, dx), __mc_square(t, dy)))

__MC_TEXTURE_LEVELS(tex2D, (float x, float y), float2,
                    __mc_fetch_2d<T>(t, x, y),
                    __mc_from_texel<T>(__mc_texture_2d(t, x, y, 0, level)),
                    __mc_lod(__mc_square(t, dx.x, dx.y),
                             __mc_square(t, dy.x, dy.y)))

__MC_TEXTURE_LEVELS(tex2DLayered, (float x, float y, int layer), float2,
                    __mc_from_texel<T>(__mc_texture_2d(t, x, y, layer, 0)),
                    __mc_from_texel<T>(__mc_texture_2d(t, x, y, layer, level)),
                    __mc_lod(__mc_square(t, dx.x, dx.y),
                             __mc_square(t, dy.x, dy.y)))

__MC_TEXTURE_LEVELS(tex3D, (float x, float y, float z), float4,
                    __mc_from_texel<T>(__mc_texture_3d(t, x, y, z, 0)),
                    __mc_from_texel<T>(__mc_texture_3d(t, x, y, z, level)),
                    __mc_lod(__mc_square(t, dx.x, dx.y, dx.z),
                             __mc_square(t, dy.x, dy.y, dy.z)))

__MC_TEXTURE_LEVELS(texCubemap, (float x, float y, float z), float4,
                    __mc_fetch_cube<T>(t, x, y, z, 0, 0),
                    __mc_fetch_cube<T>(t, x, y, z, 0, level),
                    __mc_lod(__mc_face_square(t, x, y, z, dx),
                             __mc_face_square(t, x, y, z, dy)))

__MC_TEXTURE_LEVELS(texCubemapLayered, (float x, float y, float z, int layer),
                    float4, __mc_fetch_cube<T>(t, x, y, z, layer, 0),
                    __mc_fetch_cube<T>(t, x, y, z, layer, level),
                    __mc_lod(__mc_face_square(t, x, y, z, dx),
                             __mc_face_square(t, x, y, z, dy)))

/* One channel of four texels. */
__MC_TEXTURE(tex2Dgather, (float x, float y, int comp = 0),
             __mc_from_texel<T>(
                 __mc_texture_gather(t, x, y, (unsigned)comp & 3)))

#undef __MC_TEXTURE_LEVELS
#undef __MC_TEXTURE
#undef __MC_STRIP

#endif
