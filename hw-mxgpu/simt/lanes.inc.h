/* SPDX-License-Identifier: MIT */
/*
 * Integer and control instructions as loops over the 64 lanes. f_ forms write
 * all lanes (the group is the whole live warp), m_ forms those of w->m64.
 */
#include "rv/sem.h"

#if defined(__clang__)
#define LANE_LOOP                                                              \
    _Pragma("clang loop vectorize(assume_safety)")                             \
    for (unsigned i = 0; i < LANES; i++)
#else
#define LANE_LOOP _Pragma("GCC ivdep") for (unsigned i = 0; i < LANES; i++)
#endif
#define LANE_FN static __attribute__((noinline, unused)) void
#define SEXT32(v) ((uint64_t)(int64_t)(int32_t)(v))
#define SELECT(m, a, b) (((a) & (m)) | ((b) & ~(m)))

/* d[i] = value, in both forms. PRE sets up what value uses. */
#define LANE_OP(ID, PRE, LANE, VALUE)                                          \
    LANE_FN f_##ID(MxgpuWarp *w, const SimtOp *p)                              \
    {                                                                          \
        uint64_t *d = w->x[p->rd];                                             \
        PRE;                                                                   \
        LANE_LOOP {                                                            \
            LANE;                                                              \
            d[i] = (VALUE);                                                    \
        }                                                                      \
    }                                                                          \
    LANE_FN m_##ID(MxgpuWarp *w, const SimtOp *p)                              \
    {                                                                          \
        uint64_t *d = w->x[p->rd];                                             \
        const uint64_t *m = w->m64;                                            \
        PRE;                                                                   \
        LANE_LOOP {                                                            \
            LANE;                                                              \
            d[i] = SELECT(m[i], (uint64_t)(VALUE), d[i]);                      \
        }                                                                      \
    }

#define PRE_AB const uint64_t *a = w->x[p->r1], *b = w->x[p->r2]
#define PRE_AI                                                                 \
    const uint64_t *a = w->x[p->r1];                                           \
    const uint64_t B = (uint64_t)(int64_t)p->imm
#define PRE_A const uint64_t *a = w->x[p->r1]
#define LANE_AB uint64_t A = a[i], B = b[i]
#define LANE_A  uint64_t A = a[i]
#define PRE_WI                                                                 \
    const uint64_t *a = w->x[p->r1];                                           \
    const uint32_t B = (uint32_t)p->imm
#define LANE_WAB uint32_t A = (uint32_t)a[i], B = (uint32_t)b[i]
#define LANE_WA  uint32_t A = (uint32_t)a[i]

#define DEF_RI(ID, IID, expr)                                                  \
    LANE_OP(ID, PRE_AB, LANE_AB, expr)                                         \
    LANE_OP(IID, PRE_AI, LANE_A, expr)
#define DEF_R(ID, expr)   LANE_OP(ID, PRE_AB, LANE_AB, expr)
#define DEF_1(ID, expr)   LANE_OP(ID, PRE_A, LANE_A, expr)
#define DEF_WRI(ID, IID, expr)                                                 \
    LANE_OP(ID, PRE_AB, LANE_WAB, SEXT32(expr))                                \
    LANE_OP(IID, PRE_WI, LANE_WA, SEXT32(expr))
#define DEF_WR(ID, expr) LANE_OP(ID, PRE_AB, LANE_WAB, SEXT32(expr))
#define DEF_W1(ID, expr) LANE_OP(ID, PRE_A, LANE_WA, SEXT32(expr))

/* Every integer instruction: RI(ID, IID, e) R(ID, e) ONE(ID, e) and W forms. */
#define INTEGER_OPS(RI, R, ONE, WRI, WR, W1)                                   \
    RV_SEM_LIST_RI(RI, uint64_t, int64_t, 64, 63)                              \
    RV_SEM_LIST_SHIFT(RI, uint64_t, int64_t, 64, 63)                           \
    RV_SEM_LIST_R(R, uint64_t, int64_t, 64, 63)                                \
    RV_SEM_LIST_64(R)                                                          \
    RV_SEM_LIST_1(ONE, uint64_t, int64_t, 64, 63)                              \
    ONE(REV8, rv_rev64(A))                                                     \
    ONE(ZEXT_H, (uint16_t)A)                                                   \
    ONE(SLLI_UW, (uint64_t)(uint32_t)A << (p->imm & 63))                       \
    RV_SEM_LIST_W_RI(WRI)                                                      \
    RV_SEM_LIST_W_R(WR)                                                        \
    RV_SEM_LIST_W_1(W1)

