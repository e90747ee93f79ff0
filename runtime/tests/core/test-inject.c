/* SPDX-License-Identifier: MIT */
/* Every error a device can make becomes the documented one. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/context/context.h"
#include "core/context/handle.h"
#include "core/module/module.h"
#include "env.h"
#include "fake.h"
#include "process/contexts.h"

static void inject(mcError_t expected, enum mxgpu_queue_error_code code,
                   enum mxgpu_fault fault, enum mxgpu_access access,
                   uint64_t addr)
{
    void *p;

    ok(mcDeviceSynchronize());
    fake_inject(code, fault, access, addr);
    ok(env_launch("k_empty", 1, NULL, NULL));
    fails(expected, mcDeviceSynchronize());
    fails(expected, mcMalloc(&p, 1));
    ok(mcDeviceReset());
    env_forget();
}

static void test_faults(void)
{
    static const struct {
        enum mxgpu_fault fault;
        mcError_t error;
    } faults[] = {
        {MXGPU_FAULT_NOT_PRESENT, mcErrorIllegalAddress},
        {MXGPU_FAULT_PERMISSION, mcErrorIllegalAddress},
        {MXGPU_FAULT_TABLE, mcErrorIllegalAddress},
        {MXGPU_FAULT_NON_CANONICAL, mcErrorIllegalAddress},
        {MXGPU_FAULT_BUS, mcErrorIllegalAddress},
        {MXGPU_FAULT_NO_VMID, mcErrorIllegalAddress},
        {MXGPU_FAULT_MISALIGNED, mcErrorMisalignedAddress},
        {MXGPU_FAULT_WINDOW, mcErrorIllegalAddress},
        {MXGPU_FAULT_ILLEGAL, mcErrorIllegalInstruction},
        {MXGPU_FAULT_BREAKPOINT, mcErrorLaunchFailure},
        {MXGPU_FAULT_SYSCALL, mcErrorIllegalInstruction},
        {MXGPU_FAULT_BARRIER, mcErrorLaunchFailure},
        {MXGPU_FAULT_ASSERT, mcErrorAssert},
        {MXGPU_FAULT_ABORTED, mcErrorLaunchFailure},
        {MXGPU_FAULT_CONFIG, mcErrorLaunchOutOfResources},
        {(enum mxgpu_fault)99, mcErrorUnknown},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(faults); i++) {
        inject(faults[i].error, MXGPU_QERR_FAULT, faults[i].fault,
               MXGPU_ACCESS_READ, 0x1000);
    }
    inject(mcErrorInvalidPc, MXGPU_QERR_FAULT, MXGPU_FAULT_NOT_PRESENT,
           MXGPU_ACCESS_EXECUTE, 0);
    inject(mcErrorInvalidPc, MXGPU_QERR_FAULT, MXGPU_FAULT_MISALIGNED,
           MXGPU_ACCESS_EXECUTE, 1);
    inject(mcErrorHardwareStackError, MXGPU_QERR_FAULT, MXGPU_FAULT_WINDOW,
           MXGPU_ACCESS_WRITE, 0xfffffffff7ff0000ull);
}

static void test_queue_errors(void)
{
    static const struct {
        enum mxgpu_queue_error_code code;
        mcError_t error;
    } errors[] = {
        {MXGPU_QERR_FETCH, mcErrorUnknown},
        {MXGPU_QERR_PACKET, mcErrorUnknown},
        {MXGPU_QERR_INDEX, mcErrorUnknown},
        {MXGPU_QERR_KERNEL, mcErrorLaunchFailure},
        {MXGPU_QERR_RESOURCES, mcErrorLaunchOutOfResources},
        {MXGPU_QERR_TIMEOUT, mcErrorLaunchTimeout},
        {MXGPU_QERR_SIGNAL, mcErrorUnknown},
        {(enum mxgpu_queue_error_code)77, mcErrorUnknown},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(errors); i++) {
        inject(errors[i].error, errors[i].code, MXGPU_FAULT_NONE,
               MXGPU_ACCESS_READ, 0);
    }
}

/* An error on one device leaves the other alone. */
static void test_other_device(void)
{
    ok(mcSetDevice(1));
    void *p = env_malloc(100);
    ok(mcSetDevice(0));
    fake_inject(MXGPU_QERR_FAULT, MXGPU_FAULT_ILLEGAL, MXGPU_ACCESS_READ, 0);
    ok(env_launch("k_empty", 1, NULL, NULL));
    fails(mcErrorIllegalInstruction, mcDeviceSynchronize());
    ok(mcSetDevice(1));
    ok(mcMemset(p, 0, 100));
    ok(mcDeviceSynchronize());
    fails(mcErrorIllegalInstruction, mcGetLastError()); /* of the thread */
    ok(mcGetLastError()); /* not sticky here */
    ok(mcFree(p));
    ok(mcSetDevice(0));
    ok(mcDeviceReset());
    env_forget();
}

