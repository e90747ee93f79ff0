/* SPDX-License-Identifier: MIT */
/*
 * The state of the compute units, piece by piece. What is loaded comes from a
 * file that anybody may have made: it goes to structures of its own first, and
 * what could lead the units astray, an index, a count or a sum, is checked
 * before the units get it. What follows from other state is not in the image.
 */
#include "simt/visit.h"

#include "forget.h"
#include "parts.h"
#include "simt/sched/barrier.h"
#include "simt/sched/block.h"
#include "simt/sched/private.h"
#include "simt/sched/returned.h"
#include "simt/sched/run.h"
#include "simt/sched/saved.h"
#include "simt/sched/slots.h"
#include "simt/warp/budget.h"
#include "simt/warp/fault.h"
#include "simt/warp/memory.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

#define FAULTS   (MXGPU_FAULT_CONFIG + 1)
#define ACCESSES (MXGPU_ACCESS_ATOMIC + 1)

/* ---- dispatch slots */

static void visit_dispatch(MxgpuVisit *v, MxgpuDispatch *d)
{
    VISIT(v, d->entry);
    VISIT(v, d->args);
    visit_bytes(v, d->grid, sizeof(d->grid));
    visit_bytes(v, d->block, sizeof(d->block));
    VISIT(v, d->shared);
    VISIT(v, d->shared_static);
    VISIT(v, d->private_bytes);
    VISIT_BELOW(v, d->vmid, MXGPU_NUM_VMIDS);
    VISIT(v, d->priority);
    VISIT(v, d->registers);
    VISIT_BOOL(v, d->cooperative);
    VISIT_BOOL(v, d->fp_flags);
    VISIT_BOOL(v, d->strict_align);
    VISIT_BOOL(v, d->recover);
    VISIT(v, d->queue);
    VISIT_BOOL(v, d->accesses);
    VISIT_BOOL(v, d->profile);
    VISIT(v, d->sample_addr);
    VISIT(v, d->sample_max);
    VISIT(v, d->sample_interval);
}

static void visit_fault(MxgpuVisit *v, MxgpuDispatchFault *f)
{
    uint32_t code = f->code, access = f->access;

    VISIT_BELOW(v, code, FAULTS);
    VISIT_BELOW(v, access, ACCESSES);
    f->code = code;
    f->access = access;
    VISIT(v, f->addr);
    VISIT(v, f->pc);
    visit_bytes(v, f->block, sizeof(f->block));
    VISIT(v, f->thread);
}

/* Blocks that no unit has taken. */
uint64_t mxgpu_slot_untaken(SimtSlot *s)
{
    uint64_t n = atomic_load(&s->next) & SLOT_NEXT;

    return n == SLOT_NONE ? 0 : atomic_load(&s->total) - n;
}

/* The slot is free, and its grid may be one that the units run. */
static bool slot_ok(MxgpuSimt *simt, SimtSlot *s)
{
    uint64_t next = atomic_load(&s->next) & SLOT_NEXT;
    uint64_t left = atomic_load(&s->left), total;

    return mxgpu_simt_can_run(simt, &s->dispatch, &total) &&
           total == atomic_load(&s->total) && left && left <= total &&
           (next < total || next == SLOT_NONE);
}

void mxgpu_visit_slot(MxgpuVisit *v, MxgpuSimt *simt, SimtSlot *s)
{
    VISIT_ATOMIC(v, uint64_t, s->next);
    VISIT_ATOMIC(v, uint64_t, s->samples);
    VISIT_BOOL(v, s->active);
    if (!s->active) {
        visit_check(v, (s->next & SLOT_NEXT) == SLOT_NONE);
        return;
    }
    visit_dispatch(v, &s->dispatch);
    VISIT_ATOMIC(v, uint64_t, s->left);
    VISIT_ATOMIC(v, uint64_t, s->total);
    VISIT_BOOL(v, s->stop);
    VISIT_BOOL(v, s->fault_taken);
    VISIT_BOOL(v, s->span_begun);
    s->stop_code = visit_below(v, s->stop_code, FAULTS);
    VISIT_ATOMIC(v, uint64_t, s->grid_alive);
    VISIT_ATOMIC(v, uint64_t, s->grid_missing);
    VISIT_ATOMIC(v, uint32_t, s->grid_phase);
    visit_fault(v, &s->fault);
    if (visit_loads(v) && visit_check(v, slot_ok(simt, s))) {
        atomic_store(&s->needs, mxgpu_block_needs(&s->dispatch));
        atomic_store(&s->priority, s->dispatch.priority);
    }
}

