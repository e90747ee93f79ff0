/* SPDX-License-Identifier: MIT */
/*
 * Fetches by the address of a description (mxgpu/texture.h). What most programs
 * do, in two dimensions and by number, is inlined and branches on what is the
 * same for all threads; the rest is in the library.
 */
#ifndef MCR_DEVICE_TEXTURE_FETCH_H
#define MCR_DEVICE_TEXTURE_FETCH_H

#include "keywords.h"
#include "mcr/mc_texture.h"
#include "mcr/mc_vector_types.h"
#include "mxgpu/texture.h"

extern "C" {
__device__ struct mxgpu_texel __mc_texture_1d(const struct mxgpu_texture *,
                                              float x, int layer, float lod);
__device__ struct mxgpu_texel __mc_texture_2d(const struct mxgpu_texture *,
                                              float x, float y, int layer,
                                              float lod);
__device__ struct mxgpu_texel __mc_texture_3d(const struct mxgpu_texture *,
                                              float x, float y, float z,
                                              float lod);
__device__ struct mxgpu_texel __mc_texture_load(const struct mxgpu_texture *,
                                                int x);
__device__ struct mxgpu_texel __mc_texture_gather(const struct mxgpu_texture *,
                                                  float x, float y,
                                                  unsigned channel);
}

/* ---- types of texels ---- */

/* decode: of texels that are such values in memory. */
template <class T> struct __mc_scalar;
#define __MC_SCALAR(type, code, real)                                          \
    template <> struct __mc_scalar<type> {                                     \
        static constexpr unsigned decode = MXGPU_TEXTURE_##code;               \
        static constexpr bool is_float = real;                                 \
    };
__MC_SCALAR(char, S8, false)
__MC_SCALAR(signed char, S8, false)
__MC_SCALAR(unsigned char, U8, false)
__MC_SCALAR(short, S16, false)
__MC_SCALAR(unsigned short, U16, false)
__MC_SCALAR(int, B32, false)
__MC_SCALAR(unsigned, B32, false)
__MC_SCALAR(float, B32, true)
#undef __MC_SCALAR

template <class S, unsigned n> struct __mc_texel_of : __mc_scalar<S> {
    typedef S scalar;
    static constexpr unsigned channels = n;
    static constexpr unsigned format = MXGPU_TEXTURE_FORMAT(
        __mc_scalar<S>::decode, n);
};

template <class T> struct __mc_texel : __mc_texel_of<T, 1> {};
#define __MC_TEXEL(vector, scalar)                                             \
    template <> struct __mc_texel<vector##1> : __mc_texel_of<scalar, 1> {};    \
    template <> struct __mc_texel<vector##2> : __mc_texel_of<scalar, 2> {};    \
    template <> struct __mc_texel<vector##4> : __mc_texel_of<scalar, 4> {};
__MC_TEXEL(char, signed char)
__MC_TEXEL(uchar, unsigned char)
__MC_TEXEL(short, short)
__MC_TEXEL(ushort, unsigned short)
__MC_TEXEL(int, int)
__MC_TEXEL(uint, unsigned)
__MC_TEXEL(float, float)
#undef __MC_TEXEL

/* As an array of scalars. */
template <class T> union __mc_channels {
    T value;
    typename __mc_texel<T>::scalar c[__mc_texel<T>::channels];
};

template <class S> __MC_DEVICE__ S __mc_from_register(unsigned r)
{
    if constexpr (__mc_scalar<S>::is_float) {
        return __builtin_bit_cast(float, r);
    } else {
        return (S)r;
    }
}

template <class T> __MC_DEVICE__ T __mc_from_texel(struct mxgpu_texel t)
{
    typedef typename __mc_texel<T>::scalar S;
    __mc_channels<T> v;

    v.c[0] = __mc_from_register<S>((unsigned)t.xy);
    if constexpr (__mc_texel<T>::channels > 1) {
        v.c[1] = __mc_from_register<S>((unsigned)(t.xy >> 32));
    }
    if constexpr (__mc_texel<T>::channels > 2) {
        v.c[2] = __mc_from_register<S>((unsigned)t.zw);
        v.c[3] = __mc_from_register<S>((unsigned)(t.zw >> 32));
    }
    return v.value;
}

/* ---- two dimensions ---- */

/* Saturates. */
__MC_DEVICE__ int __mc_floor_int(float x)
{
    int i;

    __asm__("fcvt.w.s %0, %1, rdn" : "=r"(i) : "f"(x));
    return i;
}

__MC_DEVICE__ int __mc_texel_clamp(int i, unsigned n)
{
    int last = (int)n - 1;

    i = i < 0 ? 0 : i;
    return i < last ? i : last;
}

template <class T>
__MC_DEVICE__ const T *__mc_texel_row(const struct mxgpu_texture *t, int y)
{
    return (const T *)(t->level[0].base +
                       (unsigned long)(unsigned)y * t->level[0].pitch);
}

template <class T>
__MC_DEVICE__ T __mc_point_2d(const struct mxgpu_texture *t, float x, float y)
{
    int i = __mc_texel_clamp(__mc_floor_int(x * t->scale[0]),
                             t->level[0].width);
    int j = __mc_texel_clamp(__mc_floor_int(y * t->scale[1]),
                             t->level[0].height);

    return __mc_texel_row<T>(t, j)[i];
}

/* Coordinates with 8 bits of fraction; texels are of type M in memory, times
 * unit. */
