/* SPDX-License-Identifier: MIT */
/*
 * The interpreter of one warp for one instruction set of the host: meson.build
 * compiles the files of this folder once for each, with SIMT_ISA as its name and
 * the compiler's options for it. With SIMT_COUNTING (count.c) it looks at each
 * load and store, and takes samples.
 *
 * There are two labels for each op: F_ID while the group that runs is all of the
 * warp's live lanes, M_ID under a mask. In F_ registers of lanes that are not
 * live may get anything. What instructions do to lanes is in functions (ops.h),
 * most of which are made by macros from lists of instructions (INTEGER_OPS,
 * LOAD_OPS, ...), and named by a prefix and the instruction: ID, as in
 * rv/insns.def (ADDI); or the expression that it computes: E, as in rv/sem.h
 * (ADD, for add and addi).
 *
 *   one lane
 *     l64_E l32_E     the result from whole registers, from their low words
 *     c64_ID c32_ID   whether a branch is taken, likewise
 *   all registers of a warp; false where a function may fail: a lane has
 *   faulted, or the work budget (simt/warp/budget.h) was exhausted before it
 *     f_ID            full: all 64 lanes, operands in the usual form; else g_ID
 *     g_ID            general: all 64 lanes, operands in any form
 *     m_ID            masked: the lanes of SimtWarpCache.m64
 *     l_ID            low words of operands in any form, masked or not
 *     t_ID            the lanes that take a branch (t64_ID and t32_ID compare)
 *     x_ID            a load or store for the lanes of a mask; may fail
 *     fp_ID full_ID   of f registers, for the lanes of a mask, for all 64
 *   one computation for many lanes; false where it cannot be
 *     line_E          lanes that are evenly spaced (SimtLine)
 *     c_ID            the same for the registers of a convoy
 *     way_ID          which way the warps of a convoy take at a branch, and
 *     active_ID       which way its active lanes take
 *   labels of the interpreters' loops
 *     F_ID M_ID       a warp: all of its live lanes, some of them (a mask)
 *     C_ID A_ID       a convoy: all live lanes, some of them (a mask a warp)
 */
#include "loop.h"
#include "jit.h"
#include "simt/sched/barrier.h"
#include "simt/sched/debug.h"
#include "simt/slow/access.h"
#include "simt/warp/budget.h"
#include "simt/warp/count.h"
#include "simt/warp/observe.h"
#include "simt/warp/watch.h"

#ifdef SIMT_COUNTING
#define SIMT_EXEC SIMT_NAME(count)
#else
#define SIMT_EXEC SIMT_NAME(exec)
#endif
SimtExecFn SIMT_EXEC;

/* Splits the group by the targets of a jump and adds the parts to the ready
 * groups. */
static void split_by_target(MxgpuCu *cu, MxgpuWarp *w, const uint64_t *to,
                            int32_t depth)
{
    uint64_t rest = w->s.cur.mask;

    while (rest) {
        uint64_t pc = to[__builtin_ctzll(rest)], same = 0;

        simt_charge(cu, 1);
        for (unsigned i = 0; i < LANES; i++) {
            same |= (uint64_t)(to[i] == pc) << i;
        }
        same &= rest;
        mxgpu_warp_park(w, &(SimtGroup){pc, same, w->s.stamps, depth});
        rest &= ~same;
    }
    w->s.cur.mask = 0;
}

/* mx.warpsync: lanes of the group that name the same set wait together. */
static void warpsync(MxgpuWarp *w, const SimtOp *p)
{
    const uint64_t *a = wide(w, p->r1);
    SimtGroup group = w->s.cur;
    uint64_t rest = group.mask;

    while (rest) {
        uint64_t sync = a[__builtin_ctzll(rest)];

        group.mask = 0;
        for (unsigned i = 0; i < LANES; i++) {
            group.mask |= (uint64_t)(a[i] == sync) << i;
        }
        group.mask &= rest;
        rest &= ~group.mask;
        mxgpu_warp_wait(w, &group, WAIT_WARPSYNC, 0, sync);
    }
    w->s.cur.mask = 0;
    mxgpu_warp_sync(w);
}

static SimtWait wait_kind(unsigned op)
{
    switch (op) {
    case RV_MX_BAR_AND:
        return WAIT_AND;
    case RV_MX_BAR_OR:
        return WAIT_OR;
    case RV_MX_BAR_COUNT:
        return WAIT_COUNT;
    default:
        return WAIT_BARRIER;
    }
}

