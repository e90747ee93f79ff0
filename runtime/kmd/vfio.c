/* SPDX-License-Identifier: MIT */
/*
 * The back end for a PCI function bound to vfio-pci: registers, aperture and
 * doorbells are mapped, interrupts arrive as eventfds, the IOMMU sees to it
 * that the device reaches only what was pinned for it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vfio_priv.h"


typedef struct VfioTransport {
    KmdTransport base; /* first */
    struct VfioTransport *next; /* of open functions */
    char bdf[16];
    VfioGroup *group;
    int fd;
    bool can_reset;
    volatile uint32_t *regs;
    uint8_t *doorbells;
    uint64_t regs_size, doorbells_size;
    int irq_fds[MXGPU_MAX_VECTORS];
} VfioTransport;

/* Guards the list of open functions and the choice. */
static pthread_mutex_t vfio_lock = PTHREAD_MUTEX_INITIALIZER;
static VfioTransport *open_functions;
static char chosen[16];

static VfioTransport *from_base(KmdTransport *t)
{
    return (VfioTransport *)(void *)t;
}

/* ---- regions ---------------------------------------------------------------- */

/* Information on a region with its capabilities; free() it. */
static struct vfio_region_info *region_info(VfioTransport *v, unsigned index)
{
    const struct vfio_region_info ask = { .index = index };
    struct vfio_region_info *info =
        kmd_vfio_info(v->fd, VFIO_DEVICE_GET_REGION_INFO, &ask, sizeof(ask));

    if (!info && errno != ENOMEM) {
        mc_error("%s: region %u: %s", v->bdf, index, strerror(errno));
    }
    return info;
}

/*
 * Whether [0, size) of a region can be mapped. A region that holds the MSI-X
 * table may say which parts can; one that says nothing can be mapped but for
 * the pages of that table, which lie behind the doorbells.
 */
static bool region_mappable(const struct vfio_region_info *info, uint64_t size)
{
    const struct vfio_region_info_cap_sparse_mmap *sparse;
    const struct vfio_info_cap_header *cap;
    uint32_t i, offset = info->cap_offset;

    if (!(info->flags & VFIO_REGION_INFO_FLAG_MMAP) || size > info->size) {
        return false;
    }
    if (!(info->flags & VFIO_REGION_INFO_FLAG_CAPS)) {
        return true;
    }
    while (offset && offset + sizeof(*cap) <= info->argsz) {
        cap = (const void *)((const char *)info + offset);
        sparse = (const void *)cap;
        if (cap->id == VFIO_REGION_INFO_CAP_SPARSE_MMAP &&
            offset + sizeof(*sparse) <= info->argsz &&
            sparse->nr_areas <= (info->argsz - offset - sizeof(*sparse)) /
                                sizeof(sparse->areas[0])) {
            for (i = 0; i < sparse->nr_areas; i++) {
                if (sparse->areas[i].offset == 0 &&
                    sparse->areas[i].size >= size) {
                    return true;
                }
            }
            return false;
        }
        if (cap->next <= offset) {
            break;
        }
        offset = cap->next;
    }
    return true;
}

/* Maps [0, *size) of a BAR; *size 0: all of it. NULL with a reason. */
static void *map_bar(VfioTransport *v, unsigned bar, uint64_t *size)
{
    struct vfio_region_info *info;
    void *p = MAP_FAILED;

    info = region_info(v, VFIO_PCI_BAR0_REGION_INDEX + bar);
    if (!info) {
        return NULL;
    }
    if (*size == 0) {
        *size = info->size;
    }
    if (*size == 0 || !region_mappable(info, *size)) {
        mc_error("%s: BAR %u: %llu of %llu bytes cannot be mapped", v->bdf,
                 bar, (unsigned long long)*size,
                 (unsigned long long)info->size);
    } else {
        p = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd,
                 (off_t)info->offset);
        if (p == MAP_FAILED) {
            mc_error("%s: BAR %u: %s", v->bdf, bar, strerror(errno));
        }
    }
    free(info);
    return p == MAP_FAILED ? NULL : p;
}

static int map_bars(VfioTransport *v)
{
    uint32_t queues;

    v->regs_size = MXGPU_REGS_SIZE;
    v->regs = map_bar(v, MXGPU_BAR_REGS, &v->regs_size);
    if (!v->regs) {
        return -EIO;
    }
    v->base.aperture_size = 0;
    v->base.vram = map_bar(v, MXGPU_BAR_VRAM, &v->base.aperture_size);
    if (!v->base.vram) {
        return -EIO;
    }
    queues = MXGPU_GET(MXGPU_QUEUE_CAPS_QUEUES,
                       v->regs[MXGPU_QUEUE_CAPS / 4]);
    if (queues == 0 || queues > MXGPU_MAX_QUEUES) {
        mc_error("%s: the device claims %u queues%s", v->bdf, queues,
                 queues == 0xffff ? ": it does not answer" : "");
        return queues == 0xffff ? -ENODEV : -EIO;
    }
    v->doorbells_size = (uint64_t)queues * MXGPU_DOORBELL_STRIDE;
    v->doorbells = map_bar(v, MXGPU_BAR_DOORBELL, &v->doorbells_size);
    return v->doorbells ? 0 : -EIO;
}

