/* SPDX-License-Identifier: MIT */
#include "vmm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/va.h"
#include "core/context/error.h"
#include "core/memory/range.h"
#include "core/memory/reserve.h"
#include "core/stream/stream.h"
#include "multicast.h"
#include "mxgpu/pte.h"

typedef struct Mapping {
    McNode node; /* by address */
    uint64_t va, size;
    McPhysical *physical;
    signed char access[MC_MAX_DEVICES], cpu; /* mcMemAccessFlags */
} Mapping;

static Mapping *of(const McNode *node)
{
    return node ? mc_container_of(node, Mapping, node) : NULL;
}

static int compare(const McNode *a, const McNode *b)
{
    return mc_order(of(a)->va, of(b)->va);
}

/* All under mc_physical_lock. */
static McTree mappings = {.compare = compare}; /* disjoint */
static McContext *attached[MC_MAX_DEVICES];    /* open devices */

static int ends_by(const McNode *node, const void *key)
{
    return of(node)->va + of(node)->size <= *(const uint64_t *)key ? -1 : 1;
}

/* The first that ends behind va, or NULL. */
static Mapping *lower(uint64_t va)
{
    return of(mc_tree_lower(&mappings, &va, ends_by));
}

static Mapping *find(uint64_t va)
{
    Mapping *m = lower(va);

    return m && m->va <= va ? m : NULL;
}

static Mapping *next(const Mapping *m)
{
    return of(mc_tree_next(&m->node));
}

/* The first of the whole mappings that make up [va, va + size), or NULL. */
static Mapping *row(uint64_t va, uint64_t size)
{
    Mapping *first = find(va), *m = first;
    uint64_t at = va;

    if (!m || m->va != va || size > MXGPU_VA_LIMIT - va) {
        return NULL;
    }
    while (m && m->va == at && at < va + size) {
        at += m->size;
        m = next(m);
    }
    return at == va + size ? first : NULL;
}

/* ---- one mapping, one device ---- */

static uint64_t perms_of(int access)
{
    return access == mcMemAccessFlagsProtReadWrite
               ? MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC
               : MXGPU_PTE_READ;
}

static void take_device(Mapping *m, McContext *ctx)
{
    if (m->physical->multicast) {
        mc_multicast_take(m->physical->multicast, ctx, m->va);
        m->access[ctx->device] = mcMemAccessFlagsProtNone;
        return;
    }

    int err = ctx->ops->unmap(ctx->kmd, m->va, m->size);

    if (err) {
        mc_error("device %d: unmapping failed: %s", ctx->device,
                 strerror(-err));
    }
    mc_physical_detach(m->physical, ctx);
    m->access[ctx->device] = mcMemAccessFlagsProtNone;
}

static mcError_t give_device(Mapping *m, McContext *ctx, int access)
{
    KmdBo *bo;
    mcError_t error;

    if (m->physical->multicast) {
        error = mc_multicast_give(m->physical->multicast, ctx, m->va, m->size,
                                  perms_of(access));
        m->access[ctx->device] = error == mcSuccess ? access : 0;
        return error;
    }
    error = mc_physical_attach(m->physical, ctx, &bo);
    if (error != mcSuccess) {
        return error;
    }
    int err = ctx->ops->map(bo, m->va, 0, m->size, perms_of(access));
    if (err) {
        mc_physical_detach(m->physical, ctx);
        return mc_error_from_kmd(err);
    }
    m->access[ctx->device] = access;
    return mcSuccess;
}

static mcError_t change_device(Mapping *m, int device, int access)
{
    McContext *ctx = attached[device];

    if (access == m->access[device]) {
        return mcSuccess;
    }
    if (!ctx) {
        return mcErrorContextIsDestroyed; /* meanwhile */
    }
    if (m->access[device]) {
        take_device(m, ctx);
    }
    return access ? give_device(m, ctx, access) : mcSuccess;
}

static mcError_t change_cpu(Mapping *m, int access)
{
    void *va = (void *)(uintptr_t)m->va;

    if (access == m->cpu) {
        return mcSuccess;
    }
    if (!access) {
        mc_va_hide(va, m->size);
    } else if (mmap(va, m->size,
                    access == mcMemAccessFlagsProtReadWrite
                        ? PROT_READ | PROT_WRITE
                        : PROT_READ,
                    MAP_SHARED | MAP_FIXED, m->physical->fd,
                    0) == MAP_FAILED) {
        return mcErrorMemoryAllocation;
    }
    m->cpu = access;
    return mcSuccess;
}

