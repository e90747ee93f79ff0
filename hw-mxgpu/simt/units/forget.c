/* SPDX-License-Identifier: MIT */
/*
 * Dropping caches, for tests of what is state and what is cache: all that is
 * not state is overwritten with bits that are wrong. A unit whose state has
 * been loaded begins the same way.
 */
#include "forget.h"

#include "simt/sched/block.h"
#include "simt/warp/warp.h"

#include <stdlib.h>
#include <string.h>

#define POISON 0xff

/* ---- registers */

void mxgpu_warp_save(MxgpuWarp *w, bool fresh, SimtRegisters *out)
{
    memset(out, 0, sizeof(*out));
    for (unsigned r = 1; r < 32 && !fresh; r++) {
        mxgpu_warp_widen(w, r);
        for (uint64_t m = w->s.live; m; m &= m - 1) {
            out->x[r][__builtin_ctzll(m)] = w->x[r][__builtin_ctzll(m)];
        }
    }
    for (unsigned r = 0; r < 32; r++) {
        for (uint64_t m = w->s.live; m; m &= m - 1) {
            unsigned i = __builtin_ctzll(m);

            out->f[r][i] = w->narrow[r] >> i & 1
                               ? 0xffffffff00000000ull | w->f[r][i]
                               : w->d[r][i];
        }
    }
}

/* Registers that nothing writes but everything reads: x0 and the sink. */
static void set_constants(MxgpuWarp *w)
{
    memset(w->x[0], 0, sizeof(w->x[0]));
    memset(w->word[0], 0, sizeof(w->word[0]));
    w->line[0] = (SimtLine){0};
    w->form[0] = FORM_ALL;
    w->line[SINK] = (SimtLine){0};
    w->form[SINK] = FORM_LINE | FORM_UNIFORM;
    w->c.expanded = 0;
}

void mxgpu_warp_load(MxgpuWarp *w, const SimtRegisters *in)
{
    set_constants(w);
    for (unsigned r = 1; r < 32; r++) {
        memcpy(w->x[r], in->x[r], sizeof(w->x[r]));
        w->form[r] = FORM_WIDE;
    }
    for (unsigned r = 0; r < 32; r++) {
        w->narrow[r] = ~w->s.live;
        for (uint64_t m = w->s.live; m; m &= m - 1) {
            unsigned i = __builtin_ctzll(m);

            if (in->f[r][i] >> 32 == UINT32_MAX) {
                w->f[r][i] = (uint32_t)in->f[r][i];
                w->narrow[r] |= 1ull << i;
            } else {
                w->d[r][i] = in->f[r][i];
            }
        }
    }
}

/* ---- forgetting */

/* Copies what is state: of lists the entries in use, of arrays the lanes in
 * use. */
static void keep_state(SimtWarpState *to, const SimtWarpState *from)
{
    if (from->cur.mask) {
        to->cur = from->cur;
    }
    to->cur.mask = from->cur.mask;
    to->num_ready = from->num_ready;
    memcpy(to->ready, from->ready, from->num_ready * sizeof(to->ready[0]));
    to->num_waiting = from->num_waiting;
    memcpy(to->waiting, from->waiting,
           from->num_waiting * sizeof(to->waiting[0]));
    to->live = from->live;
    to->stamps = from->stamps;
    to->slice_end = from->slice_end;
    to->rotated = from->rotated;
    memcpy(to->frm, from->frm, sizeof(to->frm));
    memcpy(to->fflags, from->fflags, sizeof(to->fflags));
    to->reserved = from->reserved;
    for (uint64_t m = from->reserved; m; m &= m - 1) {
        unsigned i = __builtin_ctzll(m);

        to->reserved_addr[i] = from->reserved_addr[i];
        to->reserved_value[i] = from->reserved_value[i];
        to->reserved_size[i] = from->reserved_size[i];
    }
    to->instructions = from->instructions;
}

static void forget_warp(MxgpuWarp *w, bool fresh)
{
    SimtWarpState state = w->s;
    SimtRegisters *regs = malloc(sizeof(*regs));

    if (!regs) {
        return;
    }
    mxgpu_warp_save(w, fresh, regs);
    memset(w, POISON, sizeof(*w));
    keep_state(&w->s, &state);
    mxgpu_warp_load(w, regs);
    if (fresh) {
        memset(w->x[1], POISON, 31 * sizeof(w->x[0]));
    }
    free(regs);
}

static void forget_warps(MxgpuCu *cu)
{
    for (unsigned i = 0; i < CU_WARPS; i++) {
        MxgpuWarp *w = &cu->warps[i];

        if (cu->s.used_warps >> i & 1) {
            forget_warp(w, cu->s.blocks[w->c.block].fresh);
        } else if (w->form[0]) { /* it was used */
            memset(w, POISON, sizeof(*w));
            set_constants(w);
        }
    }
    for (unsigned i = 0; i < MXGPU_CU_BLOCKS; i++) {
        if (cu->s.blocks[i].used) {
            mxgpu_block_bind(cu, &cu->s.blocks[i]);
        }
    }
}

void mxgpu_cu_drop_cache(MxgpuCu *cu)
{
    SimtCuCache *c = &cu->c;
    SimtPage *first = c->pages[0];

    for (unsigned i = 1; i < CODE_PAGES; i++) {
        free(c->pages[i]);
    }
    memset(first, POISON, sizeof(*first)); /* SIMT_NO_PAGE */
    /* TLB: no such page; code: no such check; planes: any may be written */
    memset(c, POISON, sizeof(*c));
    memset(c->pages, 0, sizeof(c->pages));
    c->pages[0] = first;
    cu->tlb_drops++;
}

void mxgpu_cu_forget(MxgpuCu *cu)
{
    forget_warps(cu);
    mxgpu_cu_drop_cache(cu);
}
