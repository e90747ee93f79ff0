/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "host_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/tree.h"
#include "core/context/error.h"
#include "core/context/runtime.h"
#include "core/memory/range.h"
#include "core/stream/stream.h"
#include "mxgpu/pte.h"

#ifndef MADV_POPULATE_READ /* Linux 5.14 */
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

/*
 * Whole pages, pinned and mapped on every open device. What is registered need
 * not begin or end with a page: a page at an end has a pin of its own, which
 * all who have a part of the page share.
 */
typedef struct Pin {
    McNode node; /* by address */
    void *pages;
    uint64_t size;
    bool read_only;
    unsigned users;
    KmdBo *bo[MC_MAX_DEVICES];
} Pin;

/* Owner of a host range. */
typedef struct HostMemory {
    Pin *pin[3];
    void *pages; /* allocated here, or NULL */
    uint64_t size;
    /* With a zone behind the bytes that the user asked for: */
    struct HostMemory *next, **link; /* of those with one */
    uint64_t used;
    bool damaged; /* and reported */
    McCaller caller;
} HostMemory;

static Pin *of(const McNode *node)
{
    return mc_container_of(node, Pin, node);
}

static int compare(const McNode *a, const McNode *b)
{
    return mc_order((uintptr_t)of(a)->pages, (uintptr_t)of(b)->pages);
}

static int order(const McNode *node, const void *key)
{
    return mc_order((uintptr_t)of(node)->pages, (uintptr_t)key);
}

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static McTree pins = {.compare = compare};
static McContext *attached[MC_MAX_DEVICES]; /* open devices */
static HostMemory *checked;

/* ---- one device ---- */

static int map_pages(McContext *ctx, Pin *pin)
{
    uint64_t perms = MXGPU_PTE_READ;

    if (!pin->read_only) {
        perms |= MXGPU_PTE_WRITE | MXGPU_PTE_ATOMIC;
    }
    return ctx->ops->map(pin->bo[ctx->device], (uintptr_t)pin->pages, 0,
                         pin->size, perms);
}

static int map_on(McContext *ctx, Pin *pin)
{
    KmdBo **bo = &pin->bo[ctx->device];
    int err = ctx->ops->pin(ctx->kmd, pin->pages, pin->size, bo);

    if (err) {
        *bo = NULL;
        return err;
    }
    err = map_pages(ctx, pin);
    if (err) {
        ctx->ops->free(*bo);
        *bo = NULL;
    }
    return err;
}

static void unmap_from(McContext *ctx, Pin *pin)
{
    if (pin->bo[ctx->device]) {
        ctx->ops->unmap(ctx->kmd, (uintptr_t)pin->pages, pin->size);
        ctx->ops->free(pin->bo[ctx->device]);
        pin->bo[ctx->device] = NULL;
    }
}

/* ---- all devices, under the lock ---- */

static void unmap_everywhere(Pin *pin)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        if (attached[i]) {
            unmap_from(attached[i], pin);
        }
    }
}

static int map_everywhere(Pin *pin)
{
    for (int i = 0; i < MC_MAX_DEVICES; i++) {
        int err = attached[i] ? map_on(attached[i], pin) : 0;

        if (err) {
            unmap_everywhere(pin);
            return err;
        }
    }
    return 0;
}

static Pin *pin_at(const void *pages)
{
    McNode *node = mc_tree_lower(&pins, pages, order);

    return node && of(node)->pages == pages ? of(node) : NULL;
}

/* Another user of the page writes to it. */
static int pin_make_writable(Pin *pin)
{
    int err = 0;

    pin->read_only = false;
    for (int i = 0; i < MC_MAX_DEVICES && !err; i++) {
        McContext *ctx = attached[i];

        if (ctx && pin->bo[i]) {
            err = ctx->ops->unmap(ctx->kmd, (uintptr_t)pin->pages, pin->size);
            err = err ? err : map_pages(ctx, pin);
        }
    }
    return err;
}

static int pin_get(void *pages, uint64_t size, bool read_only, bool share,
                   Pin **out)
{
    Pin *pin = share ? pin_at(pages) : NULL;

    if (pin) {
        int err = pin->read_only && !read_only ? pin_make_writable(pin) : 0;

        if (!err) {
            pin->users++;
            *out = pin;
        }
        return err;
    }
    pin = calloc(1, sizeof(*pin));
    if (!pin) {
        return -ENOMEM;
    }
    pin->pages = pages;
    pin->size = size;
    pin->read_only = read_only;
    pin->users = 1;
    int err = map_everywhere(pin);
    if (!err && !mc_tree_insert(&pins, &pin->node)) {
        unmap_everywhere(pin);
        err = -EEXIST;
    }
    if (err) {
        free(pin);
        return err;
    }
    *out = pin;
    return 0;
}

