/* SPDX-License-Identifier: MIT */
/* CUDA's driver interface: functions of cuda_adaptor/driver.def. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <string.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "adaptors/lib/adaptor.h"
#include "adaptors/lib/driver_nodes.h"
#include "adaptors/lib/references.h"

static const struct {
    int number;
    const char *name;
} results[] = {
#define CU_ERROR(name, number) { number, #name },
#include "cuda_adaptor/results.def"
#undef CU_ERROR
};

static const char *result_name(int number)
{
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        if (results[i].number == number) {
            return results[i].name;
        }
    }
    return NULL;
}

/* Numbers agree where both interfaces have them; the runtime's finer ones for
 * arguments are one here. */
static CUresult cu_result(cudaError_t error)
{
    error = adaptor_error(error);
    if (__builtin_expect(error == cudaSuccess, 1)) {
        return CUDA_SUCCESS;
    }
    switch (error) {
    case cudaErrorInvalidDeviceFunction:
        return CUDA_ERROR_INVALID_HANDLE;
    case cudaErrorDevicesUnavailable:
        return CUDA_ERROR_NO_DEVICE;
    default:
        return result_name((int)error) ? (CUresult)error :
               (int)error < 100 ? CUDA_ERROR_INVALID_VALUE :
                                  CUDA_ERROR_UNKNOWN;
    }
}

const char *mcGetErrorString_of_library(int error)
    __asm__("mcGetErrorString");

