/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MSI-X: delivery, vector and function mask, pending bits. */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "driver.h"

static uint32_t message(MxDevice *dev, unsigned vector)
{
    return qtest_readl(dev->qts, mx_msix_target(dev, vector));
}

static void clear(MxDevice *dev, unsigned vector)
{
    qtest_writel(dev->qts, mx_msix_target(dev, vector), 0);
}

/* Makes vector 0's cause "error" go from 0 to 1. */
static void raise_error(MxDevice *dev)
{
    mx_write(dev, MXGPU_IRQ_STATUS, ~0u);
    mx_write(dev, MXGPU_ERR_STATUS, ~0u);
    mx_write(dev, MXGPU_ID, 0);
    g_assert_cmphex(mx_read(dev, MXGPU_IRQ_STATUS) &
                    MXGPU_SET(MXGPU_IRQ_STATUS_ERROR, 1), !=, 0);
}

/* Long enough for anything that is on its way. */
static void settle(MxDevice *dev)
{
    for (int i = 0; i < 20; i++) {
        mx_tick(dev);
        g_usleep(1000);
    }
}

static void test_delivery(MxDevice *dev)
{
    mx_msix_enable(dev);
    raise_error(dev); /* not enabled: no message */
    settle(dev);
    g_assert_cmphex(message(dev, 0), ==, 0);
    mx_write(dev, MXGPU_IRQ_ENABLE, MXGPU_SET(MXGPU_IRQ_STATUS_ERROR, 1));
    MX_WAIT(dev, message(dev, 0) == MX_MSI_DATA); /* set when enabled */
    clear(dev, 0);
    settle(dev);
    g_assert_cmphex(message(dev, 0), ==, 0); /* once */
    raise_error(dev);
    MX_WAIT(dev, message(dev, 0) == MX_MSI_DATA);
    g_assert_false(mx_msix_pending(dev, 0));
}

static void test_mask(MxDevice *dev)
{
    mx_msix_enable(dev);
    mx_write(dev, MXGPU_IRQ_ENABLE, ~0u);
    mx_msix_mask(dev, 0, true);
    raise_error(dev);
    MX_WAIT(dev, mx_msix_pending(dev, 0));
    g_assert_cmphex(message(dev, 0), ==, 0);
    mx_msix_mask(dev, 0, false);
    MX_WAIT(dev, message(dev, 0) == MX_MSI_DATA);
    g_assert_false(mx_msix_pending(dev, 0));
    clear(dev, 0);
    settle(dev);
    g_assert_cmphex(message(dev, 0), ==, 0);
}

static void test_function_mask(MxDevice *dev)
{
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_MSIX, 0);
    uint16_t flags;

    mx_msix_enable(dev);
    mx_write(dev, MXGPU_IRQ_ENABLE, ~0u);
    flags = qpci_config_readw(dev->pci, cap + PCI_MSIX_FLAGS);
    qpci_config_writew(dev->pci, cap + PCI_MSIX_FLAGS,
                       flags | PCI_MSIX_FLAGS_MASKALL);
    raise_error(dev);
    MX_WAIT(dev, mx_msix_pending(dev, 0));
    g_assert_cmphex(message(dev, 0), ==, 0);
    qpci_config_writew(dev->pci, cap + PCI_MSIX_FLAGS, flags);
    MX_WAIT(dev, message(dev, 0) == MX_MSI_DATA);
}

/* A queue's own vector, raised by a packet; and none without the flag. */
static void test_queue_vector(MxDevice *dev)
{
    MxQueue *queue;
    struct mxgpu_packet_header nop[16] = { { MXGPU_PKT_NOP, 0 } };

    mx_msix_enable(dev);
    queue = mx_queue_new(dev, 3);
    mx_push(queue, nop);
    mx_wait_read_index(queue, 1);
    settle(dev);
    g_assert_cmphex(message(dev, queue->vector), ==, 0);
    nop[0].flags = MXGPU_PKT_IRQ;
    mx_push(queue, nop);
    MX_WAIT(dev, message(dev, queue->vector) ==
                 MX_MSI_DATA + queue->vector);
    /* masked: remembered; many raises are one message */
    clear(dev, queue->vector);
    mx_msix_mask(dev, queue->vector, true);
    for (int i = 0; i < 5; i++) {
        mx_push(queue, nop);
    }
    MX_WAIT(dev, mx_msix_pending(dev, queue->vector));
    mx_wait_read_index(queue, queue->index);
    settle(dev);
    g_assert_cmphex(message(dev, queue->vector), ==, 0);
    mx_msix_mask(dev, queue->vector, false);
    MX_WAIT(dev, message(dev, queue->vector) ==
                 MX_MSI_DATA + queue->vector);
    mx_queue_free(queue);
}

void mx_msix_tests(void)
{
    mx_test("msix/delivery", MX_BARE, test_delivery);
    mx_test("msix/mask", MX_BARE, test_mask);
    mx_test("msix/function-mask", MX_BARE, test_function_mask);
    mx_test("msix/queue-vector", MX_BOOTED, test_queue_vector);
}
