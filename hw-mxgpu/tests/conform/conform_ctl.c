/* SPDX-License-Identifier: MIT */
/* Branches, jumps, CSRs, fences, traps. */
#include "conform.h"

#include <string.h>

#include "mxgpu/isa.h"
#include "ref_branch.h"

#define ROUNDS 120

/* ---- branches */

/* Code that only active lanes run; n instructions follow. */
static unsigned guard(uint32_t *code, Mode mode, unsigned n)
{
    code[0] = enc_i(RV_LD, A6, T1, (int)offsetof(Record, active));
    if (mode == MODE_EXITED) {
        code[1] = enc_b(RV_BNE, A6, ZERO, 8);
        code[2] = match_of(RV_MX_EXIT);
        return 3;
    }
    code[1] = enc_b(RV_BEQ, A6, ZERO, 4 + 4 * (int)n);
    return 2;
}

/* Runs n instructions for active lanes, then insn; results are in x14. */
static void run_guarded(Mode mode, const uint32_t *insns, unsigned n,
                        uint32_t insn)
{
    uint32_t before[80];
    Shape s = {.mode = mode, .before = before};

    fill_records(mode);
    s.num_before = guard(before, mode, n);
    memcpy(before + s.num_before, insns, n * sizeof(*insns));
    s.num_before += n;
    run_insn(insn, A4, A4, &s);
}

static void check_results(RvOp op, Mode mode,
                          uint64_t (*want)(RvOp op, const Record *r,
                                           unsigned n),
                          unsigned n)
{
    for (unsigned i = 0; i < threads_of(mode); i++) {
        const Record *r = record(i);
        uint64_t value = r->active ? want(op, r, n) : r->old_x;

        if ((r->active || mode != MODE_EXITED) && r->out_x != value) {
            differ(op, i, r, r->out_x, value, "result");
        }
    }
}

static uint64_t want_branch(RvOp op, const Record *r, unsigned back)
{
    bool t = ref_taken(op, (int64_t)r->a, (int64_t)r->b);

    return r->old_x + (back && t ? 5 : 0) + (t ? 1000 : 0);
}

static void check_branch(RvOp op)
{
    const uint32_t nop = enc_i(RV_ADDI, ZERO, ZERO, 0);
    const uint32_t jump = match_of(RV_JAL) | 12 << 20;

    for (unsigned n = 0; n < ROUNDS; n++) {
        bool back = n % 2;
        /* x15 stays 1000 when it is taken; a backward one adds 5 to x14 */
        uint32_t insns[] = {
            enc_i(RV_ADDI, A5, ZERO, 1000),
            back ? jump : enc_b(op, A1, A2, 8),
            back ? enc_i(RV_ADDI, A4, A4, 5) : enc_i(RV_ADDI, A5, ZERO, 0),
            back ? jump : nop,
            back ? enc_b(op, A1, A2, -8) : nop,
            back ? enc_i(RV_ADDI, A5, ZERO, 0) : nop,
            enc_i(RV_ADDI, T2, A5, 0),
        };

        run_guarded(n / 2 % MODES, insns, G_N_ELEMENTS(insns),
                    enc(RV_ADD, A4, A4, T2));
        check_results(op, n / 2 % MODES, want_branch, back);
    }
}

/* ---- jumps: the link, and that what they jump over is not run */

static uint64_t address_of(uint32_t insn)
{
    const uint32_t *code = simt_host_data(host, HOST_CODE_VA);
    unsigned i = 0;

    while (code[i] != insn) {
        i++;
    }
    return HOST_CODE_VA + 4 * i;
}

static uint64_t want_link(RvOp op, const Record *r, unsigned jump)
{
    return (jump >> 7 & 31) ? address_of(jump) + 4 : 0;
}

static void check_jump(RvOp op)
{
    static const uint8_t rds[] = { A4, A4, 1, 5, ZERO };

    for (unsigned n = 0; n < ROUNDS; n++) {
        unsigned rd = rds[n / MODES % G_N_ELEMENTS(rds)];
        bool indirect = op == RV_JALR;
        int imm = indirect ? (int)random_below(4095) - 2047 : 0;
        /* x7: where jalr goes less imm, with a bit 0 that it must clear */
        uint32_t jump = indirect ? enc_i(op, rd, T2, imm)
                                 : match_of(op) | rd << 7 | 12u << 20;
        uint32_t insns[] = {
            match_of(RV_AUIPC) | T2 << 7,
            enc_i(RV_ADDI, T2, T2, 28 + (int)(n % 2)),
            enc_i(RV_ADDI, A5, ZERO, imm),
            enc(RV_SUB, T2, T2, A5),
            jump, /* 16 behind auipc */
            enc_i(RV_ADDI, rd, ZERO, -1),
            enc_i(RV_ADDI, rd, ZERO, -2),
            enc_i(RV_ADDI, T2, rd, 0), /* its target */
        };

        run_guarded(n % MODES, insns, G_N_ELEMENTS(insns),
                    enc_i(RV_ADDI, A4, T2, 0));
        check_results(op, n % MODES, want_link, jump);
    }
}

