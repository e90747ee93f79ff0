/* SPDX-License-Identifier: MIT */
/*
 * Code pages: a copy of 4 KiB of memory, and an op for every halfword, at which
 * an instruction may begin. An op is decoded when it is reached for the first
 * time. A copy is compared with memory once more after a dispatch has started,
 * a TLB was invalidated or a fence.i executed, so that stale code never runs
 * after these.
 */
#include "code.h"

#include "budget.h"

#include <stdlib.h>
#include <string.h>

#define EXTENSIONS                                                             \
    (RV_EXT_I | RV_EXT_M | RV_EXT_A | RV_EXT_F | RV_EXT_D | RV_EXT_C |         \
     RV_EXT_ZICSR | RV_EXT_ZIFENCEI | RV_EXT_ZBA | RV_EXT_ZBB |                \
     RV_EXT_ZICOND | RV_EXT_ZFHMIN | RV_EXT_ZFH | RV_EXT_ZFBFMIN |             \
     RV_EXT_ZACAS | RV_EXT_MX)

/* Reads a page that may be executed. */
static enum mxgpu_fault fetch(MxgpuCu *cu, unsigned vmid, uint64_t va,
                              uint8_t *bytes)
{
    MxgpuMmu *mmu = cu->simt->config.mmu;
    MxgpuTranslation t;
    enum mxgpu_fault fault =
        mxgpu_mmu_translate(mmu, vmid, va, MXGPU_ACCESS_EXECUTE, &t);

    simt_charge(cu, COST_FETCH + COST_BUS * t.host_ops);
    if (fault == MXGPU_FAULT_NONE) {
        fault = mxgpu_mmu_read(mmu, &t, bytes, PAGE_BYTES);
    }
    return fault;
}

static void page_reset(SimtPage *page)
{
    memset(page->ops, 0, sizeof(page->ops));
    memset(page->live, 0, sizeof(page->live));
    memset(page->flive, 0, sizeof(page->flive));
    memset(page->head_of, 0, sizeof(page->head_of));
    page->num_heads = 0;
    page->ops[PAGE_OPS] = (SimtOp){.op = OP_END};
    page->ops[PAGE_OPS + 1] = (SimtOp){.op = OP_END};
}

SimtPage *mxgpu_simt_page(MxgpuCu *cu, const MxgpuWarp *w, uint64_t pc,
                          enum mxgpu_fault *fault)
{
    uint64_t va = pc & ~(uint64_t)(PAGE_BYTES - 1), tag = va | w->c.vmid;
    unsigned slot = ((va >> MXGPU_PAGE_SHIFT) ^ w->c.vmid) % CODE_PAGES;
    SimtPage *page = cu->c.pages[slot];
    uint8_t bytes[PAGE_BYTES];

    if (page && page->tag == tag && page->check == cu->c.code_check) {
        return page;
    }
    *fault = fetch(cu, w->c.vmid, va, bytes);
    if (*fault != MXGPU_FAULT_NONE) {
        return NULL;
    }
    if (!page) {
        page = malloc(sizeof(*page));
        if (!page) {
            /* Page 0 always exists: it then serves this address too. */
            page = cu->c.pages[0];
            page->tag = SIMT_NO_PAGE;
        } else {
            page->tag = SIMT_NO_PAGE;
            cu->c.pages[slot] = page;
        }
    }
    if (page->tag != tag || page->decoding != cu->c.decoding ||
        memcmp(page->bytes, bytes, PAGE_BYTES) != 0) {
        memcpy(page->bytes, bytes, PAGE_BYTES);
        page_reset(page);
        page->decoding = cu->c.decoding;
        page->tag = tag;
    } else {
        /* The next page, with the end of the last op, may have changed. */
        page->ops[PAGE_OPS - 1].op = OP_DECODE;
    }
    page->check = cu->c.code_check;
    return page;
}

void mxgpu_simt_drop_code(MxgpuCu *cu)
{
    cu->c.code_check++;
}

void mxgpu_simt_decode_again(MxgpuSimt *simt)
{
    for (unsigned i = 0; i < simt->config.compute_units; i++) {
        simt->cus[i].c.decoding++;
        mxgpu_simt_drop_code(&simt->cus[i]);
    }
}

static bool is_link(unsigned reg)
{
    return reg == 1 || reg == 5;
}

static void set_target(SimtOp *op, unsigned index)
{
    int64_t to = (int64_t)index * 2 + op->imm;

    op->far = to < 0 || to >= PAGE_BYTES;
}