static void test_lost(void)
{
    uint64_t *gate = env_malloc_host(8);

    *gate = 0;
    ok(mcStreamWaitValue64(NULL, gate, 1, 0));
    __atomic_store_n(&fake.lost, true, __ATOMIC_RELAXED);
    fails(mcErrorDevicesUnavailable, mcDeviceSynchronize());
    __atomic_store_n(&fake.lost, false, __ATOMIC_RELAXED);
    ok(mcDeviceReset());
    env_forget();
    ok(mcFreeHost(gate));
}

/* ---- closing ---- */

static gpointer reset_call(gpointer opaque)
{
    ok(mcDeviceReset());
    return NULL;
}

/* An entry point that has an object when the reset begins, and opens the
 * context of another one only then: neither waits for the other. */
static void test_open_under_close(void)
{
    McContext *ctx, *again = NULL;
    mcEvent_t event;

    ok(mcEventCreate(&event));
    McHandle *held = mc_handle_get(event, MC_HANDLE_EVENT);
    g_assert_nonnull(held);
    ctx = held->ctx;
    GThread *thread = g_thread_new("reset", reset_call, NULL);
    while (!atomic_load(&ctx->dying)) {
        g_thread_yield();
    }
    fails(mcErrorContextIsDestroyed, mc_context_open(0, &again));
    g_assert_null(again);
    g_assert_null(mc_handle_get(event, MC_HANDLE_EVENT));
    g_assert_null(mc_context_peek(0));
    g_assert_cmpuint(mc_thread()->held, ==, 1);
    mc_handle_put(held);
    g_thread_join(thread);
    /* One that holds nothing has waited. */
    ok(mc_context_open(0, &again));
    mc_context_put(again);
    g_assert_cmpuint(mc_thread()->held, ==, 0);
    env_forget();
}

static gpointer unload_call(gpointer module)
{
    ok(mcModuleUnload(module));
    return NULL;
}

/* An entry point that has a kernel when its module is unloaded goes on with
 * both. */
static void test_unload_under_call(void)
{
    mcModule_t module;
    mcFunction_t kernel;

    ok(mcModuleLoadData(&module, env_image));
    ok(mcModuleGetFunction(&kernel, module, "k_add"));
    McFunction *held = mc_handle_get(kernel, MC_HANDLE_FUNCTION);
    g_assert_nonnull(held);
    g_thread_join(g_thread_new("unload", unload_call, module));
    g_assert_null(mc_handle_get(kernel, MC_HANDLE_FUNCTION));
    g_assert_null(mc_handle_get(module, MC_HANDLE_MODULE));
    g_assert_true(held->module->ctx == held->handle.ctx);
    g_assert_cmpstr(mc_function_symbol(held), ==, "k_add");
    mc_handle_put(held);
    g_assert_cmpuint(mc_thread()->held, ==, 0);
}

/* A stream waits for another device's event, behind work that does not end:
 * both devices can be reset. */
