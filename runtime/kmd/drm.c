/* SPDX-License-Identifier: MIT */
/* Devices of the kernel driver: which there are, and one of them. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drm_priv.h"
#include "priv.h"

#define NODES "/dev/dri"
#define MAX_NODES 64

/* DRM_IOCTL_VERSION: of any driver. */
struct version {
    int major, minor, patch;
    size_t name_len;
    char *name;
    size_t date_len;
    char *date;
    size_t desc_len;
    char *desc;
};
#define GET_VERSION _IOWR('d', 0x00, struct version)

/* ---- nodes ---- */

typedef struct Node {
    char path[sizeof(NODES) + 32];
    uint32_t domain, address; /* on PCI: bus << 8 | device << 3 | function */
} Node;

/* Before it is opened, which wakes other devices up. */
static bool named_ours(const char *name)
{
    char path[96], link[256] = "";
    const char *end;

    snprintf(path, sizeof(path), "/sys/class/drm/%.31s/device/driver", name);
    if (readlink(path, link, sizeof(link) - 1) < 0) {
        return false;
    }
    end = strrchr(link, '/');
    return end && !strcmp(end + 1, MXGPU_DRM_NAME);
}

static bool is_ours(int fd)
{
    char name[16] = "";
    struct version v = {.name = name, .name_len = sizeof(name) - 1};

    return !ioctl(fd, GET_VERSION, &v) && !strcmp(name, MXGPU_DRM_NAME);
}

/* Fills the node in, and leaves it open; -ENODEV: another driver's. */
static int node_open(Node *node, const char *name)
{
    struct drm_mxgpu_info info;
    int fd, err;

    snprintf(node->path, sizeof(node->path), NODES "/%.31s", name);
    fd = open(node->path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        err = -errno;
        mc_info("%s: %s", node->path, strerror(-err));
        return err == -EACCES || err == -EPERM ? -EACCES : -ENODEV;
    }
    if (!is_ours(fd) || ioctl(fd, DRM_IOCTL_MXGPU_INFO, &info)) {
        close(fd);
        return -ENODEV;
    }
    node->domain = info.pci_domain;
    node->address = info.pci_address;
    return fd;
}

static int by_address(const void *a, const void *b)
{
    const Node *x = a, *y = b;

    return x->domain != y->domain     ? (x->domain > y->domain) * 2 - 1
           : x->address != y->address ? (x->address > y->address) * 2 - 1
                                      : 0;
}

/* Devices in PCI order; *denied: nodes that this user may not open. */
static unsigned find_nodes(Node *nodes, unsigned *denied)
{
    DIR *dir = opendir(NODES);
    struct dirent *entry;
    unsigned n = 0;

    *denied = 0;
    while (dir && n < MAX_NODES && (entry = readdir(dir))) {
        int fd;

        if (strncmp(entry->d_name, "renderD", 7) != 0 ||
            !named_ours(entry->d_name)) {
            continue;
        }
        fd = node_open(&nodes[n], entry->d_name);
        *denied += fd == -EACCES;
        if (fd >= 0) {
            close(fd);
            n++;
        }
    }
    if (dir) {
        closedir(dir);
    }
    qsort(nodes, n, sizeof(*nodes), by_address);
    return n;
}

bool kmd_driver_present(void)
{
    Node nodes[MAX_NODES];
    unsigned denied;

    return find_nodes(nodes, &denied) != 0;
}

static int driver_count(unsigned *count)
{
    Node nodes[MAX_NODES];
    unsigned denied, n = find_nodes(nodes, &denied);

    if (n == 0) {
        mc_error("no device of the kernel driver in " NODES "%s",
                 denied ? ": some nodes may not be opened by this user" : "");
        return denied ? -EACCES : -ENODEV;
    }
    *count = n;
    return 0;
}

/* ---- a device ---- */

static void info_fill(KmdInfo *info, const struct drm_mxgpu_info *from)
{
    snprintf(info->name, sizeof(info->name), "MXGPU %u CU",
             from->compute_units);
    info->vram_size = from->vram_size;
    info->compute_units = from->compute_units;
    info->copy_engines = from->copy_engines;
    info->queues = (from->queues + 1) / 2; /* the driver's bound for a file */
    info->priorities = from->priorities;
    info->vectors = from->vectors;
    info->warp_size = from->warp_size;
    info->cu_threads = from->cu_threads;
    info->cu_blocks = from->cu_blocks;
    info->block_threads = from->block_threads;
    info->cu_registers = from->cu_registers;
    info->cu_shared = from->cu_shared;
    info->cu_private = from->cu_private;
    info->watchdog_ms = from->watchdog_ms;
    info->pci_domain = from->pci_domain;
    info->pci_bus = from->pci_address >> 8;
    info->pci_device = from->pci_address >> 3 & 31;
    info->pci_function = from->pci_address & 7;
    info->fw_version = from->fw_version;
    memcpy(info->fw_build, from->fw_build, sizeof(info->fw_build));
    info->fw_build[sizeof(info->fw_build) - 1] = 0;
    memcpy(info->uuid, from->uuid, sizeof(info->uuid));
}

