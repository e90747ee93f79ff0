/* SPDX-License-Identifier: MIT */
/* Lanes that do not access consecutive words: each by itself. */
#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "race_access.h"

static void touch_global(Access *a, uint64_t addr, unsigned size, Place *place)
{
    while (size) {
        uint64_t base = addr & ~(uint64_t)(MC_SHADOW_PAGE - 1);
        unsigned bytes = base + MC_SHADOW_PAGE - addr < size
                             ? (unsigned)(base + MC_SHADOW_PAGE - addr)
                             : size;
        Row *rows = rows_at(place, addr);

        if (rows) {
            mc_race_touch(a, rows, base, addr, bytes);
        }
        addr += bytes;
        size -= bytes;
    }
}

/* Where a lane goes: its row, or NULL, and that row's page. */
typedef struct Goal {
    Row *row;
    McShadowPage *page;
} Goal;

/* Pages that were looked for, which are mostly those that are looked for next, as long
 * as there are no other allocations. */
#define RECENT 1024
typedef struct Recent {
    uint64_t generation;
    struct {
        uint64_t base;
        McShadowPage *page;
    } pages[RECENT];
} Recent;

/* Of a unit, which one thread runs at a time. Not the thread's own: of that little
 * can be had by a library that is loaded late. */
static Recent *recents[MC_DEVICES][MXGPU_MAX_COMPUTE_UNITS];

/* NULL: the host has no memory. */
static Recent *recent_open(const Access *a)
{
    uint64_t generation = atomic_load(&mc_live_generation);
    Recent **at = &recents[(uintptr_t)a->opaque % MC_DEVICES]
                          [a->w->unit % MXGPU_MAX_COMPUTE_UNITS];

    if (!*at) {
        *at = calloc(1, sizeof(**at));
    } else if ((*at)->generation != generation) {
        memset(*at, 0, sizeof(**at));
    }
    if (*at) {
        (*at)->generation = generation;
    }
    return *at;
}

static HOT McShadowPage *find_page(Recent *r, uint64_t base)
{
    unsigned i = base / MC_SHADOW_PAGE % RECENT;

    if (!r) {
        return mc_shadow_page(&mc_race_shadow, base);
    }
    if (r->pages[i].base != base || !r->pages[i].page) {
        r->pages[i].base = base;
        r->pages[i].page = mc_shadow_page(&mc_race_shadow, base);
    }
    return r->pages[i].page;
}

/* Lanes that go anywhere each miss the host's caches three times: for the page, for
 * the row, and for the word. All of them are asked for before the first is looked
 * at. */
static void find_goals(const Access *a, const MxgpuObservedAccess *seen,
                       uint64_t lanes, Goal *goals)
{
    uint64_t base = 1;
    Recent *recent = recent_open(a);
    McShadowPage *page = NULL;

    for (uint64_t m = lanes; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m);
        uint64_t addr = seen->addr[lane], offset = addr % MC_SHADOW_PAGE;

        if (addr - offset != base) {
            base = addr - offset;
            page = addr < MXGPU_VA_LIMIT ? find_page(recent, base) : NULL;
        }
        goals[lane].page = page;
        goals[lane].row = NULL;
        if (page) {
            goals[lane].row = (Row *)page->bytes + offset / ROW_BYTES;
            __builtin_prefetch(goals[lane].row, 1);
            __builtin_prefetch(page, 1);
        }
    }
    for (uint64_t m = lanes; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m), i = seen->addr[lane] / 4 % ROW_WORDS;
        const Row *row = goals[lane].row;

        if (row) {
            __builtin_prefetch(row->by == ROW_BY_WORDS
                                   ? (void *)&row->words[i]
                                   : (void *)&row->records[i], 1);
        }
    }
}

static void lane_global(Access *a, uint64_t addr, unsigned size, Place *place)
{
    Row *rows = look_at(place, addr);

    set_memory(a, true);
    if (rows && a->is.kind == KIND_READ &&
        is_shared(a, rows, addr % MC_SHADOW_PAGE, size)) {
        return;
    }
    touch_global(a, addr, size, place);
}

static void lane_shared(Access *a, uint64_t addr, unsigned size)
{
    Row *rows = a->race->shared;
    uint64_t offset = addr - MXGPU_SHARED_BASE;

    if (offset >= MXGPU_SHARED_MAX || offset + size > MXGPU_SHARED_MAX) {
        return;
    }
    set_memory(a, false);
    if (!(a->is.kind == KIND_READ && is_shared(a, rows, offset, size))) {
        mc_race_touch(a, rows, MXGPU_SHARED_BASE, addr, size);
    }
}

/* Out of line: what the loop over lanes keeps in registers stays there. */
static __attribute__((noinline)) void
touch_lane(Access *a, const MxgpuObservedAccess *seen, unsigned lane, Place *place)
{
    uint64_t addr = seen->addr[lane];
    bool global = a->global;

    mc_record_set_thread(&a->is, a->w->warp * MXGPU_WARP_SIZE + lane);
    a->value = seen->value ? seen->value[lane] : 0;
    if (addr < MXGPU_VA_LIMIT) {
        lane_global(a, addr, seen->size, place);
    } else {
        lane_shared(a, addr, seen->size);
    }
    set_memory(a, global);
    mc_record_set_bytes(&a->is, 15);
}

/* To what is kept of where the next lane goes. */
static HOT void go_to(Place *place, McShadowPage *page)
{
    if (page && place->page != page) {
        leave(place);
        place->page = page;
    }
}

