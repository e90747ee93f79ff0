/* SPDX-License-Identifier: MIT */
/* Life cycle, traps and the instruction loop of the microcontroller. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#include "rv/csr.h"
#include "rv/sem.h"

MxgpuMcu *mxgpu_mcu_new(uint8_t *sram, uint32_t size, const MxgpuMcuOps *ops,
                        void *opaque)
{
    MxgpuMcu *mcu = calloc(1, sizeof(*mcu));

    if (!mcu) {
        return NULL;
    }
    mcu->code = calloc(size / 2, sizeof(*mcu->code));
    if (!mcu->code) {
        free(mcu);
        return NULL;
    }
    mcu->sram = sram;
    mcu->sram_size = size;
    mcu->ops = ops;
    mcu->opaque = opaque;
    mcu->sram_base = MXGPU_MCU_SRAM_BASE;
    mxgpu_mcu_reset(mcu, mcu->sram_base);
    return mcu;
}

void mxgpu_mcu_set_base(MxgpuMcu *mcu, uint32_t base)
{
    mcu->sram_base = base;
}

void mxgpu_mcu_free(MxgpuMcu *mcu)
{
    if (mcu) {
        (void)mxgpu_mcu_history_start(mcu, 0);
        free(mcu->code);
        free(mcu);
    }
}

static void forget_code(MxgpuMcu *mcu)
{
    if (mcu->code_low < mcu->code_high) {
        memset(mcu->code + mcu->code_low, 0,
               (mcu->code_high - mcu->code_low) * sizeof(*mcu->code));
    }
    mcu->code_low = mcu->sram_size / 2;
    mcu->code_high = 0;
}

void mxgpu_mcu_reset(MxgpuMcu *mcu, uint32_t entry)
{
    uint32_t lines = mcu->s.mip;

    forget_code(mcu);
    memset(&mcu->s, 0, sizeof(mcu->s));
    mcu->s.pc = entry;
    mcu->s.mstatus = MSTATUS_MPP;
    mcu->s.mip = lines;
    mcu->s.reserved_addr = NO_RESERVATION;
    mcu->locked_up = false;
    mcu->trapped = false;
    mxgpu_mcu_history_clear(mcu);
    mxgpu_mcu_update(mcu);
}

MxgpuMcuState *mxgpu_mcu_state(MxgpuMcu *mcu)
{
    return &mcu->s;
}

/* What csr_write(), or an instruction, cannot leave there. */
static bool state_ok(const MxgpuMcuState *s)
{
    for (unsigned i = 0; i < MCU_PMP_ENTRIES; i++) {
        if (s->pmpcfg[i] & ~PMPCFG_BITS) {
            return false;
        }
    }
    return !s->x[0] && !(s->pc & 1) && !(s->mepc & 1) && !(s->mtvec & 2) &&
           (s->mstatus & ~(MSTATUS_MIE | MSTATUS_MPIE)) == MSTATUS_MPP &&
           !((s->mie | s->mip) & ~(MIP_MTIP | MIP_MEIP));
}

bool mxgpu_mcu_restore(MxgpuMcu *mcu, const MxgpuMcuState *state)
{
    if (!state_ok(state)) {
        return false;
    }
    mxgpu_mcu_reset(mcu, state->pc);
    mcu->s = *state;
    mxgpu_mcu_history_clear(mcu);
    mxgpu_mcu_update(mcu);
    return true;
}

void mxgpu_mcu_forget(MxgpuMcu *mcu)
{
    for (uint32_t i = mcu->code_low; i < mcu->code_high; i++) {
        memset(&mcu->code[i], 0xff, sizeof(mcu->code[i]));
        mcu->code[i].op = RV_ILLEGAL;
    }
    mcu->code_low = mcu->sram_size / 2;
    mcu->code_high = 0;
    mcu->left = -1;
    mxgpu_mcu_update(mcu);
}

void mxgpu_mcu_set_lines(MxgpuMcu *mcu, bool timer, bool external)
{
    mcu->s.mip = (timer ? MIP_MTIP : 0) | (external ? MIP_MEIP : 0);
    mxgpu_mcu_update(mcu);
}

