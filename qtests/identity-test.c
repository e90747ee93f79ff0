/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCI identity, capabilities, BARs, identity registers, wrong accesses. */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "qemu/units.h"
#include "driver.h"

static void test_config(MxDevice *dev)
{
    uint8_t cap;

    g_assert_cmphex(qpci_config_readw(dev->pci, PCI_VENDOR_ID), ==, 0x1234);
    g_assert_cmphex(qpci_config_readw(dev->pci, PCI_DEVICE_ID), ==, 0x6d78);
    g_assert_cmphex(qpci_config_readw(dev->pci, PCI_CLASS_DEVICE), ==, 0x0302);
    g_assert_cmphex(qpci_config_readb(dev->pci, PCI_INTERRUPT_PIN), ==, 0);
    g_assert_cmpuint(qpci_find_capability(dev->pci, PCI_CAP_ID_PM, 0), !=, 0);
    cap = qpci_find_capability(dev->pci, PCI_CAP_ID_EXP, 0);
    g_assert_cmpuint(cap, !=, 0);
    g_assert_cmphex(qpci_config_readl(dev->pci, cap + PCI_EXP_DEVCAP) &
                    PCI_EXP_DEVCAP_FLR, !=, 0);
    cap = qpci_find_capability(dev->pci, PCI_CAP_ID_MSIX, 0);
    g_assert_cmpuint(cap, !=, 0);
    g_assert_cmphex(qpci_config_readl(dev->pci, cap + PCI_MSIX_TABLE), ==,
                    MXGPU_MSIX_TABLE | MXGPU_BAR_DOORBELL);
    g_assert_cmphex(qpci_config_readl(dev->pci, cap + PCI_MSIX_PBA), ==,
                    MXGPU_MSIX_PBA | MXGPU_BAR_DOORBELL);
    g_assert_cmpuint(qpci_msix_table_size(dev->pci), ==, 65);
}

/* Through q35's memory-mapped configuration space. */
static void test_aer(MxDevice *dev)
{
    const uint64_t ecam = 0xb0000000;
    QPCIDevice *host = qpci_device_find(dev->machine->bus, 0);

    qpci_config_writel(host, 0x64, 0);
    qpci_config_writel(host, 0x60, ecam | 1);
    g_assert_cmphex(qtest_readl(dev->qts, ecam + (dev->pci->devfn << 12)), ==,
                    0x6d781234);
    g_assert_cmphex(qtest_readl(dev->qts,
                                ecam + (dev->pci->devfn << 12) + 0x100) &
                    0xffff, ==, PCI_EXT_CAP_ID_ERR);
    g_free(host);
}

static void check_bar(MxDevice *dev, int bar, uint32_t size, bool prefetch)
{
    int reg = PCI_BASE_ADDRESS_0 + 4 * bar;
    uint32_t old = qpci_config_readl(dev->pci, reg), mask;

    qpci_config_writel(dev->pci, reg, 0xffffffff);
    mask = qpci_config_readl(dev->pci, reg);
    qpci_config_writel(dev->pci, reg, old);
    g_assert_cmphex(mask & 6, ==, PCI_BASE_ADDRESS_MEM_TYPE_64);
    g_assert_cmpint(!!(mask & PCI_BASE_ADDRESS_MEM_PREFETCH), ==, prefetch);
    g_assert_cmphex(~(mask & ~0xfu) + 1, ==, size);
}

static void test_bars(MxDevice *dev)
{
    check_bar(dev, MXGPU_BAR_REGS, MXGPU_REGS_SIZE, false);
    check_bar(dev, MXGPU_BAR_VRAM, 16 * MiB, true);
    check_bar(dev, MXGPU_BAR_DOORBELL, MXGPU_DOORBELL_SIZE, false);
}

static void test_registers(MxDevice *dev)
{
    uint32_t uuid[4];

    g_assert_cmphex(mx_read(dev, MXGPU_ID), ==, MXGPU_ID_MAGIC);
    g_assert_cmphex(mx_read(dev, MXGPU_VERSION), ==, MXGPU_INTERFACE_VERSION);
    g_assert_cmphex(mx_read(dev, MXGPU_VRAM_SIZE_LO), ==, 16 * MiB);
    g_assert_cmphex(mx_read(dev, MXGPU_VRAM_SIZE_HI), ==, 0);
    g_assert_cmphex(mx_read(dev, MXGPU_SRAM_SIZE), ==, MXGPU_MCU_SRAM_SIZE);
    g_assert_cmpuint(MXGPU_GET(MXGPU_QUEUE_CAPS_QUEUES,
                               mx_read(dev, MXGPU_QUEUE_CAPS)), ==, 64);
    g_assert_cmpuint(MXGPU_GET(MXGPU_QUEUE_CAPS_VECTORS,
                               mx_read(dev, MXGPU_QUEUE_CAPS)), ==, 65);
    g_assert_cmpuint(MXGPU_GET(MXGPU_UNIT_CAPS_COMPUTE_UNITS,
                               mx_read(dev, MXGPU_UNIT_CAPS)), ==, 2);
    g_assert_cmpuint(MXGPU_GET(MXGPU_FEATURES_DETERMINISTIC,
                               mx_read(dev, MXGPU_FEATURES)), ==,
                     strstr(dev->machine->env->options, "deterministic") != 0);
    for (unsigned i = 0; i < 4; i++) {
        uuid[i] = mx_read(dev, MXGPU_UUID + 4 * i);
    }
    g_assert_cmphex(((uint8_t *)uuid)[6] >> 4, ==, 5);
}

