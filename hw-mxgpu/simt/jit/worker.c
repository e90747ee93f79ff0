/* SPDX-License-Identifier: MIT */
/* The threads that get code of regions. */
#include "worker.h"

#include "process.h"

#include <signal.h>
#include <stdlib.h>

#define BYTES_MAX (128u << 20)

/* A program that has not been compiled before is looked for that often: to say
 * what a region is takes as long as interpreting it some hundred times. */
#define LOOKS 48

static void push(JitWorker *k, JitLanes lanes, JitRegion *r)
{
    JitQueue *q = &k->queue[lanes];

    q->region[q->tail++] = r;
}

static JitRegion *pop(JitWorker *k, JitLanes *lanes)
{
    for (*lanes = JIT_FOR_ALL; *lanes < JIT_SORTS; (*lanes)++) {
        JitQueue *q = &k->queue[*lanes];

        if (q->head != q->tail) {
            return q->region[q->head++];
        }
    }
    return NULL;
}

/* With the lock, which is left meanwhile. */
static JitState get(JitWorker *k, JitRegion *r, JitLanes lanes, bool look)
{
    JitWorkers *ws = k->of;
    JitMade *m = &r->made[lanes];
    JitState state = JIT_REFUSED;

    if (k->process && ws->bytes < BYTES_MAX) {
        pthread_mutex_unlock(&ws->lock);
        state = mxgpu_jit_process_get(k->process, &r->code,
                                      jit_lanes(lanes), look, m);
        pthread_mutex_lock(&ws->lock);
        ws->bytes += m->size;
    }
    return state;
}

static void done(JitMade *m, JitState state)
{
    atomic_store_explicit(&m->state, state, memory_order_release);
}

/* Code for fewer lanes than all; of whole warps there is none. */
static void set_fewer(JitRegion *r, JitState state)
{
    for (unsigned i = JIT_FOR_FEW; i < JIT_SORTS; i++) {
        done(&r->made[i], r->code.whole ? JIT_REFUSED : state);
    }
}

static void set_all(JitRegion *r, JitState state)
{
    done(&r->made[JIT_FOR_ALL], state);
    set_fewer(r, state);
}

static void push_fewer(JitWorker *k, JitRegion *r)
{
    for (unsigned i = JIT_FOR_FEW; i < JIT_SORTS && !r->code.whole; i++) {
        push(k, (JitLanes)i, r);
    }
}

/* ---- the thread that has regions compiled */

static bool start(JitWorker *k);

static void compile(JitWorkers *ws, JitRegion *r)
{
    push(&ws->compiler, JIT_FOR_ALL, r);
    push_fewer(&ws->compiler, r);
    if (!start(&ws->compiler)) {
        set_all(r, JIT_REFUSED);
    }
}

static void join(JitWorker *k)
{
    if (k->has_thread) {
        pthread_join(k->thread, NULL);
    }
}

/* What is hot is compiled by the process, for whoever asks next. */
static void leave_rest(JitWorkers *ws)
{
    JitWorker *k = &ws->compiler;
    JitLanes lanes;
    JitRegion *r;

    while ((r = pop(&ws->looker, &lanes))) {
        if (lanes != JIT_FOR_ALL) {
            push(k, lanes, r);
        } else if (r->hot) {
            compile(ws, r);
        }
    }
    join(k);
    if (k->process) { /* it may have been started since */
        mxgpu_jit_process_stop(k->process);
    }
    while (k->process && (r = pop(k, &lanes)) &&
           mxgpu_jit_process_leave(k->process, &r->code,
                                   jit_lanes(lanes))) {
    }
}

/* ---- the thread that looks for what has been compiled before */

static void note_look(JitWorkers *ws, bool found)
{
    ws->looked++;
    ws->found += found;
    if (ws->looked >= LOOKS + 3 * ws->found || ws->looked >= JIT_REGIONS / 2) {
        atomic_store(&ws->looks, false);
    }
}

