// SPDX-License-Identifier: MIT
// Fetches from textures as the documentation of CUDA defines them, in double
// and for one texel at a time: what the device is compared with.
#ifndef TESTS_MXCC_TEXTURE_REFERENCE_H
#define TESTS_MXCC_TEXTURE_REFERENCE_H

#include <mc_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace reference {

struct Texel {
    double c[4];
};

struct Level {
    int width, height, depth; // depth: slices or layers
    std::vector<uint8_t> data; // rows and slices without gaps
};

struct Texture {
    mcChannelFormatDesc format;
    mcTextureDesc how;
    std::vector<Level> level;
    bool layered, cube;
    mutable bool unsure; // a coordinate was too close to where texels change
};

inline int channels(const mcChannelFormatDesc &f)
{
    return f.w ? 4 : f.y ? 2 : 1;
}

inline int element(const mcChannelFormatDesc &f)
{
    return channels(f) * f.x / 8;
}

inline bool reads_float(const Texture &t)
{
    return t.format.f == mcChannelFormatKindFloat ||
           (t.format.x < 32 && t.how.readMode == mcReadModeNormalizedFloat);
}

inline double half(uint16_t h)
{
    int e = h >> 10 & 31, m = h & 1023;
    double v = e ? std::ldexp(1024 + m, e - 25) : std::ldexp(m, -24);

    return h & 0x8000 ? -v : v;
}

inline double channel(const Texture &t, const uint8_t *p, int c)
{
    int bits = t.format.x;
    bool sign = t.format.f == mcChannelFormatKindSigned;
    double v;

    p += c * bits / 8;
    if (t.format.f == mcChannelFormatKindFloat) {
        float f;
        uint16_t h;

        std::memcpy(&f, p, bits == 32 ? 4 : 0);
        std::memcpy(&h, p, bits == 16 ? 2 : 0);
        return bits == 32 ? f : half(h);
    }
    uint32_t u = 0;
    std::memcpy(&u, p, bits / 8);
    v = sign ? (double)((int32_t)(u << (32 - bits)) >> (32 - bits)) : u;
    if (!reads_float(t)) {
        return v;
    }
    v /= sign ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    if (sign) {
        return v < -1 ? -1 : v;
    }
    if (t.how.sRGB && bits == 8 && c < 3) {
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    }
    return v;
}

inline Texel texel(const Texture &t, const Level &l, int x, int y, int z)
{
    const uint8_t *p = l.data.data() + (((size_t)z * l.height + y) * l.width +
                                        x) * element(t.format);
    Texel r = {};

    for (int c = 0; c < channels(t.format); c++) {
        r.c[c] = channel(t, p, c);
    }
    return r;
}

inline Texel border(const Texture &t)
{
    Texel r;

    for (int c = 0; c < 4; c++) {
        int32_t i;
        uint32_t u;

        std::memcpy(&i, &t.how.borderColor[c], 4);
        std::memcpy(&u, &t.how.borderColor[c], 4);
        r.c[c] = reads_float(t) ? t.how.borderColor[c]
                 : t.format.f == mcChannelFormatKindSigned ? i : u;
    }
    return r;
}

// One coordinate: the texels between which it lies (-1: border) and how far it
// is from the first one.
struct Axis {
    int at[2];
    double fraction;
};

inline double near_integer(double v)
{
    return std::fabs(v - std::round(v));
}

inline int address(mcTextureAddressMode mode, int i, int n)
{
    switch (mode) {
    case mcAddressModeBorder:
        return i < 0 || i >= n ? -1 : i;
    case mcAddressModeWrap:
        return (i % n + n) % n;
    default: // mirrored coordinates are in the image already
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    }
}

inline Axis resolve(const Texture &t, int k, double x, int n, bool linear)
{
    mcTextureAddressMode mode = t.how.addressMode[k];
    bool normalized = t.how.normalizedCoords || t.cube;
    Axis a = {};

    if (t.cube || (!normalized && (mode == mcAddressModeWrap ||
                                   mode == mcAddressModeMirror))) {
        mode = mcAddressModeClamp;
    }
    if (normalized) {
        double whole = std::floor(x);

        if (mode == mcAddressModeWrap) {
            x -= whole;
        } else if (mode == mcAddressModeMirror) {
            x -= whole;
            x = std::fmod(whole, 2) ? 1 - x : x;
        }
        x *= n;
    }
    if (linear) {
        double fixed = (x - 0.5) * 256;

        t.unsure |= normalized && near_integer(fixed + 0.5) < 1e-2;
        fixed = std::floor(fixed + 0.5);
        x = std::floor(fixed / 256);
        a.fraction = fixed / 256 - x;
    } else {
        t.unsure |= normalized && near_integer(x) < 1e-4;
        x = std::floor(x);
    }
    int i = x < -1e6 ? -1000000 : x > 1e6 ? 1000000 : (int)x;
    a.at[0] = address(mode, i, n);
    a.at[1] = address(mode, i + 1, n);
    return a;
}

