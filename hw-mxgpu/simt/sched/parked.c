/* SPDX-License-Identifier: MIT */
/*
 * Recoverable faults. A group of lanes whose access software can mend leaves the
 * groups that run, and waits at its instruction, of which no lane has done
 * anything. It is reported as soon as there is room to, and goes on when
 * software says so; then it executes the instruction as if for the first time,
 * and faults again if nothing was mended. Other groups of the warp, other warps
 * and other blocks go on meanwhile. A block all of whose threads wait, some of
 * them for software, is like one that waits for its grid: the unit takes others,
 * or sleeps until it is woken.
 *
 * Blocks of held slots (saved.c) have their groups with them: faults are
 * reported and decided about there, too. When their dispatch leaves its slot for
 * memory, the host keeps the verdicts for the time when it is back.
 */
#include "parked.h"

#include "simt/warp/budget.h"
#include "simt/warp/fault.h"
#include "simt/warp/warp.h"

void mxgpu_park_group(MxgpuCu *cu, MxgpuWarp *w)
{
    const MxgpuDispatchFault *f = &cu->c.fault;
    SimtWaiter *a;

    cu->c.parks = false;
    mxgpu_warp_wait(w, &w->s.cur, WAIT_FAULT, f->thread % LANES, f->addr);
    w->s.cur.mask = 0;
    a = &w->s.waiting[w->s.num_waiting - 1];
    a->code = f->code;
    a->access = f->access;
    cu->s.blocks[w->c.block].faults++;
    cu->s.faults++;
}

void mxgpu_park_block(MxgpuCu *cu, SimtBlock *b)
{
    b->fault_wait = true;
    cu->s.num_waiting++;
}

/* One group waits no longer. */
static void leave(MxgpuCu *cu, SimtBlock *b)
{
    b->faults--;
    cu->s.faults--;
    if (b->fault_wait) {
        b->fault_wait = false;
        cu->s.num_waiting--;
    }
}

/* Of the block's warp of that index. */
static MxgpuDispatchFault fault_of(const SimtBlock *b, unsigned index,
                                   const SimtWaiter *a)
{
    return (MxgpuDispatchFault){
        .code = a->code,
        .access = a->access,
        .addr = a->sync,
        .pc = a->group.pc,
        .block = {b->id[0], b->id[1], b->id[2]},
        .thread = index * LANES + a->rd,
    };
}

/* false: there is no room. */
static bool report(MxgpuCu *cu, const SimtBlock *b, unsigned index,
                   SimtWaiter *a)
{
    const MxgpuSimtConfig *config = &cu->simt->config;
    const MxgpuDispatch *d = &cu->simt->slots[b->slot].dispatch;
    MxgpuSimtParked parked = {
        .fault = fault_of(b, index, a),
        .lanes = a->group.mask,
        .vmid = d->vmid,
        .cu = cu->index,
        .slot = b->slot,
        .queue = d->queue,
    };

    if (!config->park(config->opaque, &parked, &a->sequence)) {
        return false;
    }
    a->wait = WAIT_VERDICT;
    return true;
}

/* Whether the group goes on, or the grid ends. saved: the block is. */
static bool decided(MxgpuCu *cu, SimtBlock *b, MxgpuWarp *w, unsigned index,
                    SimtWaiter *a, bool saved)
{
    const MxgpuSimtConfig *config = &cu->simt->config;
    MxgpuDispatchFault fault = fault_of(b, index, a);

    switch (config->verdict(config->opaque, a->sequence)) {
    case MXGPU_VERDICT_NONE:
        return false;
    case MXGPU_VERDICT_KILL:
        mxgpu_simt_stop_slot(cu, &cu->simt->slots[b->slot], saved ? NULL : w,
                             &fault);
        break;
    case MXGPU_VERDICT_REPLAY:
        break;
    }
    if (saved) {
        b->faults--;
    } else {
        leave(cu, b);
    }
    mxgpu_warp_park(w, &a->group);
    return true;
}

