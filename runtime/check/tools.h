/* SPDX-License-Identifier: MIT */
/* The tools: each is an observer of devices. */
#ifndef MC_CHECK_TOOLS_H
#define MC_CHECK_TOOLS_H

#include "grid.h"
#include "mxgpu/observer.h"
#include "report.h"

extern const MxgpuObserver mc_memcheck;
extern const MxgpuObserver mc_racecheck;
extern const MxgpuObserver mc_initcheck;
extern const MxgpuObserver mc_synccheck;

/* Before the first allocation. */
void mc_initcheck_start(void);

/* Faults that end a grid, as all tools report them. */
void mc_fault_report(void *opaque, const MxgpuObservedWarp *w, unsigned lane,
                     enum mxgpu_fault code, enum mxgpu_access access,
                     uint64_t addr);
/* "__global__", "__shared__" or "__local__". */
const char *mc_space_name(uint64_t addr);
const char *mc_access_name(enum mxgpu_access access);

#endif
