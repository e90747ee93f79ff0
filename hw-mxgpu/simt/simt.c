/* SPDX-License-Identifier: MIT */
/*
 * Dispatch slots and the compute units that take blocks from them. Slots are
 * shared: a block is taken by compare-and-swap of next, whose upper bits count
 * the starts of the slot, so that parameters read before a swap that succeeds
 * are those of the grid that the block belongs to.
 */
#include <limits.h>
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "block.h"

/* ---- slots */

static bool slot_has_blocks(SimtSlot *s)
{
    return (atomic_load(&s->next) & SLOT_NEXT) != SLOT_NONE ||
           atomic_load(&s->returned);
}

/*
 * A cooperative grid needs all its blocks resident, so two of them must not
 * share the units: one at a time is the gang that may take blocks. While it has
 * some left, units take others only from slots that are more urgent. The token
 * names the grid, not only the slot, so that a claim that comes late is told
 * from one of the slot's next grid.
 */
static uint64_t gang_token(const MxgpuSimt *simt, const SimtSlot *s,
                           uint64_t next)
{
    return (next & ~SLOT_NEXT) | (s - simt->slots + 1);
}

static bool gang_drop(MxgpuSimt *simt, uint64_t token)
{
    return atomic_compare_exchange_strong(&simt->gang, &token, 0);
}

/* Whether the slot's grid is the gang now; makes it the gang if there is none.
 * What is claimed here while it has blocks left is dropped by slot_done(). */
static bool gang_claim(MxgpuSimt *simt, SimtSlot *s, uint64_t next)
{
    uint64_t token = gang_token(simt, s, next), gang = 0;

    if (!atomic_compare_exchange_strong(&simt->gang, &gang, token)) {
        return gang == token;
    }
    next = atomic_load(&s->next);
    if ((next & SLOT_NEXT) != SLOT_NONE && gang_token(simt, s, next) == token) {
        return true;
    }
    if (gang_drop(simt, token)) {
        simt->config.wake(simt->config.opaque);
    }
    return false;
}

/* The slot of a gang that has blocks left; MXGPU_DISPATCH_SLOTS: none. */
static unsigned gang_slot(MxgpuSimt *simt)
{
    uint64_t gang = atomic_load(&simt->gang), next;
    SimtSlot *s;

    if (!gang) {
        return MXGPU_DISPATCH_SLOTS;
    }
    s = &simt->slots[(gang & SLOT_NEXT) - 1];
    next = atomic_load(&s->next);
    return (next & SLOT_NEXT) != SLOT_NONE && gang_token(simt, s, next) == gang
               ? s - simt->slots
               : MXGPU_DISPATCH_SLOTS;
}

/* The last block has ended: the slot is free before done is called. */
static void slot_done(MxgpuSimt *simt, SimtSlot *s)
{
    bool gang = gang_drop(simt, gang_token(simt, s, atomic_load(&s->next)));
    unsigned code = atomic_load(&s->stop_code);

    if (code && !atomic_exchange(&s->fault_taken, true)) {
        s->fault = (MxgpuDispatchFault){.code = code}; /* nothing ran */
    }
    atomic_store(&s->active, false);
    simt->config.done(simt->config.opaque, s - simt->slots);
    if (gang) {
        simt->config.wake(simt->config.opaque);
    }
}

static void slot_left(MxgpuSimt *simt, SimtSlot *s, uint64_t blocks)
{
    if (blocks && atomic_fetch_sub(&s->left, blocks) == blocks) {
        slot_done(simt, s);
    }
}

/* Blocks of a grid that nobody has taken, or that were given up, will not be
 * run. The grid may have ended, and the slot have another one. */
static void slot_cancel(MxgpuSimt *simt, uint64_t grid)
{
    SimtSlot *s = &simt->slots[simt_grid_slot(grid)];
    uint64_t next = atomic_load(&s->next), blocks;

    do {
        blocks = 0;
        if ((next & SLOT_NEXT) == SLOT_NONE ||
            simt_grid(next, simt_grid_slot(grid)) != grid) {
            break;
        }
        blocks = atomic_load(&s->total) - (next & SLOT_NEXT);
    } while (!atomic_compare_exchange_weak(&s->next, &next, next | SLOT_NONE));
    slot_left(simt, s, blocks + mxgpu_returned_drop(simt, grid));
}

