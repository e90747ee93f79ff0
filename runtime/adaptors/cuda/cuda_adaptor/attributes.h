/* SPDX-License-Identifier: MIT */
/* Numbers of attributes are those of the runtime interface. */
#ifndef MXGPU_CUDA_ATTRIBUTES_H
#define MXGPU_CUDA_ATTRIBUTES_H

#include "mc.h"

typedef enum CUdevice_attribute_enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = cudaDevAttrMaxThreadsPerBlock,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = cudaDevAttrMaxBlockDimX,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = cudaDevAttrMaxBlockDimY,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = cudaDevAttrMaxBlockDimZ,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = cudaDevAttrMaxGridDimX,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = cudaDevAttrMaxGridDimY,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = cudaDevAttrMaxGridDimZ,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK =
        cudaDevAttrMaxSharedMemoryPerBlock,
    CU_DEVICE_ATTRIBUTE_SHARED_MEMORY_PER_BLOCK =
        cudaDevAttrMaxSharedMemoryPerBlock,
    CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = cudaDevAttrTotalConstantMemory,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = cudaDevAttrWarpSize,
    CU_DEVICE_ATTRIBUTE_MAX_PITCH = cudaDevAttrMaxPitch,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK =
        cudaDevAttrMaxRegistersPerBlock,
    CU_DEVICE_ATTRIBUTE_REGISTERS_PER_BLOCK = cudaDevAttrMaxRegistersPerBlock,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = cudaDevAttrClockRate,
    CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT = cudaDevAttrTextureAlignment,
    CU_DEVICE_ATTRIBUTE_GPU_OVERLAP = cudaDevAttrGpuOverlap,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = cudaDevAttrMultiProcessorCount,
    CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = cudaDevAttrKernelExecTimeout,
    CU_DEVICE_ATTRIBUTE_INTEGRATED = cudaDevAttrIntegrated,
    CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = cudaDevAttrCanMapHostMemory,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = cudaDevAttrComputeMode,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH = cudaDevAttrMaxTexture1DWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH = cudaDevAttrMaxTexture2DWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT =
        cudaDevAttrMaxTexture2DHeight,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH = cudaDevAttrMaxTexture3DWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT =
        cudaDevAttrMaxTexture3DHeight,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH = cudaDevAttrMaxTexture3DDepth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH =
        cudaDevAttrMaxTexture2DLayeredWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT =
        cudaDevAttrMaxTexture2DLayeredHeight,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS =
        cudaDevAttrMaxTexture2DLayeredLayers,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_WIDTH =
        cudaDevAttrMaxTexture2DLayeredWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_HEIGHT =
        cudaDevAttrMaxTexture2DLayeredHeight,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES =
        cudaDevAttrMaxTexture2DLayeredLayers,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH =
        cudaDevAttrMaxTexture2DWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT =
        cudaDevAttrMaxTexture2DHeight,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE =
        cudaDevAttrMaxTexture3DWidthAlt,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE =
        cudaDevAttrMaxTexture3DHeightAlt,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE =
        cudaDevAttrMaxTexture3DDepthAlt,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH =
        cudaDevAttrMaxTextureCubemapLayeredWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS =
        cudaDevAttrMaxTextureCubemapLayeredLayers,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH = cudaDevAttrMaxSurface3DWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT =
        cudaDevAttrMaxSurface3DHeight,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH = cudaDevAttrMaxSurface3DDepth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH =
        cudaDevAttrMaxSurface1DLayeredWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS =
        cudaDevAttrMaxSurface1DLayeredLayers,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH =
        cudaDevAttrMaxSurface2DLayeredWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT =
        cudaDevAttrMaxSurface2DLayeredHeight,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS =
        cudaDevAttrMaxSurface2DLayeredLayers,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH =
        cudaDevAttrMaxSurfaceCubemapWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH =
        cudaDevAttrMaxSurfaceCubemapLayeredWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS =
        cudaDevAttrMaxSurfaceCubemapLayeredLayers,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH =
        cudaDevAttrMaxTexture2DMipmappedWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT =
        cudaDevAttrMaxTexture2DMipmappedHeight,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH =
        cudaDevAttrMaxTexture1DMipmappedWidth,
    CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED =
        cudaDevAttrSparseCudaArraySupported,
    CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED =
        cudaDevAttrDeferredMappingCudaArraySupported,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS =
        cudaDevAttrGPUDirectRDMAFlushWritesOptions,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING =
        cudaDevAttrGPUDirectRDMAWritesOrdering,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED =
        cudaDevAttrGPUDirectRDMASupported,
    CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT = cudaDevAttrSurfaceAlignment,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = cudaDevAttrConcurrentKernels,
    CU_DEVICE_ATTRIBUTE_ECC_ENABLED = cudaDevAttrEccEnabled,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = cudaDevAttrPciBusId,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = cudaDevAttrPciDeviceId,
    CU_DEVICE_ATTRIBUTE_TCC_DRIVER = cudaDevAttrTccDriver,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = cudaDevAttrMemoryClockRate,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH =
        cudaDevAttrGlobalMemoryBusWidth,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = cudaDevAttrL2CacheSize,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR =
        cudaDevAttrMaxThreadsPerMultiProcessor,
    CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = cudaDevAttrAsyncEngineCount,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = cudaDevAttrUnifiedAddressing,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH =
        cudaDevAttrMaxTexture1DLayeredWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS =
        cudaDevAttrMaxTexture1DLayeredLayers,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = cudaDevAttrPciDomainId,
    CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT =
        cudaDevAttrTexturePitchAlignment,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH =
        cudaDevAttrMaxTextureCubemapWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH = cudaDevAttrMaxSurface1DWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH = cudaDevAttrMaxSurface2DWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT =
        cudaDevAttrMaxSurface2DHeight,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH =
        cudaDevAttrMaxTexture1DLinearWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH =
        cudaDevAttrMaxTexture2DLinearWidth,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT =
        cudaDevAttrMaxTexture2DLinearHeight,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH =
        cudaDevAttrMaxTexture2DLinearPitch,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR =
        cudaDevAttrComputeCapabilityMajor,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR =
        cudaDevAttrComputeCapabilityMinor,
    CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED =
        cudaDevAttrStreamPrioritiesSupported,
    CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED =
        cudaDevAttrGlobalL1CacheSupported,
    CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED =
        cudaDevAttrLocalL1CacheSupported,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR =
        cudaDevAttrMaxSharedMemoryPerMultiprocessor,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR =
        cudaDevAttrMaxRegistersPerMultiprocessor,
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = cudaDevAttrManagedMemory,
    CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD = cudaDevAttrIsMultiGpuBoard,
    CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID =
        cudaDevAttrMultiGpuBoardGroupID,
    CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED =
        cudaDevAttrHostNativeAtomicSupported,
    CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO =
        cudaDevAttrSingleToDoublePrecisionPerfRatio,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS =
        cudaDevAttrPageableMemoryAccess,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS =
        cudaDevAttrConcurrentManagedAccess,
    CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED =
        cudaDevAttrComputePreemptionSupported,
    CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM =
        cudaDevAttrCanUseHostPointerForRegisteredMem,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = cudaDevAttrCooperativeLaunch,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH =
        cudaDevAttrCooperativeMultiDeviceLaunch,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN =
        cudaDevAttrMaxSharedMemoryPerBlockOptin,
    CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES =
        cudaDevAttrCanFlushRemoteWrites,
    CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED =
        cudaDevAttrHostRegisterSupported,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES =
        cudaDevAttrPageableMemoryAccessUsesHostPageTables,
    CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST =
        cudaDevAttrDirectManagedMemAccessFromHost,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR =
        cudaDevAttrMaxBlocksPerMultiprocessor,
    CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE =
        cudaDevAttrMaxPersistingL2CacheSize,
    CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE =
        cudaDevAttrMaxAccessPolicyWindowSize,
    CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK =
        cudaDevAttrReservedSharedMemoryPerBlock,
    CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED =
        cudaDevAttrHostRegisterReadOnlySupported,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED =
        cudaDevAttrMemoryPoolsSupported,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED =
        cudaDevAttrGPUDirectRDMASupported,
    CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES =
        cudaDevAttrMemoryPoolSupportedHandleTypes,
    CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS = cudaDevAttrReserved92,
    CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS = cudaDevAttrReserved92,
    CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR = cudaDevAttrReserved94,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED =
        mcDeviceAttributeVirtualMemoryManagementSupported,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED =
        mcDeviceAttributeVirtualMemoryManagementSupported,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED =
        mcDeviceAttributeHandleTypePosixFileDescriptorSupported,
    CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED =
        mcDeviceAttributeGenericCompressionSupported,
    CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED =
        mcDeviceAttributeMulticastSupported
} CUdevice_attribute;

#endif
