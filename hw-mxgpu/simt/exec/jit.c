/* SPDX-License-Identifier: MIT */
/*
 * Warps enter compiled code and leave it, each for itself or one after the other
 * of a convoy; what is called from there.
 */
#include "jit.h"

#if defined(SIMT_AVX512)

#include "address.h"
#include "convoy.h"
#include "freg.h"
#include "jit_atomic.h"
#include "lines.h"
#include "loop.h"
#include "simt/jit/types.h"
#include "simt/slow/csr.h"

/* ---- calls */

typedef void IntFn(MxgpuWarp *w, const SimtOp *p);
typedef bool MemoryFn(MEM_ARGS);

static IntFn *const ints[OP_KINDS] = {
#define INT(ID, E, IMM) [RV_##ID] = f_##ID,
    OTHER_OPS(INT) WORD_OTHER_OPS(INT)
};
static MemoryFn *const memory[OP_KINDS] = {
#define LOAD(ID, SIZE, SIGNED) [RV_##ID] = x_##ID,
#define STORE(ID, T)           [RV_##ID] = x_##ID,
#define OTHER(ID)              [RV_##ID] = x_##ID,
    LOAD_OPS(LOAD) STORE_OPS(STORE) OTHER_MEMORY_OPS(OTHER)
};

static uint64_t global_key(const MxgpuCu *cu, const MxgpuWarp *w)
{
    return w->c.vmid_tag | (cu->tlb_drops & ((1ull << 49) - 1)) << 1 | 1;
}

/* Names the place and size, which another block's memory may not share. */
static uint64_t shared_key(const MxgpuCu *cu, const MxgpuWarp *w)
{
    return 1ull << 51 | (uint64_t)(w->c.shared - cu->shared) << 20 |
           w->c.shared_size << 1;
}

static uint64_t private_key(const MxgpuWarp *w)
{
    return 1ull << 50 | w->c.private_size << 1;
}

/* Grows the range of a granule by those beside it that are side by side on the
 * host, too, as far as translations are known. */
static void grow(const MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind,
                 JitSite *site, unsigned size)
{
    uint64_t first = site->lo >> MXGPU_LARGE_SHIFT, last = first;
    const SimtTlb *t;

    for (;;) {
        t = &cu->c.large[kind][(first - 1) % TLB_LARGE];
        if (!first || t->tag != ((first - 1) | w->c.vmid_tag) ||
            t->add != site->add) {
            break;
        }
        first--;
    }
    for (;;) {
        t = &cu->c.large[kind][(last + 1) % TLB_LARGE];
        if (t->tag != ((last + 1) | w->c.vmid_tag) || t->add != site->add) {
            break;
        }
        last++;
    }
    site->lo = first << MXGPU_LARGE_SHIFT;
    site->span = ((last + 1 - first) << MXGPU_LARGE_SHIFT) - size + 1;
}

/* Notes where the first lane has been. */
static void set_site(const MxgpuCu *cu, const MxgpuWarp *w, JitSite *site,
                     SimtKind kind, uint64_t va, unsigned size)
{
    uint64_t page = va >> MXGPU_LARGE_SHIFT;
    const SimtTlb *t = &cu->c.large[kind][page % TLB_LARGE];

    if (in_private(w, va, size)) {
        *site = (JitSite){.key = private_key(w),
                           .lo = MXGPU_PRIVATE_END - w->c.private_size,
                           .span = w->c.private_size - size + 1,
                           .is_private = 1};
    } else if (in_shared(w, va, size)) {
        *site = (JitSite){.key = shared_key(cu, w),
                           .lo = MXGPU_SHARED_BASE,
                           .span = w->c.shared_size - size + 1,
                           .add = (uintptr_t)w->c.shared - MXGPU_SHARED_BASE};
    } else if (t->tag == (page | w->c.vmid_tag)) {
        *site = (JitSite){.key = global_key(cu, w),
                           .lo = va & ~(LARGE_BYTES - 1),
                           .add = t->add};
        grow(cu, w, kind, site, size);
    } else {
        page = va >> MXGPU_PAGE_SHIFT;
        t = &cu->c.small[kind][page % TLB_SMALL];
        if (t->tag == (page | w->c.vmid_tag)) {
            *site = (JitSite){.key = global_key(cu, w),
                               .lo = va & ~(uint64_t)(PAGE_BYTES - 1),
                               .span = PAGE_BYTES - size + 1,
                               .add = t->add};
        }
    }
}

