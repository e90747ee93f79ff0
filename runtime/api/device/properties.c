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

#include "api/api.h"
#include "core/texture/texture_limits.h"
#include "mxgpu/kernel.h"

#define CLOCK_KHZ         1000000
#define NOMINAL_CLOCK_KHZ 1000000
#define NOMINAL_BUS_BITS  256
/* Nothing is cached; programs size what they measure by it. */
#define NOMINAL_L2_BYTES  (8 << 20)

static int clamp(uint64_t value)
{
    return value > INT_MAX ? INT_MAX : (int)value;
}

static void set2(int *p, int a, int b)
{
    p[0] = a;
    p[1] = b;
}

static void set3(int *p, int a, int b, int c)
{
    set2(p, a, b);
    p[2] = c;
}

/* Surfaces are as large as textures. */
static void set_textures(mcDeviceProp_t *p)
{
    const int width = MC_TEXTURE_WIDTH, cube = MC_TEXTURE_CUBE;
    const int layer = MC_LAYERED_WIDTH;

    p->textureAlignment = MC_TEXTURE_ALIGN;
    p->texturePitchAlignment = MC_TEXTURE_ROWS;
    p->surfaceAlignment = MC_TEXTURE_ALIGN;
    p->maxTexture1D = p->maxSurface1D = width;
    p->maxTexture1DMipmap = MC_MIPMAP_WIDTH;
    p->maxTexture1DLinear = MC_LINEAR_WIDTH;
    set2(p->maxTexture2D, width, MC_TEXTURE_HEIGHT);
    set2(p->maxSurface2D, width, MC_TEXTURE_HEIGHT);
    set2(p->maxTexture2DMipmap, MC_MIPMAP_WIDTH, MC_MIPMAP_WIDTH);
    set3(p->maxTexture2DLinear, MC_PITCHED_WIDTH, MC_PITCHED_HEIGHT,
         MC_PITCHED_BYTES);
    set2(p->maxTexture2DGather, MC_GATHER_WIDTH, MC_GATHER_WIDTH);
    set3(p->maxTexture3D, cube, cube, cube);
    set3(p->maxTexture3DAlt, cube, cube, cube);
    set3(p->maxSurface3D, cube, cube, cube);
    p->maxTextureCubemap = p->maxSurfaceCubemap = layer;
    set2(p->maxTexture1DLayered, layer, MC_LAYERS);
    set2(p->maxSurface1DLayered, layer, MC_LAYERS);
    set3(p->maxTexture2DLayered, layer, layer, MC_LAYERS);
    set3(p->maxSurface2DLayered, layer, layer, MC_LAYERS);
    set2(p->maxTextureCubemapLayered, layer, MC_CUBEMAP_LAYERS);
    set2(p->maxSurfaceCubemapLayered, layer, MC_CUBEMAP_LAYERS);
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
    p->l2CacheSize = NOMINAL_L2_BYTES;
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
    set_textures(p);
    p->kernelExecTimeoutEnabled = info->watchdog_ms != 0;
    p->deviceOverlap = info->copy_engines > 0;
    p->asyncEngineCount = info->copy_engines;
    p->unifiedAddressing = 1;
    p->memoryPoolsSupported = 1;
    p->managedMemory = 1;
    p->concurrentManagedAccess = 1;
    p->pageableMemoryAccess = info->pageable;
    p->streamPrioritiesSupported = info->priorities > 1;
    memcpy(p->uuid.bytes, info->uuid, sizeof(p->uuid.bytes));
    snprintf(p->mxArchName, sizeof(p->mxArchName), "riscv64-mxgpu");
}

#define FROM(attribute, expression)                                            \
    case attribute:                                                            \
        *value = clamp(expression);                                            \
        return true;

