/* SPDX-License-Identifier: MIT */
/*
 * What mcDeviceGetAttribute() tells, with the vendor's numbers, and the names
 * that programs have for it beside the vendor's. Part of mc_runtime_types.h.
 */
#ifndef MCR_MC_DEVICE_ATTRIBUTES_H
#define MCR_MC_DEVICE_ATTRIBUTES_H

typedef enum mcDeviceAttribute_t {
    mcDeviceAttributeMaxThreadsPerBlock = 0,
    mcDeviceAttributeMaxBlockDimX = 1,
    mcDeviceAttributeMaxBlockDimY = 2,
    mcDeviceAttributeMaxBlockDimZ = 3,
    mcDeviceAttributeMaxGridDimX = 4,
    mcDeviceAttributeMaxGridDimY = 5,
    mcDeviceAttributeMaxGridDimZ = 6,
    mcDeviceAttributeMaxSharedMemoryPerBlock = 7,
    mcDeviceAttributeTotalConstantMemory = 8,
    mcDeviceAttributeWarpSize = 9,
    mcDeviceAttributeWaveSize = 10,
    mcDeviceAttributeMaxRegistersPerBlock = 11,
    mcDeviceAttributeMaxRegistersPerMultiprocessor = 12,
    mcDeviceAttributeClockRate = 13,
    mcDeviceAttributeMemoryClockRate = 14,
    mcDeviceAttributeMemoryBusWidth = 15,
    mcDeviceAttributeMultiProcessorCount = 16,
    mcDeviceAttributeComputeMode = 17,
    mcDeviceAttributeL2CacheSize = 18,
    mcDeviceAttributeMaxThreadsPerMultiProcessor = 19,
    mcDevAttrMaxBlocksPerMultiprocessor = 20,
    mcDeviceAttributeComputeCapabilityMajor = 21,
    mcDeviceAttributeComputeCapabilityMinor = 22,
    mcDeviceAttributeConcurrentKernels = 23,
    mcDeviceAttributePciBusId = 24,
    mcDeviceAttributePciDeviceId = 25,
    mcDeviceAttributeMaxSharedMemoryPerMultiprocessor = 26,
    mcDeviceAttributeIsMultiGpuBoard = 27,
    mcDeviceAttributeIntegrated = 28,
    mcDeviceAttributeCooperativeLaunch = 29,
    mcDeviceAttributeCooperativeMultiDeviceLaunch = 30,
    mcDeviceAttributeMaxTexture1DWidth = 31,
    mcDeviceAttributeMaxTexture2DWidth = 32,
    mcDeviceAttributeMaxTexture2DHeight = 33,
    mcDeviceAttributeMaxTexture3DWidth = 34,
    mcDeviceAttributeMaxTexture3DHeight = 35,
    mcDeviceAttributeMaxTexture3DDepth = 36,
    mcDeviceAttributeHdpMemFlushCntl = 37,
    mcDeviceAttributeHdpRegFlushCntl = 38,
    mcDeviceAttributeMaxPitch = 39,
    mcDeviceAttributeTextureAlignment = 40,
    mcDeviceAttributeTexturePitchAlignment = 41,
    mcDeviceAttributeKernelExecTimeout = 42,
    mcDeviceAttributeCanMapHostMemory = 43,
    mcDeviceAttributeEccEnabled = 44,
    mcDeviceAttributeCooperativeMultiDeviceUnmatchedFunc = 45,
    mcDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim = 46,
    mcDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim = 47,
    mcDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem = 48,
    mcDeviceAttributeAsicRevision = 49,
    mcDeviceAttributeManagedMemory = 50,
    mcDeviceAttributeDirectManagedMemAccessFromHost = 51,
    mcDeviceAttributeConcurrentManagedAccess = 52,
    mcDeviceAttributePageableMemoryAccess = 53,
    mcDeviceAttributePageableMemoryAccessUsesHostPageTables = 54,
    mcDeviceAttributeVirtualMemoryManagementSupported = 55,
    mcDeviceAttributeHandleTypePosixFileDescriptorSupported = 56,
    mcDeviceAttributeHandleTypeWin32HandleSupported = 57,
    mcDeviceAttributeGenericCompressionSupported = 58,
    mcDeviceAttributeCanUseStreamWaitValue = 59,
    mcDeviceAttributeCanUseStreamMemOps = 60,
    mcDeviceAttributeCanUseStreamWaitWaitValueNor = 61,
    mcDeviceAttributeCanFlushRemoteWrites = 62,
    mcDeviceAttributeMemoryPoolsSupported = 63,
    mcDeviceAttributeUnifiedAddressing = 64,
    mcDeviceAttributeMaxAccessPolicyWindowSize = 65,
    mcDeviceAttributeMaxPersistingL2CacheSize = 66,
    mcDeviceAttributeGpuOverlap = 67,
    mcDeviceAttributeAsyncEngineCount = 68,
    mcDeviceAttributeMemoryPoolSupportedHandleTypes = 69,
    mcDeviceAttributeTexture1DLinearWidth = 70,
    mcDeviceAttributeTexture2DLinearWidth = 71,
    mcDeviceAttributeTexture2DLinearHeight = 72,
    mcDeviceAttributeTexture2DLinearPitch = 73,
    mcDeviceAttributeHostNativeAtomicSupported = 74,
    mcDeviceAttributeMaxTexture1DLayeredWidth = 75,
    mcDeviceAttributeMaxTexture1DLayeredLayers = 76,
    mcDeviceAttributeMaxTexture2DLayeredWidth = 77,
    mcDeviceAttributeMaxTexture2DLayeredHeight = 78,
    mcDeviceAttributeMaxTexture2DLayeredLayers = 79,
    mcDeviceAttributeSurfaceAligement = 80,
    mcDeviceAttributeComputePreemptionSupported = 81,
    mcDeviceAttributePciDomainId = 82,
    mcDeviceAttributeTccDriver = 83,
    mcDeviceAttributeUnknow = 84,
    mcDeviceAttributeMax = 85,
    /* Numbers from here on are this implementation's own. */
    mcDeviceAttributeMaxSharedMemoryPerBlockOptin = 1000,
    mcDeviceAttributeHandleTypeFabricSupported = 1001,
    mcDeviceAttributeMulticastSupported = 1002,
    mcDevAttrCanUseHostPointerForRegisteredMem = 2091,
    mcDevAttrDeferredMappingMcArraySupported = 2121,
    mcDevAttrGPUDirectRDMAFlushWritesOptions = 2117,
    mcDevAttrGPUDirectRDMASupported = 2116,
    mcDevAttrGPUDirectRDMAWritesOrdering = 2118,
    mcDevAttrGlobalL1CacheSupported = 2079,
    mcDevAttrHostRegisterReadOnlySupported = 2113,
    mcDevAttrHostRegisterSupported = 2099,
    mcDevAttrLocalL1CacheSupported = 2080,
    mcDevAttrMaxSurface1DLayeredLayers = 2062,
    mcDevAttrMaxSurface1DLayeredWidth = 2061,
    mcDevAttrMaxSurface1DWidth = 2055,
    mcDevAttrMaxSurface2DHeight = 2057,
    mcDevAttrMaxSurface2DLayeredHeight = 2064,
    mcDevAttrMaxSurface2DLayeredLayers = 2065,
    mcDevAttrMaxSurface2DLayeredWidth = 2063,
    mcDevAttrMaxSurface2DWidth = 2056,
    mcDevAttrMaxSurface3DDepth = 2060,
    mcDevAttrMaxSurface3DHeight = 2059,
    mcDevAttrMaxSurface3DWidth = 2058,
    mcDevAttrMaxSurfaceCubemapLayeredLayers = 2068,
    mcDevAttrMaxSurfaceCubemapLayeredWidth = 2067,
    mcDevAttrMaxSurfaceCubemapWidth = 2066,
    mcDevAttrMaxTexture1DMipmappedWidth = 2077,
    mcDevAttrMaxTexture2DMipmappedHeight = 2074,
    mcDevAttrMaxTexture2DMipmappedWidth = 2073,
    mcDevAttrMaxTexture3DDepthAlt = 2049,
    mcDevAttrMaxTexture3DHeightAlt = 2048,
    mcDevAttrMaxTexture3DWidthAlt = 2047,
    mcDevAttrMaxTextureCubemapLayeredLayers = 2054,
    mcDevAttrMaxTextureCubemapLayeredWidth = 2053,
    mcDevAttrMaxTextureCubemapWidth = 2052,
    mcDevAttrMultiGpuBoardGroupID = 2085,
    mcDevAttrReservedSharedMemoryPerBlock = 2111,
    mcDevAttrSingleToDoublePrecisionPerfRatio = 2087,
    mcDevAttrSparseMcArraySupported = 2112,
    mcDevAttrStreamPrioritiesSupported = 2078,
} mcDeviceAttribute_t;

