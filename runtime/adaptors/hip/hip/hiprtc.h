/* SPDX-License-Identifier: MIT */
/*
 * HIPRTC over mcrtc (docs/run-time-compilation.md). Inline: programs need the
 * runtime's library only. libhiprtc has the same functions, made from this.
 */
#ifndef HIP_INCLUDE_HIP_HIPRTC_H
#define HIP_INCLUDE_HIP_HIPRTC_H

#include <stddef.h>

#if __has_include("mcr/mcrtc.h")
#include "mcr/mc_runtime_api.h"
#include "mcr/mcrtc.h"
#else
#include "../../mcr/mc_runtime_api.h"
#include "../../mcr/mcrtc.h"
#endif

#ifndef HIPRTC_FUNCTION
#define HIPRTC_FUNCTION static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hiprtcResult {
    HIPRTC_SUCCESS = 0,
    HIPRTC_ERROR_OUT_OF_MEMORY = 1,
    HIPRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    HIPRTC_ERROR_INVALID_INPUT = 3,
    HIPRTC_ERROR_INVALID_PROGRAM = 4,
    HIPRTC_ERROR_INVALID_OPTION = 5,
    HIPRTC_ERROR_COMPILATION = 6,
    HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    HIPRTC_ERROR_INTERNAL_ERROR = 11,
    HIPRTC_ERROR_LINKING = 100
} hiprtcResult;

typedef struct _hiprtcProgram *hiprtcProgram;

HIPRTC_FUNCTION const char *hiprtcGetErrorString(hiprtcResult result)
{
    static const char *const names[] = {
        "HIPRTC_SUCCESS",
        "HIPRTC_ERROR_OUT_OF_MEMORY",
        "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "HIPRTC_ERROR_INVALID_INPUT",
        "HIPRTC_ERROR_INVALID_PROGRAM",
        "HIPRTC_ERROR_INVALID_OPTION",
        "HIPRTC_ERROR_COMPILATION",
        "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "HIPRTC_ERROR_INTERNAL_ERROR"
    };

    if (result == HIPRTC_ERROR_LINKING) {
        return "HIPRTC_ERROR_LINKING";
    }
    return (unsigned)result < sizeof(names) / sizeof(names[0])
               ? names[result]
               : "HIPRTC_ERROR unknown";
}

HIPRTC_FUNCTION hiprtcResult hiprtcVersion(int *major, int *minor)
{
    if (!major || !minor) {
        return HIPRTC_ERROR_INVALID_INPUT;
    }
    *major = 9;
    *minor = 0;
    return HIPRTC_SUCCESS;
}

HIPRTC_FUNCTION hiprtcResult hiprtcCreateProgram(
    hiprtcProgram *prog, const char *src, const char *name, int numHeaders,
    const char *const *headers, const char *const *includeNames)
{
    mcrtcResult result =
        mcrtcCreateProgram((mcrtcProgram *)prog, src, name, numHeaders,
                           (const char *const *)headers,
                           (const char *const *)includeNames);

    return (hiprtcResult)(result == MCRTC_SUCCESS
                             ? mcrtcSetLanguage((mcrtcProgram)*prog,
                                                MCRTC_LANGUAGE_HIP)
                             : result);
}

HIPRTC_FUNCTION hiprtcResult hiprtcDestroyProgram(hiprtcProgram *prog)
{
    return (hiprtcResult)mcrtcDestroyProgram((mcrtcProgram *)prog);
}

HIPRTC_FUNCTION hiprtcResult hiprtcCompileProgram(hiprtcProgram prog, int numOptions,
                                   const char *const *options)
{
    return (hiprtcResult)mcrtcCompileProgram((mcrtcProgram)prog, numOptions,
                                            (const char *const *)options);
}

HIPRTC_FUNCTION hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram prog, size_t *logSize)
{
    return (hiprtcResult)mcrtcGetProgramLogSize((mcrtcProgram)prog, logSize);
}

HIPRTC_FUNCTION hiprtcResult hiprtcGetProgramLog(hiprtcProgram prog, char *log)
{
    return (hiprtcResult)mcrtcGetProgramLog((mcrtcProgram)prog, log);
}

HIPRTC_FUNCTION hiprtcResult hiprtcGetCodeSize(hiprtcProgram prog, size_t *codeSize)
{
    return (hiprtcResult)mcrtcGetCodeSize((mcrtcProgram)prog, codeSize);
}

HIPRTC_FUNCTION hiprtcResult hiprtcGetCode(hiprtcProgram prog, char *code)
{
    return (hiprtcResult)mcrtcGetCode((mcrtcProgram)prog, code);
}

HIPRTC_FUNCTION hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram prog, size_t *bitcodeSize)
{
    return (hiprtcResult)mcrtcGetBitcodeSize((mcrtcProgram)prog, bitcodeSize);
}

HIPRTC_FUNCTION hiprtcResult hiprtcGetBitcode(hiprtcProgram prog, char *bitcode)
{
    return (hiprtcResult)mcrtcGetBitcode((mcrtcProgram)prog, bitcode);
}

