/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doorbells as accesses; the rest is in block_tests.c. */
#include "qemu/osdep.h"
#include "driver.h"

/* The 32-bit forms of a doorbell. */
static void test_doorbell_forms(MxDevice *dev)
{
    MxQueue *queue = mx_queue_new(dev, 2);
    const uint64_t door = 2 * MXGPU_DOORBELL_STRIDE;

    /* The ring is all zero: sixteen nops. */
    qpci_io_writel(dev->pci, dev->doorbells, door, 3);
    mx_wait_read_index(queue, 3);
    qpci_io_writel(dev->pci, dev->doorbells, door, 5);
    qpci_io_writel(dev->pci, dev->doorbells, door + 4, 0);
    mx_wait_read_index(queue, 5);
    g_assert_cmphex(qpci_io_readq(dev->pci, dev->doorbells, door), ==, 0);
    mx_queue_free(queue);
}

static void test_bad_doorbell(MxDevice *dev)
{
    const uint32_t bit = MXGPU_SET(MXGPU_ERR_STATUS_BAD_DOORBELL, 1);

    g_assert_cmphex(mx_read(dev, MXGPU_ERR_STATUS) & bit, ==, 0);
    qpci_io_writeq(dev->pci, dev->doorbells, 9 * MXGPU_DOORBELL_STRIDE, 1);
    g_assert_cmphex(mx_read(dev, MXGPU_ERR_STATUS) & bit, !=, 0);
    qpci_io_writeq(dev->pci, dev->doorbells, 200 * MXGPU_DOORBELL_STRIDE, 1);
    qpci_io_writew(dev->pci, dev->doorbells, 6, 1);
}

void mx_queue_tests(void)
{
    mx_test("queue/doorbell-forms", MX_BOOTED, test_doorbell_forms);
    mx_test("queue/bad-doorbell", MX_BOOTED, test_bad_doorbell);
}
