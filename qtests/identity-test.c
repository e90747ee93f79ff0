/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCI identity, capabilities, BARs, identity registers, wrong accesses. */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "driver.h"

static void test_config(MxDevice *dev)
{
    uint8_t cap;

    g_assert_cmphex(qpci_config_readw(dev->pci, PCI_VENDOR_ID), ==, 0x1234);
    g_assert_cmphex(qpci_config_readw(dev->pci, PCI_DEVICE_ID), ==, 0x6d78);
    g_assert_cmphex(qpci_config_readw(dev->pci, PCI_CLASS_DEVICE), ==, 0x0302);
    g_assert_cmphex(qpci_config_readb(dev->pci, PCI_INTERRUPT_PIN), ==, 0);
    g_assert_cmphex(qpci_config_readl(dev->pci, PCI_SUBSYSTEM_VENDOR_ID), ==,
                    MXGPU_PCI_VENDOR | MXGPU_PCI_SUBSYSTEM << 16);
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

/* What software enables is off again after a function-level reset. */
static void test_express(MxDevice *dev)
{
    const uint16_t errors = PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE |
                            PCI_EXP_DEVCTL_FERE | PCI_EXP_DEVCTL_URRE;
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_EXP, 0);
    uint16_t want = errors;

    if (qpci_config_readl(dev->pci, cap + PCI_EXP_DEVCAP) &
        PCI_EXP_DEVCAP_EXT_TAG) {
        want |= PCI_EXP_DEVCTL_EXT_TAG;
    }
    g_assert_cmphex(want, !=, errors);
    g_assert_cmphex(qpci_config_readl(dev->pci, cap + PCI_EXP_DEVCAP2) &
                    PCI_EXP_DEVCAP2_COMP_TMOUT_DIS, !=, 0);
    qpci_config_writew(dev->pci, cap + PCI_EXP_DEVCTL, want);
    qpci_config_writew(dev->pci, cap + PCI_EXP_DEVCTL2,
                       PCI_EXP_DEVCTL2_COMP_TMOUT_DIS);
    g_assert_cmphex(qpci_config_readw(dev->pci, cap + PCI_EXP_DEVCTL), ==,
                    want);
    g_assert_cmphex(qpci_config_readw(dev->pci, cap + PCI_EXP_DEVCTL2), ==,
                    PCI_EXP_DEVCTL2_COMP_TMOUT_DIS);
    qpci_config_writew(dev->pci, cap + PCI_EXP_DEVCTL,
                       want | PCI_EXP_DEVCTL_BCR_FLR);
    g_assert_cmphex(qpci_config_readw(dev->pci, cap + PCI_EXP_DEVCTL), ==, 0);
    g_assert_cmphex(qpci_config_readw(dev->pci, cap + PCI_EXP_DEVCTL2), ==, 0);
}

static void check_link(MxDevice *dev, unsigned speed, unsigned width)
{
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_EXP, 0);
    uint32_t can = qpci_config_readl(dev->pci, cap + PCI_EXP_LNKCAP);
    uint16_t is = qpci_config_readw(dev->pci, cap + PCI_EXP_LNKSTA);

    g_assert_cmpuint(can & PCI_EXP_LNKCAP_SLS, ==, speed);
    g_assert_cmpuint((can & PCI_EXP_LNKCAP_MLW) >> 4, ==, width);
    g_assert_cmpuint(is & PCI_EXP_LNKSTA_CLS, ==, speed);
    g_assert_cmpuint((is & PCI_EXP_LNKSTA_NLW) >> 4, ==, width);
}

static void test_link(MxDevice *dev)
{
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_EXP, 0);
    uint16_t type = qpci_config_readw(dev->pci, cap + PCI_EXP_FLAGS) &
                    PCI_EXP_FLAGS_TYPE;
    MxMachine *machine;
    MxDevice *other;

    if (type == PCI_EXP_TYPE_RC_END << 4) { /* has no link */
        check_link(dev, 0, 0);
        return;
    }
    check_link(dev, 4, 16);
    if (!dev->machine->env->machine) { /* not ours to start */
        return;
    }
    machine = mx_machine_start(dev->machine->env, "-device mxgpu,addr=5,"
                               "vram=1M,link-speed=8,link-width=4");
    other = mx_open(machine, 5);
    check_link(other, 3, 4);
    mx_close(other);
    mx_machine_stop(machine);
}

