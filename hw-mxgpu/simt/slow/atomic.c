/* SPDX-License-Identifier: MIT */
/*
 * Atomics, lane by lane in lane order, as sequentially consistent host atomics:
 * they are atomic with respect to other warps, units and the CPU. sc succeeds
 * when memory still (or again) holds the value that lr of the same address and
 * size gave.
 */
#include "atomic.h"

#include "access.h"
#include "mxgpu/isa.h"
#include "rv/sem.h"
#include "simt/warp/budget.h"
#include "simt/warp/count.h"
#include "simt/warp/fault.h"
#include "simt/warp/memory.h"

#include <string.h>

typedef enum AmoOp {
#define F(ID, expr) AMO_##ID,
    RV_SEM_LIST_AMO(F, , )
#undef F
} AmoOp;

/* Old value; memory becomes the expression of it and B. */
#define DEFINE_AMO(U, S, n)                                                    \
    static U amo##n(AmoOp op, U *at, U B)                                      \
    {                                                                          \
        U M = __atomic_load_n(at, __ATOMIC_SEQ_CST), now;                      \
                                                                               \
        do {                                                                   \
            switch (op) {                                                      \
                RV_SEM_LIST_AMO(AMO_CASE_##n, U, S)                            \
            default:                                                           \
                now = M;                                                       \
            }                                                                  \
        } while (!__atomic_compare_exchange_n(at, &M, now, false,              \
                                              __ATOMIC_SEQ_CST,                \
                                              __ATOMIC_SEQ_CST));              \
        return M;                                                              \
    }
#define AMO_CASE_32(ID, expr) case AMO_##ID: now = (expr); break;
#define AMO_CASE_64(ID, expr) case AMO_##ID: now = (expr); break;
DEFINE_AMO(uint32_t, int32_t, 32)
DEFINE_AMO(uint64_t, int64_t, 64)

/* f32 and f64: as fadd, fmin and fmax in round-to-nearest-even. */
#define DEFINE_FATOMIC(T, U, n, NAN_BITS, SIGN)                                \
    static U fp##n(unsigned op, U a, U b)                                      \
    {                                                                          \
        T x, y, z;                                                             \
        U r;                                                                   \
                                                                               \
        memcpy(&x, &a, sizeof(x));                                             \
        memcpy(&y, &b, sizeof(y));                                             \
        if (op == 0) {                                                         \
            z = x + y;                                                         \
            memcpy(&r, &z, sizeof(r));                                         \
            return z != z ? NAN_BITS : r;                                      \
        }                                                                      \
        if (x != x || y != y) {                                                \
            return x == x ? a : y == y ? b : NAN_BITS;                         \
        }                                                                      \
        if (x == y) { /* zeros: -0 is less than +0 */                          \
            return op == 1 ? a | b : a & b;                                    \
        }                                                                      \
        return (x < y) == (op == 1) ? a : b;                                   \
    }                                                                          \
    static U fatomic##n(unsigned op, U *at, U b)                               \
    {                                                                          \
        U old = __atomic_load_n(at, __ATOMIC_SEQ_CST);                         \
                                                                               \
        while (!__atomic_compare_exchange_n(at, &old, fp##n(op, old, b),       \
                                            false, __ATOMIC_SEQ_CST,           \
                                            __ATOMIC_SEQ_CST)) {               \
        }                                                                      \
        return old;                                                            \
    }
DEFINE_FATOMIC(float, uint32_t, 32, 0x7fc00000u, 31)
DEFINE_FATOMIC(double, uint64_t, 64, 0x7ff8000000000000ull, 63)

static uint64_t sext32(uint32_t v)
{
    return (uint64_t)(int64_t)(int32_t)v;
}

static uint64_t load_reserved(MxgpuWarp *w, unsigned lane, uint64_t va,
                              void *at, unsigned size)
{
    uint64_t value = size == 4
                         ? sext32(__atomic_load_n((uint32_t *)at,
                                                  __ATOMIC_SEQ_CST))
                         : __atomic_load_n((uint64_t *)at, __ATOMIC_SEQ_CST);

    w->s.reserved |= 1ull << lane;
    w->s.reserved_addr[lane] = va;
    w->s.reserved_value[lane] = value;
    w->s.reserved_size[lane] = size;
    return value;
}

static uint64_t store_conditional(MxgpuWarp *w, unsigned lane, uint64_t va,
                                  void *at, unsigned size, uint64_t value)
{
    uint64_t old = w->s.reserved_value[lane];
    uint32_t old32 = (uint32_t)old;
    bool ok = (w->s.reserved >> lane & 1) && w->s.reserved_addr[lane] == va &&
              w->s.reserved_size[lane] == size;

    w->s.reserved &= ~(1ull << lane);
    if (!ok) {
        return 1;
    }
    if (size == 4) {
        return !__atomic_compare_exchange_n((uint32_t *)at, &old32,
                                            (uint32_t)value, false,
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    return !__atomic_compare_exchange_n((uint64_t *)at, &old, value, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static unsigned access_size(unsigned op)
{
    if (op >= RV_MX_AFADD_S && op <= RV_MX_AFMAX_D) {
        return (op - RV_MX_AFADD_S) % 2 ? 8 : 4;
    }
    return op >= RV_LR_D ? 8 : 4;
}

/* The table's order of AMOs, for both widths. */
static AmoOp amo_of(unsigned op)
{
    switch (op) {
#define F(ID, expr)                                                            \
    case RV_AMO##ID##_W:                                                       \
    case RV_AMO##ID##_D:                                                       \
        return AMO_##ID;
        RV_SEM_LIST_AMO(F, , )
#undef F
    }
    return AMO_SWAP;
}

static uint64_t perform(MxgpuWarp *w, const SimtOp *p, unsigned lane,
                        uint64_t va, void *at, unsigned size)
{
    uint64_t b = w->x[p->r2][lane];

    switch (p->op) {
    case RV_LR_W:
    case RV_LR_D:
        return load_reserved(w, lane, va, at, size);
    case RV_SC_W:
    case RV_SC_D:
        return store_conditional(w, lane, va, at, size, b);
    }
    if (p->op >= RV_MX_AFADD_S && p->op <= RV_MX_AFMAX_D) {
        unsigned op = (p->op - RV_MX_AFADD_S) / 2;

        return size == 4 ? sext32(fatomic32(op, at, (uint32_t)b))
                         : fatomic64(op, at, b);
    }
    return size == 4 ? sext32(amo32(amo_of(p->op), at, (uint32_t)b))
                     : amo64(amo_of(p->op), at, b);
}

/* Where the lanes' operands are; false when one has none: it has faulted, and
 * no lane has done anything yet. */
static bool locate(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                   uint64_t mask, unsigned size, uintptr_t *at)
{
    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m);
        uint64_t va = w->x[p->r1][lane];
        enum mxgpu_fault fault;

        at[lane] = mxgpu_simt_atomic_at(cu, w, lane, va, size, &fault);
        if (!at[lane]) {
            mxgpu_simt_fault_at(cu, w, lane, fault, MXGPU_ACCESS_ATOMIC, va,
                                pc);
            return false;
        }
    }
    return true;
}

bool mxgpu_simt_atomic(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                       uint64_t mask)
{
    unsigned size = access_size(p->op);
    uint64_t result[LANES];
    uintptr_t at[LANES];

    if (simt_exhausted(cu)) {
        return false;
    }
    simt_charge(cu, __builtin_popcountll(mask));
    if (!locate(cu, w, p, pc, mask, size, at)) {
        return false;
    }
    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m);

        result[lane] = perform(w, p, lane, w->x[p->r1][lane],
                               (void *)at[lane], size);
    }
    simt_count(cu, COUNT_atomics, __builtin_popcountll(mask));
    mxgpu_simt_count_access(cu, w, p->r1, 0, mask, size);
    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m);

        w->x[p->rd][lane] = result[lane];
    }
    return true;
}
