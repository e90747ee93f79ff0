/* SPDX-License-Identifier: MIT */
/*
 * Conformance of the microcontroller: each RV32IMAC instruction alone, with
 * random registers and memory, against references written here in 64-bit
 * arithmetic. Every line of rv/insns.def that the core has must be here;
 * every other one must raise illegal instruction.
 */
#include <glib.h>
#include <string.h>

#include "mcu/internal.h"
#include "ref_branch.h"

#define BASE    MXGPU_MCU_SRAM_BASE
#define SIZE    0x4000u
#define HANDLER (BASE + 0x800)
#define DATA    (BASE + 0x1000) /* where loads, stores and atomics go */

enum { RD = 10, RS1 = 11, RS2 = 12 };

static uint8_t sram[SIZE];
static MxgpuMcu *mcu;
static MxgpuMcuState *s;
static GRand *rng;

static const struct {
    uint32_t match, extension;
    unsigned xlen;
    const char *name;
} lines[RV_OP_COUNT] = {
#define RV_GROUP(name, major)
#define RV_INSN(id, name, match, mask, format, classes, ext, xlen)             \
    [RV_##id] = {match, RV_EXT_##ext, xlen, name},
#include "rv/insns.def"
#undef RV_GROUP
#undef RV_INSN
};

static uint32_t random32(void)
{
    static const uint32_t edges[] = { 0, 1, 31, 32, 0x7fffffff, 0x80000000,
                                      0xffffffff, 0xfffffffe };

    return g_rand_int(rng) % 3 ? g_rand_int(rng)
                               : edges[g_rand_int(rng) % 8];
}

/* Executes insn at BASE; the instruction and registers are the caller's. */
static void step(uint32_t insn)
{
    memcpy(sram, &insn, 4);
    mxgpu_mcu_reset(mcu, BASE);
    s->mtvec = HANDLER;
    for (unsigned i = 1; i < 32; i++) {
        s->x[i] = random32();
    }
}

static void run(void)
{
    g_assert_cmpint(mxgpu_mcu_run(mcu, 1), ==, MXGPU_MCU_STOP_BUDGET);
}

static uint32_t field_r(RvOp op, unsigned rd, unsigned rs1, unsigned rs2)
{
    return lines[op].match | rd << 7 | rs1 << 15 | rs2 << 20;
}

/* ---- arithmetic: by name, in 64 bits */

typedef struct Arithmetic {
    const char *name;
    uint32_t (*ref)(uint32_t a, uint32_t b);
} Arithmetic;

#define REF(id, expr)                                                          \
    static uint32_t ref_##id(uint32_t a, uint32_t b)                           \
    {                                                                          \
        int64_t sa = (int32_t)a, sb = (int32_t)b;                              \
        uint64_t ua = a, ub = b;                                               \
                                                                               \
        (void)sa, (void)sb, (void)ua, (void)ub;                                \
        return (uint32_t)(expr);                                               \
    }
REF(add, ua + ub) REF(sub, ua - ub) REF(slt, sa < sb) REF(sltu, ua < ub)
REF(xor, (ua | ub) & ~(ua & ub)) REF(or, ~(~ua & ~ub)) REF(and, ~(~ua | ~ub))
REF(sll, ua << (b % 32)) REF(srl, ua >> (b % 32)) REF(sra, sa >> (b % 32))
REF(mul, ua * ub) REF(mulh, (sa * sb) >> 32) REF(mulhu, (ua * ub) >> 32)
REF(mulhsu, (sa * (int64_t)ub) >> 32)
REF(div, b ? sa / sb : -1) REF(divu, b ? ua / ub : UINT32_MAX)
REF(rem, b ? sa % sb : sa) REF(remu, b ? ua % ub : ua)

#define A(id) {#id, ref_##id}
static const Arithmetic arithmetic[] = {
    A(add), A(sub), A(slt), A(sltu), A(xor), A(or), A(and), A(sll), A(srl),
    A(sra), A(mul), A(mulh), A(mulhu), A(mulhsu), A(div), A(divu), A(rem),
    A(remu), {"addi", ref_add}, {"slti", ref_slt}, {"sltiu", ref_sltu},
    {"xori", ref_xor}, {"ori", ref_or}, {"andi", ref_and}, {"slli", ref_sll},
    {"srli", ref_srl}, {"srai", ref_sra},
};

static bool check_arithmetic(RvOp op, const RvInsn *in)
{
    const Arithmetic *a = NULL;

    for (unsigned i = 0; i < G_N_ELEMENTS(arithmetic); i++) {
        if (strcmp(arithmetic[i].name, lines[op].name) == 0) {
            a = &arithmetic[i];
        }
    }
    if (!a) {
        return false;
    }
    for (unsigned n = 0; n < 200; n++) {
        uint32_t rd = n % 8 == 7 ? RS1 : n % 8 == 6 ? 0 : RD;
        uint32_t imm = in->format == RV_FMT_SH ? g_rand_int(rng) % 32
                                               : g_rand_int(rng) % 4096;
        uint32_t b, want;

        step(in->format == RV_FMT_R ? field_r(op, rd, RS1, RS2)
                                    : field_r(op, rd, RS1, 0) | imm << 20);
        b = in->format == RV_FMT_R    ? s->x[RS2]
            : in->format == RV_FMT_SH ? imm
                                      : (uint32_t)((int32_t)(imm << 20) >> 20);
        want = rd ? a->ref(s->x[RS1], b) : 0;
        run();
        g_assert_cmphex(s->x[rd], ==, want);
        g_assert_cmphex(s->pc, ==, BASE + 4);
    }
    return true;
}

/* ---- control */

static void check_branch(RvOp op)
{
    for (unsigned n = 0; n < 200; n++) {
        bool t;

        step(field_r(op, 8, RS1, n % 4 ? RS2 : RS1)); /* +8 */
        t = ref_taken(op, (int32_t)s->x[RS1],
                      (int32_t)s->x[n % 4 ? RS2 : RS1]);
        run();
        g_assert_cmphex(s->pc, ==, BASE + (t ? 8 : 4));
    }
}

static void check_upper_and_jumps(RvOp op)
{
    for (unsigned n = 0; n < 50; n++) {
        uint32_t imm = random32() & 0xfffff000, target;

        switch (op) {
        case RV_LUI:
        case RV_AUIPC:
            step(lines[op].match | RD << 7 | imm);
            run();
            g_assert_cmphex(s->x[RD], ==, imm + (op == RV_AUIPC ? BASE : 0));
            break;
        case RV_JAL:
            step(lines[op].match | RD << 7 | 0x200 << 20); /* +512 */
            run();
            g_assert_cmphex(s->x[RD], ==, BASE + 4);
            g_assert_cmphex(s->pc, ==, BASE + 512);
            break;
        default:
            step(field_r(op, RS1, RS1, 0) | (n * 16u % 2048) << 20);
            s->x[RS1] = BASE + n;
            target = (BASE + n + n * 16u % 2048) & ~1u;
            run();
            g_assert_cmphex(s->x[RS1], ==, BASE + 4);
            g_assert_cmphex(s->pc, ==, target);
        }
    }
}

/* ---- memory */

static uint32_t bytes_at(uint32_t addr, unsigned len)
{
    uint32_t v = 0;

    for (unsigned i = 0; i < len; i++) {
        v |= (uint32_t)sram[addr - BASE + i] << 8 * i;
    }
    return v;
}

static void fill_data(void)
{
    for (unsigned i = 0; i < 64; i++) {
        sram[DATA - BASE + i] = (uint8_t)g_rand_int(rng);
    }
}

static void check_load(RvOp op)
{
    unsigned len = op == RV_LW ? 4 : op == RV_LH || op == RV_LHU ? 2 : 1;

    for (unsigned n = 0; n < 100; n++) {
        uint32_t at = DATA + g_rand_int(rng) % 32, v;
        int imm = (int)(g_rand_int(rng) % 4096) - 2048;

        fill_data();
        step(field_r(op, RD, RS1, 0) | (uint32_t)imm << 20);
        s->x[RS1] = at - (uint32_t)imm;
        v = bytes_at(at, len);
        if (op == RV_LB || op == RV_LH) {
            v = v >> (8 * len - 1) ? v | UINT32_MAX << 8 * len : v;
        }
        run();
        g_assert_cmphex(s->x[RD], ==, v);
    }
}

static void check_store(RvOp op)
{
    unsigned len = op == RV_SW ? 4 : op == RV_SH ? 2 : 1;

    for (unsigned n = 0; n < 100; n++) {
        uint32_t at = DATA + 8 + g_rand_int(rng) % 32, value;
        uint32_t low, high;

        fill_data();
        step(field_r(op, 0, RS1, RS2));
        s->x[RS1] = at;
        value = s->x[RS2];
        low = bytes_at(at - 4, 4);
        high = bytes_at(at + len, 4);
        run();
        g_assert_cmphex(bytes_at(at, len), ==,
                        len == 4 ? value : value & (UINT32_MAX >> (32 - 8 * len)));
        g_assert_cmphex(bytes_at(at - 4, 4), ==, low);
        g_assert_cmphex(bytes_at(at + len, 4), ==, high);
    }
}

static uint32_t amo(RvOp op, uint32_t m, uint32_t b)
{
    int64_t sm = (int32_t)m, sb = (int32_t)b;

    switch (op) {
    case RV_AMOSWAP_W:
        return b;
    case RV_AMOADD_W:
        return m + b;
    case RV_AMOXOR_W:
        return (m | b) & ~(m & b);
    case RV_AMOAND_W:
        return ~(~m | ~b);
    case RV_AMOOR_W:
        return ~(~m & ~b);
    case RV_AMOMIN_W:
        return sm > sb ? b : m;
    case RV_AMOMAX_W:
        return sm > sb ? m : b;
    case RV_AMOMINU_W:
        return m > b ? b : m;
    default:
        return m > b ? m : b;
    }
}

static void check_atomic(RvOp op)
{
    for (unsigned n = 0; n < 100; n++) {
        uint32_t at = DATA + g_rand_int(rng) % 8 * 4, m, b;
        bool reserved = n % 2;

        fill_data();
        step(field_r(op, RD, RS1, op == RV_LR_W ? 0 : RS2) | (n % 4) << 25);
        s->x[RS1] = at;
        s->reserved_addr = reserved ? at : at + 4;
        m = bytes_at(at, 4);
        b = s->x[RS2];
        run();
        if (op == RV_SC_W) {
            g_assert_cmphex(s->x[RD], ==, !reserved);
            g_assert_cmphex(bytes_at(at, 4), ==, reserved ? b : m);
            g_assert_cmphex(s->reserved_addr, ==, NO_RESERVATION);
        } else {
            g_assert_cmphex(s->x[RD], ==, m);
            g_assert_cmphex(bytes_at(at, 4), ==,
                            op == RV_LR_W ? m : amo(op, m, b));
        }
        step(field_r(op, RD, RS1, op == RV_LR_W ? 0 : RS2));
        s->x[RS1] = at + 1 + n % 3;
        run();
        g_assert_cmphex(s->mcause, ==, op == RV_LR_W ? 4 : 6);
        g_assert_cmphex(s->mtval, ==, at + 1 + n % 3);
    }
}

/* ---- system */

static void check_csr(RvOp op)
{
    const unsigned kind = (op - RV_CSRRW) % 3;
    const bool immediate = op >= RV_CSRRWI;

    for (unsigned n = 0; n < 100; n++) {
        unsigned source = immediate ? n % 32 : n % 5 ? RS1 : 0;
        uint32_t old = random32(), v;

        step(field_r(op, n % 3 ? RD : 0, source, 0) | 0x340u << 20);
        s->mscratch = old;
        v = immediate ? source : s->x[source];
        run();
        if (n % 3) {
            g_assert_cmphex(s->x[RD], ==, old);
        }
        g_assert_cmphex(s->mscratch, ==, kind == 0   ? v
                                         : kind == 1 ? old | v
                                                     : old & ~v);
    }
}

static void check_system(RvOp op)
{
    step(lines[op].match);
    s->mepc = BASE + 0x100;
    s->mstatus |= MSTATUS_MPIE;
    switch (op) {
    case RV_ECALL:
    case RV_EBREAK:
        run();
        g_assert_cmphex(s->mcause, ==, op == RV_ECALL ? 11 : 3);
        g_assert_cmphex(s->mepc, ==, BASE);
        g_assert_cmphex(s->pc, ==, HANDLER);
        break;
    case RV_MRET:
        run();
        g_assert_cmphex(s->pc, ==, BASE + 0x100);
        g_assert_cmphex(s->mstatus & MSTATUS_MIE, ==, MSTATUS_MIE);
        break;
    case RV_WFI:
        g_assert_cmpint(mxgpu_mcu_run(mcu, 1), ==, MXGPU_MCU_STOP_WFI);
        g_assert_cmphex(s->pc, ==, BASE + 4);
        break;
    default: /* fences */
        run();
        g_assert_cmphex(s->pc, ==, BASE + 4);
    }
}

/* False: there is no check for it. */
static bool check_op(RvOp op, const RvInsn *in)
{
    switch (in->format) {
    case RV_FMT_B:
        check_branch(op);
        return true;
    case RV_FMT_LOAD:
        check_load(op);
        return true;
    case RV_FMT_S:
        check_store(op);
        return true;
    case RV_FMT_AMO:
    case RV_FMT_LR:
        check_atomic(op);
        return true;
    case RV_FMT_CSR:
    case RV_FMT_CSRI:
        check_csr(op);
        return true;
    case RV_FMT_U:
    case RV_FMT_J:
        check_upper_and_jumps(op);
        return true;
    case RV_FMT_NONE:
    case RV_FMT_FENCE:
        check_system(op);
        return true;
    default:
        break;
    }
    if (op == RV_JALR) {
        check_upper_and_jumps(op);
        return true;
    }
    return check_arithmetic(op, in);
}

static void check_illegal(RvOp op)
{
    RvInsn in;

    step(lines[op].match);
    if (rv_decode(lines[op].match, 32, MCU_EXTENSIONS, &in)) {
        return; /* RV32 reads it as another instruction, which has its check */
    }
    run();
    g_assert_cmphex(s->mcause, ==, 2);
    g_assert_cmphex(s->mtval, ==, lines[op].match);
    g_assert_cmphex(s->mepc, ==, BASE);
}

static void check(gconstpointer data)
{
    RvOp op = (RvOp)(uintptr_t)data;
    RvInsn in;

    if (!(lines[op].xlen & RV_32) || !(lines[op].extension & MCU_EXTENSIONS)) {
        check_illegal(op);
        return;
    }
    g_assert_true(rv_decode(lines[op].match, 32, MCU_EXTENSIONS, &in));
    if (!check_op(op, &in)) {
        g_test_message("%s has no conformance check", lines[op].name);
        g_test_fail();
    }
}

static bool no_read(void *opaque, uint32_t addr, uint32_t *value)
{
    return false;
}

static bool no_write(void *opaque, uint32_t addr, uint32_t value)
{
    return false;
}

int main(int argc, char **argv)
{
    static const MxgpuMcuOps ops = { no_read, no_write };
    int result;

    g_test_init(&argc, &argv, NULL);
    mcu = mxgpu_mcu_new(sram, SIZE, &ops, NULL);
    s = mxgpu_mcu_state(mcu);
    rng = g_rand_new_with_seed(3);
    for (unsigned op = 1; op < RV_OP_COUNT; op++) {
        g_autofree char *path = NULL;

        path = g_strdup_printf("/mcu/conform/%s%s", lines[op].name,
                               lines[op].xlen == RV_32 ? "-32" : "");
        g_test_add_data_func(path, (void *)(uintptr_t)op, check);
    }
    result = g_test_run();
    g_rand_free(rng);
    mxgpu_mcu_free(mcu);
    return result;
}
