/* SPDX-License-Identifier: MIT */
/* What an observer (mxgpu/observer.h) is told of accesses, barriers and faults,
 * and what it may forbid. */
#include <string.h>

#include "simt/state.h"
#include "simt_run.h"

#define LANE      0xccc022f3u /* csrr t0, lane */
#define LD_BASE   0x00053583u /* ld a1, 0(a0) */
#define SHIFT     0x00229313u /* slli t1, t0, 2 */
#define ADD_BASE  0x00b30333u /* add t1, t1, a1 */
#define LW        0x00032383u /* lw t2, 0(t1) */
#define SW        0x10732023u /* sw t2, 256(t1) */
#define AMOADD    0x00732e2fu /* amoadd.w t3, t2, (t1) */
#define FENCE     0x0ff0000fu
#define BARRIER   0x0200000bu
#define EXIT      0x0000000bu

#define DATA      (HOST_DATA_VA + (4 << 20))
#define ACCESSES  64
#define EVENTS    256

typedef struct Access {
    MxgpuObservedWarp w;
    enum mxgpu_access access;
    unsigned size;
    uint64_t first, last; /* of the lanes */
    uint64_t stored;      /* by the last one */
    uint64_t steps;       /* lanes that are 4 bytes behind the one before */
} Access;

typedef struct Event {
    MxgpuObservedWarp w;
    MxgpuObservedEvent event;
    uint64_t value;
} Event;

typedef struct Log {
    Access accesses[ACCESSES];
    Event events[EVENTS];
    unsigned num_accesses, num_events, ranges, faults, begins, ends;
    bool all_fine;   /* what range() says */
    uint64_t refuse; /* an access to this address is not done; 0: none */
    MxgpuDispatchFault fault;
} Log;

static const char *elf;

static bool see_range(void *opaque, unsigned unit, enum mxgpu_access access,
                      uint64_t low, uint64_t high)
{
    Log *log = opaque;

    g_assert_cmpuint(low, <, high);
    log->ranges++;
    return log->all_fine;
}

static int see_access(void *opaque, const MxgpuObservedWarp *w,
                      const MxgpuObservedAccess *a)
{
    Log *log = opaque;
    Access *to = &log->accesses[log->num_accesses++];
    int bad = -1;

    g_assert_cmpuint(log->num_accesses, <, ACCESSES);
    *to = (Access){*w, a->access, a->size, .first = UINT64_MAX};
    for (unsigned i = 0; i < LANES; i++) {
        if (w->lanes >> i & 1) {
            to->steps += i && a->addr[i] == a->addr[i - 1] + 4;
            to->first = MIN(to->first, a->addr[i]);
            to->last = a->addr[i];
            to->stored = a->value ? a->value[i] : 0;
            bad = log->refuse && a->addr[i] == log->refuse ? (int)i : bad;
        }
    }
    return bad;
}

static void see_fault(void *opaque, const MxgpuObservedWarp *w, unsigned lane,
                      enum mxgpu_fault code, enum mxgpu_access access,
                      uint64_t addr)
{
    Log *log = opaque;

    log->faults++;
    log->fault = (MxgpuDispatchFault){
        .code = code, .access = access, .addr = addr, .pc = w->pc,
        .thread = w->warp * LANES + lane,
    };
}

static void see_event(void *opaque, const MxgpuObservedWarp *w,
                      MxgpuObservedEvent event, uint64_t value)
{
    Log *log = opaque;

    g_assert_cmpuint(log->num_events, <, EVENTS);
    log->events[log->num_events++] = (Event){*w, event, value};
}

static void see_grid(void *opaque, unsigned slot, uint64_t entry, uint64_t args,
                     bool begins)
{
    Log *log = opaque;

    g_assert_cmpuint(slot, ==, 0);
    g_assert_cmphex(args, ==, HOST_DATA_VA);
    *(begins ? &log->begins : &log->ends) += 1;
}

static const MxgpuObserver with_ranges = {
    .range = see_range, .access = see_access, .fault = see_fault,
    .event = see_event, .grid = see_grid,
};
static const MxgpuObserver with_shared = {
    .range = see_range, .shared = true, .access = see_access,
    .fault = see_fault,
};
static const MxgpuObserver without_ranges = {
    .values = true, .access = see_access, .fault = see_fault,
    .event = see_event, .grid = see_grid,
};
static const MxgpuObserver only_accesses = {
    .access = see_access, .fault = see_fault,
};

static void observe(SimtHost *h, const MxgpuObserver *observer, Log *log)
{
    h->simt->config.observer = observer;
    h->simt->config.observer_opaque = log;
}

