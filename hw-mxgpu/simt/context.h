/* SPDX-License-Identifier: MIT */
/*
 * Contexts of single dispatches: what a held slot has, as bytes, so that the slot
 * is free for others (docs/compute-units.md). No unit is running in any of these.
 */
#ifndef MXGPU_SIMT_CONTEXT_H
#define MXGPU_SIMT_CONTEXT_H

#include "base/visit.h"
#include "simt.h"

/* DONE: the slot can be saved. BUSY: units have not saved all blocks of it yet,
 * or it is not held, or was stopped. REFUSED: it has no grid, a cooperative one,
 * or somebody observes what warps do. */
MxgpuContextState mxgpu_simt_context_ready(MxgpuSimt *simt, unsigned slot)
    __attribute__((warn_unused_result));
/* Walks what such a slot has. It still has it. */
void mxgpu_simt_context_save(MxgpuSimt *simt, unsigned slot, MxgpuVisit *v);
/* The slot has nothing any more, and is free; done is not called. */
void mxgpu_simt_context_drop(MxgpuSimt *simt, unsigned slot);
/*
 * What v has comes to the slot, which is held then. vmid, priority and queue are
 * those of *whose. BUSY: units have no place now for blocks that were given back
 * before they began. REFUSED: the slot is not free, or these are no bytes of a
 * context. Nothing has happened then; v->error is -ENOMEM if the host has no
 * memory.
 */
MxgpuContextState mxgpu_simt_context_load(MxgpuSimt *simt, unsigned slot,
                                          const MxgpuDispatch *whose,
                                          MxgpuVisit *v)
    __attribute__((warn_unused_result));

#endif
