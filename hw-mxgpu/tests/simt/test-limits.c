/* SPDX-License-Identifier: MIT */
/*
 * What a kernel must not be able to do to whoever drives the compute units:
 * keep them, keep other warps from running, use pointers that were taken
 * back, or end a dispatch in two ways. Code is given as words.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "simt/state.h"
#include "simt_host.h"

static uint64_t *words(SimtHost *h, unsigned n)
{
    return (uint64_t *)simt_host_data(h, HOST_DATA_VA) + n;
}

static MxgpuDispatch load(SimtHost *h, const uint32_t *code, size_t size,
                          unsigned grid, unsigned block)
{
    memcpy(simt_host_data(h, HOST_CODE_VA), code, size);
    return simt_host_dispatch(HOST_CODE_VA, grid, block);
}

static void start(SimtHost *h, const MxgpuDispatch *d)
{
    h->done = 0;
    g_assert_cmpint(mxgpu_simt_start(h->simt, 0, d), ==, MXGPU_FAULT_NONE);
}

/* Threads wait for their neighbours in later warps, and then end. */
static void test_small_steps(void)
{
    static const uint32_t code[] = {
        0xcc0022f3, /* csrr t0, tid.x */
        0x00329313, /* slli t1, t0, 3 */
        0x00a30333, /* add t1, t1, a0 */
        0xcc3023f3, /* csrr t2, ntid.x */
        0x00128e13, /* addi t3, t0, 1 */
        0x007e0663, /* beq t3, t2, last */
        0x00833e83, /* wait: ld t4, 8(t1) */
        0xfe0e8ee3, /* beqz t4, wait */
        0x00100e93, /* last: li t4, 1 */
        0x01d33023, /* sd t4, (t1) */
        0x0000000b, /* exit */
    };
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = load(h, code, sizeof(code), 1, 256);

    start(h, &d);
    for (unsigned n = 0; n < 20000 && !h->done; n++) {
        mxgpu_simt_run(h->simt, 0, 1000); /* less than a warp's turn */
    }
    g_assert_cmpuint(h->done, ==, 1);
    g_assert_cmpint(mxgpu_simt_fault(h->simt, 0).code, ==, MXGPU_FAULT_NONE);
    g_assert_cmpuint(*words(h, 0), ==, 1);
    simt_host_free(h);
}

/* ---- the end of a grid, and its abort */

typedef struct Race {
    SimtHost *h;
    _Atomic bool quit;
    _Atomic unsigned done;
    MxgpuDispatchFault fault; /* as done read it */
} Race;

static MxgpuSimt *race_simt; /* done's way to the machine */

static void race_done(void *opaque, unsigned slot)
{
    Race *r = opaque;

    r->fault = mxgpu_simt_fault(race_simt, slot);
    atomic_fetch_add(&r->done, 1);
}

static void *drive(void *opaque)
{
    Race *r = opaque;

    while (!atomic_load(&r->quit)) {
        mxgpu_simt_run(race_simt, 0, 1000);
    }
    return NULL;
}

static void ignore_wake(void *opaque)
{
}

static void test_abort_race(void)
{
    static const uint32_t code[] = {
        0x00128293, /* addi t0, t0, 1 */
        0x0000000b, /* exit */
    };
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = load(h, code, sizeof(code), 3, 64);
    Race r = {.h = h};
    MxgpuSimtConfig config = h->simt->config;
    pthread_t thread;
    unsigned aborted = 0;

    config.done = race_done;
    config.wake = ignore_wake;
    config.opaque = &r;
    race_simt = mxgpu_simt_new(&config);
    g_assert_nonnull(race_simt);
    g_assert_cmpint(pthread_create(&thread, NULL, drive, &r), ==, 0);
    for (unsigned n = 0; n < 3000; n++) {
        g_assert_cmpint(mxgpu_simt_start(race_simt, 0, &d), ==,
                        MXGPU_FAULT_NONE);
        for (volatile unsigned i = 0; i < n % 64 * 500; i++) {
        }
        mxgpu_simt_abort(race_simt, 0);
        while (atomic_load(&r.done) != n + 1) {
            sched_yield();
        }
        g_assert_true(r.fault.code == MXGPU_FAULT_NONE ||
                      r.fault.code == MXGPU_FAULT_ABORTED);
        /* Where a warp was, or nothing when none ran. */
        g_assert_true(r.fault.pc == 0 ||
                      (r.fault.code == MXGPU_FAULT_ABORTED &&
                       r.fault.pc - HOST_CODE_VA <= sizeof(code)));
        aborted += r.fault.code == MXGPU_FAULT_ABORTED;
    }
    g_test_message("%u of 3000 were aborted", aborted);
    atomic_store(&r.quit, true);
    pthread_join(thread, NULL);
    mxgpu_simt_free(race_simt);
    simt_host_free(h);
}

