/* SPDX-License-Identifier: MIT */
/*
 * racecheck: two threads of a grid access the same bytes, one of them writes,
 * and nothing orders the accesses (order.h). Of each 4 bytes the last write and
 * two reads of different threads are kept. Two atomics are no race, nor are a
 * read and an atomic, nor two writes of the same value.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mxgpu/kernel.h"
#include "mxgpu/pte.h"
#include "once.h"
#include "order.h"
#include "race_row.h"
#include "shadow.h"
#include "tools.h"

#define PAGES_MAX 32768 /* of 9 KiB, and 64 KiB for words, for 128 MiB */

/* What a warp was last seen to do, and has done when it is seen again: it then
 * meets those who did it before, and not only those who had been seen. */
typedef struct Pending {
    uint64_t lanes; /* 0: nothing */
    bool atomic;
    uint64_t meetings; /* of all, when it was seen */
    uint64_t addr[MXGPU_WARP_SIZE];
} Pending;

/* Of a block. */
typedef struct Race {
    McOrder order;
    Pending pending[MXGPU_BLOCK_THREADS / MXGPU_WARP_SIZE];
    Row shared[MXGPU_SHARED_MAX / ROW_BYTES];
} Race;

static atomic_ullong meetings; /* accesses that are such */
static McShadow shadow = {
    .bytes = MC_SHADOW_PAGE / ROW_BYTES * sizeof(Row), .limit = PAGES_MAX,
};

/* ---- addresses of instructions, as small numbers ---- */

#define PCS (1u << 16)
static atomic_ullong pcs[PCS];

static unsigned pc_number(uint64_t pc)
{
    unsigned at = (unsigned)((pc >> 1) * 0x9e3779b97f4a7c15ull >> 48);

    for (unsigned n = 0; n < 64; n++, at = (at + 1) % PCS) {
        unsigned long long seen = atomic_load(&pcs[at]);

        if (seen == pc ||
            (!seen && atomic_compare_exchange_strong(&pcs[at], &seen, pc)) ||
            seen == pc) {
            return at;
        }
    }
    return PCS; /* not known */
}

static uint64_t pc_of(unsigned number)
{
    return number < PCS ? atomic_load(&pcs[number]) : 0;
}

/* ---- reports ---- */

static const char *kind_name(Kind kind)
{
    static const char *const names[] = {
        [KIND_READ] = "Read",  [KIND_WRITE] = "Write",
        [KIND_SYNC] = "Write", [KIND_ATOMIC] = "Atomic",
    };

    return names[kind];
}

static void report_thread(McReport *r, const MxgpuObservedWarp *w,
                          const Record *a)
{
    uint32_t block[3];

    mc_block_place(w->grid, (uint32_t)a->block, block);
    mc_report_line(r, "by thread %s in block (%u,%u,%u)",
                   mc_place_thread(w->size, a->thread).text, block[0],
                   block[1], block[2]);
}

static void report(void *opaque, const MxgpuObservedWarp *w, uint64_t addr,
                   const Record *was, const Record *is)
{
    McGrid *grid = mc_grid(opaque, w->slot);
    uint64_t pc = pc_of((unsigned)was->pc);
    char lead[16];
    McReport r;

    if (!mc_once(pc, w->pc, grid->number)) {
        return;
    }
    mc_report_begin(&r, "Race on %s memory: %s after %s without order",
                    mc_space_name(addr), kind_name(is->kind),
                    kind_name(was->kind));
    mc_report_unless_own(&r, pc);
    mc_report_unless_own(&r, w->pc);
    snprintf(lead, sizeof(lead), "%s at", kind_name(was->kind));
    mc_report_pc(&r, lead, pc);
    report_thread(&r, w, was);
    snprintf(lead, sizeof(lead), "%s at", kind_name(is->kind));
    mc_report_pc(&r, lead, w->pc);
    report_thread(&r, w, is);
    if (addr < MXGPU_VA_LIMIT) {
        mc_report_address(&r, addr, 1);
    } else {
        mc_report_line(&r, "Address 0x%" PRIx64 " of the block's memory",
                       (uint64_t)(addr - MXGPU_SHARED_BASE));
    }
    mc_report_kernel(&r, w);
    mc_report_end(&r);
}

/* ---- an access ---- */

/* Of each lane, and short. */
#define HOT inline __attribute__((always_inline))