/* Tells others who may use it. */
static void publish(const Mapping *m)
{
    uint32_t reach = 0;

    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        reach |= m->access[i] ? 1u << i : 0;
    }
    mc_range_set_reach(m->va, reach, m->cpu);
}

static mcError_t change(Mapping *m, const McAccess *access)
{
    mcError_t error = mcSuccess;

    for (int i = 0; i < MC_MAX_DEVICES && error == mcSuccess; i++) {
        if (access->device[i] != MC_ACCESS_KEEP) {
            error = change_device(m, i, access->device[i]);
        }
    }
    if (error == mcSuccess && access->cpu != MC_ACCESS_KEEP) {
        error = change_cpu(m, access->cpu);
    }
    publish(m);
    return error;
}

static McAccess access_of(const Mapping *m)
{
    McAccess access = {.cpu = m->cpu};

    memcpy(access.device, m->access, sizeof(access.device));
    return access;
}

static void mapping_end(Mapping *m)
{
    static const McAccess none;

    mc_range_remove(m->va, NULL);
    change(m, &none);
    mc_tree_remove(&mappings, &m->node);
    m->physical->mappings--;
    mc_physical_settle(m->physical);
    free(m);
}

/* ---- waiting for who may be using it ---- */

/* Devices that lose or change access to a row; NULL: all that have any. */
static uint32_t losers(const Mapping *m, uint64_t end, const McAccess *access)
{
    uint32_t devices = 0;

    for (; m && m->va < end; m = next(m)) {
        for (int i = 0; i < MC_MAX_DEVICES; i++) {
            bool changes = !access || (access->device[i] != MC_ACCESS_KEEP &&
                                       access->device[i] != m->access[i]);

            devices |= m->access[i] && changes ? 1u << i : 0;
        }
    }
    return devices;
}

/* Not under the lock. What went wrong there is told to who waits for it. */
static void wait_for(uint32_t devices)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        McContext *ctx = devices >> i & 1 ? mc_context_peek(i) : NULL;

        if (ctx) {
            mc_context_sync(ctx);
            mc_context_put(ctx);
        }
    }
}

/* The row, under the lock, when nobody uses any more what goes. NULL, without
 * the lock: there is none. */
static Mapping *quiet_row(uint64_t va, uint64_t size, const McAccess *access)
{
    uint32_t waited = 0, devices;

    for (;;) {
        pthread_mutex_lock(&mc_physical_lock);
        Mapping *first = row(va, size);
        devices = losers(first, va + size, access) & ~waited;
        if (first && !devices) {
            return first;
        }
        pthread_mutex_unlock(&mc_physical_lock);
        if (!first) {
            return NULL;
        }
        wait_for(devices);
        waited |= devices;
    }
}

/* ---- what users do ---- */

mcError_t mc_vmm_map(uint64_t va, uint64_t size, uint64_t handle)
{
    mcError_t error = mcErrorInvalidValue;
    Mapping *m = calloc(1, sizeof(*m));

    if (!m) {
        return mcErrorMemoryAllocation;
    }
    pthread_mutex_lock(&mc_physical_lock);
    McPhysical *physical = mc_physical_find(handle);
    Mapping *after = lower(va);
    if (physical && size <= physical->size && mc_reserved(va, size) &&
        !physical->prop.allocFlags.usage && /* a tile pool has no address */
        (!after || after->va >= va + size)) {
        bool host = physical->prop.location.type != mcMemLocationTypeDevice;
        McRange range = {
            .base = va,
            .size = size,
            .kind = MC_RANGE_MAPPED,
            .device = host ? -1 : physical->prop.location.id,
            .owner = m,
        };

        m->va = va;
        m->size = size;
        m->physical = physical;
        error = mc_range_add(&range) ? mcSuccess : mcErrorMemoryAllocation;
    }
    if (error == mcSuccess) {
        mc_tree_insert(&mappings, &m->node);
        physical->mappings++;
    }
    pthread_mutex_unlock(&mc_physical_lock);
    if (error != mcSuccess) {
        free(m);
    }
    return error;
}