static bool poll_warp(MxgpuCu *cu, SimtBlock *b, MxgpuWarp *w, unsigned index,
                      bool saved, bool room)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < w->s.num_waiting; i++) {
        SimtWaiter *a = &w->s.waiting[i];

        if (a->wait == WAIT_FAULT && room && !simt_exhausted(cu)) {
            simt_charge(cu, COST_WALK + COST_BUS + COST_DMA);
            room = report(cu, b, index, a);
        }
        if (a->wait != WAIT_VERDICT || !decided(cu, b, w, index, a, saved)) {
            w->s.waiting[kept++] = *a;
        }
    }
    w->s.num_waiting = kept;
    return room;
}

bool mxgpu_park_poll(MxgpuCu *cu, SimtBlock *b, bool room)
{
    for (unsigned i = 0; i < b->num_warps && b->faults; i++) {
        room = poll_warp(cu, b, &cu->warps[b->warps[i]], i, false, room);
    }
    return room;
}

bool mxgpu_park_poll_saved(MxgpuCu *cu, SimtSaved *s, bool room)
{
    SimtBlock *b = &s->block;

    for (unsigned i = 0; i < b->num_warps && b->faults; i++) {
        room = poll_warp(cu, b, &s->warps[i], i, true, room);
    }
    return room;
}

static void unpark(const MxgpuSimtConfig *config, const SimtWarpState *s)
{
    for (unsigned i = 0; i < s->num_waiting; i++) {
        if (s->waiting[i].wait == WAIT_VERDICT) {
            config->unpark(config->opaque, s->waiting[i].sequence);
        }
    }
}

void mxgpu_park_forget(MxgpuCu *cu, SimtBlock *b)
{
    for (unsigned i = 0; i < b->num_warps; i++) {
        unpark(&cu->simt->config, &cu->warps[b->warps[i]].s);
    }
    cu->s.faults -= b->faults;
    b->faults = 0;
}

void mxgpu_park_forget_saved(MxgpuCu *cu, SimtSaved *s)
{
    for (unsigned i = 0; i < s->block.num_warps && s->block.faults; i++) {
        unpark(&cu->simt->config, &s->warps[i].s);
    }
    s->block.faults = 0;
}

/* ---- to memory and back */

void mxgpu_park_away(MxgpuCu *cu, const SimtSaved *s)
{
    const MxgpuSimtConfig *config = &cu->simt->config;
    const MxgpuDispatch *d = &cu->simt->slots[s->block.slot].dispatch;

    for (unsigned i = 0; i < s->block.num_warps && s->block.faults; i++) {
        const SimtWarpState *w = &s->warps[i].s;

        for (unsigned k = 0; k < w->num_waiting; k++) {
            if (w->waiting[k].wait == WAIT_VERDICT) {
                config->away(config->opaque, w->waiting[k].sequence, d->vmid,
                             d->queue);
            }
        }
    }
}

/* Groups whose record is not this dispatch's any more are replayed. */
static void back_warp(MxgpuCu *cu, SimtBlock *b, MxgpuWarp *w)
{
    const MxgpuSimtConfig *config = &cu->simt->config;
    const MxgpuDispatch *d = &cu->simt->slots[b->slot].dispatch;
    unsigned kept = 0;

    for (unsigned i = 0; i < w->s.num_waiting; i++) {
        SimtWaiter *a = &w->s.waiting[i];

        if (a->wait != WAIT_VERDICT ||
            config->back(config->opaque, a->sequence, d->vmid, d->queue)) {
            w->s.waiting[kept++] = *a;
        } else {
            b->faults--;
            mxgpu_warp_park(w, &a->group);
        }
    }
    w->s.num_waiting = kept;
}

void mxgpu_park_back(MxgpuCu *cu, SimtSaved *s)
{
    for (unsigned i = 0; i < s->block.num_warps && s->block.faults; i++) {
        back_warp(cu, &s->block, &s->warps[i]);
    }
}
