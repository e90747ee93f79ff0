/* SPDX-License-Identifier: MIT */
/*
 * Divergence. The live lanes of a warp are partitioned into groups of lanes
 * that are at one pc: "cur", which runs, the ready ones, and those that wait at
 * a barrier. The next group to run is the one in the deepest call frame and,
 * there, at the lowest pc, so that lanes that went different ways reconverge
 * where these ways join. Groups at one pc in the same call depth become one.
 */
#include "warp.h"

#include <limits.h>
#include <string.h>

uint64_t mxgpu_warp_nonzero(const uint64_t *x)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < LANES; i++) {
        mask |= (uint64_t)(x[i] != 0) << i;
    }
    return mask;
}

/* Row by row; sums, for few hosts multiply these at once. */
static void widen_line(uint64_t *x, const SimtLine *line, unsigned shift)
{
    const SimtLine l = *line;
    unsigned lanes = 1u << shift;

    for (unsigned at = 0; at < LANES; at += lanes) {
        uint64_t value = l.base + (at >> shift) * l.row;

        for (unsigned i = 0; i < lanes; i++, value += l.step) {
            x[at + i] = value;
        }
    }
}

void mxgpu_warp_widen(MxgpuWarp *w, unsigned r)
{
    uint64_t *x = w->x[r];
    const uint32_t *word = w->word[r];

    if (w->form[r] & FORM_WIDE) {
        return;
    }
    if (w->form[r] & FORM_WORD) {
        for (unsigned i = 0; i < LANES; i++) {
            x[i] = (uint64_t)(int64_t)(int32_t)word[i];
        }
    } else {
        widen_line(x, &w->line[r], w->c.row_shift);
    }
    w->form[r] |= FORM_WIDE;
}

/* x0 has all forms of 0 and nothing ever writes it. */
void mxgpu_warp_start_x(MxgpuWarp *w, uint64_t args, uint32_t written_x)
{
    for (; written_x; written_x &= written_x - 1) {
        w->line[__builtin_ctz(written_x)] = (SimtLine){0};
    }
    memset(w->form, FORM_LINE | FORM_UNIFORM, sizeof(w->form));
    w->form[0] = FORM_ALL;
    w->line[2] = (SimtLine){.base = MXGPU_PRIVATE_END};
    w->line[10] = (SimtLine){.base = args};
}

void mxgpu_warp_start(MxgpuWarp *w, uint64_t lanes, uint64_t entry,
                      uint32_t written_d)
{
    w->form[0] = FORM_ALL; /* needed in a convoy, too, which sets no other x */
    for (; written_d; written_d &= written_d - 1) {
        memset(w->d[__builtin_ctz(written_d)], 0, sizeof(w->d[0]));
    }
    for (unsigned i = 0; i < 32; i++) {
        w->narrow[i] = ~lanes;
    }
    memset(w->s.frm, 0, sizeof(w->s.frm));
    memset(w->s.fflags, 0, sizeof(w->s.fflags));
    w->s.reserved = 0;
    w->s.live = lanes;
    w->s.cur = (SimtGroup){.pc = entry, .mask = lanes};
    w->s.num_ready = w->s.num_waiting = 0;
    w->s.stamps = w->s.slice_end = w->s.instructions = 0;
    w->s.rotated = false;
    w->c.fp_level = 0;
}

/* Whether group a is to run before group b. */
static bool before(const SimtGroup *a, const SimtGroup *b)
{
    return a->depth != b->depth ? a->depth > b->depth : a->pc < b->pc;
}

void mxgpu_warp_park(MxgpuWarp *w, const SimtGroup *group)
{
    unsigned i = w->s.num_ready;

    if (!group->mask) {
        return;
    }
    while (i > 0 && before(&w->s.ready[i - 1], group)) {
        i--;
    }
    if (i > 0 && w->s.ready[i - 1].pc == group->pc &&
        w->s.ready[i - 1].depth == group->depth) {
        w->s.ready[i - 1].mask |= group->mask;
        return;
    }
    if (i < w->s.num_ready) {
        memmove(&w->s.ready[i + 1], &w->s.ready[i],
                (w->s.num_ready - i) * sizeof(w->s.ready[0]));
    }
    simt_copy_group(&w->s.ready[i], group);
    w->s.num_ready++;
}

/* ready[i] becomes cur, out of order unless it is the last one. */
static void take_ready(MxgpuWarp *w, unsigned i, bool rotated)
{
    w->s.rotated = rotated && i != w->s.num_ready - 1;
    simt_copy_group(&w->s.cur, &w->s.ready[i]);
    w->s.num_ready--;
    if (i < w->s.num_ready) {
        memmove(&w->s.ready[i], &w->s.ready[i + 1],
                (w->s.num_ready - i) * sizeof(w->s.ready[0]));
    }
}