/* Other spellings in use. */
#define mcDevAttrCanFlushRemoteWrites mcDeviceAttributeCanFlushRemoteWrites
#define mcDevAttrCanMapHostMemory mcDeviceAttributeCanMapHostMemory
#define mcDevAttrClockRate mcDeviceAttributeClockRate
#define mcDevAttrComputeCapabilityMajor mcDeviceAttributeComputeCapabilityMajor
#define mcDevAttrComputeCapabilityMinor mcDeviceAttributeComputeCapabilityMinor
#define mcDevAttrComputeMode mcDeviceAttributeComputeMode
#define mcDevAttrComputePreemptionSupported \
    mcDeviceAttributeComputePreemptionSupported
#define mcDevAttrConcurrentKernels mcDeviceAttributeConcurrentKernels
#define mcDevAttrConcurrentManagedAccess \
    mcDeviceAttributeConcurrentManagedAccess
#define mcDevAttrCooperativeLaunch mcDeviceAttributeCooperativeLaunch
#define mcDevAttrCooperativeMultiDeviceLaunch \
    mcDeviceAttributeCooperativeMultiDeviceLaunch
#define mcDevAttrDirectManagedMemAccessFromHost \
    mcDeviceAttributeDirectManagedMemAccessFromHost
#define mcDevAttrEccEnabled mcDeviceAttributeEccEnabled
#define mcDevAttrGlobalMemoryBusWidth mcDeviceAttributeMemoryBusWidth
#define mcDevAttrGpuOverlap mcDeviceAttributeGpuOverlap
#define mcDevAttrHostNativeAtomicSupported \
    mcDeviceAttributeHostNativeAtomicSupported