void mxgpu_mcu_halt(MxgpuMcu *mcu)
{
    mcu->s.halted = true;
    mcu->attention = true;
}

void mxgpu_mcu_charge(MxgpuMcu *mcu, unsigned instructions)
{
    mcu->left -= instructions;
}

void mxgpu_mcu_lockup(const MxgpuMcu *mcu, uint32_t *cause, uint32_t *pc,
                      uint32_t *value)
{
    *cause = mcu->lock_cause;
    *pc = mcu->lock_pc;
    *value = mcu->lock_value;
}

bool mxgpu_mcu_last_trap(const MxgpuMcu *mcu, uint32_t *cause, uint32_t *pc,
                         uint32_t *value)
{
    *cause = mcu->last_cause;
    *pc = mcu->last_pc;
    *value = mcu->last_value;
    return mcu->trapped;
}

/* ---- traps ---------------------------------------------------------------- */

static bool in_sram(const MxgpuMcu *mcu, uint32_t addr, uint32_t len)
{
    uint32_t offset = addr - mcu->sram_base;

    return offset < mcu->sram_size && len <= mcu->sram_size - offset;
}

/*
 * Enters the handler. A trap that could only repeat itself for ever locks the
 * core up instead: no handler in SRAM, or an exception of the very instruction
 * the handler begins with.
 */
static void trap(MxgpuMcu *mcu, uint32_t cause, uint32_t value)
{
    MxgpuMcuState *s = &mcu->s;
    uint32_t base = s->mtvec & ~3u, handler = base;

    if (mxgpu_mcu_debug_trap(mcu, cause)) {
        return;
    }
    if ((cause & CAUSE_INTERRUPT) && (s->mtvec & 1)) {
        handler += 4 * (cause & ~CAUSE_INTERRUPT);
    }
    if (!in_sram(mcu, handler, 2) ||
        (!(cause & CAUSE_INTERRUPT) && s->pc == handler)) {
        mcu->locked_up = true;
        mcu->lock_cause = cause;
        mcu->lock_pc = s->pc;
        mcu->lock_value = value;
        return;
    }
    if (!(cause & CAUSE_INTERRUPT) && cause != CAUSE_ECALL) {
        mcu->trapped = true;
        mcu->last_cause = cause;
        mcu->last_pc = s->pc;
        mcu->last_value = value;
    }
    if (!(cause & CAUSE_INTERRUPT)) {
        s->trap_pc = s->pc;
        s->trap_ra = s->x[1];
        s->trap_sp = s->x[2];
    }
    s->mepc = s->pc;
    s->mcause = cause;
    s->mtval = value;
    s->mstatus = MSTATUS_MPP | (s->mstatus & MSTATUS_MIE ? MSTATUS_MPIE : 0);
    s->pc = handler;
    mxgpu_mcu_update(mcu);
}

static void take_interrupt(MxgpuMcu *mcu)
{
    uint32_t pending = mcu->s.mip & mcu->s.mie;

    trap(mcu, CAUSE_INTERRUPT | (pending & MIP_MEIP ? 11 : 7), 0);
}

static void return_from_trap(MxgpuMcu *mcu)
{
    MxgpuMcuState *s = &mcu->s;

    s->pc = s->mepc;
    s->mstatus = MSTATUS_MPP | MSTATUS_MPIE |
                 (s->mstatus & MSTATUS_MPIE ? MSTATUS_MIE : 0);
    mxgpu_mcu_update(mcu);
}

/* ---- fetch ---------------------------------------------------------------- */

static uint32_t raw_insn(const MxgpuMcu *mcu, uint32_t offset)
{
    uint16_t low, high = 0;

    memcpy(&low, mcu->sram + offset, 2);
    if (rv_length(low) == 4 && offset + 4 <= mcu->sram_size) {
        memcpy(&high, mcu->sram + offset + 2, 2);
    }
    return low | (uint32_t)high << 16;
}

