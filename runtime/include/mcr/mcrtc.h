/* SPDX-License-Identifier: MIT */
/*
 * Compilation at run time: device code in memory becomes a code object that
 * mcModuleLoadData() loads. In libmcrtc, which needs no device, and in
 * libmcruntime as well. Thread-safe; calls for one program wait for each other.
 * docs/run-time-compilation.md has options, headers and names.
 */
#ifndef MCR_MCRTC_H
#define MCR_MCRTC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mcrtcResult {
    MCRTC_SUCCESS = 0,
    MCRTC_ERROR_OUT_OF_MEMORY = 1,
    MCRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    MCRTC_ERROR_INVALID_INPUT = 3,
    MCRTC_ERROR_INVALID_PROGRAM = 4,
    MCRTC_ERROR_INVALID_OPTION = 5,
    MCRTC_ERROR_COMPILATION = 6,
    MCRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    MCRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    MCRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    MCRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    MCRTC_ERROR_INTERNAL_ERROR = 11
} mcrtcResult;

/* Whose names a source uses: what it finds without an #include. */
typedef enum mcrtcLanguage {
    MCRTC_LANGUAGE_MACA = 0,
    MCRTC_LANGUAGE_CUDA = 1,
    MCRTC_LANGUAGE_HIP = 2
} mcrtcLanguage;

typedef struct mcrtcProgram_st *mcrtcProgram;

/* The name of the enumerator. */
const char *mcrtcGetErrorString(mcrtcResult result);
/* Of this library. */
mcrtcResult mcrtcVersion(int *major, int *minor);
/* Devices as numbers, 10 * major + minor of their capability, ascending. */
mcrtcResult mcrtcGetNumSupportedArchs(int *numArchs);
mcrtcResult mcrtcGetSupportedArchs(int *supportedArchs);

/*
 * All is copied. name: for messages, "default_program" when NULL or empty;
 * headers: contents, includeNames: by what #include names them. Header names
 * that cannot be those of files: MCRTC_ERROR_INVALID_INPUT.
 */
mcrtcResult mcrtcCreateProgram(mcrtcProgram *prog, const char *src,
                               const char *name, int numHeaders,
                               const char *const *headers,
                               const char *const *includeNames);
/* Of compilations from now on; a new program's is MCRTC_LANGUAGE_MACA. */
mcrtcResult mcrtcSetLanguage(mcrtcProgram prog, mcrtcLanguage language);
/* Sets *prog to NULL. Lowered names end with the program. */
mcrtcResult mcrtcDestroyProgram(mcrtcProgram *prog);
/* Runs the compiler. It may be called again, with other options. */
mcrtcResult mcrtcCompileProgram(mcrtcProgram prog, int numOptions,
                                const char *const *options);

/* What the last compilation said; the size counts the NUL, and is 1 without
 * messages. */
mcrtcResult mcrtcGetProgramLogSize(mcrtcProgram prog, size_t *logSize);
mcrtcResult mcrtcGetProgramLog(mcrtcProgram prog, char *log);

/*
 * The code object; with -rdc=true one for mcLinkAddData(). The three are the
 * same: there is no assembly language between source and code, and the bitcode
 * of programs that ask for it goes to mcModuleLoadData() too.
 * MCRTC_ERROR_INVALID_PROGRAM: the program is not compiled.
 */
mcrtcResult mcrtcGetCodeSize(mcrtcProgram prog, size_t *codeSize);
mcrtcResult mcrtcGetCode(mcrtcProgram prog, char *code);
mcrtcResult mcrtcGetPTXSize(mcrtcProgram prog, size_t *ptxSize);
mcrtcResult mcrtcGetPTX(mcrtcProgram prog, char *ptx);
mcrtcResult mcrtcGetBitcodeSize(mcrtcProgram prog, size_t *bitcodeSize);
mcrtcResult mcrtcGetBitcode(mcrtcProgram prog, char *bitcode);

/*
 * A kernel, or with & a variable of the device, as the source would name it:
 * "scale<float>", "&N::table". Before compilation; after it the name that
 * mcModuleGetFunction() and mcModuleGetGlobal() know it by.
 */
mcrtcResult mcrtcAddNameExpression(mcrtcProgram prog,
                                   const char *nameExpression);
mcrtcResult mcrtcGetLoweredName(mcrtcProgram prog, const char *nameExpression,
                                const char **loweredName);

#ifdef __cplusplus
}
#endif

#endif
