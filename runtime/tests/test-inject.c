/* SPDX-License-Identifier: MIT */
/* Every error a device can make becomes the documented one. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "env.h"
#include "fake.h"

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
    g_test_add_func("/inject/failing-steps", test_failing_steps);
    g_test_add_func("/inject/large-leaves", test_large_leaves);
    g_test_add_func("/inject/open", test_open);
    g_test_add_func("/inject/no-queues", test_no_queues);
    g_test_add_func("/inject/end", test_end);
    return g_test_run();
}
