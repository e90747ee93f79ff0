/* SPDX-License-Identifier: MIT */
/*
 * Types of the mc* runtime interface. C11 and C++17. Enumerators keep the
 * numbers programs were compiled with; see runtime/docs/errors.md for when
 * each error is returned.
 */
#ifndef MCR_MC_RUNTIME_TYPES_H
#define MCR_MC_RUNTIME_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "mc_device_attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- handles: opaque, valid until destroyed or the device is reset ---- */

typedef struct MCstream_st *mcStream_t;
typedef struct MCevent_st *mcEvent_t;
typedef struct MCctx_st *mcCtx_t;
typedef mcCtx_t MCcontext;
typedef struct MCmod_st *mcModule_t;
typedef struct MCfunc_st *mcFunction_t;
typedef struct MClink_st *mcLinkState_t;
typedef struct MCgraph_st *mcGraph_t;
typedef struct MCgnode_st *mcGraphNode_t;
typedef struct MCgexec_st *mcGraphExec_t;
typedef struct MCmempool_st *mcMemPool_t;
typedef struct MCarray_st *mcArray_t;
typedef int mcDevice_t; /* device number */
typedef int MCdevice;
typedef void *mcDeviceptr_t;
typedef unsigned long long mcMemGenericAllocationHandle;

typedef struct mcUuid_t {
    char bytes[16];
} mcUuid_t;

/* Blocks of a grid or threads of a block; missing dimensions are 1. */
#ifndef MC_HAVE_DIM3
#define MC_HAVE_DIM3
#ifdef __cplusplus
struct dim3 {
    uint32_t x, y, z;
    constexpr dim3(uint32_t x_ = 1, uint32_t y_ = 1, uint32_t z_ = 1)
        : x(x_), y(y_), z(z_)
    {
    }
};
#else
typedef struct dim3 {
    uint32_t x, y, z;
} dim3;
#endif
#endif

/* ---- errors ---- */

