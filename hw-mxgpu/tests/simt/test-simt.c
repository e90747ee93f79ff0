/* SPDX-License-Identifier: MIT */
/* Compute units run compiled kernels: divergence, barriers, memory, faults. */
#include <string.h>

#include "simt_run.h"

static const char *elf;

static SimtRun setup(const char *name, unsigned grid, unsigned block)
{
    return simt_run_new(elf, name, grid, block);
}

static void test_identity(void)
{
    static const unsigned blocks[] = { 1, 31, 64, 65, 100, 256, 1000, 1024 };

    for (unsigned k = 0; k < G_N_ELEMENTS(blocks); k++) {
        SimtRun r = setup("identity", 77, blocks[k]);
        unsigned n = 77 * blocks[k];
        MxgpuSimtCounters c;

        r.out[n] = 0xdead;
        simt_run(&r);
        for (unsigned i = 0; i < n; i++) {
            g_assert_cmpuint(r.out[i], ==, i);
        }
        g_assert_cmphex(r.out[n], ==, 0xdead);
        mxgpu_simt_counters(r.h->simt, &c);
        g_assert_cmpuint(c.blocks, ==, 77);
        g_assert_cmpuint(c.dispatches, ==, 1);
        g_assert_cmpuint(c.lane_instructions, <=, 64 * c.warp_instructions);
        g_assert_cmpuint(c.lane_instructions, >=, 3 * n);
        simt_run_free(&r);
    }
}

static uint64_t collatz(uint64_t x)
{
    uint64_t steps = 0;

    while (x != 1 && steps <= 1000) {
        steps += x % 2 && x % 3 == 0 ? 3 : 1;
        x = x % 2 ? 3 * x + 1 : x / 2;
    }
    return steps;
}

static void test_loops(void)
{
    SimtRun r = setup("collatz", 4, 200);
    MxgpuSimtCounters c;

    simt_run(&r);
    for (unsigned i = 0; i < 800; i++) {
        g_assert_cmpuint(r.out[i], ==, collatz(i + 1));
    }
    mxgpu_simt_counters(r.h->simt, &c);
    g_assert_cmpuint(c.divergent_branches, >, 10);
    simt_run_free(&r);
}

static void test_recursion(void)
{
    static const unsigned fib[] = { 0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89 };
    SimtRun r = setup("recurse", 2, 96);

    simt_run(&r);
    for (unsigned i = 0; i < 192; i++) {
        g_assert_cmpuint(r.out[i], ==, fib[i % 12]);
    }
    simt_run_free(&r);
}

static void test_indirect(void)
{
    SimtRun r = setup("indirect", 2, 64);

    simt_run(&r);
    for (uint64_t i = 0; i < 128; i++) {
        uint64_t v[] = { i + 1, i * 3, i ^ 0xff, ~i };

        g_assert_cmphex(r.out[i], ==, v[i % 4] + 1000);
    }
    simt_run_free(&r);
}

static void test_exit(void)
{
    SimtRun r = setup("early_exit", 3, 192);

    simt_run(&r);
    for (unsigned i = 0; i < 576; i++) {
        unsigned warp = i / 64, lanes = 0;

        for (unsigned k = 0; k < 64; k++) {
            lanes += (warp * 64 + k) % 3 != 0;
        }
        g_assert_cmpuint(r.out[i], ==, i % 3 ? lanes + 100 : 0);
    }
    simt_run_free(&r);
}

static void test_locks(void)
{
    static const char *const names[] = { "spin_lock", "ticket_lock" };

    for (unsigned k = 0; k < 2; k++) {
        SimtRun r = setup(names[k], 4, 128);

        simt_run(&r);
        g_assert_cmpuint(((uint32_t *)r.data)[k + 1], ==, 512);
        simt_run_free(&r);
    }
}

static void test_chain(void)
{
    SimtRun r = setup("chain", 1, 128);

    simt_run(&r);
    for (unsigned i = 0; i < 128; i++) {
        g_assert_cmpuint(r.out[i], ==, 1);
    }
    simt_run_free(&r);
}

