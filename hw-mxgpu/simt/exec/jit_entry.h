/* SPDX-License-Identifier: MIT */
/* The way into compiled code and out of it. */
#ifndef MXGPU_SIMT_EXEC_JIT_ENTRY_H
#define MXGPU_SIMT_EXEC_JIT_ENTRY_H

#include "jit_call.h"
#include "simt/jit/jit.h"
#include "simt/warp/warp.h"

/* STAY: they have not entered. */
typedef enum JitGo { JIT_STAY, JIT_ON, JIT_FAULT } JitGo;

#if defined(SIMT_AVX512)

/* Code is hot by what all units that have asked for it do. */
static inline bool jit_is_hot(const MxgpuCu *cu, const SimtHead *head)
{
    const JitRegion *r = head->region;
    unsigned rounds = cu->simt->jit_rounds;

    return head->rounds >= rounds ||
           (r && atomic_load_explicit(&r->rounds, memory_order_relaxed) >=
                     rounds);
}

/* Counts what the code has done. */
static inline void jit_account(MxgpuCu *cu, MxgpuWarp *w, const JitFrame *f)
{
    w->s.instructions = f->instructions;
    cu->n.lanes_now += f->lanes;
    cu->n.divergent_now += f->divergent;
}

/* What warps of a block have in common. */
static inline void jit_fill_block(const MxgpuCu *cu, const MxgpuWarp *w,
                                  const JitRegion *r, JitFrame *f)
{
    f->keys[JIT_NOWHERE] = ~0ull; /* no site's */
    f->keys[JIT_SHARED] = jit_shared_key(cu, w);
    f->keys[JIT_PRIVATE] = jit_private_key(w);
    f->atomics = !cu->c.counting && !cu->simt->config.lane_memory;
    f->sites = r->sites + cu->index * r->num_sites;
    f->page = r->page;
    f->call = jit_call;
    f->put = jit_put;
    f->region = r;
    f->dispatch = &simt_slot(cu, w)->dispatch;
}

/* A warp's own, and what may have changed since another one ran. */
static inline void jit_fill_warp(const MxgpuCu *cu, const MxgpuWarp *w,
                                 JitFrame *f, uint64_t limit)
{
    f->instructions = w->s.instructions;
    f->limit = limit;
    f->keys[JIT_GLOBAL] = jit_global_key(cu, w);
    f->private_host =
        (uintptr_t)private_at(w, MXGPU_PRIVATE_END - w->c.private_size);
}

/* Spans of a profile begin anywhere, not only where code ends: with so many
 * instructions left until then a warp does not enter what may go further. */
static inline bool jit_fits(const MxgpuCu *cu, const MxgpuWarp *w,
                            const JitRegion *r, uint64_t left)
{
    return left >= r->code.num_ops || !simt_slot(cu, w)->dispatch.profile;
}

/* x registers that code reads at its head, by what they must be there. */
typedef struct JitNeeds {
    uint32_t uniform, lines;             /* by form */
    uint32_t uniform_words, line_words;  /* ... that must be words, too */
    uint32_t words, wide;                /* forms that can be made of the others */
} JitNeeds;

static inline JitNeeds jit_needs(const JitRegion *r, uint32_t needed)
{
    const uint32_t *at = r->at_head;
    uint32_t lines = (at[JIT_LINE_WORD] | at[JIT_LINE]) & needed;

    return (JitNeeds){
        /* lines that were not when the code was asked for came as one value */
        .uniform = ((at[JIT_UNIFORM_WORD] | at[JIT_UNIFORM]) & needed) |
                   (lines & ~r->lines),
        .lines = lines & r->lines,
        .uniform_words = at[JIT_UNIFORM_WORD] & needed,
        .line_words = at[JIT_LINE_WORD] & needed,
        .words = at[JIT_WORD] & needed,
        .wide = at[JIT_WIDE] & needed,
    };
}

/* Makes the forms of x registers that the code reads; false: one has none. */
bool jit_ready_x(const JitRegion *region, MxgpuWarp *w, const JitNeeds *needs)
    SIMT_OWN("jit_ready_x");
/* Whether f registers that are read hold for these lanes what the code reads. */
bool jit_ready_f(const MxgpuWarp *w, const uint32_t needed[2], uint64_t lanes)
    SIMT_OWN("jit_ready_f");
/* The warp's groups, where the code has left them. */
JitGo jit_left(MxgpuWarp *w, const JitRegion *r, const JitFrame *f, JitLeave how)
    SIMT_OWN("jit_left");
/* Once in a while: whether warps can begin code that may be there now. */
bool jit_may_begin(MxgpuCu *cu, SimtHead *head) SIMT_OWN("jit_may_begin");
/* The head has been come to as often as somebody looks for it. */
void jit_count_round(const MxgpuCu *cu, SimtHead *head)
    SIMT_OWN("jit_count_round");
/* An entry has run so many instructions: whether so many in the mean of so many
 * entries are worth it. */
void jit_weigh(SimtHead *head, uint64_t instructions, unsigned entries,
               unsigned worth) SIMT_OWN("jit_weigh");

#endif

#endif
