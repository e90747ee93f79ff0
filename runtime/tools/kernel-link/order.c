/* SPDX-License-Identifier: MIT */
/*
 * The order of blocks in a function. A warp runs its group of lanes at the
 * lowest pc first, so that lanes meet as early as their ways do where blocks
 * stand in topological order, loops in one piece with their latch at the end:
 * nobody passes a join, the end of an iteration or the end of a loop while
 * others are still on their way to it. (See hw-mxgpu/docs/compute-units.md.)
 * The code generator keeps this order with the options that main.c gives it.
 */
#include "kl.h"

#include <stdlib.h>

#define NONE UINT32_MAX

typedef struct Graph {
    unsigned count;
    LLVMBasicBlockRef *block;
    unsigned *first, *to;  /* the ways on of n: to[first[n]] to
                              to[first[n + 1] - 1] */
    unsigned *region;      /* the part that n is in: all, a loop, one in it */
    unsigned *order;       /* what comes out */
    /* of the search for loops (Tarjan's): when n was found, 0: not yet; the
     * earliest found that it leads to; the next way on to look at */
    unsigned *found, *low, *next;
    unsigned *path, *open; /* from the start to here; what is in no loop yet */
    unsigned paths, opens, clock;
} Graph;

/* A part of order[], [begin, end), that is strongly connected once the ways
 * back to its first block count. */
typedef struct Part {
    unsigned begin, end;
} Part;

typedef struct ByAddress {
    LLVMBasicBlockRef block;
    unsigned number;
} ByAddress;

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const ByAddress *)a)->block;
    uintptr_t y = (uintptr_t)((const ByAddress *)b)->block;

    return (x > y) - (x < y);
}

static int descending(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x < y) - (x > y);
}

static unsigned *numbers(unsigned count)
{
    return kl_alloc(count * sizeof(unsigned));
}

static void find_ways(Graph *g)
{
    ByAddress *index = kl_alloc(g->count * sizeof(*index));
    unsigned ways = 0;

    for (unsigned n = 0; n < g->count; n++) {
        index[n] = (ByAddress){ g->block[n], n };
        ways += LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(g->block[n]));
    }
    qsort(index, g->count, sizeof(*index), by_address);
    g->first = numbers(g->count + 1);
    g->to = numbers(ways);
    ways = 0;
    for (unsigned n = 0; n < g->count; n++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(g->block[n]);

        g->first[n] = ways;
        for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
            ByAddress key = { LLVMGetSuccessor(end, i), 0 }, *hit;

            hit = bsearch(&key, index, g->count, sizeof(key), by_address);
            g->to[ways++] = hit->number;
        }
        /* What is looked at last comes first: where it stood before. */
        qsort(&g->to[g->first[n]], ways - g->first[n], sizeof(g->to[0]),
              descending);
    }
    g->first[g->count] = ways;
    free(index);
}

static void graph_open(Graph *g, LLVMValueRef fn)
{
    unsigned n = g->count = LLVMCountBasicBlocks(fn);

    g->block = kl_alloc(n * sizeof(*g->block));
    LLVMGetBasicBlocks(fn, g->block);
    find_ways(g);
    g->region = numbers(n);
    g->order = numbers(n);
    g->found = numbers(n);
    g->low = numbers(n);
    g->next = numbers(n);
    g->path = numbers(n);
    g->open = numbers(n);
}

static void graph_close(Graph *g)
{
    unsigned *const all[] = { g->first, g->to,   g->region, g->order, g->found,
                              g->low,   g->next, g->path,   g->open };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        free(all[i]);
    }
    free(g->block);
    *g = (Graph){ 0 };
}

static void enter(Graph *g, unsigned n)
{
    g->found[n] = g->low[n] = ++g->clock;
    g->next[n] = g->first[n];
    g->path[g->paths++] = n;
    g->open[g->opens++] = n;
}

static void lower(unsigned *low, unsigned to)
{
    *low = to < *low ? to : *low;
}