static uint64_t lane_of(const MxgpuWarp *w, unsigned r, unsigned lane)
{
    const SimtLine *l = &w->line[r];
    unsigned shift = w->c.row_shift;

    return w->form[r] & FORM_LINE ? l->base +
                                        (lane & ((1u << shift) - 1)) * l->step +
                                        (lane >> shift) * l->row
                                  : w->x[r][lane];
}

static bool access_memory(MxgpuCu *cu, MxgpuWarp *w, JitFrame *f,
                          unsigned index, uint64_t mask)
{
    const JitRegion *r = f->region;
    const SimtOp *p = &r->calls[index];
    bool store = r->code.kind[index] == JIT_STORE;
    uint64_t va = lane_of(w, JIT_R1, __builtin_ctzll(mask));

    if (store && p->r2 == FP_SCRATCH) {
        w->narrow[FP_SCRATCH] = p->op == RV_FSW ? ALL_LANES : 0;
    }
    if (!memory[p->op](cu, w, p, r->page + r->code.at[index], mask)) {
        return false;
    }
    set_site(cu, w, &f->sites[r->code.site[index]],
             store ? KIND_WRITE : KIND_READ, va,
             1u << mxgpu_simt_access_shift(p->op));
    return true;
}

/* The result where the code looks for it. */
static void settle(MxgpuWarp *w, const SimtOp *p)
{
    if (p->rd != SINK) {
        return;
    }
    if (mxgpu_jit_result(p, JIT_WIDE, JIT_WIDE) == JIT_WORD) {
        const uint32_t *v = low_word(w, SINK, w->word[SINK]);

        if (v != w->word[SINK]) {
            memcpy(w->word[SINK], v, sizeof(w->word[SINK]));
        }
    } else {
        (void)wide(w, SINK);
    }
}

/* As the interpreter does it. */
static bool any_atomic(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                       JitSite *site, uint64_t mask)
{
    widen_all(w, p);
    if (!mxgpu_simt_atomic(cu, w, p, pc, mask)) {
        return false;
    }
    simt_wrote_wide(w, SINK);
    set_site(cu, w, site, KIND_ATOMIC, w->x[JIT_R1][__builtin_ctzll(mask)],
             mxgpu_simt_atomic_size(p->op));
    return true;
}

static uint32_t jit_call(MxgpuCu *cu, MxgpuWarp *w, JitFrame *f,
                          uint32_t index, uint64_t mask)
{
    const JitRegion *r = f->region;
    const SimtOp *p = &r->calls[index];
    JitSite *site = &f->sites[r->code.site[index]];
    uint64_t pc = r->page + r->code.at[index];

    if (r->code.kind[index] == JIT_ATOMIC &&
        jit_atomic(cu, w, f, site, p, mask)) {
        return true;
    }
    w->s.cur.pc = pc;
    w->s.cur.mask = mask;
    if (mask != ALL_LANES && mask != w->c.expanded) {
        expand_mask(w, mask);
    }
    switch ((JitKind)r->code.kind[index]) {
    case JIT_CSR:
        return mxgpu_simt_csr(cu, w, p, pc, mask) && w->form[SINK] & FORM_LINE;
    case JIT_LOAD:
    case JIT_STORE:
        if (!access_memory(cu, w, f, index, mask)) {
            return false;
        }
        break;
    case JIT_ATOMIC:
        if (!any_atomic(cu, w, p, pc, site, mask)) {
            return false;
        }
        break;
    default:
        ints[p->op](w, p);
    }
    settle(w, p);
    return true;
}