static void barrier(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p)
{
    SimtWait wait = wait_kind(p->op);
    uint64_t mask = w->s.cur.mask, nonzero = 0;

    if (wait != WAIT_BARRIER) {
        nonzero = mxgpu_warp_nonzero(wide(w, p->r1));
        (void)wide_partly(w, p->rd); /* mxgpu_block_arrive() writes it */
    }
    mxgpu_warp_wait(w, &w->s.cur, wait, p->rd, 0);
    w->s.cur.mask = 0;
    mxgpu_block_arrive(cu, w, mask, nonzero);
}

/*
 * The op of the page at which the group that runs reaches the pc of the next
 * ready group, and should join it; an op that is never reached when there is
 * none in this page.
 */
static const SimtOp *reconvergence_op(const MxgpuWarp *w, const SimtPage *page)
{
    const SimtGroup *next;

    if (w->s.num_ready && !w->s.rotated) {
        next = &w->s.ready[w->s.num_ready - 1];
        if (next->depth == w->s.cur.depth && next->pc >= w->s.cur.pc &&
            (next->pc ^ w->s.cur.pc) < PAGE_BYTES) {
            return &page->ops[(next->pc & (PAGE_BYTES - 1)) >> 1];
        }
    }
    return page->ops + PAGE_OPS + 2;
}

/* ---- one macro for each kind of instruction */

/* Goes to the label of p's op. When counting, a sample may be due before it, or
 * a debugger looks. */
#ifdef SIMT_COUNTING
#define GO(table)                                                              \
    do {                                                                       \
        if (__builtin_expect(ni >= cu->c.sample_at, 0)) {                      \
            goto sample;                                                       \
        }                                                                      \
        goto *table[p->op];                                                    \
    } while (0)
#else
#define GO(table) goto *table[p->op]
#endif

/* Tells who looks at each access of what else lanes do. */
#ifdef SIMT_COUNTING
#define OBSERVE(event, value)                                                  \
    do {                                                                       \
        if (simt_observer(cu->simt)) {                                         \
            mxgpu_simt_observe_event(cu, w, event, PC, mask, value);           \
        }                                                                      \
    } while (0)
#else
#define OBSERVE(event, value) (void)0
#endif

#define NEXT_F                                                                 \
    do {                                                                       \
        ni++;                                                                  \
        p += p->len;                                                           \
        GO(full);                                                              \
    } while (0)
#define NEXT_M                                                                 \
    do {                                                                       \
        ni++;                                                                  \
        p += p->len;                                                           \
        if (__builtin_expect(p >= reconv, 0)) {                                \
            goto reconverge;                                                   \
        }                                                                      \
        GO(masked);                                                            \
    } while (0)

/* Whether lanes that wait do without x[rd], so that the result may go there. */
#define DEAD_RD (w->c.dead >> p->rd & 1)
#define DO_INT(ID, E, IMM)                                                     \
    F_##ID : f_##ID(w, p);                                                     \
    NEXT_F;                                                                    \
    M_##ID : if (DEAD_RD)                                                      \
    {                                                                          \
        f_##ID(w, p);                                                          \
    }                                                                          \
    else                                                                       \
    {                                                                          \
        m_##ID(w, p);                                                          \
    }                                                                          \
    NEXT_M;

/* Whether the alignment of the access is good enough for the dispatch, and who
 * observes it lets it be done. */
#ifdef SIMT_COUNTING
#define ALIGNED                                                                \
    ((!simt_slot(cu, w)->dispatch.strict_align ||                              \
      mxgpu_simt_aligned(cu, w, p, PC, mask)) &&                               \
     (!simt_observer(cu->simt) ||                                              \
      mxgpu_simt_observe_memory(cu, w, p, PC, mask)))
#else
#define ALIGNED true
#endif

#define DO_MEM(ID)                                                             \
    F_##ID : if (!ALIGNED || !x_##ID(cu, w, p, PC, mask)) goto faulted;        \
    NEXT_F;                                                                    \
    M_##ID : if (!ALIGNED || !x_##ID(cu, w, p, PC, mask)) goto faulted;        \
    NEXT_M;
#define DO_LOAD(ID, SIZE, SIGNED) DO_MEM(ID)
#define DO_STORE(ID, T)           DO_MEM(ID)

/* f32 results may go to all lanes of a full warp: the f plane of lanes that are
 * not live may hold anything. f64 results may go to live lanes only. */
