/* SPDX-License-Identifier: MIT */
/*
 * What a device says of itself. The clock rate is that of clock64(), which
 * counts nanoseconds; that of memory is nominal. Features that do not exist
 * are 0.
 */
#include "properties.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "mxgpu/kernel.h"

#define CLOCK_KHZ         1000000
#define NOMINAL_CLOCK_KHZ 1000000
#define NOMINAL_BUS_BITS  256

static int clamp(uint64_t value)
{
    return value > INT_MAX ? INT_MAX : (int)value;
}

void mc_api_properties(const McContext *ctx, mcDeviceProp_t *p)
{
    const KmdInfo *info = &ctx->info;

    memset(p, 0, sizeof(*p));
    snprintf(p->name, sizeof(p->name), "%s", info->name);
    p->totalGlobalMem = info->vram_size;
    p->sharedMemPerBlock = info->cu_shared;
    p->regsPerBlock = info->cu_registers;
    p->warpSize = info->warp_size;
    p->maxThreadsPerBlock = info->block_threads;
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = info->block_threads;
        p->maxGridSize[i] = INT_MAX;
    }
    p->clockRate = CLOCK_KHZ;
    p->memoryClockRate = NOMINAL_CLOCK_KHZ;
    p->memoryBusWidth = NOMINAL_BUS_BITS;
    p->totalConstMem = INT_MAX; /* constants are ordinary read-only memory */
    p->major = 10;
    p->multiProcessorCount = info->compute_units;
    p->maxThreadsPerMultiProcessor = info->cu_threads;
    p->regsPerMultiprocessor = info->cu_registers;
    p->sharedMemPerMultiprocessor = info->cu_shared;
    p->sharedMemPerBlockOptin = info->cu_shared;
    p->maxBlocksPerMultiProcessor = info->cu_blocks;
    p->concurrentKernels = 1;
    p->cooperativeLaunch = 1;
    p->cooperativeMultiDeviceLaunch = 1;
    p->pciDomainID = info->pci_domain;
    p->pciBusID = info->pci_bus;
    p->pciDeviceID = info->pci_device;
    p->canMapHostMemory = 1;
    p->memPitch = MC_MAX_PITCH;
    p->textureAlignment = 256;
    p->texturePitchAlignment = 256;
    p->kernelExecTimeoutEnabled = info->watchdog_ms != 0;
    p->deviceOverlap = info->copy_engines > 0;
    p->asyncEngineCount = info->copy_engines;
    p->unifiedAddressing = 1;
    p->memoryPoolsSupported = 1;
    p->managedMemory = 1;
    p->concurrentManagedAccess = 1;
    p->streamPrioritiesSupported = info->priorities > 1;
    memcpy(p->uuid.bytes, info->uuid, sizeof(p->uuid.bytes));
    snprintf(p->mxArchName, sizeof(p->mxArchName), "riscv64-mxgpu");
}

