/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DMA of the device's threads, through the PCI address space of the device.
 *
 * A memory listener keeps a map of the RAM in that space; readers use it under
 * RCU, without locks. Where a vIOMMU translates, its map has a section of kind
 * "iommu" and translations are cached in a small IOTLB, filled under the BQL
 * (the vIOMMU may report a fault to the guest, which needs it) and emptied by
 * the vIOMMU's unmap notifier.
 *
 * Taking memory or a translation away is complete only when no thread uses it
 * any more: mxgpu_dma_sync() tells the core to drop host pointers and waits
 * until every unit has passed an instruction or chunk boundary.
 *
 * DMA reaches RAM only (guest memory, RAM-backed BARs). Anything else is a
 * bus error: no register of another device can be reached from the device.
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/rcu.h"
#include "hw/pci/pci.h"
#include "mxgpu.h"
#include "../base/single.h"
#include "trace.h"

/* Part of an address space: RAM, or what an IOMMU translates. */
typedef struct MxgpuSection {
    hwaddr base, size;
    bool iommu, cacheable;    /* cacheable: the IOMMU tells of unmaps */
    bool writable, displayed; /* displayed: writes must be logged */
    MemoryRegionCache cache;  /* RAM only */
} MxgpuSection;

struct MxgpuMemoryMap {
    struct rcu_head rcu;
    MxgpuMemoryMap *stale; /* next in the list */
    GArray *sections; /* of MxgpuSection, in address order */
    bool changed;
};

struct MxgpuIotlbEntry {
    struct rcu_head rcu;
    hwaddr iova, target, mask;
};

struct MxgpuIommu {
    MxgpuState *s;
    IOMMUMemoryRegion *mr;
    IOMMUNotifier notifier;
    hwaddr base; /* of the section in the device's address space */
    bool registered;
    QLIST_ENTRY(MxgpuIommu) next;
};

/* ---- RCU registration of threads that the core made --------------------- */

static __thread bool mxgpu_rcu_registered;
static pthread_key_t mxgpu_rcu_key;

static void mxgpu_rcu_thread_exit(void *registered)
{
    rcu_unregister_thread();
}

static void __attribute__((constructor)) mxgpu_rcu_key_init(void)
{
    pthread_key_create(&mxgpu_rcu_key, mxgpu_rcu_thread_exit);
}

/*
 * QEMU's threads are registered from their start and come here with the BQL
 * held. A thread of the core is registered when it first does DMA and
 * unregistered when it ends.
 */
static void mxgpu_rcu_enter(void)
{
    if (unlikely(!mxgpu_rcu_registered && !bql_locked())) {
        rcu_register_thread();
        mxgpu_rcu_registered = true;
        pthread_setspecific(mxgpu_rcu_key, &mxgpu_rcu_key);
    }
    rcu_read_lock();
}

/* ---- taking memory away ------------------------------------------------- */

static void mxgpu_dma_pause(MxgpuState *s)
{
    mxgpu_device_pause(s->dev);
}

static bool mxgpu_iotlb_drop(MxgpuState *s, hwaddr start, hwaddr end);

static void mxgpu_maps_free(MxgpuMemoryMap *map);

/*
 * The map or IOTLB that readers see is already the new one. What was replaced
 * keeps its memory until no thread uses it: a vIOMMU may change the map in the
 * midst of a translation (VT-d takes its region away from a device that it
 * finds to be passed through), and the thread that asked for that translation
 * cannot be waited for then.
 *
 * A vIOMMU may tell of an unmap before it forgets the mapping (virtio-iommu
 * does, for each part of a range). A translation that is served while the units
 * are waited for may therefore be one that is going away: what was translated
 * then is not kept. Once the units are held none is asked for, and those that
 * they ask for later are served when the vIOMMU is done.
 */
