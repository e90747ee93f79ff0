/* SPDX-License-Identifier: MIT */
/* The debugger's side of simt/debug.h: points, lanes, registers, memory. */
#include "simt/debug.h"

#include "simt/sched/block.h"
#include "simt/sched/debug.h"
#include "simt/sched/run.h"
#include "simt/slow/float.h"
#include "simt/warp/code.h"
#include "simt/warp/count.h"
#include "simt/warp/memory.h"
#include "simt/warp/stop.h"
#include "simt/warp/warp.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

/* ---- life and run control */

bool mxgpu_simt_debug_open(MxgpuSimt *simt, const MxgpuSimtDebugOps *ops,
                           void *opaque)
{
    simt->debug = calloc(1, sizeof(*simt->debug));
    if (!simt->debug) {
        return false;
    }
    simt->debug->ops = ops;
    simt->debug->opaque = opaque;
    return true;
}

static void forget_condition(SimtDebug *d, SimtPoint *point)
{
    if (point->condition) {
        d->ops->forget(d->opaque, point->condition);
        point->condition = NULL;
    }
}

static void forget_points(SimtDebug *d)
{
    for (unsigned i = 0; i < POINTS; i++) {
        forget_condition(d, &d->points[i]);
    }
    memset(d->points, 0, sizeof(d->points));
    memset(d->filter, 0, sizeof(d->filter));
    d->watches = false;
}

void mxgpu_simt_debug_close(MxgpuSimt *simt)
{
    if (simt->debug) {
        forget_points(simt->debug);
        free(simt->debug);
    }
}

void mxgpu_simt_debug_attach(MxgpuSimt *simt, bool attached)
{
    SimtDebug *d = simt->debug;

    simt->debugged = attached;
    atomic_store(&d->stopped, attached);
    d->go = (MxgpuSimtGo){0};
    d->stop = (MxgpuSimtStop){.cause = MXGPU_SIMT_STOP_ASKED};
    d->at_launch = false;
    if (!attached) {
        forget_points(d);
        simt->config.wake(simt->config.opaque);
    }
}

void mxgpu_simt_debug_halt(MxgpuSimt *simt)
{
    atomic_store(&simt->debug->stopped, true);
}

void mxgpu_simt_debug_resume(MxgpuSimt *simt, const MxgpuSimtGo *go)
{
    SimtDebug *d = simt->debug;
    MxgpuSimtWarpInfo info;

    d->go = *go;
    d->resumes++;
    d->moved = false;
    if (go->again && d->stop.cause == MXGPU_SIMT_STOP_LAUNCH &&
        mxgpu_simt_debug_warp(simt, d->stop.at.cu, d->stop.at.warp, &info)) {
        atomic_store(&d->launched[info.slot], false);
    }
    if (go->lane && mxgpu_simt_debug_warp(simt, go->at.cu, go->at.warp,
                                          &info)) {
        memcpy(d->go_block, info.block, sizeof(d->go_block));
        d->prefer = go->at;
    } else {
        d->go.lane = false;
    }
    atomic_store(&d->free, false);
    atomic_store(&d->gone, false);
    atomic_store(&d->stopped, false);
    simt->config.wake(simt->config.opaque);
}

bool mxgpu_simt_debug_is_stopped(const MxgpuSimt *simt)
{
    return simt_stopped(simt);
}

const MxgpuSimtStop *mxgpu_simt_debug_stop(const MxgpuSimt *simt)
{
    return &simt->debug->stop;
}

void mxgpu_simt_debug_at_launch(MxgpuSimt *simt, bool stops)
{
    simt->debug->at_launch = stops;
}

/* ---- lanes */

static bool valid(const MxgpuSimt *simt, MxgpuSimtLane at)
{
    return at.cu < simt->config.compute_units && at.warp < CU_WARPS &&
           at.lane < LANES &&
           simt->cus[at.cu].s.used_warps >> at.warp & 1 &&
           simt->cus[at.cu].warps[at.warp].s.live >> at.lane & 1;
}

static MxgpuWarp *warp_at(const MxgpuSimt *simt, MxgpuSimtLane at)
{
    return &simt->cus[at.cu].warps[at.warp];
}

