/* SPDX-License-Identifier: MIT */
/* What lanes did makes a graph of each function, whose loops are found; then all
 * lanes are run together, turn by turn of each loop (ideal.h). */
#include "ideal.h"

#include <string.h>

#define NONE  UINT32_MAX
#define START 0u /* node of each function: before its first instruction */

/* An instruction of a function. */
typedef struct Node {
    uint64_t pc;
    GArray *next;   /* of unsigned: nodes */
    unsigned loop;  /* the innermost one that it is in */
    unsigned order; /* from 1: topological, each loop in one piece */
    unsigned found, low; /* of the search for loops; 0: not found yet */
} Node;

/* Loop 0 is the function. */
typedef struct Loop {
    unsigned outer, header;
} Loop;

typedef struct Function {
    GHashTable *index; /* pc: node */
    GArray *nodes, *loops;
    GArray *open;      /* of the search: nodes that are in no loop yet */
    unsigned clock, placed;
} Function;

/* A lane at a step: its function, its node, and its next step in the frame. */
typedef struct Place {
    Function *function;
    unsigned node;
    unsigned next; /* NONE: there is none */
} Place;

typedef struct Ideal {
    GHashTable *functions; /* address of the first instruction: Function */
    GArray *const *steps;
    Place *places[IDEAL_LANES];
    unsigned at[IDEAL_LANES]; /* NONE: the lane has left the frame */
    uint64_t instructions;
} Ideal;

uint64_t ideal_step(uint64_t pc, uint32_t insn)
{
    unsigned rd = insn >> 7 & 31, rs1 = insn >> 15 & 31, op = insn & 0x7f;
    bool jal = op == 0x6f, jalr = op == 0x67;

    if ((insn & 3) != 3) { /* c.jr, c.jalr */
        jal = false;
        jalr = (insn & 0xe07f) == 0x8002 && rd;
        rs1 = rd;
        rd = insn >> 12 & 1;
    }
    if ((jal || jalr) && (rd == 1 || rd == 5)) {
        return pc | IDEAL_CALL;
    }
    return pc | (jalr && (rs1 == 1 || rs1 == 5) ? IDEAL_RETURN : 0);
}

/* ---- graphs */

static Node *node(const Function *f, unsigned n)
{
    return &g_array_index(f->nodes, Node, n);
}

static unsigned add_node(Function *f, uint64_t pc)
{
    Node n = { .pc = pc, .next = g_array_new(FALSE, FALSE, sizeof(unsigned)) };

    g_array_append_val(f->nodes, n);
    return f->nodes->len - 1;
}

static unsigned node_at(Function *f, uint64_t pc)
{
    unsigned n = GPOINTER_TO_UINT(g_hash_table_lookup(f->index, &pc));

    if (!n) {
        n = add_node(f, pc);
        g_hash_table_insert(f->index, g_memdup2(&pc, sizeof(pc)),
                            GUINT_TO_POINTER(n));
    }
    return n;
}

static void add_edge(Function *f, unsigned from, unsigned to)
{
    const GArray *next = node(f, from)->next;

    for (unsigned i = 0; i < next->len; i++) {
        if (g_array_index(next, unsigned, i) == to) {
            return;
        }
    }
    g_array_append_val(node(f, from)->next, to);
}

static Function *function_at(Ideal *t, uint64_t pc)
{
    Function *f = g_hash_table_lookup(t->functions, &pc);

    if (!f) {
        f = g_new0(Function, 1);
        f->index = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                         NULL);
        f->nodes = g_array_new(FALSE, FALSE, sizeof(Node));
        f->loops = g_array_new(FALSE, FALSE, sizeof(Loop));
        f->open = g_array_new(FALSE, FALSE, sizeof(unsigned));
        (void)add_node(f, 0); /* START */
        add_edge(f, START, node_at(f, pc));
        g_hash_table_insert(t->functions, g_memdup2(&pc, sizeof(pc)), f);
    }
    return f;
}

static void free_function(gpointer opaque)
{
    Function *f = opaque;

    for (unsigned i = 0; i < f->nodes->len; i++) {
        g_array_unref(node(f, i)->next);
    }
    g_array_unref(f->nodes);
    g_array_unref(f->loops);
    g_array_unref(f->open);
    g_hash_table_unref(f->index);
    g_free(f);
}

