/* SPDX-License-Identifier: MIT */
/* Launches with attributes, cooperative ones, and on several devices. */
#include "env.h"

typedef struct AddArgs {
    uint32_t *data;
    uint32_t count, value;
    void *list[3];
} AddArgs;

static void **add_args(AddArgs *a, uint32_t *data, uint32_t value)
{
    *a = (AddArgs){data, 64, value, {NULL}};
    a->list[0] = &a->data;
    a->list[1] = &a->count;
    a->list[2] = &a->value;
    return a->list;
}

static uint32_t first(const uint32_t *device)
{
    uint32_t value;

    ok(mcDeviceSynchronize());
    ok(mcMemcpy(&value, device, 4, mcMemcpyDeviceToHost));
    return value;
}

static uint32_t *zeros(void)
{
    uint32_t *d = env_malloc(256);

    ok(mcMemset(d, 0, 256));
    return d;
}

/* ---- attributes ---- */

static mcLaunchConfigExtension config_of(mcLaunchAttribute *attributes,
                                         unsigned count)
{
    mcLaunchConfigExtension c = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
        .blockDimX = 64, .blockDimY = 1, .blockDimZ = 1,
        .attrs = attributes,
        .numAttrs = count,
    };

    return c;
}

static mcError_t with(mcLaunchAttribute attribute, uint32_t *d)
{
    mcLaunchConfigExtension c = config_of(&attribute, 1);
    AddArgs a;

    return mcModuleLaunchKernelEx(&c, env_kernel("k_add"), add_args(&a, d, 1),
                                  NULL);
}

static mcLaunchAttribute attribute(int id)
{
    mcLaunchAttribute a;

    memset(&a, 0, sizeof(a));
    a.id = (mcLaunchAttributeID)id;
    return a;
}

static void test_attributes(void)
{
    uint32_t *d = zeros(), launched = 0;
    mcLaunchAttribute a = attribute(mcLaunchAttributeIgnore);

    ok(with(a, d));
    launched++;
    a = attribute(mcLaunchAttributeCooperative);
    ok(with(a, d));
    a.val.cooperative = 1;
    ok(with(a, d));
    launched += 2;
    a.val.cooperative = 2;
    fails(mcErrorInvalidValue, with(a, d));
    a = attribute(mcLaunchAttributeAccessPolicyWindow);
    ok(with(a, d));
    launched++;
    a.val.accessPolicyWindow.num_bytes = 1;
    fails(mcErrorInvalidValue, with(a, d));
    a = attribute(mcLaunchAttributeClusterDimension);
    fails(mcErrorInvalidConfiguration, with(a, d));
    a.val.clusterDim.x = a.val.clusterDim.y = a.val.clusterDim.z = 1;
    ok(with(a, d));
    launched++;
    a.val.clusterDim.x = 2;
    fails(mcErrorInvalidConfiguration, with(a, d));
    static const int others[] = {
        -1, mcLaunchAttributeSynchronizationPolicy,
        mcLaunchAttributeClusterSchedulingPolicyPreference,
        mcLaunchAttributeProgrammaticStreamSerialization,
        mcLaunchAttributeProgrammaticEvent, mcLaunchAttributeMemSyncDomainMap,
        mcLaunchAttributeMemSyncDomain, 11, 1000,
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(others); i++) {
        fails(mcErrorInvalidConfiguration, with(attribute(others[i]), d));
    }
    g_assert_cmpuint(first(d), ==, launched);
    ok(mcFree(d));
}

