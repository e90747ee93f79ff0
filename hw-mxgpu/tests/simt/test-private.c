/* SPDX-License-Identifier: MIT */
/* The memory of the host that private windows take, and when it goes back. */
#define _GNU_SOURCE
#include "simt/state.h"
#include "simt/warp/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "simt_host.h"

#define MIB    (1ull << 20)
#define CAP    (8 * MIB) /* of the unit */
#define SECOND 1000000000ull

static SimtHost *host;

/* Each thread writes all its stack, top down, and ends or stays. */
static MxgpuDispatch stacks_at(uint64_t entry, unsigned grid, unsigned block,
                               unsigned kib, bool stays)
{
    const uint32_t code[] = {
        0xcd2022f3, /* csrr t0, private size */
        0x405102b3, /* sub t0, sp, t0 */
        0xff810113, /* loop: addi sp, sp, -8 */
        0x00213023, /* sd sp, (sp) */
        0xfe229ce3, /* bne t0, sp, loop */
        stays ? 0x0000006f : 0x0000000b,
    };
    MxgpuDispatch d = simt_host_dispatch(entry, grid, block);

    memcpy(simt_host_data(host, entry), code, sizeof(code));
    d.private_bytes = kib << 10;
    return d;
}

static MxgpuDispatch stacks(unsigned grid, unsigned block, unsigned kib,
                            bool stays)
{
    return stacks_at(HOST_CODE_VA, grid, block, kib, stays);
}

static uint64_t resident_of(unsigned unit)
{
    const uint64_t size = CU_WARPS * PRIVATE_WARP_BYTES;
    const size_t pages = size / getpagesize();
    g_autofree unsigned char *in = g_malloc(pages);
    uint64_t n = 0;

    if (!host->simt->cus[unit].private) {
        return 0;
    }
    g_assert_cmpint(mincore(host->simt->cus[unit].private, size, in), ==, 0);
    for (size_t i = 0; i < pages; i++) {
        n += in[i] & 1;
    }
    return n * getpagesize();
}

static uint64_t resident(void)
{
    return resident_of(0);
}

static void setup(void)
{
    host = simt_host_new(1);
    host->simt->private_bytes = CAP;
}

static void run(const MxgpuDispatch *d)
{
    g_assert_cmpint(simt_host_run(host, d).code, ==, MXGPU_FAULT_NONE);
}

static void test_refused(void)
{
    MxgpuDispatch d;

    setup();
    d = stacks(1, 1024, 9, false); /* 9 MiB */
    g_assert_cmpint(mxgpu_simt_start(host->simt, 0, &d), ==,
                    MXGPU_FAULT_CONFIG);
    d = stacks(1, 65, 65, false); /* whole warps count */
    g_assert_cmpint(mxgpu_simt_start(host->simt, 0, &d), ==,
                    MXGPU_FAULT_CONFIG);
    d = stacks(3, 512, 8, false); /* two at once, not three */
    d.cooperative = true;
    g_assert_cmpint(mxgpu_simt_start(host->simt, 0, &d), ==,
                    MXGPU_FAULT_CONFIG);
    d.grid[0] = 2;
    run(&d);
    d = stacks(1, 1024, 8, false);
    run(&d);
    simt_host_free(host);
}

/* More blocks than there is memory for: it is theirs in turn. */
static void test_bound(void)
{
    static const unsigned sizes[][2] = {
        {1024, 8}, {64, 128}, {64, 16}, {256, 32}, {1024, 1}, {64, 100},
    };

    setup();
    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        for (unsigned vmid = HOST_VMID; vmid < 3; vmid++) {
            MxgpuDispatch d = stacks(20, sizes[i][0], sizes[i][1], false);

            mxgpu_mmu_set_root(host->mmu, vmid,
                               mxgpu_mmu_root(host->mmu, HOST_VMID));
            d.vmid = vmid;
            run(&d);
            g_assert_cmpuint(resident(), <=, CAP);
            g_assert_cmpuint(resident(), >=,
                             (uint64_t)sizes[i][0] * sizes[i][1] << 10);
        }
    }
    simt_host_free(host);
}

