/* SPDX-License-Identifier: MIT */
/* Parts of the walk over the units' state (visit.c) that contexts of single
 * dispatches are made of, too (context.c). */
#ifndef MXGPU_SIMT_UNITS_PARTS_H
#define MXGPU_SIMT_UNITS_PARTS_H

#include "base/visit.h"
#include "simt/state.h"

/* Where it loads, the slot has no grid before. */
void mxgpu_visit_slot(MxgpuVisit *v, MxgpuSimt *simt, SimtSlot *s);
/* A block of the unit that is saved, but for the number of its slot. */
void mxgpu_visit_saved(MxgpuVisit *v, MxgpuCu *cu, SimtSaved *saved);
/* Loads one, of the slot's grid. */
void mxgpu_load_saved(MxgpuVisit *v, MxgpuCu *cu, unsigned slot);
void mxgpu_visit_profile(MxgpuVisit *v, SimtSlotProfile *p);

/* Blocks that no unit has taken. */
uint64_t mxgpu_slot_untaken(SimtSlot *s);

#endif
