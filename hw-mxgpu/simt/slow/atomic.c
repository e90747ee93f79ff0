/* SPDX-License-Identifier: MIT */
/*
 * Atomics of a group of lanes, as if these did them one by one in lane order.
 * Those to memory that others see are sequentially consistent host atomics:
 * they are atomic with respect to other warps, units and the CPU. Lanes that
 * all name one address do one together: others see the sum of them, which is
 * one of the orders that they might have seen. sc succeeds when memory still
 * (or again) holds the value that lr of the same address and size gave.
 */
#include "atomic.h"

#include "access.h"
#include "mxgpu/isa.h"
#include "rv/sem.h"
#include "simt/warp/budget.h"
#include "simt/warp/count.h"
#include "simt/warp/fault.h"
#include "simt/warp/locate.h"
#include "simt/warp/memory.h"
#include "simt/warp/observe.h"
#include "simt/warp/watch.h"

#include <string.h>

typedef enum AmoOp {
#define F(ID, expr) AMO_##ID,
    RV_SEM_LIST_AMO(F, , )
#undef F
    AMO_FADD, AMO_FMIN, AMO_FMAX, AMO_CAS,
    AMO_OPS
} AmoOp;

typedef void AmoFn(const AmoLanes *l);

#define EACH_LANE for (unsigned i = 0; i < l->count; i++)
#define EXTEND_32(v) ((uint64_t)(int64_t)(int32_t)(v))
#define EXTEND_64(v) (v)
#define TO(U, i) ((U *)(uintptr_t)l->at[i])

/* ---- one value and another: new_ID_n(memory, operand) */

#define DEFINE_NEW(ID, expr, U, S, n)                                          \
    static inline U new_##ID##_##n(U M, U B)                                   \
    {                                                                          \
        return (expr);                                                         \
    }
#define NEW_32(ID, expr) DEFINE_NEW(ID, expr, uint32_t, int32_t, 32)
#define NEW_64(ID, expr) DEFINE_NEW(ID, expr, uint64_t, int64_t, 64)
RV_SEM_LIST_AMO(NEW_32, uint32_t, int32_t)
RV_SEM_LIST_AMO(NEW_64, uint64_t, int64_t)

/* f32 and f64: as fadd, fmin and fmax in round-to-nearest-even. */
#define DEFINE_FP(T, U, n, NAN_BITS)                                           \
    static inline U new_FADD_##n(U a, U b)                                     \
    {                                                                          \
        T x, y;                                                                \
        U r;                                                                   \
                                                                               \
        memcpy(&x, &a, sizeof(x));                                             \
        memcpy(&y, &b, sizeof(y));                                             \
        x += y;                                                                \
        memcpy(&r, &x, sizeof(r));                                             \
        return x != x ? NAN_BITS : r;                                          \
    }                                                                          \
    static inline U least_##n(U a, U b, bool least)                            \
    {                                                                          \
        T x, y;                                                                \
                                                                               \
        memcpy(&x, &a, sizeof(x));                                             \
        memcpy(&y, &b, sizeof(y));                                             \
        if (x != x || y != y) {                                                \
            return x == x ? a : y == y ? b : NAN_BITS;                         \
        }                                                                      \
        if (x == y) { /* zeros: -0 is less than +0 */                          \
            return least ? a | b : a & b;                                      \
        }                                                                      \
        return (x < y) == least ? a : b;                                       \
    }                                                                          \
    static inline U new_FMIN_##n(U a, U b)                                     \
    {                                                                          \
        return least_##n(a, b, true);                                          \
    }                                                                          \
    static inline U new_FMAX_##n(U a, U b)                                     \
    {                                                                          \
        return least_##n(a, b, false);                                         \
    }
DEFINE_FP(float, uint32_t, 32, 0x7fc00000u)
DEFINE_FP(double, uint64_t, 64, 0x7ff8000000000000ull)

