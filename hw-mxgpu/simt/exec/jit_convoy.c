/* SPDX-License-Identifier: MIT */
/* Convoys in compiled code: each warp runs code for whole warps, one after the
 * other. */
#include "jit_convoy.h"

#if defined(SIMT_AVX512)

#include "convoy.h"
#include "lines.h"
#include "simt/jit/types.h"

#define CONVOY_ENTRIES 32
#define CONVOY_WORTH   6 /* instructions of an entry, in the mean */
#define BAILED_MAX     16 /* then code is asked for that expects nothing there */
#define ASKS_MAX       8

/* What a register holds in all of the warps. */
static void observe_line(const Convoy *c, JitCode *as, unsigned r)
{
    int64_t step = (int64_t)c->w[0]->line[r].step;
    bool line = true, word = true, uniform = true;

    for (unsigned i = 0; i < c->n; i++) {
        const MxgpuWarp *w = c->w[i];

        uniform &= (w->form[r] & FORM_UNIFORM) != 0;
        line &= w->form[r] & FORM_LINE && (int64_t)w->line[r].step == step;
        word &= w->form[r] & FORM_LINE
                    ? line_within(rows_of(w), &w->line[r], INT32_MIN, INT32_MAX)
                    : (w->form[r] & FORM_WORD) != 0;
    }
    as->entry[r] = uniform ? (word ? JIT_UNIFORM_WORD : JIT_UNIFORM)
                   : line  ? (word ? JIT_LINE_WORD : JIT_LINE)
                   : word  ? JIT_WORD
                           : JIT_WIDE;
    as->step[r] = mxgpu_jit_line(as->entry[r]) ? step : 0;
}

/* As the last code took it, too. */
static void join_last(const JitCode *last, JitCode *as, unsigned r)
{
    JitType type = mxgpu_jit_join(as->entry[r], last->entry[r]);

    if (!last->entry[r]) { /* it did not look */
        return;
    }
    if (mxgpu_jit_line(type) &&
        (as->step[r] != last->step[r] || !mxgpu_jit_line(as->entry[r]) ||
         !mxgpu_jit_line(last->entry[r]))) {
        type = type == JIT_LINE_WORD ? JIT_WORD : JIT_WIDE;
        as->step[r] = 0;
    }
    as->entry[r] = type;
}

static void ask_whole(MxgpuCu *cu, Convoy *c, SimtPage *page, SimtHead *head,
                      unsigned index)
{
    const JitRegion *last = head->region;
    JitCode as = {.whole = true, .row_shift = c->w[0]->c.row_shift};
    bool hot = jit_is_hot(cu, head);

    head->count = last ? 0 : head->count;
    head->ready = head->stale = false;
    if (!hot && !mxgpu_jit_looks(cu->simt->jit)) {
        return;
    }
    for (unsigned r = 1; r < 32; r++) {
        convoy_split(c, r);
        observe_line(c, &as, r);
        if (last && last->code.row_shift == as.row_shift) {
            join_last(&last->code, &as, r);
        }
    }
    as.entry[0] = JIT_UNIFORM_WORD;
    for (unsigned i = 0; last && i < JIT_OPS; i++) {
        as.varies[i] = last->code.varies[i] ||
                       atomic_load_explicit(&last->bailed[i],
                                            memory_order_relaxed) >= BAILED_MAX;
    }
    head->refused = ++head->bails > ASKS_MAX;
    if (!head->refused) {
        head->region =
            mxgpu_jit_find(cu, c->w[0], page, index, head->end, &as, hot);
        head->refused = !head->region;
    }
}

/* x registers whose form has the bit. */
static uint32_t having(const Convoy *c, int bit)
{
    return _mm256_test_epi8_mask(_mm256_loadu_si256((const void *)c->form),
                                 _mm256_set1_epi8((char)bit));
}

static uint32_t needed_by(const JitRegion *r)
{
    return r->code.blocks[r->code.head_block].live & r->used;
}

/* The warps were ready for the code and have run it: what it has not written they
 * still hold as it takes it. */
static void note_known(Convoy *c, const JitRegion *r)
{
    const __m256i known = _mm256_set1_epi8((char)CONVOY_KNOWN);
    __m256i all = _mm256_loadu_si256((const void *)c->form);

    all = c->known == r ? all : _mm256_andnot_si256(known, all);
    all = _mm256_or_si256(all, _mm256_maskz_mov_epi8(needed_by(r), known));
    all = _mm256_mask_mov_epi8(all, r->touched, _mm256_set1_epi8(CONVOY_SPLIT));
    _mm256_storeu_si256((void *)c->form, all);
    c->known = r;
}