static void test_barriers(void)
{
    static const unsigned sizes[] = { 1, 40, 64, 130, 1024 };

    for (unsigned k = 0; k < G_N_ELEMENTS(sizes); k++) {
        unsigned n = sizes[k];
        SimtRun r = setup("barriers", 3, n);

        r.d.shared = r.d.shared_static = 8 * n;
        simt_run(&r);
        for (unsigned i = 0; i < 3 * n; i++) {
            g_assert_cmpuint(r.out[i], ==, 5 * ((i + 1) % n) + 10);
        }
        simt_run_free(&r);
    }
}

static void test_barrier_ops(void)
{
    SimtRun r = setup("barrier_ops", 2, 150);

    simt_run(&r);
    for (unsigned i = 0; i < 300; i++) {
        g_assert_cmphex(r.out[i], ==, 5 | 50 << 8);
    }
    simt_run_free(&r);
    r = setup("barrier_exit", 2, 150);
    simt_run(&r);
    for (unsigned i = 0; i < 300; i++) {
        g_assert_cmphex(r.out[i], ==, i % 150 % 2 ? 0 : 7);
    }
    simt_run_free(&r);
}

static void test_deadlock(void)
{
    SimtRun r = setup("deadlock", 1, 64);
    MxgpuDispatchFault f;

    f = simt_host_run(r.h, &r.d);
    g_assert_cmpint(f.code, ==, MXGPU_FAULT_BARRIER);
    simt_run_free(&r);
}

static void test_compare(void)
{
    SimtRun r = setup("compare", 1, 128);

    simt_run(&r);
    for (unsigned i = 0; i < 128; i++) {
        g_assert_cmpuint(r.out[i], ==, i & 1 ? i + 100 : i);
    }
    simt_run_free(&r);
}

static void test_lanes(void)
{
    SimtRun r = setup("lanes", 1, 64);

    simt_run(&r);
    for (unsigned i = 0; i < 64; i++) {
        g_assert_cmpuint(r.out[i], ==, (i + 1) % 64 * 10 + 3000 +
                                           (i & 1 ? 12000 : 0));
    }
    simt_run_free(&r);
    r = setup("syncs", 1, 64);
    simt_run(&r);
    for (unsigned i = 0; i < 64; i++) {
        g_assert_cmpuint(r.out[i], ==, 1);
    }
    simt_run_free(&r);
}

static uint64_t private_sum(unsigned t)
{
    uint8_t bytes[256];
    uint64_t sum = 0, v;
    uint32_t u;

    for (unsigned i = 0; i < 256; i++) {
        bytes[(i * 7 + t) & 255] = (uint8_t)(i + t);
    }
    for (unsigned i = 0; i + 8 <= 256; i += 5) {
        memcpy(&v, bytes + (i + t) % 249, 8);
        sum += v;
        memcpy(&u, bytes + i, 4);
        sum ^= u;
    }
    return sum;
}

static void test_private(void)
{
    SimtRun r = setup("private_memory", 2, 96);

    simt_run(&r);
    for (unsigned i = 0; i < 192; i++) {
        g_assert_cmphex(r.out[i], ==, private_sum(i % 96));
    }
    simt_run_free(&r);
}

static uint64_t reloaded_sum(uint32_t x, uint32_t y, uint64_t d0, uint64_t d1)
{
    uint32_t t = x + 16 * y, word[4];
    uint64_t sum = 0;

    for (unsigned odd = 0; odd < 64; odd += 7) {
        uint64_t wide[] = {d0, d0 + 24 * x + 1000 * y,
                           d0 + 24 * t + (t % 64 == odd),
                           (uint64_t)t << 40 | y << 3};

        word[0] = (uint32_t)d1;
        word[1] = (uint32_t)d1 + t;
        word[2] = t % 64 == odd ? 5 : t;
        word[3] = x - 7 * y;
        for (unsigned i = 0; i < 4; i++) {
            sum = sum * 31 + wide[i];
            sum = sum * 31 + (uint64_t)(int64_t)(int32_t)word[i];
        }
    }
    return sum;
}

static void test_reloaded(void)
{
    SimtRun r = setup("reloaded", 1, 256);

    for (unsigned rows = 0; rows < 2; rows++) {
        r.d.block[0] = rows ? 16 : 256;
        r.d.block[1] = rows ? 16 : 1;
        r.data[0] = 0x123456789abcull;
        r.data[1] = 0x7fffffe0 - 64;
        simt_run(&r);
        for (unsigned i = 0; i < 256; i++) {
            g_assert_cmphex(r.out[i], ==,
                            reloaded_sum(rows ? i % 16 : i, rows ? i / 16 : 0,
                                         r.data[0], r.data[1]));
        }
    }
    simt_run_free(&r);
}