/* ---- warps */

static void visit_group(MxgpuVisit *v, SimtGroup *g, uint64_t *lanes)
{
    VISIT(v, g->pc);
    VISIT(v, g->mask);
    VISIT(v, g->stamp);
    VISIT(v, g->depth);
    /* No lane is in two groups. */
    visit_check(v, !(*lanes & g->mask));
    *lanes |= g->mask;
}

static void visit_waiter(MxgpuVisit *v, SimtWaiter *a, uint64_t *lanes)
{
    visit_group(v, &a->group, lanes);
    VISIT(v, a->sync);
    VISIT(v, a->wait);
    VISIT(v, a->rd);
    visit_check(v, a->group.mask && a->wait <= WAIT_VERDICT &&
                       (a->wait >= WAIT_FAULT || a->rd <= SINK));
    if (a->wait >= WAIT_FAULT) {
        VISIT(v, a->code);
        VISIT(v, a->access);
        VISIT(v, a->sequence);
        visit_check(v, (a->code == MXGPU_FAULT_NOT_PRESENT ||
                        a->code == MXGPU_FAULT_PERMISSION) &&
                           a->access < ACCESSES && a->rd < LANES &&
                           (a->group.mask >> a->rd & 1));
    }
}

/* Every live lane is in one group. */
static void visit_groups(MxgpuVisit *v, SimtWarpState *s)
{
    uint64_t lanes = 0;

    if (!s->cur.mask) {
        s->cur = (SimtGroup){.mask = 0};
    }
    visit_group(v, &s->cur, &lanes);
    VISIT_BELOW(v, s->num_ready, LANES + 1);
    for (unsigned i = 0; i < s->num_ready && !v->error; i++) {
        visit_group(v, &s->ready[i], &lanes);
        visit_check(v, s->ready[i].mask);
    }
    VISIT_BELOW(v, s->num_waiting, LANES + 1);
    for (unsigned i = 0; i < s->num_waiting && !v->error; i++) {
        visit_waiter(v, &s->waiting[i], &lanes);
    }
    visit_check(v, lanes == s->live);
}

static void visit_fcsr(MxgpuVisit *v, SimtWarpState *s)
{
    visit_bytes(v, s->frm, sizeof(s->frm));
    visit_bytes(v, s->fflags, sizeof(s->fflags));
    for (unsigned i = 0; i < LANES; i++) {
        visit_check(v, s->frm[i] < 8 && s->fflags[i] < 32);
    }
}

static void visit_reservations(MxgpuVisit *v, SimtWarpState *s)
{
    VISIT(v, s->reserved);
    for (uint64_t m = s->reserved; m && !v->error; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);

        VISIT(v, s->reserved_addr[i]);
        VISIT(v, s->reserved_value[i]);
        VISIT(v, s->reserved_size[i]);
        visit_check(v, s->reserved_size[i] == 4 || s->reserved_size[i] == 8);
    }
}

/* Counts that grow: far from their end. */
#define COUNT_MAX (1ull << 62)

static void visit_warp_state(MxgpuVisit *v, SimtWarpState *s)
{
    VISIT(v, s->live);
    visit_groups(v, s);
    VISIT(v, s->stamps);
    VISIT(v, s->instructions);
    VISIT(v, s->slice_end);
    VISIT_BOOL(v, s->rotated);
    visit_check(v, s->stamps < COUNT_MAX && s->instructions < COUNT_MAX &&
                       s->slice_end <= s->instructions + GROUP_SLICE);
    visit_fcsr(v, s);
    visit_reservations(v, s);
}

static void visit_registers(MxgpuVisit *v, MxgpuWarp *w, bool fresh)
{
    SimtRegisters *regs = calloc(1, sizeof(*regs));

    if (!regs) {
        v->error = -ENOMEM;
        return;
    }
    if (!visit_loads(v)) {
        mxgpu_warp_save(w, fresh, regs);
    }
    if (!fresh && w->s.live) {
        visit_sparse(v, regs->x, sizeof(regs->x), sizeof(regs->x[0]));
    }
    if (w->s.live) {
        visit_sparse(v, regs->f, sizeof(regs->f), sizeof(regs->f[0]));
    }
    if (visit_loads(v)) {
        mxgpu_warp_load(w, regs);
    }
    free(regs);
}

