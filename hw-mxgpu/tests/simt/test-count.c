/* SPDX-License-Identifier: MIT */
/* Counters and samples of compute units, against kernels of known figures. */
#include <string.h>

#include "simt/state.h"
#include "simt_host.h"

#define LANE        0xccc022f3u /* csrr t0, lane */
#define SHIFT(n)    (0x00029313u | (n) << 20) /* slli t1, t0, n */
#define ADD_ARGS    0x00a30333u /* add t1, t1, a0 */
#define LW(at)      (0x00032383u | (at) << 20) /* lw t2, at(t1) */
#define LD(at)      (0x00033383u | (at) << 20)
#define LB_UNIFORM  0x00050383u /* lb t2, 0(a0) */
#define SD          0x00733023u /* sd t2, 0(t1) */
#define FLW         0x00032007u /* flw ft0, 0(t1) */
#define AMOADD      0x005323afu /* amoadd.w t2, t0, (t1) */
#define BARRIER     0x0200000bu
#define EXIT        0x0000000bu
#define SHARED_BASE 0xe00003b7u /* lui t2, 0xe0000 */
#define ADD_SHARED  0x00730333u /* add t1, t1, t2 */
#define ODD         0x0012f393u /* andi t2, t0, 1 */
#define SKIP_IF     0x00039463u /* bnez t2, +8 */
#define COUNT(n)    (0x00000e13u | (n) << 20) /* li t3, n */
#define DOWN        0xfffe0e13u /* addi t3, t3, -1 */
#define LOOP        0xfe0e1ee3u /* bnez t3, -4 */
#define FOREVER     0x0000006fu /* j . */

typedef struct Kernel {
    SimtHost *h;
    MxgpuDispatch d;
    MxgpuSimtCounters c;
} Kernel;

/* 64 threads, 4 KiB of shared memory. */
static Kernel load(const uint32_t *code, size_t size, bool accesses)
{
    Kernel k = {.h = simt_host_new(2)};

    memcpy(simt_host_data(k.h, HOST_CODE_VA), code, size);
    k.d = simt_host_dispatch(HOST_CODE_VA, 1, 64);
    k.d.shared = 16384;
    k.d.accesses = accesses;
    return k;
}

static void go(Kernel *k)
{
    g_assert_cmpint(simt_host_run(k->h, &k->d).code, ==, MXGPU_FAULT_NONE);
    mxgpu_simt_counters(k->h->simt, &k->c);
}

static MxgpuSimtCounters run(const uint32_t *code, size_t size, bool accesses)
{
    Kernel k = load(code, size, accesses);

    go(&k);
    simt_host_free(k.h);
    return k.c;
}

/* Lanes "shift" apart, each doing one access. */
static MxgpuSimtCounters strided(unsigned shift, uint32_t access)
{
    const uint32_t code[] = {LANE, SHIFT(shift), ADD_ARGS, access, EXIT};

    return run(code, sizeof(code), true);
}

static void expect(MxgpuSimtCounters c, uint64_t requests,
                   uint64_t transactions, uint64_t bytes, uint64_t lookups)
{
    g_assert_cmpuint(c.mem_requests, ==, requests);
    g_assert_cmpuint(c.mem_transactions, ==, transactions);
    g_assert_cmpuint(c.mem_bytes, ==, bytes);
    g_assert_cmpuint(c.tlb_lookups, ==, lookups);
    g_assert_cmpuint(c.tlb_misses, <=, lookups);
}

static void test_coalescing(void)
{
    const uint32_t uniform[] = {LB_UNIFORM, EXIT};

    expect(strided(2, LW(0)), 1, 4, 256, 1);
    expect(strided(2, FLW), 1, 4, 256, 1);
    expect(strided(2, LW(2)), 1, 5, 256, 1); /* over a segment's edge */
    expect(strided(3, LD(0)), 1, 8, 512, 1);
    expect(strided(3, SD), 1, 8, 512, 1);
    expect(strided(3, LW(0)), 1, 8, 256, 1);
    expect(strided(6, LW(0)), 1, 64, 256, 1);
    expect(strided(12, LW(0)), 1, 64, 256, 64);
    expect(strided(2, AMOADD), 1, 4, 256, 1);
    expect(run(uniform, sizeof(uniform), true), 1, 1, 64, 1);
    g_assert_cmpuint(strided(2, LW(0)).tlb_misses, ==, 1);
    g_assert_cmpuint(strided(2, LW(0)).shared_requests, ==, 0);
    g_assert_cmpuint(strided(2, AMOADD).atomics, ==, 64);
}

