/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The RESET register, function-level reset, power states, machine reset. */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "driver.h"

static unsigned resets(MxDevice *dev)
{
    return MXGPU_GET(MXGPU_RESET_STATUS_COUNT,
                     mx_read(dev, MXGPU_RESET_STATUS));
}

static unsigned cause(MxDevice *dev)
{
    return MXGPU_GET(MXGPU_RESET_STATUS_CAUSE,
                     mx_read(dev, MXGPU_RESET_STATUS));
}

/* State that a reset has to clear, and VRAM, which it has to keep. */
static void make_dirty(MxDevice *dev)
{
    mx_vram_write(dev, 4096, 0x1122334455667788ull);
    mx_write(dev, MXGPU_IRQ_ENABLE, 1);
    mx_write(dev, MXGPU_ID, 1);
    mx_write(dev, MXGPU_MBOX_CMD, 99);
    g_assert_cmphex(mx_read(dev, MXGPU_IRQ_ENABLE), ==, 1);
    g_assert_cmphex(mx_read(dev, MXGPU_ERR_COUNT), ==, 1);
}

static void check_clean(MxDevice *dev)
{
    g_assert_cmphex(mx_read(dev, MXGPU_IRQ_ENABLE), ==, 0);
    g_assert_cmphex(mx_read(dev, MXGPU_ERR_STATUS), ==, 0);
    g_assert_cmphex(mx_read(dev, MXGPU_ERR_COUNT), ==, 0);
    g_assert_cmphex(mx_read(dev, MXGPU_MBOX_CMD), ==, 0);
    g_assert_cmpuint(mx_mcu_state(dev), ==, MXGPU_MCU_RESET);
    g_assert_cmphex(mx_vram_read(dev, 4096), ==, 0x1122334455667788ull);
}

static void test_register(MxDevice *dev)
{
    unsigned before = resets(dev);

    make_dirty(dev);
    mx_write(dev, MXGPU_RESET, 1); /* not the magic number */
    g_assert_cmphex(mx_read(dev, MXGPU_IRQ_ENABLE), ==, 1);
    mx_write(dev, MXGPU_RESET, MXGPU_RESET_MAGIC);
    MX_WAIT(dev, !MXGPU_GET(MXGPU_RESET_STATUS_BUSY,
                            mx_read(dev, MXGPU_RESET_STATUS)));
    check_clean(dev);
    g_assert_cmpuint(cause(dev), ==, MXGPU_RESET_HOST);
    g_assert_cmpuint(resets(dev), ==, before + 1);
}

static void flr(MxDevice *dev)
{
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_EXP, 0);

    qpci_config_writew(dev->pci, cap + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
    mx_map_bars(dev);
}

static void test_flr(MxDevice *dev)
{
    unsigned before = resets(dev);

    make_dirty(dev);
    flr(dev);
    check_clean(dev);
    g_assert_cmpuint(cause(dev), ==, MXGPU_RESET_BUS);
    g_assert_cmpuint(resets(dev), ==, before + 1);
}

static void test_power(MxDevice *dev)
{
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_PM, 0);

    make_dirty(dev);
    qpci_config_writew(dev->pci, cap + PCI_PM_CTRL, 3);
    g_assert_cmphex(qpci_config_readw(dev->pci, cap + PCI_PM_CTRL) & 3, ==, 3);
    qpci_config_writew(dev->pci, cap + PCI_PM_CTRL, 0);
    check_clean(dev);
    g_assert_cmpuint(cause(dev), ==, MXGPU_RESET_BUS);
}

static void test_machine(MxDevice *dev)
{
    make_dirty(dev);
    qtest_system_reset(dev->qts);
    mx_map_bars(dev);
    check_clean(dev);
}

/* Resets while the firmware runs, and life goes on after each. */
static void test_running(MxDevice *dev)
{
    flr(dev);
    g_assert_cmpuint(mx_mcu_state(dev), ==, MXGPU_MCU_RESET);
    mx_boot(dev);
    mx_write(dev, MXGPU_RESET, MXGPU_RESET_MAGIC);
    MX_WAIT(dev, !MXGPU_GET(MXGPU_RESET_STATUS_BUSY,
                            mx_read(dev, MXGPU_RESET_STATUS)));
    mx_boot(dev);
    flr(dev);
    flr(dev);
    mx_boot(dev);
}

/* A stopped machine's device stands still and then goes on. */
static void test_stop(MxDevice *dev)
{
    MxQueue *queue;
    union mxgpu_packet nop = { 0 };

    qtest_qmp_assert_success(dev->qts, "{'execute': 'stop'}");
    queue = NULL;
    flr(dev);
    g_assert_cmpuint(mx_mcu_state(dev), ==, MXGPU_MCU_RESET);
    qtest_qmp_assert_success(dev->qts, "{'execute': 'cont'}");
    mx_boot(dev);
    queue = mx_queue_new(dev, 0);
    qtest_qmp_assert_success(dev->qts, "{'execute': 'stop'}");
    mx_push(queue, &nop);
    for (int i = 0; i < 50; i++) {
        g_usleep(1000);
        g_assert_cmpuint(qtest_readq(dev->qts, queue->ctl), ==, 0);
    }
    qtest_qmp_assert_success(dev->qts, "{'execute': 'cont'}");
    mx_wait_read_index(queue, 1);
    mx_queue_free(queue);
}

void mx_reset_tests(void)
{
    mx_test("reset/register", MX_BARE, test_register);
    mx_test("reset/flr", MX_BARE, test_flr);
    mx_test("reset/power", MX_BARE, test_power);
    mx_test("reset/machine", MX_BARE, test_machine);
    mx_test("reset/running", MX_BOOTED, test_running);
    mx_test("reset/stop-cont", MX_BARE, test_stop);
}
