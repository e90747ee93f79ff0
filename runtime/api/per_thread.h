/* SPDX-License-Identifier: MIT */
/* What the entry points that tools/gen-per-thread makes share. */
#ifndef MC_API_PER_THREAD_H
#define MC_API_PER_THREAD_H

#include "api.h"

/* A stream that a program with such a default stream gives. */
static inline mcStream_t per_thread(mcStream_t stream)
{
    return stream ? stream : mcStreamPerThread;
}

static inline void mc_per_thread_end(McThread **thread)
{
    (*thread)->per_thread = false;
}

/* The same for a NULL that the entry point itself comes upon, until the end of
 * the scope. */
#define PER_THREAD()                                                           \
    McThread *thread_ __attribute__((cleanup(mc_per_thread_end))) =            \
        mc_thread();                                                           \
    thread_->per_thread = true

#endif