static void test_module_ex(void)
{
    uint32_t *d = zeros();
    struct {
        uint32_t *data;
        uint32_t count, value;
    } packed = {d, 64, 5};
    size_t size = sizeof(packed);
    void *extra[] = {
        MC_LAUNCH_PARAM_BUFFER_POINTER, &packed, MC_LAUNCH_PARAM_BUFFER_SIZE,
        &size, MC_LAUNCH_PARAM_END,
    };
    mcLaunchAttribute list[65];
    mcLaunchConfigExtension c = config_of(NULL, 0);
    mcFunction_t f = env_kernel("k_add");
    AddArgs a;

    ok(mcModuleLaunchKernelEx(&c, f, NULL, extra));
    ok(mcModuleLaunchKernelEx(&c, f, add_args(&a, d, 1), NULL));
    g_assert_cmpuint(first(d), ==, 6);
    fails(mcErrorInvalidValue, mcModuleLaunchKernelEx(&c, f, a.list, extra));
    fails(mcErrorInvalidValue, mcModuleLaunchKernelEx(NULL, f, a.list, NULL));
    fails(mcErrorInvalidValue, mcModuleLaunchKernelEx(&c, f, NULL, NULL));
    fails(mcErrorInvalidResourceHandle,
          mcModuleLaunchKernelEx(&c, (mcFunction_t)&c, a.list, NULL));
    for (unsigned i = 0; i < 65; i++) {
        list[i] = attribute(mcLaunchAttributeIgnore);
    }
    c = config_of(list, 64);
    ok(mcModuleLaunchKernelEx(&c, f, a.list, NULL));
    c.numAttrs = 65;
    fails(mcErrorInvalidValue, mcModuleLaunchKernelEx(&c, f, a.list, NULL));
    c = config_of(NULL, 1);
    fails(mcErrorInvalidValue, mcModuleLaunchKernelEx(&c, f, a.list, NULL));
    c = config_of(NULL, 0);
    c.hStream = (mcStream_t)&c;
    fails(mcErrorInvalidResourceHandle,
          mcModuleLaunchKernelEx(&c, f, a.list, NULL));
    c = config_of(NULL, 0);
    c.gridDimY = 0;
    fails(mcErrorInvalidConfiguration,
          mcModuleLaunchKernelEx(&c, f, a.list, NULL));
    g_assert_cmpuint(first(d), ==, 7);
    ok(mcFree(d));
}

static void test_exc(void)
{
    const void *symbol = env_symbol("k_add");
    uint32_t *d = zeros();
    mcLaunchAttribute cooperative = attribute(mcLaunchAttributeCooperative);
    mcLaunchConfig_t c = {
        .gridDim = {1, 1, 1},
        .blockDim = {64, 1, 1},
    };
    mcStream_t s;
    AddArgs a;

    ok(mcStreamCreate(&s));
    c.stream = s;
    ok(mcLaunchKernelExC(&c, symbol, add_args(&a, d, 3)));
    cooperative.val.cooperative = 1;
    c.attrs = &cooperative;
    c.numAttrs = 1;
    ok(mcLaunchKernelExC(&c, symbol, a.list));
    g_assert_cmpuint(first(d), ==, 6);
    c.gridDim.x = 1u << 30;
    fails(mcErrorCooperativeLaunchTooLarge,
          mcLaunchKernelExC(&c, symbol, a.list));
    c.gridDim.x = 1;
    c.dynamicSmemBytes = 65537;
    fails(mcErrorInvalidValue, mcLaunchKernelExC(&c, symbol, a.list));
    c.dynamicSmemBytes = 65536;
    ok(mcLaunchKernelExC(&c, symbol, a.list));
    c.blockDim.x = 1025;
    fails(mcErrorInvalidConfiguration, mcLaunchKernelExC(&c, symbol, a.list));
    c.blockDim.x = 64;
    fails(mcErrorInvalidDeviceFunction, mcLaunchKernelExC(&c, &c, a.list));
    /* A function of a module is no host symbol. */
    fails(mcErrorInvalidDeviceFunction,
          mcLaunchKernelExC(&c, env_kernel("k_add"), a.list));
    fails(mcErrorInvalidValue, mcLaunchKernelExC(NULL, symbol, a.list));
    fails(mcErrorInvalidValue, mcLaunchKernelExC(&c, symbol, NULL));
    g_assert_cmpuint(first(d), ==, 9);
    ok(mcStreamDestroy(s));
    ok(mcFree(d));
}

/* More kernels than the device runs at once, which wait for an urgent one of
 * a stream that is not; and that is in order with its stream. They leave room
 * for it because there is an urgent stream when they begin. */
