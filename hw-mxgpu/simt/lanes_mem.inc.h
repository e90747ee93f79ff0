/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores of a group. Addresses that are equal or contiguous in the
 * lanes are one host access; others are gathered from one 2 MiB granule or
 * from shared memory; what is left goes lane by lane. All functions return
 * false when a lane faulted, or when the unit is tired before the first one
 * (then the instruction is done again later).
 */

/* What a load or store did, when counting; the address register is still as
 * it was. */
#ifdef SIMT_COUNTING
#define COUNTED(ok, size)                                                      \
    counted(cu, w, p, mask, (size), (ok))
static inline bool counted(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                           uint64_t mask, unsigned size, bool ok)
{
    if (ok) {
        mxgpu_simt_count_access(cu, w, p->r1, (uint64_t)(int64_t)p->imm, mask,
                                size);
    }
    return ok;
}
/* Before what may write a register of the address in another form. */
#define COUNT_AHEAD (void)wide(w, p->r1)
#else
#define COUNTED(ok, size) (ok)
#define COUNT_AHEAD (void)0
#endif

typedef enum Shape {
    SHAPE_UNIFORM,
    SHAPE_CONTIGUOUS,
    SHAPE_ROWS,   /* of a line: each row is contiguous */
    SHAPE_LEVELS, /* of a line: each row is uniform */
    SHAPE_OTHER
} Shape;

/* How the addresses of mask's lanes relate; first is its lowest lane. */
static inline __attribute__((always_inline)) Shape
shape_of(const MxgpuWarp *w, const uint64_t *a, uint64_t mask, unsigned first,
         unsigned size)
{
    const uint64_t *m = w->m64;
    uint64_t base = a[first], differ = 0;
    unsigned second;

    if (mask == ALL_LANES) {
        if (a[1] == base) {
            LANE_LOOP {
                differ |= a[i] ^ base;
            }
            return differ ? SHAPE_OTHER : SHAPE_UNIFORM;
        }
        if (a[1] != base + size) {
            return SHAPE_OTHER;
        }
        LANE_LOOP {
            differ |= a[i] ^ (base + (uint64_t)i * size);
        }
        return differ ? SHAPE_OTHER : SHAPE_CONTIGUOUS;
    }
    mask &= mask - 1;
    if (!mask) {
        return SHAPE_UNIFORM;
    }
    second = __builtin_ctzll(mask);
    if (a[second] == base) {
        LANE_LOOP {
            differ |= (a[i] ^ base) & m[i];
        }
        return differ ? SHAPE_OTHER : SHAPE_UNIFORM;
    }
    base -= (uint64_t)first * size;
    if (a[second] != base + second * size) {
        return SHAPE_OTHER;
    }
    LANE_LOOP {
        differ |= (a[i] ^ (base + (uint64_t)i * size)) & m[i];
    }
    return differ ? SHAPE_OTHER : SHAPE_CONTIGUOUS;
}

/* The same of lanes that are on a line. */
static inline Shape shape_of_line(const MxgpuWarp *w, const SimtLine *l,
                                  uint64_t mask, unsigned size)
{
    if (!(l->step | l->row) || !(mask & (mask - 1))) {
        return SHAPE_UNIFORM;
    }
    if (l->step == size && l->row == (uint64_t)size << w->row_shift) {
        return SHAPE_CONTIGUOUS;
    }
    return l->step == size ? SHAPE_ROWS
           : l->step == 0  ? SHAPE_LEVELS
                           : SHAPE_OTHER;
}

/* Shape of the addresses of mask's lanes, and the first one. */
static inline __attribute__((always_inline)) Shape
addresses(MxgpuWarp *w, const SimtOp *p, uint64_t mask, unsigned size,
          uint64_t *va)
{
    unsigned first = __builtin_ctzll(mask), shift = w->row_shift;
    uint64_t imm = (uint64_t)(int64_t)p->imm;
    const uint64_t *a;

    if (w->form[p->r1] & FORM_LINE) {
        const SimtLine *l = &w->line[p->r1];
        Shape shape = shape_of_line(w, l, mask, size);

        *va = l->base + imm + (first & ((1u << shift) - 1)) * l->step +
              (first >> shift) * l->row;
        if (shape <= SHAPE_CONTIGUOUS || mask == ALL_LANES) {
            return shape;
        }
    }
    a = wide(w, p->r1);
    *va = a[first] + imm;
    return shape_of(w, a, mask, first, size);
}