struct Place {
    double x, y, z;
    int layer;
};

inline Texel in_level(const Texture &t, const Level &l, int dims,
                      const Place &p)
{
    bool linear = t.how.filterMode == mcFilterModeLinear;
    int layer = p.layer < 0 ? 0 : p.layer >= l.depth ? l.depth - 1 : p.layer;
    Axis x = resolve(t, 0, p.x, l.width, linear), y = {}, z = {};
    Texel sum = {};

    z.at[0] = z.at[1] = dims == 3 ? 0 : layer;
    if (dims > 1) {
        y = resolve(t, 1, p.y, l.height, linear);
    }
    if (dims > 2) {
        z = resolve(t, 2, p.z, l.depth, linear);
    }
    for (int i = 0; i < 8; i++) {
        int a = i & 1, b = i >> 1 & 1, c = i >> 2;
        double w = (a ? x.fraction : 1 - x.fraction) *
                   (b ? y.fraction : 1 - y.fraction) *
                   (c ? z.fraction : 1 - z.fraction);
        bool out = x.at[a] < 0 || y.at[b] < 0 || z.at[c] < 0;
        Texel v = out ? border(t) : texel(t, l, x.at[a], y.at[b], z.at[c]);

        for (int k = 0; k < 4 && w != 0; k++) {
            sum.c[k] += w * v.c[k];
        }
    }
    return sum;
}

inline double clamp(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

inline Texel fetch(const Texture &t, int dims, const Place &p, double lod)
{
    int last = (int)t.level.size() - 1;
    Texel a, b;

    if (!last) {
        return in_level(t, t.level[0], dims, p);
    }
    lod = clamp(lod + t.how.mipmapLevelBias, t.how.minMipmapLevelClamp,
                t.how.maxMipmapLevelClamp);
    lod = clamp(lod, 0, last);
    if (t.how.mipmapFilterMode == mcFilterModePoint) {
        t.unsure |= near_integer(lod + 0.5) < 1e-3;
        return in_level(t, t.level[(int)std::floor(lod + 0.5)], dims, p);
    }
    double fixed = std::floor(lod * 256 + 0.5);
    t.unsure |= near_integer(lod * 256 + 0.5) < 1e-2;
    int first = (int)fixed / 256, second = first < last ? first + 1 : last;
    double fraction = fixed / 256 - first;
    a = in_level(t, t.level[first], dims, p);
    b = in_level(t, t.level[second], dims, p);
    for (int c = 0; c < 4; c++) {
        a.c[c] = (1 - fraction) * a.c[c] + fraction * b.c[c];
    }
    return a;
}

// By the table of faces: which is the major axis, and what the others are.
inline Texel fetch_cube(const Texture &t, double x, double y, double z,
                        int layer, double lod)
{
    double m = std::fmax(std::fabs(x), std::fmax(std::fabs(y), std::fabs(z)));
    int layers = t.level[0].depth / 6, face;
    Place p = {};

    layer = layer < 0 ? 0 : layer >= layers ? layers - 1 : layer;
    if (x == m) {
        face = 0, p.x = -z, p.y = -y;
    } else if (x == -m) {
        face = 1, p.x = z, p.y = -y;
    } else if (y == m) {
        face = 2, p.x = x, p.y = z;
    } else if (y == -m) {
        face = 3, p.x = x, p.y = -z;
    } else if (z == m) {
        face = 4, p.x = x, p.y = -y;
    } else {
        face = 5, p.x = -x, p.y = -y;
    }
    p.x = (p.x / m + 1) / 2;
    p.y = (p.y / m + 1) / 2;
    p.layer = layer * 6 + face;
    return fetch(t, 2, p, lod);
}

// Lower left, lower right, upper right, upper left: where y grows downwards.
inline Texel gather(const Texture &t, double x, double y, int comp)
{
    const Level &l = t.level[0];
    Axis i = resolve(t, 0, x, l.width, true);
    Axis j = resolve(t, 1, y, l.height, true);
    const int dx[] = {0, 1, 1, 0}, dy[] = {1, 1, 0, 0};
    Texel r;

    for (int k = 0; k < 4; k++) {
        int a = i.at[dx[k]], b = j.at[dy[k]];

        r.c[k] = (a < 0 || b < 0 ? border(t) : texel(t, l, a, b, 0)).c[comp];
    }
    return r;
}

} // namespace reference

#endif
