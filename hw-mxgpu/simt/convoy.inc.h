/* SPDX-License-Identifier: MIT */
/*
 * Convoys: the warps of a block while all of them, with all their live lanes,
 * are at one pc. They run together, instruction by instruction: one dispatch
 * serves all, what is uniform or evenly spaced over the block (indices,
 * addresses, counters of loops) is computed once, and the block's barrier is
 * nothing. A branch forward over instructions without control flow leaves the
 * lanes that take it aside until the others arrive there; or return, then these
 * wait until the first ones return to the same place. When warps go
 * different ways otherwise, or one faults, the convoy parts and each warp runs
 * for itself; they may meet again at a barrier.
 *
 * When a convoy parts depends on the program alone and never on the forms of
 * registers, so that every build runs instructions in the same order.
 */

/* An x register has the form FORM_LINE, with FORM_UNIFORM when all its steps
 * are 0, or each warp has it (CONVOY_SPLIT), or both. */
#define CONVOY_SPLIT FORM_WIDE

typedef struct Convoy {
    _Alignas(32) SimtLine line[33];
    uint8_t form[33];
    SimtRows rows;
    bool whole; /* no lane of any warp has exited */
    unsigned n;
    MxgpuWarp *w[MXGPU_BLOCK_THREADS / LANES];
    /* Those that an instruction is for: all of live, or, between a branch and
     * its target, those that did not take it. */
    uint64_t mask[MXGPU_BLOCK_THREADS / LANES];
    uint64_t stay[MXGPU_BLOCK_THREADS / LANES]; /* those, after a branch */
    /* Where lanes that are not of mask wait, and in which call frame. */
    uint64_t aside;
    int32_t aside_depth;
    bool returned; /* they have returned there */
} Convoy;

/* ---- registers of the block and of its warps */

static void split_from(Convoy *c, unsigned r, unsigned first)
{
    SimtLine line = c->line[r];

    line.base += first * line.warp;
    for (unsigned i = first; i < c->n; i++) {
        simt_set_line(c->w[i], r,
                      (SimtLine){line.base, line.step, line.row, 0});
        SETTLE(c->w[i], r);
        line.base += line.warp;
    }
}

/* Each warp gets the register. */
static inline void convoy_split(Convoy *c, unsigned r)
{
    if (!(c->form[r] & CONVOY_SPLIT)) {
        split_from(c, r, 0);
        c->form[r] |= CONVOY_SPLIT;
    }
}

/* Each warp gets the x registers that an instruction reads. */
static inline void split_sources(Convoy *c, const SimtOp *p)
{
    if (!(p->classes & RV_CLASS_F1)) {
        convoy_split(c, p->r1);
    }
    if (!(p->classes & RV_CLASS_F2)) {
        convoy_split(c, p->r2);
    }
}

/* The same where only some lanes write x[rd]. */
static inline void split_all(Convoy *c, const SimtOp *p)
{
    split_sources(c, p);
    if (!(p->classes & RV_CLASS_FD)) {
        convoy_split(c, p->rd);
        c->form[p->rd] = CONVOY_SPLIT;
    }
}

/* Each warp has written x[rd], if that is what the instruction writes. */
static inline void split_result(Convoy *c, const SimtOp *p)
{
    if (!(p->classes & RV_CLASS_FD)) {
        c->form[p->rd] = CONVOY_SPLIT;
    }
}

static inline void convoy_set(Convoy *c, unsigned r, SimtLine line)
{
    c->line[r] = line;
    c->form[r] = line_uniform(&line) ? FORM_LINE | FORM_UNIFORM : FORM_LINE;
#if defined(SIMT_PLAIN)
    split_from(c, r, 0);
    c->form[r] = CONVOY_SPLIT;
#endif
}

static inline void convoy_set_uniform(Convoy *c, unsigned r, uint64_t value)
{
    convoy_set(c, r, (SimtLine){.base = value});
}

/* Makes one line of those of the warps, if they are evenly spaced. */
static __attribute__((noinline)) bool join_lines(Convoy *c, unsigned r)
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

/* Whether line[r] is the register. */
static inline bool convoy_line(Convoy *c, unsigned r)
{
    return c->form[r] & FORM_LINE || join_lines(c, r);
}

/* ---- integers: whether the result is a line of the whole block */

#define CONVOY_LINES(IMM)                                                      \
    (convoy_line(c, p->r1) && (IMM || convoy_line(c, p->r2)))
