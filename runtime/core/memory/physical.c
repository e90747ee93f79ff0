/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "physical.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/context/error.h"
#include "file_memory.h"

static McPhysical *of(const McNode *node)
{
    return node ? mc_container_of(node, McPhysical, node) : NULL;
}

static int compare(const McNode *a, const McNode *b)
{
    return mc_order(of(a)->handle, of(b)->handle);
}

pthread_mutex_t mc_physical_lock = PTHREAD_MUTEX_INITIALIZER;
static McTree objects = {.compare = compare};
static uint64_t last_handle;

static bool at_home(const McPhysical *physical, const McContext *ctx)
{
    return physical->fd < 0 && physical->ctx == ctx;
}

mcError_t mc_physical_new(McContext *ctx, uint64_t size,
                          const mcMemAllocationProp *prop, int fd,
                          McPhysical **out)
{
    McPhysical *physical = calloc(1, sizeof(*physical));

    if (!physical) {
        return mcErrorMemoryAllocation;
    }
    physical->size = size;
    physical->prop = *prop;
    physical->ctx = ctx;
    physical->fd = fd;
    physical->handles = 1;
    if (fd >= 0) {
        physical->cpu = mc_file_map(fd, 0, size);
    } else {
        int err = ctx->ops->alloc(ctx->kmd, size, &physical->bo[ctx->device]);

        if (err) {
            free(physical);
            return mc_error_from_kmd(err);
        }
    }
    if (fd >= 0 && !physical->cpu) {
        free(physical);
        return mcErrorMemoryAllocation;
    }
    physical->handle = ++last_handle;
    mc_tree_insert(&objects, &physical->node);
    *out = physical;
    return mcSuccess;
}

mcError_t mc_physical_new_multicast(struct McMulticast *multicast,
                                    void (*end)(struct McMulticast *),
                                    uint64_t size, uint64_t *handle)
{
    McPhysical *physical = calloc(1, sizeof(*physical));

    if (!physical) {
        return mcErrorMemoryAllocation;
    }
    physical->size = size;
    physical->fd = -1;
    physical->handles = 1;
    physical->multicast = multicast;
    physical->end = end;
    physical->handle = *handle = ++last_handle;
    physical->prop.location.type = mcMemLocationTypeDevice;
    mc_tree_insert(&objects, &physical->node);
    return mcSuccess;
}

static int order(const McNode *node, const void *key)
{
    return mc_order(of(node)->handle, *(const uint64_t *)key);
}

McPhysical *mc_physical_find(uint64_t handle)
{
    McPhysical *physical = of(mc_tree_lower(&objects, &handle, order));

    return physical && physical->handle == handle && physical->handles
               ? physical
               : NULL;
}

static void physical_free(McPhysical *physical)
{
    mc_tree_remove(&objects, &physical->node);
    if (physical->multicast) {
        physical->end(physical->multicast);
    } else if (physical->fd >= 0) {
        mc_file_unmap(physical->cpu, physical->size);
        close(physical->fd);
    } else {
        McContext *ctx = physical->ctx;

        ctx->ops->free(physical->bo[ctx->device]);
    }
    free(physical);
}

void mc_physical_settle(McPhysical *physical)
{
    if (!physical->handles && !physical->mappings) {
        physical_free(physical);
    }
}

mcError_t mc_physical_attach(McPhysical *physical, McContext *ctx, KmdBo **out)
{
    KmdBo **bo = &physical->bo[ctx->device];
    int err = 0;

    if (!at_home(physical, ctx) && !*bo) {
        if (physical->fd >= 0) {
            err = ctx->ops->pin(ctx->kmd, physical->cpu, physical->size, bo);
        } else {
            McContext *home = physical->ctx;

            err = ctx->ops->peer(ctx->kmd, physical->bo[home->device], 0,
                                 physical->size, bo);
        }
        if (err) {
            *bo = NULL;
            return mc_error_from_kmd(err);
        }
    }
    physical->bo_users[ctx->device]++;
    *out = *bo;
    return mcSuccess;
}

void mc_physical_detach(McPhysical *physical, McContext *ctx)
{
    int device = ctx->device;

    if (--physical->bo_users[device] == 0 && !at_home(physical, ctx)) {
        ctx->ops->free(physical->bo[device]);
        physical->bo[device] = NULL;
    }
}

