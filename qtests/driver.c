/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device as its driver sees it: see driver.h. */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "qemu/units.h"
#include "driver.h"

/* Device addresses of rings and control blocks, 1 MiB a queue. */
#define MX_QUEUE_VA 0x100000000ull

/* ---- the device in QEMU, as dut.h wants it ------------------------------- */

static uint32_t host_read(Dut *dut, uint32_t reg)
{
    MxDevice *dev = dut->host;

    return qpci_io_readl(dev->pci, dev->regs, reg);
}

static void host_write(Dut *dut, uint32_t reg, uint32_t value)
{
    MxDevice *dev = dut->host;

    qpci_io_writel(dev->pci, dev->regs, reg, value);
}

static void host_doorbell(Dut *dut, unsigned queue, uint64_t write_index)
{
    MxDevice *dev = dut->host;

    qpci_io_writeq(dev->pci, dev->doorbells, queue * MXGPU_DOORBELL_STRIDE,
                   write_index);
}

/* System memory is named by guest-physical address. */
static uint64_t host_address(MxDevice *dev, DutMemory memory, uint64_t at)
{
    return memory == DUT_VRAM ? dev->vram.addr + at : at;
}

static void host_load(Dut *dut, DutMemory memory, uint64_t at, void *buf,
                      size_t len)
{
    MxDevice *dev = dut->host;
    uint64_t addr = host_address(dev, memory, at);

    if (len == 8) {
        uint64_t value = qtest_readq(dev->qts, addr);

        memcpy(buf, &value, len);
    } else if (len == 4) {
        uint32_t value = qtest_readl(dev->qts, addr);

        memcpy(buf, &value, len);
    } else {
        qtest_memread(dev->qts, addr, buf, len);
    }
}

static void host_store(Dut *dut, DutMemory memory, uint64_t at,
                       const void *buf, size_t len)
{
    MxDevice *dev = dut->host;
    uint64_t addr = host_address(dev, memory, at);

    if (len == 8) {
        uint64_t value;

        memcpy(&value, buf, len);
        qtest_writeq(dev->qts, addr, value);
    } else {
        qtest_memwrite(dev->qts, addr, buf, len);
    }
}

/* A message is the last one's again until somebody clears it: at most 1. */
static uint64_t host_irqs(Dut *dut, unsigned vector)
{
    MxDevice *dev = dut->host;
    uint32_t message;

    if (!dev->msix) {
        mx_msix_enable(dev);
    }
    message = qtest_readl(dev->qts, mx_msix_target(dev, vector));
    if (!message) {
        return 0;
    }
    g_assert_cmphex(message, ==, MX_MSI_DATA + vector);
    qtest_writel(dev->qts, mx_msix_target(dev, vector), 0);
    return 1;
}

static void host_relax(Dut *dut)
{
    mx_tick(dut->host);
}

static const DutOps host_ops = {
    .read = host_read,
    .write = host_write,
    .doorbell = host_doorbell,
    .load = host_load,
    .store = host_store,
    .irqs = host_irqs,
    .relax = host_relax,
};

/* ---- registers and VRAM -------------------------------------------------- */

static uint64_t extended_space(MxDevice *dev)
{
    const uint64_t ecam = 0xb0000000;
    QPCIDevice *host = qpci_device_find(dev->machine->bus, 0);

    qpci_config_writel(host, 0x64, 0);
    qpci_config_writel(host, 0x60, ecam | 1);
    g_free(host);
    g_assert_cmphex(qtest_readl(dev->qts, ecam + (dev->pci->devfn << 12)), ==,
                    qpci_config_readl(dev->pci, PCI_VENDOR_ID));
    return ecam + (dev->pci->devfn << 12);
}

uint64_t mx_extended(MxDevice *dev, unsigned id)
{
    uint64_t space = extended_space(dev);
    unsigned at = 0x100;
    uint32_t header;

    while (at) {
        header = qtest_readl(dev->qts, space + at);
        if (PCI_EXT_CAP_ID(header) == id) {
            return space + at;
        }
        at = PCI_EXT_CAP_NEXT(header);
    }
    g_error("no extended capability %#x", id);
}

uint32_t mx_read(MxDevice *dev, uint32_t reg)
{
    return dut_read(&dev->dut, reg);
}

void mx_write(MxDevice *dev, uint32_t reg, uint32_t value)
{
    dut_write(&dev->dut, reg, value);
}

uint64_t mx_vram_read(MxDevice *dev, uint64_t offset)
{
    return qpci_io_readq(dev->pci, dev->vram, offset);
}

void mx_vram_write(MxDevice *dev, uint64_t offset, uint64_t value)
{
    qpci_io_writeq(dev->pci, dev->vram, offset, value);
}

uint64_t mx_vram_alloc(MxDevice *dev, size_t size)
{
    return dut_vram_alloc(&dev->dut, size);
}

void mx_tick(MxDevice *dev)
{
    qtest_clock_step(dev->qts, 20 * 1000);
}

/* ---- open ---------------------------------------------------------------- */

void mx_map_bars(MxDevice *dev)
{
    dev->regs = qpci_iomap(dev->pci, MXGPU_BAR_REGS, NULL);
    dev->vram = qpci_iomap(dev->pci, MXGPU_BAR_VRAM, &dev->vram_size);
    dev->doorbells = qpci_iomap(dev->pci, MXGPU_BAR_DOORBELL, NULL);
    qpci_device_enable(dev->pci);
}