static void test_reset_under_remote_wait(void)
{
    for (int reset = 0; reset < 2; reset++) {
        uint64_t *gate = env_malloc_host(16);
        mcStream_t here, there;
        mcEvent_t event;

        gate[0] = gate[1] = 0;
        ok(mcStreamCreate(&here));
        ok(mcSetDevice(1));
        ok(mcStreamCreate(&there));
        ok(mcEventCreate(&event));
        ok(mcStreamWaitValue64(there, &gate[1], 1, 0));
        ok(mcEventRecord(event, there));
        ok(mcSetDevice(0));
        ok(mcStreamWaitValue64(here, &gate[0], 1, 0));
        ok(mcStreamWaitEvent(here, event, 0));
        ok(mcSetDevice(reset));
        ok(mcDeviceReset());
        ok(mcSetDevice(!reset));
        ok(mcDeviceReset());
        ok(mcSetDevice(0));
        ok(mcFreeHost(gate));
    }
    env_forget();
}

/* ---- waits for a device that somebody resets ---- */

static mcStream_t reset_stream;
static mcEvent_t reset_event, reset_sleepy;
static void *reset_memory;
static uint8_t reset_host[64];

static mcError_t wait_stream(void)
{
    return mcStreamSynchronize(reset_stream);
}

static mcError_t wait_event(void)
{
    return mcEventSynchronize(reset_event);
}

static mcError_t wait_sleepy_event(void)
{
    return mcEventSynchronize(reset_sleepy);
}

static mcError_t wait_copy(void)
{
    return mcMemcpy(reset_host, reset_memory, 64, mcMemcpyDeviceToHost);
}

static mcError_t wait_free(void)
{
    return mcFree(reset_memory);
}

static mcError_t wait_poll_stream(void)
{
    mcError_t error;

    while ((error = mcStreamQuery(reset_stream)) == mcErrorNotReady) {
        g_thread_yield();
    }
    return error;
}

static mcError_t wait_poll_event(void)
{
    mcError_t error;

    while ((error = mcEventQuery(reset_event)) == mcErrorNotReady) {
        g_thread_yield();
    }
    return error;
}

static int called_with;

static void note(mcStream_t stream, mcError_t status, void *data)
{
    __atomic_store_n((int *)data, status, __ATOMIC_RELEASE);
}

static mcError_t wait_host_function(void)
{
    int status;

    while ((status = __atomic_load_n(&called_with, __ATOMIC_ACQUIRE)) < 0) {
        g_thread_yield();
    }
    return (mcError_t)status;
}

static gpointer reset_main(gpointer opaque)
{
    g_usleep(GPOINTER_TO_UINT(opaque));
    __atomic_store_n(&fake.reset, true, __ATOMIC_RELAXED);
    return NULL;
}

static void reset_under(mcError_t (*wait)(void), unsigned schedule,
                        unsigned after_us)
{
    uint64_t *gate;

    ok(mcSetDeviceFlags(schedule));
    ok(mcStreamCreate(&reset_stream));
    ok(mcEventCreate(&reset_event));
    ok(mcEventCreateWithFlags(&reset_sleepy, mcEventBlockingSync));
    reset_memory = env_malloc(64);
    gate = env_malloc_host(8);
    *gate = 0;
    called_with = -1;
    ok(mcStreamWaitValue64(reset_stream, gate, 1, 0));
    ok(mcStreamAddCallback(reset_stream, note, &called_with, 0));
    ok(mcEventRecord(reset_event, reset_stream));
    ok(mcEventRecord(reset_sleepy, reset_stream));
    GThread *thread = g_thread_new("reset", reset_main,
                                   GUINT_TO_POINTER(after_us));
    fails(mcErrorDevicesUnavailable, wait());
    g_thread_join(thread);
    /* It stays so, and there is a way out. */
    fails(mcErrorDevicesUnavailable, mcDeviceSynchronize());
    fails(mcErrorDevicesUnavailable, mcMalloc(&reset_memory, 1));
    __atomic_store_n(&fake.reset, false, __ATOMIC_RELAXED);
    ok(mcDeviceReset());
    env_forget();
    ok(env_launch("k_empty", 1, NULL, NULL));
    ok(mcDeviceSynchronize());
    ok(mcFreeHost(gate));
}

