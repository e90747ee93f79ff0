/* SPDX-License-Identifier: MIT */
/*
 * Integer and control instructions as loops over the 64 lanes. f_ forms write
 * all lanes (the group is the whole live warp), m_ forms those of w->c.m64. f_
 * forms take the cheapest way that the forms of their operands allow: one
 * computation for all lanes (uniform, line), 32-bit lanes, 64-bit lanes. All of
 * these are made of the same expressions, those of rv/sem.h.
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

#include "forms.inc.h"
#include "lanes_vec.inc.h"

/* ---- one lane: l64_ID on whole registers, l32_ID on words */

#define LANE_64(ID, e)                                                         \
    RV_SEM_INLINE uint64_t l64_##ID(uint64_t A, uint64_t B)                    \
    {                                                                          \
        return e;                                                              \
    }
#define LANE_32(ID, e)                                                         \
    RV_SEM_INLINE uint32_t l32_##ID(uint32_t A, uint32_t B)                    \
    {                                                                          \
        return e;                                                              \
    }
#define LANE_64_RI(ID, IID, e) LANE_64(ID, e)
#define LANE_32_RI(ID, IID, e) LANE_32(ID, e)
RV_SEM_LIST_RI(LANE_64_RI, uint64_t, int64_t, 64, 63)
RV_SEM_LIST_SHIFT(LANE_64_RI, uint64_t, int64_t, 64, 63)
RV_SEM_LIST_R(LANE_64, uint64_t, int64_t, 64, 63)
RV_SEM_LIST_64(LANE_64)
RV_SEM_LIST_1(LANE_64, uint64_t, int64_t, 64, 63)
LANE_64(REV8, rv_rev64(A))
LANE_64(ZEXT_H, (uint16_t)A)
LANE_64(SLLI_UW, (uint64_t)(uint32_t)A << (B & 63))
RV_SEM_LIST_RI(LANE_32_RI, uint32_t, int32_t, 32, 31)
RV_SEM_LIST_R(LANE_32, uint32_t, int32_t, 32, 31)
RV_SEM_LIST_1(LANE_32, uint32_t, int32_t, 32, 31)
LANE_32(ZEXT_H, (uint16_t)A)
RV_SEM_LIST_W_RI(LANE_32_RI)
RV_SEM_LIST_W_R(LANE_32)
RV_SEM_LIST_W_1(LANE_32)

/*
 * Ops on whole registers, F(ID, ID of the expression, whether rs2 is imm):
 * LINEAR ones map lines to lines, of these SUMs may be moves; CLOSED ones give,
 * on sign-extended words, the sign extension of what they give on 32 bits; the
 * rest does neither.
 */
#define SUM_OPS(F) F(ADD, ADD, 0) F(ADDI, ADD, 1)
#define LINEAR_OPS(F)                                                          \
    SUM_OPS(F) OTHER_LINEAR_OPS(F)
#define OTHER_LINEAR_OPS(F)                                                    \
    F(SUB, SUB, 0) F(SLL, SLL, 0) F(SLLI, SLL, 1) F(SRL, SRL, 0)               \
    F(SRLI, SRL, 1) F(SRA, SRA, 0) F(SRAI, SRA, 1) F(MUL, MUL, 0)              \
    F(SH1ADD, SH1ADD, 0) F(SH2ADD, SH2ADD, 0) F(SH3ADD, SH3ADD, 0)             \
    F(ADD_UW, ADD_UW, 0) F(SH1ADD_UW, SH1ADD_UW, 0)                            \
    F(SH2ADD_UW, SH2ADD_UW, 0) F(SH3ADD_UW, SH3ADD_UW, 0)                      \
    F(SLLI_UW, SLLI_UW, 1)
#define CLOSED_OPS(F)                                                          \
    F(SLT, SLT, 0) F(SLTI, SLT, 1) F(SLTU, SLTU, 0) F(SLTIU, SLTU, 1)          \
    F(ANDN, ANDN, 0) F(ORN, ORN, 0) F(XNOR, XNOR, 0)                           \
    F(MIN, MIN, 0) F(MAX, MAX, 0) F(MINU, MINU, 0) F(MAXU, MAXU, 0)            \
    F(CZERO_EQZ, CZERO_EQZ, 0) F(CZERO_NEZ, CZERO_NEZ, 0)                      \
    F(SEXT_B, SEXT_B, 1) F(SEXT_H, SEXT_H, 1) F(ZEXT_H, ZEXT_H, 1)
#define LINEAR_CLOSED_OPS(F)                                                   \
    F(XOR, XOR, 0) F(XORI, XOR, 1) F(OR, OR, 0) F(ORI, OR, 1) F(AND, AND, 0)   \
    F(ANDI, AND, 1)
#define OTHER_OPS(F)                                                           \
    F(ROR, ROR, 0) F(RORI, ROR, 1) F(ROL, ROL, 0) F(MULH, MULH, 0)             \
    F(MULHSU, MULHSU, 0) F(MULHU, MULHU, 0) F(DIV, DIV, 0) F(DIVU, DIVU, 0)    \
    F(REM, REM, 0) F(REMU, REMU, 0) F(CLZ, CLZ, 1) F(CTZ, CTZ, 1)              \
    F(CPOP, CPOP, 1) F(ORC_B, ORC_B, 1) F(REV8, REV8, 1)
