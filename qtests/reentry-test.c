/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vIOMMU that writes when it translates, to where the guest wants it. A
 * virtio-iommu reports faults into a buffer of its driver's: here that buffer
 * is configuration space, so that an access of the device resets, stops or
 * unplugs the device while the access waits for its translation.
 */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "standard-headers/linux/virtio_config.h"
#include "standard-headers/linux/virtio_iommu.h"
#include "standard-headers/linux/virtio_pci.h"
#include "standard-headers/linux/virtio_ring.h"
#include "driver.h"

#define ECAM       0xb0000000ull
#define IOMMU_SLOT 3
#define PORT_SLOT  5
#define PORT_BUS   1
#define EVENT_VQ   1
#define VA         0x1000
/* What a fault's address brings is written here, and 16 bytes before it. */
#define ADDRESS_AT offsetof(struct virtio_iommu_fault, address)
#define OPTIONS    "vram=16M,compute-units=2,threads=2%s"

typedef struct Iommu {
    QPCIDevice *pci;
    QPCIBar bar;
    uint64_t common, config; /* offsets in the BAR */
} Iommu;

static uint64_t ecam(unsigned bus, unsigned slot, unsigned offset)
{
    return ECAM + (bus << 20 | slot << 15 | offset);
}

static void find_structures(Iommu *iommu)
{
    uint8_t cap = 0;

    while ((cap = qpci_find_capability(iommu->pci, PCI_CAP_ID_VNDR, cap))) {
        uint8_t type = qpci_config_readb(
            iommu->pci, cap + offsetof(struct virtio_pci_cap, cfg_type));
        uint32_t offset = qpci_config_readl(
            iommu->pci, cap + offsetof(struct virtio_pci_cap, offset));

        if (type == VIRTIO_PCI_CAP_COMMON_CFG) {
            iommu->common = offset;
        } else if (type == VIRTIO_PCI_CAP_DEVICE_CFG) {
            iommu->config = offset;
        }
    }
}

static void set_status(Iommu *iommu, uint8_t status)
{
    qpci_io_writeb(iommu->pci, iommu->bar,
                   iommu->common + VIRTIO_PCI_COMMON_STATUS, status);
}

static void set_common(Iommu *iommu, unsigned field, uint64_t value)
{
    qpci_io_writel(iommu->pci, iommu->bar, iommu->common + field, value);
    qpci_io_writel(iommu->pci, iommu->bar, iommu->common + field + 4,
                   value >> 32);
}

/* The first report goes to memory, the second to "target". */
static void start_events(MxMachine *machine, Iommu *iommu, uint64_t target)
{
    uint64_t desc = mx_alloc(machine, MX_PAGE);
    uint64_t avail = mx_alloc(machine, MX_PAGE);
    uint64_t used = mx_alloc(machine, MX_PAGE);
    uint64_t buffer[2] = { mx_alloc(machine, MX_PAGE), target };

    for (unsigned i = 0; i < 2; i++) {
        qtest_writeq(machine->qts, desc + 16 * i, buffer[i]);
        qtest_writel(machine->qts, desc + 16 * i + 8,
                     sizeof(struct virtio_iommu_fault));
        qtest_writel(machine->qts, desc + 16 * i + 12, VRING_DESC_F_WRITE);
        qtest_writew(machine->qts, avail + 4 + 2 * i, i);
    }
    qtest_writew(machine->qts, avail + 2, 2);
    qpci_io_writew(iommu->pci, iommu->bar,
                   iommu->common + VIRTIO_PCI_COMMON_Q_SELECT, EVENT_VQ);
    set_common(iommu, VIRTIO_PCI_COMMON_Q_DESCLO, desc);
    set_common(iommu, VIRTIO_PCI_COMMON_Q_AVAILLO, avail);
    set_common(iommu, VIRTIO_PCI_COMMON_Q_USEDLO, used);
    qpci_io_writew(iommu->pci, iommu->bar,
                   iommu->common + VIRTIO_PCI_COMMON_Q_ENABLE, 1);
}

