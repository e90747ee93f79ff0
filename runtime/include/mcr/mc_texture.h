/* SPDX-License-Identifier: MIT */
/*
 * Textures and surfaces: ways to read and write arrays and other memory in
 * kernels, by coordinates. A chapter of mc_runtime_api.h, which includes it and
 * has the general rules; docs/textures.md.
 *
 * An object is of the current device and stays as it was made. It holds neither
 * array nor memory: they must exist while kernels use it. Beside the errors of
 * all calls:
 *   mcErrorInvalidValue              no such object, enumerator or kind of
 *                                    resource; memory that is not aligned to
 *                                    textureAlignment, rows that are not to
 *                                    texturePitchAlignment, or more texels than
 *                                    the device's properties say
 *   mcErrorInvalidResourceHandle     no such array
 *   mcErrorInvalidChannelDescriptor  as of mcMallocArray()
 *   mcErrorInvalidFilterSetting      filters what is not read as float
 *   mcErrorNotSupported              views of compressed blocks, cubemaps that
 *                                    are filtered across edges
 */
#ifndef MCR_MC_TEXTURE_H
#define MCR_MC_TEXTURE_H

#include "mc_array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what there is to read ---- */

typedef enum mcResourceType {
    mcResourceTypeArray = 0,
    mcResourceTypeMipmappedArray = 1,
    mcResourceTypeLinear = 2,
    mcResourceTypePitch2D = 3
} mcResourceType;

typedef struct mcResourceDesc {
    mcResourceType resType;
    union {
        struct {
            mcArray_t array;
        } array;
        struct {
            mcMipmappedArray_t mipmap;
        } mipmap;
        struct {
            void *devPtr;
            mcChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            mcChannelFormatDesc desc;
            size_t width; /* texels */
            size_t height;
            size_t pitchInBytes;
        } pitch2D;
    } res;
} mcResourceDesc;

typedef enum mcResourceViewFormat {
    mcResViewFormatNone = 0x00, /* the array's own */
    mcResViewFormatUnsignedChar1 = 0x01,
    mcResViewFormatUnsignedChar2 = 0x02,
    mcResViewFormatUnsignedChar4 = 0x03,
    mcResViewFormatSignedChar1 = 0x04,
    mcResViewFormatSignedChar2 = 0x05,
    mcResViewFormatSignedChar4 = 0x06,
    mcResViewFormatUnsignedShort1 = 0x07,
    mcResViewFormatUnsignedShort2 = 0x08,
    mcResViewFormatUnsignedShort4 = 0x09,
    mcResViewFormatSignedShort1 = 0x0a,
    mcResViewFormatSignedShort2 = 0x0b,
    mcResViewFormatSignedShort4 = 0x0c,
    mcResViewFormatUnsignedInt1 = 0x0d,
    mcResViewFormatUnsignedInt2 = 0x0e,
    mcResViewFormatUnsignedInt4 = 0x0f,
    mcResViewFormatSignedInt1 = 0x10,
    mcResViewFormatSignedInt2 = 0x11,
    mcResViewFormatSignedInt4 = 0x12,
    mcResViewFormatHalf1 = 0x13,
    mcResViewFormatHalf2 = 0x14,
    mcResViewFormatHalf4 = 0x15,
    mcResViewFormatFloat1 = 0x16,
    mcResViewFormatFloat2 = 0x17,
    mcResViewFormatFloat4 = 0x18,
    mcResViewFormatUnsignedBlockCompressed1 = 0x19,
    mcResViewFormatUnsignedBlockCompressed2 = 0x1a,
    mcResViewFormatUnsignedBlockCompressed3 = 0x1b,
    mcResViewFormatUnsignedBlockCompressed4 = 0x1c,
    mcResViewFormatSignedBlockCompressed4 = 0x1d,
    mcResViewFormatUnsignedBlockCompressed5 = 0x1e,
    mcResViewFormatSignedBlockCompressed5 = 0x1f,
    mcResViewFormatUnsignedBlockCompressed6H = 0x20,
    mcResViewFormatSignedBlockCompressed6H = 0x21,
    mcResViewFormatUnsignedBlockCompressed7 = 0x22
} mcResourceViewFormat;

/* A part of an array, its elements taken for others of the same size. The
 * extent is that of the array. */
typedef struct mcResourceViewDesc {
    mcResourceViewFormat format;
    size_t width, height, depth;
    unsigned int firstMipmapLevel, lastMipmapLevel;
    unsigned int firstLayer, lastLayer;
} mcResourceViewDesc;

/* ---- how to read it ---- */

typedef enum mcTextureAddressMode {
    mcAddressModeWrap = 0, /* this and mirror: of normalized coordinates; */
    mcAddressModeClamp = 1,
    mcAddressModeMirror = 2, /* ... of others they are clamp */
    mcAddressModeBorder = 3
} mcTextureAddressMode;

typedef enum mcTextureFilterMode {
    mcFilterModePoint = 0,
    mcFilterModeLinear = 1
} mcTextureFilterMode;

/* NormalizedFloat: integers of 8 and 16 bits as 0 to 1, or -1 to 1. */
typedef enum mcTextureReadMode {
    mcReadModeElementType = 0,
    mcReadModeNormalizedFloat = 1
} mcTextureReadMode;

typedef struct mcTextureDesc {
    mcTextureAddressMode addressMode[3];
    mcTextureFilterMode filterMode;
    mcTextureReadMode readMode;
    int sRGB; /* of unsigned 8-bit channels read as float, but the fourth */
    float borderColor[4]; /* of integers: their bits */
    int normalizedCoords;
    unsigned int maxAnisotropy; /* taken and not used: filters are isotropic */
    mcTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int seamlessCubemap;
} mcTextureDesc;