mcError_t mc_vmm_unmap(uint64_t va, uint64_t size)
{
    Mapping *m = quiet_row(va, size, NULL), *after;

    if (!m) {
        return mcErrorInvalidValue;
    }
    for (; m && m->va < va + size; m = after) {
        after = next(m);
        mapping_end(m);
    }
    pthread_mutex_unlock(&mc_physical_lock);
    return mcSuccess;
}

/* The host uses its own memory only. */
static bool cpu_allowed(const Mapping *m, uint64_t end)
{
    while (m && m->va < end &&
           m->physical->prop.location.type != mcMemLocationTypeDevice) {
        m = next(m);
    }
    return !m || m->va >= end;
}

mcError_t mc_vmm_set_access(uint64_t va, uint64_t size, const McAccess *access)
{
    Mapping *first = quiet_row(va, size, access), *m;
    uint64_t end = va + size;
    mcError_t error = mcSuccess;
    unsigned count = 0, done = 0;

    if (!first) {
        return mcErrorInvalidValue;
    }
    for (m = first; m && m->va < end; m = next(m)) {
        count++;
    }
    McAccess *before = calloc(count, sizeof(*before));
    if (!before) {
        error = mcErrorMemoryAllocation;
    } else if (access->cpu != MC_ACCESS_KEEP && !cpu_allowed(first, end)) {
        error = mcErrorInvalidValue;
    }
    for (m = first; m && m->va < end && error == mcSuccess; m = next(m)) {
        before[done++] = access_of(m);
        error = change(m, access);
    }
    if (error != mcSuccess) {
        m = first;
        for (unsigned i = 0; i < done; i++, m = next(m)) {
            change(m, &before[i]);
        }
    }
    pthread_mutex_unlock(&mc_physical_lock);
    free(before);
    return error;
}

mcError_t mc_vmm_get_access(uint64_t va, int device, mcMemAccessFlags *flags)
{
    pthread_mutex_lock(&mc_physical_lock);
    Mapping *m = find(va);
    if (m) {
        *flags = (mcMemAccessFlags)(device < 0 ? m->cpu : m->access[device]);
    }
    pthread_mutex_unlock(&mc_physical_lock);
    return m ? mcSuccess : mcErrorInvalidValue;
}

mcError_t mc_vmm_retain(uint64_t va, uint64_t *handle)
{
    pthread_mutex_lock(&mc_physical_lock);
    Mapping *m = find(va);
    if (m) {
        m->physical->handles++;
        *handle = m->physical->handle;
    }
    pthread_mutex_unlock(&mc_physical_lock);
    return m ? mcSuccess : mcErrorInvalidValue;
}

mcError_t mc_vmm_address_free(uint64_t va, uint64_t size)
{
    mcError_t error = mcErrorInvalidValue;

    pthread_mutex_lock(&mc_physical_lock);
    Mapping *after = lower(va);
    if (!after || after->va >= va + size) {
        error = mc_reserve_release(va, size);
    }
    pthread_mutex_unlock(&mc_physical_lock);
    return error;
}

mcError_t mc_vmm_bind(uint64_t multicast, uint64_t offset, uint64_t va,
                      uint64_t size)
{
    mcError_t error = mcErrorInvalidValue;

    pthread_mutex_lock(&mc_physical_lock);
    Mapping *m = find(va);
    if (m && size <= m->size - (va - m->va)) {
        error = mc_multicast_bind_physical(multicast, offset, m->physical,
                                           va - m->va, size);
    }
    pthread_mutex_unlock(&mc_physical_lock);
    return error;
}

/* ---- contexts ---- */

void mc_vmm_attach(McContext *ctx)
{
    pthread_mutex_lock(&mc_physical_lock);
    attached[ctx->device] = ctx;
    pthread_mutex_unlock(&mc_physical_lock);
}

void mc_vmm_detach(McContext *ctx)
{
    McPhysical *physical;
    Mapping *m, *after;

    pthread_mutex_lock(&mc_physical_lock);
    mc_multicast_detach(ctx);
    for (m = of(mc_tree_first(&mappings)); m; m = after) {
        after = next(m);
        if (m->physical->ctx == ctx) {
            mapping_end(m);
        } else {
            change_device(m, ctx->device, mcMemAccessFlagsProtNone);
            publish(m);
        }
    }
    while ((physical = mc_physical_of(ctx))) {
        mc_physical_drop(physical);
    }
    attached[ctx->device] = NULL;
    pthread_mutex_unlock(&mc_physical_lock);
}