static void test_priority(void)
{
    uint64_t *flag = env_malloc(8), *gate = env_malloc_host(8), seen;
    mcLaunchAttribute urgent = attribute(mcLaunchAttributePriority);
    mcLaunchConfigExtension c = config_of(&urgent, 1);
    void *args[] = {&flag};
    mcStream_t s, first, low[12];
    int least;

    ok(mcDeviceGetStreamPriorityRange(&least, &urgent.val.priority));
    c.blockDimX = 1;
    ok(mcMemset(flag, 0, 8));
    ok(mcStreamCreateWithFlags(&s, mcStreamNonBlocking));
    ok(mcStreamCreateWithPriority(&first, mcStreamNonBlocking,
                                  urgent.val.priority));
    for (unsigned i = 0; i < G_N_ELEMENTS(low); i++) {
        ok(mcStreamCreateWithPriority(&low[i], mcStreamNonBlocking, least));
    }
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < G_N_ELEMENTS(low); i++) {
        ok(env_launch("k_spin", 1, flag, low[i]));
    }
    c.hStream = s;
    ok(mcModuleLaunchKernelEx(&c, env_kernel("k_atomic"), args, NULL));
    ok(mcDeviceSynchronize());
    for (unsigned i = 0; i < G_N_ELEMENTS(low); i++) {
        ok(mcStreamDestroy(low[i]));
    }
    ok(mcStreamDestroy(first));

    /* Behind what is before it, and before what is behind. */
    const mcStream_t streams[] = {s, NULL, mcStreamPerThread};
    for (unsigned i = 0; i < 3; i++) {
        *gate = 0;
        ok(mcMemset(flag, 0, 8));
        ok(mcDeviceSynchronize());
        ok(mcStreamWaitValue64(streams[i], gate, 1, 0));
        ok(mcMemsetAsync(flag, 1, 1, streams[i]));
        c.hStream = streams[i];
        ok(mcModuleLaunchKernelEx(&c, env_kernel("k_atomic"), args, NULL));
        ok(mcMemcpyAsync(gate, flag, 8, mcMemcpyDefault, streams[i]));
        fails(mcErrorNotReady, mcStreamQuery(streams[i]));
        __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
        ok(mcStreamSynchronize(streams[i]));
        seen = *gate;
        g_assert_cmpuint(seen, ==, 2);
    }
    urgent.val.priority = 0; /* the stream's own, and one that is clamped */
    ok(mcModuleLaunchKernelEx(&c, env_kernel("k_atomic"), args, NULL));
    urgent.val.priority = 1000;
    ok(mcModuleLaunchKernelEx(&c, env_kernel("k_atomic"), args, NULL));
    ok(mcDeviceSynchronize());
    ok(mcMemcpy(&seen, flag, 8, mcMemcpyDefault));
    g_assert_cmpuint(seen, ==, 4);
    ok(mcStreamDestroy(s));
    ok(mcFree(flag));
    ok(mcFreeHost(gate));
}

/* ---- cooperative ---- */

static void test_cooperative(void)
{
    mcFunction_t f = env_kernel("k_add");
    const void *symbol = env_symbol("k_add");
    uint32_t *d = zeros();
    dim3 one = {1, 1, 1}, block = {64, 1, 1}, many = {1u << 20, 1, 1};
    AddArgs a;

    ok(mcModuleLaunchCooperativeKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL,
                                       add_args(&a, d, 2)));
    ok(mcLaunchCooperativeKernel(symbol, one, block, a.list, 0, NULL));
    g_assert_cmpuint(first(d), ==, 4);
    fails(mcErrorCooperativeLaunchTooLarge,
          mcModuleLaunchCooperativeKernel(f, 1u << 20, 1, 1, 64, 1, 1, 0, NULL,
                                          a.list));
    fails(mcErrorCooperativeLaunchTooLarge,
          mcLaunchCooperativeKernel(symbol, many, block, a.list, 0, NULL));
    fails(mcErrorInvalidConfiguration,
          mcModuleLaunchCooperativeKernel(f, 1, 1, 0, 64, 1, 1, 0, NULL,
                                          a.list));
    fails(mcErrorInvalidValue,
          mcModuleLaunchCooperativeKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL,
                                          NULL));
    fails(mcErrorInvalidResourceHandle,
          mcModuleLaunchCooperativeKernel(NULL, 1, 1, 1, 64, 1, 1, 0, NULL,
                                          a.list));
    fails(mcErrorInvalidDeviceFunction,
          mcLaunchCooperativeKernel(&a, one, block, a.list, 0, NULL));
    ok(mcFree(d));
}

/* ---- several devices ---- */

typedef struct Devices {
    int count;
    mcStream_t stream[2];
    uint32_t *data[2];
    AddArgs args[2];
    mcLaunchParams list[3];
} Devices;

static void devices_new(Devices *t, const void *symbol)
{
    env_two_devices();
    t->count = 2;
    memset(t->list, 0, sizeof(t->list));
    for (int i = 0; i < t->count; i++) {
        ok(mcSetDevice(i));
        ok(mcStreamCreate(&t->stream[i]));
        t->data[i] = zeros();
        ok(mcDeviceSynchronize());
        t->list[i] = (mcLaunchParams){
            .func = (void *)symbol,
            .gridDim = {1, 1, 1},
            .blockDim = {64, 1, 1},
            .args = add_args(&t->args[i], t->data[i], 1),
            .stream = t->stream[i],
        };
    }
    ok(mcSetDevice(0));
}

