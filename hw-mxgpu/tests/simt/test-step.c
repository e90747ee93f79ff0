/* SPDX-License-Identifier: MIT */
/*
 * How much one mxgpu_simt_run() does when kernels make the most of it: units
 * wait for its end when the device is reset or memory is unmapped. Tests check
 * what is counted; "test_step ELF --measure" prints what the longest took.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "simt/state.h"
#include "simt/warp/budget.h"
#include "simt_host.h"

#define BUDGET 4096u /* as devices have it */
#define STEPS  60
#define CHAIN  (HOST_CODE_VA + (256 << 10))
#define LINKS  128 /* more than a unit has pages of code */
#define OTHER  2   /* another VMID with the same tables */

/*
 * What is begun is ended: an instruction of 64 lanes in two pages each, neither
 * of which is in the TLB nor in memory; a block, with the memory it needs; the
 * instructions up to the end of a page, by the 16 warps of a block.
 */
#define PRIVATE         (64u << 10)
#define ONE_INSTRUCTION (64 * (1 + 2 * (COST_WALK + COST_DMA)))
#define ONE_BLOCK       (16 * (COST_WARP + COST_ZERO(PRIVATE * LANES)) + \
                         COST_ZERO(MXGPU_SHARED_MAX))
#define ONE_PAGE        (16 * PAGE_OPS)

static const char *elf;

typedef struct Case {
    const char *kernel;
    unsigned block, slots;
} Case;

static const Case cases[] = {
    {"gather", 64, 1},    {"gather", 1024, 2},   {"scatter", 1024, 2},
    {"straddle", 64, 1},  {"straddle", 1024, 2}, {"atomics", 64, 1},
    {"atomics", 1024, 2}, {"dma", 64, 1},        {"dma", 1024, 2},
    {"products", 64, 1},  {"products", 1024, 2}, {"matches", 64, 1},
    {"matches", 1024, 2}, {"branches", 64, 1},   {"branches", 1024, 2},
    {"straight", 64, 1},  {"straight", 1024, 2},
    {"soft", 64, 1},      {"soft", 1024, 2},     {"divide", 64, 1},
    {"divide", 1024, 2},  {"fetches", 64, 1},    {"fetches", 1024, 2},
    {"nothing", 64, 1},   {"nothing", 1024, 2},
};

static SimtHost *setup(const Case *c, bool accesses)
{
    SimtHost *h = simt_host_new(1);
    uint64_t *args = simt_host_data(h, HOST_DATA_VA);
    MxgpuDispatch d;

    simt_host_load(h, elf);
    args[0] = HOST_SMALL_VA;
    args[1] = HOST_SYS_VA;
    args[2] = HOST_HOLE_VA;
    args[3] = CHAIN;
    for (unsigned i = 0; i < LINKS; i++) {
        int32_t to = i + 1 < LINKS ? 4096 : -(LINKS - 1) * 4096;
        uint32_t jump = 0x6f | (to & 0x7fe) << 20 | (to & 0x800) << 9 |
                        (to & 0xff000) | (uint32_t)(to < 0) << 31;

        memcpy(simt_host_data(h, CHAIN + i * 4096), &jump, 4);
    }
    mxgpu_mmu_set_root(h->mmu, OTHER, mxgpu_mmu_root(h->mmu, HOST_VMID));
    d = simt_host_dispatch(simt_host_symbol(h, c->kernel), 1u << 30, c->block);
    d.accesses = accesses;
    d.private_bytes = PRIVATE;
    for (unsigned i = 0; i < c->slots; i++) {
        d.vmid = i ? OTHER : HOST_VMID;
        d.shared = d.shared_static = MXGPU_SHARED_MAX / c->slots;
        g_assert_cmpint(mxgpu_simt_start(h->simt, i, &d), ==, MXGPU_FAULT_NONE);
    }
    return h;
}

