/* SPDX-License-Identifier: MIT */
#include "multicast.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/va.h"
#include "core/context/error.h"
#include "core/context/peer.h"
#include "core/memory/alloc.h"
#include "core/stream/stream.h"
#include "device/multimem.h"
#include "mxgpu/pte.h"

#define PERMS (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC)

/* Memory of one device, bound at an offset. */
typedef struct Binding {
    struct Binding *next;
    uint64_t offset, size;
    McPhysical *memory; /* counted as if it was mapped */
    uint64_t memory_offset;
    int device;
    uint32_t mapped; /* devices that have it at the hidden address, a bit each */
} Binding;

/* The object at an address of a device. */
typedef struct View {
    struct View *next;
    int device;
    uint64_t va, size, perms;
} View;

struct McMulticast {
    McMulticast *next; /* of all */
    unsigned devices;
    uint64_t size;
    uint32_t team;
    void *hidden; /* of MC_MAX_DEVICES times size */
    Binding *bindings;
    View *views;
};

/* All under mc_physical_lock. */
static McMulticast *objects;
static McContext *members[MC_MAX_DEVICES]; /* open ones that are in a team */
static McMapping tables[MC_MAX_DEVICES];

/* ---- what kernels read ---- */

static void write_table(int device)
{
    struct mc_multimem *table;
    uint32_t n = 0;

    if (!tables[device].bo) {
        return;
    }
    table = members[device]->ops->cpu(tables[device].bo);
    for (McMulticast *m = objects; m; m = m->next) {
        for (View *v = m->views; v && n < MC_MULTIMEM_VIEWS; v = v->next) {
            if (v->device == device) {
                table->view[n++] = (struct mc_multimem_view){
                    .va = v->va,
                    .size = v->size,
                    .base = (uintptr_t)m->hidden,
                    .stride = m->size,
                    .devices = m->team,
                };
            }
        }
    }
    table->count = n;
}

mcError_t mc_multicast_table(McContext *ctx, uint64_t *va)
{
    McMapping *table = &tables[ctx->device];
    mcError_t error = mcSuccess;

    pthread_mutex_lock(&mc_physical_lock);
    members[ctx->device] = ctx;
    if (!table->bo) {
        error = mc_mapping_new(ctx, sizeof(struct mc_multimem), PERMS, table);
        if (error == mcSuccess) {
            write_table(ctx->device);
        } else {
            *table = (McMapping){0};
        }
    }
    *va = table->va;
    pthread_mutex_unlock(&mc_physical_lock);
    return error;
}

/* ---- bindings on devices ---- */

static uint64_t hidden_at(const McMulticast *m, const Binding *b)
{
    return (uintptr_t)m->hidden + (uint64_t)b->device * m->size + b->offset;
}

static void unmap(McContext *ctx, uint64_t va, uint64_t size)
{
    int err = ctx->ops->unmap(ctx->kmd, va, size);

    if (err) {
        mc_error("device %d: unmapping failed: %s", ctx->device,
                 strerror(-err));
    }
}

static mcError_t map(const Binding *b, McContext *ctx, uint64_t va,
                     uint64_t size, uint64_t perms)
{
    KmdBo *bo;
    mcError_t error = mc_physical_attach(b->memory, ctx, &bo);

    if (error != mcSuccess) {
        return error;
    }
    int err = ctx->ops->map(bo, va, b->memory_offset, size, perms);
    if (err) {
        mc_physical_detach(b->memory, ctx);
    }
    return err ? mc_error_from_kmd(err) : mcSuccess;
}

/* The part of a view that a binding of its device fills; false: none. */
static bool part(const View *v, const Binding *b, uint64_t *size)
{
    if (v->device != b->device || b->offset >= v->size) {
        return false;
    }
    *size = b->size < v->size - b->offset ? b->size : v->size - b->offset;
    return true;
}

static void hide_view(const View *v, const Binding *b)
{
    McContext *ctx = members[v->device];
    uint64_t size;

    if (part(v, b, &size)) {
        unmap(ctx, v->va + b->offset, size);
        mc_physical_detach(b->memory, ctx);
    }
}

static mcError_t show_view(const View *v, const Binding *b)
{
    uint64_t size;

    return part(v, b, &size)
               ? map(b, members[v->device], v->va + b->offset, size, v->perms)
               : mcSuccess;
}

static void hide_on(McMulticast *m, Binding *b, int device)
{
    if (b->mapped >> device & 1) {
        b->mapped &= ~(1u << device);
        unmap(members[device], hidden_at(m, b), b->size);
        mc_physical_detach(b->memory, members[device]);
    }
}

/* All that devices have of it. */
static void hide(McMulticast *m, Binding *b, const View *until)
{
    for (View *v = m->views; v != until; v = v->next) {
        hide_view(v, b);
    }
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        hide_on(m, b, i);
    }
}

