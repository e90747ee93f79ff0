/* SPDX-License-Identifier: MIT */
/* What a debugger sees of resident warps. */
#include "simt/state.h"

typedef struct Look {
    void (*see)(void *opaque, const MxgpuSimtGroup *group);
    void *opaque;
    MxgpuSimtGroup group;
} Look;

static const char *wait_name(unsigned wait)
{
    static const char *const names[] = {
        [WAIT_BARRIER] = "waits at the barrier",
        [WAIT_AND] = "waits at the barrier (and)",
        [WAIT_OR] = "waits at the barrier (or)",
        [WAIT_COUNT] = "waits at the barrier (count)",
        [WAIT_WARPSYNC] = "waits for lanes",
        [WAIT_NAMED] = "waits at a named barrier",
        [WAIT_GRID] = "waits at the grid's barrier",
        [WAIT_FAULT] = "has faulted",
        [WAIT_VERDICT] = "waits for software after a fault",
    };

    return wait < sizeof(names) / sizeof(names[0]) ? names[wait] : "waits";
}

static void see(Look *l, const SimtGroup *g, const char *state)
{
    l->group.pc = g->pc;
    l->group.lanes = g->mask;
    l->group.state = state;
    l->see(l->opaque, &l->group);
}

static void look_at_warp(Look *l, const MxgpuWarp *w)
{
    l->group.instructions = w->s.instructions;
    if (w->s.cur.mask) {
        see(l, &w->s.cur, "runs");
    }
    for (unsigned i = w->s.num_ready; i-- > 0;) {
        see(l, &w->s.ready[i], "ready");
    }
    for (unsigned i = 0; i < w->s.num_waiting; i++) {
        see(l, &w->s.waiting[i].group, wait_name(w->s.waiting[i].wait));
    }
}

void mxgpu_simt_groups(MxgpuSimt *simt, unsigned index,
                       void (*callback)(void *, const MxgpuSimtGroup *),
                       void *opaque)
{
    Look l = {callback, opaque, {.cu = index}};
    MxgpuCu *cu;

    if (index >= simt->config.compute_units) {
        return;
    }
    cu = &simt->cus[index];
    for (unsigned b = 0; b < MXGPU_CU_BLOCKS; b++) {
        const SimtBlock *block = &cu->s.blocks[b];

        if (!block->used) {
            continue;
        }
        l.group.slot = block->slot;
        l.group.vmid = simt->slots[block->slot].dispatch.vmid;
        for (unsigned i = 0; i < 3; i++) {
            l.group.block[i] = block->id[i];
        }
        for (unsigned i = 0; i < block->num_warps; i++) {
            l.group.warp = block->warps[i];
            l.group.first_thread = i * LANES;
            look_at_warp(&l, &cu->warps[block->warps[i]]);
        }
    }
}