static void walk_lane(Ideal *t, unsigned lane)
{
    const GArray *steps = t->steps[lane];
    g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(unsigned));
    Place *places = g_new(Place, steps->len);
    unsigned last = NONE; /* the step before in the same frame */
    Function *f = NULL;

    t->places[lane] = places;
    for (unsigned i = 0; i < steps->len; i++) {
        uint64_t step = g_array_index(steps, uint64_t, i);

        if (!f) {
            f = function_at(t, step & IDEAL_PC);
        }
        places[i] = (Place){ f, node_at(f, step & IDEAL_PC), NONE };
        if (last != NONE) {
            places[last].next = i;
            add_edge(f, places[last].node, places[i].node);
        }
        last = i;
        if (step & IDEAL_CALL) {
            g_array_append_val(calls, i);
            last = NONE;
            f = NULL;
        } else if (step & IDEAL_RETURN && calls->len) {
            last = g_array_index(calls, unsigned, calls->len - 1);
            g_array_set_size(calls, calls->len - 1);
            f = places[last].function;
        }
    }
}

/* ---- loops: Tarjan's strongly connected components, and those in them when
 * the ways to the header do not count */

static Loop *loop_of(const Function *f, unsigned loop)
{
    return &g_array_index(f->loops, Loop, loop);
}

static void place_component(Function *f, unsigned first, unsigned loop);

/* What n leads to in the loop; components are placed last one first. */
static void search(Function *f, unsigned n, unsigned loop)
{
    unsigned mark = f->open->len;

    node(f, n)->found = node(f, n)->low = ++f->clock;
    g_array_append_val(f->open, n);
    for (unsigned i = 0; i < node(f, n)->next->len; i++) {
        unsigned to = g_array_index(node(f, n)->next, unsigned, i);

        if (to == loop_of(f, loop)->header || node(f, to)->loop != loop ||
            node(f, to)->order) {
            continue;
        }
        if (!node(f, to)->found) {
            search(f, to, loop);
        }
        if (!node(f, to)->order) {
            node(f, n)->low = MIN(node(f, n)->low, node(f, to)->low);
        }
    }
    if (node(f, n)->low == node(f, n)->found) {
        place_component(f, mark, loop);
    }
}

/* Those from open[first] on: one node, or a loop that begins with it. */
static void place_component(Function *f, unsigned first, unsigned loop)
{
    unsigned header = g_array_index(f->open, unsigned, first);
    Loop inner = { loop, header };

    if (first + 1 == f->open->len) {
        node(f, header)->order = f->placed--;
        g_array_set_size(f->open, first);
        return;
    }
    g_array_append_val(f->loops, inner);
    for (unsigned i = first; i < f->open->len; i++) {
        unsigned n = g_array_index(f->open, unsigned, i);

        node(f, n)->loop = f->loops->len - 1;
        node(f, n)->found = 0;
    }
    g_array_set_size(f->open, first);
    search(f, header, f->loops->len - 1);
}

static void find_loops(Function *f)
{
    Loop all = { NONE, START };

    g_array_append_val(f->loops, all);
    f->placed = f->nodes->len;
    search(f, START, 0);
    g_assert_cmpuint(f->placed, ==, 0);
}

/* Whether n is in the loop, directly or in one within. */
static bool is_in(const Function *f, unsigned n, unsigned loop)
{
    unsigned l = node(f, n)->loop;

    while (l != loop && l) {
        l = loop_of(f, l)->outer;
    }
    return l == loop;
}

/* The loop directly in this one that n is in; NONE: n is in no other one. */
static unsigned inner_loop(const Function *f, unsigned n, unsigned loop)
{
    unsigned l = node(f, n)->loop, inner = NONE;

    while (l != loop) {
        inner = l;
        l = loop_of(f, l)->outer;
    }
    return inner;
}

/* ---- all lanes together */

static Place *place(Ideal *t, unsigned lane)
{
    return &t->places[lane][t->at[lane]];
}

static void run_calls(Ideal *t, uint64_t lanes);

