/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device's part in QEMU's dirty log, which says what memory a migration has
 * to send again.
 *
 * Units write through host pointers, and nobody sees a store. So a page counts
 * as written from the moment on that a unit may write to it: while somebody
 * logs, the core tells of each page for which it gets a writable pointer, and
 * these are collected here. A sync holds all units, puts the collected pages
 * into QEMU's log, and makes the units ask again for whatever they write from
 * then on. No store is missed: it went through a pointer that was asked for
 * behind the last sync, and the next sync finds its page.
 */
#include "qemu/osdep.h"
#include "qemu/bitmap.h"
#include "qemu/lockable.h"
#include "qemu/main-loop.h"
#include "qemu/units.h"
#include "mxgpu.h"
#include "trace.h"

#define MXGPU_LOG_PAGE_BITS 12
#define MXGPU_LOG_CHUNK     (2 * MiB)
#define MXGPU_LOG_PAGES     (MXGPU_LOG_CHUNK >> MXGPU_LOG_PAGE_BITS)

/* Pages of 2 MiB of a RAM region that units may have written. */
typedef struct MxgpuLogChunk {
    MemoryRegion *mr; /* referenced */
    hwaddr base;      /* in mr */
    DECLARE_BITMAP(pages, MXGPU_LOG_PAGES);
} MxgpuLogChunk;

static guint mxgpu_chunk_hash(gconstpointer key)
{
    const MxgpuLogChunk *chunk = key;

    return g_direct_hash(chunk->mr) ^ (guint)(chunk->base / MXGPU_LOG_CHUNK);
}

static gboolean mxgpu_chunk_equal(gconstpointer a, gconstpointer b)
{
    const MxgpuLogChunk *p = a, *q = b;

    return p->mr == q->mr && p->base == q->base;
}

static void mxgpu_chunk_free(gpointer chunk)
{
    memory_region_unref(((MxgpuLogChunk *)chunk)->mr);
    g_free(chunk);
}

/* With the lock. */
static MxgpuLogChunk *mxgpu_chunk_get(MxgpuState *s, MemoryRegion *mr,
                                      hwaddr base)
{
    MxgpuLogChunk key = { .mr = mr, .base = base };
    MxgpuLogChunk *chunk = g_hash_table_lookup(s->log.chunks, &key);

    if (!chunk) {
        chunk = g_memdup2(&key, sizeof(key));
        memory_region_ref(mr);
        g_hash_table_add(s->log.chunks, chunk);
    }
    return chunk;
}

void mxgpu_log_note(MxgpuState *s, MemoryRegion *mr, hwaddr offset, hwaddr len)
{
    hwaddr end = offset + len;

    if (!qatomic_read(&s->log.on)) {
        return;
    }
    QEMU_LOCK_GUARD(&s->log.lock);
    while (offset < end) {
        hwaddr base = QEMU_ALIGN_DOWN(offset, MXGPU_LOG_CHUNK);
        hwaddr stop = MIN(end, base + MXGPU_LOG_CHUNK);
        unsigned first = (offset - base) >> MXGPU_LOG_PAGE_BITS;
        unsigned last = (stop - 1 - base) >> MXGPU_LOG_PAGE_BITS;

        bitmap_set(mxgpu_chunk_get(s, mr, base)->pages, first,
                   last - first + 1);
        offset = stop;
    }
}

static void mxgpu_log_vram(void *host, uint64_t offset, size_t len)
{
    MxgpuState *s = host;

    mxgpu_log_note(s, &s->vram, offset, len);
}