/* The next way on from n that leads to an open block, or one to be found, of
 * the region; NONE: there are no more. Ways to start are no ways. */
static unsigned way_on(Graph *g, unsigned n, unsigned start, unsigned region)
{
    while (g->next[n] < g->first[n + 1]) {
        unsigned to = g->to[g->next[n]++];

        if (to != start && g->region[to] == region) {
            return to;
        }
    }
    return NONE;
}

/*
 * Orders the blocks of a part, but for the insides of the loops in it: these
 * get regions of their own, and become parts, each with the block by which the
 * search came in as its first one. Returns how many.
 */
static unsigned order_part(Graph *g, Part part, unsigned start, Part *loops)
{
    unsigned region = g->region[start], end = part.end, count = 0;

    enter(g, start);
    while (g->paths) {
        unsigned n = g->path[g->paths - 1], to = way_on(g, n, start, region);
        Part loop = { .end = end };

        if (to != NONE) {
            if (g->found[to]) {
                lower(&g->low[n], g->found[to]);
            } else {
                enter(g, to);
            }
            continue;
        }
        g->paths--;
        if (g->paths) {
            lower(&g->low[g->path[g->paths - 1]], g->low[n]);
        }
        if (g->low[n] != g->found[n]) {
            continue;
        }
        do { /* n and what was found behind it lead to each other */
            g->order[--end] = g->open[--g->opens];
            g->region[g->order[end]] = NONE;
        } while (g->order[end] != n);
        loop.begin = end;
        if (loop.end - loop.begin > 1) {
            loops[count++] = loop;
        }
    }
    return count;
}

static void one_end(Kl *kl, Graph *g, Part loop);

/* The order of all blocks that the function gets to; with kl, each loop gets
 * one latch. Returns how many these blocks are; they end order[]. */
static unsigned order_all(Graph *g, Kl *kl)
{
    Part *todo = kl_alloc(g->count * sizeof(*todo));
    unsigned todos, reached = 0, regions = 0;

    todos = order_part(g, (Part){ 0, g->count }, 0, todo);
    for (unsigned n = 0; n < g->count; n++) {
        reached += g->found[n] != 0;
    }
    while (todos) {
        Part part = todo[--todos];
        unsigned start = g->order[part.begin];

        if (kl) {
            one_end(kl, g, part);
        }
        regions++;
        for (unsigned i = part.begin; i < part.end; i++) {
            g->region[g->order[i]] = regions;
            g->found[g->order[i]] = 0;
        }
        todos += order_part(g, part, start, &todo[todos]);
    }
    free(todo);
    return reached;
}

/* ---- ends of iterations */

static bool leads_to(const Graph *g, unsigned from, unsigned to)
{
    for (unsigned i = g->first[from]; i < g->first[from + 1]; i++) {
        if (g->to[i] == to) {
            return true;
        }
    }
    return false;
}

static bool can_redirect(LLVMBasicBlockRef block)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(LLVMGetBasicBlockTerminator(block));

    return op == LLVMBr || op == LLVMSwitch;
}

/* An instruction that is none keeps the code generator from giving each way
 * into the block a copy of its own, or a jump past it. */
static void keep_block(Kl *kl, LLVMBuilderRef b)
{
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(kl->ctx), NULL, 0,
                                        false);
    LLVMValueRef nothing = LLVMGetInlineAsm(type, "", 0, "", 0, true, false,
                                            LLVMInlineAsmDialectATT, false);
    unsigned kind = LLVMGetEnumAttributeKindForName("convergent", 10);
    LLVMValueRef call = LLVMBuildCall2(b, type, nothing, NULL, 0, "");

    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(kl->ctx, kind, 0));
}

static bool is_among(LLVMBasicBlockRef block, const LLVMBasicBlockRef *blocks,
                     unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (blocks[i] == block) {
            return true;
        }
    }
    return false;
}

