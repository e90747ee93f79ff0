/* SPDX-License-Identifier: MIT */
/*
 * Recording for mx-prof. MXGPU_PROFILE=FILE in the environment (not of programs
 * that run with more rights than their user) makes the runtime write what it
 * does, and what kernels did, to FILE (profile_format.h); %p in it is the
 * process id. MXGPU_PROFILE_OPTIONS: interval=N, samples=N, exact, paused. The
 * file is mapped: what was recorded outlives a crash of the program. Contexts,
 * modules and queues are watched (core/context/observer.h); calls are told by the API.
 */
#ifndef MC_PROFILE_PROFILE_H
#define MC_PROFILE_PROFILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcr/mc_runtime_types.h"

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

/* annotation.h: whether names, and whether ranges, are recorded; an entry. */
int mc_profile_state(void);
void mc_profile_note(uint32_t type, const void *head, size_t size,
                     const char *text);

/* A call that began at start, 0 when that is not known. */
void mc_profile_api(const char *name, uint64_t start, mcError_t result);

#endif
