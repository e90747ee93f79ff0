/* SPDX-License-Identifier: MIT */
/*
 * Loads, stores and atomics. Addresses of every kind and in every relation
 * between lanes: global memory is prepared and compared here; in shared and
 * private memory each lane has two doublewords of its own, which the program
 * itself writes before and reads after the instruction.
 */
#include "conform.h"

#include <math.h>
#include <string.h>

#include "mxgpu/kernel.h"

#define AREA      (HOST_DATA_VA + (64 << 20)) /* 2 MiB pages */
#define AREA_SIZE (3u << 20)
#define ROUNDS    (15 * MODES)

typedef enum Layout {
    SAME, NEXT, NEXT_ODD, STRIDE, ROWS, LEVELS, NEAR, FAR, SMALL_PAGES,
    SYSTEM, LAYOUTS
} Layout;

static uint8_t *model; /* what memory must be, of the area looked at */

/* The area of a layout: its address and host memory. */
static uint64_t area_of(Layout l, uint8_t **bytes, uint64_t *size)
{
    switch (l) {
    case SMALL_PAGES:
        *bytes = simt_host_data(host, HOST_SMALL_VA);
        *size = 64 << 10;
        return HOST_SMALL_VA;
    case SYSTEM:
        *bytes = host->system;
        *size = 64 << 10;
        return HOST_SYS_VA;
    default:
        *bytes = simt_host_data(host, AREA);
        *size = l == FAR || l == ROWS || l == LEVELS ? AREA_SIZE : 128 << 10;
        return AREA;
    }
}

static void random_bytes(uint8_t *p, uint64_t size)
{
    for (uint64_t i = 0; i + 4 <= size; i += 4) {
        uint32_t v = g_rand_int(rng);

        memcpy(p + i, &v, 4);
    }
}

static unsigned size_of(RvOp op)
{
    switch (op) {
    case RV_LB:
    case RV_LBU:
    case RV_SB:
        return 1;
    case RV_LH:
    case RV_LHU:
    case RV_SH:
    case RV_FLH:
    case RV_FSH:
        return 2;
    case RV_LW:
    case RV_LWU:
    case RV_SW:
    case RV_FLW:
    case RV_FSW:
        return 4;
    default:
        break;
    }
    if (op >= RV_MX_AFADD_S && op <= RV_MX_AFMAX_D) {
        return (op - RV_MX_AFADD_S) % 2 ? 8 : 4;
    }
    return op >= RV_LR_W && op < RV_LR_D ? 4 : 8;
}

/* Lanes whose addresses are a linear function of their indices, at times
 * by way of x registers that the machine knows to be one. */
static bool place_line(Layout l, unsigned size, uint64_t at)
{
    unsigned c = columns(), step = 0, row = 0;

    if (random_below(2)) {
        return false;
    }
    switch (l) {
    case SAME:
        break;
    case NEXT:
        step = size;
        row = c * size;
        break;
    case STRIDE:
        step = 24;
        row = c * 24;
        break;
    case ROWS:
        step = size;
        row = 1024 + 8 * random_below(8);
        break;
    case LEVELS:
        row = random_below(2) ? size : 1024;
        break;
    default:
        return false;
    }
    line_operand(0, at, step, row);
    return true;
}

/* Addresses of the lanes, less imm, into a; some areas are crossed at pages. */
static void place(Layout l, unsigned size, bool aligned, int imm)
{
    uint8_t *bytes;
    uint64_t room, base = area_of(l, &bytes, &room) + 4096, at;
    uint64_t skew = aligned ? 0 : random_below(8);

    room -= 8192;
    at = base + (random_below((unsigned)room) & ~7u) + skew;
    if (at + 64 * 1100 > base + room || random_below(8) == 0) {
        at = base + skew;
    }
    if (place_line(l, size, at - (uint64_t)(int64_t)imm)) {
        return;
    }
    any_operand(0);
    for (unsigned i = 0; i < 64; i++) {
        uint64_t va = at;

        switch (l) {
        case SAME:
            break;
        case NEXT:
            va += (uint64_t)i * size;
            break;
        case NEXT_ODD: /* contiguous but for one lane */
            va += (uint64_t)(i == 40 ? 3 : i) * size;
            break;
        case STRIDE:
            va += (uint64_t)i * 24;
            break;
        case ROWS:
            va += i % columns() * size + i / columns() * 1032;
            break;
        case LEVELS:
            va += i / columns() * size;
            break;
        case NEAR: /* some lanes meet */
            va += random_below(128) * (aligned ? size : 1);
            break;
        default:
            va = base + (random_below((unsigned)room - 8) & ~7u) +
                 (aligned ? 0 : random_below(8));
        }
        record(i)->a = va - (uint64_t)(int64_t)imm;
    }
}