/* Blocks of 16 x 16: a warp's rows are 16 words, 2^shift bytes apart. */
static void test_rows(void)
{
    static const struct {
        unsigned shift, transactions, pages;
    } cases[] = {{4, 2, 1}, {5, 3, 1}, {6, 4, 1}, {7, 4, 1}, {11, 4, 2},
                 {12, 4, 4}, {16, 4, 4}};

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        const uint32_t code[] = {
            0xcc0022f3, /* csrr t0, tid.x */
            0x00229293, /* slli t0, t0, 2 */
            0xcc102373, /* csrr t1, tid.y */
            0x00031313 | cases[i].shift << 20, /* slli t1, t1, shift */
            0x00530333, /* add t1, t1, t0 */
            ADD_ARGS, LW(0), EXIT,
        };
        Kernel k = load(code, sizeof(code), true);

        k.d.block[0] = 16;
        k.d.block[1] = 4;
        go(&k);
        expect(k.c, 1, cases[i].transactions, 256, cases[i].pages);
        simt_host_free(k.h);
    }
}

/* Atomics and all that costs nothing are counted in any case. */
static void test_off(void)
{
    const uint32_t code[] = {
        LANE, SHIFT(2), ADD_ARGS, LW(0), AMOADD, BARRIER, EXIT,
    };
    MxgpuSimtCounters off = run(code, sizeof(code), false);
    MxgpuSimtCounters on = run(code, sizeof(code), true);

    g_assert_cmpuint(off.mem_requests, ==, 0);
    g_assert_cmpuint(off.tlb_lookups, ==, 0);
    expect(on, 2, 8, 512, 2);
    g_assert_cmpuint(off.atomics, ==, 64);
    g_assert_cmpuint(off.barrier_waits, ==, 1);
    g_assert_cmpuint(off.warps, ==, 1);
    g_assert_cmpuint(off.blocks, ==, 1);
    g_assert_cmpuint(off.warp_instructions, ==, 7);
    g_assert_cmpuint(off.lane_instructions, ==, 7 * 64);
    g_assert_cmpuint(off.busy_ns, >, 0);
    g_assert_cmpuint(on.warp_instructions, ==, 7);
    g_assert_cmpuint(on.lane_instructions, ==, 7 * 64);
    g_assert_cmpuint(on.tlb_misses, ==, off.tlb_misses);
}

static uint64_t conflicts(unsigned shift, uint32_t access)
{
    const uint32_t code[] = {
        LANE, SHIFT(shift), SHARED_BASE, ADD_SHARED, access, EXIT,
    };
    MxgpuSimtCounters c = run(code, sizeof(code), true);

    g_assert_cmpuint(c.shared_requests, ==, 1);
    g_assert_cmpuint(c.mem_requests, ==, 0);
    return c.bank_conflicts;
}

static void test_banks(void)
{
    g_assert_cmpuint(conflicts(0, LW(0)), ==, 0);
    g_assert_cmpuint(conflicts(2, LW(0)), ==, 0);
    g_assert_cmpuint(conflicts(3, LW(0)), ==, 1);
    g_assert_cmpuint(conflicts(4, LW(0)), ==, 3);
    g_assert_cmpuint(conflicts(8, LW(0)), ==, 63);
    g_assert_cmpuint(conflicts(3, LD(0)), ==, 0);
    g_assert_cmpuint(conflicts(4, LD(0)), ==, 2);
}