/* ---- host pointers are used by active clients of the MMU alone */

typedef struct Watch {
    MxgpuMmu *mmu;
    uint8_t *page;
    unsigned calls, unguarded, reads;
} Watch;

/* An invalidation now must have somebody to wait for. */
static void *watch_map(void *host, uint64_t addr, size_t len, bool write)
{
    Watch *w = host;

    if (!w->page || addr % 4096 + len > 4096) {
        return NULL;
    }
    mxgpu_mmu_invalidate(w->mmu);
    w->calls++;
    w->unguarded += !mxgpu_mmu_invalidate_busy(w->mmu);
    return w->page + addr % 4096;
}

static int watch_read(void *host, uint64_t addr, void *buf, size_t len)
{
    Watch *w = host;

    w->reads++;
    memset(buf, 0, len);
    return w->page ? -1 : 0;
}

static int watch_write(void *host, uint64_t addr, const void *buf, size_t len)
{
    return -1;
}

static uint64_t watch_clock(void *host)
{
    return 0;
}

static void watch_done(void *opaque, unsigned slot)
{
}

static const MxgpuHostOps watch_ops = {
    .dma_read = watch_read,
    .dma_write = watch_write,
    .dma_map = watch_map,
    .clock = watch_clock,
};

static void test_guarded(void)
{
    SimtHost *h = simt_host_new(1);
    Watch w = {.page = g_malloc0(4096)};
    MxgpuSimtConfig config = {
        .compute_units = 1,
        .ops = &watch_ops,
        .host = &w,
        .done = watch_done,
        .wake = ignore_wake,
    };
    MxgpuDispatch d = simt_host_dispatch(HOST_SYS_VA, 1, 64);
    uint32_t code[] = {0x00053283 /* ld t0, (a0) */, 0x0000000b /* exit */};
    MxgpuSimt *simt;

    memcpy(w.page, code, sizeof(code));
    simt_host_map(h, HOST_VMID, HOST_SYS_VA, HOST_SYSTEM_BUS, 4096,
                  PERM_RX | MXGPU_PTE_SYSTEM, 0);
    w.mmu = mxgpu_mmu_new(h->vram, HOST_VRAM_SIZE, &watch_ops, &w);
    mxgpu_mmu_set_root(w.mmu, HOST_VMID, mxgpu_mmu_root(h->mmu, HOST_VMID));
    config.mmu = w.mmu;
    d.args = HOST_SYS_VA;
    simt = mxgpu_simt_new(&config);
    g_assert_cmpint(mxgpu_simt_start(simt, 0, &d), ==, MXGPU_FAULT_NONE);
    g_assert_cmpuint(w.calls, ==, 0); /* a start is not work */
    for (unsigned n = 0; n < 10; n++) {
        mxgpu_simt_run(simt, 0, 1000);
    }
    g_assert_false(mxgpu_simt_has_work(simt));
    g_assert_cmpint(mxgpu_simt_fault(simt, 0).code, ==, MXGPU_FAULT_NONE);
    g_assert_cmpuint(w.calls, >=, 2);
    g_assert_cmpuint(w.unguarded, ==, 0);
    g_assert_false(mxgpu_mmu_invalidate_busy(w.mmu));
    mxgpu_simt_free(simt);
    mxgpu_mmu_free(w.mmu);
    g_free(w.page);
    simt_host_free(h);
}

