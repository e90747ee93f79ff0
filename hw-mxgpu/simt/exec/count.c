/* SPDX-License-Identifier: MIT */
/*
 * The interpreter of warps once more, for one instruction set of the host as in
 * exec.c: with a look at each load and store, to count it or to refuse it when
 * it is misaligned, and with samples of the pc. It has no convoys: what looks
 * at each access looks at each warp.
 */
#include "isa.h"
#include "simt/state.h"

#define SIMT_COUNTING
#define SIMT_EXEC SIMT_NAME(count)
SimtExecFn SIMT_EXEC;
#include "exec.c.inc"