/* Odd lanes skip one instruction: the rest is run by all. */
static void test_divergence(void)
{
    const uint32_t code[] = {LANE, ODD, SKIP_IF, DOWN, ODD, EXIT};

    for (unsigned on = 0; on < 2; on++) {
        Kernel k = load(code, sizeof(code), on);

        k.d.grid[0] = 5;
        k.d.block[0] = 256;
        go(&k);
        g_assert_cmpuint(k.c.warps, ==, 20);
        g_assert_cmpuint(k.c.blocks, ==, 5);
        g_assert_cmpuint(k.c.divergent_branches, ==, 20);
        g_assert_cmpuint(k.c.warp_instructions, ==, 20 * 6);
        g_assert_cmpuint(k.c.lane_instructions, ==, 20 * (5 * 64 + 32));
        simt_host_free(k.h);
    }
}

/* What a slot counted is its dispatch's, whatever ran before. */
static void test_dispatches(void)
{
    const uint32_t code[] = {LANE, SHIFT(2), ADD_ARGS, LW(0), BARRIER, EXIT};
    Kernel k = load(code, sizeof(code), false);
    MxgpuSimtCounters c;
    uint64_t blocks = 0;

    go(&k);
    k.d.profile = k.d.accesses = true;
    k.d.grid[0] = 9;
    k.d.block[0] = 128;
    for (unsigned i = 0; i < 3; i++) {
        go(&k);
    }
    mxgpu_simt_slot_counters(k.h->simt, 0, &c);
    g_assert_cmpuint(c.blocks, ==, 9);
    g_assert_cmpuint(c.warps, ==, 18);
    g_assert_cmpuint(c.warp_instructions, ==, 18 * 6);
    g_assert_cmpuint(c.mem_requests, ==, 18);
    g_assert_cmpuint(c.mem_transactions, ==, 18 * 4);
    g_assert_cmpuint(c.barrier_waits, ==, 18);
    g_assert_cmpuint(c.busy_ns, >, 0);
    for (unsigned i = 0; i < 2; i++) {
        MxgpuSimtCounters unit;
        MxgpuSimtTimes t;

        mxgpu_simt_slot_times(k.h->simt, 0, i, &t);
        mxgpu_simt_unit_counters(k.h->simt, i, &unit);
        blocks += t.blocks;
        if (t.blocks) {
            g_assert_cmpuint(t.last, >, t.first);
            g_assert_cmpuint(t.busy, <=, t.last - t.first);
            g_assert_cmpuint(unit.blocks, >=, t.blocks);
        }
    }
    g_assert_cmpuint(blocks, ==, 9);
    mxgpu_simt_slot_counters(k.h->simt, 1, &c);
    g_assert_cmpuint(c.warp_instructions, ==, 0);
    simt_host_free(k.h);
}

/* ---- samples */

static const uint32_t loop[] = {COUNT(1000u), DOWN, LOOP, EXIT};

static void test_samples(void)
{
    Kernel k = load(loop, sizeof(loop), false);
    uint64_t *samples = simt_host_data(k.h, HOST_SMALL_VA);
    unsigned at[4] = {0}, n = 20 * 2002 / 101;

    k.d.profile = k.d.accesses = true;
    k.d.grid[0] = 20;
    k.d.sample_addr = HOST_SMALL_VA;
    k.d.sample_max = 1000;
    k.d.sample_interval = 101;
    go(&k);
    g_assert_cmpuint(k.c.warp_instructions, ==, 20 * 2002);
    g_assert_cmpuint(k.c.tlb_misses, ==, 0);
    n = mxgpu_simt_slot_samples(k.h->simt, 0);
    /* Each unit takes its first one at once. */
    g_assert_cmpuint(n, >=, 20 * 2002 / 101 - 1);
    g_assert_cmpuint(n, <=, 20 * 2002 / 101 + 2);
    for (unsigned i = 0; i < n; i++) {
        uint64_t pc = MXGPU_SAMPLE_PC(samples[i]) - HOST_CODE_VA;

        g_assert_cmpuint(pc, <, sizeof(loop));
        g_assert_cmpuint(pc % 4, ==, 0);
        at[pc / 4]++;
        g_assert_cmpuint(MXGPU_SAMPLE_LANES(samples[i]), ==, 64);
        g_assert_cmpuint(MXGPU_SAMPLE_UNIT(samples[i]), <, 2);
    }
    g_assert_cmphex(samples[n], ==, 0);
    /* Both instructions of the loop are hit, about as often. */
    g_assert_cmpuint(at[1], >, n / 3);
    g_assert_cmpuint(at[2], >, n / 3);
    simt_host_free(k.h);
}

