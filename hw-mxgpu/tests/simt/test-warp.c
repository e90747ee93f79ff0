/* SPDX-License-Identifier: MIT */
/*
 * Reductions and matrix products of a warp, one instruction at a time, against
 * references written from the definitions: sets and trees for the first, one
 * element at a time with the host's fmaf for the second.
 */
#include <math.h>
#include <string.h>

#include "rv/rv.h"
#include "simt_host.h"

enum { T0 = 5, T1 = 6, A0 = 10, A1, A2, A3, D = 20 };

/* What a lane has in memory. */
typedef struct Lane {
    uint64_t a, b, flag, pad, in[4], out[4], rest[4];
} Lane;

static SimtHost *host;
static GRand *rng;

static uint64_t random64(void)
{
    uint64_t v = (uint64_t)g_rand_int(rng) << 32 | g_rand_int(rng);

    switch (g_rand_int_range(rng, 0, 6)) {
    case 0:
        return (uint64_t)(int64_t)g_rand_int_range(rng, -3, 4);
    case 1:
        return v >> g_rand_int_range(rng, 0, 64);
    case 2:
        return g_rand_boolean(rng) ? INT64_MIN : INT64_MAX;
    default:
        return v;
    }
}

static Lane *lanes(void)
{
    return simt_host_data(host, HOST_DATA_VA);
}

static uint32_t load(bool fp, unsigned rd, unsigned imm)
{
    return (fp ? 0x3007 : 0x3003) | rd << 7 | T1 << 15 | imm << 20;
}

static uint32_t store(bool fp, unsigned rs, unsigned imm)
{
    return (fp ? 0x3027 : 0x3023) | rs << 20 | T1 << 15 | (imm & 31) << 7 |
           (imm >> 5) << 25;
}

/* Loads a, b and four registers from D on, runs the instruction in lanes whose
 * flag is set, and stores the four. */
static MxgpuDispatchFault run(uint32_t insn, bool fp, unsigned threads)
{
    uint32_t *code = simt_host_data(host, HOST_CODE_VA);
    MxgpuDispatch d = simt_host_dispatch(HOST_CODE_VA, 1, threads);

    *code++ = 0xccc022f3;                       /* csrr t0, lane */
    *code++ = 0x00729293;                       /* slli t0, t0, 7 */
    *code++ = 0x00550333;                       /* add t1, a0, t0 */
    *code++ = load(false, A1, 0);
    *code++ = load(false, A2, 8);
    *code++ = load(false, A3, 16);
    for (unsigned j = 0; j < 4; j++) {
        *code++ = load(fp, D + j, 32 + 8 * j);
    }
    *code++ = 0x63 | A3 << 15 | 8 << 7;         /* beqz a3, +8 */
    *code++ = insn;
    for (unsigned j = 0; j < 4; j++) {
        *code++ = store(fp, D + j, 64 + 8 * j);
    }
    *code++ = 0x0000000b;                       /* mx.exit */
    return simt_host_run(host, &d);
}

/* ---- mx.reduce */

typedef struct Value {
    bool some;
    uint64_t v;
} Value;

typedef uint64_t Combine(uint64_t a, uint64_t b);

#define COMBINE(name, expr)                                                    \
    static uint64_t two_##name(uint64_t a, uint64_t b)                         \
    {                                                                          \
        return (uint64_t)(expr);                                               \
    }
#define W(v) ((uint64_t)(int64_t)(int32_t)(v))
COMBINE(add, a + b)
COMBINE(min, (int64_t)a < (int64_t)b ? a : b)
COMBINE(max, (int64_t)a < (int64_t)b ? b : a)
COMBINE(minu, a < b ? a : b)
COMBINE(maxu, a < b ? b : a)
COMBINE(and, a &b)
COMBINE(or, a | b)
COMBINE(xor, a ^ b)
COMBINE(addw, W(a + b))
COMBINE(minw, (int32_t)a < (int32_t)b ? W(a) : W(b))
COMBINE(maxw, (int32_t)a < (int32_t)b ? W(b) : W(a))
COMBINE(minuw, (uint32_t)a < (uint32_t)b ? W(a) : W(b))
COMBINE(maxuw, (uint32_t)a < (uint32_t)b ? W(b) : W(a))
COMBINE(andw, W(a &b))
COMBINE(orw, W(a | b))
COMBINE(xorw, W(a ^ b))

