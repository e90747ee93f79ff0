/* SPDX-License-Identifier: MIT */
/*
 * Break points, watch points and steps. All of it is looked at before an
 * instruction, so that nothing has to be taken back.
 */
#include "debug.h"

#include "block.h"
#include "counters.h"
#include "parked.h"
#include "profile.h"
#include "simt/slow/atomic.h"
#include "simt/warp/count.h"
#include "simt/warp/memory.h"
#include "simt/warp/stop.h"
#include "simt/warp/warp.h"

#include <string.h>

/* ---- who may run */

static bool is_warp(MxgpuSimtLane at, const MxgpuCu *cu, const MxgpuWarp *w)
{
    return at.cu == cu->index && at.warp == (unsigned)(w - cu->warps);
}

/* All others are held. */
static bool alone(SimtDebug *d)
{
    return d->go.lane && !d->go.others &&
           !atomic_load_explicit(&d->free, memory_order_relaxed);
}

static bool lane_gone(const MxgpuCu *cu)
{
    const SimtDebug *d = cu->simt->debug;
    const MxgpuWarp *w = &cu->warps[d->go.at.warp];

    return !(cu->s.used_warps >> d->go.at.warp & 1) ||
           !(w->s.live >> d->go.at.lane & 1) ||
           memcmp(cu->s.blocks[w->c.block].id, d->go_block,
                  sizeof(d->go_block)) != 0;
}

static const SimtWaiter *lane_waits(const MxgpuCu *cu)
{
    const SimtDebug *d = cu->simt->debug;
    const MxgpuWarp *w = &cu->warps[d->go.at.warp];

    for (unsigned i = 0; i < w->s.num_waiting; i++) {
        if (w->s.waiting[i].group.mask >> d->go.at.lane & 1) {
            return &w->s.waiting[i];
        }
    }
    return NULL;
}

/* Whether there was a break point until the stop that the lane goes on from. */
static bool just_removed(const SimtDebug *d, uint64_t pc)
{
    for (unsigned i = 0; i < POINTS; i++) {
        const SimtPoint *p = &d->points[i];

        if (p->last && !p->used && p->kind == MXGPU_SIMT_BREAK &&
            p->addr == pc && p->removed + 1 == d->resumes) {
            return true;
        }
    }
    return false;
}

/* The lane that went alone cannot. A step over an instruction ends there: gdb,
 * which steps over a break point so, takes no other thread's stop for an
 * answer; that the lane still is at the break point tells it to step on, for
 * ever, unless it is told why. Otherwise the others may run, until it can. */
static void end_alone(MxgpuCu *cu, const SimtWaiter *waits)
{
    SimtDebug *d = cu->simt->debug;
    MxgpuSimtStop stop = {.cause = MXGPU_SIMT_STOP_STEP, .at = d->go.at};

    if (waits && just_removed(d, simt_waits_at(waits))) {
        stop.cause = MXGPU_SIMT_STOP_WAIT;
    }
    if (d->go.step && d->go.low == d->go.high) {
        mxgpu_simt_stop(cu, &stop);
    } else {
        atomic_store(&d->free, true);
        cu->simt->config.wake(cu->simt->config.opaque);
    }
}

/* What has become of the lane that the debugger moves. */
static void look_after_lane(MxgpuCu *cu)
{
    SimtDebug *d = cu->simt->debug;
    const SimtWaiter *waits;
    bool gone;

    if (!d->go.lane || d->go.at.cu != cu->index || atomic_load(&d->gone)) {
        return;
    }
    gone = lane_gone(cu);
    waits = gone ? NULL : lane_waits(cu);
    if (alone(d) && (gone || waits)) {
        end_alone(cu, waits);
    }
    atomic_store(&d->gone, gone);
}

bool mxgpu_simt_debug_waits(MxgpuCu *cu)
{
    SimtDebug *d = cu->simt->debug;

    if (!simt_stopped(cu->simt)) {
        look_after_lane(cu);
    }
    return simt_stopped(cu->simt) || (alone(d) && d->go.at.cu != cu->index);
}

/* Before a turn: whether the warp may have it; the lane that is stepped is in
 * the group that runs then. */
