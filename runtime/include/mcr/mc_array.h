/* SPDX-License-Identifier: MIT */
/*
 * Arrays: rows of elements whose place in memory is the runtime's business, for
 * copies. A chapter of mc_runtime_api.h, which includes it and has the general
 * rules; docs/arrays.md.
 *
 * An extent counts elements, rows and slices. A dimension of 0 does not exist:
 * {w, 0, 0} is one row, {w, h, 0} is rows, {w, h, d} is slices of rows; with
 * mcArrayLayered {w, 0, d} is layers of one row. Beside
 * the errors of all calls:
 *   mcErrorInvalidChannelDescriptor  not 1, 2 or 4 channels of the same 8, 16
 *                                    or 32 bits (of floats: 16 or 32)
 *   mcErrorInvalidResourceHandle     no such array
 *   mcErrorNotSupported              flags of attachments and of arrays whose
 *                                    memory comes later
 *   mcErrorInvalidValue              a copy reaches beyond an array
 */
#ifndef MCR_MC_ARRAY_H
#define MCR_MC_ARRAY_H

#include "mc_runtime_types.h"

#ifndef __dparm
#ifdef __cplusplus
#define __dparm(x) = x
#else
#define __dparm(x)
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MCmipmappedArray_st *mcMipmappedArray_t;
typedef const struct MCarray_st *mcArray_const_t;
typedef const struct MCmipmappedArray_st *mcMipmappedArray_const_t;

typedef enum mcChannelFormatKind {
    mcChannelFormatKindSigned = 0,
    mcChannelFormatKindUnsigned = 1,
    mcChannelFormatKindFloat = 2,
    mcChannelFormatKindNone = 3
} mcChannelFormatKind;

/* Bits of each channel of an element; 0: there is none. */
typedef struct mcChannelFormatDesc {
    int x, y, z, w;
    mcChannelFormatKind f;
} mcChannelFormatDesc;

/* docs/arrays.md; ColorAttachment and DeferredMapping are not
 * supported. */
#define mcArrayDefault 0x00
#define mcArrayLayered 0x01
#define mcArraySurfaceLoadStore 0x02
#define mcArrayCubemap 0x04
#define mcArrayTextureGather 0x08
#define mcArrayColorAttachment 0x20
#define mcArraySparse 0x40
#define mcArrayDeferredMapping 0x80

typedef enum mcArrayFormat {
    MC_AD_FORMAT_UNSIGNED_INT8 = 0x01,
    MC_AD_FORMAT_UNSIGNED_INT16 = 0x02,
    MC_AD_FORMAT_UNSIGNED_INT32 = 0x03,
    MC_AD_FORMAT_SIGNED_INT8 = 0x08,
    MC_AD_FORMAT_SIGNED_INT16 = 0x09,
    MC_AD_FORMAT_SIGNED_INT32 = 0x0a,
    MC_AD_FORMAT_HALF = 0x10,
    MC_AD_FORMAT_FLOAT = 0x20
} mcArrayFormat;

/* The other way to describe one; Height or Depth 0: there is none. */
typedef struct mcArrayDescriptor {
    size_t Width, Height;
    mcArrayFormat Format;
    unsigned int NumChannels;
} mcArrayDescriptor;

typedef struct mcArray3DDescriptor {
    size_t Width, Height, Depth;
    mcArrayFormat Format;
    unsigned int NumChannels;
    unsigned int Flags;
} mcArray3DDescriptor;

/* Never fails: what makes an array checks it. */
mcChannelFormatDesc mcCreateChannelDesc(int x, int y, int z, int w,
                                        mcChannelFormatKind f);
mcError_t mcGetChannelDesc(mcChannelFormatDesc *desc, mcArray_const_t array);

/* ---- making ---- */

/* Of the current device; what is in it is not cleared. */
mcError_t mcMallocArray(mcArray_t *array, const mcChannelFormatDesc *desc,
                        size_t width, size_t height __dparm(0),
                        unsigned int flags __dparm(0));
