/* SPDX-License-Identifier: MIT */
/*
 * Texture functions: of objects, with the texel as result or through a pointer,
 * and of texture<> variables. docs/textures.md says what they compute.
 */
#ifndef MCR_DEVICE_TEXTURE_H
#define MCR_DEVICE_TEXTURE_H

#include "mcr/mc_texture_reference.h"
#include "texture_fetch.h"

/* What fetches from texture<> give: floats of as many channels, if so read. */
template <class U, mcTextureReadMode mode, unsigned bytes = sizeof(
              typename __mc_texel<U>::scalar)>
struct __mc_read {
    typedef U type;
};
template <unsigned channels> struct __mc_floats;
template <> struct __mc_floats<1> {
    typedef float type;
};
template <> struct __mc_floats<2> {
    typedef float2 type;
};
template <> struct __mc_floats<4> {
    typedef float4 type;
};
template <class U>
struct __mc_read<U, mcReadModeNormalizedFloat, 1>
    : __mc_floats<__mc_texel<U>::channels> {
};
template <class U>
struct __mc_read<U, mcReadModeNormalizedFloat, 2>
    : __mc_floats<__mc_texel<U>::channels> {
};

#define __MC_STRIP(...) __VA_ARGS__

/* The forms of a function whose texel, of type T, is the value of an expression
 * with the description t and the parameters. */
#define __MC_TEXTURE(name, kind, parameters, ...)                              \
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
    }                                                                          \
    template <class U, mcTextureReadMode mode>                                 \
    __MC_DEVICE__ typename __mc_read<U, mode>::type name(                      \
        const texture<U, kind, mode> &ref, __MC_STRIP parameters)              \
    {                                                                          \
        typedef typename __mc_read<U, mode>::type T;                           \
        const struct mxgpu_texture *t =                                        \
            (const struct mxgpu_texture *)ref.textureObject;                   \
        return __VA_ARGS__;                                                    \
    }

/* A function, the same with a level, and with gradients of a type. */
#define __MC_TEXTURE_LEVELS(name, kind, parameters, gradient, plain, level_of, \
                            lod)                                               \
    __MC_TEXTURE(name, kind, parameters, plain)                                \
    __MC_TEXTURE(name##Lod, kind, (__MC_STRIP parameters, float level),        \
                 level_of)                                                     \
    __MC_TEXTURE(name##Grad, kind,                                             \
                 (__MC_STRIP parameters, gradient dx, gradient dy),            \
                 ([&] {                                                        \
                     float level = lod;                                        \
                     return level_of;                                          \
                 }()))

__MC_TEXTURE(tex1Dfetch, mcTextureType1D, (int x), __mc_fetch_number<T>(t, x))

__MC_TEXTURE_LEVELS(tex1D, mcTextureType1D, (float x), float,
                    __mc_from_texel<T>(__mc_texture_1d(t, x, 0, 0)),
                    __mc_from_texel<T>(__mc_texture_1d(t, x, 0, level)),
                    __mc_lod(__mc_square(t, dx), __mc_square(t, dy)))

__MC_TEXTURE_LEVELS(tex1DLayered, mcTextureType1DLayered,
                    (float x, int layer), float,
                    __mc_from_texel<T>(__mc_texture_1d(t, x, layer, 0)),
                    __mc_from_texel<T>(__mc_texture_1d(t, x, layer, level)),
                    __mc_lod(__mc_square(t, dx), __mc_square(t, dy)))

__MC_TEXTURE_LEVELS(tex2D, mcTextureType2D, (float x, float y), float2,
                    __mc_fetch_2d<T>(t, x, y),
                    __mc_from_texel<T>(__mc_texture_2d(t, x, y, 0, level)),
                    __mc_lod(__mc_square(t, dx.x, dx.y),
                             __mc_square(t, dy.x, dy.y)))

__MC_TEXTURE_LEVELS(tex2DLayered, mcTextureType2DLayered,
                    (float x, float y, int layer), float2,
                    __mc_from_texel<T>(__mc_texture_2d(t, x, y, layer, 0)),
                    __mc_from_texel<T>(__mc_texture_2d(t, x, y, layer, level)),
                    __mc_lod(__mc_square(t, dx.x, dx.y),
                             __mc_square(t, dy.x, dy.y)))

__MC_TEXTURE_LEVELS(tex3D, mcTextureType3D, (float x, float y, float z), float4,
                    __mc_from_texel<T>(__mc_texture_3d(t, x, y, z, 0)),
                    __mc_from_texel<T>(__mc_texture_3d(t, x, y, z, level)),
                    __mc_lod(__mc_square(t, dx.x, dx.y, dx.z),
                             __mc_square(t, dy.x, dy.y, dy.z)))

__MC_TEXTURE_LEVELS(texCubemap, mcTextureTypeCubemap,
                    (float x, float y, float z), float4,
                    __mc_fetch_cube<T>(t, x, y, z, 0, 0),
                    __mc_fetch_cube<T>(t, x, y, z, 0, level),
                    __mc_lod(__mc_face_square(t, x, y, z, dx),
                             __mc_face_square(t, x, y, z, dy)))

__MC_TEXTURE_LEVELS(texCubemapLayered, mcTextureTypeCubemapLayered,
                    (float x, float y, float z, int layer), float4,
                    __mc_fetch_cube<T>(t, x, y, z, layer, 0),
                    __mc_fetch_cube<T>(t, x, y, z, layer, level),
                    __mc_lod(__mc_face_square(t, x, y, z, dx),
                             __mc_face_square(t, x, y, z, dy)))

#undef __MC_TEXTURE_LEVELS
#undef __MC_TEXTURE
#undef __MC_STRIP

/* ---- one channel of four texels ---- */

template <class S> struct __mc_four;
#define __MC_FOUR(scalar, vector)                                              \
    template <> struct __mc_four<scalar> {                                     \
        typedef vector type;                                                   \
    };
__MC_FOUR(char, char4)
__MC_FOUR(signed char, char4)
__MC_FOUR(unsigned char, uchar4)
__MC_FOUR(short, short4)
__MC_FOUR(unsigned short, ushort4)
__MC_FOUR(int, int4)
__MC_FOUR(unsigned, uint4)
__MC_FOUR(float, float4)
#undef __MC_FOUR

template <class T>
__MC_DEVICE__ T tex2Dgather(mcTextureObject_t object, float x, float y,
                            int comp = 0)
{
    return __mc_from_texel<T>(__mc_texture_gather(
        (const struct mxgpu_texture *)object, x, y, (unsigned)comp & 3));
}

template <class T>
__MC_DEVICE__ void tex2Dgather(T *value, mcTextureObject_t object, float x,
                               float y, int comp = 0)
{
    *value = tex2Dgather<T>(object, x, y, comp);
}

template <class U, mcTextureReadMode mode>
__MC_DEVICE__ typename __mc_four<
    typename __mc_texel<typename __mc_read<U, mode>::type>::scalar>::type
tex2Dgather(const texture<U, mcTextureType2D, mode> &ref, float x, float y,
            int comp = 0)
{
    typedef typename __mc_read<U, mode>::type T;
    typedef typename __mc_four<typename __mc_texel<T>::scalar>::type four;

    return tex2Dgather<four>(ref.textureObject, x, y, comp);
}

#endif
