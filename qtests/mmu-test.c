/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page-table walks, large pages, accessed and dirty bits, faults. */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "driver.h"

#define VA 0x40000000000ull /* needs entries of its own at every level */

/* Pushes a write to va and tells whether it got through. */
static struct mxgpu_queue_error write_to(MxDevice *dev, uint64_t va,
                                         uint64_t value)
{
    MxQueue *queue = mx_queue_new(dev, 5);
    struct mxgpu_packet_write packet = {
        .type = MXGPU_PKT_WRITE, .flags = MXGPU_PKT_BARRIER, .size = 8,
        .addr = va, .value = value,
    };
    struct mxgpu_queue_error error = { 0 };
    union mxgpu_packet nop = { .header.flags = MXGPU_PKT_BARRIER };

    mx_push(queue, &packet);
    mx_push(queue, &nop);
    MX_WAIT(dev, qtest_readq(dev->qts, queue->ctl) == 2 ||
                 qtest_readl(dev->qts, queue->ctl + 8) == MXGPU_QUEUE_ERROR);
    if (qtest_readl(dev->qts, queue->ctl + 8) == MXGPU_QUEUE_ERROR) {
        error = dut_queue_error(queue);
    }
    mx_queue_free(queue);
    return error;
}

static void expect_fault(MxDevice *dev, uint64_t va, enum mxgpu_fault fault)
{
    struct mxgpu_queue_error error = write_to(dev, va, 1);

    g_assert_cmpuint(error.code, ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(error.fault, ==, fault);
    g_assert_cmphex(error.fault_addr, ==, va);
    g_assert_cmpuint(error.access, ==, MXGPU_ACCESS_WRITE);
}

static void set_pte(MxDevice *dev, uint64_t va, unsigned level, uint64_t pte)
{
    mx_vram_write(dev, mx_pte_offset(dev, va, level), pte);
    mx_invalidate(dev);
}

static void test_walk(MxDevice *dev)
{
    uint64_t page = mx_vram_alloc(dev, MX_PAGE);
    uint64_t leaf = mx_pte_offset(dev, VA, 0);

    mx_map(dev, VA, page, MX_PAGE, MX_RW);
    mx_invalidate(dev);
    g_assert_cmpuint(write_to(dev, VA + 8, 0xabcd).code, ==, MXGPU_QERR_NONE);
    g_assert_cmphex(mx_vram_read(dev, page + 8), ==, 0xabcd);
    g_assert_cmphex(mx_vram_read(dev, leaf) &
                    (MXGPU_PTE_ACCESSED | MXGPU_PTE_DIRTY), ==,
                    MXGPU_PTE_ACCESSED | MXGPU_PTE_DIRTY);
}

static void test_large(MxDevice *dev)
{
    const uint64_t base = 2 * MiB;

    set_pte(dev, VA + GiB, 1, base | MX_RW | MXGPU_PTE_VALID);
    g_assert_cmpuint(write_to(dev, VA + GiB + 0x123450, 77).code, ==,
                     MXGPU_QERR_NONE);
    g_assert_cmphex(mx_vram_read(dev, base + 0x123450), ==, 77);
    /* aligned to 4 KiB only */
    set_pte(dev, VA + GiB, 1,
            (base + MX_PAGE) | MX_RW | MXGPU_PTE_VALID);
    expect_fault(dev, VA + GiB, MXGPU_FAULT_TABLE);
}

static void test_faults(MxDevice *dev)
{
    uint64_t page = mx_vram_alloc(dev, MX_PAGE);

    expect_fault(dev, VA, MXGPU_FAULT_NOT_PRESENT);
    g_assert_cmphex(mx_read(dev, MXGPU_ERR_STATUS) &
                    MXGPU_SET(MXGPU_ERR_STATUS_FAULT, 1), !=, 0);
    set_pte(dev, VA, 0, page | MXGPU_PTE_READ | MXGPU_PTE_VALID);
    expect_fault(dev, VA + 8, MXGPU_FAULT_PERMISSION);
    set_pte(dev, VA, 0, page | MX_RW | MXGPU_PTE_VALID | 1ull << 60);
    expect_fault(dev, VA, MXGPU_FAULT_TABLE);
    set_pte(dev, VA, 0, page | MXGPU_PTE_TABLE | MXGPU_PTE_VALID);
    expect_fault(dev, VA, MXGPU_FAULT_TABLE);
    set_pte(dev, VA, 0, dev->vram_size | MX_RW | MXGPU_PTE_VALID);
    expect_fault(dev, VA, MXGPU_FAULT_BUS);
    expect_fault(dev, 1ull << 47, MXGPU_FAULT_NON_CANONICAL);
    set_pte(dev, VA, 0, page | MX_RW | MXGPU_PTE_VALID);
    g_assert_cmpuint(write_to(dev, VA, 1).code, ==, MXGPU_QERR_NONE);
    g_assert_cmphex(mx_vram_read(dev, page), ==, 1);
}

/* System memory at addresses where the machine has none. */
static void test_bus_fault(MxDevice *dev)
{
    set_pte(dev, VA, 0, 0x7f0000000000ull | MX_SYS | MXGPU_PTE_VALID);
    expect_fault(dev, VA, MXGPU_FAULT_BUS);
    g_assert_cmphex(mx_read(dev, MXGPU_ERR_STATUS) &
                    MXGPU_SET(MXGPU_ERR_STATUS_BUS, 1), !=, 0);
}

/* Devices do not reach registers of others: the local APIC's, for one. */
static void test_no_mmio(MxDevice *dev)
{
    set_pte(dev, VA, 0, 0xfec00000ull | MX_SYS | MXGPU_PTE_VALID);
    expect_fault(dev, VA, MXGPU_FAULT_BUS);
}

void mx_mmu_tests(void)
{
    mx_test("mmu/walk", MX_BOOTED, test_walk);
    mx_test("mmu/large", MX_BOOTED, test_large);
    mx_test("mmu/faults", MX_BOOTED, test_faults);
    mx_test("mmu/bus-fault", MX_BOOTED, test_bus_fault);
    mx_test("mmu/no-mmio", MX_BOOTED, test_no_mmio);
}
