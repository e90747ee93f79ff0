/* SPDX-License-Identifier: MIT */
#include "live.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_MASK 4095ull

typedef struct Freed {
    McAlloc alloc;
    void *until; /* what work may use it; NULL: none */
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
void (*mc_live_made)(const McAlloc *alloc);
bool (*mc_live_until_ended)(void *until, bool forget);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Table allocs, arenas;
static Freed *freed[MC_FREED_MAX]; /* a ring */
static unsigned freed_next;
static uint64_t numbers;

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

static bool insert(Table *t, void *element)
{
    unsigned i;

    if (t->count == t->room) {
        unsigned room = t->room ? 2 * t->room : 256;
        void **at = realloc(t->at, room * sizeof(*at));

        if (!at) {
            return false;
        }
        t->at = at;
        t->room = room;
    }
    i = lower(t, *(uint64_t *)element);
    memmove(t->at + i + 1, t->at + i, (t->count - i) * sizeof(*t->at));
    t->at[i] = element;
    t->count++;
    return true;
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

/* ---- allocations come and go ---- */

static bool ended(void *until, bool forget)
{
    return !until || mc_live_until_ended(until, forget);
}

static void forget(Freed *f)
{
    if (f) {
        ended(f->until, true);
        free(f);
    }
}

/* Whether work that was submitted before it was freed may still run. */
static bool pending(Freed *f)
{
    if (f->until && ended(f->until, false)) {
        f->until = NULL;
    }
    return f->until;
}

uint64_t mc_live_add(const McAlloc *alloc)
{
    McAlloc *a = malloc(sizeof(*a));
    uint64_t number = 0;

    if (!a) {
        return 0;
    }
    *a = *alloc;
    pthread_mutex_lock(&lock);
    if (insert(&allocs, a)) {
        number = a->number = ++numbers;
        atomic_fetch_add(&mc_live_generation, 1);
    }
    pthread_mutex_unlock(&lock);
    if (!number) {
        free(a);
    } else if (mc_live_made) {
        mc_live_made(alloc);
    }
    return number;
}

bool mc_live_remove(uint64_t base, const McTrace *trace, void *until)
{
    Freed *f = calloc(1, sizeof(*f));
    McAlloc *a;

    pthread_mutex_lock(&lock);
    a = take(&allocs, base);
    if (a && f) {
        f->alloc = *a;
        f->alloc.freed = *trace;
        f->until = until;
        until = NULL;
        forget(freed[freed_next]);
        freed[freed_next] = f;
        freed_next = (freed_next + 1) % MC_FREED_MAX;
        f = NULL;
    }
    atomic_fetch_add(&mc_live_generation, 1);
    pthread_mutex_unlock(&lock);
    ended(until, true);
    free(f);
    free(a);
    return a;
}

bool mc_live_arena(uint64_t base, uint64_t size, bool added)
{
    Arena *arena = added ? malloc(sizeof(*arena)) : NULL;
    bool done = true;

    pthread_mutex_lock(&lock);
    if (!added) {
        free(take(&arenas, base));
    } else if (arena) {
        *arena = (Arena){base, size};
        done = insert(&arenas, arena);
    } else {
        done = false;
    }
    atomic_fetch_add(&mc_live_generation, 1);
    pthread_mutex_unlock(&lock);
    if (!done) {
        free(arena);
    }
    return done;
}

static void empty(Table *t)
{
    while (t->count) {
        free(t->at[--t->count]);
    }
}

void mc_live_clear(void)
{
    pthread_mutex_lock(&lock);
    empty(&allocs);
    empty(&arenas);
    for (unsigned i = 0; i < MC_FREED_MAX; i++) {
        forget(freed[i]);
        freed[i] = NULL;
    }
    atomic_fetch_add(&mc_live_generation, 1);
    pthread_mutex_unlock(&lock);
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
