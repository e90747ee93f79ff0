/* SPDX-License-Identifier: MIT */
/* CUDA's functions whose shape is not that of the mc* interface. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "adaptors/lib/adaptor.h"
#include "adaptors/lib/properties.h"

MC_EXPORT const char *cudaGetErrorName(cudaError_t error)
{
    const char *name = adaptor_error_name((int)error);

    return name ? name : "unrecognized error code";
}

const char *mcGetErrorString_of_library(int error)
    __asm__("mcGetErrorString");

MC_EXPORT const char *cudaGetErrorString(cudaError_t error)
{
    return adaptor_error_name((int)error) ?
               mcGetErrorString_of_library((int)error) :
               "unrecognized error code";
}

/* Of the interface, not of what is below it: programs compare them. */
MC_EXPORT cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version) {
        return cudaErrorInvalidValue;
    }
    *version = CUDART_VERSION;
    return cudaSuccess;
}

MC_EXPORT cudaError_t cudaDriverGetVersion(int *version)
{
    return cudaRuntimeGetVersion(version);
}

/* ---- properties ---- */

#define MEMBER(attribute, member)                                              \
    { cudaDevAttr##attribute, offsetof(struct cudaDeviceProp, member) }

/* Members of type int that are attributes. */
static const AdaptorMember members[] = {
    MEMBER(MaxTexture1DWidth, maxTexture1D),
    MEMBER(MaxTexture1DMipmappedWidth, maxTexture1DMipmap),
    MEMBER(MaxTexture1DLinearWidth, maxTexture1DLinear),
    MEMBER(MaxTexture2DWidth, maxTexture2D[0]),
    MEMBER(MaxTexture2DHeight, maxTexture2D[1]),
    MEMBER(MaxTexture2DMipmappedWidth, maxTexture2DMipmap[0]),
    MEMBER(MaxTexture2DMipmappedHeight, maxTexture2DMipmap[1]),
    MEMBER(MaxTexture2DLinearWidth, maxTexture2DLinear[0]),
    MEMBER(MaxTexture2DLinearHeight, maxTexture2DLinear[1]),
    MEMBER(MaxTexture2DLinearPitch, maxTexture2DLinear[2]),
    MEMBER(MaxTexture3DWidth, maxTexture3D[0]),
    MEMBER(MaxTexture3DHeight, maxTexture3D[1]),
    MEMBER(MaxTexture3DDepth, maxTexture3D[2]),
    MEMBER(MaxTexture3DWidthAlt, maxTexture3DAlt[0]),
    MEMBER(MaxTexture3DHeightAlt, maxTexture3DAlt[1]),
    MEMBER(MaxTexture3DDepthAlt, maxTexture3DAlt[2]),
    MEMBER(MaxTextureCubemapWidth, maxTextureCubemap),
    MEMBER(MaxTexture1DLayeredWidth, maxTexture1DLayered[0]),
    MEMBER(MaxTexture1DLayeredLayers, maxTexture1DLayered[1]),
    MEMBER(MaxTexture2DLayeredWidth, maxTexture2DLayered[0]),
    MEMBER(MaxTexture2DLayeredHeight, maxTexture2DLayered[1]),
    MEMBER(MaxTexture2DLayeredLayers, maxTexture2DLayered[2]),
    MEMBER(MaxTextureCubemapLayeredWidth, maxTextureCubemapLayered[0]),
    MEMBER(MaxTextureCubemapLayeredLayers, maxTextureCubemapLayered[1]),
    MEMBER(MaxSurface1DWidth, maxSurface1D),
    MEMBER(MaxSurface2DWidth, maxSurface2D[0]),
    MEMBER(MaxSurface2DHeight, maxSurface2D[1]),
    MEMBER(MaxSurface3DWidth, maxSurface3D[0]),
    MEMBER(MaxSurface3DHeight, maxSurface3D[1]),
    MEMBER(MaxSurface3DDepth, maxSurface3D[2]),
    MEMBER(MaxSurface1DLayeredWidth, maxSurface1DLayered[0]),
    MEMBER(MaxSurface1DLayeredLayers, maxSurface1DLayered[1]),
    MEMBER(MaxSurface2DLayeredWidth, maxSurface2DLayered[0]),
    MEMBER(MaxSurface2DLayeredHeight, maxSurface2DLayered[1]),
    MEMBER(MaxSurface2DLayeredLayers, maxSurface2DLayered[2]),
    MEMBER(MaxSurfaceCubemapWidth, maxSurfaceCubemap),
    MEMBER(MaxSurfaceCubemapLayeredWidth, maxSurfaceCubemapLayered[0]),
    MEMBER(MaxSurfaceCubemapLayeredLayers, maxSurfaceCubemapLayered[1]),
    MEMBER(TccDriver, tccDriver),
    MEMBER(MaxPersistingL2CacheSize, persistingL2CacheMaxSize),
    MEMBER(GlobalL1CacheSupported, globalL1CacheSupported),
    MEMBER(LocalL1CacheSupported, localL1CacheSupported),
    MEMBER(IsMultiGpuBoard, isMultiGpuBoard),
    MEMBER(MultiGpuBoardGroupID, multiGpuBoardGroupID),
    MEMBER(HostNativeAtomicSupported, hostNativeAtomicSupported),
    MEMBER(SingleToDoublePrecisionPerfRatio, singleToDoublePrecisionPerfRatio),
    MEMBER(ComputePreemptionSupported, computePreemptionSupported),
    MEMBER(CanUseHostPointerForRegisteredMem,
           canUseHostPointerForRegisteredMem),
    MEMBER(PageableMemoryAccessUsesHostPageTables,
           pageableMemoryAccessUsesHostPageTables),
    MEMBER(DirectManagedMemAccessFromHost, directManagedMemAccessFromHost),
    MEMBER(MaxAccessPolicyWindowSize, accessPolicyMaxWindowSize),
};

static void copy_properties(struct cudaDeviceProp *to,
                            const mcDeviceProp_t *from)
{
    ADAPTOR_COMMON_MEMBERS(ADAPTOR_COPY)
}

MC_EXPORT cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop,
                                              int device)
{
    mcDeviceProp_t from;
    cudaError_t error = adaptor_error(mcGetDeviceProperties(
        prop ? &from : NULL, device));
    int value;

    if (error != cudaSuccess) {
        return error;
    }
    memset(prop, 0, sizeof(*prop));
    copy_properties(prop, &from);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        error = cudaDeviceGetAttribute((int *)((char *)prop +
                                               members[i].offset),
                                       (cudaDeviceAttr)members[i].attribute,
                                       device);
        if (error != cudaSuccess) {
            return error;
        }
    }
    memcpy(prop->maxTexture2DGather, prop->maxTexture2D,
           sizeof(prop->maxTexture2DGather));
    error = cudaDeviceGetAttribute(&value, cudaDevAttrSurfaceAlignment, device);
    prop->surfaceAlignment = (size_t)value;
    if (error == cudaSuccess) {
        error = cudaDeviceGetAttribute(
            &value, cudaDevAttrReservedSharedMemoryPerBlock, device);
        prop->reservedSharedMemPerBlock = (size_t)value;
    }
    if (error == cudaSuccess) {
        error = adaptor_error(mcDeviceGetLuid(
            prop->luid, &prop->luidDeviceNodeMask, device));
    }
    return error;
}