void mxgpu_dma_sync(MxgpuState *s)
{
    MxgpuMemoryMap *stale;

    s->sync = mxgpu_host_serving(s);
    if (s->sync) {
        return;
    }
    stale = g_steal_pointer(&s->dma.stale);
    if (qatomic_xchg(&s->dma.used, false)) {
        s->dma.iotlb_evicted = false;
        s->dma.iotlb_filled = false;
        mxgpu_device_bus_invalidate(s->dev, 0, UINT64_MAX);
        mxgpu_host_wait(s, mxgpu_dma_pause, MXGPU_SERVE);
        if (s->dma.iotlb_filled) {
            mxgpu_iotlb_drop(s, 0, UINT64_MAX);
            mxgpu_device_bus_invalidate(s->dev, 0, UINT64_MAX);
        }
        mxgpu_device_resume(s->dev);
    }
    mxgpu_maps_free(stale);
}

static void mxgpu_dma_changed(MxgpuState *s)
{
    s->sync = true;
    mxgpu_settle(s);
}

/* Comes before a look-up, so that mxgpu_dma_sync() knows of it. */
static void mxgpu_dma_mark_used(MxgpuState *s)
{
    if (!qatomic_read(&s->dma.used)) {
        qatomic_set_mb(&s->dma.used, true);
    }
}

/* ---- maps --------------------------------------------------------------- */

static MxgpuMemoryMap *mxgpu_map_new(void)
{
    MxgpuMemoryMap *map = g_new0(MxgpuMemoryMap, 1);

    map->sections = g_array_new(false, true, sizeof(MxgpuSection));
    return map;
}

static void mxgpu_map_free(MxgpuMemoryMap *map)
{
    for (unsigned i = 0; i < map->sections->len; i++) {
        MxgpuSection *section = &g_array_index(map->sections, MxgpuSection, i);

        if (!section->iommu) {
            address_space_cache_destroy(&section->cache);
        }
    }
    g_array_free(map->sections, true);
    g_free(map);
}

static void mxgpu_maps_free(MxgpuMemoryMap *map)
{
    while (map) {
        MxgpuMemoryMap *next = map->stale;

        call_rcu(map, mxgpu_map_free, rcu);
        map = next;
    }
}

static MxgpuSection *mxgpu_map_find(MxgpuMemoryMap *map, hwaddr addr)
{
    unsigned low = 0, high = map ? map->sections->len : 0;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        MxgpuSection *section = &g_array_index(map->sections, MxgpuSection,
                                               middle);

        if (addr < section->base) {
            high = middle;
        } else if (addr - section->base >= section->size) {
            low = middle + 1;
        } else {
            return section;
        }
    }
    return NULL;
}

static void mxgpu_watch_begin(MemoryListener *listener)
{
    MxgpuWatch *w = container_of(listener, MxgpuWatch, listener);

    w->next = mxgpu_map_new();
}

static void mxgpu_watch_keep(MemoryListener *listener,
                             MemoryRegionSection *mrs)
{
    MxgpuWatch *w = container_of(listener, MxgpuWatch, listener);
    MxgpuSection section = {
        .base = mrs->offset_within_address_space,
        .size = int128_get64(int128_min(mrs->size, int128_make64(INT64_MAX))),
        .iommu = memory_region_is_iommu(mrs->mr),
        .writable = !mrs->readonly,
    };

    if (section.iommu || memory_region_is_ram(mrs->mr)) {
        g_array_append_val(w->next->sections, section);
    }
}

static void mxgpu_iommu_unmap(IOMMUNotifier *n, IOMMUTLBEntry *entry);

static void mxgpu_iommu_add(MxgpuWatch *w, MemoryRegionSection *mrs)
{
    MxgpuIommu *iommu = g_new0(MxgpuIommu, 1);
    hwaddr start = mrs->offset_within_region;
    Int128 end = int128_sub(int128_add(int128_make64(start), mrs->size),
                            int128_one());
    Error *error = NULL;

    iommu->s = w->s;
    iommu->mr = IOMMU_MEMORY_REGION(mrs->mr);
    iommu->base = mrs->offset_within_address_space;
    iommu_notifier_init(&iommu->notifier, mxgpu_iommu_unmap,
                        IOMMU_NOTIFIER_UNMAP, start, int128_get64(end),
                        memory_region_iommu_attrs_to_index(
                            iommu->mr, MEMTXATTRS_UNSPECIFIED));
    iommu->registered = !memory_region_register_iommu_notifier(
        mrs->mr, &iommu->notifier, &error);
    error_free(error);
    QLIST_INSERT_HEAD(&w->s->dma.iommus, iommu, next);
}