static void test_leftovers(void)
{
    SimtRun r = setup("leftovers", 1, 64);

    r.d.shared = r.d.shared_static = 512;
    for (unsigned pass = 0; pass < 6; pass++) {
        /* a new owner of the VMID: its tables are set again */
        mxgpu_mmu_set_root(r.h->mmu, HOST_VMID,
                           mxgpu_mmu_root(r.h->mmu, HOST_VMID));
        simt_run(&r);
        for (unsigned i = 0; i < 64; i++) {
            g_assert_cmphex(r.out[i], ==, 0);
        }
    }
    simt_run_free(&r);
}

static void test_atomics(void)
{
    static const uint64_t places[] = { RUN_DATA, HOST_SMALL_VA, HOST_SYS_VA };

    for (unsigned k = 0; k < 3; k++) {
        SimtRun r = setup("atomics", 2, 256);
        uint64_t *d = k == 2 ? (uint64_t *)r.h->system
                             : simt_host_data(r.h, places[k]);
        float f;
        double g;

        r.args[1] = places[k];
        r.d.shared = 64;
        simt_run(&r);
        memcpy(&f, &d[6], 4);
        memcpy(&g, &d[7], 8);
        g_assert_cmpuint(d[0], ==, 512);
        g_assert_cmphex(d[1], ==, 0);
        g_assert_cmphex(d[2], ==, 0xffffffff);
        g_assert_cmpuint(d[3], ==, 511 * 512 / 2);
        g_assert_cmpuint(d[4], ==, 511);
        g_assert_cmpint((int32_t)d[5], ==, -511);
        g_assert_cmpfloat(f, ==, 512);
        g_assert_cmpfloat(g, ==, 256);
        for (unsigned i = 0; i < 512; i++) {
            g_assert_cmpuint(r.out[i], ==, 256);
        }
        simt_run_free(&r);
    }
}

static void test_csrs(void)
{
    SimtRun r = setup("csrs", 2, 4);
    uint64_t want[] = { 4, 3, 2, 1, 2, 0, 2, 3, 1, 18, 0, 640, 128,
                        HOST_DATA_VA, 8192, 1 };

    r.d.grid[1] = 3;
    r.d.block[1] = 3;
    r.d.block[2] = 2;
    r.d.shared = 640;
    r.d.shared_static = 128;
    simt_run(&r);
    for (unsigned i = 0; i < G_N_ELEMENTS(want); i++) {
        g_assert_cmpuint(r.out[24 * 5 + i], ==, want[i]);
    }
    simt_run_free(&r);
}

static void test_unaligned(void)
{
    static const uint64_t at[] = { RUN_OUT, HOST_SMALL_VA + 4096 - 7,
                                   HOST_SMALL_VA + 3 };

    for (unsigned k = 0; k < 3; k++) {
        SimtRun r = setup("unaligned", 1, 100);
        const uint8_t *to = simt_host_data(r.h, at[k]);
        uint8_t *from = (uint8_t *)r.data;

        r.args[0] = at[k];
        for (unsigned i = 0; i < 2000; i++) {
            from[i] = (uint8_t)(i * 7 + i / 256);
        }
        simt_run(&r);
        for (unsigned i = 0; i < 1300; i++) {
            g_assert_cmpuint(to[i], ==, i % 13 == 12 ? 0 : from[i + 1]);
        }
        simt_run_free(&r);
    }
}

static void test_hole(void)
{
    SimtRun r = setup("access", 1, 128);

    /* system memory that only DMA reaches: loads and stores, no atomics */
    r.h->hole[8] = 0x5a;
    r.args[2] = HOST_HOLE_VA + 8;
    r.data[0] = 0;
    simt_run(&r);
    g_assert_cmphex(r.out[0], ==, 0x5a);
    r.data[0] = 1;
    simt_run(&r);
    g_assert_cmphex(r.h->hole[8], ==, 1);
    r.data[0] = 4;
    g_assert_cmpint(simt_host_run(r.h, &r.d).code, ==, MXGPU_FAULT_BUS);
    simt_run_free(&r);
}

typedef struct FaultCase {
    unsigned kind;
    uint64_t addr;
    enum mxgpu_fault code;
    enum mxgpu_access access;
    uint64_t fault_addr; /* 0: addr */
} FaultCase;