typedef enum _mcError_t {
    mcSuccess = 0,
    mcErrorInvalidValue = 1,
    mcErrorMemoryAllocation = 2,
    mcErrorInitializationError = 3,
    mcErrorDeinitialized = 4,
    mcErrorProfilerDisabled = 5,
    mcErrorProfilerNotInitialized = 6,
    mcErrorProfilerAlreadyStarted = 7,
    mcErrorProfilerAlreadyStopped = 8,
    mcErrorInvalidConfiguration = 9,
    mcErrorInvalidPitchValue = 12,
    mcErrorInvalidSymbol = 13,
    mcErrorInvalidHostPointer = 16,
    mcErrorInvalidDevicePointer = 17,
    mcErrorInvalidTexture = 18,
    mcErrorInvalidTextureBinding = 19,
    mcErrorInvalidChannelDescriptor = 20,
    mcErrorInvalidMemcpyDirection = 21,
    mcErrorAddressOfConstant = 22,
    mcErrorTextureFetchFailed = 23,
    mcErrorTextureNotBound = 24,
    mcErrorSynchronizationError = 25,
    mcErrorInvalidFilterSetting = 26,
    mcErrorInvalidNormSetting = 27,
    mcErrorMixedDeviceExecution = 28,
    mcErrorNotYetImplemented = 31,
    mcErrorMemoryValueTooLarge = 32,
    mcErrorStubLibrary = 34,
    mcErrorInsufficientDriver = 35,
    mcErrorCallRequiresNewerDriver = 36,
    mcErrorInvalidSurface = 37,
    mcErrorDuplicateVariableName = 43,
    mcErrorDuplicateTextureName = 44,
    mcErrorDuplicateSurfaceName = 45,
    mcErrorDevicesUnavailable = 46,
    mcErrorIncompatibleDriverContext = 49,
    mcErrorMissingConfiguration = 52,
    mcErrorPriorLaunchFailure = 53,
    mcErrorLaunchMaxDepthExceeded = 65,
    mcErrorLaunchFileScopedTex = 66,
    mcErrorLaunchFileScopedSurf = 67,
    mcErrorSyncDepthExceeded = 68,
    mcErrorLaunchPendingCountExceeded = 69,
    mcErrorInvalidDeviceFunction = 98,
    mcErrorNoDevice = 100,
    mcErrorInvalidDevice = 101,
    mcErrorDeviceNotLicensed = 102,
    mcErrorSoftwareValidityNotEstablished = 103,
    mcErrorStartupFailure = 127,
    mcErrorInvalidKernelImage = 200,
    mcErrorDeviceUninitialized = 201,
    mcErrorContextAlreadyCurrent = 202,
    mcErrorMapBufferObjectFailed = 205,
    mcErrorUnmapBufferObjectFailed = 206,
    mcErrorArrayIsMapped = 207,
    mcErrorAlreadyMapped = 208,
    mcErrorNoKernelImageForDevice = 209,
    mcErrorAlreadyAcquired = 210,
    mcErrorNotMapped = 211,
    mcErrorNotMappedAsArray = 212,
    mcErrorNotMappedAsPointer = 213,
    mcErrorECCUncorrectable = 214,
    mcErrorUnsupportedLimit = 215,
    mcErrorDeviceAlreadyInUse = 216,
    mcErrorPeerAccessUnsupported = 217,
    mcErrorInvalidKernelFile = 218,
    mcErrorInvalidGraphicsContext = 219,
    mcErrorMxlinkUncorrectable = 220,
    mcErrorJitCompilerNotFound = 221,
    mcErrorUnsupportedKernelVersion = 222,
    mcErrorJitCompilationDisabled = 223,
    mcErrorUnsupportedExecAffinity = 224,
    mcErrorInvalidSource = 300,
    mcErrorFileNotFound = 301,
    mcErrorSharedObjectSymbolNotFound = 302,
    mcErrorSharedObjectInitFailed = 303,
    mcErrorOperatingSystem = 304,
    mcErrorInvalidResourceHandle = 400,
    mcErrorIllegalState = 401,
    mcErrorSymbolNotFound = 500,
    mcErrorNotReady = 600,
    mcErrorIllegalAddress = 700,
    mcErrorLaunchOutOfResources = 701,
    mcErrorLaunchTimeout = 702,
    mcErrorLaunchIncompatibleTexturing = 703,
    mcErrorPeerAccessAlreadyEnabled = 704,
    mcErrorPeerAccessNotEnabled = 705,
    mcErrorSetOnActiveProcess = 708,
    mcErrorContextIsDestroyed = 709,
    mcErrorAssert = 710,
    mcErrorTooManyPeers = 711,
    mcErrorHostMemoryAlreadyRegistered = 712,
    mcErrorHostMemoryNotRegistered = 713,
    mcErrorHardwareStackError = 714,
    mcErrorIllegalInstruction = 715,
    mcErrorMisalignedAddress = 716,
    mcErrorInvalidAddressSpace = 717,
    mcErrorInvalidPc = 718,
    mcErrorLaunchFailure = 719,
    mcErrorCooperativeLaunchTooLarge = 720,
    mcErrorNotPermitted = 800,
    mcErrorNotSupported = 801,
    mcErrorSystemNotReady = 802,
    mcErrorSystemDriverMismatch = 803,
    mcErrorCompatNotSupportedOnDevice = 804,
    mcErrorMpsConnectionFailed = 805,
    mcErrorMpsRpcFailure = 806,
    mcErrorMpsServerNotReady = 807,
    mcErrorMpsMaxClientsReached = 808,
    mcErrorMpsMaxConnectionsReached = 809,
    mcErrorStreamCaptureUnsupported = 900,
    mcErrorStreamCaptureInvalidated = 901,
    mcErrorStreamCaptureMerge = 902,
    mcErrorStreamCaptureUnmatched = 903,
    mcErrorStreamCaptureUnjoined = 904,
    mcErrorStreamCaptureIsolation = 905,
    mcErrorStreamCaptureImplicit = 906,
    mcErrorCapturedEvent = 907,
    mcErrorStreamCaptureWrongThread = 908,
    mcErrorTimeout = 909,
    mcErrorGraphExecUpdateFailure = 910,
    mcErrorExternalDevice = 911,
    mcErrorGraphExecUpdateCommandDisMatch = 912,
    mcErrorGraphExecUpdateNodeTypeChanged = 913,
    mcErrorUnknown = 999,
    mcErrorDuplicateLoadModule = 1003,
    mcErrorModuleNotFound = 1004,
    mcErrorDuplicateDevice = 1005,
    mcErrorDumpBCfile = 1008,
    mcErrorRecompile = 1009,
    mcErrorApplyRelocation = 1010,
    mcErrorFileSaveFailed = 1011,
    mcErrorNoBitcodeForGPU = 1012,
    mcErrorInvalidKernel = 2000,
    mcErrorDeviceNotFound = 2001,
    mcErrorGetDeviceImageBase = 2002,
    mcErrorApiFailureBase = 10000,
    mcErrorDockerDriverUnload = 10001,
    mcErrorDriverWarmReset = 10002,
    mcErrorDriverMismatch = 10003,
    mcErrorInvalidParameter = 10004,
    mcErrorInvalidHandle = 10005,
    mcErrorInvalidUnit = 10006,
    mcErrorNoMemory = 10007,
    mcErrorBufferTooSmall = 10008,
    mcErrorNotAddNbg = 10009,
    mcErrorNotImplemented = 10010,
    mcErrorUnavailable = 10011,
    mcErrorOutOfResources = 10012,
    mcErrorKernelIoChannelNotOpened = 10013,
    mcErrorKernelCommunication = 10014,
    mcErrorKernelAlreadyOpened = 10015,
    mcErrormacaMMUUnvailable = 10016,
    mcErrorWaitFailure = 10017,
    mcErrorWaitTimeout = 10018,
    mcErrorInternal = 10019,
    mcErrorCommitFailure = 10020,
    mcErrorMemoryAlreadyRegistered = 10021,
    mcErrorMemoryNotRegistered = 10022,
    mcErrorMemoryAlignment = 10023,
    mcErrorInitialized = 10024,
    mcErrorInvalidContext = 10025,
    mcErrorContextAlreadyInUse = 10026,
    mcErrorNotFound = 10027,
    mcErrorContextIsDestroy = 10028,
    mcErrorNeedMoreInput = 10029,
    mcErrorDriverFunctionLevelReset = 10030,
    mcErrorBusy = 10031,
    mcErrorKernelExecTimeout = 10032,
    mcErrorMax
} mcError_t;
/* Other names of the same errors. */
#define mcErrorNotInitialized      mcErrorInitializationError
#define mcErrorOutOfMemory         mcErrorMemoryAllocation
#define mcErrorInvalidImage        mcErrorInvalidKernelImage
#define mcErrorNoBinaryForGpu      mcErrorNoKernelImageForDevice
#define mcErrorInvalidDeviceFuntion mcErrorInvalidDeviceFunction