static void jit_put(MxgpuWarp *w, uint32_t r, uint64_t mask)
{
    uint64_t *d = wide_partly(w, r);

    for (; mask; mask &= mask - 1) {
        unsigned i = __builtin_ctzll(mask);

        d[i] = w->x[JIT_R1][i];
    }
}

/* ---- entering */

#define BAILS_MAX 64 /* then other code is asked for */
#define RETRIES   4

#define ENTRIES_WEIGHED 256
#define WORTH           32 /* instructions of an entry, in the mean */

/* What the x registers hold now. */
static void observe(const MxgpuWarp *w, uint8_t entry[32])
{
    for (unsigned r = 0; r < 32; r++) {
        uint8_t form = w->form[r];
        const SimtLine *l = &w->line[r];

        if (form & FORM_UNIFORM) {
            entry[r] = l->base == SEXT32(l->base) ? JIT_UNIFORM_WORD
                                                  : JIT_UNIFORM;
        } else if (form & FORM_WORD ||
                   (form & FORM_LINE &&
                    line_within(rows_of(w), l, INT32_MIN, INT32_MAX))) {
            entry[r] = JIT_WORD;
        } else {
            entry[r] = JIT_WIDE;
        }
    }
}

/* Of what came in as a line when the code was asked for it knows the step; what
 * did as one value is one. */
static bool same_step(const JitCode *c, const MxgpuWarp *w, unsigned r)
{
    return mxgpu_jit_line(c->entry[r]) ? (int64_t)w->line[r].step == c->step[r]
                                       : w->form[r] & FORM_UNIFORM;
}

/* x registers that have the form. */
static uint32_t having(const MxgpuWarp *w, int form)
{
    return _mm256_test_epi8_mask(_mm256_loadu_si256((const void *)w->form),
                                 _mm256_set1_epi8((char)form));
}

static bool are_words(const MxgpuWarp *w, uint32_t uniform)
{
    bool are = true;

    for (; uniform; uniform &= uniform - 1) {
        uint64_t v = w->line[__builtin_ctz(uniform)].base;

        are &= v == SEXT32(v);
    }
    return are;
}

/* Whether all numbers of a line are so small that no sum of them leaves the range
 * of words; most lines are so. */
static bool is_near(const SimtLine *l)
{
    const __m256i half = _mm256_set1_epi64x(1 << 22);
    __m256i v = _mm256_loadu_si256((const void *)l);

    v = _mm256_add_epi64(v, half);
    return _mm256_cmplt_epu64_mask(v, _mm256_add_epi64(half, half)) == 15;
}

static bool lines_ready(const JitRegion *region, const MxgpuWarp *w,
                        uint32_t needed)
{
    for (; needed; needed &= needed - 1) {
        unsigned r = __builtin_ctz(needed);

        if (!same_step(&region->code, w, r) ||
            (region->at_head[JIT_LINE_WORD] >> r & 1 && !is_near(&w->line[r]) &&
             !line_within(rows_of(w), &w->line[r], INT32_MIN, INT32_MAX))) {
            return false;
        }
    }
    return true;
}

/* Makes the forms of x registers that the code reads; false: one has none. Most
 * have them: what is looked at in turn is what has not. */
static bool ready_x(const JitRegion *region, MxgpuWarp *w, uint32_t needed)
{
    const uint32_t *at = region->at_head;
    uint32_t uniform = (at[JIT_UNIFORM_WORD] | at[JIT_UNIFORM]) & needed;
    uint32_t line = (at[JIT_LINE_WORD] | at[JIT_LINE]) & needed;
    bool ready = !(uniform & ~having(w, FORM_UNIFORM)) &&
                 !(line & ~having(w, FORM_LINE)) &&
                 are_words(w, at[JIT_UNIFORM_WORD] & needed) &&
                 lines_ready(region, w, line);
    uint32_t other = at[JIT_WORD] & needed & ~having(w, FORM_WORD);

    for (; ready && other; other &= other - 1) {
        ready = as_word(w, __builtin_ctz(other));
    }
    other = ready ? at[JIT_WIDE] & needed & ~having(w, FORM_WIDE) : 0;
    for (; other; other &= other - 1) {
        (void)wide(w, __builtin_ctz(other));
    }
    return ready;
}

