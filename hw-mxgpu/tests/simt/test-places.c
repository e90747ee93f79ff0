/* SPDX-License-Identifier: MIT */
/*
 * Loads, stores and atomics of a warp whose lanes go to places of their own:
 * each compared with lanes that go there one by one in their order.
 *   test_places KERNELS.elf
 */
#include <math.h>
#include <string.h>

#include "place_ops.h"
#include "simt_run.h"

#define LANES     64
#define PAGE      4096u
#define GRANULE   (2u << 20)
#define GRANULES  8
#define FAR       (HOST_DATA_VA + (16 << 20)) /* the first of them */
#define OWN       (MXGPU_PRIVATE_END - PLACE_STACK)
#define OWN_BYTES (8 * PLACE_PRIVATE)

static const char *elf;

/* ---- memory as it should be */

static uint8_t own[LANES][OWN_BYTES], shared[8 * PLACE_SHARED];
/* The first and the last page of each granule, then small pages. */
static struct {
    uint64_t va;
    uint8_t bytes[PAGE];
} pages[2 * GRANULES + 4];

static uint8_t *byte_at(unsigned lane, uint64_t va)
{
    if (va >= OWN && va - OWN < OWN_BYTES) {
        return &own[lane][va - OWN];
    }
    if (va >= MXGPU_SHARED_BASE && va - MXGPU_SHARED_BASE < sizeof(shared)) {
        return &shared[va - MXGPU_SHARED_BASE];
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(pages); i++) {
        if (va / PAGE == pages[i].va / PAGE) {
            return &pages[i].bytes[va % PAGE];
        }
    }
    g_assert_not_reached();
}

static void fill(SimtRun *r, GRand *rand)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(pages); i++) {
        pages[i].va = i < 2 * GRANULES
                          ? FAR + i / 2 * GRANULE + i % 2 * (GRANULE - PAGE)
                          : HOST_SMALL_VA + (i - 2 * GRANULES) * PAGE;
        for (unsigned k = 0; k < PAGE; k += 4) {
            uint32_t v = g_rand_int(rand);

            memcpy(&pages[i].bytes[k], &v, 4);
        }
        memcpy(simt_host_data(r->h, pages[i].va), pages[i].bytes, PAGE);
    }
    for (unsigned t = 0; t < LANES; t++) {
        for (uint64_t k = 0; k < PLACE_PRIVATE; k++) {
            uint64_t v = PLACE_FILL((uint64_t)t, k);

            memcpy(&own[t][8 * k], &v, 8);
        }
    }
    for (uint64_t k = 0; k < PLACE_SHARED; k++) {
        uint64_t v = PLACE_FILL(100, k);

        memcpy(&shared[8 * k], &v, 8);
    }
}

static uint64_t get(unsigned lane, uint64_t va, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes; i++) {
        v |= (uint64_t)*byte_at(lane, va + i) << 8 * i;
    }
    return v;
}

static void put(unsigned lane, uint64_t va, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++) {
        *byte_at(lane, va + i) = (uint8_t)(v >> 8 * i);
    }
}

static uint64_t extend(uint64_t v, unsigned bytes)
{
    return (uint64_t)((int64_t)(v << (64 - 8 * bytes)) >> (64 - 8 * bytes));
}

/* ---- instructions */

#define DEF_FP(name, T, U, NAN_BITS)                                           \
    static uint64_t name(uint64_t m, uint64_t b, char how)                     \
    {                                                                          \
        U bits[2] = {(U)m, (U)b}, r;                                           \
        T x[2], z;                                                             \
                                                                               \
        memcpy(x, bits, sizeof(x));                                            \
        if (how != 'a') {                                                      \
            bool first;                                                        \
                                                                               \
            if (isnan(x[0]) || isnan(x[1])) {                                  \
                return !isnan(x[0])   ? bits[0]                                \
                       : !isnan(x[1]) ? bits[1]                                \
                                      : NAN_BITS;                              \
            }                                                                  \
            first = x[0] != x[1] ? x[0] < x[1] : signbit(x[0]) != 0;           \
            return bits[first == (how == '<') ? 0 : 1];                        \
        }                                                                      \
        z = x[0] + x[1];                                                       \
        memcpy(&r, &z, sizeof(r));                                             \
        return isnan(z) ? NAN_BITS : r;                                        \
    }
DEF_FP(fp_s, float, uint32_t, 0x7fc00000u)
DEF_FP(fp_d, double, uint64_t, 0x7ff8000000000000ull)