/* What ops keep of some instructions, for the interpreters' sake. */
static void lower(SimtOp *op, const RvInsn *in, unsigned index)
{
    switch (in->op) {
    case RV_FCVT_W_H:
    case RV_FCVT_WU_H:
    case RV_FCVT_L_H:
    case RV_FCVT_LU_H:
    case RV_FCVT_W_S:
    case RV_FCVT_WU_S:
    case RV_FCVT_L_S:
    case RV_FCVT_LU_S:
    case RV_FCVT_W_D:
    case RV_FCVT_WU_D:
    case RV_FCVT_L_D:
    case RV_FCVT_LU_D:
        op->rm = in->rm <= 4 ? 0 : op->rm; /* a fixed mode is fast as well */
        break;
    case RV_JAL:
        set_target(op, index);
        op->link = is_link(in->rd) ? 1 : 0;
        break;
    case RV_JALR:
        op->link = is_link(in->rd) ? 1 : is_link(in->rs1) ? 2 : 0;
        break;
    case RV_BEQ:
    case RV_BNE:
    case RV_BLT:
    case RV_BGE:
    case RV_BLTU:
    case RV_BGEU:
        set_target(op, index);
        break;
    default:
        /* Without a destination, only memory and control do something. */
        if (op->rd == SINK && (in->format == RV_FMT_I ||
                               in->format == RV_FMT_U ||
                               in->format == RV_FMT_SH ||
                               (in->format == RV_FMT_R && !in->classes &&
                                in->op > RV_GROUP_BACK_OP))) {
            op->op = OP_NOP;
        }
    }
}

/* Notes what the instruction can write (SimtCuCache.written_x, written_d). Of f
 * registers only 64-bit results do: at entry they are 0 in the d planes, and
 * MxgpuWarp.narrow tells which plane is valid. */
static void note_writes(MxgpuCu *cu, const RvInsn *in)
{
    if (!(in->classes & RV_CLASS_FD)) {
        cu->c.written_x |= 1u << in->rd;
    } else if (in->op == RV_FLD || strstr(rv_name(in->op), ".d")) {
        cu->c.written_d |= 1u << in->rd;
    }
}

/* Whether a tool executes the instruction itself. */
static bool is_foreign(const MxgpuCu *cu, uint64_t pc, const RvInsn *in)
{
    const MxgpuSimtConfig *config = &cu->simt->config;

    return config->native && !config->native(config->opaque, pc, in);
}

bool mxgpu_simt_insn(const MxgpuCu *cu, uint64_t pc, uint32_t insn, RvInsn *in)
{
    return rv_decode(insn, 64, EXTENSIONS, in) && !is_foreign(cu, pc, in);
}

static SimtOp translate(MxgpuCu *cu, uint64_t pc, uint32_t insn, unsigned index)
{
    SimtOp op = {.op = OP_BAD};
    RvInsn in;

    if (!mxgpu_simt_insn(cu, pc, insn, &in)) {
        op.len = in.length / 2;
        return op;
    }
    op = (SimtOp){
        .op = in.op,
        .len = in.length / 2,
        .rd = in.rd,
        .r1 = in.rs1,
        .r2 = in.rs2,
        .r3 = in.rs3,
        .imm = in.imm,
        .rm_field = in.rm,
        .classes = in.classes,
    };
    note_writes(cu, &in);
    op.rm = in.rm == 7 ? 1 : in.rm ? 2 : 0;
    if (!(in.classes & RV_CLASS_FD) && in.rd == 0) {
        op.rd = SINK;
    }
    lower(&op, &in, index);
    return op;
}

/* A branch back in its page makes a loop of what is between. */
static void note_loop(SimtPage *page, unsigned index)
{
    const SimtOp *op = &page->ops[index];
    unsigned to, end = index + op->len;
    bool jumps = (op->op == RV_JAL && op->rd == SINK) ||
                 (op->op >= RV_BEQ && op->op <= RV_BGEU);

    if (!jumps || op->far || op->imm > 0) {
        return;
    }
    to = index + op->imm / 2;
    if (!page->head_of[to]) {
        if (page->num_heads == LOOP_HEADS) {
            return;
        }
        page->num_heads++;
        page->head_of[to] = page->num_heads;
    } else if (page->heads[page->head_of[to] - 1].end >= end) {
        return;
    }
    page->heads[page->head_of[to] - 1] = (SimtHead){.end = end};
    page->convoys[page->head_of[to] - 1] = (SimtHead){.end = end};
}

enum mxgpu_fault mxgpu_simt_decode(MxgpuCu *cu, const MxgpuWarp *w,
                                   SimtPage *page, unsigned index)
{
    uint64_t va = page->tag & ~(uint64_t)(PAGE_BYTES - 1);
    uint8_t bytes[PAGE_BYTES];
    uint32_t insn = 0;
    enum mxgpu_fault fault;

    memcpy(&insn, page->bytes + 2 * index, index + 1 < PAGE_OPS ? 4 : 2);
    if (index + 1 == PAGE_OPS && rv_length(insn) == 4) {
        fault = fetch(cu, w->c.vmid, va + PAGE_BYTES, bytes);
        if (fault != MXGPU_FAULT_NONE) {
            return fault;
        }
        insn |= (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 24;
    }
    page->ops[index] = translate(cu, va + 2 * index, insn, index);
    if (cu->simt->jit) {
        note_loop(page, index);
    }
    return MXGPU_FAULT_NONE;
}
