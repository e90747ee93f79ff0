/* SPDX-License-Identifier: MIT */
/*
 * Code for whole warps: which blocks all lanes come to together (full), and what
 * x registers hold where each block begins. Code goes from full blocks straight
 * to what follows; from others, and where lanes part, to the next block by
 * address, and on from each that no lane is at. All lanes are at the first full
 * block that is come to so.
 */
#include "flow.h"

#include "types.h"

#include <string.h>

#define PASSES 64

/* ---- which blocks all lanes come to together */

/* Code for whole warps begins at the head alone: takes away what does not
 * follow from there. */
static void prune(JitCode *c)
{
    bool reached[JIT_BLOCKS] = {0}, grown = true;
    unsigned n = 0, head = 0;

    reached[c->head_block] = true;
    while (grown) {
        grown = false;
        for (unsigned i = 0; i < c->num_blocks; i++) {
            for (unsigned to = 0; reached[i] && to < c->num_blocks; to++) {
                if (!reached[to] &&
                    mxgpu_jit_follows(c, &c->blocks[i], &c->blocks[to])) {
                    reached[to] = grown = true;
                }
            }
        }
    }
    for (unsigned i = 0; i < c->num_blocks; i++) {
        head = i == c->head_block ? n : head;
        if (reached[i]) {
            c->blocks[n++] = c->blocks[i];
        }
    }
    c->num_blocks = n;
    c->head_block = head;
}

/* Lanes wait somewhere while others are in blocks "from" to "to" - 1. */
static bool part(JitCode *c, unsigned from, unsigned to)
{
    bool changed = false;

    for (unsigned i = from; i < to; i++) {
        changed |= c->blocks[i].full;
        c->blocks[i].full = false;
    }
    return changed;
}

/* What follows when lanes part at the end of block self, or are in it while
 * others are not: those that go further wait there until the others come. */
static bool part_behind(JitCode *c, unsigned self, bool one_way)
{
    const JitBlock *b = &c->blocks[self];
    unsigned last = b->first + b->count - 1;
    bool changed = false;

    if ((one_way && b->full) ||
        (c->kind[last] != JIT_BRANCH && c->kind[last] != JIT_JUMP)) {
        return false;
    }
    for (unsigned to = 0; to < c->num_blocks; to++) {
        if (c->blocks[to].at == c->at[last] + c->ops[last].imm) {
            changed |=
                to > self ? part(c, self + 1, to) : part(c, to, self + 1);
        }
    }
    return changed;
}

/* The last branch before block "to" at which lanes part. */
static int parts_before(const JitCode *c, unsigned to)
{
    while (to > 0 && !c->blocks[to].full) {
        to--;
    }
    return c->blocks[to].first + c->blocks[to].count - 1;
}

/* The op at which lanes part of which some leave before others; -1: none. */
static int parts(const JitCode *c)
{
    unsigned first = 0;

    while (!c->blocks[first].count) { /* outside of the region */
        first++;
    }
    for (unsigned i = first; i < c->num_blocks; i++) {
        if (!c->blocks[i].count && !c->blocks[i].full) {
            return parts_before(c, i);
        }
    }
    return -1;
}

unsigned mxgpu_jit_cut(JitCode *c)
{
    int op = parts(c);

    if (op < 0) {
        return 0;
    }
    if (c->kind[op] == JIT_BRANCH && !c->varies[op] && !c->together[op]) {
        c->together[op] = 1;
        return PAGE_OPS;
    }
    return (unsigned)c->at[op] / 2;
}

/* Where lanes may wait while others are in block self: behind it, where they
 * have gone from a block before it, or from a loop that it is in. */
static uint32_t waiting(const JitCode *c, unsigned self)
{
    unsigned last = self;
    uint32_t live = 0;

    for (unsigned i = self; i < c->num_blocks; i++) {
        for (unsigned to = 0; to <= self; to++) {
            last = mxgpu_jit_follows(c, &c->blocks[i], &c->blocks[to])
                       ? i + 1
                       : last;
        }
    }
    for (unsigned i = 0; i < last; i++) {
        for (unsigned to = self + 1; to < c->num_blocks; to++) {
            live |= mxgpu_jit_follows(c, &c->blocks[i], &c->blocks[to])
                        ? c->blocks[to].live
                        : 0;
        }
    }
    return live;
}

/* ---- what registers hold */

typedef struct Flow {
    JitCode *c;
    uint32_t needed[JIT_BLOCKS + 1]; /* x registers that some lane may read,
                                      * wherever it waits */
    bool reached[JIT_BLOCKS + 1], grown;
} Flow;

static void find_needed(Flow *f, uint32_t used)
{
    const JitCode *c = f->c;

    f->needed[c->num_blocks] = 0;
    for (unsigned i = c->num_blocks; i-- > 0;) {
        const JitBlock *b = &c->blocks[i];

        f->needed[i] = b->live & used;
        if (!b->full) {
            f->needed[i] |= (b->awaited & used) | f->needed[i + 1];
        }
    }
}

