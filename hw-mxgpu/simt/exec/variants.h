/* SPDX-License-Identifier: MIT */
/* The builds of the interpreters, one for each instruction set of hosts. */
#ifndef MXGPU_SIMT_EXEC_VARIANTS_H
#define MXGPU_SIMT_EXEC_VARIANTS_H

#include "simt/state.h"

typedef struct SimtVariant {
    const char *name;        /* of the instruction set: "avx2" */
    SimtExecFn *exec;        /* the interpreter of warps */
    SimtExecFn *count;       /* the same with a look at each access */
    SimtConvoyFn *convoy;    /* the interpreter of convoys */
    bool compiled;           /* they know compiled code: simt/jit */
} SimtVariant;

/*
 * Those that are linked and that this host can run, the best one first; behind
 * them "base", which every host can run, and "plain", which is for tests.
 * Returns how many: none where one was compiled only, for a better host
 * (meson's option simt_isa).
 */
#define SIMT_VARIANTS 4
unsigned mxgpu_simt_variants(SimtVariant out[SIMT_VARIANTS]);

#endif