/* The slot's grid, or the last one it had. */
static uint64_t slot_grid(MxgpuSimt *simt, unsigned slot)
{
    return simt_grid(atomic_load(&simt->slots[slot].next), slot);
}

/*
 * Ends a grid from outside: the first unit that ends a block of it tells where
 * a warp was. It counts as one more block meanwhile, so that the grid cannot
 * end, and its fault be read, before the code is there.
 */
static void slot_stop(MxgpuSimt *simt, SimtSlot *s, enum mxgpu_fault code)
{
    uint64_t left = atomic_load(&s->left);

    do {
        if (!left) {
            return; /* it has just ended */
        }
    } while (!atomic_compare_exchange_weak(&s->left, &left, left + 1));
    atomic_store(&s->stop_code, code);
    atomic_store(&s->stop, true);
    slot_cancel(simt, slot_grid(simt, s - simt->slots));
    slot_left(simt, s, 1);
    simt->config.wake(simt->config.opaque); /* units that wait at its barrier */
}

/* ---- taking blocks */

/*
 * Units that take blocks of few instructions one at a time spend their time
 * with the cache line of the counter. When the last block of the slot was a
 * short one, a unit takes several and holds those that it does not begin yet;
 * it begins them before it takes others of that slot.
 *
 * A unit that turns to another slot, has no room, or has run BLOCK_QUANTUM
 * since it took a block, gives up what it holds: running blocks may wait for
 * it. Blocks given up are the next ones of their slot for any unit that has
 * room, the first of them first. So a block begins when some unit has room; and
 * where blocks wait for earlier ones only, that unit exists: the first block
 * that has not ended runs, or who holds it, or gave it up, has taken none that
 * are behind it.
 */
#define HELD_INSTRUCTIONS 8192
#define HELD_MAX          16

static unsigned take_count(const MxgpuCu *cu, uint64_t from, uint64_t needs,
                           uint64_t left)
{
    uint64_t fair = left / (2 * cu->simt->config.compute_units);
    uint64_t n = cu->since_take ? HELD_INSTRUCTIONS / cu->since_take : 1;

    if (cu->held || atomic_load(&cu->returned.blocks) ||
        (needs & NEEDS_GANG) || cu->taken_from != from) {
        return 1;
    }
    n = n < fair ? n : fair;
    n = n < HELD_MAX ? n : HELD_MAX;
    return n ? n : 1;
}

/* Leaves the blocks that the unit holds to others, and itself. */
static void give_up(MxgpuCu *cu)
{
    MxgpuSimt *simt = cu->simt;
    SimtSlot *s = &simt->slots[cu->held_slot];
    uint64_t grid = slot_grid(simt, cu->held_slot);
    unsigned n = cu->held, ended = cu->held_ended;

    cu->held = cu->held_ended = 0;
    mxgpu_returned_add(cu, grid, cu->held_next, n);
    if (atomic_load(&s->stop)) { /* who stopped it may not have seen them */
        slot_cancel(simt, grid);
    }
    slot_left(simt, s, ended);
    simt->config.wake(simt->config.opaque);
}

/* Takes a block that fits the unit, and maybe some to hold. */
static bool slot_take(MxgpuCu *cu, unsigned slot, uint64_t *block)
{
    SimtSlot *s = &cu->simt->slots[slot];
    uint64_t next = atomic_load(&s->next), n, after, needs, total, from;
    unsigned count;

    do {
        n = next & SLOT_NEXT;
        needs = atomic_load(&s->needs);
        if (n == SLOT_NONE ||
            ((needs & NEEDS_GANG) && !gang_claim(cu->simt, s, next)) ||
            !mxgpu_block_fits(cu, needs)) {
            return false;
        }
        total = atomic_load(&s->total);
        from = simt_grid(next, slot);
        count = take_count(cu, from, needs, total - n);
        after = n + count < total ? next + count : next | SLOT_NONE;
    } while (!atomic_compare_exchange_weak(&s->next, &next, after));
    if ((needs & NEEDS_GANG) && (after & SLOT_NEXT) == SLOT_NONE) {
        /* units that were kept for it may take other blocks now */
        cu->simt->config.wake(cu->simt->config.opaque);
    }
    *block = n;
    cu->taken_from = from;
    if (cu->held) { /* of another slot */
        give_up(cu);
    }
    if (count > 1) {
        slot_left(cu->simt, &cu->simt->slots[cu->held_slot], cu->held_ended);
        cu->held_slot = slot;
        cu->held_next = n + 1;
        cu->held = count - 1;
        cu->held_ended = 0;
    }
    return true;
}

