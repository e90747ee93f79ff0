/* SPDX-License-Identifier: MIT */
/*
 * One lane of each integer instruction, and whether it takes a branch: the
 * expressions of rv/sem.h. Whoever includes this is compiled again when a
 * semantic changes.
 */
#ifndef MXGPU_SIMT_EXEC_LANE_H
#define MXGPU_SIMT_EXEC_LANE_H

#include "lanes.h"
#include "rv/sem.h"

/* ---- one lane: l64_ID on whole registers, l32_ID on words */

#if defined(__AVX2__)
#include "divide.h"
#define rv_div32  lane_div32
#define rv_rem32  lane_rem32
#define rv_divu32 lane_divu32
#define rv_remu32 lane_remu32
#endif

#define LANE_64(ID, e)                                                         \
    RV_SEM_INLINE uint64_t l64_##ID(uint64_t A, uint64_t B)                    \
    {                                                                          \
        return e;                                                              \
    }
#define LANE_32(ID, e)                                                         \
    RV_SEM_INLINE uint32_t l32_##ID(uint32_t A, uint32_t B)                    \
    {                                                                          \
        return e;                                                              \
    }
#define LANE_64_RI(ID, IID, e) LANE_64(ID, e)
#define LANE_32_RI(ID, IID, e) LANE_32(ID, e)
RV_SEM_LIST_RI(LANE_64_RI, uint64_t, int64_t, 64, 63)
RV_SEM_LIST_SHIFT(LANE_64_RI, uint64_t, int64_t, 64, 63)
RV_SEM_LIST_R(LANE_64, uint64_t, int64_t, 64, 63)
RV_SEM_LIST_64(LANE_64)
RV_SEM_LIST_1(LANE_64, uint64_t, int64_t, 64, 63)
LANE_64(REV8, rv_rev64(A))
LANE_64(ZEXT_H, (uint16_t)A)
LANE_64(SLLI_UW, (uint64_t)(uint32_t)A << (B & 63))
RV_SEM_LIST_RI(LANE_32_RI, uint32_t, int32_t, 32, 31)
RV_SEM_LIST_R(LANE_32, uint32_t, int32_t, 32, 31)
RV_SEM_LIST_1(LANE_32, uint32_t, int32_t, 32, 31)
LANE_32(ZEXT_H, (uint16_t)A)
RV_SEM_LIST_W_RI(LANE_32_RI)
RV_SEM_LIST_W_R(LANE_32)
RV_SEM_LIST_W_1(LANE_32)
#undef rv_div32
#undef rv_rem32
#undef rv_divu32
#undef rv_remu32

#define IMM_LINE(p) ((SimtLine){.base = (uint64_t)(int64_t)(p)->imm})
#define SEXT_L32(E, A, B) SEXT32(l32_##E((uint32_t)(A), (uint32_t)(B)))

/* ---- branches */

#define LANE_CONDITION(ID, cond, T, n)                                         \
    RV_SEM_INLINE bool c##n##_##ID(T A, T B)                                   \
    {                                                                          \
        return cond;                                                           \
    }
#define CONDITION_64(ID, cond) LANE_CONDITION(ID, cond, uint64_t, 64)
#define CONDITION_32(ID, cond) LANE_CONDITION(ID, cond, uint32_t, 32)
RV_SEM_LIST_BRANCH(CONDITION_64, uint64_t, int64_t)
RV_SEM_LIST_BRANCH(CONDITION_32, uint32_t, int32_t)

#endif
