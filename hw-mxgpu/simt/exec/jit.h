/* SPDX-License-Identifier: MIT */
/* Compiled loops: from the interpreter into them and back (simt/jit/jit.h). */
#ifndef MXGPU_SIMT_EXEC_JIT_H
#define MXGPU_SIMT_EXEC_JIT_H

#include "jit_entry.h"

/* The group that runs, accounted and with its pc set, is at the head of a loop.
 * STAY: nothing has been done. */
JitGo jit_enter(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, SimtHead *head,
                uint64_t limit) SIMT_OWN("jit_enter");

/* Whether there is something to do for a head but to go on. */
static inline bool jit_due(const MxgpuCu *cu, SimtHead *head)
{
    return head->ready ||
           (!head->refused && ++head->count >= cu->simt->jit_first);
}

/* Whether warps run compiled code from an op on, each for itself. */
static inline bool jit_ready(const SimtPage *page, const SimtOp *p)
{
    unsigned head = page->head_of[p - page->ops];

    return head && page->heads[head - 1].ready;
}

/* The head of an op that is one, of code for whole warps. */
static inline SimtHead *convoy_head(SimtPage *page, const SimtOp *p)
{
    return &page->convoys[page->head_of[p - page->ops] - 1];
}

/* The head of the op, made if there is none; NULL: there are too many. */
static inline SimtHead *jit_head(SimtPage *page, unsigned index)
{
    if (!page->head_of[index]) {
        if (page->num_heads == LOOP_HEADS) {
            return NULL;
        }
        page->heads[page->num_heads] = (SimtHead){0};
        page->convoys[page->num_heads++] = (SimtHead){0};
        page->head_of[index] = page->num_heads;
    }
    return &page->heads[page->head_of[index] - 1];
}

#endif