/* Ops that look at the low words only and give one. */
#define WORD_LINEAR_OPS(F)                                                     \
    F(ADDW, ADDW, 0) F(ADDIW, ADDW, 1) F(SUBW, SUBW, 0) F(MULW, MULW, 0)       \
    F(SLLW, SLLW, 0) F(SLLIW, SLLW, 1)
#define WORD_OTHER_OPS(F)                                                      \
    F(SRLW, SRLW, 0) F(SRLIW, SRLW, 1) F(SRAW, SRAW, 0) F(SRAIW, SRAW, 1)      \
    F(RORW, RORW, 0) F(RORIW, RORW, 1) F(ROLW, ROLW, 0) F(DIVW, DIVW, 0)       \
    F(DIVUW, DIVUW, 0) F(REMW, REMW, 0) F(REMUW, REMUW, 0) F(CLZW, CLZW, 1)    \
    F(CTZW, CTZW, 1) F(CPOPW, CPOPW, 1)
#define INTEGER_OPS(F)                                                         \
    LINEAR_OPS(F) CLOSED_OPS(F) LINEAR_CLOSED_OPS(F) OTHER_OPS(F)              \
    WORD_LINEAR_OPS(F) WORD_OTHER_OPS(F)

#define IMM_LINE(p) ((SimtLine){.base = (uint64_t)(int64_t)(p)->imm})

/* All lanes at once, where the forms allow it, or return. */
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

