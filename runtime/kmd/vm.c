/* SPDX-License-Identifier: MIT */
/* The address space: which device addresses belong to which memory object. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "priv.h"

#define PERMS                                                                  \
    (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_EXECUTE | MXGPU_PTE_ATOMIC)

int kmd_vm_init(KmdDevice *dev)
{
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
    free(dev->vm.vmas);
    memset(&dev->vm, 0, sizeof(dev->vm));
}

/* Index of the first mapping that ends after va. */
static size_t vma_find(const KmdVm *vm, uint64_t va)
{
    size_t lo = 0, hi = vm->count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (vm->vmas[mid].va + vm->vmas[mid].size <= va) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static int vma_reserve(KmdVm *vm)
{
    size_t capacity = vm->capacity ? vm->capacity * 2 : 64;
    KmdVma *grown;

    if (vm->count < vm->capacity) {
        return 0;
    }
    grown = realloc(vm->vmas, capacity * sizeof(*grown));
    if (!grown) {
        return -ENOMEM;
    }
    vm->vmas = grown;
    vm->capacity = capacity;
    return 0;
}

/* There is room: vma_reserve(). */
static void vma_insert(KmdVm *vm, size_t i, KmdVma vma)
{
    memmove(&vm->vmas[i + 1], &vm->vmas[i],
            (vm->count - i) * sizeof(vm->vmas[0]));
    vm->vmas[i] = vma;
    vm->count++;
}

static void vma_remove(KmdVm *vm, size_t i)
{
    memmove(&vm->vmas[i], &vm->vmas[i + 1],
            (vm->count - i - 1) * sizeof(vm->vmas[0]));
    vm->count--;
}

/* Forgets [va, end); there is room for one mapping more. Returns bytes. */
static uint64_t vma_cut(KmdVm *vm, uint64_t va, uint64_t end)
{
    size_t i = vma_find(vm, va);
    uint64_t bytes = 0;

    while (i < vm->count && vm->vmas[i].va < end) {
        KmdVma old = vm->vmas[i];
        uint64_t old_end = old.va + old.size;
        uint64_t from = old.va < va ? va : old.va;
        uint64_t to = old_end < end ? old_end : end;

        old.bo->mapped -= to - from;
        bytes += to - from;
        vma_remove(vm, i);
        if (old.va < from) {
            vma_insert(vm, i++, (KmdVma){ old.va, from - old.va, old.bo });
        }
        if (to < old_end) {
            vma_insert(vm, i++, (KmdVma){ to, old_end - to, old.bo });
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

static int map_locked(KmdBo *bo, uint64_t va, uint64_t offset, uint64_t size,
                      uint64_t flags)
{
    KmdVm *vm = &bo->dev->vm;
    size_t i = vma_find(vm, va);
    int ret;

    if (i < vm->count && vm->vmas[i].va < va + size) {
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
    vma_insert(vm, i, (KmdVma){ va, size, bo });
    bo->mapped += size;
    return 0;
}

int kmd_bo_map(KmdBo *bo, uint64_t va, uint64_t offset, uint64_t size,
               uint64_t perms)
{
    KmdDevice *dev = bo->dev;
    int ret;

    if (bad_range(va, size) || offset % KMD_PAGE_SIZE || offset > bo->size ||
        size > bo->size - offset || perms == 0 || (perms & ~PERMS)) {
        mc_error("map: bad range: %llu bytes from offset %llu of an object of "
                 "%llu at 0x%llx, permissions 0x%llx",
                 (unsigned long long)size, (unsigned long long)offset,
                 (unsigned long long)bo->size, (unsigned long long)va,
                 (unsigned long long)perms);
        return -EINVAL;
    }
    if (kmd_lost(dev)) {
        return -ENODEV;
    }
    pthread_mutex_lock(&dev->vm_lock);
    ret = map_locked(bo, va, offset, size,
                     perms | (bo->system ? MXGPU_PTE_SYSTEM : 0));
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
