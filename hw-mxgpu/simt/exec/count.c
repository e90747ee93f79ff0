/* SPDX-License-Identifier: MIT */
/*
 * The interpreter of warps once more: with a look at each load and store, to
 * count it or to refuse it when it is misaligned, and with samples of the pc.
 * There are no convoys with it: what looks at each access looks at each warp.
 */
#define SIMT_COUNTING
#include "exec.c"