/* Decodes at pc into its slot; NULL after a trap. */
static __attribute__((noinline)) const RvInsn *fetch_slow(MxgpuMcu *mcu)
{
    uint32_t pc = mcu->s.pc, offset = pc - mcu->sram_base;
    uint32_t slot = offset / 2, raw;

    if (!in_sram(mcu, pc, 2)) {
        trap(mcu, CAUSE_FETCH_ACCESS, pc);
        return NULL;
    }
    raw = raw_insn(mcu, offset);
    if (!in_sram(mcu, pc, rv_length((uint16_t)raw))) {
        trap(mcu, CAUSE_FETCH_ACCESS, pc + 2);
        return NULL;
    }
    if (!rv_decode(raw, 32, MCU_EXTENSIONS, &mcu->code[slot])) {
        trap(mcu, CAUSE_ILLEGAL, raw);
        return NULL;
    }
    if (slot < mcu->code_low) {
        mcu->code_low = slot;
    }
    if (slot >= mcu->code_high) {
        mcu->code_high = slot + 1;
    }
    return &mcu->code[slot];
}

static inline const RvInsn *fetch(MxgpuMcu *mcu)
{
    uint32_t offset = mcu->s.pc - mcu->sram_base;

    if (offset < mcu->sram_size && mcu->code[offset / 2].op != RV_ILLEGAL) {
        return &mcu->code[offset / 2];
    }
    return fetch_slow(mcu);
}

/* ---- execution ------------------------------------------------------------- */

typedef enum Next {
    NEXT_INSN, /* fall through to the following instruction */
    NEXT_JUMP, /* pc is set */
    NEXT_TRAP, /* pc is set, the instruction did not retire */
    NEXT_WFI,
} Next;

static Next fault(MxgpuMcu *mcu, uint32_t cause, uint32_t value)
{
    trap(mcu, cause, value);
    return NEXT_TRAP;
}

static Next load(MxgpuMcu *mcu, const RvInsn *in, unsigned len, bool sign)
{
    uint32_t addr = mcu->s.x[in->rs1] + (uint32_t)in->imm, value = 0;
    uint32_t cause = mxgpu_mcu_load(mcu, addr, len, &value);

    if (cause != CAUSE_NONE) {
        return fault(mcu, cause, addr);
    }
    if (sign) {
        value = len == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
    }
    mcu->s.x[in->rd] = value;
    return NEXT_INSN;
}

static Next store(MxgpuMcu *mcu, const RvInsn *in, unsigned len)
{
    uint32_t addr = mcu->s.x[in->rs1] + (uint32_t)in->imm;
    uint32_t cause = mxgpu_mcu_store(mcu, addr, len, mcu->s.x[in->rs2]);

    return cause == CAUSE_NONE ? NEXT_INSN : fault(mcu, cause, addr);
}

static Next atomic(MxgpuMcu *mcu, const RvInsn *in)
{
    uint32_t addr = mcu->s.x[in->rs1], value = 0;
    uint32_t cause = mxgpu_mcu_atomic(mcu, in, &value);

    if (cause != CAUSE_NONE) {
        return fault(mcu, cause, addr);
    }
    mcu->s.x[in->rd] = value;
    return NEXT_INSN;
}

static Next system_insn(MxgpuMcu *mcu, const RvInsn *in)
{
    MxgpuMcuState *s = &mcu->s;

    switch (in->op) {
    case RV_ECALL:
        return fault(mcu, CAUSE_ECALL, 0);
    case RV_EBREAK:
        return fault(mcu, CAUSE_BREAKPOINT, s->pc);
    case RV_MRET:
        return_from_trap(mcu);
        return NEXT_JUMP;
    case RV_WFI:
        return s->mip & s->mie ? NEXT_INSN : NEXT_WFI;
    case RV_FENCE_I:
        forget_code(mcu);
        return NEXT_INSN;
    default:
        break;
    }
    if (!mxgpu_mcu_csr(mcu, in)) {
        return fault(mcu, CAUSE_ILLEGAL,
                     raw_insn(mcu, s->pc - mcu->sram_base));
    }
    return NEXT_INSN;
}