/* ---- small enumerations ---- */

typedef enum _mcMemcpyKind {
    mcMemcpyHostToHost = 0,
    mcMemcpyHostToDevice = 1,
    mcMemcpyDeviceToHost = 2,
    mcMemcpyDeviceToDevice = 3,
    mcMemcpyDefault = 4 /* the addresses tell */
} mcMemcpyKind;

typedef enum mcMemoryType {
    mcMemoryTypeUnregistered = 0, /* process memory the device cannot see */
    mcMemoryTypeHost = 1,         /* pinned */
    mcMemoryTypeDevice = 2,
    mcMemoryTypeManaged = 3,
    mcMemoryTypeArray = 10
} mcMemoryType;

/* bytes; only the first three, and the count of launches, exist
 * (mcDeviceSetLimit) */
typedef enum mcLimit_t {
    mcLimitStackSize = 0,
    mcLimitPrintfFifoSize = 1,
    mcLimitMallocHeapSize = 2,
    mcLimitDevRuntimeSyncDepth = 3,
    mcLimitDevRuntimePendingLaunchCount = 4,
    mcLimitMaxL2FetchGranularity = 5,
    mcLimitPersistingL2CacheSize = 6,
    mcLimitMax
} mcLimit_t;

/* hints without effect */
typedef enum mcFuncCache_t {
    mcFuncCachePreferNone = 0,
    mcFuncCachePreferShared = 1,
    mcFuncCachePreferL1 = 2,
    mcFuncCachePreferEqual = 3
} mcFuncCache_t;

