/* SPDX-License-Identifier: MIT */
/* What the files of libmcToolsExt share. */
#ifndef MC_TOOLSEXT_TOOLSEXT_H
#define MC_TOOLSEXT_TOOLSEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

#include "mcToolsExt.h"
#include "profile/annotation.h"
#include "profile/profile_format.h"

#define MCTX_EXPORT __attribute__((visibility("default")))

static inline bool mctx_open(void)
{
    return __builtin_expect(__mcAnnotateState() != 0, 0);
}

static inline bool mctx_active(void)
{
    return __builtin_expect(__mcAnnotateState() & MC_ANNOTATE_ACTIVE, 0);
}

static inline uint32_t mctx_thread_id(void)
{
    static _Thread_local uint32_t id;

    if (!id) {
        id = (uint32_t)syscall(SYS_gettid);
    }
    return id;
}

/* A text in UTF-8; own is what has to be freed. */
typedef struct MctxText {
    const char *text;
    char *own;
} MctxText;

/* Never NULL: "" for a message of no kind, or when memory is out. */
MctxText mctx_text(int32_t type, mctxMessageValue_t value);
MctxText mctx_wide(const wchar_t *text);

/* Domains and registered strings are numbers; what is given out as a handle is
 * never followed, so that a stale one loses nothing. */
uint32_t mctx_domain_number(mctxDomainHandle_t domain);
const char *mctx_string(mctxStringHandle_t string);

/* Levels of the calling thread in a domain. A range that was pushed while the
 * recording was paused is counted, not recorded. -1: memory is out, or none was
 * pushed. */
int mctx_level_push(uint32_t domain, bool recorded);
int mctx_level_pop(uint32_t domain, bool *recorded);

#endif
