/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two devices in one machine; plugging and unplugging a running one. */
#include "qemu/osdep.h"
#include "tests/qtest/libqos/pci-pc.h"
#include "qobject/qdict.h"
#include "hw/pci/pci_regs.h"
#include "driver.h"

#define DATA_VA 0x600000000ull

static void write_word(MxDevice *dev, uint64_t value)
{
    uint64_t data = mx_alloc(dev->machine, MX_PAGE);
    struct mxgpu_packet_write packet = {
        .type = MXGPU_PKT_WRITE, .size = 8, .addr = DATA_VA, .value = value,
    };
    MxQueue *queue;

    mx_map(dev, DATA_VA, mx_bus_map(dev->machine, data, MX_PAGE), MX_PAGE,
           MX_SYS);
    mx_invalidate(dev);
    queue = mx_queue_new(dev, 0);
    mx_push(queue, &packet);
    MX_WAIT(dev, qtest_readq(dev->qts, data) == value);
    mx_queue_free(queue);
}

static void test_two(MxDevice *unused)
{
    g_autofree char *devices = g_strdup_printf(
        "-device mxgpu,id=a,addr=4,vram=4M%s "
        "-device mxgpu,id=b,addr=5,vram=8M%s",
        unused->machine->env->options, unused->machine->env->options);
    MxMachine *machine = mx_machine_start(unused->machine->env, devices);
    MxDevice *a = mx_open(machine, 4), *b = mx_open(machine, 5);
    bool same = true;

    g_assert_cmphex(mx_read(a, MXGPU_VRAM_SIZE_LO), ==, 4 << 20);
    g_assert_cmphex(mx_read(b, MXGPU_VRAM_SIZE_LO), ==, 8 << 20);
    for (unsigned i = 0; i < 4; i++) {
        same = same && mx_read(a, MXGPU_UUID + 4 * i) ==
                       mx_read(b, MXGPU_UUID + 4 * i);
    }
    g_assert_false(same);
    mx_boot(a);
    g_assert_cmpuint(mx_mcu_state(b), ==, MXGPU_MCU_RESET);
    mx_boot(b);
    write_word(a, 0xaaaa);
    write_word(b, 0xbbbb);
    mx_write(a, MXGPU_RESET, MXGPU_RESET_MAGIC);
    MX_WAIT(a, mx_mcu_state(a) == MXGPU_MCU_RESET);
    write_word(b, 0xb0b0);
    mx_close(a);
    mx_close(b);
    mx_machine_stop(machine);
}

/* Several times, each with a kernel that writes to guest memory when the
 * device is pulled. */
static void test_hotplug(MxDevice *dev)
{
    uint64_t word;
    uint32_t last;

    for (unsigned i = 0; i < 3; i++) {
        MxDevice *plugged;

        qtest_qmp_device_add(dev->qts, "mxgpu", "plugged",
                             "{'addr': '6', 'vram': 4194304}");
        plugged = mx_open(dev->machine, 6);
        mx_boot(plugged);
        write_word(plugged, 1 + i);
        word = mx_run_for_ever(plugged);
        mx_close(plugged);
        qpci_unplug_acpi_device_test(dev->qts, "plugged", 6);
        last = qtest_readl(dev->qts, word);
        g_usleep(5000);
        g_assert_cmpuint(qtest_readl(dev->qts, word), ==, last);
        g_assert_null(qpci_device_find(dev->machine->bus, QPCI_DEVFN(6, 0)));
    }
    write_word(dev, 5);
}

/* Every dispatch of the one with the property, and only of that. */
static void test_strict(MxDevice *dev)
{
    MxDevice *strict;

    qtest_qmp_device_add(dev->qts, "mxgpu", "strict",
                         "{'addr': '6', 'vram': 4194304,"
                         " 'strict-alignment': true}");
    strict = mx_open(dev->machine, 6);
    mx_boot(strict);
    g_assert_cmpuint(mx_run_misaligned(strict, 0).fault, ==,
                     MXGPU_FAULT_MISALIGNED);
    g_assert_cmpuint(mx_run_misaligned(dev, 0).fault, ==, MXGPU_FAULT_NONE);
    mx_close(strict);
    qpci_unplug_acpi_device_test(dev->qts, "strict", 6);
}

