/* SPDX-License-Identifier: MIT */
/*
 * Divergence: random programs on warps, against each thread alone; and threads
 * that wait for each other in every way that independent threads may.
 */
#include <pthread.h>
#include <string.h>

#include "flow.h"
#include "ideal.h"
#include "mxgpu/isa.h"
#include "mxgpu/kernel.h"
#include "simt/state.h"

#define MAX_THREADS 256
#define CODE_WORDS  16384
#define LIMIT       2000000
#ifdef __SANITIZE_ADDRESS__
/* Each step takes ten times as long; turns of waiting are the square of the
 * number of threads. */
#define PROGRAMS 15
#define SHAPES   {1, 64}, {1, 2}, {1, 128}, {2, 64}, {3, 40}
#else
#define PROGRAMS 60
#define SHAPES   {1, 64}, {1, 2}, {1, 256}, {8, 64}, {6, 100}
#endif

static const char *elf;

/* ---- random programs */

typedef struct Trial {
    SimtHost *host;
    Flow flow;
    FlowThread *threads;
    unsigned grid, block;
    bool forgets;
    uint64_t executed, ideal; /* instructions of warps */
} Trial;

static FlowThread *thread(Trial *t, unsigned n)
{
    return &t->threads[n];
}

static void start_thread(Trial *t, unsigned n)
{
    FlowThread *h = thread(t, n);
    GArray *steps = h->steps;

    memset(h, 0, sizeof(*h));
    g_array_set_size(steps, 0);
    h->steps = steps;
    h->pc = HOST_CODE_VA;
    h->lane = n % t->block % 64;
    h->global = n;
    h->data_va = FLOW_DATA_VA + (uint64_t)n * FLOW_LANE_BYTES;
    memcpy(h->data, simt_host_data(t->host, h->data_va), FLOW_LANE_BYTES);
    /* what the program's first instructions do with CSRs and arguments */
    h->x[SP] = MXGPU_PRIVATE_END;
    h->x[S0] = h->data_va;
    h->x[S3] = FLOW_TABLE_VA;
}

/* Instructions of begin() that the reference does not execute: those before
 * the first addi to x9. */
static unsigned prologue(const Flow *f)
{
    unsigned n = 0;

    while ((f->code[n] & 0xfff) != (0x13 | S1 << 7)) {
        n++;
    }
    return n;
}

/* All threads, each alone; the ballot joins those of a warp that get there. */
static uint64_t run_alone(Trial *t)
{
    unsigned total = t->grid * t->block, skip = prologue(&t->flow);
    uint64_t instructions = 0, ballot;

    for (unsigned n = 0; n < total; n++) {
        thread(t, n)->pc += 4 * skip;
        thread(t, n)->instructions = skip;
        (void)flow_run(&t->flow, thread(t, n), LIMIT);
    }
    for (unsigned n = 0; n < total;) {
        unsigned left = t->block - n % t->block, end;

        end = n + (left < 64 ? left : 64);
        ballot = 0;
        for (unsigned i = n; i < end; i++) {
            ballot |= (uint64_t)(!thread(t, i)->exited &&
                                 thread(t, i)->x[A0]) << (i - n);
        }
        for (unsigned i = n; i < end; i++) {
            FlowThread *h = thread(t, i);

            if (!h->exited) {
                h->pc += 4;
                (void)flow_run(&t->flow, h, LIMIT);
                g_assert_cmphex(h->exited, ==, false);
                h->x[T5] = ballot;
                h->pc += 4;
                g_assert_true(flow_run(&t->flow, h, LIMIT));
            }
            instructions += h->instructions;
        }
        n = end;
    }
    return instructions;
}

/* What all warps execute when lanes meet as the reference says. */
static uint64_t ideal(Trial *t)
{
    unsigned total = t->grid * t->block, end;
    GArray *lanes[IDEAL_LANES];
    uint64_t sum = 0;

    for (unsigned n = 0; n < total; n = end) {
        unsigned left = t->block - n % t->block;

        end = n + MIN(left, IDEAL_LANES);
        for (unsigned i = n; i < end; i++) {
            lanes[i - n] = thread(t, i)->steps;
        }
        sum += prologue(&t->flow) + ideal_warp_instructions(lanes, end - n);
    }
    return sum;
}

