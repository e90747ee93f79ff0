/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From doorbell to completion, and packets that are wrong. */
#include "qemu/osdep.h"
#include "driver.h"

#define DATA_VA 0x200000000ull

/* A page of guest memory that the device reaches at DATA_VA. */
static uint64_t data_page(MxDevice *dev)
{
    uint64_t addr = mx_alloc(dev->machine, MX_PAGE);

    mx_map(dev, DATA_VA, mx_bus_map(dev->machine, addr, MX_PAGE), MX_PAGE,
           MX_SYS);
    mx_invalidate(dev);
    return addr;
}

static void test_packets(MxDevice *dev)
{
    uint64_t data = data_page(dev);
    MxQueue *queue = mx_queue_new(dev, 0);
    struct mxgpu_packet_write write = {
        .type = MXGPU_PKT_WRITE, .size = 4, .addr = DATA_VA,
        .value = 0xcafef00d,
    };
    struct mxgpu_packet_timestamp stamp = {
        .type = MXGPU_PKT_TIMESTAMP, .addr = DATA_VA + 16,
        .signal_addr = DATA_VA + 24, .signal_value = 7,
    };
    struct mxgpu_packet_tlb_invalidate invalidate = {
        .type = MXGPU_PKT_TLB_INVALIDATE,
        .signal_addr = DATA_VA + 24, .signal_value = 8,
    };

    mx_tick(dev, 0); /* so that the clock is not at 0 */
    mx_push(queue, &write);
    write.size = 8;
    write.addr += 8;
    write.value = 0x1122334455667788ull;
    mx_push(queue, &write);
    mx_push(queue, &stamp);
    MX_WAIT(dev, qtest_readq(dev->qts, data + 24) == 7);
    g_assert_cmphex(qtest_readq(dev->qts, data), ==, 0xcafef00d);
    g_assert_cmphex(qtest_readq(dev->qts, data + 8), ==,
                    0x1122334455667788ull);
    g_assert_cmpuint(qtest_readq(dev->qts, data + 16), !=, 0);
    mx_push(queue, &invalidate);
    MX_WAIT(dev, qtest_readq(dev->qts, data + 24) == 8);
    g_assert_cmpuint(qtest_readq(dev->qts, queue->ctl), ==, 4);
    mx_queue_free(queue);
}

static void test_wait(MxDevice *dev)
{
    uint64_t data = data_page(dev);
    MxQueue *queue = mx_queue_new(dev, 0);
    struct mxgpu_packet_wait wait = {
        .type = MXGPU_PKT_WAIT, .size = 8, .cond = MXGPU_WAIT_GEQ,
        .addr = DATA_VA, .value = 5,
        .signal_addr = DATA_VA + 8, .signal_value = 1,
    };

    qtest_writeq(dev->qts, data, 4);
    mx_push(queue, &wait);
    for (int i = 0; i < 20; i++) {
        mx_tick(dev, 0);
        g_usleep(1000);
    }
    g_assert_cmpuint(qtest_readq(dev->qts, data + 8), ==, 0);
    qtest_writeq(dev->qts, data, 6);
    MX_WAIT(dev, qtest_readq(dev->qts, data + 8) == 1);
    mx_queue_free(queue);
}

/* More packets than the ring has slots, on several queues at once. */
static void test_wrap(MxDevice *dev)
{
    uint64_t data = data_page(dev);
    MxQueue *queue[4];
    struct mxgpu_packet_write write = {
        .type = MXGPU_PKT_WRITE, .size = 8,
    };

    for (unsigned q = 0; q < 4; q++) {
        queue[q] = mx_queue_new(dev, q * 5);
    }
    for (uint64_t i = 0; i < 50; i++) {
        for (unsigned q = 0; q < 4; q++) {
            if (i >= 16) {
                mx_wait_read_index(queue[q], i - 15);
            }
            write.addr = DATA_VA + 64 * q + 8 * (i % 8);
            write.value = i;
            write.signal_addr = DATA_VA + 1024 + 8 * q;
            write.signal_value = i + 1;
            write.flags = MXGPU_PKT_BARRIER;
            mx_push(queue[q], &write);
        }
    }
    for (unsigned q = 0; q < 4; q++) {
        MX_WAIT(dev, qtest_readq(dev->qts, data + 1024 + 8 * q) == 50);
        for (unsigned i = 0; i < 8; i++) {
            g_assert_cmpuint(qtest_readq(dev->qts, data + 64 * q + 8 * i), ==,
                             i < 2 ? 48 + i : 40 + i);
        }
        mx_queue_free(queue[q]);
    }
}

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

