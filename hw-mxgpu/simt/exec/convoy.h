/* SPDX-License-Identifier: MIT */
/*
 * Convoys. While all warps of a block, with all their live lanes, are at one
 * pc, they run together, instruction by instruction: an op is dispatched once
 * for all of them, what is uniform or evenly spaced over the block (indices,
 * addresses, counters of loops) is computed once, and the block's barrier costs
 * nothing.
 *
 * At a branch forward that some lanes take, these wait at its target, the
 * reconvergence point, until the others arrive there; the active masks of the
 * warps leave them out meanwhile. More lanes may follow them; where all others
 * jump further than that, these wait there in turn. If the others return from
 * the function instead, they wait in turn, at the place they returned to, until
 * the first ones return to it as well. When warps go different ways otherwise, or one
 * faults, the convoy ends and each warp runs by itself; they may be together
 * again after a barrier.
 *
 * When a convoy ends depends on the program alone and never on the forms of
 * registers, so that every build runs instructions in the same order.
 */
#ifndef MXGPU_SIMT_EXEC_CONVOY_H
#define MXGPU_SIMT_EXEC_CONVOY_H

#include "forms.h"
#include "lines.h"
#include "ops.h"
#include "simt/sched/block.h"
#include "simt/warp/code.h"

/* A convoy keeps an x register as one line for the block (FORM_LINE, with
 * FORM_UNIFORM when all its steps are 0), or each warp has its part of it
 * (CONVOY_SPLIT), or both. */
#define CONVOY_SPLIT FORM_WIDE
/* Besides, until somebody writes it: each warp's part is what compiled code
 * (Convoy.known) takes it for where it begins. */
#define CONVOY_KNOWN 0x80

typedef struct Convoy {
    _Alignas(32) SimtLine line[33];
    uint8_t form[33];
    SimtRows rows;
    bool whole; /* no lane of any warp has exited */
    unsigned n;
    MxgpuWarp *w[MXGPU_BLOCK_THREADS / LANES];
    /* Active masks: all of a warp's live lanes, or, while others wait at the
     * reconvergence point, those that do not. */
    uint64_t mask[MXGPU_BLOCK_THREADS / LANES];
    uint64_t not_taken[MXGPU_BLOCK_THREADS / LANES]; /* at the last branch */
    /* The reconvergence point: where lanes that are not active wait, and in
     * which call frame. */
    uint64_t reconv_pc;
    int32_t reconv_depth;
    bool returned; /* those that wait there have returned to it */
    uint64_t dead; /* x registers that these will not read: SimtWarpCache */
    bool all_run;  /* each warp has active lanes */
    bool spun;     /* active lanes have done an atomic: slices are short */
    const struct JitRegion *known; /* of CONVOY_KNOWN; NULL: no register is */
} Convoy;

typedef enum ConvoyWay { WAY_ON, WAY_TAKEN, WAY_BOTH } ConvoyWay;

/* ---- registers of the block and of its warps */

/* Gives the warps from "first" on their parts of the line. Not inline: half of
 * the labels would contain it, and be three times as long. */
void split_from(Convoy *c, unsigned r, unsigned first) SIMT_OWN("split_from");
/* Makes one line of the block of those of the warps, if these are evenly
 * spaced. */
bool join_lines(Convoy *c, unsigned r) SIMT_OWN("join_lines");

/* Gives each warp its part of the register. */
static inline void convoy_split(Convoy *c, unsigned r)
{
    if (!(c->form[r] & CONVOY_SPLIT)) {
        split_from(c, r, 0);
        c->form[r] |= CONVOY_SPLIT;
    }
}

/* Gives each warp its part of the x registers that an instruction reads. */
static inline void split_sources(Convoy *c, const SimtOp *p)
{
    if (!(p->classes & RV_CLASS_F1)) {
        convoy_split(c, p->r1);
    }
    if (!(p->classes & RV_CLASS_F2)) {
        convoy_split(c, p->r2);
    }
}

/* The same, and of x[rd], for an instruction that only some lanes execute. */
static inline void split_all(Convoy *c, const SimtOp *p)
{
    split_sources(c, p);
    if (!(p->classes & RV_CLASS_FD)) {
        convoy_split(c, p->rd);
        c->form[p->rd] = CONVOY_SPLIT;
    }
}

/* Each warp has written its part of x[rd], if the instruction writes an x
 * register. */
static inline void split_result(Convoy *c, const SimtOp *p)
{
    if (!(p->classes & RV_CLASS_FD)) {
        c->form[p->rd] = CONVOY_SPLIT;
    }
}

static inline void convoy_set(Convoy *c, unsigned r, SimtLine line)
{
    c->line[r] = line;
    c->form[r] = line_uniform(&line) ? FORM_LINE | FORM_UNIFORM : FORM_LINE;
#if defined(SIMT_PLAIN)
    split_from(c, r, 0);
    c->form[r] = CONVOY_SPLIT;
#endif
}