/* Divides a phi of the header into that of the ways in and that of latches. */
static void divide_phi(LLVMBuilderRef b, LLVMValueRef phi,
                       LLVMBasicBlockRef joint,
                       const LLVMBasicBlockRef *latches, unsigned count)
{
    LLVMTypeRef type = LLVMTypeOf(phi);
    LLVMValueRef in, back;

    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(joint));
    back = LLVMBuildPhi(b, type, "");
    LLVMPositionBuilderBefore(b, phi);
    in = LLVMBuildPhi(b, type, "");
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);

        LLVMAddIncoming(is_among(from, latches, count) ? back : in, &value,
                        &from, 1);
    }
    LLVMAddIncoming(in, &back, &joint, 1);
    LLVMReplaceAllUsesWith(phi, in);
    LLVMInstructionEraseFromParent(phi);
}

/* One block behind all ends of an iteration, for lanes to meet in. */
static void join_latches(Kl *kl, LLVMBasicBlockRef header,
                         const LLVMBasicBlockRef *latches, unsigned count)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(kl->ctx);
    LLVMBasicBlockRef joint;
    LLVMValueRef i, next;

    joint = LLVMAppendBasicBlockInContext(kl->ctx, LLVMGetBasicBlockParent(header),
                                          "");
    LLVMPositionBuilderAtEnd(b, joint);
    keep_block(kl, b);
    LLVMBuildBr(b, header);
    for (i = LLVMGetFirstInstruction(header); LLVMIsAPHINode(i); i = next) {
        next = LLVMGetNextInstruction(i);
        divide_phi(b, i, joint, latches, count);
    }
    for (unsigned n = 0; n < count; n++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(latches[n]);

        for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
            if (LLVMGetSuccessor(end, s) == header) {
                LLVMSetSuccessor(end, s, joint);
            }
        }
    }
    LLVMDisposeBuilder(b);
}

/* A latch that only joins. */
static bool is_empty(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    bool joins = LLVMIsAPHINode(i);

    while (LLVMIsAPHINode(i)) {
        i = LLVMGetNextInstruction(i);
    }
    return joins && LLVMGetInstructionOpcode(i) == LLVMBr &&
           !LLVMIsConditional(i);
}

static void one_end(Kl *kl, Graph *g, Part loop)
{
    LLVMBasicBlockRef *latches = kl_alloc((loop.end - loop.begin) *
                                          sizeof(*latches));
    unsigned header = g->order[loop.begin], count = 0;
    bool can = true;

    for (unsigned i = loop.begin; i < loop.end; i++) {
        if (leads_to(g, g->order[i], header)) {
            latches[count] = g->block[g->order[i]];
            can &= can_redirect(latches[count++]);
        }
    }
    if (count > 1 && can) {
        join_latches(kl, g->block[header], latches, count);
    } else if (count == 1 && is_empty(latches[0])) {
        LLVMBuilderRef b = LLVMCreateBuilderInContext(kl->ctx);

        LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(latches[0]));
        keep_block(kl, b);
        LLVMDisposeBuilder(b);
    }
    free(latches);
}

static void order_function(Kl *kl, LLVMValueRef fn)
{
    Graph g = { 0 };
    unsigned reached;

    graph_open(&g, fn);
    (void)order_all(&g, kl);
    graph_close(&g);
    graph_open(&g, fn); /* with the blocks that are new */
    reached = order_all(&g, NULL);
    for (unsigned i = g.count - reached + 1; i < g.count; i++) {
        LLVMMoveBasicBlockAfter(g.block[g.order[i]], g.block[g.order[i - 1]]);
    }
    graph_close(&g);
}

void kl_order(Kl *kl)
{
    LLVMValueRef fn;

    for (fn = LLVMGetFirstFunction(kl->module); fn;
         fn = LLVMGetNextFunction(fn)) {
        if (!LLVMIsDeclaration(fn)) {
            order_function(kl, fn);
        }
    }
}
