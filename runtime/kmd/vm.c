/* SPDX-License-Identifier: MIT */
/* The address space: which device addresses belong to which memory object. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "priv.h"

#define PERMS                                                                  \
    (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_EXECUTE | MXGPU_PTE_ATOMIC)

static KmdVma *vma_of(const McNode *node)
{
    return node ? mc_container_of(node, KmdVma, node) : NULL;
}

static int vma_compare(const McNode *a, const McNode *b)
{
    return mc_order(vma_of(a)->va, vma_of(b)->va);
}

int kmd_vm_init(KmdDevice *dev)
{
    dev->vm.vmas.compare = vma_compare;
    return kmd_pt_init(dev);
}

int kmd_vm_start(KmdDevice *dev)
{
    uint64_t root = kmd_pt_root(dev);
    struct mxgpu_msg_vm_set req = {
        MXGPU_MSG_VM_SET, KMD_VMID, (uint32_t)root, (uint32_t)(root >> 32),
    };

    return kmd_mbox_call(dev, &req, sizeof(req) / 4, NULL, 0);
}

void kmd_vm_fini(KmdDevice *dev)
{
    kmd_pt_fini(dev);
    while (dev->vm.vmas.root) {
        KmdVma *vma = vma_of(dev->vm.vmas.root);

        mc_tree_remove(&dev->vm.vmas, &vma->node);
        free(vma);
    }
    free(dev->vm.spare);
    memset(&dev->vm, 0, sizeof(dev->vm));
}

static int vma_ends_by(const McNode *node, const void *key)
{
    const KmdVma *vma = vma_of(node);

    return vma->va + vma->size <= *(const uint64_t *)key ? -1 : 1;
}

/* The first mapping that ends after va, or NULL. */
static KmdVma *vma_find(const KmdVm *vm, uint64_t va)
{
    return vma_of(mc_tree_lower(&vm->vmas, &va, vma_ends_by));
}

static int vma_reserve(KmdVm *vm)
{
    if (!vm->spare) {
        vm->spare = malloc(sizeof(*vm->spare));
    }
    return vm->spare ? 0 : -ENOMEM;
}

/* There is a spare one: vma_reserve(). */
static void vma_insert(KmdVm *vm, uint64_t va, uint64_t size, KmdBo *bo)
{
    KmdVma *vma = vm->spare;

    vm->spare = NULL;
    *vma = (KmdVma){ .va = va, .size = size, .bo = bo };
    mc_tree_insert(&vm->vmas, &vma->node);
}

/* Forgets [va, end); there is a spare mapping. Returns bytes. */
static uint64_t vma_cut(KmdVm *vm, uint64_t va, uint64_t end)
{
    KmdVma *vma = vma_find(vm, va), *next;
    uint64_t bytes = 0;

    for (; vma && vma->va < end; vma = next) {
        uint64_t vma_end = vma->va + vma->size;
        uint64_t from = vma->va < va ? va : vma->va;
        uint64_t to = vma_end < end ? vma_end : end;

        next = vma_of(mc_tree_next(&vma->node));
        vma->bo->mapped -= to - from;
        bytes += to - from;
        if (vma->va < from) {
            vma->size = from - vma->va;
            if (to < vma_end) {
                vma_insert(vm, to, vma_end - to, vma->bo);
            }
        } else if (to < vma_end) {
            vma->va = to; /* still behind the one before it */
            vma->size = vma_end - to;
        } else {
            mc_tree_remove(&vm->vmas, &vma->node);
            free(vma);
        }
    }
    return bytes;
}

static bool bad_range(uint64_t va, uint64_t size)
{
    return size == 0 || ((va | size) & (KMD_PAGE_SIZE - 1)) ||
           va >= MXGPU_VA_LIMIT || size > MXGPU_VA_LIMIT - va;
}