static bool holds(const MxgpuCu *cu, unsigned slot)
{
    return cu->held && cu->held_slot == slot;
}

/* Begins no more of the blocks that the unit holds. */
static void drop_held(MxgpuCu *cu)
{
    unsigned n = cu->held + cu->held_ended;

    cu->held = cu->held_ended = 0;
    slot_left(cu->simt, &cu->simt->slots[cu->held_slot], n);
}

/* The next block of the slot. */
static bool take_from(MxgpuCu *cu, unsigned slot, uint64_t *block)
{
    SimtTake take;

    if (!holds(cu, slot)) {
        take = mxgpu_returned_take(cu, slot, block);
        return take == TAKE_NONE ? slot_take(cu, slot, block)
                                 : take == TAKE_BLOCK;
    }
    if (!mxgpu_block_fits(cu, atomic_load(&cu->simt->slots[slot].needs))) {
        give_up(cu);
        return false;
    }
    *block = cu->held_next++;
    cu->held--;
    return true;
}

/* A block of the slot has ended. */
static void count_end(MxgpuCu *cu, unsigned slot)
{
    unsigned n = 1;

    if (holds(cu, slot)) { /* not the last one */
        cu->held_ended++;
        return;
    }
    if (cu->held_slot == slot) {
        n += cu->held_ended;
        cu->held_ended = 0;
    }
    slot_left(cu->simt, &cu->simt->slots[slot], n);
}

/* ---- compute units */

static void free_cu(MxgpuCu *cu)
{
    for (unsigned i = 0; i < CODE_PAGES; i++) {
        free(cu->pages[i]);
    }
    if (cu->private) {
        munmap(cu->private, CU_WARPS * PRIVATE_WARP_BYTES);
    }
    if (cu->warps) {
        munmap(cu->warps, CU_WARPS * sizeof(*cu->warps));
    }
    free(cu->shared);
}

/* Zeroed address space; memory comes when touched. */
static void *reserve(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static bool init_cu(MxgpuSimt *simt, MxgpuCu *cu, unsigned index)
{
    cu->simt = simt;
    cu->index = index;
    cu->random = index + 1;
    cu->pages[0] = malloc(sizeof(*cu->pages[0]));
    cu->warps = reserve(CU_WARPS * sizeof(*cu->warps));
    cu->shared = aligned_alloc(64, MXGPU_SHARED_MAX);
    if (!cu->pages[0] || !cu->warps || !cu->shared) {
        return false;
    }
    cu->pages[0]->tag = SIMT_NO_PAGE;
    mxgpu_simt_drop_tlb(cu);
    return true;
}

/* The stacks of a unit, when it first runs a block. */
static bool need_private(MxgpuCu *cu)
{
    if (!cu->private) {
        cu->private = reserve(CU_WARPS * PRIVATE_WARP_BYTES);
    }
    return cu->private != NULL;
}

static void invalidate(MxgpuCu *cu)
{
    mxgpu_simt_drop_tlb(cu);
    mxgpu_simt_drop_code(cu);
    cu->drops++;
}

#if defined(__x86_64__)
/* Whether the host has all that exec_avx2.c is compiled for. */
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("f16c") && __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("lzcnt");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

unsigned mxgpu_simt_variants(SimtVariant out[SIMT_VARIANTS])
{
    unsigned n = 0;

#if defined(__x86_64__)
    __builtin_cpu_init();
    if (has_avx512()) {
        out[n++] = (SimtVariant){"avx512", mxgpu_simt_exec_avx512,
                                 mxgpu_simt_count_avx512,
                                 mxgpu_simt_convoy_avx512};
    }
    if (has_avx2()) {
        out[n++] = (SimtVariant){"avx2", mxgpu_simt_exec_avx2,
                                 mxgpu_simt_count_avx2,
                                 mxgpu_simt_convoy_avx2};
    }
#endif
    out[n++] = (SimtVariant){"base", mxgpu_simt_exec_base,
                             mxgpu_simt_count_base, mxgpu_simt_convoy_base};
    out[n++] = (SimtVariant){"plain", mxgpu_simt_exec_plain,
                             mxgpu_simt_count_base, mxgpu_simt_convoy_plain};
    return n;
}

MxgpuSimt *mxgpu_simt_new(const MxgpuSimtConfig *config)
{
    MxgpuSimt *simt = calloc(1, sizeof(*simt));
    SimtVariant v[SIMT_VARIANTS];
    bool ok;

    if (!simt) {
        return NULL;
    }
    simt->config = *config;
    pthread_mutex_init(&simt->returned_lock, NULL);
    mxgpu_simt_variants(v);
    simt->exec = v[0].exec;
    simt->count = v[0].count;
    simt->convoy = config->trap ? NULL : v[0].convoy;
    simt->cus = calloc(config->compute_units, sizeof(*simt->cus));
    ok = simt->cus;
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        atomic_store(&simt->slots[i].next, SLOT_NONE);
    }
    for (unsigned i = 0; ok && i < config->compute_units; i++) {
        ok = init_cu(simt, &simt->cus[i], i);
    }
    if (!ok) {
        for (unsigned i = 0; simt->cus && i < config->compute_units; i++) {
            free_cu(&simt->cus[i]);
        }
        free(simt->cus);
        pthread_mutex_destroy(&simt->returned_lock);
        free(simt);
        return NULL;
    }
    mxgpu_mmu_client_add(config->mmu, &simt->scanner);
    for (unsigned i = 0; i < config->compute_units; i++) {
        mxgpu_mmu_client_add(config->mmu, &simt->cus[i].client);
    }
    return simt;
}

