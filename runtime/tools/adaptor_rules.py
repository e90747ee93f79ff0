# SPDX-License-Identifier: MIT
"""How names of the mc* interface become names of CUDA and of HIP.

A name follows the rule mcX -> cudaX, hipX unless RENAMED has it. KEPT keeps its
own name: CUDA or HIP have no such thing, or one of another shape, which is
written by hand in adaptors/."""

TAGS = {
    "cuda": {
        "MCstream_st": "CUstream_st", "MCevent_st": "CUevent_st",
        "MCctx_st": "CUctx_st", "MCmod_st": "CUmod_st",
        "MCfunc_st": "CUfunc_st", "MClink_st": "CUlinkState_st",
        "MCgraph_st": "CUgraph_st", "MCgnode_st": "CUgraphNode_st",
        "MCgexec_st": "CUgraphExec_st", "MCmempool_st": "CUmemPoolHandle_st",
        "MCarray_st": "cudaArray", "MCmipmappedArray_st": "cudaMipmappedArray",
        "MCextMemory_st": "CUexternalMemory_st",
        "MCextSemaphore_st": "CUexternalSemaphore_st",
        "MCuserObject_st": "CUuserObject_st",
        "_mcError_t": "cudaError", "_mcMemcpyKind": "cudaMemcpyKind",
        "make_mcExtent": "make_cudaExtent", "make_mcPos": "make_cudaPos",
        "make_mcPitchedPtr": "make_cudaPitchedPtr",
    },
    "hip": {
        "MCstream_st": "ihipStream_t", "MCevent_st": "ihipEvent_t",
        "MCctx_st": "ihipCtx_t", "MCmod_st": "ihipModule_t",
        "MCfunc_st": "ihipModuleSymbol_t", "MClink_st": "ihiprtcLinkState",
        "MCgraph_st": "ihipGraph", "MCgnode_st": "hipGraphNode",
        "MCgexec_st": "hipGraphExec", "MCmempool_st": "ihipMemPoolHandle_t",
        "MCarray_st": "hipArray", "MCmipmappedArray_st": "hipMipmappedArray",
        "MCextMemory_st": "ihipExternalMemory",
        "MCextSemaphore_st": "ihipExternalSemaphore",
        "MCuserObject_st": "hipUserObject",
        "_mcError_t": "hipError_t", "_mcMemcpyKind": "hipMemcpyKind",
        "mc_Memcpy2D": "hip_Memcpy2D",
        "make_mcExtent": "make_hipExtent", "make_mcPos": "make_hipPos",
        "make_mcPitchedPtr": "make_hipPitchedPtr",
    },
}

RENAMED = {
    "cuda": {
        "mcDeviceAttribute_t": "cudaDeviceAttr",
        "mcLimit_t": "cudaLimit",
        "mcFuncCache_t": "cudaFuncCache",
        "mcPointerAttribute_t": "cudaPointerAttributes",
        "mcUuid_t": "cudaUUID_t",
        "mcFunction_t": "cudaFunction_t",
        "mcErrorDeinitialized": "cudaErrorCudartUnloading",
        "mcErrorInvalidKernelFile": "cudaErrorInvalidPtx",
        "mcErrorMxlinkUncorrectable": "cudaErrorNvlinkUncorrectable",
        "mcErrorUnsupportedKernelVersion": "cudaErrorUnsupportedPtxVersion",
        "mcErrorApiFailureBase": "cudaErrorApiFailureBase",
        "mcDevAttrSparseMcArraySupported":
            "cudaDevAttrSparseCudaArraySupported",
        "mcDevAttrDeferredMappingMcArraySupported":
            "cudaDevAttrDeferredMappingCudaArraySupported",
        "mcDevP2PAttrMcArrayAccessSupported":
            "cudaDevP2PAttrCudaArrayAccessSupported",
        "mcDeviceAttributeSurfaceAligement": "cudaDevAttrSurfaceAlignment",
        "mcDeviceAttributePciDomainId": "cudaDevAttrPciDomainId",
        "mcDeviceAttributeTccDriver": "cudaDevAttrTccDriver",
        "mcDeviceAttributeAsyncEngineCount": "cudaDevAttrAsyncEngineCount",
        "mcDeviceAttributeCanUseStreamMemOps":
            "cudaDevAttrReserved92",
        "mcDeviceAttributeCanUseStreamWaitValue":
            "cudaDevAttrReserved94",
        "mcMemcpySrcAccessOrder": "cudaMemcpySrcAccessOrder",
    },
    "hip": {
        "mcUuid_t": "hipUUID",
        "mcDeviceptr_t": "hipDeviceptr_t",
        "mcArrayFormat": "hipArray_Format",
        "mcArrayDescriptor": "HIP_ARRAY_DESCRIPTOR",
        "mcArray3DDescriptor": "HIP_ARRAY3D_DESCRIPTOR",
        "mcFuncAttributes": "hipFuncAttributes",
        "mcFunction_attribute": "hipFunction_attribute",
        "mcMemGenericAllocationHandle": "hipMemGenericAllocationHandle_t",
        "mcLaunchParams": "hipLaunchParams",
        "mcErrorMemoryAllocation": "hipErrorOutOfMemory",
        "mcErrorInitializationError": "hipErrorNotInitialized",
        "mcErrorInvalidKernelImage": "hipErrorInvalidImage",
        "mcErrorDeviceUninitialized": "hipErrorInvalidContext",
        "mcErrorMapBufferObjectFailed": "hipErrorMapFailed",
        "mcErrorUnmapBufferObjectFailed": "hipErrorUnmapFailed",
        "mcErrorNoKernelImageForDevice": "hipErrorNoBinaryForGpu",
        "mcErrorECCUncorrectable": "hipErrorECCNotCorrectable",
        "mcErrorDeviceAlreadyInUse": "hipErrorContextAlreadyInUse",
        "mcErrorInvalidResourceHandle": "hipErrorInvalidHandle",
        "mcErrorSymbolNotFound": "hipErrorNotFound",
        "mcErrorLaunchTimeout": "hipErrorLaunchTimeOut",
        "mcDevAttrMaxBlocksPerMultiprocessor":
            "hipDeviceAttributeMaxBlocksPerMultiProcessor",
        "mcDeviceAttributeSurfaceAligement":
            "hipDeviceAttributeSurfaceAlignment",
        "mcDeviceAttributeMaxPitch": "hipDeviceAttributeMaxPitch",
    },
}