bool mxgpu_simt_debug_warp(const MxgpuSimt *simt, unsigned index, unsigned warp,
                           MxgpuSimtWarpInfo *info)
{
    const MxgpuCu *cu = &simt->cus[index];
    const MxgpuWarp *w;
    const SimtBlock *b;

    if (index >= simt->config.compute_units || warp >= CU_WARPS ||
        !(cu->s.used_warps >> warp & 1)) {
        return false;
    }
    w = &cu->warps[warp];
    b = &cu->s.blocks[w->c.block];
    *info = (MxgpuSimtWarpInfo){
        .live = w->s.live,
        .slot = w->c.slot,
        .vmid = w->c.vmid,
        .index = w->c.index,
        .block = {b->id[0], b->id[1], b->id[2]},
        .entry = simt->slots[w->c.slot].dispatch.entry,
        .dispatch = &simt->slots[w->c.slot].dispatch,
    };
    return true;
}

static MxgpuSimtDoes waits_for(SimtWait wait)
{
    switch (wait) {
    case WAIT_WARPSYNC:
        return MXGPU_SIMT_SYNC;
    case WAIT_GRID:
        return MXGPU_SIMT_GRID;
    case WAIT_FAULT:
    case WAIT_VERDICT:
        return MXGPU_SIMT_PARKED;
    default:
        return MXGPU_SIMT_BARRIER;
    }
}

bool mxgpu_simt_debug_lane(const MxgpuSimt *simt, MxgpuSimtLane at,
                           MxgpuSimtLaneInfo *info)
{
    const MxgpuWarp *w;
    const SimtGroup *g = NULL;
    const uint32_t *dim;
    uint32_t t;

    if (!valid(simt, at)) {
        return false;
    }
    w = warp_at(simt, at);
    dim = simt->slots[w->c.slot].dispatch.block;
    t = w->c.index * LANES + at.lane;
    *info = (MxgpuSimtLaneInfo){
        .thread = {t % dim[0], t / dim[0] % dim[1], t / dim[0] / dim[1]},
    };
    if (w->s.cur.mask >> at.lane & 1) {
        g = &w->s.cur;
        info->pc = g->pc;
    }
    for (unsigned i = 0; !g && i < w->s.num_ready; i++) {
        if (w->s.ready[i].mask >> at.lane & 1) {
            g = &w->s.ready[i];
            info->pc = g->pc;
            info->does = w->s.cur.mask || i + 1 < w->s.num_ready
                             ? MXGPU_SIMT_DIVERGED
                             : MXGPU_SIMT_RUNS;
        }
    }
    for (unsigned i = 0; !g && i < w->s.num_waiting; i++) {
        if (w->s.waiting[i].group.mask >> at.lane & 1) {
            g = &w->s.waiting[i].group;
            info->pc = simt_waits_at(&w->s.waiting[i]);
            info->does = waits_for((SimtWait)w->s.waiting[i].wait);
        }
    }
    info->group = g ? g->mask : 0;
    return g != NULL;
}

/* ---- registers */

/* Its x registers are there to be read. */
static MxgpuWarp *open_warp(MxgpuSimt *simt, MxgpuSimtLane at)
{
    MxgpuCu *cu = &simt->cus[at.cu];
    MxgpuWarp *w = warp_at(simt, at);

    mxgpu_block_init_x(cu, &cu->s.blocks[w->c.block]);
    return w;
}

bool mxgpu_simt_debug_read_register(MxgpuSimt *simt, MxgpuSimtLane at,
                                    unsigned number, uint64_t *value)
{
    MxgpuSimtLaneInfo info;
    MxgpuWarp *w;

    if (!mxgpu_simt_debug_lane(simt, at, &info)) {
        return false;
    }
    w = open_warp(simt, at);
    if (number < MXGPU_SIMT_PC) {
        mxgpu_warp_widen(w, number);
        *value = w->x[number][at.lane];
    } else if (number == MXGPU_SIMT_PC) {
        *value = info.pc;
    } else if (number < MXGPU_SIMT_FCSR) {
        unsigned r = number - MXGPU_SIMT_F0;

        *value = w->narrow[r] >> at.lane & 1
                     ? 0xffffffff00000000ull | w->f[r][at.lane]
                     : w->d[r][at.lane];
    } else if (number == MXGPU_SIMT_FCSR) {
        *value = (uint64_t)w->s.frm[at.lane] << 5 | w->s.fflags[at.lane];
    } else if (number == MXGPU_SIMT_MASK) {
        *value = info.group;
    } else {
        return false;
    }
    return true;
}

/* The lane leaves its group and is a ready one elsewhere. */
static bool move_lane(MxgpuWarp *w, unsigned lane, uint64_t pc)
{
    uint64_t bit = 1ull << lane;

    if (pc & 1 || !mxgpu_warp_choose(w, lane)) {
        return false;
    }
    w->s.cur.mask &= ~bit;
    mxgpu_warp_park(w, &(SimtGroup){pc, bit, w->s.stamps, w->s.cur.depth});
    if (!w->s.cur.mask) {
        mxgpu_warp_pick(w, false);
    }
    return true;
}