/* Which lane's turn comes in the instruction's order. */
static bool does(unsigned lane, Mode mode)
{
    return lane < threads_of(mode) && record(lane)->active;
}

static uint64_t model_load(uint64_t offset, unsigned size)
{
    uint64_t v = 0;

    memcpy(&v, model + offset, size);
    return v;
}

static uint64_t extended(RvOp op, uint64_t v)
{
    switch (op) {
    case RV_LB:
        return (uint64_t)(int64_t)(int8_t)v;
    case RV_LH:
        return (uint64_t)(int64_t)(int16_t)v;
    case RV_LW:
        return (uint64_t)(int64_t)(int32_t)v;
    case RV_FLH:
        return v | 0xffffffffffff0000ull;
    case RV_FLW:
        return v | 0xffffffff00000000ull;
    default:
        return v;
    }
}

static bool is_fp(RvOp op)
{
    return (info_of(op).classes & (RV_CLASS_FD | RV_CLASS_F2)) != 0;
}

static bool is_store(RvOp op)
{
    return info_of(op).format == RV_FMT_S;
}

static bool is_cas(RvOp op)
{
    return info_of(op).format == RV_FMT_CAS;
}

static bool is_atomic(RvOp op)
{
    return info_of(op).format == RV_FMT_AMO || is_cas(op) ||
           info_of(op).format == RV_FMT_LR ||
           (op >= RV_MX_AFADD_S && op <= RV_MX_AFMAX_D);
}

/* ---- atomics */

#define FLOAT_OP(name, T, U, CANON)                                            \
    static uint64_t name(unsigned kind, uint64_t m, uint64_t b)                \
    {                                                                          \
        U mu = (U)m, bu = (U)b, out;                                           \
        volatile T x, y, z;                                                    \
                                                                               \
        memcpy((void *)&x, &mu, sizeof(T));                                    \
        memcpy((void *)&y, &bu, sizeof(T));                                    \
        if (kind == 0) {                                                       \
            z = x + y;                                                         \
            memcpy(&out, (void *)&z, sizeof(T));                               \
            return isnan(z) ? CANON : out;                                     \
        }                                                                      \
        if (isnan(x) || isnan(y)) {                                            \
            return isnan(x) ? (isnan(y) ? CANON : bu) : mu;                    \
        }                                                                      \
        if (x == 0 && y == 0) {                                                \
            return (signbit(x) != 0) == (kind == 1) ? mu : bu;                 \
        }                                                                      \
        return (x < y) == (kind == 1) ? mu : bu;                               \
    }
FLOAT_OP(float_32, float, uint32_t, 0x7fc00000u)
FLOAT_OP(float_64, double, uint64_t, 0x7ff8000000000000ull)

/* By the middle of the name: amo<kind>.w */
static bool is_kind(RvOp op, const char *kind)
{
    const char *name = rv_name(op) + strlen("amo");

    return g_str_has_prefix(name, kind) && name[strlen(kind)] == '.';
}

static uint64_t integer_op(RvOp op, uint64_t m, uint64_t b)
{
    bool word = size_of(op) == 4;
    /* in 64 bits, the way the comparison wants it */
    uint64_t mu = word ? (uint32_t)m : m, bu = word ? (uint32_t)b : b;
    int64_t ms = word ? (int32_t)m : (int64_t)m;
    int64_t bs = word ? (int32_t)b : (int64_t)b;

    return is_kind(op, "swap")   ? b
           : is_kind(op, "add")  ? m + b
           : is_kind(op, "xor")  ? (m | b) & ~(m & b)
           : is_kind(op, "and")  ? ~(~m | ~b)
           : is_kind(op, "or")   ? ~(~m & ~b)
           : is_kind(op, "min")  ? (ms > bs ? b : m)
           : is_kind(op, "max")  ? (ms > bs ? m : b)
           : is_kind(op, "minu") ? (mu > bu ? b : m)
                                 : (mu > bu ? m : b);
}