#define RD MXGPU_ACCESS_READ
#define WR MXGPU_ACCESS_WRITE
#define EX MXGPU_ACCESS_EXECUTE
#define AT MXGPU_ACCESS_ATOMIC
#define PRIVATE_LOW (MXGPU_PRIVATE_END - 8192)
static const FaultCase fault_cases[] = {
    {0, 0, MXGPU_FAULT_NOT_PRESENT, RD, 0},
    {1, 0x1234, MXGPU_FAULT_NOT_PRESENT, WR, 0},
    {1, HOST_CODE_VA, MXGPU_FAULT_PERMISSION, WR, 0},
    {4, HOST_CODE_VA, MXGPU_FAULT_PERMISSION, AT, 0},
    {5, HOST_DATA_VA, MXGPU_FAULT_PERMISSION, EX, 0},
    {5, 0x7000, MXGPU_FAULT_NOT_PRESENT, EX, 0},
    {5, MXGPU_SHARED_BASE, MXGPU_FAULT_WINDOW, EX, 0},
    {5, MXGPU_PRIVATE_END - 64, MXGPU_FAULT_WINDOW, EX, 0},
    {4, RUN_DATA + 2, MXGPU_FAULT_MISALIGNED, AT, 0},
    {0, 1ull << 47, MXGPU_FAULT_NON_CANONICAL, RD, 0},
    {3, 0x7fffffffffffull - 3, MXGPU_FAULT_NON_CANONICAL, WR, 1ull << 47},
    {0, 0xffff7fffffffffffull, MXGPU_FAULT_NON_CANONICAL, RD, 0},
    {0, MXGPU_SHARED_BASE + 256, MXGPU_FAULT_WINDOW, RD, 0},
    {2, MXGPU_SHARED_BASE + 249, MXGPU_FAULT_WINDOW, RD, 0},
    {3, MXGPU_SHARED_BASE - 1, MXGPU_FAULT_WINDOW, WR, 0},
    {4, MXGPU_SHARED_BASE + 256, MXGPU_FAULT_WINDOW, AT, 0},
    {1, PRIVATE_LOW - 1, MXGPU_FAULT_WINDOW, WR, 0},
    {3, PRIVATE_LOW - 4, MXGPU_FAULT_WINDOW, WR, 0},
    {2, MXGPU_PRIVATE_END - 4, MXGPU_FAULT_WINDOW, RD, 0},
    {0, MXGPU_PRIVATE_END, MXGPU_FAULT_WINDOW, RD, 0},
    {2, UINT64_MAX, MXGPU_FAULT_WINDOW, RD, 0},
    {3, UINT64_MAX - 3, MXGPU_FAULT_WINDOW, WR, 0},
    {3, HOST_SMALL_VA + (1 << 20) - 4, MXGPU_FAULT_NOT_PRESENT, WR,
     HOST_SMALL_VA + (1 << 20)},
    {6, 0, MXGPU_FAULT_SYSCALL, EX, 1},
    {11, 0, MXGPU_FAULT_ASSERT, EX, 1},
    {7, 0, MXGPU_FAULT_BREAKPOINT, EX, 1},
    {8, 0, MXGPU_FAULT_ILLEGAL, EX, 1},
    {9, 0, MXGPU_FAULT_ILLEGAL, EX, 1},
    {99, 0, MXGPU_FAULT_ILLEGAL, EX, 1},
};

static void test_faults(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(fault_cases); i++) {
        const FaultCase *c = &fault_cases[i];
        SimtRun r = setup("access", 1, 128);
        MxgpuDispatchFault f;

        r.d.shared = 256;
        r.data[0] = c->kind;
        r.args[2] = c->addr;
        f = simt_host_run(r.h, &r.d);
        if (f.code != c->code || f.thread != 70) {
            g_test_message("case %u: code %d thread %u addr %lx", i, f.code,
                           f.thread, (long)f.addr);
        }
        g_assert_cmpint(f.code, ==, c->code);
        g_assert_cmpint(f.access, ==, c->access);
        g_assert_cmphex(f.addr, ==, c->fault_addr == 1 ? f.pc
                                    : c->fault_addr ? c->fault_addr : c->addr);
        g_assert_cmpuint(f.thread, ==, 70);
        g_assert_cmpuint(f.block[0], ==, 0);
        if (c->access == EX && !c->fault_addr) {
            g_assert_cmphex(f.pc, ==, c->addr);
        } else {
            g_assert_cmphex(f.pc - HOST_CODE_VA, <, 1 << 20);
        }
        /* the next dispatch is as if nothing had been */
        r.data[0] = 0;
        r.args[2] = RUN_DATA;
        simt_run(&r);
        simt_run_free(&r);
    }
}

