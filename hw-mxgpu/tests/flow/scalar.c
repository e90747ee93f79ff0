/* SPDX-License-Identifier: MIT */
/* One thread alone: a plain interpreter of the instructions that flows use. */
#include <string.h>

#include "flow.h"
#include "ideal.h"
#include "mxgpu/kernel.h"
#include "rv/sem.h"

#define EXTENSIONS                                                             \
    (RV_EXT_I | RV_EXT_M | RV_EXT_A | RV_EXT_C | RV_EXT_ZICSR | RV_EXT_ZBA |   \
     RV_EXT_ZBB | RV_EXT_ZICOND | RV_EXT_MX)

static uint8_t *memory_at(const Flow *f, FlowThread *t, uint64_t va,
                          unsigned len)
{
    uint64_t stack = va - (MXGPU_PRIVATE_END - FLOW_STACK_BYTES);

    if (va - t->data_va <= FLOW_LANE_BYTES - len) {
        return t->data + (va - t->data_va);
    }
    if (va - FLOW_TABLE_VA <= sizeof(f->table) - len) {
        return (uint8_t *)f->table + (va - FLOW_TABLE_VA);
    }
    g_assert_cmpuint(stack, <=, FLOW_STACK_BYTES - len);
    return t->stack + stack;
}

static uint64_t load(const Flow *f, FlowThread *t, const RvInsn *in,
                     unsigned len)
{
    uint64_t v = 0;

    memcpy(&v, memory_at(f, t, t->x[in->rs1] + (uint64_t)in->imm, len), len);
    return v;
}

static void store(const Flow *f, FlowThread *t, const RvInsn *in, unsigned len)
{
    memcpy(memory_at(f, t, t->x[in->rs1] + (uint64_t)in->imm, len),
           &t->x[in->rs2], len);
}

static uint64_t amo(const Flow *f, FlowThread *t, const RvInsn *in)
{
    uint8_t *at = memory_at(f, t, t->x[in->rs1], 8);
    uint64_t M, B = t->x[in->rs2], now;

    memcpy(&M, at, 8);
    switch (in->op) {
#define AMO(ID, e)                                                             \
    case RV_AMO##ID##_D:                                                       \
        now = (e);                                                             \
        break;
        RV_SEM_LIST_AMO(AMO, uint64_t, int64_t)
#undef AMO
    default:
        g_assert_not_reached();
    }
    memcpy(at, &now, 8);
    return M;
}

static uint64_t csr(const FlowThread *t, unsigned number)
{
    g_assert_cmphex(number, ==, MXGPU_CSR_LANE);
    return t->lane;
}

#define SEXT(v) ((uint64_t)(int64_t)(int32_t)(v))
#define CASE(ID, e)                                                            \
    case RV_##ID:                                                              \
        *rd = (e);                                                             \
        return true;
#define CASE_RI(ID, IID, e)                                                    \
    CASE(ID, e)                                                                \
    case RV_##IID:                                                             \
        B = imm;                                                               \
        *rd = (e);                                                             \
        return true;

static bool whole(const RvInsn *in, uint64_t A, uint64_t B, uint64_t *rd)
{
    uint64_t imm = (uint64_t)(int64_t)in->imm;

    switch (in->op) {
        RV_SEM_LIST_RI(CASE_RI, uint64_t, int64_t, 64, 63)
        RV_SEM_LIST_SHIFT(CASE_RI, uint64_t, int64_t, 64, 63)
        RV_SEM_LIST_R(CASE, uint64_t, int64_t, 64, 63)
        RV_SEM_LIST_64(CASE)
        RV_SEM_LIST_1(CASE, uint64_t, int64_t, 64, 63)
        CASE(REV8, rv_rev64(A))
        CASE(ZEXT_H, (uint16_t)A)
        CASE(LUI, imm)
    }
    return false;
}

