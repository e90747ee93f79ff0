/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores of a group of lanes, by the shape of its addresses, of x and
 * of f registers. With SIMT_COUNTING (memory_count.c) each of them is counted.
 */
#include "address.h"
#include "freg.h"
#include "gather.h"
#include "lines.h"
#include "members.h"
#include "ops.h"
#include "simt/slow/access.h"
#include "simt/slow/store.h"
#include "simt/warp/fault.h"
#include "simt/warp/locate.h"
#include "vec.h"

#define MEM_FN static __attribute__((noinline)) bool

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

/*
 * Host addresses of mask's lanes, the first of which is at va, if all of them
 * are in private memory (an array of the thread with an index of its own),
 * naturally aligned; false: they are not.
 */
static __attribute__((noinline)) bool
private_each(const MxgpuWarp *w, const uint64_t *a, uint64_t imm,
             uint64_t mask, uint64_t va, unsigned size, uint64_t *at)
{
    const uint64_t window = MXGPU_PRIVATE_END - w->c.private_size;
    const uint64_t limit = w->c.private_size - size;
    const uint64_t base = (uintptr_t)private_at(w, window);
    const uint64_t *m = w->c.m64;
    uint64_t outside = 0, low = 0; /* bit 63 of outside: one is */

    if (!in_private(w, va, size)) {
        return false;
    }
    imm -= window;
    if (mask == ALL_LANES) {
        LANE_LOOP {
            uint64_t offset = a[i] + imm;

            outside |= offset | (limit - offset);
            low |= offset;
            at[i] = base + ((offset & ~7ull) << 6) + (offset & 7) + 8 * i;
        }
    } else {
        LANE_LOOP {
            uint64_t offset = a[i] + imm;

            outside |= (offset | (limit - offset)) & m[i];
            low |= offset & m[i];
            at[i] = base + ((offset & ~7ull) << 6) + (offset & 7) + 8 * i;
        }
    }
    return !(outside >> 63 || low & (size - 1));
}

/* ---- loads */

/* All lanes of a line that is neither uniform nor contiguous; false: it is not
 * all in memory that has a host address. */
SIZED_FN bool load_line(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t va,
                        Shape shape, unsigned size, void *d)
{
    const SimtLine *l = &w->line[p->r1];
    uintptr_t base;

    if (!line_base(cu, w, KIND_READ, l, va, size, &base)) {
        return false;
    }
    if (size == 4 && l->row == l->step << w->c.row_shift &&
        load_members(d, base + va, l->step)) {
        return true;
    }
    if (shape == SHAPE_OTHER ||
        !BY_SIZE(size, load_rows, w->c.row_shift, shape, d, base + va,
                 l->row)) {
        BY_SIZE(size, gather, d, base + p->imm, wide(w, p->r1), ALL_LANES);
    }
    return true;
}

/* One lane after the other, wherever they are; the instruction has begun. */
static __attribute__((noinline)) bool load_begun(MEM_ARGS, unsigned size,
                                                 void *d)
{
    const uint64_t *a = wide(w, p->r1);
    uint8_t v[LANES * 8] = {0};

    simt_charge(cu, __builtin_popcountll(mask));
    for (; mask; mask &= mask - 1) {
        unsigned i = __builtin_ctzll(mask);
        uint64_t va = a[i] + (int64_t)p->imm, at;
        enum mxgpu_fault fault =
            mxgpu_simt_read(cu, w, i, va, v + i * size, size, &at);

        if (fault != MXGPU_FAULT_NONE) {
            mxgpu_simt_fault_at(cu, w, i, fault, MXGPU_ACCESS_READ, at, pc);
            return false;
        }
    }
    memcpy(d, v, LANES * size);
    return true;
}

/* The same of an instruction that may have to wait for the next step. */
static inline bool load_each(MEM_ARGS, unsigned size, void *d)
{
    return !simt_exhausted(cu) && load_begun(cu, w, p, pc, mask, size, d);
}