static void pin_put(Pin *pin)
{
    if (pin && --pin->users == 0) {
        mc_tree_remove(&pins, &pin->node);
        unmap_everywhere(pin);
        free(pin);
    }
}

/* ---- zones ---- */

static void zone_add(HostMemory *memory, uint64_t used, McCaller caller)
{
    memory->used = used;
    memory->caller = caller;
    mc_zone_fill((uint8_t *)memory->pages + used,
                 (uintptr_t)memory->pages + used, memory->size - used);
    pthread_mutex_lock(&host_lock);
    memory->next = checked;
    memory->link = &checked;
    if (checked) {
        checked->link = &memory->next;
    }
    checked = memory;
    pthread_mutex_unlock(&host_lock);
}

/* Under the lock. */
static void zone_remove(HostMemory *memory)
{
    if (memory->link) {
        *memory->link = memory->next;
        if (memory->next) {
            memory->next->link = memory->link;
        }
    }
}

/* Under the lock. */
static bool zone_damaged(HostMemory *memory)
{
    uint64_t start = (uintptr_t)memory->pages;
    McDamage damage = {.bytes = 0};

    if (!memory->damaged) {
        mc_zone_look((uint8_t *)memory->pages + memory->used,
                     start + memory->used, memory->size - memory->used,
                     &damage);
    }
    if (damage.bytes) {
        mc_damage_report(&damage, start, memory->used, &memory->caller);
        memory->damaged = true;
    }
    return damage.bytes != 0;
}

bool mc_host_damaged(void)
{
    bool any = false;

    pthread_mutex_lock(&host_lock);
    for (HostMemory *m = checked; m; m = m->next) {
        any |= zone_damaged(m);
    }
    pthread_mutex_unlock(&host_lock);
    return any;
}

/* ---- objects ---- */

static void memory_free(HostMemory *memory)
{
    pthread_mutex_lock(&host_lock);
    zone_remove(memory);
    for (unsigned i = 0; i < 3; i++) {
        pin_put(memory->pin[i]);
    }
    pthread_mutex_unlock(&host_lock);
    if (memory->pages) {
        munmap(memory->pages, memory->size);
    }
    free(memory);
}

static uint64_t page_of(uint64_t addr)
{
    return addr & ~(KMD_PAGE_SIZE - 1);
}

/* Pins all pages of a range: whole pages as one piece, and a first or last page
 * that it shares with other ranges by a pin of its own. */
static int pin_all(HostMemory *memory, const McRange *range, bool read_only)
{
    uint64_t start = range->base, end = start + range->size;
    uint64_t middle = page_of(start + KMD_PAGE_SIZE - 1);
    uint64_t tail = page_of(end);
    int err = 0;

    if (range->kind != MC_RANGE_REGISTERED) {
        tail = page_of(end + KMD_PAGE_SIZE - 1);
        end = tail;
    }
    if (start < middle) {
        err = pin_get((void *)(uintptr_t)page_of(start), KMD_PAGE_SIZE,
                      read_only, true, &memory->pin[0]);
    }
    if (!err && middle < tail) {
        err = pin_get((void *)(uintptr_t)middle, tail - middle, read_only,
                      false, &memory->pin[1]);
    }
    /* Unless it is the page at the other end. */
    if (!err && tail < end && tail >= middle) {
        err = pin_get((void *)(uintptr_t)tail, KMD_PAGE_SIZE, read_only, true,
                      &memory->pin[2]);
    }
    return err;
}

