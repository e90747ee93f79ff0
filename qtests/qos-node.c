/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mxgpu as a node of the libqos graph, and the tests that it takes there. */
#include "qemu/osdep.h"
#include "qemu/module.h"
#include "tests/qtest/libqos/qgraph.h"
#include "driver.h"

typedef struct MxNode {
    QOSGraphObject obj;
    QPCIDevice pci;
} MxNode;

typedef struct MxTest {
    void (*func)(MxDevice *dev);
} MxTest;

static const MxEnv qos_env = { .name = "qos", .options = "" };

const MxEnv *mx_env(void)
{
    return &qos_env;
}

static void *mx_node_driver(void *obj, const char *interface)
{
    MxNode *node = obj;

    if (g_str_equal(interface, "pci-device")) {
        return &node->pci;
    }
    fprintf(stderr, "%s not present in mxgpu\n", interface);
    g_assert_not_reached();
}

static void *mx_node_create(void *bus, QGuestAllocator *alloc, void *address)
{
    MxNode *node = g_new0(MxNode, 1);

    qpci_device_init(&node->pci, bus, address);
    node->obj.get_driver = mx_node_driver;
    return &node->obj;
}

static void run(void *obj, void *data, QGuestAllocator *alloc)
{
    MxTest *test = data;
    QPCIDevice *pci = &((MxNode *)obj)->pci;
    MxMachine machine = {
        .env = &qos_env, .qts = pci->bus->qts, .bus = pci->bus, .alloc = alloc,
    };
    MxDevice dev = {
        .machine = &machine, .qts = pci->bus->qts, .pci = pci,
    };

    mx_init(&dev);
    test->func(&dev);
}

/* The default network card wants a boot ROM that need not be installed. */
static void *before(GString *command, void *arg)
{
    g_string_append(command, " -nic none");
    return arg;
}

void mx_test(const char *name, MxTestKind kind, void (*func)(MxDevice *))
{
    QOSGraphTestOptions options = { 0 };
    MxTest *test;

    if (kind == MX_BARE) {
        test = g_new0(MxTest, 1);
        test->func = func;
        options.arg = test;
        options.before = before;
        qos_add_test(name, "mxgpu", run, &options);
    }
}

static void mx_register(void)
{
    QPCIAddress address = {
        .devfn = QPCI_DEVFN(MX_SLOT, 0),
        .vendor_id = MXGPU_PCI_VENDOR,
        .device_id = MXGPU_PCI_DEVICE,
    };
    QOSGraphEdgeOptions options = {
        .extra_device_opts = "addr=04.0,vram=16M,compute-units=2,threads=2",
    };

    add_qpci_address(&options, &address);
    qos_node_create_driver("mxgpu", mx_node_create);
    qos_node_consumes("mxgpu", "pci-bus", &options);
    qos_node_produces("mxgpu", "pci-device");
    mx_identity_tests();
    mx_reset_tests();
    mx_msix_tests();
}

libqos_init(mx_register);
