/* SPDX-License-Identifier: MIT */
/* Code that is hot, and what has been compiled of it. */
#include "jit.h"

#include "flow.h"
#include "process.h"
#include "region.h"
#include "types.h"
#include "worker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct SimtJit {
    unsigned units;
    atomic_bool prepared;
    bool waits; /* units wait for the compiler: for tests */
    JitRegion *regions; /* newest first */
    unsigned num_regions;
    JitWorkers workers;
};

SimtJit *mxgpu_jit_new(unsigned units, bool waits)
{
    SimtJit *jit = calloc(1, sizeof(*jit));

    if (!jit) {
        return NULL;
    }
    jit->units = units;
    jit->waits = waits;
    mxgpu_jit_workers_init(&jit->workers);
    return jit;
}

static void unmap(JitMade *m)
{
    if (m->fn) {
        munmap((void *)((uintptr_t)m->fn & ~(uintptr_t)(PAGE_BYTES - 1)),
               m->size);
    }
}

void mxgpu_jit_free(SimtJit *jit)
{
    JitRegion *r, *next;

    if (!jit) {
        return;
    }
    mxgpu_jit_workers_stop(&jit->workers);
    for (r = jit->regions; r; r = next) {
        next = r->next;
        for (unsigned i = 0; i < JIT_SORTS; i++) {
            unmap(&r->made[i]);
        }
        free(r->sites);
        free(r);
    }
    free(jit);
}

void mxgpu_jit_prepare(SimtJit *jit)
{
    if (!atomic_load_explicit(&jit->prepared, memory_order_relaxed) &&
        !atomic_exchange(&jit->prepared, true)) {
        mxgpu_jit_workers_prepare(&jit->workers);
    }
}

unsigned mxgpu_jit_ready(SimtJit *jit)
{
    unsigned n = 0;

    pthread_mutex_lock(&jit->workers.lock);
    for (JitRegion *r = jit->regions; r; r = r->next) {
        n += atomic_load(&r->made[JIT_FOR_ALL].state) == JIT_READY;
    }
    pthread_mutex_unlock(&jit->workers.lock);
    return n;
}

/* ---- regions */

/* How instructions are called: operands in registers of their own. */
static void make_calls(JitRegion *r)
{
    JitCode *c = &r->code;

    r->num_sites = 0;
    for (unsigned i = 0; i < c->num_ops; i++) {
        SimtOp *op = &r->calls[i];

        *op = c->ops[i];
        op->r1 = JIT_R1;
        switch ((JitKind)c->kind[i]) {
        case JIT_LOAD:
            op->imm = 0;
            op->rd = op->classes & RV_CLASS_FD ? FP_SCRATCH : SINK;
            c->site[i] = r->num_sites++;
            break;
        case JIT_STORE:
            op->imm = 0;
            op->r2 = op->classes & RV_CLASS_F2 ? FP_SCRATCH : JIT_R2;
            c->site[i] = r->num_sites++;
            break;
        case JIT_ATOMIC:
            op->r2 = JIT_R2;
            op->r3 = JIT_R3;
            op->rd = SINK;
            c->site[i] = r->num_sites++;
            break;
        case JIT_BRANCH:
            c->site[i] = r->num_sites++;
            break;
        case JIT_CSR:
            op->r1 = 0;
            op->rd = SINK;
            break;
        default:
            op->r2 = JIT_R2;
            op->rd = SINK;
        }
    }
}

static void set_state(JitRegion *r, JitState state)
{
    for (unsigned i = 0; i < JIT_SORTS; i++) {
        atomic_store(&r->made[i].state, state);
    }
}

static bool is_queued(JitRegion *r)
{
    bool queued = false;

    for (unsigned i = 0; i < JIT_SORTS; i++) {
        queued |= atomic_load(&r->made[i].state) == JIT_QUEUED;
    }
    return queued;
}

static void enqueue(SimtJit *jit, JitRegion *r, bool hot)
{
    JitWorkers *ws = &jit->workers;

    mxgpu_jit_workers_ask(ws, r, hot);
    while (jit->waits && is_queued(r)) {
        pthread_cond_wait(&ws->change, &ws->lock);
    }
}

static void want(SimtJit *jit, JitRegion *r)
{
    if (atomic_load(&r->made[JIT_FOR_ALL].state) == JIT_ABSENT) {
        enqueue(jit, r, true);
    }
    atomic_store(&r->hot, true);
}

void mxgpu_jit_want(SimtJit *jit, JitRegion *r)
{
    pthread_mutex_lock(&jit->workers.lock);
    want(jit, r);
    pthread_mutex_unlock(&jit->workers.lock);
}

bool mxgpu_jit_looks(SimtJit *jit)
{
    return atomic_load_explicit(&jit->workers.looks, memory_order_relaxed);
}