typedef enum mcSharedMemConfig {
    mcSharedMemBankSizeDefault = 0,
    mcSharedMemBankSizeFourByte = 1,
    mcSharedMemBankSizeEightByte = 2
} mcSharedMemConfig;

typedef enum mcComputeMode {
    mcComputeModeDefault = 0,
    mcComputeModeExclusive = 1,
    mcComputeModeProhibited = 2,
    mcComputeModeExclusiveProcess = 3
} mcComputeMode;

typedef enum mcDeviceP2PAttr {
    mcDevP2PAttrPerformanceRank = 1,
    mcDevP2PAttrAccessSupported = 2,
    mcDevP2PAttrNativeAtomicSupported = 3,
    mcDevP2PAttrMcArrayAccessSupported = 4
} mcDeviceP2PAttr;

typedef enum mcFuncAttribute {
    mcFuncAttributeMaxDynamicSharedMemorySize = 8,
    mcFuncAttributePreferredSharedMemoryCarveout = 9,
    mcFuncAttributeMax = 10
} mcFuncAttribute;

typedef enum mcFunctionAttribute_enum {
    MC_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    MC_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    MC_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
    MC_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    MC_FUNC_ATTRIBUTE_NUM_REGS = 4,
    MC_FUNC_ATTRIBUTE_PTX_VERSION = 5,
    MC_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
    MC_FUNC_CACHE_MODE_CA = 7,
    MC_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    MC_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
    MC_FUNC_ATTRIBUTE_MAX = 10
} mcFunction_attribute;

typedef enum mcStreamCaptureMode {
    mcStreamCaptureModeGlobal = 0,
    mcStreamCaptureModeThreadLocal = 1,
    mcStreamCaptureModeRelaxed = 2
} mcStreamCaptureMode;

typedef enum mcStreamCaptureStatus {
    mcStreamCaptureStatusNone = 0,
    mcStreamCaptureStatusActive = 1,
    mcStreamCaptureStatusInvalidated = 2
} mcStreamCaptureStatus;

enum {
    mcStreamAddCaptureDependencies = 0,
    mcStreamSetCaptureDependencies = 1
};

typedef enum mcMemLocationType {
    mcMemLocationTypeInvalid = 0,
    mcMemLocationTypeDevice = 1,
    mcMemLocationTypeHost = 2,     /* id is ignored */
    mcMemLocationTypeHostNuma = 3, /* id: a node of memory */
    mcMemLocationTypeHostNumaCurrent = 4 /* the calling thread's; id ignored */
} mcMemLocationType;

typedef enum mcMemAccessFlags {
    mcMemAccessFlagsProtNone = 0,
    mcMemAccessFlagsProtRead = 1,
    mcMemAccessFlagsProtReadWrite = 3
} mcMemAccessFlags;

typedef enum mcMemAllocationType {
    mcMemAllocationTypeInvalid = 0,
    mcMemAllocationTypePinned = 1,
    mcMemAllocationTypeMax = 0x7fffffff
} mcMemAllocationType;

typedef enum mcMemAllocationHandleType {
    mcMemHandleTypeNone = 0,
    mcMemHandleTypePosixFileDescriptor = 1,
    mcMemHandleTypeWin32 = 2,
    mcMemHandleTypeWin32Kmt = 4,
    mcMemHandleTypeFabric = 8
} mcMemAllocationHandleType;

typedef enum mcMemAllocationGranularityFlags_enum {
    MC_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    MC_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1
} mcMemAllocationGranularity_flags;