static void write_f(MxgpuCu *cu, MxgpuWarp *w, unsigned r, unsigned lane,
                    uint64_t value)
{
    /* What is no boxed 32-bit value is kept as 64 bits, which a warp that
     * starts here later has to clear. */
    if (value >> 32 == UINT32_MAX) {
        w->f[r][lane] = (uint32_t)value;
        w->narrow[r] |= 1ull << lane;
    } else {
        w->d[r][lane] = value;
        w->narrow[r] &= ~(1ull << lane);
        cu->c.written_d |= 1u << r;
    }
}

bool mxgpu_simt_debug_write_register(MxgpuSimt *simt, MxgpuSimtLane at,
                                     unsigned number, uint64_t value)
{
    MxgpuWarp *w;

    if (!valid(simt, at)) {
        return false;
    }
    w = open_warp(simt, at);
    simt->cus[at.cu].s.blocks[w->c.block].convoy = false;
    if (number == 0) {
        return true; /* as the instruction set has it */
    }
    if (number < MXGPU_SIMT_PC) {
        mxgpu_warp_widen(w, number);
        w->x[number][at.lane] = value;
        simt_wrote_wide(w, number);
        simt->cus[at.cu].c.written_x |= 1u << number;
    } else if (number == MXGPU_SIMT_PC) {
        return move_lane(w, at.lane, value);
    } else if (number < MXGPU_SIMT_FCSR) {
        write_f(&simt->cus[at.cu], w, number - MXGPU_SIMT_F0, at.lane, value);
    } else if (number == MXGPU_SIMT_FCSR) {
        w->s.frm[at.lane] = value >> 5 & 7;
        w->s.fflags[at.lane] = value & 31;
        mxgpu_simt_fp_level(w, w->c.fp_level == 2);
    } else {
        return false;
    }
    return true;
}

/* ---- memory */

/* Code that may be executed only. */
static bool read_code(MxgpuCu *cu, const MxgpuWarp *w, uint64_t va,
                      uint8_t *byte)
{
    MxgpuTranslation t;

    return mxgpu_mmu_translate(cu->simt->config.mmu, w->c.vmid, va,
                               MXGPU_ACCESS_EXECUTE, &t) == MXGPU_FAULT_NONE &&
           mxgpu_mmu_read(cu->simt->config.mmu, &t, byte, 1) ==
               MXGPU_FAULT_NONE;
}

/* Pieces that are aligned words are read as such: somebody may write them. */
static unsigned piece(uint64_t va, size_t len)
{
    for (unsigned n = 8; n > 1; n /= 2) {
        if (va % n == 0 && n <= len) {
            return n;
        }
    }
    return 1;
}

static size_t move(MxgpuSimt *simt, MxgpuSimtLane at, uint64_t va,
                   uint8_t *buf, size_t len, bool write)
{
    MxgpuCu *cu;
    MxgpuWarp *w;
    uint64_t misses, where;
    size_t done = 0;
    bool ok = true, running;

    if (!valid(simt, at)) {
        return 0;
    }
    cu = &simt->cus[at.cu];
    w = warp_at(simt, at);
    running = atomic_load(&cu->client.active);
    misses = atomic_load(&cu->n.count[COUNT_tlb_misses]);
    if (!running) { /* else it is for a condition */
        cu->c.hold = &mxgpu_simt_not_held;
        if (mxgpu_mmu_client_begin(&cu->client)) {
            mxgpu_cu_invalidate(cu);
        }
    }
    while (ok && done < len) {
        unsigned n = piece(va + done, len - done);
        enum mxgpu_fault fault =
            write ? mxgpu_simt_write(cu, w, at.lane, va + done, buf + done, n,
                                     &where)
                  : mxgpu_simt_read(cu, w, at.lane, va + done, buf + done, n,
                                    &where);

        if (fault == MXGPU_FAULT_PERMISSION && !write &&
            read_code(cu, w, va + done, buf + done)) {
            n = 1;
            fault = MXGPU_FAULT_NONE;
        }
        ok = fault == MXGPU_FAULT_NONE;
        done += ok ? n : 0;
    }
    if (!running) {
        mxgpu_mmu_client_end(&cu->client);
    }
    atomic_store(&cu->n.count[COUNT_tlb_misses], misses); /* not the kernel's */
    return done;
}