typedef struct Access {
    void *opaque;
    const MxgpuObservedWarp *w;
    Race *race;
    Record is; /* of the lane */
    uint64_t value;
    uint64_t oldest; /* records from before that are of no account */
    uint64_t ordered; /* the warp with anyone, last; 0: not asked yet */
    uint64_t grid;
    uint64_t epoch;  /* of rows */
    uint64_t sharing; /* ... of what is read by many */
    bool global;
    bool whole; /* reads or writes of 4 bytes */
    uint64_t mask;   /* of lanes that a row takes at once */
    RowLanes lanes;
} Access;

/* Whether a record is of this grid (of this block, in shared memory) and not in
 * front of what the lane does now. */
static bool races(const Access *a, const Record *was, uint64_t addr)
{
    /* An atomic does not order what its place is set up with. */
    bool no_order = a->is.kind == KIND_ATOMIC && was->kind == KIND_WRITE;

    return was->time > a->oldest && was->grid == a->is.grid &&
           (was->thread != a->is.thread || was->block != a->is.block) &&
           (was->bytes & a->is.bytes) &&
           !mc_order_before(a->opaque, &a->race->order, a->is.thread,
                            was->time, (uint32_t)was->block,
                            (unsigned)was->thread,
                            no_order ? addr & ~3ull : 0);
}

/* Where a value was written for others to wait for it, they meet. */
static bool is_meeting(const Record *was)
{
    return was->kind == KIND_ATOMIC || was->kind == KIND_SYNC;
}

static bool is_old(const Access *a, const Record *was);

/* Whether whoever writes later, of all that "is" belongs to, races with one of
 * these reads. In global memory: they are of two blocks, and the grid had no
 * barrier since. In that of a block: of two warps, and the block had none. */
static bool shares(const void *opaque, const Record *one, const Record *two)
{
    const Access *a = opaque;
    uint64_t since = a->global ? a->race->order.grid_barrier
                               : a->race->order.barrier;

    return one->time >= since && two->time >= since &&
           (a->global ? one->block != two->block
                      : (one->thread ^ two->thread) / MXGPU_WARP_SIZE != 0);
}

static bool read_by_two(const Access *a, const Word *word)
{
    const Record *r = word->reads;

    return (r[0].bytes & r[1].bytes) == 15 && shares(a, &r[0], &r[1]) &&
           !is_old(a, &r[0]) && !is_old(a, &r[1]);
}

/* By halves, as these are what was last stored; compilers leave atomic accesses
 * apart. */