void mxgpu_simt_free(MxgpuSimt *simt)
{
    mxgpu_mmu_client_remove(&simt->scanner);
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        mxgpu_mmu_client_remove(&simt->cus[i].client);
        free_cu(&simt->cus[i]);
    }
    free(simt->cus);
    pthread_mutex_destroy(&simt->returned_lock);
    free(simt);
}

void mxgpu_simt_reset(MxgpuSimt *simt)
{
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        SimtSlot *s = &simt->slots[i];

        atomic_fetch_or(&s->next, SLOT_NONE);
        atomic_store(&s->returned, 0);
        atomic_store(&s->left, 0);
        atomic_store(&s->active, false);
    }
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        MxgpuCu *cu = &simt->cus[i];

        for (unsigned b = 0; b < MXGPU_CU_BLOCKS; b++) {
            if (cu->blocks[b].used) {
                mxgpu_block_end(cu, &cu->blocks[b]);
            }
        }
        invalidate(cu);
        for (unsigned n = 0; n < COUNTS; n++) {
            atomic_store(&cu->count[n], 0);
        }
        cu->lanes_now = cu->divergent_now = 0;
        cu->held = cu->held_ended = 0;
        atomic_store(&cu->returned.blocks, 0);
        cu->next_warp = cu->last_slot = 0;
        cu->turn = cu->since_take = 0;
    }
    atomic_store(&simt->dispatches, 0);
    atomic_store(&simt->gang, 0);
}

/* ---- dispatch */

/* Samples never go to the windows of the upper half. */
static bool samples_ok(const MxgpuDispatch *d)
{
    return !d->profile || !d->sample_interval || !d->sample_max ||
           (d->sample_addr % 8 == 0 && d->sample_addr < MXGPU_VA_LIMIT &&
            d->sample_max <= (MXGPU_VA_LIMIT - d->sample_addr) / 8);
}

static bool dispatch_ok(const MxgpuDispatch *d, uint64_t *total)
{
    uint64_t threads = 1, blocks = 1;

    for (unsigned i = 0; i < 3; i++) {
        if (d->block[i] == 0 || d->block[i] > MXGPU_BLOCK_THREADS ||
            d->grid[i] == 0 ||
            __builtin_mul_overflow(blocks, d->grid[i], &blocks)) {
            return false;
        }
        threads *= d->block[i];
    }
    *total = blocks;
    threads = (threads + LANES - 1) / LANES * LANES;
    return threads <= MXGPU_BLOCK_THREADS && blocks < SLOT_NONE &&
           d->registers >= 1 && d->registers <= 255 &&
           threads * d->registers <= MXGPU_CU_REGISTERS &&
           d->shared <= MXGPU_SHARED_MAX && d->shared_static <= d->shared &&
           d->private_bytes <= MXGPU_PRIVATE_MAX &&
           d->private_bytes % 1024 == 0 && d->vmid < MXGPU_NUM_VMIDS &&
           samples_ok(d);
}

/*
 * Scanning code is not free: the answer holds until a TLB is invalidated. The
 * scan uses translations, so whoever starts a grid is a client of the MMU.
 */