size_t mxgpu_simt_debug_read(MxgpuSimt *simt, MxgpuSimtLane at, uint64_t va,
                             uint8_t *buf, size_t len)
{
    return move(simt, at, va, buf, len, false);
}

size_t mxgpu_simt_debug_write(MxgpuSimt *simt, MxgpuSimtLane at, uint64_t va,
                              const uint8_t *buf, size_t len)
{
    size_t n = move(simt, at, va, (uint8_t *)(uintptr_t)buf, len, true);

    if (n) { /* it may have been code */
        atomic_fetch_add(&simt->code_check, 1);
    }
    return n;
}

/* ---- points */

static SimtPoint *find(SimtDebug *d, MxgpuSimtPoint kind, uint64_t addr,
                       uint64_t last)
{
    for (unsigned i = 0; i < POINTS; i++) {
        SimtPoint *p = &d->points[i];

        if (p->last && p->kind == kind && p->addr == addr && p->last == last) {
            return p;
        }
    }
    return NULL;
}

/* One that was never used, or the first that is not any more. */
static SimtPoint *unused(SimtDebug *d)
{
    SimtPoint *any = NULL;

    for (unsigned i = 0; i < POINTS; i++) {
        if (!d->points[i].last) {
            return &d->points[i];
        }
        if (!d->points[i].used && !any) {
            any = &d->points[i];
        }
    }
    return any;
}

/* After a change: the filter, and whether there is anything to watch. */
static void summarise(SimtDebug *d)
{
    memset(d->filter, 0, sizeof(d->filter));
    d->watches = false;
    for (unsigned i = 0; i < POINTS; i++) {
        const SimtPoint *p = &d->points[i];
        unsigned bit = (unsigned)(p->addr >> 1) % POINT_FILTER;

        if (p->used && p->kind == MXGPU_SIMT_BREAK) {
            d->filter[bit / 64] |= 1ull << bit % 64;
        }
        d->watches |= p->used && p->kind != MXGPU_SIMT_BREAK;
    }
}

/* An address in a window means the memory of the lane that the debugger was at
 * last. */
static void bind_point(MxgpuSimt *simt, SimtPoint *p)
{
    MxgpuSimtWarpInfo info;
    MxgpuSimtLane at = simt->debug->prefer;

    if (p->kind == MXGPU_SIMT_BREAK || p->addr < MXGPU_VA_LIMIT ||
        !mxgpu_simt_debug_warp(simt, at.cu, at.warp, &info)) {
        p->bound = false;
        return;
    }
    p->bound = true;
    p->at = at;
    p->slot = (uint8_t)info.slot;
    memcpy(p->block, info.block, sizeof(p->block));
}

/* Whether what it was bound to is still there. */
static bool still_bound(const MxgpuSimt *simt, const SimtPoint *p)
{
    MxgpuSimtWarpInfo info;

    return p->bound && valid(simt, p->at) &&
           mxgpu_simt_debug_warp(simt, p->at.cu, p->at.warp, &info) &&
           info.slot == p->slot &&
           !memcmp(info.block, p->block, sizeof(p->block));
}

bool mxgpu_simt_debug_insert(MxgpuSimt *simt, MxgpuSimtPoint kind,
                             uint64_t addr, uint64_t len, void *condition)
{
    SimtDebug *d = simt->debug;
    uint64_t last = kind == MXGPU_SIMT_BREAK ? addr : addr + len - 1;
    SimtPoint *p;

    if ((kind != MXGPU_SIMT_BREAK && !len) || last < addr || !last) {
        return false;
    }
    p = find(d, kind, addr, last);
    if (!p || !still_bound(simt, p)) {
        p = p ? p : unused(d);
        if (!p) {
            return false;
        }
        forget_condition(d, p);
        *p = (SimtPoint){.kind = (uint8_t)kind, .addr = addr, .last = last};
        bind_point(simt, p);
    }
    forget_condition(d, p);
    p->condition = condition;
    p->used = true;
    summarise(d);
    return true;
}

bool mxgpu_simt_debug_remove(MxgpuSimt *simt, MxgpuSimtPoint kind,
                             uint64_t addr, uint64_t len)
{
    SimtDebug *d = simt->debug;
    uint64_t last = kind == MXGPU_SIMT_BREAK ? addr : addr + len - 1;
    SimtPoint *p = find(d, kind, addr, last);

    if (!p || !p->used) {
        return false;
    }
    p->used = false;
    p->removed = d->resumes;
    forget_condition(d, p);
    summarise(d);
    return true;
}