#define DO_FP(ID, FULL)                                                        \
    F_##ID : if (__builtin_expect(p->rm + w->c.fp_level >= 2, 0)) {            \
        goto slow_fp_f;                                                        \
    }                                                                          \
    FULL;                                                                      \
    NEXT_F;                                                                    \
    M_##ID : if (__builtin_expect(p->rm + w->c.fp_level >= 2, 0)) {            \
        goto slow_fp_m;                                                        \
    }                                                                          \
    fp_##ID(w, p, mask);                                                       \
    NEXT_M;
#define DO_FP32(ID) DO_FP(ID, full_##ID(w, p))
#define DO_FP64(ID) DO_FP(ID, fp_##ID(w, p, mask))
#define DO_FP_MOVE(ID)                                                         \
    F_##ID : fp_##ID(w, p, mask);                                              \
    NEXT_F;                                                                    \
    M_##ID : fp_##ID(w, p, mask);                                              \
    NEXT_M;

/* At an op that was jumped back to: whether a compiled loop may begin there.
 * What counts accesses has none. */
#if defined(SIMT_COUNTING) || !defined(SIMT_AVX512)
#define AT_HEAD false
#define AT_ENTRY false
#else
/* The same where a group is entered. */
#define AT_ENTRY                                                               \
    (cu->simt->jit && (top = jit_head(page, p - page->ops)) && jit_due(cu, top))
#define AT_HEAD                                                                \
    (page->head_of[p - page->ops] &&                                           \
     jit_due(cu, &page->heads[page->head_of[p - page->ops] - 1]))
#endif

#define DO_BRANCH(ID)                                                          \
    F_##ID : taken = t_##ID(w, p) & mask;                                      \
    if (!taken) {                                                              \
        NEXT_F;                                                                \
    }                                                                          \
    if (__builtin_expect(taken == mask && !p->far, 1)) {                       \
        ni++;                                                                  \
        back = p->imm <= 0;                                                    \
        p += p->imm / 2;                                                       \
        if (back) {                                                            \
            goto back_full;                                                    \
        }                                                                      \
        GO(full);                                                              \
    }                                                                          \
    goto branch;                                                               \
    M_##ID : taken = t_##ID(w, p) & mask;                                      \
    if (!taken) {                                                              \
        NEXT_M;                                                                \
    }                                                                          \
    goto branch;

/* Every op with labels of its own. LAB is F_ or M_. */
#define LABELS                                                                 \
    INTEGER_OPS(LAB_3)                                                         \
    LOAD_OPS(LAB_3)                                                            \
    STORE_OPS(LAB_2)                                                           \
    BRANCH_OPS(LAB)                                                            \
    FP_FLAG_OPS_S(LAB)                                                         \
    FP_FLAG_OPS_D(LAB)                                                         \
    FP_MOVE_OPS(LAB)                                                           \
    LAB(SD) LAB(LUI) LAB(FLW) LAB(FLH) LAB(FLD) LAB(FSW) LAB(FSH) LAB(FSD)     \
    LAB(AUIPC) LAB(JAL) LAB(JALR) LAB(FENCE) LAB(MX_SHFL) LAB(MX_BALLOT)       \
    LAB(MX_ACTIVE) LAB(MX_MATCH_ANY)

/* Ops that are the same in both modes: they may change the group. */
#define COMMON_LABELS(LAB)                                                     \
    LAB(FENCE_I, fence_i) LAB(ECALL, ecall) LAB(EBREAK, ebreak)                \
    LAB(MX_EXIT, exit) LAB(MX_BARRIER, barrier) LAB(MX_BAR_AND, barrier)       \
    LAB(MX_BAR_OR, barrier) LAB(MX_BAR_COUNT, barrier)                         \
    LAB(MX_WARPSYNC, warpsync) LAB(MX_BAR_SYNC, named)                         \
    LAB(MX_BAR_ARRIVE, named) LAB(MX_GRID_SYNC, grid)                          \
    LAB(MX_MMA_F32_F16, mma) LAB(MX_MMA_F32_BF16, mma)                         \
    LAB(MX_MMA_I32_I8, mma) LAB(MX_MMA_I32_U8, mma)                            \
    LAB(CSRRW, csr) LAB(CSRRS, csr) LAB(CSRRC, csr) LAB(CSRRWI, csr)           \
    LAB(CSRRSI, csr) LAB(CSRRCI, csr)

