/* SPDX-License-Identifier: MIT */
/*
 * Integer and control instructions as loops over the 64 lanes, for a full warp
 * and under a mask. A full warp takes the cheapest way that the forms of its
 * operands allow: one computation for all lanes (uniform, line), 32-bit lanes,
 * 64-bit lanes. All of these are made of the same expressions, those of
 * rv/sem.h.
 */
#include "forms.h"
#include "lane.h"
#include "lines.h"
#include "ops.h"

#define OP_FN   void
#define LANE_FN static __attribute__((noinline, unused)) void

/* All lanes at once, where the forms allow it: then returns. */
#define AS_UNIFORM(E, IMM)                                                     \
    if (forms & FORM_UNIFORM) {                                                \
        set_uniform(w, p->rd,                                                  \
                    E(w->line[p->r1].base,                                     \
                      IMM ? (uint64_t)(int64_t)p->imm                          \
                          : w->line[p->r2].base));                             \
        return;                                                                \
    }
#define AS_LINE(E, IMM)                                                        \
    if (forms & FORM_LINE) {                                                   \
        SimtLine out, b = IMM ? IMM_LINE(p) : w->line[p->r2];                  \
                                                                               \
        if (line_##E(rows_of(w), &w->line[p->r1], &b, &out)) {                 \
            set_line(w, p->rd, out);                                           \
            return;                                                            \
        }                                                                      \
    }
#define NO_LINE(E, IMM)
#define FORMS(IMM) (w->form[p->r1] & (IMM ? FORM_ALL : w->form[p->r2]))

/* All lanes of registers that have the form. */
#define LANES_OF(T, PLANE, LANE, WROTE)                                        \
    {                                                                          \
        const T *a = w->PLANE[p->r1], *b = w->PLANE[p->r2];                    \
        const T imm = (T)(int64_t)p->imm;                                      \
        T *d = w->PLANE[p->rd];                                                \
                                                                               \
        (void)b;                                                               \
        (void)imm;                                                             \
        LANE_LOOP {                                                            \
            d[i] = (LANE);                                                     \
        }                                                                      \
        WROTE(w, p->rd);                                                       \
    }
