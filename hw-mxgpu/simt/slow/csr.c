/* SPDX-License-Identifier: MIT */
/* CSRs of kernels: fcsr, counters, and what mxgpu/kernel.h lists. */
#include "csr.h"

#include "float.h"
#include "rv/csr.h"
#include "simt/warp/fault.h"
#include "simt/warp/warp.h"

#include <string.h>

static bool read_fcsr(const MxgpuWarp *w, unsigned csr, uint64_t *value)
{
    for (unsigned i = 0; i < LANES; i++) {
        switch (csr) {
        case CSR_FFLAGS:
            value[i] = w->s.fflags[i];
            break;
        case CSR_FRM:
            value[i] = w->s.frm[i];
            break;
        case CSR_FCSR:
            value[i] = w->s.frm[i] << 5 | w->s.fflags[i];
            break;
        default:
            return false;
        }
    }
    return true;
}

static void write_fcsr(MxgpuWarp *w, unsigned csr, const uint64_t *value,
                       uint64_t mask)
{
    for (; mask; mask &= mask - 1) {
        unsigned i = __builtin_ctzll(mask);

        if (csr != CSR_FRM) {
            w->s.fflags[i] = value[i] & 31;
        }
        if (csr != CSR_FFLAGS) {
            w->s.frm[i] = value[i] >> (csr == CSR_FCSR ? 5 : 0) & 7;
        }
    }
    mxgpu_simt_fp_level(w, w->c.fp_level == 2);
}

/* threadIdx in one dimension. */
static void thread_index(const MxgpuWarp *w, const MxgpuDispatch *d,
                         unsigned dim, uint64_t *value)
{
    uint32_t t = w->c.index * LANES, at[3];

    at[0] = t % d->block[0];
    at[1] = t / d->block[0] % d->block[1];
    at[2] = t / d->block[0] / d->block[1];
    for (unsigned i = 0; i < LANES; i++) {
        value[i] = at[dim];
        if (++at[0] == d->block[0]) {
            at[0] = 0;
            if (++at[1] == d->block[1]) {
                at[1] = 0;
                at[2]++;
            }
        }
    }
}

/* threadIdx in dimension dim as a line; false: in the lanes of this warp it is
 * not evenly spaced. */
static bool thread_line(const MxgpuWarp *w, const MxgpuDispatch *d,
                        unsigned dim, SimtLine *line)
{
    uint32_t t = w->c.index * LANES, x = d->block[0], y = d->block[1];
    uint32_t rows = LANES >> w->c.row_shift;
    uint64_t at[3];

    if (y == 1 && d->block[2] == 1) {
        *line = dim ? (SimtLine){0} : (SimtLine){t, 1, LANES, 0};
        return true;
    }
    at[0] = t % x;
    at[1] = t / x % y;
    at[2] = t / x / y;
    if (x % LANES == 0) {
        *line = (SimtLine){at[dim], dim == 0, dim ? 0 : LANES, 0};
        return true;
    }
    if (x != 1u << w->c.row_shift ||
        (at[1] + rows > y && d->block[2] != 1)) {
        return false;
    }
    *line = (SimtLine){at[dim], dim == 0, dim == 1, 0};
    return true;
}

/* CSRs that are the same for all lanes. */
static bool read_uniform(const MxgpuCu *cu, const MxgpuWarp *w, unsigned csr,
                         uint64_t *value)
{
    const SimtSlot *slot = simt_slot(cu, w);
    const MxgpuDispatch *d = &slot->dispatch;
    const SimtBlock *block = &cu->s.blocks[w->c.block];

    switch (csr) {
    case CSR_TIME:
        *value = cu->simt->config.ops->clock(cu->simt->config.host);
        return true;
    case CSR_CYCLE:
    case CSR_INSTRET:
        *value = w->s.instructions;
        return true;
    case MXGPU_CSR_NTID_X:
    case MXGPU_CSR_NTID_Y:
    case MXGPU_CSR_NTID_Z:
        *value = d->block[csr - MXGPU_CSR_NTID_X];
        return true;
    case MXGPU_CSR_CTAID_X:
    case MXGPU_CSR_CTAID_Y:
    case MXGPU_CSR_CTAID_Z:
        *value = block->id[csr - MXGPU_CSR_CTAID_X];
        return true;
    case MXGPU_CSR_NCTAID_X:
    case MXGPU_CSR_NCTAID_Y:
    case MXGPU_CSR_NCTAID_Z:
        *value = d->grid[csr - MXGPU_CSR_NCTAID_X];
        return true;
    case MXGPU_CSR_WARP:
        *value = w->c.index;
        return true;
    case MXGPU_CSR_SHARED_SIZE:
        *value = d->shared;
        return true;
    case MXGPU_CSR_SHARED_DYN:
        *value = d->shared_static;
        return true;
    case MXGPU_CSR_CU:
        *value = cu->index;
        return true;
    case MXGPU_CSR_ARGS:
        *value = d->args;
        return true;
    case MXGPU_CSR_PRIVATE_SIZE:
        *value = d->private_bytes;
        return true;
    case MXGPU_CSR_COOPERATIVE:
        *value = d->cooperative;
        return true;
    }
    return false;
}

