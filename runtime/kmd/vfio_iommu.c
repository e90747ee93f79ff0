/* SPDX-License-Identifier: MIT */
/*
 * VFIO groups: one container each, with its bus addresses. A group can be
 * opened once only, so the devices of this process that are in one share it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "vfio_priv.h"

/* Kernels that do not tell: what every IOMMU can do, less the MSI window. */
#define DEFAULT_LIMIT (1ull << 39)
#define MSI_START     0xfee00000ull
#define MSI_SIZE      0x00100000ull
/* How long a function that is being reset is waited for. */
#define OPEN_LIMIT_NS 2000000000ull
/* Low addresses stay free: a forgotten one should fault. */
#define LOWEST_IOVA   0x00100000ull

struct VfioGroup {
    VfioGroup *next;
    int number, fd, container;
    unsigned users;
    pthread_mutex_t lock; /* iova */
    McExtents iova;
};

/* Guards the list, and users. */
static pthread_mutex_t groups_lock = PTHREAD_MUTEX_INITIALIZER;
static VfioGroup *groups;

static int open_node(const char *name)
{
    char path[PATH_MAX];
    int fd, err;

    snprintf(path, sizeof(path), "%s/dev/vfio/%s", kmd_vfio_root(), name);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        return fd;
    }
    err = errno;
    switch (err) {
    case ENOENT:
        mc_error("%s does not exist: the modules vfio and vfio-pci must be "
                 "loaded", path);
        return -EACCES;
    case EACCES:
    case EPERM:
        mc_error("no permission on %s", path);
        return -EACCES;
    case EBUSY:
        mc_error("%s is in use: another process has the device", path);
        return -EBUSY;
    default:
        mc_error("%s: %s", path, strerror(err));
        return -err;
    }
}

/* ---- bus addresses --------------------------------------------------------- */

static int add_range(VfioGroup *g, uint64_t first, uint64_t last)
{
    /* The page tables hold 52 bits. */
    const uint64_t limit = MXGPU_PTE_ADDRESS | (KMD_PAGE_SIZE - 1);

    first = first < LOWEST_IOVA ? LOWEST_IOVA : first;
    last = last > limit ? limit : last;
    first = (first + KMD_PAGE_SIZE - 1) & ~(KMD_PAGE_SIZE - 1);
    last = (last + 1) & ~(KMD_PAGE_SIZE - 1);
    if (first >= last) {
        return 0;
    }
    return mc_extents_add(&g->iova, first, last - first);
}

static int add_default_ranges(VfioGroup *g)
{
    int ret = add_range(g, 0, DEFAULT_LIMIT - 1);

    return ret ? ret : mc_extents_exclude(&g->iova, MSI_START, MSI_SIZE);
}

/* Finds the list of usable ranges among the capabilities. */
static const struct vfio_iommu_type1_info_cap_iova_range *
find_range_cap(const struct vfio_iommu_type1_info *info)
{
    const struct vfio_iommu_type1_info_cap_iova_range *cap;
    uint32_t offset = info->cap_offset;

    while (offset && offset + sizeof(*cap) <= info->argsz) {
        cap = (const void *)((const char *)info + offset);
        if (cap->header.id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE) {
            uint64_t room = info->argsz - offset - sizeof(*cap);

            return cap->nr_iovas <= room / sizeof(cap->iova_ranges[0]) ? cap
                                                                       : NULL;
        }
        if (cap->header.next <= offset) {
            break;
        }
        offset = cap->header.next;
    }
    return NULL;
}

/*
 * The kernel says in argsz (the first word of each of these structures) how
 * large one with its capabilities would be, which may change between calls.
 */
void *kmd_vfio_info(int fd, unsigned long request, const void *ask,
                    uint32_t bytes)
{
    uint32_t size = bytes;
    int tries;

    for (tries = 0; tries < 4; tries++) {
        uint32_t *info = calloc(1, size);

        if (!info) {
            return NULL;
        }
        memcpy(info, ask, bytes);
        info[0] = size;
        if (ioctl(fd, request, info) < 0) {
            int saved = errno;

            free(info);
            errno = saved;
            return NULL;
        }
        if (info[0] <= size) {
            info[0] = size;
            return info;
        }
        size = info[0];
        free(info);
    }
    errno = E2BIG;
    return NULL;
}