static bool may_run(MxgpuCu *cu, MxgpuWarp *w)
{
    SimtDebug *d = cu->simt->debug;

    if (mxgpu_simt_debug_waits(cu)) {
        return false;
    }
    return !alone(d) ||
           (is_warp(d->go.at, cu, w) && mxgpu_warp_choose(w, d->go.at.lane));
}

uint64_t mxgpu_simt_run_debugged(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget)
{
    uint64_t before = w->s.instructions;
    SimtBlock *block = &cu->s.blocks[w->c.block];

    if (!may_run(cu, w)) {
        return 0;
    }
    mxgpu_block_init_x(cu, block);
    block->convoy = false;
    cu->c.sample_at = 0;
    cu->c.counting = simt_slot(cu, w)->dispatch.accesses;
    (void)cu->simt->count(cu, w, before + budget);
    if (cu->c.parks) {
        mxgpu_park_group(cu, w);
    }
    mxgpu_simt_count_turn(cu, w->s.instructions - before);
    if (cu->c.counting) {
        simt_count(cu, COUNT_counted_instructions,
                   w->s.instructions - before);
    }
    cu->c.counting = false;
    return w->s.instructions - before;
}

/* ---- what an instruction accesses */

typedef struct Access {
    unsigned size; /* 0: it does not */
    bool reads, writes;
} Access;

static Access access_of(const SimtOp *p)
{
    if (mxgpu_simt_is_atomic(p->op)) {
        return (Access){mxgpu_simt_atomic_size(p->op),
                        !mxgpu_simt_is_sc(p->op), !mxgpu_simt_is_lr(p->op)};
    }
    if (mxgpu_simt_is_store(p->op)) {
        return (Access){1u << mxgpu_simt_access_shift(p->op), false, true};
    }
    switch (p->op) {
    case RV_LB:
    case RV_LBU:
    case RV_LH:
    case RV_LHU:
    case RV_LW:
    case RV_LWU:
    case RV_LD:
    case RV_FLH:
    case RV_FLW:
    case RV_FLD:
        return (Access){1u << mxgpu_simt_access_shift(p->op), true, false};
    default:
        return (Access){0};
    }
}

/* Whether a watch point in a window means this lane's memory. */
static bool means(const SimtPoint *point, const MxgpuCu *cu,
                  const MxgpuWarp *w, unsigned lane)
{
    const SimtBlock *b = &cu->s.blocks[w->c.block];

    if (!point->bound) {
        return true;
    }
    if (point->at.cu != cu->index || w->c.slot != point->slot ||
        memcmp(b->id, point->block, sizeof(b->id)) != 0) {
        return false;
    }
    return in_shared(w, point->addr, 1) ||
           (is_warp(point->at, cu, w) && point->at.lane == lane);
}

static bool wants(const SimtPoint *point, const Access *a)
{
    switch (point->kind) {
    case MXGPU_SIMT_WATCH_WRITE:
        return a->writes;
    case MXGPU_SIMT_WATCH_READ:
        return a->reads;
    default:
        return point->kind == MXGPU_SIMT_WATCH_ACCESS;
    }
}

/* Whether the lane's access is one that the point is about. */
static bool meets(const SimtPoint *point, const MxgpuCu *cu,
                  const MxgpuWarp *w, unsigned lane, uint64_t va,
                  unsigned size)
{
    return va <= point->last && va + size > point->addr &&
           means(point, cu, w, lane);
}

/* A lane of mask whose access a watch point is about: the debugger's, if it is
 * among them, for gdb asks no other of what has local variables in it. */
static bool watched(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t mask,
                    MxgpuSimtStop *stop)
{
    const SimtDebug *d = cu->simt->debug;
    Access a = access_of(p);
    uint64_t first = is_warp(d->prefer, cu, w) ? 1ull << d->prefer.lane : 0;
    bool imm = !mxgpu_simt_is_atomic(p->op);

    if (!a.size) {
        return false;
    }
    mxgpu_warp_widen(w, p->r1);
    for (unsigned i = 0; i < POINTS; i++) {
        const SimtPoint *point = &d->points[i];

        if (!point->used || !wants(point, &a)) {
            continue;
        }
        for (uint64_t m = mask, next; m; m &= ~next) {
            unsigned lane = __builtin_ctzll(m & first ? first : m);
            uint64_t va = w->x[p->r1][lane] +
                          (imm ? (uint64_t)(int64_t)p->imm : 0);

            next = 1ull << lane;
            if (meets(point, cu, w, lane, va, a.size)) {
                stop->at = simt_lane(cu, w, lane);
                stop->point = (MxgpuSimtPoint)point->kind;
                stop->addr = va > point->addr ? va : point->addr;
                return true;
            }
        }
    }
    return false;
}