static int invalidate(KmdDevice *dev, uint64_t va, uint64_t size)
{
    struct mxgpu_msg_tlb_invalidate req = {
        MXGPU_MSG_TLB_INVALIDATE, KMD_VMID,
        (uint32_t)va, (uint32_t)(va >> 32),
        (uint32_t)size, (uint32_t)(size >> 32),
    };

    return kmd_mbox_call(dev, &req, sizeof(req) / 4, NULL, 0);
}

static bool bad_place(const KmdBo *bo, uint64_t va, uint64_t offset,
                      uint64_t size, uint64_t perms)
{
    bool bad = bad_range(va, size) || offset % KMD_PAGE_SIZE ||
               offset > bo->size || size > bo->size - offset || perms == 0 ||
               (perms & ~PERMS);

    if (bad) {
        mc_error("map: bad range: %llu bytes from offset %llu of an object of "
                 "%llu at 0x%llx, permissions 0x%llx",
                 (unsigned long long)size, (unsigned long long)offset,
                 (unsigned long long)bo->size, (unsigned long long)va,
                 (unsigned long long)perms);
    }
    return bad;
}

static uint64_t leaf_flags(const KmdBo *bo, uint64_t perms)
{
    return perms | (bo->system ? MXGPU_PTE_SYSTEM : 0);
}

static int map_locked(KmdBo *bo, uint64_t va, uint64_t offset, uint64_t size,
                      uint64_t flags)
{
    KmdVm *vm = &bo->dev->vm;
    KmdVma *after = vma_find(vm, va);
    int ret;

    if (after && after->va < va + size) {
        mc_error("device addresses 0x%llx to 0x%llx are mapped already",
                 (unsigned long long)va, (unsigned long long)(va + size - 1));
        return -EEXIST;
    }
    ret = vma_reserve(vm);
    if (!ret) {
        ret = kmd_pt_map(bo->dev, va, bo->addr + offset, size, flags);
    }
    if (ret) {
        if (vm->dead && !invalidate(bo->dev, va, size)) {
            kmd_pt_reap(bo->dev);
        }
        return ret;
    }
    vma_insert(vm, va, size, bo);
    bo->mapped += size;
    return 0;
}

int kmd_bo_map(KmdBo *bo, uint64_t va, uint64_t offset, uint64_t size,
               uint64_t perms)
{
    KmdDevice *dev = bo->dev;
    int ret;

    if (bad_place(bo, va, offset, size, perms)) {
        return -EINVAL;
    }
    if (kmd_lost(dev)) {
        return -ENODEV;
    }
    pthread_mutex_lock(&dev->vm_lock);
    ret = map_locked(bo, va, offset, size, leaf_flags(bo, perms));
    pthread_mutex_unlock(&dev->vm_lock);
    return ret;
}

static int unmap_locked(KmdDevice *dev, uint64_t va, uint64_t size)
{
    int ret;

    /* Everything that can fail first. */
    if ((ret = vma_reserve(&dev->vm)) || (ret = kmd_pt_split(dev, va)) ||
        (ret = kmd_pt_split(dev, va + size))) {
        return ret;
    }
    if (vma_cut(&dev->vm, va, va + size) == 0) {
        return 0;
    }
    kmd_pt_clear(dev, va, size);
    ret = invalidate(dev, va, size);
    /* Without an answer nobody can tell whether the old translations are
     * still in use: stop everything that could use them. */
    if (ret && ret != -ENODEV) {
        kmd_device_lose(dev, "an invalidation failed");
        ret = -ENODEV;
    }
    kmd_pt_reap(dev);
    return ret;
}

int kmd_vm_unmap(KmdDevice *dev, uint64_t va, uint64_t size)
{
    int ret;

    if (bad_range(va, size)) {
        mc_error("unmap: bad range: %llu bytes at 0x%llx",
                 (unsigned long long)size, (unsigned long long)va);
        return -EINVAL;
    }
    pthread_mutex_lock(&dev->vm_lock);
    ret = unmap_locked(dev, va, size);
    pthread_mutex_unlock(&dev->vm_lock);
    return ret;
}

