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

static void set_power(MxDevice *dev, unsigned state)
{
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_PM, 0);

    qpci_config_writew(dev->pci, cap + PCI_PM_CTRL, state);
    g_assert_cmphex(qpci_config_readw(dev->pci, cap + PCI_PM_CTRL) & 3, ==,
                    state);
}

/* What software set is gone: the function is as after a reset. */
static void check_config_reset(MxDevice *dev)
{
    uint8_t msix = qpci_find_capability(dev->pci, PCI_CAP_ID_MSIX, 0);

    g_assert_cmphex(qpci_config_readw(dev->pci, PCI_COMMAND), ==, 0);
    for (unsigned bar = 0; bar < 6; bar++) {
        g_assert_cmphex(qpci_config_readl(dev->pci, PCI_BASE_ADDRESS_0 +
                                                    4 * bar) & ~0xfu, ==, 0);
    }
    g_assert_cmphex(qpci_config_readw(dev->pci, msix + PCI_MSIX_FLAGS) &
                    (PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL), ==, 0);
}

static void test_power(MxDevice *dev)
{
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_PM, 0);
    unsigned before = resets(dev);

    g_assert_cmphex(qpci_config_readw(dev->pci, cap + PCI_PM_CTRL) &
                    PCI_PM_CTRL_NO_SOFT_RESET, ==, 0);
    make_dirty(dev);
    mx_msix_enable(dev);
    set_power(dev, 3);
    g_assert_cmphex(qtest_readl(dev->qts, dev->regs.addr), !=, MXGPU_ID_MAGIC);
    set_power(dev, 0);
    check_config_reset(dev);
    mx_map_bars(dev);
    check_clean(dev);
    g_assert_cmpuint(cause(dev), ==, MXGPU_RESET_BUS);
    g_assert_cmpuint(resets(dev), ==, before + 1);
}

/* In D3hot nothing runs: no write arrives any more. */
static void test_sleep(MxDevice *dev)
{
    uint64_t word = mx_run_for_ever(dev);
    uint32_t last;

    set_power(dev, 3);
    last = qtest_readl(dev->qts, word);
    for (int i = 0; i < 50; i++) {
        mx_tick(dev);
        g_usleep(1000);
        g_assert_cmpuint(qtest_readl(dev->qts, word), ==, last);
    }
    /* A machine that stops and goes on wakes nobody. */
    qtest_qmp_assert_success(dev->qts, "{'execute': 'stop'}");
    qtest_qmp_assert_success(dev->qts, "{'execute': 'cont'}");
    for (int i = 0; i < 50; i++) {
        mx_tick(dev);
        g_usleep(1000);
        g_assert_cmpuint(qtest_readl(dev->qts, word), ==, last);
    }
    set_power(dev, 0);
    mx_map_bars(dev);
    g_assert_cmpuint(mx_mcu_state(dev), ==, MXGPU_MCU_RESET);
    g_assert_cmpuint(qtest_readl(dev->qts, word), ==, last);
    mx_boot(dev);
    mx_run_for_ever(dev);
}

/* A reset wakes the function. */
static void test_sleep_flr(MxDevice *dev)
{
    mx_run_for_ever(dev);
    set_power(dev, 3);
    flr(dev);
    g_assert_cmpuint(mx_mcu_state(dev), ==, MXGPU_MCU_RESET);
    mx_boot(dev);
    set_power(dev, 3);
    qtest_system_reset(dev->qts);
    mx_map_bars(dev);
    g_assert_cmpuint(mx_mcu_state(dev), ==, MXGPU_MCU_RESET);
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
    mx_test("reset/sleep", MX_BOOTED, test_sleep);
    if (!mx_env()->viommu) { /* whose tables a machine reset forgets */
        mx_test("reset/sleep-flr", MX_BOOTED, test_sleep_flr);
    }
    mx_test("reset/machine", MX_BARE, test_machine);
    mx_test("reset/running", MX_BOOTED, test_running);
    mx_test("reset/stop-cont", MX_BARE, test_stop);
}
