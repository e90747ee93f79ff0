/* SPDX-License-Identifier: MIT */
/* What is too long to be inline of loop.h. */
#include "loop.h"

bool jalr_targets(MxgpuWarp *w, const SimtOp *p, uint64_t mask,
                         uint64_t *to)
{
    uint64_t imm = (uint64_t)(int64_t)p->imm, differ = 0, first;
    const uint64_t *a;

    if (w->form[p->r1] & FORM_UNIFORM) {
        to[__builtin_ctzll(mask)] = (w->line[p->r1].base + imm) & ~1ull;
        return true;
    }
    a = wide(w, p->r1);
    LANE_LOOP {
        to[i] = (a[i] + imm) & ~1ull;
    }
    first = to[__builtin_ctzll(mask)];
    for (unsigned i = 0; i < LANES; i++) {
        differ |= (to[i] ^ first) & -(mask >> i & 1);
    }
    return differ == 0;
}

bool sync_complete(MxgpuCu *cu, MxgpuWarp *w, const SimtOp *p)
{
    const uint64_t *a = wide(w, p->r1);
    uint64_t rest = w->s.live;

    if (w->form[p->r1] & FORM_UNIFORM) {
        return true;
    }
    while (rest) {
        uint64_t sync = a[__builtin_ctzll(rest)], same;
        uint8_t bytes[LANES];

        LANE_LOOP {
            bytes[i] = a[i] == sync;
        }
        same = pack_bits(bytes) & rest;
        if (sync & w->s.live & ~same) {
            return false;
        }
        rest &= ~same;
        simt_charge(cu, rest != 0); /* nothing for one set, in any form */
    }
    return true;
}
