/* SPDX-License-Identifier: MIT */
/* Warps enter compiled code, each for itself. */
#include "jit.h"

#if defined(SIMT_AVX512)

#include "lines.h"
#include "simt/jit/types.h"

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
    uint32_t fneeded[2];  /* f registers that are read: singles, doubles */
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
        e->fneeded[0] |= r->code.blocks[block].flive[0];
        e->fneeded[1] |= r->code.blocks[block].flive[1];
        e->taken++;
    }
    return true;
}

/* Asks for the code of the head, for x registers as they are. */
static void ask(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, SimtHead *head)
{
    const JitRegion *last = head->region;
    bool hot = jit_is_hot(cu, head);
    JitCode as = {0};

    head->count = last ? 0 : head->count;
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
    memcpy(e->fneeded, r->code.blocks[r->code.head_block].flive,
           sizeof(e->fneeded));
    e->taken = 0;
    memset(f->pend, 0, r->code.num_blocks * sizeof(f->pend[0]));
    memset(f->came, 0, r->code.num_blocks * sizeof(f->came[0]));
    f->pend[r->code.head_block] = lanes;
    return lanes == w->s.live || gather_groups(r, w, f, e);
}

static void choose(JitFrame *f, uint64_t lanes)
{
    uint64_t rest = lanes;

    f->chosen = lanes;
    for (unsigned i = 0; i < JIT_FEW; i++, rest &= rest - 1) {
        f->index[i] = __builtin_ctzll(rest ? rest : lanes);
    }
}

/* Code for fewer than all knows nothing of the group at the region's end, which is
 * the last one: it stays ready. */
static void leave_end(const JitRegion *r, JitFrame *f, Entry *e)
{
    if (e->lanes != e->before_end) {
        f->pend[r->code.num_blocks - 1] = f->came[r->code.num_blocks - 1] = 0;
        e->lanes = e->before_end;
        e->taken--;
    }
}

static bool is_ready(const JitRegion *r, unsigned sort)
{
    return atomic_load_explicit(&r->made[sort].state, memory_order_acquire) ==
           JIT_READY;
}

/* The code for as many lanes as there are; NULL: none can begin with them. */
static JitFn *begin_some(const JitRegion *r, const MxgpuWarp *w, JitFrame *f,
                         Entry *e)
{
    unsigned sort = JIT_FOR_ALL, next = JIT_FOR_FEW, lanes;

    if (!begin(r, w, f, e)) {
        return NULL;
    }
    lanes = __builtin_popcountll(e->before_end);
    for (; next < JIT_SORTS && lanes <= jit_lanes((JitLanes)next); next++) {
        sort = is_ready(r, next) ? next : sort;
    }
    while (next < JIT_SORTS && !is_ready(r, next)) {
        next++;
    }
    f->few = next < JIT_SORTS ? jit_lanes((JitLanes)next) : 0;
    if (sort != JIT_FOR_ALL) {
        leave_end(r, f, e);
        choose(f, e->lanes);
    }
    return r->made[sort].fn;
}

/* Registers and what runs, made ready for the code; NULL: it cannot begin. */
static JitFn *fill(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, SimtHead *head,
                   JitFrame *f)
{
    const JitRegion *r = head->region;
    uint32_t needed = r->code.blocks[r->code.head_block].live;
    JitNeeds needs;
    Entry e;
    JitFn *fn = begin_some(r, w, f, &e);

    if (!fn) {
        return NULL;
    }
    if (w->s.cur.mask != w->s.live) {
        needed |= ~(uint32_t)w->c.dead;
    }
    needs = jit_needs(r, needed & r->used);
    if (!jit_ready_x(r, w, &needs)) {
        bail(cu, w, page, head, true);
        return NULL;
    }
    if (!jit_ready_f(w, e.fneeded, e.lanes)) {
        bail(cu, w, page, head, false);
        return NULL;
    }
    w->s.num_ready -= e.taken;
    return fn;
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

    if (w->s.rotated || w->c.fp_level || cu->simt->debugged ||
        !jit_fits(cu, w, r, limit - w->s.instructions)) {
        return JIT_STAY;
    }
    fn = fill(cu, w, page, head, &f);
    if (!fn) {
        return JIT_STAY;
    }
    w->c.dead |= 1ull << SINK;
    jit_fill_block(cu, w, r, &f);
    jit_fill_warp(cu, w, &f, limit);
    f.slice = !solo && w->s.slice_end ? w->s.slice_end : UINT64_MAX;
    how = fn(cu, w, &f);
    jit_account(cu, w, &f);
    go = jit_left(w, r, &f, how);
    jit_weigh(head, f.instructions - before, ENTRIES_WEIGHED, WORTH);
    return go;
}

JitGo jit_enter(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, SimtHead *head,
                uint64_t limit)
{
    jit_count_round(cu, head);
    if (!head->region) {
        ask(cu, w, page, head);
    }
    return jit_may_begin(cu, head) ? enter(cu, w, page, head, limit) : JIT_STAY;
}

#endif