/* Whether all warps hold what the code takes. */
static bool warps_ready(const JitRegion *r, Convoy *c)
{
    const JitBlock *b = &r->code.blocks[r->code.head_block];
    uint32_t needed = needed_by(r);
    uint32_t known = c->known == r ? having(c, CONVOY_KNOWN) : 0;
    JitNeeds needs = jit_needs(r, needed & ~known);

    /* What else the code writes holds nothing now. */
    for (uint32_t m = needed & ~having(c, CONVOY_SPLIT); m; m &= m - 1) {
        convoy_split(c, __builtin_ctz(m));
    }
    for (unsigned i = 0; i < c->n; i++) {
        if (!jit_ready_x(r, c->w[i], &needs) ||
            !jit_ready_f(c->w[i], b->flive, ALL_LANES)) {
            return false;
        }
    }
    return true;
}

static JitGo run_whole(MxgpuCu *cu, MxgpuWarp *w, const JitRegion *r,
                       const JitAt *at, JitFrame *f, uint64_t *op)
{
    JitLeave how;

    w->s.cur.pc = at->pc;
    w->s.cur.depth = at->depth;
    w->c.dead |= 1ull << SINK;
    jit_fill_warp(cu, w, f, w->s.instructions + at->each);
    f->slice = UINT64_MAX;
    how = r->made[JIT_FOR_ALL].fn(cu, w, f);
    jit_account(cu, w, f);
    *op = how == JIT_BAILED ? f->fault_op : UINT64_MAX;
    if (how == JIT_TOGETHER) {
        w->s.cur.pc = r->page + f->fault_at;
        w->s.cur.mask = ALL_LANES;
        w->s.slice_end = 0;
        return JIT_ON;
    }
    memset(f->came, 0, r->code.num_blocks * sizeof(f->came[0]));
    return jit_left(w, r, f, how);
}

/* Code has left in front of an instruction that does something else than was
 * expected: other code is to be asked for when that is usual. */
static void note_bail(JitRegion *r, SimtHead *head, uint64_t op)
{
    if (op == UINT64_MAX) {
        return;
    }
    if (r->code.kind[op] == JIT_CSR) {
        head->refused = true;
        head->ready = false;
    } else if (atomic_fetch_add_explicit(&r->bailed[op], 1,
                                         memory_order_relaxed) +
                   1 >= BAILED_MAX) {
        head->stale = true;
    }
}

/* Whether all of the warps' lanes are at one place. */
static bool are_together(const Convoy *c)
{
    const SimtGroup *first = &c->w[0]->s.cur;

    for (unsigned i = 0; i < c->n; i++) {
        const MxgpuWarp *w = c->w[i];

        if (w->s.cur.mask != ALL_LANES || w->s.cur.pc != first->pc) {
            return false;
        }
    }
    return true;
}

/* The code for what the warps are, which all of them can enter; NULL: there is
 * none yet. */
static JitRegion *whole_code(MxgpuCu *cu, Convoy *c, SimtPage *page,
                             SimtHead *head, const JitAt *at)
{
    unsigned index = (at->pc & (PAGE_BYTES - 1)) / 2;
    JitRegion *r;

    if (!c->whole || cu->simt->debugged) {
        return NULL;
    }
    jit_count_round(cu, head);
    if (!head->region || head->stale) {
        ask_whole(cu, c, page, head, index);
    }
    if (!jit_may_begin(cu, head)) {
        return NULL;
    }
    r = head->region;
    if (!jit_fits(cu, c->w[0], r, at->each)) {
        return NULL;
    }
    if (r->code.row_shift != c->w[0]->c.row_shift || !warps_ready(r, c)) {
        ask_whole(cu, c, page, head, index);
        return NULL;
    }
    return r;
}

/* Each warp goes on by itself; those from "first" on have done nothing yet. */
static void part_ways(Convoy *c, const JitAt *at, unsigned first)
{
    for (unsigned i = 1; i < 33; i++) {
        convoy_split(c, i);
    }
    for (unsigned i = first; i < c->n; i++) {
        c->w[i]->s.cur.pc = at->pc;
        c->w[i]->s.cur.depth = at->depth;
    }
}

JitGo jit_convoy(MxgpuCu *cu, Convoy *c, SimtPage *page, SimtHead *head,
                 const JitAt *at, uint64_t *done)
{
    JitRegion *r = whole_code(cu, c, page, head, at);
    uint64_t most = 0, op;
    JitGo go = JIT_ON;
    JitFrame f;
    unsigned k;

    *done = 0;
    if (!r) {
        return JIT_STAY;
    }
    jit_fill_block(cu, c->w[0], r, &f);
    f.few = JIT_FEW;
    for (k = 0; k < c->n && go == JIT_ON; k++) {
        uint64_t ran = c->w[k]->s.instructions;

        go = run_whole(cu, c->w[k], r, at, &f, &op);
        if (go == JIT_ON) {
            note_bail(r, head, op);
        }
        ran = c->w[k]->s.instructions - ran;
        most = ran > most ? ran : most;
        *done += ran;
    }
    note_known(c, r);
    jit_weigh(head, most, CONVOY_ENTRIES, CONVOY_WORTH);
    if (go == JIT_ON && are_together(c)) {
        return JIT_ON;
    }
    part_ways(c, at, k);
    return JIT_FAULT;
}

#endif
