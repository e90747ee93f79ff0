/* SPDX-License-Identifier: MIT */
/* Integer instructions and branches of convoys: what is uniform or evenly spaced
 * over the block is one computation. */
#include "convoy.h"
#include "lane.h"

/* ---- integers: c_ID, whether the result is a line of the block */

#define CONVOY_LINES(IMM)                                                      \
    (convoy_line(c, p->r1) && (IMM || convoy_line(c, p->r2)))
#define CONVOY_UNIFORM(IMM, VALUE)                                             \
    if (c->form[p->r1] & (IMM ? FORM_ALL : c->form[p->r2]) & FORM_UNIFORM) {   \
        uint64_t A = c->line[p->r1].base;                                      \
        uint64_t B = IMM ? (uint64_t)(int64_t)p->imm : c->line[p->r2].base;    \
                                                                               \
        convoy_set_uniform(c, p->rd, VALUE);                                   \
        return true;                                                           \
    }
#define CONVOY_BY_LINE(E, IMM)                                                 \
    {                                                                          \
        SimtLine out, b = IMM ? IMM_LINE(p) : c->line[p->r2];                  \
                                                                               \
        if (line_##E(c->rows, &c->line[p->r1], &b, &out)) {                    \
            convoy_set(c, p->rd, out);                                         \
            return true;                                                       \
        }                                                                      \
    }
#define CONVOY_FN(ID, IMM, BODY)                                               \
    bool c_##ID(Convoy *c, const SimtOp *p)                                    \
    {                                                                          \
        if (!CONVOY_LINES(IMM)) {                                              \
            return false;                                                      \
        }                                                                      \
        BODY                                                                   \
        return false;                                                          \
    }
#define CONVOY_LINEAR(ID, E, IMM)                                              \
    CONVOY_FN(ID, IMM, CONVOY_BY_LINE(E, IMM)                                  \
              CONVOY_UNIFORM(IMM, l64_##E(A, B)))
#define CONVOY_LINEAR_CLOSED(ID, E, IMM)                                       \
    CONVOY_FN(ID, IMM, CONVOY_UNIFORM(IMM, l64_##E(A, B))                      \
              CONVOY_BY_LINE(E, IMM))
#define CONVOY_OTHER(ID, E, IMM)                                               \
    CONVOY_FN(ID, IMM, CONVOY_UNIFORM(IMM, l64_##E(A, B)))
#define CONVOY_WORD_LINEAR(ID, E, IMM)                                         \
    CONVOY_FN(ID, IMM, CONVOY_UNIFORM(IMM, SEXT_L32(E, A, B))                  \
              CONVOY_BY_LINE(E, IMM))
#define CONVOY_WORD_OTHER(ID, E, IMM)                                          \
    CONVOY_FN(ID, IMM, CONVOY_UNIFORM(IMM, SEXT_L32(E, A, B)))

LINEAR_OPS(CONVOY_LINEAR)
CLOSED_OPS(CONVOY_OTHER)
LINEAR_CLOSED_OPS(CONVOY_LINEAR_CLOSED)
OTHER_OPS(CONVOY_OTHER)
WORD_LINEAR_OPS(CONVOY_WORD_LINEAR)
WORD_OTHER_OPS(CONVOY_WORD_OTHER)

/* ---- branches */

/* WAY_ON: no lane of any warp takes the branch, WAY_TAKEN: all do. Adds the
 * i-th warp, of which the lanes of "taken" do, to *way. */
static inline void same_way(Convoy *c, unsigned i, uint64_t taken,
                            ConvoyWay *way)
{
    uint64_t live = c->w[i]->s.live, stay = live & ~taken;
    ConvoyWay here = !stay ? WAY_TAKEN : stay == live ? WAY_ON : WAY_BOTH;

    c->not_taken[i] = stay;
    *way = i == 0 || *way == here ? here : WAY_BOTH;
}

#define CONVOY_BRANCH_FN(ID, cond)                                             \
    ConvoyWay way_##ID(Convoy *c, const SimtOp *p)                             \
    {                                                                          \
        ConvoyWay way = WAY_BOTH;                                              \
                                                                               \
        if (CONVOY_LINES(0) &&                                                 \
            (c->form[p->r1] & c->form[p->r2] & FORM_UNIFORM ||                 \
             lines_disjoint(c->rows, &c->line[p->r1], &c->line[p->r2]))) {     \
            return c64_##ID(c->line[p->r1].base, c->line[p->r2].base)          \
                       ? WAY_TAKEN : WAY_ON;                                   \
        }                                                                      \
        split_sources(c, p);                                                   \
        for (unsigned i = 0; i < c->n; i++) {                                  \
            same_way(c, i, t_##ID(c->w[i], p), &way);                          \
        }                                                                      \
        return way;                                                            \
    }
RV_SEM_LIST_BRANCH(CONVOY_BRANCH_FN, uint64_t, int64_t)

/* The same of the active lanes, while others wait at the reconvergence point;
 * not_taken: those of them that stay. */
#define CONVOY_BRANCH_ACTIVE_FN(ID, cond)                                      \
    ConvoyWay active_##ID(Convoy *c, const SimtOp *p)                          \
    {                                                                          \
        uint64_t any = 0, stay = 0;                                            \
                                                                               \
        split_sources(c, p);                                                   \
        for (unsigned i = 0; i < c->n; i++) {                                  \
            uint64_t mask = c->mask[i];                                        \
            uint64_t taken = mask ? t_##ID(c->w[i], p) & mask : 0;             \
                                                                               \
            c->not_taken[i] = mask & ~taken;                                   \
            any |= taken;                                                      \
            stay |= mask & ~taken;                                             \
        }                                                                      \
        return !any ? WAY_ON : !stay ? WAY_TAKEN : WAY_BOTH;                   \
    }
RV_SEM_LIST_BRANCH(CONVOY_BRANCH_ACTIVE_FN, uint64_t, int64_t)