/* A warp of a block of which "threads" are this one's and those behind it. */
static void visit_warp(MxgpuVisit *v, MxgpuWarp *w, bool fresh,
                       unsigned threads)
{
    uint64_t lanes = threads >= LANES ? ALL_LANES : (1ull << threads) - 1;

    if (visit_loads(v)) {
        memset(&w->s, 0, sizeof(w->s));
    }
    visit_warp_state(v, &w->s);
    visit_check(v, !(w->s.live & ~lanes));
    if (w->s.live || visit_loads(v)) { /* what nothing writes has to be right */
        visit_registers(v, w, fresh);
    }
}

/* ---- blocks */

static void visit_named(MxgpuVisit *v, SimtNamed *n, unsigned threads)
{
    VISIT(v, n->arrived);
    VISIT(v, n->count);
    VISIT_BOOL(v, n->whole);
    visit_check(v, n->arrived <= threads && n->count <= threads);
}

static void visit_placement(MxgpuVisit *v, MxgpuCu *cu, SimtBlock *b)
{
    VISIT_BELOW(v, b->slot, MXGPU_DISPATCH_SLOTS);
    if (visit_loads(v)) {
        const SimtSlot *s = &cu->simt->slots[b->slot];

        if (!visit_check(v, atomic_load(&s->active))) {
            return;
        }
        mxgpu_block_shape(&s->dispatch, b);
    }
    visit_bytes(v, b->id, sizeof(b->id));
    visit_bytes(v, b->warps, b->num_warps);
    VISIT(v, b->shared_at);
}

/* Whether it lies where no other one does, and is a block of its grid. */
static bool placement_ok(const MxgpuCu *cu, const SimtBlock *b)
{
    const MxgpuDispatch *d = &cu->simt->slots[b->slot].dispatch;
    uint32_t used = cu->s.used_warps;

    for (unsigned i = 0; i < b->num_warps; i++) {
        if (b->warps[i] >= CU_WARPS || (used >> b->warps[i] & 1)) {
            return false;
        }
        used |= 1u << b->warps[i];
    }
    for (unsigned i = 0; i < 3; i++) {
        if (b->id[i] >= d->grid[i]) {
            return false;
        }
    }
    return mxgpu_block_may_lie(cu, b);
}

static void visit_barriers(MxgpuVisit *v, SimtBlock *b)
{
    VISIT_BOOL(v, b->convoy);
    VISIT_BOOL(v, b->fresh);
    VISIT_BOOL(v, b->grid_wait);
    VISIT_BOOL(v, b->has_named);
    VISIT_BELOW(v, b->count, b->threads + 1);
    VISIT(v, b->grid_phase);
    for (unsigned i = 0; i < MXGPU_NAMED_BARRIERS; i++) {
        visit_named(v, &b->named[i], b->threads);
    }
}

/* What the rest of a span is of warps that are not in it does not matter. */
static void visit_span(MxgpuVisit *v, SimtBlock *b)
{
    VISIT_BELOW(v, b->spans, 1u << b->num_warps);
    for (unsigned m = b->spans; m && !v->error; m &= m - 1) {
        VISIT(v, b->span_left[__builtin_ctz(m)]);
    }
}

static unsigned lanes_waiting(const MxgpuWarp *w, SimtWait first, SimtWait last)
{
    unsigned n = 0;

    for (unsigned i = 0; i < w->s.num_waiting; i++) {
        const SimtWaiter *a = &w->s.waiting[i];

        if (a->wait >= first && a->wait <= last) {
            n += __builtin_popcountll(a->group.mask);
        }
    }
    return n;
}

static unsigned count_faults(const MxgpuWarp *w)
{
    unsigned n = 0;

    for (unsigned i = 0; i < w->s.num_waiting; i++) {
        n += w->s.waiting[i].wait >= WAIT_FAULT;
    }
    return n;
}

