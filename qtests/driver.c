/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device as its driver sees it: see driver.h. */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "qemu/units.h"
#include "driver.h"

#define MX_VMID 1
/* Device addresses of rings and control blocks, 1 MiB a queue. */
#define MX_QUEUE_VA 0x100000000ull

/* ---- registers and VRAM -------------------------------------------------- */

uint32_t mx_read(MxDevice *dev, uint32_t reg)
{
    return qpci_io_readl(dev->pci, dev->regs, reg);
}

void mx_write(MxDevice *dev, uint32_t reg, uint32_t value)
{
    qpci_io_writel(dev->pci, dev->regs, reg, value);
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
    uint64_t offset = dev->vram_next;

    dev->vram_next += QEMU_ALIGN_UP(size, MX_PAGE);
    g_assert_cmphex(dev->vram_next, <=, dev->vram_size);
    qtest_memset(dev->qts, dev->vram.addr + offset, 0, size);
    return offset;
}

bool mx_tick(MxDevice *dev, int64_t deadline)
{
    qtest_clock_step(dev->qts, 20 * 1000);
    return g_get_monotonic_time() < deadline;
}

/* ---- open ---------------------------------------------------------------- */

void mx_map_bars(MxDevice *dev)
{
    dev->regs = qpci_iomap(dev->pci, MXGPU_BAR_REGS, NULL);
    dev->vram = qpci_iomap(dev->pci, MXGPU_BAR_VRAM, &dev->vram_size);
    dev->doorbells = qpci_iomap(dev->pci, MXGPU_BAR_DOORBELL, NULL);
    qpci_device_enable(dev->pci);
}

MxDevice *mx_open(MxMachine *machine, unsigned slot)
{
    MxDevice *dev = g_new0(MxDevice, 1);

    dev->machine = machine;
    dev->qts = machine->qts;
    dev->pci = qpci_device_find(machine->bus, QPCI_DEVFN(slot, 0));
    g_assert_nonnull(dev->pci);
    mx_map_bars(dev);
    dev->vram_next = 64 * 1024;
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
    const char *path = getenv("MXGPU_FIRMWARE");
    gsize len;

    if (!path) {
        g_error("MXGPU_FIRMWARE must name the firmware image");
    }
    g_free(*data);
    if (!g_file_get_contents(path, (char **)data, &len, NULL)) {
        g_error("cannot read %s", path);
    }
    *size = len;
}

void mx_load(MxDevice *dev, const void *image, size_t size)
{
    mx_write(dev, MXGPU_MCU_SRAM_ADDR, 0);
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word = 0;

        memcpy(&word, (const uint8_t *)image + i, MIN(4, size - i));
        mx_write(dev, MXGPU_MCU_SRAM_DATA, word);
    }
    mx_write(dev, MXGPU_MCU_CTRL, MXGPU_SET(MXGPU_MCU_CTRL_START, 1));
}

unsigned mx_mcu_state(MxDevice *dev)
{
    return MXGPU_GET(MXGPU_MCU_STATUS_STATE, mx_read(dev, MXGPU_MCU_STATUS));
}

uint32_t mx_call(MxDevice *dev, const void *message, size_t size,
                 uint32_t response[16])
{
    uint32_t words[16] = { 0 }, status;

    g_assert_cmpuint(size, <=, sizeof(words));
    memcpy(words, message, size);
    for (unsigned i = 0; i < 16; i++) {
        mx_write(dev, MXGPU_MBOX_CMD + 4 * i, words[i]);
    }
    mx_write(dev, MXGPU_MBOX_REQ, ++dev->sequence);
    MX_WAIT(dev, mx_read(dev, MXGPU_MBOX_ACK) == dev->sequence);
    status = mx_read(dev, MXGPU_MBOX_RESP);
    for (unsigned i = 0; response && i < 16; i++) {
        response[i] = mx_read(dev, MXGPU_MBOX_RESP + 4 * i);
    }
    return status;
}

static void mx_hello(MxDevice *dev)
{
    struct mxgpu_msg_hello hello = { MXGPU_MSG_HELLO, MXGPU_MSG_ABI };
    struct mxgpu_msg_vm_set vm = { MXGPU_MSG_VM_SET, MX_VMID };
    uint32_t response[16];
    uint64_t root;

    g_assert_cmpuint(mx_call(dev, &hello, sizeof(hello), response), ==,
                     MXGPU_MSG_OK);
    g_assert_cmpuint(response[1], ==, MXGPU_MSG_ABI);
    if (!dev->root) {
        dev->root = mx_vram_alloc(dev, MX_PAGE);
    }
    root = dev->root | MXGPU_PTE_TABLE | MXGPU_PTE_VALID;
    vm.root_lo = root;
    vm.root_hi = root >> 32;
    g_assert_cmpuint(mx_call(dev, &vm, sizeof(vm), NULL), ==, MXGPU_MSG_OK);
}