/* ---- extended capabilities ----------------------------------------------- */

static void test_extended(MxDevice *dev)
{
    uint64_t serial = mx_extended(dev, PCI_EXT_CAP_ID_DSN);
    uint32_t uuid[4], low, high;

    mx_extended(dev, PCI_EXT_CAP_ID_ERR);
    for (unsigned i = 0; i < 4; i++) {
        uuid[i] = mx_read(dev, MXGPU_UUID + 4 * i);
    }
    low = bswap32(uuid[1] ^ uuid[3]);
    high = bswap32(uuid[0] ^ uuid[2]);
    g_assert_cmphex(low, !=, 0);
    g_assert_cmphex(qtest_readl(dev->qts, serial + 4), ==, low);
    g_assert_cmphex(qtest_readl(dev->qts, serial + 8), ==, high);
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

static void set_memory(MxDevice *dev, bool on)
{
    qpci_config_writew(dev->pci, PCI_COMMAND,
                       on ? PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER : 0);
}

static unsigned aperture(MxDevice *dev, uint64_t rebar)
{
    return (qtest_readl(dev->qts, rebar + PCI_REBAR_CTRL) &
            PCI_REBAR_CTRL_BAR_SIZE) >> PCI_REBAR_CTRL_BAR_SHIFT;
}

/* Every size that is offered works, and shows the beginning of VRAM. */
static void test_resize(MxDevice *dev)
{
    uint64_t rebar = mx_extended(dev, PCI_EXT_CAP_ID_REBAR);
    uint32_t ctrl = qtest_readl(dev->qts, rebar + PCI_REBAR_CTRL);

    g_assert_cmphex(qtest_readl(dev->qts, rebar + PCI_REBAR_CAP), ==, 0x1f0);
    g_assert_cmphex(ctrl & PCI_REBAR_CTRL_BAR_IDX, ==, MXGPU_BAR_VRAM);
    g_assert_cmpuint(aperture(dev, rebar), ==, 4);
    for (unsigned i = 0; i < 5; i++) {
        mx_vram_write(dev, (MiB << i) - 8, 0xabcd0000 + i);
    }
    ctrl &= ~PCI_REBAR_CTRL_BAR_SIZE;
    for (unsigned i = 5; i-- > 0;) {
        set_memory(dev, false);
        qtest_writel(dev->qts, rebar + PCI_REBAR_CTRL, ctrl | i << 8);
        g_assert_cmpuint(aperture(dev, rebar), ==, i);
        check_bar(dev, MXGPU_BAR_VRAM, MiB << i, true);
        set_memory(dev, true);
        g_assert_cmphex(mx_vram_read(dev, (MiB << i) - 8), ==, 0xabcd0000 + i);
        if (i < 4) {
            g_assert_cmphex(mx_vram_read(dev, (2 * MiB << i) - 8), !=,
                            0xabcd0001 + i);
        }
        g_assert_cmphex(mx_read(dev, MXGPU_VRAM_SIZE_LO), ==, 16 * MiB);
    }
    /* Not offered; and while it is mapped. */
    qtest_writel(dev->qts, rebar + PCI_REBAR_CTRL, ctrl | 5 << 8);
    g_assert_cmpuint(aperture(dev, rebar), ==, 0);
    qtest_writel(dev->qts, rebar + PCI_REBAR_CTRL, ctrl | 1 << 8);
    g_assert_cmphex(mx_vram_read(dev, 2 * MiB - 8), ==, 0xabcd0001);
    qtest_system_reset(dev->qts);
    rebar = mx_extended(dev, PCI_EXT_CAP_ID_REBAR);
    g_assert_cmpuint(aperture(dev, rebar), ==, 4);
    mx_map_bars(dev);
    g_assert_cmphex(mx_vram_read(dev, 16 * MiB - 8), ==, 0xabcd0004);
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
        mx_test("identity/extended", MX_BARE, test_extended);
        mx_test("identity/resize", MX_BARE, test_resize);
    }
    mx_test("identity/express", MX_BARE, test_express);
    mx_test("identity/link", MX_BARE, test_link);
    mx_test("identity/bars", MX_BARE, test_bars);
    mx_test("identity/registers", MX_BARE, test_registers);
    mx_test("identity/vram", MX_BARE, test_vram);
    mx_test("identity/bad-access", MX_BARE, test_bad_access);
}
