/* SPDX-License-Identifier: MIT */
/*
 * The interpreter of convoys: like that of warps (exec.c), a label for each op:
 * C_ID for all live lanes, A_ID for those that are active. An op that has none
 * ends the convoy, as does all that is not done here: each warp then goes on by
 * itself.
 */
#include "convoy.h"
#include "gather.h"
#include "loop.h"
#include "jit.h"
#include "jit_convoy.h"
#include "simt/sched/barrier.h"
#include "simt/sched/slots.h"
#include "simt/warp/count.h"

#define SIMT_CONVOY SIMT_NAME(convoy)
SimtConvoyFn SIMT_CONVOY;

#define C_GO goto *table[p->op]
#define C_NEXT                                                                 \
    do {                                                                       \
        ran++;                                                                 \
        p += p->len;                                                           \
        C_GO;                                                                  \
    } while (0)

#define C_NEXT_MASKED                                                          \
    do {                                                                       \
        ran++;                                                                 \
        p += p->len;                                                           \
        if (p >= reconv) {                                                     \
            goto reconverge;                                                   \
        }                                                                      \
        goto *masked[p->op];                                                   \
    } while (0)

/* For each warp w, the k-th one; mask: its active lanes. */
#define EACH_WARP                                                              \
    for (k = 0; k < c.n && (w = c.w[k], mask = c.mask[k], true); k++)
/* For each warp that has active lanes. */
#define EACH_ACTIVE                                                            \
    EACH_WARP                                                                  \
        if (mask)

/* Counts what has been run since this was last done. */
#define C_ACCOUNT                                                              \
    do {                                                                       \
        total += convoy_account(cu, &c, ran);                                  \
        each -= ran < each ? ran : each;                                       \
        ran = 0;                                                               \
    } while (0)

/* As DEAD_RD of a warp. */
#define C_DEAD_RD (c.dead >> p->rd & 1)
#define C_INT(ID, E, IMM)                                                      \
    C_##ID : if (!c_##ID(&c, p)) {                                             \
        split_sources(&c, p);                                                  \
        EACH_WARP {                                                            \
            f_##ID(w, p);                                                      \
        }                                                                      \
        c.form[p->rd] = CONVOY_SPLIT;                                          \
    }                                                                          \
    C_NEXT;                                                                    \
    A_##ID : if (c.all_run && C_DEAD_RD && c_##ID(&c, p)) {                    \
        C_NEXT_MASKED;                                                         \
    }                                                                          \
    split_all(&c, p);                                                          \
    EACH_ACTIVE {                                                              \
        if (mask == w->s.live || C_DEAD_RD) {                                  \
            f_##ID(w, p);                                                      \
        } else {                                                               \
            m_##ID(w, p);                                                      \
        }                                                                      \
    }                                                                          \
    C_NEXT_MASKED;

#define C_EACH_MEM(ID)                                                         \
    split_sources(&c, p);                                                      \
    EACH_WARP {                                                                \
        if (!x_##ID(cu, w, p, PC, mask)) {                                     \
            goto failed;                                                       \
        }                                                                      \
    }                                                                          \
    split_result(&c, p);                                                       \
    C_NEXT;                                                                    \
    A_##ID : split_all(&c, p);                                                 \
    EACH_ACTIVE {                                                              \
        if (!x_##ID(cu, w, p, PC, mask)) {                                     \
            goto failed;                                                       \
        }                                                                      \
    }                                                                          \
    C_NEXT_MASKED;
#define C_LOAD(ID, SIZE, SIGNED)                                               \
    C_##ID : at = convoy_one(cu, &c, p, SIZE);                                 \
    if (at) {                                                                  \
        convoy_set_uniform(&c, p->rd, load_scalar(at, SIZE, SIGNED));          \
        C_NEXT;                                                                \
    }                                                                          \
    if (RV_##ID == RV_LW && convoy_load(cu, &c, p)) {                          \
        C_NEXT;                                                                \
    }                                                                          \
    C_EACH_MEM(ID)
