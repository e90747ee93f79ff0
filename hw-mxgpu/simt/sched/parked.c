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

static MxgpuDispatchFault fault_of(const MxgpuCu *cu, const MxgpuWarp *w,
                                   const SimtWaiter *a)
{
    const SimtBlock *b = &cu->s.blocks[w->c.block];

    return (MxgpuDispatchFault){
        .code = a->code,
        .access = a->access,
        .addr = a->sync,
        .pc = a->group.pc,
        .block = {b->id[0], b->id[1], b->id[2]},
        .thread = w->c.index * LANES + a->rd,
    };
}

/* false: there is no room. */
static bool report(MxgpuCu *cu, const MxgpuWarp *w, SimtWaiter *a)
{
    const MxgpuSimtConfig *config = &cu->simt->config;
    MxgpuSimtParked parked = {
        .fault = fault_of(cu, w, a),
        .lanes = a->group.mask,
        .vmid = w->c.vmid,
        .cu = cu->index,
        .slot = w->c.slot,
        .queue = simt_slot(cu, w)->dispatch.queue,
    };

    if (!config->park(config->opaque, &parked, &a->sequence)) {
        return false;
    }
    a->wait = WAIT_VERDICT;
    return true;
}

/* Whether the group goes on, or the grid ends. */
static bool decided(MxgpuCu *cu, SimtBlock *b, MxgpuWarp *w, SimtWaiter *a)
{
    const MxgpuSimtConfig *config = &cu->simt->config;
    MxgpuDispatchFault fault = fault_of(cu, w, a);

    switch (config->verdict(config->opaque, a->sequence)) {
    case MXGPU_VERDICT_NONE:
        return false;
    case MXGPU_VERDICT_KILL:
        mxgpu_simt_stop_grid(cu, w, &fault);
        break;
    case MXGPU_VERDICT_REPLAY:
        break;
    }
    leave(cu, b);
    mxgpu_warp_park(w, &a->group);
    return true;
}

static bool poll_warp(MxgpuCu *cu, SimtBlock *b, MxgpuWarp *w, bool room)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < w->s.num_waiting; i++) {
        SimtWaiter *a = &w->s.waiting[i];

        if (a->wait == WAIT_FAULT && room && !simt_exhausted(cu)) {
            simt_charge(cu, COST_WALK + COST_BUS + COST_DMA);
            room = report(cu, w, a);
        }
        if (a->wait != WAIT_VERDICT || !decided(cu, b, w, a)) {
            w->s.waiting[kept++] = *a;
        }
    }
    w->s.num_waiting = kept;
    return room;
}

bool mxgpu_park_poll(MxgpuCu *cu, SimtBlock *b, bool room)
{
    for (unsigned i = 0; i < b->num_warps && b->faults; i++) {
        room = poll_warp(cu, b, &cu->warps[b->warps[i]], room);
    }
    return room;
}

void mxgpu_park_forget(MxgpuCu *cu, SimtBlock *b)
{
    const MxgpuSimtConfig *config = &cu->simt->config;

    for (unsigned i = 0; i < b->num_warps; i++) {
        const SimtWarpState *s = &cu->warps[b->warps[i]].s;

        for (unsigned k = 0; k < s->num_waiting; k++) {
            if (s->waiting[k].wait == WAIT_VERDICT) {
                config->unpark(config->opaque, s->waiting[k].sequence);
            }
        }
    }
    cu->s.faults -= b->faults;
    b->faults = 0;
}
