/* SPDX-License-Identifier: MIT */
/* The microcontroller, by hand-encoded programs. */
#include "mcu/mcu.h"

#include <glib.h>
#include <string.h>

#include "mxgpu/regs.h"

#define BASE      MXGPU_MCU_SRAM_BASE
#define SRAM_SIZE 0x10000u
#define HANDLER   0x400u /* offset of the trap handler where there is one */

typedef struct Rig {
    uint8_t *sram;
    MxgpuMcu *mcu;
    MxgpuMcuState *s;
    uint32_t bus_addr, bus_value, bus_writes;
    bool halt_on_write;
    unsigned charge; /* of a write, in instructions */
} Rig;

static bool bus_read(void *opaque, uint32_t addr, uint32_t *value)
{
    Rig *r = opaque;

    *value = r->bus_value;
    return addr == r->bus_addr;
}

static bool bus_write(void *opaque, uint32_t addr, uint32_t value)
{
    Rig *r = opaque;

    if (addr != r->bus_addr) {
        return false;
    }
    r->bus_value = value;
    r->bus_writes++;
    mxgpu_mcu_charge(r->mcu, r->charge);
    if (r->halt_on_write) {
        mxgpu_mcu_halt(r->mcu);
    }
    return true;
}

static const MxgpuMcuOps ops = { bus_read, bus_write };

static void rig_init(Rig *r)
{
    memset(r, 0, sizeof(*r));
    r->sram = g_malloc0(SRAM_SIZE);
    r->bus_addr = 0x40000010;
    r->mcu = mxgpu_mcu_new(r->sram, SRAM_SIZE, &ops, r);
    r->s = mxgpu_mcu_state(r->mcu);
    mxgpu_mcu_reset(r->mcu, BASE);
}

static void rig_free(Rig *r)
{
    mxgpu_mcu_free(r->mcu);
    g_free(r->sram);
}

static void put(Rig *r, uint32_t offset, uint32_t insn)
{
    memcpy(r->sram + offset, &insn, 4);
}

/* ---- encodings, from the formats of the specification */

enum { ZERO, RA, SP, T0 = 5, T1, T2, A0 = 10, A1, A2 };