static const uint32_t code[] = {
    LANE, LD_BASE, SHIFT, ADD_BASE, LW, SW, AMOADD, FENCE, BARRIER, EXIT,
};

static MxgpuDispatch setup(SimtHost *h, uint64_t base, unsigned threads)
{
    *(uint64_t *)simt_host_data(h, HOST_DATA_VA) = base;
    memcpy(simt_host_data(h, HOST_CODE_VA), code, sizeof(code));
    return simt_host_dispatch(HOST_CODE_VA, 2, threads);
}

static void check_access(const Access *a, enum mxgpu_access access,
                         uint64_t pc, uint64_t first, unsigned lanes)
{
    g_assert_cmpint(a->access, ==, access);
    g_assert_cmphex(a->w.pc, ==, pc);
    g_assert_cmpuint(__builtin_popcountll(a->w.lanes), ==, lanes);
    g_assert_cmphex(a->first, ==, first);
    if (a->size == 4) {
        g_assert_cmphex(a->last, ==, first + 4 * (lanes - 1));
        g_assert_cmpuint(a->steps, ==, lanes - 1);
    }
}

/* Two blocks of a full warp and one with 36 lanes: each makes four accesses. */
static void test_accesses(void)
{
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = setup(h, DATA, 100);
    Log *log = g_new0(Log, 1);
    unsigned seen[2][2] = {0};

    observe(h, &only_accesses, log);
    g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_NONE);
    g_assert_cmpuint(log->num_accesses, ==, 2 * 2 * 4);
    for (unsigned i = 0; i < log->num_accesses; i++) {
        const Access *a = &log->accesses[i];
        unsigned lanes = a->w.warp ? 36 : 64;
        unsigned n = seen[a->w.block[0]][a->w.warp]++;

        g_assert_cmpuint(a->w.size[0], ==, 100);
        g_assert_cmpuint(a->w.grid[0], ==, 2);
        g_assert_cmphex(a->w.entry, ==, HOST_CODE_VA);
        g_assert_cmphex(a->w.args, ==, HOST_DATA_VA);
        g_assert_cmpuint(a->size, ==, n ? 4 : 8);
        switch (n) {
        case 0:
            check_access(a, MXGPU_ACCESS_READ, HOST_CODE_VA + 4, HOST_DATA_VA,
                         lanes);
            break;
        case 1:
            check_access(a, MXGPU_ACCESS_READ, HOST_CODE_VA + 16, DATA, lanes);
            break;
        case 2:
            check_access(a, MXGPU_ACCESS_WRITE, HOST_CODE_VA + 20, DATA + 256,
                         lanes);
            break;
        case 3:
            check_access(a, MXGPU_ACCESS_ATOMIC, HOST_CODE_VA + 24, DATA,
                         lanes);
            break;
        default:
            g_assert_not_reached();
        }
    }
    g_assert_cmpuint(log->faults, ==, 0);
    g_free(log);
    simt_host_free(h);
}

/* What is all right between its ends is asked about once, and no closer. */
static void test_ranges(void)
{
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = setup(h, DATA, 100);
    Log *log = g_new0(Log, 1);

    log->all_fine = true;
    observe(h, &with_ranges, log);
    g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_NONE);
    g_assert_cmpuint(log->ranges, ==, 16);
    g_assert_cmpuint(log->num_accesses, ==, 0);
    log->all_fine = false;
    g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_NONE);
    g_assert_cmpuint(log->num_accesses, ==, 16);
    g_assert_cmpuint(log->begins, ==, 2);
    g_assert_cmpuint(log->ends, ==, 2);
    /* Shared memory that the block has needs nobody; what it has not does. */
    log->ranges = log->num_accesses = 0;
    d = setup(h, MXGPU_SHARED_BASE, 64);
    d.grid[0] = 1;
    d.shared = d.shared_static = 512;
    log->all_fine = true;
    g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_NONE);
    g_assert_cmpuint(log->ranges, ==, 1); /* of the argument */
    g_assert_cmpuint(log->num_accesses, ==, 0);
    d.shared = d.shared_static = 256;
    g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_WINDOW);
    g_assert_cmpuint(log->num_accesses, ==, 1);
    /* Unless the observer wants to see shared memory. */
    log->num_accesses = 0;
    d.shared = d.shared_static = 512;
    observe(h, &with_shared, log);
    g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_NONE);
    g_assert_cmpuint(log->num_accesses, ==, 3);
    g_free(log);
    simt_host_free(h);
}

