/* SPDX-License-Identifier: MIT */
/* The compute units as a whole, and starting grids on them. */
#include "units.h"

#include "simt/exec/variants.h"
#include "simt/jit/jit.h"
#include "simt/sched/block.h"
#include "simt/sched/counters.h"
#include "simt/sched/private.h"
#include "simt/sched/run.h"
#include "simt/sched/saved.h"
#include "simt/sched/slots.h"
#include "simt/warp/memory.h"
#include "simt/warp/observe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>


/* ---- compute units */

static void free_cu(MxgpuCu *cu)
{
    for (unsigned i = 0; i < CODE_PAGES; i++) {
        free(cu->c.pages[i]);
    }
    mxgpu_saved_drop(cu);
    mxgpu_private_free(cu);
    if (cu->warps) {
        munmap(cu->warps, CU_WARPS * sizeof(*cu->warps));
    }
    free(cu->shared);
}

void *mxgpu_cu_reserve(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static bool init_cu(MxgpuSimt *simt, MxgpuCu *cu, unsigned index)
{
    cu->simt = simt;
    cu->index = index;
    cu->s.random = index + 1;
    cu->c.hold = &mxgpu_simt_not_held;
    cu->c.pages[0] = malloc(sizeof(*cu->c.pages[0]));
    cu->warps = mxgpu_cu_reserve(CU_WARPS * sizeof(*cu->warps));
    cu->shared = aligned_alloc(64, MXGPU_SHARED_MAX);
    if (!cu->c.pages[0] || !cu->warps || !cu->shared) {
        return false;
    }
    cu->c.pages[0]->tag = SIMT_NO_PAGE;
    mxgpu_simt_drop_tlb(cu);
    return true;
}

bool mxgpu_simt_runs_here(void)
{
    SimtVariant v[SIMT_VARIANTS];

    return mxgpu_simt_variants(v) > 0;
}

static void close_pagemap(const MxgpuSimt *simt)
{
    if (simt->pagemap >= 0) {
        close(simt->pagemap);
    }
}

MxgpuSimt *mxgpu_simt_new(const MxgpuSimtConfig *config)
{
    SimtVariant v[SIMT_VARIANTS];
    MxgpuSimt *simt =
        mxgpu_simt_variants(v) ? calloc(1, sizeof(*simt)) : NULL;
    bool ok;

    if (!simt) {
        return NULL;
    }
    simt->config = *config;
    simt->private_bytes = config->private_bytes
                              ? config->private_bytes
                              : CU_WARPS * PRIVATE_WARP_BYTES;
    pthread_mutex_init(&simt->returned_lock, NULL);
    simt->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    simt->exec = v[0].exec;
    simt->count = v[0].count;
    simt->convoy = config->trap ? NULL : v[0].convoy;
    if (config->jit && !config->trap && !config->native &&
        !config->lane_memory && v[0].compiled) {
        simt->jit = mxgpu_jit_new(config->compute_units, config->jit_waits);
        simt->jit_patience =
            config->jit < JIT_ROUNDS ? 1 : config->jit / JIT_ROUNDS;
        simt->jit_rounds = config->jit / simt->jit_patience;
        simt->jit_first =
            simt->jit_patience < JIT_FIRST ? simt->jit_patience : JIT_FIRST;
    }
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
        mxgpu_jit_free(simt->jit);
        close_pagemap(simt);
        pthread_mutex_destroy(&simt->returned_lock);
        free(simt);
        return NULL;
    }
    for (unsigned i = 0; i < config->compute_units; i++) {
        mxgpu_mmu_client_add(config->mmu, &simt->cus[i].client);
    }
    return simt;
}

void mxgpu_simt_free(MxgpuSimt *simt)
{
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        mxgpu_mmu_client_remove(&simt->cus[i].client);
        free_cu(&simt->cus[i]);
    }
    mxgpu_simt_debug_close(simt);
    mxgpu_jit_free(simt->jit);
    free(simt->cus);
    close_pagemap(simt);
    pthread_mutex_destroy(&simt->returned_lock);
    free(simt);
}

