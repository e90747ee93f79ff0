/* SPDX-License-Identifier: MIT */
/* dim3 that is made of a uint3, and becomes one. */
#ifndef MC_HAVE_DIM3
#define MC_HAVE_DIM3

#ifdef __cplusplus
struct dim3 {
    unsigned int x, y, z;

    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1,
                   unsigned int z_ = 1)
        : x(x_), y(y_), z(z_)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr operator uint3() const
    {
        return uint3{ x, y, z };
    }
};
#else
typedef struct dim3 {
    unsigned int x, y, z;
} dim3;
#endif

#endif