/* The lane that the observer names faults, and nothing was stored. */
static void test_refuse(void)
{
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = setup(h, DATA, 64);
    uint32_t *data = simt_host_data(h, DATA);
    Log *log = g_new0(Log, 1);
    MxgpuDispatchFault f;

    for (unsigned i = 0; i < 64; i++) {
        data[i] = 1;
    }
    observe(h, &without_ranges, log);
    log->refuse = DATA + 256 + 4 * 37;
    d.grid[0] = 1;
    f = simt_host_run(h, &d);
    g_assert_cmpint(f.code, ==, MXGPU_FAULT_NOT_PRESENT);
    g_assert_cmpint(f.access, ==, MXGPU_ACCESS_WRITE);
    g_assert_cmphex(f.addr, ==, log->refuse);
    g_assert_cmphex(f.pc, ==, HOST_CODE_VA + 20);
    g_assert_cmpuint(f.thread, ==, 37);
    g_assert_cmpuint(log->faults, ==, 1);
    g_assert_cmphex(log->fault.addr, ==, f.addr);
    g_assert_cmphex(log->fault.pc, ==, f.pc);
    g_assert_cmpuint(log->fault.thread, ==, 37);
    for (unsigned i = 64; i < 128; i++) {
        g_assert_cmpuint(data[i], ==, 0);
    }
    /* Also of an atomic, which has not been done. */
    log->refuse = DATA + 4;
    memcpy(simt_host_data(h, HOST_CODE_VA + 16), &(uint32_t){AMOADD}, 4);
    f = simt_host_run(h, &d);
    g_assert_cmpint(f.access, ==, MXGPU_ACCESS_ATOMIC);
    g_assert_cmpuint(f.thread, ==, 1);
    g_assert_cmpuint(data[0], ==, 1);
    g_free(log);
    simt_host_free(h);
}

/* A fault that the device finds by itself. */
static void test_fault(void)
{
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = setup(h, 0x1000, 64);
    Log *log = g_new0(Log, 1);

    observe(h, &without_ranges, log);
    g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_NOT_PRESENT);
    g_assert_cmpuint(log->faults, ==, 1);
    g_assert_cmphex(log->fault.addr, ==, 0x1000);
    g_assert_cmphex(log->fault.pc, ==, HOST_CODE_VA + 16);
    g_assert_cmpint(log->fault.access, ==, MXGPU_ACCESS_READ);
    g_assert_cmpuint(log->ends, ==, 1);
    g_free(log);
    simt_host_free(h);
}

static unsigned lanes_in(const Log *log, MxgpuObservedEvent event,
                         unsigned block, unsigned *times)
{
    unsigned lanes = 0;

    *times = 0;
    for (unsigned i = 0; i < log->num_events; i++) {
        const Event *e = &log->events[i];

        if (e->event == event && e->w.block[0] == block) {
            lanes += __builtin_popcountll(e->w.lanes);
            ++*times;
        }
    }
    return lanes;
}

/* A barrier opens when all have arrived, and before anybody ends. */
static void check_order(const Log *log, unsigned block, unsigned threads)
{
    unsigned arrived = 0, opened = 0;

    for (unsigned i = 0; i < log->num_events; i++) {
        const Event *e = &log->events[i];

        if (e->w.block[0] != block) {
            continue;
        }
        switch (e->event) {
        case MXGPU_OBSERVED_BLOCK:
            g_assert_cmpuint(arrived + opened, ==, 0);
            break;
        case MXGPU_OBSERVED_BARRIER:
            g_assert_cmphex(e->w.pc, ==, HOST_CODE_VA + 32);
            arrived += __builtin_popcountll(e->w.lanes);
            break;
        case MXGPU_OBSERVED_BARRIER_OPEN:
            g_assert_cmpuint(arrived, ==, threads);
            opened++;
            break;
        case MXGPU_OBSERVED_EXIT:
        case MXGPU_OBSERVED_BLOCK_END:
            g_assert_cmpuint(opened, ==, 1);
            break;
        default:
            break;
        }
    }
}

