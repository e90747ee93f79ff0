/* SPDX-License-Identifier: MIT */
/*
 * Forms of x registers (see internal.h): making one from another, and
 * arithmetic on lines. A line that is computed here gives, in every lane, what
 * the instruction gives modulo 2^64; where an instruction looks at 32 bits
 * only, the result is one when no lane leaves the range. With SIMT_PLAIN the
 * interpreter keeps the wide form only: the others are tested against it.
 */

static __attribute__((noinline)) void widen(MxgpuWarp *w, unsigned r)
{
    uint64_t *d = w->x[r];
    const uint32_t *s = w->word[r];
    const SimtLine l = w->line[r];
    const uint64_t low = (1u << w->c.row_shift) - 1;
    const unsigned shift = w->c.row_shift;

    if (w->form[r] & FORM_WORD) {
        LANE_LOOP {
            d[i] = SEXT32(s[i]);
        }
    } else if (w->form[r] & FORM_UNIFORM) {
        LANE_LOOP {
            d[i] = l.base;
        }
    } else {
        LANE_LOOP {
            d[i] = l.base + ((uint64_t)i & low) * l.step +
                   ((uint64_t)i >> shift) * l.row;
        }
    }
    w->form[r] |= FORM_WIDE;
}

static inline void fill_words(uint32_t *d, uint32_t v)
{
    LANE_LOOP {
        d[i] = v;
    }
}

/* The 64 bits of every lane. */
static inline const uint64_t *wide(MxgpuWarp *w, unsigned r)
{
    if (!(w->form[r] & FORM_WIDE)) {
        widen(w, r);
    }
    return w->x[r];
}

/* A destination of which only some lanes are written. */
static inline uint64_t *wide_partly(MxgpuWarp *w, unsigned r)
{
    (void)wide(w, r);
    w->form[r] = FORM_WIDE;
    return w->x[r];
}

/* The same for ops that know only the wide form; simt_wrote_wide() follows. */
static inline void widen_all(MxgpuWarp *w, const SimtOp *p)
{
    (void)wide(w, p->r1);
    (void)wide(w, p->r2);
    (void)wide(w, p->rd);
}

#if defined(SIMT_PLAIN)
#define SETTLE(w, r)                                                           \
    do {                                                                       \
        (void)wide(w, r);                                                      \
        (w)->form[r] = FORM_WIDE;                                              \
    } while (0)
#else
#define SETTLE(w, r) ((void)0)
#endif

static inline void wrote_wide(MxgpuWarp *w, unsigned r)
{
    w->form[r] = FORM_WIDE;
}

static inline void wrote_word(MxgpuWarp *w, unsigned r)
{
    w->form[r] = FORM_WORD;
    SETTLE(w, r);
}

static inline void set_uniform(MxgpuWarp *w, unsigned r, uint64_t value)
{
    simt_set_uniform(w, r, value);
    SETTLE(w, r);
}

static inline void set_line(MxgpuWarp *w, unsigned r, SimtLine line)
{
    simt_set_line(w, r, line);
    SETTLE(w, r);
}

static inline SimtRows rows_of(const MxgpuWarp *w)
{
    return (SimtRows){w->c.row_shift, 0};
}

static inline bool line_uniform(const SimtLine *l)
{
    return !(l->step | l->row | l->warp);
}

static inline void widen_range(int64_t *low, int64_t *high, uint64_t by)
{
    *low += (int64_t)by < 0 ? (int64_t)by : 0;
    *high += (int64_t)by < 0 ? 0 : (int64_t)by;
}

/* The least and the greatest lane, as signed numbers; false: not known. */
static inline bool line_range(SimtRows rows, const SimtLine *l, int64_t *low,
                              int64_t *high)
{
    const uint64_t bound = 1ull << 48; /* sums cannot overflow below it */

    *low = *high = l->base;
    if (line_uniform(l)) {
        return true;
    }
    if (l->base + bound > 2 * bound || l->step + bound > 2 * bound ||
        l->row + bound > 2 * bound || l->warp + bound > 2 * bound) {
        return false;
    }
    widen_range(low, high, (l->step << rows.shift) - l->step);
    widen_range(low, high, (l->row << (6 - rows.shift)) - l->row);
    widen_range(low, high, l->warp * rows.last);
    return true;
}