static bool reads_flags(MxgpuSimt *simt, const MxgpuDispatch *d)
{
    uint64_t page = d->entry / PAGE_BYTES;
    SimtFlagScan *c = &simt->flag_scans[d->vmid];
    bool still = true, reads;

    if (mxgpu_mmu_client_begin(&simt->scanner)) {
        memset(simt->flag_scans, 0, sizeof(simt->flag_scans));
    }
    if (!c->valid || c->page != page) {
        c->reads = mxgpu_simt_reads_flags(simt, d->vmid, d->entry, &still);
        c->page = page;
        c->valid = true;
    }
    reads = c->reads;
    if (!still) { /* invalidated meanwhile: look again next time */
        memset(simt->flag_scans, 0, sizeof(simt->flag_scans));
    }
    mxgpu_mmu_client_end(&simt->scanner);
    return reads;
}

enum mxgpu_fault mxgpu_simt_start(MxgpuSimt *simt, unsigned slot,
                                  const MxgpuDispatch *d)
{
    SimtSlot *s;
    uint64_t total, next;

    if (slot >= MXGPU_DISPATCH_SLOTS || !dispatch_ok(d, &total)) {
        return MXGPU_FAULT_CONFIG;
    }
    if (d->cooperative && total > (uint64_t)simt->config.compute_units *
                                      mxgpu_block_capacity(
                                          mxgpu_block_needs(d))) {
        return MXGPU_FAULT_CONFIG;
    }
    s = &simt->slots[slot];
    if (atomic_load(&s->active)) {
        return MXGPU_FAULT_CONFIG;
    }
    s->dispatch = *d;
    s->dispatch.accesses |= d->profile;
    atomic_store(&s->needs, mxgpu_block_needs(d));
    atomic_store(&s->priority, d->priority);
    s->flags = reads_flags(simt, d);
    s->fault = (MxgpuDispatchFault){.code = MXGPU_FAULT_NONE};
    atomic_store(&s->stop_code, MXGPU_FAULT_NONE);
    if (d->profile) {
        mxgpu_simt_profile_start(simt, slot);
    }
    atomic_store(&s->stop, false);
    atomic_store(&s->fault_taken, false);
    atomic_store(&s->left, total);
    atomic_store(&s->total, total);
    atomic_store(&s->grid_alive, total);
    atomic_store(&s->grid_missing, total);
    atomic_store(&s->active, true);
    atomic_fetch_add(&simt->code_check, 1);
    atomic_fetch_add(&simt->dispatches, 1);
    next = atomic_load(&s->next) & ~SLOT_NEXT;
    atomic_store(&s->next, next + SLOT_NEXT + 1);
    simt->config.wake(simt->config.opaque);
    return MXGPU_FAULT_NONE;
}

void mxgpu_simt_abort(MxgpuSimt *simt, unsigned slot)
{
    SimtSlot *s;

    if (slot >= MXGPU_DISPATCH_SLOTS) {
        return;
    }
    s = &simt->slots[slot];
    if (atomic_load(&s->active)) {
        slot_stop(simt, s, MXGPU_FAULT_ABORTED);
        simt->config.wake(simt->config.opaque);
    }
}

MxgpuDispatchFault mxgpu_simt_fault(MxgpuSimt *simt, unsigned slot)
{
    return simt->slots[slot].fault;
}

/* ---- running */

/*
 * A unit has one host thread: more blocks at once only spoil its cache. It
 * takes another one when those it has still run after so many instructions,
 * for they may wait for blocks that have not begun.
 */
#define BLOCK_QUANTUM 250000