/* Whether f registers that are read hold for these lanes what the code reads. */
static bool ready_f(const JitRegion *region, const MxgpuWarp *w,
                    uint32_t needed, uint64_t lanes)
{
    for (; needed; needed &= needed - 1) {
        unsigned r = __builtin_ctz(needed);
        uint64_t narrow = w->narrow[r];

        if (lanes & (region->code.f[r] == JIT_SINGLE ? ~narrow : narrow)) {
            return false;
        }
    }
    return true;
}

static int block_at(const JitRegion *r, int64_t at)
{
    for (unsigned i = 0; i < r->code.num_blocks; i++) {
        if (r->code.blocks[i].at == at) {
            return i;
        }
    }
    return -1;
}

/* The bytes of a page where the region ends: what is there, or behind it, is
 * behind all of its code. */
static int64_t end_of(const JitRegion *r)
{
    const JitBlock *last = &r->code.blocks[r->code.num_blocks - 1];

    return last->at + (last->count ? 1 : 0);
}

/* What a warp enters code with. */
typedef struct Entry {
    uint64_t lanes;       /* that run there */
    uint64_t before_end;  /* of these, that are not at the region's end */
    uint32_t fneeded;     /* f registers that are read */
    unsigned taken;       /* of the groups that are ready */
} Entry;

/* Groups of the same call frame that are ready inside the region run in it, too:
 * false: one is where the code cannot begin. */
static bool gather_groups(const JitRegion *r, const MxgpuWarp *w, JitFrame *f,
                          Entry *e)
{
    int64_t end = end_of(r);

    while (e->taken < w->s.num_ready) {
        const SimtGroup *g = &w->s.ready[w->s.num_ready - 1 - e->taken];
        int64_t at = (int64_t)(g->pc - r->page);
        int block;

        if (g->depth != w->s.cur.depth || at > end) {
            break;
        }
        block = block_at(r, at);
        if (block < 0 || f->pend[block]) {
            return false;
        }
        f->pend[block] = f->came[block] = g->mask;
        f->stamp[block] = g->stamp;
        e->lanes |= g->mask;
        e->before_end |= at < end ? g->mask : 0;
        e->fneeded |= r->code.blocks[block].flive;
        e->taken++;
    }
    return true;
}

/* Lanes that the code has left are ready where it left them. */
static void park_all(MxgpuWarp *w, const JitRegion *r, const JitFrame *f,
                     int32_t depth)
{
    for (unsigned i = 0; i < r->code.num_blocks; i++) {
        uint64_t stamp =
            f->pend[i] == f->came[i] ? f->stamp[i] : w->s.stamps;

        if (f->pend[i]) {
            mxgpu_warp_park(w, &(SimtGroup){r->page + r->code.blocks[i].at,
                                            f->pend[i], stamp, depth});
        }
    }
}

/* Counts what the code has done. */
static void account(MxgpuCu *cu, MxgpuWarp *w, const JitFrame *f)
{
    w->s.instructions = f->instructions;
    cu->n.lanes_now += f->lanes;
    cu->n.divergent_now += f->divergent;
}

/* The warp's groups, where the code has left them. */
static JitGo left(MxgpuWarp *w, const JitRegion *r, const JitFrame *f,
                  JitLeave how)
{
    int32_t depth = w->s.cur.depth;

    w->s.cur.mask = 0;
    park_all(w, r, f, depth);
    if (how == JIT_FAULTED) {
        w->s.cur = (SimtGroup){r->page + f->fault_at, f->fault_mask,
                               ++w->s.stamps, depth};
        return JIT_FAULT;
    }
    if (how == JIT_BAILED) {
        mxgpu_warp_park(w, &(SimtGroup){r->page + f->fault_at, f->fault_mask,
                                        w->s.stamps, depth});
    }
    mxgpu_warp_pick(w, false);
    w->s.slice_end =
        w->s.cur.mask == w->s.live || f->slice == UINT64_MAX ? 0 : f->slice;
    return JIT_ON;
}

