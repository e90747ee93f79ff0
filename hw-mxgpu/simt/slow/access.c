/* SPDX-License-Identifier: MIT */
/*
 * What a load, store or atomic of a warp counts. That costs more than it is
 * worth to most: accesses are counted in dispatches that ask for it, all of
 * them or some (simt/sched/profile.c), which a second build of the interpreter
 * runs (simt/exec/count.c).
 */
#include "access.h"

#include "simt/warp/count.h"
#include "simt/warp/memory.h"
#include "simt/warp/warp.h"

#include <string.h>

#define SEGMENT_SHIFT 6 /* of a transaction: 64 bytes */
#define BANKS         64u /* of shared memory, 4 bytes wide */

/* The different values of what an access touches (segments, pages): they are
 * often few, or come in order, so this is a list. */
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

/* Words of shared memory that an access touches: a list for each bank. */
typedef struct SimtBanks {
    uint64_t word[3 * LANES];
    uint8_t first[BANKS], next[3 * LANES]; /* number + 1 of a word */
    uint8_t depth[BANKS], most;            /* different words */
    unsigned count;
} SimtBanks;

static inline void banks_add(SimtBanks *b, uint64_t word)
{
    unsigned bank = word % BANKS;

    for (unsigned i = b->first[bank]; i; i = b->next[i - 1]) {
        if (b->word[i - 1] == word) {
            return;
        }
    }
    b->word[b->count] = word;
    b->next[b->count] = b->first[bank];
    b->first[bank] = (uint8_t)++b->count;
    b->most = ++b->depth[bank] > b->most ? b->depth[bank] : b->most;
}

/* Shared memory serves one word of each bank at a time: what takes more is a
 * conflict. Accesses of 8 bytes are made for one half of the warp after the
 * other. */
static void count_shared(MxgpuCu *cu, const uint64_t *a, uint64_t imm,
                         uint64_t mask, unsigned size)
{
    uint64_t half = size > 4 ? 0xffffffffull : ALL_LANES;

    simt_count(cu, COUNT_shared_requests, 1);
    for (unsigned step = 0; step < (size > 4 ? 2 : 1); step++) {
        SimtBanks banks;

        memset(banks.first, 0, sizeof(banks.first));
        memset(banks.depth, 0, sizeof(banks.depth));
        banks.most = banks.count = 0;
        for (uint64_t m = mask & half << 32 * step; m; m &= m - 1) {
            uint64_t va = a[__builtin_ctzll(m)] + imm;

            for (uint64_t word = va >> 2; word <= (va + size - 1) >> 2;
                 word++) {
                banks_add(&banks, word);
            }
        }
        simt_count(cu, COUNT_bank_conflicts,
                   banks.most ? banks.most - 1u : 0);
    }
}

/* Different units of 2^shift bytes among n accesses from low to high. */
static unsigned different(const uint64_t *va, unsigned n, unsigned size,
                          uint64_t low, uint64_t high, unsigned shift)
{
    uint64_t first = low >> shift, bits = 0;
    SimtSet set;

    if (((high + size - 1) >> shift) - first < 64) {
        for (unsigned i = 0; i < n; i++) {
            bits |= 1ull << ((va[i] >> shift) - first);
            bits |= 1ull << (((va[i] + size - 1) >> shift) - first);
        }
        return __builtin_popcountll(bits);
    }
    set.count = 0;
    for (unsigned i = 0; i < n; i++) {
        set_add(&set, va[i] >> shift);
        set_add(&set, (va[i] + size - 1) >> shift);
    }
    return set.count;
}

static void bounds(const uint64_t *va, unsigned n, uint64_t *low,
                   uint64_t *high)
{
    uint64_t least = va[0], most = va[0];

    for (unsigned i = 1; i < n; i++) {
        least = va[i] < least ? va[i] : least;
        most = va[i] > most ? va[i] : most;
    }
    *low = least;
    *high = most;
}

static void count_global(MxgpuCu *cu, const uint64_t *va, unsigned n,
                         unsigned size)
{
    uint64_t low, high;

    bounds(va, n, &low, &high);
    simt_count(cu, COUNT_mem_requests, 1);
    simt_count(cu, COUNT_mem_transactions,
               different(va, n, size, low, high, SEGMENT_SHIFT));
    simt_count(cu, COUNT_mem_bytes, (uint64_t)n * size);
    simt_count(cu, COUNT_tlb_lookups,
               different(va, n, size, low, high, MXGPU_PAGE_SHIFT));
}