/* What memory becomes; c: what was in rd. */
static uint64_t atomic_result(RvOp op, uint64_t m, uint64_t b, uint64_t c)
{
    if (info_of(op).format == RV_FMT_LR) {
        return m;
    }
    if (is_cas(op)) {
        return (size_of(op) == 4 ? (uint32_t)(m ^ c) : m ^ c) ? m : b;
    }
    if (op >= RV_MX_AFADD_S && op <= RV_MX_AFMAX_D) {
        unsigned kind = (op - RV_MX_AFADD_S) / 2;

        return size_of(op) == 4 ? float_32(kind, m, b) : float_64(kind, m, b);
    }
    return integer_op(op, m, b);
}

/* ---- one lane, on the model */

/* Does it on the model; the value for rd. */
static uint64_t perform(RvOp op, const Record *r, uint64_t offset)
{
    unsigned size = size_of(op);
    uint64_t m = model_load(offset, size), now;

    if (is_store(op)) {
        now = is_fp(op) ? f_operand(r, 1) : r->b;
        memcpy(model + offset, &now, size);
        return is_fp(op) ? f_operand(r, 3) : r->old_x;
    }
    if (is_atomic(op)) {
        now = atomic_result(op, m, r->b, r->old_x);
        memcpy(model + offset, &now, size);
        return size == 4 ? (uint64_t)(int64_t)(int32_t)m : m;
    }
    return extended(op, m);
}

static uint32_t encode(RvOp op, int imm)
{
    return is_store(op) ? enc_s(op, A2, A1, imm)
         : is_atomic(op) ? enc(op, A4, A1, info_of(op).format == RV_FMT_LR
                                               ? 0 : A2) |
                               (op <= RV_AMOCAS_D && op >= RV_LR_W
                                    ? random_below(4) << 25 : 0)
                         : enc_i(op, A4, A1, imm);
}

static void check_register(RvOp op, unsigned lane, uint64_t want)
{
    const Record *r = record(lane);
    uint64_t got = is_fp(op) ? r->out_f : r->out_x;

    if (got != want) {
        differ(op, lane, r, got, want, "rd");
    }
}

static uint64_t old_value(RvOp op, const Record *r)
{
    return is_fp(op) ? f_operand(r, 3) : r->old_x;
}

/* What is compared is every other time what is there. */
static void expect(RvOp op, Record *r, const void *at)
{
    if (is_cas(op) && g_rand_boolean(rng)) {
        memcpy(&r->old_x, at, size_of(op));
    }
}

/* ---- global memory */

static void check_global_once(RvOp op, Layout l, Mode mode)
{
    bool aligned = is_atomic(op) || g_rand_boolean(rng);
    int imm = is_atomic(op) ? 0 : (int)random_below(4096) - 2048;
    uint8_t *bytes;
    uint64_t size, base = area_of(l, &bytes, &size), want[64];

    fill_records(mode);
    place(l, size_of(op), aligned, imm);
    random_bytes(bytes, size == AREA_SIZE ? 4096 : size);
    memcpy(model, bytes, size);
    for (unsigned i = 0; i < 64; i++) {
        expect(op, record(i), bytes + record(i)->a - base);
    }
    for (unsigned i = 0; i < 64; i++) { /* in order of lanes */
        const Record *r = record(i);

        want[i] = does(i, mode) ? perform(op, r, r->a + (int64_t)imm - base)
                                : old_value(op, r);
    }
    run_insn(encode(op, imm), A4, A4, &(Shape){.mode = mode});
    for (unsigned i = 0; i < threads_of(mode); i++) {
        if (record(i)->active || mode != MODE_EXITED) {
            check_register(op, i, want[i]);
        }
    }
    if (memcmp(model, bytes, size) != 0) {
        g_test_message("%s: memory differs, layout %d mode %d aligned %d",
                       rv_name(op), l, mode, aligned);
        g_test_fail();
    }
}

