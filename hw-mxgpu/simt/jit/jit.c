/* SPDX-License-Identifier: MIT */
/* Code that is hot, and the thread that has it compiled. */
#include "jit.h"

#include "process.h"
#include "region.h"
#include "types.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Of a device; what is compiled is kept. */
#define REGIONS_MAX 1024
#define BYTES_MAX   (128u << 20)

struct SimtJit {
    unsigned units;
    bool waits; /* units wait for the compiler: for tests */
    size_t bytes; /* of code */
    pthread_mutex_t lock;
    pthread_cond_t change;
    JitRegion *regions; /* newest first */
    JitRegion *queue[REGIONS_MAX];
    unsigned num_regions, tail;
    unsigned head, few; /* next for all lanes, and for few */
    bool has_thread, stop;
    pthread_t thread;
    char *program; /* NULL: there is none */
    JitProcess *process; /* of the thread; others stop it */
};

/* ---- the thread */

static void compile(SimtJit *jit, const JitCode *code, unsigned lanes,
                    JitMade *m)
{
    if (jit->process && jit->bytes < BYTES_MAX) {
        m->fn =
            mxgpu_jit_process_compile(jit->process, code, lanes, &m->size);
        jit->bytes += m->size;
    }
    atomic_store_explicit(&m->state, m->fn ? JIT_READY : JIT_REFUSED,
                          memory_order_release);
}

static void *work(void *opaque)
{
    SimtJit *jit = opaque;
    JitProcess *process;
    sigset_t all;

    sigfillset(&all); /* signals are for threads of the program */
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    process = mxgpu_jit_process_new(jit->program);
    pthread_mutex_lock(&jit->lock);
    jit->process = process;
    while (!jit->stop) {
        bool few = jit->head == jit->tail; /* that comes last */
        JitRegion *r;

        if (few && jit->few == jit->tail) {
            pthread_cond_wait(&jit->change, &jit->lock);
            continue;
        }
        r = jit->queue[few ? jit->few++ : jit->head++];
        if (few && r->code.whole) {
            continue;
        }
        pthread_mutex_unlock(&jit->lock);
        compile(jit, &r->code, few ? JIT_FEW : LANES, few ? &r->few : &r->all);
        pthread_mutex_lock(&jit->lock);
        pthread_cond_broadcast(&jit->change);
    }
    pthread_mutex_unlock(&jit->lock);
    return NULL;
}

/* At the first region: most devices never have one. */
static void start(SimtJit *jit)
{
    jit->has_thread =
        jit->program && !pthread_create(&jit->thread, NULL, work, jit);
}

SimtJit *mxgpu_jit_new(unsigned units, bool waits)
{
    SimtJit *jit = calloc(1, sizeof(*jit));

    if (!jit) {
        return NULL;
    }
    jit->units = units;
    jit->waits = waits;
    /* Not by a unit: the loader's lock may be with who waits for a kernel. */
    jit->program = mxgpu_jit_process_find();
    pthread_mutex_init(&jit->lock, NULL);
    pthread_cond_init(&jit->change, NULL);
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
    if (jit->has_thread) {
        pthread_mutex_lock(&jit->lock);
        jit->stop = true;
        pthread_cond_broadcast(&jit->change);
        if (jit->process) {
            mxgpu_jit_process_stop(jit->process);
        }
        pthread_mutex_unlock(&jit->lock);
        pthread_join(jit->thread, NULL);
    }
    mxgpu_jit_process_free(jit->process);
    for (r = jit->regions; r; r = next) {
        next = r->next;
        unmap(&r->all);
        unmap(&r->few);
        free(r->sites);
        free(r);
    }
    pthread_mutex_destroy(&jit->lock);
    pthread_cond_destroy(&jit->change);
    free(jit->program);
    free(jit);
}

unsigned mxgpu_jit_ready(SimtJit *jit)
{
    unsigned n = 0;

    pthread_mutex_lock(&jit->lock);
    for (JitRegion *r = jit->regions; r; r = r->next) {
        n += atomic_load(&r->all.state) == JIT_READY;
    }
    pthread_mutex_unlock(&jit->lock);
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
    atomic_store(&r->all.state, state);
    atomic_store(&r->few.state, state);
}

static void enqueue(SimtJit *jit, JitRegion *r)
{
    if (!jit->has_thread && jit->tail == 0) {
        start(jit);
    }
    if (!jit->has_thread) {
        set_state(r, JIT_REFUSED);
        return;
    }
    jit->queue[jit->tail++] = r;
    pthread_cond_broadcast(&jit->change);
    while (jit->waits && (atomic_load(&r->all.state) == JIT_QUEUED ||
                          atomic_load(&r->few.state) == JIT_QUEUED)) {
        pthread_cond_wait(&jit->change, &jit->lock);
    }
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

static bool make_code(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, unsigned head,
                      unsigned end, JitCode *c)
{
    while (mxgpu_jit_region(cu, w, page, head, end, c) && mxgpu_jit_types(c)) {
        if (!c->whole || !mxgpu_jit_cut(c)) {
            return true;
        }
        end = mxgpu_jit_cut(c);
        if (end <= head) {
            return false;
        }
    }
    return false;
}

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
        r->touched = mxgpu_jit_written(&r->code);
        r->sites =
            calloc((size_t)jit->units * (r->num_sites + 1), sizeof(*r->sites));
        set_state(r, r->sites ? JIT_QUEUED : JIT_REFUSED);
        if (as->whole) { /* each warp goes on by itself when few lanes do */
            atomic_store(&r->few.state, JIT_REFUSED);
        }
    }
    return r;
}

JitRegion *mxgpu_jit_find(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page,
                          unsigned head, unsigned end, const JitCode *as)
{
    SimtJit *jit = cu->simt->jit;
    uint64_t va = simt_page_va(page);
    JitRegion *r;

    pthread_mutex_lock(&jit->lock);
    for (r = jit->regions; r; r = r->next) {
        if (is_same(r, va, head, end, page->bytes, as)) {
            break;
        }
    }
    if (!r && jit->num_regions < REGIONS_MAX) {
        r = make(jit, cu, w, page, head, end, as);
        if (r) {
            jit->num_regions++;
            r->next = jit->regions;
            jit->regions = r;
            if (atomic_load(&r->all.state) == JIT_QUEUED) {
                enqueue(jit, r);
            }
        }
    }
    pthread_mutex_unlock(&jit->lock);
    return r;
}