/* All of VRAM is plain memory, at any width. */
static void test_vram(MxDevice *dev)
{
    mx_vram_write(dev, 0, 0x0123456789abcdefull);
    mx_vram_write(dev, 16 * MiB - 8, 42);
    g_assert_cmphex(qpci_io_readb(dev->pci, dev->vram, 1), ==, 0xcd);
    g_assert_cmphex(qpci_io_readw(dev->pci, dev->vram, 3), ==, 0x6789);
    g_assert_cmphex(mx_vram_read(dev, 16 * MiB - 8), ==, 42);
    g_assert_cmphex(mx_vram_read(dev, 8 * MiB), ==, 0);
}

static void test_bad_access(MxDevice *dev)
{
    const uint32_t bit = MXGPU_SET(MXGPU_ERR_STATUS_BAD_ACCESS, 1);

    g_assert_cmphex(mx_read(dev, MXGPU_ERR_STATUS), ==, 0);
    mx_write(dev, MXGPU_ID, 0);                             /* read-only */
    g_assert_cmphex(mx_read(dev, 0xfffc), ==, 0);           /* missing */
    g_assert_cmphex(mx_read(dev, MXGPU_MTIME_LO), ==, 0);   /* private */
    g_assert_cmphex(qpci_io_readb(dev->pci, dev->regs, 0), ==, 0);
    g_assert_cmphex(qpci_io_readw(dev->pci, dev->regs, 2), ==, 0);
    g_assert_cmphex(qpci_io_readq(dev->pci, dev->regs, 0), ==, 0);
    g_assert_cmpuint(mx_read(dev, MXGPU_ERR_COUNT), ==, 6);
    g_assert_cmphex(mx_read(dev, MXGPU_ERR_STATUS), ==, bit);
    g_assert_cmphex(mx_read(dev, MXGPU_ERR_INFO), ==, MXGPU_ID);
    mx_write(dev, MXGPU_ERR_STATUS, bit);
    g_assert_cmphex(mx_read(dev, MXGPU_ERR_STATUS), ==, 0);
    g_assert_cmphex(mx_read(dev, MXGPU_ID), ==, MXGPU_ID_MAGIC);
}

/* The monitor's look at registers: right, and without a trace. */
static uint64_t monitor_read(MxDevice *dev, const char *command,
                             uint64_t offset)
{
    g_autofree char *text = qtest_hmp(dev->qts, "%s 0x%" PRIx64, command,
                                      dev->regs.addr + offset);
    const char *at = strchr(text, ':');
    uint64_t low, high = 0;
    int n;

    g_assert_nonnull(at);
    n = sscanf(at, ": %" SCNi64 " %" SCNi64, &low, &high);
    g_assert_cmpint(n, >=, 1);
    return low | high << 32;
}

static void test_monitor(MxDevice *dev)
{
    mx_write(dev, MXGPU_MCU_SRAM_ADDR, 0);
    mx_write(dev, MXGPU_MCU_SRAM_DATA, 0x11223344);
    mx_write(dev, MXGPU_MCU_SRAM_ADDR, 0);
    for (unsigned i = 0; i < 2; i++) {
        const char *two = i ? "x /2xw" : "xp /2xw";
        const char *one = i ? "x /1xb" : "xp /1xb";

        g_assert_cmphex(monitor_read(dev, two, MXGPU_ID), ==,
                        MXGPU_ID_MAGIC | (uint64_t)MXGPU_INTERFACE_VERSION
                                             << 32);
        g_assert_cmphex(monitor_read(dev, one, MXGPU_ID + 1), ==, 'X');
        /* each read of SRAM_DATA by the guest would go on to the next word */
        g_assert_cmphex(monitor_read(dev, two, MXGPU_MCU_SRAM_ADDR), ==,
                        0x1122334400000000ull);
        g_assert_cmphex(monitor_read(dev, two, 0xfff8), ==, 0); /* missing */
        g_assert_cmphex(monitor_read(dev, two, MXGPU_MTIME_LO), ==, 0);
    }
    /* nor does the monitor latch high halves in the guest's stead */
    qtest_clock_step(dev->qts, 1);
    mx_read(dev, MXGPU_CLOCK_LO);
    qtest_clock_step(dev->qts, 1ll << 33);
    g_assert_cmphex(monitor_read(dev, "xp /2xw", MXGPU_CLOCK_LO), >=,
                    1ull << 33);
    g_assert_cmphex(mx_read(dev, MXGPU_CLOCK_HI), ==, 0);
    g_assert_cmphex(mx_read(dev, MXGPU_MCU_SRAM_DATA), ==, 0x11223344);
    g_assert_cmphex(mx_read(dev, MXGPU_ERR_STATUS), ==, 0);
    g_assert_cmpuint(mx_read(dev, MXGPU_ERR_COUNT), ==, 0);
}

void mx_identity_tests(void)
{
    mx_test("identity/monitor", MX_BARE, test_monitor);
    mx_test("identity/config", MX_BARE, test_config);
    if (mx_env()->express) {
        mx_test("identity/aer", MX_BARE, test_aer);
    }
    mx_test("identity/bars", MX_BARE, test_bars);
    mx_test("identity/registers", MX_BARE, test_registers);
    mx_test("identity/vram", MX_BARE, test_vram);
    mx_test("identity/bad-access", MX_BARE, test_bad_access);
}
