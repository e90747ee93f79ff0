/* SPDX-License-Identifier: MIT */
/*
 * The other way to describe textures and surfaces, with formats and flags. The
 * objects and the errors are those of mc_texture.h; enumerators have the same
 * numbers. A chapter of mc_runtime_api.h, which includes it.
 */
#ifndef MCR_MC_TEXTURE_DRIVER_H
#define MCR_MC_TEXTURE_DRIVER_H

#include "mc_texture.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MCresourcetype {
    MC_RESOURCE_TYPE_ARRAY = 0,
    MC_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
    MC_RESOURCE_TYPE_LINEAR = 2,
    MC_RESOURCE_TYPE_PITCH2D = 3
} MCresourcetype;

typedef enum MCaddress_mode {
    MC_TR_ADDRESS_MODE_WRAP = 0,
    MC_TR_ADDRESS_MODE_CLAMP = 1,
    MC_TR_ADDRESS_MODE_MIRROR = 2,
    MC_TR_ADDRESS_MODE_BORDER = 3
} MCaddress_mode;

typedef enum MCfilter_mode {
    MC_TR_FILTER_MODE_POINT = 0,
    MC_TR_FILTER_MODE_LINEAR = 1
} MCfilter_mode;

/* Channels times bits. */
typedef enum MCresourceViewFormat {
    MC_RES_VIEW_FORMAT_NONE = 0x00,
    MC_RES_VIEW_FORMAT_UINT_1X8 = 0x01,
    MC_RES_VIEW_FORMAT_UINT_2X8 = 0x02,
    MC_RES_VIEW_FORMAT_UINT_4X8 = 0x03,
    MC_RES_VIEW_FORMAT_SINT_1X8 = 0x04,
    MC_RES_VIEW_FORMAT_SINT_2X8 = 0x05,
    MC_RES_VIEW_FORMAT_SINT_4X8 = 0x06,
    MC_RES_VIEW_FORMAT_UINT_1X16 = 0x07,
    MC_RES_VIEW_FORMAT_UINT_2X16 = 0x08,
    MC_RES_VIEW_FORMAT_UINT_4X16 = 0x09,
    MC_RES_VIEW_FORMAT_SINT_1X16 = 0x0a,
    MC_RES_VIEW_FORMAT_SINT_2X16 = 0x0b,
    MC_RES_VIEW_FORMAT_SINT_4X16 = 0x0c,
    MC_RES_VIEW_FORMAT_UINT_1X32 = 0x0d,
    MC_RES_VIEW_FORMAT_UINT_2X32 = 0x0e,
    MC_RES_VIEW_FORMAT_UINT_4X32 = 0x0f,
    MC_RES_VIEW_FORMAT_SINT_1X32 = 0x10,
    MC_RES_VIEW_FORMAT_SINT_2X32 = 0x11,
    MC_RES_VIEW_FORMAT_SINT_4X32 = 0x12,
    MC_RES_VIEW_FORMAT_FLOAT_1X16 = 0x13,
    MC_RES_VIEW_FORMAT_FLOAT_2X16 = 0x14,
    MC_RES_VIEW_FORMAT_FLOAT_4X16 = 0x15,
    MC_RES_VIEW_FORMAT_FLOAT_1X32 = 0x16,
    MC_RES_VIEW_FORMAT_FLOAT_2X32 = 0x17,
    MC_RES_VIEW_FORMAT_FLOAT_4X32 = 0x18,
    MC_RES_VIEW_FORMAT_UNSIGNED_BC1 = 0x19,
    MC_RES_VIEW_FORMAT_UNSIGNED_BC2 = 0x1a,
    MC_RES_VIEW_FORMAT_UNSIGNED_BC3 = 0x1b,
    MC_RES_VIEW_FORMAT_UNSIGNED_BC4 = 0x1c,
    MC_RES_VIEW_FORMAT_SIGNED_BC4 = 0x1d,
    MC_RES_VIEW_FORMAT_UNSIGNED_BC5 = 0x1e,
    MC_RES_VIEW_FORMAT_SIGNED_BC5 = 0x1f,
    MC_RES_VIEW_FORMAT_UNSIGNED_BC6H = 0x20,
    MC_RES_VIEW_FORMAT_SIGNED_BC6H = 0x21,
    MC_RES_VIEW_FORMAT_UNSIGNED_BC7 = 0x22
} MCresourceViewFormat;

/* Flags of a texture; without the first one integers are read as fractions. */
#define MC_TRSF_READ_AS_INTEGER                0x01
#define MC_TRSF_NORMALIZED_COORDINATES         0x02
#define MC_TRSF_SRGB                           0x10
#define MC_TRSF_DISABLE_TRILINEAR_OPTIMIZATION 0x20
#define MC_TRSF_SEAMLESS_CUBEMAP               0x40

typedef struct MC_RESOURCE_DESC {
    MCresourcetype resType;
    union {
        struct {
            mcArray_t hArray;
        } array;
        struct {
            mcMipmappedArray_t hMipmappedArray;
        } mipmap;
        struct {
            mcDeviceptr_t devPtr;
            mcArrayFormat format;
            unsigned int numChannels;
            size_t sizeInBytes;
        } linear;
        struct {
            mcDeviceptr_t devPtr;
            mcArrayFormat format;
            unsigned int numChannels;
            size_t width;
            size_t height;
            size_t pitchInBytes;
        } pitch2D;
        struct {
            int reserved[32];
        } reserved;
    } res;
    unsigned int flags; /* 0 */
} MC_RESOURCE_DESC;

typedef struct MC_TEXTURE_DESC {
    MCaddress_mode addressMode[3];
    MCfilter_mode filterMode;
    unsigned int flags; /* MC_TRSF_* */
    unsigned int maxAnisotropy;
    MCfilter_mode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    float borderColor[4];
    int reserved[12];
} MC_TEXTURE_DESC;

typedef struct MC_RESOURCE_VIEW_DESC {
    MCresourceViewFormat format;
    size_t width, height, depth;
    unsigned int firstMipmapLevel, lastMipmapLevel;
    unsigned int firstLayer, lastLayer;
    unsigned int reserved[16];
} MC_RESOURCE_VIEW_DESC;

mcError_t mcTexObjectCreate(mcTextureObject_t *object,
                            const MC_RESOURCE_DESC *resource,
                            const MC_TEXTURE_DESC *texture,
                            const MC_RESOURCE_VIEW_DESC *view);
mcError_t mcTexObjectDestroy(mcTextureObject_t object);
mcError_t mcTexObjectGetResourceDesc(MC_RESOURCE_DESC *resource,
                                     mcTextureObject_t object);
mcError_t mcTexObjectGetTextureDesc(MC_TEXTURE_DESC *texture,
                                    mcTextureObject_t object);
mcError_t mcTexObjectGetResourceViewDesc(MC_RESOURCE_VIEW_DESC *view,
                                         mcTextureObject_t object);
mcError_t mcSurfObjectCreate(mcSurfaceObject_t *object,
                             const MC_RESOURCE_DESC *resource);
mcError_t mcSurfObjectDestroy(mcSurfaceObject_t object);
mcError_t mcSurfObjectGetResourceDesc(MC_RESOURCE_DESC *resource,
                                      mcSurfaceObject_t object);

#ifdef __cplusplus
}
#endif

#endif
