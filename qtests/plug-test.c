/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two devices in one machine; plugging and unplugging a running one. */
#include "qemu/osdep.h"
#include "tests/qtest/libqos/pci-pc.h"
#include "qobject/qdict.h"
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

void mx_plug_tests(void)
{
    mx_test("plug/two-devices", MX_BARE, test_two);
    if (!mx_env()->express) { /* ports of the root complex do not plug */
        mx_test("plug/hotplug", MX_BOOTED, test_hotplug);
        mx_test("plug/bad-properties", MX_BARE, test_bad_properties);
        mx_test("plug/bad-observer", MX_BARE, test_bad_observer);
        mx_test("plug/strict-alignment", MX_BOOTED, test_strict);
    }
}
