/* SPDX-License-Identifier: MIT */
/*
 * Lanes that wait keep what they will read, and nothing else: in registers that
 * they write before they read them, if they do at all, the lanes that run may
 * leave results in all lanes. That is much cheaper than a result under a mask
 * (and leaves lines lines), and most results are such: what an arm of a branch
 * computes is seldom read behind it.
 *
 * What is live at an op follows from the code of its page, and from nothing
 * else, so that all builds have the same in all lanes, whatever is cached.
 * Calls, returns and what leaves the page may read everything, the end of a
 * thread nothing.
 *
 * The same of f registers is for compiled code: it keeps nothing between blocks, and
 * puts nothing back into the warp, that nobody reads.
 */
#include "live.h"

#include "budget.h"
#include "code.h"
#include "warp.h"

#include <string.h>

#define PASSES     16 /* over the code; what then still changes is all live */
#define GROUPS_MAX 8  /* that are looked at */
#define NO_OP      UINT16_MAX

typedef struct LiveOp {
    uint32_t reads, writes, freads, fwrites;
    uint16_t next, target; /* ops that may follow, or NO_OP */
} LiveOp;

typedef struct LiveWork {
    LiveOp ops[PAGE_OPS];
    uint64_t found[PAGE_OPS / 64]; /* a bit an op: those to be found out */
    uint16_t stack[PAGE_OPS];      /* of these, not decoded yet */
    unsigned depth, count;
} LiveWork;

/* Whether the instruction does what its operands say, and goes on behind it. */
static bool is_plain(const RvInsn *in)
{
    switch (in->op) {
    case RV_ECALL:
    case RV_EBREAK:
    case RV_FENCE_I:
    case RV_JAL:
    case RV_JALR:
        return false;
    default:
        return in->format != RV_FMT_R_QUAD;
    }
}

/* The op at which "distance" bytes from index is; NO_OP: in another page. */
static uint16_t op_at(unsigned index, int32_t distance)
{
    int64_t to = 2 * (int64_t)index + distance;

    return to >= 0 && to < PAGE_BYTES && !(distance & 1) ? to / 2 : NO_OP;
}

/* What the op reads and writes and where it leads; false: it may read
 * everything. */
static bool describe(MxgpuCu *cu, const SimtPage *page, unsigned index,
                     LiveOp *op)
{
    uint64_t pc = (page->tag & ~(uint64_t)(PAGE_BYTES - 1)) + 2 * index;
    uint32_t insn = 0;
    RvInsn in;

    memcpy(&insn, page->bytes + 2 * index, index + 1 < PAGE_OPS ? 4 : 2);
    if ((index + 1 == PAGE_OPS && rv_length(insn) == 4) ||
        !mxgpu_simt_insn(cu, pc, insn, &in)) {
        return false;
    }
    *op = (LiveOp){.next = NO_OP, .target = NO_OP};
    if (in.op == RV_MX_EXIT) {
        return true;
    }
    if (in.op == RV_JAL && in.rd == 0) {
        op->next = op_at(index, in.imm);
        return op->next != NO_OP;
    }
    op->next = op_at(index, in.length);
    if (!is_plain(&in) || op->next == NO_OP) {
        return false;
    }
    if (in.format == RV_FMT_B) {
        op->target = op_at(index, in.imm);
        if (op->target == NO_OP) {
            return false;
        }
    }
    op->reads = (in.classes & RV_CLASS_F1 ? 0 : 1u << in.rs1) |
                (in.classes & RV_CLASS_F2 ? 0 : 1u << in.rs2) |
                (in.format == RV_FMT_CAS ? 1u << in.rs3 : 0);
    op->writes = in.classes & RV_CLASS_FD ? 0 : 1u << in.rd;
    op->freads = (in.classes & RV_CLASS_F1 ? 1u << in.rs1 : 0) |
                 (in.classes & RV_CLASS_F2 ? 1u << in.rs2 : 0) |
                 (in.format == RV_FMT_R4 ? 1u << in.rs3 : 0);
    op->fwrites = in.classes & RV_CLASS_FD ? 1u << in.rd : 0;
    return true;
}

