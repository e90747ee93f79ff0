/* SPDX-License-Identifier: MIT */
/* Convoys in compiled code. */
#ifndef MXGPU_SIMT_EXEC_JIT_CONVOY_H
#define MXGPU_SIMT_EXEC_JIT_CONVOY_H

#include "jit_entry.h"

struct Convoy;
typedef struct JitAt {
    uint64_t pc;
    int32_t depth;
    uint64_t each; /* instructions that warps may run, about */
} JitAt;
/* The warps of a convoy, accounted and all lanes of them at one place. STAY:
 * nothing has been done; ON: they are together again, where w[0] says; FAULT:
 * they are not, each is where it says. *done: how many instructions they have
 * run. */
JitGo jit_convoy(MxgpuCu *cu, struct Convoy *c, SimtPage *page, SimtHead *head,
                 const JitAt *at, uint64_t *done) SIMT_OWN("jit_convoy");

#endif
