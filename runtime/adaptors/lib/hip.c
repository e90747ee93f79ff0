/* SPDX-License-Identifier: MIT */
/* HIP's functions whose shape is not that of the mc* interface. */
#include <limits.h>
#include <string.h>

#include <hip/hip_runtime_api.h>

#include "adaptors/lib/adaptor.h"
#include "adaptors/lib/properties.h"

/* ---- errors ---- */

const char *mcGetErrorString_of_library(int error)
    __asm__("mcGetErrorString");

MC_EXPORT const char *hipGetErrorName(hipError_t error)
{
    const char *name = adaptor_error_name((int)error);

    return name ? name : "hipErrorUnknown";
}

MC_EXPORT const char *hipGetErrorString(hipError_t error)
{
    return adaptor_error_name((int)error) ?
               mcGetErrorString_of_library((int)error) : "unknown error";
}

MC_EXPORT hipError_t hipDrvGetErrorName(hipError_t error, const char **name)
{
    if (!name) {
        return hipErrorInvalidValue;
    }
    *name = adaptor_error_name((int)error);
    return *name ? hipSuccess : hipErrorInvalidValue;
}

MC_EXPORT hipError_t hipDrvGetErrorString(hipError_t error, const char **text)
{
    if (!text) {
        return hipErrorInvalidValue;
    }
    *text = adaptor_error_name((int)error) ?
                mcGetErrorString_of_library((int)error) : NULL;
    return *text ? hipSuccess : hipErrorInvalidValue;
}

/* ---- versions: of the interface, not of what is below it ---- */

MC_EXPORT hipError_t hipRuntimeGetVersion(int *version)
{
    if (!version) {
        return hipErrorInvalidValue;
    }
    *version = HIP_VERSION;
    return hipSuccess;
}

MC_EXPORT hipError_t hipDriverGetVersion(int *version)
{
    return hipRuntimeGetVersion(version);
}

/* ---- devices ---- */

#define MEMBER(attribute, member)                                              \
    { hipDeviceAttribute##attribute, offsetof(hipDeviceProp_t, member) }

static const AdaptorMember members[] = {
    MEMBER(MaxTexture1DWidth, maxTexture1D),
    MEMBER(Texture1DLinearWidth, maxTexture1DLinear),
    MEMBER(MaxTexture2DWidth, maxTexture2D[0]),
    MEMBER(MaxTexture2DHeight, maxTexture2D[1]),
    MEMBER(MaxTexture3DWidth, maxTexture3D[0]),
    MEMBER(MaxTexture3DHeight, maxTexture3D[1]),
    MEMBER(MaxTexture3DDepth, maxTexture3D[2]),
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
    MEMBER(MemoryPoolsSupported, memoryPoolsSupported),
    MEMBER(CooperativeMultiDeviceUnmatchedFunc,
           cooperativeMultiDeviceUnmatchedFunc),
    MEMBER(CooperativeMultiDeviceUnmatchedGridDim,
           cooperativeMultiDeviceUnmatchedGridDim),
    MEMBER(CooperativeMultiDeviceUnmatchedBlockDim,
           cooperativeMultiDeviceUnmatchedBlockDim),
    MEMBER(CooperativeMultiDeviceUnmatchedSharedMem,
           cooperativeMultiDeviceUnmatchedSharedMem),
    MEMBER(AsicRevision, asicRevision),
};

static void copy_properties(hipDeviceProp_t *to, const mcDeviceProp_t *from)
{
    ADAPTOR_COMMON_MEMBERS(ADAPTOR_COPY)
}

/* What the language of kernels has. */
static const hipDeviceArch_t arch = {
    .hasGlobalInt32Atomics = 1,
    .hasGlobalFloatAtomicExch = 1,
    .hasSharedInt32Atomics = 1,
    .hasSharedFloatAtomicExch = 1,
    .hasFloatAtomicAdd = 1,
    .hasGlobalInt64Atomics = 1,
    .hasSharedInt64Atomics = 1,
    .hasDoubles = 1,
    .hasWarpVote = 1,
    .hasWarpBallot = 1,
    .hasWarpShuffle = 1,
    .hasFunnelShift = 1,
    .hasThreadFenceSystem = 1,
    .hasSyncThreadsExt = 1,
    .has3dGrid = 1,
};

MC_EXPORT hipError_t hipGetDeviceProperties(hipDeviceProp_t *prop,
                                            int deviceId)
{
    mcDeviceProp_t from;
    hipError_t error = adaptor_error(
        mcGetDeviceProperties(prop ? &from : NULL, deviceId));

    if (error != hipSuccess) {
        return error;
    }
    memset(prop, 0, sizeof(*prop));
    copy_properties(prop, &from);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        error = hipDeviceGetAttribute(
            (int *)((char *)prop + members[i].offset),
            (hipDeviceAttribute_t)members[i].attribute, deviceId);
        if (error != hipSuccess) {
            return error;
        }
    }
    memcpy(prop->gcnArchName, from.mxArchName, sizeof(prop->gcnArchName));
    prop->maxSharedMemoryPerMultiProcessor = prop->sharedMemPerMultiprocessor;
    prop->clockInstructionRate = prop->clockRate;
    prop->arch = arch;
    return adaptor_error(mcDeviceGetLuid(
        prop->luid, &prop->luidDeviceNodeMask, deviceId));
}