typedef enum mcMemPoolAttr {
    mcMemPoolReuseFollowEventDependencies = 1,
    mcMemPoolReuseAllowOpportunistic = 2,
    mcMemPoolReuseAllowInternalDependencies = 3,
    mcMemPoolAttrReleaseThreshold = 4, /* uint64_t */
    mcMemPoolAttrReservedMemCurrent = 5,
    mcMemPoolAttrReservedMemHigh = 6,
    mcMemPoolAttrUsedMemCurrent = 7,
    mcMemPoolAttrUsedMemHigh = 8
} mcMemPoolAttr;

/* Their values, as mcPointerGetAttribute writes them. */
typedef enum mcPointer_attribute {
    mcPointerAttributeContext = 1,       /* mcCtx_t */
    mcPointerAttributeMemoryType = 2,    /* unsigned: mcMemoryTypeHost or
                                            Device, also of managed memory */
    mcPointerAttributeDevicePointer = 3, /* mcDeviceptr_t */
    mcPointerAttributeHostPointer = 4,   /* void * */
    mcPointerAttributeP2PTokens = 5,     /* mcErrorNotSupported */
    mcPointerAttributeSyncMemops = 6,    /* unsigned 0 or 1, as those below that
                                            are questions */
    mcPointerAttributeBufferId = 7,      /* unsigned long long, never used
                                            again in the process */
    mcPointerAttributeIsManaged = 8,
    mcPointerAttributeDevice = 9,        /* int */
    mcPointerAttributeDeviceOrdinal = 9,
    mcPointerAttributeIsLegacyIpcCapable = 10,
    mcPointerAttributeRangeStartAddr = 11, /* mcDeviceptr_t */
    mcPointerAttributeRangeSize = 12,    /* size_t */
    mcPointerAttributeMapped = 13,
    mcPointerAttributeAllowedHandleTypes = 14, /* unsigned long long: bits of
                                            mcMemAllocationHandleType */
    mcPointerAttributeIsGpuDirectRdmaCapable = 15,
    mcPointerAttributeAccessFlags = 16,  /* unsigned: mcMemAccessFlags of the
                                            current device */
    mcPointerAttributeMempoolHandle = 17, /* mcMemPool_t; NULL: of no pool */
    mcPointerAttributeMappingSize = 18,  /* size_t */
    mcPointerAttributeMappingBaseAddr = 19, /* void * */
    mcPointerAttributeMemoryBlockId = 20 /* unsigned long long */
} mcPointer_attribute;

typedef enum mcStreamAttrID {
    mcStreamAttributeAccessPolicyWindow = 1,
    mcStreamAttributeSynchronizationPolicy = 3,
    mcStreamAttributePriority = 8
} mcStreamAttrID;

/* How a thread waits for a stream; Auto: as the device's flags say. */
typedef enum mcSynchronizationPolicy {
    mcSyncPolicyAuto = 1,
    mcSyncPolicySpin = 2,
    mcSyncPolicyYield = 3,
    mcSyncPolicyBlockingSync = 4
} mcSynchronizationPolicy;

typedef enum mcStreamWaitValue_flags {
    MC_STREAM_WAIT_VALUE_GEQ = 0,
    MC_STREAM_WAIT_VALUE_EQ = 1,
    MC_STREAM_WAIT_VALUE_AND = 2,
    MC_STREAM_WAIT_VALUE_NOR = 3,
    MC_STREAM_WAIT_VALUE_FLUSH = 1 << 30 /* beside one of the others */
} mcStreamWaitValue_flags;

typedef enum mcStreamWriteValue_flags {
    MC_STREAM_WRITE_VALUE_DEFAULT = 0,
    MC_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER = 1
} mcStreamWriteValue_flags;

typedef enum mcAccessProperty {
    mcAccessPropertyNormal = 0,
    mcAccessPropertyStreaming = 1,
    mcAccessPropertyPersisting = 2
} mcAccessProperty;

typedef enum mcJitInputType {
    mcJitInputObject = 0,    /* whatever it is */
    mcJitInputFatBinary = 2,
    mcJitInputLibrary = 4
} mcJitInputType;