/* The windows of what was allotted work to their last byte. */
static void test_window_edges(void)
{
    static const uint64_t at[] = { MXGPU_SHARED_BASE, MXGPU_SHARED_BASE + 248,
                                   PRIVATE_LOW, MXGPU_PRIVATE_END - 8,
                                   PRIVATE_LOW + 5, MXGPU_PRIVATE_END - 11 };

    for (unsigned i = 0; i < G_N_ELEMENTS(at); i++) {
        SimtRun r = setup("access", 1, 128);

        r.d.shared = 256;
        r.args[2] = at[i];
        r.data[0] = 3;
        simt_run(&r);
        r.data[0] = 2;
        simt_run(&r);
        simt_run_free(&r);
    }
}

static void test_abort(void)
{
    SimtRun r = setup("forever", 1000, 256);
    MxgpuDispatchFault f;

    g_assert_cmpint(mxgpu_simt_start(r.h->simt, 3, &r.d), ==, MXGPU_FAULT_NONE);
    for (unsigned i = 0; i < 10; i++) {
        g_assert_true(mxgpu_simt_run(r.h->simt, i % 2, 10000));
    }
    g_assert_cmpuint(r.h->done, ==, 0);
    mxgpu_simt_abort(r.h->simt, 3);
    for (unsigned i = 0; i < 4; i++) {
        mxgpu_simt_run(r.h->simt, i % 2, 100000);
    }
    g_assert_cmpuint(r.h->done, ==, 8);
    f = mxgpu_simt_fault(r.h->simt, 3);
    g_assert_cmpint(f.code, ==, MXGPU_FAULT_ABORTED);
    g_assert_false(mxgpu_simt_has_work(r.h->simt));
    /* reset drops work silently */
    r.h->done = 0;
    g_assert_cmpint(mxgpu_simt_start(r.h->simt, 3, &r.d), ==, MXGPU_FAULT_NONE);
    mxgpu_simt_run(r.h->simt, 0, 1000);
    mxgpu_simt_reset(r.h->simt);
    g_assert_false(mxgpu_simt_run(r.h->simt, 0, 1000));
    g_assert_cmpuint(r.h->done, ==, 0);
    r.d.entry = simt_host_symbol(r.h, "identity");
    simt_run(&r);
    simt_run_free(&r);
}

static void test_config(void)
{
    SimtRun r = setup("identity", 1, 64);
    MxgpuDispatch bad[18];

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        bad[i] = r.d;
    }
    for (unsigned i = 0; i < 3; i++) {
        bad[12 + i].grid[i] = 0;
        bad[15 + i].block[i] = 0;
    }
    bad[0].block[0] = 1025;
    bad[1].block[1] = 0;
    bad[2].grid[2] = 0;
    bad[3].block[0] = bad[3].block[1] = 33;
    bad[4].registers = 0;
    bad[5].registers = 256;
    bad[6].block[0] = 1024;
    bad[6].registers = 129;
    bad[7].shared = MXGPU_SHARED_MAX + 1;
    bad[8].shared_static = 1;
    bad[9].private_bytes = MXGPU_PRIVATE_MAX + 1024;
    bad[10].private_bytes = 1000;
    bad[11].vmid = 16;
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_cmpint(mxgpu_simt_start(r.h->simt, 0, &bad[i]), ==,
                        MXGPU_FAULT_CONFIG);
    }
    g_assert_cmpint(mxgpu_simt_start(r.h->simt, 8, &r.d), ==,
                    MXGPU_FAULT_CONFIG);
    g_assert_false(mxgpu_simt_has_work(r.h->simt));
    simt_run_free(&r);
}

