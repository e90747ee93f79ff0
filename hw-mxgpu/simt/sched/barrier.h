/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_SCHED_BARRIER_H
#define MXGPU_SIMT_SCHED_BARRIER_H

#include "simt/state.h"

/* Whether the block's warps may run as a convoy when they are at one pc: not
 * where each access is looked at, or FP flags are kept. */
bool mxgpu_block_may_convoy(const MxgpuCu *cu, const SimtBlock *block);

/* Threads of mask arrive at the block's barrier; nonzero: those whose rs1 is
 * not 0. They go on when all threads of the block have arrived or ended. */
void mxgpu_block_arrive(MxgpuCu *cu, MxgpuWarp *w, uint64_t mask,
                        uint64_t nonzero);
/* Threads of mask end, which may open barriers. */
void mxgpu_block_exit(MxgpuCu *cu, MxgpuWarp *w, uint64_t mask);
/*
 * The group that runs arrives at the named barriers that its lanes name, or at
 * the grid's; pc is the instruction's. false: a lane has faulted, or the work
 * budget was exhausted, and the group is where it was; else it waits, or its pc
 * is the next instruction.
 */
bool mxgpu_block_named(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p, uint64_t pc);
bool mxgpu_block_grid(MxgpuCu *cu, MxgpuWarp *w, uint64_t pc);

/* Lets a block that waits at the grid's barrier go on if that has opened. */
void mxgpu_block_grid_poll(MxgpuCu *cu, SimtBlock *block);
/* A block of a cooperative grid has ended well: it is not waited for. */
void mxgpu_block_grid_end(MxgpuSimt *simt, SimtSlot *slot);

/* Whether none of the block's threads can go on, whatever other blocks do. */
bool mxgpu_block_stuck(const MxgpuCu *cu, const SimtBlock *block);
/* One of its waiting threads faults with BARRIER. */
void mxgpu_block_fault_stuck(MxgpuCu *cu, const SimtBlock *block);
/* The grid was stopped from outside: a thread of the block faults with the
 * code, where it was. */
void mxgpu_block_fault_stopped(MxgpuCu *cu, const SimtBlock *block,
                               enum mxgpu_fault code);

#endif