# Types and enumerators that only another interface (cuda.h) has, and shapes
# that differ.
KEPT = {
    "cuda": {
        "mcDeviceProp_t", "mcDeviceptr_t", "mcCtx_t", "mcModule_t",
        "mcLinkState_t", "mcDevice_t", "mcArrayFormat", "mcArrayDescriptor",
        "mcArray3DDescriptor", "mcExternalMemoryMipmappedArrayDesc",
        "mcMemAllocationProp", "mcMemAllocationProp_st",
        "mcMemGenericAllocationHandle", "mcFunction_attribute",
        "mcFunctionAttribute_enum", "mcPointer_attribute",
        "mcMulticastObjectProp", "mcArrayMapInfo",
    },
    "hip": {
        "mcDeviceProp_t", "mcPointerAttribute_t",
        "mcErrorInvalidHandle",
    },
}

# Functions whose rule would give them another function's shape.
BY_HAND = {
    "cuda": {
        "mcGetDeviceProperties", "mcChooseDevice", "mcMallocHost",
        "mcStreamGetCaptureInfo", "mcMemcpy3DPeer", "mcMemcpy3DPeerAsync",
        "mcExternalMemoryGetMappedMipmappedArray", "mcGetDriverEntryPoint",
    },
    "hip": {
        "mcGetDeviceProperties", "mcChooseDevice", "mcMallocHost",
        "mcHostMalloc", "mcStreamGetCaptureInfo", "mcPointerGetAttributes",
        "mcStreamWaitValue32", "mcStreamWaitValue64", "mcEventCreateWithFlags",
        "mcDrvGetErrorName", "mcDrvGetErrorString",
    },
}

# Renamed in headers; the functions of the libraries are written by hand.
OWN_BODY = {
    "mcGetErrorName", "mcGetErrorString", "mcRuntimeGetVersion",
    "mcDriverGetVersion",
}

# The caller of these is remembered (MXGPU_CHECK): they end in a jump.
DIRECT = {
    "mcMalloc", "mcMallocHost", "mcHostAlloc", "mcHostMalloc", "mcMallocPitch",
    "mcMalloc3D", "mcMallocManaged", "mcMallocAsync", "mcMallocFromPoolAsync",
    "mcExtMallocWithFlags", "mcMallocArray", "mcMalloc3DArray",
}

# Names beside the one that the rule gives: macros for the same thing.
ALSO = {
    "cuda": {
        "cudaUUID_t": "CUuuid",
    },
    "hip": {
        "hipErrorOutOfMemory": "hipErrorMemoryAllocation",
        "hipErrorNotInitialized": "hipErrorInitializationError",
        "hipErrorMapFailed": "hipErrorMapBufferObjectFailed",
        "hipErrorInvalidHandle": "hipErrorInvalidResourceHandle",
        "hipDeviceAttributeMemoryBusWidth":
            "hipDeviceAttributeGlobalMemoryBusWidth",
    },
}