static bool read_csr(const MxgpuCu *cu, const MxgpuWarp *w, unsigned csr,
                     uint64_t *value)
{
    if (csr <= CSR_FCSR) {
        return read_fcsr(w, csr, value);
    }
    switch (csr) {
    case MXGPU_CSR_TID_X:
    case MXGPU_CSR_TID_Y:
    case MXGPU_CSR_TID_Z:
        thread_index(w, &simt_slot(cu, w)->dispatch, csr - MXGPU_CSR_TID_X,
                     value);
        return true;
    case MXGPU_CSR_LANE:
        for (unsigned i = 0; i < LANES; i++) {
            value[i] = i;
        }
        return true;
    }
    if (!read_uniform(cu, w, csr, value)) {
        return false;
    }
    for (unsigned i = 1; i < LANES; i++) {
        value[i] = value[0];
    }
    return true;
}

/* A CSR as a line, for a whole warp that reads it without writing; false: it is
 * none. */
static bool read_line(const MxgpuCu *cu, const MxgpuWarp *w, unsigned csr,
                      SimtLine *line)
{
    if (csr >= MXGPU_CSR_TID_X && csr <= MXGPU_CSR_TID_Z) {
        return thread_line(w, &simt_slot(cu, w)->dispatch,
                           csr - MXGPU_CSR_TID_X, line);
    }
    if (csr == MXGPU_CSR_LANE) {
        *line = (SimtLine){0, 1, 1u << w->c.row_shift, 0};
        return true;
    }
    *line = (SimtLine){0};
    return read_uniform(cu, w, csr, &line->base);
}

/* csrrs and csrrc with x0 (or 0) do not write; csrrw always does. */
static bool writes_csr(const SimtOp *p)
{
    return p->op == RV_CSRRW || p->op == RV_CSRRWI || p->r1 != 0;
}

bool mxgpu_simt_csr_uniform(const MxgpuCu *cu, const MxgpuWarp *w,
                            const SimtOp *p, uint64_t *value)
{
    unsigned csr = p->imm;

    return !writes_csr(p) && csr != MXGPU_CSR_WARP && csr != CSR_CYCLE &&
           csr != CSR_INSTRET && read_uniform(cu, w, csr, value);
}

/* Whether the instruction reads fflags in a dispatch that does not record them:
 * there is no value to give, so it is illegal. */
static bool gives_flags(const MxgpuWarp *w, const SimtOp *p)
{
    return (p->imm == CSR_FFLAGS || p->imm == CSR_FCSR) && p->rd != SINK &&
           w->c.fp_level != 2;
}

bool mxgpu_simt_csr(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                    uint64_t mask)
{
    bool immediate = p->op >= RV_CSRRWI, writes = writes_csr(p);
    unsigned csr = p->imm;
    uint64_t old[LANES], now[LANES];
    SimtLine line;

    if (!writes && mask == w->s.live && read_line(cu, w, csr, &line)) {
        simt_set_line(w, p->rd, line);
        return true;
    }
    mxgpu_warp_widen(w, p->r1);
    mxgpu_warp_widen(w, p->rd);
    if (gives_flags(w, p) || !read_csr(cu, w, csr, old) ||
        (writes && csr > CSR_FCSR)) {
        mxgpu_simt_fault_at(cu, w, __builtin_ctzll(mask), MXGPU_FAULT_ILLEGAL,
                            MXGPU_ACCESS_EXECUTE, pc, pc);
        return false;
    }
    for (unsigned i = 0; writes && i < LANES; i++) {
        uint64_t a = immediate ? p->r1 : w->x[p->r1][i];

        switch (p->op) {
        case RV_CSRRS:
        case RV_CSRRSI:
            now[i] = old[i] | a;
            break;
        case RV_CSRRC:
        case RV_CSRRCI:
            now[i] = old[i] & ~a;
            break;
        default:
            now[i] = a;
        }
    }
    if (mask == ALL_LANES) {
        memcpy(w->x[p->rd], old, sizeof(old));
    } else {
        for (uint64_t m = mask; m; m &= m - 1) {
            unsigned i = __builtin_ctzll(m);

            w->x[p->rd][i] = old[i];
        }
    }
    simt_wrote_wide(w, p->rd);
    if (writes) {
        write_fcsr(w, csr, now, mask);
    }
    return true;
}