/* Takes memory over, also when it fails. */
static mcError_t add(HostMemory *memory, McRange *range, bool read_only)
{
    range->owner = memory;
    pthread_mutex_lock(&host_lock);
    int err = pin_all(memory, range, read_only);
    pthread_mutex_unlock(&host_lock);
    mcError_t error = mc_error_from_kmd(err);
    if (err == -EEXIST || (!err && !mc_range_add(range))) {
        error = mcErrorHostMemoryAlreadyRegistered;
    }
    if (error != mcSuccess) {
        memory_free(memory);
    }
    return error;
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

mcError_t mc_host_alloc(McRangeKind kind, int device, uint64_t size,
                        unsigned flags, McCaller caller, void **ptr)
{
    HostMemory *memory = calloc(1, sizeof(*memory));

    if (!memory) {
        return mcErrorMemoryAllocation;
    }
    memory->size = page_of(size + KMD_PAGE_SIZE - 1);
    void *pages = memory->size < size
                      ? MAP_FAILED
                      : mmap(NULL, memory->size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        free(memory);
        return mcErrorMemoryAllocation;
    }
    memory->pages = pages;
    McRange range = {
        .base = (uintptr_t)pages,
        .size = size,
        .kind = kind,
        .device = device,
        .flags = flags,
    };
    mcError_t error = add(memory, &range, false);
    if (error == mcSuccess) {
        *ptr = pages;
        if (mc_checking()) {
            zone_add(memory, size, caller);
        }
    }
    return error;
}

mcError_t mc_host_free(McRangeKind kind, void *ptr)
{
    McRange range;

    if (!mc_range_find((uintptr_t)ptr, &range) ||
        range.base != (uintptr_t)ptr || range.kind != kind) {
        return mcErrorInvalidValue;
    }
    sync_all();
    if (!mc_range_remove((uintptr_t)ptr, &range)) {
        return mcErrorInvalidValue; /* another thread freed it meanwhile */
    }
    bool damaged = false;
    if (mc_checking()) {
        HostMemory *memory = range.owner;

        mc_host_damaged();
        damaged = memory->damaged;
    }
    memory_free(range.owner);
    return damaged ? mcErrorIllegalAddress : mcSuccess;
}

bool mc_host_mapped(const void *ptr, uint64_t size)
{
    uint64_t start = page_of((uintptr_t)ptr);

    /* Does nothing but look at the process's mappings. */
    return size == 0 ||
           msync((void *)(uintptr_t)start, (uintptr_t)ptr + size - start,
                 MS_ASYNC) == 0;
}

static bool fault_in(uint64_t start, uint64_t size, int advice)
{
    int ret;

    do {
        ret = madvise((void *)(uintptr_t)start, size, advice);
    } while (ret && errno == EINTR);
    return ret == 0;
}

/* Whether all of it is memory of the process, which the device may read, and
 * write unless it is read-only; it is there afterwards. */
static bool populate(uint64_t start, uint64_t size, bool read_only)
{
    /* A page that is certainly readable: where the kernel refuses to populate
     * even that, it is too old to know MADV_POPULATE_*. */
    static const char probe;

    if (fault_in(start, size, read_only ? MADV_POPULATE_READ
                                        : MADV_POPULATE_WRITE)) {
        return true;
    }
    return errno == EINVAL &&
           !fault_in(page_of((uintptr_t)&probe), KMD_PAGE_SIZE,
                     MADV_POPULATE_READ) &&
           mc_host_mapped((void *)(uintptr_t)start, size);
}

/* Whether the page at addr is pinned for reading only: another registered piece
 * that begins or ends in it is read-only. */
static bool end_is_read_only(uint64_t addr)
{
    pthread_mutex_lock(&host_lock);
    Pin *pin = pin_at((void *)(uintptr_t)page_of(addr));
    bool result = pin && pin->read_only;
    pthread_mutex_unlock(&host_lock);
    return result;
}

mcError_t mc_host_register(int device, void *ptr, uint64_t size,
                           unsigned flags)
{
    bool read_only = flags & mcHostRegisterReadOnly;
    uint64_t start = (uintptr_t)ptr, end = start + size;

    if (end < start || end > MXGPU_VA_LIMIT - KMD_PAGE_SIZE) {
        return mcErrorInvalidValue;
    }
    if (mc_range_overlaps(start, size)) {
        return mcErrorHostMemoryAlreadyRegistered;
    }
    if (!populate(page_of(start), page_of(end + KMD_PAGE_SIZE - 1) -
                  page_of(start), read_only)) {
        mc_error("%llu bytes at %p: not all of it is memory of this process "
                 "that can be %s", (unsigned long long)size, ptr,
                 read_only ? "read" : "read and written");
        return mcErrorInvalidValue;
    }
    if (!read_only && (end_is_read_only(start) || end_is_read_only(end - 1))) {
        sync_all(); /* it is mapped anew: nobody may be using it */
    }
    HostMemory *memory = calloc(1, sizeof(*memory));
    if (!memory) {
        return mcErrorMemoryAllocation;
    }
    McRange range = {
        .base = start,
        .size = size,
        .kind = MC_RANGE_REGISTERED,
        .device = device,
        .flags = flags,
    };
    return add(memory, &range, read_only);
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
    memory_free(range.owner);
    return mcSuccess;
}

mcError_t mc_host_memory_attach(McContext *ctx)
{
    int err = 0;

    pthread_mutex_lock(&host_lock);
    for (McNode *n = mc_tree_first(&pins); n && !err; n = mc_tree_next(n)) {
        err = map_on(ctx, of(n));
    }
    if (!err) {
        attached[ctx->device] = ctx;
    } else {
        for (McNode *n = mc_tree_first(&pins); n; n = mc_tree_next(n)) {
            unmap_from(ctx, of(n));
        }
    }
    pthread_mutex_unlock(&host_lock);
    return mc_error_from_kmd(err);
}

void mc_host_memory_detach(McContext *ctx)
{
    pthread_mutex_lock(&host_lock);
    if (attached[ctx->device] == ctx) {
        for (McNode *n = mc_tree_first(&pins); n; n = mc_tree_next(n)) {
            unmap_from(ctx, of(n));
        }
        attached[ctx->device] = NULL;
    }
    pthread_mutex_unlock(&host_lock);
}