/* What blocks know of their warps. */
static bool sum_warps(const MxgpuCu *cu, SimtBlock *b, const SimtSaved *saved)
{
    const MxgpuSimt *simt = cu->simt;
    unsigned live = 0, grid = 0;

    b->arrived = b->faults = 0;
    b->fault_wait = false;
    for (unsigned i = 0; i < b->num_warps; i++) {
        const MxgpuWarp *w =
            saved ? &saved->warps[i] : &cu->warps[b->warps[i]];

        live += __builtin_popcountll(w->s.live);
        b->arrived += lanes_waiting(w, WAIT_BARRIER, WAIT_COUNT);
        grid += lanes_waiting(w, WAIT_GRID, WAIT_GRID);
        b->faults += count_faults(w);
    }
    b->fault_wait = !saved && b->faults && mxgpu_block_stuck(cu, b);
    b->exited = b->threads - live;
    b->grid_arrived = b->grid_wait ? 0 : grid;
    return live && b->count <= b->arrived &&
           (!b->faults || simt_recovers(simt, &simt->slots[b->slot].dispatch)) &&
           (!grid || cu->simt->slots[b->slot].dispatch.cooperative) &&
           (!b->grid_wait || grid == live);
}

/* Its warps are not other blocks': they can be loaded in place. */
static void visit_warps(MxgpuVisit *v, MxgpuCu *cu, SimtBlock *b)
{
    for (unsigned i = 0; i < b->num_warps && !v->error; i++) {
        visit_warp(v, &cu->warps[b->warps[i]], b->fresh,
                   b->threads - i * LANES);
    }
    visit_sparse(v, cu->shared + b->shared_at, b->shared_len, 64);
}

static void save_block(MxgpuVisit *v, MxgpuCu *cu, SimtBlock *b)
{
    VISIT_BOOL(v, b->used);
    if (b->used) {
        visit_placement(v, cu, b);
        visit_barriers(v, b);
        visit_span(v, b);
        visit_warps(v, cu, b);
    }
}

static void load_block(MxgpuVisit *v, MxgpuCu *cu, SimtBlock *to)
{
    SimtBlock b = {.used = false};

    VISIT_BOOL(v, b.used);
    if (!b.used) {
        return;
    }
    visit_placement(v, cu, &b);
    if (!visit_check(v, placement_ok(cu, &b))) {
        return;
    }
    visit_barriers(v, &b);
    visit_span(v, &b);
    if (b.shared_len) {
        memset(cu->shared + b.shared_at, 0, b.shared_len);
    }
    visit_warps(v, cu, &b);
    if (visit_check(v, sum_warps(cu, &b, NULL))) {
        *to = b;
        mxgpu_block_account(cu, to);
        mxgpu_block_bind(cu, to);
    }
}

/* ---- saved blocks */

static void visit_saved_private(MxgpuVisit *v, SimtSavedPrivate *p,
                                uint32_t pages)
{
    VISIT(v, p->owner);
    VISIT_BELOW(v, p->count, pages + 1);
    if (visit_loads(v) && p->count && !v->error) {
        p->index = calloc(p->count, sizeof(*p->index));
        p->bytes = calloc(p->count, PAGE_BYTES);
        if (!p->index || !p->bytes) {
            v->error = -ENOMEM;
        }
    }
    for (uint32_t i = 0; i < p->count && !v->error; i++) {
        VISIT_BELOW(v, p->index[i], pages);
        visit_sparse(v, p->bytes + (size_t)i * PAGE_BYTES, PAGE_BYTES, 64);
    }
}

static void visit_saved_rest(MxgpuVisit *v, SimtSaved *s, uint32_t pages)
{
    SimtBlock *b = &s->block;

    visit_bytes(v, b->id, sizeof(b->id));
    visit_barriers(v, b);
    visit_span(v, b);
    for (unsigned i = 0; i < b->num_warps && !v->error; i++) {
        visit_warp(v, &s->warps[i], b->fresh, b->threads - i * LANES);
        visit_saved_private(v, &s->private[i], pages);
    }
    if (visit_loads(v)) {
        memset(s->shared, 0, b->shared_len);
    }
    visit_sparse(v, s->shared, b->shared_len, 64);
}

static uint32_t saved_pages(const MxgpuDispatch *d)
{
    return d->private_bytes / (PAGE_BYTES / LANES);
}

void mxgpu_visit_saved(MxgpuVisit *v, MxgpuCu *cu, SimtSaved *saved)
{
    const SimtSlot *slot = &cu->simt->slots[saved->block.slot];

    visit_saved_rest(v, saved, saved_pages(&slot->dispatch));
}

