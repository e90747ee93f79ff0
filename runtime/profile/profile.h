/* SPDX-License-Identifier: MIT */
/*
 * Recording for mx-prof. MXGPU_PROFILE=FILE in the environment (not of programs
 * that run with more rights than their user) makes the runtime write what it
 * does, and what kernels did, to FILE (profile_format.h); %p in it is the
 * process id. MXGPU_PROFILE_OPTIONS: interval=N, samples=N, paused. The file is
 * mapped: what was recorded outlives a crash of the program.
 */
#ifndef MC_PROFILE_PROFILE_H
#define MC_PROFILE_PROFILE_H

#include "core/module.h"
#include "core/queue.h"

/* Whether anything is recorded: a load and a branch. */
extern atomic_bool mc_profile_active;
static inline bool mc_profiling(void)
{
    return __builtin_expect(atomic_load_explicit(&mc_profile_active,
                                                 memory_order_relaxed), 0);
}

uint64_t mc_profile_now(void);
/* mcProfilerStart and -Stop; without MXGPU_PROFILE nothing happens. */
void mc_profile_switch(bool on);
/* The process ends; nothing is recorded any more. */
void mc_profile_end(void);

/* A call that began at start, 0 when that is not known. */
void mc_profile_api(const char *name, uint64_t start, mcError_t result);
void mc_profile_context(McContext *ctx, bool opened);
void mc_profile_module(McModule *module, const void *file, size_t size);

/* A new queue gets memory for records, or none and a warning. */
void mc_profile_queue_start(McQueue *queue);
void mc_profile_queue_stop(McQueue *queue);
/* Under the submit lock: before a packet is written, and for those that are
 * complete. */
void mc_profile_packet(McSubmit *submit, union mxgpu_packet *packet,
                       uint64_t value);
void mc_profile_read(McQueue *queue);
/* Such a packet goes into the ring: it will leave a record. */
void mc_profile_expect(McQueue *queue, uint64_t value);
static inline void mc_profile_collect(McQueue *queue)
{
    if (__builtin_expect(queue->profile.records.memory != NULL, 0)) {
        mc_profile_read(queue);
    }
}

#endif