#define LOAD_BYTES(n, ID, name, bytes, is_signed)  [n] = bytes,
#define STORE_BYTES(n, ID, name, bytes)            [n] = bytes,
#define AMO_BYTES(n, ID, insn, bytes, expr)        [n] = bytes,
static const uint8_t bytes_of[40] = {
    PLACE_LOADS(LOAD_BYTES) PLACE_STORES(STORE_BYTES) PLACE_AMOS(AMO_BYTES)
};
#define FIRST_AMO 16

static uint64_t step(unsigned op, unsigned lane, uint64_t va, uint64_t B)
{
    unsigned size = bytes_of[op];
    uint64_t M = get(lane, va, size);

    switch (op) {
#define CASE_LOAD(n, ID, name, bytes, is_signed)                               \
    case n:                                                                    \
        return is_signed ? extend(M, bytes) : M;
        PLACE_LOADS(CASE_LOAD)
#define CASE_AMO(n, ID, insn, bytes, expr)                                     \
    case n:                                                                    \
        put(lane, va, bytes, expr);                                            \
        return extend(M, bytes);
        PLACE_AMOS(CASE_AMO)
    default:
        put(lane, va, size, B);
        return PLACE_NONE;
    }
}

/* ---- where lanes go: the address of one, size bytes */

static uint64_t aligned(GRand *rand, uint64_t at, unsigned bytes, unsigned size)
{
    return at + (uint64_t)g_rand_int_range(rand, 0, bytes / size) * size;
}

static uint64_t in_own(GRand *rand, unsigned lane, unsigned size)
{
    return aligned(rand, OWN, OWN_BYTES, size);
}

static uint64_t in_shared(GRand *rand, unsigned lane, unsigned size)
{
    return aligned(rand, MXGPU_SHARED_BASE, sizeof(shared), size);
}

static uint64_t in_granule(GRand *rand, unsigned lane, unsigned size)
{
    return aligned(rand, FAR, PAGE, size);
}

static uint64_t in_granules(GRand *rand, unsigned lane, unsigned size)
{
    return aligned(rand, FAR + g_rand_int_range(rand, 0, GRANULES) * GRANULE,
                   PAGE, size);
}

static uint64_t in_small(GRand *rand, unsigned lane, unsigned size)
{
    return aligned(rand, HOST_SMALL_VA, 4 * PAGE, size);
}

static uint64_t in_any(GRand *rand, unsigned lane, unsigned size)
{
    switch (g_rand_int_range(rand, 0, 4)) {
    case 0:
        return in_own(rand, lane, size);
    case 1:
        return in_shared(rand, lane, size);
    case 2:
        return in_small(rand, lane, size);
    default:
        return in_granules(rand, lane, size);
    }
}

static uint64_t side_by_side(GRand *rand, unsigned lane, unsigned size)
{
    return FAR + PAGE / 2 + lane * size;
}

static uint64_t own_side_by_side(GRand *rand, unsigned lane, unsigned size)
{
    return OWN + lane * size;
}

static uint64_t over_granules(GRand *rand, unsigned lane, unsigned size)
{
    return FAR + GRANULE + lane * size - 32 * size;
}

static uint64_t backwards(GRand *rand, unsigned lane, unsigned size)
{
    return FAR + PAGE / 2 - lane * size;
}

/* from the end of the window, to its beginning, and past a page's one */
static uint64_t backwards_shared(GRand *rand, unsigned lane, unsigned size)
{
    return MXGPU_SHARED_BASE + sizeof(shared) - (lane + 1) * size;
}

static uint64_t backwards_to_shared(GRand *rand, unsigned lane, unsigned size)
{
    return MXGPU_SHARED_BASE + (LANES - 1 - lane) * size;
}

static uint64_t backwards_small(GRand *rand, unsigned lane, unsigned size)
{
    return HOST_SMALL_VA + PAGE + 32 * size - lane * size;
}

static uint64_t in_page(GRand *rand, unsigned lane, unsigned size)
{
    return aligned(rand, HOST_SMALL_VA + PAGE, PAGE, size);
}

static uint64_t few(GRand *rand, unsigned lane, unsigned size)
{
    return FAR + GRANULE * (lane % 5) + size;
}

static uint64_t few_shared(GRand *rand, unsigned lane, unsigned size)
{
    return MXGPU_SHARED_BASE + size * (lane % 3);
}

static uint64_t one(GRand *rand, unsigned lane, unsigned size)
{
    return FAR + 64;
}

static uint64_t one_shared(GRand *rand, unsigned lane, unsigned size)
{
    return MXGPU_SHARED_BASE + sizeof(shared) - 8;
}

