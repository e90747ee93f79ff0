/* SPDX-License-Identifier: MIT */
/*
 * The reference for divergence: how many instructions a warp executes when its
 * lanes meet as early as they can. Those that parted wait for each other where
 * their ways join, at the latest at the immediate post-dominator of the branch,
 * at the end of each turn of a loop, behind the loop, and at the end of each
 * function: in a turn every instruction is executed once, by all lanes that
 * come to it. It knows the program only by what each lane did alone, and shares
 * no code with compute units or compilers.
 */
#ifndef MXGPU_TESTS_IDEAL_H
#define MXGPU_TESTS_IDEAL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define IDEAL_LANES 64

/* A step of a lane: the address of the instruction, and whether it calls or
 * returns. The last one ends the lane. */
#define IDEAL_CALL   (1ull << 63)
#define IDEAL_RETURN (1ull << 62)
#define IDEAL_PC     (IDEAL_RETURN - 1)

/* The step of an instruction, by its first 32 bits. */
uint64_t ideal_step(uint64_t pc, uint32_t insn);

/* The instructions of a warp whose lanes take these steps (uint64_t). */
uint64_t ideal_warp_instructions(GArray *const *lanes, unsigned count);

#endif
