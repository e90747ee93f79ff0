/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* dladdr */
#include "live.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory/watch.h"
#include "core/queue/queue.h"
#include "kmd/kmd.h"

#define PAGE_MASK (KMD_PAGE_SIZE - 1)
#define QUEUES    512

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

typedef struct Freed {
    McAlloc alloc;
    Point *points; /* that have to be reached first */
    unsigned count;
} Freed;

typedef struct Arena {
    uint64_t base, size;
} Arena;

/* Sorted by address. */
typedef struct Table {
    void **at;
    unsigned count, room;
} Table;

atomic_ullong mc_live_generation = 1;
void (*mc_live_made)(const McRange *range);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Table allocs, arenas;
static Freed *freed[MC_FREED_MAX]; /* a ring */
static unsigned freed_next;
static uint64_t numbers;
static Known queues[QUEUES];
static uint64_t queue_serials;

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

/* ---- sorted tables; each element begins with its address and size ---- */

static uint64_t base_of(const Table *t, unsigned i)
{
    return *(const uint64_t *)t->at[i];
}

static uint64_t end_of(const Table *t, unsigned i)
{
    return base_of(t, i) + ((const uint64_t *)t->at[i])[1];
}

/* The first element that ends behind addr, or count. */
static unsigned lower(const Table *t, uint64_t addr)
{
    unsigned from = 0, to = t->count;

    while (from < to) {
        unsigned middle = from + (to - from) / 2;

        if (end_of(t, middle) <= addr) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

static void insert(Table *t, void *element)
{
    unsigned i;

    if (t->count == t->room) {
        unsigned room = t->room ? 2 * t->room : 256;
        void **at = realloc(t->at, room * sizeof(*at));

        if (!at) {
            abort(); /* a checker that forgets would say what is not true */
        }
        t->at = at;
        t->room = room;
    }
    i = lower(t, *(uint64_t *)element);
    memmove(t->at + i + 1, t->at + i, (t->count - i) * sizeof(*t->at));
    t->at[i] = element;
    t->count++;
}

static void *take(Table *t, uint64_t base)
{
    unsigned i = lower(t, base);
    void *element;

    if (i == t->count || base_of(t, i) != base) {
        return NULL;
    }
    element = t->at[i];
    memmove(t->at + i, t->at + i + 1, (t->count - i - 1) * sizeof(*t->at));
    t->count--;
    return element;
}

/* ---- queues ---- */

void mc_live_queue(McQueue *queue, bool start)
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

void mc_live_submitted(McQueue *queue, uint64_t value)
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

static void note_points(Freed *f)
{
    Point points[QUEUES];

    for (unsigned i = 0; i < QUEUES; i++) {
        const Known *k = &queues[i];

        if (k->queue && !mc_queue_reached(k->queue, k->value)) {
            points[f->count++] = (Point){i, k->serial, k->value};
        }
    }
    f->points = f->count ? malloc(f->count * sizeof(Point)) : NULL;
    if (f->points) {
        memcpy(f->points, points, f->count * sizeof(Point));
    }
}

/* Whether work that was submitted before it was freed may still run. */
static bool pending(Freed *f)
{
    while (f->points && f->count) {
        const Point *p = &f->points[f->count - 1];
        const Known *k = &queues[p->place];

        if (k->serial == p->serial && k->queue &&
            !mc_queue_reached(k->queue, p->value)) {
            return true;
        }
        f->count--;
    }
    return false;
}

/* ---- allocations come and go ---- */

static void forget(Freed *f)
{
    if (f) {
        free(f->points);
        free(f);
    }
}

static void made(const McRange *range)
{
    McAlloc *a = calloc(1, sizeof(*a));

    if (!a) {
        abort();
    }
    a->base = range->base;
    a->size = range->size;
    a->kind = range->kind;
    a->device = range->device;
    mc_trace_take(&a->made);
    pthread_mutex_lock(&lock);
    a->number = ++numbers;
    insert(&allocs, a);
    atomic_fetch_add(&mc_live_generation, 1);
    pthread_mutex_unlock(&lock);
    if (mc_live_made) {
        mc_live_made(range);
    }
}

static void gone(const McRange *range)
{
    Freed *f = calloc(1, sizeof(*f));
    McTrace trace;
    McAlloc *a;

    mc_trace_take(&trace);
    pthread_mutex_lock(&lock);
    a = take(&allocs, range->base);
    if (a && f) {
        f->alloc = *a;
        f->alloc.freed = trace;
        note_points(f);
        forget(freed[freed_next]);
        freed[freed_next] = f;
        freed_next = (freed_next + 1) % MC_FREED_MAX;
        f = NULL;
    }
    atomic_fetch_add(&mc_live_generation, 1);
    pthread_mutex_unlock(&lock);
    free(a);
    free(f);
}

static void see_range(const McRange *range, bool added)
{
    (added ? made : gone)(range);
}

static void see_arena(uint64_t va, uint64_t size, bool added)
{
    Arena *arena;

    pthread_mutex_lock(&lock);
    if (added && (arena = malloc(sizeof(*arena))) != NULL) {
        *arena = (Arena){va, size};
        insert(&arenas, arena);
    } else if (!added) {
        free(take(&arenas, va));
    }
    atomic_fetch_add(&mc_live_generation, 1);
    pthread_mutex_unlock(&lock);
}

static const McMemoryWatch watch = {
    .range = see_range,
    .arena = see_arena,
};

void mc_live_start(void)
{
    void *warm[2];

    (void)backtrace(warm, 2); /* loads what it needs, which allocates */
    mc_memory_watch = &watch;
}

/* ---- looking ---- */

static Freed *freed_at(uint64_t addr, uint64_t high)
{
    for (unsigned n = 1; n <= MC_FREED_MAX; n++) {
        Freed *f = freed[(freed_next + MC_FREED_MAX - n) % MC_FREED_MAX];

        if (!f) {
            return NULL;
        }
        if (addr - f->alloc.base < f->alloc.size &&
            high - f->alloc.base <= f->alloc.size) {
            return f;
        }
    }
    return NULL;
}

/* Host memory is pinned by pages: behind its end the rest of the last one is
 * not the allocation's, though the device reaches it. */
static bool has_tail(const McAlloc *a)
{
    return a->kind == MC_RANGE_HOST || a->kind == MC_RANGE_MANAGED ||
           a->kind == MC_RANGE_IPC || a->kind == MC_RANGE_REGISTERED;
}

static McLook outside(uint64_t low, uint64_t high)
{
    Freed *f = freed_at(low, high);

    return !f ? MC_LOOK_OUTSIDE : pending(f) ? MC_LOOK_PENDING : MC_LOOK_FREED;
}

/* In no allocation; "next" is the one behind. */
static McLook look_between(uint64_t low, uint64_t high, unsigned next,
                           uint64_t *from, uint64_t *to)
{
    unsigned arena = lower(&arenas, low);

    *from = 0;
    *to = UINT64_MAX;
    if (next < allocs.count) {
        *to = base_of(&allocs, next);
    }
    if (arena < arenas.count && base_of(&arenas, arena) < *to) {
        *to = base_of(&arenas, arena);
    }
    if (high > *to) {
        return outside(low, high);
    }
    if (next > 0) {
        const McAlloc *a = allocs.at[next - 1];
        uint64_t end = a->base + a->size;

        *from = has_tail(a) ? (end + PAGE_MASK) & ~PAGE_MASK : end;
    }
    if (low < *from) {
        return outside(low, high);
    }
    if (arena > 0 && end_of(&arenas, arena - 1) > *from) {
        *from = end_of(&arenas, arena - 1);
    }
    return MC_LOOK_OK;
}

McLook mc_live_look(uint64_t low, uint64_t high, uint64_t *from, uint64_t *to)
{
    McLook look;
    unsigned i;

    pthread_mutex_lock(&lock);
    i = lower(&allocs, low);
    if (i < allocs.count && base_of(&allocs, i) <= low) {
        *from = base_of(&allocs, i);
        *to = end_of(&allocs, i);
        look = high <= *to ? MC_LOOK_OK : outside(low, high);
    } else {
        look = look_between(low, high, i, from, to);
    }
    pthread_mutex_unlock(&lock);
    return look;
}

bool mc_live_at(uint64_t addr, McAlloc *out)
{
    unsigned i;
    bool found;

    pthread_mutex_lock(&lock);
    i = lower(&allocs, addr);
    found = i < allocs.count && base_of(&allocs, i) <= addr;
    if (found) {
        *out = *(const McAlloc *)allocs.at[i];
    }
    pthread_mutex_unlock(&lock);
    return found;
}

bool mc_live_within(uint64_t base, uint64_t size)
{
    unsigned i;
    bool found;

    pthread_mutex_lock(&lock);
    i = lower(&allocs, base);
    found = i < allocs.count && base_of(&allocs, i) < base + size;
    i = lower(&arenas, base);
    found |= i < arenas.count && base_of(&arenas, i) < base + size;
    pthread_mutex_unlock(&lock);
    return found;
}

bool mc_live_near(uint64_t addr, McAlloc *out)
{
    const McAlloc *best = NULL;
    uint64_t distance = UINT64_MAX;
    unsigned i;

    pthread_mutex_lock(&lock);
    i = lower(&allocs, addr);
    for (unsigned n = i; n > 0 && i - n < 64; n--) { /* modules do not count */
        const McAlloc *a = allocs.at[n - 1];

        if (a->kind != MC_RANGE_MODULE) {
            best = a;
            distance = addr - (a->base + a->size);
            break;
        }
    }
    for (unsigned n = i; n < allocs.count && n - i < 64; n++) {
        const McAlloc *a = allocs.at[n];

        if (a->kind != MC_RANGE_MODULE) {
            uint64_t far = a->base <= addr ? 0 : a->base - addr;

            best = far < distance ? a : best;
            break;
        }
    }
    if (best) {
        *out = *best;
    }
    pthread_mutex_unlock(&lock);
    return best;
}

bool mc_live_freed(uint64_t addr, McAlloc *out)
{
    Freed *f;

    pthread_mutex_lock(&lock);
    f = freed_at(addr, addr + 1);
    if (f) {
        *out = f->alloc;
    }
    pthread_mutex_unlock(&lock);
    return f;
}

void mc_live_each(void (*fn)(const McAlloc *alloc, void *opaque), void *opaque)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < allocs.count; i++) {
        fn(allocs.at[i], opaque);
    }
    pthread_mutex_unlock(&lock);
}