/* Translates nothing: every access is a fault to report. */
static Iommu *start_iommu(MxMachine *machine, uint64_t target)
{
    const uint8_t found = VIRTIO_CONFIG_S_ACKNOWLEDGE |
                          VIRTIO_CONFIG_S_DRIVER;
    Iommu *iommu = g_new0(Iommu, 1);
    QPCIDevice *host = qpci_device_find(machine->bus, 0);

    qpci_config_writel(host, 0x64, 0);
    qpci_config_writel(host, 0x60, ECAM | 1);
    g_free(host);
    iommu->pci = qpci_device_find(machine->bus, QPCI_DEVFN(IOMMU_SLOT, 0));
    g_assert_nonnull(iommu->pci);
    iommu->bar = qpci_iomap(iommu->pci, 4, NULL);
    qpci_device_enable(iommu->pci);
    find_structures(iommu);
    set_status(iommu, 0);
    set_status(iommu, found);
    for (unsigned i = 0; i < 2; i++) {
        qpci_io_writel(iommu->pci, iommu->bar,
                       iommu->common + VIRTIO_PCI_COMMON_GFSELECT, i);
        qpci_io_writel(iommu->pci, iommu->bar,
                       iommu->common + VIRTIO_PCI_COMMON_GF,
                       i ? 1 : 1 << VIRTIO_IOMMU_F_BYPASS_CONFIG);
    }
    set_status(iommu, found | VIRTIO_CONFIG_S_FEATURES_OK);
    start_events(machine, iommu, target);
    set_status(iommu, found | VIRTIO_CONFIG_S_FEATURES_OK |
                      VIRTIO_CONFIG_S_DRIVER_OK);
    qpci_io_writeb(iommu->pci, iommu->bar, iommu->config +
                   offsetof(struct virtio_iommu_config, bypass), 0);
    return iommu;
}

/* ---- a firmware that reads one byte ------------------------------------- */

static unsigned load_immediate(uint32_t *code, unsigned rd, uint32_t value)
{
    code[0] = ((value + 0x800) & 0xfffff000) | rd << 7 | 0x37;
    code[1] = value << 20 | rd << 15 | rd << 7 | 0x13;
    return 2;
}

static unsigned write_register(uint32_t *code, uint32_t reg, uint32_t value)
{
    unsigned n = load_immediate(code, 5, MXGPU_MCU_REGS_BASE + reg);

    n += load_immediate(code + n, 6, value);
    code[n++] = 6 << 20 | 5 << 15 | 2 << 12 | 0x23; /* sw t1, 0(t0) */
    return n;
}

/* Reads the byte at bus address bus: two translations, of its page and of the
 * byte itself. */
static void read_byte(MxDevice *dev, uint64_t bus)
{
    const struct {
        uint32_t reg, value;
    } writes[] = {
        { MXGPU_MMU_ROOT_LO + MXGPU_MMU_ROOT_LO_STRIDE,
          (dev->root = mx_vram_alloc(dev, MX_PAGE)) | MXGPU_PTE_TABLE |
          MXGPU_PTE_VALID },
        { MXGPU_MMU_ROOT_HI + MXGPU_MMU_ROOT_LO_STRIDE, 0 },
        { MXGPU_MEM_ADDR_LO, VA + bus % MX_PAGE },
        { MXGPU_MEM_ADDR_HI, 0 },
        { MXGPU_MEM_CMD, MXGPU_SET(MXGPU_MEM_CMD_OP, MXGPU_MEM_READ) |
                         MXGPU_SET(MXGPU_MEM_CMD_SIZE, 1) |
                         MXGPU_SET(MXGPU_MEM_CMD_VMID, 1) },
    };
    uint32_t code[64];
    unsigned n = 0;

    mx_map(dev, VA, bus & ~(MX_PAGE - 1ull), MX_PAGE, MX_SYS);
    for (unsigned i = 0; i < G_N_ELEMENTS(writes); i++) {
        n += write_register(code + n, writes[i].reg, writes[i].value);
    }
    code[n++] = 0x6f; /* for ever */
    mx_load_code(dev, code, n);
}

/* ---- tests --------------------------------------------------------------- */

static MxMachine *start(MxDevice *unused, const char *more)
{
    g_autofree char *devices = g_strdup_printf(
        "-device virtio-iommu-pci,addr=%d %s", IOMMU_SLOT, more);

    return mx_machine_start(unused->machine->env, devices);
}