/* Kinds of texture<> and surface<>. */
#define mcTextureType1D             0x01
#define mcTextureType2D             0x02
#define mcTextureType3D             0x03
#define mcTextureTypeCubemap        0x0c
#define mcTextureType1DLayered      0xf1
#define mcTextureType2DLayered      0xf2
#define mcTextureTypeCubemapLayered 0xfc
#define mcSurfaceType1D             0x01
#define mcSurfaceType2D             0x02
#define mcSurfaceType3D             0x03
#define mcSurfaceTypeCubemap        0x0c
#define mcSurfaceType1DLayered      0xf1
#define mcSurfaceType2DLayered      0xf2
#define mcSurfaceTypeCubemapLayered 0xfc

/* What an access beyond the edge does: reads 0 and writes nothing, goes to the
 * nearest element, ends the kernel with mcErrorLaunchFailure. */
typedef enum mcSurfaceBoundaryMode {
    mcBoundaryModeZero = 0,
    mcBoundaryModeClamp = 1,
    mcBoundaryModeTrap = 2
} mcSurfaceBoundaryMode;

typedef enum mcSurfaceFormatMode {
    mcFormatModeForced = 0,
    mcFormatModeAuto = 1
} mcSurfaceFormatMode;

/* ---- objects ---- */

typedef unsigned long long mcTextureObject_t;
typedef unsigned long long mcSurfaceObject_t;

/* The view, of arrays only, may be NULL. */
mcError_t mcCreateTextureObject(mcTextureObject_t *object,
                                const mcResourceDesc *resource,
                                const mcTextureDesc *texture,
                                const mcResourceViewDesc *view);
/* Does not wait: kernels that use it must be complete. 0 is allowed. */
mcError_t mcDestroyTextureObject(mcTextureObject_t object);
/* What it was made with. */
mcError_t mcGetTextureObjectResourceDesc(mcResourceDesc *resource,
                                         mcTextureObject_t object);
mcError_t mcGetTextureObjectTextureDesc(mcTextureDesc *texture,
                                        mcTextureObject_t object);
/* mcErrorInvalidValue: it was made without a view. */
mcError_t mcGetTextureObjectResourceViewDesc(mcResourceViewDesc *view,
                                             mcTextureObject_t object);

/* Of an array made with mcArraySurfaceLoadStore, else mcErrorInvalidValue. */
mcError_t mcCreateSurfaceObject(mcSurfaceObject_t *object,
                                const mcResourceDesc *resource);
/* As mcDestroyTextureObject(). */
mcError_t mcDestroySurfaceObject(mcSurfaceObject_t object);
mcError_t mcGetSurfaceObjectResourceDesc(mcResourceDesc *resource,
                                         mcSurfaceObject_t object);

/* ---- references ---- */

/* What a texture<> variable of a file with kernels is: modes, which count when
 * it is bound, on each device apart. Kernels that were launched before use what
 * it was bound to then. */
typedef struct textureReference {
    int normalized; /* coordinates */
    mcTextureFilterMode filterMode;
    mcTextureAddressMode addressMode[3];
    mcChannelFormatDesc channelDesc;
    int sRGB;
    unsigned int maxAnisotropy;
    mcTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    mcTextureReadMode readMode;       /* of the variable's type */
    mcTextureObject_t textureObject;  /* kernels read it */
} textureReference;

typedef struct surfaceReference {
    mcChannelFormatDesc channelDesc;
    mcSurfaceObject_t surfaceObject;
} surfaceReference;

/*
 * Binding waits for the device when something was bound before. Errors are those
 * of objects, and mcErrorInvalidTexture, mcErrorInvalidSurface: not a variable
 * of the program.
 *
 * Memory that does not begin at a multiple of textureAlignment is bound from
 * the one before on, and *offset is the bytes between: programs add them to
 * numbers and x. offset may be NULL where it is 0. Of size counts what the
 * allocation has.
 */
mcError_t mcBindTexture(size_t *offset, const textureReference *texref,
                        const void *devPtr, const mcChannelFormatDesc *desc,
                        size_t size __dparm(0xffffffffu));
mcError_t mcBindTexture2D(size_t *offset, const textureReference *texref,
                          const void *devPtr, const mcChannelFormatDesc *desc,
                          size_t width, size_t height, size_t pitch);
/* desc is that of the array, else mcErrorInvalidChannelDescriptor. */
mcError_t mcBindTextureToArray(const textureReference *texref,
                               mcArray_const_t array,
                               const mcChannelFormatDesc *desc);
mcError_t mcBindTextureToMipmappedArray(const textureReference *texref,
                                        mcMipmappedArray_const_t mipmap,
                                        const mcChannelFormatDesc *desc);
/* Does not wait. What is not bound is left as it is. */
mcError_t mcUnbindTexture(const textureReference *texref);
/* mcErrorInvalidTextureBinding: it is not bound. */
mcError_t mcGetTextureAlignmentOffset(size_t *offset,
                                      const textureReference *texref);
mcError_t mcGetTextureReference(const textureReference **texref,
                                const void *symbol);
mcError_t mcBindSurfaceToArray(const surfaceReference *surfref,
                               mcArray_const_t array,
                               const mcChannelFormatDesc *desc);
mcError_t mcGetSurfaceReference(const surfaceReference **surfref,
                                const void *symbol);

/* The most texels of such elements in linear memory. */
mcError_t mcDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                             const mcChannelFormatDesc *desc,
                                             int device);

#ifdef __cplusplus
}
#endif

#endif
