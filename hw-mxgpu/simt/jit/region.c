/* SPDX-License-Identifier: MIT */
/* A loop as blocks of instructions. */
#include "region.h"

#include "types.h"

#include "simt/warp/code.h"
#include "simt/warp/live.h"

#include <stdlib.h>

/* ---- blocks */

typedef struct Found {
    unsigned first, head, end; /* warps begin at the head */
    bool whole;
    uint64_t leader[PAGE_OPS / 64]; /* beginnings of blocks in the region */
    uint64_t is_op[PAGE_OPS / 64];
    uint64_t is_stub[PAGE_OPS / 64];
    int32_t outside[JIT_BLOCKS]; /* where it leads to */
    unsigned num_outside;
} Found;

static void set_bit(uint64_t *bits, unsigned i)
{
    bits[i / 64] |= 1ull << i % 64;
}

static bool bit(const uint64_t *bits, unsigned i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static bool lead(Found *f, int32_t at)
{
    if (at >= 2 * (int32_t)f->first && at < 2 * (int32_t)f->end) {
        set_bit(f->leader, at / 2);
        return true;
    }
    for (unsigned i = 0; i < f->num_outside; i++) {
        if (f->outside[i] == at) {
            return true;
        }
    }
    if (f->num_outside == JIT_BLOCKS) {
        return false;
    }
    f->outside[f->num_outside++] = at;
    return true;
}

#define REACH_OPS       64 /* of a region that is no loop */
#define REACH_OPS_WHOLE 192
#define LOOP_OPS        192 /* of one that begins inside of a loop */

/* Where a region that begins here and is no loop ends: behind the last op that
 * can be reached by going forward, or when it is large enough. *back: the lowest
 * place that it goes back to. */
static unsigned reach(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, unsigned head,
                      bool whole, unsigned *back)
{
    uint64_t reached[PAGE_OPS / 64] = {0};
    unsigned most = whole ? REACH_OPS_WHOLE : REACH_OPS;
    unsigned end = head, count = 0;

    *back = head;

    set_bit(reached, head);
    for (unsigned i = head; i < PAGE_OPS && count < most; i++) {
        SimtOp op;
        JitKind kind;
        int64_t to;

        if (!bit(reached, i)) {
            continue;
        }
        if (page->ops[i].op == OP_DECODE &&
            mxgpu_simt_decode(cu, w, page, i) != MXGPU_FAULT_NONE) {
            break;
        }
        op = page->ops[i];
        if (op.op == OP_BAD || !op.len || i + op.len > PAGE_OPS) {
            break;
        }
        kind = mxgpu_jit_kind(&op, whole);
        count++;
        end = i + op.len;
        to = (int64_t)i + op.imm / 2;
        if ((kind == JIT_BRANCH || kind == JIT_JUMP) && to > i &&
            to < PAGE_OPS) {
            set_bit(reached, to);
        } else if ((kind == JIT_BRANCH || kind == JIT_JUMP) && to >= 0 &&
                   to < *back) {
            *back = to;
        }
        if (kind != JIT_JUMP && kind != JIT_STUB && end < PAGE_OPS) {
            set_bit(reached, end);
        }
    }
    return end;
}

static bool walk(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, Found *f)
{
    unsigned i = f->first;

    set_bit(f->leader, i);
    set_bit(f->leader, f->head);
    while (i < f->end) {
        SimtOp op;
        JitKind kind;

        if (page->ops[i].op == OP_DECODE &&
            mxgpu_simt_decode(cu, w, page, i) != MXGPU_FAULT_NONE) {
            return false;
        }
        op = page->ops[i];
        if (op.op == OP_BAD || !op.len || i + op.len > PAGE_OPS) {
            return false; /* the last: what is in another page may change */
        }
        set_bit(f->is_op, i);
        kind = mxgpu_jit_kind(&op, f->whole);
        if (kind == JIT_STUB) {
            set_bit(f->is_stub, i);
            set_bit(f->leader, i);
        }
        if ((kind == JIT_BRANCH || kind == JIT_JUMP) &&
            !lead(f, 2 * (int32_t)i + op.imm)) {
            return false;
        }
        if ((kind == JIT_BRANCH || kind == JIT_JUMP || kind == JIT_STUB) &&
            !lead(f, 2 * (int32_t)(i + op.len))) {
            return false;
        }
        i += op.len;
    }
    return lead(f, 2 * (int32_t)f->end);
}

static int by_address(const void *a, const void *b)
{
    int32_t x = ((const JitBlock *)a)->at, y = ((const JitBlock *)b)->at;

    return x < y ? -1 : x > y;
}

static bool add_op(MxgpuCu *cu, SimtPage *page, JitCode *c, unsigned i,
                   JitKind kind)
{
    if (c->num_ops == JIT_OPS) {
        return false;
    }
    c->ops[c->num_ops] = page->ops[i];
    c->kind[c->num_ops] = kind;
    c->at[c->num_ops] = 2 * (int32_t)i;
    c->live[c->num_ops] = simt_live(cu, page, simt_page_va(page) + 2 * i);
    c->fread[c->num_ops++] = simt_flive(cu, page, simt_page_va(page) + 2 * i);
    return true;
}

static JitBlock block_at(MxgpuCu *cu, SimtPage *page, int32_t at)
{
    uint64_t pc = simt_page_va(page) + (int64_t)at;

    return (JitBlock){.at = at,
                      .live = simt_live(cu, page, pc),
                      .fread = simt_flive(cu, page, pc)};
}

static bool make_blocks(MxgpuCu *cu, SimtPage *page, const Found *f,
                        JitCode *c)
{
    JitBlock *b = NULL;

    for (unsigned i = f->first; i < f->end; i += page->ops[i].len) {
        SimtOp op = page->ops[i];
        JitKind kind = mxgpu_jit_kind(&op, f->whole);

        if (bit(f->leader, i)) {
            if (c->num_blocks == JIT_BLOCKS) {
                return false;
            }
            b = &c->blocks[c->num_blocks++];
            *b = block_at(cu, page, 2 * (int32_t)i);
            b->first = c->num_ops;
        }
        if (kind == JIT_STUB) {
            continue;
        }
        if (!add_op(cu, page, c, i, kind)) {
            return false;
        }
        b->count++;
    }
    for (unsigned i = 0; i < f->num_outside; i++) {
        if (c->num_blocks == JIT_BLOCKS) {
            return false;
        }
        c->blocks[c->num_blocks++] = block_at(cu, page, f->outside[i]);
    }
    qsort(c->blocks, c->num_blocks, sizeof(c->blocks[0]), by_address);
    for (unsigned i = 0; i < c->num_blocks; i++) {
        if (c->blocks[i].at == 2 * (int32_t)f->head) {
            c->head_block = i;
        }
    }
    return c->blocks[c->head_block].count != 0;
}

/* A jump into the middle of an instruction leads nowhere here. */
static bool leaders_are_ops(const Found *f)
{
    for (unsigned i = 0; i < PAGE_OPS / 64; i++) {
        if (f->leader[i] & ~f->is_op[i]) {
            return false;
        }
    }
    return true;
}

bool mxgpu_jit_region(MxgpuCu *cu, MxgpuWarp *w, SimtPage *page, unsigned head,
                      unsigned end, bool loop, JitCode *c)
{
    Found f = {.first = head, .head = head, .end = end, .whole = c->whole};
    unsigned back;

    c->num_ops = c->num_blocks = 0;
    if (!end) {
        f.end = reach(cu, w, page, head, c->whole, &back);
        f.first = loop ? back : head;
    }
    return walk(cu, w, page, &f) && leaders_are_ops(&f) &&
           make_blocks(cu, page, &f, c) &&
           (f.first == head || c->num_ops <= LOOP_OPS);
}