static mcError_t show(McMulticast *m, Binding *b)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        mcError_t error = mcSuccess;

        if (m->team >> i & 1) {
            error = map(b, members[i], hidden_at(m, b), b->size, PERMS);
            b->mapped |= error == mcSuccess ? 1u << i : 0;
        }
        if (error != mcSuccess) {
            hide(m, b, m->views);
            return error;
        }
    }
    for (View *v = m->views; v; v = v->next) {
        mcError_t error = show_view(v, b);

        if (error != mcSuccess) {
            hide(m, b, v);
            return error;
        }
    }
    return mcSuccess;
}

static void binding_end(McMulticast *m, Binding **at)
{
    Binding *b = *at;

    *at = b->next;
    hide(m, b, NULL);
    b->memory->mappings--;
    mc_physical_settle(b->memory);
    free(b);
}

/* ---- objects ---- */

static McMulticast *find(uint64_t handle)
{
    McPhysical *physical = mc_physical_find(handle);

    return physical ? physical->multicast : NULL;
}

static void end(McMulticast *m)
{
    McMulticast **at = &objects;

    while (*at != m) {
        at = &(*at)->next;
    }
    *at = m->next;
    while (m->bindings) {
        binding_end(m, &m->bindings);
    }
    mc_va_release(m->hidden, m->size * MC_MAX_DEVICES);
    free(m);
}

mcError_t mc_multicast_create(unsigned devices, uint64_t size,
                              uint64_t *handle)
{
    McMulticast *m = calloc(1, sizeof(*m));
    mcError_t error = mcErrorMemoryAllocation;

    if (m && size <= MXGPU_VA_LIMIT / MC_MAX_DEVICES) {
        m->devices = devices;
        m->size = size;
        m->hidden = mc_va_reserve(size * MC_MAX_DEVICES, MC_GRANULARITY);
    }
    pthread_mutex_lock(&mc_physical_lock);
    if (m && m->hidden) {
        error = mc_physical_new_multicast(m, end, size, handle);
    }
    if (error == mcSuccess) {
        m->next = objects;
        objects = m;
    }
    pthread_mutex_unlock(&mc_physical_lock);
    if (error != mcSuccess && m) {
        if (m->hidden) {
            mc_va_release(m->hidden, size * MC_MAX_DEVICES);
        }
        free(m);
    }
    return error;
}

/* Whether each of the team reaches the device, and it each of them. */
static bool all_reach(const McMulticast *m, McContext *ctx)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        if ((m->team >> i & 1) && (!mc_peer_reaches(ctx, members[i]) ||
                                   !mc_peer_reaches(members[i], ctx))) {
            return false;
        }
    }
    return true;
}

mcError_t mc_multicast_add(uint64_t handle, McContext *ctx)
{
    mcError_t error = mcErrorInvalidValue;

    pthread_mutex_lock(&mc_physical_lock);
    McMulticast *m = find(handle);
    if (m && !(m->team >> ctx->device & 1) &&
        (unsigned)__builtin_popcount(m->team) < m->devices) {
        error = all_reach(m, ctx) ? mcSuccess : mcErrorNotSupported;
    }
    if (error == mcSuccess) {
        m->team |= 1u << ctx->device;
        members[ctx->device] = ctx;
    }
    pthread_mutex_unlock(&mc_physical_lock);
    return error;
}

static bool is_free(const McMulticast *m, int device, uint64_t offset,
                    uint64_t size)
{
    for (const Binding *b = m->bindings; b; b = b->next) {
        if (b->device == device && offset < b->offset + b->size &&
            b->offset < offset + size) {
            return false;
        }
    }
    return true;
}

static mcError_t check(const McMulticast *m, uint64_t offset,
                       const McPhysical *memory, uint64_t memory_offset,
                       uint64_t size)
{
    if (!m || !memory || memory->multicast || memory->prop.allocFlags.usage ||
        memory->prop.location.type != mcMemLocationTypeDevice ||
        offset > m->size || size > m->size - offset ||
        memory_offset > memory->size || size > memory->size - memory_offset) {
        return mcErrorInvalidValue;
    }
    if ((unsigned)__builtin_popcount(m->team) != m->devices) {
        return mcErrorIllegalState;
    }
    if (!(m->team >> memory->prop.location.id & 1)) {
        return mcErrorInvalidDevice;
    }
    return is_free(m, memory->prop.location.id, offset, size)
               ? mcSuccess
               : mcErrorInvalidValue;
}

/* Under the lock. */
static mcError_t bind(McMulticast *m, uint64_t offset, McPhysical *memory,
                      uint64_t memory_offset, uint64_t size)
{
    mcError_t error = check(m, offset, memory, memory_offset, size);
    Binding *b = error == mcSuccess ? calloc(1, sizeof(*b)) : NULL;

    if (!b) {
        return error != mcSuccess ? error : mcErrorMemoryAllocation;
    }
    *b = (Binding){
        .next = m->bindings,
        .offset = offset,
        .size = size,
        .memory = memory,
        .memory_offset = memory_offset,
        .device = memory->prop.location.id,
    };
    error = show(m, b);
    if (error != mcSuccess) {
        free(b);
        return error;
    }
    memory->mappings++;
    m->bindings = b;
    return mcSuccess;
}