/* ---- shared and private memory */

/* x7 = the doubleword of the address; it gets x13 and x12, back come spare. */
static void check_window_once(RvOp op, bool shared, Mode mode)
{
    int imm = is_atomic(op) ? 0 : (int)random_below(4096) - 2048;
    const int at = (int)offsetof(Record, spare);
    uint32_t before[] = {
        enc_i(RV_ADDI, T2, A1, imm),
        enc_i(RV_ANDI, T2, T2, -8),
        enc_i(RV_LD, A5, T1, at),
        enc_s(RV_SD, A5, T2, 0),
        enc_i(RV_LD, A5, T1, at + 8),
        enc_s(RV_SD, A5, T2, 8),
    };
    uint32_t after[] = {
        enc_i(RV_LD, A5, T2, 0),
        enc_s(RV_SD, A5, T1, at + 16),
        enc_i(RV_LD, A5, T2, 8),
        enc_s(RV_SD, A5, T1, at + 24),
    };
    Shape s = {.mode = mode, .before = before, .num_before = 6,
               .after = after, .num_after = 4};
    uint64_t start = MXGPU_PRIVATE_END - 8192 + 8 * random_below(900);
    unsigned same = random_below(3), skew = random_below(8);

    fill_records(mode);
    any_operand(0);
    for (unsigned i = 0; i < 64; i++) {
        Record *r = record(i);
        uint64_t va = shared ? MXGPU_SHARED_BASE + 1024 * i
                             : same ? start : start + 8 * random_below(100);

        /* either the same alignment everywhere, or any */
        va += same == 2 ? skew : random_below(8);
        r->a = (is_atomic(op) ? va & ~7ull : va) - (uint64_t)(int64_t)imm;
        r->spare[0] = random64();
        r->spare[1] = random64();
        expect(op, r, (uint8_t *)r->spare + (va & 7));
    }
    run_insn(encode(op, imm), A4, A4, &s);
    for (unsigned i = 0; i < threads_of(mode); i++) {
        const Record *r = record(i);
        uint64_t want = old_value(op, r);

        if (!r->active && mode == MODE_EXITED) {
            continue;
        }
        memcpy(model, r->spare, 16);
        if (r->active) {
            want = perform(op, r, (r->a + (uint64_t)(int64_t)imm) & 7);
        }
        check_register(op, i, want);
        if (memcmp(model, &r->spare[2], 16) != 0) {
            differ(op, i, r, r->spare[2], model_load(0, 8),
                   shared ? "shared memory" : "private memory");
        }
    }
}

/* ---- faults: at the first lane that has one, and nothing else is changed */

static void check_faults(RvOp op)
{
    static const struct {
        uint64_t va;
        enum mxgpu_fault code;
    } bad[] = {
        {0, MXGPU_FAULT_NOT_PRESENT},
        {HOST_SMALL_VA + (1 << 20), MXGPU_FAULT_NOT_PRESENT},
        {MXGPU_VA_LIMIT, MXGPU_FAULT_NON_CANONICAL},
        {1ull << 63, MXGPU_FAULT_NON_CANONICAL},
        {MXGPU_SHARED_BASE + MXGPU_SHARED_MAX, MXGPU_FAULT_WINDOW},
        {MXGPU_PRIVATE_END, MXGPU_FAULT_WINDOW},
        {MXGPU_PRIVATE_END - 8192 - 8, MXGPU_FAULT_WINDOW},
    };

    for (unsigned n = 0; n < G_N_ELEMENTS(bad); n++) {
        unsigned lane = random_below(64);
        MxgpuDispatchFault f;

        fill_records(MODE_ALL);
        place(STRIDE, size_of(op), true, 0);
        any_operand(0);
        record(lane)->a = bad[n].va;
        f = try_insn(encode(op, 0), A4, A4, &(Shape){.mode = MODE_ALL});
        g_assert_cmpint(f.code, ==, bad[n].code);
        g_assert_cmphex(f.addr, ==, bad[n].va);
        g_assert_cmpuint(f.thread, ==, lane);
        g_assert_cmpint(f.access, ==, is_atomic(op) ? MXGPU_ACCESS_ATOMIC
                        : is_store(op) ? MXGPU_ACCESS_WRITE
                                       : MXGPU_ACCESS_READ);
        if (is_atomic(op)) {
            record(lane)->a = AREA + 4096 + 2;
            f = try_insn(encode(op, 0), A4, A4, &(Shape){.mode = MODE_ALL});
            g_assert_cmpint(f.code, ==, MXGPU_FAULT_MISALIGNED);
            g_assert_cmphex(f.addr, ==, AREA + 4098);
        }
    }
}