void mxgpu_simt_reset(MxgpuSimt *simt)
{
    bool unclean = false;

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
            if (cu->s.blocks[b].used) {
                mxgpu_block_end(cu, &cu->s.blocks[b]);
            }
        }
        mxgpu_saved_drop(cu);
        mxgpu_private_drop(cu);
        unclean |= cu->s.unclean != 0;
        mxgpu_cu_invalidate(cu);
        for (unsigned n = 0; n < COUNTS; n++) {
            atomic_store(&cu->n.count[n], 0);
        }
        for (unsigned n = 0; n < MXGPU_DISPATCH_SLOTS; n++) {
            atomic_store(&cu->n.spent[n], 0);
        }
        for (unsigned n = 0; n < MXGPU_NUM_VMIDS; n++) {
            atomic_store(&cu->n.vmid_ns[n], 0);
        }
        cu->n.lanes_now = cu->n.divergent_now = 0;
        cu->s.held = cu->s.held_ended = 0;
        atomic_store(&cu->s.returned.blocks, 0);
        cu->s.next_warp = cu->s.last_slot = 0;
        cu->s.turn = cu->s.since_take = cu->s.span_wait = 0;
        cu->s.random = i + 1;
        cu->s.sample_left = 0;
        atomic_store(&cu->n.where, 0);
    }
    atomic_store(&simt->dispatches, 0);
    atomic_store(&simt->gang, 0);
    atomic_store(&simt->held_slots, 0);
    if (unclean) { /* units give memory back */
        simt->config.wake(simt->config.opaque);
    }
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

bool mxgpu_simt_can_run(const MxgpuSimt *simt, const MxgpuDispatch *d,
                        uint64_t *total)
{
    unsigned capacity;

    if (!dispatch_ok(d, total)) {
        return false;
    }
    capacity = mxgpu_block_capacity(simt, d);
    return capacity &&
           (!d->cooperative ||
            *total <= (uint64_t)simt->config.compute_units * capacity);
}

void mxgpu_simt_expect(MxgpuSimt *simt)
{
    if (simt->jit) {
        mxgpu_jit_prepare(simt->jit);
    }
}

enum mxgpu_fault mxgpu_simt_start(MxgpuSimt *simt, unsigned slot,
                                  const MxgpuDispatch *d)
{
    SimtSlot *s;
    uint64_t total, next;

    if (slot >= MXGPU_DISPATCH_SLOTS || !mxgpu_simt_can_run(simt, d, &total)) {
        return MXGPU_FAULT_CONFIG;
    }
    s = &simt->slots[slot];
    if (atomic_load(&s->active)) {
        return MXGPU_FAULT_CONFIG;
    }
    s->dispatch = *d;
    atomic_store(&s->needs, mxgpu_block_needs(d));
    atomic_store(&s->priority, d->priority);
    s->fault = (MxgpuDispatchFault){.code = MXGPU_FAULT_NONE};
    atomic_store(&s->stop_code, MXGPU_FAULT_NONE);
    mxgpu_simt_expect(simt);
    if (d->profile) {
        mxgpu_simt_profile_start(simt, slot);
    }
    if (simt->debug) {
        atomic_store(&simt->debug->launched[slot], false);
    }
    atomic_store(&s->stop, false);
    atomic_store(&s->fault_taken, false);
    atomic_store(&s->left, total);
    atomic_store(&s->total, total);
    atomic_store(&s->grid_alive, total);
    atomic_store(&s->grid_missing, total);
    atomic_fetch_and(&simt->held_slots, ~(1u << slot)); /* HOLD came late */
    atomic_store(&s->active, true);
    if (simt_observer(simt) && simt_observer(simt)->grid) {
        simt_observer(simt)->grid(simt->config.observer_opaque, slot,
                                  d->entry, d->args, true);
    }
    atomic_fetch_add(&simt->code_check, 1);
    atomic_fetch_add(&simt->dispatches, 1);
    next = atomic_load(&s->next) & ~SLOT_NEXT;
    atomic_store(&s->next, next + SLOT_NEXT + 1);
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
        mxgpu_slot_stop(simt, s, MXGPU_FAULT_ABORTED);
        simt->config.wake(simt->config.opaque);
    }
}

MxgpuDispatchFault mxgpu_simt_fault(MxgpuSimt *simt, unsigned slot)
{
    return simt->slots[slot].fault;
}

bool mxgpu_simt_active(MxgpuSimt *simt, unsigned slot)
{
    return atomic_load(&simt->slots[slot].active);
}
