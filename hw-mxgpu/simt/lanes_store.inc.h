/* SPDX-License-Identifier: MIT */
/* Stores of a group, by the shape of its addresses, from x registers. */

/* From the first lane of mask to the last one. */
static inline unsigned lanes_spanned(uint64_t mask)
{
    return 64 - __builtin_clzll(mask) - __builtin_ctzll(mask);
}

/* Contiguous lanes, of which only those of mask are stored. */
#define DEF_STORE_RUN(T)                                                       \
    static inline void store_run_##T(uintptr_t at, const T *s, uint64_t mask)  \
    {                                                                          \
        while (mask) {                                                         \
            unsigned first = __builtin_ctzll(mask);                            \
            uint64_t rest = ~(mask >> first); /* 0: all 64 */                  \
            unsigned n = rest ? __builtin_ctzll(rest) : LANES;                 \
                                                                               \
            memcpy((T *)at + first, s + first, n * sizeof(T));                 \
            mask = first + n < LANES ? mask >> (first + n) << (first + n) : 0; \
        }                                                                      \
    }
DEF_STORE_RUN(uint8_t)
DEF_STORE_RUN(uint16_t)
DEF_STORE_RUN(uint64_t)
#if defined(SIMT_AVX512)
static inline void store_run_uint32_t(uintptr_t at, const uint32_t *s,
                                      uint64_t mask)
{
    for (unsigned i = 0; i < LANES; i += 16) {
        _mm512_mask_storeu_epi32((uint32_t *)at + i, (__mmask16)(mask >> i),
                                 _mm512_loadu_si512(s + i));
    }
}
#else
DEF_STORE_RUN(uint32_t)
#endif

#define DEF_STORE(T)                                                           \
    static inline bool store_rows_##T(unsigned shift, const T *s,              \
                                      uintptr_t at, uint64_t row)              \
    {                                                                          \
        EACH_ROW_SIZE(shift, STORE_ROW)                                        \
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
            !store_rows_##T(w->c.row_shift, s, base + va, l->row)) {           \
            scatter_##T(s, base + p->imm, wide(w, p->r1), ALL_LANES);          \
        }                                                                      \
        return true;                                                           \
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
            at = span_fill(cu, w, KIND_WRITE, va, lanes_spanned(mask) * size); \
            if (at) {                                                          \
                store_run_##T(at - __builtin_ctzll(mask) * size, s, mask);     \
                return true;                                                   \
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
DEF_STORE(uint8_t)
DEF_STORE(uint16_t)
DEF_STORE(uint32_t)
DEF_STORE(uint64_t)

#define STORE_OPS(F)                                                           \
    F(SB, uint8_t)                                                             \
    F(SH, uint16_t)                                                            \
    F(SW, uint32_t)

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