static void test_reset_under_waits(void)
{
    mcError_t (*const waits[])(void) = {
        mcDeviceSynchronize, wait_stream, wait_event, wait_sleepy_event,
        wait_copy, wait_free, wait_poll_stream, wait_poll_event,
        wait_host_function,
    };
    static const unsigned schedules[] = {
        mcDeviceScheduleAuto, mcDeviceScheduleSpin, mcDeviceScheduleYield,
        mcDeviceScheduleBlockingSync,
    };

    for (unsigned w = 0; w < G_N_ELEMENTS(waits); w++) {
        for (unsigned s = 0; s < G_N_ELEMENTS(schedules); s++) {
            reset_under(waits[w], schedules[s], s % 2 ? 0 : 8000);
        }
    }
}

/* Nothing is leaked when the nth step fails, and the next try works: the fake
 * back end aborts when a device is closed with something left. */
static void test_failing_steps(void)
{
    int *const counters[] = {&fake.fail_pin, &fake.fail_map,
                             &fake.fail_alloc};

    for (unsigned c = 0; c < G_N_ELEMENTS(counters); c++) {
        for (int n = 1; n < 12; n++) {
            void *p = NULL, *h = NULL;
            mcModule_t m;
            mcEvent_t e;
            mcStream_t s;
            unsigned failures = 0;

            ok(mcDeviceReset());
            env_forget();
            *counters[c] = n;
            failures += mcMalloc(&p, 3 << 20) != mcSuccess;
            failures += mcMallocHost(&h, 100, 0) != mcSuccess;
            failures += mcStreamCreate(&s) != mcSuccess;
            failures += mcEventCreate(&e) != mcSuccess;
            failures += mcModuleLoadData(&m, env_image) != mcSuccess;
            *counters[c] = 0;
            g_assert_cmpuint(failures, <=, 1);
            if (h) {
                ok(mcFreeHost(h));
            }
        }
    }
    ok(mcDeviceReset());
    env_forget();
    g_assert_cmpuint(fake_open_devices(), <=, 1);
}

/* The same of pools that are shared and that another device sees. */
static void shared_pool(int *counter, int n)
{
    const mcMemAllocationHandleType type = mcMemHandleTypePosixFileDescriptor;
    mcMemPoolProps props = {
        .allocType = mcMemAllocationTypePinned,
        .handleTypes = type,
        .location = {mcMemLocationTypeDevice, 0},
    };
    mcMemAccessDesc desc = {{mcMemLocationTypeDevice, 1},
                            mcMemAccessFlagsProtReadWrite};
    mcMemPoolPtrExportData data;
    mcMemPool_t pool, twin;
    void *p = NULL, *q = NULL;
    unsigned failures = 0;
    int fd;

    ok(mcMemPoolCreate(&pool, &props));
    ok(mcMemPoolExportToShareableHandle(&fd, pool, type, 0));
    ok(mcMemPoolImportFromShareableHandle(&twin, (void *)(intptr_t)fd, type,
                                          0));
    close(fd);
    *counter = n;
    failures += mcMemPoolSetAccess(pool, &desc, 1) != mcSuccess;
    failures += mcMemPoolSetAccess(twin, &desc, 1) != mcSuccess;
    failures += mcMallocFromPoolAsync(&p, 3 << 20, pool, NULL) != mcSuccess;
    if (p) {
        failures += mcMemPoolExportPointer(&data, p) != mcSuccess;
        failures += mcMemPoolImportPointer(&q, twin, &data) != mcSuccess;
    }
    *counter = 0;
    g_assert_cmpuint(failures, <=, 1);
    if (q) {
        ok(mcFree(q));
    }
    if (p && n % 2) {
        ok(mcFree(p)); /* else it goes with the device */
    }
    ok(mcMemPoolDestroy(twin));
    ok(mcMemPoolDestroy(pool));
}