INTEGER_OPS(DEF_RI, DEF_R, DEF_1, DEF_WRI, DEF_WR, DEF_W1)

LANE_OP(LUI, uint64_t value = (uint64_t)(int64_t)p->imm, , value)

/* x[rd] = value for lanes of mask. */
static void set_lanes(MxgpuWarp *w, unsigned rd, uint64_t value, uint64_t mask)
{
    uint64_t *d = w->x[rd];
    const uint64_t *m = w->m64;

    if (mask == ALL_LANES) {
        LANE_LOOP {
            d[i] = value;
        }
    } else {
        LANE_LOOP {
            d[i] = SELECT(m[i], value, d[i]);
        }
    }
}

/* ---- branches: bit i of the result: lane i takes it */

static inline uint64_t pack_bits(const uint8_t *bytes)
{
    uint64_t bits = 0, eight;

    for (unsigned i = 0; i < LANES / 8; i++) {
        memcpy(&eight, bytes + 8 * i, 8);
        bits |= (eight * 0x0102040810204080ull >> 56) << (8 * i);
    }
    return bits;
}

#if defined(SIMT_AVX512)
#define CMP_BEQ(a, b)  _mm512_cmpeq_epi64_mask(a, b)
#define CMP_BNE(a, b)  _mm512_cmpneq_epi64_mask(a, b)
#define CMP_BLT(a, b)  _mm512_cmplt_epi64_mask(a, b)
#define CMP_BGE(a, b)  _mm512_cmpge_epi64_mask(a, b)
#define CMP_BLTU(a, b) _mm512_cmplt_epu64_mask(a, b)
#define CMP_BGEU(a, b) _mm512_cmpge_epu64_mask(a, b)
#define DEF_BRANCH(ID, cond)                                                   \
    static inline uint64_t t_##ID(const MxgpuWarp *w, const SimtOp *p)         \
    {                                                                          \
        const uint64_t *a = w->x[p->r1], *b = w->x[p->r2];                     \
        uint64_t bits = 0;                                                     \
                                                                               \
        for (unsigned i = 0; i < LANES; i += 8) {                              \
            bits |= (uint64_t)CMP_##ID(_mm512_load_si512(a + i),               \
                                       _mm512_load_si512(b + i))               \
                    << i;                                                      \
        }                                                                      \
        return bits;                                                           \
    }
#else
#define DEF_BRANCH(ID, cond)                                                   \
    static inline uint64_t t_##ID(const MxgpuWarp *w, const SimtOp *p)         \
    {                                                                          \
        const uint64_t *a = w->x[p->r1], *b = w->x[p->r2];                     \
        uint8_t bytes[LANES];                                                  \
                                                                               \
        LANE_LOOP {                                                            \
            uint64_t A = a[i], B = b[i];                                       \
            bytes[i] = (cond);                                                 \
        }                                                                      \
        return pack_bits(bytes);                                               \
    }
#endif
RV_SEM_LIST_BRANCH(DEF_BRANCH, uint64_t, int64_t)

/* ---- exchanges between lanes of the group */

static void shuffle(MxgpuWarp *w, const SimtOp *p, uint64_t mask)
{
    const uint64_t *a = w->x[p->r1], *b = w->x[p->r2];
    uint64_t *d = w->x[p->rd], value[LANES];

    for (unsigned i = 0; i < LANES; i++) {
        unsigned from = b[i] & 63;

        value[i] = a[mask >> from & 1 ? from : i];
    }
    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);

        d[i] = value[i];
    }
}

static void match_any(MxgpuWarp *w, const SimtOp *p, uint64_t mask)
{
    const uint64_t *a = w->x[p->r1];
    uint64_t same[LANES], rest = mask;

    while (rest) {
        uint64_t value = a[__builtin_ctzll(rest)], bits = 0;

        for (unsigned i = 0; i < LANES; i++) {
            bits |= (uint64_t)(a[i] == value) << i;
        }
        bits &= mask;
        for (uint64_t m = bits; m; m &= m - 1) {
            same[__builtin_ctzll(m)] = bits;
        }
        rest &= ~bits;
    }
    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);

        w->x[p->rd][i] = same[i];
    }
}
