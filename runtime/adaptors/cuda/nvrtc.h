/* SPDX-License-Identifier: MIT */
/*
 * NVRTC over mcrtc (docs/run-time-compilation.md). Inline: programs need the
 * runtime's library only. libnvrtc has the same functions, made from this.
 */
#ifndef __NVRTC_H__
#define __NVRTC_H__

#include <stddef.h>

#if __has_include("mcr/mcrtc.h")
#include "mcr/mcrtc.h"
#else
#include "../mcr/mcrtc.h"
#endif

#ifndef NVRTC_FUNCTION
#define NVRTC_FUNCTION static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nvrtcResult {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INVALID_PROGRAM = 4,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6,
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    NVRTC_ERROR_INTERNAL_ERROR = 11
} nvrtcResult;

typedef struct _nvrtcProgram *nvrtcProgram;

NVRTC_FUNCTION const char *nvrtcGetErrorString(nvrtcResult result)
{
    static const char *const names[] = {
        "NVRTC_SUCCESS",
        "NVRTC_ERROR_OUT_OF_MEMORY",
        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM",
        "NVRTC_ERROR_INVALID_OPTION",
        "NVRTC_ERROR_COMPILATION",
        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "NVRTC_ERROR_INTERNAL_ERROR"
    };

    return (unsigned)result < sizeof(names) / sizeof(names[0])
               ? names[result]
               : "NVRTC_ERROR unknown";
}

NVRTC_FUNCTION nvrtcResult nvrtcVersion(int *major, int *minor)
{
    if (!major || !minor) {
        return NVRTC_ERROR_INVALID_INPUT;
    }
    *major = 11;
    *minor = 6;
    return NVRTC_SUCCESS;
}

NVRTC_FUNCTION nvrtcResult nvrtcGetNumSupportedArchs(int *numArchs)
{
    return (nvrtcResult)mcrtcGetNumSupportedArchs(numArchs);
}

NVRTC_FUNCTION nvrtcResult nvrtcGetSupportedArchs(int *supportedArchs)
{
    return (nvrtcResult)mcrtcGetSupportedArchs(supportedArchs);
}

NVRTC_FUNCTION nvrtcResult nvrtcCreateProgram(
    nvrtcProgram *prog, const char *src, const char *name, int numHeaders,
    const char *const *headers, const char *const *includeNames)
{
    mcrtcResult result =
        mcrtcCreateProgram((mcrtcProgram *)prog, src, name, numHeaders,
                           (const char *const *)headers,
                           (const char *const *)includeNames);

    return (nvrtcResult)(result == MCRTC_SUCCESS
                             ? mcrtcSetLanguage((mcrtcProgram)*prog,
                                                MCRTC_LANGUAGE_CUDA)
                             : result);
}

NVRTC_FUNCTION nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog)
{
    return (nvrtcResult)mcrtcDestroyProgram((mcrtcProgram *)prog);
}

NVRTC_FUNCTION nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions,
                                   const char *const *options)
{
    return (nvrtcResult)mcrtcCompileProgram((mcrtcProgram)prog, numOptions,
                                            (const char *const *)options);
}

NVRTC_FUNCTION nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t *logSize)
{
    return (nvrtcResult)mcrtcGetProgramLogSize((mcrtcProgram)prog, logSize);
}

NVRTC_FUNCTION nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char *log)
{
    return (nvrtcResult)mcrtcGetProgramLog((mcrtcProgram)prog, log);
}

NVRTC_FUNCTION nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSize)
{
    return (nvrtcResult)mcrtcGetPTXSize((mcrtcProgram)prog, ptxSize);
}

NVRTC_FUNCTION nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx)
{
    return (nvrtcResult)mcrtcGetPTX((mcrtcProgram)prog, ptx);
}

NVRTC_FUNCTION nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSize)
{
    return (nvrtcResult)mcrtcGetCodeSize((mcrtcProgram)prog, cubinSize);
}

NVRTC_FUNCTION nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin)
{
    return (nvrtcResult)mcrtcGetCode((mcrtcProgram)prog, cubin);
}

NVRTC_FUNCTION nvrtcResult nvrtcGetNVVMSize(nvrtcProgram prog, size_t *nvvmSize)
{
    return (nvrtcResult)mcrtcGetBitcodeSize((mcrtcProgram)prog, nvvmSize);
}

NVRTC_FUNCTION nvrtcResult nvrtcGetNVVM(nvrtcProgram prog, char *nvvm)
{
    return (nvrtcResult)mcrtcGetBitcode((mcrtcProgram)prog, nvvm);
}

NVRTC_FUNCTION nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram prog, size_t *ltoirSize)
{
    return (nvrtcResult)mcrtcGetBitcodeSize((mcrtcProgram)prog, ltoirSize);
}

NVRTC_FUNCTION nvrtcResult nvrtcGetLTOIR(nvrtcProgram prog, char *ltoir)
{
    return (nvrtcResult)mcrtcGetBitcode((mcrtcProgram)prog, ltoir);
}

NVRTC_FUNCTION nvrtcResult nvrtcAddNameExpression(nvrtcProgram prog,
                                      const char *nameExpression)
{
    return (nvrtcResult)mcrtcAddNameExpression((mcrtcProgram)prog,
                                               nameExpression);
}

NVRTC_FUNCTION nvrtcResult nvrtcGetLoweredName(nvrtcProgram prog,
                                   const char *nameExpression,
                                   const char **loweredName)
{
    return (nvrtcResult)mcrtcGetLoweredName((mcrtcProgram)prog, nameExpression,
                                            loweredName);
}

#ifdef __cplusplus
}

#if defined(NVRTC_GET_TYPE_NAME) && NVRTC_GET_TYPE_NAME
#include <cxxabi.h>
#include <cstdlib>
#include <string>
#include <typeinfo>

/* The name of a type, for name expressions. */
inline nvrtcResult nvrtcGetTypeName(const std::type_info &type,
                                    std::string *result)
{
    int status;
    char *name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);

    if (!result || !name) {
        std::free(name);
        return NVRTC_ERROR_INTERNAL_ERROR;
    }
    *result = name;
    std::free(name);
    return NVRTC_SUCCESS;
}

/* In typeid(), references and qualifiers of the type itself would go. */
template <typename T> struct __nvrtc_type_name {};

template <typename T> nvrtcResult nvrtcGetTypeName(std::string *result)
{
    std::string whole;
    nvrtcResult status = nvrtcGetTypeName(typeid(__nvrtc_type_name<T>),
                                          &whole);

    if (status == NVRTC_SUCCESS) {
        std::size_t begin = whole.find('<') + 1;

        *result = whole.substr(begin, whole.rfind('>') - begin);
    }
    return status;
}
#endif
#endif

#endif
