/* SPDX-License-Identifier: MIT */
/*
 * What is an instruction and what is not. The decoder against LLVM's (rv_sweep.h,
 * see gen_rv_sweep.py) over every opcode, funct3, funct7 and rs2; then the
 * machine: every encoding of those, and every compressed one, that is no
 * instruction raises illegal instruction, and nothing else, on a compute unit.
 */
#include <string.h>

#include "simt/state.h"
#include "simt_host.h"

typedef struct SweepRun {
    uint8_t count;
    uint32_t mask;
} SweepRun;

#include "rv_sweep.h"

enum {
    EXT32 = RV_EXT_I | RV_EXT_M | RV_EXT_A | RV_EXT_C | RV_EXT_ZICSR |
            RV_EXT_ZIFENCEI,
    EXT64 = EXT32 | RV_EXT_F | RV_EXT_D | RV_EXT_ZBA | RV_EXT_ZBB |
            RV_EXT_ZICOND | RV_EXT_ZFHMIN | RV_EXT_ZFH | RV_EXT_ZFBFMIN |
            RV_EXT_ZACAS,
};

/* The sets of the generator: rd, rs1, and which opcodes. */
static const struct {
    uint8_t rd, rs1;
    uint32_t majors;
} sets[] = {
    {10, 11, UINT32_MAX},
    {0, 11, 1u << 0x03 | 1u << 0x0b | 1u << 0x14 | 1u << 0x1c},
    {10, 0, 1u << 0x03 | 1u << 0x0b | 1u << 0x14 | 1u << 0x1c},
    {0, 0, 1u << 0x03 | 1u << 0x0b | 1u << 0x14 | 1u << 0x1c},
};

typedef void EachFn(uint32_t insn, bool legal, void *opaque);

static void sweep_row(uint32_t base, const SweepRun *run, EachFn *each,
                      void *opaque)
{
    for (unsigned f7 = 0, left = run->count; f7 < 128; f7++, left--) {
        if (left == 0) {
            left = (++run)->count;
        }
        for (unsigned rs2 = 0; rs2 < 32; rs2++) {
            each(base | f7 << 25 | rs2 << 20, run->mask >> rs2 & 1, opaque);
        }
    }
}

static void sweep(const uint16_t *index, EachFn *each, void *opaque)
{
    for (unsigned s = 0; s < G_N_ELEMENTS(sets); s++) {
        for (unsigned major = 0; major < 32; major++) {
            if (!(sets[s].majors >> major & 1)) {
                continue;
            }
            for (unsigned f3 = 0; f3 < 8; f3++) {
                sweep_row((uint32_t)sets[s].rs1 << 15 | f3 << 12 |
                              sets[s].rd << 7 | major << 2 | 3,
                          sweep_runs + *index++, each, opaque);
            }
        }
    }
}

typedef struct Decoder {
    unsigned xlen, extensions, legal, wrong;
} Decoder;

/* RV32 has no shifts by 32 and more; LLVM prints some of them. */
static bool big_shift(unsigned xlen, uint32_t insn)
{
    return xlen == 32 && (insn & 0x0200307f) == 0x02001013;
}

static void check_decode(uint32_t insn, bool legal, void *opaque)
{
    Decoder *d = opaque;
    RvInsn in;

    legal = legal && !big_shift(d->xlen, insn);
    d->legal += legal;
    if (rv_decode(insn, d->xlen, d->extensions, &in) != legal &&
        d->wrong++ < 20) {
        g_test_message("rv%u %08x is %s instruction", d->xlen, insn,
                       legal ? "an" : "no");
    }
}

static void test_decode(void)
{
    Decoder d32 = {32, EXT32, 0, 0}, d64 = {64, EXT64, 0, 0};

    sweep(sweep32, check_decode, &d32);
    sweep(sweep64, check_decode, &d64);
    g_test_message("%u of RV32 and %u of RV64 are instructions", d32.legal,
                   d64.legal);
    g_assert_cmpuint(d32.wrong, ==, 0);
    g_assert_cmpuint(d64.wrong, ==, 0);
    g_assert_cmpuint(d32.legal, >, 200000);
    g_assert_cmpuint(d64.legal, >, d32.legal);
}

