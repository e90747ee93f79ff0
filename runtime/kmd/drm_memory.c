/* SPDX-License-Identifier: MIT */
/* Memory of a device of the kernel driver, and what is mapped on it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drm_priv.h"
#include "mxgpu/pte.h"

/* Those of DRM's own that are needed here. */
struct gem_close {
    uint32_t handle, pad;
};
struct prime {
    uint32_t handle, flags;
    int32_t fd;
};
#define GEM_CLOSE          _IOW('d', 0x09, struct gem_close)
#define PRIME_HANDLE_TO_FD _IOWR('d', 0x2d, struct prime)
#define PRIME_FD_TO_HANDLE _IOWR('d', 0x2e, struct prime)

/* The kernel gives one handle for one object however often it is imported, and
 * does not count. */
typedef struct DrmImport {
    struct DrmImport *next;
    uint32_t handle;
    unsigned users;
} DrmImport;

static void close_handle(const DrmDevice *d, uint32_t handle)
{
    struct gem_close args = {.handle = handle};

    (void)drm_call(d, GEM_CLOSE, &args);
}

static DrmBo *bo_new(DrmDevice *d, uint64_t size)
{
    DrmBo *bo = calloc(1, sizeof(*bo));

    if (bo) {
        bo->dev = d;
        bo->size = size;
        bo->file = -1;
    }
    return bo;
}

int drm_bo_alloc(KmdDevice *dev, uint64_t size, KmdBo **out)
{
    struct drm_mxgpu_bo_create args = {
        .size = size, .place = MXGPU_PLACE_VRAM,
    };
    DrmDevice *d = drm_of(dev);
    DrmBo *bo = bo_new(d, size);
    int ret;

    if (!bo) {
        return -ENOMEM;
    }
    ret = drm_call(d, DRM_IOCTL_MXGPU_BO_CREATE, &args);
    if (ret) {
        mc_error("no %llu bytes of VRAM: %s", (unsigned long long)size,
                 strerror(-ret));
        free(bo);
        return drm_error(d, ret);
    }
    bo->handle = args.handle;
    bo->cpu = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd,
                   (off_t)args.mmap_offset);
    if (bo->cpu == MAP_FAILED) {
        mc_error("%llu bytes of VRAM cannot be mapped: %s",
                 (unsigned long long)size, strerror(errno));
        close_handle(d, bo->handle);
        free(bo);
        return -ENOMEM;
    }
    *out = (KmdBo *)(void *)bo;
    return 0;
}

int drm_bo_pin(KmdDevice *dev, void *ptr, uint64_t size, KmdBo **out)
{
    struct drm_mxgpu_bo_userptr args = {.addr = (uintptr_t)ptr, .size = size};
    DrmDevice *d = drm_of(dev);
    DrmBo *bo = bo_new(d, size);
    int ret;

    if (!bo) {
        return -ENOMEM;
    }
    ret = drm_call(d, DRM_IOCTL_MXGPU_BO_USERPTR, &args);
    if (ret == -EFAULT) { /* what may only be read */
        args.flags = MXGPU_USERPTR_READONLY;
        ret = drm_call(d, DRM_IOCTL_MXGPU_BO_USERPTR, &args);
    }
    if (ret) {
        mc_error("%llu bytes at %p cannot be pinned: %s",
                 (unsigned long long)size, ptr, strerror(-ret));
        free(bo);
        return drm_error(d, ret);
    }
    bo->handle = args.handle;
    bo->system = true;
    bo->cpu = ptr;
    *out = (KmdBo *)(void *)bo;
    return 0;
}

/* ---- for other processes: dma-bufs ---- */

int drm_bo_share(KmdBo *kmd_bo, int *fd, uint64_t *offset)
{
    DrmBo *bo = drm_bo(kmd_bo);
    struct prime args = {.handle = bo->handle, .flags = O_CLOEXEC | O_RDWR};
    DrmDevice *d = bo->dev;
    int ret = 0;

    if (bo->system) {
        return -EOPNOTSUPP;
    }
    pthread_mutex_lock(&d->import_lock);
    if (bo->file < 0) {
        ret = drm_call(d, PRIME_HANDLE_TO_FD, &args);
        bo->file = ret ? -1 : args.fd;
    }
    *fd = bo->file;
    *offset = 0;
    pthread_mutex_unlock(&d->import_lock);
    return drm_error(d, ret);
}

/* With import_lock held. */
static DrmImport **import_find(DrmDevice *d, uint32_t handle)
{
    DrmImport **link = &d->imports;

    while (*link && (*link)->handle != handle) {
        link = &(*link)->next;
    }
    return link;
}