/* ---- spans: what is counted of a dispatch that does not ask for all */

#define NOP_X0 0x00000013u /* nop */
#define MANY   0x00004e37u /* lui t3, 4: 16384 */

/* bnez t3 back over n instructions; the bits of a negative offset */
static uint32_t back(unsigned n)
{
    uint32_t to = -4 * n;

    return 0x000e1063u | (to >> 12 & 1) << 31 | (to >> 5 & 63) << 25 |
           (to >> 1 & 15) << 8 | (to >> 11 & 1) << 7;
}

static uint64_t alone; /* instructions of warps outside of convoys and spans */
static SimtExecFn *real_exec;

static SimtExit exec_counted(MxgpuCu *cu, MxgpuWarp *w, uint64_t limit)
{
    uint64_t before = w->s.instructions;
    SimtExit result = real_exec(cu, w, limit);

    alone += w->s.instructions - before;
    return result;
}

/* Two loads and a barrier in a loop. */
static Kernel load_spans(unsigned grid, unsigned block)
{
    const uint32_t code[] = {
        LANE, SHIFT(2), ADD_ARGS, COUNT(200u), LW(0), LW(256), BARRIER, DOWN,
        back(4), EXIT,
    };
    Kernel k = load(code, sizeof(code), false);

    real_exec = k.h->simt->exec;
    k.h->simt->exec = exec_counted;
    alone = 0;
    k.d.profile = true;
    k.d.grid[0] = grid;
    k.d.block[0] = block;
    k.d.registers = 16;
    return k;
}

#define SPAN_CODE (5 + 200 * 5) /* what each warp of it runs */

static MxgpuSimtCounters go_spans(Kernel *k)
{
    MxgpuSimtCounters c;

    go(k);
    mxgpu_simt_slot_counters(k->h->simt, 0, &c);
    g_assert_cmpuint(c.counted_instructions, >, 0);
    g_assert_cmpuint(c.counted_spans, >, 0);
    return c;
}

static double estimate(const MxgpuSimtCounters *c, uint64_t counted)
{
    return (double)counted * c->warp_instructions / c->counted_instructions;
}

/* A small part is counted, the rest stays in convoys; what needs no counting of
 * accesses is as exact as ever. */
static void test_spans(void)
{
    enum { BLOCKS = 3000, WARPS = 4 * BLOCKS };
    Kernel k = load_spans(BLOCKS, 256);
    MxgpuSimtCounters c = go_spans(&k);
    uint64_t counted;

    g_assert_cmpuint(c.blocks, ==, BLOCKS);
    g_assert_cmpuint(c.warps, ==, WARPS);
    g_assert_cmpuint(c.warp_instructions, ==, WARPS * SPAN_CODE);
    g_assert_cmpuint(c.lane_instructions, ==, 64 * WARPS * SPAN_CODE);
    g_assert_cmpuint(c.barrier_waits, ==, WARPS * 200);
    g_assert_cmpuint(c.counted_spans, >, 40);
    g_assert_cmpuint(c.counted_instructions, <, c.warp_instructions / 150);
    g_assert_cmpuint(alone, ==, 0);
    g_assert_cmpfloat(ABS(estimate(&c, c.mem_requests) / (WARPS * 400) - 1), <,
                      0.02);
    g_assert_cmpfloat(ABS((double)c.mem_transactions / c.mem_requests - 4), <,
                      0.01);
    counted = c.counted_instructions;
    mxgpu_simt_reset(k.h->simt); /* and then all is as before */
    c = go_spans(&k);
    g_assert_cmpuint(c.counted_instructions, ==, counted);
    simt_host_free(k.h);
}