void mxgpu_load_saved(MxgpuVisit *v, MxgpuCu *cu, unsigned slot)
{
    const MxgpuDispatch *d = &cu->simt->slots[slot].dispatch;
    SimtBlock shape = {.used = true, .slot = slot};
    SimtSaved *s;

    mxgpu_block_shape(d, &shape);
    s = mxgpu_saved_new(cu, &shape);
    if (!s) {
        v->error = -ENOMEM;
        return;
    }
    mxgpu_visit_saved(v, cu, s);
    for (unsigned i = 0; i < 3; i++) {
        visit_check(v, s->block.id[i] < d->grid[i]);
    }
    if (!v->error && visit_check(v, sum_warps(cu, &s->block, s))) {
        mxgpu_saved_add(cu, s);
    } else {
        mxgpu_saved_free(cu, s);
    }
}

static void load_saved(MxgpuVisit *v, MxgpuCu *cu)
{
    unsigned slot = visit_below(v, 0, MXGPU_DISPATCH_SLOTS);

    if (!v->error && visit_check(v, atomic_load(&cu->simt->slots[slot].active))) {
        mxgpu_load_saved(v, cu, slot);
    }
}

/* As many as fit the unit of each slot. */
#define SAVED_MAX (MXGPU_DISPATCH_SLOTS * MXGPU_CU_BLOCKS)

static void visit_saved(MxgpuVisit *v, MxgpuCu *cu)
{
    uint32_t n = 0;

    for (SimtSaved *s = cu->saved; s && !visit_loads(v); s = s->next) {
        n++;
    }
    VISIT_BELOW(v, n, SAVED_MAX + 1);
    if (visit_loads(v)) {
        for (; n && !v->error; n--) {
            load_saved(v, cu);
        }
        return;
    }
    for (SimtSaved *s = cu->saved; s && !v->error; s = s->next) {
        VISIT_BELOW(v, s->block.slot, MXGPU_DISPATCH_SLOTS);
        mxgpu_visit_saved(v, cu, s);
    }
}

/* ---- private memory */

static bool private_ok(const MxgpuCu *cu)
{
    const SimtCuState *s = &cu->s;

    for (unsigned i = 0; i < CU_WARPS; i++) {
        const MxgpuWarp *w = &cu->warps[i];
        uint32_t all = s->dirty[i] | s->wants[i] | s->keep[i];

        if (all % 1024 || s->dirty[i] > MXGPU_PRIVATE_MAX ||
            s->wants[i] > MXGPU_PRIVATE_MAX ||
            s->keep[i] > MXGPU_PRIVATE_MAX) {
            return false;
        }
        if ((s->used_warps >> i & 1) &&
            (s->wants[i] != w->c.private_size ||
             (!(s->unclean >> i & 1) && s->dirty[i] < s->wants[i]))) {
            return false; /* another's data would stay there */
        }
    }
    return true;
}

static void visit_private_sizes(MxgpuVisit *v, SimtCuState *s)
{
    visit_bytes(v, s->owner, sizeof(s->owner));
    visit_bytes(v, s->dirty, sizeof(s->dirty));
    visit_bytes(v, s->wants, sizeof(s->wants));
    visit_bytes(v, s->keep, sizeof(s->keep));
    VISIT(v, s->unclean);
    VISIT_BOOL(v, s->has_private);
    VISIT(v, s->ran_at);
    VISIT(v, s->drops);
}

/* What earlier blocks left is there for later ones: see private.c. */
static void visit_private(MxgpuVisit *v, MxgpuCu *cu)
{
    for (unsigned i = 0; i < CU_WARPS && cu->private; i++) {
        uint64_t len = (uint64_t)cu->s.dirty[i] * LANES;
        uint8_t *end = cu->private + (i + 1) * PRIVATE_WARP_BYTES;

        visit_sparse(v, end - len, len, PAGE_BYTES);
    }
}

static void load_private(MxgpuVisit *v, MxgpuCu *cu)
{
    static const SimtCuState none;
    SimtCuState *s = calloc(1, sizeof(*s)), *to = &cu->s;

    if (!s) {
        v->error = -ENOMEM;
        return;
    }
    visit_private_sizes(v, s);
    if (!v->error) {
        memcpy(to->owner, s->owner, sizeof(to->owner));
        memcpy(to->dirty, s->dirty, sizeof(to->dirty));
        memcpy(to->wants, s->wants, sizeof(to->wants));
        memcpy(to->keep, s->keep, sizeof(to->keep));
        to->unclean = s->unclean;
        to->has_private = s->has_private;
        to->ran_at = s->ran_at;
        to->drops = s->drops;
    }
    free(s);
    if (v->error || !visit_check(v, private_ok(cu))) {
        memcpy(to->dirty, none.dirty, sizeof(to->dirty));
        to->unclean = 0;
    }
}