static void mxgpu_iommu_del(MxgpuIommu *iommu)
{
    if (iommu->registered) {
        memory_region_unregister_iommu_notifier(MEMORY_REGION(iommu->mr),
                                                &iommu->notifier);
    }
    QLIST_REMOVE(iommu, next);
    g_free(iommu);
}

static void mxgpu_watch_add(MemoryListener *listener, MemoryRegionSection *mrs)
{
    MxgpuWatch *w = container_of(listener, MxgpuWatch, listener);

    if (memory_region_is_iommu(mrs->mr)) {
        mxgpu_iommu_add(w, mrs);
    }
    mxgpu_watch_keep(listener, mrs);
    w->next->changed = true;
}

static void mxgpu_watch_del(MemoryListener *listener, MemoryRegionSection *mrs)
{
    MxgpuWatch *w = container_of(listener, MxgpuWatch, listener);
    MxgpuIommu *iommu, *next;

    QLIST_FOREACH_SAFE(iommu, &w->s->dma.iommus, next, next) {
        if (MEMORY_REGION(iommu->mr) == mrs->mr &&
            iommu->notifier.start == mrs->offset_within_region) {
            mxgpu_iommu_del(iommu);
        }
    }
    w->next->changed = true;
}

/* Somebody began or ceased to watch writes, a display for one. */
static void mxgpu_watch_log(MemoryListener *listener, MemoryRegionSection *mrs,
                            int old_mask, int new_mask)
{
    MxgpuWatch *w = container_of(listener, MxgpuWatch, listener);

    w->next->changed = true;
}

static bool mxgpu_iommu_cacheable(MxgpuState *s, hwaddr base)
{
    MxgpuIommu *iommu;

    QLIST_FOREACH(iommu, &s->dma.iommus, next) {
        if (iommu->base == base) {
            return iommu->registered;
        }
    }
    return false;
}

static void mxgpu_map_finish(MxgpuWatch *w, MxgpuMemoryMap *map)
{
    unsigned i = 0;

    while (i < map->sections->len) {
        MxgpuSection *section = &g_array_index(map->sections, MxgpuSection, i);

        if (section->iommu) {
            section->cacheable = mxgpu_iommu_cacheable(w->s, section->base);
            i++;
            continue;
        }
        section->size = address_space_cache_init(&section->cache, w->as,
                                                 section->base, section->size,
                                                 section->writable);
        if (!section->cache.ptr) { /* e.g. a BAR of an assigned device */
            address_space_cache_destroy(&section->cache);
            g_array_remove_index(map->sections, i);
            continue;
        }
        section->displayed = memory_region_get_dirty_log_mask(
            section->cache.mrs.mr) & (1 << DIRTY_MEMORY_VGA);
        i++;
    }
}

static void mxgpu_watch_publish(MxgpuWatch *w, MxgpuMemoryMap *map)
{
    MxgpuMemoryMap *old = w->map;

    qatomic_rcu_set(&w->map, map);
    if (old) {
        old->stale = w->s->dma.stale;
        w->s->dma.stale = old;
    }
    mxgpu_iotlb_drop(w->s, 0, UINT64_MAX);
    mxgpu_dma_changed(w->s);
}

static void mxgpu_watch_commit(MemoryListener *listener)
{
    MxgpuWatch *w = container_of(listener, MxgpuWatch, listener);
    MxgpuMemoryMap *map = g_steal_pointer(&w->next);

    if (!map) {
        return;
    }
    if (!map->changed && w->map) {
        g_array_free(map->sections, true);
        g_free(map);
        return;
    }
    mxgpu_map_finish(w, map);
    trace_mxgpu_memory_changed(w->s->name, w->name, map->sections->len);
    mxgpu_watch_publish(w, map);
}