MC_EXPORT cudaError_t cudaChooseDevice(int *device,
                                       const struct cudaDeviceProp *prop)
{
    mcDeviceProp_t wanted;

    if (!prop) {
        return mcChooseDevice(device, NULL);
    }
    memset(&wanted, 0, sizeof(wanted));
    memcpy(wanted.name, prop->name, sizeof(wanted.name));
    wanted.major = prop->major;
    wanted.minor = prop->minor;
    wanted.totalGlobalMem = prop->totalGlobalMem;
    wanted.multiProcessorCount = prop->multiProcessorCount;
    wanted.sharedMemPerBlock = prop->sharedMemPerBlock;
    wanted.maxThreadsPerBlock = prop->maxThreadsPerBlock;
    wanted.clockRate = prop->clockRate;
    return adaptor_error(mcChooseDevice(device, &wanted));
}

/* ---- memory and streams ---- */

MC_EXPORT cudaError_t cudaMallocHost(void **ptr, size_t size)
{
    return mcMallocHost(ptr, size, mcMallocHostDefault);
}

MC_EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                               cudaStreamCaptureStatus *status,
                                               unsigned long long *id)
{
    return adaptor_error(
        mcStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL));
}

MC_EXPORT cudaError_t cudaStreamGetCaptureInfo_ptsz(
    cudaStream_t stream, cudaStreamCaptureStatus *status,
    unsigned long long *id);
MC_EXPORT cudaError_t cudaStreamGetCaptureInfo_ptsz(
    cudaStream_t stream, cudaStreamCaptureStatus *status,
    unsigned long long *id)
{
    return cudaStreamGetCaptureInfo(stream ? stream : cudaStreamPerThread,
                                    status, id);
}

static struct cudaMemcpy3DParms peer_copy(
    const struct cudaMemcpy3DPeerParms *p)
{
    return (struct cudaMemcpy3DParms){
        .srcArray = p->srcArray, .srcPos = p->srcPos, .srcPtr = p->srcPtr,
        .dstArray = p->dstArray, .dstPos = p->dstPos, .dstPtr = p->dstPtr,
        .extent = p->extent, .kind = cudaMemcpyDefault,
    };
}

static cudaError_t check_peers(const struct cudaMemcpy3DPeerParms *p)
{
    int count;
    cudaError_t error = p ? cudaGetDeviceCount(&count) : cudaErrorInvalidValue;

    if (error == cudaSuccess &&
        (p->srcDevice < 0 || p->srcDevice >= count || p->dstDevice < 0 ||
         p->dstDevice >= count)) {
        error = cudaErrorInvalidDevice;
    }
    return error;
}

