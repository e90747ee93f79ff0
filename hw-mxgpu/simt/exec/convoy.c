/* SPDX-License-Identifier: MIT */
/* What makes, changes and ends a convoy; its loads and stores. */
#include "convoy.h"

#include "freg.h"
#include "gather.h"
#include "loop.h"
#include "simt/sched/slots.h"

void split_from(Convoy *c, unsigned r,
                                                 unsigned first)
{
    SimtLine line = c->line[r];

    line.base += first * line.warp;
    for (unsigned i = first; i < c->n; i++) {
        simt_set_line(c->w[i], r,
                      (SimtLine){line.base, line.step, line.row, 0});
        MATERIALIZE(c->w[i], r);
        line.base += line.warp;
    }
}

bool join_lines(Convoy *c, unsigned r)
{
    SimtLine line = c->w[0]->line[r];

#if defined(SIMT_PLAIN)
    return false;
#endif
    if (!(c->w[0]->form[r] & FORM_LINE)) {
        return false;
    }
    line.warp = c->w[c->n > 1]->line[r].base - line.base;
    for (unsigned i = 1; i < c->n; i++) {
        const SimtLine *l = &c->w[i]->line[r];

        if (!(c->w[i]->form[r] & FORM_LINE) || l->step != line.step ||
            l->row != line.row || l->base != line.base + i * line.warp) {
            return false;
        }
    }
    c->line[r] = line;
    c->form[r] |= line_uniform(&line) ? FORM_LINE | FORM_UNIFORM : FORM_LINE;
    return true;
}

/* ---- CSRs */

bool convoy_thread(const MxgpuCu *cu, Convoy *c, const SimtOp *p)
{
    const MxgpuWarp *first = c->w[0];
    const MxgpuDispatch *d = &simt_slot(cu, first)->dispatch;

    if (p->imm != MXGPU_CSR_TID_X || d->block[1] * d->block[2] != 1 ||
        c->w[c->n - 1]->c.index != first->c.index + (int)c->n - 1) {
        return false;
    }
    convoy_set(c, p->rd,
               (SimtLine){first->c.index * LANES, 1, LANES, LANES});
    return true;
}

/* ---- memory */

/* Host addresses of what each warp accesses; false: a warp's addresses are
 * neither contiguous nor uniform, or a translation would have to be loaded. */
static bool convoy_spans(const MxgpuCu *cu, Convoy *c, const SimtOp *p,
                         SimtKind kind, unsigned size, uintptr_t *at,
                         bool *uniform)
{
    const SimtLine *l = &c->line[p->r1];
    uint64_t va = l->base + (int64_t)p->imm;

    *uniform = !(l->step | l->row);
    if (!c->whole ||
        (!*uniform && (l->step != size ||
                       l->row != (uint64_t)size << c->rows.shift))) {
        return false;
    }
    size *= *uniform ? 1 : LANES;
    if (l->warp == size && !*uniform) {
        uintptr_t first = simt_span(cu, c->w[0], kind, va, c->n * size);

        for (unsigned i = 0; i < c->n; i++) {
            at[i] = first + i * size;
        }
        if (first) {
            return true;
        }
    }
    for (unsigned i = 0; i < c->n; i++) {
        at[i] = simt_span(cu, c->w[i], kind, va, size);
        if (!at[i]) {
            return false;
        }
        va += l->warp;
    }
    return true;
}

#define PREFETCH 3 /* blocks, or steps of a loop, ahead */

bool convoy_load(MxgpuCu *cu, Convoy *c, const SimtOp *p)
{
    uintptr_t at[MXGPU_BLOCK_THREADS / LANES];
    bool uniform;
    uint32_t v;

    if (!convoy_line(c, p->r1) ||
        !convoy_spans(cu, c, p, KIND_READ, 4, at, &uniform)) {
        return false;
    }
    for (unsigned i = 0; i < c->n; i++) {
        MxgpuWarp *w = c->w[i];

        if (!uniform) { /* the block is likely to go on behind its last one */
            prefetch(at[i] + PREFETCH * c->n * sizeof(w->word[0]),
                     sizeof(w->word[0]));
        }
        if (p->op == RV_FLW) {
            w->narrow[p->rd] = ALL_LANES;
            if (uniform) {
                __builtin_memcpy(&v, (const void *)at[i], sizeof(v));
                fill_words(w->f[p->rd], v);
            } else {
                copy_uint32_t(w->f[p->rd], (const void *)at[i]);
            }
        } else if (uniform) {
            __builtin_memcpy(&v, (const void *)at[i], sizeof(v));
            set_uniform(w, p->rd, SEXT32(v));
        } else {
            copy_uint32_t(w->word[p->rd], (const void *)at[i]);
            wrote_word(w, p->rd);
        }
    }
    split_result(c, p);
    return true;
}