/* Code comes to block "to" with these. */
static void arrive(Flow *f, unsigned to, const uint8_t *types)
{
    f->grown |= !f->reached[to];
    f->reached[to] = true;
    for (uint32_t m = f->needed[to]; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);
        JitBlock *b = &f->c->blocks[to];
        JitType t = mxgpu_jit_join(b->x[reg], types[reg]);

        f->grown |= t != b->x[reg];
        b->x[reg] = t;
    }
}

static void take_edges(Flow *f, unsigned self, const uint8_t *out, bool one_way)
{
    const JitCode *c = f->c;
    const JitBlock *b = &c->blocks[self];
    unsigned last = b->first + b->count - 1;
    bool branches = c->kind[last] == JIT_BRANCH || c->kind[last] == JIT_JUMP;
    unsigned to = branches ? mxgpu_jit_block_at(c, c->at[last] + c->ops[last].imm)
                           : c->num_blocks;

    if (!b->full || !one_way) {
        arrive(f, self + 1, out);
        if (to <= self) {
            arrive(f, to, out);
        }
        return;
    }
    if (branches) {
        arrive(f, to, out);
    }
    if (c->kind[last] != JIT_JUMP) {
        arrive(f, mxgpu_jit_block_at(c, c->at[last] + 2 * c->ops[last].len), out);
    }
}

static void pass(Flow *f, unsigned self)
{
    JitCode *c = f->c;
    const JitBlock *b = &c->blocks[self];
    uint32_t written = 0, behind = mxgpu_jit_behind(c, b);
    bool one_way = true;
    uint8_t local[33], out[32];

    for (unsigned i = 0; i < 32; i++) {
        local[i] = b->x[i] ? b->x[i] : JIT_WIDE;
    }
    local[0] = JIT_UNIFORM_WORD;
    local[SINK] = JIT_WIDE;
    for (unsigned i = b->first; i < b->first + b->count; i++) {
        const SimtOp *op = &c->ops[i];

        if (mxgpu_jit_writes_x(op, c->kind[i])) {
            local[op->rd] =
                mxgpu_jit_result_in(c, i, local[op->r1], local[op->r2]);
            written |= 1u << op->rd;
        } else if (c->kind[i] == JIT_BRANCH) {
            one_way = mxgpu_jit_one_way(c, i, local[op->r1], local[op->r2]);
        }
    }
    memcpy(out, b->x, sizeof(out));
    for (uint32_t m = written & behind; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);

        out[reg] = mxgpu_jit_kept(b, reg, local[reg]);
    }
    take_edges(f, self, out, one_way);
    f->grown |= part_behind(c, self, one_way);
}

/* What is read and was not written, as far as can be seen, may be anything. */
static void fill(Flow *f, unsigned self, uint32_t used)
{
    JitBlock *b = &f->c->blocks[self];

    for (uint32_t m = b->live & used; m; m &= m - 1) {
        unsigned reg = __builtin_ctz(m);

        if (!b->x[reg]) {
            b->x[reg] = JIT_WIDE;
            f->grown = true;
        }
    }
}

static void begin(Flow *f, uint32_t used)
{
    JitCode *c = f->c;

    memset(c->x, 0, sizeof(c->x));
    for (unsigned i = 0; i < c->num_blocks; i++) {
        c->blocks[i].full = true;
        c->blocks[i].awaited = waiting(c, i);
        memset(c->blocks[i].x, 0, sizeof(c->blocks[i].x));
    }
    find_needed(f, used);
    arrive(f, c->head_block, c->entry);
}

/* What a register holds anywhere. */
static void join_all(JitCode *c)
{
    for (unsigned i = 0; i < c->num_blocks; i++) {
        for (unsigned reg = 1; reg < 32; reg++) {
            c->x[reg] = mxgpu_jit_join(c->x[reg], c->blocks[i].x[reg]);
        }
    }
}

bool mxgpu_jit_flow(JitCode *c)
{
    uint32_t used;
    Flow f = {.c = c};
    unsigned passes = 0;

    prune(c);
    if (!mxgpu_jit_floats(c)) {
        return false;
    }
    used = mxgpu_jit_named(c);
    begin(&f, used);
    do {
        f.grown = false;
        find_needed(&f, used);
        for (unsigned i = 0; i < c->num_blocks; i++) {
            const JitBlock *b = &c->blocks[i];

            if (f.reached[i] && b->count) {
                pass(&f, i);
            }
            if (f.reached[i] && !b->full) {
                arrive(&f, i + 1, b->x);
            }
        }
        for (unsigned i = 0; !f.grown && i < c->num_blocks; i++) {
            if (f.reached[i]) {
                fill(&f, i, used);
            }
        }
    } while (f.grown && ++passes < PASSES);
    join_all(c);
    return !f.grown;
}