/* ---- how long a run can take */

static void test_work_budget(void)
{
    static const uint32_t code[] = {
        0xccc022f3, /* csrr t0, lane */
        0x00329313, /* slli t1, t0, 3 */
        0x00650333, /* add t1, a0, t1 */
        0x00033383, /* loop: ld t2, (t1): 64 times DMA */
        0xffdff06f, /* j loop */
    };
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = load(h, code, sizeof(code), 1, 128);
    Watch w = {.page = NULL};
    MxgpuSimtConfig config = {
        .compute_units = 1,
        .ops = &watch_ops,
        .host = &w,
        .done = watch_done,
        .wake = ignore_wake,
    };
    unsigned last = 0;
    MxgpuSimt *simt;

    w.mmu = mxgpu_mmu_new(h->vram, HOST_VRAM_SIZE, &watch_ops, &w);
    mxgpu_mmu_set_root(w.mmu, HOST_VMID, mxgpu_mmu_root(h->mmu, HOST_VMID));
    config.mmu = w.mmu;
    d.args = HOST_HOLE_VA;
    simt = mxgpu_simt_new(&config);
    g_assert_cmpint(mxgpu_simt_start(simt, 0, &d), ==, MXGPU_FAULT_NONE);
    for (unsigned n = 0; n < 50; n++) {
        w.reads = 0;
        g_assert_true(mxgpu_simt_run(simt, 0, 4096));
        g_assert_cmpuint(w.reads, >=, 64);
        g_assert_cmpuint(w.reads, <=, 2048);
    }
    /* Even with the least budget, and all that was cached gone, it goes on. */
    w.reads = 0;
    for (unsigned n = 0; n < 50; n++) {
        mxgpu_mmu_invalidate(w.mmu);
        g_assert_true(mxgpu_simt_run(simt, 0, 1));
        mxgpu_mmu_invalidate(w.mmu);
        g_assert_true(mxgpu_simt_run(simt, 0, 1));
        g_assert_cmpuint(w.reads, >=, last + 64);
        last = w.reads;
    }
    mxgpu_simt_abort(simt, 0);
    mxgpu_simt_run(simt, 0, 1);
    g_assert_false(mxgpu_simt_has_work(simt));
    mxgpu_simt_free(simt);
    mxgpu_mmu_free(w.mmu);
    simt_host_free(h);
}

/* ---- somebody waits for the end of a run */

typedef struct Held {
    uint8_t *page;
    _Atomic bool hold;
    unsigned asked, hold_at;
} Held;

/* As a host does whose bus has a page wherever it is asked. */
static void *held_map(void *host, uint64_t addr, size_t len, bool write)
{
    Held *held = host;

    if (++held->asked == held->hold_at) {
        atomic_store(&held->hold, true);
    }
    return addr % 4096 + len <= 4096 ? held->page + addr % 4096 : NULL;
}

/*
 * Stores of the 64 lanes to 64 pages, the next ones each time, until all 256
 * are in the TLB. A run that nobody waits for gets there; one that is waited
 * for ends what it has begun, and has work left for one more instruction.
 */