/* Some lanes' addresses may be in global and some in shared memory. */
static void count_mixed(MxgpuCu *cu, MxgpuWarp *w, const uint64_t *a,
                        uint64_t imm, uint64_t mask, unsigned size)
{
    uint64_t va[LANES], shared = 0;
    unsigned n = 0;

    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);

        if (in_shared(w, a[i] + imm, size)) {
            shared |= 1ull << i;
        } else if (a[i] + imm < MXGPU_VA_LIMIT) {
            va[n++] = a[i] + imm;
        }
    }
    if (shared) {
        count_shared(cu, a, imm, shared, size);
    }
    if (n) {
        count_global(cu, va, n, size);
    }
}

/* Different units of 2^shift bytes in rows of len bytes, "step" apart. */
static uint64_t different_rows(uint64_t base, uint64_t len, uint64_t step,
                               unsigned rows, unsigned shift)
{
    uint64_t next = base >> shift, count = 0; /* next: not counted yet */

    for (unsigned i = 0; i < rows; i++, base += step) {
        uint64_t first = base >> shift, end = ((base + len - 1) >> shift) + 1;

        first = first > next ? first : next;
        if (end > first) {
            count += end - first;
            next = end;
        }
    }
    return count;
}

/* Addresses that the warp knows as a line: no need to look at each lane. */
static bool count_line(MxgpuCu *cu, const MxgpuWarp *w, unsigned r,
                       uint64_t imm, unsigned size)
{
    const SimtLine *l = &w->line[r];
    unsigned lanes = 1u << w->c.row_shift, rows = LANES >> w->c.row_shift;
    uint64_t base = l->base + imm, len = (lanes - 1) * l->step + size, all;

    if (!(w->form[r] & FORM_LINE) || (l->step && l->step != size) ||
        l->row >= MXGPU_VA_LIMIT) {
        return false;
    }
    all = (rows - 1) * l->row + len;
    if (base < MXGPU_VA_LIMIT && all <= MXGPU_VA_LIMIT - base) {
        simt_count(cu, COUNT_mem_requests, 1);
        simt_count(cu, COUNT_mem_transactions,
                   different_rows(base, len, l->row, rows, SEGMENT_SHIFT));
        simt_count(cu, COUNT_mem_bytes, LANES * size);
        simt_count(cu, COUNT_tlb_lookups,
                   different_rows(base, len, l->row, rows, MXGPU_PAGE_SHIFT));
        return true;
    }
    if (all <= BANKS * 4 && in_shared(w, base, all)) {
        simt_count(cu, COUNT_shared_requests, 1);
        return true;
    }
    return false;
}

void mxgpu_simt_count_access(MxgpuCu *cu, MxgpuWarp *w, unsigned r,
                             uint64_t imm, uint64_t mask, unsigned size)
{
    uint64_t va[LANES], low, high;
    const uint64_t *a = w->x[r];
    unsigned n = 0;

    if (!cu->c.counting) {
        return;
    }
    if (mask == ALL_LANES && count_line(cu, w, r, imm, size)) {
        return;
    }
    if (!(w->form[r] & FORM_WIDE)) {
        mxgpu_warp_widen(w, r);
    }
    if (mask == ALL_LANES) {
        for (; n < LANES; n++) {
            va[n] = a[n] + imm;
        }
    } else {
        for (uint64_t m = mask; m; m &= m - 1) {
            va[n++] = a[__builtin_ctzll(m)] + imm;
        }
    }
    if (!n) {
        return;
    }
    bounds(va, n, &low, &high);
    if (high < MXGPU_VA_LIMIT) {
        count_global(cu, va, n, size);
    } else if (in_shared(w, low, size) && in_shared(w, high, size) &&
               high - low + size <= BANKS * 4) {
        simt_count(cu, COUNT_shared_requests, 1); /* one word of each bank */
    } else {
        count_mixed(cu, w, a, imm, mask, size);
    }
}
