/* SPDX-License-Identifier: MIT */
/* An access that racecheck looks at, and what of it is done for each lane. */
#ifndef MC_CHECK_RACE_ACCESS_H
#define MC_CHECK_RACE_ACCESS_H

#include "mxgpu/kernel.h"
#include "mxgpu/pte.h"
#include "order.h"
#include "race_row.h"
#include "shadow.h"

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
    Record records[MXGPU_SHARED_MAX / 4]; /* of these rows */
} Race;

/* Rows of global memory. */
extern McShadow mc_race_shadow;

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
    uint64_t grid, began; /* ... and when that did */
    uint64_t epoch;  /* of rows */
    uint64_t sharing; /* ... of what is read by many */
    bool global;
    uint64_t mask;   /* of lanes that a row takes at once */
    RowLanes lanes;
} Access;

/* Where a value was written for others to wait for it, they meet. */
static inline bool is_meeting(const Record *was)
{
    return was->kind == KIND_ATOMIC || was->kind == KIND_SYNC;
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

/* Whether the warp has not been ordered with anyone since: what is behind what was
 * done then is behind what is done now. */
static HOT bool is_as_now(Access *a, uint64_t time)
{
    if (time == a->is.time) {
        return true;
    }
    if (!a->ordered) {
        a->ordered = mc_order_last(a->opaque, &a->race->order, a->w->warp);
    }
    return a->ordered <= time;
}

/* Where one record is enough, of the thread that was alone there: what a lane does
 * most often, so by halves of it. who: half[1] of the lane. false: it is not. */
static HOT bool touch_record(Access *a, Row *row, unsigned i, uint64_t who,
                             uint64_t value, bool reads)
{
    uint64_t *r = row->records[i].half, now = a->is.half[0];
    uint64_t was = __atomic_load_n(&r[0], __ATOMIC_RELAXED);

    /* Lanes go on to the next words more often than anywhere else. */
    __builtin_prefetch(&row->records[i + 64 / sizeof(Record)], 1);
    if ((was & MC_RECORD_TIME) > a->oldest && !((was ^ now) & MC_RECORD_GRID)) {
        uint64_t whose = __atomic_load_n(&r[1], __ATOMIC_RELAXED);

        if ((whose ^ who) & MC_RECORD_WHO) {
            return false;
        }
        if (reads && was & MC_RECORD_KIND /* not KIND_READ */) {
            return !(now & ~was & MC_RECORD_BYTES) &&
                   is_as_now(a, was & MC_RECORD_TIME);
        }
        if (was & ~now & MC_RECORD_BYTES) {
            return false;
        }
    }
    __atomic_store_n(&r[0], now, __ATOMIC_RELAXED);
    __atomic_store_n(&r[1], who, __ATOMIC_RELAXED);
    if (!reads) {
        row->values[i] = (uint32_t)value;
    }
    return true;
}

/* What memory it is says from when on records count: from the beginning of the grid;
 * the block's barrier orders all that was done to its memory before. */
static inline void set_memory(Access *a, bool global)
{
    const McOrder *o = &a->race->order;

    a->global = global;
    a->oldest = (global ? a->began : o->barrier) - 1;
    a->epoch = global ? a->grid : o->barrier;
    a->sharing = !global ? o->barrier : o->grid_barrier ? 0 : a->grid;
}

/* The page that was last looked for, and one of which there is nothing. */
typedef struct Place {
    McShadowPage *page;
    uint64_t none;
    bool locked;
} Place;

static inline void leave(Place *p)
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
        p->page = mc_shadow_page(&mc_race_shadow, addr);
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

/* A number for the address of an instruction. */
unsigned mc_race_pc(uint64_t pc);
/* Whether whoever writes later, of all that "is" belongs to, races with one of
 * these reads: RowRules.shares of an Access. */
bool mc_race_shares(const void *opaque, const Record *one, const Record *two);
/* Looks at an access of one lane, and keeps it; rows: of the memory from base on. */
void mc_race_touch(Access *a, Row *rows, uint64_t base, uint64_t addr,
                   unsigned size);
/* ... of each lane by itself. */
void mc_race_touch_lanes(Access *a, const MxgpuObservedAccess *seen);

#endif
