/* SPDX-License-Identifier: MIT */
/*
 * The interpreters of warps and of convoys for one instruction set of the host:
 * meson.build compiles this file once for each, with SIMT_ISA as its name and
 * the compiler's options for it.
 *
 * The *.c.inc are fragments of this file; each says what it needs of those
 * before it and what it provides. Most of what they define is made by macros
 * from lists of instructions (INTEGER_OPS, LOAD_OPS, ...), and named by a
 * prefix and the instruction: ID, as in rv/insns.def (ADDI); or the expression
 * that it computes: E, as in rv/sem.h (ADD, for add and addi).
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
 *     fp_ID           of f registers, for the lanes of a mask
 *   one computation for many lanes; false where it cannot be
 *     line_E          lanes that are evenly spaced (SimtLine)
 *     c_ID            the same for the registers of a convoy
 *     way_ID          which way the warps of a convoy take at a branch
 *   labels of the interpreters' loops
 *     F_ID M_ID       a warp: all of its live lanes, some of them (a mask)
 *     C_ID A_ID       a convoy: all live lanes, some of them (a mask a warp)
 */
#include "isa.h"
#include "simt/state.h"

#define SIMT_EXEC   SIMT_NAME(exec)
#define SIMT_CONVOY SIMT_NAME(convoy)
SimtExecFn SIMT_EXEC;
SimtConvoyFn SIMT_CONVOY;
#include "exec.c.inc"
#include "convoy.c.inc"
#include "convoy_exec.c.inc"
