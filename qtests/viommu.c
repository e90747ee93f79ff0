/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "standard-headers/linux/virtio_config.h"
#include "standard-headers/linux/virtio_iommu.h"
#include "standard-headers/linux/virtio_pci.h"
#include "standard-headers/linux/virtio_ring.h"
#include "viommu.h"

#define REQUEST_VQ 0
#define EVENT_VQ   1
#define DOMAIN     1

uint64_t mx_ecam(unsigned bus, unsigned slot, unsigned offset)
{
    return MX_ECAM + (bus << 20 | slot << 15 | offset);
}

static void find_structures(MxViommu *v)
{
    uint8_t cap = 0;

    while ((cap = qpci_find_capability(v->pci, PCI_CAP_ID_VNDR, cap))) {
        uint8_t type = qpci_config_readb(
            v->pci, cap + offsetof(struct virtio_pci_cap, cfg_type));
        uint32_t offset = qpci_config_readl(
            v->pci, cap + offsetof(struct virtio_pci_cap, offset));

        if (type == VIRTIO_PCI_CAP_COMMON_CFG) {
            v->common = offset;
        } else if (type == VIRTIO_PCI_CAP_DEVICE_CFG) {
            v->config = offset;
        } else if (type == VIRTIO_PCI_CAP_NOTIFY_CFG) {
            v->notify = offset;
            v->notify_step = qpci_config_readl(
                v->pci, cap + offsetof(struct virtio_pci_notify_cap,
                                       notify_off_multiplier));
        }
    }
}

static void set_status(MxViommu *v, uint8_t status)
{
    qpci_io_writeb(v->pci, v->bar, v->common + VIRTIO_PCI_COMMON_STATUS,
                   status);
}

static void set_common(MxViommu *v, unsigned field, uint64_t value)
{
    qpci_io_writel(v->pci, v->bar, v->common + field, value);
    qpci_io_writel(v->pci, v->bar, v->common + field + 4, value >> 32);
}

static void start_queue(MxViommu *v, unsigned number, MxVring *ring)
{
    ring->desc = mx_alloc(v->machine, MX_PAGE);
    ring->avail = mx_alloc(v->machine, MX_PAGE);
    ring->used = mx_alloc(v->machine, MX_PAGE);
    qpci_io_writew(v->pci, v->bar, v->common + VIRTIO_PCI_COMMON_Q_SELECT,
                   number);
    qpci_io_writew(v->pci, v->bar, v->common + VIRTIO_PCI_COMMON_Q_SIZE,
                   MX_VIOMMU_RING);
    set_common(v, VIRTIO_PCI_COMMON_Q_DESCLO, ring->desc);
    set_common(v, VIRTIO_PCI_COMMON_Q_AVAILLO, ring->avail);
    set_common(v, VIRTIO_PCI_COMMON_Q_USEDLO, ring->used);
    qpci_io_writew(v->pci, v->bar, v->common + VIRTIO_PCI_COMMON_Q_ENABLE, 1);
}

static void set_desc(MxViommu *v, const MxVring *ring, unsigned i,
                     uint64_t addr, uint32_t len, uint16_t flags)
{
    qtest_writeq(v->machine->qts, ring->desc + 16 * i, addr);
    qtest_writel(v->machine->qts, ring->desc + 16 * i + 8, len);
    qtest_writel(v->machine->qts, ring->desc + 16 * i + 12,
                 flags | (i + 1) << 16);
}

static void fill_events(MxViommu *v, uint64_t target)
{
    uint64_t buffer[2] = { mx_alloc(v->machine, MX_PAGE), target };

    for (unsigned i = 0; i < 2; i++) {
        set_desc(v, &v->events, i, buffer[i],
                 sizeof(struct virtio_iommu_fault), VRING_DESC_F_WRITE);
        qtest_writew(v->machine->qts, v->events.avail + 4 + 2 * i, i);
    }
    qtest_writew(v->machine->qts, v->events.avail + 2, 2);
}