/* simt_span(), loading the translation when that is what is missing. */
static inline uintptr_t span_fill(MxgpuCu *cu, const MxgpuWarp *w,
                                  SimtKind kind, uint64_t va, uint64_t len)
{
    uintptr_t at = simt_span(cu, w, kind, va, len);
    enum mxgpu_fault fault;

    if (__builtin_expect(!at && va < MXGPU_VA_LIMIT, 0)) {
        at = mxgpu_simt_fill(cu, w, kind, va, len, &fault);
    }
    return at;
}

/*
 * The host address that, added to an address of any lane of mask, gives the
 * host address of its aligned access; false when there is no such one.
 */
static inline __attribute__((always_inline)) bool
common_base(MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind, const uint64_t *a,
            uint64_t imm, uint64_t mask, uint64_t va, unsigned size,
            uintptr_t *base)
{
    const uint64_t *m = w->m64;
    uint64_t differ = 0, outside = 0, start = va & ~(LARGE_BYTES - 1);
    uint64_t limit = w->shared_size - size; /* used when it is not less */
    uintptr_t at;

    if (mask == ALL_LANES) {
        LANE_LOOP {
            differ |= (a[i] + imm) ^ va;
        }
    } else {
        LANE_LOOP {
            differ |= ((a[i] + imm) ^ va) & m[i];
        }
    }
    if ((differ | va) & (size - 1)) {
        return false;
    }
    if (differ < LARGE_BYTES && va < MXGPU_VA_LIMIT) {
        at = simt_span(cu, w, kind, start, LARGE_BYTES);
        if (__builtin_expect(!at, 0)) {
            enum mxgpu_fault fault;

            if (simt_span(cu, w, kind, va, size) || /* in a small page */
                !mxgpu_simt_fill(cu, w, kind, va, size, &fault)) {
                return false;
            }
            at = simt_span(cu, w, kind, start, LARGE_BYTES);
        }
        *base = at - start;
        return at != 0;
    }
    if (!in_shared(w, va, size)) {
        return false;
    }
    /* Bit 63 of outside: an offset is above limit. */
    if (mask == ALL_LANES) {
        LANE_LOOP {
            uint64_t offset = a[i] + imm - MXGPU_SHARED_BASE;

            outside |= offset | (limit - offset);
        }
    } else {
        LANE_LOOP {
            uint64_t offset = a[i] + imm - MXGPU_SHARED_BASE;

            outside |= (offset | (limit - offset)) & m[i];
        }
    }
    *base = (uintptr_t)w->shared - MXGPU_SHARED_BASE;
    return !(outside >> 63);
}

/*
 * common_base() of all lanes of a line, the first of which is at va, where no
 * translation has to be loaded. For lines that go upwards.
 */
static inline __attribute__((always_inline)) bool
line_base(const MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind,
          const SimtLine *l, uint64_t va, unsigned size, uintptr_t *base)
{
    unsigned shift = w->row_shift;
    uint64_t high = va + (l->step << shift) - l->step +
                    (l->row << (6 - shift)) - l->row;
    uint64_t offset;

    if ((l->step | l->row) >> 32 || (va | l->step | l->row) & (size - 1)) {
        return false;
    }
    if (va < MXGPU_VA_LIMIT) {
        uint64_t start = va & ~(LARGE_BYTES - 1);
        uintptr_t at = simt_span(cu, w, kind, start, LARGE_BYTES);

        *base = at - start;
        return at && high - start < LARGE_BYTES;
    }
    offset = va - MXGPU_SHARED_BASE;
    *base = (uintptr_t)w->shared - MXGPU_SHARED_BASE;
    return offset < w->shared_size && /* which is 2^16 at most */
           high - MXGPU_SHARED_BASE + size <= w->shared_size;
}

