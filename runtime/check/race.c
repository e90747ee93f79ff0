/* SPDX-License-Identifier: MIT */
/*
 * racecheck: two threads of a grid access the same bytes, one of them writes,
 * and nothing orders the accesses (order.h). Of each 4 bytes the last write and
 * two reads of different threads are kept. Two atomics are no race, nor are a
 * read and an atomic, nor two writes of the same value.
 */
#include <string.h>

#include "race_access.h"
#include "tools.h"

static atomic_ullong meetings; /* accesses that are such */

/* Atomics meet where they are done: before others of the warp are looked at, so
 * that what follows is behind it. */
static void meet_lanes(const Access *a, const MxgpuObservedAccess *seen)
{
    uint64_t last = 1, now = mc_order_tick();

    for (uint64_t m = a->w->lanes; m; m &= m - 1) {
        uint64_t place = seen->addr[__builtin_ctzll(m)] & ~3ull;

        if (place != last) {
            mc_order_meet(a->opaque, &a->race->order, a->w, place, now);
            last = place;
        }
    }
}

/* ---- what a warp has done since it was seen */

/* Reads of what others wrote for those who wait. */
static void meet_writer(Access *a, uint64_t addr)
{
    uint64_t offset = addr - MXGPU_SHARED_BASE;
    uint64_t grid = mc_grid(a->opaque, a->w->slot)->number & 0x3fff;
    Place place = {.none = 1};
    const Row *row = NULL;

    if (addr < MXGPU_VA_LIMIT) {
        row = rows_at(&place, addr);
        row = row ? row + addr % MC_SHADOW_PAGE / ROW_BYTES : NULL;
    } else if (offset < MXGPU_SHARED_MAX) {
        row = &a->race->shared[offset / ROW_BYTES];
    }
    if (row && row->by == ROW_BY_WORDS) {
        const Record *was = &row->words[addr / 4 % ROW_WORDS].write;

        if (is_meeting(was) && was->grid == grid) {
            mc_order_meet(a->opaque, &a->race->order, a->w, addr & ~3ull,
                      mc_order_tick());
        }
    }
    leave(&place);
}

static void settle(Access *a)
{
    Pending *p = &a->race->pending[a->w->warp];
    uint64_t lanes = p->lanes, last = 1, now;

    p->lanes = 0;
    if (!lanes || (!p->atomic && p->meetings == atomic_load(&meetings))) {
        return;
    }
    now = p->atomic ? mc_order_tick() : 0;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t place = p->addr[__builtin_ctzll(lanes)] & ~3ull;

        if (place == last) {
            continue;
        }
        last = place;
        if (p->atomic) {
            mc_order_meet(a->opaque, &a->race->order, a->w, place, now);
        } else {
            meet_writer(a, place);
        }
    }
}

/* Compilers make a string instruction of it, which takes longer to begin than this
 * to end. */
static void copy_addresses(uint64_t *to, const uint64_t *from)
{
    typedef uint64_t Pair __attribute__((vector_size(16)));

    for (unsigned i = 0; i < MXGPU_WARP_SIZE; i += 2) {
        Pair v;

        memcpy(&v, from + i, sizeof(v));
        memcpy(to + i, &v, sizeof(v));
    }
}

static void remember(Access *a, const MxgpuObservedAccess *seen)
{
    Pending *p = &a->race->pending[a->w->warp];

    if (a->is.kind == KIND_READ || a->is.kind == KIND_ATOMIC) {
        p->lanes = a->w->lanes;
        p->atomic = a->is.kind == KIND_ATOMIC;
        p->meetings = atomic_load(&meetings);
        copy_addresses(p->addr, seen->addr);
    }
    if (is_meeting(&a->is)) {
        atomic_fetch_add(&meetings, 1);
    }
}

static Kind kind_of(Access *a, const MxgpuObservedAccess *seen)
{
    McOrderWarp *warp = &a->race->order.warps[a->w->warp];

    if (seen->access == MXGPU_ACCESS_ATOMIC) {
        return KIND_ATOMIC;
    }
    if (seen->access == MXGPU_ACCESS_WRITE && warp->fenced) {
        warp->fenced = false;
        return KIND_SYNC;
    }
    return seen->access == MXGPU_ACCESS_WRITE ? KIND_WRITE : KIND_READ;
}