static void test_events(void)
{
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = setup(h, DATA, 100);
    Log *log = g_new0(Log, 1);
    unsigned times;

    observe(h, &without_ranges, log);
    ((uint32_t *)simt_host_data(h, DATA))[63] = 4711;
    g_assert_cmpint(simt_host_run(h, &d).code, ==, MXGPU_FAULT_NONE);
    g_assert_cmpint(log->accesses[2].access, ==, MXGPU_ACCESS_WRITE);
    g_assert_cmpuint(log->accesses[2].stored, ==, 4711);
    for (unsigned b = 0; b < 2; b++) {
        g_assert_cmpuint(lanes_in(log, MXGPU_OBSERVED_BLOCK, b, &times), ==, 0);
        g_assert_cmpuint(times, ==, 1);
        lanes_in(log, MXGPU_OBSERVED_BLOCK_END, b, &times);
        g_assert_cmpuint(times, ==, 1);
        g_assert_cmpuint(lanes_in(log, MXGPU_OBSERVED_FENCE, b, &times), ==,
                         100);
        g_assert_cmpuint(lanes_in(log, MXGPU_OBSERVED_EXIT, b, &times), ==,
                         100);
        check_order(log, b, 100);
    }
    g_free(log);
    simt_host_free(h);
}

/* Lanes that name other sets are told apart: x7 is 1 of even lanes, else 2. */
static void test_sync(void)
{
    static const uint32_t program[] = {
        LANE,
        0x0012f393u, /* andi t2, t0, 1 */
        0x00138393u, /* addi t2, t2, 1 */
        0x0a03800bu, /* warpsync t2 */
        EXIT,
    };
    SimtHost *h = simt_host_new(1);
    MxgpuDispatch d = setup(h, DATA, 64);
    Log *log = g_new0(Log, 1);
    uint64_t sets[3] = {0};

    memcpy(simt_host_data(h, HOST_CODE_VA), program, sizeof(program));
    observe(h, &without_ranges, log);
    d.grid[0] = 1;
    simt_host_start(h, 0, &d);
    for (unsigned i = 0; i < 100; i++) {
        mxgpu_simt_run(h->simt, 0, 1000);
    }
    for (unsigned i = 0; i < log->num_events; i++) {
        const Event *e = &log->events[i];

        if (e->event == MXGPU_OBSERVED_WARPSYNC) {
            g_assert_cmpuint(e->value - 1, <, 2);
            sets[e->value] = e->w.lanes;
        }
    }
    g_assert_cmphex(sets[1], ==, 0x5555555555555555u);
    g_assert_cmphex(sets[2], ==, 0xaaaaaaaaaaaaaaaau);
    mxgpu_simt_abort(h->simt, 0);
    mxgpu_simt_run(h->simt, 0, 1000);
    g_free(log);
    simt_host_free(h);
}

/* Named barriers, and the grid's. */
static void test_named(void)
{
    SimtRun r = simt_run_new(elf, "produce", 1, 128);
    Log *log = g_new0(Log, 1);
    unsigned times;

    r.args[2] = 2;
    r.d.shared = r.d.shared_static = 1024;
    observe(r.h, &without_ranges, log);
    simt_run(&r);
    g_assert_cmpuint(lanes_in(log, MXGPU_OBSERVED_NAMED, 0, &times), ==,
                     2 * 2 * 128);
    for (unsigned i = 0; i < log->num_events; i++) {
        if (log->events[i].event == MXGPU_OBSERVED_NAMED) {
            g_assert_cmpuint(log->events[i].value >> 32, ==, 128);
            g_assert_cmpuint((uint32_t)log->events[i].value - 1, <, 2);
        }
    }
    lanes_in(log, MXGPU_OBSERVED_NAMED_OPEN, 0, &times);
    g_assert_cmpuint(times, ==, 4);
    simt_run_free(&r);

    r = simt_run_new(elf, "rounds", 2, 64);
    *log = (Log){0};
    r.args[2] = 1;
    r.d.cooperative = true;
    observe(r.h, &without_ranges, log);
    simt_run(&r);
    for (unsigned b = 0; b < 2; b++) {
        g_assert_cmpuint(lanes_in(log, MXGPU_OBSERVED_GRID, b, &times), ==,
                         2 * 64);
        lanes_in(log, MXGPU_OBSERVED_GRID_OPEN, b, &times);
        g_assert_cmpuint(times, ==, 2);
    }
    simt_run_free(&r);
    g_free(log);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_assert_cmpint(argc, ==, 2);
    elf = argv[1];
    g_test_add_func("/simt/observe/accesses", test_accesses);
    g_test_add_func("/simt/observe/ranges", test_ranges);
    g_test_add_func("/simt/observe/refuse", test_refuse);
    g_test_add_func("/simt/observe/fault", test_fault);
    g_test_add_func("/simt/observe/events", test_events);
    g_test_add_func("/simt/observe/sync", test_sync);
    g_test_add_func("/simt/observe/named", test_named);
    return g_test_run();
}