static void check_memory(RvOp op)
{
    for (unsigned n = 0; n < ROUNDS; n++) {
        Layout l = n / MODES % LAYOUTS;

        check_global_once(op, l, n % MODES);
        check_window_once(op, n / MODES % 2, n % MODES);
    }
    check_faults(op);
}

/* ---- sc: with and without what lets it succeed */

static void check_sc(RvOp op)
{
    bool word = op == RV_SC_W;
    RvOp lr = word ? RV_LR_W : RV_LR_D, other = word ? RV_LR_D : RV_LR_W;
    RvOp store = word ? RV_SW : RV_SD;
    enum { PLAIN, NO_LR, OTHER_SIZE, OTHER_PLACE, CHANGED, TWICE, KINDS };

    for (unsigned n = 0; n < 4 * MODES * KINDS; n++) {
        unsigned kind = n % KINDS;
        uint32_t before[] = {
            enc_i(RV_ADDI, T2, A1, 8),
            enc(kind == OTHER_SIZE ? other : lr, A5, A1, 0),
            kind == OTHER_PLACE ? enc(lr, A5, T2, 0)
            : kind == CHANGED   ? enc_s(store, ZERO, A1, 0)
            : kind == TWICE     ? enc(op, A5, A1, A5)
                                : enc_i(RV_ADDI, ZERO, ZERO, 0),
        };
        Shape s = {.mode = n / KINDS % MODES};
        uint8_t *bytes;
        uint64_t size, base = area_of(FAR, &bytes, &size), held[64];
        bool ok = kind == PLAIN;

        s.before = kind == NO_LR ? before + 2 : before;
        s.num_before = kind == NO_LR ? 1 : 3;
        fill_records(s.mode);
        place(STRIDE, word ? 4 : 8, true, 0);
        for (unsigned i = 0; i < 64; i++) { /* never 0: see CHANGED */
            held[i] = random64() | 1;
            memcpy(bytes + (record(i)->a - base), &held[i], word ? 4 : 8);
        }
        run_insn(enc(op, A4, A1, A2) | random_below(4) << 25, A4, A4, &s);
        for (unsigned i = 0; i < threads_of(s.mode); i++) {
            const Record *r = record(i);
            uint64_t now = 0, want = kind == CHANGED ? 0 : held[i];

            memcpy(&now, bytes + (r->a - base), word ? 4 : 8);
            if (!r->active && s.mode == MODE_EXITED) {
                continue;
            }
            check_register(op, i, r->active ? !ok : r->old_x);
            want = r->active && ok ? r->b : want;
            want = word ? (uint32_t)want : want;
            if (now != want) {
                differ(op, i, r, now, want, "memory");
            }
        }
    }
    check_faults(op);
}

static void free_model(void)
{
    g_free(model);
}

void conform_memory(CheckFn **table)
{
    static const RvOp plain[] = {
        RV_LB, RV_LH, RV_LW, RV_LD, RV_LBU, RV_LHU, RV_LWU, RV_SB, RV_SH,
        RV_SW, RV_SD, RV_FLH, RV_FLW, RV_FLD, RV_FSH, RV_FSW, RV_FSD,
    };

    model = g_malloc(AREA_SIZE);
    atexit(free_model);
    for (unsigned i = 0; i < G_N_ELEMENTS(plain); i++) {
        table[plain[i]] = check_memory;
    }
    for (unsigned op = RV_LR_W; op <= RV_AMOCAS_D; op++) {
        table[op] = check_memory;
    }
    for (unsigned op = RV_MX_AFADD_S; op <= RV_MX_AFMAX_D; op++) {
        table[op] = check_memory;
    }
    table[RV_SC_W] = check_sc;
    table[RV_SC_D] = check_sc;
}
