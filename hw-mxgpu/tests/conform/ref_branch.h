/* SPDX-License-Identifier: MIT */
/* Whether a branch is taken, of operands that are sign-extended to 64 bits. */
#ifndef MXGPU_TESTS_REF_BRANCH_H
#define MXGPU_TESTS_REF_BRANCH_H

#include "rv/rv.h"

static inline bool ref_taken(RvOp op, int64_t a, int64_t b)
{
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

    switch (op) {
    case RV_BEQ:
        return a == b;
    case RV_BNE:
        return a != b;
    case RV_BLT:
        return a < b;
    case RV_BGE:
        return !(a < b);
    case RV_BLTU:
        return ua < ub;
    default:
        return !(ua < ub);
    }
}

#endif