/* What is above the reference comes of long programs: groups of lanes take turns
 * of 16384 instructions. */
static void near_ideal(Trial *t, unsigned seed, uint64_t executed)
{
    uint64_t least = ideal(t);

    g_test_message("seed %u: %lu instructions of warps, %lu of the reference",
                   seed, (unsigned long)executed, (unsigned long)least);
    t->executed += executed;
    t->ideal += least;
}

static void fill_data(Trial *t)
{
    uint64_t *args = simt_host_data(t->host, HOST_DATA_VA);
    uint8_t *data = simt_host_data(t->host, FLOW_DATA_VA);
    GRand *rng = t->flow.rng;

    args[0] = FLOW_DATA_VA;
    args[1] = FLOW_TABLE_VA;
    for (unsigned n = 0; n < t->grid * t->block; n++) {
        uint64_t *own = (uint64_t *)(data + n * FLOW_LANE_BYTES);

        for (unsigned i = 0; i < FLOW_LANE_BYTES / 8; i++) {
            uint64_t v = (uint64_t)g_rand_int(rng) << 32 | g_rand_int(rng);

            /* small, alike and equal ones make lanes go together at times */
            own[i] = i % 3 == 0 ? v : i % 3 == 1 ? v % 16 : n / 8;
        }
    }
}

static void run_warps(Trial *t, GRand *rng, bool small,
                      MxgpuSimtCounters *counters)
{
    MxgpuDispatch d = simt_host_dispatch(HOST_CODE_VA, t->grid, t->block);

    d.private_bytes = FLOW_STACK_BYTES;
    t->host->done = 0;
    g_assert_cmpint(mxgpu_simt_start(t->host->simt, 0, &d), ==,
                    MXGPU_FAULT_NONE);
    for (unsigned n = 0; !t->host->done; n++) {
        g_assert_cmpuint(n, <, 10000000);
        simt_host_step(t->host, 0,
                       small ? 1 + g_rand_int(rng) % 300 : 100000);
    }
    mxgpu_simt_counters(t->host->simt, counters);
}

static void compare(Trial *t, unsigned seed, uint64_t instructions)
{
    MxgpuDispatchFault f = mxgpu_simt_fault(t->host->simt, 0);

    if (f.code) {
        g_test_message("seed %u: fault %d at %lx, pc %lx, thread %u", seed,
                       f.code, (long)f.addr, (long)f.pc, f.thread);
    }
    g_assert_cmpint(f.code, ==, MXGPU_FAULT_NONE);
    for (unsigned n = 0; n < t->grid * t->block; n++) {
        const FlowThread *h = thread(t, n);
        const uint8_t *data = simt_host_data(t->host, h->data_va);

        for (unsigned i = 0; i < FLOW_LANE_BYTES; i += 8) {
            if (memcmp(data + i, h->data + i, 8) != 0) {
                g_test_message("seed %u thread %u: data at %u differ", seed, n,
                               i);
                g_test_fail();
                return;
            }
        }
    }
}

/* Whether counts are the same whatever runs the program: compiled code ends
 * slices, which atomics shorten, a few instructions sooner or later. */
static bool is_exact(const Trial *t)
{
    return t->flow.quiet || !g_getenv("MXGPU_TEST_JIT");
}

/* Warps together while they are at one pc, and each for itself: the same, in as
 * many steps of warps, unless short turns end where groups would have met. */
static void both_ways(Trial *t, unsigned seed, uint64_t alone)
{
    size_t size = (size_t)t->grid * t->block * FLOW_LANE_BYTES;
    uint8_t *data = simt_host_data(t->host, FLOW_DATA_VA);
    g_autofree uint8_t *start = g_memdup2(data, size);
    SimtConvoyFn *convoy = t->host->simt->convoy;
    bool small = g_rand_boolean(t->flow.rng);
    MxgpuSimtCounters c[3];

    mxgpu_simt_counters(t->host->simt, &c[0]);
    run_warps(t, t->flow.rng, small, &c[1]);
    compare(t, seed, alone);
    memcpy(data, start, size);
    t->host->simt->convoy = NULL;
    run_warps(t, t->flow.rng, small, &c[2]);
    compare(t, seed, alone);
    t->host->simt->convoy = convoy;
    /* threads have executed what they execute alone, no more and no less */
    for (unsigned i = 1; i < 3; i++) {
        g_assert_cmpuint(c[i].lane_instructions - c[i - 1].lane_instructions,
                         ==, alone);
    }
    if (!small) {
        if (t->flow.quiet) {
            near_ideal(t, seed,
                       c[2].warp_instructions - c[1].warp_instructions);
        }
    }
    if (!small && is_exact(t)) {
        g_assert_cmpuint(c[1].warp_instructions - c[0].warp_instructions, ==,
                         c[2].warp_instructions - c[1].warp_instructions);
        g_assert_cmpuint(c[1].divergent_branches - c[0].divergent_branches,
                         ==, c[2].divergent_branches - c[1].divergent_branches);
    }
}