MxViommu *mx_viommu_start(MxMachine *machine, uint64_t target)
{
    const uint8_t found = VIRTIO_CONFIG_S_ACKNOWLEDGE |
                          VIRTIO_CONFIG_S_DRIVER;
    const uint32_t features[2] = {
        1u << VIRTIO_IOMMU_F_BYPASS_CONFIG | 1u << VIRTIO_IOMMU_F_MAP_UNMAP |
            1u << VIRTIO_RING_F_EVENT_IDX,
        1u << (VIRTIO_F_VERSION_1 - 32),
    };
    MxViommu *v = g_new0(MxViommu, 1);
    QPCIDevice *host = qpci_device_find(machine->bus, 0);

    qpci_config_writel(host, 0x64, 0);
    qpci_config_writel(host, 0x60, MX_ECAM | 1);
    g_free(host);
    v->machine = machine;
    v->pci = qpci_device_find(machine->bus, QPCI_DEVFN(MX_VIOMMU_SLOT, 0));
    g_assert_nonnull(v->pci);
    v->bar = qpci_iomap(v->pci, 4, NULL);
    qpci_device_enable(v->pci);
    find_structures(v);
    set_status(v, 0);
    set_status(v, found);
    for (unsigned i = 0; i < 2; i++) {
        qpci_io_writel(v->pci, v->bar, v->common + VIRTIO_PCI_COMMON_GFSELECT,
                       i);
        qpci_io_writel(v->pci, v->bar, v->common + VIRTIO_PCI_COMMON_GF,
                       features[i]);
    }
    set_status(v, found | VIRTIO_CONFIG_S_FEATURES_OK);
    start_queue(v, REQUEST_VQ, &v->requests);
    start_queue(v, EVENT_VQ, &v->events);
    fill_events(v, target);
    v->bodies = mx_alloc(machine, 64 * MX_VIOMMU_RING);
    v->tails = mx_alloc(machine, 32 * MX_VIOMMU_RING);
    set_status(v, found | VIRTIO_CONFIG_S_FEATURES_OK |
                  VIRTIO_CONFIG_S_DRIVER_OK);
    qpci_io_writeb(v->pci, v->bar, v->config +
                   offsetof(struct virtio_iommu_config, bypass), 0);
    return v;
}

void mx_viommu_free(MxViommu *v)
{
    g_free(v->pci);
    g_free(v);
}

void mx_viommu_bypass(MxViommu *v)
{
    qpci_io_writeb(v->pci, v->bar, v->config +
                   offsetof(struct virtio_iommu_config, bypass), 1);
}

unsigned mx_viommu_reports(MxViommu *v)
{
    return qtest_readw(v->machine->qts, v->events.used + 2);
}

uint64_t mx_viommu_answer(MxViommu *v)
{
    return v->tails + 32 * (v->held - 1);
}

void mx_viommu_report_to(MxViommu *v, uint64_t addr)
{
    qtest_writeq(v->machine->qts, v->events.desc, addr);
}

static void kick(MxViommu *v)
{
    int64_t deadline = dut_deadline();

    qtest_writew(v->machine->qts, v->requests.avail + 2, v->count);
    qpci_io_writew(v->pci, v->bar, v->notify + REQUEST_VQ * v->notify_step,
                   REQUEST_VQ);
    while (qtest_readw(v->machine->qts, v->requests.used + 2) != v->count) {
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
    }
    v->held = 0;
}

/* Makes the request, whose tail is left out, and waits until it is done. */
static void request(MxViommu *v, const void *body, size_t size)
{
    QTestState *qts = v->machine->qts;
    unsigned i = v->held++;
    uint64_t addr = v->bodies + 64 * i;

    g_assert_cmpuint(v->held, <=, MX_VIOMMU_RING / 2);
    qtest_memwrite(qts, addr, body, size);
    v->count++;
    qtest_writeb(qts, mx_viommu_answer(v), 0xff);
    set_desc(v, &v->requests, 2 * i, addr, size, VRING_DESC_F_NEXT);
    set_desc(v, &v->requests, 2 * i + 1, mx_viommu_answer(v),
             sizeof(struct virtio_iommu_req_tail), VRING_DESC_F_WRITE);
    qtest_writew(qts, v->requests.avail + 4 +
                 (uint16_t)(v->count - 1) % MX_VIOMMU_RING * 2, 2 * i);
    if (!v->hold) {
        uint64_t answer = mx_viommu_answer(v);

        kick(v);
        g_assert_cmpuint(qtest_readb(qts, answer), ==, VIRTIO_IOMMU_S_OK);
    }
}

void mx_viommu_hold(MxViommu *v)
{
    v->hold = true;
}

void mx_viommu_release(MxViommu *v)
{
    v->hold = false;
    kick(v);
}

#define REQUEST(v, body)                                                      \
    request(v, &(body), sizeof(body) - sizeof((body).tail))

void mx_viommu_attach(MxViommu *v, unsigned slot)
{
    struct virtio_iommu_req_attach attach = {
        .head.type = VIRTIO_IOMMU_T_ATTACH,
        .domain = DOMAIN,
        .endpoint = QPCI_DEVFN(slot, 0),
    };

    REQUEST(v, attach);
}

void mx_viommu_map(MxViommu *v, uint64_t iova, uint64_t addr, uint64_t size)
{
    struct virtio_iommu_req_map map = {
        .head.type = VIRTIO_IOMMU_T_MAP,
        .domain = DOMAIN,
        .virt_start = iova,
        .virt_end = iova + size - 1,
        .phys_start = addr,
        .flags = VIRTIO_IOMMU_MAP_F_READ | VIRTIO_IOMMU_MAP_F_WRITE,
    };

    REQUEST(v, map);
}

void mx_viommu_unmap(MxViommu *v, uint64_t iova, uint64_t size)
{
    struct virtio_iommu_req_unmap unmap = {
        .head.type = VIRTIO_IOMMU_T_UNMAP,
        .domain = DOMAIN,
        .virt_start = iova,
        .virt_end = iova + size - 1,
    };

    REQUEST(v, unmap);
}
