/* SPDX-License-Identifier: MIT */
/*
 * The checkers of mx-memcheck (docs/mx-memcheck.md). MXGPU_MEMCHECK=TOOL in the
 * environment (not of programs that run with more rights than their user) makes
 * the runtime watch what kernels do on the in-process model: memcheck,
 * racecheck, initcheck or synccheck. MXGPU_MEMCHECK_OPTIONS has the rest, which
 * mx-memcheck writes.
 */
#ifndef MC_CHECK_CHECK_H
#define MC_CHECK_CHECK_H

#include <stdbool.h>

#include "mcr/mc_runtime_types.h"

extern bool mc_check_api_errors;

/* A call returned an error. */
void mc_check_api_error(const char *name, mcError_t error);

static inline void mc_check_api(const char *name, mcError_t error)
{
    if (__builtin_expect(mc_check_api_errors, 0)) {
        mc_check_api_error(name, error);
    }
}

#endif