#define C_STORE(ID, T)                                                         \
    C_##ID : if (RV_##ID == RV_SW && convoy_store(cu, &c, p)) {                \
        C_NEXT;                                                                \
    }                                                                          \
    C_EACH_MEM(ID)
#define C_MEM(ID) C_##ID : C_EACH_MEM(ID)

/* CALL: that for all live lanes of a warp. */
#define C_FP(ID, CALL)                                                         \
    C_##ID : if (__builtin_expect(p->rm >= 2, 0)) goto slow_fp;                \
    C_EACH_FP(ID, CALL)                                                        \
    A_##ID : if (__builtin_expect(p->rm >= 2, 0)) goto slow_fp_masked;         \
    A_EACH_FP(ID, CALL)
#define A_EACH_FP(ID, CALL)                                                    \
    split_all(&c, p);                                                          \
    EACH_ACTIVE {                                                              \
        if (mask == w->s.live) {                                               \
            CALL;                                                              \
        } else {                                                               \
            fp_##ID(w, p, mask);                                               \
        }                                                                      \
    }                                                                          \
    C_NEXT_MASKED;
#define C_EACH_FP(ID, CALL)                                                    \
    if (p->classes != (RV_CLASS_FD | RV_CLASS_F1 | RV_CLASS_F2)) {             \
        split_sources(&c, p);                                                  \
        split_result(&c, p);                                                   \
    }                                                                          \
    EACH_WARP {                                                                \
        CALL;                                                                  \
    }                                                                          \
    C_NEXT;
#define C_FP32(ID) C_FP(ID, full_##ID(w, p))
#define C_FP64(ID) C_FP(ID, fp_##ID(w, p, mask))
#define C_FP_MOVE(ID)                                                          \
    C_##ID : C_EACH_FP(ID, fp_##ID(w, p, mask))                                \
    A_##ID : A_EACH_FP(ID, fp_##ID(w, p, mask))

#define C_BRANCH(ID)                                                           \
    C_##ID : way = way_##ID(&c, p);                                            \
    if (way == WAY_ON) {                                                       \
        C_NEXT;                                                                \
    }                                                                          \
    if (__builtin_expect(way == WAY_TAKEN && !p->far, 1)) {                    \
        ran++;                                                                 \
        if (p->imm <= 0) {                                                     \
            goto back;                                                         \
        }                                                                      \
        p += p->imm / 2;                                                       \
        C_GO;                                                                  \
    }                                                                          \
    if (way == WAY_BOTH) {                                                     \
        goto diverge;                                                          \
    }                                                                          \
    ran++;                                                                     \
    pc = PC + p->imm;                                                          \
    goto moved;

#define C_BRANCH_ACTIVE(ID)                                                    \
    A_##ID : way = active_##ID(&c, p);                                         \
    if (way == WAY_ON) {                                                       \
        C_NEXT_MASKED;                                                         \
    }                                                                          \
    goto branch_masked;

#define CONVOY_LABELS                                                          \
    INTEGER_OPS(LAB_3)                                                         \
    LOAD_OPS(LAB_3)                                                            \
    STORE_OPS(LAB_2)                                                           \
    FP_FLAG_OPS_S(LAB)                                                         \
    FP_FLAG_OPS_D(LAB)                                                         \
    FP_MOVE_OPS(LAB)                                                           \
    LAB(SD) LAB(FLW) LAB(FLH) LAB(FLD) LAB(FSW) LAB(FSH) LAB(FSD)
