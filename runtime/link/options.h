/* SPDX-License-Identifier: MIT */
/* What the caller of the linker wants, and where it wants to read of it. */
#ifndef MC_LINK_OPTIONS_H
#define MC_LINK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "mcr/mc_runtime_types.h"

/* A log in the caller's memory. */
typedef struct McLinkLog {
    char *buffer;
    size_t room;  /* with the NUL */
    size_t used;  /* without it */
    void **count; /* the option's value that becomes "used"; or NULL */
} McLinkLog;

typedef struct McLinkOptions {
    int level;         /* -1: as the inputs say; or 0 to 3 */
    bool debug, lines; /* beside what the inputs say */
    bool verbose;
    McLinkLog info, errors;
    void **wall_time;  /* the option's value; or NULL */
} McLinkOptions;

/* Of mcLinkCreate. mcErrorInvalidValue: an option that does not exist, or a
 * value that it cannot have. */
mcError_t mc_link_options_read(McLinkOptions *out, unsigned count,
                               const mcJitOption *options, void **values);
/* Of one input: what would be about compiling it. Nothing is compiled. */
mcError_t mc_link_options_check(unsigned count, const mcJitOption *options,
                                void **values);

/* Adds as much as there is room for. */
void mc_link_log_add(McLinkLog *log, const char *text);
void mc_link_set_wall_time(const McLinkOptions *options, double ms);

#endif
