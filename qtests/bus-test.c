/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bus master enable, and translations that a vIOMMU takes away. */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "driver.h"

#define DATA_VA 0x600000000ull

static void set_master(MxDevice *dev, bool on)
{
    uint16_t command = qpci_config_readw(dev->pci, PCI_COMMAND);

    command = on ? command | PCI_COMMAND_MASTER
                 : command & ~PCI_COMMAND_MASTER;
    qpci_config_writew(dev->pci, PCI_COMMAND, command);
}

static bool bus_error(MxDevice *dev)
{
    return MXGPU_GET(MXGPU_ERR_STATUS_BUS, mx_read(dev, MXGPU_ERR_STATUS));
}

static void test_master(MxDevice *dev)
{
    MxQueue *queue = mx_queue_new(dev, 0), *next;
    union mxgpu_packet nop = { 0 };

    set_master(dev, false);
    g_assert_false(bus_error(dev));
    mx_push(queue, &nop);
    MX_WAIT(dev, bus_error(dev));
    g_assert_cmpuint(qtest_readq(dev->qts, queue->ctl), ==, 0);
    set_master(dev, true);
    mx_write(dev, MXGPU_ERR_STATUS, ~0u);
    next = mx_queue_new(dev, 1);
    mx_push(next, &nop);
    mx_wait_read_index(next, 1);
    g_assert_false(bus_error(dev));
    mx_queue_free(next);
    mx_queue_free(queue);
}

/* No message leaves a function that may not master the bus. */
static void test_master_msix(MxDevice *dev)
{
    mx_msix_enable(dev);
    mx_write(dev, MXGPU_IRQ_ENABLE, ~0u);
    set_master(dev, false);
    mx_write(dev, MXGPU_ID, 0);
    for (int i = 0; i < 20; i++) {
        mx_tick(dev);
        g_usleep(1000);
    }
    g_assert_cmphex(qtest_readl(dev->qts, mx_msix_target(dev, 0)), ==, 0);
}

static enum mxgpu_queue_error_code write_word(MxDevice *dev, uint64_t value)
{
    MxQueue *queue = mx_queue_new(dev, 2);
    struct mxgpu_packet_write packet = {
        .type = MXGPU_PKT_WRITE, .flags = MXGPU_PKT_BARRIER, .size = 8,
        .addr = DATA_VA, .value = value,
    };
    union mxgpu_packet nop = { .header.flags = MXGPU_PKT_BARRIER };
    struct mxgpu_queue_error error = { 0 };

    mx_push(queue, &packet);
    mx_push(queue, &nop);
    MX_WAIT(dev, qtest_readq(dev->qts, queue->ctl) == 2 ||
                 qtest_readl(dev->qts, queue->ctl + 8) == MXGPU_QUEUE_ERROR);
    if (qtest_readl(dev->qts, queue->ctl + 8) == MXGPU_QUEUE_ERROR) {
        error = dut_queue_error(queue);
        g_assert_cmpuint(error.fault, ==, MXGPU_FAULT_BUS);
    }
    mx_queue_free(queue);
    return error.code;
}

static void test_unmap(MxDevice *dev)
{
    uint64_t data = mx_alloc(dev->machine, MX_PAGE);
    uint64_t bus = mx_bus_map(dev->machine, data, MX_PAGE);

    g_assert_cmphex(bus, !=, data);
    mx_map(dev, DATA_VA, bus, MX_PAGE, MX_SYS);
    mx_invalidate(dev);
    g_assert_cmpuint(write_word(dev, 1), ==, MXGPU_QERR_NONE);
    g_assert_cmpuint(qtest_readq(dev->qts, data), ==, 1);
    mx_bus_unmap(dev->machine, bus, MX_PAGE);
    g_assert_cmpuint(write_word(dev, 2), ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(qtest_readq(dev->qts, data), ==, 1);
    /* the same memory at another address */
    mx_map(dev, DATA_VA, mx_bus_map(dev->machine, data, MX_PAGE), MX_PAGE,
           MX_SYS);
    mx_invalidate(dev);
    g_assert_cmpuint(write_word(dev, 3), ==, MXGPU_QERR_NONE);
    g_assert_cmpuint(qtest_readq(dev->qts, data), ==, 3);
    /* physical addresses are not bus addresses */
    mx_map(dev, DATA_VA, data, MX_PAGE, MX_SYS);
    mx_invalidate(dev);
    g_assert_cmpuint(write_word(dev, 4), ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(qtest_readq(dev->qts, data), ==, 3);
}

/* An invalidation of several pages, named by one in their midst. */
static void test_unmap_around(MxDevice *dev)
{
    uint64_t data = mx_alloc(dev->machine, 16 * MX_PAGE);
    uint64_t bus = mx_bus_map(dev->machine, data, 16 * MX_PAGE);
    uint64_t first = QEMU_ALIGN_UP(bus, 8 * MX_PAGE);

    data += first - bus;
    mx_map(dev, DATA_VA, first, MX_PAGE, MX_SYS);
    mx_invalidate(dev);
    g_assert_cmpuint(write_word(dev, 1), ==, MXGPU_QERR_NONE);
    mx_bus_unmap_around(dev->machine, first, 3, first + 5 * MX_PAGE);
    g_assert_cmpuint(write_word(dev, 2), ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(qtest_readq(dev->qts, data), ==, 1);
}

/* The first translation finds that the vIOMMU lets the device through: the
 * memory map changes in the midst of it. */
static void test_pass_through(MxDevice *dev)
{
    uint64_t data = mx_alloc(dev->machine, MX_PAGE);

    mx_bus_pass(dev->machine);
    mx_boot(dev);
    mx_map(dev, DATA_VA, data, MX_PAGE, MX_SYS);
    mx_invalidate(dev);
    for (unsigned i = 1; i < 4; i++) {
        g_assert_cmpuint(write_word(dev, i), ==, MXGPU_QERR_NONE);
        g_assert_cmpuint(qtest_readq(dev->qts, data), ==, i);
    }
}

void mx_bus_tests(void)
{
    mx_test("bus/master", MX_BOOTED, test_master);
    mx_test("bus/master-msix", MX_BARE, test_master_msix);
    if (mx_env()->viommu) {
        mx_test("bus/unmap", MX_BOOTED, test_unmap);
        mx_test("bus/unmap-around", MX_BOOTED, test_unmap_around);
        mx_test("bus/pass-through", MX_BARE, test_pass_through);
    }
}