static struct vfio_iommu_type1_info *get_info(VfioGroup *g)
{
    const struct vfio_iommu_type1_info ask = { 0 };

    return kmd_vfio_info(g->container, VFIO_IOMMU_GET_INFO, &ask, sizeof(ask));
}

static int learn_ranges(VfioGroup *g)
{
    const struct vfio_iommu_type1_info_cap_iova_range *cap = NULL;
    struct vfio_iommu_type1_info *info = get_info(g);
    uint32_t i;
    int ret = 0;

    if (!info) {
        mc_error("IOMMU group %d: cannot ask for its bus addresses", g->number);
        return -EIO;
    }
    if ((info->flags & VFIO_IOMMU_INFO_PGSIZES) &&
        !(info->iova_pgsizes & (KMD_PAGE_SIZE | (KMD_PAGE_SIZE - 1)))) {
        mc_error("IOMMU group %d: no 4 KiB pages", g->number);
        ret = -ENOTSUP;
    } else if (info->flags & VFIO_IOMMU_INFO_CAPS) {
        cap = find_range_cap(info);
    }
    for (i = 0; cap && !ret && i < cap->nr_iovas; i++) {
        ret = add_range(g, cap->iova_ranges[i].start, cap->iova_ranges[i].end);
    }
    if (!cap && !ret) {
        ret = add_default_ranges(g);
    }
    free(info);
    return ret;
}

int kmd_vfio_dma_map(VfioGroup *g, void *ptr, uint64_t size, uint64_t *iova)
{
    struct vfio_iommu_type1_dma_map map = {
        .argsz = sizeof(map),
        .flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
        .vaddr = (uintptr_t)ptr,
        .size = size,
    };
    struct rlimit limit = { 0, 0 };
    int ret;

    pthread_mutex_lock(&g->lock);
    ret = kmd_iova_alloc(&g->iova, ptr, size, iova);
    pthread_mutex_unlock(&g->lock);
    if (ret) {
        mc_error("no bus addresses left for %llu bytes",
                 (unsigned long long)size);
        return -ENOMEM;
    }
    map.iova = *iova;
    if (ioctl(g->container, VFIO_IOMMU_MAP_DMA, &map) == 0) {
        return 0;
    }
    ret = -errno;
    pthread_mutex_lock(&g->lock);
    mc_extents_free(&g->iova, *iova, size);
    pthread_mutex_unlock(&g->lock);
    switch (ret) {
    case -ENOMEM:
        getrlimit(RLIMIT_MEMLOCK, &limit);
        mc_error("pinning %llu bytes: out of lockable memory; the limit is "
                 "%llu bytes in all (ulimit -l)", (unsigned long long)size,
                 (unsigned long long)limit.rlim_cur);
        return ret;
    case -ENOSPC:
        mc_error("pinning %llu bytes: too many pinned pieces (parameter "
                 "dma_entry_limit of vfio_iommu_type1)",
                 (unsigned long long)size);
        return -ENOMEM;
    case -EFAULT:
        mc_error("pinning %llu bytes at %p: not readable and writable memory",
                 (unsigned long long)size, ptr);
        return ret;
    default:
        mc_error("pinning %llu bytes at %p: %s", (unsigned long long)size, ptr,
                 strerror(-ret));
        return ret;
    }
}

int kmd_vfio_dma_unmap(VfioGroup *g, uint64_t iova, uint64_t size)
{
    struct vfio_iommu_type1_dma_unmap unmap = {
        .argsz = sizeof(unmap),
        .iova = iova,
        .size = size,
    };
    int ret = 0;

    if (ioctl(g->container, VFIO_IOMMU_UNMAP_DMA, &unmap) < 0) {
        ret = -errno;
    } else if (unmap.size != size) {
        ret = -EIO;
    }
    if (ret) {
        /* The bus addresses stay taken. */
        mc_error("unpinning %llu bytes: %s", (unsigned long long)size,
                 strerror(-ret));
        return ret;
    }
    pthread_mutex_lock(&g->lock);
    mc_extents_free(&g->iova, iova, size);
    pthread_mutex_unlock(&g->lock);
    return 0;
}