typedef enum mcJitOption {
    mcJitOptionMaxRegisters = 0,
    mcJitOptionThreadsPerBlock = 1,
    mcJitOptionWallTime = 2,
    mcJitOptionInfoLogBuffer = 3,
    mcJitOptionInfoLogBufferSizeBytes = 4,
    mcJitOptionErrorLogBuffer = 5,
    mcJitOptionErrorLogBufferSizeBytes = 6,
    mcJitOptionOptimizationLevel = 7,
    mcJitOptionTargetFromContext = 8,
    mcJitOptionTarget = 9,
    mcJitOptionFallbackStrategy = 10,
    mcJitOptionGenerateDebugInfo = 11,
    mcJitOptionLogVerbose = 12,
    mcJitOptionGenerateLineInfo = 13,
    mcJitOptionCacheMode = 14,
    mcJitOptionNumOptions = 17
} mcJitOption;

/* ---- flags ---- */

#define mcStreamDefault     0x00 /* ordered with the legacy default stream */
#define mcStreamNonBlocking 0x01 /* not ordered with it */

/* Streams that always exist. The null handle is mcStreamLegacy. */
#define mcStreamLegacy    ((mcStream_t)0x1)
#define mcStreamPerThread ((mcStream_t)0x2)
/* For launches in kernels: behind the grid of the kernel, which is refused
 * (mcErrorNotSupported), and behind nothing. */
#define mcStreamTailLaunch ((mcStream_t)0x3)
#define mcStreamFireAndForget ((mcStream_t)0x4)

#define mcEventDefault                0x0
#define mcEventBlockingSync           0x1 /* sleep, do not spin, in waits */
#define mcEventDisableTiming          0x2
#define mcEventInterprocess           0x4
#define mcEventRecordDefault          0x0
#define mcEventRecordExternal         0x1
#define mcEventWaitDefault            0x0
#define mcEventWaitExternal           0x1
#define mcEventElapsedTimeInterDevice 0x1

#define mcMallocHostDefault       0x0
#define mcMallocHostPortable      0x1
#define mcMallocHostMapped        0x2
#define mcMallocHostWriteCombined 0x4

#define mcHostAllocDefault       mcMallocHostDefault
#define mcHostAllocPortable      mcMallocHostPortable
#define mcHostAllocMapped        mcMallocHostMapped
#define mcHostAllocWriteCombined mcMallocHostWriteCombined

#define mcHostRegisterDefault  0x0
#define mcHostRegisterPortable 0x1
#define mcHostRegisterMapped   0x2
#define mcHostRegisterIoMemory 0x4
#define mcHostRegisterReadOnly 0x8

#define mcMemAttachGlobal 0x01
#define mcMemAttachHost   0x02
#define mcMemAttachSingle 0x04

#define mcDeviceScheduleAuto         0x0
#define mcDeviceScheduleSpin         0x1
#define mcDeviceScheduleYield        0x2
#define mcDeviceScheduleBlockingSync 0x4
#define mcDeviceScheduleMask         0x7
#define mcDeviceMapHost              0x8
#define mcDeviceLmemResizeToMax      0x10

#define mcOccupancyDefault                0x0
#define mcOccupancyDisableCachingOverride 0x1

#define mcIpcMemLazyEnablePeerAccess 0x1

/* mcExtMallocWithFlags */
#define mcDeviceMallocDefault           0x0
#define mcDeviceMallocFinegrained       0x1
#define mcMallocSignalMemory            0x2
#define mcDeviceMallocWriteCoherence    0x3
#define mcDeviceMallocMapPcieDefault    0x4
#define mcDeviceMallocMapPcieCoherence  0x5
#define mcDeviceMallocFixedMemDefault   0x6
#define mcDeviceMallocFixedMemCoherence 0x7

#define mcCpuDeviceId     ((int)-1)
#define mcInvalidDeviceId ((int)-2)

/* "extra" of mcModuleLaunchKernel: pairs of key and value up to the END. */
#define MC_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define MC_LAUNCH_PARAM_BUFFER_SIZE    ((void *)0x02) /* points to a size_t */
#define MC_LAUNCH_PARAM_END            ((void *)0x03)

/* ---- structures ---- */

/* width in bytes for linear memory; height in rows, depth in slices */
typedef struct mcExtent {
    size_t width, height, depth;
} mcExtent;