/* Takes one block of the most urgent slot that has one that fits. */
static bool take_block(MxgpuCu *cu)
{
    MxgpuSimt *simt = cu->simt;
    uint64_t block;
    unsigned tried = 0, gang = gang_slot(simt);
    unsigned reserved = gang == MXGPU_DISPATCH_SLOTS
                            ? UINT_MAX
                            : atomic_load(&simt->slots[gang].priority);

    if (cu->held && cu->since_take >= BLOCK_QUANTUM) {
        give_up(cu);
    }
    while (tried != (1u << MXGPU_DISPATCH_SLOTS) - 1) {
        unsigned best = MXGPU_DISPATCH_SLOTS, priority = 0;
        uint64_t grid;

        for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
            unsigned n = (i + cu->last_slot + 1) % MXGPU_DISPATCH_SLOTS;
            SimtSlot *s = &simt->slots[n];
            unsigned p = atomic_load(&s->priority);

            if (!(tried >> n & 1) && (slot_has_blocks(s) || holds(cu, n)) &&
                (p < reserved || n == gang) &&
                (best == MXGPU_DISPATCH_SLOTS || p < priority)) {
                best = n;
                priority = p;
            }
        }
        if (best == MXGPU_DISPATCH_SLOTS) {
            return false;
        }
        tried |= 1u << best;
        /* Read before stop: if that is a later grid's, nothing is cancelled. */
        grid = slot_grid(simt, best);
        if (atomic_load(&simt->slots[best].stop)) {
            slot_cancel(simt, grid);
            if (holds(cu, best)) {
                drop_held(cu);
            }
        } else if (take_from(cu, best, &block)) {
            cu->last_slot = best;
            mxgpu_block_start(cu, best, block);
            return true;
        }
    }
    return false;
}

static void end_block(MxgpuCu *cu, SimtBlock *b)
{
    SimtSlot *s = &cu->simt->slots[b->slot];

    if (atomic_load(&s->stop)) {
        mxgpu_block_fault_stopped(cu, b, atomic_load(&s->stop_code));
        slot_cancel(cu->simt, slot_grid(cu->simt, b->slot));
        if (s->dispatch.cooperative) { /* units wait for this block */
            cu->simt->config.wake(cu->simt->config.opaque);
        }
    } else if (s->dispatch.cooperative) {
        mxgpu_block_grid_end(cu->simt, s);
    }
    mxgpu_block_end(cu, b);
    simt_count(cu, COUNT_blocks, 1);
    if (s->dispatch.profile) {
        mxgpu_simt_profile_block(cu, b->slot, 0);
    }
    count_end(cu, b->slot);
}

/* Blocks that wait for others of their grid: whether they may go on, or are
 * waited for in vain. */
static void poll_grids(MxgpuCu *cu)
{
    for (unsigned i = 0; i < MXGPU_CU_BLOCKS && cu->num_waiting; i++) {
        SimtBlock *b = &cu->blocks[i];

        if (b->used && b->grid_wait) {
            mxgpu_block_grid_poll(cu, b);
            if (atomic_load(&cu->simt->slots[b->slot].stop)) {
                end_block(cu, b);
            }
        }
    }
}

/* Blocks that are complete, cannot go on, or whose dispatch is stopped. */
static void reap(MxgpuCu *cu)
{
    for (unsigned i = 0; i < MXGPU_CU_BLOCKS && cu->num_blocks; i++) {
        SimtBlock *b = &cu->blocks[i];

        if (!b->used) {
            continue;
        }
        if (b->exited < b->threads &&
            !atomic_load(&cu->simt->slots[b->slot].stop) &&
            mxgpu_block_stuck(cu, b)) {
            mxgpu_block_fault_stuck(cu, b);
        }
        if (b->exited == b->threads ||
            atomic_load(&cu->simt->slots[b->slot].stop)) {
            end_block(cu, b);
        }
    }
}

static void count_run(MxgpuCu *cu, uint64_t instructions)
{
    simt_count(cu, COUNT_warp_instructions, instructions);
    simt_count(cu, COUNT_lane_instructions, cu->lanes_now);
    simt_count(cu, COUNT_divergent_branches, cu->divergent_now);
    cu->lanes_now = cu->divergent_now = 0;
}

/* Gives a warp its turn, or its whole block while that is together; returns
 * instructions run. */
static uint64_t run_warp(MxgpuCu *cu, MxgpuWarp *w, uint64_t budget)
{
    uint64_t before = w->instructions, ran;
    SimtBlock *block = &cu->blocks[w->block];
    SimtSlot *s = simt_slot(cu, w);

    if (atomic_load_explicit(&s->stop, memory_order_relaxed)) {
        return 0;
    }
    if (block->convoy) {
        ran = cu->simt->convoy(cu, block, budget / block->num_warps + 1);
        count_run(cu, ran);
        if (ran || block->convoy) {
            return ran;
        }
    }
    mxgpu_block_settle(cu, block);
    if (s->flags && w->fp_level != 2) {
        mxgpu_simt_fp_level(w, true);
    }
    if (__builtin_expect(s->dispatch.accesses, 0)) {
        mxgpu_simt_run_counted(cu, w, before + budget);
        return w->instructions - before;
    }
    (void)cu->simt->exec(cu, w, before + budget);
    count_run(cu, w->instructions - before);
    return w->instructions - before;
}

