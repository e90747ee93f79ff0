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
#include "shadow.h"
#include "tools.h"

typedef enum Kind {
    KIND_READ,
    KIND_WRITE,
    KIND_SYNC, /* a store that follows a fence: others wait for it */
    KIND_ATOMIC,
} Kind;

/* An access; time 0: none. */
typedef struct Record {
    uint64_t time : 44, bytes : 4, kind : 2, grid : 14;
    uint64_t block : 32, thread : 12, pc : 20;
} Record;

/* Of 4 bytes. */
typedef struct Word {
    Record write, reads[2];
    uint64_t value; /* that "write" wrote */
} Word;

#define WORDS      (MC_SHADOW_PAGE / 4)
#define PAGES_MAX  32768 /* of 56 KiB, for 128 MiB */
#define SHARED_MAX (MXGPU_SHARED_MAX / 4)

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
    Word shared[SHARED_MAX];
} Race;

static atomic_ullong meetings; /* accesses that are such */
static McShadow shadow = {.bytes = WORDS * sizeof(Word), .limit = PAGES_MAX};

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

    if (!mc_once(pc, w->pc, grid->number) || mc_report_is_own(pc) ||
        mc_report_is_own(w->pc)) {
        return;
    }
    mc_report_begin(&r, "Race on %s memory: %s after %s without order",
                    mc_space_name(addr), kind_name(is->kind),
                    kind_name(was->kind));
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

