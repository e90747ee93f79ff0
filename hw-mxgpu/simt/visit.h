/* SPDX-License-Identifier: MIT */
/* The state of the compute units (docs/state.md). No unit may be running. */
#ifndef MXGPU_SIMT_VISIT_H
#define MXGPU_SIMT_VISIT_H

#include "base/visit.h"
#include "simt.h"

/* Walks all state but memory of the guest. What loads comes after a reset, and
 * is followed by one where it fails: v->error. */
void mxgpu_simt_visit(MxgpuSimt *simt, MxgpuVisit *v);
/* For tests: mxgpu_cu_forget(), all units. */
void mxgpu_simt_forget(MxgpuSimt *simt);

/* Calls fn with the number of each fault that was reported and waits for a
 * verdict. No unit is running. */
void mxgpu_simt_each_parked(MxgpuSimt *simt,
                            void (*fn)(void *opaque, uint32_t sequence),
                            void *opaque);

#endif