/* Memory accesses and bus mastering on. */
static int enable_bus(VfioTransport *v)
{
    struct vfio_region_info *info =
        region_info(v, VFIO_PCI_CONFIG_REGION_INDEX);
    uint16_t command = 0;
    off_t at;
    bool ok;

    if (!info) {
        return -EIO;
    }
    at = (off_t)info->offset + PCI_COMMAND;
    free(info);
    ok = pread(v->fd, &command, 2, at) == 2;
    command |= PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
    ok = ok && pwrite(v->fd, &command, 2, at) == 2;
    if (!ok) {
        mc_error("%s: configuration space: %s", v->bdf, strerror(errno));
        return -EIO;
    }
    return 0;
}

/* ---- interrupts ------------------------------------------------------------------ */

/* Hands count eventfds to one kind of interrupt; 0 takes them all back. A
 * positive result is how many there can be. */
static int set_irqs(VfioTransport *v, unsigned index, const int *fds,
                    unsigned count)
{
    _Alignas(struct vfio_irq_set)
    char buf[sizeof(struct vfio_irq_set) + MXGPU_MAX_VECTORS * sizeof(int)];
    struct vfio_irq_set *set = (void *)buf;
    int ret;

    memset(set, 0, sizeof(*set));
    set->argsz = (uint32_t)(sizeof(*set) + count * sizeof(int));
    set->flags = VFIO_IRQ_SET_ACTION_TRIGGER |
                 (count ? VFIO_IRQ_SET_DATA_EVENTFD : VFIO_IRQ_SET_DATA_NONE);
    set->index = index;
    set->count = count;
    if (count) {
        memcpy(set->data, fds, count * sizeof(int));
    }
    ret = ioctl(v->fd, VFIO_DEVICE_SET_IRQS, set);
    return ret < 0 ? -errno : ret;
}

static unsigned irq_info_count(VfioTransport *v, unsigned index)
{
    struct vfio_irq_info info = { .argsz = sizeof(info), .index = index };

    if (ioctl(v->fd, VFIO_DEVICE_GET_IRQ_INFO, &info) < 0 ||
        !(info.flags & VFIO_IRQ_INFO_EVENTFD)) {
        return 0;
    }
    return info.count;
}