static uint64_t one_own(GRand *rand, unsigned lane, unsigned size)
{
    return OWN + 16;
}

/* misaligned: not for atomics */
static uint64_t bent_own(GRand *rand, unsigned lane, unsigned size)
{
    return OWN + g_rand_int_range(rand, 0, OWN_BYTES - 7);
}

static uint64_t bent_over(GRand *rand, unsigned lane, unsigned size)
{
    static const uint64_t ends[] = {FAR + GRANULE, FAR + 3 * GRANULE,
                                    HOST_SMALL_VA + PAGE};

    return ends[g_rand_int_range(rand, 0, 3)] - g_rand_int_range(rand, 0, 9);
}

static uint64_t bent_any(GRand *rand, unsigned lane, unsigned size)
{
    return g_rand_boolean(rand) ? bent_own(rand, lane, size)
                                : bent_over(rand, lane, size);
}

typedef uint64_t Where(GRand *rand, unsigned lane, unsigned size);
static Where *const wheres[] = {
    in_own, in_shared, in_granule, in_granules, in_small, in_any, side_by_side,
    own_side_by_side, over_granules, backwards, backwards_shared,
    backwards_to_shared, backwards_small, in_page, few, few_shared, one,
    one_shared, one_own, bent_own, bent_over, bent_any,
};
#define NUM_ALIGNED 19

/* ---- the test */

static uint64_t operand(GRand *rand)
{
    static const uint64_t special[] = {
        0, 1, ~0ull, 1ull << 63, 0x80000000, 0x7fc00001, 0x3f800000,
        0x7ff0000000000000, 0x3ff8000000000000, 0xff800000,
    };
    uint64_t v = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);

    return v % 4 ? v : special[v / 4 % G_N_ELEMENTS(special)];
}

static uint64_t some_lanes(GRand *rand, unsigned how)
{
    uint64_t mask = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);

    return how == 0 ? UINT64_MAX
           : how == 1 ? mask | 1ull << 63
                      : 1ull << g_rand_int_range(rand, 0, LANES);
}

static SimtRun setup(const char *kernel)
{
    SimtRun r = simt_run_new(elf, kernel, 1, LANES);

    r.d.shared = r.d.shared_static = sizeof(shared);
    r.d.private_bytes = PLACE_STACK;
    return r;
}

static void check(const SimtRun *r, const uint64_t *results)
{
    for (unsigned t = 0; t < LANES; t++) {
        g_assert_cmphex(r->out[t], ==, results[t]);
    }
    g_assert_cmpmem(r->out + PLACE_OUT_PRIVATE, sizeof(own), own, sizeof(own));
    g_assert_cmpmem(r->out + PLACE_OUT_SHARED, sizeof(shared), shared,
                    sizeof(shared));
    for (unsigned i = 0; i < G_N_ELEMENTS(pages); i++) {
        g_assert_cmpmem(simt_host_data(r->h, pages[i].va), PAGE,
                        pages[i].bytes, PAGE);
    }
}

static void run_one(SimtRun *r, GRand *rand, unsigned op, Where *where,
                    uint64_t mask)
{
    uint64_t results[LANES];

    fill(r, rand);
    r->args[2] = op;
    for (unsigned t = 0; t < LANES; t++) {
        bool active = mask >> t & 1;

        r->data[2 * t] = active ? where(rand, t, bytes_of[op]) : 0;
        r->data[2 * t + 1] = operand(rand);
        results[t] = active ? step(op, t, r->data[2 * t], r->data[2 * t + 1])
                            : PLACE_NONE;
    }
    simt_run(r);
    check(r, results);
}

static void test_all(void)
{
    GRand *rand = g_rand_new_with_seed(12);
    SimtRun r = setup("places");

    for (unsigned op = 0; op < G_N_ELEMENTS(bytes_of); op++) {
        unsigned n = op < FIRST_AMO ? G_N_ELEMENTS(wheres) : NUM_ALIGNED;

        for (unsigned i = 0; bytes_of[op] && i < n; i++) {
            for (unsigned how = 0; how < 3; how++) {
                run_one(&r, rand, op, wheres[i], some_lanes(rand, how));
            }
        }
    }
    simt_run_free(&r);
    g_rand_free(rand);
}

/* Lanes that are evenly spaced, in rows of the block or all of them: arrays of
 * structures. */
