/* SPDX-License-Identifier: MIT */
/*
 * Profiled dispatches: what their slot counts, and samples of where warps are.
 *
 * What counts accesses runs warps one by one, many times slower than a convoy.
 * A dispatch that does not ask for all of them has spans counted: a block's
 * warps run SPAN instructions so, between them, and go on as they were. For
 * each instruction of a span the unit then runs SHARE others, of whatever
 * dispatch, before its next one. So what profiling costs has a bound that
 * depends on instructions alone. A dispatch begins with a span, that small ones
 * have figures too.
 *
 * Where spans begin is not where blocks or loops do: the unit runs a random
 * part of SHARE more or less. They end where turns do, behind a branch back, so
 * that warps that were together are together again.
 */
#include "profile.h"

#include "simt/warp/budget.h"
#include "simt/warp/count.h"
#include "simt/warp/fault.h"
#include "simt/warp/memory.h"
#include "simt/warp/warp.h"
#include "turn.h"

#define SPAN  512
#define SHARE 256

static uint64_t next_random(MxgpuCu *cu)
{
    cu->s.random ^= cu->s.random << 13;
    cu->s.random ^= cu->s.random >> 7;
    cu->s.random ^= cu->s.random << 17;
    return cu->s.random;
}

/* ---- samples */

/* In spans SHARE times as many are taken, so that they stand for all. A random
 * distance falls on every instruction of a loop that spans begin with. */
static uint64_t sample_distance(MxgpuCu *cu, const MxgpuDispatch *d)
{
    uint64_t mean = d->sample_interval / SHARE;

    if (d->accesses) {
        return d->sample_interval;
    }
    return mean > 1 ? 1 + next_random(cu) % (2 * mean - 1) : 1;
}

/*
 * The first ones fill the buffer; later ones take the place of any earlier one
 * so that each has had the same chance to stay, whenever it was taken.
 */
bool mxgpu_simt_sample(MxgpuCu *cu, MxgpuWarp *w, uint64_t pc, uint64_t mask,
                       uint64_t instructions)
{
    SimtSlot *s = simt_slot(cu, w);
    const MxgpuDispatch *d = &s->dispatch;
    uint64_t n = atomic_fetch_add(&s->samples, 1), value, at;
    uint64_t misses = cu->n.count[COUNT_tlb_misses];
    enum mxgpu_fault fault;

    cu->c.sample_at = instructions + sample_distance(cu, d);
    if (n >= d->sample_max) {
        n = next_random(cu) % (n + 1);
        if (n >= d->sample_max) {
            return true;
        }
    }
    value = (pc & 0xffffffffffffull) |
            (uint64_t)__builtin_popcountll(mask) << 48 |
            (uint64_t)cu->index << 56;
    fault = mxgpu_simt_write(cu, w, 0, d->sample_addr + 8 * n, &value, 8, &at);
    cu->n.count[COUNT_tlb_misses] = misses; /* not the kernel's */
    if (fault != MXGPU_FAULT_NONE) {
        mxgpu_simt_fault_at(cu, w, __builtin_ctzll(mask), fault,
                            MXGPU_ACCESS_WRITE, at, pc);
    }
    return fault == MXGPU_FAULT_NONE && !simt_exhausted(cu);
}

/* ---- spans */

static bool span_due(const MxgpuCu *cu, SimtSlot *s)
{
    bool first = !atomic_load_explicit(&s->span_begun, memory_order_relaxed) &&
                 !atomic_exchange(&s->span_begun, true);

    return first || cu->s.span_wait == 0;
}

static void span_begin(MxgpuCu *cu, SimtBlock *b)
{
    for (unsigned i = 0; i < b->num_warps; i++) {
        b->span_left[i] = SPAN / b->num_warps;
    }
    b->spans = (uint16_t)((1u << b->num_warps) - 1);
    simt_count(cu, COUNT_counted_spans, 1);
}

/* Whether some warp has not run its part of the span, and can: the others wait
 * for it, so that all are where one instruction follows another. */
static bool span_goes_on(const MxgpuCu *cu, const SimtBlock *b)
{
    for (unsigned m = b->spans; m; m &= m - 1) {
        const MxgpuWarp *w = &cu->warps[b->warps[__builtin_ctz(m)]];

        if (w->s.cur.mask || w->s.num_ready) {
            return true;
        }
    }
    return false;
}

static uint64_t run_span(MxgpuCu *cu, MxgpuWarp *w, SimtBlock *b,
                         uint64_t budget)
{
    uint16_t *left = &b->span_left[w->c.index];
    uint64_t n = mxgpu_simt_run_counted(cu, w, budget < *left ? budget : *left);

    cu->s.span_wait += n * (SHARE / 2 + next_random(cu) % SHARE);
    *left -= n < *left ? n : *left;
    if (!*left) {
        b->spans &= ~(1u << w->c.index);
    }
    return n;
}

static uint64_t run_sampled(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget)
{
    SimtBlock *b = &cu->s.blocks[w->c.block];
    uint64_t n;

    if (!b->spans && span_due(cu, simt_slot(cu, w))) {
        span_begin(cu, b);
    }
    if (b->spans >> w->c.index & 1) {
        return run_span(cu, w, b, budget);
    }
    if (b->spans && span_goes_on(cu, b)) {
        return 0;
    }
    b->spans = 0;
    n = mxgpu_simt_run_fast(
        cu, w, budget < cu->s.span_wait ? budget : cu->s.span_wait);
    cu->s.span_wait -= n < cu->s.span_wait ? n : cu->s.span_wait;
    return n;
}

/* ---- dispatches */

uint64_t mxgpu_simt_run_profiled(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget)
{
    SimtSlotProfile *profile = &cu->n.profile[w->c.slot];
    uint64_t before[COUNTS], began = simt_clock(cu), n;

    for (unsigned i = 0; i < COUNTS; i++) {
        before[i] = cu->n.count[i];
    }
    n = simt_slot(cu, w)->dispatch.accesses
            ? mxgpu_simt_run_counted(cu, w, budget)
            : run_sampled(cu, w, budget);
    for (unsigned i = 0; i < COUNTS; i++) {
        profile->count[i] += cu->n.count[i] - before[i];
    }
    profile->count[COUNT_busy_ns] += simt_clock(cu) - began;
    return n;
}