/* With import_lock held. */
static int import_handle(DrmDevice *d, int fd, uint32_t *handle)
{
    struct prime args = {.fd = fd};
    DrmImport *new = calloc(1, sizeof(*new)), **link;
    int ret = new ? drm_call(d, PRIME_FD_TO_HANDLE, &args) : -ENOMEM;

    if (ret) {
        free(new);
        return ret;
    }
    *handle = args.handle;
    link = import_find(d, args.handle);
    if (*link) {
        free(new);
    } else {
        new->handle = args.handle;
        *link = new;
    }
    (*link)->users++;
    return 0;
}

static void import_drop(DrmDevice *d, uint32_t handle)
{
    DrmImport **link, *import;

    pthread_mutex_lock(&d->import_lock);
    link = import_find(d, handle);
    import = *link;
    if (import && --import->users == 0) {
        *link = import->next;
        free(import);
        close_handle(d, handle);
    }
    pthread_mutex_unlock(&d->import_lock);
}

int drm_bo_import(KmdDevice *dev, int fd, uint64_t offset, uint64_t size,
                  KmdBo **out)
{
    DrmDevice *d = drm_of(dev);
    DrmBo *bo = bo_new(d, size);
    int ret;

    if (!bo) {
        return -ENOMEM;
    }
    pthread_mutex_lock(&d->import_lock);
    ret = import_handle(d, fd, &bo->handle);
    pthread_mutex_unlock(&d->import_lock);
    if (ret) {
        mc_error("memory of another process cannot be imported: %s",
                 strerror(-ret));
        free(bo);
        return drm_error(d, ret);
    }
    bo->offset = offset;
    bo->imported = true;
    *out = (KmdBo *)(void *)bo;
    return 0;
}

/* ---- for other devices: dma-bufs, too ---- */

/* VRAM of another device, which is in system memory until it is freed. */
static int import_peer(DrmDevice *d, DrmBo *from, uint64_t offset,
                       uint64_t size, KmdBo **out)
{
    uint64_t start;
    DrmBo *bo = bo_new(d, size);
    int ret, fd;

    if (!bo) {
        return -ENOMEM;
    }
    ret = drm_bo_share((KmdBo *)(void *)from, &fd, &start);
    if (!ret) {
        pthread_mutex_lock(&d->import_lock);
        ret = import_handle(d, fd, &bo->handle);
        pthread_mutex_unlock(&d->import_lock);
    }
    if (ret) {
        free(bo);
        return ret;
    }
    bo->offset = from->offset + offset;
    bo->imported = true;
    *out = (KmdBo *)(void *)bo;
    return 0;
}

int drm_bo_peer(KmdDevice *dev, KmdBo *of, uint64_t offset, uint64_t size,
                KmdBo **bo)
{
    DrmBo *from = drm_bo(of);
    int ret;

    if (offset % KMD_PAGE_SIZE || offset > from->size ||
        size > from->size - offset) {
        mc_error("peer: %llu bytes from offset %llu of an object of %llu",
                 (unsigned long long)size, (unsigned long long)offset,
                 (unsigned long long)from->size);
        return -EINVAL;
    }
    if (from->system) {
        return drm_bo_pin(dev, (uint8_t *)from->cpu + offset, size, bo);
    }
    ret = import_peer(drm_of(dev), from, offset, size, bo);
    if (ret) {
        mc_error("%llu bytes of another device's VRAM are not reached: %s",
                 (unsigned long long)size, strerror(-ret));
    }
    return drm_error(drm_of(dev), ret);
}

/* What holds for SYSTEM memory holds for VRAM, of which there may be none. */
bool drm_device_reaches(KmdDevice *dev, KmdDevice *other)
{
    struct drm_mxgpu_bo_create args = {
        .size = KMD_PAGE_SIZE, .place = MXGPU_PLACE_SYSTEM,
    };
    DrmBo page = {.dev = drm_of(other), .size = args.size, .file = -1};
    KmdBo *peer;
    bool yes;

    if (dev == other) {
        return true;
    }
    if (drm_call(page.dev, DRM_IOCTL_MXGPU_BO_CREATE, &args)) {
        return false;
    }
    page.handle = args.handle;
    yes = import_peer(drm_of(dev), &page, 0, page.size, &peer) == 0;
    if (yes) {
        drm_bo_free(peer);
    }
    if (page.file >= 0) {
        close(page.file);
    }
    close_handle(page.dev, page.handle);
    return yes;
}