/* Whether every lane, as a signed number, is in low ... high. */
static inline bool line_within(SimtRows rows, const SimtLine *l, int64_t low,
                               int64_t high)
{
    int64_t min, max;

    return line_range(rows, l, &min, &max) && min >= low && max <= high;
}

static __attribute__((noinline)) bool line_to_word(MxgpuWarp *w, unsigned r)
{
    const SimtLine l = w->line[r];
    const uint32_t low = (1u << w->c.row_shift) - 1, base = (uint32_t)l.base;
    const uint32_t step = (uint32_t)l.step, row = (uint32_t)l.row;
    const unsigned shift = w->c.row_shift;
    uint32_t *d = w->word[r];

    if (!line_within(rows_of(w), &l, INT32_MIN, INT32_MAX)) {
        return false;
    }
    LANE_LOOP {
        d[i] = base + (i & low) * step + (i >> shift) * row;
    }
    w->form[r] |= FORM_WORD;
    return true;
}

/* Whether the register has, or can get without loss, the word form. */
static inline bool as_word(MxgpuWarp *w, unsigned r)
{
    return w->form[r] & FORM_WORD ||
           (w->form[r] & FORM_LINE && line_to_word(w, r));
}

static __attribute__((noinline)) const uint32_t *
truncate_lanes(MxgpuWarp *w, unsigned r, uint32_t *tmp)
{
    const uint64_t *s = wide(w, r);

    LANE_LOOP {
        tmp[i] = (uint32_t)s[i];
    }
    return tmp;
}

/* The low 32 bits of every lane. */
static inline const uint32_t *low_word(MxgpuWarp *w, unsigned r, uint32_t *tmp)
{
    return as_word(w, r) ? w->word[r] : truncate_lanes(w, r, tmp);
}

/* ---- arithmetic on lines: whether *out is the result */

#define LINE_FN(ID)                                                            \
    static inline __attribute__((always_inline)) bool line_##ID(               \
        SimtRows rows, const SimtLine *a, const SimtLine *b, SimtLine *out)

static inline SimtLine line_shl(const SimtLine *a, unsigned by)
{
    return (SimtLine){a->base << by, a->step << by, a->row << by,
                      a->warp << by};
}

static inline SimtLine line_plus(const SimtLine *a, const SimtLine *b)
{
    return (SimtLine){a->base + b->base, a->step + b->step, a->row + b->row,
                      a->warp + b->warp};
}

static inline SimtLine line_minus(const SimtLine *a, const SimtLine *b)
{
    return (SimtLine){a->base - b->base, a->step - b->step, a->row - b->row,
                      a->warp - b->warp};
}

LINE_FN(ADD)
{
    *out = line_plus(a, b);
    return true;
}

LINE_FN(SUB)
{
    *out = line_minus(a, b);
    return true;
}

LINE_FN(SLL)
{
    *out = line_shl(a, b->base & 63);
    return line_uniform(b);
}

LINE_FN(MUL)
{
    if (!line_uniform(b)) {
        const SimtLine *other = a;

        a = b;
        b = other;
    }
    *out = (SimtLine){a->base * b->base, a->step * b->base, a->row * b->base,
                      a->warp * b->base};
    return line_uniform(b);
}

/* Exact quotients of lanes that are not negative, or fit when signed. */
static inline bool line_shr(SimtRows rows, const SimtLine *a,
                            const SimtLine *b, SimtLine *out, bool arithmetic)
{
    unsigned by = b->base & 63;
    uint64_t bits = (1ull << by) - 1;
    int64_t high = INT64_MAX >> (arithmetic ? by : by ? by - 1 : 0);

    *out = (SimtLine){arithmetic ? (uint64_t)((int64_t)a->base >> by)
                                 : a->base >> by,
                      (uint64_t)((int64_t)a->step >> by),
                      (uint64_t)((int64_t)a->row >> by),
                      (uint64_t)((int64_t)a->warp >> by)};
    return by && line_uniform(b) &&
           !((a->base | a->step | a->row | a->warp) & bits) &&
           line_within(rows, out, arithmetic ? -high - 1 : 0, high);
}