static uint32_t enc_r(unsigned f7, unsigned rs2, unsigned rs1, unsigned f3,
                      unsigned rd, unsigned op)
{
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static uint32_t enc_i(int imm, unsigned rs1, unsigned f3, unsigned rd,
                      unsigned op)
{
    return (uint32_t)imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static uint32_t enc_s(int imm, unsigned rs2, unsigned rs1, unsigned f3)
{
    uint32_t u = (uint32_t)imm;

    return (u >> 5 & 127) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 |
           (u & 31) << 7 | 0x23;
}

#define ADDI(rd, rs1, imm)    enc_i(imm, rs1, 0, rd, 0x13)
#define LOAD(f3, rd, rs1, im) enc_i(im, rs1, f3, rd, 0x03)
#define STORE(f3, rs2, rs1, im) enc_s(im, rs2, rs1, f3)
#define CSRRW(rd, csr, rs1)   enc_i((int)(csr), rs1, 1, rd, 0x73)
#define CSRRS(rd, csr, rs1)   enc_i((int)(csr), rs1, 2, rd, 0x73)
#define AMO(f5, rd, rs2, rs1) enc_r((f5) << 2, rs2, rs1, 2, rd, 0x2f)
#define JALR(rd, rs1, imm)    enc_i(imm, rs1, 0, rd, 0x67)
#define ECALL  0x00000073u
#define EBREAK 0x00100073u
#define MRET   0x30200073u
#define WFI    0x10500073u
#define NOP    0x00000013u

/* Runs one instruction at BASE. */
static MxgpuMcuStop one(Rig *r, uint32_t insn)
{
    put(r, 0, insn);
    mxgpu_mcu_reset(r->mcu, BASE);
    r->s->mtvec = BASE + HANDLER;
    return mxgpu_mcu_run(r->mcu, 1);
}

/* ---- integer arithmetic against C's */

typedef uint32_t Reference(uint32_t a, uint32_t b);

static uint32_t ref_mulh(uint32_t a, uint32_t b)
{
    return (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32);
}

static uint32_t ref_mulhsu(uint32_t a, uint32_t b)
{
    return (uint32_t)((int64_t)(int32_t)a * (int64_t)b >> 32);
}

static uint32_t ref_div(uint32_t a, uint32_t b)
{
    return b ? (uint32_t)((int64_t)(int32_t)a / (int32_t)b) : 0xffffffff;
}

static uint32_t ref_rem(uint32_t a, uint32_t b)
{
    return b ? (uint32_t)((int64_t)(int32_t)a % (int32_t)b) : a;
}

#define REF(name, expr)                                                        \
    static uint32_t ref_##name(uint32_t a, uint32_t b)                         \
    {                                                                          \
        return expr;                                                           \
    }
REF(add, a + b)
REF(sub, a - b)
REF(sll, a << (b % 32))
REF(slt, (int32_t)a < (int32_t)b)
REF(sltu, a < b)
REF(xor, a ^ b)
REF(srl, a >> (b % 32))
REF(sra, (uint32_t)((int32_t)a >> (b % 32)))
REF(or, a | b)
REF(and, a & b)
REF(mul, (uint32_t)((uint64_t)a * b))
REF(mulhu, (uint32_t)((uint64_t)a * b >> 32))
REF(divu, b ? a / b : 0xffffffff)
REF(remu, b ? a % b : a)

static const struct {
    unsigned f7, f3;
    Reference *ref;
    int immediate; /* 0 none, 1 twelve bits, 2 shift amount */
} alu[] = {
    { 0, 0, ref_add, 1 },    { 32, 0, ref_sub, 0 },   { 0, 1, ref_sll, 2 },
    { 0, 2, ref_slt, 1 },    { 0, 3, ref_sltu, 1 },   { 0, 4, ref_xor, 1 },
    { 0, 5, ref_srl, 2 },    { 32, 5, ref_sra, 2 },   { 0, 6, ref_or, 1 },
    { 0, 7, ref_and, 1 },    { 1, 0, ref_mul, 0 },    { 1, 1, ref_mulh, 0 },
    { 1, 2, ref_mulhsu, 0 }, { 1, 3, ref_mulhu, 0 },  { 1, 4, ref_div, 0 },
    { 1, 5, ref_divu, 0 },   { 1, 6, ref_rem, 0 },    { 1, 7, ref_remu, 0 },
};

static uint32_t operand(GRand *rand)
{
    static const uint32_t edges[] = { 0, 1, 2, 31, 32, 0x7fffffff,
                                      0x80000000, 0xffffffff };

    return g_rand_boolean(rand) ? g_rand_int(rand)
                                : edges[g_rand_int_range(rand, 0, 8)];
}

static void test_alu(void)
{
    GRand *rand = g_rand_new_with_seed(1);
    Rig r;

    rig_init(&r);
    for (unsigned i = 0; i < G_N_ELEMENTS(alu); i++) {
        for (int n = 0; n < 300; n++) {
            uint32_t a = operand(rand), b = operand(rand);

            put(&r, 0, enc_r(alu[i].f7, T1, T0, alu[i].f3, A0, 0x33));
            mxgpu_mcu_reset(r.mcu, BASE);
            r.s->x[T0] = a;
            r.s->x[T1] = b;
            g_assert_cmpint(mxgpu_mcu_run(r.mcu, 1), ==,
                            MXGPU_MCU_STOP_BUDGET);
            g_assert_cmphex(r.s->x[A0], ==, alu[i].ref(a, b));
            if (!alu[i].immediate) {
                continue;
            }
            int32_t imm = alu[i].immediate == 1
                              ? (int32_t)(b << 20) >> 20
                              : (int32_t)(b % 32);
            put(&r, 0,
                enc_i(imm | (int)(alu[i].f7 << 5), T0, alu[i].f3, A0, 0x13));
            mxgpu_mcu_reset(r.mcu, BASE);
            r.s->x[T0] = a;
            mxgpu_mcu_run(r.mcu, 1);
            g_assert_cmphex(r.s->x[A0], ==, alu[i].ref(a, (uint32_t)imm));
        }
    }
    rig_free(&r);
    g_rand_free(rand);
}

static void test_zero_register(void)
{
    Rig r;

    rig_init(&r);
    one(&r, ADDI(ZERO, ZERO, 5));
    g_assert_cmphex(r.s->x[0], ==, 0);
    g_assert_cmphex(r.s->pc, ==, BASE + 4);
    rig_free(&r);
}

/* ---- memory */

static void expect_trap(Rig *r, uint32_t cause, uint32_t epc, uint32_t value)
{
    g_assert_cmphex(r->s->pc, ==, BASE + HANDLER);
    g_assert_cmpuint(r->s->mcause, ==, cause);
    g_assert_cmphex(r->s->mepc, ==, epc);
    g_assert_cmphex(r->s->mtval, ==, value);
}

/* Runs one instruction with T0 = addr and T1 = value. */
static void access_at(Rig *r, uint32_t insn, uint32_t addr, uint32_t value)
{
    put(r, 0, insn);
    mxgpu_mcu_reset(r->mcu, BASE);
    r->s->mtvec = BASE + HANDLER;
    r->s->x[T0] = addr;
    r->s->x[T1] = value;
    mxgpu_mcu_run(r->mcu, 1);
}

static void test_memory(void)
{
    uint32_t end = BASE + SRAM_SIZE;
    Rig r;

    rig_init(&r);
    access_at(&r, STORE(2, T1, T0, 3), BASE + 0x100, 0x80f1e2d3);
    g_assert_cmphex(r.sram[0x103], ==, 0xd3);
    g_assert_cmphex(r.sram[0x106], ==, 0x80);
    access_at(&r, LOAD(2, A0, T0, 0), BASE + 0x103, 0); /* misaligned */
    g_assert_cmphex(r.s->x[A0], ==, 0x80f1e2d3);
    access_at(&r, LOAD(0, A0, T0, 0), BASE + 0x103, 0);
    g_assert_cmphex(r.s->x[A0], ==, 0xffffffd3);
    access_at(&r, LOAD(4, A0, T0, 0), BASE + 0x103, 0);
    g_assert_cmphex(r.s->x[A0], ==, 0xd3);
    access_at(&r, LOAD(1, A0, T0, -1), BASE + 0x106, 0);
    g_assert_cmphex(r.s->x[A0], ==, 0xffff80f1);
    access_at(&r, LOAD(5, A0, T0, 0), BASE + 0x105, 0);
    g_assert_cmphex(r.s->x[A0], ==, 0x80f1);
    access_at(&r, STORE(0, T1, T0, 0), end - 1, 0x55);
    g_assert_cmphex(r.sram[SRAM_SIZE - 1], ==, 0x55);

    access_at(&r, LOAD(2, A0, T0, 0), end - 2, 0); /* runs over the end */
    expect_trap(&r, 5, BASE, end - 2);
    access_at(&r, STORE(1, T1, T0, 0), end - 1, 0);
    expect_trap(&r, 7, BASE, end - 1);
    access_at(&r, LOAD(2, A0, T0, 0), BASE - 2, 0);
    expect_trap(&r, 5, BASE, BASE - 2);
    access_at(&r, LOAD(0, A0, T0, 0), 0xffffffff, 0);
    expect_trap(&r, 5, BASE, 0xffffffff);
    rig_free(&r);
}

static void test_bus(void)
{
    Rig r;

    rig_init(&r);
    access_at(&r, STORE(2, T1, T0, 0), r.bus_addr, 77);
    g_assert_cmpuint(r.bus_value, ==, 77);
    access_at(&r, LOAD(2, A0, T0, 0), r.bus_addr, 0);
    g_assert_cmpuint(r.s->x[A0], ==, 77);
    access_at(&r, LOAD(0, A0, T0, 0), r.bus_addr, 0); /* only words */
    expect_trap(&r, 5, BASE, r.bus_addr);
    access_at(&r, STORE(1, T1, T0, 0), r.bus_addr, 1);
    expect_trap(&r, 7, BASE, r.bus_addr);
    access_at(&r, LOAD(2, A0, T0, 2), r.bus_addr, 0); /* aligned */
    expect_trap(&r, 5, BASE, r.bus_addr + 2);
    access_at(&r, STORE(2, T1, T0, 0), 0x50000000, 0); /* that exist */
    expect_trap(&r, 7, BASE, 0x50000000);
    access_at(&r, AMO(0, A0, T1, T0), r.bus_addr, 1); /* no atomics */
    expect_trap(&r, 7, BASE, r.bus_addr);
    g_assert_cmpuint(r.bus_writes, ==, 1);
    rig_free(&r);
}

static void test_atomics(void)
{
    static const struct {
        unsigned f5;
        uint32_t expect; /* of 0x80000005 op 7 */
    } amos[] = {
        { 1, 7 },           { 0, 0x8000000c },  { 4, 0x80000002 },
        { 12, 5 },          { 8, 0x80000007 },  { 16, 0x80000005 },
        { 20, 7 },          { 24, 7 },          { 28, 0x80000005 },
    };
    uint32_t memory, addr = BASE + 0x200;
    Rig r;

    rig_init(&r);
    for (unsigned i = 0; i < G_N_ELEMENTS(amos); i++) {
        put(&r, 0x200, 0x80000005);
        access_at(&r, AMO(amos[i].f5, A0, T1, T0), addr, 7);
        memcpy(&memory, r.sram + 0x200, 4);
        g_assert_cmphex(r.s->x[A0], ==, 0x80000005);
        g_assert_cmphex(memory, ==, amos[i].expect);
    }
    access_at(&r, AMO(0, A0, T1, T0), addr + 2, 1);
    expect_trap(&r, 6, BASE, addr + 2);
    access_at(&r, AMO(2, A0, ZERO, T0), addr + 1, 1);
    expect_trap(&r, 4, BASE, addr + 1);
    rig_free(&r);
}

static void test_reservation(void)
{
    uint32_t addr = BASE + 0x200;
    Rig r;

    rig_init(&r);
    for (int broken = 0; broken < 2; broken++) {
        put(&r, 0, AMO(2, A0, ZERO, T0));                      /* lr.w */
        put(&r, 4, broken ? STORE(0, T2, T0, 1) : NOP);
        put(&r, 8, AMO(3, A1, T1, T0));                        /* sc.w */
        put(&r, 12, AMO(3, T2, T1, T0));                       /* again */
        put(&r, 0x200, 3);
        mxgpu_mcu_reset(r.mcu, BASE);
        r.s->x[T0] = addr;
        r.s->x[T1] = 9;
        mxgpu_mcu_run(r.mcu, 4);
        g_assert_cmpuint(r.s->x[A0], ==, 3);
        g_assert_cmpuint(r.s->x[A1], ==, (uint32_t)broken);
        g_assert_cmpuint(r.s->x[T2], ==, 1);
    }
    rig_free(&r);
}

/* ---- traps, interrupts */

static void test_exceptions(void)
{
    Rig r;

    rig_init(&r);
    one(&r, 0xffffffff);
    expect_trap(&r, 2, BASE, 0xffffffff);
    g_assert_cmpuint(r.s->instret, ==, 0);
    one(&r, 0); /* compressed: sixteen bits, all 0 */
    g_assert_cmpuint(r.s->mcause, ==, 2);
    one(&r, ECALL);
    expect_trap(&r, 11, BASE, 0);
    one(&r, EBREAK);
    expect_trap(&r, 3, BASE, BASE);
    one(&r, CSRRS(A0, 0x7c0, ZERO)); /* no such CSR */
    expect_trap(&r, 2, BASE, CSRRS(A0, 0x7c0, ZERO));
    one(&r, CSRRW(A0, 0xf14, T0)); /* mhartid cannot be written */
    expect_trap(&r, 2, BASE, CSRRW(A0, 0xf14, T0));
    one(&r, CSRRS(A0, 0xf14, ZERO));
    g_assert_cmphex(r.s->pc, ==, BASE + 4);

    put(&r, 0, JALR(ZERO, T0, 0));
    mxgpu_mcu_reset(r.mcu, BASE);
    r.s->mtvec = BASE + HANDLER;
    r.s->x[T0] = 0x1001;
    mxgpu_mcu_run(r.mcu, 2);
    expect_trap(&r, 1, 0x1000, 0x1000);
    rig_free(&r);
}

static void test_code_at_the_end(void)
{
    Rig r;

    rig_init(&r);
    /* The first half of a 32-bit instruction is the last halfword. */
    r.sram[SRAM_SIZE - 2] = 0x13;
    r.sram[SRAM_SIZE - 1] = 0;
    mxgpu_mcu_reset(r.mcu, BASE + SRAM_SIZE - 2);
    r.s->mtvec = BASE + HANDLER;
    mxgpu_mcu_run(r.mcu, 1);
    expect_trap(&r, 1, BASE + SRAM_SIZE - 2, BASE + SRAM_SIZE);
    rig_free(&r);
}

static void test_interrupts(void)
{
    Rig r;

    rig_init(&r);
    put(&r, 0, NOP);
    put(&r, 4, NOP);
    put(&r, HANDLER, MRET);
    put(&r, HANDLER + 44, MRET);
    r.s->mtvec = (BASE + HANDLER) | 1;
    r.s->mie = 1u << 7 | 1u << 11;
    mxgpu_mcu_set_lines(r.mcu, true, true);
    mxgpu_mcu_run(r.mcu, 1); /* MIE is 0 */
    g_assert_cmphex(r.s->pc, ==, BASE + 4);
    r.s->mstatus |= 1u << 3;
    mxgpu_mcu_set_lines(r.mcu, true, true);
    mxgpu_mcu_run(r.mcu, 1); /* external first, vectored; runs the mret */
    g_assert_cmphex(r.s->mcause, ==, 0x8000000b);
    g_assert_cmphex(r.s->mepc, ==, BASE + 4);
    g_assert_cmphex(r.s->pc, ==, BASE + 4);
    g_assert_cmphex(r.s->mstatus & 0x88, ==, 0x88);
    mxgpu_mcu_set_lines(r.mcu, true, false);
    put(&r, HANDLER + 28, NOP);
    mxgpu_mcu_run(r.mcu, 1);
    g_assert_cmphex(r.s->mcause, ==, 0x80000007);
    g_assert_cmphex(r.s->pc, ==, BASE + HANDLER + 32);
    g_assert_cmphex(r.s->mstatus & 0x88, ==, 0x80); /* off in the handler */
    rig_free(&r);
}

static void test_wfi(void)
{
    Rig r;

    rig_init(&r);
    put(&r, 0, WFI);
    put(&r, 4, ADDI(A0, ZERO, 1));
    r.s->mie = 1u << 7;
    g_assert_cmpint(mxgpu_mcu_run(r.mcu, 10), ==, MXGPU_MCU_STOP_WFI);
    g_assert_cmphex(r.s->pc, ==, BASE + 4);
    mxgpu_mcu_set_lines(r.mcu, true, false); /* wakes though MIE is 0 */
    g_assert_cmpint(mxgpu_mcu_run(r.mcu, 1), ==, MXGPU_MCU_STOP_BUDGET);
    g_assert_cmpuint(r.s->x[A0], ==, 1);
    mxgpu_mcu_reset(r.mcu, BASE); /* lines are levels: still raised */
    r.s->mie = 1u << 7;
    g_assert_cmpint(mxgpu_mcu_run(r.mcu, 1), ==, MXGPU_MCU_STOP_BUDGET);
    rig_free(&r);
}

static void test_lockup(void)
{
    uint32_t cause, pc, value;
    Rig r;

    rig_init(&r);
    put(&r, 0, ECALL); /* no handler */
    g_assert_cmpint(mxgpu_mcu_run(r.mcu, 5), ==, MXGPU_MCU_STOP_LOCKUP);
    mxgpu_mcu_lockup(r.mcu, &cause, &pc, &value);
    g_assert_cmpuint(cause, ==, 11);
    g_assert_cmphex(pc, ==, BASE);
    g_assert_cmpint(mxgpu_mcu_run(r.mcu, 5), ==, MXGPU_MCU_STOP_LOCKUP);

    put(&r, HANDLER, 0xffffffff); /* a handler that traps at once */
    mxgpu_mcu_reset(r.mcu, BASE);
    r.s->mtvec = BASE + HANDLER;
    g_assert_cmpint(mxgpu_mcu_run(r.mcu, 5), ==, MXGPU_MCU_STOP_LOCKUP);
    mxgpu_mcu_lockup(r.mcu, &cause, &pc, &value);
    g_assert_cmpuint(cause, ==, 2);
    g_assert_cmphex(pc, ==, BASE + HANDLER);
    g_assert_cmphex(value, ==, 0xffffffff);
    rig_free(&r);
}

static void test_halt(void)
{
    Rig r;

    rig_init(&r);
    put(&r, 0, STORE(2, T1, T0, 0));
    put(&r, 4, ADDI(A0, ZERO, 1));
    r.s->x[T0] = r.bus_addr;
    r.halt_on_write = true;
    g_assert_cmpint(mxgpu_mcu_run(r.mcu, 5), ==, MXGPU_MCU_STOP_HALT);
    g_assert_cmphex(r.s->pc, ==, BASE + 4);
    g_assert_cmpuint(r.s->x[A0], ==, 0);
    rig_free(&r);
}

/* A bus access that takes long leaves less for the rest of the run. */
static void test_charge(void)
{
    Rig r;

    rig_init(&r);
    for (unsigned i = 0; i < 8; i++) {
        put(&r, 4 * i, STORE(2, T1, T0, 0));
    }
    r.s->x[T0] = r.bus_addr;
    r.charge = 3;
    g_assert_cmpint(mxgpu_mcu_run(r.mcu, 5), ==, MXGPU_MCU_STOP_BUDGET);
    g_assert_cmpuint(r.bus_writes, ==, 2);
    r.charge = UINT32_MAX;
    g_assert_cmpint(mxgpu_mcu_run(r.mcu, 5), ==, MXGPU_MCU_STOP_BUDGET);
    g_assert_cmpuint(r.bus_writes, ==, 3); /* always one */
    rig_free(&r);
}

/* Code that changes itself is fetched anew, also by a store to the second
 * half of an instruction. */
static void test_self_modifying(void)
{
    Rig r;

    rig_init(&r);
    put(&r, 0, ADDI(A0, A0, 1));
    put(&r, 4, STORE(1, T1, T0, 2));
    put(&r, 8, JALR(ZERO, T0, 0));
    r.s->x[T0] = BASE;
    r.s->x[T1] = ADDI(A0, A0, 100) >> 16;
    mxgpu_mcu_run(r.mcu, 4);
    g_assert_cmpuint(r.s->x[A0], ==, 101);
    rig_free(&r);
}

static void test_csrs(void)
{
    Rig r;

    rig_init(&r);
    put(&r, 0, CSRRW(A0, 0x340, T0));  /* mscratch */
    put(&r, 4, CSRRS(A1, 0x340, T1));
    put(&r, 8, CSRRW(ZERO, 0xb02, ZERO)); /* minstret = 0 */
    put(&r, 12, CSRRS(T2, 0xb02, ZERO));
    r.s->x[T0] = 0xf0;
    r.s->x[T1] = 0x0f;
    mxgpu_mcu_run(r.mcu, 4);
    g_assert_cmphex(r.s->x[A0], ==, 0);
    g_assert_cmphex(r.s->x[A1], ==, 0xf0);
    g_assert_cmphex(r.s->mscratch, ==, 0xff);
    g_assert_cmpuint(r.s->x[T2], ==, 0);
    put(&r, 16, CSRRW(ZERO, 0x300, T0)); /* mstatus: only MIE and MPIE */
    r.s->x[T0] = 0xffffffff;
    mxgpu_mcu_run(r.mcu, 1);
    g_assert_cmphex(r.s->mstatus, ==, 0x1888);
    rig_free(&r);
}

/* Writes a CSR in one step and reads it in the next. */
static uint32_t csr_holds(Rig *r, unsigned csr, uint32_t value)
{
    uint32_t at = csr * 8; /* code that has not been decoded yet */

    r->s->pc = BASE + at;
    put(r, at, CSRRW(ZERO, csr, T0));
    put(r, at + 4, CSRRS(A0, csr, ZERO));
    r->s->x[T0] = value;
    mxgpu_mcu_run(r->mcu, 2);
    return r->s->x[A0];
}

/* What is not there reads 0; protection holds what is legal. */
static void test_csr_rows(void)
{
    Rig r;

    rig_init(&r);
    for (unsigned csr = 0x7a0; csr <= 0x7a3; csr++) { /* triggers */
        g_assert_cmphex(csr_holds(&r, csr, UINT32_MAX), ==, 0);
    }
    g_assert_cmphex(csr_holds(&r, 0xb03, UINT32_MAX), ==, 0);
    g_assert_cmphex(csr_holds(&r, 0xb9f, UINT32_MAX), ==, 0);
    g_assert_cmphex(csr_holds(&r, 0x33f, UINT32_MAX), ==, 0);
    for (unsigned i = 0; i < MCU_PMP_ENTRIES; i++) {
        g_assert_cmphex(csr_holds(&r, 0x3b0 + i, ~i), ==, ~i);
    }
    for (unsigned i = 0; i < MCU_PMP_ENTRIES / 4; i++) {
        g_assert_cmphex(csr_holds(&r, 0x3a0 + i, 0x8f1a091f), ==, 0x0f18091f);
    }
    for (unsigned i = 0; i < MCU_PMP_ENTRIES; i++) { /* no row disturbs it */
        g_assert_cmphex(r.s->pmpaddr[i], ==, ~i);
    }
    r.s->mtvec = BASE + 0x8000;
    csr_holds(&r, 0x3c0, 0); /* one more */
    g_assert_cmphex(r.s->mcause, ==, 2);
    rig_free(&r);
}

/* A write of either half of a counter is not counted, the next one is. */
static void test_counter_halves(void)
{
    static const unsigned low[] = {0xb00, 0xb02};
    Rig r;

    rig_init(&r);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t at = 0x100 * i;

        r.s->pc = BASE + at;
        r.s->x[T0] = UINT32_MAX;
        r.s->x[T1] = 5;
        put(&r, at, CSRRW(ZERO, low[i], T0));
        put(&r, at + 4, CSRRW(ZERO, low[i] + 0x80, T1));
        put(&r, at + 8, CSRRS(A0, low[i] + 0x80, ZERO));
        put(&r, at + 12, CSRRS(A1, low[i] + 0x80, ZERO));
        put(&r, at + 16, CSRRS(A2, low[i], ZERO));
        mxgpu_mcu_run(r.mcu, 5);
        g_assert_cmphex(r.s->x[A0], ==, 5);
        g_assert_cmphex(r.s->x[A1], ==, 6);
        g_assert_cmphex(r.s->x[A2], ==, 1);
    }
    rig_free(&r);
}

/* Random bytes as code and as data: bounded, no access outside. */
static void test_random(void)
{
    GRand *rand = g_rand_new_with_seed(2);
    Rig r;

    rig_init(&r);
    for (int n = 0; n < 3000; n++) {
        for (unsigned i = 0; i < 256; i++) {
            put(&r, i * 4, g_rand_int(rand));
        }
        mxgpu_mcu_reset(r.mcu, BASE + 2 * g_rand_int_range(rand, 0, 500));
        for (unsigned i = 1; i < 32; i++) {
            r.s->x[i] = BASE + (g_rand_int(rand) & (2 * SRAM_SIZE - 1));
        }
        r.s->mtvec = BASE + 4 * g_rand_int_range(rand, 0, 250);
        mxgpu_mcu_set_lines(r.mcu, n & 1, n & 2);
        mxgpu_mcu_run(r.mcu, 300);
        g_assert_cmphex(r.s->x[0], ==, 0);
    }
    rig_free(&r);
    g_rand_free(rand);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mcu/alu", test_alu);
    g_test_add_func("/mcu/zero-register", test_zero_register);
    g_test_add_func("/mcu/memory", test_memory);
    g_test_add_func("/mcu/bus", test_bus);
    g_test_add_func("/mcu/atomics", test_atomics);
    g_test_add_func("/mcu/reservation", test_reservation);
    g_test_add_func("/mcu/exceptions", test_exceptions);
    g_test_add_func("/mcu/code-at-the-end", test_code_at_the_end);
    g_test_add_func("/mcu/interrupts", test_interrupts);
    g_test_add_func("/mcu/wfi", test_wfi);
    g_test_add_func("/mcu/lockup", test_lockup);
    g_test_add_func("/mcu/halt", test_halt);
    g_test_add_func("/mcu/charge", test_charge);
    g_test_add_func("/mcu/self-modifying", test_self_modifying);
    g_test_add_func("/mcu/csrs", test_csrs);
    g_test_add_func("/mcu/csr-rows", test_csr_rows);
    g_test_add_func("/mcu/counter-halves", test_counter_halves);
    g_test_add_func("/mcu/random", test_random);
    return g_test_run();
}
