/* SPDX-License-Identifier: MIT */
/* malloc and free of kernels (heap.h). */
#include "heap.h"

#include "device.h"
#include "fifo.h"

void *__mx_malloc(size_t size);
void *__mx_aligned_alloc(size_t align, size_t size);
void __mx_free(void *object);

/* The runtime writes the address before a kernel that uses it is launched. */
__attribute__((visibility("default"))) struct mc_heap *volatile __mx_heap;

#define NONE UINT64_MAX
#define KIND(state)  ((state) >> MC_HEAP_KIND_SHIFT)
#define COUNT(state) ((state) & 0xffffffffffffull)
#define STATE(kind, count) ((uint64_t)(kind) << MC_HEAP_KIND_SHIFT | (count))

/* Bytes of class n + 1; each divides into a page as often as the loss is
 * small. */
static const uint16_t sizes[MC_HEAP_CLASSES] = {
    16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1344, 2048,
};

static unsigned class_of(size_t size)
{
    unsigned class = 0;

    while (sizes[class] < size) {
        class++;
    }
    return class + 1;
}

static uint64_t load(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static void store(uint64_t *p, uint64_t value)
{
    __atomic_store_n(p, value, __ATOMIC_RELAXED);
}

static int swap(uint64_t *p, uint64_t *seen, uint64_t value)
{
    return __atomic_compare_exchange_n(p, seen, value, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

/* ---- objects ---- */

typedef struct Taken {
    uint64_t page;
    unsigned first, count; /* counted before these, and of these */
} Taken;

/* Counts up to wanted objects of a class in one page. */
static int take_of(struct mc_heap_page *page, unsigned class, unsigned wanted,
                   Taken *t)
{
    unsigned most = MC_HEAP_PAGE / sizes[class - 1];
    uint64_t state = load(&page->state);

    while (!state || (KIND(state) == class && COUNT(state) < most)) {
        unsigned room = most - (unsigned)COUNT(state);

        t->first = (unsigned)COUNT(state);
        t->count = wanted < room ? wanted : room;
        if (swap(&page->state, &state, STATE(class, t->first + t->count))) {
            return 1;
        }
    }
    return 0;
}

static int take(struct mc_heap *h, unsigned class, unsigned wanted, Taken *t)
{
    uint64_t freed = __atomic_load_n(&h->freed, __ATOMIC_ACQUIRE);
    uint64_t page = load(&h->first[class]);

    if (load(&h->failed[class]) == freed + 1) {
        return 0;
    }
    for (uint64_t left = h->pages; left; left--) {
        page = page < h->pages ? page : 0;
        if (take_of(&h->page[page], class, wanted, t)) {
            store(&h->first[class], page);
            t->page = page;
            return 1;
        }
        page++;
    }
    store(&h->failed[class], freed + 1);
    return 0;
}

/* One of the objects that are counted but have no owner: nth is a guess. */
static void *claim(struct mc_heap *h, uint64_t page, unsigned class,
                   unsigned nth)
{
    unsigned size = sizes[class - 1], most = MC_HEAP_PAGE / size;
    uint64_t *used = h->page[page].used;

    for (;; nth++) {
        nth = nth < most ? nth : 0;
        unsigned base = nth & ~63u;
        uint64_t exist = most - base >= 64 ? ~0ull
                                           : (1ull << (most - base)) - 1;
        uint64_t room = ~load(&used[base / 64]) & exist & ~0ull << (nth - base);
        uint64_t bit = room & -room;

        if (!room) {
            nth = base + 63;
            continue;
        }
        nth = base + (unsigned)__builtin_ctzl(room);
        if (!(__atomic_fetch_or(&used[base / 64], bit, __ATOMIC_ACQ_REL) &
              bit)) {
            return (void *)(h->base + page * MC_HEAP_PAGE + nth * size);
        }
    }
}

/* Lanes that are here together and want the same size count as one. */
static void *small(struct mc_heap *h, unsigned class)
{
    uint64_t lane = MX_CSR(MXGPU_CSR_LANE);

    for (;;) {
        uint64_t lanes = mx_match(class);
        uint64_t leader = (unsigned)__builtin_ctzl(lanes);
        unsigned rank = __builtin_popcountl(lanes & ((1ull << lane) - 1));
        Taken t = {.page = NONE};

        if (lane == leader &&
            !take(h, class, __builtin_popcountl(lanes), &t)) {
            t.page = NONE;
        }
        mx_warpsync(lanes);
        t.page = mx_shfl(t.page, leader);
        t.first = mx_shfl(t.first, leader);
        t.count = mx_shfl(t.count, leader);
        if (t.page == NONE) {
            return NULL;
        }
        if (rank < t.count) {
            return claim(h, t.page, class, t.first + rank);
        }
    }
}

/* ---- runs of pages ---- */

/* Takes the pages from first on, if all are free; others may take one
 * meanwhile. Each of them says how far the first is. */
static int take_run(struct mc_heap *h, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t seen = 0;

        if (!swap(&h->page[first + i].state, &seen,
                  i ? STATE(MC_HEAP_PART, i) : STATE(MC_HEAP_RUN, count))) {
            while (i--) {
                store(&h->page[first + i].state, 0);
            }
            return 0;
        }
    }
    return 1;
}

/* A run among the pages below top, from the end: objects fill the heap from
 * the start. *top becomes the end of what may be free. */
static uint64_t find_run(struct mc_heap *h, uint64_t *top, uint64_t count)
{
    uint64_t run = 0, end = 0;

    for (uint64_t page = *top; page--;) {
        uint64_t state = load(&h->page[page].state);

        if (state) {
            run = 0;
            if (KIND(state) == MC_HEAP_PART) {
                page -= COUNT(state) < page ? COUNT(state) : page;
            }
            continue;
        }
        if (++run == count) {
            if (take_run(h, page, count)) {
                *top = end > page + count ? end : page;
                return page;
            }
            run = 0; /* somebody was faster: on, below */
        }
        end = end ? end : page + 1;
    }
    return NONE;
}

/* No lock: whoever waits for one spins for a whole turn of its warp. */
static void *new_run(struct mc_heap *h, uint64_t count)
{
    uint64_t freed = __atomic_load_n(&h->freed, __ATOMIC_ACQUIRE);
    uint64_t top = load(&h->run_top), page;

    if (load(&h->run_failed) == freed + 1 && count >= load(&h->run_size)) {
        return NULL;
    }
    top = top < h->pages ? top : h->pages;
    page = find_run(h, &top, count);
    if (page == NONE && top != h->pages) {
        top = h->pages; /* the hint may be old */
        page = find_run(h, &top, count);
    }
    if (page == NONE) {
        store(&h->run_size, count);
        store(&h->run_failed, freed + 1);
        return NULL;
    }
    store(&h->run_top, top);
    return (void *)(h->base + page * MC_HEAP_PAGE);
}

/* Lanes in turn, so that they do not take each other's pages. */
static void *large(struct mc_heap *h, size_t size)
{
    uint64_t lanes = mx_active(), lane = MX_CSR(MXGPU_CSR_LANE);
    void *object = NULL;

    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        if ((unsigned)__builtin_ctzl(rest) == lane &&
            size <= h->pages * MC_HEAP_PAGE) {
            object = new_run(h, (size + MC_HEAP_PAGE - 1) / MC_HEAP_PAGE);
        }
        mx_warpsync(lanes);
    }
    return object;
}

/* ---- free ---- */

/* end: of pages that became free; or 0 */
static void made_room(struct mc_heap *h, uint64_t end)
{
    if (end > load(&h->run_top)) {
        store(&h->run_top, end);
    }
    __atomic_fetch_add(&h->freed, 1, __ATOMIC_ACQ_REL);
}

static int free_small(struct mc_heap *h, struct mc_heap_page *page,
                      unsigned class, unsigned offset)
{
    unsigned size = sizes[class - 1], nth = offset / size;
    uint64_t bit = 1ull << (nth % 64), state;

    if (offset % size ||
        !(__atomic_fetch_and(&page->used[nth / 64], ~bit, __ATOMIC_ACQ_REL) &
          bit)) {
        return 0;
    }
    state = __atomic_fetch_sub(&page->state, 1, __ATOMIC_ACQ_REL);
    if (COUNT(state) == 1) {
        uint64_t empty = STATE(class, 0);

        swap(&page->state, &empty, 0);
        made_room(h, page - h->page + 1);
    } else if (COUNT(state) == MC_HEAP_PAGE / size) {
        made_room(h, 0);
    }
    return 1;
}

static int free_run(struct mc_heap *h, struct mc_heap_page *page,
                    uint64_t state)
{
    /* Whoever makes it a part is the one who frees it. */
    if (!swap(&page->state, &state, STATE(MC_HEAP_PART, 0))) {
        return 0;
    }
    for (uint64_t i = COUNT(state); i--;) {
        __atomic_store_n(&page[i].state, 0, __ATOMIC_RELEASE);
    }
    made_room(h, page - h->page + COUNT(state));
    return 1;
}

static int release(struct mc_heap *h, uint64_t address)
{
    uint64_t offset = address - h->base;
    struct mc_heap_page *page;
    uint64_t state;

    if (address < h->base || offset >= h->pages * MC_HEAP_PAGE) {
        return 0;
    }
    page = &h->page[offset / MC_HEAP_PAGE];
    state = load(&page->state);
    offset %= MC_HEAP_PAGE;
    if (KIND(state) >= 1 && KIND(state) <= MC_HEAP_CLASSES) {
        return free_small(h, page, (unsigned)KIND(state), (unsigned)offset);
    }
    return KIND(state) == MC_HEAP_RUN && !offset && free_run(h, page, state);
}

/* ---- what kernels call ---- */

void *__mx_malloc(size_t size)
{
    struct mc_heap *h = __mx_heap;

    if (!h) {
        return NULL;
    }
    return size <= MC_HEAP_SMALL ? small(h, class_of(size)) : large(h, size);
}

/* Objects whose size is a power of two are aligned to it, to a page at most. */
void *__mx_aligned_alloc(size_t align, size_t size)
{
    size_t room = 16;

    if (align > MC_HEAP_PAGE) {
        return NULL;
    }
    if (align <= 16 || size > MC_HEAP_SMALL) {
        return __mx_malloc(size);
    }
    while (room < size || room < align) {
        room *= 2;
    }
    return __mx_malloc(room);
}

/* What is not an object ends the kernel. */
void __mx_free(void *object)
{
    MxRecord r;

    if (!object || (__mx_heap && release(__mx_heap, (uint64_t)object))) {
        return;
    }
    if (mx_record_begin(&r, MC_RECORD_FREE, 8 + 8 * MC_WHERE_WORDS, 1)) {
        mx_record_put(&r, (uint64_t)object);
        mx_record_where(&r);
        mx_record_end(&r);
    }
    __asm__ volatile("ebreak" ::: "memory");
}