#define FLOATS(T, U, s, NANV, EXTEND)                                          \
    static uint64_t fp_##s(uint64_t abits, uint64_t bbits, int op)             \
    {                                                                          \
        U ua = (U)abits, ub = (U)bbits, u;                                     \
        volatile T a, b, r;                                                    \
                                                                               \
        memcpy((void *)&a, &ua, sizeof(ua));                                   \
        memcpy((void *)&b, &ub, sizeof(ub));                                   \
        if (op == 'a') {                                                       \
            r = a + b;                                                         \
        } else if (isnan(a) || isnan(b)) {                                     \
            r = isnan(a) ? b : a;                                              \
        } else if (a == b) { /* zeros: -0 is less */                           \
            r = (signbit(a) != 0) == (op == 'm') ? a : b;                      \
        } else {                                                               \
            r = (a < b) == (op == 'm') ? a : b;                                \
        }                                                                      \
        memcpy(&u, (void *)&r, sizeof(u));                                     \
        return EXTEND(isnan(r) ? NANV : u);                                    \
    }                                                                          \
    COMBINE(fadd##s, fp_##s(a, b, 'a'))                                        \
    COMBINE(fmin##s, fp_##s(a, b, 'm'))                                        \
    COMBINE(fmax##s, fp_##s(a, b, 'M'))
FLOATS(float, uint32_t, s, 0x7fc00000u, W)
FLOATS(double, uint64_t, d, 0x7ff8000000000000ull, )

static const struct {
    unsigned f7;
    Combine *two;
    uint64_t none;
    int kind; /* i, w, s, d */
} reductions[] = {
    {0, two_add, 0, 'i'}, {1, two_min, INT64_MAX, 'i'},
    {2, two_max, INT64_MIN, 'i'}, {3, two_minu, UINT64_MAX, 'i'},
    {4, two_maxu, 0, 'i'}, {5, two_and, UINT64_MAX, 'i'},
    {6, two_or, 0, 'i'}, {7, two_xor, 0, 'i'},
    {8, two_addw, 0, 'w'}, {9, two_minw, INT32_MAX, 'w'},
    {10, two_maxw, (uint64_t)INT32_MIN, 'w'}, {11, two_minuw, UINT64_MAX, 'w'},
    {12, two_maxuw, 0, 'w'}, {13, two_andw, UINT64_MAX, 'w'},
    {14, two_orw, 0, 'w'}, {15, two_xorw, 0, 'w'},
    {16, two_fadds, 0xffffffff80000000ull, 's'},
    {17, two_fmins, 0x7fc00000, 's'}, {18, two_fmaxs, 0x7fc00000, 's'},
    {20, two_faddd, 1ull << 63, 'd'},
    {21, two_fmind, 0x7ff8000000000000ull, 'd'},
    {22, two_fmaxd, 0x7ff8000000000000ull, 'd'},
};

/* The tree below lane i, whose next step takes lane i + step. */
static Value tree(Combine *two, uint64_t set, unsigned i, unsigned step)
{
    Value a, b;

    if (step == 64) {
        return (Value){set >> i & 1, lanes()[i].a};
    }
    a = tree(two, set, i, 2 * step);
    b = tree(two, set, i + step, 2 * step);
    if (!a.some || !b.some) {
        return a.some ? a : b;
    }
    return (Value){true, two(a.v, b.v)};
}

/* What one value becomes by itself. */
static uint64_t alone(int kind, uint64_t v)
{
    switch (kind) {
    case 's':
        return isnan(((union { uint32_t u; float f; }){(uint32_t)v}).f)
                   ? 0x7fc00000 : W(v);
    case 'd':
        return isnan(((union { uint64_t u; double f; }){v}).f)
                   ? 0x7ff8000000000000ull : v;
    case 'w':
        return W(v);
    }
    return v;
}

static uint64_t random_operand(int kind)
{
    static const double some[] = { 0.0, -0.0, 1.5, -1e30, 1e-40, INFINITY,
                                   -INFINITY, NAN, 3e38, 0.1 };
    double d = g_rand_int_range(rng, 0, 3)
                   ? g_rand_double_range(rng, -100, 100)
                   : some[g_rand_int_range(rng, 0, G_N_ELEMENTS(some))];
    float f = (float)d;
    uint64_t v = 0;

    if (kind == 's') {
        memcpy(&v, &f, 4);
        return v | random64() << 32; /* the high half does not matter */
    }
    if (kind == 'd') {
        memcpy(&v, &d, 8);
        return v;
    }
    return random64();
}

/* One set, tiles, sets of all kinds. */
static uint64_t random_set(int how, unsigned i, uint64_t common)
{
    switch (how) {
    case 0:
        return UINT64_MAX;
    case 1:
        return 0xffull << (i & 56);
    case 2:
        return common;
    case 3:
        return i < 32 ? 0xffffffff : 0xffffffffull << 32;
    }
    return random64() & random64();
}

static void check_reduction(unsigned n, int round)
{
    uint32_t insn = 0x400b | reductions[n].f7 << 25 | D << 7 | A1 << 15 |
                    A2 << 20;
    unsigned threads = round == 7 ? 41 : 64;
    uint64_t group = 0, common = random64();
    Lane *l = lanes();

    for (unsigned i = 0; i < 64; i++) {
        l[i] = (Lane){
            .a = random_operand(reductions[n].kind),
            .b = random_set(round % 5, i, common),
            .flag = round < 2 || g_rand_boolean(rng),
            .in = {i},
        };
        group |= (uint64_t)(l[i].flag && i < threads) << i;
    }
    g_assert_cmpint(run(insn, false, threads).code, ==, MXGPU_FAULT_NONE);
    for (unsigned i = 0; i < threads; i++) {
        Value v = tree(reductions[n].two, group & l[i].b, 0, 1);
        uint64_t want = !l[i].flag ? i : v.some
                        ? alone(reductions[n].kind, v.v) : reductions[n].none;

        if (l[i].out[0] != want) {
            g_test_message("reduce %u round %d lane %u: set %016lx of %016lx: "
                           "%016lx, not %016lx", reductions[n].f7, round, i,
                           (long)l[i].b, (long)group, (long)l[i].out[0],
                           (long)want);
            g_test_fail();
            return;
        }
    }
}

static void test_reduce(void)
{
    for (unsigned n = 0; n < G_N_ELEMENTS(reductions); n++) {
        for (int round = 0; round < 20; round++) {
            check_reduction(n, round);
        }
    }
}

/* ---- mx.mma */

static float of_half(unsigned h)
{
    int exp = h >> 10 & 31, frac = h & 1023;
    float v = exp == 31 ? (frac ? NAN : INFINITY)
              : exp     ? ldexpf(1024 + frac, exp - 25)
                        : ldexpf(frac, -24);

    return h >> 15 ? -v : v;
}

static float of_bf16(unsigned h)
{
    int exp = h >> 7 & 255, frac = h & 127;
    float v = exp == 255 ? (frac ? NAN : INFINITY)
              : exp      ? ldexpf(128 + frac, exp - 134)
                         : ldexpf(frac, -133);

    return h >> 15 ? -v : v;
}

/* Element (row, column) of A or B, from the lane that holds it. */
static unsigned piece(bool b, unsigned row, unsigned column, unsigned bits)
{
    unsigned i = 16 * row + column;
    uint64_t x = b ? lanes()[i / 4].b : lanes()[i / 4].a;

    return x >> (bits * (i % 4)) & ((1u << bits) - 1);
}

static uint64_t mma_element(unsigned op, unsigned m, unsigned n, uint64_t from)
{
    uint32_t sum = (uint32_t)from, u;
    float f;

    if (op >= 2) {
        for (unsigned k = 0; k < 16; k++) {
            int a = piece(false, m, k, 8), b = piece(true, k, n, 8);

            sum += op == 2 ? (uint32_t)((int8_t)a * (int8_t)b)
                           : (uint32_t)(a * b);
        }
        return W(sum);
    }
    u = from >> 32 == UINT32_MAX ? sum : 0x7fc00000;
    memcpy(&f, &u, 4);
    for (unsigned k = 0; k < 16; k++) {
        unsigned a = piece(false, m, k, 16), b = piece(true, k, n, 16);

        f = op == 0 ? fmaf(of_half(a), of_half(b), f)
                    : fmaf(of_bf16(a), of_bf16(b), f);
    }
    memcpy(&u, &f, 4);
    return 0xffffffff00000000ull | (isnan(f) ? 0x7fc00000 : u);
}

/* Rounds: any bits; then numbers near 1, where rounding shows. */
static uint64_t random_pieces(unsigned op, int round)
{
    uint64_t v = 0;

    if (op >= 2 || round % 4 == 0) {
        return (uint64_t)g_rand_int(rng) << 32 | g_rand_int(rng);
    }
    for (unsigned e = 0; e < 4; e++) {
        unsigned r = g_rand_int(rng);
        unsigned h = op == 0 ? (r & 0x8fff) + 0x3400 : (r & 0x83ff) + 0x3e00;

        if (round % 4 == 3 && r >> 24 == 0) { /* small ones */
            h = r & 0x83ff;
        }
        v |= (uint64_t)h << 16 * e;
    }
    return v;
}

static void check_mma(unsigned op, int round)
{
    uint32_t insn = 0x500b | op << 25 | D << 7 | A1 << 15 | A2 << 20;
    Lane *l = lanes();

    for (unsigned i = 0; i < 64; i++) {
        l[i] = (Lane){.a = random_pieces(op, round),
                      .b = random_pieces(op, round),
                      .flag = 1};
        for (unsigned j = 0; j < 4; j++) {
            float f = (float)g_rand_double_range(rng, -8, 8);
            uint32_t u;

            memcpy(&u, &f, 4);
            l[i].in[j] = op >= 2 || round % 8 == 0
                             ? random64()
                             : 0xffffffff00000000ull | u;
        }
    }
    g_assert_cmpint(run(insn, op < 2, 64).code, ==, MXGPU_FAULT_NONE);
    for (unsigned i = 0; i < 256; i++) {
        unsigned lane = i % 64, j = i / 64;
        uint64_t want = mma_element(op, i / 16, i % 16, l[lane].in[j]);

        if (l[lane].out[j] != want) {
            g_test_message("mma %u round %d: D[%u][%u] is %016lx, not %016lx",
                           op, round, i / 16, i % 16, (long)l[lane].out[j],
                           (long)want);
            g_test_fail();
            return;
        }
    }
}

static void test_mma(void)
{
    for (unsigned op = 0; op < 4; op++) {
        for (int round = 0; round < 40; round++) {
            check_mma(op, round);
        }
    }
}

/* Not all 64 lanes: at the instruction, by any of the lanes missing. */
static void test_mma_partial(void)
{
    Lane *l = lanes();

    for (unsigned op = 0; op < 4; op++) {
        uint32_t insn = 0x500b | op << 25 | D << 7 | A1 << 15 | A2 << 20;
        MxgpuDispatchFault f;

        memset(l, 0, 64 * sizeof(*l));
        for (unsigned i = 0; i < 64; i++) {
            l[i].flag = i != 17;
        }
        f = run(insn, op < 2, 64);
        g_assert_cmpint(f.code, ==, MXGPU_FAULT_ILLEGAL);
        g_assert_cmphex(f.pc, ==, HOST_CODE_VA + 44);
        l[17].flag = 1;
        f = run(insn, op < 2, 63);
        g_assert_cmpint(f.code, ==, MXGPU_FAULT_ILLEGAL);
        f = run(insn, op < 2, 64);
        g_assert_cmpint(f.code, ==, MXGPU_FAULT_NONE);
    }
}

int main(int argc, char **argv)
{
    int result;

    g_test_init(&argc, &argv, NULL);
    host = simt_host_new(1);
    rng = g_rand_new_with_seed(3);
    g_test_add_func("/simt/warp/reduce", test_reduce);
    g_test_add_func("/simt/warp/mma", test_mma);
    g_test_add_func("/simt/warp/mma-partial", test_mma_partial);
    result = g_test_run();
    g_rand_free(rng);
    simt_host_free(host);
    return result;
}
