/* SPDX-License-Identifier: MIT */
/*
 * Page-table walks (mxgpu/pte.h) and access to what they name. Tables and
 * pages are the guest's: every entry is checked, and read once.
 */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

MxgpuMmu *mxgpu_mmu_new(void *vram, uint64_t vram_size,
                        const MxgpuHostOps *ops, void *host)
{
    MxgpuMmu *mmu = calloc(1, sizeof(*mmu));

    if (!mmu) {
        return NULL;
    }
    mmu->vram = vram;
    mmu->vram_size = vram_size;
    mmu->ops = ops;
    mmu->host = mmu->used_host = host;
    pthread_mutex_init(&mmu->clients_lock, NULL);
    return mmu;
}

void mxgpu_mmu_free(MxgpuMmu *mmu)
{
    if (mmu) {
        pthread_mutex_destroy(&mmu->clients_lock);
        free(mmu);
    }
}

void mxgpu_mmu_reset(MxgpuMmu *mmu)
{
    for (unsigned i = 0; i < MXGPU_NUM_VMIDS; i++) {
        atomic_store(&mmu->root[i], 0);
    }
    mxgpu_mmu_invalidate(mmu);
}

void mxgpu_mmu_set_root(MxgpuMmu *mmu, unsigned vmid, uint64_t root)
{
    if (vmid < MXGPU_NUM_VMIDS) {
        atomic_store(&mmu->root[vmid], root);
        mxgpu_mmu_invalidate(mmu);
    }
}

uint64_t mxgpu_mmu_root(MxgpuMmu *mmu, unsigned vmid)
{
    return vmid < MXGPU_NUM_VMIDS ? atomic_load(&mmu->root[vmid]) : 0;
}

void mxgpu_mmu_log_host(MxgpuMmu *mmu, void *host)
{
    mmu->used_host = host;
}

void mxgpu_mmu_log_writes(MxgpuMmu *mmu, MxgpuVramUsed *used)
{
    atomic_store(&mmu->used, used);
}

static bool in_vram(const MxgpuMmu *mmu, uint64_t addr, uint64_t len)
{
    return addr < mmu->vram_size && len <= mmu->vram_size - addr;
}

/* One entry of a table, wherever it lies. */
typedef struct PteRef {
    uint64_t *host; /* NULL: bus address only */
    uint64_t bus;
} PteRef;

static enum mxgpu_fault pte_load(MxgpuMmu *mmu, uint64_t table, unsigned index,
                                 PteRef *ref, uint64_t *pte,
                                 unsigned *host_ops)
{
    uint64_t addr = (table & MXGPU_PTE_ADDRESS) + index * sizeof(uint64_t);

    ref->host = NULL;
    ref->bus = addr;
    if (!(table & MXGPU_PTE_SYSTEM)) {
        if (!in_vram(mmu, addr, sizeof(uint64_t))) {
            return MXGPU_FAULT_TABLE;
        }
        ref->host = (uint64_t *)(mmu->vram + addr);
    } else {
        ref->host = mmu->ops->dma_map(mmu->host, addr, sizeof(uint64_t), false);
        (*host_ops)++;
        if (!ref->host) {
            (*host_ops)++;
            return mmu->ops->dma_read(mmu->host, addr, pte, sizeof(*pte))
                       ? MXGPU_FAULT_BUS
                       : MXGPU_FAULT_NONE;
        }
    }
    *pte = __atomic_load_n(ref->host, __ATOMIC_ACQUIRE);
    return MXGPU_FAULT_NONE;
}

/*
 * Sets bits in an entry that still has the value the walk saw; *changed when
 * it has not, and the walk starts again. System memory without a host pointer
 * has no atomic access: read, compare, write.
 */
