/* SPDX-License-Identifier: MIT */
/* GPU instructions: what lanes tell each other, and barriers. */
#include "conform.h"

#define ROUNDS (8 * MODES)

/* Lanes that execute the instruction together. */
static uint64_t group_of(Mode mode)
{
    uint64_t group = 0;

    for (unsigned i = 0; i < threads_of(mode); i++) {
        group |= (uint64_t)(record(i)->active != 0) << i;
    }
    return group;
}

static uint64_t want_shuffle(const Record *r, uint64_t group)
{
    unsigned from = r->b & 63;

    return group >> from & 1 ? record(from)->a : 0;
}

static uint64_t ballot(uint64_t group)
{
    uint64_t bits = 0;

    for (uint64_t m = group; m; m &= m - 1) {
        unsigned i = (unsigned)__builtin_ctzll(m);

        bits |= (uint64_t)(record(i)->a != 0) << i;
    }
    return bits;
}

static uint64_t matches(const Record *r, uint64_t group)
{
    uint64_t bits = 0;

    for (uint64_t m = group; m; m &= m - 1) {
        unsigned i = (unsigned)__builtin_ctzll(m);

        bits |= (uint64_t)(record(i)->a == r->a) << i;
    }
    return bits;
}

static uint64_t want_of(RvOp op, const Record *r, uint64_t group)
{
    switch (op) {
    case RV_MX_SHFL:
        return want_shuffle(r, group);
    case RV_MX_BALLOT:
        return ballot(group);
    case RV_MX_ACTIVE:
        return group;
    case RV_MX_MATCH_ANY:
        return matches(r, group);
    case RV_MX_BAR_AND:
        return ballot(group) == group;
    case RV_MX_BAR_OR:
        return ballot(group) != 0;
    case RV_MX_BAR_COUNT:
        return (uint64_t)__builtin_popcountll(ballot(group));
    default:
        return r->old_x; /* no result */
    }
}

/* Few values, so that some are equal and some are 0; in some rounds all. */
static void fill_values(unsigned n)
{
    for (unsigned i = 0; i < 64; i++) {
        Record *r = record(i);

        switch (n % 4) {
        case 0:
            r->a = random_below(3) << 20 | (uint64_t)random_below(2) << 50;
            break;
        case 1:
            r->a = 0;
            break;
        case 2:
            r->a = 1ull << 63 | 1;
            break;
        default:
            break;
        }
    }
}

static void check_group(RvOp op)
{
    RvFormat format = (RvFormat)info_of(op).format;

    for (unsigned n = 0; n < ROUNDS; n++) {
        Shape s = {.mode = n % MODES};
        unsigned rd = format == RV_FMT_NONE || format == RV_FMT_RS1 ? 0
                      : random_below(4) ? A4 : random_below(2) ? A1 : ZERO;
        unsigned r1 = format == RV_FMT_NONE || format == RV_FMT_RD ? 0 : A1;
        uint64_t group;

        fill_records(s.mode);
        if (op == RV_MX_WARPSYNC || n / MODES % 4 < 3) {
            any_operand(0);
        }
        if (op == RV_MX_WARPSYNC) { /* even and odd lanes */
            for (unsigned i = 0; i < 64; i++) {
                record(i)->a = 0x5555555555555555ull << i % 2;
            }
        } else {
            fill_values(n / MODES);
        }
        run_insn(enc(op, rd, r1, format == RV_FMT_R ? A2 : 0),
                 rd ? rd : A4, A4, &s);
        group = group_of(s.mode);
        for (unsigned i = 0; i < threads_of(s.mode); i++) {
            const Record *r = record(i);
            uint64_t want = !rd         ? r->old_x
                            : r->active ? want_of(op, r, group)
                            : rd == A1  ? r->a
                                        : r->old_x;

            if (op == RV_MX_EXIT && r->active) {
                want = 0x5555555555555555; /* nothing more was done */
            }
            if ((r->active || s.mode != MODE_EXITED) && r->out_x != want) {
                differ(op, i, r, r->out_x, want, "rd");
            }
        }
    }
}

/* Has a test of its own, with more than one instruction or warp in it:
 * test_simt_warp.c (mx.reduce, mx.mma), test_simt_sync.c (barriers). */
static void check_elsewhere(RvOp op)
{
    g_assert_true(g_str_has_prefix(rv_name(op), "mx."));
}

void conform_group(CheckFn **table)
{
    static const RvOp others[] = { RV_MX_BAR_SYNC, RV_MX_BAR_ARRIVE,
                                   RV_MX_GRID_SYNC };

    static const RvOp ops[] = {
        RV_MX_EXIT, RV_MX_BARRIER, RV_MX_BAR_AND, RV_MX_BAR_OR,
        RV_MX_BAR_COUNT, RV_MX_WARPSYNC, RV_MX_SHFL, RV_MX_BALLOT,
        RV_MX_ACTIVE, RV_MX_MATCH_ANY,
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(ops); i++) {
        table[ops[i]] = check_group;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(others); i++) {
        table[others[i]] = check_elsewhere;
    }
    for (unsigned op = RV_MX_REDUCE_ADD; op <= RV_MX_MMA_I32_U8; op++) {
        table[op] = check_elsewhere;
    }
}