mcError_t mcMalloc3DArray(mcArray_t *array, const mcChannelFormatDesc *desc,
                          mcExtent extent, unsigned int flags __dparm(0));
/* Waits for the device, then frees. NULL is allowed; a level of a mipmapped
 * array is mcErrorInvalidResourceHandle. */
mcError_t mcFreeArray(mcArray_t array);
/* What it was made with; each pointer but the array may be NULL. */
mcError_t mcArrayGetInfo(mcChannelFormatDesc *desc, mcExtent *extent,
                         unsigned int *flags, mcArray_t array);
/* The same by the other description. */
mcError_t mcArrayCreate(mcArray_t *array, const mcArrayDescriptor *desc);
mcError_t mcArray3DCreate(mcArray_t *array, const mcArray3DDescriptor *desc);
/* mcFreeArray, but NULL is mcErrorInvalidResourceHandle. */
mcError_t mcArrayDestroy(mcArray_t array);
mcError_t mcArrayGetDescriptor(mcArrayDescriptor *desc, mcArray_t array);
mcError_t mcArray3DGetDescriptor(mcArray3DDescriptor *desc, mcArray_t array);

/* Arrays each of which has half the extent of the one before, rounded down, but
 * at least 1. numLevels is at most as many as it takes to halve the largest
 * dimension to 1, else mcErrorInvalidValue. */
mcError_t mcMallocMipmappedArray(mcMipmappedArray_t *mipmap,
                                 const mcChannelFormatDesc *desc,
                                 mcExtent extent, unsigned int numLevels,
                                 unsigned int flags __dparm(0));
/* A level, as an array that lives as long as the mipmapped one. */
mcError_t mcGetMipmappedArrayLevel(mcArray_t *level,
                                   mcMipmappedArray_const_t mipmap,
                                   unsigned int number);
/* Waits for the device, then frees, with all levels. NULL is allowed. */
mcError_t mcFreeMipmappedArray(mcMipmappedArray_t mipmap);
/* The same by the other description. */
mcError_t mcMipmappedArrayCreate(mcMipmappedArray_t *mipmap,
                                 const mcArray3DDescriptor *desc,
                                 unsigned int numLevels);
mcError_t mcMipmappedArrayGetLevel(mcArray_t *level, mcMipmappedArray_t mipmap,
                                   unsigned int number);
/* mcFreeMipmappedArray, but NULL is mcErrorInvalidResourceHandle. */
mcError_t mcMipmappedArrayDestroy(mcMipmappedArray_t mipmap);

/* ---- sparse arrays: tiles are mapped by mcMemMapArrayAsync() ---- */

#define mcArraySparsePropertiesSingleMipTail 0x1 /* all layers have one */

typedef struct mcArraySparseProperties {
    struct {
        unsigned int width, height, depth;
    } tileExtent; /* elements */
    unsigned int miptailFirstLevel; /* if there is a tail */
    unsigned long long miptailSize; /* bytes; 0: there is none */
    unsigned int flags;
    unsigned int reserved[4];
} mcArraySparseProperties;

/* mcErrorInvalidValue: made without mcArraySparse, or a level of a mipmapped
 * array. An array that is smaller than a tile is all tail. */
mcError_t mcArrayGetSparseProperties(mcArraySparseProperties *properties,
                                     mcArray_t array);
mcError_t mcMipmappedArrayGetSparseProperties(
    mcArraySparseProperties *properties, mcMipmappedArray_t mipmap);

/* ---- copies ----
 *
 * The array is device memory in the direction. Offsets in a row and widths are
 * bytes, offsets of rows are rows. Errors and waiting as of mcMemcpy2D(). Those
 * that name rows are of arrays of one slice, else mcErrorInvalidValue. */

/* count bytes from a place of the array on, row behind row. */
mcError_t mcMemcpyToArray(mcArray_t dst, size_t wOffset, size_t hOffset,
                          const void *src, size_t count, mcMemcpyKind kind);
mcError_t mcMemcpyToArrayAsync(mcArray_t dst, size_t wOffset, size_t hOffset,
                               const void *src, size_t count,
                               mcMemcpyKind kind, mcStream_t stream __dparm(0));