static void teardown(SimtHost *h, const Case *c)
{
    for (unsigned i = 0; i < c->slots; i++) {
        mxgpu_simt_abort(h->simt, i);
    }
    while (mxgpu_simt_run(h->simt, 0, BUDGET)) {
    }
    g_assert_cmpuint(h->done, ==, (1u << c->slots) - 1);
    simt_host_free(h);
}

static MxgpuSimtCounters counters(SimtHost *h)
{
    MxgpuSimtCounters n;

    mxgpu_simt_unit_counters(h->simt, 0, &n);
    return n;
}

/* Slow work and instructions stay within the budget, and there is progress. */
static void test_counts(void)
{
    for (unsigned n = 0; n < 2 * G_N_ELEMENTS(cases); n++) {
        const Case *c = &cases[n / 2];
        SimtHost *h = setup(c, n % 2);
        uint64_t before = 0;

        g_test_message("%s, %u threads%s", c->kernel, c->block,
                       n % 2 ? ", counting" : "");
        for (unsigned step = 0; step < STEPS; step++) {
            g_assert_true(mxgpu_simt_run(h->simt, 0, BUDGET));
            g_assert_cmpuint(h->done, ==, 0);
            g_assert_cmpint(h->simt->cus[0].c.work, >=,
                            -ONE_INSTRUCTION - ONE_BLOCK);
            g_assert_cmpuint(counters(h).warp_instructions - before, <=,
                             BUDGET + ONE_PAGE);
            before = counters(h).warp_instructions;
        }
        g_assert_cmpuint(before, >, STEPS);
        teardown(h, c);
    }
}

/* Memory that blocks need is work too, whatever they do then. */
static void test_blocks(void)
{
    const Case c = {"nothing", 64, 1};
    SimtHost *h = setup(&c, false);
    uint64_t before = 0;

    for (unsigned step = 0; step < STEPS; step++) {
        g_assert_true(mxgpu_simt_run(h->simt, 0, BUDGET));
        g_assert_cmpuint(counters(h).blocks - before, <=,
                         WORK_BUDGET(BUDGET) / COST_ZERO(MXGPU_SHARED_MAX) + 1);
        g_assert_cmpuint(counters(h).blocks, >, before);
        before = counters(h).blocks;
    }
    teardown(h, &c);
}

/* ---- what it takes */

static int counter(uint64_t event)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof(attr),
        .config = event,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };

    return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static uint64_t value(int fd)
{
    uint64_t v;

    return read(fd, &v, sizeof(v)) == sizeof(v) ? v : 0;
}

static int measure(void)
{
    int cycles = counter(PERF_COUNT_HW_CPU_CYCLES);
    int insns = counter(PERF_COUNT_HW_INSTRUCTIONS);

    if (cycles < 0 || insns < 0) {
        perror("perf_event_open");
        return 1;
    }
    printf("%-10s %7s %8s %22s\n", "kernel", "threads", "counting",
           "longest step: cycles, instructions");
    for (unsigned n = 0; n < 2 * G_N_ELEMENTS(cases); n++) {
        const Case *c = &cases[n / 2];
        SimtHost *h = setup(c, n % 2);
        uint64_t most[2] = {0};

        for (unsigned step = 0; step < STEPS; step++) {
            uint64_t t0 = value(cycles), i0 = value(insns);

            mxgpu_simt_run(h->simt, 0, BUDGET);
            if (value(cycles) - t0 > most[0]) {
                most[0] = value(cycles) - t0;
                most[1] = value(insns) - i0;
            }
        }
        printf("%-10s %7u %8s %14" G_GUINT64_FORMAT " %12" G_GUINT64_FORMAT
               "\n", c->kernel, c->block, n % 2 ? "yes" : "", most[0], most[1]);
        teardown(h, c);
    }
    return 0;
}

int main(int argc, char **argv)
{
    elf = argv[1];
    if (argc > 2 && strcmp(argv[2], "--measure") == 0) {
        return measure();
    }
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/simt/step/counts", test_counts);
    g_test_add_func("/simt/step/blocks", test_blocks);
    return g_test_run();
}