#define LOAD_ROW(n)                                                            \
    for (unsigned r = 0; r < LANES / (n); r++) {                               \
        __builtin_memcpy(d + (n) * r, (const void *)(at + r * row),            \
                         (n) * sizeof(*d));                                    \
    }
/* By vectors: compilers make worse of a loop of loops. */
#define LOAD_LEVEL(n)                                                          \
    for (unsigned r = 0; r < LANES / (n); r++) {                               \
        typedef __typeof__(*d) One;                                            \
        typedef One Some __attribute__((vector_size(32), aligned(1)));         \
        One v;                                                                 \
                                                                               \
        __builtin_memcpy(&v, (const void *)(at + r * row), sizeof(v));         \
        if ((n) * sizeof(v) >= sizeof(Some)) {                                 \
            for (unsigned i = 0; i < (n); i += sizeof(Some) / sizeof(v)) {     \
                *(Some *)(d + (n) * r + i) = v - (Some){0};                    \
            }                                                                  \
        } else {                                                               \
            for (unsigned i = 0; i < (n); i++) {                               \
                d[(n) * r + i] = v;                                            \
            }                                                                  \
        }                                                                      \
    }
#define STORE_ROW(n)                                                           \
    for (unsigned r = 0; r < LANES / (n); r++) {                               \
        __builtin_memcpy((void *)(at + r * row), s + (n) * r,                  \
                         (n) * sizeof(*s));                                    \
    }
/* F(lanes of a row, a constant) */
#define EACH_ROW_SIZE(shift, F)                                                \
    switch (shift) {                                                           \
    case 3:                                                                    \
        F(8u)                                                                  \
        return true;                                                           \
    case 4:                                                                    \
        F(16u)                                                                 \
        return true;                                                           \
    case 5:                                                                    \
        F(32u)                                                                 \
        return true;                                                           \
    default:                                                                   \
        return false;                                                          \
    }

/* The next warp is likely to go on where this one ended. */
static inline void prefetch(uintptr_t at, unsigned size)
{
    for (unsigned i = 0; i < size; i += 64) {
        __builtin_prefetch((const void *)(at + i), 0, 3);
    }
}

static inline bool private_uniform(const MxgpuWarp *w, uint64_t va,
                                   unsigned size)
{
    return in_private(w, va, size) && !(va & (size - 1));
}

#if defined(SIMT_AVX512)
static inline void gather_uint32_t(uint32_t *d, uintptr_t base,
                                   const uint64_t *a, uint64_t mask)
{
    for (unsigned i = 0; i < LANES; i += 8) {
        __m256i v = _mm512_mask_i64gather_epi32(
            _mm256_setzero_si256(), (__mmask8)(mask >> i),
            _mm512_load_si512(a + i), (const void *)base, 1);

        _mm256_storeu_si256((__m256i *)(d + i), v);
    }
}

static inline void gather_uint64_t(uint64_t *d, uintptr_t base,
                                   const uint64_t *a, uint64_t mask)
{
    for (unsigned i = 0; i < LANES; i += 8) {
        __m512i v = _mm512_mask_i64gather_epi64(
            _mm512_setzero_si512(), (__mmask8)(mask >> i),
            _mm512_load_si512(a + i), (const void *)base, 1);

        _mm512_storeu_si512(d + i, v);
    }
}

static inline void scatter_uint32_t(const uint32_t *s, uintptr_t base,
                                    const uint64_t *a, uint64_t mask)
{
    for (unsigned i = 0; i < LANES; i += 8) {
        _mm512_mask_i64scatter_epi32(
            (void *)base, (__mmask8)(mask >> i), _mm512_load_si512(a + i),
            _mm256_loadu_si256((const __m256i *)(s + i)), 1);
    }
}

static inline void scatter_uint64_t(const uint64_t *s, uintptr_t base,
                                    const uint64_t *a, uint64_t mask)
{
    for (unsigned i = 0; i < LANES; i += 8) {
        _mm512_mask_i64scatter_epi64((void *)base, (__mmask8)(mask >> i),
                                     _mm512_load_si512(a + i),
                                     _mm512_loadu_si512(s + i), 1);
    }
}
#endif