/* ---- groups -------------------------------------------------------------------- */

static int container_open(void)
{
    int fd = open_node("vfio");

    if (fd < 0) {
        return fd;
    }
    if (ioctl(fd, VFIO_GET_API_VERSION) != VFIO_API_VERSION ||
        ioctl(fd, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) <= 0) {
        mc_error("this kernel's VFIO has no type 1 IOMMU interface: the "
                 "module vfio_iommu_type1 must be loaded");
        close(fd);
        return -ENOTSUP;
    }
    return fd;
}

static int group_check(VfioGroup *g)
{
    struct vfio_group_status status = { .argsz = sizeof(status) };

    if (ioctl(g->fd, VFIO_GROUP_GET_STATUS, &status) < 0) {
        mc_error("IOMMU group %d: %s", g->number, strerror(errno));
        return -errno;
    }
    if (!(status.flags & VFIO_GROUP_FLAGS_VIABLE)) {
        mc_error("IOMMU group %d: every device of it must be bound to "
                 "vfio-pci", g->number);
        return -EACCES;
    }
    return 0;
}

static int group_attach(VfioGroup *g)
{
    int ret;

    if (ioctl(g->fd, VFIO_GROUP_SET_CONTAINER, &g->container) < 0 ||
        ioctl(g->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) < 0) {
        ret = -errno;
        mc_error("IOMMU group %d: attaching it: %s", g->number,
                 strerror(-ret));
        return ret;
    }
    return 0;
}

static void group_free(VfioGroup *g)
{
    /* The kernel undoes the container's mappings with its last reference. */
    if (g->fd >= 0) {
        close(g->fd);
    }
    if (g->container >= 0) {
        close(g->container);
    }
    mc_extents_fini(&g->iova);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

static int group_open(int number, VfioGroup **out)
{
    VfioGroup *g = calloc(1, sizeof(*g));
    char name[16];
    int ret;

    if (!g) {
        return -ENOMEM;
    }
    pthread_mutex_init(&g->lock, NULL);
    mc_extents_init(&g->iova);
    g->number = number;
    g->fd = -1;
    g->container = container_open();
    ret = g->container < 0 ? g->container : 0;
    if (!ret) {
        snprintf(name, sizeof(name), "%d", number);
        g->fd = open_node(name);
        ret = g->fd < 0 ? g->fd : 0;
    }
    if (ret || (ret = group_check(g)) || (ret = group_attach(g)) ||
        (ret = learn_ranges(g))) {
        group_free(g);
        return ret;
    }
    *out = g;
    return 0;
}

int kmd_vfio_group_get(const VfioFunction *f, VfioGroup **out)
{
    VfioGroup *g;
    int ret = 0;

    pthread_mutex_lock(&groups_lock);
    for (g = groups; g && g->number != f->group; g = g->next) {
    }
    if (!g) {
        ret = group_open(f->group, &g);
        if (!ret) {
            g->next = groups;
            groups = g;
        }
    }
    if (!ret) {
        g->users++;
        *out = g;
    }
    pthread_mutex_unlock(&groups_lock);
    return ret;
}

void kmd_vfio_group_put(VfioGroup *g)
{
    VfioGroup **link;

    pthread_mutex_lock(&groups_lock);
    if (--g->users == 0) {
        for (link = &groups; *link != g; link = &(*link)->next) {
        }
        *link = g->next;
        group_free(g);
    }
    pthread_mutex_unlock(&groups_lock);
}

int kmd_vfio_group_device(VfioGroup *g, const char *bdf)
{
    uint64_t end = kmd_now_ns() + OPEN_LIMIT_NS;
    int fd;

    /* Somebody may be resetting it just now, which takes 100 ms: the reason
     * why a program that lost it opens it again. */
    while ((fd = ioctl(g->fd, VFIO_GROUP_GET_DEVICE_FD, bdf)) < 0 &&
           errno == EAGAIN && kmd_now_ns() < end) {
        kmd_sleep_ns(2000000);
    }
    if (fd < 0) {
        fd = -errno;
        mc_error("%s: opening it: %s", bdf, strerror(-fd));
    }
    return fd;
}