static void test_bad_properties(MxDevice *dev)
{
    static const struct {
        const char *name;
        int64_t value;
    } bad[] = {
        { "vram", 3 << 20 },        { "vram", 0 },
        { "vram", 1ll << 40 },      { "queues", 0 },
        { "queues", 257 },          { "compute-units", 0 },
        { "compute-units", 129 },   { "copy-engines", 0 },
        { "copy-engines", 9 },      { "threads", 257 },
        { "private-memory", 0 },    { "private-memory", 15 * (64 << 10) },
        { "private-memory", 1ll << 40 },
        { "vfs", 8 },               { "vfs", 1 }, /* no PCI Express */
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        QDict *error = qtest_qmp_assert_failure_ref(
            dev->qts, "{'execute': 'device_add', 'arguments': {"
            " 'driver': 'mxgpu', 'addr': '6', %s: %" PRId64 "}}",
            bad[i].name, bad[i].value);

        /* the message names the property */
        g_assert_nonnull(strstr(qdict_get_str(error, "desc"), bad[i].name));
        qobject_unref(error);
    }
}

/* Libraries that do not watch kernels: none, and one of something else. */
static void test_bad_observer(MxDevice *dev)
{
    static const char *const bad[][2] = {
        { "/nowhere/libx.so", "No such file" },
        { "libc.so.6", "mxgpu_observer_entry" },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        QDict *error = qtest_qmp_assert_failure_ref(
            dev->qts, "{'execute': 'device_add', 'arguments': {"
            " 'driver': 'mxgpu', 'addr': '6', 'observer': %s}}", bad[i][0]);

        g_assert_nonnull(strstr(qdict_get_str(error, "desc"), bad[i][1]));
        qobject_unref(error);
    }
}

/* ---- the slot of a port ------------------------------------------------- */

#define PORT_BUS 1
#define PORT_SLOT 5
#define PORT_VFS 2

typedef struct Port {
    MxMachine *machine;
    QPCIDevice *pci;
    uint8_t cap; /* of PCI Express */
} Port;

/* A card in it, id "card", if properties are given; the machine's own hotplug, by
 * ACPI, would hide the slot's registers. */
static void port_open(Port *p, const MxEnv *env, const char *properties)
{
    g_autofree char *card = properties
        ? g_strdup_printf("-device mxgpu,id=card,bus=port1,vram=4M%s%s",
                          properties, env->options)
        : g_strdup("");
    g_autofree char *devices = g_strdup_printf(
        "-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off "
        "-device pcie-root-port,id=port1,addr=%d,chassis=1,slot=1 %s",
        PORT_SLOT, card);
    uint32_t base;

    p->machine = mx_machine_start(env, devices);
    p->pci = qpci_device_find(p->machine->bus, QPCI_DEVFN(PORT_SLOT, 0));
    g_assert_nonnull(p->pci);
    qpci_config_writeb(p->pci, PCI_SECONDARY_BUS, PORT_BUS);
    qpci_config_writeb(p->pci, PCI_SUBORDINATE_BUS, PORT_BUS);
    base = p->machine->bus->mmio_alloc_ptr >> 16;
    qpci_config_writew(p->pci, PCI_MEMORY_BASE, base);
    qpci_config_writew(p->pci, PCI_MEMORY_LIMIT, base + 0x0ff0); /* 256 MiB */
    qpci_device_enable(p->pci);
    p->cap = qpci_find_capability(p->pci, PCI_CAP_ID_EXP, 0);
}

static void port_close(Port *p)
{
    g_free(p->pci);
    mx_machine_stop(p->machine);
}

static void port_power(Port *p, bool on)
{
    uint16_t control = qpci_config_readw(p->pci, p->cap + PCI_EXP_SLTCTL);

    control &= ~(PCI_EXP_SLTCTL_PCC | PCI_EXP_SLTCTL_PIC);
    control |= on ? PCI_EXP_SLTCTL_PWR_ON | PCI_EXP_SLTCTL_PWR_IND_ON
                  : PCI_EXP_SLTCTL_PWR_OFF | PCI_EXP_SLTCTL_PWR_IND_OFF;
    qpci_config_writew(p->pci, p->cap + PCI_EXP_SLTCTL, control);
}

static bool port_populated(Port *p)
{
    return qpci_config_readw(p->pci, p->cap + PCI_EXP_SLTSTA) &
           PCI_EXP_SLTSTA_PDS;
}