static inline void keep(Record *r, const Access *a)
{
    for (unsigned i = 0; i < 2; i++) {
        __atomic_store_n(&r->half[i],
                         __atomic_load_n(&a->is.half[i], __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    }
}

/* Two reads are kept, of different threads, that no write is behind. */
static void keep_read(const Access *a, Word *word)
{
    Record *r = word->reads;

    if (r[0].time <= a->oldest || r[0].grid != a->is.grid ||
        (r[0].thread == a->is.thread && r[0].block == a->is.block)) {
        keep(&r[0], a);
    } else if (!read_by_two(a, word)) {
        keep(&r[1], a);
    }
}

static void read_word(const Access *a, Word *word, uint64_t addr)
{
    if (word->write.time && races(a, &word->write, addr)) {
        if (is_meeting(&word->write)) {
            mc_order_meet(a->opaque, &a->race->order, a->w, addr & ~3ull,
                      mc_order_tick());
        } else {
            report(a->opaque, a->w, addr, &word->write, &a->is);
        }
    }
    keep_read(a, word);
}

/* A thread that sets a place up and goes on to use it with atomics: what it
 * wrote is what others race with, until a barrier. */
static bool sets_up(const Access *a, const Record *was)
{
    return a->is.kind == KIND_ATOMIC && was->kind == KIND_WRITE &&
           was->time >= a->race->order.barrier && was->grid == a->is.grid &&
           was->thread == a->is.thread && was->block == a->is.block;
}

static void write_word(const Access *a, Word *word, uint64_t addr)
{
    bool meets = is_meeting(&a->is);

    if (word->write.time && races(a, &word->write, addr) &&
        !(meets && is_meeting(&word->write)) &&
        !(a->is.kind != KIND_ATOMIC && word->write.kind != KIND_ATOMIC &&
          word->value == a->value)) {
        report(a->opaque, a->w, addr, &word->write, &a->is);
    }
    for (unsigned i = 0; i < 2 && !meets; i++) {
        if (word->reads[i].time && races(a, &word->reads[i], addr)) {
            report(a->opaque, a->w, addr, &word->reads[i], &a->is);
        }
    }
    if (sets_up(a, &word->write)) {
        return;
    }
    keep(&word->write, a);
    word->value = a->value;
    word->reads[0].time = word->reads[1].time = 0;
}

/* Of another grid, or none. */
static HOT bool is_old(const Access *a, const Record *was)
{
    return was->time <= a->oldest || was->grid != a->is.grid;
}

static HOT bool is_own(const Access *a, const Record *was)
{
    return was->thread == a->is.thread && was->block == a->is.block;
}

/* The usual access: nobody else was there in this grid, or readers only. */
static bool touch_alone(const Access *a, Word *word, uint64_t value)
{
    bool alone = is_old(a, &word->write) || is_own(a, &word->write);

    if (a->is.kind == KIND_READ && alone) {
        keep_read(a, word);
        return true;
    }
    if (a->is.kind != KIND_WRITE || !alone ||
        !(is_old(a, &word->reads[0]) || is_own(a, &word->reads[0])) ||
        !(is_old(a, &word->reads[1]) || is_own(a, &word->reads[1]))) {
        return false;
    }
    keep(&word->write, a);
    word->value = value;
    word->reads[0].time = word->reads[1].time = 0;
    return true;
}

/* Whether the warp has not been ordered with anyone since: what is behind what was
 * done then is behind what is done now. */
static HOT bool is_as_now(Access *a, const Record *was)
{
    if (was->time == a->is.time) {
        return true;
    }
    if (!a->ordered) {
        a->ordered = mc_order_last(a->opaque, &a->race->order, a->w->warp);
    }
    return a->ordered <= was->time;
}

/* Where one record is enough: of the thread that was alone there. */
static HOT bool touch_record(Access *a, Row *row, unsigned i,
                             uint64_t value)
{
    Record *r = &row->records[i];

    if (!is_old(a, r)) {
        if (!is_own(a, r)) {
            return false;
        }
        if (r->kind == KIND_WRITE && a->is.kind == KIND_READ) {
            return is_as_now(a, r) && !(a->is.bytes & ~r->bytes);
        }
        if (r->bytes & ~a->is.bytes) {
            return false;
        }
    }
    keep(r, a);
    if (a->is.kind == KIND_WRITE) {
        row->values[i] = (uint32_t)value;
    }
    return true;
}

/* The record of addr's word for all that is not to be done here, or NULL. */
static Word *word_of(Access *a, Row *row, uint64_t addr, uint64_t value)
{
    unsigned i = addr / 4 % ROW_WORDS;

    mc_row_open(row, a->epoch);
    if (row->by != ROW_BY_WORDS &&
        (a->is.kind == KIND_READ || a->is.kind == KIND_WRITE) &&
        mc_row_by_records(row) && touch_record(a, row, i, value)) {
        return NULL;
    }
    if (row->by != ROW_BY_WORDS && !mc_row_by_words(row)) {
        return NULL;
    }
    return &row->words[i];
}

static void touch_word(const Access *a, Row *row, Word *word, uint64_t addr)
{
    uint64_t bit = 1ull << addr / 4 % ROW_WORDS;

    if (touch_alone(a, word, a->value)) {
        /* nothing to compare with */
    } else if (a->is.kind == KIND_READ) {
        read_word(a, word, addr);
    } else {
        write_word(a, word, addr);
    }
    if (a->is.kind != KIND_READ) {
        mc_row_unshare(row, bit);
    } else if (read_by_two(a, word)) {
        mc_row_share(row, a->sharing, bit);
    }
}

/* rows: of the memory from base on. */
static void touch(Access *a, Row *rows, uint64_t base, uint64_t addr,
                  unsigned size)
{
    uint64_t value = a->value;

    while (size) {
        unsigned at = addr & 3, bytes = 4 - at < size ? 4 - at : size;
        Row *row = &rows[(addr - base) / ROW_BYTES];
        Word *word;

        mc_record_set_bytes(&a->is, ((1u << bytes) - 1) << at);
        a->value = value & ((1ull << 8 * bytes) - 1); /* 4 bytes at most */
        word = word_of(a, row, addr, a->value);
        if (word) {
            touch_word(a, row, word, addr);
        }
        addr += bytes;
        size -= bytes;
        value >>= 8 * bytes;
    }
}

/* The page that was last looked for, and one of which there is nothing. */
typedef struct Place {
    McShadowPage *page;
    uint64_t none;
    bool locked;
} Place;

static void leave(Place *p)
{
    if (p->locked) {
        mc_shadow_unlock(p->page);
        p->locked = false;
    }
}

/* The rows of addr's page; NULL: nothing is kept of it. */
static HOT Row *look_at(Place *p, uint64_t addr)
{
    uint64_t base = addr & ~(uint64_t)(MC_SHADOW_PAGE - 1);

    if (base != p->none && (!p->page || p->page->base != base)) {
        leave(p);
        p->page = mc_shadow_page(&shadow, addr);
        p->none = p->page ? p->none : base;
    }
    return p->page && p->page->base == base ? (Row *)p->page->bytes : NULL;
}

/* ... locked. */
static HOT Row *rows_at(Place *p, uint64_t addr)
{
    Row *rows = look_at(p, addr);

    if (rows && !p->locked) {
        mc_shadow_lock(p->page);
        p->locked = true;
    }
    return rows;
}

/* The word of an access that is within one, if more reads of it need not be
 * looked at. */
static HOT bool is_shared(const Access *a, const Row *rows, uint64_t offset,
                          unsigned size)
{
    return offset % 4 + size <= 4 &&
           mc_row_shared(rows + offset / ROW_BYTES, a->sharing) >>
                   offset / 4 % ROW_WORDS & 1;
}

static void touch_global(Access *a, uint64_t addr, unsigned size, Place *place)
{
    while (size) {
        uint64_t base = addr & ~(uint64_t)(MC_SHADOW_PAGE - 1);
        unsigned bytes = base + MC_SHADOW_PAGE - addr < size
                             ? (unsigned)(base + MC_SHADOW_PAGE - addr)
                             : size;
        Row *rows = rows_at(place, addr);

        if (rows) {
            touch(a, rows, base, addr, bytes);
        }
        addr += bytes;
        size -= bytes;
    }
}

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

static void remember(Access *a, const MxgpuObservedAccess *seen)
{
    Pending *p = &a->race->pending[a->w->warp];

    if (a->is.kind == KIND_READ || a->is.kind == KIND_ATOMIC) {
        p->lanes = a->w->lanes;
        p->atomic = a->is.kind == KIND_ATOMIC;
        p->meetings = atomic_load(&meetings);
        memcpy(p->addr, seen->addr, sizeof(p->addr));
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

/* What memory it is says from when on records count: the block's barrier orders
 * all that was done to its memory before. */
static void set_memory(Access *a, bool global)
{
    const McOrder *o = &a->race->order;

    a->global = global;
    a->oldest = global ? 0 : o->barrier - 1;
    a->epoch = global ? a->grid : o->barrier;
    a->sharing = !global ? o->barrier : o->grid_barrier ? 0 : a->grid;
}

static bool row_before(const void *opaque, const Record *was)
{
    const Access *a = opaque;
    /* Any lane of each warp stands for all, but not the same one for both. */
    unsigned mine = a->is.thread ^ (a->is.thread == was->thread);

    return mc_order_before(a->opaque, &a->race->order, mine, was->time,
                           (uint32_t)was->block, (unsigned)was->thread, 0);
}

static const RowRules rules = {row_before, shares};

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
            touch(a, row, at, seen->addr[lane], seen->size);
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

/* Lanes that go anywhere each miss the host's caches three times: for the page, for
 * the row, and for the word. All of them are asked for before the first is looked
 * at. pages: of each lane, or NULL. */
static void fetch(const MxgpuObservedAccess *seen, uint64_t lanes,
                  McShadowPage **pages)
{
    uint64_t base = 1;
    McShadowPage *page = NULL;

    for (uint64_t m = lanes; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m);
        uint64_t addr = seen->addr[lane];

        if ((addr & ~(MC_SHADOW_PAGE - 1ull)) != base) {
            base = addr & ~(MC_SHADOW_PAGE - 1ull);
            page = addr < MXGPU_VA_LIMIT ? mc_shadow_page(&shadow, addr) : NULL;
        }
        pages[lane] = page;
        if (page) {
            __builtin_prefetch((const Row *)page->bytes +
                                   addr % MC_SHADOW_PAGE / ROW_BYTES, 1);
        }
    }
    for (uint64_t m = lanes; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m), i = seen->addr[lane] / 4 % ROW_WORDS;

        if (pages[lane]) {
            const Row *row = (const Row *)pages[lane]->bytes +
                             seen->addr[lane] % MC_SHADOW_PAGE / ROW_BYTES;

            __builtin_prefetch(row->by == ROW_BY_WORDS
                                   ? (void *)&row->words[i]
                                   : (void *)&row->records[i], 1);
        }
    }
}

/* A whole word of which one record is enough: what a lane does most often. false:
 * it has to be looked at. */
static HOT bool touch_quickly(Access *a, Row *row, uint64_t addr)
{
    return a->whole && !(addr & 3) && row->epoch == a->epoch &&
           row->by == ROW_BY_RECORDS &&
           touch_record(a, row, addr / 4 % ROW_WORDS, a->value);
}

static void lane_global(Access *a, uint64_t addr, unsigned size, Place *place)
{
    Row *rows = look_at(place, addr);
    uint64_t offset = addr % MC_SHADOW_PAGE;

    if (!a->global) {
        set_memory(a, true);
    }
    if (rows && a->is.kind == KIND_READ && is_shared(a, rows, offset, size)) {
        return;
    }
    if (!rows || !rows_at(place, addr) ||
        !touch_quickly(a, rows + offset / ROW_BYTES, addr)) {
        touch_global(a, addr, size, place);
    }
}

static void lane_shared(Access *a, uint64_t addr, unsigned size)
{
    Row *rows = a->race->shared;
    uint64_t offset = addr - MXGPU_SHARED_BASE;

    if (offset >= MXGPU_SHARED_MAX || offset + size > MXGPU_SHARED_MAX) {
        return;
    }
    if (a->global) {
        set_memory(a, false);
    }
    if (!touch_quickly(a, rows + offset / ROW_BYTES, addr) &&
        !(a->is.kind == KIND_READ && is_shared(a, rows, offset, size))) {
        touch(a, rows, MXGPU_SHARED_BASE, addr, size);
    }
}

static void touch_lane(Access *a, const MxgpuObservedAccess *seen,
                       unsigned lane, Place *place)
{
    uint64_t addr = seen->addr[lane];

    mc_record_set_thread(&a->is, a->w->warp * MXGPU_WARP_SIZE + lane);
    a->value = seen->value ? seen->value[lane] : 0;
    if (addr < MXGPU_VA_LIMIT) {
        lane_global(a, addr, seen->size, place);
    } else {
        lane_shared(a, addr, seen->size);
    }
}

/* To what is kept of where the next lane goes. */
static void go_to(Place *place, McShadowPage *page)
{
    if (page && place->page != page) {
        leave(place);
        place->page = page;
    }
}

static void touch_lanes(Access *a, const MxgpuObservedAccess *seen)
{
    McShadowPage *pages[MXGPU_WARP_SIZE];
    bool goes_far = seen->addr[__builtin_ctzll(a->w->lanes)] < MXGPU_VA_LIMIT;
    Place place = {.none = 1};
    uint64_t lanes = a->w->lanes, last = 1;
    unsigned same = 0;

    if (a->is.kind == KIND_READ && mc_row_same(lanes, seen->addr)) {
        uint64_t others = lanes & (lanes - 1);

        lanes = (lanes & -lanes) | (others & -others);
    }
    a->whole = seen->size == 4 &&
               (a->is.kind == KIND_READ || a->is.kind == KIND_WRITE);
    mc_record_set_bytes(&a->is, 15);
    set_memory(a, true);
    if (goes_far) {
        fetch(seen, lanes, pages);
    }
    for (uint64_t m = lanes; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m);

        /* Of those that read one place, two stand for all. */
        same = seen->addr[lane] == last ? same + 1 : 0;
        last = seen->addr[lane];
        if (same < 2 || a->is.kind != KIND_READ) {
            if (goes_far) {
                go_to(&place, pages[lane]);
            }
            touch_lane(a, seen, lane, &place);
        }
    }
    leave(&place);
}

static Race *race_of(void *opaque, const MxgpuObservedWarp *w, bool begins)
{
    bool fresh;
    Race *race = mc_block(opaque, w, sizeof(*race), &fresh);

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
    a.is.block = a.race->order.state.number;
    a.is.pc = pc_number(w->pc);
    if (!touch_chunks(&a, seen)) {
        touch_lanes(&a, seen);
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
    }
}

const MxgpuObserver mc_racecheck = {
    .values = true,
    .access = access,
    .fault = mc_fault_report,
    .event = event,
    .grid = grid,
};