/* All zero, as a loader finds it. */
static void empty_private(MxgpuVisit *v, MxgpuCu *cu)
{
    cu->c.work = INT64_MAX;
    cu->c.work_spare = 0;
    cu->c.hold = &mxgpu_simt_not_held;
    mxgpu_private_drop(cu);
    (void)mxgpu_private_clean(cu);
    if (!mxgpu_private_reserve(cu)) {
        v->error = -ENOMEM;
    }
}

/* ---- units */

static void visit_counts(MxgpuVisit *v, _Atomic uint64_t *count)
{
    for (unsigned i = 0; i < COUNTS; i++) {
        VISIT_ATOMIC(v, uint64_t, count[i]);
    }
}

void mxgpu_visit_profile(MxgpuVisit *v, SimtSlotProfile *p)
{
    visit_counts(v, p->count);
    VISIT_ATOMIC(v, uint64_t, p->first);
    VISIT_ATOMIC(v, uint64_t, p->last);
}

static void visit_counters(MxgpuVisit *v, SimtCuCounters *n)
{
    visit_counts(v, n->count);
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        mxgpu_visit_profile(v, &n->profile[i]);
    }
    VISIT_ATOMIC(v, uint64_t, n->where);
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        VISIT_ATOMIC(v, uint64_t, n->spent[i]);
    }
    for (unsigned i = 0; i < MXGPU_NUM_VMIDS; i++) {
        VISIT_ATOMIC(v, uint64_t, n->vmid_ns[i]);
    }
}

static void visit_turns(MxgpuVisit *v, SimtCuState *s)
{
    VISIT_BELOW(v, s->next_warp, CU_WARPS);
    VISIT_BELOW(v, s->last_slot, MXGPU_DISPATCH_SLOTS);
    VISIT(v, s->turn);
    VISIT(v, s->since_take);
    VISIT(v, s->taken_from);
    VISIT(v, s->held_next);
    VISIT(v, s->held);
    VISIT(v, s->held_ended);
    VISIT_BELOW(v, s->held_slot, MXGPU_DISPATCH_SLOTS);
    VISIT(v, s->returned.grid);
    VISIT(v, s->returned.next);
    VISIT_ATOMIC(v, uint32_t, s->returned.blocks);
    VISIT(v, s->sample_left);
    VISIT(v, s->span_wait);
    VISIT(v, s->random);
    visit_check(v, s->turn < WARP_QUANTUM && s->since_take < COUNT_MAX &&
                       s->span_wait < COUNT_MAX);
    if (!visit_check(v, s->random)) {
        s->random = 1;
    }
}

static void visit_behind(MxgpuVisit *v, MxgpuCu *cu)
{
    bool behind = visit_bool(v, mxgpu_mmu_client_behind(&cu->client));

    if (visit_loads(v)) {
        mxgpu_mmu_client_set_behind(&cu->client, behind);
    }
}

static void visit_cu(MxgpuVisit *v, MxgpuCu *cu)
{
    visit_section(v, "unit", 8);
    if (visit_loads(v)) {
        empty_private(v, cu);
    }
    visit_turns(v, &cu->s);
    visit_behind(v, cu);
    for (unsigned i = 0; i < MXGPU_CU_BLOCKS && !v->error; i++) {
        if (visit_loads(v)) {
            load_block(v, cu, &cu->s.blocks[i]);
        } else {
            save_block(v, cu, &cu->s.blocks[i]);
        }
    }
    if (visit_loads(v)) {
        load_private(v, cu);
        mxgpu_cu_drop_cache(cu);
    } else {
        visit_private_sizes(v, &cu->s);
    }
    visit_private(v, cu);
    if (visit_loads(v)) {
        mxgpu_saved_drop(cu);
    }
    visit_saved(v, cu);
    visit_counters(v, &cu->n);
}

/* ---- all of them */

/* Where the blocks of a grid are that have not ended, or not been counted. */
typedef struct Blocks {
    uint64_t resident, waiting, others;
} Blocks;