static bool same_types(const JitRegion *r, const JitCode *as)
{
    for (uint32_t m = r->relevant; m; m &= m - 1) {
        unsigned i = __builtin_ctz(m);

        if (r->code.entry[i] != as->entry[i] ||
            (mxgpu_jit_line(as->entry[i]) && r->code.step[i] != as->step[i])) {
            return false;
        }
    }
    return r->code.whole == as->whole && r->code.row_shift == as->row_shift &&
           !memcmp(r->code.varies, as->varies, sizeof(as->varies));
}

static bool is_same(const JitRegion *r, uint64_t page, unsigned head,
                    unsigned asked, const uint8_t *bytes, const JitCode *as)
{
    return r->page == page && r->head == head && r->asked == asked &&
           same_types(r, as) &&
           !memcmp(r->bytes, bytes, PAGE_BYTES); /* all of it says what is live */
}

static void take_as(JitCode *c, const JitCode *as)
{
    memcpy(c->entry, as->entry, sizeof(c->entry));
    memcpy(c->step, as->step, sizeof(c->step));
    memcpy(c->varies, as->varies, sizeof(c->varies));
    c->whole = as->whole;
    c->row_shift = as->row_shift;
}

/* loop: with the beginning of a loop that goes on at the head. */
static bool make_code_of(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page,
                         unsigned head, unsigned end, bool loop, JitCode *c)
{
    memset(c->together, 0, sizeof(c->together));
    while (mxgpu_jit_region(cu, w, page, head, end, loop, c) &&
           (c->whole ? mxgpu_jit_flow(c) : mxgpu_jit_types(c))) {
        unsigned cut = c->whole ? mxgpu_jit_cut(c) : 0;

        if (!cut) {
            return true;
        }
        if (cut <= head) {
            return false;
        }
        end = cut == PAGE_OPS ? end : cut;
    }
    return false;
}

/* Where warps that are together begin behind a barrier, the turns of a loop are
 * entered once. */
static bool make_code(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, unsigned head,
                      unsigned end, JitCode *c)
{
    return (c->whole && make_code_of(cu, w, page, head, end, true, c)) ||
           make_code_of(cu, w, page, head, end, false, c);
}

/* x registers by what they are. */
static void note_types(JitRegion *r)
{
    const JitBlock *head = &r->code.blocks[r->code.head_block];

    for (unsigned i = 1; i < 32; i++) {
        r->used |= r->code.x[i] ? 1u << i : 0;
        r->at_head[head->x[i]] |= 1u << i;
        r->lines |= mxgpu_jit_line((JitType)r->code.entry[i]) ? 1u << i : 0;
    }
    r->touched = mxgpu_jit_written(&r->code);
}

/* What cannot be compiled has no sites. */
static JitRegion *make(SimtJit *jit, MxgpuCu *cu, MxgpuWarp *w, SimtPage *page,
                       unsigned head, unsigned asked, const JitCode *as)
{
    JitRegion *r = calloc(1, sizeof(*r));

    if (!r) {
        return NULL;
    }
    take_as(&r->code, as);
    memcpy(r->bytes, page->bytes, PAGE_BYTES);
    r->page = simt_page_va(page);
    r->head = head;
    r->asked = asked;
    set_state(r, JIT_REFUSED);
    if (make_code(cu, w, page, head, asked, &r->code)) {
        make_calls(r);
        r->relevant = mxgpu_jit_named(&r->code) &
                      r->code.blocks[r->code.head_block].live;
        for (unsigned i = 0; i < 32; i++) { /* the same code, the same bytes */
            r->code.entry[i] *= r->relevant >> i & 1;
            r->code.step[i] *= r->relevant >> i & 1;
        }
        note_types(r);
        r->sites =
            calloc((size_t)jit->units * (r->num_sites + 1), sizeof(*r->sites));
    }
    return r;
}

JitRegion *mxgpu_jit_find(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page,
                          unsigned head, unsigned end, const JitCode *as,
                          bool hot)
{
    SimtJit *jit = cu->simt->jit;
    uint64_t va = simt_page_va(page);
    JitRegion *r;

    pthread_mutex_lock(&jit->workers.lock);
    for (r = jit->regions; r; r = r->next) {
        if (is_same(r, va, head, end, page->bytes, as)) {
            break;
        }
    }
    if (r && hot) {
        want(jit, r);
    } else if (!r && jit->num_regions < JIT_REGIONS) {
        r = make(jit, cu, w, page, head, end, as);
        if (r) {
            jit->num_regions++;
            r->next = jit->regions;
            jit->regions = r;
            if (r->sites) { /* others may find it meanwhile */
                enqueue(jit, r, hot);
            }
        }
    }
    pthread_mutex_unlock(&jit->workers.lock);
    return r;
}