#define mcDevAttrIntegrated mcDeviceAttributeIntegrated
#define mcDevAttrIsMultiGpuBoard mcDeviceAttributeIsMultiGpuBoard
#define mcDevAttrKernelExecTimeout mcDeviceAttributeKernelExecTimeout
#define mcDevAttrL2CacheSize mcDeviceAttributeL2CacheSize
#define mcDevAttrManagedMemory mcDeviceAttributeManagedMemory
#define mcDevAttrMaxAccessPolicyWindowSize \
    mcDeviceAttributeMaxAccessPolicyWindowSize
#define mcDevAttrMaxBlockDimX mcDeviceAttributeMaxBlockDimX
#define mcDevAttrMaxBlockDimY mcDeviceAttributeMaxBlockDimY
#define mcDevAttrMaxBlockDimZ mcDeviceAttributeMaxBlockDimZ
#define mcDevAttrMaxGridDimX mcDeviceAttributeMaxGridDimX
#define mcDevAttrMaxGridDimY mcDeviceAttributeMaxGridDimY
#define mcDevAttrMaxGridDimZ mcDeviceAttributeMaxGridDimZ
#define mcDevAttrMaxPersistingL2CacheSize \
    mcDeviceAttributeMaxPersistingL2CacheSize
#define mcDevAttrMaxPitch mcDeviceAttributeMaxPitch
#define mcDevAttrMaxRegistersPerBlock mcDeviceAttributeMaxRegistersPerBlock
#define mcDevAttrMaxRegistersPerMultiprocessor \
    mcDeviceAttributeMaxRegistersPerMultiprocessor