static uint64_t want_apart(RvOp op, const Record *r, unsigned n)
{
    return 100 + (r->a & 7);
}

/* jalr to eight places: x7 = 100 + n, and out */
static void check_jalr_apart(void)
{
    for (unsigned n = 0; n < 2 * MODES; n++) {
        uint32_t insns[32], k = 0;

        insns[k++] = enc_i(RV_ANDI, A5, A1, 7);
        insns[k++] = enc_i(RV_SLLI, A5, A5, 3);
        insns[k++] = match_of(RV_AUIPC) | T2 << 7;
        insns[k++] = enc(RV_ADD, T2, T2, A5);
        insns[k++] = enc_i(RV_JALR, ZERO, T2, 12);
        for (unsigned i = 0; i < 8; i++) {
            insns[k++] = enc_i(RV_ADDI, T2, ZERO, 100 + (int)i);
            insns[k++] = match_of(RV_JAL) | ((8 - i) * 8 - 4) << 20;
        }
        run_guarded(n % MODES, insns, k, enc_i(RV_ADDI, A4, T2, 0));
        check_results(RV_JALR, n % MODES, want_apart, 0);
    }
}

static void check_jalr(RvOp op)
{
    check_jump(op);
    check_jalr_apart();
}

/* ---- CSRs */

static uint64_t fcsr_field(unsigned csr, uint64_t fcsr)
{
    return csr == 1 ? fcsr & 31 : csr == 2 ? fcsr >> 5 & 7 : fcsr & 255;
}

static uint64_t fcsr_with(unsigned csr, uint64_t fcsr, uint64_t value)
{
    return csr == 1 ? (fcsr & 224) | (value & 31)
         : csr == 2 ? (fcsr & 31) | (value & 7) << 5
                    : value & 255;
}

static void check_csr(RvOp op)
{
    bool immediate = op >= RV_CSRRWI;
    unsigned kind = (op - RV_CSRRW) % 3; /* write, set, clear */

    for (unsigned n = 0; n < 3 * ROUNDS; n++) {
        unsigned csr = 1 + n % 3, source = immediate ? n % 32
                                           : random_below(4) ? A1 : ZERO;
        unsigned rd = random_below(4) ? A4 : ZERO;
        uint32_t before[] = {
            enc_i(RV_CSRRW, ZERO, A2, 3), /* fcsr = b */
        };
        uint32_t after[] = {
            enc_i(RV_CSRRS, A5, ZERO, 3),
            enc_s(RV_SD, A5, T1, (int)offsetof(Record, spare[0])),
        };
        Shape s = {.mode = n % MODES, .before = before, .num_before = 1,
                   .after = after, .num_after = 2, .reads_flags = true};

        fill_records(s.mode);
        run_insn(enc_i(op, rd, source, (int)csr), rd, A4, &s);
        for (unsigned i = 0; i < threads_of(s.mode); i++) {
            const Record *r = record(i);
            uint64_t fcsr = r->b & 255, old = fcsr_field(csr, fcsr);
            uint64_t v = immediate ? source : source ? r->a : 0, now;
            uint64_t want = rd ? (r->active ? old : r->old_x) : 0;

            now = kind == 0 ? v : kind == 1 ? old | v : old & ~v;
            now = r->active ? fcsr_with(csr, fcsr, now) : fcsr;
            if (!r->active && s.mode == MODE_EXITED) {
                continue;
            }
            if (r->out_x != want) {
                differ(op, i, r, r->out_x, want, "old value");
            }
            if (r->spare[0] != now) {
                differ(op, i, r, r->spare[0], now, "fcsr");
            }
        }
    }
    /* read-only ones: a write is illegal, no write is not */
    fill_records(MODE_ALL);
    g_assert_cmpint(try_insn(enc_i(op, A4, immediate ? 1 : A1, 0xccc), A4, A4,
                             &(Shape){0}).code, ==, MXGPU_FAULT_ILLEGAL);
    if (kind) {
        run_insn(enc_i(op, A4, 0, 0xccc), A4, A4, &(Shape){0});
        for (unsigned i = 0; i < 64; i++) {
            g_assert_cmpuint(record(i)->out_x, ==, i);
        }
    }
    for (unsigned csr = 0; csr < 4096; csr += 7) { /* what is none */
        if (csr > 3 && !(csr >= 0xc00 && csr <= 0xc02) &&
            !(csr >= 0xcc0 && csr <= 0xcdf)) {
            g_assert_cmpint(try_insn(enc_i(op, A4, ZERO, (int)csr), A4, A4,
                                     &(Shape){0}).code, ==,
                            MXGPU_FAULT_ILLEGAL);
        }
    }
}