static int enable_msix(VfioTransport *v)
{
    unsigned i, n = irq_info_count(v, VFIO_PCI_MSIX_IRQ_INDEX);
    int ret;

    n = n > MXGPU_MAX_VECTORS ? MXGPU_MAX_VECTORS : n;
    if (n == 0) {
        mc_error("%s: no MSI-X interrupts", v->bdf);
        return -ENOTSUP;
    }
    for (i = 0; i < n; i++) {
        v->irq_fds[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (v->irq_fds[i] < 0) {
            ret = -errno;
            mc_error("%s: eventfd: %s", v->bdf, strerror(-ret));
            return ret;
        }
    }
    ret = set_irqs(v, VFIO_PCI_MSIX_IRQ_INDEX, v->irq_fds, n);
    if (ret > 0 && (unsigned)ret < n) {
        /* The machine has fewer to give. */
        mc_info("%s: %d of %u interrupt vectors available", v->bdf, ret, n);
        n = (unsigned)ret;
        ret = set_irqs(v, VFIO_PCI_MSIX_IRQ_INDEX, v->irq_fds, n);
    }
    if (ret) {
        mc_error("%s: enabling %u interrupts: %s", v->bdf, n,
                 ret < 0 ? strerror(-ret) : "too many");
        return ret < 0 ? ret : -ENOSPC;
    }
    v->base.irq_fds = v->irq_fds;
    v->base.vectors = n;
    return 0;
}

/* Errors on the bus, and the system asking for the device back. Nothing is
 * lost where the kernel does not offer one of them. */
static void enable_notifiers(VfioTransport *v)
{
    static const unsigned kinds[] = {
        VFIO_PCI_ERR_IRQ_INDEX, VFIO_PCI_REQ_IRQ_INDEX,
    };
    unsigned i;

    v->base.gone_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    for (i = 0; i < 2 && v->base.gone_fd >= 0; i++) {
        if (irq_info_count(v, kinds[i]) > 0) {
            set_irqs(v, kinds[i], &v->base.gone_fd, 1);
        }
    }
}

/* ---- transport -------------------------------------------------------------------- */

static uint32_t vfio_read(KmdTransport *t, uint32_t offset)
{
    return from_base(t)->regs[offset / 4];
}

static void vfio_write(KmdTransport *t, uint32_t offset, uint32_t value)
{
    from_base(t)->regs[offset / 4] = value;
}

static void vfio_doorbell(KmdTransport *t, unsigned queue, uint64_t value)
{
    volatile uint64_t *bell = (volatile uint64_t *)(void *)
        (from_base(t)->doorbells + (uint64_t)queue * MXGPU_DOORBELL_STRIDE);

    *bell = value;
}

static int vfio_dma_map(KmdTransport *t, void *ptr, uint64_t size,
                        uint64_t *iova)
{
    return kmd_vfio_dma_map(from_base(t)->group, ptr, size, iova);
}

static int vfio_dma_unmap(KmdTransport *t, uint64_t iova, uint64_t size)
{
    return kmd_vfio_dma_unmap(from_base(t)->group, iova, size);
}

/* The kernel has done this when the function was opened, and does it again
 * when it is closed; it takes 100 ms. */
static int vfio_reset(KmdTransport *t)
{
    VfioTransport *v = from_base(t);
    int tries, ret = -ENOTSUP;

    for (tries = 0; v->can_reset && tries < 50; tries++) {
        ret = ioctl(v->fd, VFIO_DEVICE_RESET) ? -errno : 0;
        if (ret != -EAGAIN) {
            break;
        }
        kmd_sleep_ns(2000000);
    }
    if (ret) {
        mc_error("%s: function reset: %s", v->bdf, strerror(-ret));
    }
    return ret;
}

static void close_fds(VfioTransport *v)
{
    unsigned i;

    for (i = 0; i < MXGPU_MAX_VECTORS; i++) {
        if (v->irq_fds[i] >= 0) {
            close(v->irq_fds[i]);
        }
    }
    if (v->base.gone_fd >= 0) {
        close(v->base.gone_fd);
    }
}

static void vfio_close(KmdTransport *t)
{
    VfioTransport *v = from_base(t);
    VfioTransport **link;

    if (v->fd >= 0) {
        set_irqs(v, VFIO_PCI_MSIX_IRQ_INDEX, NULL, 0);
    }
    if (v->regs) {
        munmap((void *)v->regs, v->regs_size);
    }
    if (v->base.vram) {
        munmap(v->base.vram, v->base.aperture_size);
    }
    if (v->doorbells) {
        munmap(v->doorbells, v->doorbells_size);
    }
    if (v->fd >= 0) {
        close(v->fd);
    }
    close_fds(v);
    if (v->group) {
        kmd_vfio_group_put(v->group);
    }
    pthread_mutex_lock(&vfio_lock);
    for (link = &open_functions; *link; link = &(*link)->next) {
        if (*link == v) {
            *link = v->next;
            break;
        }
    }
    pthread_mutex_unlock(&vfio_lock);
    free(v);
}

static const KmdTransportOps vfio_transport_ops = {
    .read = vfio_read,
    .write = vfio_write,
    .doorbell = vfio_doorbell,
    .dma_map = vfio_dma_map,
    .dma_unmap = vfio_dma_unmap,
    .reset = vfio_reset,
    .close = vfio_close,
};

/* ---- opening ------------------------------------------------------------------------- */

static VfioTransport *transport_new(const VfioFunction *f)
{
    VfioTransport *v = calloc(1, sizeof(*v));
    unsigned i;

    if (!v) {
        return NULL;
    }
    v->base.ops = &vfio_transport_ops;
    v->base.gone_fd = -1;
    v->base.vram_fd = -1;
    v->base.pci_domain = f->domain;
    v->base.pci_bus = f->bus;
    v->base.pci_device = f->device;
    v->base.pci_function = f->function;
    v->fd = -1;
    memcpy(v->bdf, f->bdf, sizeof(v->bdf));
    for (i = 0; i < MXGPU_MAX_VECTORS; i++) {
        v->irq_fds[i] = -1;
    }
    return v;
}

/* One user a function in this process; the kernel would allow more. */
static int claim(VfioTransport *v)
{
    VfioTransport *other;

    pthread_mutex_lock(&vfio_lock);
    for (other = open_functions; other; other = other->next) {
        if (!strcmp(other->bdf, v->bdf)) {
            pthread_mutex_unlock(&vfio_lock);
            mc_error("%s: open in this process already", v->bdf);
            return -EBUSY;
        }
    }
    v->next = open_functions;
    open_functions = v;
    pthread_mutex_unlock(&vfio_lock);
    return 0;
}

static int transport_start(VfioTransport *v, const VfioFunction *f)
{
    struct vfio_device_info info = { .argsz = sizeof(info) };
    int ret;

    if ((ret = claim(v)) || (ret = kmd_vfio_group_get(f, &v->group))) {
        return ret;
    }
    v->fd = kmd_vfio_group_device(v->group, v->bdf);
    if (v->fd < 0) {
        return v->fd;
    }
    if (ioctl(v->fd, VFIO_DEVICE_GET_INFO, &info) < 0 ||
        !(info.flags & VFIO_DEVICE_FLAGS_PCI)) {
        mc_error("%s: not a PCI function for VFIO", v->bdf);
        return -EIO;
    }
    v->can_reset = info.flags & VFIO_DEVICE_FLAGS_RESET;
    if ((ret = enable_bus(v)) || (ret = map_bars(v)) ||
        (ret = enable_msix(v))) {
        return ret;
    }
    enable_notifiers(v);
    return 0;
}

/* Functions this process may use, in PCI order; those it may not are logged.
 * The first one's error when there are only such. */
static int usable(VfioFunction *list, unsigned *count)
{
    unsigned i, kept = 0, n = kmd_vfio_scan(list, VFIO_MAX_FUNCTIONS);
    char only[16], reason[256];
    int ret = -ENODEV, err;

    pthread_mutex_lock(&vfio_lock);
    memcpy(only, chosen, sizeof(only));
    pthread_mutex_unlock(&vfio_lock);
    for (i = 0; i < n; i++) {
        if (only[0] && strcmp(only, list[i].bdf)) {
            continue;
        }
        err = kmd_vfio_check(&list[i], reason, sizeof(reason));
        if (err) {
            mc_error("%s", reason);
            ret = ret == -ENODEV ? err : ret;
        } else {
            list[kept++] = list[i];
        }
    }
    *count = kept;
    if (kept == 0 && ret == -ENODEV) {
        mc_error("no PCI function %04x:%04x%s%s", MXGPU_PCI_VENDOR,
                 MXGPU_PCI_DEVICE, only[0] ? " at " : "", only);
    }
    return kept ? 0 : ret;
}

static int vfio_count(unsigned *count)
{
    VfioFunction list[VFIO_MAX_FUNCTIONS];

    return usable(list, count);
}

static int vfio_open(unsigned index, KmdDevice **dev)
{
    VfioFunction list[VFIO_MAX_FUNCTIONS];
    VfioTransport *v;
    unsigned count;
    int ret = usable(list, &count);

    if (ret) {
        return ret;
    }
    if (index >= count) {
        mc_error("there is no device %u", index);
        return -ENODEV;
    }
    v = transport_new(&list[index]);
    if (!v) {
        return -ENOMEM;
    }
    ret = transport_start(v, &list[index]);
    if (ret) {
        vfio_close(&v->base);
        return ret;
    }
    mc_info("%s: open, %u interrupt vectors", v->bdf, v->base.vectors);
    return kmd_device_open(&v->base, dev);
}

static int vfio_address(unsigned index, char bdf[16])
{
    VfioFunction list[VFIO_MAX_FUNCTIONS];
    unsigned count;
    int ret = usable(list, &count);

    if (ret || index >= count) {
        return ret ? ret : -ENODEV;
    }
    memcpy(bdf, list[index].bdf, sizeof(list[index].bdf));
    return 0;
}

int kmd_vfio_choose(const char *bdf)
{
    unsigned domain, bus, device, function;
    char name[sizeof(chosen)] = "";

    if (bdf) {
        if (!kmd_vfio_parse_bdf(bdf, &domain, &bus, &device, &function)) {
            mc_error("MXGPU_DEVICE: %s is not a PCI address like 0000:01:00.0",
                     bdf);
            return -EINVAL;
        }
        snprintf(name, sizeof(name), "%04x:%02x:%02x.%x", domain & 0xffff,
                 bus & 0xff, device & 0x1f, function & 7);
    }
    pthread_mutex_lock(&vfio_lock);
    memcpy(chosen, name, sizeof(chosen));
    pthread_mutex_unlock(&vfio_lock);
    return 0;
}

bool kmd_vfio_present(void)
{
    VfioFunction f;

    return kmd_vfio_scan(&f, 1) > 0;
}

const KmdOps kmd_vfio_ops = {
    .name = "vfio",
    .count = vfio_count,
    .open = vfio_open,
    .address = vfio_address,
    KMD_COMMON_OPS,
};