static MxDevice *port_device(Port *p)
{
    MxDevice *dev = mx_open(p->machine, PORT_BUS << 5);

    mx_boot(dev);
    return dev;
}

/* QEMU says so when the last reference to a device is gone, and not before: the
 * card's own id, and as many others, which have none. */
static void wait_deleted(QTestState *qts, const char *id, unsigned others)
{
    bool seen = false;

    while (!seen || others) {
        QDict *event = qtest_qmp_eventwait_ref(qts, "DEVICE_DELETED");
        const char *name = qdict_get_try_str(
            qdict_get_qdict(event, "data"), "device");

        if (name) {
            g_assert_cmpstr(name, ==, id);
            g_assert_false(seen);
            seen = true;
        } else {
            g_assert_cmpuint(others, >, 0);
            others--;
        }
        qobject_unref(event);
    }
}

static void port_add(Port *p, unsigned vfs)
{
    qtest_qmp_assert_success(
        p->machine->qts, "{'execute': 'device_add', 'arguments': {"
        " 'driver': 'mxgpu', 'id': 'card', 'bus': 'port1', 'vram': 4194304,"
        " 'vfs': %u, 'vf-vram': 4194304 }}", vfs);
    g_assert_true(port_populated(p));
    port_power(p, true);
}

/* The card works, and a kernel writes to memory of the guest: until it is away. */
static void port_cycle(Port *p, bool ask, unsigned vfs)
{
    QTestState *qts = p->machine->qts;
    MxDevice *dev = port_device(p);
    uint64_t word;
    uint32_t last;

    write_word(dev, 0x1234);
    if (vfs) {
        uint64_t cap = mx_extended(dev, PCI_EXT_CAP_ID_SRIOV);

        qtest_writew(qts, cap + PCI_SRIOV_NUM_VF, vfs);
        qtest_writew(qts, cap + PCI_SRIOV_CTRL,
                     PCI_SRIOV_CTRL_VFE | PCI_SRIOV_CTRL_MSE);
    }
    word = mx_run_for_ever(dev);
    if (ask) {
        qtest_qmp_device_del_send(qts, "card");
        /* The guest's answer to the button, which it has seen. */
        g_assert_true(qpci_config_readw(p->pci, p->cap + PCI_EXP_SLTSTA) &
                      PCI_EXP_SLTSTA_ABP);
        qpci_config_writew(p->pci, p->cap + PCI_EXP_SLTSTA,
                           PCI_EXP_SLTSTA_ABP);
    }
    port_power(p, false);
    wait_deleted(qts, "card", vfs);
    g_assert_false(port_populated(p));
    last = qtest_readl(qts, word);
    g_usleep(5000);
    g_assert_cmpuint(qtest_readl(qts, word), ==, last);
    mx_close(dev);
}

static void test_port(MxDevice *unused)
{
    Port p = { 0 };

    port_open(&p, unused->machine->env, "");
    port_cycle(&p, true, 0);
    port_add(&p, 0);
    port_cycle(&p, false, 0);
    port_add(&p, 0);
    port_cycle(&p, true, 0);
    port_close(&p);
}

static void test_port_vfs(MxDevice *unused)
{
    Port p = { 0 };

    port_open(&p, unused->machine->env, ",vfs=2,vf-vram=4M");
    port_cycle(&p, true, PORT_VFS);
    port_add(&p, PORT_VFS);
    port_cycle(&p, false, PORT_VFS);
    port_add(&p, PORT_VFS);
    port_cycle(&p, false, PORT_VFS);
    port_close(&p);
}

void mx_plug_tests(void)
{
    mx_test("plug/two-devices", MX_BARE, test_two);
    if (!mx_env()->express) { /* ports of the root complex do not plug */
        mx_test("plug/hotplug", MX_BOOTED, test_hotplug);
        mx_test("plug/bad-properties", MX_BARE, test_bad_properties);
        mx_test("plug/bad-observer", MX_BARE, test_bad_observer);
        mx_test("plug/strict-alignment", MX_BOOTED, test_strict);
    } else {
        mx_test("plug/port", MX_BARE, test_port);
        mx_test("plug/port-vfs", MX_BARE, test_port_vfs);
    }
}