/* Contiguous lanes in two pages, which need not be side by side in memory. */
SIZED_FN bool load_two(MxgpuCu *cu, MxgpuWarp *w, uint64_t va, unsigned size,
                       void *d)
{
    unsigned first = PAGE_BYTES - (unsigned)(va & (PAGE_BYTES - 1));
    uintptr_t low, high;

    if (first >= LANES * size) {
        return false;
    }
    low = span_fill(cu, w, KIND_READ, va, first);
    high = span_fill(cu, w, KIND_READ, va + first, LANES * size - first);
    if (!low || !high) {
        return false;
    }
    memcpy(d, (const void *)low, first);
    memcpy((uint8_t *)d + first, (const void *)high, LANES * size - first);
    return true;
}

/* Lanes of mask to d, by the shape of their addresses; the others get anything.
 * Nothing is written to d when a lane faults. */
SIZED_FN bool load_lanes(MEM_ARGS, unsigned size, void *d)
{
    uint64_t imm = (uint64_t)(int64_t)p->imm, va, behind;
    _Alignas(64) uint64_t each[LANES];
    const uint64_t *a;
    uintptr_t at;
    Shape shape = addresses(w, p, mask, size, &va);

    switch (shape) {
    case SHAPE_UNIFORM:
        at = span_fill(cu, w, KIND_READ, va, size);
        if (at) {
            BY_SIZE(size, fill, d, at);
            return true;
        }
        if (private_uniform(w, va, size)) {
            BY_SIZE(size, private_load, w, va, d);
            return true;
        }
        return load_each(cu, w, p, pc, mask, size, d);
    case SHAPE_CONTIGUOUS:
        at = span_fill(cu, w, KIND_READ, va - __builtin_ctzll(mask) * size,
                       LANES * size);
        if (at) {
            BY_SIZE(size, copy, d, (const void *)at);
            prefetch(at + LANES * size, LANES * size);
            return true;
        }
        if (mask == ALL_LANES && load_two(cu, w, va, size, d)) {
            return true;
        }
        break;
    case SHAPE_REVERSED:
        behind = (__builtin_ctzll(mask) + 1) * size; /* lane 0, from va */
        at = simt_span(cu, w, KIND_READ, va + behind - LANES * (uint64_t)size,
                       LANES * size);
        if (at) {
            BY_SIZE(size, reverse, d, (const void *)at);
            return true;
        }
        break;
    case SHAPE_ROWS:
    case SHAPE_LEVELS:
    case SHAPE_OTHER:
        if (mask == ALL_LANES && w->form[p->r1] & FORM_LINE &&
            load_line(cu, w, p, va, shape, size, d)) {
            return true;
        }
    }
    a = wide(w, p->r1);
    if (!in_private(w, va, size) &&
        common_base(cu, w, KIND_READ, a, imm, mask, va, size, &at)) {
        BY_SIZE(size, gather, d, at + imm, a, mask);
        return true;
    }
    if (!private_each(w, a, imm, mask, va, size, each)) {
        if (simt_exhausted(cu)) {
            return false;
        }
        if (!mxgpu_simt_locate(cu, w, KIND_READ, a, imm, mask, size, each)) {
            return load_begun(cu, w, p, pc, mask, size, d);
        }
    }
    BY_SIZE(size, gather, d, 0, each, mask);
    return true;
}

/* The same, counted where that is wanted: one function a size, for all loads
 * into x and f registers. The full mask is a constant for the compiler: it makes
 * another, shorter half of it. */
#define DEF_LOAD(T)                                                            \
    MEM_FN load_##T(MEM_ARGS, void *d)                                         \
    {                                                                          \
        COUNT_AHEAD;                                                           \
        return COUNTED(mask == ALL_LANES                                       \
                           ? load_lanes(cu, w, p, pc, ALL_LANES, sizeof(T), d) \
                           : load_lanes(cu, w, p, pc, mask, sizeof(T), d),     \
                       sizeof(T));                                             \
    }
LANE_TYPES(DEF_LOAD)

SIZED_FN bool load(MEM_ARGS, unsigned size, void *d)
{
    return BY_SIZE(size, load, cu, w, p, pc, mask, d);
}

/* ---- lanes that are on a line */

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
    private_load_uint32_t(w, va, words);
    return lanes_as_line_uint32_t(w, words, line);
}

/* ---- integer loads */

/* Whether that is a word: extended from 32 bits or fewer. */
SIZED_FN bool gives_word(unsigned size, bool is_signed)
{
    return size < 4 || (size == 4 && is_signed);
}

