/* SPDX-License-Identifier: MIT */
/* Types of HIP that the mc* interface has in another shape, or not at all. */
#ifndef MXGPU_HIP_TYPES_H
#define MXGPU_HIP_TYPES_H

#include "mc.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HIP_IPC_HANDLE_SIZE 64
#define hipErrorRuntimeMemory ((hipError_t)1052)
#define hipErrorRuntimeOther ((hipError_t)1053)

/* Coherent or not, and which node of memory: pinned memory is what it is. */
#define hipHostMallocDefault 0x0
#define hipHostMallocPortable 0x1
#define hipHostMallocMapped 0x2
#define hipHostMallocWriteCombined 0x4
#define hipHostMallocNumaUser 0x20000000
#define hipHostMallocCoherent 0x40000000
#define hipHostMallocNonCoherent 0x80000000

/* Every event releases memory to the system. */
#define hipEventDisableSystemFence 0x20000000
#define hipEventReleaseToDevice 0x40000000
#define hipEventReleaseToSystem 0x80000000

#define hipStreamWaitValueGte 0x0
#define hipStreamWaitValueEq 0x1
#define hipStreamWaitValueAnd 0x2
#define hipStreamWaitValueNor 0x3

/* Names of HIP for attributes that have another one by the rule, or are the same
 * number here. */
#define hipDeviceAttributeAccessPolicyMaxWindowSize \
    hipDeviceAttributeMaxAccessPolicyWindowSize
#define hipDeviceAttributeClockInstructionRate hipDeviceAttributeClockRate
#define hipDeviceAttributeDeviceOverlap hipDeviceAttributeGpuOverlap
#define hipDeviceAttributeFineGrainSupport \
    hipDeviceAttributeConcurrentManagedAccess
#define hipDeviceAttributeMaxSurface1D hipDeviceAttributeMaxSurface1DWidth
#define hipDeviceAttributeMaxSurfaceCubemap \
    hipDeviceAttributeMaxSurfaceCubemapWidth
#define hipDeviceAttributeMaxTexture1DLinear \
    hipDeviceAttributeTexture1DLinearWidth
#define hipDeviceAttributeMaxTexture1DMipmap \
    hipDeviceAttributeMaxTexture1DMipmappedWidth
#define hipDeviceAttributeMaxTextureCubemap \
    hipDeviceAttributeMaxTextureCubemapWidth
#define hipDeviceAttributeMultiprocessorCount \
    hipDeviceAttributeMultiProcessorCount
#define hipDeviceAttributePciDomainID hipDeviceAttributePciDomainId
#define hipDeviceAttributePersistingL2CacheMaxSize \
    hipDeviceAttributeMaxPersistingL2CacheSize
#define hipDeviceAttributePhysicalMultiProcessorCount \
    hipDeviceAttributeMultiProcessorCount
#define hipDeviceAttributeReservedSharedMemPerBlock \
    hipDeviceAttributeReservedSharedMemoryPerBlock
#define hipDeviceAttributeSharedMemPerBlockOptin \
    hipDeviceAttributeMaxSharedMemoryPerBlockOptin
#define hipDeviceAttributeSharedMemPerMultiprocessor \
    hipDeviceAttributeMaxSharedMemoryPerMultiprocessor
#define hipDeviceAttributeWallClockRate hipDeviceAttributeClockRate

#define HIP_SYMBOL(X) X
#define HIP_TRSA_OVERRIDE_FORMAT 0x01
#define HIP_TRSF_READ_AS_INTEGER 0x01
#define HIP_TRSF_NORMALIZED_COORDINATES 0x02
#define HIP_TRSF_SRGB 0x10

typedef struct hipDeviceArch_t {
    unsigned hasGlobalInt32Atomics : 1;
    unsigned hasGlobalFloatAtomicExch : 1;
    unsigned hasSharedInt32Atomics : 1;
    unsigned hasSharedFloatAtomicExch : 1;
    unsigned hasFloatAtomicAdd : 1;
    unsigned hasGlobalInt64Atomics : 1;
    unsigned hasSharedInt64Atomics : 1;
    unsigned hasDoubles : 1;
    unsigned hasWarpVote : 1;
    unsigned hasWarpBallot : 1;
    unsigned hasWarpShuffle : 1;
    unsigned hasFunnelShift : 1;
    unsigned hasThreadFenceSystem : 1;
    unsigned hasSyncThreadsExt : 1;
    unsigned hasSurfaceFuncs : 1;
    unsigned has3dGrid : 1;
    unsigned hasDynamicParallelism : 1;
} hipDeviceArch_t;

/* Sizes of memory in bytes, rates in kHz. */
typedef struct hipDeviceProp_t {
    char name[256];
    hipUUID uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    int deviceOverlap;
    int multiProcessorCount;
    int kernelExecTimeoutEnabled;
    int integrated;
    int canMapHostMemory;
    int computeMode;
    int maxTexture1D;
    int maxTexture1DLinear;
    int maxTexture2D[2];
    int maxTexture3D[3];
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID, pciDeviceID, pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryClockRate;
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported;
    int localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard;
    int multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    int singleToDoublePrecisionPerfRatio;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    int cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor;
    int memoryPoolsSupported;
    char gcnArchName[256]; /* of this device */
    int gcnArch;           /* 0: none of AMD's */
    size_t maxSharedMemoryPerMultiProcessor;
    int clockInstructionRate;
    hipDeviceArch_t arch;
    unsigned int *hdpMemFlushCntl, *hdpRegFlushCntl; /* NULL */
    int cooperativeMultiDeviceUnmatchedFunc;
    int cooperativeMultiDeviceUnmatchedGridDim;
    int cooperativeMultiDeviceUnmatchedBlockDim;
    int cooperativeMultiDeviceUnmatchedSharedMem;
    int isLargeBar;
    int asicRevision;
} hipDeviceProp_t;

typedef struct hipPointerAttribute_t {
    union {
        hipMemoryType memoryType; /* the older name */
        hipMemoryType type;
    };
    int device;
    void *devicePointer;
    void *hostPointer;
    int isManaged;
    unsigned allocationFlags;
} hipPointerAttribute_t;

#ifdef __cplusplus
}
#endif

#endif