#define DEFINE_NEW_CAS(U, n)                                                   \
    static inline U new_CAS_##n(U M, U B, U C)                                 \
    {                                                                          \
        return M == C ? B : M;                                                 \
    }
DEFINE_NEW_CAS(uint32_t, 32)
DEFINE_NEW_CAS(uint64_t, 64)

/* ---- one host atomic: host_ID_n(address, operand), the old value */

#define DEFINE_HOST(ID, U, n)                                                  \
    static inline U host_##ID##_##n(U *at, U b)                                \
    {                                                                          \
        U old = __atomic_load_n(at, __ATOMIC_RELAXED);                         \
                                                                               \
        while (!__atomic_compare_exchange_n(at, &old, new_##ID##_##n(old, b),  \
                                            false, __ATOMIC_SEQ_CST,           \
                                            __ATOMIC_RELAXED)) {               \
        }                                                                      \
        return old;                                                            \
    }
#define DEFINE_BUILTIN(ID, fn, U, n)                                           \
    static inline U host_##ID##_##n(U *at, U b)                                \
    {                                                                          \
        return fn(at, b, __ATOMIC_SEQ_CST);                                    \
    }
#define LIST_CAS(F)                                                            \
    F(XOR) F(AND) F(OR) F(MIN) F(MAX) F(MINU) F(MAXU) F(FADD) F(FMIN) F(FMAX)
#define LIST_INTEGER(F)                                                        \
    F(SWAP) F(ADD) F(XOR) F(AND) F(OR) F(MIN) F(MAX) F(MINU) F(MAXU)
#define LIST_FP(F) F(FADD) F(FMIN) F(FMAX)
#define HOST_BOTH(ID)                                                          \
    DEFINE_HOST(ID, uint32_t, 32)                                              \
    DEFINE_HOST(ID, uint64_t, 64)
#define BUILTIN_BOTH(ID, fn)                                                   \
    DEFINE_BUILTIN(ID, fn, uint32_t, 32)                                       \
    DEFINE_BUILTIN(ID, fn, uint64_t, 64)
LIST_CAS(HOST_BOTH)
BUILTIN_BOTH(SWAP, __atomic_exchange_n)
BUILTIN_BOTH(ADD, __atomic_fetch_add)

#define DEFINE_HOST_CAS(U, n)                                                  \
    static inline U host_CAS_##n(U *at, U b, U c)                              \
    {                                                                          \
        __atomic_compare_exchange_n(at, &c, b, false, __ATOMIC_SEQ_CST,        \
                                    __ATOMIC_SEQ_CST);                         \
        return c;                                                              \
    }
DEFINE_HOST_CAS(uint32_t, 32)
DEFINE_HOST_CAS(uint64_t, 64)

/* ---- all lanes, in lane order */

/* What an operation takes but the address, or what was there. */
#define B_OF(U, i)  (U)l->b[i]
#define BC_OF(U, i) (U)l->b[i], (U)l->c[i]

#define DEFINE_WAYS(ID, U, n, OF)                                              \
    static void each_##ID##_##n(const AmoLanes *l)                             \
    {                                                                          \
        EACH_LANE {                                                            \
            l->old[i] = EXTEND_##n(host_##ID##_##n(TO(U, i), OF(U, i)));       \
        }                                                                      \
    }                                                                          \
    static void local_##ID##_##n(const AmoLanes *l)                            \
    {                                                                          \
        EACH_LANE {                                                            \
            U old = *TO(U, i);                                                 \
                                                                               \
            *TO(U, i) = new_##ID##_##n(old, OF(U, i));                         \
            l->old[i] = EXTEND_##n(old);                                       \
        }                                                                      \
    }
#define WAYS_BOTH(ID)                                                          \
    DEFINE_WAYS(ID, uint32_t, 32, B_OF)                                        \
    DEFINE_WAYS(ID, uint64_t, 64, B_OF)