static inline void convoy_set_uniform(Convoy *c, unsigned r, uint64_t value)
{
    convoy_set(c, r, (SimtLine){.base = value});
}

/* Whether the register is a line of the block: line[r], then. */
static inline bool convoy_line(Convoy *c, unsigned r)
{
    return c->form[r] & FORM_LINE || join_lines(c, r);
}

/* ---- convoy_int.c */

/* Whether the result is a line of the block. */
#define DECLARE_CONVOY_INT(ID, E, IMM)                                         \
    bool c_##ID(Convoy *c, const SimtOp *p) SIMT_OWN("c_" #ID);
INTEGER_OPS(DECLARE_CONVOY_INT)

/* Which way the warps take, and which way the active lanes do while others wait
 * at the reconvergence point; not_taken: those of them that stay. */
#define DECLARE_CONVOY_BRANCH(ID)                                              \
    ConvoyWay way_##ID(Convoy *c, const SimtOp *p) SIMT_OWN("way_" #ID);       \
    ConvoyWay active_##ID(Convoy *c, const SimtOp *p) SIMT_OWN("active_" #ID);
BRANCH_OPS(DECLARE_CONVOY_BRANCH)

/* ---- convoy.c */

/* Reads threadIdx.x of a block in one dimension as one line; false: it is not
 * that. */
bool convoy_thread(const MxgpuCu *cu, Convoy *c, const SimtOp *p)
    SIMT_OWN("convoy_thread");
/* lw and flw of all warps; false: nothing has been done. */
bool convoy_load(MxgpuCu *cu, Convoy *c, const SimtOp *p)
    SIMT_OWN("convoy_load");
/* sw and fsw of contiguous words of all warps; false: nothing has been done. */
bool convoy_store(MxgpuCu *cu, Convoy *c, const SimtOp *p)
    SIMT_OWN("convoy_store");
/* Gathers the warps; false: they are not at one pc, or need the slow paths that
 * only the interpreter of warps has. */
bool convoy_gather(const MxgpuCu *cu, const SimtBlock *block, Convoy *c)
    SIMT_OWN("convoy_gather");
void convoy_registers(Convoy *c, SimtBlock *block, uint64_t args)
    SIMT_OWN("convoy_registers");
/* Gives each warp its registers and its groups of lanes, at pc and at the
 * reconvergence point. */
void convoy_disband(Convoy *c, uint64_t pc, int32_t depth)
    SIMT_OWN("convoy_disband");
/* The first "ahead" warps have executed the instruction at which the next one
 * faulted: they are behind it. Returns how many instructions that adds. */
unsigned convoy_ahead(MxgpuCu *cu, Convoy *c, const SimtOp *p, unsigned ahead)
    SIMT_OWN("convoy_ahead");
/* Such an instruction leaves x[rd] of the warps that have not executed it as it
 * was: gives these their part of the line. */
void convoy_failed(Convoy *c, const SimtOp *p, unsigned ahead)
    SIMT_OWN("convoy_failed");
/* In each warp: groups that are at one pc join, and the first one goes on. */
void convoy_pick(Convoy *c) SIMT_OWN("convoy_pick");
/* Counts "ran" instructions for each warp with active lanes; returns how many
 * that is together. */
uint64_t convoy_account(MxgpuCu *cu, Convoy *c, uint64_t ran)
    SIMT_OWN("convoy_account");
/* Lanes that have taken a branch wait at its target. */
void convoy_diverge(MxgpuCu *cu, Convoy *c, SimtPage *page, uint64_t target,
                    int32_t depth) SIMT_OWN("convoy_diverge");
/* More lanes have taken a branch to the reconvergence point. */
void convoy_leave(MxgpuCu *cu, Convoy *c) SIMT_OWN("convoy_leave");
/* The active lanes have jumped behind the reconvergence point: they wait where
 * they went to, and those that waited are active. */
void convoy_pass(MxgpuCu *cu, Convoy *c, SimtPage *page, uint64_t to)
    SIMT_OWN("convoy_pass");
/* The active lanes have returned before they reached the reconvergence point:
 * they wait at "to", and those that waited are active. */
void convoy_swap(MxgpuCu *cu, Convoy *c, SimtPage *page, uint64_t to,
                 int32_t depth) SIMT_OWN("convoy_swap");
/* All live lanes are active. */
void convoy_reconverge(Convoy *c) SIMT_OWN("convoy_reconverge");
/* Whether all active lanes jump to one place, *to. */
bool jump_together(Convoy *c, const SimtOp *p, uint64_t *to)
    SIMT_OWN("jump_together");

/* A load from one address for all: where it is, or 0. */
static inline uintptr_t convoy_one(const MxgpuCu *cu, Convoy *c,
                                   const SimtOp *p, unsigned size)
{
    return convoy_line(c, p->r1) && c->form[p->r1] & FORM_UNIFORM
               ? simt_span(cu, c->w[0], KIND_READ,
                           c->line[p->r1].base + (int64_t)p->imm, size)
               : 0;
}

#endif