/* Code is hot by what all units that have asked for it do. */
static bool is_hot(const MxgpuCu *cu, const SimtHead *head)
{
    const JitRegion *r = head->region;
    unsigned rounds = cu->simt->jit_rounds;

    return head->rounds >= rounds ||
           (r && atomic_load_explicit(&r->rounds, memory_order_relaxed) >=
                     rounds);
}

/* Asks for the code of the head, for x registers as they are. */
static void ask(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, SimtHead *head)
{
    const JitRegion *last = head->region;
    bool hot = is_hot(cu, head);
    JitCode as = {0};

    head->count = 0;
    head->ready = false;
    if (!hot && !mxgpu_jit_looks(cu->simt->jit)) {
        return;
    }
    observe(w, as.entry);
    for (unsigned r = 0; last && r < 32; r++) {
        as.entry[r] = mxgpu_jit_join(as.entry[r], last->code.entry[r]);
    }
    head->region = mxgpu_jit_find(
        cu, w, page, (w->s.cur.pc & (PAGE_BYTES - 1)) / 2, head->end, &as, hot);
    head->refused = !head->region;
}

/* Registers do not hold what the code takes. */
static void bail(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, SimtHead *head,
                 bool types)
{
    if (++head->bails % BAILS_MAX) {
        return;
    }
    if (types && head->bails < RETRIES * BAILS_MAX) {
        ask(cu, w, page, head);
    } else {
        head->refused = true;
        head->ready = false;
    }
}

/* The group that runs, and those that join it in the region; false: the code
 * cannot begin with them. */
static bool begin(const JitRegion *r, const MxgpuWarp *w, JitFrame *f, Entry *e)
{
    uint64_t lanes = w->s.cur.mask;

    e->lanes = e->before_end = lanes;
    e->fneeded = r->code.blocks[r->code.head_block].flive;
    e->taken = 0;
    memset(f->pend, 0, r->code.num_blocks * sizeof(f->pend[0]));
    memset(f->came, 0, r->code.num_blocks * sizeof(f->came[0]));
    f->pend[r->code.head_block] = lanes;
    return lanes == w->s.live || gather_groups(r, w, f, e);
}

static bool are_few(uint64_t lanes)
{
    return __builtin_popcountll(lanes) <= JIT_FEW;
}

static void choose(JitFrame *f, uint64_t lanes)
{
    uint64_t rest = lanes;

    f->chosen = lanes;
    for (unsigned i = 0; i < JIT_FEW; i++, rest &= rest - 1) {
        f->index[i] = __builtin_ctzll(rest ? rest : lanes);
    }
}

/* Code for few knows nothing of the group at the region's end, which is the last
 * one: it stays ready. */
static void leave_end(const JitRegion *r, JitFrame *f, Entry *e)
{
    if (e->lanes != e->before_end) {
        f->pend[r->code.num_blocks - 1] = f->came[r->code.num_blocks - 1] = 0;
        e->lanes = e->before_end;
        e->taken--;
    }
}

/* The code for as many lanes as there are; NULL: none can begin with them. */
static JitFn *begin_some(const JitRegion *r, const MxgpuWarp *w, JitFrame *f,
                         Entry *e)
{
    bool few = atomic_load_explicit(&r->few.state, memory_order_acquire) ==
               JIT_READY;

    if (!begin(r, w, f, e)) {
        return NULL;
    }
    if (few && are_few(e->before_end)) {
        leave_end(r, f, e);
        choose(f, e->lanes);
        return r->few.fn;
    }
    f->few = few ? JIT_FEW : 0;
    return r->all.fn;
}