/* ---- break points */

static const SimtPoint *point_at(const SimtDebug *d, uint64_t pc)
{
    unsigned bit = (unsigned)(pc >> 1) % POINT_FILTER;

    if (!(d->filter[bit / 64] >> bit % 64 & 1)) {
        return NULL;
    }
    for (unsigned i = 0; i < POINTS; i++) {
        if (d->points[i].used && d->points[i].kind == MXGPU_SIMT_BREAK &&
            d->points[i].addr == pc) {
            return &d->points[i];
        }
    }
    return NULL;
}

static bool holds(SimtDebug *d, const SimtPoint *point, MxgpuSimtLane at)
{
    return !point->condition ||
           d->ops->holds(d->opaque, point->condition, at);
}

/* Lanes that stop together are one stop: it is the debugger's lane that is
 * named, if it is among them, for that may be the one it waits for. */
static bool breaks(MxgpuCu *cu, MxgpuWarp *w, uint64_t pc, uint64_t mask,
                   MxgpuSimtLane *at)
{
    SimtDebug *d = cu->simt->debug;
    const SimtPoint *point = point_at(d, pc);

    if (!point) {
        return false;
    }
    w->s.cur.pc = pc; /* for conditions */
    *at = d->prefer;
    if (is_warp(*at, cu, w) && mask >> at->lane & 1 && holds(d, point, *at)) {
        return true;
    }
    for (; mask; mask &= mask - 1) {
        *at = simt_lane(cu, w, __builtin_ctzll(mask));
        if (holds(d, point, *at)) {
            return true;
        }
    }
    return false;
}

/* ---- before an instruction */

/* Whether lanes of mask may execute what is at pc as far as the debugger's last
 * order goes. */
static bool ordered(MxgpuCu *cu, const MxgpuWarp *w, uint64_t pc, uint64_t mask,
                    MxgpuSimtStop *stop)
{
    SimtDebug *d = cu->simt->debug;
    bool own = d->go.lane && is_warp(d->go.at, cu, w) &&
               mask >> d->go.at.lane & 1 && !atomic_load(&d->gone);

    if (!own) {
        return !alone(d);
    }
    if (d->moved && d->go.step && (pc < d->go.low || pc >= d->go.high)) {
        stop->cause = MXGPU_SIMT_STOP_STEP;
        stop->at = d->go.at;
        mxgpu_simt_stop(cu, stop);
        return false;
    }
    d->moved = true;
    return true;
}

static bool launches(MxgpuCu *cu, const MxgpuWarp *w, uint64_t pc)
{
    SimtDebug *d = cu->simt->debug;

    return d->at_launch && pc == simt_slot(cu, w)->dispatch.entry &&
           !atomic_exchange(&d->launched[w->c.slot], true);
}

static bool debug_look(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                       uint64_t mask)
{
    MxgpuSimtStop stop = {.at = simt_lane(cu, w, __builtin_ctzll(mask))};

    if (simt_stopped(cu->simt)) {
        return false;
    }
    if (p->op == OP_DECODE || p->op == OP_END) { /* it is asked again */
        return true;
    }
    if (launches(cu, w, pc)) {
        stop.cause = MXGPU_SIMT_STOP_LAUNCH;
    } else if (!ordered(cu, w, pc, mask, &stop)) {
        return false;
    } else if (breaks(cu, w, pc, mask, &stop.at)) {
        stop.cause = MXGPU_SIMT_STOP_POINT;
        stop.addr = pc;
    } else if (cu->simt->debug->watches && watched(cu, w, p, mask, &stop)) {
        stop.cause = MXGPU_SIMT_STOP_POINT;
    } else {
        return true;
    }
    mxgpu_simt_stop(cu, &stop);
    return false;
}

bool mxgpu_simt_look(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                     uint64_t mask, uint64_t instructions)
{
    return cu->simt->debugged
               ? debug_look(cu, w, p, pc, mask)
               : mxgpu_simt_sample(cu, w, pc, mask, instructions);
}
