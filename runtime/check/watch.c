/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* dladdr */
#include "watch.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory/watch.h"
#include "core/queue/queue.h"
#include "link.h"

#define QUEUES 512

/* A queue that lives, by its place in "queues". */
typedef struct Known {
    McQueue *queue; /* NULL: free */
    uint64_t serial; /* of this use of the place */
    uint64_t value;  /* last one submitted */
} Known;

/* A point in the work of a queue. */
typedef struct Point {
    unsigned place;
    uint64_t serial, value;
} Point;

/* Work that runs when something is freed. */
typedef struct Work {
    struct Work *next;
    uint64_t number; /* of the allocation */
    unsigned count;
    Point points[]; /* that have to be reached */
} Work;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static Known queues[QUEUES];
static uint64_t queue_serials;
static Work *untold; /* of which the checker in QEMU is told when it ends */

/* ---- backtraces ---- */

static const void *own_base(void)
{
    static const void *base;
    Dl_info info;

    if (!base && dladdr((const void *)(uintptr_t)own_base, &info)) {
        base = info.dli_fbase;
    }
    return base;
}

static bool is_own(const void *frame)
{
    Dl_info info;

    return dladdr(frame, &info) && info.dli_fbase == own_base();
}

/* Without the library's own frames, and what is in front of them: a sanitizer's
 * backtrace() that has taken the place of libc's. */
void mc_trace_take(McTrace *trace)
{
    void *all[MC_FRAMES + 16];
    int n = backtrace(all, MC_FRAMES + 16), first = 0;

    while (first < n && !is_own(all[first])) {
        first++;
    }
    while (first < n && is_own(all[first])) {
        first++;
    }
    trace->count = n - first < MC_FRAMES ? n - first : MC_FRAMES;
    memcpy(trace->frames, all + first, trace->count * sizeof(all[0]));
}

/* ---- queues ---- */

void mc_watch_queue(McQueue *queue, bool start)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < QUEUES; i++) {
        if (queues[i].queue == (start ? NULL : queue)) {
            queues[i] = (Known){.queue = start ? queue : NULL,
                                .serial = ++queue_serials};
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

void mc_watch_submitted(McQueue *queue, uint64_t value)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < QUEUES; i++) {
        if (queues[i].queue == queue) {
            queues[i].value = value;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* NULL: nothing runs. */
static Work *running(void)
{
    Point points[QUEUES];
    unsigned count = 0;
    Work *work;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < QUEUES; i++) {
        const Known *k = &queues[i];

        if (k->queue && !mc_queue_reached(k->queue, k->value)) {
            points[count++] = (Point){i, k->serial, k->value};
        }
    }
    pthread_mutex_unlock(&lock);
    work = count ? malloc(sizeof(*work) + count * sizeof(Point)) : NULL;
    if (work) {
        *work = (Work){.count = count};
        memcpy(work->points, points, count * sizeof(Point));
    }
    return work;
}

/* Under the lock. */
static bool has_ended(Work *work)
{
    while (work->count) {
        const Point *p = &work->points[work->count - 1];
        const Known *k = &queues[p->place];

        if (k->serial == p->serial && k->queue &&
            !mc_queue_reached(k->queue, p->value)) {
            return false;
        }
        work->count--;
    }
    return true;
}

static bool until_ended(void *until, bool forget)
{
    bool ended;

    pthread_mutex_lock(&lock);
    ended = has_ended(until);
    pthread_mutex_unlock(&lock);
    if (ended || forget) {
        free(until);
    }
    return ended;
}

void mc_watch_settle(void)
{
    Work *ended = NULL, *w;

    pthread_mutex_lock(&lock);
    for (Work **at = &untold; (w = *at) != NULL;) {
        if (has_ended(w)) {
            *at = w->next;
            w->next = ended;
            ended = w;
        } else {
            at = &w->next;
        }
    }
    pthread_mutex_unlock(&lock);
    while ((w = ended) != NULL) {
        ended = w->next;
        mc_link_send(MC_LINK_SETTLED, 0, w->number, 0, 0);
        free(w);
    }
}

/* ---- allocations come and go ---- */

static void made(const McRange *range)
{
    McAlloc a = {
        .base = range->base,
        .size = range->size,
        .kind = range->kind,
        .device = range->device,
    };
    uint64_t number;

    mc_trace_take(&a.made);
    number = mc_live_add(&a);
    if (!number) {
        abort(); /* a checker that forgets would say what is not true */
    }
    mc_link_send(MC_LINK_ADD, a.kind, a.base, a.size, number);
}

static void gone(const McRange *range)
{
    Work *work = running(), *copy = NULL;
    McTrace trace;
    McAlloc a;

    mc_trace_take(&trace);
    if (!mc_live_at(range->base, &a)) {
        a.number = 0;
    }
    if (work && mc_link_on()) {
        size_t size = sizeof(*work) + work->count * sizeof(Point);

        copy = malloc(size);
        if (copy) {
            memcpy(copy, work, size);
            copy->number = a.number;
        }
    }
    mc_link_send(MC_LINK_REMOVE, copy != NULL, range->base, a.number, 0);
    mc_live_remove(range->base, &trace, work);
    if (copy) {
        pthread_mutex_lock(&lock);
        copy->next = untold;
        untold = copy;
        pthread_mutex_unlock(&lock);
    }
}

static void see_range(const McRange *range, bool added)
{
    (added ? made : gone)(range);
}

static void see_arena(uint64_t va, uint64_t size, bool added)
{
    if (!mc_live_arena(va, size, added)) {
        abort();
    }
    mc_link_send(MC_LINK_ARENA, added, va, size, 0);
}

static const McMemoryWatch watch = {
    .range = see_range,
    .arena = see_arena,
};

void mc_watch_start(void)
{
    void *warm[2];

    (void)backtrace(warm, 2); /* loads what it needs, which allocates */
    mc_live_until_ended = until_ended;
    mc_memory_watch = &watch;
}