/* ---- on the machine: pages of encodings, each of which must trap */

#define BATCH 1000

typedef struct Machine {
    SimtHost *host;
    uint8_t *code;
    unsigned bytes;   /* of an encoding */
    unsigned filled;
    uint64_t expected; /* pc of the next trap */
    unsigned tried, wrong;
} Machine;

static Machine *machine;

static bool on_trap(void *opaque, MxgpuSimtTrap *t)
{
    Machine *m = machine;

    if (t->pc >= HOST_CODE_VA + m->filled) {
        return false; /* the end, an ebreak */
    }
    if (t->code != MXGPU_FAULT_ILLEGAL || t->pc != m->expected) {
        m->wrong++;
    }
    m->expected = t->pc + m->bytes;
    t->pc = m->expected;
    return true;
}

static void run_batch(Machine *m)
{
    MxgpuDispatch d = simt_host_dispatch(HOST_CODE_VA, 1, 1);
    const uint32_t ebreak = 0x00100073;
    MxgpuDispatchFault f;

    if (m->filled == 0) {
        return;
    }
    memcpy(m->code + m->filled, &ebreak, 4);
    m->expected = HOST_CODE_VA;
    m->tried += m->filled / m->bytes;
    f = simt_host_run(m->host, &d);
    if (f.code != MXGPU_FAULT_BREAKPOINT ||
        m->expected != HOST_CODE_VA + m->filled || m->wrong) {
        g_test_message("near %08x: an encoding that is none did not trap as "
                       "illegal", *(uint32_t *)(m->code + m->expected -
                                                HOST_CODE_VA));
        g_test_fail();
        m->wrong = 0;
    }
    m->filled = 0;
}

static void add_encoding(Machine *m, uint32_t insn)
{
    memcpy(m->code + m->filled, &insn, m->bytes);
    m->filled += m->bytes;
    if (m->filled == BATCH * m->bytes) {
        run_batch(m);
    }
}

static void add_illegal(uint32_t insn, bool legal, void *opaque)
{
    /* custom-0 is this machine's; what is 16 bits long is tried below */
    if (!legal && (insn & 3) == 3 && (insn & 0x7f) != 0x0b) {
        add_encoding(opaque, insn);
    }
}

/* Encodings of custom-0 that mxgpu/isa.h does not list. */
static bool is_gpu_insn(uint32_t insn)
{
    RvInsn in;

    return rv_decode(insn, 64, RV_EXT_MX, &in);
}

static void test_machine(void)
{
    Machine m = {.host = simt_host_new(1), .bytes = 4};
    RvInsn in;

    m.code = simt_host_data(m.host, HOST_CODE_VA);
    machine = &m;
    m.host->simt->config.trap = on_trap;
    for (uint64_t at = 8192; at < 1 << 20; at += 4096) {
        *simt_host_pte(m.host, HOST_VMID, HOST_CODE_VA + at) = 0;
    }
    sweep(sweep64, add_illegal, &m);
    for (uint32_t rest = 0; rest < 8 * 128 * 32; rest++) {
        uint32_t insn = (rest >> 5 & 127) << 25 | (rest & 31) << 20 |
                        11 << 15 | (rest >> 12) << 12 | 10 << 7 | 0x0b;

        if (!is_gpu_insn(insn)) {
            add_encoding(&m, insn);
        }
    }
    run_batch(&m);
    g_assert_cmpuint(m.tried, >, 500000);
    g_test_message("%u encodings of 32 bits", m.tried);
    m.tried = 0;
    m.bytes = 2;
    for (uint32_t insn = 0; insn < 65536; insn++) { /* test_rv has LLVM's view */
        if ((insn & 3) != 3 && !rv_decode(insn, 64, EXT64, &in)) {
            add_encoding(&m, insn);
        }
    }
    run_batch(&m);
    g_test_message("%u encodings of 16 bits", m.tried);
    g_assert_cmpuint(m.tried, >, 1000);
    simt_host_free(m.host);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rv/sweep/decode", test_decode);
    g_test_add_func("/rv/sweep/machine", test_machine);
    return g_test_run();
}