bool mxgpu_warp_choose(MxgpuWarp *w, unsigned lane)
{
    if (w->s.cur.mask >> lane & 1) {
        return true;
    }
    for (unsigned i = 0; i < w->s.num_ready; i++) {
        if (w->s.ready[i].mask >> lane & 1) {
            uint64_t mask = w->s.ready[i].mask;

            w->s.cur.stamp = ++w->s.stamps;
            mxgpu_warp_park(w, &w->s.cur);
            w->s.cur.mask = 0;
            w->s.slice_end = 0;
            for (i = 0; (w->s.ready[i].mask & mask) != mask; i++) {
            }
            take_ready(w, i, true);
            return true;
        }
    }
    return false;
}

bool mxgpu_warp_pick(MxgpuWarp *w, bool rotate)
{
    unsigned best;

    w->s.cur.stamp = ++w->s.stamps;
    mxgpu_warp_park(w, &w->s.cur);
    w->s.cur.mask = 0;
    if (w->s.num_ready == 0) {
        return false;
    }
    best = w->s.num_ready - 1;
    if (rotate) {
        for (unsigned i = 0; i < w->s.num_ready; i++) {
            if (w->s.ready[i].stamp < w->s.ready[best].stamp) {
                best = i;
            }
        }
    }
    take_ready(w, best, rotate);
    return true;
}

void mxgpu_warp_wait(MxgpuWarp *w, const SimtGroup *group, SimtWait wait,
                     uint8_t rd, uint64_t sync)
{
    SimtWaiter *a = &w->s.waiting[w->s.num_waiting++];

    simt_copy_group(&a->group, group);
    a->sync = sync;
    a->wait = wait;
    a->rd = rd;
}

/* Lanes that wait in mx.warpsync for exactly this set of lanes. */
static uint64_t arrived(const MxgpuWarp *w, uint64_t sync)
{
    uint64_t lanes = 0;

    for (unsigned i = 0; i < w->s.num_waiting; i++) {
        if (w->s.waiting[i].wait == WAIT_WARPSYNC &&
            w->s.waiting[i].sync == sync) {
            lanes |= w->s.waiting[i].group.mask;
        }
    }
    return lanes;
}

/* Lanes that wait for this set go on: those at one pc as one group, whatever
 * their call depth. */
static void release(MxgpuWarp *w, uint64_t sync)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < w->s.num_waiting; i++) {
        SimtWaiter *a = &w->s.waiting[i];

        if (a->wait != WAIT_WARPSYNC || a->sync != sync) {
            w->s.waiting[kept++] = *a;
            continue;
        }
        for (unsigned j = i + 1; j < w->s.num_waiting; j++) {
            SimtWaiter *b = &w->s.waiting[j];

            if (b->wait == WAIT_WARPSYNC && b->sync == sync &&
                b->group.pc == a->group.pc) {
                a->group.mask |= b->group.mask;
                b->group.mask = 0;
            }
        }
        mxgpu_warp_park(w, &a->group);
    }
    w->s.num_waiting = kept;
}

void mxgpu_warp_sync(MxgpuWarp *w)
{
    for (unsigned i = 0; i < w->s.num_waiting; i++) {
        uint64_t sync = w->s.waiting[i].sync;

        if (w->s.waiting[i].wait == WAIT_WARPSYNC &&
            !(sync & w->s.live & ~arrived(w, sync))) {
            release(w, sync);
            i = UINT_MAX; /* the list has changed: look again */
        }
    }
}

void mxgpu_warp_exit(MxgpuWarp *w, uint64_t mask)
{
    w->s.live &= ~mask;
    w->s.cur.mask &= ~mask;
    if (!w->s.live) {
        return;
    }
    for (unsigned i = 0; i < 32; i++) {
        w->narrow[i] |= mask; /* full-width f32 code runs over dead lanes */
    }
    mxgpu_warp_sync(w);
}

bool mxgpu_warp_where(const MxgpuWarp *w, uint64_t *pc)
{
    if (w->s.cur.mask) {
        *pc = w->s.cur.pc;
    } else if (w->s.num_ready) {
        *pc = w->s.ready[w->s.num_ready - 1].pc;
    } else if (w->s.num_waiting) {
        *pc = simt_waits_at(&w->s.waiting[0]);
    } else {
        return false;
    }
    return true;
}
