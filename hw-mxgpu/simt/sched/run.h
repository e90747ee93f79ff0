/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SCHED_RUN_H
#define MXGPU_SIMT_SCHED_RUN_H

#include "simt/state.h"

/* Translations, and so code and the owners of private memory, may have changed:
 * drops what the unit has of them. */
void mxgpu_cu_invalidate(MxgpuCu *cu);
/* False for ever: the "hold" of a run that nobody waits for. */
extern const _Atomic bool mxgpu_simt_not_held;

#endif
