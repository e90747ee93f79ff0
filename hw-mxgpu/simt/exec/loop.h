/* SPDX-License-Identifier: MIT */
/*
 * What the loops of both interpreters, exec.c of warps and convoy_exec.c, have in
 * common.
 */
#ifndef MXGPU_SIMT_EXEC_LOOP_H
#define MXGPU_SIMT_EXEC_LOOP_H

#include "forms.h"
#include "ops.h"
#include "simt/slow/atomic.h"
#include "simt/slow/csr.h"
#include "simt/slow/float.h"
#include "simt/warp/code.h"
#include "simt/warp/fault.h"
#include "simt/warp/live.h"

/* The address of op p of the page. */
#define PC ((page->tag & ~(uint64_t)(PAGE_BYTES - 1)) +                        \
            2 * (uint64_t)(p - page->ops))

/* Entries of tables of labels; LAB is a macro of one ID. */
#define ENTRY(ID, label) [RV_##ID] = &&label,
#define LAB_2(ID, e)       LAB(ID)
#define LAB_3(ID, T, X)    LAB(ID)

/* The depth of a call frame; it stays in range in a program that only calls, or
 * only returns. */
static inline int32_t call_depth(int32_t depth, int by)
{
    int32_t sum;

    return __builtin_add_overflow(depth, by, &sum) ? depth : sum;
}

/* The targets of jalr; whether all lanes of mask have the same. */
bool jalr_targets(MxgpuWarp *w, const SimtOp *p, uint64_t mask, uint64_t *to)
    SIMT_OWN("jalr_targets");
/* All live lanes execute mx.warpsync: whether each set of lanes that rs1 names
 * is there, so that nobody waits. */
bool sync_complete(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p)
    SIMT_OWN("sync_complete");

#endif