#define PLAIN_GATHER(T)                                                        \
    static inline void gather_##T(T *d, uintptr_t base, const uint64_t *a,     \
                                  uint64_t mask)                               \
    {                                                                          \
        if (mask == ALL_LANES) {                                               \
            for (unsigned i = 0; i < LANES; i++) {                             \
                d[i] = *(const volatile T *)(base + a[i]);                     \
            }                                                                  \
            return;                                                            \
        }                                                                      \
        for (; mask; mask &= mask - 1) {                                       \
            unsigned i = __builtin_ctzll(mask);                                \
                                                                               \
            d[i] = *(const volatile T *)(base + a[i]);                         \
        }                                                                      \
    }                                                                          \
    static inline void scatter_##T(const T *s, uintptr_t base,                 \
                                   const uint64_t *a, uint64_t mask)           \
    {                                                                          \
        for (; mask; mask &= mask - 1) {                                       \
            unsigned i = __builtin_ctzll(mask);                                \
                                                                               \
            *(volatile T *)(base + a[i]) = s[i];                               \
        }                                                                      \
    }
PLAIN_GATHER(uint8_t)
PLAIN_GATHER(uint16_t)
#if !defined(SIMT_AVX512)
PLAIN_GATHER(uint32_t)
PLAIN_GATHER(uint64_t)
#endif

/* d[lane] for lanes of mask; the others get anything. Nothing is written to d
 * when a lane faults. */
