/* SPDX-License-Identifier: MIT */
#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "mxgpu/pte.h"

/* Grids of more blocks are not looked at across blocks once they meet. */
#define BLOCKS_MAX (1u << 20)

static atomic_ullong now = 1;
/* By slot: of the grid's blocks, from the first time that one meets others. */
static _Atomic(McMeetings *) blocks[MC_DEVICES][MXGPU_DISPATCH_SLOTS];
static atomic_bool too_many[MC_DEVICES][MXGPU_DISPATCH_SLOTS];

uint64_t mc_order_tick(void)
{
    return atomic_fetch_add(&now, 1) + 1;
}

uint64_t mc_order_now(void)
{
    return atomic_load_explicit(&now, memory_order_relaxed);
}

void mc_order_grid(void *opaque, unsigned slot)
{
    unsigned device = (uintptr_t)opaque % MC_DEVICES;

    free(atomic_exchange(&blocks[device][slot], NULL));
    atomic_store(&too_many[device][slot], false);
    mc_order_tick();
}

void mc_order_block(McOrder *o, bool begins)
{
    o->began = o->barrier = mc_order_tick();
    o->grid_barrier = begins ? 0 : o->began;
    memset(o->warps, 0, sizeof(o->warps));
}

static void meet(McMeetings *m, uint64_t place, uint64_t time)
{
    unsigned oldest = 0;

    if (m->anywhere == time) {
        return; /* it is said of any place */
    }
    for (unsigned i = 0; i < MC_MEETINGS; i++) {
        if (m->at[i] && m->place[i] == place) {
            m->at[i] = time;
            return;
        }
        oldest = m->at[i] < m->at[oldest] ? i : oldest;
    }
    if (m->at[oldest]) {
        m->anywhere = time;
    }
    m->place[oldest] = place;
    m->at[oldest] = time;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t last_met(const McMeetings *m)
{
    uint64_t last = m->anywhere;

    for (unsigned i = 0; i < MC_MEETINGS; i++) {
        last = later(last, m->at[i]);
    }
    return last;
}

/* Whether both were at a place after that time. */
static bool met(const McMeetings *a, const McMeetings *b, uint64_t time,
                uint64_t except)
{
    for (unsigned i = 0; i < MC_MEETINGS; i++) {
        for (unsigned j = 0; j < MC_MEETINGS; j++) {
            if (a->at[i] > time && b->at[j] > time &&
                a->place[i] == b->place[j] && a->place[i] != except) {
                return true;
            }
        }
    }
    return (a->anywhere > time && last_met(b) > time) ||
           (b->anywhere > time && last_met(a) > time);
}

static McMeetings *blocks_of(void *opaque, const MxgpuObservedWarp *w)
{
    unsigned device = (uintptr_t)opaque % MC_DEVICES;
    _Atomic(McMeetings *) *at = &blocks[device][w->slot];
    McMeetings *all = atomic_load(at), *none = NULL;
    uint64_t count = (uint64_t)w->grid[0] * w->grid[1] * w->grid[2];

    if (all || atomic_load(&too_many[device][w->slot])) {
        return all;
    }
    all = count <= BLOCKS_MAX ? calloc(count, sizeof(*all)) : NULL;
    if (!all) {
        atomic_store(&too_many[device][w->slot], true);
        return NULL;
    }
    if (!atomic_compare_exchange_strong(at, &none, all)) {
        free(all);
        all = none;
    }
    return all;
}

void mc_order_meet(void *opaque, McOrder *o, const MxgpuObservedWarp *w,
                   uint64_t place, uint64_t time)
{
    /* Shared memory is the block's own. */
    McMeetings *all = place < MXGPU_VA_LIMIT ? blocks_of(opaque, w) : NULL;

    meet(&o->warps[w->warp].met, place, time);
    if (all) {
        meet(&all[o->state.number], place, time);
    }
}

static void open_named(McOrder *o, unsigned id)
{
    uint64_t time = mc_order_tick();

    for (unsigned i = 0; i < MXGPU_BLOCK_THREADS / MXGPU_WARP_SIZE; i++) {
        if (o->warps[i].waits == id + 1) {
            o->warps[i].waits = 0;
            meet(&o->warps[i].met, id + 1, time); /* no address is so small */
        }
    }
}

void mc_order_event(McOrder *o, const MxgpuObservedWarp *w,
                    MxgpuObservedEvent event, uint64_t value)
{
    McOrderWarp *warp = &o->warps[w->warp];

    switch (event) {
    case MXGPU_OBSERVED_BARRIER_OPEN:
        o->barrier = mc_order_tick();
        break;
    case MXGPU_OBSERVED_GRID_OPEN:
        o->barrier = o->grid_barrier = mc_order_tick();
        break;
    case MXGPU_OBSERVED_NAMED:
        warp->waits = (uint32_t)value + 1;
        meet(&warp->met, warp->waits, mc_order_tick());
        break;
    case MXGPU_OBSERVED_NAMED_OPEN:
        open_named(o, (unsigned)value);
        break;
    case MXGPU_OBSERVED_WARPSYNC:
        warp->synced = mc_order_tick();
        break;
    case MXGPU_OBSERVED_FENCE:
        warp->fenced = true;
        break;
    default:
        break;
    }
}

/* All that mc_order_before() asks of the thread that was there before. */
uint64_t mc_order_last(void *opaque, const McOrder *o, unsigned warp)
{
    unsigned device = (uintptr_t)opaque % MC_DEVICES;
    const McMeetings *all = atomic_load(&blocks[device][o->slot]);
    uint64_t last = later(o->barrier, o->grid_barrier);

    last = later(last, o->warps[warp].synced);
    last = later(last, last_met(&o->warps[warp].met));
    return all ? later(last, last_met(&all[o->state.number])) : last;
}

bool mc_order_before(void *opaque, const McOrder *o, unsigned mine,
                     uint64_t time, uint32_t block, unsigned thread,
                     uint64_t except)
{
    unsigned device = (uintptr_t)opaque % MC_DEVICES;
    unsigned warp = mine / MXGPU_WARP_SIZE, other = thread / MXGPU_WARP_SIZE;
    const McMeetings *all;

    if (o->grid_barrier > time) {
        return true;
    }
    if (block == o->state.number) {
        return thread == mine || o->barrier > time ||
               (warp == other && o->warps[warp].synced > time) ||
               met(&o->warps[warp].met, &o->warps[other].met, time, except);
    }
    if (atomic_load(&too_many[device][o->slot])) {
        return true;
    }
    all = atomic_load(&blocks[device][o->slot]);
    return all && met(&all[block], &all[o->state.number], time, except);
}