MC_EXPORT cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    cudaError_t error = check_peers(p);

    if (error == cudaSuccess) {
        struct cudaMemcpy3DParms copy = peer_copy(p);

        error = adaptor_error(mcMemcpy3DPeer(&copy));
    }
    return error;
}

MC_EXPORT cudaError_t cudaMemcpy3DPeerAsync(
    const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    cudaError_t error = check_peers(p);

    if (error == cudaSuccess) {
        struct cudaMemcpy3DParms copy = peer_copy(p);

        error = adaptor_error(mcMemcpy3DPeerAsync(&copy, stream));
    }
    return error;
}

MC_EXPORT cudaError_t cudaMemcpy3DPeer_ptds(
    const struct cudaMemcpy3DPeerParms *p);
MC_EXPORT cudaError_t cudaMemcpy3DPeer_ptds(
    const struct cudaMemcpy3DPeerParms *p)
{
    return cudaMemcpy3DPeer(p);
}

MC_EXPORT cudaError_t cudaMemcpy3DPeerAsync_ptsz(
    const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream);
MC_EXPORT cudaError_t cudaMemcpy3DPeerAsync_ptsz(
    const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return cudaMemcpy3DPeerAsync(p, stream ? stream : cudaStreamPerThread);
}

/* ---- external memory ---- */

/* By the bits of a channel; 0: there is no such format. */
static mcArrayFormat array_format(const struct cudaChannelFormatDesc *desc)
{
    int bits = desc->x;

    switch (desc->f) {
    case cudaChannelFormatKindUnsigned:
        return bits == 8 ? MC_AD_FORMAT_UNSIGNED_INT8 :
               bits == 16 ? MC_AD_FORMAT_UNSIGNED_INT16 :
               bits == 32 ? MC_AD_FORMAT_UNSIGNED_INT32 : (mcArrayFormat)0;
    case cudaChannelFormatKindSigned:
        return bits == 8 ? MC_AD_FORMAT_SIGNED_INT8 :
               bits == 16 ? MC_AD_FORMAT_SIGNED_INT16 :
               bits == 32 ? MC_AD_FORMAT_SIGNED_INT32 : (mcArrayFormat)0;
    case cudaChannelFormatKindFloat:
        return bits == 16 ? MC_AD_FORMAT_HALF :
               bits == 32 ? MC_AD_FORMAT_FLOAT : (mcArrayFormat)0;
    default:
        return (mcArrayFormat)0;
    }
}

MC_EXPORT cudaError_t cudaExternalMemoryGetMappedMipmappedArray(
    cudaMipmappedArray_t *mipmap, cudaExternalMemory_t extMem,
    const struct cudaExternalMemoryMipmappedArrayDesc *from)
{
    mcExternalMemoryMipmappedArrayDesc desc;

    if (!from) {
        return cudaErrorInvalidValue;
    }
    memset(&desc, 0, sizeof(desc));
    desc.offset = from->offset;
    desc.numLevels = from->numLevels;
    desc.arrayDesc.Width = from->extent.width;
    desc.arrayDesc.Height = from->extent.height;
    desc.arrayDesc.Depth = from->extent.depth;
    desc.arrayDesc.Flags = from->flags;
    desc.arrayDesc.Format = array_format(&from->formatDesc);
    desc.arrayDesc.NumChannels = !from->formatDesc.y ? 1 :
                                 !from->formatDesc.z ? 2 :
                                 !from->formatDesc.w ? 3 : 4;
    return adaptor_error(
        mcExternalMemoryGetMappedMipmappedArray(mipmap, extMem, &desc));
}

/* ---- others ---- */

MC_EXPORT cudaError_t cudaGetDriverEntryPoint(const char *symbol,
                                              void **funcPtr,
                                              unsigned long long flags)
{
    char name[128];
    Dl_info here;
    void *library;

    if (!symbol || !*symbol || !funcPtr ||
        flags > cudaEnablePerThreadDefaultStream) {
        return cudaErrorInvalidValue;
    }
    *funcPtr = NULL;
    if (!dladdr((void *)cudaGetDriverEntryPoint, &here) ||
        !(library = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD))) {
        return cudaErrorUnknown;
    }
    if (flags == cudaEnablePerThreadDefaultStream) {
        snprintf(name, sizeof(name), "%s_ptsz", symbol);
        *funcPtr = dlsym(library, name);
    }
    if (!*funcPtr) {
        *funcPtr = dlsym(library, symbol);
    }
    dlclose(library);
    return cudaSuccess;
}

MC_EXPORT cudaError_t cudaSetDoubleForDevice(double *d)
{
    return d ? cudaSuccess : cudaErrorInvalidValue;
}

MC_EXPORT cudaError_t cudaSetDoubleForHost(double *d)
{
    return d ? cudaSuccess : cudaErrorInvalidValue;
}