/* Units that forget what they cached, or are reset and get their state back: the
 * same to the last count. */
static void forgetting(Trial *t, unsigned seed, uint64_t alone)
{
    size_t size = (size_t)t->grid * t->block * FLOW_LANE_BYTES;
    uint8_t *data = simt_host_data(t->host, FLOW_DATA_VA);
    g_autofree uint8_t *start = g_memdup2(data, size);
    MxgpuSimtCounters c[3];

    mxgpu_simt_counters(t->host->simt, &c[0]);
    for (unsigned i = 1; i < 3; i++) {
        g_autoptr(GRand) rng = g_rand_new_with_seed(seed);

        memcpy(data, start, size);
        simt_host_forget(t->host, i == 2 ? seed : 0);
        t->host->simt->extra_work = INT32_MAX;
        t->host->reload = true;
        run_warps(t, rng, true, &c[i]);
        simt_host_forget(t->host, 0);
        compare(t, seed, alone);
    }
#define SAME(name)                                                             \
    g_assert_cmpuint(c[2].name - c[1].name, ==, c[1].name - c[0].name);
    SAME(dispatches)
    SAME(lane_instructions)
    SAME(blocks)
    SAME(warps)
    if (is_exact(t)) {
        SAME(warp_instructions)
        SAME(divergent_branches)
        SAME(barrier_waits)
        SAME(atomics)
    }
#undef SAME
}

static void one_program(Trial *t, unsigned seed, bool structured)
{
    static const unsigned blocks[] = { 64, 256, 37, 80, 1, 128 };

    g_rand_set_seed(t->flow.rng, seed);
    t->block = blocks[seed % G_N_ELEMENTS(blocks)];
    t->grid = t->block < 64 ? 2 : 1;
    if (structured) {
        flow_structured(&t->flow, t->flow.quiet ? 60 : 300);
    } else {
        flow_unstructured(&t->flow, seed % 8 ? 300 : 1500);
    }
    memcpy(simt_host_data(t->host, HOST_CODE_VA), t->flow.code,
           4 * t->flow.length);
    memcpy(simt_host_data(t->host, FLOW_TABLE_VA), t->flow.table,
           sizeof(t->flow.table));
    fill_data(t);
    for (unsigned n = 0; n < t->grid * t->block; n++) {
        start_thread(t, n);
    }
    (t->forgets ? forgetting : both_ways)(t, seed, run_alone(t));
}

typedef enum Kind { AS_THEY_ARE, FORGETTING, QUIET } Kind;

static void many_programs(unsigned first, unsigned count, bool structured,
                          Kind kind)
{
    Trial t = {.host = simt_host_new(1), .forgets = kind == FORGETTING};
    MxgpuSimtCounters c;

    t.flow.room = CODE_WORDS;
    t.flow.code = g_new(uint32_t, CODE_WORDS);
    t.flow.rng = g_rand_new();
    t.flow.quiet = kind == QUIET;
    t.threads = g_new0(FlowThread, MAX_THREADS);
    for (unsigned i = 0; i < MAX_THREADS; i++) {
        t.threads[i].steps = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    }
    for (unsigned i = 0; i < count; i++) {
        one_program(&t, first + i, structured);
    }
    mxgpu_simt_counters(t.host->simt, &c);
    g_test_message("%lu instructions of warps, %.1f lanes, %lu divergent "
                   "branches", (unsigned long)c.warp_instructions,
                   (double)c.lane_instructions / (double)c.warp_instructions,
                   (unsigned long)c.divergent_branches);
    /* the few programs of compiled code have less to diverge */
    g_assert_cmpuint(c.divergent_branches, >,
                     (g_getenv("MXGPU_TEST_JIT") ? 10 : 50) * count);
    if (t.forgets) {
        g_assert_cmpuint(c.tlb_misses, >, 10 * count);
    }
    if (kind == QUIET) {
        g_assert_cmpuint(t.ideal, >, 0);
        g_assert_cmpuint(100 * t.ideal, >=, 99 * t.executed);
    }
    g_rand_free(t.flow.rng);
    g_free(t.flow.code);
    for (unsigned i = 0; i < MAX_THREADS; i++) {
        g_array_unref(t.threads[i].steps);
    }
    g_free(t.threads);
    simt_host_free(t.host);
}