/* pitch: bytes from row to row; xsize: bytes of a row that count; ysize: rows
 * from slice to slice */
typedef struct mcPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
} mcPitchedPtr;

/* x in bytes for linear memory; y in rows, z in slices */
typedef struct mcPos {
    size_t x, y, z;
} mcPos;

/* Of each side either the array or ptr.ptr is set. */
typedef struct mcMemcpy3DParms {
    mcArray_t srcArray;
    mcPos srcPos;
    mcPitchedPtr srcPtr;
    mcArray_t dstArray;
    mcPos dstPos;
    mcPitchedPtr dstPtr;
    mcExtent extent;
    mcMemcpyKind kind;
} mcMemcpy3DParms;

typedef struct mc_Memcpy2D {
    size_t srcXInBytes, srcY;
    mcMemoryType srcMemoryType;
    const void *srcHost;
    mcDeviceptr_t srcDevice;
    mcArray_t srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    mcMemoryType dstMemoryType;
    void *dstHost;
    mcDeviceptr_t dstDevice;
    mcArray_t dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} mc_Memcpy2D;

/* LOD: of levels of mipmapped arrays, 0; reserved: NULL. Height of a side: rows
 * from slice to slice. */
typedef struct mc_Memcpy3D {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    mcMemoryType srcMemoryType;
    const void *srcHost;
    mcDeviceptr_t srcDevice;
    mcArray_t srcArray;
    void *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    mcMemoryType dstMemoryType;
    void *dstHost;
    mcDeviceptr_t dstDevice;
    mcArray_t dstArray;
    void *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} mc_Memcpy3D;

/* What a kernel needs; sizes in bytes. */
typedef struct mcFuncAttributes {
    int binaryVersion;
    int cacheModeCA;
    size_t constSizeBytes;
    size_t localSizeBytes; /* of a thread */
    int maxDynamicSharedSizeBytes;
    int maxThreadsPerBlock;
    int numRegs; /* 32-bit registers of a thread */
    int preferredShmemCarveout;
    int ptxVersion;
    size_t sharedSizeBytes; /* static */
} mcFuncAttributes;

typedef struct mcMemLocation {
    mcMemLocationType type;
    int id;
} mcMemLocation;

/* When the sources of a batch of copies may be read. */
typedef enum mcMemcpySrcAccessOrder {
    mcMemcpySrcAccessOrderInvalid = 0,
    mcMemcpySrcAccessOrderStream = 1,        /* in stream order */
    mcMemcpySrcAccessOrderDuringApiCall = 2, /* not after the call */
    mcMemcpySrcAccessOrderAny = 3            /* at any time from the call on */
} mcMemcpySrcAccessOrder;

#define mcMemcpyFlagDefault 0x0
#define mcMemcpyFlagPreferOverlapWithCompute 0x1 /* a hint without effect */

/* Of copies of a batch. */
typedef struct mcMemcpyAttributes {
    mcMemcpySrcAccessOrder srcAccessOrder;
    mcMemLocation srcLocHint, dstLocHint; /* hints without effect */
    unsigned int flags;
} mcMemcpyAttributes;

typedef struct mcMemAccessDesc {
    mcMemLocation location;
    mcMemAccessFlags flags;
} mcMemAccessDesc;

typedef struct mcMemAllocationProp_st {
    mcMemAllocationType type;
    mcMemAllocationHandleType requestedHandleTypes;
    mcMemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType, gpuDirectRDMACapable;
        unsigned short usage; /* MC_MEM_CREATE_USAGE_* */
    } allocFlags;
} mcMemAllocationProp;

#define MC_MEM_CREATE_USAGE_TILE_POOL 0x1 /* for sparse arrays only */

typedef struct mcMemPoolProps {
    mcMemAllocationType allocType;
    mcMemAllocationHandleType handleTypes;
    mcMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize; /* bytes the pool may take of the device; 0: no limit */
    unsigned char reserved[56];
} mcMemPoolProps;

typedef struct mcMemPoolPtrExportData {
    unsigned char reserved[64];
} mcMemPoolPtrExportData;