LINE_FN(SRL)
{
    return line_shr(rows, a, b, out, false);
}

LINE_FN(SRA)
{
    return line_shr(rows, a, b, out, true);
}

#define LINE_SHADD(n)                                                          \
    LINE_FN(SH##n##ADD)                                                        \
    {                                                                          \
        SimtLine s = line_shl(a, n);                                           \
                                                                               \
        *out = line_plus(&s, b);                                               \
        return true;                                                           \
    }                                                                          \
    LINE_FN(SH##n##ADD_UW)                                                     \
    {                                                                          \
        SimtLine s = line_shl(a, n);                                           \
                                                                               \
        *out = line_plus(&s, b);                                               \
        return line_within(rows, a, 0, UINT32_MAX);                            \
    }
LINE_SHADD(1)
LINE_SHADD(2)
LINE_SHADD(3)

LINE_FN(ADD_UW)
{
    *out = line_plus(a, b);
    return line_within(rows, a, 0, UINT32_MAX);
}

LINE_FN(SLLI_UW)
{
    *out = line_shl(a, b->base & 63);
    return line_within(rows, a, 0, UINT32_MAX);
}

/*
 * Bitwise with a uniform number: lanes that are not negative agree in the bits
 * above those in which the least and the greatest one differ. *varying gets
 * the bits below, *same what they agree in. a gets the line, *b the number.
 */
static inline bool line_bits(SimtRows rows, const SimtLine **a,
                             const SimtLine **b, uint64_t *varying,
                             uint64_t *same)
{
    int64_t low, high;

    if (line_uniform(*a)) {
        const SimtLine *line = *b;

        *b = *a;
        *a = line;
    }
    if (!line_uniform(*b) || !line_range(rows, *a, &low, &high) || low < 0 ||
        low == high) {
        return false;
    }
    *varying = UINT64_MAX >> __builtin_clzll(low ^ high);
    *same = low & ~*varying;
    return true;
}

LINE_FN(OR)
{
    uint64_t varying, same, bits;

    if (!line_bits(rows, &a, &b, &varying, &same) || b->base & varying) {
        return false;
    }
    bits = b->base & ~same;
    *out = (SimtLine){a->base + bits, a->step, a->row, a->warp};
    return true;
}

LINE_FN(XOR)
{
    uint64_t varying, same;

    if (!line_bits(rows, &a, &b, &varying, &same) || b->base & varying) {
        return false;
    }
    *out = (SimtLine){a->base - same + (same ^ b->base), a->step, a->row,
                      a->warp};
    return true;
}

LINE_FN(AND)
{
    uint64_t varying, same;

    if (!line_bits(rows, &a, &b, &varying, &same) ||
        (b->base & varying) != varying) {
        return false;
    }
    *out = (SimtLine){a->base - (same & ~b->base), a->step, a->row, a->warp};
    return true;
}

/* *W: when the sum in 64 bits is a word, so is the sum in 32, the same one. */
static inline bool line_is_word(SimtRows rows, const SimtLine *l)
{
    return line_within(rows, l, INT32_MIN, INT32_MAX);
}

LINE_FN(ADDW)
{
    return line_ADD(rows, a, b, out) && line_is_word(rows, out);
}

LINE_FN(SUBW)
{
    return line_SUB(rows, a, b, out) && line_is_word(rows, out);
}

LINE_FN(MULW)
{
    return line_MUL(rows, a, b, out) && line_is_word(rows, out);
}

LINE_FN(SLLW)
{
    *out = line_shl(a, b->base & 31);
    return line_uniform(b) && line_is_word(rows, out);
}

/*
 * Two lines none of whose lanes reaches into the range of the other: all lanes
 * then compare as the first ones do, if no lane is negative unsigned
 * comparisons too.
 */
static inline bool lines_apart(SimtRows rows, const SimtLine *a,
                               const SimtLine *b)
{
    int64_t low1, high1, low2, high2;

    return line_range(rows, a, &low1, &high1) &&
           line_range(rows, b, &low2, &high2) &&
           (high1 < low2 || low1 > high2) && low1 >= 0 && low2 >= 0;
}