/* Registers and what runs, made ready for the code; NULL: it cannot begin. */
static JitFn *fill(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, SimtHead *head,
                   JitFrame *f)
{
    const JitRegion *r = head->region;
    uint32_t needed = r->code.blocks[r->code.head_block].live;
    Entry e;
    JitFn *fn = begin_some(r, w, f, &e);

    if (!fn) {
        return NULL;
    }
    if (w->s.cur.mask != w->s.live) {
        needed |= ~(uint32_t)w->c.dead;
    }
    if (!ready_x(r, w, needed & r->used)) {
        bail(cu, w, page, head, true);
        return NULL;
    }
    if (!ready_f(r, w, e.fneeded, e.lanes)) {
        bail(cu, w, page, head, false);
        return NULL;
    }
    w->s.num_ready -= e.taken;
    return fn;
}

/* Going in and out costs as much as interpreting some tens of instructions:
 * code that leaves sooner is not entered any more. */
static void weigh(SimtHead *head, uint64_t instructions, unsigned entries,
                  unsigned worth)
{
    head->ran += instructions;
    if (++head->entries < entries) {
        return;
    }
    if (head->ran < (uint64_t)entries * worth) {
        head->refused = true;
        head->ready = false;
    }
    head->entries = 0;
    head->ran = 0;
}

static void fill_frame(const MxgpuCu *cu, const MxgpuWarp *w,
                       const JitRegion *r, JitFrame *f, uint64_t limit)
{
    f->instructions = w->s.instructions;
    f->limit = limit;
    f->key_global = global_key(cu, w);
    f->key_shared = shared_key(cu, w);
    f->key_private = private_key(w);
    f->private_host =
        (uintptr_t)private_at(w, MXGPU_PRIVATE_END - w->c.private_size);
    f->sites = r->sites + cu->index * r->num_sites;
    f->page = r->page;
    f->call = jit_call;
    f->put = jit_put;
    f->region = r;
    f->dispatch = &simt_slot(cu, w)->dispatch;
}

static JitGo enter(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, SimtHead *head,
                   uint64_t limit)
{
    JitRegion *r = head->region;
    bool solo = w->s.cur.mask == w->s.live;
    uint64_t before = w->s.instructions;
    JitFrame f;
    JitLeave how;
    JitFn *fn;
    JitGo go;

    if (w->s.rotated || w->c.fp_level || cu->simt->debugged) {
        return JIT_STAY;
    }
    fn = fill(cu, w, page, head, &f);
    if (!fn) {
        return JIT_STAY;
    }
    w->c.dead |= 1ull << SINK;
    fill_frame(cu, w, r, &f, limit);
    f.slice = !solo && w->s.slice_end ? w->s.slice_end : UINT64_MAX;
    how = fn(cu, w, &f);
    account(cu, w, &f);
    go = left(w, r, &f, how);
    weigh(head, f.instructions - before, ENTRIES_WEIGHED, WORTH);
    return go;
}

/* Looks whether what was asked for is there. */
static bool came(MxgpuCu *cu, SimtHead *head)
{
    JitRegion *r = head->region;
    int state = atomic_load_explicit(&r->all.state, memory_order_acquire);

    if (is_hot(cu, head) &&
        !atomic_load_explicit(&r->hot, memory_order_relaxed)) {
        mxgpu_jit_want(cu->simt->jit, r);
        state = atomic_load_explicit(&r->all.state, memory_order_acquire);
    }
    head->refused = state == JIT_REFUSED;
    head->ready = state == JIT_READY;
    if (head->ready) { /* it has been hot, here or elsewhere */
        head->rounds = cu->simt->jit_rounds;
    }
    return head->ready;
}

/* Once in a while: whether warps can begin code that may be there now. */
static bool may_begin(MxgpuCu *cu, SimtHead *head)
{
    return head->ready ||
           (head->region && !head->refused && came(cu, head));
}