static struct mxgpu_queue_error expect_error(MxDevice *dev, unsigned id,
                                             const void *packet,
                                             enum mxgpu_queue_error_code code)
{
    MxQueue *queue = mx_queue_new(dev, id);
    struct mxgpu_queue_error error;
    uint64_t index = mx_push(queue, packet);

    error = mx_queue_error(queue);
    g_assert_cmpuint(error.code, ==, code);
    g_assert_cmpuint(error.packet_index, ==, index);
    mx_queue_free(queue);
    return error;
}

static void test_malformed(MxDevice *dev)
{
    MxQueue *other = mx_queue_new(dev, 7);
    union mxgpu_packet packet = { 0 }, nop = { 0 };
    struct mxgpu_queue_error error;

    packet.header.type = 0x7777;
    error = expect_error(dev, 0, &packet, MXGPU_QERR_PACKET);
    g_assert_cmphex(error.packet_type, ==, 0x7777);

    packet = nop;
    packet.header.flags = 0x8000;
    error = expect_error(dev, 0, &packet, MXGPU_QERR_PACKET);
    g_assert_cmpuint(error.field, ==, 2);

    packet = nop;
    packet.write.type = MXGPU_PKT_WRITE;
    packet.write.size = 3;
    packet.write.addr = DATA_VA;
    error = expect_error(dev, 1, &packet, MXGPU_QERR_PACKET);
    g_assert_cmpuint(error.field, ==,
                     offsetof(struct mxgpu_packet_write, size));

    packet.write.size = 8;
    packet.write.addr = DATA_VA + 4;
    error = expect_error(dev, 1, &packet, MXGPU_QERR_PACKET);
    g_assert_cmpuint(error.field, ==,
                     offsetof(struct mxgpu_packet_write, addr));

    packet = nop;
    packet.fill.type = MXGPU_PKT_FILL;
    packet.fill.pattern_size = 5;
    packet.fill.dst = DATA_VA;
    packet.fill.size = 5;
    error = expect_error(dev, 2, &packet, MXGPU_QERR_PACKET);
    g_assert_cmpuint(error.field, ==,
                     offsetof(struct mxgpu_packet_fill, pattern_size));

    packet = nop;
    packet.words[10] = 1; /* a nop's reserved words */
    expect_error(dev, 2, &packet, MXGPU_QERR_PACKET);

    packet = nop;
    packet.dispatch.type = MXGPU_PKT_DISPATCH;
    packet.dispatch.grid[0] = packet.dispatch.grid[1] = 1;
    packet.dispatch.grid[2] = 1;
    packet.dispatch.block[0] = 1025;
    packet.dispatch.block[1] = packet.dispatch.block[2] = 1;
    packet.dispatch.kernel = DATA_VA;
    expect_error(dev, 3, &packet, MXGPU_QERR_PACKET);

    /* another queue is not concerned, before and after */
    mx_push(other, &nop);
    mx_wait_read_index(other, 1);
    mx_queue_free(other);
}

static void test_bad_index(MxDevice *dev)
{
    MxQueue *queue = mx_queue_new(dev, 0);

    qpci_io_writeq(dev->pci, dev->doorbells, 0, 17); /* of 16 slots */
    g_assert_cmpuint(mx_queue_error(queue).code, ==, MXGPU_QERR_INDEX);
    mx_queue_free(queue);
}

static void test_bad_create(MxDevice *dev)
{
    struct mxgpu_msg_queue_create good = {
        .op = MXGPU_MSG_QUEUE_CREATE, .queue = 1, .vmid = 1,
        .log2_packets = 4, .vector = 0xffffffff,
    }, bad;

    bad = good;
    bad.queue = 64;
    g_assert_cmpuint(mx_call(dev, &bad, sizeof(bad), NULL), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    bad = good;
    bad.log2_packets = 17;
    g_assert_cmpuint(mx_call(dev, &bad, sizeof(bad), NULL), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    bad = good;
    bad.ring_lo = 0x40000000; /* nothing is mapped there */
    bad.ctl_lo = 0x40010000;
    g_assert_cmpuint(mx_call(dev, &bad, sizeof(bad), NULL), ==,
                     MXGPU_MSG_FAULT);
}

void mx_queue_tests(void)
{
    mx_test("queue/packets", MX_BOOTED, test_packets);
    mx_test("queue/wait", MX_BOOTED, test_wait);
    mx_test("queue/wrap", MX_BOOTED, test_wrap);
    mx_test("queue/doorbell-forms", MX_BOOTED, test_doorbell_forms);
    mx_test("queue/bad-doorbell", MX_BOOTED, test_bad_doorbell);
    mx_test("queue/malformed", MX_BOOTED, test_malformed);
    mx_test("queue/bad-index", MX_BOOTED, test_bad_index);
    mx_test("queue/bad-create", MX_BOOTED, test_bad_create);
}