static void test_failing_pool_steps(void)
{
    int *const counters[] = {&fake.fail_pin, &fake.fail_map,
                             &fake.fail_alloc};

    for (unsigned c = 0; c < G_N_ELEMENTS(counters); c++) {
        for (int n = 1; n < 8; n++) {
            ok(mcSetDevice(1));
            ok(mcFree(NULL));
            ok(mcSetDevice(0));
            ok(mcDeviceReset());
            env_forget();
            ok(mcFree(NULL));
            shared_pool(counters[c], n);
        }
    }
    ok(mcDeviceReset());
    ok(mcSetDevice(1));
    ok(mcDeviceReset());
    ok(mcSetDevice(0));
    env_forget();
}

/* Arrays are mapped so that large leaves serve. */
static void test_large_leaves(void)
{
    void *p[64], *full;

    ok(mcDeviceSynchronize());
    fake.small_maps = 0;
    for (unsigned i = 0; i < 64; i++) {
        p[i] = env_malloc(70000 * (i + 1));
    }
    g_assert_cmpuint(fake.small_maps, ==, 0);
    /* Without room for one more, small pages are better than nothing. */
    fake.fail_alloc = 1;
    full = env_malloc((4 << 20) - 4096);
    g_assert_cmpuint(fake.small_maps, ==, 1);
    ok(mcMemset(full, 1, (4 << 20) - 4096));
    ok(mcFree(full));
    for (unsigned i = 0; i < 64; i++) {
        ok(mcFree(p[i]));
    }
}

static void open_fails(int error, mcError_t expected)
{
    void *p;

    ok(mcDeviceReset());
    env_forget();
    fake.open_error = error;
    fails(expected, mcMalloc(&p, 1));
    fake.open_error = 0;
}

static void test_open(void)
{
    open_fails(-ENODEV, mcErrorNoDevice);
    open_fails(-EACCES, mcErrorNotPermitted);
    open_fails(-EBUSY, mcErrorDevicesUnavailable);
    open_fails(-ENOMEM, mcErrorMemoryAllocation);
    open_fails(-EOPNOTSUPP, mcErrorSystemNotReady);
    open_fails(-EPROTO, mcErrorSystemDriverMismatch);
    open_fails(-EIO, mcErrorInitializationError);
    ok(mcDeviceSynchronize());
}

/* The first test: nothing is initialized yet. */
static void test_init(void)
{
    int count = 7;

    fake.select_error = -EINVAL;
    fails(mcErrorInitializationError, mcInit(0));
    fake.select_error = 0;
    fake.count_error = -ENODEV;
    fails(mcErrorNoDevice, mcGetDeviceCount(&count));
    g_assert_cmpint(count, ==, 0);
    fake.count_error = -EACCES;
    fails(mcErrorNotPermitted, mcGetDeviceCount(&count));
    fake.count_error = 0;
    fake.count = 0;
    fails(mcErrorNoDevice, mcGetDeviceCount(&count));
    fake.count = 2; /* plugged in meanwhile */
    ok(mcGetDeviceCount(&count));
    g_assert_cmpint(count, ==, 2);
}

static void test_no_queues(void)
{
    mcStream_t s;

    ok(mcDeviceSynchronize());
    fake.fail_queues = true;
    ok(mcStreamCreate(&s)); /* shares the default stream's queue */
    ok(env_launch("k_empty", 1, NULL, s));
    ok(mcStreamSynchronize(s));
    ok(mcStreamDestroy(s));
    fake.fail_queues = false;
    ok(mcDeviceReset());
    env_forget();
}

static bool check_end;

/* Copies and sets are one packet, of pageable memory one a chunk. */
static void test_packet_counts(void)
{
    enum { WIDTH = 1000, PITCH = 1024, ROWS = 2000 };
    uint8_t *d = env_malloc(PITCH * ROWS), *h = env_malloc_host(PITCH * ROWS);
    uint8_t *p = g_malloc(PITCH * ROWS);
    const mcMemcpy3DParms slices = {
        .srcPtr = {h, PITCH, WIDTH, 10},
        .dstPtr = {d, PITCH, WIDTH, 20},
        .extent = {WIDTH, 9, 100},
        .kind = mcMemcpyHostToDevice,
    };

    fake.copies = 0;
    ok(mcMemset2D(d, PITCH, 1, WIDTH, ROWS));
    ok(mcMemcpy2D(h, PITCH, d, PITCH, WIDTH, ROWS, mcMemcpyDeviceToHost));
    ok(mcMemcpy3D(&slices));
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(fake.copies, ==, 3);
    /* 524 rows fit a chunk. */
    fake.copies = 0;
    ok(mcMemcpy2D(d, PITCH, p, WIDTH, WIDTH, ROWS, mcMemcpyHostToDevice));
    ok(mcMemcpy2D(p, PITCH, d, PITCH, WIDTH, ROWS, mcMemcpyDeviceToHost));
    g_assert_cmpuint(fake.copies, ==, 2 * 4);
    ok(mcFree(d));
    ok(mcFreeHost(h));
    g_free(p);
}