/* A load of all live lanes from one address: into the register, or lanes as in
 * memory into v. */
typedef enum Loaded { LOAD_FAULTED, LOAD_SET, LOAD_LANES } Loaded;
SIZED_FN Loaded load_one(MEM_ARGS, unsigned op, unsigned size, bool is_signed,
                         void *v)
{
    uint64_t va = w->line[p->r1].base + (int64_t)p->imm;
    uintptr_t at = span_fill(cu, w, KIND_READ, va, size);
    SimtLine line = {0};

    if (at) {
        line.base = load_scalar(at, size, is_signed);
        (void)COUNTED(true, size);
        set_line(w, p->rd, line);
        return LOAD_SET;
    }
    if (!private_uniform(w, va, size)) {
        return COUNTED(load_each(cu, w, p, pc, mask, size, v), size)
                   ? LOAD_LANES : LOAD_FAULTED;
    }
    (void)COUNTED(true, size);
    if (mask == ALL_LANES && private_as_line(w, va, op, &line)) {
        set_line(w, p->rd, line);
        return LOAD_SET;
    }
    BY_SIZE(size, private_load, w, va, v);
    return LOAD_LANES;
}

/* Whether x[rd] of lanes outside the mask, which wait, is read by nobody. */
static inline bool spreads(const MxgpuWarp *w, const SimtOp *p, uint64_t mask)
{
    return mask != w->s.live && w->c.dead >> p->rd & 1;
}

/* Lanes as they are in memory to x[rd], in the form that suits them. */
SIZED_FN void set_loaded(MxgpuWarp *w, const SimtOp *p, uint64_t mask,
                         unsigned size, bool is_signed, const void *v)
{
    bool word = gives_word(size, is_signed), all = mask == w->s.live;
    uint32_t *n = w->word[p->rd];
    uint64_t *d = w->x[p->rd];

    if (spreads(w, p, mask)) {
        /* To the others what the first one gets: as a load from one address
         * does, whose result is uniform then. */
        uint64_t first = extended(v, __builtin_ctzll(mask), size, is_signed);

        if (word) {
            LANE_LOOP {
                n[i] = SELECT(w->c.m32[i],
                              (uint32_t)extended(v, i, size, is_signed),
                              (uint32_t)first);
            }
            wrote_word(w, p->rd);
        } else {
            LANE_LOOP {
                d[i] = SELECT(w->c.m64[i], extended(v, i, size, is_signed),
                              first);
            }
            wrote_wide(w, p->rd);
        }
    } else if (!all && word && word_partly(w, p->rd)) {
        LANE_LOOP {
            n[i] = SELECT(w->c.m32[i],
                          (uint32_t)extended(v, i, size, is_signed), n[i]);
        }
    } else if (!all) {
        (void)wide_partly(w, p->rd);
        LANE_LOOP {
            d[i] = SELECT(w->c.m64[i], extended(v, i, size, is_signed), d[i]);
        }
    } else if (word) {
        LANE_LOOP {
            n[i] = (uint32_t)extended(v, i, size, is_signed);
        }
        wrote_word(w, p->rd);
    } else {
        LANE_LOOP {
            d[i] = extended(v, i, size, is_signed);
        }
        wrote_wide(w, p->rd);
    }
}

SIZED_FN bool load_op(MEM_ARGS, unsigned op, unsigned size, bool is_signed)
{
    _Alignas(64) uint64_t v[LANES];

    if (w->form[p->r1] & FORM_UNIFORM &&
        (mask == w->s.live || spreads(w, p, mask))) {
        Loaded how = load_one(cu, w, p, pc, mask, op, size, is_signed, v);

        if (how != LOAD_LANES) {
            return how == LOAD_SET;
        }
    } else if (mask == w->s.live && size == 4 && is_signed) {
        if (!load(cu, w, p, pc, mask, size, w->word[p->rd])) {
            return false;
        }
        wrote_word(w, p->rd);
        return true;
    } else if (!load(cu, w, p, pc, mask, size, v)) {
        return false;
    }
    set_loaded(w, p, mask, size, is_signed, v);
    return true;
}