static void devices_free(Devices *t)
{
    for (int i = 0; i < t->count; i++) {
        ok(mcStreamDestroy(t->stream[i]));
        ok(mcFree(t->data[i]));
    }
}

static void expect(Devices *t, uint32_t value)
{
    for (int i = 0; i < t->count; i++) {
        ok(mcSetDevice(i));
        g_assert_cmpuint(first(t->data[i]), ==, value);
    }
    ok(mcSetDevice(0));
}

typedef mcError_t (*Launch)(mcLaunchParams *, int, unsigned);

/* What both have in common. */
static void several(Launch launch)
{
    Devices t;

    devices_new(&t, env_symbol("k_add"));
    ok(launch(t.list, t.count, 0));
    ok(launch(t.list, t.count, mcCooperativeLaunchMultiDeviceNoPreSync |
              mcCooperativeLaunchMultiDeviceNoPostSync));
    expect(&t, 2);
    fails(mcErrorInvalidValue, launch(NULL, t.count, 0));
    fails(mcErrorInvalidValue, launch(t.list, 0, 0));
    fails(mcErrorInvalidValue, launch(t.list, 99, 0));
    fails(mcErrorInvalidValue, launch(t.list, t.count, 4));
    t.list[0].stream = NULL;
    fails(mcErrorInvalidResourceHandle, launch(t.list, t.count, 0));
    t.list[0].stream = mcStreamPerThread;
    fails(mcErrorInvalidResourceHandle, launch(t.list, t.count, 0));
    t.list[0].stream = (mcStream_t)&t;
    fails(mcErrorInvalidResourceHandle, launch(t.list, t.count, 0));
    t.list[0].stream = t.stream[0];
    /* The last one is wrong: none runs. */
    mcLaunchParams *last = &t.list[t.count - 1];
    last->blockDim.x = 2000;
    if (launch(t.list, t.count, 0) == mcSuccess) {
        g_assert_not_reached();
    }
    last->blockDim.x = 64;
    last->args = NULL;
    fails(mcErrorInvalidValue, launch(t.list, t.count, 0));
    last->args = t.args[t.count - 1].list;
    last->func = &t;
    fails(mcErrorInvalidDeviceFunction, launch(t.list, t.count, 0));
    last->func = (void *)env_symbol("k_add");
    t.list[1].stream = t.stream[0];
    fails(mcErrorInvalidDevice, launch(t.list, 2, 0));
    t.list[1].stream = t.stream[1];
    expect(&t, 2);
    devices_free(&t);
}

/* Work of one device holds up the kernel of the other, and what is behind. */
static void meeting(Launch launch, unsigned flags)
{
    Devices t;
    uint64_t *gate = env_malloc_host(8);

    devices_new(&t, env_symbol("k_add"));
    *gate = 0;
    ok(mcStreamWaitValue64(t.stream[0], gate, 1, 0));
    ok(launch(t.list, t.count, flags));
    if (flags == 0) {
        fails(mcErrorNotReady, mcStreamQuery(t.stream[1]));
    } else {
        ok(mcStreamSynchronize(t.stream[1]));
    }
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    expect(&t, 1);
    devices_free(&t);
    ok(mcFreeHost(gate));
}

static void test_several(void)
{
    several(mcExtLaunchMultiKernelMultiDevice);
    several(mcLaunchCooperativeKernelMultiDevice);
    meeting(mcExtLaunchMultiKernelMultiDevice, 0);
    meeting(mcExtLaunchMultiKernelMultiDevice,
            mcCooperativeLaunchMultiDeviceNoPreSync |
            mcCooperativeLaunchMultiDeviceNoPostSync);
    meeting(mcLaunchCooperativeKernelMultiDevice, 0);
}