/* Of blocks that stay, as many run at once as there is memory for. */
static void test_resident(void)
{
    MxgpuDispatch d;

    setup();
    d = stacks(20, 64, 33, true); /* 2112 KiB each: three */
    g_assert_cmpint(mxgpu_simt_start(host->simt, 0, &d), ==, MXGPU_FAULT_NONE);
    for (unsigned n = 0; n < 10000; n++) {
        mxgpu_simt_run(host->simt, 0, 4096);
    }
    g_assert_cmpuint(host->simt->cus[0].s.num_blocks, ==, 3);
    g_assert_cmpuint(resident(), ==, 3 * 64 * 33 * 1024);
    mxgpu_simt_abort(host->simt, 0);
    while (mxgpu_simt_run(host->simt, 0, 4096)) {
    }
    simt_host_free(host);
}

static void test_reset(void)
{
    MxgpuDispatch d;

    setup();
    d = stacks(1, 1024, 8, true);
    g_assert_cmpint(mxgpu_simt_start(host->simt, 0, &d), ==, MXGPU_FAULT_NONE);
    for (unsigned n = 0; n < 1000; n++) {
        mxgpu_simt_run(host->simt, 0, 4096);
    }
    g_assert_cmpuint(resident(), ==, CAP);
    mxgpu_simt_reset(host->simt);
    while (mxgpu_simt_run(host->simt, 0, 4096)) {
    }
    g_assert_cmpuint(resident(), ==, 0);
    simt_host_free(host);
}

static void test_idle(void)
{
    MxgpuDispatch d;
    uint64_t at;

    setup();
    d = stacks(1, 64, 16, false);
    g_assert_cmpuint(mxgpu_simt_idle(host->simt, 0), ==, UINT64_MAX);
    run(&d);
    g_assert_cmpuint(resident(), ==, MIB);
    at = mxgpu_simt_idle(host->simt, 0);
    g_assert_cmpuint(at - host->clock, >, SECOND - 10);
    g_assert_cmpuint(at - host->clock, <=, SECOND);
    host->clock = at - 2; /* it ticks when it is read */
    g_assert_cmpuint(mxgpu_simt_idle(host->simt, 0), ==, at);
    g_assert_cmpuint(resident(), ==, MIB);
    g_assert_cmpuint(mxgpu_simt_idle(host->simt, 0), <=, host->clock);
    while (mxgpu_simt_run(host->simt, 0, 4096)) {
    }
    g_assert_cmpuint(resident(), ==, 0);
    g_assert_cmpuint(mxgpu_simt_idle(host->simt, 0), ==, UINT64_MAX);
    run(&d); /* and then it may have some again */
    g_assert_cmpuint(resident(), ==, MIB);
    simt_host_free(host);
}

/* One long kernel on one unit does not keep the stacks of another. */
static void test_idle_beside(void)
{
    MxgpuDispatch stays, ends;
    uint64_t last;

    host = simt_host_new(2);
    stays = stacks(1, 64, 16, true);
    ends = stacks_at(HOST_CODE_VA + 4096, 1, 64, 16, false);
    g_assert_cmpint(mxgpu_simt_start(host->simt, 0, &stays), ==,
                    MXGPU_FAULT_NONE);
    while (resident_of(0) < MIB) {
        mxgpu_simt_run(host->simt, 0, 4096);
    }
    g_assert_cmpint(mxgpu_simt_start(host->simt, 1, &ends), ==,
                    MXGPU_FAULT_NONE);
    while (!(host->done & 2)) {
        mxgpu_simt_run(host->simt, 1, 4096);
    }
    last = host->clock;
    g_assert_cmpuint(resident_of(1), ==, MIB);
    while (host->clock < last + SECOND) {
        g_assert_true(mxgpu_simt_run(host->simt, 0, 16));
        mxgpu_simt_run(host->simt, 1, 16);
        host->clock += SECOND / 8;
    }
    mxgpu_simt_idle(host->simt, 1);
    while (mxgpu_simt_run(host->simt, 1, 4096)) {
    }
    g_assert_cmpuint(resident_of(1), ==, 0);
    g_assert_cmpuint(resident_of(0), ==, MIB); /* it works */
    mxgpu_simt_abort(host->simt, 0);
    while (mxgpu_simt_run(host->simt, 0, 4096)) {
    }
    simt_host_free(host);
}