static unsigned num_warps(const MxgpuCu *cu)
{
    return __builtin_popcount(cu->used_warps);
}

/* The first warp in use from n on, in a circle; there is one. */
static unsigned warp_from(const MxgpuCu *cu, unsigned n)
{
    uint32_t later = cu->used_warps & UINT32_MAX << n;

    return __builtin_ctz(later ? later : cu->used_warps);
}

/* The host has no memory for stacks: what waits is not left waiting. */
static void refuse(MxgpuSimt *simt)
{
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        if (slot_has_blocks(&simt->slots[i])) {
            slot_stop(simt, &simt->slots[i], MXGPU_FAULT_CONFIG);
        }
    }
}

/* Kernels run in the default environment, whatever the host's is. */
#if defined(__x86_64__)
typedef unsigned HostEnv;

static void enter_env(HostEnv *host)
{
    *host = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0x1f80);
}

static void leave_env(const HostEnv *host)
{
    __builtin_ia32_ldmxcsr(*host);
}
#else
typedef fenv_t HostEnv;

static void enter_env(HostEnv *host)
{
    fegetenv(host);
    fesetenv(FE_DFL_ENV);
}

static void leave_env(const HostEnv *host)
{
    fesetenv(host);
}
#endif

bool mxgpu_simt_run(MxgpuSimt *simt, unsigned index, unsigned budget)
{
    MxgpuCu *cu = &simt->cus[index];
    uint64_t left = budget, began;
    bool more = true;
    HostEnv env;

    cu->patience = PATIENCE(budget);
    if (cu->num_blocks == 0 && !mxgpu_simt_has_work(simt)) {
        return false;
    }
    if (!need_private(cu)) {
        refuse(simt);
        return false;
    }
    began = simt_clock(cu);
    if (mxgpu_mmu_client_begin(&cu->client)) {
        invalidate(cu);
    }
    enter_env(&env);
    while (left && !simt_tired(cu)) {
        uint64_t check = atomic_load(&simt->code_check), ran = 0;

        /* A block must not start among what an address space left that is
         * there no more. */
        if (mxgpu_mmu_client_poll(&cu->client)) {
            invalidate(cu);
        }
        if (check != cu->dispatches_seen) {
            cu->dispatches_seen = check;
            mxgpu_simt_drop_code(cu);
        }
        if (cu->held && atomic_load(&simt->slots[cu->held_slot].stop)) {
            drop_held(cu);
        }
        if (cu->num_waiting) {
            poll_grids(cu);
        }
        if ((cu->num_blocks == cu->num_waiting ||
             cu->since_take >= BLOCK_QUANTUM) &&
            take_block(cu)) {
            cu->since_take = 0;
        }
        if (cu->num_blocks == cu->num_waiting) {
            more = false;
            break;
        }
        for (unsigned i = 0; i < num_warps(cu) && ran < left; i++) {
            MxgpuWarp *w;

            cu->next_warp = warp_from(cu, cu->next_warp);
            w = &cu->warps[cu->next_warp];
            if (w->cur.mask || w->num_ready) {
                uint64_t quantum = WARP_QUANTUM - cu->turn, n;

                if (mxgpu_mmu_client_poll(&cu->client)) {
                    invalidate(cu);
                }
                n = run_warp(cu, w, quantum < left - ran ? quantum
                                                         : left - ran);
                ran += n;
                cu->turn += n;
                if ((ran >= left || simt_tired(cu)) &&
                    cu->turn < WARP_QUANTUM) {
                    break; /* the same warp goes on next time */
                }
            }
            cu->turn = 0;
            cu->next_warp = (cu->next_warp + 1) % CU_WARPS;
        }
        reap(cu);
        ran += ran == 0; /* reaping is work too */
        cu->since_take += ran;
        left -= ran < left ? ran : left;
    }
    leave_env(&env);
    mxgpu_mmu_client_end(&cu->client);
    simt_count(cu, COUNT_busy_ns, simt_clock(cu) - began);
    return more;
}

bool mxgpu_simt_has_work(MxgpuSimt *simt)
{
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        if (atomic_load(&simt->slots[i].active)) {
            return true;
        }
    }
    return false;
}