HIPRTC_FUNCTION hiprtcResult hiprtcAddNameExpression(hiprtcProgram prog,
                                      const char *nameExpression)
{
    return (hiprtcResult)mcrtcAddNameExpression((mcrtcProgram)prog,
                                               nameExpression);
}

HIPRTC_FUNCTION hiprtcResult hiprtcGetLoweredName(hiprtcProgram prog,
                                   const char *nameExpression,
                                   const char **loweredName)
{
    return (hiprtcResult)mcrtcGetLoweredName((mcrtcProgram)prog, nameExpression,
                                            loweredName);
}

/* ---- linking: mcLink* ---- */

/* Numbered as mcJitOption. */
typedef enum hiprtcJIT_option {
    HIPRTC_JIT_MAX_REGISTERS = 0,
    HIPRTC_JIT_THREADS_PER_BLOCK,
    HIPRTC_JIT_WALL_TIME,
    HIPRTC_JIT_INFO_LOG_BUFFER,
    HIPRTC_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    HIPRTC_JIT_ERROR_LOG_BUFFER,
    HIPRTC_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    HIPRTC_JIT_OPTIMIZATION_LEVEL,
    HIPRTC_JIT_TARGET_FROM_HIPCONTEXT,
    HIPRTC_JIT_TARGET,
    HIPRTC_JIT_FALLBACK_STRATEGY,
    HIPRTC_JIT_GENERATE_DEBUG_INFO,
    HIPRTC_JIT_LOG_VERBOSE,
    HIPRTC_JIT_GENERATE_LINE_INFO,
    HIPRTC_JIT_CACHE_MODE
} hiprtcJIT_option;

typedef enum hiprtcJITInputType {
    HIPRTC_JIT_INPUT_CUBIN = 0,
    HIPRTC_JIT_INPUT_PTX,
    HIPRTC_JIT_INPUT_FATBINARY,
    HIPRTC_JIT_INPUT_OBJECT,
    HIPRTC_JIT_INPUT_LIBRARY,
    HIPRTC_JIT_INPUT_NVVM,
    HIPRTC_JIT_NUM_LEGACY_INPUT_TYPES,
    HIPRTC_JIT_INPUT_LLVM_BITCODE = 100,
    HIPRTC_JIT_INPUT_LLVM_BUNDLED_BITCODE = 101,
    HIPRTC_JIT_INPUT_LLVM_ARCHIVES_OF_BUNDLED_BITCODE = 102
} hiprtcJITInputType;

typedef struct ihiprtcLinkState *hiprtcLinkState;

static inline hiprtcResult __hiprtc_link_result(mcError_t error)
{
    switch ((int)error) {
    case mcSuccess:
        return HIPRTC_SUCCESS;
    case mcErrorMemoryAllocation:
        return HIPRTC_ERROR_OUT_OF_MEMORY;
    case mcErrorInvalidValue:
    case mcErrorInvalidHandle:
    case mcErrorFileNotFound:
        return HIPRTC_ERROR_INVALID_INPUT;
    default:
        return HIPRTC_ERROR_LINKING;
    }
}

static inline mcJitInputType __hiprtc_input(hiprtcJITInputType type)
{
    return type == HIPRTC_JIT_INPUT_LIBRARY ||
                   type == HIPRTC_JIT_INPUT_LLVM_ARCHIVES_OF_BUNDLED_BITCODE
               ? mcJitInputLibrary
               : mcJitInputObject;
}

HIPRTC_FUNCTION hiprtcResult hiprtcLinkCreate(unsigned int numOptions,
                                              hiprtcJIT_option *options,
                                              void **optionValues,
                                              hiprtcLinkState *state)
{
    return __hiprtc_link_result(mcLinkCreate(numOptions,
                                             (mcJitOption *)options,
                                             optionValues,
                                             (mcLinkState_t *)state));
}

HIPRTC_FUNCTION hiprtcResult hiprtcLinkAddData(
    hiprtcLinkState state, hiprtcJITInputType type, void *image, size_t size,
    const char *name, unsigned int numOptions, hiprtcJIT_option *options,
    void **optionValues)
{
    return __hiprtc_link_result(mcLinkAddData(
        (mcLinkState_t)state, __hiprtc_input(type), image, size, name,
        numOptions, (mcJitOption *)options, optionValues));
}

HIPRTC_FUNCTION hiprtcResult hiprtcLinkAddFile(
    hiprtcLinkState state, hiprtcJITInputType type, const char *path,
    unsigned int numOptions, hiprtcJIT_option *options, void **optionValues)
{
    return __hiprtc_link_result(mcLinkAddFile(
        (mcLinkState_t)state, __hiprtc_input(type), path, numOptions,
        (mcJitOption *)options, optionValues));
}

HIPRTC_FUNCTION hiprtcResult hiprtcLinkComplete(hiprtcLinkState state,
                                                void **code, size_t *size)
{
    return __hiprtc_link_result(mcLinkComplete((mcLinkState_t)state, code,
                                               size));
}

HIPRTC_FUNCTION hiprtcResult hiprtcLinkDestroy(hiprtcLinkState state)
{
    return __hiprtc_link_result(mcLinkDestroy((mcLinkState_t)state));
}

#ifdef __cplusplus
}
#endif

#endif