mcError_t mcMemcpyFromArray(void *dst, mcArray_const_t src, size_t wOffset,
                            size_t hOffset, size_t count, mcMemcpyKind kind);
mcError_t mcMemcpyFromArrayAsync(void *dst, mcArray_const_t src,
                                 size_t wOffset, size_t hOffset, size_t count,
                                 mcMemcpyKind kind,
                                 mcStream_t stream __dparm(0));
mcError_t mcMemcpyArrayToArray(mcArray_t dst, size_t wOffsetDst,
                               size_t hOffsetDst, mcArray_const_t src,
                               size_t wOffsetSrc, size_t hOffsetSrc,
                               size_t count, mcMemcpyKind kind
                               __dparm(mcMemcpyDeviceToDevice));

/* height rows of width bytes. */
mcError_t mcMemcpy2DToArray(mcArray_t dst, size_t wOffset, size_t hOffset,
                            const void *src, size_t spitch, size_t width,
                            size_t height, mcMemcpyKind kind);
mcError_t mcMemcpy2DToArrayAsync(mcArray_t dst, size_t wOffset, size_t hOffset,
                                 const void *src, size_t spitch, size_t width,
                                 size_t height, mcMemcpyKind kind,
                                 mcStream_t stream __dparm(0));
mcError_t mcMemcpy2DFromArray(void *dst, size_t dpitch, mcArray_const_t src,
                              size_t wOffset, size_t hOffset, size_t width,
                              size_t height, mcMemcpyKind kind);
mcError_t mcMemcpy2DFromArrayAsync(void *dst, size_t dpitch,
                                   mcArray_const_t src, size_t wOffset,
                                   size_t hOffset, size_t width, size_t height,
                                   mcMemcpyKind kind,
                                   mcStream_t stream __dparm(0));
mcError_t mcMemcpy2DArrayToArray(mcArray_t dst, size_t wOffsetDst,
                                 size_t hOffsetDst, mcArray_const_t src,
                                 size_t wOffsetSrc, size_t hOffsetSrc,
                                 size_t width, size_t height, mcMemcpyKind kind
                                 __dparm(mcMemcpyDeviceToDevice));

/* count bytes of an array of one row, from a byte of it on. */
mcError_t mcMemcpyHtoA(mcArray_t dst, size_t dstOffset, const void *srcHost,
                       size_t count);
mcError_t mcMemcpyHtoAAsync(mcArray_t dst, size_t dstOffset,
                            const void *srcHost, size_t count,
                            mcStream_t stream __dparm(0));
mcError_t mcMemcpyAtoH(void *dstHost, mcArray_t src, size_t srcOffset,
                       size_t count);
mcError_t mcMemcpyAtoHAsync(void *dstHost, mcArray_t src, size_t srcOffset,
                            size_t count, mcStream_t stream __dparm(0));
mcError_t mcMemcpyDtoA(mcArray_t dst, size_t dstOffset, mcDeviceptr_t srcDevice,
                       size_t count);
mcError_t mcMemcpyAtoD(mcDeviceptr_t dstDevice, mcArray_t src,
                       size_t srcOffset, size_t count);
mcError_t mcMemcpyAtoA(mcArray_t dst, size_t dstOffset, mcArray_t src,
                       size_t srcOffset, size_t count);

/* Of each side the memory type says which member counts: mcMemoryTypeHost,
 * mcMemoryTypeDevice, mcMemoryTypeArray, or mcMemoryTypeManaged for an address
 * in ...Device of whatever memory; others are mcErrorInvalidValue. Pitches and
 * positions as of mcMemcpy2D(). */
mcError_t mcMemcpyParam2D(const mc_Memcpy2D *pCopy);
mcError_t mcMemcpyParam2DAsync(const mc_Memcpy2D *pCopy,
                               mcStream_t stream __dparm(0));
/* The same: no alignment is asked for. */
mcError_t mcMemcpy2DUnaligned(const mc_Memcpy2D *pCopy);

#ifdef __cplusplus
}
#endif

#endif
