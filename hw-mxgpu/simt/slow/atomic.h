/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SLOW_ATOMIC_H
#define MXGPU_SIMT_SLOW_ATOMIC_H

#include "simt/state.h"

/*
 * lr, sc, amo* and mx.af* for the lanes of mask. x registers of the instruction
 * are wide. false: a lane faulted and none has done anything, or the work
 * budget was exhausted before.
 */
bool mxgpu_simt_atomic(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc,
                       uint64_t mask);

/* ---- for those who know where lanes are: one after the other, in lane order */

typedef struct AmoLanes {
    unsigned count;
    const uint64_t *at; /* host addresses, aligned */
    const uint64_t *b;  /* operands */
    const uint64_t *c;  /* what amocas compares with */
    uint64_t *old;      /* results */
} AmoLanes;

typedef enum AmoWay {
    WAY_EACH,  /* lanes go where they like: a host atomic each */
    WAY_ONE,   /* all to one address, that of the first: one host atomic */
    WAY_LOCAL, /* shared memory: only this thread of the host is there */
    WAYS
} AmoWay;

/* amo* and mx.af*. */
void mxgpu_simt_amo(unsigned op, AmoWay way, const AmoLanes *l);
/* lr (it gives the value) and sc (0: it has stored) of a lane. */
uint64_t mxgpu_simt_load_reserved(MxgpuWarp *w, unsigned lane, uint64_t va,
                                  void *at, unsigned size);
uint64_t mxgpu_simt_store_conditional(MxgpuWarp *w, unsigned lane, uint64_t va,
                                      void *at, unsigned size, uint64_t value);

/* ---- what instructions they are */

static inline bool mxgpu_simt_is_atomic(unsigned op)
{
    return (op >= RV_LR_W && op <= RV_AMOCAS_D) ||
           (op >= RV_MX_AFADD_S && op <= RV_MX_AFMAX_D);
}

/* Bytes that one of these accesses. */
static inline unsigned mxgpu_simt_atomic_size(unsigned op)
{
    if (op >= RV_MX_AFADD_S && op <= RV_MX_AFMAX_D) {
        return (op - RV_MX_AFADD_S) % 2 ? 8 : 4;
    }
    return op >= RV_LR_D ? 8 : 4;
}

static inline bool mxgpu_simt_is_lr(unsigned op)
{
    return op == RV_LR_W || op == RV_LR_D;
}

static inline bool mxgpu_simt_is_cas(unsigned op)
{
    return op == RV_AMOCAS_W || op == RV_AMOCAS_D;
}

static inline bool mxgpu_simt_is_sc(unsigned op)
{
    return op == RV_SC_W || op == RV_SC_D;
}

#endif