void drm_bo_free(KmdBo *kmd_bo)
{
    DrmBo *bo = drm_bo(kmd_bo);

    if (bo->file >= 0) {
        close(bo->file);
    }
    if (bo->cpu && !bo->system) {
        munmap(bo->cpu, bo->size);
    }
    if (bo->imported) {
        import_drop(bo->dev, bo->handle);
    } else {
        close_handle(bo->dev, bo->handle);
    }
    free(bo);
}

void *drm_bo_cpu(KmdBo *bo)
{
    return drm_bo(bo)->cpu;
}

void drm_memory(KmdDevice *dev, uint64_t *free, uint64_t *total)
{
    struct drm_mxgpu_memory args = {0};

    (void)drm_error(drm_of(dev),
                    drm_call(drm_of(dev), DRM_IOCTL_MXGPU_MEMORY, &args));
    *free = args.vram_free;
    *total = args.vram_total;
}

/* ---- mappings on the device ---- */

static struct drm_mxgpu_vm_map place_of(const DrmBo *bo, uint64_t va,
                                        uint64_t offset, uint64_t size,
                                        uint64_t perms)
{
    return (struct drm_mxgpu_vm_map){
        .handle = bo->handle,
        .perms = perms,
        .va = va,
        .offset = bo->offset + offset,
        .size = size,
    };
}

int drm_bo_map(KmdBo *kmd_bo, uint64_t va, uint64_t offset, uint64_t size,
               uint64_t perms)
{
    DrmBo *bo = drm_bo(kmd_bo);
    struct drm_mxgpu_vm_map args = place_of(bo, va, offset, size, perms);
    int ret = drm_call(bo->dev, DRM_IOCTL_MXGPU_VM_MAP, &args);

    if (ret == -EACCES) { /* pinned, and may only be read */
        args.perms &= ~(uint64_t)(MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC);
        ret = drm_call(bo->dev, DRM_IOCTL_MXGPU_VM_MAP, &args);
    }
    if (ret) {
        mc_error("%llu bytes from offset %llu of an object of %llu are not "
                 "mapped at 0x%llx: %s", (unsigned long long)size,
                 (unsigned long long)offset, (unsigned long long)bo->size,
                 (unsigned long long)va, strerror(-ret));
    }
    return drm_error(bo->dev, ret);
}

int drm_unmap(KmdDevice *dev, uint64_t va, uint64_t size)
{
    struct drm_mxgpu_vm_unmap args = {.va = va, .size = size};
    int ret = drm_call(drm_of(dev), DRM_IOCTL_MXGPU_VM_UNMAP, &args);

    if (ret) {
        mc_error("unmap: %llu bytes at 0x%llx: %s", (unsigned long long)size,
                 (unsigned long long)va, strerror(-ret));
    }
    return drm_error(drm_of(dev), ret);
}

/* The kernel takes so many at once. More are several steps: a page is still the
 * one or the other, but what is behind a failure stays as it was. */
int drm_replace(KmdDevice *dev, const KmdPlace *places, unsigned count)
{
    struct drm_mxgpu_vm_map *maps = calloc(count, sizeof(*maps));
    int ret = count && !maps ? -ENOMEM : 0;

    for (unsigned i = 0; i < count && maps; i++) {
        maps[i] = place_of(drm_bo(places[i].bo), places[i].va,
                           places[i].offset, places[i].size, places[i].perms);
    }
    for (unsigned done = 0, n; done < count && !ret; done += n) {
        struct drm_mxgpu_vm_replace args = {
            .places = (uintptr_t)(maps + done),
        };

        n = count - done < MXGPU_REPLACE_MAX ? count - done : MXGPU_REPLACE_MAX;
        args.count = n;
        ret = drm_call(drm_of(dev), DRM_IOCTL_MXGPU_VM_REPLACE, &args);
    }
    free(maps);
    if (ret) {
        mc_error("replace: %u places: %s", count, strerror(-ret));
    }
    return drm_error(drm_of(dev), ret);
}

/* ---- small pieces ---- */

int drm_shared_alloc(KmdDevice *dev, uint64_t size, void **memory)
{
    DrmDevice *d = drm_of(dev);

    return atomic_load(&d->lost) ? -ENODEV
                                 : kmd_arena_alloc(&d->arena, size, memory);
}

void drm_shared_free(KmdDevice *dev, void *memory, uint64_t size)
{
    kmd_arena_free(&drm_of(dev)->arena, memory, size);
}
