/* SPDX-License-Identifier: MIT */
/* texture<> and surface<> variables of files with kernels, and binding them. */
#ifndef MCR_MC_TEXTURE_REFERENCE_H
#define MCR_MC_TEXTURE_REFERENCE_H

#include "mc_runtime_api.h"

/* At namespace scope; T is the type of the texels, type is mcTextureType*. */
template <class T, int type = mcTextureType1D,
          mcTextureReadMode mode = mcReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture
    : public textureReference {
    texture(int norm = 0, mcTextureFilterMode filter = mcFilterModePoint,
            mcTextureAddressMode address = mcAddressModeClamp)
        : texture(norm, filter, address, mcCreateChannelDesc<T>())
    {
    }

    texture(int norm, mcTextureFilterMode filter, mcTextureAddressMode address,
            mcChannelFormatDesc desc)
        : textureReference{norm, filter, {address, address, address}, desc, 0,
                           0, mcFilterModePoint, 0, 0, 0, 0, mode, 0}
    {
    }
};

template <class T = void, int type = mcSurfaceType1D>
struct __attribute__((device_builtin_surface_type)) surface
    : public surfaceReference {
    surface() : surfaceReference{} {}
};

/* ---- textures ---- */

template <class T, int type, mcTextureReadMode mode>
static inline mcError_t mcBindTexture(size_t *offset,
                                      const texture<T, type, mode> &tex,
                                      const void *devPtr,
                                      const mcChannelFormatDesc &desc,
                                      size_t size = 0xffffffffu)
{
    return mcBindTexture(offset, (const textureReference *)&tex, devPtr, &desc,
                         size);
}

template <class T, int type, mcTextureReadMode mode>
static inline mcError_t mcBindTexture(size_t *offset,
                                      const texture<T, type, mode> &tex,
                                      const void *devPtr,
                                      size_t size = 0xffffffffu)
{
    return mcBindTexture(offset, tex, devPtr, tex.channelDesc, size);
}

template <class T, int type, mcTextureReadMode mode>
static inline mcError_t mcBindTexture2D(size_t *offset,
                                        const texture<T, type, mode> &tex,
                                        const void *devPtr,
                                        const mcChannelFormatDesc &desc,
                                        size_t width, size_t height,
                                        size_t pitch)
{
    return mcBindTexture2D(offset, (const textureReference *)&tex, devPtr,
                           &desc, width, height, pitch);
}

template <class T, int type, mcTextureReadMode mode>
static inline mcError_t mcBindTexture2D(size_t *offset,
                                        const texture<T, type, mode> &tex,
                                        const void *devPtr, size_t width,
                                        size_t height, size_t pitch)
{
    return mcBindTexture2D(offset, tex, devPtr, tex.channelDesc, width, height,
                           pitch);
}

template <class T, int type, mcTextureReadMode mode>
static inline mcError_t mcBindTextureToArray(const texture<T, type, mode> &tex,
                                             mcArray_const_t array,
                                             const mcChannelFormatDesc &desc)
{
    return mcBindTextureToArray((const textureReference *)&tex, array, &desc);
}

template <class T, int type, mcTextureReadMode mode>
static inline mcError_t mcBindTextureToArray(const texture<T, type, mode> &tex,
                                             mcArray_const_t array)
{
    mcChannelFormatDesc desc;
    mcError_t error = mcGetChannelDesc(&desc, array);

    return error == mcSuccess ? mcBindTextureToArray(tex, array, desc) : error;
}

template <class T, int type, mcTextureReadMode mode>
static inline mcError_t mcBindTextureToMipmappedArray(
    const texture<T, type, mode> &tex, mcMipmappedArray_const_t mipmap,
    const mcChannelFormatDesc &desc)
{
    return mcBindTextureToMipmappedArray((const textureReference *)&tex, mipmap,
                                         &desc);
}

template <class T, int type, mcTextureReadMode mode>
static inline mcError_t mcBindTextureToMipmappedArray(
    const texture<T, type, mode> &tex, mcMipmappedArray_const_t mipmap)
{
    mcChannelFormatDesc desc;
    mcArray_t level;
    mcError_t error = mcGetMipmappedArrayLevel(&level, mipmap, 0);

    if (error == mcSuccess) {
        error = mcGetChannelDesc(&desc, level);
    }
    return error == mcSuccess
               ? mcBindTextureToMipmappedArray(tex, mipmap, desc)
               : error;
}

template <class T, int type, mcTextureReadMode mode>
static inline mcError_t mcUnbindTexture(const texture<T, type, mode> &tex)
{
    return mcUnbindTexture((const textureReference *)&tex);
}

template <class T, int type, mcTextureReadMode mode>
static inline mcError_t mcGetTextureAlignmentOffset(
    size_t *offset, const texture<T, type, mode> &tex)
{
    return mcGetTextureAlignmentOffset(offset, (const textureReference *)&tex);
}

/* ---- surfaces ---- */

template <class T, int type>
static inline mcError_t mcBindSurfaceToArray(const surface<T, type> &surf,
                                             mcArray_const_t array,
                                             const mcChannelFormatDesc &desc)
{
    return mcBindSurfaceToArray((const surfaceReference *)&surf, array, &desc);
}

template <class T, int type>
static inline mcError_t mcBindSurfaceToArray(const surface<T, type> &surf,
                                             mcArray_const_t array)
{
    mcChannelFormatDesc desc;
    mcError_t error = mcGetChannelDesc(&desc, array);

    return error == mcSuccess ? mcBindSurfaceToArray(surf, array, desc) : error;
}

#endif
