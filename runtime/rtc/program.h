/* SPDX-License-Identifier: MIT */
/* Programs: what is to be compiled, and what came of it. Thread-safe. */
#ifndef MC_RTC_PROGRAM_H
#define MC_RTC_PROGRAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "headers.h"
#include "mcr/mcrtc.h"

typedef struct McRtcName {
    char *expression;
    char *lowered; /* of the last compilation; NULL: none yet */
} McRtcName;

typedef struct McRtcProgram {
    struct McRtcProgram *next; /* of all */
    unsigned users;            /* and one while it is in the list */
    char *name, *source;       /* never changed, nor are the headers */
    McRtcHeader *headers;
    size_t header_count;
    pthread_mutex_t lock; /* for all below; held while the compiler runs */
    mcrtcLanguage language;
    McRtcName *names;
    size_t name_count;
    bool tried; /* it was compiled, perhaps in vain */
    char *log;  /* NULL: empty */
    void *code; /* NULL: none */
    size_t code_size;
} McRtcProgram;

/* Copies all. */
mcrtcResult mc_rtc_create(const char *source, const char *name,
                          const char *const *headers,
                          const char *const *header_names, size_t count,
                          McRtcProgram **out);
/* NULL: there is no such program. The caller puts what it got. */
McRtcProgram *mc_rtc_get(const void *handle);
void mc_rtc_put(McRtcProgram *program);
/* False: somebody else has removed it. It goes with its last holder. */
bool mc_rtc_remove(McRtcProgram *program);

mcrtcResult mc_rtc_add_name(McRtcProgram *program, const char *expression);
/* *lowered stays until the program ends. */
mcrtcResult mc_rtc_lowered(McRtcProgram *program, const char *expression,
                           const char **lowered);

#endif