/* Blocks that a unit took, or gave up, before they began. */
static bool add_taken(MxgpuSimt *simt, SimtCuState *s, Blocks *all)
{
    uint64_t returned = atomic_load(&s->returned.blocks);
    unsigned from = simt_grid_slot(s->returned.grid) % MXGPU_DISPATCH_SLOTS;
    SimtSlot *held = &simt->slots[s->held_slot], *gave = &simt->slots[from];

    if ((s->held && (s->held_next > held->total ||
                     s->held > held->total - s->held_next)) ||
        (returned &&
         (mxgpu_slot_grid(simt, from) != s->returned.grid ||
          s->returned.next > gave->total ||
          returned > gave->total - s->returned.next))) {
        return false;
    }
    all[s->held_slot].others += (uint64_t)s->held + s->held_ended;
    all[from].others += returned;
    atomic_fetch_add(&gave->returned, returned);
    return true;
}

static void add_block(MxgpuSimt *simt, const SimtBlock *b, Blocks *all)
{
    all[b->slot].resident++;
    all[b->slot].waiting +=
        b->grid_wait &&
        b->grid_phase == atomic_load(&simt->slots[b->slot].grid_phase);
}

static void add_resident(MxgpuSimt *simt, const MxgpuCu *cu, Blocks *all)
{
    for (unsigned i = 0; i < MXGPU_CU_BLOCKS; i++) {
        if (cu->s.blocks[i].used) {
            add_block(simt, &cu->s.blocks[i], all);
        }
    }
    for (const SimtSaved *s = cu->saved; s; s = s->next) {
        add_block(simt, &s->block, all);
    }
}

/* A grid ends when all of its blocks have, and its barrier opens. */
static bool sums_ok(SimtSlot *s, const Blocks *b)
{
    uint64_t left = atomic_load(&s->left);

    if (!atomic_load(&s->active)) {
        return !b->resident && !b->others;
    }
    return left == mxgpu_slot_untaken(s) + b->resident + b->others &&
           (!s->dispatch.cooperative || atomic_load(&s->stop) ||
            (atomic_load(&s->grid_alive) == left &&
             atomic_load(&s->grid_missing) == left - b->waiting));
}

static bool all_ok(MxgpuSimt *simt)
{
    Blocks all[MXGPU_DISPATCH_SLOTS] = {0};

    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        if (!add_taken(simt, &simt->cus[i].s, all)) {
            return false;
        }
        add_resident(simt, &simt->cus[i], all);
    }
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        if (!sums_ok(&simt->slots[i], &all[i])) {
            return false;
        }
    }
    return mxgpu_slot_gang_ok(simt);
}

void mxgpu_simt_visit(MxgpuSimt *simt, MxgpuVisit *v)
{
    visit_section(v, "slots", 4);
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        mxgpu_visit_slot(v, simt, &simt->slots[i]);
    }
    VISIT_ATOMIC(v, uint64_t, simt->gang);
    VISIT_ATOMIC(v, uint32_t, simt->held_slots);
    visit_check(v, simt->held_slots < 1u << MXGPU_DISPATCH_SLOTS);
    VISIT_ATOMIC(v, uint64_t, simt->dispatches);
    for (unsigned i = 0; i < simt->config.compute_units && !v->error; i++) {
        visit_cu(v, &simt->cus[i]);
    }
    if (visit_loads(v) && !v->error) {
        visit_check(v, all_ok(simt));
    }
}

static void each_verdict(const SimtWarpState *s,
                         void (*fn)(void *opaque, uint32_t sequence),
                         void *opaque)
{
    for (unsigned i = 0; i < s->num_waiting; i++) {
        if (s->waiting[i].wait == WAIT_VERDICT) {
            fn(opaque, s->waiting[i].sequence);
        }
    }
}

void mxgpu_simt_each_parked(MxgpuSimt *simt,
                            void (*fn)(void *opaque, uint32_t sequence),
                            void *opaque)
{
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        const MxgpuCu *cu = &simt->cus[i];

        for (unsigned w = 0; w < CU_WARPS; w++) {
            if (cu->s.used_warps >> w & 1) {
                each_verdict(&cu->warps[w].s, fn, opaque);
            }
        }
        for (const SimtSaved *s = cu->saved; s; s = s->next) {
            for (unsigned w = 0; w < s->block.num_warps; w++) {
                each_verdict(&s->warps[w].s, fn, opaque);
            }
        }
    }
}

void mxgpu_simt_forget(MxgpuSimt *simt)
{
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        mxgpu_cu_forget(&simt->cus[i]);
    }
}