/* Whatever a unit has just run, a dispatch has figures, and few instructions
 * more are counted for it. */
static void test_small_spans(void)
{
    static const unsigned blocks[] = {64, 128, 1024, 100};
    Kernel big = load_spans(300, 256);

    go_spans(&big);
    for (unsigned i = 0; i < 4 * G_N_ELEMENTS(blocks); i++) {
        unsigned warps = (blocks[i % 4] + 63) / 64;
        MxgpuSimtCounters c;

        big.d.grid[0] = 1;
        big.d.block[0] = blocks[i % 4];
        c = go_spans(&big);
        g_assert_cmpuint(c.warp_instructions, ==, warps * SPAN_CODE);
        /* each warp goes on to the end of the loop it is in */
        g_assert_cmpuint(c.counted_instructions, <=, 512 + 16 * 5);
        g_assert_cmpuint(c.counted_spans, ==, 1);
        g_assert_cmpfloat(estimate(&c, c.mem_requests), >, warps * 350);
        g_assert_cmpfloat(estimate(&c, c.mem_requests), <, warps * 405);
    }
    simt_host_free(big.h);
}

/* Atomics of a span are accesses of it. */
static void test_span_atomics(void)
{
    const uint32_t code[] = {LANE, SHIFT(2), ADD_ARGS, AMOADD, EXIT};
    Kernel k = load(code, sizeof(code), false);

    k.d.profile = true;
    expect(go_spans(&k), 1, 4, 256, 1);
    g_assert_cmpuint(k.c.counted_instructions, ==, k.c.warp_instructions);
    simt_host_free(k.h);
}

/* Two loops in one block, of eight and of two instructions: samples fall on all
 * of them alike. */
static void test_span_samples(void)
{
    const uint32_t code[] = {
        MANY, DOWN, NOP_X0, NOP_X0, NOP_X0, NOP_X0, NOP_X0, NOP_X0, back(7),
        MANY, DOWN, back(1), EXIT,
    };
    Kernel k = load(code, sizeof(code), false);
    uint64_t *samples = simt_host_data(k.h, HOST_SMALL_VA), n;
    unsigned at[G_N_ELEMENTS(code)] = {0};

    k.d.profile = true;
    k.d.grid[0] = 40;
    k.d.block[0] = 1024;
    k.d.sample_addr = HOST_SMALL_VA;
    k.d.sample_max = 100000;
    k.d.sample_interval = 256 * 5;
    go(&k);
    n = mxgpu_simt_slot_samples(k.h->simt, 0);
    g_assert_cmpuint(n, >, k.c.warp_instructions / (256 * 5) * 3 / 4);
    g_assert_cmpuint(n, <, k.c.warp_instructions / (256 * 5) * 5 / 4);
    for (unsigned i = 0; i < n; i++) {
        at[(MXGPU_SAMPLE_PC(samples[i]) - HOST_CODE_VA) / 4]++;
    }
    for (unsigned i = 1; i < G_N_ELEMENTS(code) - 1; i++) {
        if (i != 9) {
            g_assert_cmpuint(at[i], >, n / 10 * 7 / 10);
            g_assert_cmpuint(at[i], <, n / 10 * 13 / 10);
        }
    }
    simt_host_free(k.h);
}

