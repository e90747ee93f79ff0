/* SPDX-License-Identifier: MIT */
/*
 * What units count, and samples. Instructions, branches, blocks, barriers and
 * atomics are counted always, a turn or a rare event at a time. Accesses cost
 * more than they are worth to most: they are counted in dispatches that ask for
 * it, which a second build of the interpreter runs (exec.inc.h, SIMT_COUNTING).
 */
#include <string.h>

#include "block.h"

#define SEGMENT_SHIFT 6 /* of a transaction: 64 bytes */
#define BANKS         64u /* of shared memory, 4 bytes wide */

/* Different values among those of one access, often few or in order. */
typedef struct SimtSet {
    uint64_t value[2 * LANES];
    uint64_t most;
    unsigned count;
} SimtSet;

static inline void set_add(SimtSet *set, uint64_t value)
{
    if (!set->count || value > set->most) {
        set->value[set->count++] = value;
        set->most = value;
        return;
    }
    for (unsigned i = set->count; i > 0; i--) {
        if (set->value[i - 1] == value) {
            return;
        }
    }
    set->value[set->count++] = value;
}

/* Passes that a group of lanes needs: words of one bank take turns. */
static unsigned passes(const SimtSet *words)
{
    uint8_t used[BANKS] = {0};
    unsigned most = 0;

    for (unsigned i = 0; i < words->count; i++) {
        unsigned n = ++used[words->value[i] % BANKS];

        most = n > most ? n : most;
    }
    return most;
}

/* Wide accesses are made for one half of the warp after the other. */
static void count_shared(MxgpuCu *cu, const uint64_t *a, uint64_t imm,
                         uint64_t mask, unsigned size)
{
    uint64_t half = size > 4 ? 0xffffffffull : ALL_LANES;

    simt_count(cu, COUNT_shared_requests, 1);
    for (unsigned step = 0; step < (size > 4 ? 2 : 1); step++) {
        SimtSet words;
        unsigned n;

        words.count = 0;
        for (uint64_t m = mask & half << 32 * step; m; m &= m - 1) {
            uint64_t va = a[__builtin_ctzll(m)] + imm;

            for (uint64_t word = va >> 2; word <= (va + size - 1) >> 2;
                 word++) {
                set_add(&words, word);
            }
        }
        n = passes(&words);
        simt_count(cu, COUNT_bank_conflicts, n ? n - 1 : 0);
    }
}

static void count_global(MxgpuCu *cu, uint64_t segments, uint64_t pages,
                         uint64_t bytes)
{
    simt_count(cu, COUNT_mem_requests, 1);
    simt_count(cu, COUNT_mem_transactions, segments);
    simt_count(cu, COUNT_mem_bytes, bytes);
    simt_count(cu, COUNT_tlb_lookups, pages);
}

/* A whole warp on neighbouring elements, or on one: no need to look at each. */
static bool count_regular(MxgpuCu *cu, const uint64_t *a, uint64_t imm,
                          unsigned size)
{
    uint64_t step = a[1] - a[0], differ = 0, first = a[0] + imm, last;

    if (step != 0 && step != size) {
        return false;
    }
    for (unsigned i = 0; i < LANES; i++) {
        differ |= a[i] ^ (a[0] + i * step);
    }
    last = first + (LANES - 1) * step + size - 1;
    if (differ || last >= MXGPU_VA_LIMIT || last < first) {
        return false;
    }
    count_global(cu, (last >> SEGMENT_SHIFT) - (first >> SEGMENT_SHIFT) + 1,
                 (last >> MXGPU_PAGE_SHIFT) - (first >> MXGPU_PAGE_SHIFT) + 1,
                 (uint64_t)LANES * size);
    return true;
}

void mxgpu_simt_count_access(MxgpuCu *cu, MxgpuWarp *w, const uint64_t *a,
                             uint64_t imm, uint64_t mask, unsigned size)
{
    SimtSet segments, pages;
    uint64_t shared = 0, lanes = 0;

    if (mask == ALL_LANES && count_regular(cu, a, imm, size)) {
        return;
    }
    segments.count = pages.count = 0;
    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);
        uint64_t va = a[i] + imm, last = va + size - 1;

        if (in_shared(w, va, size)) {
            shared |= 1ull << i;
        } else if (va < MXGPU_VA_LIMIT) {
            set_add(&segments, va >> SEGMENT_SHIFT);
            set_add(&segments, last >> SEGMENT_SHIFT);
            set_add(&pages, va >> MXGPU_PAGE_SHIFT);
            set_add(&pages, last >> MXGPU_PAGE_SHIFT);
            lanes++;
        }
    }
    if (shared) {
        count_shared(cu, a, imm, shared, size);
    }
    if (lanes) {
        count_global(cu, segments.count, pages.count, lanes * size);
    }
}

/* ---- samples */

static uint64_t next_random(MxgpuCu *cu)
{
    cu->random ^= cu->random << 13;
    cu->random ^= cu->random >> 7;
    cu->random ^= cu->random << 17;
    return cu->random;
}

/*
 * The first ones fill the buffer; later ones take the place of any earlier one
 * so that each has had the same chance to stay, whenever it was taken.
 */