static const KmdArenaOps arena_ops = {
    .pin = drm_bo_pin,
    .map = drm_bo_map,
    .unmap = drm_unmap,
    .free = drm_bo_free,
};

static int device_start(DrmDevice *d)
{
    struct drm_mxgpu_info info;
    int ret = drm_call(d, DRM_IOCTL_MXGPU_INFO, &info);
    void *page;

    if (ret) {
        return ret;
    }
    info_fill(&d->info, &info);
    d->min_priority = info.min_priority;
    page = mmap(NULL, sizeof(*d->status), PROT_READ, MAP_SHARED, d->fd,
                MXGPU_MMAP_STATUS);
    if (page == MAP_FAILED) {
        return -errno;
    }
    d->status = page;
    d->info.pageable = drm_pageable(d);
    return 0;
}

static int driver_open(unsigned index, KmdDevice **dev)
{
    Node nodes[MAX_NODES];
    unsigned denied, n = find_nodes(nodes, &denied);
    DrmDevice *d;
    int ret;

    if (index >= n) {
        mc_error("there is no device %u of the kernel driver", index);
        return -ENODEV;
    }
    d = calloc(1, sizeof(*d));
    if (!d) {
        return -ENOMEM;
    }
    d->fd = open(nodes[index].path, O_RDWR | O_CLOEXEC);
    ret = d->fd < 0 ? -errno : device_start(d);
    if (ret) {
        mc_error("%s: %s", nodes[index].path, strerror(-ret));
        if (d->fd >= 0) {
            close(d->fd);
        }
        free(d);
        return ret;
    }
    pthread_mutex_init(&d->import_lock, NULL);
    kmd_arena_init(&d->arena, drm_device(d), &arena_ops);
    mc_info("%s: %s", nodes[index].path, d->info.name);
    *dev = drm_device(d);
    return 0;
}

/* The kernel ends queues and mappings with the file, and then frees memory. */
static void driver_close(KmdDevice *dev)
{
    DrmDevice *d = drm_of(dev);

    drm_faults_stop(d);
    munmap((void *)(uintptr_t)d->status, sizeof(*d->status));
    close(d->fd);
    kmd_arena_fini(&d->arena);
    pthread_mutex_destroy(&d->import_lock);
    free(d);
}

static void driver_info(KmdDevice *dev, KmdInfo *info)
{
    *info = drm_of(dev)->info;
}

static bool driver_alive(KmdDevice *dev, bool look)
{
    DrmDevice *d = drm_of(dev);
    struct drm_mxgpu_state args = {.flags = MXGPU_STATE_LOOK};
    uint64_t now, looked = atomic_load(&d->looked);

    if (!atomic_load(&d->lost) && look) {
        now = kmd_now_ns();
        if (now - looked >= KMD_LOOK_NS &&
            atomic_compare_exchange_strong(&d->looked, &looked, now)) {
            (void)drm_error(d, drm_call(d, DRM_IOCTL_MXGPU_STATE, &args));
        }
    }
    if (d->status->state & MXGPU_STATE_LOST) {
        (void)drm_error(d, -ENODEV);
    }
    return !atomic_load(&d->lost);
}

static uint64_t driver_clock(KmdDevice *dev)
{
    struct drm_mxgpu_clock args = {0};

    (void)drm_error(drm_of(dev),
                    drm_call(drm_of(dev), DRM_IOCTL_MXGPU_CLOCK, &args));
    return args.clock;
}

static unsigned driver_where(KmdDevice *dev, uint64_t *pcs, unsigned room)
{
    struct drm_mxgpu_where args = {.pcs = (uintptr_t)pcs, .count = room};
    int ret = drm_call(drm_of(dev), DRM_IOCTL_MXGPU_WHERE, &args);

    return drm_error(drm_of(dev), ret) ? 0 : args.count;
}

static void driver_module(KmdDevice *dev, uint64_t address, const char *path)
{
    (void)dev;
    (void)address;
    (void)path;
}

const KmdOps kmd_driver_ops = {
    .name = "driver",
    .count = driver_count,
    .open = driver_open,
    .close = driver_close,
    .info = driver_info,
    .alloc = drm_bo_alloc,
    .pin = drm_bo_pin,
    .peer = drm_bo_peer,
    .reaches = drm_device_reaches,
    .share = drm_bo_share,
    .import = drm_bo_import,
    .free = drm_bo_free,
    .cpu = drm_bo_cpu,
    .memory = drm_memory,
    .map = drm_bo_map,
    .unmap = drm_unmap,
    .replace = drm_replace,
    .shared_alloc = drm_shared_alloc,
    .shared_free = drm_shared_free,
    .queue_create = drm_queue_create,
    .queue_ring = drm_queue_ring,
    .queue_profile = drm_queue_profile,
    .queue_launch = drm_queue_launch,
    .contexts = drm_contexts,
    .queue_destroy = drm_queue_destroy,
    .faults = drm_faults,
    .irq_count = drm_queue_irq_count,
    .irq_wait = drm_queue_irq_wait,
    .alive = driver_alive,
    .clock = driver_clock,
    .where = driver_where,
    .module = driver_module,
};
