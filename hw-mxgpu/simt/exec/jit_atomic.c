/* SPDX-License-Identifier: MIT */
/* Atomics of compiled code, where its sites say that lanes are. */
#include "jit_atomic.h"

#if defined(SIMT_AVX512)

#include "forms.h"
#include "simt/slow/atomic.h"
#include "simt/warp/budget.h"
#include "simt/warp/count.h"

#include <string.h>

/* Lanes of the mask side by side. */
typedef struct Packed {
    unsigned count;
    uint8_t lane[LANES];
    uint64_t va[LANES], at[LANES], b[LANES], old[LANES];
} Packed;

/* Where lanes are on the host; false: one is not where the site says, or not
 * aligned. */
static bool find(MxgpuWarp *w, const JitSite *site, uint64_t mask,
                 unsigned size, Packed *l)
{
    const bool one = w->form[JIT_R1] & FORM_UNIFORM;
    const uint64_t *a = one ? NULL : wide(w, JIT_R1);
    bool found = true;

    l->count = 0;
    for (; mask; mask &= mask - 1) {
        unsigned i = __builtin_ctzll(mask);
        uint64_t va = one ? w->line[JIT_R1].base : a[i];
        uint64_t off = va - site->lo;

        found &= off < site->span && !(off & (size - 1));
        l->lane[l->count] = i;
        l->va[l->count] = va;
        l->at[l->count++] = va + site->add;
    }
    return found;
}

/* The same of all lanes. */
static bool find_all(MxgpuWarp *w, const JitSite *site, unsigned size,
                     Packed *l)
{
    const uint64_t *a = wide(w, JIT_R1);
    uint64_t outside = 0, low = 0;

    for (unsigned i = 0; i < LANES; i++) {
        uint64_t off = a[i] - site->lo;

        outside |= off >= site->span;
        low |= off;
        l->lane[i] = i;
        l->va[i] = a[i];
        l->at[i] = a[i] + site->add;
    }
    l->count = LANES;
    return !outside && !(low & (size - 1));
}

static bool are_one(const Packed *l)
{
    uint64_t differ = 0;

    for (unsigned i = 1; i < l->count; i++) {
        differ |= l->at[i] ^ l->at[0];
    }
    return l->count > 1 && !differ;
}

static void pack_operands(MxgpuWarp *w, Packed *l)
{
    const bool one = w->form[JIT_R2] & FORM_UNIFORM;
    const uint64_t *b = one ? NULL : wide(w, JIT_R2);

    if (one) {
        for (unsigned i = 0; i < l->count; i++) {
            l->b[i] = w->line[JIT_R2].base;
        }
    } else if (l->count == LANES) {
        memcpy(l->b, b, sizeof(l->b));
    } else {
        for (unsigned i = 0; i < l->count; i++) {
            l->b[i] = b[l->lane[i]];
        }
    }
}

static void reserve(MxgpuWarp *w, const SimtOp *p, unsigned size, Packed *l)
{
    for (unsigned i = 0; i < l->count; i++) {
        void *at = (void *)(uintptr_t)l->at[i];

        l->old[i] = mxgpu_simt_is_lr(p->op)
                        ? mxgpu_simt_load_reserved(w, l->lane[i], l->va[i], at,
                                                   size)
                        : mxgpu_simt_store_conditional(w, l->lane[i], l->va[i],
                                                       at, size, l->b[i]);
    }
}

/* Code looks for them in either plane. */
static void put_results(MxgpuWarp *w, const Packed *l)
{
    if (l->count == LANES) {
        for (unsigned i = 0; i < LANES; i++) {
            w->word[SINK][i] = (uint32_t)l->old[i];
            w->x[SINK][i] = l->old[i];
        }
        return;
    }
    for (unsigned i = 0; i < l->count; i++) {
        w->word[SINK][l->lane[i]] = (uint32_t)l->old[i];
        w->x[SINK][l->lane[i]] = l->old[i];
    }
}

bool jit_atomic(MxgpuCu *cu, MxgpuWarp *w, const JitFrame *f,
                const JitSite *site, const SimtOp *p, uint64_t mask)
{
    const bool shared = site->key == f->keys[JIT_SHARED];
    const unsigned size = mxgpu_simt_atomic_size(p->op);
    Packed l;

    if ((!shared && site->key != f->keys[JIT_GLOBAL]) || cu->c.counting ||
        cu->simt->config.lane_memory || simt_exhausted(cu) ||
        mxgpu_simt_is_cas(p->op) || /* code does all that is simple */
        !(mask == ALL_LANES ? find_all(w, site, size, &l)
                            : find(w, site, mask, size, &l))) {
        return false;
    }
    simt_charge(cu, l.count);
    simt_count(cu, COUNT_atomics, l.count);
    pack_operands(w, &l);
    if (mxgpu_simt_is_lr(p->op) || mxgpu_simt_is_sc(p->op)) {
        reserve(w, p, size, &l);
    } else {
        mxgpu_simt_amo(p->op,
                       are_one(&l) ? WAY_ONE
                       : shared    ? WAY_LOCAL
                                   : WAY_EACH,
                       &(AmoLanes){l.count, l.at, l.b, NULL, l.old});
    }
    put_results(w, &l);
    return true;
}

#endif