typedef struct Access {
    void *opaque;
    const MxgpuObservedWarp *w;
    Race *race;
    Record is; /* of the lane */
    uint64_t value;
    uint64_t oldest; /* records from before that are of no account */
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

/* Two reads are kept, of different threads, that no write is behind. */
static void keep_read(const Access *a, Word *word)
{
    Record *r = word->reads;

    if (r[0].time <= a->oldest || r[0].grid != a->is.grid ||
        (r[0].thread == a->is.thread && r[0].block == a->is.block)) {
        r[0] = a->is;
    } else {
        r[1] = a->is;
    }
}

static void read_word(const Access *a, Word *word, uint64_t addr)
{
    if (word->write.time && races(a, &word->write, addr)) {
        if (is_meeting(&word->write)) {
            mc_order_meet(a->opaque, &a->race->order, a->w, addr & ~3ull);
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
    word->write = a->is;
    word->value = a->value;
    word->reads[0].time = word->reads[1].time = 0;
}

/* Of another grid, or none. */
static bool is_old(const Access *a, const Record *was)
{
    return was->time <= a->oldest || was->grid != a->is.grid;
}

static bool is_own(const Access *a, const Record *was)
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
    word->write = a->is;
    word->value = value;
    word->reads[0].time = word->reads[1].time = 0;
    return true;
}

static void touch(Access *a, Word *words, uint64_t base, uint64_t addr,
                  unsigned size)
{
    uint64_t value = a->value;

    while (size) {
        unsigned at = addr & 3, bytes = 4 - at < size ? 4 - at : size;
        Word *word = &words[(addr - base) / 4];

        a->is.bytes = ((1u << bytes) - 1) << at;
        a->value = value & ((1ull << 8 * bytes) - 1); /* 4 bytes at most */
        if (touch_alone(a, word, a->value)) {
            /* nothing to compare with */
        } else if (a->is.kind == KIND_READ) {
            read_word(a, word, addr);
        } else {
            write_word(a, word, addr);
        }
        addr += bytes;
        size -= bytes;
        value >>= 8 * bytes;
    }
}

static void touch_global(Access *a, uint64_t addr, unsigned size,
                         McShadowPage **page, uint64_t *none)
{
    while (size) {
        uint64_t base = addr & ~(uint64_t)(MC_SHADOW_PAGE - 1);
        unsigned bytes = base + MC_SHADOW_PAGE - addr < size
                             ? (unsigned)(base + MC_SHADOW_PAGE - addr)
                             : size;

        if (base != *none && (!*page || (*page)->base != base)) {
            if (*page) {
                mc_shadow_unlock(*page);
            }
            *page = mc_shadow_page(&shadow, addr);
            *none = *page ? *none : base;
            if (*page) {
                mc_shadow_lock(*page);
            }
        }
        if (*page && (*page)->base == base) {
            touch(a, (Word *)(*page)->bytes, base, addr, bytes);
        }
        addr += bytes;
        size -= bytes;
    }
}

/* Atomics meet where they are done: before others of the warp are looked at, so
 * that what follows is behind it. */
static void meet_lanes(const Access *a, const MxgpuObservedAccess *seen)
{
    uint64_t last = 1;

    for (uint64_t m = a->w->lanes; m; m &= m - 1) {
        uint64_t place = seen->addr[__builtin_ctzll(m)] & ~3ull;

        if (place != last) {
            mc_order_meet(a->opaque, &a->race->order, a->w, place);
            last = place;
        }
    }
}

/* ---- what a warp has done since it was seen */

/* Reads of what others wrote for those who wait. */
static void meet_writer(Access *a, uint64_t addr)
{
    uint64_t offset = addr - MXGPU_SHARED_BASE;
    McShadowPage *page = NULL;
    const Word *word = NULL;

    if (addr < MXGPU_VA_LIMIT) {
        page = mc_shadow_page(&shadow, addr);
        if (page) {
            mc_shadow_lock(page);
            word = (const Word *)page->bytes +
                   addr % MC_SHADOW_PAGE / sizeof(uint32_t);
        }
    } else if (offset < MXGPU_SHARED_MAX) {
        word = &a->race->shared[offset / 4];
    }
    if (word && is_meeting(&word->write) &&
        word->write.grid == (mc_grid(a->opaque, a->w->slot)->number & 0x3fff)) {
        mc_order_meet(a->opaque, &a->race->order, a->w, addr & ~3ull);
    }
    if (page) {
        mc_shadow_unlock(page);
    }
}

static void settle(Access *a)
{
    Pending *p = &a->race->pending[a->w->warp];
    uint64_t lanes = p->lanes, last = 1;

    p->lanes = 0;
    if (!p->atomic && p->meetings == atomic_load(&meetings)) {
        return;
    }
    for (; lanes; lanes &= lanes - 1) {
        uint64_t place = p->addr[__builtin_ctzll(lanes)] & ~3ull;

        if (place == last) {
            continue;
        }
        last = place;
        if (p->atomic) {
            mc_order_meet(a->opaque, &a->race->order, a->w, place);
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

static void touch_lanes(Access *a, const MxgpuObservedAccess *seen)
{
    McShadowPage *page = NULL;
    uint64_t none = 1, last = 1;
    unsigned same = 0;

    for (uint64_t m = a->w->lanes; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m);
        uint64_t addr = seen->addr[lane], offset = addr - MXGPU_SHARED_BASE;

        /* Of those that read one place, two stand for all. */
        same = addr == last ? same + 1 : 0;
        last = addr;
        if (same > 1 && a->is.kind == KIND_READ) {
            continue;
        }

        a->is.thread = a->w->warp * MXGPU_WARP_SIZE + lane;
        a->value = seen->value ? seen->value[lane] : 0;
        if (addr < MXGPU_VA_LIMIT) {
            a->oldest = 0;
            touch_global(a, addr, seen->size, &page, &none);
        } else if (offset < MXGPU_SHARED_MAX &&
                   offset + seen->size <= MXGPU_SHARED_MAX) {
            a->oldest = a->race->order.began - 1;
            touch(a, a->race->shared, MXGPU_SHARED_BASE, addr, seen->size);
        }
    }
    if (page) {
        mc_shadow_unlock(page);
    }
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
    a.is.grid = grid->number;
    a.is.block = a.race->order.state.number;
    a.is.pc = pc_number(w->pc);
    touch_lanes(&a, seen);
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