void mx_init(MxDevice *dev)
{
    mx_map_bars(dev);
    dev->dut = (Dut){
        .ops = &host_ops, .host = dev,
        .vram_next = 64 * KiB, .vram_end = dev->vram_size,
    };
}

MxDevice *mx_open(MxMachine *machine, unsigned slot)
{
    MxDevice *dev = g_new0(MxDevice, 1);

    dev->machine = machine;
    dev->qts = machine->qts;
    dev->pci = qpci_device_find(machine->bus, QPCI_DEVFN(slot, 0));
    g_assert_nonnull(dev->pci);
    mx_init(dev);
    return dev;
}

void mx_close(MxDevice *dev)
{
    g_free(dev->pci);
    g_free(dev);
}

/* ---- firmware and mailbox ------------------------------------------------ */

void mx_firmware(uint8_t **data, size_t *size)
{
    g_free(*data);
    *data = dut_firmware("MXGPU_FIRMWARE", size);
}

void mx_load(MxDevice *dev, const void *image, size_t size)
{
    dut_start(&dev->dut, image, size);
}

unsigned mx_mcu_state(MxDevice *dev)
{
    return dut_mcu_state(&dev->dut);
}

uint32_t mx_call(MxDevice *dev, const void *message, size_t size,
                 uint32_t response[16])
{
    return dut_call(&dev->dut, message, size, response);
}

void mx_boot(MxDevice *dev)
{
    g_autofree uint8_t *image = NULL;
    size_t size;

    mx_firmware(&image, &size);
    dut_boot(&dev->dut, image, size);
    dut_vm_set(&dev->dut);
}

/* ---- page tables --------------------------------------------------------- */

uint64_t mx_pte_offset(MxDevice *dev, uint64_t va, unsigned level)
{
    return dut_pte(&dev->dut, va, level);
}

void mx_map(MxDevice *dev, uint64_t va, uint64_t addr, size_t size,
            uint64_t flags)
{
    for (size_t done = 0; done < size; done += MX_PAGE) {
        dut_map(&dev->dut, va + done, 0,
                (addr + done) | flags | MXGPU_PTE_VALID);
    }
}

void mx_invalidate(MxDevice *dev)
{
    dut_invalidate(&dev->dut);
}

/* ---- queues -------------------------------------------------------------- */

MxQueue *mx_queue_new(MxDevice *dev, unsigned id)
{
    MxQueue *queue = g_new0(MxQueue, 1);

    queue->id = id;
    queue->log2 = 4;
    queue->vector = id + 1;
    queue->ring = mx_alloc(dev->machine, MX_PAGE);
    queue->ctl = mx_alloc(dev->machine, MX_PAGE);
    queue->ring_va = MX_QUEUE_VA + id * MiB;
    queue->ctl_va = queue->ring_va + 0x10000;
    mx_map(dev, queue->ring_va,
           mx_bus_map(dev->machine, queue->ring, MX_PAGE), MX_PAGE, MX_SYS);
    mx_map(dev, queue->ctl_va,
           mx_bus_map(dev->machine, queue->ctl, MX_PAGE), MX_PAGE, MX_SYS);
    mx_invalidate(dev);
    dut_queue_create(&dev->dut, queue);
    return queue;
}

void mx_queue_free(MxQueue *queue)
{
    dut_queue_destroy(queue);
    g_free(queue);
}

uint64_t mx_push(MxQueue *queue, const void *packet)
{
    uint64_t index = dut_push(queue, packet);

    dut_ring(queue);
    return index;
}

void mx_wait_read_index(MxQueue *queue, uint64_t index)
{
    DUT_WAIT(queue->dut, dut_read_index(queue) >= index);
}

/* ---- MSI-X --------------------------------------------------------------- */

uint64_t mx_msix_target(MxDevice *dev, unsigned vector)
{
    return dev->msix + 4 * vector;
}

void mx_msix_mask(MxDevice *dev, unsigned vector, bool mask)
{
    qpci_io_writel(dev->pci, dev->doorbells,
                   MXGPU_MSIX_TABLE + 16 * vector + PCI_MSIX_ENTRY_VECTOR_CTRL,
                   mask);
}

bool mx_msix_pending(MxDevice *dev, unsigned vector)
{
    return qpci_io_readl(dev->pci, dev->doorbells,
                         MXGPU_MSIX_PBA + vector / 32 * 4) >> vector % 32 & 1;
}

void mx_msix_enable(MxDevice *dev)
{
    unsigned vectors = qpci_msix_table_size(dev->pci);
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_MSIX, 0);
    uint16_t flags = qpci_config_readw(dev->pci, cap + PCI_MSIX_FLAGS);
    uint64_t bus;

    dev->msix = mx_alloc(dev->machine, MX_PAGE);
    bus = mx_bus_map(dev->machine, dev->msix, MX_PAGE);
    for (unsigned i = 0; i < vectors; i++) {
        uint64_t entry = MXGPU_MSIX_TABLE + 16 * i;

        qpci_io_writel(dev->pci, dev->doorbells, entry, bus + 4 * i);
        qpci_io_writel(dev->pci, dev->doorbells, entry + 4, bus >> 32);
        qpci_io_writel(dev->pci, dev->doorbells, entry + 8, MX_MSI_DATA + i);
        mx_msix_mask(dev, i, false);
    }
    qpci_config_writew(dev->pci, cap + PCI_MSIX_FLAGS,
                       (flags | PCI_MSIX_FLAGS_ENABLE) &
                       ~PCI_MSIX_FLAGS_MASKALL);
}