/* ---- other memory at the same addresses ---- */

static bool all_mapped(const KmdVm *vm, uint64_t va, uint64_t size)
{
    const KmdVma *vma = vma_find(vm, va);
    uint64_t end = va + size;

    while (vma && vma->va <= va && va < end) {
        va = vma->va + vma->size;
        vma = vma_of(mc_tree_next(&vma->node));
    }
    return va >= end;
}

/* Mappings that are not used yet. */
typedef struct Spare {
    KmdVma **vma;
    unsigned count;
} Spare;

static void spare_free(Spare *spare)
{
    while (spare->count) {
        free(spare->vma[--spare->count]);
    }
    free(spare->vma);
}

static bool spare_fill(Spare *spare, unsigned count)
{
    spare->vma = calloc(count, sizeof(*spare->vma));
    while (spare->vma && spare->count < count &&
           (spare->vma[spare->count] = malloc(sizeof(KmdVma)))) {
        spare->count++;
    }
    return spare->count == count;
}

static void take_spare(KmdVm *vm, Spare *spare)
{
    if (!vm->spare) {
        vm->spare = spare->vma[--spare->count];
    }
}

static void replace_one(KmdDevice *dev, const KmdPlace *p, Spare *spare)
{
    take_spare(&dev->vm, spare);
    vma_cut(&dev->vm, p->va, p->va + p->size);
    take_spare(&dev->vm, spare);
    vma_insert(&dev->vm, p->va, p->size, p->bo);
    p->bo->mapped += p->size;
    kmd_pt_replace(dev, p->va, p->bo->addr + p->offset, p->size,
                   leaf_flags(p->bo, p->perms));
}

/* Everything that can fail but the invalidation. */
static int replace_prepare(KmdDevice *dev, const KmdPlace *places,
                           unsigned count, Spare *spare)
{
    int ret = spare_fill(spare, 2 * count) ? 0 : -ENOMEM;

    for (unsigned i = 0; i < count && !ret; i++) {
        const KmdPlace *p = &places[i];

        if (!all_mapped(&dev->vm, p->va, p->size)) {
            mc_error("replace: not all of %llu bytes at 0x%llx is mapped",
                     (unsigned long long)p->size, (unsigned long long)p->va);
            return -EINVAL;
        }
        ret = kmd_pt_prepare(dev, p->va, p->bo->addr + p->offset, p->size);
    }
    return ret;
}

static int replace_locked(KmdDevice *dev, const KmdPlace *places,
                          unsigned count, Spare *spare)
{
    uint64_t low = UINT64_MAX, high = 0;
    int ret = replace_prepare(dev, places, count, spare);

    if (ret) {
        return ret;
    }
    for (unsigned i = 0; i < count; i++) {
        const KmdPlace *p = &places[i];

        replace_one(dev, p, spare);
        low = p->va < low ? p->va : low;
        high = p->va + p->size > high ? p->va + p->size : high;
    }
    ret = invalidate(dev, low, high - low);
    if (ret && ret != -ENODEV) {
        kmd_device_lose(dev, "an invalidation failed");
        ret = -ENODEV;
    }
    return ret;
}

int kmd_vm_replace(KmdDevice *dev, const KmdPlace *places, unsigned count)
{
    Spare spare = {0};
    int ret;

    for (unsigned i = 0; i < count; i++) {
        if (bad_place(places[i].bo, places[i].va, places[i].offset,
                      places[i].size, places[i].perms)) {
            return -EINVAL;
        }
    }
    if (kmd_lost(dev)) {
        return -ENODEV;
    }
    if (count == 0) {
        return 0;
    }
    pthread_mutex_lock(&dev->vm_lock);
    ret = replace_locked(dev, places, count, &spare);
    pthread_mutex_unlock(&dev->vm_lock);
    spare_free(&spare);
    return ret;
}