/* As a write by DMA would, in the log and in code that was translated. */
static unsigned mxgpu_chunk_publish(MxgpuLogChunk *chunk)
{
    hwaddr size = memory_region_size(chunk->mr);
    MemoryRegionCache cache = {
        .ptr = memory_region_get_ram_ptr(chunk->mr),
        .len = size,
        .mrs.mr = chunk->mr,
        .is_write = true,
    };
    unsigned long first = 0, end, pages = 0;

    for (;;) {
        hwaddr at, stop;

        first = find_next_bit(chunk->pages, MXGPU_LOG_PAGES, first);
        if (first >= MXGPU_LOG_PAGES) {
            return pages;
        }
        end = find_next_zero_bit(chunk->pages, MXGPU_LOG_PAGES, first);
        at = chunk->base + (first << MXGPU_LOG_PAGE_BITS);
        stop = MIN(size, chunk->base + (end << MXGPU_LOG_PAGE_BITS));
        address_space_cache_invalidate(&cache, at, stop - at);
        pages += end - first;
        first = end;
    }
}

/* Returns how many pages there were. forget: no unit can write to them now. */
static unsigned mxgpu_log_publish(MxgpuState *s, bool forget)
{
    GHashTableIter iter;
    gpointer chunk;
    unsigned pages = 0;

    QEMU_LOCK_GUARD(&s->log.lock);
    g_hash_table_iter_init(&iter, s->log.chunks);
    while (g_hash_table_iter_next(&iter, &chunk, NULL)) {
        pages += mxgpu_chunk_publish(chunk);
    }
    if (forget) {
        g_hash_table_remove_all(s->log.chunks);
    }
    return pages;
}

static void mxgpu_log_pause(MxgpuState *s)
{
    mxgpu_device_pause(s->dev);
}

/* Holds the units; false where one of them waits for us. They have to drop
 * their pointers before they go on. */
static bool mxgpu_log_hold(MxgpuState *s)
{
    if (!mxgpu_host_wait(s, mxgpu_log_pause, MXGPU_SERVE)) {
        return false;
    }
    mxgpu_device_bus_invalidate(s->dev, 0, UINT64_MAX);
    return true;
}

static bool mxgpu_log_empty(MxgpuState *s)
{
    QEMU_LOCK_GUARD(&s->log.lock);
    return !g_hash_table_size(s->log.chunks);
}

bool mxgpu_log_start(MemoryListener *listener, Error **errp)
{
    MxgpuState *s = container_of(listener, MxgpuWatch, listener)->s;

    qatomic_set(&s->log.on, true);
    mxgpu_device_log_writes(s->dev, mxgpu_log_vram);
    if (mxgpu_log_hold(s)) {
        mxgpu_device_resume(s->dev);
        return true;
    }
    mxgpu_log_stop(listener);
    error_setg(errp, "mxgpu: the device waits for its IOMMU; try again");
    return false;
}

void mxgpu_log_stop(MemoryListener *listener)
{
    MxgpuState *s = container_of(listener, MxgpuWatch, listener)->s;

    mxgpu_device_log_writes(s->dev, NULL);
    qatomic_set(&s->log.on, false);
    WITH_QEMU_LOCK_GUARD(&s->log.lock) {
        g_hash_table_remove_all(s->log.chunks);
    }
    /* Large pages may be translated as such again. */
    mxgpu_device_bus_invalidate(s->dev, 0, UINT64_MAX);
}

void mxgpu_log_sync(MemoryListener *listener, bool last_stage)
{
    MxgpuState *s = container_of(listener, MxgpuWatch, listener)->s;
    unsigned pages;

    if (!s->log.on || mxgpu_log_empty(s)) {
        return;
    }
    if (mxgpu_log_hold(s)) {
        pages = mxgpu_log_publish(s, true);
        mxgpu_device_resume(s->dev);
    } else {
        /* They stay collected: units may go on writing to them. */
        pages = mxgpu_log_publish(s, false);
    }
    trace_mxgpu_log_sync(s->name, pages);
}

void mxgpu_log_init(MxgpuState *s)
{
    qemu_mutex_init(&s->log.lock);
    s->log.chunks = g_hash_table_new_full(mxgpu_chunk_hash, mxgpu_chunk_equal,
                                          mxgpu_chunk_free, NULL);
}

void mxgpu_log_free(MxgpuState *s)
{
    s->log.on = false;
    g_hash_table_unref(s->log.chunks);
    qemu_mutex_destroy(&s->log.lock);
}