/* The head has been come to as often as somebody looks for it. */
static void count_round(const MxgpuCu *cu, SimtHead *head)
{
    JitRegion *r = head->region;

    if (head->ready) {
        return;
    }
    head->count = 0;
    if (!is_hot(cu, head)) {
        head->rounds++;
        if (r) {
            atomic_fetch_add_explicit(&r->rounds, 1, memory_order_relaxed);
        }
    }
}

JitGo jit_enter(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, SimtHead *head,
                uint64_t limit)
{
    count_round(cu, head);
    if (!head->region) {
        ask(cu, w, page, head);
    }
    return may_begin(cu, head) ? enter(cu, w, page, head, limit) : JIT_STAY;
}

/* ---- convoys: each warp runs code for whole warps, one after the other */

#define CONVOY_ENTRIES 32
#define CONVOY_WORTH   16 /* instructions of an entry, in the mean */
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
    bool hot = is_hot(cu, head);

    head->count = 0;
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

/* Whether all warps hold what the code takes. */
static bool warps_ready(const JitRegion *r, Convoy *c)
{
    const JitBlock *b = &r->code.blocks[r->code.head_block];
    uint32_t needed = b->live & r->used;

    /* What else the code writes holds nothing now. */
    for (uint32_t m = needed; m; m &= m - 1) {
        convoy_split(c, __builtin_ctz(m));
    }
    for (unsigned i = 0; i < c->n; i++) {
        if (!ready_x(r, c->w[i], needed) ||
            !ready_f(r, c->w[i], b->flive, ALL_LANES)) {
            return false;
        }
    }
    return true;
}

static JitGo run_whole(MxgpuCu *cu, MxgpuWarp *w, const JitRegion *r,
                       const JitAt *at, uint64_t *op)
{
    JitFrame f;
    JitLeave how;

    w->s.cur.pc = at->pc;
    w->s.cur.depth = at->depth;
    w->c.dead |= 1ull << SINK;
    fill_frame(cu, w, r, &f, w->s.instructions + at->each);
    f.slice = UINT64_MAX;
    f.few = JIT_FEW;
    how = r->all.fn(cu, w, &f);
    account(cu, w, &f);
    *op = how == JIT_BAILED ? f.fault_op : UINT64_MAX;
    if (how == JIT_TOGETHER) {
        w->s.cur.pc = r->page + f.fault_at;
        w->s.cur.mask = ALL_LANES;
        w->s.slice_end = 0;
        return JIT_ON;
    }
    memset(f.came, 0, r->code.num_blocks * sizeof(f.came[0]));
    return left(w, r, &f, how);
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
                             SimtHead *head, uint64_t pc)
{
    unsigned index = (pc & (PAGE_BYTES - 1)) / 2;
    JitRegion *r;

    if (!c->whole || cu->simt->debugged) {
        return NULL;
    }
    count_round(cu, head);
    if (!head->region || head->stale) {
        ask_whole(cu, c, page, head, index);
    }
    if (!may_begin(cu, head)) {
        return NULL;
    }
    r = head->region;
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
    JitRegion *r = whole_code(cu, c, page, head, at->pc);
    uint64_t most = 0, op;
    JitGo go = JIT_ON;
    unsigned k;

    *done = 0;
    if (!r) {
        return JIT_STAY;
    }
    for (k = 0; k < c->n && go == JIT_ON; k++) {
        uint64_t ran = c->w[k]->s.instructions;

        go = run_whole(cu, c->w[k], r, at, &op);
        if (go == JIT_ON) {
            note_bail(r, head, op);
        }
        ran = c->w[k]->s.instructions - ran;
        most = ran > most ? ran : most;
        *done += ran;
    }
    for (uint32_t m = r->touched; m; m &= m - 1) {
        c->form[__builtin_ctz(m)] = CONVOY_SPLIT;
    }
    if (go == JIT_ON && are_together(c)) {
        weigh(head, most, CONVOY_ENTRIES, CONVOY_WORTH);
        return JIT_ON;
    }
    weigh(head, 0, CONVOY_ENTRIES, CONVOY_WORTH); /* what they do next is slow */
    part_ways(c, at, k);
    return JIT_FAULT;
}

#endif