#define ON_WORDS(E, IMM)                                                       \
    LANES_OF(uint32_t, word, l32_##E(a[i], IMM ? imm : b[i]), wrote_word)
#define ON_WIDE(E, IMM)                                                        \
    LANES_OF(uint64_t, x, l64_##E(a[i], IMM ? imm : b[i]), wrote_wide)
#define SOURCES_WIDE(IMM)                                                      \
    (void)wide(w, p->r1);                                                      \
    (void)(IMM ? NULL : wide(w, p->r2));
#define SOURCES_ARE_WORDS(IMM) (as_word(w, p->r1) && (IMM || as_word(w, p->r2)))

/* The lanes of c.m64 and c.m32; the others keep what they hold. */
#define KEEP_WROTE(w, r)
#define MASKED_WORDS(E, IMM)                                                   \
    {                                                                          \
        const uint32_t *m = w->c.m32;                                          \
                                                                               \
        w->form[p->rd] = FORM_WORD;                                            \
        LANES_OF(uint32_t, word,                                               \
                 SELECT(m[i], l32_##E(a[i], IMM ? imm : b[i]), d[i]),          \
                 KEEP_WROTE)                                                   \
    }
#define MASKED_WIDE(LANE, IMM)                                                 \
    {                                                                          \
        const uint64_t *m = w->c.m64;                                          \
                                                                               \
        SOURCES_WIDE(IMM)                                                      \
        (void)wide_partly(w, p->rd);                                           \
        LANES_OF(uint64_t, x, SELECT(m[i], (uint64_t)(LANE), d[i]),            \
                 KEEP_WROTE)                                                   \
    }
#define DEF_MASKED(ID, E, IMM)                                                 \
    OP_FN m_##ID(MxgpuWarp *w, const SimtOp *p)                                \
    {                                                                          \
        MASKED_WIDE(l64_##E(a[i], IMM ? imm : b[i]), IMM)                      \
    }
/* Words stay words where CLOSED. */
#define DEF_MASKED_CLOSED(ID, E, IMM, CLOSED)                                  \
    OP_FN m_##ID(MxgpuWarp *w, const SimtOp *p)                                \
    {                                                                          \
        if ((CLOSED) && as_word(w, p->rd) && SOURCES_ARE_WORDS(IMM)) {         \
            MASKED_WORDS(E, IMM)                                               \
        } else {                                                               \
            MASKED_WIDE(l64_##E(a[i], IMM ? imm : b[i]), IMM)                  \
        }                                                                      \
    }

/* f_ID for operands that have the usual form, else g_ID for any form. */
#define DEF_FULL(ID, IMM, COMMON, HOW, ALL)                                    \
    LANE_FN g_##ID(MxgpuWarp *w, const SimtOp *p)                              \
    {                                                                          \
        unsigned forms = FORMS(IMM);                                           \
                                                                               \
        ALL                                                                    \
    }                                                                          \
    OP_FN f_##ID(MxgpuWarp *w, const SimtOp *p)                                \
    {                                                                          \
        if ((FORMS(IMM) & (FORM_LINE | COMMON)) == COMMON) {                   \
            HOW                                                                \
        } else {                                                               \
            g_##ID(w, p);                                                      \
        }                                                                      \
    }
#define WORDS_OR_WIDE(E, IMM, CLOSED)                                          \
    if ((CLOSED) && SOURCES_ARE_WORDS(IMM)) {                                  \
        ON_WORDS(E, IMM)                                                       \
        return;                                                                \
    }                                                                          \
    SOURCES_WIDE(IMM)                                                          \
    ON_WIDE(E, IMM)

#define IS_MOVE(IMM) (!p->r1 || !(IMM ? p->imm : p->r2))
#define DEF_SUM(ID, E, IMM)                                                    \
    DEF_FULL(ID, IMM, FORM_WIDE, ON_WIDE(E, IMM),                              \
             AS_LINE(E, IMM) AS_UNIFORM(l64_##E, IMM)                          \
             WORDS_OR_WIDE(E, IMM, IS_MOVE(IMM)))                              \
    DEF_MASKED_CLOSED(ID, E, IMM, IS_MOVE(IMM))
#define DEF_LINEAR(ID, E, IMM)                                                 \
    DEF_FULL(ID, IMM, FORM_WIDE, ON_WIDE(E, IMM),                              \
             AS_LINE(E, IMM) AS_UNIFORM(l64_##E, IMM)                          \
             SOURCES_WIDE(IMM) ON_WIDE(E, IMM))                                \
    DEF_MASKED(ID, E, IMM)
#define DEF_CLOSED(ID, E, IMM)                                                 \
    DEF_FULL(ID, IMM, FORM_WORD, ON_WORDS(E, IMM),                             \
             AS_UNIFORM(l64_##E, IMM) WORDS_OR_WIDE(E, IMM, 1))                \
    DEF_MASKED_CLOSED(ID, E, IMM, 1)
#define DEF_LINEAR_CLOSED(ID, E, IMM)                                          \
    DEF_FULL(ID, IMM, FORM_WORD, ON_WORDS(E, IMM),                             \
             AS_UNIFORM(l64_##E, IMM) AS_LINE(E, IMM)                          \
             WORDS_OR_WIDE(E, IMM, 1))                                         \
    DEF_MASKED_CLOSED(ID, E, IMM, 1)
#define DEF_OTHER(ID, E, IMM)                                                  \
    DEF_FULL(ID, IMM, FORM_WIDE, ON_WIDE(E, IMM),                              \
             AS_UNIFORM(l64_##E, IMM) SOURCES_WIDE(IMM) ON_WIDE(E, IMM))       \
    DEF_MASKED(ID, E, IMM)

/* Divisions whose operands (of lanes that divide) are not too large. */
#if defined(__AVX2__)
#define DEF_DIVIDE(ID, E, IMM)                                                 \
    LANE_FN n_##ID(MxgpuWarp *w, const SimtOp *p, const uint64_t *m)           \
    {                                                                          \
        const uint64_t *a = w->x[p->r1], *b = w->x[p->r2];                     \
        uint64_t *d = w->x[p->rd], large = 0;                                  \
                                                                               \
        LANE_LOOP {                                                            \
            large |= fits_##ID(a[i] & m[i]) | fits_##ID(b[i] & m[i]);          \
        }                                                                      \
        if (large) {                                                           \
            LANE_LOOP {                                                        \
                d[i] = SELECT(m[i], l64_##E(a[i], b[i]), d[i]);                \
            }                                                                  \
        } else {                                                               \
            LANE_LOOP {                                                        \
                d[i] = SELECT(m[i], near_##ID(a[i] & m[i], b[i] & m[i]),       \
                              d[i]);                                           \
            }                                                                  \
        }                                                                      \
    }                                                                          \
    LANE_FN g_##ID(MxgpuWarp *w, const SimtOp *p)                              \
    {                                                                          \
        unsigned forms = FORMS(IMM);                                           \
                                                                               \
        AS_UNIFORM(l64_##E, IMM)                                               \
        SOURCES_WIDE(IMM)                                                      \
        n_##ID(w, p, all_lanes);                                               \
        wrote_wide(w, p->rd);                                                  \
    }                                                                          \
    OP_FN f_##ID(MxgpuWarp *w, const SimtOp *p)                                \
    {                                                                          \
        g_##ID(w, p);                                                          \
    }                                                                          \
    OP_FN m_##ID(MxgpuWarp *w, const SimtOp *p)                                \
    {                                                                          \
        SOURCES_WIDE(IMM)                                                      \
        (void)wide_partly(w, p->rd);                                           \
        n_##ID(w, p, w->c.m64);                                                \
    }
static const uint64_t all_lanes[LANES] __attribute__((aligned(64))) = {
    [0 ... LANES - 1] = UINT64_MAX,
};
#else
#define DEF_DIVIDE DEF_OTHER
#endif

#define WORD_UNIFORM(E, IMM)                                                   \
    if (forms & FORM_UNIFORM) {                                                \
        set_uniform(w, p->rd,                                                  \
                    SEXT_L32(E, w->line[p->r1].base,                           \
                             IMM ? (uint64_t)(int64_t)p->imm                   \
                                 : w->line[p->r2].base));                      \
        return;                                                                \
    }
/* On the low words of operands that are not all in the word form; m: c.m32, or
 * NULL for all lanes. */
#define DEF_LOW_WORDS(ID, E, IMM)                                              \
    LANE_FN l_##ID(MxgpuWarp *w, const SimtOp *p, const uint32_t *m)           \
    {                                                                          \
        _Alignas(64) uint32_t ta[LANES], tb[LANES];                            \
        const uint32_t *a = low_word(w, p->r1, ta);                            \
        const uint32_t *b = IMM ? a : low_word(w, p->r2, tb);                  \
        const uint32_t imm = (uint32_t)p->imm;                                 \
        uint32_t *d = w->word[p->rd];                                          \
                                                                               \
        if (m) {                                                               \
            LANE_LOOP {                                                        \
                d[i] = SELECT(m[i], l32_##E(a[i], IMM ? imm : b[i]), d[i]);    \
            }                                                                  \
        } else {                                                               \
            LANE_LOOP {                                                        \
                d[i] = l32_##E(a[i], IMM ? imm : b[i]);                        \
            }                                                                  \
        }                                                                      \
        wrote_word(w, p->rd);                                                  \
    }
#define DEF_WORD(ID, E, IMM, BY_LINE)                                          \
    DEF_LOW_WORDS(ID, E, IMM)                                                  \
    DEF_FULL(ID, IMM, FORM_WORD, ON_WORDS(E, IMM),                             \
             WORD_UNIFORM(E, IMM) BY_LINE(E, IMM) l_##ID(w, p, NULL);)         \
    OP_FN m_##ID(MxgpuWarp *w, const SimtOp *p)                                \
    {                                                                          \
        if (!as_word(w, p->rd)) {                                              \
            MASKED_WIDE(SEXT_L32(E, a[i], IMM ? imm : b[i]), IMM)              \
        } else if (SOURCES_ARE_WORDS(IMM)) {                                   \
            MASKED_WORDS(E, IMM)                                               \
        } else {                                                               \
            l_##ID(w, p, w->c.m32);                                            \
        }                                                                      \
    }
#define DEF_WORD_LINEAR(ID, E, IMM) DEF_WORD(ID, E, IMM, AS_LINE)
#define DEF_WORD_OTHER(ID, E, IMM)  DEF_WORD(ID, E, IMM, NO_LINE)

SUM_OPS(DEF_SUM)
OTHER_LINEAR_OPS(DEF_LINEAR)
CLOSED_OPS(DEF_CLOSED)
LINEAR_CLOSED_OPS(DEF_LINEAR_CLOSED)
PLAIN_OPS(DEF_OTHER)
DIVIDE_OPS(DEF_DIVIDE)
WORD_LINEAR_OPS(DEF_WORD_LINEAR)
WORD_OTHER_OPS(DEF_WORD_OTHER)

/* ---- branches */

#if defined(SIMT_AVX512)
#define CMP_BEQ(a, b, n, s)  _mm512_cmpeq_epi##n##_mask(a, b)
#define CMP_BNE(a, b, n, s)  _mm512_cmpneq_epi##n##_mask(a, b)
#define CMP_BLT(a, b, n, s)  _mm512_cmplt_epi##n##_mask(a, b)
#define CMP_BGE(a, b, n, s)  _mm512_cmpge_epi##n##_mask(a, b)
#define CMP_BLTU(a, b, n, s) _mm512_cmplt_epu##n##_mask(a, b)
#define CMP_BGEU(a, b, n, s) _mm512_cmpge_epu##n##_mask(a, b)
#define COMPARE_LANES(ID, cond, T, S, n)                                       \
    uint64_t bits = 0;                                                         \
                                                                               \
    for (unsigned i = 0; i < LANES; i += 512 / n) {                            \
        bits |= (uint64_t)CMP_##ID(_mm512_load_si512(a + i),                   \
                                   _mm512_load_si512(b + i), n, )              \
                << i;                                                          \
    }                                                                          \
    return bits
#else
#define COMPARE_LANES(ID, cond, T, S, n)                                       \
    uint8_t bytes[LANES];                                                      \
                                                                               \
    LANE_LOOP {                                                                \
        bytes[i] = c##n##_##ID(a[i], b[i]);                                    \
    }                                                                          \
    return pack_bits(bytes)
#endif
static inline bool disjoint(const MxgpuWarp *w, const SimtOp *p)
{
    return w->form[p->r1] & w->form[p->r2] & FORM_LINE &&
           lines_disjoint(rows_of(w), &w->line[p->r1], &w->line[p->r2]);
}

/* Words compare as what they are sign-extended to, signed and unsigned. */
#define DEF_BRANCH(ID, cond)                                                   \
    static __attribute__((noinline)) uint64_t t32_##ID(                        \
        const uint32_t *a, const uint32_t *b)                                  \
    {                                                                          \
        COMPARE_LANES(ID, cond, uint32_t, int32_t, 32);                        \
    }                                                                          \
    static __attribute__((noinline)) uint64_t t64_##ID(                        \
        const uint64_t *a, const uint64_t *b)                                  \
    {                                                                          \
        COMPARE_LANES(ID, cond, uint64_t, int64_t, 64);                        \
    }                                                                          \
    uint64_t t_##ID(MxgpuWarp *w, const SimtOp *p)                             \
    {                                                                          \
        if (w->form[p->r1] & w->form[p->r2] & FORM_UNIFORM ||                  \
            disjoint(w, p)) {                                                  \
            return -(uint64_t)c64_##ID(w->line[p->r1].base,                    \
                                       w->line[p->r2].base);                   \
        }                                                                      \
        if (as_word(w, p->r1) && as_word(w, p->r2)) {                          \
            return t32_##ID(w->word[p->r1], w->word[p->r2]);                   \
        }                                                                      \
        return t64_##ID(wide(w, p->r1), wide(w, p->r2));                       \
    }
RV_SEM_LIST_BRANCH(DEF_BRANCH, uint64_t, int64_t)