#define CONVOY_COMMON(LAB)                                                     \
    LAB(MX_EXIT, exit) LAB(MX_BARRIER, barrier) LAB(MX_WARPSYNC, warpsync)     \
    LAB(MX_MMA_F32_F16, mma) LAB(MX_MMA_F32_BF16, mma)                         \
    LAB(MX_MMA_I32_I8, mma) LAB(MX_MMA_I32_U8, mma)                            \
    LAB(MX_SHFL, shfl) LAB(MX_BALLOT, ballot) LAB(MX_ACTIVE, active)           \
    LAB(MX_MATCH_ANY, match) LAB(LUI, lui) LAB(AUIPC, auipc) LAB(JAL, jal)     \
    LAB(JALR, jalr) LAB(FENCE, fence)                                          \
    LAB(CSRRW, csr) LAB(CSRRS, csr) LAB(CSRRC, csr) LAB(CSRRWI, csr)           \
    LAB(CSRRSI, csr) LAB(CSRRCI, csr)

#pragma GCC diagnostic push
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

uint64_t SIMT_CONVOY(MxgpuCu *cu, SimtBlock *block, uint64_t each)
{
#define LAB(ID) [RV_##ID] = &&C_##ID,
    static const void *const table[OP_KINDS] = {
        [0 ... OP_KINDS - 1] = &&disband,
        CONVOY_LABELS
        BRANCH_OPS(LAB)
        CONVOY_COMMON(ENTRY)
        [OP_DECODE] = &&decode, [OP_END] = &&page_end, [OP_NOP] = &&nop,
        [RV_LR_W ... RV_AMOCAS_D] = &&atomic,
        [RV_MX_AFADD_S ... RV_MX_AFMAX_D] = &&atomic,
        [RV_MX_REDUCE_ADD ... RV_MX_REDUCE_FMAX_D] = &&reduce,
    };
#undef LAB
#define LAB(ID) [RV_##ID] = &&A_##ID,
    /* while some lanes wait at the reconvergence point, op "reconv" */
    static const void *const masked[OP_KINDS] = {
        [0 ... OP_KINDS - 1] = &&disband,
        CONVOY_LABELS
        BRANCH_OPS(LAB)
        [RV_LUI] = &&upper_masked, [RV_AUIPC] = &&upper_masked,
        [RV_JAL] = &&jal_masked,
        [RV_JALR] = &&ret_masked,
        [OP_DECODE] = &&decode, [OP_NOP] = &&nop_masked,
        [RV_LR_W ... RV_AMOCAS_D] = &&atomic_masked,
        [RV_MX_AFADD_S ... RV_MX_AFMAX_D] = &&atomic_masked,
    };
#undef LAB
    Convoy c;
    SimtPage *page;
    const SimtOp *p, *to, *reconv = NULL;
    MxgpuWarp *w;
    uint64_t pc, mask, value, ran = 0, total = 0;
    uintptr_t at;
    int32_t depth;
    unsigned k;
    ConvoyWay way;
    enum mxgpu_fault code;
    bool left_code = false; /* in front of where the lanes parted, perhaps */
#if defined(SIMT_AVX512)
    uint64_t done;
#endif

    if (!convoy_gather(cu, block, &c)) {
        block->convoy = false;
        mxgpu_block_init_x(cu, block);
        return 0;
    }
    convoy_reconverge(&c);
start:
    convoy_registers(&c, block, simt_slot(cu, c.w[0])->dispatch.args);
    pc = c.w[0]->s.cur.pc;
    depth = c.w[0]->s.cur.depth;

moved: /* pc is new */
    if (ran >= each || simt_exhausted(cu)) {
        goto quantum_at;
    }
    page = simt_known_page(cu, c.w[0], pc);
    if (!page) {
        page = mxgpu_simt_page(cu, c.w[0], pc, &code);
    }
    if (!page || pc & 1) { /* a warp says what is wrong */
        block->convoy = false;
        goto quantum_at;
    }
    p = &page->ops[(pc & (PAGE_BYTES - 1)) >> 1];
begin: /* code may begin here that is compiled, or could be */
    if (!cu->simt->jit || !jit_head(page, p - page->ops)) {
        C_GO;
    }
    goto head;
back: /* all go back */
    p += p->imm / 2;
    if (ran >= each) {
        goto quantum;
    }
    left_code = false;
    if (!page->head_of[p - page->ops]) {
        C_GO;
    }
head:
#if defined(SIMT_AVX512)
    if (jit_due(cu, convoy_head(page, p))) {
        goto compiled;
    }
stay:
#endif
    if (jit_ready(page, p)) { /* each warp for itself */
        block->convoy = false;
        goto quantum;
    }
    C_GO;
#if defined(SIMT_AVX512)
compiled:
    C_ACCOUNT;
    switch (jit_convoy(cu, &c, page, convoy_head(page, p),
                       &(JitAt){PC, depth, each}, &done)) {
    case JIT_STAY:
        goto stay;
    case JIT_ON:
        break;
    default:
        block->convoy = false;
        return total + done;
    }
    left_code = true;
    total += done;
    done /= c.n;
    each -= done < each ? done : each;
    pc = c.w[0]->s.cur.pc;
    if (done) {
        goto moved;
    }
    p = &page->ops[(pc & (PAGE_BYTES - 1)) >> 1];
    C_GO;
#endif

    /* ---- the end of a convoy; p is the next instruction */
disband:
    block->convoy = false;
    if (reconv) {
        goto disband_masked;
    }
quantum:
    pc = PC;
quantum_at:
    C_ACCOUNT;
    convoy_disband(&c, pc, depth);
    return total;
disband_masked:
    pc = PC;
disband_there:
    C_ACCOUNT;
    convoy_disband(&c, pc, depth);
    convoy_pick(&c);
    return total;
failed: /* warp k has faulted, or the budget is exhausted; warps before it have
         * done the instruction */
    block->convoy = false;
    C_ACCOUNT;
    convoy_failed(&c, p, k);
    convoy_disband(&c, PC, depth);
    total += convoy_ahead(cu, &c, p, k);
    convoy_pick(&c);
    return total;

    /* ---- branches that some lanes take: forward ones have a reconvergence
     * point */
diverge:
    if (p->imm <= 0 || p->far) {
        goto disband;
    }
    ran++;
    C_ACCOUNT;
    reconv = p + p->imm / 2;
    convoy_diverge(cu, &c, page, PC + p->imm, depth);
    p += p->len;
    if (p < reconv) {
        goto *masked[p->op];
    }
reconverge:
    if (p != reconv) {
        block->convoy = false; /* it jumps into an instruction */
        goto disband_masked;
    }
    C_ACCOUNT;
    convoy_reconverge(&c);
    reconv = NULL;
    if (left_code) {
        goto begin;
    }
    C_GO;
jal_masked:
    if (p->rd != SINK) {
        goto disband;
    }
    way = WAY_TAKEN;
branch_masked: /* some of the active lanes go to p + imm, or all */
    to = p + p->imm / 2;
    if (p->imm <= 0 || p->far || (way == WAY_BOTH && to != reconv) ||
        (c.spun && (way == WAY_BOTH || to > reconv))) {
        goto disband; /* the last: others may be due */
    }
    ran++;
    if (way == WAY_BOTH) {
        C_ACCOUNT;
        convoy_leave(cu, &c);
        p += p->len;
    } else if (to > reconv) {
        C_ACCOUNT;
        convoy_pass(cu, &c, page, PC + p->imm);
        p = reconv;
        reconv = to;
    } else {
        p = to;
    }
    if (p >= reconv) {
        goto reconverge;
    }
    goto *masked[p->op];
ret_masked:
    if (p->rd != SINK || p->link != 2 || !jump_together(&c, p, &pc)) {
        goto disband;
    }
    ran++;
    C_ACCOUNT;
    if (!c.returned) {
        convoy_swap(cu, &c, page, pc, call_depth(depth, -1));
        p = reconv;
        reconv = page->ops + PAGE_OPS + 2; /* not in this call frame */
        goto *masked[p->op];
    }
    depth = call_depth(depth, -1);
    if (pc != c.reconv_pc || depth != c.reconv_depth) {
        block->convoy = false;
        goto disband_there;
    }
    convoy_reconverge(&c);
    reconv = NULL;
    goto moved;
page_end: /* p stands for the first halfword of the next page */
    pc = PC;
    goto moved;
decode: /* a fault is found again, by a warp */
    if (mxgpu_simt_decode(cu, c.w[0], page, p - page->ops) !=
        MXGPU_FAULT_NONE) {
        goto disband;
    }
    if (reconv) {
        goto *masked[p->op];
    }
    C_GO;
exit:
    ran++;
    C_ACCOUNT;
    if (each && mxgpu_slot_restart_block(cu, block)) {
        goto start;
    }
    EACH_WARP {
        w->s.cur.pc = PC + 4;
        mxgpu_block_exit(cu, w, mask);
    }
    return total;

    /* ---- jumps */
jal:
    convoy_set_uniform(&c, p->rd, PC + 2 * p->len);
    depth = call_depth(depth, p->link & 1);
    ran++;
    if (p->far || (p->imm <= 0 && ran >= each)) {
        pc = PC + p->imm;
        goto moved;
    }
    p += p->imm / 2;
    C_GO;
jalr:
    if (!jump_together(&c, p, &pc)) {
        goto disband;
    }
    convoy_set_uniform(&c, p->rd, PC + 2 * p->len);
    depth = call_depth(depth, p->link == 1 ? 1 : p->link == 2 ? -1 : 0);
    ran++;
    goto moved;

    /* ---- control */
nop:
    C_NEXT;
nop_masked:
    C_NEXT_MASKED;
fence:
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    C_NEXT;
barrier: /* all threads that have not ended are here */
    simt_count(cu, COUNT_barrier_waits, c.n);
    ran++;
    p += p->len;
    if (p - page->ops >= PAGE_OPS) {
        C_GO;
    }
    goto begin;
warpsync:
    if (simt_exhausted(cu)) {
        goto disband;
    }
    convoy_split(&c, p->r1);
    EACH_WARP {
        if (!sync_complete(cu, w, p)) {
            goto disband;
        }
    }
    C_NEXT;
csr:
    C_ACCOUNT; /* cycle is read here */
    if (mxgpu_simt_csr_uniform(cu, c.w[0], p, &value)) {
        convoy_set_uniform(&c, p->rd, value);
        C_NEXT;
    }
    if (p->op != RV_CSRRS || p->r1 != 0) {
        goto disband; /* may write */
    }
    if (convoy_thread(cu, &c, p)) {
        C_NEXT;
    }
    convoy_split(&c, p->rd);
    EACH_WARP {
        if (!mxgpu_simt_csr(cu, w, p, PC, mask)) {
            goto failed;
        }
        MATERIALIZE(w, p->rd);
    }
    split_result(&c, p);
    C_NEXT;
atomic:
    split_sources(&c, p);
    convoy_split(&c, p->rd);
    EACH_WARP {
        widen_all(w, p);
        if (!mxgpu_simt_atomic(cu, w, p, PC, mask)) {
            goto failed;
        }
        simt_wrote_wide(w, p->rd);
    }
    split_result(&c, p);
    C_NEXT;
atomic_masked:
    split_all(&c, p);
    c.spun = true;
    EACH_ACTIVE {
        widen_all(w, p);
        if (!mxgpu_simt_atomic(cu, w, p, PC, mask)) {
            goto failed;
        }
        simt_wrote_wide(w, p->rd);
        if (mask != w->s.live && !w->s.slice_end) {
            w->s.slice_end = w->s.instructions + ran + SPIN_SLICE;
        }
    }
    C_NEXT_MASKED;
slow_fp:
    split_sources(&c, p);
    if (!(p->classes & RV_CLASS_FD)) {
        convoy_split(&c, p->rd);
    }
    EACH_WARP {
        if (!rounded(w, p, mask)) {
            widen_all(w, p);
            if (!mxgpu_simt_float(cu, w, p, PC, mask)) {
                goto failed;
            }
            simt_wrote_wide(w, p->rd);
        }
    }
    split_result(&c, p);
    C_NEXT;
slow_fp_masked:
    split_all(&c, p);
    EACH_ACTIVE {
        if (!rounded(w, p, mask)) {
            widen_all(w, p);
            if (!mxgpu_simt_float(cu, w, p, PC, mask)) {
                goto failed;
            }
            simt_wrote_wide(w, p->rd);
        }
    }
    C_NEXT_MASKED;
lui:
    convoy_set_uniform(&c, p->rd, (uint64_t)(int64_t)p->imm);
    C_NEXT;
auipc:
    convoy_set_uniform(&c, p->rd, PC + p->imm);
    C_NEXT;
upper_masked:
    value = (uint64_t)(int64_t)p->imm + (p->op == RV_AUIPC ? PC : 0);
    if (c.all_run && C_DEAD_RD) {
        convoy_set_uniform(&c, p->rd, value);
        C_NEXT_MASKED;
    }
    split_all(&c, p);
    EACH_ACTIVE {
        if (mask == w->s.live) {
            set_uniform(w, p->rd, value);
        } else {
            set_masked(w, p->rd, value);
        }
    }
    C_NEXT_MASKED;

    /* ---- exchanges inside each warp */
shfl:
    split_sources(&c, p);
    convoy_split(&c, p->rd);
    EACH_WARP {
        shuffle(w, p, mask);
    }
    split_result(&c, p);
    C_NEXT;
ballot:
    convoy_split(&c, p->r1);
    EACH_WARP {
        set_uniform(w, p->rd, mxgpu_warp_nonzero(wide(w, p->r1)) & mask);
    }
    split_result(&c, p);
    C_NEXT;
active:
    EACH_WARP {
        set_uniform(w, p->rd, mask);
    }
    split_result(&c, p);
    C_NEXT;
match:
    split_sources(&c, p);
    convoy_split(&c, p->rd);
    EACH_WARP {
        if (simt_exhausted(cu)) {
            goto failed;
        }
        match_any(cu, w, p, mask);
    }
    split_result(&c, p);
    C_NEXT;
reduce:
    split_sources(&c, p);
    convoy_split(&c, p->rd);
    EACH_WARP {
        if (simt_exhausted(cu)) {
            goto failed;
        }
        reduce(cu, w, p, mask);
    }
    split_result(&c, p);
    C_NEXT;
mma:
    if (!c.whole) {
        goto disband; /* illegal */
    }
    split_sources(&c, p);
    for (unsigned i = 0; p->op >= RV_MX_MMA_I32_I8 && i < 4; i++) {
        convoy_split(&c, p->rd + i);
        c.form[p->rd + i] = CONVOY_SPLIT;
    }
    EACH_WARP {
        if (simt_exhausted(cu)) {
            goto failed;
        }
        simt_charge(cu, COST_MMA);
        if (p->op <= RV_MX_MMA_F32_BF16) {
            mma_f32(w, p);
        } else {
            mma_i32(w, p);
        }
    }
    C_NEXT;

    /* ---- one loop over warps each */
    INTEGER_OPS(C_INT)
    LOAD_OPS(C_LOAD)
    STORE_OPS(C_STORE)
    C_MEM(SD)
C_FLW:
    if (convoy_load(cu, &c, p)) {
        C_NEXT;
    }
    C_EACH_MEM(FLW)
C_FSW:
    if (convoy_store(cu, &c, p)) {
        C_NEXT;
    }
    C_EACH_MEM(FSW)
    C_MEM(FLH)
    C_MEM(FLD)
    C_MEM(FSH)
    C_MEM(FSD)
    FP_FLAG_OPS_S(C_FP32)
    FP_FLAG_OPS_D(C_FP64)
    FP_MOVE_OPS(C_FP_MOVE)
    BRANCH_OPS(C_BRANCH)
    BRANCH_OPS(C_BRANCH_ACTIVE)
}
#pragma GCC diagnostic pop