LIST_INTEGER(WAYS_BOTH)
LIST_FP(WAYS_BOTH)
DEFINE_WAYS(CAS, uint32_t, 32, BC_OF)
DEFINE_WAYS(CAS, uint64_t, 64, BC_OF)

/* Lanes' operands make one, for these operations are associative; from the one
 * old value that the host gives follows what each lane in its turn has seen. */
#define DEFINE_ONE(ID, U, n)                                                   \
    static void one_##ID##_##n(const AmoLanes *l)                              \
    {                                                                          \
        U all = (U)l->b[0], old;                                               \
                                                                               \
        for (unsigned i = 1; i < l->count; i++) {                              \
            all = new_##ID##_##n(all, (U)l->b[i]);                             \
        }                                                                      \
        old = host_##ID##_##n(TO(U, 0), all);                                  \
        EACH_LANE {                                                            \
            l->old[i] = EXTEND_##n(old);                                       \
            old = new_##ID##_##n(old, (U)l->b[i]);                             \
        }                                                                      \
    }
#define ONE_BOTH(ID) DEFINE_ONE(ID, uint32_t, 32) DEFINE_ONE(ID, uint64_t, 64)
LIST_INTEGER(ONE_BOTH)

/* Those of floating point and comparisons are not: what comes of all of them, in
 * lane order, replaces the value that it was made of. Others may be faster again
 * and again. */
#define TRIES 8
#define DEFINE_ONE_TRIED(ID, U, n, OF)                                         \
    static void one_##ID##_##n(const AmoLanes *l)                              \
    {                                                                          \
        U *at = TO(U, 0);                                                      \
        U first = __atomic_load_n(at, __ATOMIC_RELAXED);                       \
                                                                               \
        for (unsigned tries = 0; tries < TRIES; tries++) {                     \
            U v = first;                                                       \
                                                                               \
            EACH_LANE {                                                        \
                l->old[i] = EXTEND_##n(v);                                     \
                v = new_##ID##_##n(v, OF(U, i));                               \
            }                                                                  \
            if (__atomic_compare_exchange_n(at, &first, v, false,              \
                                            __ATOMIC_SEQ_CST,                  \
                                            __ATOMIC_RELAXED)) {               \
                return;                                                        \
            }                                                                  \
        }                                                                      \
        EACH_LANE {                                                            \
            l->old[i] = EXTEND_##n(host_##ID##_##n(at, OF(U, i)));             \
        }                                                                      \
    }
#define ONE_FP_BOTH(ID)                                                        \
    DEFINE_ONE_TRIED(ID, uint32_t, 32, B_OF)                                   \
    DEFINE_ONE_TRIED(ID, uint64_t, 64, B_OF)
LIST_FP(ONE_FP_BOTH)
DEFINE_ONE_TRIED(CAS, uint32_t, 32, BC_OF)
DEFINE_ONE_TRIED(CAS, uint64_t, 64, BC_OF)