#define CONVOY_UNIFORM(IMM, VALUE)                                             \
    if (c->form[p->r1] & (IMM ? FORM_ALL : c->form[p->r2]) & FORM_UNIFORM) {   \
        uint64_t A = c->line[p->r1].base;                                      \
        uint64_t B = IMM ? (uint64_t)(int64_t)p->imm : c->line[p->r2].base;    \
                                                                               \
        convoy_set_uniform(c, p->rd, VALUE);                                   \
        return true;                                                           \
    }
#define CONVOY_BY_LINE(E, IMM)                                                 \
    {                                                                          \
        SimtLine out, b = IMM ? IMM_LINE(p) : c->line[p->r2];                  \
                                                                               \
        if (line_##E(c->rows, &c->line[p->r1], &b, &out)) {                    \
            convoy_set(c, p->rd, out);                                         \
            return true;                                                       \
        }                                                                      \
    }
#define CONVOY_FN(ID, IMM, BODY)                                               \
    static __attribute__((noinline)) bool c_##ID(Convoy *c, const SimtOp *p)   \
    {                                                                          \
        if (!CONVOY_LINES(IMM)) {                                              \
            return false;                                                      \
        }                                                                      \
        BODY                                                                   \
        return false;                                                          \
    }
#define CONVOY_LINEAR(ID, E, IMM)                                              \
    CONVOY_FN(ID, IMM, CONVOY_BY_LINE(E, IMM)                                  \
              CONVOY_UNIFORM(IMM, l64_##E(A, B)))
#define CONVOY_LINEAR_CLOSED(ID, E, IMM)                                       \
    CONVOY_FN(ID, IMM, CONVOY_UNIFORM(IMM, l64_##E(A, B))                      \
              CONVOY_BY_LINE(E, IMM))
#define CONVOY_OTHER(ID, E, IMM)                                               \
    CONVOY_FN(ID, IMM, CONVOY_UNIFORM(IMM, l64_##E(A, B)))
#define CONVOY_WORD_LINEAR(ID, E, IMM)                                         \
    CONVOY_FN(ID, IMM, CONVOY_UNIFORM(IMM, SEXT_L32(E, A, B))                  \
              CONVOY_BY_LINE(E, IMM))
#define CONVOY_WORD_OTHER(ID, E, IMM)                                          \
    CONVOY_FN(ID, IMM, CONVOY_UNIFORM(IMM, SEXT_L32(E, A, B)))

LINEAR_OPS(CONVOY_LINEAR)
CLOSED_OPS(CONVOY_OTHER)
LINEAR_CLOSED_OPS(CONVOY_LINEAR_CLOSED)
OTHER_OPS(CONVOY_OTHER)
WORD_LINEAR_OPS(CONVOY_WORD_LINEAR)
WORD_OTHER_OPS(CONVOY_WORD_OTHER)

/* ---- branches */

typedef enum ConvoyWay { WAY_ON, WAY_TAKEN, WAY_APART } ConvoyWay;

/* What the lanes of the i-th warp that take it say about all warps. */
static inline void same_way(Convoy *c, unsigned i, uint64_t taken,
                            ConvoyWay *way)
{
    uint64_t live = c->w[i]->s.live, stay = live & ~taken;
    ConvoyWay here = !stay ? WAY_TAKEN : stay == live ? WAY_ON : WAY_APART;

    c->stay[i] = stay;
    *way = i == 0 || *way == here ? here : WAY_APART;
}

#define CONVOY_BRANCH_FN(ID, cond)                                             \
    static ConvoyWay way_##ID(Convoy *c, const SimtOp *p)                      \
    {                                                                          \
        ConvoyWay way = WAY_APART;                                             \
                                                                               \
        if (CONVOY_LINES(0) &&                                                 \
            (c->form[p->r1] & c->form[p->r2] & FORM_UNIFORM ||                 \
             lines_apart(c->rows, &c->line[p->r1], &c->line[p->r2]))) {        \
            return c64_##ID(c->line[p->r1].base, c->line[p->r2].base)          \
                       ? WAY_TAKEN : WAY_ON;                                   \
        }                                                                      \
        split_sources(c, p);                                                   \
        for (unsigned i = 0; i < c->n; i++) {                                  \
            same_way(c, i, t_##ID(c->w[i], p), &way);                          \
        }                                                                      \
        return way;                                                            \
    }
RV_SEM_LIST_BRANCH(CONVOY_BRANCH_FN, uint64_t, int64_t)

/* ---- CSRs */

/* threadIdx.x of a block in one dimension. */
static bool convoy_thread(const MxgpuCu *cu, Convoy *c, const SimtOp *p)
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

/* Host addresses of what each warp accesses, where it is contiguous or uniform
 * in the warp and no translation has to be loaded. */
static bool convoy_spans(const MxgpuCu *cu, Convoy *c, const SimtOp *p,
                         SimtKind kind, unsigned size, uintptr_t *at,
                         bool *uniform)
{
    const SimtLine *l = &c->line[p->r1];
    uint64_t va = l->base + (int64_t)p->imm;

    *uniform = !(l->step | l->row);
    if (!c->whole || (!*uniform && (l->step != size ||
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

/* lw and flw; false: nothing is done. */
static bool convoy_load(MxgpuCu *cu, Convoy *c, const SimtOp *p)
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

/* A load from one address for all: where it is, or 0. */
static inline uintptr_t convoy_one(const MxgpuCu *cu, Convoy *c,
                                   const SimtOp *p, unsigned size)
{
    return convoy_line(c, p->r1) && c->form[p->r1] & FORM_UNIFORM
               ? simt_span(cu, c->w[0], KIND_READ,
                           c->line[p->r1].base + (int64_t)p->imm, size)
               : 0;
}

/* sw and fsw of contiguous words; false: nothing is done. */
static bool convoy_store(MxgpuCu *cu, Convoy *c, const SimtOp *p)
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

/* ---- meeting and parting */

/* Gathers the warps; false: they are not together, or want the slow paths that
 * only warps have. */
static bool convoy_meet(const MxgpuCu *cu, const SimtBlock *block, Convoy *c)
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

static void convoy_registers(Convoy *c, SimtBlock *block, uint64_t args)
{
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

/* Each warp gets all that is its own. */
static void convoy_leave(Convoy *c, uint64_t pc, int32_t depth)
{
    for (unsigned r = 1; r < 33; r++) {
        convoy_split(c, r);
    }
    for (unsigned i = 0; i < c->n; i++) {
        MxgpuWarp *w = c->w[i];
        SimtGroup rest = {c->aside, w->s.live & ~c->mask[i], w->s.stamps,
                          c->aside_depth};

        w->s.cur.pc = c->mask[i] ? pc : c->aside;
        w->s.cur.depth = c->mask[i] ? depth : c->aside_depth;
        if (c->mask[i] && rest.mask) {
            w->s.cur.mask = c->mask[i];
            mxgpu_warp_park(w, &rest);
        }
    }
}

/* The first warps have executed the instruction, the next one could not. */
static unsigned convoy_ahead(MxgpuCu *cu, Convoy *c, const SimtOp *p,
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

/* Before that, if the instruction writes all lanes of x[rd]. */
static void convoy_failed(Convoy *c, const SimtOp *p, unsigned ahead)
{
    if (!(p->classes & RV_CLASS_FD) && !(c->form[p->rd] & CONVOY_SPLIT)) {
        split_from(c, p->rd, ahead);
        c->form[p->rd] |= CONVOY_SPLIT;
    }
}

/* Groups of one warp that are at one pc join, and the first one goes on. */
static void convoy_pick(Convoy *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        if (c->w[i]->s.num_ready) {
            mxgpu_warp_pick(c->w[i], false);
        }
    }
}

/* What lanes of mask have run together; returns that of all warps. */
static uint64_t convoy_account(MxgpuCu *cu, Convoy *c, uint64_t ran)
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
    if (mask && mask != ALL_LANES && mask != c->w[i]->c.spread) {
        spread(c->w[i], mask);
    }
}

/* Those that have taken a branch wait at its target. */
static void convoy_narrow(MxgpuCu *cu, Convoy *c, uint64_t target,
                          int32_t depth)
{
    for (unsigned i = 0; i < c->n; i++) {
        convoy_mask(c, i, c->stay[i]);
        cu->n.divergent_now += c->stay[i] && c->stay[i] != c->w[i]->s.live;
    }
    c->aside = target;
    c->aside_depth = depth;
}

/* The others have returned before they got there: the turn of those. */
static void convoy_swap(Convoy *c, uint64_t to, int32_t depth)
{
    for (unsigned i = 0; i < c->n; i++) {
        convoy_mask(c, i, c->w[i]->s.live & ~c->mask[i]);
    }
    c->aside = to;
    c->aside_depth = depth;
    c->returned = true;
}

/* All are together. */
static void convoy_widen(Convoy *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        convoy_mask(c, i, c->w[i]->s.live);
    }
    c->returned = false;
}

/* Whether all lanes jump to one place, *to. */
static bool jump_together(Convoy *c, const SimtOp *p, uint64_t *to)
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