template <class T, class M>
__MC_DEVICE__ T __mc_linear_2d(const struct mxgpu_texture *t, float x, float y,
                               float unit)
{
    int u = __mc_floor_int(__builtin_fmaf(x * t->scale[0], 256, -127.5f));
    int v = __mc_floor_int(__builtin_fmaf(y * t->scale[1], 256, -127.5f));
    unsigned w = t->level[0].width, h = t->level[0].height;
    int i = __mc_texel_clamp(u >> 8, w), i1 = __mc_texel_clamp((u >> 8) + 1, w);
    const M *row = __mc_texel_row<M>(t, __mc_texel_clamp(v >> 8, h));
    const M *row1 = __mc_texel_row<M>(t, __mc_texel_clamp((v >> 8) + 1, h));
    float a = (float)(u & 255) * 0x1p-8f, b = (float)(v & 255) * 0x1p-8f;
    float w11 = a * b, w10 = a - w11, w01 = b - w11, w00 = 1 - a - w01;
    __mc_channels<M> t00 = {row[i]}, t10 = {row[i1]};
    __mc_channels<M> t01 = {row1[i]}, t11 = {row1[i1]};
    __mc_channels<T> r;

    for (unsigned c = 0; c < __mc_texel<T>::channels; c++) {
        r.c[c] = (w00 * (float)t00.c[c] + w10 * (float)t10.c[c] +
                  w01 * (float)t01.c[c] + w11 * (float)t11.c[c]) * unit;
    }
    return r.value;
}

/* Bytes, as many as a vector of floats has. */
template <unsigned channels> struct __mc_bytes;
template <> struct __mc_bytes<1> {
    typedef unsigned char type;
};
template <> struct __mc_bytes<2> {
    typedef uchar2 type;
};
template <> struct __mc_bytes<4> {
    typedef uchar4 type;
};

template <class T>
__MC_DEVICE__ T __mc_fetch_2d(const struct mxgpu_texture *t, float x, float y)
{
    unsigned fast = t->fast2d;

    if (fast == __mc_texel<T>::format) {
        return __mc_point_2d<T>(t, x, y);
    }
    if constexpr (__mc_texel<T>::is_float) {
        constexpr unsigned channels = __mc_texel<T>::channels;
        typedef typename __mc_bytes<channels>::type bytes;

        if (fast == (__mc_texel<T>::format | MXGPU_TEXTURE_LINEAR)) {
            return __mc_linear_2d<T, T>(t, x, y, 1);
        }
        if (fast == (MXGPU_TEXTURE_FORMAT(MXGPU_TEXTURE_UN8, channels) |
                     MXGPU_TEXTURE_LINEAR)) {
            return __mc_linear_2d<T, bytes>(t, x, y, 1 / 255.0f);
        }
    }
    return __mc_from_texel<T>(__mc_texture_2d(t, x, y, 0, 0));
}

/* ---- by number ---- */

template <class T>
__MC_DEVICE__ T __mc_fetch_number(const struct mxgpu_texture *t, int x)
{
    if (t->fast1d == __mc_texel<T>::format) {
        T zero = {};

        return (unsigned)x < t->level[0].width
                   ? ((const T *)t->level[0].base)[(unsigned)x]
                   : zero;
    }
    return __mc_from_texel<T>(__mc_texture_load(t, x));
}

/* ---- levels ---- */

/* Of squares of how far coordinates of the first level move from thread to
 * thread. */
__MC_DEVICE__ float __mc_lod(float square_x, float square_y)
{
    return 0.5f * log2f(__builtin_fmaxf(square_x, square_y));
}

__MC_DEVICE__ float __mc_square(const struct mxgpu_texture *t, float x,
                                float y = 0, float z = 0)
{
    x *= t->scale[0];
    y *= t->scale[1];
    z *= t->scale[2];
    return x * x + y * y + z * z;
}

/* ---- cubemaps ---- */

struct __mc_face {
    float x, y;
    int number;
};

/* Where a direction meets the cube, from 0 to 1. */
__MC_DEVICE__ __mc_face __mc_face_of(float x, float y, float z)
{
    float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y);
    float az = __builtin_fabsf(z), s, t, m;
    int face;

    if (ax >= ay && ax >= az) {
        face = x < 0;
        m = ax, s = x < 0 ? z : -z, t = -y;
    } else if (ay >= az) {
        face = 2 + (y < 0);
        m = ay, s = x, t = y < 0 ? -z : z;
    } else {
        face = 4 + (z < 0);
        m = az, s = z < 0 ? -x : x, t = -y;
    }
    return {(s / m + 1) * 0.5f, (t / m + 1) * 0.5f, face};
}

/* A layer has six faces. */
template <class T>
__MC_DEVICE__ T __mc_fetch_cube(const struct mxgpu_texture *t, float x,
                                float y, float z, int layer, float lod)
{
    __mc_face face = __mc_face_of(x, y, z);
    int layers = (int)(t->level[0].depth / 6);

    layer = __mc_texel_clamp(layer, layers);
    return __mc_from_texel<T>(
        __mc_texture_2d(t, face.x, face.y, layer * 6 + face.number, lod));
}

/* The square of how far the place in that face moves. */
__MC_DEVICE__ float __mc_face_square(const struct mxgpu_texture *t, float x,
                                     float y, float z, float4 d)
{
    float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y);
    float az = __builtin_fabsf(z), m, s, u, dm, ds, du;

    if (ax >= ay && ax >= az) {
        m = x, dm = d.x, s = z, ds = d.z, u = y, du = d.y;
    } else if (ay >= az) {
        m = y, dm = d.y, s = x, ds = d.x, u = z, du = d.z;
    } else {
        m = z, dm = d.z, s = x, ds = d.x, u = y, du = d.y;
    }
    float k = 0.5f / (m * m);
    return __mc_square(t, (ds * m - s * dm) * k, (du * m - u * dm) * k);
}

#endif