/* The lane that is at the first node of all. */
static unsigned first_of(Ideal *t, const Function *f, uint64_t lanes)
{
    unsigned best = NONE;

    for (unsigned i = 0; i < IDEAL_LANES; i++) {
        if (lanes >> i & 1 &&
            (best == NONE || node(f, place(t, i)->node)->order <
                                 node(f, place(t, best)->node)->order)) {
            best = i;
        }
    }
    return best;
}

/* Those of lanes that are at the node, or in the loop. */
static uint64_t those_in(Ideal *t, const Function *f, uint64_t lanes,
                         unsigned n, unsigned loop)
{
    uint64_t there = 0;

    for (unsigned i = 0; i < IDEAL_LANES; i++) {
        if (lanes >> i & 1) {
            unsigned at = place(t, i)->node;

            there |= (uint64_t)(loop == NONE ? at == n : is_in(f, at, loop))
                     << i;
        }
    }
    return there;
}

/* Lanes, all at one node, execute it. */
static void execute(Ideal *t, uint64_t lanes)
{
    unsigned first = (unsigned)__builtin_ctzll(lanes);

    t->instructions++;
    if (g_array_index(t->steps[first], uint64_t, t->at[first]) & IDEAL_CALL) {
        run_calls(t, lanes);
    }
    for (unsigned i = 0; i < IDEAL_LANES; i++) {
        if (lanes >> i & 1) {
            t->at[i] = place(t, i)->next;
        }
    }
}

/* Runs lanes, all in the loop, until all have left it. */
static void run(Ideal *t, Function *f, uint64_t lanes, unsigned loop)
{
    uint64_t again = 0; /* at the header, for the next turn */

    while (lanes | again) {
        unsigned n, inner;
        uint64_t group;

        if (!lanes) {
            lanes = again;
            again = 0;
        }
        n = place(t, first_of(t, f, lanes))->node;
        inner = inner_loop(f, n, loop);
        group = those_in(t, f, lanes, n, inner);
        if (inner == NONE) {
            execute(t, group);
        } else {
            run(t, f, group, inner);
        }
        for (unsigned i = 0; i < IDEAL_LANES; i++) {
            if (!(group >> i & 1)) {
                continue;
            }
            if (t->at[i] == NONE || !is_in(f, place(t, i)->node, loop)) {
                lanes &= ~(1ull << i);
            } else if (place(t, i)->node == loop_of(f, loop)->header) {
                lanes &= ~(1ull << i);
                again |= 1ull << i;
            }
        }
    }
}

/* Lanes at calls run what they call, function by function. */
static void run_calls(Ideal *t, uint64_t lanes)
{
    unsigned calls[IDEAL_LANES];
    uint64_t rest = lanes;

    for (unsigned i = 0; i < IDEAL_LANES; i++) {
        if (lanes >> i & 1) {
            calls[i] = t->at[i]++;
            if (t->at[i] == t->steps[i]->len) {
                rest &= ~(1ull << i);
            }
        }
    }
    while (rest) {
        Function *f = place(t, (unsigned)__builtin_ctzll(rest))->function;
        uint64_t same = 0;

        for (unsigned i = 0; i < IDEAL_LANES; i++) {
            if (rest >> i & 1 && place(t, i)->function == f) {
                same |= 1ull << i;
            }
        }
        run(t, f, same, 0);
        rest &= ~same;
    }
    for (unsigned i = 0; i < IDEAL_LANES; i++) {
        if (lanes >> i & 1) {
            t->at[i] = calls[i];
        }
    }
}

uint64_t ideal_warp_instructions(GArray *const *lanes, unsigned count)
{
    Ideal t = { .steps = lanes };
    uint64_t all = 0;
    GHashTableIter i;
    gpointer f;

    t.functions = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                        free_function);
    for (unsigned lane = 0; lane < count; lane++) {
        g_assert_cmpuint(lanes[lane]->len, >, 0);
        walk_lane(&t, lane);
        all |= 1ull << lane;
    }
    g_hash_table_iter_init(&i, t.functions);
    while (g_hash_table_iter_next(&i, NULL, &f)) {
        find_loops(f);
    }
    run(&t, t.places[0]->function, all, 0);
    for (unsigned lane = 0; lane < count; lane++) {
        g_free(t.places[lane]);
    }
    g_hash_table_unref(t.functions);
    return t.instructions;
}