static void test_lines(void)
{
    static const unsigned rows[] = {64, 32, 16, 8, 4};
    static const uint64_t starts[] = {
        FAR + PAGE / 4, FAR + GRANULE, OWN, MXGPU_SHARED_BASE, HOST_SMALL_VA,
    };
    GRand *rand = g_rand_new_with_seed(14);
    SimtRun r = setup("lines");
    uint64_t results[LANES];

    for (unsigned i = 0; i < 4000; i++) {
        unsigned op = i % G_N_ELEMENTS(bytes_of), size = bytes_of[op];
        unsigned row = rows[g_rand_int_range(rand, 0, 5)];
        uint64_t *line = r.data + 2 * LANES, start;

        start = starts[g_rand_int_range(rand, 0, G_N_ELEMENTS(starts))];
        if (!size) {
            continue;
        }
        line[1] = (uint64_t)size * g_rand_int_range(rand, 0, 6);
        line[2] = g_rand_boolean(rand)
                      ? line[1] * row
                      : (uint64_t)size * g_rand_int_range(rand, 0, 9);
        if (start == OWN) {
            line[1] = g_rand_boolean(rand) ? size : 0;
            line[2] = g_rand_boolean(rand) ? line[1] * row : 0;
        } else if (start == FAR + GRANULE) { /* ends at, or is over, its end */
            start -= line[1] * (row - 1) + line[2] * (LANES / row - 1) + size;
            start += g_rand_int_range(rand, 0, 3) * size;
        } else if (g_rand_int_range(rand, 0, 4) == 0) { /* downwards */
            start += (LANES - 1) * size;
            line[1] = -(uint64_t)size;
            line[2] = line[1] * row;
        }
        line[0] = start == OWN ? start
                               : start + g_rand_int_range(rand, 0, 2) * size;
        r.d.block[0] = (uint16_t)row;
        r.d.block[1] = (uint16_t)(LANES / row);
        fill(&r, rand);
        r.args[2] = op;
        for (unsigned t = 0; t < LANES; t++) {
            r.data[2 * t + 1] = operand(rand);
            results[t] = step(op, t, line[0] + t % row * line[1] +
                                         t / row * line[2],
                              r.data[2 * t + 1]);
        }
        simt_run(&r);
        check(&r, results);
    }
    simt_run_free(&r);
    g_rand_free(rand);
}

/* The first lane that cannot is the one that faults, and where atomics fault
 * no lane has done anything. */
static void test_faults(void)
{
    static const struct {
        uint64_t va;
        enum mxgpu_fault code;
    } bad[] = {
        {0x1000, MXGPU_FAULT_NOT_PRESENT},
        {OWN + PLACE_STACK, MXGPU_FAULT_WINDOW},
        {OWN - 8, MXGPU_FAULT_WINDOW},
        {MXGPU_SHARED_BASE + sizeof(shared), MXGPU_FAULT_WINDOW},
        {1ull << 50, MXGPU_FAULT_NON_CANONICAL},
        {HOST_CODE_VA + 512, MXGPU_FAULT_PERMISSION},
    };
    static const unsigned ops[] = {9, 11, 17, 26, 35};
    GRand *rand = g_rand_new_with_seed(13);
    SimtRun r = setup("places");

    for (unsigned i = 0; i < 5 * G_N_ELEMENTS(bad) * G_N_ELEMENTS(wheres);
         i++) {
        unsigned op = ops[i % 5], lane = g_rand_int_range(rand, 0, LANES - 1);
        Where *where = wheres[i / 5 % NUM_ALIGNED];
        unsigned k = i / 5 % G_N_ELEMENTS(bad);
        MxgpuDispatchFault f;

        fill(&r, rand);
        r.args[2] = op;
        for (unsigned t = 0; t < LANES; t++) {
            r.data[2 * t] = where(rand, t, bytes_of[op]);
        }
        r.data[2 * lane] = r.data[2 * LANES - 2] = bad[k].va;
        f = simt_host_run(r.h, &r.d);
        g_assert_cmpint(f.code, ==, bad[k].code);
        g_assert_cmpint(f.access, ==, op < FIRST_AMO ? MXGPU_ACCESS_WRITE
                                                     : MXGPU_ACCESS_ATOMIC);
        g_assert_cmphex(f.addr, ==, bad[k].va);
        g_assert_cmpuint(f.thread, ==, lane);
        for (unsigned n = 0; op >= FIRST_AMO && n < G_N_ELEMENTS(pages); n++) {
            g_assert_cmpmem(simt_host_data(r.h, pages[n].va), PAGE,
                            pages[n].bytes, PAGE);
        }
    }
    simt_run_free(&r);
    g_rand_free(rand);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    elf = argv[1];
    g_test_add_func("/places/all", test_all);
    g_test_add_func("/places/lines", test_lines);
    g_test_add_func("/places/faults", test_faults);
    return g_test_run();
}
