/* SPDX-License-Identifier: MIT */
/* What the parts of lanewise.c share: a loop whose lanes go one after the other. */
#ifndef MXGPU_SIMT_JIT_COMPILER_LANE_LOOP_H
#define MXGPU_SIMT_JIT_COMPILER_LANE_LOOP_H

#include "site.h"

#define TURNS_MAX 64 /* a bit each */
#define OPS_MAX   64

/* x registers that are read, that are written and read behind the block. */
typedef struct Named {
    uint32_t read, kept;
} Named;

/* A register that lanes bring, or take along, in memory. */
typedef struct Slot {
    LLVMTypeRef all, one;
    LLVMValueRef in, out; /* NULL: not brought, not taken along */
} Slot;

/* A lane that goes. */
typedef struct Side {
    Emit one;      /* the block for one lane */
    Value was[32]; /* of x registers that are read and one value for all */
    LLVMValueRef x[32], f[32]; /* variables: of those that each lane has, or changes */
    LLVMValueRef lane, given, end; /* ... which it is; its turns, which end there */
    LLVMValueRef part[32]; /* of x registers that are sums of what is one value for all,
                            * and this */
    LLVMValueRef host[OPS_MAX]; /* where loads of addresses that go by steps went to in the
                                 * first turn of all */
    LLVMBasicBlockRef broken;       /* it would leave its site in this turn */
} Side;

typedef struct Loop {
    Emit *e;
    Side side[2];
    bool pairs; /* two lanes go at a time */
    Named x;
    JitType types[33]; /* of x registers that are kept */
    Value was[32];     /* of x registers that are read */
    Slot xs[32], fs[32];
    unsigned most;
    LLVMValueRef site;   /* of the branch */
    Access at[OPS_MAX];  /* of loads */
    LLVMValueRef from[OPS_MAX];   /* ... of sums: the one value, from the site's
                                   * beginning on; NULL: of others */
    LLVMValueRef linear[OPS_MAX]; /* ... where that is on the host */
    LLVMValueRef bound;  /* turns of all lanes */
    LLVMValueRef inside; /* ... of each lane, in memory, until it is bound to leave its
                          * sites */
    LLVMValueRef turns;  /* ... that it is to do, in memory */
    LLVMValueRef exits;  /* ... until the branch is not taken, in memory; NULL: that is
                          * known when it comes */
    LLVMValueRef done;   /* ... that each has done, in memory */
    LLVMValueRef reached; /* ... that one has done which has left its sites */
    LLVMValueRef now;     /* ... of all that have been, one after the other */
    int64_t step[32];     /* of x registers that go by steps; else 0 */
    LLVMValueRef rest, remain;
    LLVMBasicBlockRef at_once, begin, each, turn, all, ended, miss;
} Loop;

static inline unsigned lane_last_of(const Emit *e)
{
    return e->block->first + e->block->count - 1;
}

/* Whether each lane has its own. */
static inline bool lane_is_own(JitType t)
{
    return t == JIT_WORD || t == JIT_WIDE;
}

LLVMValueRef lane_get(Loop *l, LLVMValueRef variable);
void lane_set(Loop *l, LLVMValueRef variable, LLVMValueRef v);
static inline LLVMValueRef lane_some(Emit *e, LLVMValueRef v)
{
    return LLVMBuildICmp(e->b, LLVMIntNE, v, emit_i64(e, 0), "");
}

/* ---- lane_registers.c: what lanes bring and take along */

/* The last op of the block before that one which writes the x register; NULL: none. */
const SimtOp *lane_writer(const Emit *e, unsigned reg, unsigned before);
static inline bool lane_is_written(const Emit *e, unsigned reg)
{
    return lane_writer(e, reg, lane_last_of(e) + 1) != NULL;
}
/* Whether x[base] is a number more in each turn than in the one before; first: so
 * much more than at the block's beginning for op "at", already in the first. */
bool lane_steps(const Emit *e, unsigned base, unsigned at, int64_t *step,
                int64_t *first);
void lane_x_slots(Loop *l);
void lane_f_slots(Loop *l);
void lane_variables(Loop *l, Side *a);
/* Where the lane has its own (a pointer); turns that are left for it. */
LLVMValueRef lane_own(Loop *l, const Side *a, LLVMTypeRef one, LLVMValueRef room);
LLVMValueRef lane_number(Loop *l, const Side *a);
LLVMValueRef lane_left(Loop *l, const Side *a);
/* How far x[reg] has gone since the first turn of all. */
LLVMValueRef lane_gone(Loop *l, unsigned reg);
/* The lane's registers where it begins, where a turn of it begins and ends, where it is
 * done. */
void lane_arrive(Loop *l, Side *a);
void lane_take_up(Loop *l, Side *a);
void lane_put_down(Loop *l, Side *a);
void lane_leave(Loop *l, const Side *a);
/* What all lanes have taken along is what the block has written. */
void lane_gather_up(Loop *l);

/* ---- lane_address.c: where loads go to, and turns that are known before */

/* Turns until the branch is not taken; NULL: who knows. Turns until the first of a lane's
 * loads that go by steps leaves its site, or of these. */
LLVMValueRef lane_turns_to_exit(Loop *l);
LLVMValueRef lane_turns_given(Loop *l);
/* How far x[rd] of that op goes up with its first operand, where the second one is one
 * value for all; -1: it is no such sum. */
int lane_sum_shift(Loop *l, const SimtOp *op);
/* What is the same for all lanes and turns; for all turns of a lane. */
void lane_prepare_sums(Loop *l);
void lane_prepare_steps(Loop *l, Side *a);
/* Of a load; continues where that is inside of its site, else at "broken". */
LLVMValueRef lane_host_address(Loop *l, Side *a, const SimtOp *op);

/* ---- lane_turns.c: the turns of a lane, or of two */

/* Turns of all lanes; goes to "miss" where one has none. The next lane. */
void lane_plan(Loop *l);
void lane_begin(Loop *l, Side *a);
/* From "turn" on; continues behind "ended". */
void lane_turns(Loop *l);
/* The first lane is here: takes a second one along, if there is one; behind the last
 * but one goes to "turn". */
void lane_pairs(Loop *l);
/* Makes the block "broken". */
void lane_broken(Loop *l, Side *a);

#endif