typedef struct mcAccessPolicyWindow {
    void *base_ptr;
    size_t num_bytes;
    float hitRatio;
    mcAccessProperty hitProp, missProp;
} mcAccessPolicyWindow;

/* Of a stream, of a launch: which member counts the attribute says. */
typedef union mcLaunchAttributeValue {
    char pad[64];
    mcAccessPolicyWindow accessPolicyWindow;
    int cooperative; /* 1: all blocks run at once */
    mcSynchronizationPolicy syncPolicy;
    struct {
        unsigned int x, y, z;
    } clusterDim;
    int priority;
} mcLaunchAttributeValue;

typedef mcLaunchAttributeValue mcStreamAttrValue;

typedef struct mcPointerAttribute_t {
    mcMemoryType type;
    int device; /* mcInvalidDeviceId for pageable memory */
    void *devicePointer; /* NULL when the device cannot reach it */
    void *hostPointer;   /* NULL when the host cannot reach it */
    int isManaged;
    unsigned allocationFlags;
} mcPointerAttribute_t;

typedef struct mcKernelNodeParams {
    dim3 blockDim;
    void **extra;
    void *func;
    dim3 gridDim;
    void **kernelParams;
    unsigned int sharedMemBytes;
} mcKernelNodeParams;

typedef struct mcLaunchParams {
    void *func;
    dim3 gridDim;
    dim3 blockDim;
    void **args;
    size_t sharedMem;
    mcStream_t stream;
} mcLaunchParams;

typedef struct mcIpcMemHandle_t {
    char reserved[64];
} mcIpcMemHandle_t;

typedef struct mcIpcEventHandle_t {
    char reserved[64];
} mcIpcEventHandle_t;

/* Functions a stream calls. They must not call this interface. */
typedef void (*mcHostFn_t)(void *userData);
typedef void (*mcStreamCallback_t)(mcStream_t stream, mcError_t status,
                                   void *userData);

/* Memory sizes in bytes, clock rates in kHz, bus width in bits; clock and bus
 * of memory are nominal. Registers are of 32 bits; constants are ordinary
 * memory. Features are 1 or 0. Multiprocessors are compute units, major and
 * minor the generation of the device, 10.0. */
typedef struct mcDeviceProp_t {
    char name[256];
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int clockRate;
    int memoryClockRate;
    int memoryBusWidth;
    size_t totalConstMem;
    int major;
    int minor;
    int multiProcessorCount;
    int l2CacheSize;
    int maxThreadsPerMultiProcessor;
    int regsPerMultiprocessor;
    size_t sharedMemPerMultiprocessor;
    size_t sharedMemPerBlockOptin;
    int maxBlocksPerMultiProcessor;
    int computeMode;
    int concurrentKernels;
    int pciDomainID;
    int pciBusID;
    int pciDeviceID;
    int integrated;
    int canMapHostMemory;
    int cooperativeLaunch;
    int cooperativeMultiDeviceLaunch;
    size_t memPitch;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    int kernelExecTimeoutEnabled;
    int ECCEnabled;
    int deviceOverlap;
    int asyncEngineCount;
    int unifiedAddressing;
    int managedMemory;
    int concurrentManagedAccess;
    int pageableMemoryAccess;
    int streamPrioritiesSupported;
    int memoryPoolsSupported;
    mcUuid_t uuid;
    char mxArchName[256];
    size_t surfaceAlignment;
    int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;
    int maxTexture2D[2], maxTexture2DMipmap[2];
    int maxTexture2DLinear[3]; /* the last one bytes of a row */
    int maxTexture2DGather[2];
    int maxTexture3D[3], maxTexture3DAlt[3];
    int maxTexture1DLayered[2], maxTexture2DLayered[3];
    int maxTextureCubemap, maxTextureCubemapLayered[2];
    int maxSurface1D, maxSurface2D[2], maxSurface3D[3];
    int maxSurface1DLayered[2], maxSurface2DLayered[3];
    int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    int reserved[20];
} mcDeviceProp_t;

/* The older name of the member. */
#define waveSize warpSize

#ifdef __cplusplus
}
#endif

#endif