MC_EXPORT hipError_t hipChooseDevice(int *device, const hipDeviceProp_t *prop)
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

/* ---- memory ---- */

MC_EXPORT hipError_t hipHostMalloc(void **ptr, size_t size, unsigned int flags)
{
    return mcHostMalloc(ptr, size,
                        flags & ~(hipHostMallocNumaUser |
                                  hipHostMallocCoherent |
                                  hipHostMallocNonCoherent));
}

MC_EXPORT hipError_t hipMallocHost(void **ptr, size_t size)
{
    return mcHostMalloc(ptr, size, hipHostMallocDefault);
}

MC_EXPORT hipError_t hipHostFree(void *ptr)
{
    return hipFreeHost(ptr);
}

MC_EXPORT hipError_t hipMemPtrGetInfo(void *ptr, size_t *size)
{
    hipDeviceptr_t base;

    return ptr && size ? hipMemGetAddressRange(&base, size, ptr) :
                         hipErrorInvalidValue;
}

MC_EXPORT hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes,
                                             const void *ptr)
{
    mcPointerAttribute_t from;
    hipError_t error = adaptor_error(
        mcPointerGetAttributes(attributes ? &from : NULL, ptr));

    if (error == hipSuccess) {
        attributes->type = from.type;
        attributes->device = from.device;
        attributes->devicePointer = from.devicePointer;
        attributes->hostPointer = from.hostPointer;
        attributes->isManaged = from.isManaged;
        attributes->allocationFlags = from.allocationFlags;
    }
    return error;
}

/* ---- streams and events ---- */

MC_EXPORT hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags)
{
    return adaptor_error(mcEventCreateWithFlags(
        event, flags & ~(hipEventDisableSystemFence | hipEventReleaseToDevice |
                         hipEventReleaseToSystem)));
}

MC_EXPORT hipError_t hipStreamGetCaptureInfo(hipStream_t stream,
                                             hipStreamCaptureStatus *status,
                                             unsigned long long *id)
{
    return adaptor_error(
        mcStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL));
}

MC_EXPORT hipError_t hipStreamWaitValue32(hipStream_t stream, void *ptr,
                                          uint32_t value, unsigned int flags,
                                          uint32_t mask)
{
    return mask != UINT32_MAX ? hipErrorNotSupported :
           adaptor_error(mcStreamWaitValue32(stream, ptr, value, flags));
}

MC_EXPORT hipError_t hipStreamWaitValue64(hipStream_t stream, void *ptr,
                                          uint64_t value, unsigned int flags,
                                          uint64_t mask)
{
    return mask != UINT64_MAX ? hipErrorNotSupported :
           adaptor_error(mcStreamWaitValue64(stream, ptr, value, flags));
}

MC_EXPORT int hipGetStreamDeviceId(hipStream_t stream)
{
    hipDevice_t device;

    return hipStreamGetDevice(stream, &device) == hipSuccess ? device : -1;
}

/* ---- launches ---- */

static hipError_t record(hipEvent_t event, hipStream_t stream)
{
    return event ? hipEventRecord(event, stream) : hipSuccess;
}

MC_EXPORT hipError_t hipExtLaunchKernel(const void *function, dim3 numBlocks,
                                        dim3 dimBlocks, void **args,
                                        size_t sharedMemBytes,
                                        hipStream_t stream,
                                        hipEvent_t startEvent,
                                        hipEvent_t stopEvent, int flags)
{
    hipError_t error = flags ? hipErrorInvalidValue :
                               record(startEvent, stream);

    if (error == hipSuccess) {
        error = hipLaunchKernel(function, numBlocks, dimBlocks, args,
                                sharedMemBytes, stream);
    }
    return error == hipSuccess ? record(stopEvent, stream) : error;
}

MC_EXPORT hipError_t hipExtModuleLaunchKernel(
    hipFunction_t f, uint32_t globalX, uint32_t globalY, uint32_t globalZ,
    uint32_t localX, uint32_t localY, uint32_t localZ, size_t sharedMemBytes,
    hipStream_t stream, void **kernelParams, void **extra,
    hipEvent_t startEvent, hipEvent_t stopEvent, uint32_t flags)
{
    hipError_t error;

    if (flags || sharedMemBytes > UINT_MAX) {
        return hipErrorInvalidValue;
    }
    if (!localX || !localY || !localZ || globalX % localX ||
        globalY % localY || globalZ % localZ) {
        return hipErrorInvalidConfiguration;
    }
    error = record(startEvent, stream);
    if (error == hipSuccess) {
        error = hipModuleLaunchKernel(
            f, globalX / localX, globalY / localY, globalZ / localZ, localX,
            localY, localZ, (unsigned)sharedMemBytes, stream, kernelParams,
            extra);
    }
    return error == hipSuccess ? record(stopEvent, stream) : error;
}