static bool row_before(const void *opaque, const Record *was)
{
    const Access *a = opaque;
    /* Any lane of each warp stands for all, but not the same one for both. */
    unsigned mine = a->is.thread ^ (a->is.thread == was->thread);

    return mc_order_before(a->opaque, &a->race->order, mine, was->time,
                           (uint32_t)was->block, (unsigned)was->thread, 0);
}

static const RowRules rules = {row_before, mc_race_shares};

static void touch_row(Access *a, const MxgpuObservedAccess *seen, Row *row,
                      uint64_t at)
{
    mc_row_open(row, a->epoch);
    a->is.thread = a->w->warp * MXGPU_WARP_SIZE + __builtin_ctzll(a->mask);
    if (mc_row_access(row, at, &a->lanes, &a->is, &rules, a, a->sharing)) {
        return;
    }
    for (uint64_t m = a->mask; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m);

        if (seen->addr[lane] - at < ROW_BYTES) {
            mc_record_set_thread(&a->is,
                                 a->w->warp * MXGPU_WARP_SIZE + lane);
            a->value = seen->value ? seen->value[lane] : 0;
            mc_race_touch(a, row, at, seen->addr[lane], seen->size);
        }
    }
}

/* Of lanes that access consecutive words. */
static void touch_rows(Access *a, const MxgpuObservedAccess *seen, Place *place)
{
    unsigned first = __builtin_ctzll(a->mask);
    unsigned last = 63 - __builtin_clzll(a->mask);
    uint64_t low = seen->addr[first], high = seen->addr[last] + seen->size;
    bool global = low < MXGPU_VA_LIMIT;

    if (!global && (low < MXGPU_SHARED_BASE ||
                    high > MXGPU_SHARED_BASE + MXGPU_SHARED_MAX)) {
        return;
    }
    set_memory(a, global);
    a->lanes.value = seen->value;
    for (uint64_t at = low & ~(ROW_BYTES - 1ull); at < high; at += ROW_BYTES) {
        Row *row = global ? look_at(place, at) : a->race->shared;
        uint64_t base = global ? at & ~(MC_SHADOW_PAGE - 1ull)
                               : MXGPU_SHARED_BASE;

        row = row ? row + (at - base) / ROW_BYTES : NULL;
        if (row) {
            mc_row_prefetch(row, a->is.kind == KIND_WRITE);
        }
        if (row && (a->is.kind != KIND_READ ||
                    mc_row_words(&a->lanes, at) &
                        ~mc_row_shared(row, a->sharing))) {
            if (global) {
                (void)rows_at(place, at);
            }
            touch_row(a, seen, row, at);
        }
    }
}

#define CHUNKS 8

/* Whether groups of so many lanes each access consecutive words. */
static bool in_chunks(const Access *a, const MxgpuObservedAccess *seen,
                      unsigned lanes, RowLanes *chunks)
{
    uint64_t all = lanes < 64 ? (1ull << lanes) - 1 : UINT64_MAX;

    for (unsigned i = 0; i < 64 / lanes; i++) {
        uint64_t mask = a->w->lanes & all << i * lanes;

        if (mask && !mc_row_lanes(&chunks[i], mask, seen->addr, seen->size)) {
            return false;
        }
    }
    return true;
}

/* Of the smallest groups the first one that is not empty. */
static uint64_t first_chunk(uint64_t lanes)
{
    unsigned at = (unsigned)__builtin_ctzll(lanes) / (64 / CHUNKS) * (64 / CHUNKS);

    return lanes & ((1ull << 64 / CHUNKS) - 1) << at;
}