/* Cooperating kernels are alike, others need not be. */
static void test_unlike(void)
{
    Devices t;

    devices_new(&t, env_symbol("k_add"));
    t.list[0].gridDim.x = 1u << 20;
    t.list[1].gridDim.x = 1u << 20;
    fails(mcErrorCooperativeLaunchTooLarge,
          mcLaunchCooperativeKernelMultiDevice(t.list, t.count, 0));
    t.list[0].gridDim.x = t.list[1].gridDim.x = 1;
    t.list[1].gridDim.x = 2;
    fails(mcErrorInvalidValue,
          mcLaunchCooperativeKernelMultiDevice(t.list, 2, 0));
    ok(mcExtLaunchMultiKernelMultiDevice(t.list, 2, 0));
    t.list[1].gridDim.x = 1;
    t.list[1].sharedMem = 16;
    fails(mcErrorInvalidValue,
          mcLaunchCooperativeKernelMultiDevice(t.list, 2, 0));
    t.list[1].sharedMem = 0;
    t.list[1].func = (void *)env_symbol("k_empty");
    fails(mcErrorInvalidValue,
          mcLaunchCooperativeKernelMultiDevice(t.list, 2, 0));
    ok(mcExtLaunchMultiKernelMultiDevice(t.list, 2, 0));
    ok(mcSetDevice(1));
    g_assert_cmpuint(first(t.data[1]), ==, 1);
    ok(mcSetDevice(0));
    g_assert_cmpuint(first(t.data[0]), ==, 2);
    devices_free(&t);
}

/* ---- a stream of another device than the current one ---- */

typedef struct Forms {
    mcFunction_t module_add; /* of the stream's device */
    const void *symbol;
    void **args;
    mcStream_t stream;
} Forms;

/* Every form of a launch. The number that returned error. */
static unsigned all_forms(const Forms *t, mcError_t error)
{
    dim3 grid = {1, 1, 1}, block = {64, 1, 1};
    mcLaunchConfig_t c = {
        .gridDim = grid, .blockDim = block, .stream = t->stream,
    };
    mcLaunchConfigExtension ex = config_of(NULL, 0);

    ex.hStream = t->stream;
    const mcError_t got[] = {
        mcLaunchKernel(t->symbol, grid, block, t->args, 0, t->stream),
        mcLaunchCooperativeKernel(t->symbol, grid, block, t->args, 0,
                                  t->stream),
        mcLaunchKernelExC(&c, t->symbol, t->args),
        mcModuleLaunchKernel(t->module_add, 1, 1, 1, 64, 1, 1, 0, t->stream,
                             t->args, NULL),
        mcModuleLaunchCooperativeKernel(t->module_add, 1, 1, 1, 64, 1, 1, 0,
                                        t->stream, t->args),
        mcModuleLaunchKernelEx(&ex, t->module_add, t->args, NULL),
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(got); i++) {
        g_assert_cmpint(got[i], ==, error);
    }
    return G_N_ELEMENTS(got);
}

static void test_other_device(void)
{
    Forms t = {.symbol = env_symbol("k_add")};
    mcModule_t module;
    mcGraph_t graph;
    AddArgs a;
    size_t nodes = 99;

    env_two_devices();
    ok(mcSetDevice(1));
    uint32_t *d = zeros();
    ok(mcStreamCreate(&t.stream));
    ok(mcModuleLoadData(&module, env_image));
    ok(mcModuleGetFunction(&t.module_add, module, "k_add"));
    t.args = add_args(&a, d, 1);
    unsigned forms = all_forms(&t, mcSuccess);
    g_assert_cmpuint(first(d), ==, forms);
    ok(mcSetDevice(0));
    all_forms(&t, mcErrorInvalidResourceHandle);
    g_assert_cmpint(mcGetLastError(), ==, mcErrorInvalidResourceHandle);
    /* Nor is it captured, and the capture stays as it is. */
    ok(mcStreamBeginCapture(t.stream, mcStreamCaptureModeRelaxed));
    all_forms(&t, mcErrorInvalidResourceHandle);
    ok(mcStreamEndCapture(t.stream, &graph));
    ok(mcGraphGetNodes(graph, NULL, &nodes));
    g_assert_cmpuint(nodes, ==, 0);
    ok(mcGraphDestroy(graph));
    /* Copies and sets are of the stream. */
    ok(mcMemsetAsync(d + 1, 0xff, 4, t.stream));
    ok(mcStreamSynchronize(t.stream));
    ok(mcSetDevice(1));
    g_assert_cmpuint(first(d), ==, forms);
    g_assert_cmpuint(first(d + 1), ==, UINT32_MAX);
    ok(mcModuleUnload(module));
    ok(mcStreamDestroy(t.stream));
    ok(mcFree(d));
    ok(mcSetDevice(0));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/launch/attributes", test_attributes);
    g_test_add_func("/launch/module-ex", test_module_ex);
    g_test_add_func("/launch/exc", test_exc);
    g_test_add_func("/launch/priority", test_priority);
    g_test_add_func("/launch/cooperative", test_cooperative);
    g_test_add_func("/launch/several", test_several);
    g_test_add_func("/launch/unlike", test_unlike);
    g_test_add_func("/launch/other-device", test_other_device);
    return g_test_run();
}