/* Where a unit is: on its last turn's instruction, or nowhere. */
static void test_where(void)
{
    const uint32_t code[] = {LANE, FOREVER}, gone[] = {EXIT};
    Kernel k = load(code, sizeof(code), false);

    g_assert_cmphex(mxgpu_simt_unit_pc(k.h->simt, 0), ==, 0);
    k.d.grid[0] = 2;
    k.d.block[0] = 256;
    g_assert_cmpint(mxgpu_simt_start(k.h->simt, 0, &k.d), ==, MXGPU_FAULT_NONE);
    mxgpu_simt_run(k.h->simt, 1, 1000);
    g_assert_cmphex(mxgpu_simt_unit_pc(k.h->simt, 0), ==, 0);
    g_assert_cmphex(mxgpu_simt_unit_pc(k.h->simt, 1), ==,
                    (HOST_CODE_VA + 4) | (uint64_t)HOST_VMID << 48 |
                        1ull << 63);
    g_assert_cmphex(mxgpu_simt_unit_pc(k.h->simt, 2), ==, 0);
    mxgpu_simt_abort(k.h->simt, 0);
    while (mxgpu_simt_run(k.h->simt, 1, 1000)) {
    }
    g_assert_cmphex(mxgpu_simt_unit_pc(k.h->simt, 1), ==, 0);
    memcpy(simt_host_data(k.h, HOST_CODE_VA), gone, sizeof(gone));
    go(&k);
    g_assert_cmphex(mxgpu_simt_unit_pc(k.h->simt, 1), ==, 0);
    simt_host_free(k.h);
}

/* Which slots have blocks on a unit. */
static void test_slots(void)
{
    const uint32_t code[] = {LANE, FOREVER}, gone[] = {EXIT};
    Kernel k = load(code, sizeof(code), false);
    MxgpuSimt *simt = k.h->simt;

    k.d.grid[0] = 1;
    k.d.block[0] = 64;
    g_assert_cmphex(mxgpu_simt_unit_slots(simt, 1), ==, 0);
    g_assert_cmpint(mxgpu_simt_start(simt, 0, &k.d), ==, MXGPU_FAULT_NONE);
    g_assert_cmphex(mxgpu_simt_unit_slots(simt, 1), ==, 0); /* has not begun */
    mxgpu_simt_run(simt, 1, 1000);
    g_assert_cmphex(mxgpu_simt_unit_slots(simt, 1), ==, 1);
    g_assert_cmpint(mxgpu_simt_start(simt, 3, &k.d), ==, MXGPU_FAULT_NONE);
    while (mxgpu_simt_unit_slots(simt, 1) != 9) { /* when it looks for more */
        mxgpu_simt_run(simt, 1, 1000);
    }
    g_assert_cmphex(mxgpu_simt_unit_slots(simt, 0), ==, 0);
    mxgpu_simt_hold(simt, 0, true); /* saved, it is not on the unit */
    while (mxgpu_simt_unit_slots(simt, 1) != 8) {
        mxgpu_simt_run(simt, 1, 1000);
    }
    mxgpu_simt_hold(simt, 0, false);
    while (mxgpu_simt_unit_slots(simt, 1) != 9) {
        mxgpu_simt_run(simt, 1, 1000);
    }
    mxgpu_simt_abort(simt, 3);
    while (mxgpu_simt_active(simt, 3)) {
        mxgpu_simt_run(simt, 1, 1000);
    }
    g_assert_cmphex(mxgpu_simt_unit_slots(simt, 1), ==, 1);
    mxgpu_simt_abort(simt, 0);
    while (mxgpu_simt_run(simt, 1, 1000)) {
    }
    g_assert_cmphex(mxgpu_simt_unit_slots(simt, 1), ==, 0);
    g_assert_cmphex(mxgpu_simt_unit_slots(simt, 99), ==, 0);
    memcpy(simt_host_data(k.h, HOST_CODE_VA), gone, sizeof(gone));
    k.d.grid[0] = 1000;
    go(&k);
    g_assert_cmphex(mxgpu_simt_unit_slots(simt, 0), ==, 0);
    simt_host_free(k.h);
}

/* ---- room for samples */

/* Little room: what stays is of the whole run, not of its beginning. */
static void test_few_samples(void)
{
    static const uint32_t code[] = {
        COUNT(1000u), DOWN, LOOP, COUNT(1000u), DOWN, LOOP, EXIT,
    };
    Kernel k = load(code, sizeof(code), false);
    uint64_t *samples = simt_host_data(k.h, HOST_SMALL_VA);
    unsigned first = 0;

    k.d.profile = k.d.accesses = true;
    k.d.sample_addr = HOST_SMALL_VA;
    k.d.sample_max = 100;
    k.d.sample_interval = 3;
    go(&k);
    g_assert_cmpuint(mxgpu_simt_slot_samples(k.h->simt, 0), >=, 4003 / 3);
    g_assert_cmphex(samples[100], ==, 0);
    for (unsigned i = 0; i < 100; i++) {
        first += MXGPU_SAMPLE_PC(samples[i]) < HOST_CODE_VA + 12;
    }
    g_assert_cmpuint(first, >, 25);
    g_assert_cmpuint(first, <, 75);
    simt_host_free(k.h);
}

