/* SPDX-License-Identifier: MIT */
/* What compiled code calls: instructions that the interpreter's functions do, and
 * accesses outside of where their sites have been. */
#include "jit_call.h"

#if defined(SIMT_AVX512)

#include "freg.h"
#include "jit_atomic.h"
#include "lines.h"
#include "ops.h"
#include "simt/jit/types.h"
#include "simt/slow/atomic.h"
#include "simt/slow/csr.h"

typedef void IntFn(MxgpuWarp *w, const SimtOp *p);
typedef bool MemoryFn(MEM_ARGS);

static IntFn *const ints[OP_KINDS] = {
#define INT(ID, E, IMM) [RV_##ID] = f_##ID,
    OTHER_OPS(INT) WORD_OTHER_OPS(INT)
};
static MemoryFn *const memory[OP_KINDS] = {
#define LOAD(ID, SIZE, SIGNED) [RV_##ID] = x_##ID,
#define STORE(ID, T)           [RV_##ID] = x_##ID,
#define OTHER(ID)              [RV_##ID] = x_##ID,
    LOAD_OPS(LOAD) STORE_OPS(STORE) OTHER_MEMORY_OPS(OTHER)
};

/* Grows the range of a granule by those beside it that are side by side on the
 * host, too, as far as translations are known. */
static void grow(const MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind,
                 JitSite *site, unsigned size)
{
    uint64_t first = site->lo >> MXGPU_LARGE_SHIFT, last = first;
    const SimtTlb *t;

    for (;;) {
        t = &cu->c.large[kind][(first - 1) % TLB_LARGE];
        if (!first || t->tag != ((first - 1) | w->c.vmid_tag) ||
            t->add != site->add) {
            break;
        }
        first--;
    }
    for (;;) {
        t = &cu->c.large[kind][(last + 1) % TLB_LARGE];
        if (t->tag != ((last + 1) | w->c.vmid_tag) || t->add != site->add) {
            break;
        }
        last++;
    }
    site->lo = first << MXGPU_LARGE_SHIFT;
    site->span = ((last + 1 - first) << MXGPU_LARGE_SHIFT) - size + 1;
}

/* Notes where the first lane has been. */
static void set_site(const MxgpuCu *cu, const MxgpuWarp *w, JitSite *site,
                     SimtKind kind, uint64_t va, unsigned size)
{
    uint64_t page = va >> MXGPU_LARGE_SHIFT;
    const SimtTlb *t = &cu->c.large[kind][page % TLB_LARGE];

    if (in_private(w, va, size)) {
        *site = (JitSite){.key = jit_private_key(w),
                           .lo = MXGPU_PRIVATE_END - w->c.private_size,
                           .span = w->c.private_size - size + 1,
                           .is_private = 1};
    } else if (in_shared(w, va, size)) {
        *site = (JitSite){.key = jit_shared_key(cu, w),
                           .lo = MXGPU_SHARED_BASE,
                           .span = w->c.shared_size - size + 1,
                           .add = (uintptr_t)w->c.shared - MXGPU_SHARED_BASE};
    } else if (t->tag == (page | w->c.vmid_tag)) {
        *site = (JitSite){.key = jit_global_key(cu, w),
                           .lo = va & ~(LARGE_BYTES - 1),
                           .add = t->add};
        grow(cu, w, kind, site, size);
    } else {
        page = va >> MXGPU_PAGE_SHIFT;
        t = &cu->c.small[kind][page % TLB_SMALL];
        if (t->tag == (page | w->c.vmid_tag)) {
            *site = (JitSite){.key = jit_global_key(cu, w),
                               .lo = va & ~(uint64_t)(PAGE_BYTES - 1),
                               .span = PAGE_BYTES - size + 1,
                               .add = t->add};
        }
    }
}

static uint64_t lane_of(const MxgpuWarp *w, unsigned r, unsigned lane)
{
    const SimtLine *l = &w->line[r];
    unsigned shift = w->c.row_shift;

    return w->form[r] & FORM_LINE ? l->base +
                                        (lane & ((1u << shift) - 1)) * l->step +
                                        (lane >> shift) * l->row
                                  : w->x[r][lane];
}

static bool access_memory(MxgpuCu *cu, MxgpuWarp *w, JitFrame *f,
                          unsigned index, uint64_t mask)
{
    const JitRegion *r = f->region;
    const SimtOp *p = &r->calls[index];
    bool store = r->code.kind[index] == JIT_STORE;
    uint64_t va = lane_of(w, JIT_R1, __builtin_ctzll(mask));

    if (store && p->r2 == FP_SCRATCH) {
        w->narrow[FP_SCRATCH] = p->op == RV_FSW ? ALL_LANES : 0;
    }
    if (!memory[p->op](cu, w, p, r->page + r->code.at[index], mask)) {
        return false;
    }
    set_site(cu, w, &f->sites[r->code.site[index]],
             store ? KIND_WRITE : KIND_READ, va,
             1u << mxgpu_simt_access_shift(p->op));
    return true;
}

/* The result where the code looks for it. */
static void settle(MxgpuWarp *w, const SimtOp *p)
{
    if (p->rd != SINK) {
        return;
    }
    if (mxgpu_jit_result(p, JIT_WIDE, JIT_WIDE) == JIT_WORD) {
        const uint32_t *v = low_word(w, SINK, w->word[SINK]);

        if (v != w->word[SINK]) {
            memcpy(w->word[SINK], v, sizeof(w->word[SINK]));
        }
    } else {
        (void)wide(w, SINK);
    }
}

/* As the interpreter does it. */
static bool any_atomic(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                       JitSite *site, uint64_t mask)
{
    widen_all(w, p);
    if (!mxgpu_simt_atomic(cu, w, p, pc, mask)) {
        return false;
    }
    simt_wrote_wide(w, SINK);
    set_site(cu, w, site, KIND_ATOMIC, w->x[JIT_R1][__builtin_ctzll(mask)],
             mxgpu_simt_atomic_size(p->op));
    return true;
}

uint32_t jit_call(MxgpuCu *cu, MxgpuWarp *w, JitFrame *f, uint32_t index,
                  uint64_t mask)
{
    const JitRegion *r = f->region;
    const SimtOp *p = &r->calls[index];
    JitSite *site = &f->sites[r->code.site[index]];
    uint64_t pc = r->page + r->code.at[index];

    if (r->code.kind[index] == JIT_ATOMIC &&
        jit_atomic(cu, w, f, site, p, mask)) {
        return true;
    }
    w->s.cur.pc = pc;
    w->s.cur.mask = mask;
    if (mask != ALL_LANES && mask != w->c.expanded) {
        expand_mask(w, mask);
    }
    switch ((JitKind)r->code.kind[index]) {
    case JIT_CSR:
        return mxgpu_simt_csr(cu, w, p, pc, mask) && w->form[SINK] & FORM_LINE;
    case JIT_LOAD:
    case JIT_STORE:
        if (!access_memory(cu, w, f, index, mask)) {
            return false;
        }
        break;
    case JIT_ATOMIC:
        if (!any_atomic(cu, w, p, pc, site, mask)) {
            return false;
        }
        break;
    default:
        ints[p->op](w, p);
    }
    settle(w, p);
    return true;
}

void jit_put(MxgpuWarp *w, uint32_t r, uint64_t mask)
{
    uint64_t *d = wide_partly(w, r);

    for (; mask; mask &= mask - 1) {
        unsigned i = __builtin_ctzll(mask);

        d[i] = w->x[JIT_R1][i];
    }
}

#endif