#define DEF_LOAD(T)                                                            \
    typedef T unaligned_##T __attribute__((aligned(1), may_alias));            \
    static inline void copy_##T(void *to, const void *from)                    \
    {                                                                          \
        LANE_LOOP {                                                            \
            ((unaligned_##T *)to)[i] = ((const unaligned_##T *)from)[i];       \
        }                                                                      \
    }                                                                          \
    static inline bool load_rows_##T(unsigned shift, Shape shape, T *d,        \
                                     uintptr_t at, uint64_t row)               \
    {                                                                          \
        if (shape == SHAPE_ROWS) {                                             \
            EACH_ROW_SIZE(shift, LOAD_ROW)                                     \
        }                                                                      \
        EACH_ROW_SIZE(shift, LOAD_LEVEL)                                       \
    }                                                                          \
    static inline bool store_rows_##T(unsigned shift, const T *s,              \
                                      uintptr_t at, uint64_t row)              \
    {                                                                          \
        EACH_ROW_SIZE(shift, STORE_ROW)                                        \
    }                                                                          \
    /* All lanes of a line that is neither uniform nor contiguous. */          \
    static inline bool load_line_##T(                                          \
        MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t va, Shape shape,  \
        T *d)                                                                  \
    {                                                                          \
        const SimtLine *l = &w->line[p->r1];                                   \
        uintptr_t base;                                                        \
                                                                               \
        if (!line_base(cu, w, KIND_READ, l, va, sizeof(T), &base)) {           \
            return false;                                                      \
        }                                                                      \
        if (shape == SHAPE_OTHER ||                                            \
            !load_rows_##T(w->row_shift, shape, d, base + va, l->row)) {       \
            gather_##T(d, base + p->imm, wide(w, p->r1), ALL_LANES);           \
        }                                                                      \
        return true;                                                           \
    }                                                                          \
    static __attribute__((noinline)) bool store_line_##T(                      \
        MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t va, Shape shape,  \
        const T *s)                                                            \
    {                                                                          \
        const SimtLine *l = &w->line[p->r1];                                   \
        uintptr_t base;                                                        \
                                                                               \
        if (!line_base(cu, w, KIND_WRITE, l, va, sizeof(T), &base)) {          \
            return false;                                                      \
        }                                                                      \
        if (shape != SHAPE_ROWS ||                                             \
            !store_rows_##T(w->row_shift, s, base + va, l->row)) {             \
            scatter_##T(s, base + p->imm, wide(w, p->r1), ALL_LANES);          \
        }                                                                      \
        return true;                                                           \
    }                                                                          \
    static __attribute__((noinline)) bool load_each_##T(                       \
        MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,               \
        uint64_t mask, T *d)                                                   \
    {                                                                          \
        const uint64_t *a = wide(w, p->r1);                                    \
        T v[LANES] = {0};                                                      \
                                                                               \
        if (simt_tired(cu)) {                                                  \
            return false;                                                      \
        }                                                                      \
        simt_charge(cu, __builtin_popcountll(mask));                           \
        for (; mask; mask &= mask - 1) {                                       \
            unsigned i = __builtin_ctzll(mask);                                \
            uint64_t va = a[i] + (int64_t)p->imm, at;                          \
            enum mxgpu_fault fault =                                           \
                mxgpu_simt_read(cu, w, i, va, &v[i], sizeof(T), &at);          \
                                                                               \
            if (fault != MXGPU_FAULT_NONE) {                                   \
                mxgpu_simt_fault_at(cu, w, i, fault, MXGPU_ACCESS_READ, at,    \
                                    pc);                                       \
                return false;                                                  \
            }                                                                  \
        }                                                                      \
        __builtin_memcpy(d, v, sizeof(v));                                     \
        return true;                                                           \
    }                                                                          \
    static inline __attribute__((always_inline)) bool load_lanes_##T(          \
        MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,               \
        uint64_t mask, T *d)                                                   \
    {                                                                          \
        const unsigned size = sizeof(T);                                       \
        uint64_t imm = (uint64_t)(int64_t)p->imm, va;                          \
        const uint64_t *a;                                                     \
        uintptr_t at;                                                          \
        Shape shape = addresses(w, p, mask, size, &va);                        \
                                                                               \
        switch (shape) {                                                       \
        case SHAPE_UNIFORM:                                                    \
            at = span_fill(cu, w, KIND_READ, va, size);                        \
            if (at) {                                                          \
                T v;                                                           \
                                                                               \
                __builtin_memcpy(&v, (const void *)at, size);                  \
                LANE_LOOP {                                                    \
                    d[i] = v;                                                  \
                }                                                              \
                return true;                                                   \
            }                                                                  \
            if (private_uniform(w, va, size)) {                                \
                const uint8_t *from = private_at(w, va);                       \
                                                                               \
                LANE_LOOP {                                                    \
                    d[i] = *(const T *)(from + 8 * i);                         \
                }                                                              \
                return true;                                                   \
            }                                                                  \
            break;                                                             \
        case SHAPE_CONTIGUOUS:                                                 \
            va -= __builtin_ctzll(mask) * size;                                \
            at = span_fill(cu, w, KIND_READ, va, LANES * size);                \
            if (at) {                                                          \
                copy_##T(d, (const void *)at);                                 \
                prefetch(at + LANES * size, LANES * size);                     \
                return true;                                                   \
            }                                                                  \
            break;                                                             \
        case SHAPE_ROWS:                                                       \
        case SHAPE_LEVELS:                                                     \
        case SHAPE_OTHER:                                                      \
            if (mask == ALL_LANES && w->form[p->r1] & FORM_LINE &&             \
                load_line_##T(cu, w, p, va, shape, d)) {                       \
                return true;                                                   \
            }                                                                  \
            a = wide(w, p->r1);                                                \
            if (common_base(cu, w, KIND_READ, a, imm, mask, va, size, &at)) {  \
                gather_##T(d, at + imm, a, mask);                              \
                return true;                                                   \
            }                                                                  \
        }                                                                      \
        return load_each_##T(cu, w, p, pc, mask, d);                           \
    }                                                                          \
    static inline __attribute__((always_inline)) bool load_##T(                \
        MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,               \
        uint64_t mask, T *d)                                                   \
    {                                                                          \
        COUNT_AHEAD;                                                           \
        return COUNTED(mask == ALL_LANES                                       \
                           ? load_lanes_##T(cu, w, p, pc, ALL_LANES, d)        \
                           : load_lanes_##T(cu, w, p, pc, mask, d),            \
                       sizeof(T));                                             \
    }                                                                          \
    static __attribute__((noinline)) bool store_each_##T(                      \
        MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,               \
        uint64_t mask, const T *s)                                             \
    {                                                                          \
        const uint64_t *a = wide(w, p->r1);                                    \
                                                                               \
        if (simt_tired(cu)) {                                                  \
            return false;                                                      \
        }                                                                      \
        simt_charge(cu, __builtin_popcountll(mask));                           \
        for (; mask; mask &= mask - 1) {                                       \
            unsigned i = __builtin_ctzll(mask);                                \
            uint64_t va = a[i] + (int64_t)p->imm, at;                          \
            enum mxgpu_fault fault =                                           \
                mxgpu_simt_write(cu, w, i, va, &s[i], sizeof(T), &at);         \
                                                                               \
            if (fault != MXGPU_FAULT_NONE) {                                   \
                mxgpu_simt_fault_at(cu, w, i, fault, MXGPU_ACCESS_WRITE, at,   \
                                    pc);                                       \
                return false;                                                  \
            }                                                                  \
        }                                                                      \
        return true;                                                           \
    }                                                                          \
    static inline __attribute__((always_inline)) bool store_lanes_##T(         \
        MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,               \
        uint64_t mask, const T *s)                                             \
    {                                                                          \
        const unsigned size = sizeof(T);                                       \
        uint64_t imm = (uint64_t)(int64_t)p->imm, va;                          \
        const uint64_t *a;                                                     \
        uintptr_t at;                                                          \
        Shape shape = addresses(w, p, mask, size, &va);                        \
                                                                               \
        switch (shape) {                                                       \
        case SHAPE_UNIFORM:                                                    \
            if (private_uniform(w, va, size)) {                                \
                uint8_t *to = private_at(w, va);                               \
                                                                               \
                if (mask == ALL_LANES) {                                       \
                    LANE_LOOP {                                                \
                        *(T *)(to + 8 * i) = s[i];                             \
                    }                                                          \
                    return true;                                               \
                }                                                              \
                for (uint64_t m = mask; m; m &= m - 1) {                       \
                    unsigned i = __builtin_ctzll(m);                           \
                                                                               \
                    *(T *)(to + 8 * i) = s[i];                                 \
                }                                                              \
                return true;                                                   \
            }                                                                  \
            at = span_fill(cu, w, KIND_WRITE, va, size);                       \
            if (at) { /* the highest lane is the last writer */                \
                unsigned last = 63 - __builtin_clzll(mask);                    \
                                                                               \
                __builtin_memcpy((void *)at, &s[last], size);                  \
                return true;                                                   \
            }                                                                  \
            break;                                                             \
        case SHAPE_CONTIGUOUS:                                                 \
            if (mask == ALL_LANES) {                                           \
                at = span_fill(cu, w, KIND_WRITE, va, LANES * size);           \
                if (at) {                                                      \
                    copy_##T((void *)at, s);                                   \
                    return true;                                               \
                }                                                              \
                break;                                                         \
            }                                                                  \
            goto other;                                                        \
        case SHAPE_ROWS: /* where rows overlap, the last one counts */         \
        case SHAPE_LEVELS:                                                     \
        case SHAPE_OTHER:                                                      \
            if (mask == ALL_LANES && w->form[p->r1] & FORM_LINE &&             \
                store_line_##T(cu, w, p, va, shape, s)) {                      \
                return true;                                                   \
            }                                                                  \
        other:                                                                 \
            a = wide(w, p->r1);                                                \
            if (common_base(cu, w, KIND_WRITE, a, imm, mask, va, size,         \
                            &at)) {                                            \
                scatter_##T(s, at + imm, a, mask);                             \
                return true;                                                   \
            }                                                                  \
        }                                                                      \
        return store_each_##T(cu, w, p, pc, mask, s);                          \
    }                                                                          \
    static inline bool store_##T(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,   \
                                 uint64_t pc, uint64_t mask, const T *s)       \
    {                                                                          \
        return COUNTED(store_lanes_##T(cu, w, p, pc, mask, s), sizeof(T));     \
    }
DEF_LOAD(uint8_t)
DEF_LOAD(uint16_t)
DEF_LOAD(uint32_t)
DEF_LOAD(uint64_t)

/* Integer loads: F(ID, memory type, type it is extended through). */
#define LOAD_OPS(F)                                                            \
    F(LB, uint8_t, int8_t)                                                     \
    F(LH, uint16_t, int16_t)                                                   \
    F(LW, uint32_t, int32_t)                                                   \
    F(LD, uint64_t, int64_t)                                                   \
    F(LBU, uint8_t, uint8_t)                                                   \
    F(LHU, uint16_t, uint16_t)                                                 \
    F(LWU, uint32_t, uint32_t)
#define STORE_OPS(F)                                                           \
    F(SB, uint8_t)                                                             \
    F(SH, uint16_t)                                                            \
    F(SW, uint32_t)

#define MEM_FN static __attribute__((noinline)) bool
#define MEM_ARGS                                                               \
    MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc, uint64_t mask

/* Whether what is loaded is a word: extended from 32 bits or fewer. */
#define GIVES_WORD(T, X)                                                       \
    (sizeof(T) < 4 || (sizeof(T) == 4 && (X)-1 < (X)1))

#define DEF_LOAD_OP(ID, T, X)                                                  \
    MEM_FN x_##ID(MEM_ARGS)                                                    \
    {                                                                          \
        _Alignas(64) T v[LANES];                                               \
        const uint64_t *m = w->m64;                                            \
        uint64_t *d;                                                           \
                                                                               \
        if (w->form[p->r1] & FORM_UNIFORM && mask == w->live) {                \
            uint64_t va = w->line[p->r1].base + (int64_t)p->imm;               \
            uintptr_t at = simt_span(cu, w, KIND_READ, va, sizeof(T));         \
                                                                               \
            if (at) {                                                          \
                T one;                                                         \
                                                                               \
                __builtin_memcpy(&one, (const void *)at, sizeof(one));         \
                (void)COUNTED(true, sizeof(T));                                \
                set_uniform(w, p->rd, (uint64_t)(int64_t)(X)one);              \
                return true;                                                   \
            }                                                                  \
        }                                                                      \
        if (mask == w->live && GIVES_WORD(T, X) && sizeof(T) == 4) {           \
            if (!load_##T(cu, w, p, pc, mask, (T *)w->word[p->rd])) {          \
                return false;                                                  \
            }                                                                  \
            wrote_word(w, p->rd);                                              \
            return true;                                                       \
        }                                                                      \
        if (!load_##T(cu, w, p, pc, mask, v)) {                                \
            return false;                                                      \
        }                                                                      \
        if (mask != w->live) {                                                 \
            d = wide_partly(w, p->rd);                                         \
            LANE_LOOP {                                                        \
                d[i] = SELECT(m[i], (uint64_t)(int64_t)(X)v[i], d[i]);         \
            }                                                                  \
        } else if (GIVES_WORD(T, X)) {                                         \
            uint32_t *n = w->word[p->rd];                                      \
                                                                               \
            LANE_LOOP {                                                        \
                n[i] = (uint32_t)(int32_t)(X)v[i];                             \
            }                                                                  \
            wrote_word(w, p->rd);                                              \
        } else {                                                               \
            d = w->x[p->rd];                                                   \
            LANE_LOOP {                                                        \
                d[i] = (uint64_t)(int64_t)(X)v[i];                             \
            }                                                                  \
            wrote_wide(w, p->rd);                                              \
        }                                                                      \
        return true;                                                           \
    }
LOAD_OPS(DEF_LOAD_OP)

#define DEF_STORE_OP(ID, T)                                                    \
    MEM_FN x_##ID(MEM_ARGS)                                                    \
    {                                                                          \
        _Alignas(64) uint32_t tmp[LANES];                                      \
        _Alignas(64) T v[LANES];                                               \
        const uint32_t *s = low_word(w, p->r2, tmp);                           \
                                                                               \
        if (sizeof(T) == 4) {                                                  \
            return store_##T(cu, w, p, pc, mask, (const T *)s);                \
        }                                                                      \
        LANE_LOOP {                                                            \
            v[i] = (T)s[i];                                                    \
        }                                                                      \
        return store_##T(cu, w, p, pc, mask, v);                               \
    }
STORE_OPS(DEF_STORE_OP)

MEM_FN x_SD(MEM_ARGS)
{
    return store_uint64_t(cu, w, p, pc, mask, wide(w, p->r2));
}

/* ---- f registers */

/* A narrow result: all lanes of the plane, or those of the mask. */
static inline void set_narrow(MxgpuWarp *w, unsigned rd, const uint32_t *v,
                              uint64_t mask)
{
    uint32_t *d = w->f[rd];
    const uint32_t *m = w->m32;

    if (mask == ALL_LANES) {
        __builtin_memcpy(d, v, sizeof(w->f[rd]));
    } else {
        LANE_LOOP {
            d[i] = SELECT(m[i], v[i], d[i]);
        }
    }
    w->narrow[rd] |= mask;
}

MEM_FN x_FLW(MEM_ARGS)
{
    _Alignas(64) uint32_t v[LANES];

    if (mask == ALL_LANES) { /* x registers are not touched: no copy */
        if (!COUNTED(load_lanes_uint32_t(cu, w, p, pc, ALL_LANES, w->f[p->rd]),
                     4)) {
            return false;
        }
        w->narrow[p->rd] = ALL_LANES;
        return true;
    }
    if (!load_uint32_t(cu, w, p, pc, mask, v)) {
        return false;
    }
    set_narrow(w, p->rd, v, mask);
    return true;
}

MEM_FN x_FLH(MEM_ARGS)
{
    _Alignas(64) uint16_t h[LANES];
    _Alignas(64) uint32_t v[LANES];

    if (!load_uint16_t(cu, w, p, pc, mask, h)) {
        return false;
    }
    LANE_LOOP {
        v[i] = 0xffff0000u | h[i];
    }
    set_narrow(w, p->rd, v, mask);
    return true;
}

static inline void set_wide(MxgpuWarp *w, unsigned rd, const uint64_t *v,
                            uint64_t mask)
{
    uint64_t *d = w->d[rd];
    const uint64_t *m = w->m64;

    if (mask == ALL_LANES) {
        __builtin_memcpy(d, v, sizeof(w->d[rd]));
    } else {
        LANE_LOOP {
            d[i] = SELECT(m[i], v[i], d[i]);
        }
    }
    w->narrow[rd] &= ~mask;
}

/* The 64 bits of every lane: where the value is narrow, boxed. */
static inline const uint64_t *get_wide(const MxgpuWarp *w, unsigned r,
                                       uint64_t mask, uint64_t *tmp)
{
    uint64_t narrow = w->narrow[r];

    if (!(narrow & mask)) {
        return w->d[r];
    }
    for (unsigned i = 0; i < LANES; i++) {
        tmp[i] = narrow >> i & 1 ? 0xffffffff00000000ull | w->f[r][i]
                                 : w->d[r][i];
    }
    return tmp;
}

/* The low 32 bits of every lane. */
static inline const uint32_t *get_low(const MxgpuWarp *w, unsigned r,
                                      uint64_t mask, uint32_t *tmp)
{
    uint64_t narrow = w->narrow[r];

    if (!(mask & ~narrow)) {
        return w->f[r];
    }
    for (unsigned i = 0; i < LANES; i++) {
        tmp[i] = narrow >> i & 1 ? w->f[r][i] : (uint32_t)w->d[r][i];
    }
    return tmp;
}

MEM_FN x_FLD(MEM_ARGS)
{
    _Alignas(64) uint64_t v[LANES];

    if (!load_uint64_t(cu, w, p, pc, mask, v)) {
        return false;
    }
    set_wide(w, p->rd, v, mask);
    return true;
}

MEM_FN x_FSW(MEM_ARGS)
{
    _Alignas(64) uint32_t tmp[LANES];

    return store_uint32_t(cu, w, p, pc, mask, get_low(w, p->r2, mask, tmp));
}

MEM_FN x_FSH(MEM_ARGS)
{
    _Alignas(64) uint32_t tmp[LANES];
    _Alignas(64) uint16_t v[LANES];
    const uint32_t *s = get_low(w, p->r2, mask, tmp);

    LANE_LOOP {
        v[i] = (uint16_t)s[i];
    }
    return store_uint16_t(cu, w, p, pc, mask, v);
}

MEM_FN x_FSD(MEM_ARGS)
{
    _Alignas(64) uint64_t tmp[LANES];

    return store_uint64_t(cu, w, p, pc, mask, get_wide(w, p->r2, mask, tmp));
}
