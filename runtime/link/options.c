/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

/* Numbers and sizes travel in the pointers. */
static uint64_t number(const void *value)
{
    return (uintptr_t)value;
}

/* What compiling a single input would take. There are no inputs to compile:
 * values are looked at all the same. */
static mcError_t read_compiler(McLinkOptions *out, mcJitOption option,
                               const void *value)
{
    switch ((int)option) {
    case mcJitOptionMaxRegisters: /* every thread has all registers */
    case mcJitOptionThreadsPerBlock:
        return number(value) <= UINT_MAX ? mcSuccess : mcErrorInvalidValue;
    case mcJitOptionOptimizationLevel:
        out->level = number(value) < 3 ? (int)number(value) : 3;
        return number(value) <= 4 ? mcSuccess : mcErrorInvalidValue;
    case mcJitOptionFallbackStrategy: /* there is one kind of code */
        return number(value) <= 1 ? mcSuccess : mcErrorInvalidValue;
    case mcJitOptionGenerateDebugInfo:
        out->debug = number(value) != 0;
        return mcSuccess;
    case mcJitOptionLogVerbose:
        out->verbose = number(value) != 0;
        return mcSuccess;
    case mcJitOptionGenerateLineInfo:
        out->lines = number(value) != 0;
        return mcSuccess;
    case mcJitOptionCacheMode: /* of caches that the device has not */
        return number(value) <= 2 ? mcSuccess : mcErrorInvalidValue;
    default:
        return mcErrorInvalidValue;
    }
}

static mcError_t read_one(McLinkOptions *out, mcJitOption option, void **value)
{
    switch ((int)option) {
    case mcJitOptionWallTime:
        out->wall_time = value;
        return mcSuccess;
    case mcJitOptionInfoLogBuffer:
        out->info.buffer = *value;
        return mcSuccess;
    case mcJitOptionErrorLogBuffer:
        out->errors.buffer = *value;
        return mcSuccess;
    case mcJitOptionInfoLogBufferSizeBytes:
        out->info.room = number(*value);
        out->info.count = value;
        return mcSuccess;
    case mcJitOptionErrorLogBufferSizeBytes:
        out->errors.room = number(*value);
        out->errors.count = value;
        return mcSuccess;
    case mcJitOptionTargetFromContext: /* all devices are alike */
        return mcSuccess;
    case mcJitOptionTarget: /* 10 * major + minor of the only one */
        return number(*value) == 100 ? mcSuccess : mcErrorInvalidValue;
    default:
        return read_compiler(out, option, *value);
    }
}

static void log_begin(McLinkLog *log)
{
    if (!log->buffer) {
        log->room = 0;
    }
    if (log->room) {
        log->buffer[0] = 0;
    }
}

mcError_t mc_link_options_read(McLinkOptions *out, unsigned count,
                               const mcJitOption *options, void **values)
{
    *out = (McLinkOptions){.level = -1};
    for (unsigned i = 0; i < count; i++) {
        mcError_t error = read_one(out, options[i], &values[i]);

        if (error != mcSuccess) {
            return error;
        }
    }
    log_begin(&out->info);
    log_begin(&out->errors);
    return mcSuccess;
}

mcError_t mc_link_options_check(unsigned count, const mcJitOption *options,
                                void **values)
{
    McLinkOptions unused;

    for (unsigned i = 0; i < count; i++) {
        mcError_t error = read_compiler(&unused, options[i], values[i]);

        if (error != mcSuccess) {
            return error;
        }
    }
    return mcSuccess;
}

void mc_link_log_add(McLinkLog *log, const char *text)
{
    size_t size = strlen(text);

    if (log->room) {
        size_t left = log->room - 1 - log->used;

        size = size < left ? size : left;
        memcpy(log->buffer + log->used, text, size);
        log->used += size;
        log->buffer[log->used] = 0;
    }
    if (log->count) {
        *log->count = (void *)(uintptr_t)log->used;
    }
}

void mc_link_set_wall_time(const McLinkOptions *options, double ms)
{
    float value = ms;

    if (options->wall_time) {
        *options->wall_time = NULL;
        memcpy(options->wall_time, &value, sizeof(value));
    }
}