/* Rows of a tile, mostly. Of those that read the same, two stand for all. */
static bool touch_chunks(Access *a, const MxgpuObservedAccess *seen)
{
    RowLanes chunks[CHUNKS];
    Place place = {.none = 1};
    unsigned lanes = 64, same = 0;
    uint64_t last = 1;

    if (a->is.kind != KIND_READ && a->is.kind != KIND_WRITE) {
        return false;
    }
    if (!mc_row_lanes(&chunks[0], first_chunk(a->w->lanes), seen->addr,
                      seen->size)) {
        return false; /* nor do more of them, which is soon known */
    }
    while (!in_chunks(a, seen, lanes, chunks)) {
        lanes /= 2;
        if (lanes < 64 / CHUNKS) {
            return false;
        }
    }
    for (unsigned i = 0; i < 64 / lanes; i++) {
        a->mask = a->w->lanes &
                  (lanes < 64 ? (1ull << lanes) - 1 : UINT64_MAX) << i * lanes;
        if (a->mask) {
            uint64_t addr = seen->addr[__builtin_ctzll(a->mask)];

            same = addr == last && a->is.kind == KIND_READ ? same + 1 : 0;
            last = addr;
            a->lanes = chunks[i];
            if (same < 2) {
                touch_rows(a, seen, &place);
            }
        }
    }
    leave(&place);
    return true;
}

static Race *race_of(void *opaque, const MxgpuObservedWarp *w, bool begins)
{
    bool fresh;
    Race *race = mc_block(opaque, w, sizeof(*race), &fresh);

    if (race && !race->shared[0].records) {
        for (unsigned i = 0; i < MXGPU_SHARED_MAX / ROW_BYTES; i++) {
            race->shared[i].records = &race->records[i * ROW_WORDS];
        }
    }
    if (race && (fresh || begins)) {
        race->order.slot = w->slot;
        mc_order_block(&race->order, begins);
        for (unsigned i = 0; i < MXGPU_BLOCK_THREADS / MXGPU_WARP_SIZE; i++) {
            race->pending[i].lanes = 0;
        }
    }
    return race;
}

static bool is_private(const MxgpuObservedWarp *w,
                       const MxgpuObservedAccess *seen)
{
    return seen->addr[__builtin_ctzll(w->lanes)] >=
               MXGPU_PRIVATE_END - MXGPU_PRIVATE_MAX &&
           mc_space_name(seen->addr[__builtin_ctzll(w->lanes)])[2] == 'l';
}

static int access(void *opaque, const MxgpuObservedWarp *w,
                  const MxgpuObservedAccess *seen)
{
    McGrid *grid = mc_grid(opaque, w->slot);
    Access a = {.opaque = opaque, .w = w};

    if (atomic_load(&grid->ignored) || is_private(w, seen)) {
        return -1;
    }
    a.race = race_of(opaque, w, false);
    if (!a.race) {
        return -1;
    }
    settle(&a);
    a.is.time = mc_order_now(); /* in front of its own meeting */
    a.is.kind = kind_of(&a, seen);
    if (a.is.kind == KIND_ATOMIC || a.is.kind == KIND_SYNC) {
        meet_lanes(&a, seen);
    }
    a.is.grid = a.grid = grid->number;
    a.began = grid->began;
    a.is.block = a.race->order.state.number;
    a.is.pc = mc_race_pc(w->pc);
    if (!touch_chunks(&a, seen)) {
        mc_race_touch_lanes(&a, seen);
    }
    remember(&a, seen);
    return -1;
}

static void event(void *opaque, const MxgpuObservedWarp *w,
                  MxgpuObservedEvent what, uint64_t value)
{
    Race *race;

    if (what == MXGPU_OBSERVED_BLOCK_END) {
        mc_block_end(opaque, w);
        return;
    }
    race = race_of(opaque, w, what == MXGPU_OBSERVED_BLOCK);
    if (race) {
        Access a = {.opaque = opaque, .w = w, .race = race};

        if (w->lanes) {
            settle(&a);
        }
        mc_order_event(&race->order, w, what, value);
    }
}

static void grid(void *opaque, unsigned slot, uint64_t entry, uint64_t args,
                 bool begins)
{
    mc_grid_event(opaque, slot, entry, args, begins);
    if (begins) {
        mc_order_grid(opaque, slot);
        mc_grid(opaque, slot)->began = mc_order_now();
    }
}

const MxgpuObserver mc_racecheck = {
    .values = true,
    .access = access,
    .fault = mc_fault_report,
    .event = event,
    .grid = grid,
};
