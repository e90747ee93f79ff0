/* SPDX-License-Identifier: MIT */
#include "host_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "error.h"
#include "log.h"
#include "mxgpu/pte.h"
#include "range.h"
#include "stream.h"

/* Owner of a host range. */
typedef struct HostMemory {
    struct HostMemory *next;
    void *pages; /* whole pages around what the user sees */
    uint64_t size;
    bool read_only;
    KmdBo *bo[MC_MAX_DEVICES];
} HostMemory;

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static HostMemory *host_list;
static McContext *attached[MC_MAX_DEVICES]; /* open devices */

static int map_on(McContext *ctx, HostMemory *memory)
{
    uint64_t perms = MXGPU_PTE_READ;
    KmdBo **bo = &memory->bo[ctx->device];

    if (!memory->read_only) {
        perms |= MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC;
    }
    int err = ctx->ops->pin(ctx->kmd, memory->pages, memory->size, bo);
    if (err) {
        *bo = NULL;
        return err;
    }
    err = ctx->ops->map(*bo, (uintptr_t)memory->pages, 0, memory->size, perms);
    if (err) {
        ctx->ops->free(*bo);
        *bo = NULL;
    }
    return err;
}

static void unmap_from(McContext *ctx, HostMemory *memory)
{
    if (memory->bo[ctx->device]) {
        ctx->ops->unmap(ctx->kmd, (uintptr_t)memory->pages, memory->size);
        ctx->ops->free(memory->bo[ctx->device]);
        memory->bo[ctx->device] = NULL;
    }
}

/* Under the lock. */
static int map_everywhere(HostMemory *memory)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        if (attached[i]) {
            int err = map_on(attached[i], memory);

            if (err) {
                while (--i >= 0) {
                    if (attached[i]) {
                        unmap_from(attached[i], memory);
                    }
                }
                return err;
            }
        }
    }
    return 0;
}

static void remove_everywhere(HostMemory *memory)
{
    pthread_mutex_lock(&host_lock);
    for (HostMemory **p = &host_list; *p; p = &(*p)->next) {
        if (*p == memory) {
            *p = memory->next;
            break;
        }
    }
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        if (attached[i]) {
            unmap_from(attached[i], memory);
        }
    }
    pthread_mutex_unlock(&host_lock);
}

static mcError_t add(HostMemory *memory, const McRange *range)
{
    pthread_mutex_lock(&host_lock);
    int err = map_everywhere(memory);
    if (!err) {
        memory->next = host_list;
        host_list = memory;
    }
    pthread_mutex_unlock(&host_lock);
    if (err) {
        mcError_t error = mc_error_from_kmd(err);

        return error == mcErrorAlreadyMapped
                   ? mcErrorHostMemoryAlreadyRegistered
                   : error;
    }
    if (!mc_range_add(range)) {
        remove_everywhere(memory);
        return mcErrorHostMemoryAlreadyRegistered;
    }
    return mcSuccess;
}

/* All devices may have work that uses host memory. */
static void sync_all(void)
{
    for (int i = 0; i < mc_device_count(); i++) {
        McContext *ctx = mc_context_peek(i);

        if (ctx) {
            mc_context_sync(ctx);
            mc_context_put(ctx);
        }
    }
}

mcError_t mc_host_alloc(int device, uint64_t size, unsigned flags, void **ptr)
{
    HostMemory *memory = calloc(1, sizeof(*memory));

    if (!memory) {
        return mcErrorMemoryAllocation;
    }
    memory->size = (size + KMD_PAGE_SIZE - 1) & ~(KMD_PAGE_SIZE - 1);
    if (memory->size < size) {
        free(memory);
        return mcErrorMemoryAllocation;
    }
    memory->pages = mmap(NULL, memory->size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory->pages == MAP_FAILED) {
        free(memory);
        return mcErrorMemoryAllocation;
    }
    McRange range = {
        .base = (uintptr_t)memory->pages,
        .size = size,
        .kind = MC_RANGE_HOST,
        .device = device,
        .flags = flags,
        .owner = memory,
    };
    mcError_t error = add(memory, &range);
    if (error != mcSuccess) {
        munmap(memory->pages, memory->size);
        free(memory);
        return error;
    }
    *ptr = memory->pages;
    return mcSuccess;
}

mcError_t mc_host_free(void *ptr)
{
    McRange range;

    if (!mc_range_find((uintptr_t)ptr, &range) ||
        range.base != (uintptr_t)ptr || range.kind != MC_RANGE_HOST) {
        return mcErrorInvalidValue;
    }
    sync_all();
    if (!mc_range_remove((uintptr_t)ptr, &range)) {
        return mcErrorInvalidValue; /* another thread freed it meanwhile */
    }
    HostMemory *memory = range.owner;
    remove_everywhere(memory);
    munmap(memory->pages, memory->size);
    free(memory);
    return mcSuccess;
}

mcError_t mc_host_register(int device, void *ptr, uint64_t size,
                           unsigned flags)
{
    uint64_t start = (uintptr_t)ptr & ~(KMD_PAGE_SIZE - 1);
    uint64_t end = (uintptr_t)ptr + size;

    if (end < (uintptr_t)ptr || end > MXGPU_VA_LIMIT - KMD_PAGE_SIZE) {
        return mcErrorInvalidValue;
    }
    end = (end + KMD_PAGE_SIZE - 1) & ~(KMD_PAGE_SIZE - 1);
    if (mc_range_overlaps((uintptr_t)ptr, size)) {
        return mcErrorHostMemoryAlreadyRegistered;
    }
    HostMemory *memory = calloc(1, sizeof(*memory));
    if (!memory) {
        return mcErrorMemoryAllocation;
    }
    memory->pages = (void *)(uintptr_t)start;
    memory->size = end - start;
    memory->read_only = flags & mcHostRegisterReadOnly;
    McRange range = {
        .base = (uintptr_t)ptr,
        .size = size,
        .kind = MC_RANGE_REGISTERED,
        .device = device,
        .flags = flags,
        .owner = memory,
    };
    mcError_t error = add(memory, &range);
    if (error != mcSuccess) {
        free(memory);
    }
    return error;
}

mcError_t mc_host_unregister(void *ptr)
{
    McRange range;

    if (!mc_range_find((uintptr_t)ptr, &range) ||
        range.base != (uintptr_t)ptr || range.kind != MC_RANGE_REGISTERED) {
        return mcErrorHostMemoryNotRegistered;
    }
    sync_all();
    if (!mc_range_remove((uintptr_t)ptr, &range)) {
        return mcErrorHostMemoryNotRegistered;
    }
    remove_everywhere(range.owner);
    free(range.owner);
    return mcSuccess;
}

mcError_t mc_host_memory_attach(McContext *ctx)
{
    int err = 0;

    pthread_mutex_lock(&host_lock);
    for (HostMemory *m = host_list; m && !err; m = m->next) {
        err = map_on(ctx, m);
    }
    if (!err) {
        attached[ctx->device] = ctx;
    } else {
        for (HostMemory *m = host_list; m; m = m->next) {
            unmap_from(ctx, m);
        }
    }
    pthread_mutex_unlock(&host_lock);
    return mc_error_from_kmd(err);
}

void mc_host_memory_detach(McContext *ctx)
{
    pthread_mutex_lock(&host_lock);
    if (attached[ctx->device] == ctx) {
        for (HostMemory *m = host_list; m; m = m->next) {
            unmap_from(ctx, m);
        }
        attached[ctx->device] = NULL;
    }
    pthread_mutex_unlock(&host_lock);
}