static HOT void lock(Place *place)
{
    if (!place->locked) {
        mc_shadow_lock(place->page);
        place->locked = true;
    }
}

/* How rows are found: that of a block's memory; those that are known; or each when
 * it is its turn. */
typedef enum Find { FIND_SHARED, FIND_KNOWN, FIND_NEAR } Find;

static HOT Row *find_row(const Access *a, Place *place, uint64_t addr,
                         const Goal *goal, Find find)
{
    uint64_t offset = addr - MXGPU_SHARED_BASE;
    Row *rows;

    switch (find) {
    case FIND_SHARED:
        return offset < MXGPU_SHARED_MAX ? &a->race->shared[offset / ROW_BYTES]
                                         : NULL;
    case FIND_KNOWN:
        return goal->row;
    default:
        rows = addr < MXGPU_VA_LIMIT ? look_at(place, addr) : NULL;
        return rows ? rows + addr % MC_SHADOW_PAGE / ROW_BYTES : NULL;
    }
}

/* By whole words, unless one is not aligned. goals: if they are known. */
static HOT void each_word(Access *a, const MxgpuObservedAccess *seen,
                          uint64_t lanes, const Goal *goals, bool reads,
                          Find find)
{
    const uint64_t *addr = seen->addr, *values = seen->value;
    uint64_t epoch = a->epoch, sharing = a->sharing, last = 1, who;
    Place place = {.none = 1};
    unsigned same = 0;

    mc_record_set_thread(&a->is, a->w->warp * MXGPU_WARP_SIZE);
    who = a->is.half[1];
    for (uint64_t m = lanes; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m), i = addr[lane] / 4 % ROW_WORDS;
        Row *row = find_row(a, &place, addr[lane], goals ? &goals[lane] : NULL, find);
        bool quick = row && !(addr[lane] & 3);

        if (reads) { /* of those that read one place, two stand for all */
            same = addr[lane] == last ? same + 1 : 0;
            last = addr[lane];
            if (same > 1 ||
                (quick && mc_row_shared(row, sharing) >> i & 1)) {
                continue;
            }
        }
        if (find == FIND_KNOWN) {
            go_to(&place, goals[lane].page);
        }
        if (quick) {
            if (find != FIND_SHARED) {
                lock(&place);
            }
            if (mc_row_has_records(row, epoch) &&
                touch_record(a, row, i, who + MC_RECORD_THREAD * lane,
                              reads ? 0 : values[lane], reads)) {
                continue;
            }
        }
        touch_lane(a, seen, lane, &place);
    }
    leave(&place);
}

static void each_lane(Access *a, const MxgpuObservedAccess *seen,
                      uint64_t lanes)
{
    Goal goals[MXGPU_WARP_SIZE];
    Place place = {.none = 1};

    if (a->global) {
        find_goals(a, seen, lanes, goals);
    }
    for (uint64_t m = lanes; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m);

        if (a->global) {
            go_to(&place, goals[lane].page);
        }
        touch_lane(a, seen, lane, &place);
    }
    leave(&place);
}

/* Whether lanes are mostly where the lane before them is, as in rows of a matrix of
 * their own: it is enough to know of some. */
static bool are_near(const MxgpuObservedAccess *seen, uint64_t lanes)
{
    unsigned first = (unsigned)__builtin_ctzll(lanes);
    unsigned last = 63 - (unsigned)__builtin_clzll(lanes);
    unsigned middle = (unsigned)__builtin_ctzll(lanes >> (first + last) / 2) +
                      (first + last) / 2;
    uint64_t low = seen->addr[first], high = seen->addr[last];

    return low <= seen->addr[middle] && seen->addr[middle] <= high &&
           high - low < 4 * (uint64_t)MC_SHADOW_PAGE;
}

static HOT void each_kind(Access *a, const MxgpuObservedAccess *seen,
                          uint64_t lanes, const Goal *goals, Find find)
{
    if (a->is.kind == KIND_READ) {
        each_word(a, seen, lanes, goals, true, find);
    } else {
        each_word(a, seen, lanes, goals, false, find);
    }
}

static void each_known(Access *a, const MxgpuObservedAccess *seen, uint64_t lanes)
{
    Goal goals[MXGPU_WARP_SIZE];

    find_goals(a, seen, lanes, goals);
    each_kind(a, seen, lanes, goals, FIND_KNOWN);
}

void mc_race_touch_lanes(Access *a, const MxgpuObservedAccess *seen)
{
    uint64_t lanes = a->w->lanes;

    if (a->is.kind == KIND_READ && mc_row_same(lanes, seen->addr)) {
        uint64_t others = lanes & (lanes - 1);

        lanes = (lanes & -lanes) | (others & -others);
    }
    mc_record_set_bytes(&a->is, 15);
    set_memory(a, seen->addr[__builtin_ctzll(lanes)] < MXGPU_VA_LIMIT);
    if (seen->size != 4 ||
        (a->is.kind == KIND_WRITE ? !seen->value : a->is.kind != KIND_READ)) {
        each_lane(a, seen, lanes);
    } else if (!a->global) {
        each_kind(a, seen, lanes, NULL, FIND_SHARED);
    } else if (are_near(seen, lanes)) {
        each_kind(a, seen, lanes, NULL, FIND_NEAR);
    } else {
        each_known(a, seen, lanes);
    }
}