static bool texture_attribute(const mcDeviceProp_t *p,
                              mcDeviceAttribute_t which, int *value)
{
    switch ((int)which) {
        FROM(mcDeviceAttributeTextureAlignment, p->textureAlignment)
        FROM(mcDeviceAttributeTexturePitchAlignment, p->texturePitchAlignment)
        FROM(mcDeviceAttributeSurfaceAligement, p->surfaceAlignment)
        FROM(mcDeviceAttributeMaxTexture1DWidth, p->maxTexture1D)
        FROM(mcDeviceAttributeMaxTexture2DWidth, p->maxTexture2D[0])
        FROM(mcDeviceAttributeMaxTexture2DHeight, p->maxTexture2D[1])
        FROM(mcDeviceAttributeMaxTexture3DWidth, p->maxTexture3D[0])
        FROM(mcDeviceAttributeMaxTexture3DHeight, p->maxTexture3D[1])
        FROM(mcDeviceAttributeMaxTexture3DDepth, p->maxTexture3D[2])
        FROM(mcDevAttrMaxTexture3DWidthAlt, p->maxTexture3DAlt[0])
        FROM(mcDevAttrMaxTexture3DHeightAlt, p->maxTexture3DAlt[1])
        FROM(mcDevAttrMaxTexture3DDepthAlt, p->maxTexture3DAlt[2])
        FROM(mcDeviceAttributeTexture1DLinearWidth, p->maxTexture1DLinear)
        FROM(mcDeviceAttributeTexture2DLinearWidth, p->maxTexture2DLinear[0])
        FROM(mcDeviceAttributeTexture2DLinearHeight, p->maxTexture2DLinear[1])
        FROM(mcDeviceAttributeTexture2DLinearPitch, p->maxTexture2DLinear[2])
        FROM(mcDeviceAttributeMaxTexture1DLayeredWidth,
             p->maxTexture1DLayered[0])
        FROM(mcDeviceAttributeMaxTexture1DLayeredLayers,
             p->maxTexture1DLayered[1])
        FROM(mcDeviceAttributeMaxTexture2DLayeredWidth,
             p->maxTexture2DLayered[0])
        FROM(mcDeviceAttributeMaxTexture2DLayeredHeight,
             p->maxTexture2DLayered[1])
        FROM(mcDeviceAttributeMaxTexture2DLayeredLayers,
             p->maxTexture2DLayered[2])
        FROM(mcDevAttrMaxTextureCubemapWidth, p->maxTextureCubemap)
        FROM(mcDevAttrMaxTextureCubemapLayeredWidth,
             p->maxTextureCubemapLayered[0])
        FROM(mcDevAttrMaxTextureCubemapLayeredLayers,
             p->maxTextureCubemapLayered[1])
        FROM(mcDevAttrMaxTexture1DMipmappedWidth, p->maxTexture1DMipmap)
        FROM(mcDevAttrMaxTexture2DMipmappedWidth, p->maxTexture2DMipmap[0])
        FROM(mcDevAttrMaxTexture2DMipmappedHeight, p->maxTexture2DMipmap[1])
    }
    return false;
}

static bool surface_attribute(const mcDeviceProp_t *p,
                              mcDeviceAttribute_t which, int *value)
{
    switch ((int)which) {
        FROM(mcDevAttrMaxSurface1DWidth, p->maxSurface1D)
        FROM(mcDevAttrMaxSurface2DWidth, p->maxSurface2D[0])
        FROM(mcDevAttrMaxSurface2DHeight, p->maxSurface2D[1])
        FROM(mcDevAttrMaxSurface3DWidth, p->maxSurface3D[0])
        FROM(mcDevAttrMaxSurface3DHeight, p->maxSurface3D[1])
        FROM(mcDevAttrMaxSurface3DDepth, p->maxSurface3D[2])
        FROM(mcDevAttrMaxSurface1DLayeredWidth, p->maxSurface1DLayered[0])
        FROM(mcDevAttrMaxSurface1DLayeredLayers, p->maxSurface1DLayered[1])
        FROM(mcDevAttrMaxSurface2DLayeredWidth, p->maxSurface2DLayered[0])
        FROM(mcDevAttrMaxSurface2DLayeredHeight, p->maxSurface2DLayered[1])
        FROM(mcDevAttrMaxSurface2DLayeredLayers, p->maxSurface2DLayered[2])
        FROM(mcDevAttrMaxSurfaceCubemapWidth, p->maxSurfaceCubemap)
        FROM(mcDevAttrMaxSurfaceCubemapLayeredWidth,
             p->maxSurfaceCubemapLayered[0])
        FROM(mcDevAttrMaxSurfaceCubemapLayeredLayers,
             p->maxSurfaceCubemapLayered[1])
    }
    return false;
}

/* From properties; the rest of the enumeration is features it has not. */
static bool property_attribute(const mcDeviceProp_t *p,
                               mcDeviceAttribute_t which, int *value)
{
    switch ((int)which) {
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
        FROM(mcDevAttrSparseMcArraySupported, 1)
    }
    return false;
}

#undef FROM

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
    if (property_attribute(prop, which, value) ||
        texture_attribute(prop, which, value) ||
        surface_attribute(prop, which, value)) {
        return true;
    }
    /* Every device is a board. */
    *value = which == mcDevAttrMultiGpuBoardGroupID ? ctx->device : 0;
    return exists(which);
}
