/* SPDX-License-Identifier: MIT */
/*
 * One-line reasons on request. MXGPU_LOG=LEVEL[:FILE] chooses what is written
 * and where (standard error by default); without it MXLOG_LEVEL=LEVEL is
 * looked at; without both nothing is written. Levels: error, warn, info, api,
 * debug; each includes those before it. Callable from any thread and at any
 * time; errno is preserved.
 */
#ifndef MC_BASE_LOG_H
#define MC_BASE_LOG_H

#include <stdbool.h>

typedef enum McLogLevel {
    MC_LOG_OFF = 0,
    MC_LOG_ERROR = 1, /* why a call failed */
    MC_LOG_WARN = 2,  /* something works, but not as one would expect */
    MC_LOG_INFO = 3,  /* devices found, firmware loaded, modules loaded */
    MC_LOG_API = 4,   /* every call, when it returns */
    MC_LOG_DEBUG = 5, /* when it is made, too, and what is below */
} McLogLevel;

bool mc_log_enabled(McLogLevel level);
/* Whether MXGPU_CHECK asks for checks (core/copy/check.h); errors are then written
 * unless MXGPU_LOG or MXLOG_LEVEL says something else. */
bool mc_checking(void);

/* The format needs no newline. */
void mc_log(McLogLevel level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Parses a level name or a digit; false when it is neither. */
bool mc_log_parse_level(const char *text, unsigned length, McLogLevel *level);

/* The arguments are evaluated only when the level is enabled. */
#define MC_LOG_AT(level, ...)                                                  \
    do {                                                                       \
        if (mc_log_enabled(level)) {                                           \
            mc_log(level, __VA_ARGS__);                                        \
        }                                                                      \
    } while (0)

#define mc_error(...) MC_LOG_AT(MC_LOG_ERROR, __VA_ARGS__)
#define mc_warn(...)  MC_LOG_AT(MC_LOG_WARN, __VA_ARGS__)
#define mc_info(...)  MC_LOG_AT(MC_LOG_INFO, __VA_ARGS__)
#define mc_debug(...) MC_LOG_AT(MC_LOG_DEBUG, __VA_ARGS__)

#endif