/* Every priority gets its turn, the most urgent first. */
static void test_slots(void)
{
    SimtRun r = setup("identity", 200, 64);

    r.h->done = 0;
    for (unsigned s = 0; s < 8; s++) {
        r.d.priority = 8 - s;
        g_assert_cmpint(mxgpu_simt_start(r.h->simt, s, &r.d), ==,
                        MXGPU_FAULT_NONE);
    }
    while (!r.h->done) {
        mxgpu_simt_run(r.h->simt, 0, 200);
    }
    g_assert_cmphex(r.h->done, ==, 0x80);
    while (mxgpu_simt_run(r.h->simt, 1, 5000)) {
    }
    while (mxgpu_simt_run(r.h->simt, 0, 5000)) {
    }
    g_assert_cmphex(r.h->done, ==, 0xff);
    simt_run_free(&r);
}

/* New code at an old address is what the next dispatch runs. */
static void test_new_code(void)
{
    SimtRun r = setup("identity", 1, 64);
    uint32_t *code = simt_host_data(r.h, HOST_CODE_VA + 0x8000);

    code[0] = 0x0000000b; /* mx.exit */
    r.d.entry = HOST_CODE_VA + 0x8000;
    simt_run(&r);
    code[0] = 0x00100073; /* ebreak */
    g_assert_cmpint(simt_host_run(r.h, &r.d).code, ==, MXGPU_FAULT_BREAKPOINT);
    /* an instruction that spans two pages, the second not mapped */
    code = simt_host_data(r.h, HOST_CODE_VA + (1 << 20) - 4);
    code[0] = 0x00130001; /* c.nop, half of addi */
    r.d.entry = HOST_CODE_VA + (1 << 20) - 4;
    {
        MxgpuDispatchFault f = simt_host_run(r.h, &r.d);

        g_assert_cmpint(f.code, ==, MXGPU_FAULT_NOT_PRESENT);
        g_assert_cmphex(f.pc, ==, HOST_CODE_VA + (1 << 20) - 2);
        g_assert_cmphex(f.addr, ==, HOST_CODE_VA + (1 << 20));
    }
    r.d.entry = HOST_CODE_VA + 1;
    g_assert_cmpint(simt_host_run(r.h, &r.d).code, ==, MXGPU_FAULT_MISALIGNED);
    simt_run_free(&r);
}

static void test_dirty(void)
{
    SimtRun r = setup("access", 1, 128);
    uint64_t *pte = simt_host_pte(r.h, HOST_VMID, HOST_SMALL_VA);

    r.args[2] = HOST_SMALL_VA;
    r.data[0] = 0;
    simt_run(&r);
    g_assert_cmphex(*pte & (MXGPU_PTE_ACCESSED | MXGPU_PTE_DIRTY), ==,
                    MXGPU_PTE_ACCESSED);
    r.data[0] = 1;
    simt_run(&r);
    g_assert_cmphex(*pte & MXGPU_PTE_DIRTY, ==, MXGPU_PTE_DIRTY);
    simt_run_free(&r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    elf = argv[1];
    g_test_add_func("/simt/identity", test_identity);
    g_test_add_func("/simt/loops", test_loops);
    g_test_add_func("/simt/recursion", test_recursion);
    g_test_add_func("/simt/indirect", test_indirect);
    g_test_add_func("/simt/exit", test_exit);
    g_test_add_func("/simt/locks", test_locks);
    g_test_add_func("/simt/chain", test_chain);
    g_test_add_func("/simt/barriers", test_barriers);
    g_test_add_func("/simt/barrier-ops", test_barrier_ops);
    g_test_add_func("/simt/deadlock", test_deadlock);
    g_test_add_func("/simt/compare", test_compare);
    g_test_add_func("/simt/lanes", test_lanes);
    g_test_add_func("/simt/private", test_private);
    g_test_add_func("/simt/reloaded", test_reloaded);
    g_test_add_func("/simt/leftovers", test_leftovers);
    g_test_add_func("/simt/atomics", test_atomics);
    g_test_add_func("/simt/csrs", test_csrs);
    g_test_add_func("/simt/unaligned", test_unaligned);
    g_test_add_func("/simt/hole", test_hole);
    g_test_add_func("/simt/faults", test_faults);
    g_test_add_func("/simt/window-edges", test_window_edges);
    g_test_add_func("/simt/abort", test_abort);
    g_test_add_func("/simt/config", test_config);
    g_test_add_func("/simt/slots", test_slots);
    g_test_add_func("/simt/new-code", test_new_code);
    g_test_add_func("/simt/dirty", test_dirty);
    return g_test_run();
}
