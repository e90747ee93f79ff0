/* SPDX-License-Identifier: MIT */
/* Loads of a group, by the shape of its addresses, into x registers. */

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
    static inline void private_lanes_##T(const MxgpuWarp *w, uint64_t va,      \
                                         T *d)                                 \
    {                                                                          \
        const uint8_t *from = private_at(w, va);                               \
                                                                               \
        LANE_LOOP {                                                            \
            d[i] = *(const T *)(from + 8 * i);                                 \
        }                                                                      \
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
            !load_rows_##T(w->c.row_shift, shape, d, base + va, l->row)) {     \
            gather_##T(d, base + p->imm, wide(w, p->r1), ALL_LANES);           \
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
                private_lanes_##T(w, va, d);                                   \
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

/* Whether what is loaded is a word: extended from 32 bits or fewer. */
#define GIVES_WORD(T, X)                                                       \
    (sizeof(T) < 4 || (sizeof(T) == 4 && (X)-1 < (X)1))

/*
 * Whether lanes that have been in memory are on a line: what a thread keeps on
 * its stack across calls often is (addresses, indices, constants). For rows
 * that are whole vectors.
 */
#define DEF_AS_LINE(T, S)                                                      \
    static __attribute__((noinline)) bool lanes_as_line_##T(                   \
        const MxgpuWarp *w, const T *lanes, SimtLine *line)                    \
    {                                                                          \
        typedef T Vec __attribute__((vector_size(VEC_BYTES)));                 \
        const unsigned shift = w->c.row_shift, low = (1u << shift) - 1;        \
        const T base = lanes[0], step = lanes[1] - base;                       \
        const T row = lanes[(low + 1) % LANES] - base;                         \
        static const T count[] = {0, 1, 2,  3,  4,  5,  6,  7,                 \
                                  8, 9, 10, 11, 12, 13, 14, 15};               \
        Vec ramp, at, differ = {0};                                            \
        uint64_t part[VEC_BYTES / 8], any = 0;                                 \
                                                                               \
        if (low + 1 < VEC_LANES(T) || lanes[low] != (T)(base + low * step)) {  \
            return false;                                                      \
        }                                                                      \
        __builtin_memcpy(&ramp, count, sizeof(ramp));                          \
        ramp *= step;                                                          \
        EACH_VEC(T) {                                                          \
            unsigned i = v * VEC_LANES(T);                                     \
            T first = base + (i & low) * step + (i >> shift) * row;            \
                                                                               \
            __builtin_memcpy(&at, lanes + i, sizeof(at));                      \
            differ |= at ^ (ramp + first);                                     \
        }                                                                      \
        __builtin_memcpy(part, &differ, sizeof(part));                         \
        for (unsigned i = 0; i < VEC_BYTES / 8; i++) {                         \
            any |= part[i];                                                    \
        }                                                                      \
        *line = (SimtLine){.base = (uint64_t)(int64_t)(S)base,                 \
                           .step = (uint64_t)(int64_t)(S)step,                 \
                           .row = (uint64_t)(int64_t)(S)row};                  \
        return !any && (sizeof(T) == 8 || line_is_word(rows_of(w), line));     \
    }
DEF_AS_LINE(uint32_t, int32_t)
DEF_AS_LINE(uint64_t, int64_t)

/* The lanes of a granule of private memory, if these are a line as ID loads
 * them. Doublewords are side by side there. */
static inline bool private_as_line(const MxgpuWarp *w, uint64_t va,
                                   unsigned op, SimtLine *line)
{
    _Alignas(64) uint32_t words[LANES];

    if (op == RV_LD) {
        return lanes_as_line_uint64_t(w, (const uint64_t *)private_at(w, va),
                                      line);
    }
    if (op != RV_LW) {
        return false;
    }
    private_lanes_uint32_t(w, va, words);
    return lanes_as_line_uint32_t(w, words, line);
}

/* A load of all live lanes from one address: into the register, or lanes of
 * all kinds into v. */
typedef enum Loaded { LOAD_FAULTED, LOAD_SET, LOAD_LANES } Loaded;
#define DEF_LOAD_ONE(ID, T, X)                                                 \
    static inline Loaded load_one_##ID(MEM_ARGS, T *v)                         \
    {                                                                          \
        uint64_t va = w->line[p->r1].base + (int64_t)p->imm;                   \
        uintptr_t at = span_fill(cu, w, KIND_READ, va, sizeof(T));             \
        SimtLine line = {0};                                                   \
        T one;                                                                 \
                                                                               \
        if (at) {                                                              \
            __builtin_memcpy(&one, (const void *)at, sizeof(one));             \
            line.base = (uint64_t)(int64_t)(X)one;                             \
            (void)COUNTED(true, sizeof(T));                                    \
            set_line(w, p->rd, line);                                          \
            return LOAD_SET;                                                   \
        }                                                                      \
        if (!private_uniform(w, va, sizeof(T))) {                              \
            return COUNTED(load_each_##T(cu, w, p, pc, mask, v), sizeof(T))    \
                       ? LOAD_LANES : LOAD_FAULTED;                            \
        }                                                                      \
        (void)COUNTED(true, sizeof(T));                                        \
        if (mask == ALL_LANES && private_as_line(w, va, RV_##ID, &line)) {     \
            set_line(w, p->rd, line);                                          \
            return LOAD_SET;                                                   \
        }                                                                      \
        private_lanes_##T(w, va, v);                                           \
        return LOAD_LANES;                                                     \
    }
LOAD_OPS(DEF_LOAD_ONE)

#define DEF_LOAD_OP(ID, T, X)                                                  \
    MEM_FN x_##ID(MEM_ARGS)                                                    \
    {                                                                          \
        _Alignas(64) T v[LANES];                                               \
        const uint64_t *m = w->c.m64;                                          \
        uint64_t *d;                                                           \
                                                                               \
        if (w->form[p->r1] & FORM_UNIFORM && mask == w->s.live) {              \
            Loaded how = load_one_##ID(cu, w, p, pc, mask, v);                 \
                                                                               \
            if (how != LOAD_LANES) {                                           \
                return how == LOAD_SET;                                        \
            }                                                                  \
        } else if (mask == w->s.live && GIVES_WORD(T, X) && sizeof(T) == 4) {  \
            if (!load_##T(cu, w, p, pc, mask, (T *)w->word[p->rd])) {          \
                return false;                                                  \
            }                                                                  \
            wrote_word(w, p->rd);                                              \
            return true;                                                       \
        } else if (!load_##T(cu, w, p, pc, mask, v)) {                         \
            return false;                                                      \
        }                                                                      \
        if (mask != w->s.live && GIVES_WORD(T, X) && word_partly(w, p->rd)) {  \
            uint32_t *n = w->word[p->rd];                                      \
                                                                               \
            LANE_LOOP {                                                        \
                n[i] = SELECT(w->c.m32[i], (uint32_t)(int32_t)(X)v[i], n[i]);  \
            }                                                                  \
        } else if (mask != w->s.live) {                                        \
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