void mx_boot(MxDevice *dev)
{
    g_autofree uint8_t *image = NULL;
    size_t size;

    mx_firmware(&image, &size);
    mx_load(dev, image, size);
    MX_WAIT(dev, MXGPU_GET(MXGPU_MCU_STATUS_READY,
                           mx_read(dev, MXGPU_MCU_STATUS)));
    g_assert_cmpuint(mx_mcu_state(dev), ==, MXGPU_MCU_RUNNING);
    dev->sequence = mx_read(dev, MXGPU_MBOX_ACK);
    mx_hello(dev);
}

/* ---- page tables --------------------------------------------------------- */

uint64_t mx_pte_offset(MxDevice *dev, uint64_t va, unsigned level)
{
    uint64_t table = dev->root;

    for (unsigned l = 3; l > level; l--) {
        uint64_t slot = table + 8 * MXGPU_PT_INDEX(va, l);
        uint64_t entry = mx_vram_read(dev, slot);

        if (!entry) {
            entry = mx_vram_alloc(dev, MX_PAGE) | MXGPU_PTE_TABLE |
                    MXGPU_PTE_VALID;
            mx_vram_write(dev, slot, entry);
        }
        table = entry & MXGPU_PTE_ADDRESS;
    }
    return table + 8 * MXGPU_PT_INDEX(va, level);
}

void mx_map(MxDevice *dev, uint64_t va, uint64_t addr, size_t size,
            uint64_t flags)
{
    for (size_t done = 0; done < size; done += MX_PAGE) {
        mx_vram_write(dev, mx_pte_offset(dev, va + done, 0),
                      (addr + done) | flags | MXGPU_PTE_VALID);
    }
}

void mx_invalidate(MxDevice *dev)
{
    struct mxgpu_msg_tlb_invalidate message = {
        MXGPU_MSG_TLB_INVALIDATE, MX_VMID,
    };

    g_assert_cmpuint(mx_call(dev, &message, sizeof(message), NULL), ==,
                     MXGPU_MSG_OK);
}

/* ---- queues -------------------------------------------------------------- */

MxQueue *mx_queue_new(MxDevice *dev, unsigned id)
{
    MxQueue *queue = g_new0(MxQueue, 1);
    struct mxgpu_msg_queue_create message = {
        .op = MXGPU_MSG_QUEUE_CREATE, .queue = id, .vmid = MX_VMID,
        .vector = id + 1, .log2_packets = 4,
    };

    queue->dev = dev;
    queue->id = id;
    queue->log2 = message.log2_packets;
    queue->vector = message.vector;
    queue->ring = mx_alloc(dev->machine, MX_PAGE);
    queue->ctl = mx_alloc(dev->machine, MX_PAGE);
    queue->ring_va = MX_QUEUE_VA + id * MiB;
    queue->ctl_va = queue->ring_va + 0x10000;
    mx_map(dev, queue->ring_va,
           mx_bus_map(dev->machine, queue->ring, MX_PAGE), MX_PAGE, MX_SYS);
    mx_map(dev, queue->ctl_va,
           mx_bus_map(dev->machine, queue->ctl, MX_PAGE), MX_PAGE, MX_SYS);
    mx_invalidate(dev);
    message.ring_lo = queue->ring_va;
    message.ring_hi = queue->ring_va >> 32;
    message.ctl_lo = queue->ctl_va;
    message.ctl_hi = queue->ctl_va >> 32;
    g_assert_cmpuint(mx_call(dev, &message, sizeof(message), NULL), ==,
                     MXGPU_MSG_OK);
    return queue;
}

void mx_queue_free(MxQueue *queue)
{
    struct mxgpu_msg_queue_destroy message = {
        MXGPU_MSG_QUEUE_DESTROY, queue->id,
    };

    g_assert_cmpuint(mx_call(queue->dev, &message, sizeof(message), NULL), ==,
                     MXGPU_MSG_OK);
    g_free(queue);
}

uint64_t mx_push(MxQueue *queue, const void *packet)
{
    uint64_t slot = queue->index % (1u << queue->log2);

    qtest_memwrite(queue->dev->qts, queue->ring + slot * MXGPU_PACKET_SIZE,
                   packet, MXGPU_PACKET_SIZE);
    queue->index++;
    qpci_io_writeq(queue->dev->pci, queue->dev->doorbells,
                   queue->id * MXGPU_DOORBELL_STRIDE, queue->index);
    return queue->index - 1;
}

void mx_wait_read_index(MxQueue *queue, uint64_t index)
{
    MX_WAIT(queue->dev, qtest_readq(queue->dev->qts, queue->ctl) >= index);
}

struct mxgpu_queue_error mx_queue_error(MxQueue *queue)
{
    struct mxgpu_queue_error error;
    uint64_t ctl = queue->ctl;

    MX_WAIT(queue->dev,
            qtest_readl(queue->dev->qts,
                        ctl + offsetof(struct mxgpu_queue_ctl, state)) ==
            MXGPU_QUEUE_ERROR);
    qtest_memread(queue->dev->qts,
                  ctl + offsetof(struct mxgpu_queue_ctl, error), &error,
                  sizeof(error));
    return error;
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
