/* SPDX-License-Identifier: MIT */
/* Options of mcrtcCompileProgram (docs/run-time-compilation.md) as words of
 * mxcc. */
#ifndef MC_RTC_OPTIONS_H
#define MC_RTC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

typedef struct McRtcOptions {
    char **words; /* for mxcc; NULL at the end */
    size_t count;
    bool relocatable;    /* code is to be linked */
    bool default_device; /* functions are the device's unless they say */
    bool no_source_folder;
    bool failed; /* no memory */
} McRtcOptions;

/* False: *log says which option is wrong, and why; or out->failed. The caller
 * frees *out in any case. */
bool mc_rtc_options_read(McRtcOptions *out, int count,
                         const char *const *options, McText *log);
void mc_rtc_options_free(McRtcOptions *options);

#endif