/* ---- the rest */

static void check_fence(RvOp op)
{
    for (unsigned n = 0; n < ROUNDS; n++) {
        Shape s = {.mode = n % MODES};

        fill_records(s.mode);
        /* every hint field */
        run_insn(match_of(op) | ((uint32_t)random64() & 0xfff00000), A4, A4,
                 &s);
        for (unsigned i = 0; i < threads_of(s.mode); i++) {
            const Record *r = record(i);

            if ((r->active || s.mode != MODE_EXITED) && r->out_x != r->old_x) {
                differ(op, i, r, r->out_x, r->old_x, "rd");
            }
        }
    }
}

/* The code behind it is written anew: what runs is what is there. */
static void check_fence_i(RvOp op)
{
    uint32_t now = enc_i(RV_ADDI, A4, ZERO, 77);
    uint32_t after[] = {
        enc_i(RV_ADDI, A4, ZERO, 55),
        enc_s(RV_SD, A4, T1, (int)offsetof(Record, out_x)),
    };
    uint32_t before[] = { enc_s(RV_SW, A2, A1, 0) };
    Shape s = {.mode = MODE_ALL, .before = before, .num_before = 1,
               .after = after, .num_after = 2};
    uint64_t *pte = simt_host_pte(host, HOST_VMID, HOST_SMALL_VA), old = *pte;

    check_fence(op);
    /* a window on the code where stores are permitted */
    *pte = host->code | PERM_RW | MXGPU_PTE_VALID;
    for (unsigned n = 0; n < 2; n++) {
        fill_records(MODE_ALL);
        any_operand(0);
        any_operand(1);
        for (unsigned i = 0; i < 64; i++) {
            record(i)->a = HOST_SMALL_VA + 4092;
        }
        run_insn(match_of(op), A4, A4, &s);
        g_assert_cmpuint(record(0)->out_x, ==, 55);
        for (unsigned i = 0; i < 64; i++) {
            record(i)->a = HOST_SMALL_VA + address_of(after[0]) - HOST_CODE_VA;
            record(i)->b = now;
        }
        run_insn(match_of(op), A4, A4, &s);
        for (unsigned i = 0; i < 64; i++) {
            g_assert_cmpuint(record(i)->out_x, ==, 77);
        }
    }
    *pte = old;
    mxgpu_mmu_invalidate(host->mmu);
}

static void check_trap(RvOp op)
{
    for (unsigned n = 0; n < ROUNDS; n++) {
        Shape s = {.mode = n % MODES};
        MxgpuDispatchFault f;
        unsigned first = 64;

        fill_records(s.mode);
        for (unsigned i = threads_of(s.mode); i-- > 0;) {
            first = record(i)->active ? i : first;
        }
        f = try_insn(match_of(op), A4, A4, &s);
        if (first == 64) {
            g_assert_cmpint(f.code, ==, MXGPU_FAULT_NONE);
            continue;
        }
        g_assert_cmpint(f.code, ==, op == RV_EBREAK ? MXGPU_FAULT_BREAKPOINT
                                                    : MXGPU_FAULT_SYSCALL);
        g_assert_cmphex(f.pc, ==, address_of(match_of(op)));
        g_assert_cmpuint(f.thread, ==, first);
    }
}

void conform_control(CheckFn **table)
{
    static const RvOp branches[] = { RV_BEQ, RV_BNE, RV_BLT,
                                     RV_BGE, RV_BLTU, RV_BGEU };

    for (unsigned i = 0; i < G_N_ELEMENTS(branches); i++) {
        table[branches[i]] = check_branch;
    }
    for (unsigned op = RV_CSRRW; op <= RV_CSRRCI; op++) {
        table[op] = check_csr;
    }
    table[RV_JAL] = check_jump;
    table[RV_JALR] = check_jalr;
    table[RV_FENCE] = check_fence;
    table[RV_FENCE_I] = check_fence_i;
    table[RV_ECALL] = check_trap;
    table[RV_EBREAK] = check_trap;
}
