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
        if (mask != w->live && GIVES_WORD(T, X) && word_partly(w, p->rd)) {    \
            uint32_t *n = w->word[p->rd];                                      \
                                                                               \
            LANE_LOOP {                                                        \
                n[i] = SELECT(w->m32[i], (uint32_t)(int32_t)(X)v[i], n[i]);    \
            }                                                                  \
        } else if (mask != w->live) {                                          \
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