static void test_bad_samples(void)
{
    static const uint64_t refused[] = {
        HOST_SMALL_VA + 4, MXGPU_VA_LIMIT, MXGPU_VA_LIMIT - 8,
        MXGPU_SHARED_BASE, MXGPU_PRIVATE_END - 4096, UINT64_MAX - 7,
    };
    Kernel k = load(loop, sizeof(loop), false);
    MxgpuDispatchFault f;

    k.d.profile = k.d.accesses = true;
    k.d.sample_max = 1000;
    k.d.sample_interval = 101;
    for (unsigned i = 0; i < G_N_ELEMENTS(refused); i++) {
        k.d.sample_addr = refused[i];
        g_assert_cmpint(simt_host_run(k.h, &k.d).code, ==,
                        MXGPU_FAULT_CONFIG);
    }
    k.d.sample_addr = HOST_CODE_VA; /* not writable */
    f = simt_host_run(k.h, &k.d);
    g_assert_cmpint(f.code, ==, MXGPU_FAULT_PERMISSION);
    g_assert_cmpint(f.access, ==, MXGPU_ACCESS_WRITE);
    g_assert_cmphex(f.addr, ==, HOST_CODE_VA);
    k.d.sample_addr = 0x700000000000ull;
    f = simt_host_run(k.h, &k.d);
    g_assert_cmpint(f.code, ==, MXGPU_FAULT_NOT_PRESENT);
    simt_host_free(k.h);
}

/* An abort says where a warp was. */
static void test_abort(void)
{
    const uint32_t code[] = {LANE, FOREVER};

    for (unsigned profile = 0; profile < 2; profile++) {
        Kernel k = load(code, sizeof(code), false);
        MxgpuDispatchFault f;

        k.d.profile = profile;
        k.d.grid[0] = 3;
        k.h->done = 0;
        g_assert_cmpint(mxgpu_simt_start(k.h->simt, 0, &k.d), ==,
                        MXGPU_FAULT_NONE);
        mxgpu_simt_run(k.h->simt, 1, 1000);
        mxgpu_simt_abort(k.h->simt, 0);
        mxgpu_simt_run(k.h->simt, 1, 1000);
        g_assert_cmpuint(k.h->done, ==, 1);
        f = mxgpu_simt_fault(k.h->simt, 0);
        g_assert_cmpint(f.code, ==, MXGPU_FAULT_ABORTED);
        g_assert_cmphex(f.pc, ==, HOST_CODE_VA + 4);
        g_assert_cmpuint(f.block[0], ==, 0);
        g_assert_cmpuint(f.thread, ==, 0);
        simt_host_free(k.h);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/count/coalescing", test_coalescing);
    g_test_add_func("/count/rows", test_rows);
    g_test_add_func("/count/off", test_off);
    g_test_add_func("/count/banks", test_banks);
    g_test_add_func("/count/divergence", test_divergence);
    g_test_add_func("/count/dispatches", test_dispatches);
    g_test_add_func("/count/samples", test_samples);
    g_test_add_func("/count/spans", test_spans);
    g_test_add_func("/count/spans/small", test_small_spans);
    g_test_add_func("/count/spans/atomics", test_span_atomics);
    g_test_add_func("/count/spans/samples", test_span_samples);
    g_test_add_func("/count/where", test_where);
    g_test_add_func("/count/slots", test_slots);
    g_test_add_func("/count/samples/few", test_few_samples);
    g_test_add_func("/count/samples/bad", test_bad_samples);
    g_test_add_func("/count/abort", test_abort);
    return g_test_run();
}