bool convoy_store(MxgpuCu *cu, Convoy *c, const SimtOp *p)
{
    uintptr_t at[MXGPU_BLOCK_THREADS / LANES];
    bool uniform;

    if (!convoy_line(c, p->r1) ||
        !convoy_spans(cu, c, p, KIND_WRITE, 4, at, &uniform) || uniform) {
        return false;
    }
    split_sources(c, p);
    for (unsigned i = 0; i < c->n; i++) {
        MxgpuWarp *w = c->w[i];
        _Alignas(64) uint32_t tmp[LANES];

        copy_uint32_t((void *)at[i],
                      p->op == RV_FSW ? get_low(w, p->r2, ALL_LANES, tmp)
                                      : low_word(w, p->r2, tmp));
    }
    return true;
}

/* ---- beginning and ending */

bool convoy_gather(const MxgpuCu *cu, const SimtBlock *block, Convoy *c)
{
    const MxgpuWarp *first = NULL;

    c->n = 0;
    c->whole = true;
    for (unsigned i = 0; i < block->num_warps; i++) {
        MxgpuWarp *w = &cu->warps[block->warps[i]];

        if (!w->s.live) {
            continue;
        }
        first = first ? first : w;
        if (w->s.cur.mask != w->s.live || w->s.num_ready || w->s.num_waiting ||
            w->c.fp_level || w->s.cur.pc != first->s.cur.pc ||
            w->s.cur.depth != first->s.cur.depth) {
            return false;
        }
        c->whole &= w->s.live == ALL_LANES;
        w->s.slice_end = 0; /* not diverged */
        c->mask[c->n] = w->s.live;
        c->w[c->n++] = w;
    }
    if (c->n < 2 || first->s.cur.pc & 1) {
        return false;
    }
    c->rows = (SimtRows){first->c.row_shift, c->n - 1};
    return true;
}

void convoy_registers(Convoy *c, SimtBlock *block, uint64_t args)
{
    c->known = NULL;
    if (!block->fresh) {
        memset(c->form, CONVOY_SPLIT, sizeof(c->form));
    } else {
        for (unsigned r = 1; r < 33; r++) {
            c->line[r] = (SimtLine){0};
        }
        memset(c->form, FORM_LINE | FORM_UNIFORM, sizeof(c->form));
        convoy_set_uniform(c, 2, MXGPU_PRIVATE_END);
        convoy_set_uniform(c, 10, args);
        block->fresh = false;
    }
    c->line[0] = (SimtLine){0};
    c->form[0] = FORM_LINE | FORM_UNIFORM | CONVOY_SPLIT;
#if defined(SIMT_PLAIN)
    for (unsigned r = 1; r < 33; r++) {
        convoy_split(c, r);
        c->form[r] = CONVOY_SPLIT;
    }
#endif
}

void convoy_disband(Convoy *c, uint64_t pc, int32_t depth)
{
    for (unsigned r = 1; r < 33; r++) {
        convoy_split(c, r);
    }
    for (unsigned i = 0; i < c->n; i++) {
        MxgpuWarp *w = c->w[i];
        SimtGroup rest = {c->reconv_pc, w->s.live & ~c->mask[i], w->s.stamps,
                          c->reconv_depth};

        w->s.cur.pc = c->mask[i] ? pc : c->reconv_pc;
        w->s.cur.depth = c->mask[i] ? depth : c->reconv_depth;
        if (c->mask[i] && rest.mask) {
            w->s.cur.mask = c->mask[i];
            mxgpu_warp_park(w, &rest);
        }
    }
}

