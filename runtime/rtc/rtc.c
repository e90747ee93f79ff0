/* SPDX-License-Identifier: MIT */
/* Entry points of libmcrtc. */
#include <string.h>

#include "compile.h"
#include "program.h"

#define EXPORT __attribute__((visibility("default")))

#define VERSION_MAJOR 1
#define VERSION_MINOR 0
#define ARCH          100 /* 10 * major + minor of the device's capability */

static void put_program(McRtcProgram **program)
{
    if (*program) {
        mc_rtc_put(*program);
    }
}

#define RTC_PROGRAM(program, handle)                                           \
    McRtcProgram *program __attribute__((cleanup(put_program))) =              \
        mc_rtc_get(handle);                                                    \
    if (!program) {                                                            \
        return MCRTC_ERROR_INVALID_PROGRAM;                                    \
    }

EXPORT const char *mcrtcGetErrorString(mcrtcResult result)
{
    static const char *const names[] = {
        "MCRTC_SUCCESS",
        "MCRTC_ERROR_OUT_OF_MEMORY",
        "MCRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "MCRTC_ERROR_INVALID_INPUT",
        "MCRTC_ERROR_INVALID_PROGRAM",
        "MCRTC_ERROR_INVALID_OPTION",
        "MCRTC_ERROR_COMPILATION",
        "MCRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        "MCRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "MCRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "MCRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "MCRTC_ERROR_INTERNAL_ERROR",
    };

    return (unsigned)result < sizeof(names) / sizeof(names[0])
               ? names[result]
               : "MCRTC_ERROR unknown";
}

EXPORT mcrtcResult mcrtcVersion(int *major, int *minor)
{
    if (!major || !minor) {
        return MCRTC_ERROR_INVALID_INPUT;
    }
    *major = VERSION_MAJOR;
    *minor = VERSION_MINOR;
    return MCRTC_SUCCESS;
}

EXPORT mcrtcResult mcrtcGetNumSupportedArchs(int *count)
{
    if (!count) {
        return MCRTC_ERROR_INVALID_INPUT;
    }
    *count = 1;
    return MCRTC_SUCCESS;
}

EXPORT mcrtcResult mcrtcGetSupportedArchs(int *archs)
{
    if (!archs) {
        return MCRTC_ERROR_INVALID_INPUT;
    }
    archs[0] = ARCH;
    return MCRTC_SUCCESS;
}

EXPORT mcrtcResult mcrtcCreateProgram(mcrtcProgram *out, const char *source,
                                      const char *name, int count,
                                      const char *const *headers,
                                      const char *const *names)
{
    McRtcProgram *program;

    if (!out || !source || count < 0 || (count > 0 && (!headers || !names))) {
        return MCRTC_ERROR_INVALID_INPUT;
    }
    mcrtcResult result = mc_rtc_create(source, name, headers, names, count,
                                       &program);
    if (result == MCRTC_SUCCESS) {
        *out = (mcrtcProgram)program;
    }
    return result;
}

EXPORT mcrtcResult mcrtcSetLanguage(mcrtcProgram handle,
                                    mcrtcLanguage language)
{
    RTC_PROGRAM(program, handle);
    if ((unsigned)language > MCRTC_LANGUAGE_HIP) {
        return MCRTC_ERROR_INVALID_INPUT;
    }
    pthread_mutex_lock(&program->lock);
    program->language = language;
    pthread_mutex_unlock(&program->lock);
    return MCRTC_SUCCESS;
}

EXPORT mcrtcResult mcrtcDestroyProgram(mcrtcProgram *handle)
{
    if (!handle) {
        return MCRTC_ERROR_INVALID_PROGRAM;
    }
    RTC_PROGRAM(program, *handle);
    if (!mc_rtc_remove(program)) {
        return MCRTC_ERROR_INVALID_PROGRAM;
    }
    *handle = NULL;
    return MCRTC_SUCCESS;
}

EXPORT mcrtcResult mcrtcCompileProgram(mcrtcProgram handle, int count,
                                       const char *const *options)
{
    RTC_PROGRAM(program, handle);
    if (count < 0 || (count > 0 && !options)) {
        return MCRTC_ERROR_INVALID_INPUT;
    }
    return mc_rtc_compile(program, count, options);
}

/* ---- what came of it ---- */

EXPORT mcrtcResult mcrtcGetProgramLogSize(mcrtcProgram handle, size_t *size)
{
    RTC_PROGRAM(program, handle);
    if (!size) {
        return MCRTC_ERROR_INVALID_INPUT;
    }
    pthread_mutex_lock(&program->lock);
    *size = (program->log ? strlen(program->log) : 0) + 1;
    pthread_mutex_unlock(&program->lock);
    return MCRTC_SUCCESS;
}

EXPORT mcrtcResult mcrtcGetProgramLog(mcrtcProgram handle, char *log)
{
    RTC_PROGRAM(program, handle);
    if (!log) {
        return MCRTC_ERROR_INVALID_INPUT;
    }
    pthread_mutex_lock(&program->lock);
    strcpy(log, program->log ? program->log : "");
    pthread_mutex_unlock(&program->lock);
    return MCRTC_SUCCESS;
}

/* Either may be NULL. */
static mcrtcResult get_code(mcrtcProgram handle, size_t *size, char *code)
{
    mcrtcResult result = MCRTC_ERROR_INVALID_PROGRAM;

    RTC_PROGRAM(program, handle);
    if (!size && !code) {
        return MCRTC_ERROR_INVALID_INPUT;
    }
    pthread_mutex_lock(&program->lock);
    if (program->code) {
        result = MCRTC_SUCCESS;
        if (size) {
            *size = program->code_size;
        }
        if (code) {
            memcpy(code, program->code, program->code_size);
        }
    }
    pthread_mutex_unlock(&program->lock);
    return result;
}

EXPORT mcrtcResult mcrtcGetCodeSize(mcrtcProgram handle, size_t *size)
{
    return get_code(handle, size, NULL);
}

EXPORT mcrtcResult mcrtcGetCode(mcrtcProgram handle, char *code)
{
    return get_code(handle, NULL, code);
}

EXPORT mcrtcResult mcrtcGetPTXSize(mcrtcProgram handle, size_t *size)
{
    return get_code(handle, size, NULL);
}

EXPORT mcrtcResult mcrtcGetPTX(mcrtcProgram handle, char *code)
{
    return get_code(handle, NULL, code);
}

EXPORT mcrtcResult mcrtcGetBitcodeSize(mcrtcProgram handle, size_t *size)
{
    return get_code(handle, size, NULL);
}

EXPORT mcrtcResult mcrtcGetBitcode(mcrtcProgram handle, char *code)
{
    return get_code(handle, NULL, code);
}

/* ---- names ---- */

EXPORT mcrtcResult mcrtcAddNameExpression(mcrtcProgram handle,
                                          const char *expression)
{
    RTC_PROGRAM(program, handle);
    return expression ? mc_rtc_add_name(program, expression)
                      : MCRTC_ERROR_INVALID_INPUT;
}

EXPORT mcrtcResult mcrtcGetLoweredName(mcrtcProgram handle,
                                       const char *expression,
                                       const char **lowered)
{
    RTC_PROGRAM(program, handle);
    return expression && lowered
               ? mc_rtc_lowered(program, expression, lowered)
               : MCRTC_ERROR_INVALID_INPUT;
}