/* Compiling takes longer than running them. */
static unsigned programs(void)
{
    return g_getenv("MXGPU_TEST_JIT") ? 2 : PROGRAMS;
}

static void test_unstructured(void)
{
    many_programs(1, programs(), false, AS_THEY_ARE);
}

static void test_structured(void)
{
    many_programs(1000, programs(), true, AS_THEY_ARE);
}

/* Nested statements stand in the order that the scheduler wants, and so lanes
 * meet as early as in the reference. */
static void test_reference(void)
{
    many_programs(4000, programs(), true, QUIET);
}

static void test_forgetting(void)
{
    many_programs(2000, MIN(15, 2 * programs()), false, FORGETTING);
    many_programs(3000, MIN(15, 2 * programs()), true, FORGETTING);
}

/* ---- threads that wait for each other */

typedef struct Unit {
    SimtHost *host;
    unsigned cu;
} Unit;

static void *drive(void *opaque)
{
    const Unit *u = opaque;

    while (!atomic_load(&u->host->done)) {
        simt_host_steps(u->host, u->cu, 20000);
    }
    return NULL;
}

/* Runs a kernel on two units, each driven by a thread of its own. */
static uint64_t *run_kernel(SimtHost *h, const char *name, unsigned grid,
                            unsigned block)
{
    MxgpuDispatch d;
    uint64_t *args = simt_host_data(h, HOST_DATA_VA);
    uint64_t *out = simt_host_data(h, HOST_DATA_VA + (2 << 20));
    pthread_t threads[2];
    Unit units[2] = {{h, 0}, {h, 1}};

    simt_host_load(h, elf);
    args[0] = HOST_DATA_VA + (2 << 20);
    memset(out, 0, 1 << 20);
    d = simt_host_dispatch(simt_host_symbol(h, name), grid, block);
    d.shared = 16384;
    h->done = 0;
    g_assert_cmpint(mxgpu_simt_start(h->simt, 0, &d), ==, MXGPU_FAULT_NONE);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpint(pthread_create(&threads[i], NULL, drive, &units[i]), ==,
                        0);
    }
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    g_assert_cmpint(mxgpu_simt_fault(h->simt, 0).code, ==, MXGPU_FAULT_NONE);
    return out;
}

static void test_waiting(gconstpointer data)
{
    static const struct {
        unsigned grid, block;
    } shapes[] = { SHAPES };
    const char *name = data;
    SimtHost *h = simt_host_new(2);

    for (unsigned n = 0; n < G_N_ELEMENTS(shapes); n++) {
        unsigned total = shapes[n].grid * shapes[n].block;
        uint64_t *out = run_kernel(h, name, shapes[n].grid, shapes[n].block);

        /* each kernel counts what each thread saw go right */
        g_assert_cmpuint(out[0], ==, total);
    }
    simt_host_free(h);
}

int main(int argc, char **argv)
{
    static const char *const waiting[] = {
        "spin_lock", "ticket_lock", "two_locks", "queue_lock", "lrsc_lock",
        "chain_up", "chain_down", "ping_pong", "pipeline", "warps_handshake",
    };

    g_test_init(&argc, &argv, NULL);
    elf = argv[1];
    g_test_add_func("/flow/unstructured", test_unstructured);
    g_test_add_func("/flow/structured", test_structured);
    g_test_add_func("/flow/reference", test_reference);
    g_test_add_func("/flow/forgetting", test_forgetting);
    for (unsigned i = 0; i < G_N_ELEMENTS(waiting); i++) {
        g_autofree char *path = g_strdup_printf("/flow/%s", waiting[i]);

        g_test_add_data_func(path, waiting[i], test_waiting);
    }
    return g_test_run();
}