static bool words(const RvInsn *in, uint32_t A, uint32_t B, uint64_t *rd)
{
    uint32_t imm = (uint32_t)in->imm;
#define WORD(ID, e) CASE(ID, SEXT(e))
#define WORD_RI(ID, IID, e)                                                    \
    CASE(ID, SEXT(e))                                                          \
    case RV_##IID:                                                             \
        B = imm;                                                               \
        *rd = SEXT(e);                                                         \
        return true;

    switch (in->op) {
        RV_SEM_LIST_W_RI(WORD_RI)
        RV_SEM_LIST_W_R(WORD)
        RV_SEM_LIST_W_1(WORD)
    }
    return false;
}

static bool memory(const Flow *f, FlowThread *t, const RvInsn *in, uint64_t *rd)
{
    switch (in->op) {
        CASE(LB, (uint64_t)(int64_t)(int8_t)load(f, t, in, 1))
        CASE(LBU, load(f, t, in, 1))
        CASE(LH, (uint64_t)(int64_t)(int16_t)load(f, t, in, 2))
        CASE(LHU, load(f, t, in, 2))
        CASE(LW, SEXT(load(f, t, in, 4)))
        CASE(LWU, load(f, t, in, 4))
        CASE(LD, load(f, t, in, 8))
    case RV_SB:
        store(f, t, in, 1);
        return true;
    case RV_SH:
        store(f, t, in, 2);
        return true;
    case RV_SW:
        store(f, t, in, 4);
        return true;
    case RV_SD:
        store(f, t, in, 8);
        return true;
    case RV_FENCE:
        return true;
    }
    if (in->format == RV_FMT_AMO) {
        *rd = amo(f, t, in);
        return true;
    }
    return false;
}

static bool taken(RvOp op, uint64_t A, uint64_t B)
{
    switch (op) {
#define BRANCH(ID, e)                                                          \
    case RV_##ID:                                                              \
        return e;
        RV_SEM_LIST_BRANCH(BRANCH, uint64_t, int64_t)
    default:
        g_assert_not_reached();
    }
}

bool flow_run(const Flow *f, FlowThread *t, uint64_t limit)
{
    for (uint64_t n = 0;; n++) {
        uint64_t offset = t->pc - HOST_CODE_VA, next, rd = 0;
        uint32_t insn = 0;
        RvInsn in;

        g_assert_cmpuint(n, <, limit);
        g_assert_cmpuint(offset, <, 4 * f->length);
        memcpy(&insn, (const uint8_t *)f->code + offset, 4);
        g_assert_true(rv_decode(insn, 64, EXTENSIONS, &in));
        next = t->pc + in.length;
        rd = t->x[in.rd];
        t->instructions++;
        if (t->steps) {
            uint64_t step = ideal_step(t->pc, insn);

            g_array_append_val(t->steps, step);
        }
        switch (in.op) {
        case RV_MX_EXIT:
            t->exited = true;
            return true;
        case RV_MX_WARPSYNC:
        case RV_MX_BALLOT:
            return false; /* the caller gives the result, and goes on behind */
        case RV_JAL:
        case RV_JALR:
            rd = next;
            next = in.op == RV_JAL
                       ? t->pc + (uint64_t)in.imm
                       : (t->x[in.rs1] + (uint64_t)in.imm) & ~1ull;
            break;
        case RV_AUIPC:
            rd = t->pc + (uint64_t)in.imm;
            break;
        case RV_CSRRS:
            rd = csr(t, (unsigned)in.imm);
            break;
        default:
            if (in.format == RV_FMT_B) {
                next = taken(in.op, t->x[in.rs1], t->x[in.rs2])
                           ? t->pc + (uint64_t)in.imm : next;
            } else if (!whole(&in, t->x[in.rs1], t->x[in.rs2], &rd) &&
                       !words(&in, (uint32_t)t->x[in.rs1],
                              (uint32_t)t->x[in.rs2], &rd)) {
                g_assert_true(memory(f, t, &in, &rd));
            }
        }
        if (in.format != RV_FMT_B && in.format != RV_FMT_S && in.rd) {
            t->x[in.rd] = rd;
        }
        t->pc = next;
    }
}
