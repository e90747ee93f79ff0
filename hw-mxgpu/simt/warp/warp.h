/* SPDX-License-Identifier: MIT */
/* Groups of lanes of a warp (warp.c), and its registers. */
#ifndef MXGPU_SIMT_WARP_WARP_H
#define MXGPU_SIMT_WARP_WARP_H

#include "simt/state.h"

/* ---- starting */

/* The warp begins at entry with these lanes; all but x registers. written_d: f
 * registers whose d planes may not be 0. */
void mxgpu_warp_start(MxgpuWarp *w, uint64_t lanes, uint64_t entry,
                      uint32_t written_d);
/* x registers as a thread finds them; written_x: those whose lines may not be
 * 0. */
void mxgpu_warp_start_x(MxgpuWarp *w, uint64_t args, uint32_t written_x);

/* ---- groups of lanes */

/* Puts the group that runs (cur, if its mask is not 0) back among the ready
 * ones and chooses the next one; false when none is ready. rotate: the one that
 * has waited longest. */
bool mxgpu_warp_pick(MxgpuWarp *w, bool rotate);
/* The group of that lane is to run; false: it waits, or has ended. */
bool mxgpu_warp_choose(MxgpuWarp *w, unsigned lane);
/* Adds a group to the ready ones, to the one at its pc and depth if there is
 * one. */
void mxgpu_warp_park(MxgpuWarp *w, const SimtGroup *group);
/* Adds a group to those that wait; its pc is behind the instruction that waits.
 * rd gets the barrier's result; sync: see SimtWaiter. */
void mxgpu_warp_wait(MxgpuWarp *w, const SimtGroup *group, SimtWait wait,
                     uint8_t rd, uint64_t sync);
/* Lanes of mask end. */
void mxgpu_warp_exit(MxgpuWarp *w, uint64_t mask);
/* After arrivals and exits: sets of lanes whose mx.warpsync is complete go
 * on. */
void mxgpu_warp_sync(MxgpuWarp *w);
/* Where the warp goes on, or waits; false: all its lanes have ended. */
bool mxgpu_warp_where(const MxgpuWarp *w, uint64_t *pc);

/* ---- x registers: see SimtLine and the forms in state.h */

/* Makes the wide form of x[r]. */
void mxgpu_warp_widen(MxgpuWarp *w, unsigned r);
/* The lanes that are not 0. */
uint64_t mxgpu_warp_nonzero(const uint64_t *x);

/* All of x[r] has been written, or a part of it that was wide before. */
static inline void simt_wrote_wide(MxgpuWarp *w, unsigned r)
{
    w->form[r] = r ? FORM_WIDE : FORM_ALL;
}

static inline void simt_set_line(MxgpuWarp *w, unsigned r, SimtLine line)
{
    w->line[r] = line;
    w->form[r] = line.step | line.row ? FORM_LINE : FORM_LINE | FORM_UNIFORM;
}

static inline void simt_set_uniform(MxgpuWarp *w, unsigned r, uint64_t value)
{
    w->line[r] = (SimtLine){.base = value};
    w->form[r] = FORM_LINE | FORM_UNIFORM;
}

/* ---- its dispatch and unit */

static inline SimtSlot *simt_slot(const MxgpuCu *cu, const MxgpuWarp *w)
{
    return &cu->simt->slots[w->c.slot];
}

/* The instruction that it waits at. */
static inline uint64_t simt_waits_at(const SimtWaiter *a)
{
    return a->wait >= WAIT_FAULT ? a->group.pc : a->group.pc - 4;
}

/* The host's, in ns. */
static inline uint64_t simt_clock(const MxgpuCu *cu)
{
    return cu->simt->config.ops->clock(cu->simt->config.host);
}

#endif
