/* SPDX-License-Identifier: MIT */
/* What the user has asked for: constant once the process has started. */
#ifndef MC_CHECK_OPTIONS_H
#define MC_CHECK_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum McTool {
    MC_TOOL_NONE,
    MC_TOOL_MEMCHECK,
    MC_TOOL_RACECHECK,
    MC_TOOL_INITCHECK,
    MC_TOOL_SYNCCHECK,
} McTool;

typedef enum McBacktraces {
    MC_BACKTRACE_NO = 0,
    MC_BACKTRACE_HOST = 1,
    MC_BACKTRACE_DEVICE = 2,
    MC_BACKTRACE_YES = 3,
} McBacktraces;

typedef struct McCheckOptions {
    McTool tool;
    bool leaks, api_errors, all_api_errors;
    unsigned backtraces;
    unsigned print_limit;    /* reports; 0: all */
    unsigned launch_skip;    /* kernels that are not checked at first ... */
    unsigned launch_count;   /* ... and how many then are; 0: all */
    int log;                 /* file descriptor of reports */
    int status;              /* that gets a byte for each error; -1: none */
    const char *port;        /* of a checker in QEMU (link.h); NULL: none */
    bool log_far, status_far; /* these are files of QEMU's machine */
} McCheckOptions;

extern McCheckOptions mc_check_options;

/* From the environment; false: there is nothing to check. */
bool mc_check_read_options(void);
/* Whether the filters let a kernel of that name, mangled and plain, be
 * checked. */
bool mc_check_wants(const char *mangled, const char *plain);

/* Whether the user's file of suppressions has an expression that fits a line of
 * the report. */
bool mc_check_suppressed(const char *report);

#endif