/* in points into the decode cache: read it before a store may clear it. */
static inline Next execute(MxgpuMcu *mcu, const RvInsn *in)
{
    MxgpuMcuState *s = &mcu->s;
    uint32_t *x = s->x, A = x[in->rs1], B = x[in->rs2];

    switch (in->op) {
#define ALU_R(id, expr)                                                        \
    case RV_##id:                                                              \
        x[in->rd] = (uint32_t)(expr);                                          \
        return NEXT_INSN;
#define ALU_RI(id, immediate, expr)                                            \
    ALU_R(id, expr)                                                            \
    case RV_##immediate:                                                       \
        B = (uint32_t)in->imm;                                                 \
        x[in->rd] = (uint32_t)(expr);                                          \
        return NEXT_INSN;
#define ALU_SHIFT(id, immediate, expr) ALU_RI(id, immediate##_32, expr)
        RV_SEM_LIST_RI(ALU_RI, uint32_t, int32_t, 32, 31)
        RV_SEM_LIST_SHIFT(ALU_SHIFT, uint32_t, int32_t, 32, 31)
        RV_SEM_LIST_R(ALU_R, uint32_t, int32_t, 32, 31)
#undef ALU_R
#undef ALU_RI
#undef ALU_SHIFT
#define BRANCH(id, condition)                                                  \
    case RV_##id:                                                              \
        if (condition) {                                                       \
            s->pc += (uint32_t)in->imm;                                        \
            return NEXT_JUMP;                                                  \
        }                                                                      \
        return NEXT_INSN;
        RV_SEM_LIST_BRANCH(BRANCH, uint32_t, int32_t)
#undef BRANCH
    case RV_LUI:
        x[in->rd] = (uint32_t)in->imm;
        return NEXT_INSN;
    case RV_AUIPC:
        x[in->rd] = s->pc + (uint32_t)in->imm;
        return NEXT_INSN;
    case RV_JAL:
        x[in->rd] = s->pc + in->length;
        s->pc += (uint32_t)in->imm;
        return NEXT_JUMP;
    case RV_JALR:
        x[in->rd] = s->pc + in->length;
        s->pc = (A + (uint32_t)in->imm) & ~1u;
        return NEXT_JUMP;
    case RV_LB:
        return load(mcu, in, 1, true);
    case RV_LH:
        return load(mcu, in, 2, true);
    case RV_LW:
        return load(mcu, in, 4, false);
    case RV_LBU:
        return load(mcu, in, 1, false);
    case RV_LHU:
        return load(mcu, in, 2, false);
    case RV_SB:
        return store(mcu, in, 1);
    case RV_SH:
        return store(mcu, in, 2);
    case RV_SW:
        return store(mcu, in, 4);
    case RV_FENCE:
        return NEXT_INSN; /* one core, in order */
    default:
        return in->format == RV_FMT_AMO || in->format == RV_FMT_LR
                   ? atomic(mcu, in)
                   : system_insn(mcu, in);
    }
}

MxgpuMcuStop mxgpu_mcu_run(MxgpuMcu *mcu, unsigned budget)
{
    MxgpuMcuState *s = &mcu->s;

    if (mcu->locked_up) {
        return MXGPU_MCU_STOP_LOCKUP;
    }
    for (mcu->left = budget; mcu->left > 0; mcu->left--) {
        if (mcu->attention) {
            if (s->halted) {
                return MXGPU_MCU_STOP_HALT;
            }
            if (mxgpu_mcu_interrupted(mcu) && !mcu->debug.pending) {
                take_interrupt(mcu);
            }
            if (mcu->debug.active && !mcu->locked_up &&
                mxgpu_mcu_debug_before(mcu)) {
                return MXGPU_MCU_STOP_DEBUG;
            }
        }
        const RvInsn *in = mcu->locked_up ? NULL : fetch(mcu);
        if (in) {
            uint32_t length = in->length;
            Next next = execute(mcu, in);

            s->x[0] = 0;
            s->cycle++;
            s->instret += next != NEXT_TRAP;
            if (next == NEXT_INSN || next == NEXT_WFI) {
                s->pc += length;
            }
            if (next == NEXT_WFI && !mcu->debug.stepping) {
                return s->halted ? MXGPU_MCU_STOP_HALT : MXGPU_MCU_STOP_WFI;
            }
        }
        if (mcu->locked_up) {
            return MXGPU_MCU_STOP_LOCKUP;
        }
    }
    return s->halted ? MXGPU_MCU_STOP_HALT : MXGPU_MCU_STOP_BUDGET;
}