#define mcDevAttrMaxSharedMemoryPerBlock \
    mcDeviceAttributeMaxSharedMemoryPerBlock
#define mcDevAttrMaxSharedMemoryPerBlockOptin \
    mcDeviceAttributeMaxSharedMemoryPerBlockOptin
#define mcDevAttrMaxSharedMemoryPerMultiprocessor \
    mcDeviceAttributeMaxSharedMemoryPerMultiprocessor
#define mcDevAttrMaxTexture1DLayeredLayers \
    mcDeviceAttributeMaxTexture1DLayeredLayers
#define mcDevAttrMaxTexture1DLayeredWidth \
    mcDeviceAttributeMaxTexture1DLayeredWidth
#define mcDevAttrMaxTexture1DLinearWidth mcDeviceAttributeTexture1DLinearWidth
#define mcDevAttrMaxTexture1DWidth mcDeviceAttributeMaxTexture1DWidth
#define mcDevAttrMaxTexture2DHeight mcDeviceAttributeMaxTexture2DHeight
#define mcDevAttrMaxTexture2DLayeredHeight \
    mcDeviceAttributeMaxTexture2DLayeredHeight
#define mcDevAttrMaxTexture2DLayeredLayers \
    mcDeviceAttributeMaxTexture2DLayeredLayers
#define mcDevAttrMaxTexture2DLayeredWidth \
    mcDeviceAttributeMaxTexture2DLayeredWidth
#define mcDevAttrMaxTexture2DLinearHeight mcDeviceAttributeTexture2DLinearHeight
#define mcDevAttrMaxTexture2DLinearPitch mcDeviceAttributeTexture2DLinearPitch
#define mcDevAttrMaxTexture2DLinearWidth mcDeviceAttributeTexture2DLinearWidth
#define mcDevAttrMaxTexture2DWidth mcDeviceAttributeMaxTexture2DWidth
#define mcDevAttrMaxTexture3DDepth mcDeviceAttributeMaxTexture3DDepth
#define mcDevAttrMaxTexture3DHeight mcDeviceAttributeMaxTexture3DHeight
#define mcDevAttrMaxTexture3DWidth mcDeviceAttributeMaxTexture3DWidth
#define mcDevAttrMaxThreadsPerBlock mcDeviceAttributeMaxThreadsPerBlock
#define mcDevAttrMaxThreadsPerMultiProcessor \
    mcDeviceAttributeMaxThreadsPerMultiProcessor
#define mcDevAttrMemoryClockRate mcDeviceAttributeMemoryClockRate
#define mcDevAttrMemoryPoolSupportedHandleTypes \
    mcDeviceAttributeMemoryPoolSupportedHandleTypes
#define mcDevAttrMemoryPoolsSupported mcDeviceAttributeMemoryPoolsSupported
#define mcDevAttrMultiProcessorCount mcDeviceAttributeMultiProcessorCount
#define mcDevAttrPageableMemoryAccess mcDeviceAttributePageableMemoryAccess
#define mcDevAttrPageableMemoryAccessUsesHostPageTables \
    mcDeviceAttributePageableMemoryAccessUsesHostPageTables
#define mcDevAttrPciBusId mcDeviceAttributePciBusId
#define mcDevAttrPciDeviceId mcDeviceAttributePciDeviceId
#define mcDevAttrTextureAlignment mcDeviceAttributeTextureAlignment
#define mcDevAttrTexturePitchAlignment mcDeviceAttributeTexturePitchAlignment
#define mcDevAttrTotalConstantMemory mcDeviceAttributeTotalConstantMemory
#define mcDevAttrUnifiedAddressing mcDeviceAttributeUnifiedAddressing
#define mcDevAttrWarpSize mcDeviceAttributeWarpSize

#endif