bool mxgpu_simt_sample(MxgpuCu *cu, MxgpuWarp *w, uint64_t pc, uint64_t mask,
                       uint64_t instructions)
{
    SimtSlot *s = simt_slot(cu, w);
    const MxgpuDispatch *d = &s->dispatch;
    uint64_t n = atomic_fetch_add(&s->samples, 1), value, at;
    uint64_t misses = cu->count[COUNT_tlb_misses];
    enum mxgpu_fault fault;

    cu->sample_at = instructions + d->sample_interval;
    if (n >= d->sample_max) {
        n = next_random(cu) % (n + 1);
        if (n >= d->sample_max) {
            return true;
        }
    }
    value = (pc & 0xffffffffffffull) |
            (uint64_t)__builtin_popcountll(mask) << 48 |
            (uint64_t)cu->index << 56;
    fault = mxgpu_simt_write(cu, w, 0, d->sample_addr + 8 * n, &value, 8, &at);
    cu->count[COUNT_tlb_misses] = misses; /* not the kernel's */
    if (fault != MXGPU_FAULT_NONE) {
        mxgpu_simt_fault_at(cu, w, __builtin_ctzll(mask), fault,
                            MXGPU_ACCESS_WRITE, at, pc);
    }
    return fault == MXGPU_FAULT_NONE && !simt_tired(cu);
}

/* ---- dispatches */

void mxgpu_simt_run_counted(MxgpuCu *cu, MxgpuWarp *w, uint64_t limit)
{
    const MxgpuDispatch *d = &simt_slot(cu, w)->dispatch;
    SimtSlotProfile *profile = &cu->profile[w->slot];
    uint64_t before[COUNTS], start = w->instructions, began = 0;

    if (d->profile) {
        for (unsigned i = 0; i < COUNTS; i++) {
            before[i] = cu->count[i];
        }
        began = simt_clock(cu);
    }
    cu->sample_at = UINT64_MAX;
    if (d->profile && d->sample_interval) {
        if (cu->sample_left > d->sample_interval) {
            cu->sample_left = d->sample_interval;
        }
        cu->sample_at = start + cu->sample_left;
    }
    (void)cu->simt->count(cu, w, limit);
    if (cu->sample_at != UINT64_MAX) {
        cu->sample_left = cu->sample_at > w->instructions
                              ? cu->sample_at - w->instructions
                              : 0;
    }
    simt_count(cu, COUNT_warp_instructions, w->instructions - start);
    simt_count(cu, COUNT_lane_instructions, cu->lanes_now);
    simt_count(cu, COUNT_divergent_branches, cu->divergent_now);
    cu->lanes_now = cu->divergent_now = 0;
    if (d->profile) {
        for (unsigned i = 0; i < COUNTS; i++) {
            profile->count[i] += cu->count[i] - before[i];
        }
        profile->count[COUNT_busy_ns] += simt_clock(cu) - began;
    }
}

void mxgpu_simt_profile_start(MxgpuSimt *simt, unsigned slot)
{
    atomic_store(&simt->slots[slot].samples, 0);
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        SimtSlotProfile *profile = &simt->cus[i].profile[slot];

        for (unsigned n = 0; n < COUNTS; n++) {
            atomic_store_explicit(&profile->count[n], 0,
                                  memory_order_relaxed);
        }
        profile->first = profile->last = 0;
    }
}

void mxgpu_simt_profile_block(MxgpuCu *cu, unsigned slot, unsigned warps)
{
    SimtSlotProfile *profile = &cu->profile[slot];

    if (warps) {
        if (!profile->count[COUNT_warps]) {
            profile->first = simt_clock(cu);
        }
        profile->count[COUNT_warps] += warps;
    } else {
        profile->count[COUNT_blocks] += 1;
        profile->last = simt_clock(cu);
    }
}

/* ---- reading */

static void add_counts(const _Atomic uint64_t *count, MxgpuSimtCounters *out)
{
#define F(name, index)                                                         \
    out->name += atomic_load_explicit(&count[COUNT_##name],                    \
                                      memory_order_relaxed);
    MXGPU_SIMT_COUNTERS(F)
#undef F
}

void mxgpu_simt_counters(MxgpuSimt *simt, MxgpuSimtCounters *out)
{
    *out = (MxgpuSimtCounters){.dispatches = atomic_load(&simt->dispatches)};
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        add_counts(simt->cus[i].count, out);
    }
}

void mxgpu_simt_unit_counters(MxgpuSimt *simt, unsigned cu,
                              MxgpuSimtCounters *out)
{
    *out = (MxgpuSimtCounters){.dispatches = 0};
    if (cu < simt->config.compute_units) {
        add_counts(simt->cus[cu].count, out);
    }
}

void mxgpu_simt_slot_counters(MxgpuSimt *simt, unsigned slot,
                              MxgpuSimtCounters *out)
{
    *out = (MxgpuSimtCounters){.dispatches = 1};
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        add_counts(simt->cus[i].profile[slot].count, out);
    }
}

uint64_t mxgpu_simt_slot_samples(MxgpuSimt *simt, unsigned slot)
{
    return atomic_load(&simt->slots[slot].samples);
}

void mxgpu_simt_slot_times(MxgpuSimt *simt, unsigned slot, unsigned cu,
                           MxgpuSimtTimes *out)
{
    *out = (MxgpuSimtTimes){.blocks = 0};
    if (cu < simt->config.compute_units) {
        const SimtSlotProfile *profile = &simt->cus[cu].profile[slot];

        out->blocks = profile->count[COUNT_blocks];
        out->first = profile->first;
        out->last = profile->last;
        out->busy = profile->count[COUNT_busy_ns];
    }
}