/* Boxes of arrays are one packet; bytes behind each other three: to the end of a
 * row, whole rows, and from the start of one. */
static void test_array_packets(void)
{
    enum { WIDTH = 100, ROWS = 50 };
    const mcChannelFormatDesc byte = {8, 0, 0, 0, mcChannelFormatKindUnsigned};
    uint8_t *h = env_malloc_host(WIDTH * ROWS);
    mcArray_t a, b;

    ok(mcMallocArray(&a, &byte, WIDTH, ROWS, 0));
    ok(mcMallocArray(&b, &byte, WIDTH, ROWS, 0));
    const mcMemcpy3DParms box = {
        .srcArray = a,
        .dstArray = b,
        .extent = {WIDTH, ROWS, 1},
        .kind = mcMemcpyDeviceToDevice,
    };
    fake.copies = 0;
    ok(mcMemcpy2DToArray(a, 0, 0, h, WIDTH, WIDTH, ROWS,
                         mcMemcpyHostToDevice));
    ok(mcMemcpy3D(&box));
    ok(mcMemcpyFromArray(h, b, 0, 0, WIDTH * ROWS, mcMemcpyDeviceToHost));
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(fake.copies, ==, 3);
    fake.copies = 0;
    ok(mcMemcpyFromArray(h, b, 30, 2, WIDTH * (ROWS - 10) + 3,
                         mcMemcpyDeviceToHost));
    ok(mcMemcpyArrayToArray(a, 30, 2, b, 30, 5, WIDTH * (ROWS - 10) + 3,
                            mcMemcpyDeviceToDevice));
    ok(mcDeviceSynchronize());
    g_assert_cmpuint(fake.copies, ==, 2 * 3);
    ok(mcFreeArray(a));
    ok(mcFreeArray(b));
    ok(mcFreeHost(h));
}

/* After the runtime's own end, which has the default priority. */
static void __attribute__((destructor(101))) after_end(void)
{
    void *p;

    if (check_end && mcMalloc(&p, 1) != mcErrorDeinitialized) {
        _exit(7);
    }
}

static void test_end(void)
{
    if (g_test_subprocess()) {
        check_end = true;
        env_malloc(1);
        exit(0);
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_passed();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/inject/init", test_init);
    g_test_add_func("/inject/faults", test_faults);
    g_test_add_func("/inject/queue-errors", test_queue_errors);
    g_test_add_func("/inject/other-device", test_other_device);
    g_test_add_func("/inject/lost", test_lost);
    g_test_add_func("/inject/open-under-close", test_open_under_close);
    g_test_add_func("/inject/unload-under-call", test_unload_under_call);
    g_test_add_func("/inject/reset-under-remote-wait",
                    test_reset_under_remote_wait);
    g_test_add_func("/inject/reset-under-waits", test_reset_under_waits);
    g_test_add_func("/inject/failing-steps", test_failing_steps);
    g_test_add_func("/inject/failing-pool-steps", test_failing_pool_steps);
    g_test_add_func("/inject/large-leaves", test_large_leaves);
    g_test_add_func("/inject/packet-counts", test_packet_counts);
    g_test_add_func("/inject/array-packets", test_array_packets);
    g_test_add_func("/inject/open", test_open);
    g_test_add_func("/inject/no-queues", test_no_queues);
    g_test_add_func("/inject/end", test_end);
    return g_test_run();
}