#define ROW(ID)                                                                \
    [AMO_##ID] = {{each_##ID##_32, one_##ID##_32, local_##ID##_32},            \
                  {each_##ID##_64, one_##ID##_64, local_##ID##_64}},
static AmoFn *const amo[AMO_OPS][2][WAYS] = {
    LIST_INTEGER(ROW) LIST_FP(ROW) ROW(CAS)};

static uint64_t sext32(uint32_t v)
{
    return (uint64_t)(int64_t)(int32_t)v;
}

uint64_t mxgpu_simt_load_reserved(MxgpuWarp *w, unsigned lane, uint64_t va,
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

uint64_t mxgpu_simt_store_conditional(MxgpuWarp *w, unsigned lane, uint64_t va,
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

/* Of both widths. */
static AmoOp amo_of(unsigned op)
{
    if (op >= RV_MX_AFADD_S && op <= RV_MX_AFMAX_D) {
        return AMO_FADD + (op - RV_MX_AFADD_S) / 2;
    }
    switch (op) {
#define F(ID, expr)                                                            \
    case RV_AMO##ID##_W:                                                       \
    case RV_AMO##ID##_D:                                                       \
        return AMO_##ID;
        RV_SEM_LIST_AMO(F, , )
#undef F
    case RV_AMOCAS_W:
    case RV_AMOCAS_D:
        return AMO_CAS;
    }
    return AMO_SWAP;
}

static bool is_reservation(unsigned op)
{
    return mxgpu_simt_is_lr(op) || mxgpu_simt_is_sc(op);
}

/* lr and sc. */
static void reserve(MxgpuWarp *w, const SimtOp *p, uint64_t mask, unsigned size,
                    const uint64_t *at)
{
    const bool lr = mxgpu_simt_is_lr(p->op);

    for (; mask; mask &= mask - 1) {
        unsigned i = __builtin_ctzll(mask);
        uint64_t va = w->x[p->r1][i];
        void *to = (void *)(uintptr_t)at[i];

        w->x[p->rd][i] =
            lr ? mxgpu_simt_load_reserved(w, i, va, to, size)
               : mxgpu_simt_store_conditional(w, i, va, to, size,
                                              w->x[p->r2][i]);
    }
}

/* The lanes of mask side by side, and back. */
static void pack(uint64_t *to, const uint64_t *from, uint64_t mask)
{
    for (; mask; mask &= mask - 1) {
        *to++ = from[__builtin_ctzll(mask)];
    }
}

static void unpack(uint64_t *to, const uint64_t *from, uint64_t mask)
{
    for (; mask; mask &= mask - 1) {
        to[__builtin_ctzll(mask)] = *from++;
    }
}

/* Bits in which the addresses of mask's lanes differ. */
static uint64_t differing(const uint64_t *a, uint64_t mask)
{
    const uint64_t first = a[__builtin_ctzll(mask)];
    uint64_t differ = 0;

    if (mask == ALL_LANES) {
        for (unsigned i = 0; i < LANES; i++) {
            differ |= a[i] ^ first;
        }
    } else {
        for (uint64_t m = mask; m; m &= m - 1) {
            differ |= a[__builtin_ctzll(m)] ^ first;
        }
    }
    return differ;
}

/* Whether mask's lanes are all in shared memory. */
static bool all_shared(const MxgpuWarp *w, const uint64_t *a, uint64_t mask,
                       unsigned size)
{
    const uint64_t limit = w->c.shared_size - size;
    uint64_t outside = 0; /* bit 63: one is */

    if (!in_shared(w, a[__builtin_ctzll(mask)], size)) {
        return false;
    }
    if (mask == ALL_LANES) {
        for (unsigned i = 0; i < LANES; i++) {
            uint64_t offset = a[i] - MXGPU_SHARED_BASE;

            outside |= offset | (limit - offset);
        }
    } else {
        for (uint64_t m = mask; m; m &= m - 1) {
            uint64_t offset = a[__builtin_ctzll(m)] - MXGPU_SHARED_BASE;

            outside |= offset | (limit - offset);
        }
    }
    return !(outside >> 63);
}

/* Where the lanes' operands are, one lane after the other; false when one has
 * none: it has faulted, and no lane has done anything yet. */
static bool locate_each(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                        uint64_t mask, unsigned size, uint64_t *at)
{
    const uint64_t *a = w->x[p->r1];

    if (mxgpu_simt_locate(cu, w, KIND_ATOMIC, a, 0, mask, size, at)) {
        return true;
    }
    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned lane = __builtin_ctzll(m);
        enum mxgpu_fault fault;

        at[lane] = mxgpu_simt_atomic_at(cu, w, lane, a[lane], size, &fault);
        if (!at[lane]) {
            mxgpu_simt_fault_at(cu, w, lane, fault, MXGPU_ACCESS_ATOMIC,
                                a[lane], pc);
            return false;
        }
    }
    return true;
}

/* The same where they may be told together, and how they relate. WAYS: one has
 * faulted. */
static AmoWay locate(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                     uint64_t mask, unsigned size, uint64_t *at)
{
    const uint64_t *a = w->x[p->r1];
    const uint64_t va = a[__builtin_ctzll(mask)];
    const uint64_t start = va & ~(LARGE_BYTES - 1);
    const uint64_t differ = differing(a, mask);
    AmoWay way = WAY_EACH;
    uint64_t base = 0;

    if ((differ | va) & (size - 1) || in_private(w, va, size) ||
        cu->simt->config.lane_memory) {
        return locate_each(cu, w, p, pc, mask, size, at) ? way : WAYS;
    }
    if (!differ && mask & (mask - 1)) {
        return locate_each(cu, w, p, pc, mask & -mask, size, at) ? WAY_ONE
                                                                 : WAYS;
    }
    if (va < MXGPU_VA_LIMIT && differ < LARGE_BYTES) {
        base = simt_span(cu, w, KIND_ATOMIC, start, LARGE_BYTES) - start;
        base = base == -start ? 0 : base;
    } else if (all_shared(w, a, mask, size)) {
        base = (uintptr_t)w->c.shared - MXGPU_SHARED_BASE;
        way = WAY_LOCAL;
    }
    if (!base) {
        return locate_each(cu, w, p, pc, mask, size, at) ? way : WAYS;
    }
    for (unsigned i = 0; i < LANES; i++) { /* those of mask are meant */
        at[i] = a[i] + base;
    }
    return way;
}

void mxgpu_simt_amo(unsigned op, AmoWay way, const AmoLanes *l)
{
    amo[amo_of(op)][mxgpu_simt_atomic_size(op) == 8][way](l);
    if (way == WAY_LOCAL) { /* in order with accesses to other memory */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
}

/* An AMO of lanes that are at at[]; WAY_ONE: at that of the first of them. */
static void perform(MxgpuWarp *w, const SimtOp *p, uint64_t mask, AmoWay way,
                    const uint64_t *at)
{
    uint64_t b[LANES], c[LANES], to[LANES], old[LANES];
    AmoLanes lanes = {LANES, at, w->x[p->r2], w->x[p->r3], old};

    if (mask != ALL_LANES) {
        lanes = (AmoLanes){__builtin_popcountll(mask), to, b, c, old};
        pack(b, w->x[p->r2], mask);
        if (mxgpu_simt_is_cas(p->op)) {
            pack(c, w->x[p->r3], mask);
        }
        pack(to, at, way == WAY_ONE ? mask & -mask : mask);
    }
    mxgpu_simt_amo(p->op, way, &lanes);
    if (mask == ALL_LANES) {
        memcpy(w->x[p->rd], old, sizeof(old));
    } else {
        unpack(w->x[p->rd], old, mask);
    }
}

bool mxgpu_simt_atomic(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                       uint64_t mask)
{
    unsigned size = mxgpu_simt_atomic_size(p->op);
    uint64_t at[LANES];
    AmoWay way = WAY_EACH;

    if (simt_exhausted(cu)) {
        return false;
    }
    simt_charge(cu, __builtin_popcountll(mask));
    if (simt_observer(cu->simt) &&
        !mxgpu_simt_observe_atomic(cu, w, p, pc, mask, size)) {
        return false;
    }
    if (!is_reservation(p->op)) {
        way = locate(cu, w, p, pc, mask, size, at);
    } else if (!locate_each(cu, w, p, pc, mask, size, at)) {
        way = WAYS;
    }
    if (way == WAYS) {
        return false;
    }
    simt_count(cu, COUNT_atomics, __builtin_popcountll(mask));
    mxgpu_simt_count_access(cu, w, p->r1, 0, mask, size);
    if (is_reservation(p->op)) {
        reserve(w, p, mask, size, at);
    } else {
        perform(w, p, mask, way, at);
    }
    return true;
}