/* The lanes of the group; the others keep what they hold. */
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
    LANE_FN m_##ID(MxgpuWarp *w, const SimtOp *p)                              \
    {                                                                          \
        MASKED_WIDE(l64_##E(a[i], IMM ? imm : b[i]), IMM)                      \
    }
/* Words stay words where CLOSED. */
#define DEF_MASKED_CLOSED(ID, E, IMM, CLOSED)                                  \
    LANE_FN m_##ID(MxgpuWarp *w, const SimtOp *p)                              \
    {                                                                          \
        if ((CLOSED) && as_word(w, p->rd) && SOURCES_ARE_WORDS(IMM)) {         \
            MASKED_WORDS(E, IMM)                                               \
        } else {                                                               \
            MASKED_WIDE(l64_##E(a[i], IMM ? imm : b[i]), IMM)                  \
        }                                                                      \
    }

/* f_: registers that have the common form only, else g_: whatever they have. */
#define DEF_FULL(ID, IMM, COMMON, HOW, ALL)                                    \
    LANE_FN g_##ID(MxgpuWarp *w, const SimtOp *p)                              \
    {                                                                          \
        unsigned forms = FORMS(IMM);                                           \
                                                                               \
        ALL                                                                    \
    }                                                                          \
    LANE_FN f_##ID(MxgpuWarp *w, const SimtOp *p)                              \
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

#define SEXT_L32(E, A, B) SEXT32(l32_##E((uint32_t)(A), (uint32_t)(B)))
#define WORD_UNIFORM(E, IMM)                                                   \
    if (forms & FORM_UNIFORM) {                                                \
        set_uniform(w, p->rd,                                                  \
                    SEXT_L32(E, w->line[p->r1].base,                           \
                             IMM ? (uint64_t)(int64_t)p->imm                   \
                                 : w->line[p->r2].base));                      \
        return;                                                                \
    }
/* The low words of registers that do not all have them apart; m: NULL for all
 * lanes. */
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
    LANE_FN m_##ID(MxgpuWarp *w, const SimtOp *p)                              \
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
OTHER_OPS(DEF_OTHER)
WORD_LINEAR_OPS(DEF_WORD_LINEAR)
WORD_OTHER_OPS(DEF_WORD_OTHER)

static void spread(MxgpuWarp *w, uint64_t mask)
{
    w->c.spread = mask;
#if defined(SIMT_AVX512)
    for (unsigned i = 0; i < LANES; i += 8) {
        _mm512_store_si512(w->c.m64 + i, _mm512_movm_epi64(mask >> i));
    }
    for (unsigned i = 0; i < LANES; i += 16) {
        _mm512_store_si512(w->c.m32 + i, _mm512_movm_epi32(mask >> i));
    }
#else
    LANE_LOOP {
        w->c.m64[i] = -(mask >> i & 1);
    }
    LANE_LOOP {
        w->c.m32[i] = (uint32_t)w->c.m64[i];
    }
#endif
}

/* Whether a destination of which only some lanes are written is, and then will
 * be, a word. */
static inline bool word_partly(MxgpuWarp *w, unsigned r)
{
    if (!as_word(w, r)) {
        return false;
    }
    w->form[r] = FORM_WORD;
    return true;
}

/* x[rd] = value for the lanes of w->c.m64. */
static void set_masked(MxgpuWarp *w, unsigned rd, uint64_t value)
{
    const uint64_t *m = w->c.m64;
    uint64_t *d;

    if (value == SEXT32(value) && word_partly(w, rd)) {
        LANE_LOOP {
            w->word[rd][i] =
                SELECT(w->c.m32[i], (uint32_t)value, w->word[rd][i]);
        }
        return;
    }
    d = wide_partly(w, rd);
    LANE_LOOP {
        d[i] = SELECT(m[i], value, d[i]);
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
#define LANE_CONDITION(ID, cond, T, n)                                         \
    RV_SEM_INLINE bool c##n##_##ID(T A, T B)                                   \
    {                                                                          \
        return cond;                                                           \
    }
#define CONDITION_64(ID, cond) LANE_CONDITION(ID, cond, uint64_t, 64)
#define CONDITION_32(ID, cond) LANE_CONDITION(ID, cond, uint32_t, 32)
RV_SEM_LIST_BRANCH(CONDITION_64, uint64_t, int64_t)
RV_SEM_LIST_BRANCH(CONDITION_32, uint32_t, int32_t)

static inline bool apart(const MxgpuWarp *w, const SimtOp *p)
{
    return w->form[p->r1] & w->form[p->r2] & FORM_LINE &&
           lines_apart(rows_of(w), &w->line[p->r1], &w->line[p->r2]);
}

/* Sign extension keeps the order, signed and unsigned. */
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
    static inline uint64_t t_##ID(MxgpuWarp *w, const SimtOp *p)               \
    {                                                                          \
        if (w->form[p->r1] & w->form[p->r2] & FORM_UNIFORM || apart(w, p)) {   \
            return -(uint64_t)c64_##ID(w->line[p->r1].base,                    \
                                       w->line[p->r2].base);                   \
        }                                                                      \
        if (as_word(w, p->r1) && as_word(w, p->r2)) {                          \
            return t32_##ID(w->word[p->r1], w->word[p->r2]);                   \
        }                                                                      \
        return t64_##ID(wide(w, p->r1), wide(w, p->r2));                       \
    }
RV_SEM_LIST_BRANCH(DEF_BRANCH, uint64_t, int64_t)

/* ---- exchanges between lanes of the group */

#define SHUFFLE_LANES(T, D, a, b)                                              \
    {                                                                          \
        T value[LANES], *d = D;                                                \
                                                                               \
        for (unsigned i = 0; i < LANES; i++) {                                 \
            unsigned from = b[i] & 63;                                         \
                                                                               \
            value[i] = a[mask >> from & 1 ? from : i];                         \
        }                                                                      \
        for (uint64_t m = mask; m; m &= m - 1) {                               \
            unsigned i = __builtin_ctzll(m);                                   \
                                                                               \
            d[i] = value[i];                                                   \
        }                                                                      \
    }
#if defined(SIMT_AVX512)
/* All lanes, all words: 16 at a time from two registers of 32. */
static void shuffle_words(uint32_t *d, const uint32_t *a, const uint32_t *b)
{
    __m512i from[4];

    for (unsigned i = 0; i < 4; i++) {
        from[i] = _mm512_load_si512(a + 16 * i);
    }
    for (unsigned i = 0; i < 4; i++) {
        __m512i by = _mm512_load_si512(b + 16 * i);
        __m512i low = _mm512_permutex2var_epi32(from[0], by, from[1]);
        __m512i high = _mm512_permutex2var_epi32(from[2], by, from[3]);
        __mmask16 upper = _mm512_test_epi32_mask(by, _mm512_set1_epi32(32));

        _mm512_store_si512(d + 16 * i, _mm512_mask_mov_epi32(low, upper, high));
    }
}
#define SHUFFLE_ALL_WORDS(d, a, b) shuffle_words(d, a, b)
#else
#define SHUFFLE_ALL_WORDS(d, a, b) SHUFFLE_LANES(uint32_t, d, a, b)
#endif

static void shuffle(MxgpuWarp *w, const SimtOp *p, uint64_t mask)
{
    const uint32_t *words = w->word[p->r1], *by = w->word[p->r2];

    if (!as_word(w, p->r1) || !as_word(w, p->r2) ||
        (mask != w->s.live && !as_word(w, p->rd))) {
        const uint64_t *a = wide(w, p->r1), *b = wide(w, p->r2);

        SHUFFLE_LANES(uint64_t, wide_partly(w, p->rd), a, b)
    } else if (mask == ALL_LANES) {
        SHUFFLE_ALL_WORDS(w->word[p->rd], words, by);
        wrote_word(w, p->rd);
    } else {
        SHUFFLE_LANES(uint32_t, w->word[p->rd], words, by)
        wrote_word(w, p->rd);
    }
}

static void match_any(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                      uint64_t mask)
{
    const uint64_t *a = wide(w, p->r1);
    uint64_t same[LANES], rest = mask, *d = wide_partly(w, p->rd);

    while (rest) {
        uint64_t value = a[__builtin_ctzll(rest)], bits = 0;

        simt_charge(cu, 1);
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

        d[i] = same[i];
    }
}