/* ---- translations of a vIOMMU ------------------------------------------- */

#define MXGPU_PAGE_MASK 0xfffu

/* Where a page's translation is kept, and where one of a larger page that it
 * is part of. */
static unsigned mxgpu_iotlb_index(hwaddr addr)
{
    return (addr >> 12) % MXGPU_IOTLB_SIZE;
}

static unsigned mxgpu_iotlb_large_index(hwaddr addr)
{
    return MXGPU_IOTLB_SIZE + (addr >> 21) % MXGPU_IOTLB_LARGE;
}

/* Whether there was one that overlaps [start, end]. */
static bool mxgpu_iotlb_drop_one(MxgpuIotlbEntry **slot, hwaddr start,
                                 hwaddr end)
{
    MxgpuIotlbEntry *entry = *slot;

    if (!entry || entry->iova > end || entry->iova + entry->mask < start) {
        return false;
    }
    qatomic_set(slot, NULL);
    g_free_rcu(entry, rcu);
    return true;
}

/*
 * BQL held. Drops what overlaps [start, end]: looks at one slot for each page
 * of the range, but never at more than there are, and at those of large pages.
 * Returns whether there was something.
 */
static bool mxgpu_iotlb_drop(MxgpuState *s, hwaddr start, hwaddr end)
{
    hwaddr pages = (end >> 12) - (start >> 12);
    unsigned small = MIN(pages, MXGPU_IOTLB_SIZE - 1) + 1;
    unsigned large = s->dma.iotlb_has_large ? MXGPU_IOTLB_LARGE : 0;
    bool dropped = false;

    for (unsigned write = 0; write < 2; write++) {
        MxgpuIotlbEntry **slots = s->dma.iotlb[write];
        unsigned at = mxgpu_iotlb_index(start);

        for (unsigned i = 0; i < small; i++) {
            dropped |= mxgpu_iotlb_drop_one(
                &slots[(at + i) % MXGPU_IOTLB_SIZE], start, end);
        }
        for (unsigned i = 0; i < large; i++) {
            dropped |= mxgpu_iotlb_drop_one(&slots[MXGPU_IOTLB_SIZE + i],
                                            start, end);
        }
    }
    return dropped;
}

static void mxgpu_iommu_unmap(IOMMUNotifier *n, IOMMUTLBEntry *entry)
{
    MxgpuIommu *iommu = container_of(n, MxgpuIommu, notifier);
    hwaddr base = iommu->base - n->start;
    hwaddr end = entry->iova + entry->addr_mask;
    /* VT-d gives the address that the guest gave, in which bits below the
     * size do not count. Dropping too much does no harm. */
    hwaddr start = entry->iova & ~entry->addr_mask;

    trace_mxgpu_iotlb_unmap(iommu->s->name, entry->iova, entry->addr_mask);
    /* What a unit got since the last sync is here, unless it was evicted. */
    if (mxgpu_iotlb_drop(iommu->s, MAX(start, n->start) + base, end + base) ||
        iommu->s->dma.iotlb_evicted || iommu->s->sync) {
        mxgpu_dma_changed(iommu->s);
    }
}

typedef struct MxgpuFill {
    hwaddr addr;
    bool is_write;
    hwaddr target, mask; /* mask 0: refused */
} MxgpuFill;