unsigned convoy_ahead(MxgpuCu *cu, Convoy *c, const SimtOp *p,
                             unsigned ahead)
{
    unsigned ran = 0;

    for (unsigned i = 0; i < ahead; i++) {
        MxgpuWarp *w = c->w[i];

        if (c->mask[i]) {
            w->s.cur.pc += 2 * p->len;
            w->s.instructions++;
            cu->n.lanes_now += __builtin_popcountll(c->mask[i]);
            ran++;
        }
    }
    return ran;
}

void convoy_failed(Convoy *c, const SimtOp *p, unsigned ahead)
{
    if (!(p->classes & RV_CLASS_FD) && !(c->form[p->rd] & CONVOY_SPLIT)) {
        split_from(c, p->rd, ahead);
        c->form[p->rd] |= CONVOY_SPLIT;
    }
}

void convoy_pick(Convoy *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        if (c->w[i]->s.num_ready) {
            mxgpu_warp_pick(c->w[i], false);
        }
    }
}

uint64_t convoy_account(MxgpuCu *cu, Convoy *c, uint64_t ran)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < c->n; i++) {
        if (c->mask[i]) {
            c->w[i]->s.instructions += ran;
            cu->n.lanes_now += ran * __builtin_popcountll(c->mask[i]);
            total += ran;
        }
    }
    return total;
}

static inline void convoy_mask(Convoy *c, unsigned i, uint64_t mask)
{
    c->mask[i] = mask;
    c->all_run &= mask != 0;
    c->w[i]->c.dead = c->dead;
    if (mask && mask != ALL_LANES && mask != c->w[i]->c.expanded) {
        expand_mask(c->w[i], mask);
    }
}

void convoy_diverge(MxgpuCu *cu, Convoy *c, SimtPage *page,
                           uint64_t target, int32_t depth)
{
    c->dead = simt_dead(simt_live(cu, page, target));
    c->all_run = true;
    for (unsigned i = 0; i < c->n; i++) {
        convoy_mask(c, i, c->not_taken[i]);
        cu->n.divergent_now +=
            c->not_taken[i] && c->not_taken[i] != c->w[i]->s.live;
    }
    c->reconv_pc = target;
    c->reconv_depth = depth;
}

void convoy_leave(MxgpuCu *cu, Convoy *c)
{
    c->all_run = true;
    for (unsigned i = 0; i < c->n; i++) {
        cu->n.divergent_now +=
            c->not_taken[i] && c->not_taken[i] != c->mask[i];
        convoy_mask(c, i, c->not_taken[i]);
    }
}

void convoy_pass(MxgpuCu *cu, Convoy *c, SimtPage *page, uint64_t to)
{
    c->dead = simt_dead(simt_live(cu, page, to));
    c->all_run = true;
    for (unsigned i = 0; i < c->n; i++) {
        convoy_mask(c, i, c->w[i]->s.live & ~c->mask[i]);
    }
    c->reconv_pc = to;
}

void convoy_swap(MxgpuCu *cu, Convoy *c, SimtPage *page, uint64_t to,
                        int32_t depth)
{
    c->dead = simt_dead(simt_live(cu, page, to));
    c->all_run = true;
    for (unsigned i = 0; i < c->n; i++) {
        convoy_mask(c, i, c->w[i]->s.live & ~c->mask[i]);
    }
    c->reconv_pc = to;
    c->reconv_depth = depth;
    c->returned = true;
}

void convoy_reconverge(Convoy *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        convoy_mask(c, i, c->w[i]->s.live);
        c->w[i]->s.slice_end = 0;
    }
    c->returned = c->spun = false;
}

bool jump_together(Convoy *c, const SimtOp *p, uint64_t *to)
{
    uint64_t targets[LANES];
    bool any = false;

    if (convoy_line(c, p->r1) && c->form[p->r1] & FORM_UNIFORM) {
        *to = (c->line[p->r1].base + (int64_t)p->imm) & ~1ull;
        return true;
    }
    convoy_split(c, p->r1);
    for (unsigned i = 0; i < c->n; i++) {
        uint64_t mask = c->mask[i], first;

        if (!mask) {
            continue;
        }
        if (!jalr_targets(c->w[i], p, mask, targets)) {
            return false;
        }
        first = targets[__builtin_ctzll(mask)];
        if (any && first != *to) {
            return false;
        }
        *to = first;
        any = true;
    }
    return any;
}