/* From properties; the rest of the enumeration is features it has not. */
static bool property_attribute(const mcDeviceProp_t *p,
                               mcDeviceAttribute_t which, int *value)
{
    switch ((int)which) {
#define FROM(attribute, expression)                                            \
    case attribute:                                                            \
        *value = clamp(expression);                                            \
        return true;
        FROM(mcDeviceAttributeMaxThreadsPerBlock, p->maxThreadsPerBlock)
        FROM(mcDeviceAttributeMaxBlockDimX, p->maxThreadsDim[0])
        FROM(mcDeviceAttributeMaxBlockDimY, p->maxThreadsDim[1])
        FROM(mcDeviceAttributeMaxBlockDimZ, p->maxThreadsDim[2])
        FROM(mcDeviceAttributeMaxGridDimX, p->maxGridSize[0])
        FROM(mcDeviceAttributeMaxGridDimY, p->maxGridSize[1])
        FROM(mcDeviceAttributeMaxGridDimZ, p->maxGridSize[2])
        FROM(mcDeviceAttributeMaxSharedMemoryPerBlock, p->sharedMemPerBlock)
        FROM(mcDeviceAttributeTotalConstantMemory, p->totalConstMem)
        FROM(mcDeviceAttributeWarpSize, p->warpSize)
        FROM(mcDeviceAttributeWaveSize, p->warpSize)
        FROM(mcDeviceAttributeMaxRegistersPerBlock, p->regsPerBlock)
        FROM(mcDeviceAttributeMaxRegistersPerMultiprocessor,
             p->regsPerMultiprocessor)
        FROM(mcDeviceAttributeClockRate, p->clockRate)
        FROM(mcDeviceAttributeMemoryClockRate, p->memoryClockRate)
        FROM(mcDeviceAttributeMemoryBusWidth, p->memoryBusWidth)
        FROM(mcDeviceAttributeMultiProcessorCount, p->multiProcessorCount)
        FROM(mcDeviceAttributeComputeMode, p->computeMode)
        FROM(mcDeviceAttributeMaxThreadsPerMultiProcessor,
             p->maxThreadsPerMultiProcessor)
        FROM(mcDevAttrMaxBlocksPerMultiprocessor,
             p->maxBlocksPerMultiProcessor)
        FROM(mcDeviceAttributeComputeCapabilityMajor, p->major)
        FROM(mcDeviceAttributeComputeCapabilityMinor, p->minor)
        FROM(mcDeviceAttributeConcurrentKernels, p->concurrentKernels)
        FROM(mcDeviceAttributeCooperativeLaunch, p->cooperativeLaunch)
        FROM(mcDeviceAttributeCooperativeMultiDeviceLaunch,
             p->cooperativeMultiDeviceLaunch)
        FROM(mcDeviceAttributePciBusId, p->pciBusID)
        FROM(mcDeviceAttributePciDeviceId, p->pciDeviceID)
        FROM(mcDeviceAttributePciDomainId, p->pciDomainID)
        FROM(mcDeviceAttributeMaxSharedMemoryPerMultiprocessor,
             p->sharedMemPerMultiprocessor)
        FROM(mcDeviceAttributeMaxSharedMemoryPerBlockOptin,
             p->sharedMemPerBlockOptin)
        FROM(mcDeviceAttributeIntegrated, p->integrated)
        FROM(mcDeviceAttributeEccEnabled, p->ECCEnabled)
        FROM(mcDeviceAttributeL2CacheSize, p->l2CacheSize)
        FROM(mcDeviceAttributePageableMemoryAccess, p->pageableMemoryAccess)
        FROM(mcDeviceAttributeMaxPitch, p->memPitch)
        FROM(mcDeviceAttributeTextureAlignment, p->textureAlignment)
        FROM(mcDeviceAttributeTexturePitchAlignment, p->texturePitchAlignment)
        FROM(mcDeviceAttributeKernelExecTimeout, p->kernelExecTimeoutEnabled)
        FROM(mcDeviceAttributeCanMapHostMemory, p->canMapHostMemory)
        FROM(mcDeviceAttributeUnifiedAddressing, p->unifiedAddressing)
        FROM(mcDeviceAttributeGpuOverlap, p->deviceOverlap)
        FROM(mcDeviceAttributeAsyncEngineCount, p->asyncEngineCount)
        FROM(mcDeviceAttributeVirtualMemoryManagementSupported, 1)
        FROM(mcDeviceAttributeHandleTypePosixFileDescriptorSupported, 1)
        FROM(mcDeviceAttributeManagedMemory, p->managedMemory)
        FROM(mcDeviceAttributeConcurrentManagedAccess,
             p->concurrentManagedAccess)
        FROM(mcDeviceAttributeDirectManagedMemAccessFromHost, 1)
        FROM(mcDeviceAttributeMemoryPoolsSupported, p->memoryPoolsSupported)
        FROM(mcDeviceAttributeMemoryPoolSupportedHandleTypes,
             mcMemHandleTypePosixFileDescriptor)
        FROM(mcDeviceAttributeCanUseStreamWaitValue, 1)
        FROM(mcDeviceAttributeCanUseStreamMemOps, 1)
        FROM(mcDeviceAttributeCanUseStreamWaitWaitValueNor, 1)
        /* What was written before a word is seen with it, by whomever. */
        FROM(mcDeviceAttributeCanFlushRemoteWrites, 1)
        FROM(mcDeviceAttributeHostNativeAtomicSupported, 1)
        FROM(mcDevAttrStreamPrioritiesSupported,
             p->streamPrioritiesSupported)
        FROM(mcDevAttrSingleToDoublePrecisionPerfRatio, 1)
        FROM(mcDevAttrHostRegisterSupported, 1)
        FROM(mcDevAttrHostRegisterReadOnlySupported, 1)
        FROM(mcDevAttrCanUseHostPointerForRegisteredMem, 1)
#undef FROM
    }
    return false;
}

/* Numbers that name an attribute; both ends count. */
static bool exists(int which)
{
    static const int numbers[][2] = {
        {0, mcDeviceAttributeTccDriver},
        {mcDeviceAttributeMaxSharedMemoryPerBlockOptin,
         mcDeviceAttributeMulticastSupported},
        {mcDevAttrMaxTexture3DWidthAlt, mcDevAttrMaxTexture3DDepthAlt},
        {mcDevAttrMaxTextureCubemapWidth,
         mcDevAttrMaxSurfaceCubemapLayeredLayers},
        {mcDevAttrMaxTexture2DMipmappedWidth,
         mcDevAttrMaxTexture2DMipmappedHeight},
        {mcDevAttrMaxTexture1DMipmappedWidth, mcDevAttrLocalL1CacheSupported},
        {mcDevAttrMultiGpuBoardGroupID, mcDevAttrMultiGpuBoardGroupID},
        {mcDevAttrSingleToDoublePrecisionPerfRatio,
         mcDevAttrSingleToDoublePrecisionPerfRatio},
        {mcDevAttrCanUseHostPointerForRegisteredMem,
         mcDevAttrCanUseHostPointerForRegisteredMem},
        {mcDevAttrHostRegisterSupported, mcDevAttrHostRegisterSupported},
        {mcDevAttrReservedSharedMemoryPerBlock,
         mcDevAttrHostRegisterReadOnlySupported},
        {mcDevAttrGPUDirectRDMASupported, mcDevAttrGPUDirectRDMAWritesOrdering},
        {mcDevAttrDeferredMappingMcArraySupported,
         mcDevAttrDeferredMappingMcArraySupported},
    };

    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (which >= numbers[i][0] && which <= numbers[i][1]) {
            return true;
        }
    }
    return false;
}

bool mc_api_attribute(const McContext *ctx, const mcDeviceProp_t *prop,
                      mcDeviceAttribute_t which, int *value)
{
    if (property_attribute(prop, which, value)) {
        return true;
    }
    /* Every device is a board. */
    *value = which == mcDevAttrMultiGpuBoardGroupID ? ctx->device : 0;
    return exists(which);
}
