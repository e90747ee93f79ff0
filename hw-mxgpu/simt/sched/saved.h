/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SCHED_SAVED_H
#define MXGPU_SIMT_SCHED_SAVED_H

#include "simt/state.h"

/* Takes blocks of held slots off the unit, and blocks of slots that are not
 * held any more back where they fit; ends those whose grid was stopped. */
void mxgpu_saved_poll(MxgpuCu *cu);

/* For loading state, and reset: room for a block of this shape, which has no
 * private pages; NULL: no memory. Drops all that the unit has. */
SimtSaved *mxgpu_saved_new(MxgpuCu *cu, const SimtBlock *shape);
void mxgpu_saved_add(MxgpuCu *cu, SimtSaved *saved);
/* Takes the one off the list at which *at points. */
SimtSaved *mxgpu_saved_take(MxgpuCu *cu, SimtSaved **at);
void mxgpu_saved_free(MxgpuCu *cu, SimtSaved *saved);
void mxgpu_saved_drop(MxgpuCu *cu);

#endif