static MxMachine *start_one(MxDevice *unused)
{
    g_autofree char *device = g_strdup_printf(
        "-device mxgpu,addr=%d," OPTIONS, MX_SLOT,
        unused->machine->env->options);

    return start(unused, device);
}

static void stop(MxMachine *machine, Iommu *iommu)
{
    g_free(iommu->pci);
    g_free(iommu);
    mx_machine_stop(machine);
}

static void test_flr(MxDevice *unused)
{
    MxMachine *machine = start_one(unused);
    MxDevice *dev = mx_open(machine, MX_SLOT);
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_EXP, 0);
    Iommu *iommu = start_iommu(machine, ecam(0, MX_SLOT, cap + PCI_EXP_DEVCTL -
                                                         ADDRESS_AT));

    read_byte(dev, 0x40000000 | PCI_EXP_DEVCTL_BCR_FLR);
    MX_WAIT(dev, !(qpci_config_readw(dev->pci, PCI_COMMAND) &
                   PCI_COMMAND_MEMORY));
    mx_map_bars(dev);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_RESET);
    g_assert_cmpuint(MXGPU_GET(MXGPU_RESET_STATUS_CAUSE,
                               mx_read(dev, MXGPU_RESET_STATUS)), ==,
                     MXGPU_RESET_BUS);
    /* and life goes on */
    qpci_io_writeb(iommu->pci, iommu->bar, iommu->config +
                   offsetof(struct virtio_iommu_config, bypass), 1);
    dev->root = 0;
    mx_boot(dev);
    mx_close(dev);
    stop(machine, iommu);
}

static void test_sleep(MxDevice *unused)
{
    MxMachine *machine = start_one(unused);
    MxDevice *dev = mx_open(machine, MX_SLOT);
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_PM, 0);
    Iommu *iommu = start_iommu(machine, ecam(0, MX_SLOT, cap + PCI_PM_CTRL -
                                                         ADDRESS_AT));

    read_byte(dev, 0x40000003); /* D3hot */
    MX_WAIT(dev, qpci_config_readw(dev->pci, cap + PCI_PM_CTRL) & 3);
    qpci_config_writew(dev->pci, cap + PCI_PM_CTRL, 0);
    mx_map_bars(dev);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_RESET);
    mx_close(dev);
    stop(machine, iommu);
}

/* The device is behind a port that is made to switch its slot off. */
static void test_unplug(MxDevice *unused)
{
    g_autofree char *devices = g_strdup_printf(
        "-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off "
        "-device pcie-root-port,id=port1,addr=%d,chassis=1 "
        "-device mxgpu,id=gpu,bus=port1," OPTIONS, PORT_SLOT,
        unused->machine->env->options);
    MxMachine *machine = start(unused, devices);
    QPCIDevice *port = qpci_device_find(machine->bus,
                                        QPCI_DEVFN(PORT_SLOT, 0));
    uint8_t cap = qpci_find_capability(port, PCI_CAP_ID_EXP, 0);
    MxDevice *dev;
    Iommu *iommu;

    qpci_config_writel(port, PCI_PRIMARY_BUS, PORT_BUS << 8 | PORT_BUS << 16);
    qpci_config_writel(port, PCI_MEMORY_BASE, 0xeff0e000);
    qpci_device_enable(port);
    dev = mx_open(machine, QPCI_DEVFN(0, 0) | PORT_BUS << 5);
    iommu = start_iommu(machine, ecam(0, PORT_SLOT, cap + PCI_EXP_SLTCTL -
                                                    ADDRESS_AT));
    read_byte(dev, 0x40000000 | PCI_EXP_SLTCTL_PCC | PCI_EXP_SLTCTL_PIC);
    qtest_qmp_eventwait(machine->qts, "DEVICE_DELETED");
    g_assert_null(qpci_device_find(machine->bus, PORT_BUS << 8));
    mx_close(dev);
    g_free(port);
    stop(machine, iommu);
}

void mx_reentry_tests(void)
{
    if (mx_env()->express && !mx_env()->viommu) {
        mx_test("reentry/flr", MX_BARE, test_flr);
        mx_test("reentry/sleep", MX_BARE, test_sleep);
        mx_test("reentry/unplug", MX_BARE, test_unplug);
    }
}