/* Giving it back is done in pieces, the fewer when somebody waits. */
static void test_pieces(void)
{
    const _Atomic bool hold = true;
    MxgpuDispatch d;

    setup();
    host->simt->private_bytes = 64 * MIB;
    d = stacks(1, 1024, 64, false);
    run(&d);
    g_assert_cmpuint(resident(), ==, 64 * MIB);
    mxgpu_simt_reset(host->simt);
    for (uint64_t before = 64 * MIB; before; before -= MIB) {
        bool more = mxgpu_simt_run_held(host->simt, 0, 4096, &hold);

        g_assert_true(more == (before > MIB));
        g_assert_cmpuint(resident(), ==, before - MIB);
    }
    simt_host_free(host);
}

/* The process locks all memory it will have (mlockall): that a kernel touches
 * is locked, the rest of the range is not there; idle units have none. */
static void test_locked(void)
{
    MxgpuDispatch d;
    void *probe;

    setup();
    d = stacks(1, 64, 16, false);
    /* Where a user may not lock so much, what is resident must be the same. */
    if (mlockall(MCL_FUTURE) != 0) {
        g_test_message("memory cannot be locked");
    }
    probe = mmap(NULL, CU_WARPS * PRIVATE_WARP_BYTES, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) {
        g_test_message("not so much memory can be locked");
        munlockall();
    } else {
        munmap(probe, CU_WARPS * PRIVATE_WARP_BYTES);
    }
    run(&d);
    g_assert_cmpuint(resident(), ==, MIB);
    host->clock = mxgpu_simt_idle(host->simt, 0);
    g_assert_cmpuint(mxgpu_simt_idle(host->simt, 0), !=, UINT64_MAX);
    while (mxgpu_simt_run(host->simt, 0, 4096)) {
    }
    g_assert_cmpuint(resident(), ==, 0);
    munlockall();
    simt_host_free(host);
}

/* Pages are those that were touched, also where the host has large ones. */
static void test_small_pages(void)
{
    g_autofree char *maps = NULL, *line = NULL;
    const char *at;
    MxgpuDispatch d;

    setup();
    d = stacks(1, 64, 16, false);
    run(&d);
    g_assert_true(g_file_get_contents("/proc/self/smaps", &maps, NULL, NULL));
    line = g_strdup_printf("%lx-", (unsigned long)host->simt->cus[0].private);
    at = strstr(maps, line);
    g_assert_nonnull(at);
    at = strstr(at, "VmFlags:");
    g_assert_nonnull(at);
    *strchr(at, '\n') = 0;
    g_assert_nonnull(strstr(at, " nh")); /* no huge pages */
    simt_host_free(host);
}

/* What no thread has touched takes no memory when its block is saved. */
static void test_held(void)
{
    MxgpuDispatch d;

    if (access("/proc/self/pagemap", R_OK) != 0) {
        g_test_skip("no /proc/self/pagemap: what takes memory is not told");
        return;
    }
    setup();
    d = stacks(1, 1024, 8, true);
    d.entry += 5 * sizeof(uint32_t); /* behind the loop */
    g_assert_cmpint(mxgpu_simt_start(host->simt, 0, &d), ==, MXGPU_FAULT_NONE);
    for (unsigned n = 0; n < 10; n++) {
        mxgpu_simt_hold(host->simt, 0, !(n & 1));
        for (unsigned i = 0; i < 100; i++) {
            mxgpu_simt_run(host->simt, 0, 4096);
        }
        g_assert_cmpuint(host->simt->cus[0].s.num_blocks, ==, n & 1);
        g_assert_cmpuint(resident(), ==, 0);
    }
    mxgpu_simt_abort(host->simt, 0);
    while (mxgpu_simt_run(host->simt, 0, 4096)) {
    }
    simt_host_free(host);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/simt/private/refused", test_refused);
    g_test_add_func("/simt/private/bound", test_bound);
    g_test_add_func("/simt/private/resident", test_resident);
    g_test_add_func("/simt/private/reset", test_reset);
    g_test_add_func("/simt/private/idle", test_idle);
    g_test_add_func("/simt/private/idle-beside", test_idle_beside);
    g_test_add_func("/simt/private/pieces", test_pieces);
    g_test_add_func("/simt/private/locked", test_locked);
    g_test_add_func("/simt/private/small-pages", test_small_pages);
    g_test_add_func("/simt/private/held", test_held);
    return g_test_run();
}