static enum mxgpu_fault pte_mark(MxgpuMmu *mmu, uint64_t table,
                                 const PteRef *ref, uint64_t old, uint64_t bits,
                                 bool *changed, unsigned *host_ops)
{
    MxgpuVramUsed *used = atomic_load(&mmu->used);
    uint64_t now = old | bits;
    uint64_t *host = ref->host;

    if (table & MXGPU_PTE_SYSTEM) {
        (*host_ops)++;
        host = mmu->ops->dma_map(mmu->host, ref->bus, sizeof(now), true);
    }
    if (used && !(table & MXGPU_PTE_SYSTEM)) {
        used(mmu->used_host, ref->bus, sizeof(now));
    }
    if (host) {
        *changed = !__atomic_compare_exchange_n(
            host, &old, now, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        return MXGPU_FAULT_NONE;
    }
    *host_ops += 2;
    if (mmu->ops->dma_read(mmu->host, ref->bus, &now, sizeof(now))) {
        return MXGPU_FAULT_BUS;
    }
    *changed = now != old;
    if (*changed) {
        return MXGPU_FAULT_NONE;
    }
    now |= bits;
    return mmu->ops->dma_write(mmu->host, ref->bus, &now, sizeof(now))
               ? MXGPU_FAULT_BUS
               : MXGPU_FAULT_NONE;
}

static bool table_entry_ok(uint64_t pte)
{
    return (pte & MXGPU_PTE_VALID) && (pte & MXGPU_PTE_TABLE) &&
           !(pte & MXGPU_PTE_TABLE_RESERVED);
}

static enum mxgpu_fault check_leaf(uint64_t pte, unsigned level)
{
    uint64_t offset_mask = (1ull << MXGPU_PT_SHIFT(level)) - 1;

    if (level == MXGPU_PT_LEVELS - 1 || (pte & MXGPU_PTE_LEAF_RESERVED) ||
        (pte & MXGPU_PTE_ADDRESS & offset_mask)) {
        return MXGPU_FAULT_TABLE;
    }
    return MXGPU_FAULT_NONE;
}

static uint64_t perms_needed(enum mxgpu_access access)
{
    switch (access) {
    case MXGPU_ACCESS_WRITE:
        return MXGPU_PTE_WRITE;
    case MXGPU_ACCESS_EXECUTE:
        return MXGPU_PTE_EXECUTE;
    case MXGPU_ACCESS_ATOMIC:
        return MXGPU_PTE_ATOMIC | MXGPU_PTE_READ | MXGPU_PTE_WRITE;
    default:
        return MXGPU_PTE_READ;
    }
}

static bool access_writes(enum mxgpu_access access)
{
    return access == MXGPU_ACCESS_WRITE || access == MXGPU_ACCESS_ATOMIC;
}

/*
 * Host pointer to out->addr in the largest of the leaf, 2 MiB and 4 KiB around it
 * that is whole: a leaf may reach past the end of VRAM, and the bus may map a
 * large page only in parts. What is written is logged by pages: a granule is
 * then no larger, or a store would make 2 MiB dirty.
 */
static enum mxgpu_fault find_host(MxgpuMmu *mmu, bool write,
                                  MxgpuTranslation *out)
{
    static const unsigned shifts[] = {MXGPU_HUGE_SHIFT, MXGPU_LARGE_SHIFT,
                                      MXGPU_PAGE_SHIFT};
    MxgpuVramUsed *used = write ? atomic_load(&mmu->used) : NULL;

    for (unsigned i = 0; i < 3; i++) {
        uint64_t size = 1ull << shifts[i];
        uint64_t base = out->addr & ~(size - 1);
        uint8_t *host = NULL;

        if (shifts[i] > (used ? MXGPU_PAGE_SHIFT : out->page_shift)) {
            continue;
        }
        if (!out->system) {
            host = in_vram(mmu, base, size) ? mmu->vram + base : NULL;
            if (host && used) {
                used(mmu->used_host, base, size);
            }
        } else {
            host = mmu->ops->dma_map(mmu->host, base, size, write);
            out->host_ops++;
        }
        if (host) {
            out->host = host + (out->addr - base);
            out->granule_shift = shifts[i];
            if (!out->system) {
                out->page_shift = shifts[i];
            }
            return MXGPU_FAULT_NONE;
        }
    }
    out->host = NULL;
    out->granule_shift = MXGPU_PAGE_SHIFT;
    return out->system ? MXGPU_FAULT_NONE : MXGPU_FAULT_BUS;
}

/* Finds the leaf of va. *changed: a marked entry had changed meanwhile. */
static enum mxgpu_fault walk(MxgpuMmu *mmu, uint64_t root, uint64_t va,
                             enum mxgpu_access access, MxgpuTranslation *out,
                             bool *changed)
{
    uint64_t table = root, pte, need = perms_needed(access);
    enum mxgpu_fault fault;
    uint64_t mark = MXGPU_PTE_ACCESSED;
    PteRef ref;
    int level;

    for (level = MXGPU_PT_LEVELS - 1;; level--) {
        fault = pte_load(mmu, table, MXGPU_PT_INDEX(va, level), &ref, &pte,
                         &out->host_ops);
        if (fault != MXGPU_FAULT_NONE) {
            return fault;
        }
        if (!(pte & MXGPU_PTE_VALID)) {
            return MXGPU_FAULT_NOT_PRESENT;
        }
        if (!(pte & MXGPU_PTE_TABLE)) {
            break;
        }
        if (level == 0 || !table_entry_ok(pte)) {
            return MXGPU_FAULT_TABLE;
        }
        table = pte;
    }
    fault = check_leaf(pte, (unsigned)level);
    if (fault != MXGPU_FAULT_NONE) {
        return fault;
    }
    if ((pte & need) != need) {
        return MXGPU_FAULT_PERMISSION;
    }
    out->page_shift = MXGPU_PT_SHIFT((unsigned)level);
    out->addr = (pte & MXGPU_PTE_ADDRESS) +
                (va & ((1ull << out->page_shift) - 1));
    out->system = pte & MXGPU_PTE_SYSTEM;
    out->perms = pte & (MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_EXECUTE |
                        MXGPU_PTE_ATOMIC);
    fault = find_host(mmu, access_writes(access), out);
    if (fault != MXGPU_FAULT_NONE) {
        return fault;
    }
    if (access_writes(access)) {
        mark |= MXGPU_PTE_DIRTY;
    }
    if ((pte & mark) != mark) {
        return pte_mark(mmu, table, &ref, pte, mark, changed,
                        &out->host_ops);
    }
    return MXGPU_FAULT_NONE;
}

static enum mxgpu_fault find_root(MxgpuMmu *mmu, unsigned vmid, uint64_t va,
                                  uint64_t *root)
{
    uint64_t top = va >> (MXGPU_VA_BITS - 1);

    if (top == UINT64_MAX >> (MXGPU_VA_BITS - 1)) {
        return MXGPU_FAULT_WINDOW; /* never reaches a table */
    }
    if (top != 0) {
        return MXGPU_FAULT_NON_CANONICAL;
    }
    *root = mxgpu_mmu_root(mmu, vmid);
    if (!(*root & MXGPU_PTE_VALID)) {
        return MXGPU_FAULT_NO_VMID;
    }
    return table_entry_ok(*root) ? MXGPU_FAULT_NONE : MXGPU_FAULT_TABLE;
}

enum mxgpu_fault mxgpu_mmu_translate(MxgpuMmu *mmu, unsigned vmid, uint64_t va,
                                     enum mxgpu_access access,
                                     MxgpuTranslation *out)
{
    uint64_t root;
    enum mxgpu_fault bad = find_root(mmu, vmid, va, &root);

    out->host_ops = 0;
    if (bad != MXGPU_FAULT_NONE) {
        return bad;
    }
    /* Software that rewrites an entry all the time must not hold us here. */
    for (unsigned tries = 0; tries < 16; tries++) {
        bool changed = false;
        enum mxgpu_fault fault = walk(mmu, root, va, access, out, &changed);

        if (fault != MXGPU_FAULT_NONE || !changed) {
            return fault;
        }
    }
    return MXGPU_FAULT_TABLE;
}

/* Whether [t->addr, +len) stays in t's page. */
static bool in_page(const MxgpuTranslation *t, size_t len)
{
    uint64_t size = 1ull << t->page_shift;

    return len <= size - (t->addr & (size - 1));
}

/* Bytes of [addr, +len) that t->host reaches. */
static bool host_reaches(const MxgpuTranslation *t, size_t len)
{
    uint64_t size = 1ull << t->granule_shift;

    return t->host && len <= size - (t->addr & (size - 1));
}

enum mxgpu_fault mxgpu_mmu_read(MxgpuMmu *mmu, const MxgpuTranslation *t,
                                void *buf, size_t len)
{
    if (!in_page(t, len)) {
        return MXGPU_FAULT_BUS;
    }
    if (len && host_reaches(t, len)) {
        mxgpu_copy_single(buf, t->host, len, true);
        return MXGPU_FAULT_NONE;
    }
    if (!len || (t->system &&
                 !mmu->ops->dma_read(mmu->host, t->addr, buf, len))) {
        return MXGPU_FAULT_NONE;
    }
    return MXGPU_FAULT_BUS;
}

enum mxgpu_fault mxgpu_mmu_write(MxgpuMmu *mmu, const MxgpuTranslation *t,
                                 const void *buf, size_t len)
{
    if (!in_page(t, len)) {
        return MXGPU_FAULT_BUS;
    }
    if (len && host_reaches(t, len)) {
        mxgpu_copy_single(t->host, buf, len, false);
        return MXGPU_FAULT_NONE;
    }
    if (!len || (t->system &&
                 !mmu->ops->dma_write(mmu->host, t->addr, buf, len))) {
        return MXGPU_FAULT_NONE;
    }
    return MXGPU_FAULT_BUS;
}

/* ---- for debuggers */

static enum mxgpu_fault look(MxgpuMmu *mmu, uint64_t table, uint64_t va,
                             MxgpuMmuLook *out)
{
    unsigned unused = 0;

    for (unsigned level = MXGPU_PT_LEVELS; level-- > 0;) {
        enum mxgpu_fault fault;
        PteRef ref;
        uint64_t pte;

        fault = pte_load(mmu, table, MXGPU_PT_INDEX(va, level), &ref, &pte,
                         &unused);
        if (fault != MXGPU_FAULT_NONE) {
            return fault;
        }
        out->step[out->steps].level = level;
        out->step[out->steps].system = table & MXGPU_PTE_SYSTEM;
        out->step[out->steps].at = ref.bus;
        out->step[out->steps++].pte = pte;
        if (!(pte & MXGPU_PTE_VALID)) {
            return MXGPU_FAULT_NOT_PRESENT;
        }
        if (!(pte & MXGPU_PTE_TABLE)) {
            out->page_shift = MXGPU_PT_SHIFT(level);
            out->addr = (pte & MXGPU_PTE_ADDRESS) +
                        (va & ((1ull << out->page_shift) - 1));
            out->system = pte & MXGPU_PTE_SYSTEM;
            out->perms = pte;
            return check_leaf(pte, level);
        }
        if (!table_entry_ok(pte)) {
            break;
        }
        table = pte;
    }
    return MXGPU_FAULT_TABLE;
}

void mxgpu_mmu_look(MxgpuMmu *mmu, unsigned vmid, uint64_t va,
                    MxgpuMmuLook *out)
{
    MxgpuMmuClient client;
    uint64_t root;

    *out = (MxgpuMmuLook){.fault = find_root(mmu, vmid, va, &root)};
    if (out->fault != MXGPU_FAULT_NONE) {
        return;
    }
    /* Whoever takes memory away waits for clients, and so for us. */
    mxgpu_mmu_client_add(mmu, &client);
    mxgpu_mmu_client_begin(&client);
    out->fault = look(mmu, root, va, out);
    mxgpu_mmu_client_end(&client);
    mxgpu_mmu_client_remove(&client);
}

static enum mxgpu_fault look_at_page(MxgpuMmu *mmu, const MxgpuMmuLook *l,
                                     void *buf, size_t len)
{
    if (l->system) {
        return mmu->ops->dma_read(mmu->host, l->addr, buf, len)
                   ? MXGPU_FAULT_BUS
                   : MXGPU_FAULT_NONE;
    }
    if (!in_vram(mmu, l->addr, len)) {
        return MXGPU_FAULT_BUS;
    }
    mxgpu_copy_single(buf, mmu->vram + l->addr, len, true);
    return MXGPU_FAULT_NONE;
}

enum mxgpu_fault mxgpu_mmu_look_read(MxgpuMmu *mmu, unsigned vmid, uint64_t va,
                                     void *buf, size_t len)
{
    uint8_t *to = buf;

    while (len) {
        uint64_t room = (1ull << MXGPU_PAGE_SHIFT) -
                        (va & ((1ull << MXGPU_PAGE_SHIFT) - 1));
        size_t n = len < room ? len : (size_t)room;
        MxgpuMmuLook l;
        enum mxgpu_fault fault;

        mxgpu_mmu_look(mmu, vmid, va, &l);
        fault = l.fault == MXGPU_FAULT_NONE ? look_at_page(mmu, &l, to, n)
                                            : l.fault;
        if (fault != MXGPU_FAULT_NONE) {
            return fault;
        }
        va += n;
        to += n;
        len -= n;
    }
    return MXGPU_FAULT_NONE;
}
