/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the function says of errors in configuration space, and to a root port. */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "driver.h"

#define PORT_SLOT 5
#define PORT_BUS  1
#define VA        0x600000000ull
#define NOWHERE   0x7f0000000000ull /* no memory, no device */

#define FATAL (PCI_ERR_ROOT_UNCOR_RCV | PCI_ERR_ROOT_FIRST_FATAL | \
               PCI_ERR_ROOT_FATAL_RCV)

static void crash(MxDevice *dev)
{
    static const uint32_t illegal[] = { 0xffffffff };

    mx_load_code(dev, illegal, 1);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_CRASHED);
}

static bool internal(MxDevice *dev, uint64_t aer)
{
    return qtest_readl(dev->qts, aer + PCI_ERR_UNCOR_STATUS) & PCI_ERR_UNC_INTN;
}

/* A device of the root complex: noted, and told nobody. */
static void test_noted(MxDevice *dev)
{
    uint64_t aer = mx_extended(dev, PCI_EXT_CAP_ID_ERR);
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_EXP, 0);

    for (unsigned i = 0; i < 2; i++) {
        g_assert_false(internal(dev, aer));
        crash(dev);
        MX_WAIT(dev, internal(dev, aer));
        g_assert_cmphex(qtest_readl(dev->qts, aer + PCI_ERR_UNCOR_STATUS), ==,
                        PCI_ERR_UNC_INTN);
        g_assert_cmphex(qpci_config_readw(dev->pci, cap + PCI_EXP_DEVSTA) & 0xf,
                        ==, PCI_EXP_DEVSTA_FED);
        qtest_writel(dev->qts, aer + PCI_ERR_UNCOR_STATUS, PCI_ERR_UNC_INTN);
        qpci_config_writew(dev->pci, cap + PCI_EXP_DEVSTA, 0xf);
    }
    /* Firmware that does not crash, but gets nowhere. */
    mx_load_code(dev, (const uint32_t[]){ 0x0000006f }, 1);
    MX_WAIT(dev, mx_read(dev, MXGPU_ERR_STATUS) &
                 MXGPU_SET(MXGPU_ERR_STATUS_MCU_STUCK, 1));
    MX_WAIT(dev, internal(dev, aer));
    mx_write(dev, MXGPU_RESET, MXGPU_RESET_MAGIC);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_RESET);
    /* What is noted there outlives resets. */
    g_assert_true(internal(dev, aer));
}

static uint32_t root_status(MxMachine *machine, uint64_t port)
{
    return qtest_readl(machine->qts, port + PCI_ERR_ROOT_STATUS);
}

/* Masked, as it is after power-on; then not; then of a severity that is. */
static void tell_port(MxDevice *dev, uint64_t port)
{
    MxMachine *machine = dev->machine;
    uint64_t aer = mx_extended(dev, PCI_EXT_CAP_ID_ERR);
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_EXP, 0);

    qpci_config_writew(dev->pci, cap + PCI_EXP_DEVCTL,
                       PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE);
    crash(dev);
    MX_WAIT(dev, internal(dev, aer));
    g_assert_cmphex(root_status(machine, port), ==, 0);
    qtest_writel(machine->qts, aer + PCI_ERR_UNCOR_STATUS, ~0u);
    qtest_writel(machine->qts, aer + PCI_ERR_UNCOR_MASK, 0);
    crash(dev);
    MX_WAIT(dev, root_status(machine, port) == FATAL);
    g_assert_cmphex(qtest_readl(machine->qts, port + PCI_ERR_ROOT_ERR_SRC) >> 16,
                    ==, PORT_BUS << 8);
    qtest_writel(machine->qts, aer + PCI_ERR_UNCOR_STATUS, ~0u);
    qtest_writel(machine->qts, port + PCI_ERR_ROOT_STATUS, ~0u);
    qtest_writel(machine->qts, aer + PCI_ERR_UNCOR_SEVER, 0);
    crash(dev);
    MX_WAIT(dev, root_status(machine, port) ==
                 (PCI_ERR_ROOT_UNCOR_RCV | PCI_ERR_ROOT_NONFATAL_RCV));
}

static void test_told(MxDevice *unused)
{
    g_autofree char *devices = g_strdup_printf(
        "-device pcie-root-port,id=port1,addr=%d,chassis=1 "
        "-device mxgpu,bus=port1,vram=16M,compute-units=2,threads=2%s",
        PORT_SLOT, unused->machine->env->options);
    MxMachine *machine = mx_machine_start(unused->machine->env, devices);
    QPCIDevice *port = qpci_device_find(machine->bus, QPCI_DEVFN(PORT_SLOT, 0));
    MxDevice of_port = { .machine = machine, .qts = machine->qts, .pci = port };
    uint8_t cap = qpci_find_capability(port, PCI_CAP_ID_EXP, 0);
    MxDevice *dev;

    qpci_config_writel(port, PCI_PRIMARY_BUS, PORT_BUS << 8 | PORT_BUS << 16);
    qpci_config_writel(port, PCI_MEMORY_BASE, 0xeff0e000);
    qpci_config_writew(port, PCI_BRIDGE_CONTROL, PCI_BRIDGE_CTL_SERR);
    qpci_config_writew(port, cap + PCI_EXP_DEVCTL,
                       PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE);
    qpci_device_enable(port);
    dev = mx_open(machine, QPCI_DEVFN(0, 0) | PORT_BUS << 5);
    tell_port(dev, mx_extended(&of_port, PCI_EXT_CAP_ID_ERR));
    mx_close(dev);
    g_free(port);
    mx_machine_stop(machine);
}

static bool aborted(MxDevice *dev)
{
    return qpci_config_readw(dev->pci, PCI_STATUS) &
           PCI_STATUS_REC_MASTER_ABORT;
}

static void copy(MxDevice *dev, uint64_t src, uint64_t dst)
{
    MxQueue *queue = mx_queue_new(dev, 0);
    struct mxgpu_packet_copy packet = {
        .type = MXGPU_PKT_COPY, .src = src, .dst = dst, .size = 64,
    };

    mx_push(queue, &packet);
    MX_WAIT(dev, qtest_readl(dev->qts, queue->ctl + 8) == MXGPU_QUEUE_ERROR);
    g_assert_cmpuint(dut_queue_error(queue).fault, ==, MXGPU_FAULT_BUS);
    mx_queue_free(queue);
}

/* Reads of what is not there are answered so; writes are not answered. */
static void test_abort(MxDevice *dev)
{
    mx_map(dev, VA, NOWHERE, MX_PAGE, MX_SYS);
    mx_map(dev, VA + MX_PAGE, mx_vram_alloc(dev, MX_PAGE), MX_PAGE, MX_RW);
    mx_invalidate(dev);
    g_assert_false(aborted(dev));
    copy(dev, VA + MX_PAGE, VA);
    g_assert_false(aborted(dev));
    copy(dev, VA, VA + MX_PAGE);
    MX_WAIT(dev, aborted(dev));
    qpci_config_writew(dev->pci, PCI_STATUS, PCI_STATUS_REC_MASTER_ABORT);
    g_assert_false(aborted(dev));
}

void mx_error_tests(void)
{
    mx_test("error/abort", MX_BOOTED, test_abort);
    if (mx_env()->express) {
        mx_test("error/noted", MX_BARE, test_noted);
        mx_test("error/told", MX_BARE, test_told);
    }
}