MC_EXPORT CUresult cuGetErrorName(CUresult error, const char **pStr)
{
    if (!pStr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pStr = result_name((int)error);
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MC_EXPORT CUresult cuGetErrorString(CUresult error, const char **pStr)
{
    if (!pStr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pStr = result_name((int)error) ?
                mcGetErrorString_of_library((int)error) : NULL;
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MC_EXPORT CUresult cuGetProcAddress(const char *symbol, void **pfn,
                                    int cudaVersion, unsigned long long flags)
{
    cudaError_t error = cudaGetDriverEntryPoint(symbol, pfn, flags);

    return error != cudaSuccess ? cu_result(error) :
           *pfn ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static cudaError_t compute_capability(int *major, int *minor, CUdevice dev)
{
    cudaError_t error = cudaDeviceGetAttribute(
        major, cudaDevAttrComputeCapabilityMajor, dev);

    return error != cudaSuccess ? error :
           cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor,
                                  dev);
}

static cudaError_t texture_address_mode(CUaddress_mode *mode, CUtexref ref,
                                        int dimension)
{
    const CUDA_TEXTURE_DESC *modes = adaptor_texture_modes(ref);

    if (!modes || !mode || dimension < 0 || dimension >= 3) {
        return modes ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    }
    *mode = modes->addressMode[dimension];
    return cudaSuccess;
}

static cudaError_t texture_filter_mode(CUfilter_mode *mode, CUtexref ref)
{
    const CUDA_TEXTURE_DESC *modes = adaptor_texture_modes(ref);

    if (!modes || !mode) {
        return modes ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    }
    *mode = modes->filterMode;
    return cudaSuccess;
}

static cudaError_t texture_flags(unsigned int *flags, CUtexref ref)
{
    const CUDA_TEXTURE_DESC *modes = adaptor_texture_modes(ref);

    if (!modes || !flags) {
        return modes ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    }
    *flags = modes->flags;
    return cudaSuccess;
}

/* All kernels of a module read by its references as it is. */
static cudaError_t texture_parameter(CUfunction function, int unit,
                                     CUtexref ref)
{
    return !adaptor_texture_modes(ref) ? cudaErrorInvalidResourceHandle :
           !function || unit != CU_PARAM_TR_DEFAULT ? cudaErrorInvalidValue :
                                                      cudaSuccess;
}

/* The structures are the same but for their names. */
static cudaError_t launch_ex(const CUlaunchConfig *config, CUstream stream,
                             CUfunction function, void **params, void **extra)
{
    mcLaunchConfigExtension own;

    if (!config) {
        return cudaErrorInvalidValue;
    }
    _Static_assert(sizeof(own) == sizeof(*config), "of one shape");
    memcpy(&own, config, sizeof(own));
    own.hStream = stream;
    return mcModuleLaunchKernelEx(&own, function, params, extra);
}

/* What nvrtcGetPTX() gives is an object. */
static mcJitInputType input_type(CUjitInputType type)
{
    return type == CU_JIT_INPUT_FATBINARY ? mcJitInputFatBinary :
           type == CU_JIT_INPUT_LIBRARY ? mcJitInputLibrary :
           type == CU_JIT_INPUT_CUBIN || type == CU_JIT_INPUT_OBJECT ||
                   type == CU_JIT_INPUT_PTX ?
               mcJitInputObject : (mcJitInputType)-1;
}

static cudaError_t copy_2d(const CUDA_MEMCPY2D *p, CUstream stream, int async)
{
    mc_Memcpy2D copy;

    if (!p) {
        return cudaErrorInvalidValue;
    }
    copy = (mc_Memcpy2D){
        .srcXInBytes = p->srcXInBytes, .srcY = p->srcY,
        .srcMemoryType = driver_memory_type(p->srcMemoryType),
        .srcHost = p->srcHost, .srcDevice = (void *)p->srcDevice,
        .srcArray = (cudaArray_t)p->srcArray, .srcPitch = p->srcPitch,
        .dstXInBytes = p->dstXInBytes, .dstY = p->dstY,
        .dstMemoryType = driver_memory_type(p->dstMemoryType),
        .dstHost = p->dstHost, .dstDevice = (void *)p->dstDevice,
        .dstArray = (cudaArray_t)p->dstArray, .dstPitch = p->dstPitch,
        .WidthInBytes = p->WidthInBytes, .Height = p->Height,
    };
    return async ? mcMemcpyParam2DAsync(&copy, stream) :
                   mcMemcpyParam2D(&copy);
}

/* Kernels of modules have no limits that could be raised: what the device has
 * is what a launch may ask for, and the others are hints. */
static cudaError_t set_function_attribute(CUfunction f,
                                          CUfunction_attribute attrib,
                                          int value)
{
    int most, ignored;
    cudaError_t error = mcFuncGetAttribute(
        &ignored, MC_FUNC_ATTRIBUTE_NUM_REGS, f);

    if (error != cudaSuccess) {
        return error;
    }
    if (attrib == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
        return value >= -1 && value <= 100 ? cudaSuccess :
                                             cudaErrorInvalidValue;
    }
    if (attrib != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        return cudaErrorInvalidValue;
    }
    error = mcFuncGetAttribute(
        &most, MC_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f);
    return error != cudaSuccess ? error :
           value >= 0 && value <= most ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t set_cache_config(CUfunction f, CUfunc_cache config)
{
    int ignored;

    return (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ?
               cudaErrorInvalidValue :
               mcFuncGetAttribute(&ignored, MC_FUNC_ATTRIBUTE_NUM_REGS, f);
}

#define P(address) ((void *)(uintptr_t)(address))
#define A(array) ((cudaArray_t)(array))
#define V(type, value) ((type)(value))
#define E(handle, call) ((handle) ? (call) : cudaErrorInvalidValue)
#define CU(name, parameters, call)                                             \
    MC_EXPORT CUresult name parameters                                         \
    {                                                                          \
        return cu_result((cudaError_t)(call));                                 \
    }
#define CUS CU
#define S(stream) (stream)
#include "cuda_adaptor/driver.def"

/* The forms for the stream of each thread. */
#undef CU
#undef CUS
#undef S
#define CU(name, parameters, call)
#define CUS(name, parameters, call)                                            \
    MC_EXPORT CUresult name##_ptsz parameters;                                 \
    MC_EXPORT CUresult name##_ptsz parameters                                  \
    {                                                                          \
        return cu_result((cudaError_t)(call));                                 \
    }
#define S(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)
#include "cuda_adaptor/driver.def"

/* Other names of the same. */
#define ALIAS(name, of)                                                        \
    MC_EXPORT extern __typeof__(of) name __attribute__((alias(#of)));
#define CU_V2(name) ALIAS(name##_v2, name)
#define CUS_V2(name)                                                           \
    ALIAS(name##_v2, name)                                                     \
    ALIAS(name##_v2_ptsz, name##_ptsz)
#include "cuda_adaptor/driver_versions.def"