McPhysical *mc_physical_of(const McContext *ctx)
{
    for (McNode *n = mc_tree_first(&objects); n; n = mc_tree_next(n)) {
        if (of(n)->ctx == ctx) {
            return of(n);
        }
    }
    return NULL;
}

void mc_physical_drop(McPhysical *physical)
{
    physical->handles = 0;
    mc_physical_settle(physical);
}

/* ---- handles ---- */

static bool is_shared(const mcMemAllocationProp *prop)
{
    return prop->requestedHandleTypes == mcMemHandleTypePosixFileDescriptor;
}

static mcError_t add_new(McContext *ctx, uint64_t size,
                         const mcMemAllocationProp *prop, int fd,
                         uint64_t *handle)
{
    McPhysical *physical;

    pthread_mutex_lock(&mc_physical_lock);
    mcError_t error = mc_physical_new(ctx, size, prop, fd, &physical);
    if (error == mcSuccess) {
        *handle = physical->handle;
    }
    pthread_mutex_unlock(&mc_physical_lock);
    return error;
}

mcError_t mc_memory_create(McContext *ctx, uint64_t size,
                           const mcMemAllocationProp *prop, uint64_t *handle)
{
    int fd = -1;

    if (!ctx || is_shared(prop)) {
        int err = mc_file_new("mxgpu-memory", size, &fd);

        if (err) {
            return mc_error_from_kmd(err == -EFBIG ? -ENOMEM : err);
        }
    } else if (size > ctx->info.vram_size) {
        return mcErrorMemoryAllocation;
    }
    mcError_t error = add_new(ctx, size, prop, fd, handle);
    if (error == mcErrorMemoryAllocation && fd < 0 && mc_context_reclaim(ctx)) {
        error = add_new(ctx, size, prop, fd, handle);
    }
    if (error != mcSuccess && fd >= 0) {
        close(fd);
    }
    return error;
}

mcError_t mc_memory_release(uint64_t handle)
{
    pthread_mutex_lock(&mc_physical_lock);
    McPhysical *physical = mc_physical_find(handle);
    if (physical) {
        physical->handles--;
        mc_physical_settle(physical);
    }
    pthread_mutex_unlock(&mc_physical_lock);
    return physical ? mcSuccess : mcErrorInvalidValue;
}

mcError_t mc_memory_prop(uint64_t handle, mcMemAllocationProp *prop)
{
    pthread_mutex_lock(&mc_physical_lock);
    McPhysical *physical = mc_physical_find(handle);
    bool memory = physical && !physical->multicast;
    if (memory) {
        *prop = physical->prop;
    }
    pthread_mutex_unlock(&mc_physical_lock);
    return memory ? mcSuccess : mcErrorInvalidValue;
}

mcError_t mc_memory_export(uint64_t handle, int *fd)
{
    mcError_t error = mcErrorInvalidValue;

    pthread_mutex_lock(&mc_physical_lock);
    McPhysical *physical = mc_physical_find(handle);
    if (physical && is_shared(&physical->prop)) {
        *fd = fcntl(physical->fd, F_DUPFD_CLOEXEC, 0);
        error = *fd < 0 ? mcErrorOperatingSystem : mcSuccess;
    }
    pthread_mutex_unlock(&mc_physical_lock);
    return error;
}

mcError_t mc_memory_import(McContext *ctx, int fd, uint64_t *handle)
{
    const mcMemAllocationProp prop = {
        .type = mcMemAllocationTypePinned,
        .requestedHandleTypes = mcMemHandleTypePosixFileDescriptor,
        .location = {mcMemLocationTypeDevice, ctx->device},
    };
    McPhysical *physical;
    uint64_t size;

    if (mc_file_accept(fd, &size) || size == 0 || size % MC_GRANULARITY) {
        return mcErrorInvalidValue;
    }
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        return mcErrorOperatingSystem;
    }
    pthread_mutex_lock(&mc_physical_lock);
    mcError_t error = mc_physical_new(ctx, size, &prop, own, &physical);
    if (error == mcSuccess) {
        *handle = physical->handle;
    }
    pthread_mutex_unlock(&mc_physical_lock);
    if (error != mcSuccess) {
        close(own);
    }
    return error;
}