static void test_held(void)
{
    static const uint32_t code[] = {
        0xccc022f3, /* csrr t0, lane */
        0x00000313, /* li t1, 0 */
        0x006283b3, /* loop: add t2, t0, t1 */
        0x0ff3f393, /* andi t2, t2, 255 */
        0x00c39393, /* slli t2, t2, 12 */
        0x007503b3, /* add t2, a0, t2 */
        0x0063b023, /* sd t1, (t2) */
        0x04030313, /* addi t1, t1, 64 */
        0xfe9ff06f, /* j loop */
    };
    const MxgpuHostOps ops = {
        .dma_read = watch_read, .dma_write = watch_write,
        .dma_map = held_map, .clock = watch_clock,
    };
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = load(h, code, sizeof(code), 1, 128);
    Held held = {.page = g_malloc0(4096)};
    MxgpuSimtConfig config = {
        .compute_units = 1, .ops = &ops, .host = &held, .done = watch_done,
        .wake = ignore_wake,
    };
    MxgpuMmu *mmu = mxgpu_mmu_new(h->vram, HOST_VRAM_SIZE, &ops, &held);
    MxgpuSimt *simt;

    mxgpu_mmu_set_root(mmu, HOST_VMID, mxgpu_mmu_root(h->mmu, HOST_VMID));
    config.mmu = mmu;
    d.args = HOST_SYS_VA;
    simt = mxgpu_simt_new(&config);
    g_assert_cmpint(mxgpu_simt_start(simt, 0, &d), ==, MXGPU_FAULT_NONE);
    for (unsigned n = 1; n < 100; n++) {
        mxgpu_mmu_invalidate(mmu);
        atomic_store(&held.hold, false);
        held.asked = 0;
        held.hold_at = 0;
        g_assert_true(mxgpu_simt_run_held(simt, 0, 4096, &held.hold));
        g_assert_cmpuint(held.asked, ==, 256);
        mxgpu_mmu_invalidate(mmu);
        held.asked = 0;
        held.hold_at = n;
        g_assert_true(mxgpu_simt_run_held(simt, 0, 4096, &held.hold));
        g_assert_cmpuint(held.asked, >=, n);
        g_assert_cmpuint(held.asked - n, <=, 2 * 64);
        /* Though somebody always waits, it goes on. */
        held.asked = 0;
        mxgpu_mmu_invalidate(mmu);
        g_assert_true(mxgpu_simt_run_held(simt, 0, 4096, &held.hold));
        g_assert_cmpuint(held.asked, >=, 64);
        g_assert_cmpuint(held.asked, <=, 2 * 64);
    }
    mxgpu_simt_abort(simt, 0);
    mxgpu_simt_run(simt, 0, 1);
    g_assert_false(mxgpu_simt_has_work(simt));
    mxgpu_simt_free(simt);
    mxgpu_mmu_free(mmu);
    g_free(held.page);
    simt_host_free(h);
}

/* ---- a new address space in the middle of a step */

typedef struct Heir {
    MxgpuSimt *simt;
    MxgpuMmu *mmu;
    MxgpuDispatch d;
    unsigned done;
} Heir;

/* As a firmware does that is quick: another owner of the VMID, next grid. */
static void heir_done(void *opaque, unsigned slot)
{
    Heir *h = opaque;

    if (h->done++ == 0) {
        mxgpu_mmu_set_root(h->mmu, HOST_VMID,
                           mxgpu_mmu_root(h->mmu, HOST_VMID));
        g_assert_cmpint(mxgpu_simt_start(h->simt, slot, &h->d), ==,
                        MXGPU_FAULT_NONE);
    }
}

static void test_heir(void)
{
    static const uint32_t code[] = {
        0xff813283, /* ld t0, -8(sp) */
        0x00553023, /* sd t0, (a0) */
        0xff000313, /* li t1, -16 */
        0xfe613c23, /* sd t1, -8(sp) */
        0x0000000b, /* exit */
    };
    SimtHost *h = simt_host_new(1);
    Heir heir = {.d = load(h, code, sizeof(code), 1, 64), .mmu = h->mmu};
    MxgpuSimtConfig config = h->simt->config;

    config.done = heir_done;
    config.wake = ignore_wake;
    config.opaque = &heir;
    heir.simt = mxgpu_simt_new(&config);
    *words(h, 0) = 1;
    g_assert_cmpint(mxgpu_simt_start(heir.simt, 0, &heir.d), ==,
                    MXGPU_FAULT_NONE);
    mxgpu_simt_run(heir.simt, 0, 100000);
    g_assert_cmpuint(heir.done, ==, 2);
    g_assert_cmphex(*words(h, 0), ==, 0);
    mxgpu_simt_free(heir.simt);
    simt_host_free(h);
}

/* ---- calls without end */