/* Code for fewer lanes is of no use alone, and is looked for when that for all
 * lanes of other regions is there. */
static void look(JitWorker *k, JitLanes lanes, JitRegion *r)
{
    JitWorkers *ws = k->of;
    JitState state = get(k, r, lanes, true);

    if (lanes == JIT_FOR_ALL) {
        note_look(ws, state == JIT_READY);
        if ((state == JIT_ABSENT || ws->stop) && r->hot) {
            compile(ws, r); /* all stay QUEUED */
            return;
        }
        if (state == JIT_READY) {
            push_fewer(k, r);
        } else {
            set_fewer(r, state);
        }
    } else if (state == JIT_ABSENT && start(&ws->compiler)) {
        push(&ws->compiler, lanes, r);
        return;
    }
    done(&r->made[lanes], state);
}

/* ---- both */

static void *work(void *opaque)
{
    JitWorker *k = opaque;
    JitWorkers *ws = k->of;
    bool looks = k == &ws->looker;
    struct JitProcess *process;
    sigset_t all;

    sigfillset(&all); /* signals are for threads of the program */
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    process = mxgpu_jit_process_new(ws->program);
    pthread_mutex_lock(&ws->lock);
    k->process = process;
    while (!ws->stop) {
        JitLanes lanes;
        JitRegion *r = pop(k, &lanes);

        if (!r) {
            pthread_cond_wait(&ws->change, &ws->lock);
            continue;
        }
        if (looks) {
            look(k, lanes, r);
        } else {
            done(&r->made[lanes], get(k, r, lanes, false));
        }
        pthread_cond_broadcast(&ws->change);
    }
    pthread_mutex_unlock(&ws->lock);
    return NULL;
}

/* When there is something to do, or will be. false: it cannot be. */
static bool start(JitWorker *k)
{
    JitWorkers *ws = k->of;

    if (!k->started) {
        k->started = true;
        k->has_thread =
            ws->program && !pthread_create(&k->thread, NULL, work, k);
    }
    pthread_cond_broadcast(&ws->change);
    return k->has_thread;
}

void mxgpu_jit_workers_prepare(JitWorkers *ws)
{
    pthread_mutex_lock(&ws->lock);
    (void)start(&ws->looker);
    pthread_mutex_unlock(&ws->lock);
}

void mxgpu_jit_workers_ask(JitWorkers *ws, JitRegion *r, bool hot)
{
    set_all(r, JIT_QUEUED);
    atomic_store(&r->hot, hot);
    if (hot && !atomic_load(&ws->looks)) {
        compile(ws, r);
    } else {
        push(&ws->looker, JIT_FOR_ALL, r);
        if (!start(&ws->looker)) {
            set_all(r, JIT_REFUSED);
        }
    }
}

void mxgpu_jit_workers_init(JitWorkers *ws)
{
    /* Not by a unit: the loader's lock may be with who waits for a kernel. */
    ws->program = mxgpu_jit_process_find();
    pthread_mutex_init(&ws->lock, NULL);
    pthread_cond_init(&ws->change, NULL);
    atomic_store(&ws->looks, ws->program != NULL);
    ws->looker.of = ws->compiler.of = ws;
}

void mxgpu_jit_workers_stop(JitWorkers *ws)
{
    pthread_mutex_lock(&ws->lock);
    ws->stop = true;
    pthread_cond_broadcast(&ws->change);
    for (unsigned i = 0; i < 2; i++) {
        JitWorker *k = i ? &ws->compiler : &ws->looker;

        if (k->process) {
            mxgpu_jit_process_stop(k->process);
        }
    }
    pthread_mutex_unlock(&ws->lock);
    join(&ws->looker); /* it may start the other */
    leave_rest(ws);
    mxgpu_jit_process_free(ws->looker.process);
    mxgpu_jit_process_free(ws->compiler.process);
    pthread_mutex_destroy(&ws->lock);
    pthread_cond_destroy(&ws->change);
    free(ws->program);
}
