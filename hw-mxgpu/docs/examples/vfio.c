/* SPDX-License-Identifier: MIT */
/*
 * A PCI function bound to vfio-pci: name is its address, as 0000:00:04.0. Needs
 * the right to its group in /dev/vfio and to lock SYS_SIZE bytes of memory.
 */
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

#include "gpu.h"
#include "mxgpu/regs.h"

typedef struct Function {
    int container, group, device;
    volatile uint32_t *regs;
    volatile uint64_t *doorbell;
} Function;

static uint32_t vfio_read(Gpu *gpu, uint32_t offset)
{
    return ((Function *)gpu->opaque)->regs[offset / 4];
}

static void vfio_write(Gpu *gpu, uint32_t offset, uint32_t value)
{
    ((Function *)gpu->opaque)->regs[offset / 4] = value;
}

static void vfio_doorbell(Gpu *gpu, uint64_t value)
{
    *((Function *)gpu->opaque)->doorbell = value;
}

/* The group of the function, in a container with an IOMMU. */
static void open_group(Function *f, const char *name)
{
    char path[320], link[256], *number;
    ssize_t n;

    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/iommu_group", name);
    n = readlink(path, link, sizeof(link) - 1);
    if (n < 0) {
        die(path);
    }
    link[n] = '\0';
    number = strrchr(link, '/');
    snprintf(path, sizeof(path), "/dev/vfio/%s", number ? number + 1 : link);
    f->container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
    f->group = open(path, O_RDWR | O_CLOEXEC);
    if (f->container < 0 || f->group < 0 ||
        ioctl(f->group, VFIO_GROUP_SET_CONTAINER, &f->container) < 0 ||
        ioctl(f->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) < 0) {
        die(path);
    }
    f->device = ioctl(f->group, VFIO_GROUP_GET_DEVICE_FD, name);
    if (f->device < 0) {
        die(name);
    }
}

static struct vfio_region_info region(const Function *f, unsigned index)
{
    struct vfio_region_info info = {.argsz = sizeof(info), .index = index};

    if (ioctl(f->device, VFIO_DEVICE_GET_REGION_INFO, &info) < 0) {
        die("a region of the device");
    }
    return info;
}

static void *map_bar(const Function *f, unsigned bar, size_t size)
{
    struct vfio_region_info info = region(f, bar);
    void *p = mmap(NULL, size ? size : info.size, PROT_READ | PROT_WRITE,
                   MAP_SHARED, f->device, (off_t)info.offset);

    if (p == MAP_FAILED) {
        die("a BAR");
    }
    return p;
}

/* Without it the device reaches no memory and sends no interrupt. */
static void enable_bus_master(const Function *f)
{
    off_t at = (off_t)region(f, VFIO_PCI_CONFIG_REGION_INDEX).offset +
               PCI_COMMAND;
    uint16_t command;

    if (pread(f->device, &command, 2, at) != 2) {
        die("configuration space");
    }
    command |= PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
    if (pwrite(f->device, &command, 2, at) != 2) {
        die("configuration space");
    }
}

static void enable_msix(const Function *f, Gpu *gpu)
{
    union {
        struct vfio_irq_set set;
        uint8_t room[sizeof(struct vfio_irq_set) + sizeof(gpu->irq_fd)];
    } u = {.set = {.argsz = sizeof(u), .index = VFIO_PCI_MSIX_IRQ_INDEX,
                   .flags = VFIO_IRQ_SET_DATA_EVENTFD |
                            VFIO_IRQ_SET_ACTION_TRIGGER,
                   .count = VECTORS}};

    for (unsigned i = 0; i < VECTORS; i++) {
        gpu->irq_fd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    memcpy(u.set.data, gpu->irq_fd, sizeof(gpu->irq_fd));
    if (ioctl(f->device, VFIO_DEVICE_SET_IRQS, &u.set) < 0) {
        die("MSI-X");
    }
}

void gpu_open(Gpu *gpu, const char *name)
{
    Function *f = calloc(1, sizeof(*f));
    struct vfio_iommu_type1_dma_map map = {
        .argsz = sizeof(map),
        .flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
        .iova = SYS_IOVA, .size = SYS_SIZE,
    };

    if (!f) {
        die("memory");
    }
    open_group(f, name);
    enable_bus_master(f);
    f->regs = map_bar(f, MXGPU_BAR_REGS, 0);
    f->doorbell = map_bar(f, MXGPU_BAR_DOORBELL, 4096);
    *gpu = (Gpu){.read = vfio_read, .write = vfio_write,
                 .doorbell = vfio_doorbell, .opaque = f,
                 .vram = map_bar(f, MXGPU_BAR_VRAM, 0),
                 .sys = aligned_alloc(4096, SYS_SIZE)};
    enable_msix(f, gpu);
    map.vaddr = (uintptr_t)gpu->sys;
    if (!gpu->sys || ioctl(f->container, VFIO_IOMMU_MAP_DMA, &map) < 0) {
        die("mapping memory for the device");
    }
}

void gpu_close(Gpu *gpu)
{
    Function *f = gpu->opaque;

    /* The last descriptor resets the function and undoes all mappings. */
    close(f->device);
    close(f->group);
    close(f->container);
    free(gpu->sys);
    free(f);
}