mcError_t mc_multicast_bind(uint64_t handle, uint64_t offset, uint64_t memory,
                            uint64_t memory_offset, uint64_t size)
{
    pthread_mutex_lock(&mc_physical_lock);
    mcError_t error = bind(find(handle), offset, mc_physical_find(memory),
                           memory_offset, size);
    pthread_mutex_unlock(&mc_physical_lock);
    return error;
}

mcError_t mc_multicast_bind_physical(uint64_t handle, uint64_t offset,
                                     McPhysical *memory,
                                     uint64_t memory_offset, uint64_t size)
{
    return bind(find(handle), offset, memory, memory_offset, size);
}

/* Not under the lock. */
static void wait_for_team(uint64_t handle)
{
    pthread_mutex_lock(&mc_physical_lock);
    McMulticast *m = find(handle);
    uint32_t team = m ? m->team : 0;
    pthread_mutex_unlock(&mc_physical_lock);
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        McContext *ctx = team >> i & 1 ? mc_context_peek(i) : NULL;

        if (ctx) {
            mc_context_sync(ctx);
            mc_context_put(ctx);
        }
    }
}

/* Bytes of whole bindings in the range; 0: a part of one is in it. */
static uint64_t whole(const McMulticast *m, int device, uint64_t offset,
                      uint64_t size)
{
    uint64_t sum = 0;

    for (const Binding *b = m->bindings; b; b = b->next) {
        if (b->device != device || offset >= b->offset + b->size ||
            b->offset >= offset + size) {
            continue;
        }
        if (b->offset < offset || b->size > offset + size - b->offset) {
            return 0;
        }
        sum += b->size;
    }
    return sum;
}

mcError_t mc_multicast_unbind(uint64_t handle, int device, uint64_t offset,
                              uint64_t size)
{
    mcError_t error = mcErrorInvalidValue;

    wait_for_team(handle);
    pthread_mutex_lock(&mc_physical_lock);
    McMulticast *m = find(handle);
    if (m && offset <= m->size && size <= m->size - offset &&
        whole(m, device, offset, size) == size) {
        error = mcSuccess;
        for (Binding **at = &m->bindings; *at;) {
            if ((*at)->device == device && (*at)->offset >= offset &&
                (*at)->offset < offset + size) {
                binding_end(m, at);
            } else {
                at = &(*at)->next;
            }
        }
    }
    pthread_mutex_unlock(&mc_physical_lock);
    return error;
}

/* ---- access ---- */

static unsigned count_views(int device)
{
    unsigned n = 0;

    for (McMulticast *m = objects; m; m = m->next) {
        for (View *v = m->views; v; v = v->next) {
            n += v->device == device;
        }
    }
    return n;
}

mcError_t mc_multicast_give(McMulticast *m, McContext *ctx, uint64_t va,
                            uint64_t size, uint64_t perms)
{
    mcError_t error = mcSuccess;
    View *v;

    if (!(m->team >> ctx->device & 1)) {
        return mcErrorInvalidDevice;
    }
    v = calloc(1, sizeof(*v));
    if (!v || count_views(ctx->device) == MC_MULTIMEM_VIEWS) {
        free(v);
        return mcErrorMemoryAllocation;
    }
    *v = (View){m->views, ctx->device, va, size, perms};
    for (Binding *b = m->bindings; b; b = b->next) {
        error = show_view(v, b);
        if (error != mcSuccess) {
            for (Binding *done = m->bindings; done != b; done = done->next) {
                hide_view(v, done);
            }
            free(v);
            return error;
        }
    }
    m->views = v;
    write_table(ctx->device);
    return mcSuccess;
}

void mc_multicast_take(McMulticast *m, McContext *ctx, uint64_t va)
{
    for (View **at = &m->views; *at; at = &(*at)->next) {
        View *v = *at;

        if (v->device == ctx->device && v->va == va) {
            for (Binding *b = m->bindings; b; b = b->next) {
                hide_view(v, b);
            }
            *at = v->next;
            free(v);
            write_table(ctx->device);
            return;
        }
    }
}

void mc_multicast_detach(McContext *ctx)
{
    int device = ctx->device;

    for (McMulticast *m = objects; m; m = m->next) {
        while (m->views && m->views->device == device) {
            mc_multicast_take(m, ctx, m->views->va);
        }
        for (View *v = m->views; v && v->next;) {
            if (v->next->device == device) {
                mc_multicast_take(m, ctx, v->next->va);
            } else {
                v = v->next;
            }
        }
        for (Binding **at = &m->bindings; *at;) {
            if ((*at)->device == device) {
                binding_end(m, at);
            } else {
                hide_on(m, *at, device);
                at = &(*at)->next;
            }
        }
        m->team &= ~(1u << device);
    }
    if (tables[device].bo) {
        mc_mapping_free(ctx, &tables[device]);
        tables[device] = (McMapping){0};
    }
    members[device] = NULL;
}