static void test_depth(void)
{
    static const uint32_t calls[] = {0x004000ef, /* jal ra, next */
                                     0xffdff0ef /* jal ra, -4 */};
    static const uint32_t returns[] = {0x00000297, /* auipc t0, 0 */
                                       0x00028067 /* jalr x0, t0 */};

    for (unsigned k = 0; k < 2; k++) {
        SimtHost *h = simt_host_new(1);
        MxgpuDispatch d = load(h, k ? returns : calls, sizeof(calls), 1, 64);
        MxgpuWarp *w = h->simt->cus[0].warps;

        start(h, &d);
        mxgpu_simt_run(h->simt, 0, 10);
        g_assert_true(h->simt->cus[0].s.used_warps & 1);
        w->s.cur.depth = k ? INT32_MIN + 5 : INT32_MAX - 5;
        mxgpu_simt_run(h->simt, 0, 1000);
        g_assert_cmpint(w->s.cur.depth, ==, k ? INT32_MIN : INT32_MAX);
        mxgpu_simt_abort(h->simt, 0);
        mxgpu_simt_run(h->simt, 0, 1000);
        g_assert_cmpuint(h->done, ==, 1);
        simt_host_free(h);
    }
}

/* ---- FP flags are for dispatches that say so */

static void test_flags(void)
{
    static const uint32_t reads[][3] = {
        {0x001022f3 /* frflags t0 */},
        {0x003022f3 /* frcsr t0 */},
        {0x0012d2f3 /* csrrwi t0, fflags, 5 */},
    };
    static const uint32_t code[] = {
        0x00205073, /* fsrmi 0 */
        0x002022f3, /* frrm t0 */
        0x00105073, /* fsflagsi 0 */
        0x00301073, /* fscsr zero */
        0x0000000b, /* exit */
    };
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = load(h, code, sizeof(code), 1, 64);

    g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_NONE);
    for (unsigned i = 0; i < G_N_ELEMENTS(reads); i++) {
        const uint32_t one[] = {reads[i][0], 0x0000000b};
        MxgpuDispatchFault f;

        d = load(h, one, sizeof(one), 1, 64);
        f = simt_host_run(h, &d);
        g_assert_cmpint(f.code, ==, MXGPU_FAULT_ILLEGAL);
        g_assert_cmphex(f.pc, ==, d.entry);
        d.fp_flags = true;
        g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_NONE);
    }
    simt_host_free(h);
}

/* ---- a host without memory */

static void test_no_memory(void)
{
    static const uint32_t code[] = {0x0000000b /* exit */};
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = load(h, code, sizeof(code), 10, 64);
    struct rlimit old, tight;
    char *statm;

    g_assert_true(g_file_get_contents("/proc/self/statm", &statm, NULL, NULL));
    getrlimit(RLIMIT_AS, &old);
    tight = old;
    tight.rlim_cur = g_ascii_strtoull(statm, NULL, 10) * getpagesize() +
                     (256u << 20);
    g_free(statm);
    start(h, &d);
    g_assert_cmpint(setrlimit(RLIMIT_AS, &tight), ==, 0);
    mxgpu_simt_run(h->simt, 0, 1000);
    setrlimit(RLIMIT_AS, &old);
    g_assert_cmpuint(h->done, ==, 1);
    g_assert_cmpint(mxgpu_simt_fault(h->simt, 0).code, ==, MXGPU_FAULT_CONFIG);
    start(h, &d); /* and later it has some */
    mxgpu_simt_run(h->simt, 0, 1000);
    g_assert_cmpuint(h->done, ==, 1);
    g_assert_cmpint(mxgpu_simt_fault(h->simt, 0).code, ==, MXGPU_FAULT_NONE);
    simt_host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/simt/limits/small-steps", test_small_steps);
    g_test_add_func("/simt/limits/abort-race", test_abort_race);
    g_test_add_func("/simt/limits/guarded", test_guarded);
    g_test_add_func("/simt/limits/work-budget", test_work_budget);
    g_test_add_func("/simt/limits/held", test_held);
    g_test_add_func("/simt/limits/flags", test_flags);
    g_test_add_func("/simt/limits/heir", test_heir);
    g_test_add_func("/simt/limits/depth", test_depth);
    g_test_add_func("/simt/limits/no-memory", test_no_memory);
    return g_test_run();
}
