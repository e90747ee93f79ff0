/* SPDX-License-Identifier: MIT */
/*
 * Surface functions: elements of arrays as they are in memory. x is bytes, the
 * other coordinates are rows, slices, layers and faces.
 */
#ifndef MCR_DEVICE_SURFACE_H
#define MCR_DEVICE_SURFACE_H

#include "builtins.h"
#include "mcr/mc_texture_reference.h"
#include "mxgpu/texture.h"

/* Whether a coordinate is below a size, or may be made so. */
__MC_DEVICE__ bool __mc_surface_in(int *at, unsigned size, unsigned room,
                                   mcSurfaceBoundaryMode mode)
{
    int last = (int)(size - room);

    if (*at >= 0 && *at <= last) {
        return true;
    }
    if (mode == mcBoundaryModeTrap) {
        __trap();
    }
    *at = *at < 0 ? 0 : *at > last ? last : *at;
    return mode == mcBoundaryModeClamp && last >= 0;
}

/* NULL: it lies outside. */
template <class T>
__MC_DEVICE__ T *__mc_surface_at(mcSurfaceObject_t object, int x, int y, int z,
                                 mcSurfaceBoundaryMode mode)
{
    const struct mxgpu_texture *s = (const struct mxgpu_texture *)object;
    const struct mxgpu_texture_level *l = &s->level[0];
    bool in = __mc_surface_in(&x, l->width, sizeof(T), mode);

    in &= __mc_surface_in(&y, l->height, 1, mode);
    in &= __mc_surface_in(&z, l->depth, 1, mode);
    return in ? (T *)(l->base + (unsigned)z * l->slice +
                      (unsigned long)(unsigned)y * l->pitch + (unsigned)x)
              : nullptr;
}

template <class T>
__MC_DEVICE__ T __mc_surface_read(mcSurfaceObject_t object, int x, int y, int z,
                                  mcSurfaceBoundaryMode mode)
{
    const T *at = __mc_surface_at<T>(object, x, y, z, mode);
    T zero = {};

    return at ? *at : zero;
}

template <class T>
__MC_DEVICE__ void __mc_surface_write(T value, mcSurfaceObject_t object, int x,
                                      int y, int z, mcSurfaceBoundaryMode mode)
{
    T *at = __mc_surface_at<T>(object, x, y, z, mode);

    if (at) {
        *at = value;
    }
}

#define __MC_STRIP(...) __VA_ARGS__

/* The forms of reading and writing a kind of surface. */
#define __MC_SURFACE(name, kind, parameters, y, z)                             \
    template <class T>                                                         \
    __MC_DEVICE__ T name##read(                                                \
        mcSurfaceObject_t object, int x, __MC_STRIP parameters                 \
        mcSurfaceBoundaryMode mode = mcBoundaryModeTrap)                       \
    {                                                                          \
        return __mc_surface_read<T>(object, x, y, z, mode);                    \
    }                                                                          \
    template <class T>                                                         \
    __MC_DEVICE__ void name##read(                                             \
        T *value, mcSurfaceObject_t object, int x, __MC_STRIP parameters       \
        mcSurfaceBoundaryMode mode = mcBoundaryModeTrap)                       \
    {                                                                          \
        *value = __mc_surface_read<T>(object, x, y, z, mode);                  \
    }                                                                          \
    template <class T>                                                         \
    __MC_DEVICE__ void name##write(                                            \
        T value, mcSurfaceObject_t object, int x, __MC_STRIP parameters        \
        mcSurfaceBoundaryMode mode = mcBoundaryModeTrap)                       \
    {                                                                          \
        __mc_surface_write<T>(value, object, x, y, z, mode);                   \
    }                                                                          \
    template <class T, class S>                                                \
    __MC_DEVICE__ T name##read(                                                \
        const surface<S, kind> &ref, int x, __MC_STRIP parameters              \
        mcSurfaceBoundaryMode mode = mcBoundaryModeTrap)                       \
    {                                                                          \
        return __mc_surface_read<T>(ref.surfaceObject, x, y, z, mode);         \
    }                                                                          \
    template <class T, class S>                                                \
    __MC_DEVICE__ void name##read(                                             \
        T *value, const surface<S, kind> &ref, int x, __MC_STRIP parameters    \
        mcSurfaceBoundaryMode mode = mcBoundaryModeTrap)                       \
    {                                                                          \
        *value = __mc_surface_read<T>(ref.surfaceObject, x, y, z, mode);       \
    }                                                                          \
    template <class T, class S>                                                \
    __MC_DEVICE__ void name##write(                                            \
        T value, const surface<S, kind> &ref, int x, __MC_STRIP parameters     \
        mcSurfaceBoundaryMode mode = mcBoundaryModeTrap)                       \
    {                                                                          \
        __mc_surface_write<T>(value, ref.surfaceObject, x, y, z, mode);        \
    }

__MC_SURFACE(surf1D, mcSurfaceType1D, (), 0, 0)
__MC_SURFACE(surf2D, mcSurfaceType2D, (int y,), y, 0)
__MC_SURFACE(surf3D, mcSurfaceType3D, (int y, int z,), y, z)
__MC_SURFACE(surf1DLayered, mcSurfaceType1DLayered, (int layer,), 0, layer)
__MC_SURFACE(surf2DLayered, mcSurfaceType2DLayered, (int y, int layer,), y,
             layer)
__MC_SURFACE(surfCubemap, mcSurfaceTypeCubemap, (int y, int face,), y, face)
__MC_SURFACE(surfCubemapLayered, mcSurfaceTypeCubemapLayered,
             (int y, int layerFace,), y, layerFace)

#undef __MC_SURFACE
#undef __MC_STRIP

#endif