#define DEF_LOAD_OP(ID, SIZE, SIGNED)                                          \
    bool x_##ID(MEM_ARGS)                                                      \
    {                                                                          \
        return load_op(cu, w, p, pc, mask, RV_##ID, SIZE, SIGNED);             \
    }
LOAD_OPS(DEF_LOAD_OP)

/* ---- stores */

/* From the first lane of mask to the last one. */
static inline unsigned lanes_spanned(uint64_t mask)
{
    return 64 - __builtin_clzll(mask) - __builtin_ctzll(mask);
}

/* All lanes of a line that is neither uniform nor contiguous; false: it is not
 * all in memory that has a host address. */
SIZED_FN bool store_line(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p,
                         uint64_t va, Shape shape, unsigned size, const void *s)
{
    const SimtLine *l = &w->line[p->r1];
    uintptr_t base;

    if (!line_base(cu, w, KIND_WRITE, l, va, size, &base)) {
        return false;
    }
    if (size == 4 && l->row == l->step << w->c.row_shift &&
        store_members(base + va, s, l->step)) {
        return true;
    }
    if (shape != SHAPE_ROWS ||
        !BY_SIZE(size, store_rows, w->c.row_shift, s, base + va, l->row)) {
        BY_SIZE(size, scatter, s, base + p->imm, wide(w, p->r1), ALL_LANES);
    }
    return true;
}

/* One lane after the other, wherever they are; the instruction has begun. */
static __attribute__((noinline)) bool store_begun(MEM_ARGS, unsigned size,
                                                  const void *s)
{
    const uint64_t *a = wide(w, p->r1);

    simt_charge(cu, __builtin_popcountll(mask));
    if (simt_recovers(cu->simt, &simt_slot(cu, w)->dispatch)) {
        return mxgpu_simt_store_all(cu, w, p, pc, mask, size, s);
    }
    for (; mask; mask &= mask - 1) {
        unsigned i = __builtin_ctzll(mask);
        uint64_t va = a[i] + (int64_t)p->imm, at;
        enum mxgpu_fault fault = mxgpu_simt_write(
            cu, w, i, va, (const uint8_t *)s + i * size, size, &at);

        if (fault != MXGPU_FAULT_NONE) {
            mxgpu_simt_fault_at(cu, w, i, fault, MXGPU_ACCESS_WRITE, at, pc);
            return false;
        }
    }
    return true;
}

/* Contiguous addresses, the first of which is va; false: there is no host
 * address for all of them. */
SIZED_FN bool store_contiguous(MxgpuCu *cu, MxgpuWarp *w, uint64_t mask,
                               uint64_t va, unsigned size, const void *s)
{
    uintptr_t at;

    if (mask == ALL_LANES) {
        at = span_fill(cu, w, KIND_WRITE, va, LANES * size);
        if (at) {
            BY_SIZE(size, copy, (void *)at, s);
        }
        return at;
    }
    at = span_fill(cu, w, KIND_WRITE, va, lanes_spanned(mask) * size);
    if (at) {
        BY_SIZE(size, store_run, at - __builtin_ctzll(mask) * size, s, mask);
    }
    return at;
}

/* Lanes of mask from s, by the shape of their addresses. */
SIZED_FN bool store_lanes(MEM_ARGS, unsigned size, const void *s)
{
    uint64_t imm = (uint64_t)(int64_t)p->imm, va;
    _Alignas(64) uint64_t each[LANES];
    const uint64_t *a;
    uintptr_t at;
    Shape shape = addresses(w, p, mask, size, &va);

    switch (shape) {
    case SHAPE_UNIFORM:
        if (private_uniform(w, va, size)) {
            BY_SIZE(size, private_store, w, va, mask, s);
            return true;
        }
        at = span_fill(cu, w, KIND_WRITE, va, size);
        if (at) { /* the highest lane is the last writer */
            unsigned last = 63 - __builtin_clzll(mask);

            __builtin_memcpy((void *)at, (const uint8_t *)s + last * size,
                             size);
            return true;
        }
        return !simt_exhausted(cu) &&
               store_begun(cu, w, p, pc, mask, size, s);
    case SHAPE_CONTIGUOUS:
        if (store_contiguous(cu, w, mask, va, size, s)) {
            return true;
        }
        break;
    case SHAPE_REVERSED:
    case SHAPE_ROWS: /* where rows overlap, the last one counts */
    case SHAPE_LEVELS:
    case SHAPE_OTHER:
        if (mask == ALL_LANES && w->form[p->r1] & FORM_LINE &&
            store_line(cu, w, p, va, shape, size, s)) {
            return true;
        }
    }
    a = wide(w, p->r1);
    if (!in_private(w, va, size) &&
        common_base(cu, w, KIND_WRITE, a, imm, mask, va, size, &at)) {
        BY_SIZE(size, scatter, s, at + imm, a, mask);
        return true;
    }
    if (!private_each(w, a, imm, mask, va, size, each)) {
        if (simt_exhausted(cu)) {
            return false;
        }
        if (!mxgpu_simt_locate(cu, w, KIND_WRITE, a, imm, mask, size, each)) {
            return store_begun(cu, w, p, pc, mask, size, s);
        }
    }
    BY_SIZE(size, scatter, s, 0, each, mask);
    return true;
}

/* The same, counted where that is wanted: one function a size. */
#define DEF_STORE(T)                                                           \
    MEM_FN store_##T(MEM_ARGS, const void *s)                                  \
    {                                                                          \
        return COUNTED(store_lanes(cu, w, p, pc, mask, sizeof(T), s),          \
                       sizeof(T));                                             \
    }
LANE_TYPES(DEF_STORE)

SIZED_FN bool store(MEM_ARGS, unsigned size, const void *s)
{
    return BY_SIZE(size, store, cu, w, p, pc, mask, s);
}

/* ---- integer stores */

#define DEF_STORE_OP(ID, T)                                                    \
    bool x_##ID(MEM_ARGS)                                                      \
    {                                                                          \
        _Alignas(64) uint32_t tmp[LANES];                                      \
        _Alignas(64) T v[LANES];                                               \
        const uint32_t *s = low_word(w, p->r2, tmp);                           \
                                                                               \
        if (sizeof(T) == 4) {                                                  \
            return store(cu, w, p, pc, mask, 4, s);                            \
        }                                                                      \
        LANE_LOOP {                                                            \
            v[i] = (T)s[i];                                                    \
        }                                                                      \
        return store(cu, w, p, pc, mask, sizeof(T), v);                        \
    }
STORE_OPS(DEF_STORE_OP)

bool x_SD(MEM_ARGS)
{
    return store(cu, w, p, pc, mask, 8, wide(w, p->r2));
}

/* ---- of f registers */

bool x_FLW(MEM_ARGS)
{
    _Alignas(64) uint32_t v[LANES];

    if (mask == ALL_LANES) { /* x registers are not touched: no copy */
        if (!load(cu, w, p, pc, mask, 4, w->f[p->rd])) {
            return false;
        }
        w->narrow[p->rd] = ALL_LANES;
        return true;
    }
    if (!load(cu, w, p, pc, mask, 4, v)) {
        return false;
    }
    set_narrow(w, p->rd, v, mask);
    return true;
}

bool x_FLH(MEM_ARGS)
{
    _Alignas(64) uint16_t h[LANES];
    _Alignas(64) uint32_t v[LANES];

    if (!load(cu, w, p, pc, mask, 2, h)) {
        return false;
    }
    LANE_LOOP {
        v[i] = 0xffff0000u | h[i];
    }
    set_narrow(w, p->rd, v, mask);
    return true;
}

bool x_FLD(MEM_ARGS)
{
    _Alignas(64) uint64_t v[LANES];

    if (!load(cu, w, p, pc, mask, 8, v)) {
        return false;
    }
    set_wide(w, p->rd, v, mask);
    return true;
}

bool x_FSW(MEM_ARGS)
{
    _Alignas(64) uint32_t tmp[LANES];

    return store(cu, w, p, pc, mask, 4, get_low(w, p->r2, mask, tmp));
}

bool x_FSH(MEM_ARGS)
{
    _Alignas(64) uint32_t tmp[LANES];
    _Alignas(64) uint16_t v[LANES];
    const uint32_t *s = get_low(w, p->r2, mask, tmp);

    LANE_LOOP {
        v[i] = (uint16_t)s[i];
    }
    return store(cu, w, p, pc, mask, 2, v);
}

bool x_FSD(MEM_ARGS)
{
    _Alignas(64) uint64_t tmp[LANES];

    return store(cu, w, p, pc, mask, 8, get_wide(w, p->r2, mask, tmp));
}