#define PSEUDO_ENTRIES                                                         \
    [OP_DECODE] = &&decode, [OP_BAD] = &&illegal, [OP_END] = &&page_end,

/* To the group's next instruction, under a mask or not as it was. */
#define RESUME                                                                 \
    do {                                                                       \
        if (solo) {                                                            \
            NEXT_F;                                                            \
        }                                                                      \
        NEXT_M;                                                                \
    } while (0)

/* Counts what has been run since the group was entered. */
#define ACCOUNT                                                                \
    do {                                                                       \
        cu->n.lanes_now +=                                                     \
            (ni - w->s.instructions) * __builtin_popcountll(mask);             \
        w->s.instructions = ni;                                                \
    } while (0)

/* Ops that no kernel can name are illegal, then the others are filled in. */
#pragma GCC diagnostic push
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

SimtExit SIMT_EXEC(MxgpuCu *cu, MxgpuWarp *w, uint64_t limit)
{
#define LAB(ID) [RV_##ID] = &&F_##ID,
    static const void *const full[OP_KINDS] = {
        [0 ... OP_KINDS - 1] = &&illegal,
        LABELS COMMON_LABELS(ENTRY) PSEUDO_ENTRIES
        [OP_NOP] = &&F_NOP,
        [RV_LR_W ... RV_AMOCAS_D] = &&F_atomic,
        [RV_MX_AFADD_S ... RV_MX_AFMAX_D] = &&F_atomic,
        [RV_MX_REDUCE_ADD ... RV_MX_REDUCE_FMAX_D] = &&reduce,
    };
#undef LAB
#define LAB(ID) [RV_##ID] = &&M_##ID,
    static const void *const masked[OP_KINDS] = {
        [0 ... OP_KINDS - 1] = &&illegal,
        LABELS COMMON_LABELS(ENTRY) PSEUDO_ENTRIES
        [OP_NOP] = &&M_NOP,
        [RV_LR_W ... RV_AMOCAS_D] = &&M_atomic,
        [RV_MX_AFADD_S ... RV_MX_AFMAX_D] = &&M_atomic,
        [RV_MX_REDUCE_ADD ... RV_MX_REDUCE_FMAX_D] = &&reduce,
    };
#undef LAB
    SimtPage *page;
    const SimtOp *p, *reconv = NULL;
    uint64_t mask, taken, to[LANES], ni = w->s.instructions, lim = limit;
    enum mxgpu_fault code;
    bool solo, same, back;
#if !defined(SIMT_COUNTING) && defined(SIMT_AVX512)
    SimtHead *top;
#endif

#if defined(SIMT_PLAIN)
    for (unsigned r = 0; r < 33; r++) {
        MATERIALIZE(w, r);
    }
#endif
    /* ---- choose a group and find its code */
enter:
    if (!w->s.cur.mask && !mxgpu_warp_pick(w, false)) {
        return w->s.live ? EXIT_BLOCKED : EXIT_DONE;
    }
    mask = w->s.cur.mask;
    if (simt_exhausted(cu)) {
        return EXIT_QUANTUM;
    }
    if (w->s.cur.pc & 1) {
        mxgpu_simt_fault_at(cu, w, __builtin_ctzll(mask),
                            MXGPU_FAULT_MISALIGNED, MXGPU_ACCESS_EXECUTE,
                            w->s.cur.pc, w->s.cur.pc);
        return EXIT_FAULT;
    }
    if (mask != w->c.expanded && mask != ALL_LANES) {
        expand_mask(w, mask);
    }
    page = simt_known_page(cu, w, w->s.cur.pc);
    if (!page) {
        page = mxgpu_simt_page(cu, w, w->s.cur.pc, &code);
    }
    if (!page) {
        mxgpu_simt_fault_at(cu, w, __builtin_ctzll(mask), code,
                            MXGPU_ACCESS_EXECUTE, w->s.cur.pc, w->s.cur.pc);
        return EXIT_FAULT;
    }
    p = &page->ops[(w->s.cur.pc & (PAGE_BYTES - 1)) >> 1];
    solo = mask == w->s.live;
    if (solo) {
        w->s.slice_end = 0;
        if (ni >= limit) {
            return EXIT_QUANTUM;
        }
        if (AT_ENTRY) {
            goto head;
        }
        GO(full);
    }
    if (w->s.slice_end <= ni) {
        bool began = w->s.slice_end == 0;

        w->s.slice_end = ni + GROUP_SLICE;
        if (!began) {
            mxgpu_warp_pick(w, !w->s.rotated);
            goto enter;
        }
    }
    lim = limit < w->s.slice_end ? limit : w->s.slice_end;
    if (ni >= lim) {
        return EXIT_QUANTUM;
    }
    reconv = reconvergence_op(w, page);
    mxgpu_warp_dead(cu, w, page);
    if (AT_ENTRY) {
        goto head;
    }
    GO(masked);

back_full: /* all live lanes have gone back */
    if (ni >= limit) {
        goto quantum;
    }
    if (AT_HEAD) {
        goto head;
    }
    GO(full);
#if defined(SIMT_COUNTING) || !defined(SIMT_AVX512)
head: /* there is none */
    GO(full);
#else
head: /* of a loop that is compiled, or could be */
    ACCOUNT;
    w->s.cur.pc = PC;
    switch (jit_enter(cu, w, page, jit_head(page, p - page->ops), limit)) {
    case JIT_ON:
        ni = w->s.instructions;
        goto enter;
    case JIT_FAULT:
        return EXIT_FAULT;
    default:
        if (solo) {
            GO(full);
        }
        GO(masked);
    }
#endif

#ifdef SIMT_COUNTING
sample:
    if (!mxgpu_simt_look(cu, w, p, PC, mask, ni)) {
        goto faulted;
    }
    if (solo) {
        goto *full[p->op];
    }
    goto *masked[p->op];
#endif

    /* ---- leave the group; p is the next instruction */
quantum:
    ACCOUNT;
    w->s.cur.pc = PC;
    return EXIT_QUANTUM;
slice: /* another group has waited long enough */
    if (ni >= limit) {
        goto quantum;
    }
    ACCOUNT;
    w->s.cur.pc = PC;
    w->s.slice_end = ni + GROUP_SLICE;
    mxgpu_warp_pick(w, !w->s.rotated);
    goto enter;
reconverge:
    ACCOUNT;
    w->s.cur.pc = PC;
    mxgpu_warp_pick(w, false);
    goto enter;
page_end: /* p stands for the first halfword of the next page */
    ACCOUNT;
    w->s.cur.pc = PC;
    if (!solo && !w->s.rotated) {
        mxgpu_warp_pick(w, false);
    }
    if (ni >= limit) {
        return EXIT_QUANTUM;
    }
    goto enter;

    /* ---- faults; p is the instruction */
faulted: /* recorded already; or the work budget is exhausted */
    ACCOUNT;
    w->s.cur.pc = PC;
    return EXIT_FAULT;
decode:
    code = mxgpu_simt_decode(cu, w, page, p - page->ops);
    if (code != MXGPU_FAULT_NONE) {
        mxgpu_simt_fault_at(cu, w, __builtin_ctzll(mask), code,
                            MXGPU_ACCESS_EXECUTE, PC + 2, PC);
        goto faulted;
    }
    if (solo) {
        GO(full);
    }
    GO(masked);
illegal:
    code = MXGPU_FAULT_ILLEGAL;
    goto trap;
ecall:
    code = wide(w, 17)[__builtin_ctzll(mask)] == MXGPU_SYS_ASSERT
               ? MXGPU_FAULT_ASSERT : MXGPU_FAULT_SYSCALL;
    goto trap;
ebreak:
    code = MXGPU_FAULT_BREAKPOINT;
trap:
    ACCOUNT; /* whoever emulates the instruction may count */
    mxgpu_simt_fault_at(cu, w, __builtin_ctzll(mask), code,
                        MXGPU_ACCESS_EXECUTE, PC, PC);
    goto faulted;

    /* ---- jumps */
branch: /* lanes of taken go to p + imm, the others on */
    ni++;
    if (taken == mask) {
        if (p->far) {
            w->s.cur.pc = PC + p->imm;
            goto moved;
        }
        back = p->imm <= 0;
        p += p->imm / 2;
        if (solo) {
            if (back) {
                goto back_full;
            }
            GO(full);
        }
        if (p >= reconv) { /* first: at the end of a slice, too, groups join */
            goto reconverge;
        }
        if (back && ni >= lim) {
            goto slice;
        }
        if (back && AT_HEAD) {
            goto head;
        }
        GO(masked);
    }
    ACCOUNT;
    cu->n.divergent_now++;
    w->s.cur.pc = PC + 2 * p->len;
    w->s.cur.mask = mask & ~taken;
    mxgpu_warp_park(w, &(SimtGroup){PC + p->imm, taken, w->s.stamps,
                                    w->s.cur.depth});
    if (!w->s.rotated) {
        mxgpu_warp_pick(w, false);
    }
    goto enter;
moved: /* cur.pc is new: another group may come first */
    ACCOUNT;
    if (!solo) {
        if (ni >= w->s.slice_end) {
            w->s.slice_end = ni + GROUP_SLICE;
            mxgpu_warp_pick(w, !w->s.rotated);
        } else if (!w->s.rotated) {
            mxgpu_warp_pick(w, false);
        }
    }
    if (ni >= limit) {
        return EXIT_QUANTUM;
    }
    goto enter;
F_JAL:
    set_uniform(w, p->rd, PC + 2 * p->len);
    w->s.cur.depth = call_depth(w->s.cur.depth, p->link & 1);
    ni++;
    if (p->far || (p->imm <= 0 && ni >= limit)) {
        w->s.cur.pc = PC + p->imm;
        goto moved;
    }
    back = p->imm <= 0;
    p += p->imm / 2;
    if (back) {
        goto back_full;
    }
    GO(full);
M_JAL:
    if (p->rd != SINK) {
        set_masked(w, p->rd, PC + 2 * p->len);
    }
    ni++;
    if (p->far || p->link || (p->imm <= 0 && ni >= lim)) {
        w->s.cur.depth = call_depth(w->s.cur.depth, p->link & 1);
        w->s.cur.pc = PC + p->imm;
        goto moved;
    }
    back = p->imm <= 0;
    p += p->imm / 2;
    if (p >= reconv) {
        goto reconverge;
    }
    if (back && AT_HEAD) {
        goto head;
    }
    GO(masked);
F_JALR:
M_JALR:
    ni++;
    same = jalr_targets(w, p, mask, to);
    if (solo) {
        set_uniform(w, p->rd, PC + 2 * p->len);
    } else if (p->rd != SINK) {
        set_masked(w, p->rd, PC + 2 * p->len);
    }
    w->s.cur.depth = call_depth(w->s.cur.depth, p->link == 1   ? 1
                                            : p->link == 2 ? -1
                                                           : 0);
    if (same) {
        w->s.cur.pc = to[__builtin_ctzll(mask)];
        goto moved;
    }
    ACCOUNT;
    cu->n.divergent_now++;
    split_by_target(cu, w, to, w->s.cur.depth);
    goto enter;

    /* ---- control */
exit:
    ni++;
    ACCOUNT;
    w->s.cur.pc = PC + 4;
    mxgpu_block_exit(cu, w, mask);
    if (!w->s.live) {
        return EXIT_DONE;
    }
    goto enter;
barrier:
    ni++;
    ACCOUNT;
    w->s.cur.pc = PC + 4;
    barrier(cu, w, p);
    if (cu->s.blocks[w->c.block].convoy) {
        return EXIT_QUANTUM; /* it has just opened: all go on together */
    }
    goto enter;
named:
    widen_all(w, p);
    same = mxgpu_block_named(cu, w, p, PC);
    goto counted;
grid:
    same = mxgpu_block_grid(cu, w, PC);
counted: /* same: it did not fault */
    if (!same) {
        goto faulted;
    }
    ni++;
    ACCOUNT;
    goto enter;
warpsync:
    if (simt_exhausted(cu)) {
        goto faulted;
    }
#ifdef SIMT_COUNTING
    if (simt_observer(cu->simt)) {
        mxgpu_simt_observe_sync(cu, w, PC, mask, wide(w, p->r1));
    }
#endif
    if (solo && sync_complete(cu, w, p)) {
        NEXT_F;
    }
    ni++;
    ACCOUNT;
    w->s.cur.pc = PC + 4;
    warpsync(w, p);
    simt_charge(cu, w->s.num_waiting);
    goto enter;
fence_i:
    ni++;
    ACCOUNT;
    w->s.cur.pc = PC + 4;
    mxgpu_simt_drop_code(cu);
    goto enter;
csr:
    ACCOUNT; /* cycle is read here */
    if (!mxgpu_simt_csr(cu, w, p, PC, mask)) {
        goto faulted;
    }
    MATERIALIZE(w, p->rd);
    RESUME;
F_FENCE:
    OBSERVE(MXGPU_OBSERVED_FENCE, 0);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    NEXT_F;
M_FENCE: /* the group may wait for others of its warp */
    OBSERVE(MXGPU_OBSERVED_FENCE, 0);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (w->s.slice_end > ni + SPIN_SLICE) {
        w->s.slice_end = ni + SPIN_SLICE;
        lim = limit < w->s.slice_end ? limit : w->s.slice_end;
    }
    NEXT_M;
F_atomic:
    widen_all(w, p);
    if (!mxgpu_simt_atomic(cu, w, p, PC, mask)) {
        goto faulted;
    }
    simt_wrote_wide(w, p->rd);
    NEXT_F;
M_atomic:
    widen_all(w, p);
    if (!mxgpu_simt_atomic(cu, w, p, PC, mask)) {
        goto faulted;
    }
    simt_wrote_wide(w, p->rd);
    if (w->s.slice_end > ni + SPIN_SLICE) {
        w->s.slice_end = ni + SPIN_SLICE;
        lim = limit < w->s.slice_end ? limit : w->s.slice_end;
    }
    NEXT_M;
slow_fp_f:
    if (rounded(w, p, mask)) {
        NEXT_F;
    }
    widen_all(w, p);
    if (!mxgpu_simt_float(cu, w, p, PC, mask)) {
        goto faulted;
    }
    simt_wrote_wide(w, p->rd);
    NEXT_F;
slow_fp_m:
    if (rounded(w, p, mask)) {
        NEXT_M;
    }
    widen_all(w, p);
    if (!mxgpu_simt_float(cu, w, p, PC, mask)) {
        goto faulted;
    }
    simt_wrote_wide(w, p->rd);
    NEXT_M;
F_NOP:
    NEXT_F;
M_NOP:
    NEXT_M;

    /* ---- exchanges */
reduce:
    if (simt_exhausted(cu)) {
        goto faulted;
    }
    reduce(cu, w, p, mask);
    RESUME;
mma:
    if (mask != ALL_LANES) {
        goto illegal;
    }
    if (simt_exhausted(cu)) {
        goto faulted;
    }
    simt_charge(cu, COST_MMA);
    if (p->op <= RV_MX_MMA_F32_BF16) {
        mma_f32(w, p);
    } else {
        mma_i32(w, p);
    }
    RESUME;
F_MX_SHFL:
    shuffle(w, p, mask);
    NEXT_F;
M_MX_SHFL:
    shuffle(w, p, mask);
    NEXT_M;
F_MX_BALLOT:
    set_uniform(w, p->rd, mxgpu_warp_nonzero(wide(w, p->r1)) & mask);
    NEXT_F;
M_MX_BALLOT:
    set_masked(w, p->rd, mxgpu_warp_nonzero(wide(w, p->r1)) & mask);
    NEXT_M;
F_MX_ACTIVE:
    set_uniform(w, p->rd, mask);
    NEXT_F;
M_MX_ACTIVE:
    set_masked(w, p->rd, mask);
    NEXT_M;
F_MX_MATCH_ANY:
    if (simt_exhausted(cu)) {
        goto faulted;
    }
    match_any(cu, w, p, mask);
    NEXT_F;
M_MX_MATCH_ANY:
    if (simt_exhausted(cu)) {
        goto faulted;
    }
    match_any(cu, w, p, mask);
    NEXT_M;
F_AUIPC:
    set_uniform(w, p->rd, PC + p->imm);
    NEXT_F;
M_AUIPC:
    set_masked(w, p->rd, PC + p->imm);
    NEXT_M;
F_LUI:
    set_uniform(w, p->rd, (uint64_t)(int64_t)p->imm);
    NEXT_F;
M_LUI:
    set_masked(w, p->rd, (uint64_t)(int64_t)p->imm);
    NEXT_M;

    /* ---- one lane loop each */
    INTEGER_OPS(DO_INT)
    LOAD_OPS(DO_LOAD)
    STORE_OPS(DO_STORE)
    DO_MEM(SD)
    DO_MEM(FLW)
    DO_MEM(FLH)
    DO_MEM(FLD)
    DO_MEM(FSW)
    DO_MEM(FSH)
    DO_MEM(FSD)
    FP_FLAG_OPS_S(DO_FP32)
    FP_FLAG_OPS_D(DO_FP64)
    FP_MOVE_OPS(DO_FP_MOVE)
    BRANCH_OPS(DO_BRANCH)
}
#pragma GCC diagnostic pop