static void find(LiveWork *work, const SimtPage *page, unsigned index)
{
    uint64_t bit = 1ull << index % 64;

    if (index != NO_OP && !(page->live[index] & LIVE_KNOWN) &&
        !(work->found[index / 64] & bit)) {
        work->found[index / 64] |= bit;
        work->stack[work->depth++] = index;
    }
}

static uint32_t live_at(const SimtPage *page, unsigned index)
{
    return index == NO_OP ? 0 : page->live[index];
}

static uint32_t flive_at(const SimtPage *page, unsigned index)
{
    return index == NO_OP ? 0 : page->flive[index];
}

/* What the op reads, and what those that follow do and it does not write; whether
 * there is more than before. */
static bool grow(SimtPage *page, unsigned index, const LiveOp *op)
{
    uint32_t behind = live_at(page, op->next) | live_at(page, op->target);
    uint32_t fbehind = flive_at(page, op->next) | flive_at(page, op->target);
    uint32_t live = op->reads | (behind & ~op->writes) | page->live[index];
    uint32_t flive = op->freads | (fbehind & ~op->fwrites) | page->flive[index];
    bool grown;

    live &= ~LIVE_KNOWN;
    grown = live != page->live[index] || flive != page->flive[index];
    page->live[index] = live;
    page->flive[index] = flive;
    return grown;
}

/* One pass over the ops that were found, from the last one to the first;
 * whether anything has changed. */
static bool pass(const LiveWork *work, SimtPage *page)
{
    bool changed = false;

    for (unsigned i = PAGE_OPS / 64; i-- > 0;) {
        for (uint64_t m = work->found[i], bit; m; m &= ~bit) {
            unsigned index = 64 * i + 63 - __builtin_clzll(m);

            bit = 1ull << index % 64;
            changed |= grow(page, index, &work->ops[index]);
        }
    }
    return changed;
}

/* Those that were found are known; all: to be all live. */
static void settle(const LiveWork *work, SimtPage *page, uint32_t all)
{
    for (unsigned i = 0; i < PAGE_OPS; i++) {
        if (work->found[i / 64] >> i % 64 & 1) {
            page->live[i] |= LIVE_KNOWN | all;
            page->flive[i] |= all;
        }
    }
}

uint32_t mxgpu_simt_find_live(MxgpuCu *cu, SimtPage *page, unsigned index)
{
    LiveWork work;
    unsigned passes = 0;

    memset(work.found, 0, sizeof(work.found));
    work.depth = work.count = 0;
    find(&work, page, index);
    while (work.depth) {
        unsigned i = work.stack[--work.depth];
        LiveOp *op = &work.ops[i];

        work.count++;
        if (!describe(cu, page, i, op)) {
            *op = (LiveOp){.reads = LIVE_ALL, .freads = LIVE_ALL,
                           .next = NO_OP, .target = NO_OP};
        }
        find(&work, page, op->next);
        find(&work, page, op->target);
    }
    simt_charge(cu, work.count / 4);
    while (pass(&work, page) && ++passes < PASSES) {
    }
    settle(&work, page, passes < PASSES ? 0 : LIVE_ALL);
    return page->live[index];
}

void mxgpu_warp_dead(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page)
{
    uint32_t live = 0;

    if (w->s.num_ready + w->s.num_waiting > GROUPS_MAX || cu->simt->debugged) {
        live = LIVE_ALL; /* a debugger shows what lanes have computed */
    }
    for (unsigned i = 0; i < w->s.num_ready && live != LIVE_ALL; i++) {
        live |= simt_live(cu, page, w->s.ready[i].pc);
    }
    for (unsigned i = 0; i < w->s.num_waiting && live != LIVE_ALL; i++) {
        const SimtWaiter *a = &w->s.waiting[i];

        live |= simt_live(cu, page, a->group.pc);
        if (a->wait <= WAIT_COUNT && a->rd < 32) {
            live |= 1u << a->rd; /* gets the result where it was wide */
        }
    }
    w->c.dead = simt_dead(live);
}