/* BQL held: a refusal may be reported to the guest by the vIOMMU. */
static void mxgpu_iotlb_fill(MxgpuState *s, void *opaque)
{
    MxgpuFill *fill = opaque;
    MxgpuIotlbEntry **slot, *new;
    MxgpuSection *section;
    IOMMUTLBEntry entry;

    RCU_READ_LOCK_GUARD();
    section = mxgpu_map_find(qatomic_rcu_read(&s->dma.bus.map), fill->addr);
    if (!section || !section->iommu) {
        return;
    }
    entry = address_space_get_iotlb_entry(s->dma.bus.as, fill->addr,
                                          fill->is_write,
                                          MEMTXATTRS_UNSPECIFIED);
    if (s->gone || entry.target_as != &address_space_memory ||
        !(entry.perm & (fill->is_write ? IOMMU_WO : IOMMU_RO))) {
        return;
    }
    fill->mask = entry.addr_mask;
    fill->target = entry.translated_addr;
    trace_mxgpu_iotlb_fill(s->name, fill->addr, fill->is_write, fill->target,
                           fill->mask);
    s->dma.iotlb_filled = true;
    /* sync: what was translated has changed in the midst of it. */
    if (!section->cacheable || s->sync) {
        return;
    }
    new = g_new0(MxgpuIotlbEntry, 1);
    new->iova = fill->addr & ~entry.addr_mask;
    new->mask = entry.addr_mask;
    new->target = entry.translated_addr;
    if (entry.addr_mask > MXGPU_PAGE_MASK) {
        slot = &s->dma.iotlb[fill->is_write]
                            [mxgpu_iotlb_large_index(fill->addr)];
        s->dma.iotlb_has_large = true;
    } else {
        slot = &s->dma.iotlb[fill->is_write][mxgpu_iotlb_index(fill->addr)];
    }
    if (*slot) {
        s->dma.iotlb_evicted = true;
        g_free_rcu(*slot, rcu);
    }
    qatomic_rcu_set(slot, new);
}

/* Under RCU. */
static MxgpuIotlbEntry *mxgpu_iotlb_find(MxgpuState *s, hwaddr addr,
                                         bool is_write)
{
    const unsigned at[] = {
        mxgpu_iotlb_index(addr), mxgpu_iotlb_large_index(addr),
    };

    for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
        MxgpuIotlbEntry *entry =
            qatomic_rcu_read(&s->dma.iotlb[is_write][at[i]]);

        if (entry && (addr & ~entry->mask) == entry->iova) {
            return entry;
        }
    }
    return NULL;
}

/* ---- what the core calls ------------------------------------------------ */

/*
 * Host pointer to RAM at bus address addr, good until rcu_read_unlock(); *len
 * is cut to what is contiguous. NULL where there is no RAM or no permission.
 */
static void *mxgpu_dma_find(MxgpuState *s, hwaddr addr, size_t *len,
                            bool is_write, MxgpuSection **found,
                            bool *cacheable)
{
    MxgpuSection *section;

    section = mxgpu_map_find(qatomic_rcu_read(&s->dma.bus.map), addr);
    *cacheable = true;
    if (section && section->iommu) {
        MxgpuIotlbEntry *entry = mxgpu_iotlb_find(s, addr, is_write);
        MxgpuFill fill = { .addr = addr, .is_write = is_write };

        *cacheable = section->cacheable;
        if (entry) {
            fill.target = entry->target;
            fill.mask = entry->mask;
        } else {
            /* Not inside RCU: the BQL's holder may wait for a grace period. */
            rcu_read_unlock();
            mxgpu_host_call(s, mxgpu_iotlb_fill, &fill);
            rcu_read_lock();
        }
        if (!fill.mask) {
            return NULL;
        }
        *len = MIN(*len, fill.mask - (addr & fill.mask) + 1);
        addr = fill.target + (addr & fill.mask);
        section = mxgpu_map_find(qatomic_rcu_read(&s->dma.system.map), addr);
    }
    if (!section || section->iommu || (is_write && !section->writable)) {
        return NULL;
    }
    *len = MIN(*len, section->size - (addr - section->base));
    *found = section;
    return section->cache.ptr + (addr - section->base);
}

static int mxgpu_dma_rw(MxgpuState *s, uint64_t addr, void *buf, size_t len,
                        bool is_write)
{
    MxgpuSection *section;
    bool cacheable;
    int ret = 0;

    mxgpu_rcu_enter();
    mxgpu_dma_mark_used(s);
    while (len) {
        size_t part = len;
        void *ram = mxgpu_dma_find(s, addr, &part, is_write, &section,
                                   &cacheable);

        if (!ram) {
            trace_mxgpu_dma_refused(s->name, is_write ? "write" : "read", len,
                                    addr);
            if (!is_write) { /* writes are posted: nothing comes back */
                mxgpu_host_note(s, MXGPU_NOTE_MASTER_ABORT);
            }
            ret = -EFAULT;
            break;
        }
        if (is_write) {
            mxgpu_copy_single(ram, buf, part, false);
            address_space_cache_invalidate(
                &section->cache, (uint8_t *)ram - section->cache.ptr, part);
        } else {
            mxgpu_copy_single(buf, ram, part, true);
        }
        addr += part;
        buf = (uint8_t *)buf + part;
        len -= part;
    }
    rcu_read_unlock();
    return ret;
}

int mxgpu_dma_read(void *host, uint64_t addr, void *buf, size_t len)
{
    return mxgpu_dma_rw(host, addr, buf, len, false);
}

int mxgpu_dma_write(void *host, uint64_t addr, const void *buf, size_t len)
{
    return mxgpu_dma_rw(host, addr, (void *)buf, len, true);
}

/*
 * The pointer outlives RCU: mxgpu_dma_sync() is what ends its use. Code that
 * TCG translated from the range is dropped now; a display is never mapped,
 * because writes to it have to be seen.
 */
void *mxgpu_dma_map(void *host, uint64_t addr, size_t len, bool write)
{
    MxgpuState *s = host;
    MxgpuSection *section;
    bool cacheable;
    size_t part = len;
    void *ram;

    mxgpu_rcu_enter();
    mxgpu_dma_mark_used(s);
    ram = mxgpu_dma_find(s, addr, &part, write, &section, &cacheable);
    if (ram && (part < len || !cacheable || (write && section->displayed))) {
        ram = NULL;
    }
    if (ram && write) {
        hwaddr offset = (uint8_t *)ram - section->cache.ptr;

        address_space_cache_invalidate(&section->cache, offset, len);
        mxgpu_log_note(s, section->cache.mrs.mr, section->cache.xlat + offset,
                       len);
    }
    rcu_read_unlock();
    return ram;
}

/* ---- life --------------------------------------------------------------- */

static void mxgpu_watch_start(MxgpuState *s, MxgpuWatch *w, const char *name,
                              AddressSpace *as)
{
    bool logs = as == &address_space_memory;

    *w = (MxgpuWatch) {
        .listener = {
            .name = name,
            .begin = mxgpu_watch_begin,
            .region_add = mxgpu_watch_add,
            .region_nop = mxgpu_watch_keep,
            .region_del = mxgpu_watch_del,
            .log_start = mxgpu_watch_log,
            .log_stop = mxgpu_watch_log,
            .log_global_start = logs ? mxgpu_log_start : NULL,
            .log_global_stop = logs ? mxgpu_log_stop : NULL,
            .log_sync_global = logs ? mxgpu_log_sync : NULL,
            .commit = mxgpu_watch_commit,
        },
        .s = s,
        .name = name,
        .as = as,
    };
    memory_listener_register(&w->listener, as);
}

void mxgpu_dma_start(MxgpuState *s)
{
    mxgpu_watch_start(s, &s->dma.system, "mxgpu-system",
                      &address_space_memory);
    mxgpu_watch_start(s, &s->dma.bus, "mxgpu-bus",
                      pci_get_address_space(PCI_DEVICE(s)));
    s->dma.listening = true;
}

void mxgpu_dma_stop(MxgpuState *s)
{
    MxgpuIommu *iommu, *next;

    if (!s->dma.listening) {
        return;
    }
    s->dma.listening = false;
    memory_listener_unregister(&s->dma.bus.listener);
    memory_listener_unregister(&s->dma.system.listener);
    QLIST_FOREACH_SAFE(iommu, &s->dma.iommus, next, next) {
        mxgpu_iommu_del(iommu);
    }
    mxgpu_watch_publish(&s->dma.bus, NULL);
    mxgpu_watch_publish(&s->dma.system, NULL);
}

void mxgpu_dma_free(MxgpuState *s)
{
    mxgpu_maps_free(g_steal_pointer(&s->dma.stale));
}
