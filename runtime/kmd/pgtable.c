/* SPDX-License-Identifier: MIT */
/*
 * Page tables in VRAM, written through the aperture: mxgpu/pte.h. A shadow in
 * our memory knows the tree and which entries are in use, so that VRAM is only
 * read when a large leaf is split, and nothing here depends on what a device
 * that went away reads as. An entry is always written whole, by one store, below tables that are
 * already complete: the device may walk at any time. The device sets A and D
 * bits in leaves; nothing here needs them.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "priv.h"

#define TABLE_SIZE KMD_PAGE_SIZE
#define TOP (MXGPU_PT_LEVELS - 1)

struct KmdTable {
    KmdTable *parent;
    KmdTable *next_dead;
    KmdTable **child;          /* by index; NULL at level 0 */
    _Atomic uint64_t *entries; /* in the aperture */
    uint64_t addr;             /* offset in VRAM */
    unsigned level, index;     /* index: of this table in its parent */
    unsigned used;             /* entries that are not 0 */
    uint64_t present[MXGPU_PT_ENTRIES / 64]; /* a bit each */
};

/* ---- VRAM for tables ------------------------------------------------------ */

/* Takes more VRAM for tables; it is not given back before the end. */
static int tables_grow(KmdDevice *dev)
{
    static const uint64_t sizes[] = { 2ull << 20, 256ull << 10, TABLE_SIZE };
    uint64_t offset;
    size_t i;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        /* A quarter of a tiny VRAM is enough for a start. */
        if (sizes[i] > TABLE_SIZE && sizes[i] > dev->info.vram_size / 4) {
            continue;
        }
        if (!kmd_vram_alloc(dev, sizes[i], &offset)) {
            return mc_extents_add(&dev->vm.tables, offset, sizes[i]);
        }
    }
    mc_error("no VRAM left for page tables");
    return -ENOMEM;
}

static KmdTable *table_new(KmdDevice *dev, unsigned level)
{
    KmdTable *table = calloc(1, sizeof(*table));
    int ret = -ENOMEM;

    if (!table) {
        return NULL;
    }
    table->level = level;
    if (level > 0) {
        table->child = calloc(MXGPU_PT_ENTRIES, sizeof(*table->child));
    }
    if (level == 0 || table->child) {
        ret = mc_extents_alloc(&dev->vm.tables, TABLE_SIZE, TABLE_SIZE, 0,
                               &table->addr);
        if (ret == -ENOSPC && !(ret = tables_grow(dev))) {
            ret = mc_extents_alloc(&dev->vm.tables, TABLE_SIZE, TABLE_SIZE, 0,
                                   &table->addr);
        }
    }
    if (ret) {
        free(table->child);
        free(table);
        return NULL;
    }
    table->entries = (void *)(dev->t->vram + table->addr);
    memset((void *)table->entries, 0, TABLE_SIZE);
    return table;
}

static void table_free(KmdDevice *dev, KmdTable *table)
{
    mc_extents_free(&dev->vm.tables, table->addr, TABLE_SIZE);
    free(table->child);
    free(table);
}

/* ---- entries --------------------------------------------------------------- */

static bool entry_present(const KmdTable *table, unsigned i)
{
    return table->present[i / 64] >> (i % 64) & 1;
}

/* From empty to not empty or back, or from a leaf to a table. */
static void entry_set(KmdTable *table, unsigned i, uint64_t entry)
{
    uint64_t bit = 1ull << (i % 64);

    table->used -= entry_present(table, i);
    table->present[i / 64] &= ~bit;
    if (entry) {
        table->present[i / 64] |= bit;
        table->used++;
    }
    /* An exchange, because the device may be setting A or D. */
    atomic_exchange(&table->entries[i], entry);
}

static uint64_t table_entry(const KmdTable *table)
{
    return table->addr | MXGPU_PTE_TABLE | MXGPU_PTE_VALID;
}

static void link_child(KmdTable *parent, unsigned i, KmdTable *child)
{
    child->parent = parent;
    child->index = i;
    parent->child[i] = child;
    kmd_write_barrier(); /* its contents first */
    entry_set(parent, i, table_entry(child));
}

/* Unlinks tables that became empty; walkers may still be inside. */
static void prune(KmdDevice *dev, KmdTable *table)
{
    while (table->parent && table->used == 0) {
        KmdTable *parent = table->parent;

        entry_set(parent, table->index, 0);
        parent->child[table->index] = NULL;
        table->next_dead = dev->vm.dead;
        dev->vm.dead = table;
        table = parent;
    }
}

/* ---- walking ------------------------------------------------------------------ */

/* The deepest table on va's path that exists, at "level" or above it. */
static KmdTable *walk(KmdDevice *dev, uint64_t va, unsigned level)
{
    KmdTable *table = dev->vm.root;

    while (table->level > level) {
        KmdTable *next = table->child[MXGPU_PT_INDEX(va, table->level)];

        if (!next) {
            break;
        }
        table = next;
    }
    return table;
}

/* The table of va at "level", made where missing. */
static KmdTable *walk_create(KmdDevice *dev, uint64_t va, unsigned level)
{
    KmdTable *table = walk(dev, va, level);

    while (table->level > level) {
        KmdTable *next = table_new(dev, table->level - 1);

        if (!next) {
            prune(dev, table);
            return NULL;
        }
        link_child(table, MXGPU_PT_INDEX(va, table->level), next);
        table = next;
    }
    return table;
}

int kmd_pt_init(KmdDevice *dev)
{
    int ret;

    mc_extents_init(&dev->vm.tables);
    ret = tables_grow(dev);
    if (ret) {
        return ret;
    }
    dev->vm.root = table_new(dev, TOP);
    return dev->vm.root ? 0 : -ENOMEM;
}

static void free_tree(KmdTable *table)
{
    unsigned i;

    for (i = 0; table->child && i < MXGPU_PT_ENTRIES; i++) {
        if (table->child[i]) {
            free_tree(table->child[i]);
        }
    }
    free(table->child);
    free(table);
}

void kmd_pt_fini(KmdDevice *dev)
{
    kmd_pt_reap(dev);
    if (dev->vm.root) {
        free_tree(dev->vm.root);
        dev->vm.root = NULL;
    }
    mc_extents_fini(&dev->vm.tables);
}

uint64_t kmd_pt_root(KmdDevice *dev)
{
    return table_entry(dev->vm.root);
}

int kmd_pt_map(KmdDevice *dev, uint64_t va, uint64_t addr, uint64_t size,
               uint64_t flags)
{
    uint64_t start = va, end = va + size;

    while (va < end) {
        bool large = ((va | addr) & (KMD_LARGE_PAGE_SIZE - 1)) == 0 &&
                     end - va >= KMD_LARGE_PAGE_SIZE;
        KmdTable *table = walk_create(dev, va, large ? 1 : 0);
        uint64_t step = 1ull << MXGPU_PT_SHIFT(large ? 1 : 0);
        unsigned i;

        if (!table) {
            kmd_pt_clear(dev, start, va - start);
            return -ENOMEM;
        }
        /* As many entries of this table as one step size serves. */
        for (i = MXGPU_PT_INDEX(va, table->level);
             i < MXGPU_PT_ENTRIES && end - va >= step; i++) {
            assert(!entry_present(table, i));
            entry_set(table, i, addr | flags | MXGPU_PTE_VALID);
            va += step;
            addr += step;
            if (!large && ((va | addr) & (KMD_LARGE_PAGE_SIZE - 1)) == 0) {
                break;
            }
        }
    }
    kmd_write_barrier();
    return 0;
}

/* The large leaf that covers va: its table and index, or NULL. */
static KmdTable *find_large(KmdDevice *dev, uint64_t va, unsigned *index)
{
    KmdTable *table = walk(dev, va, 1);

    *index = MXGPU_PT_INDEX(va, 1);
    if (table->level != 1 || table->child[*index] ||
        !entry_present(table, *index)) {
        return NULL;
    }
    return table;
}

/* A large leaf becomes small ones, if there is one. -ENOMEM. */
static int split_leaf(KmdDevice *dev, uint64_t va)
{
    KmdTable *table, *fine;
    unsigned i, index;
    uint64_t leaf;

    table = find_large(dev, va, &index);
    if (!table) {
        return 0;
    }
    fine = table_new(dev, 0);
    if (!fine) {
        return -ENOMEM;
    }
    leaf = atomic_load(&table->entries[index]);
    for (i = 0; i < MXGPU_PT_ENTRIES; i++) {
        entry_set(fine, i, leaf + i * KMD_PAGE_SIZE);
    }
    link_child(table, index, fine);
    return 0;
}

int kmd_pt_split(KmdDevice *dev, uint64_t va)
{
    return va & (KMD_LARGE_PAGE_SIZE - 1) ? split_leaf(dev, va) : 0;
}

int kmd_pt_prepare(KmdDevice *dev, uint64_t va, uint64_t addr, uint64_t size)
{
    uint64_t end = va + size;
    int ret = kmd_pt_split(dev, va);

    if (!ret) {
        ret = kmd_pt_split(dev, end);
    }
    if (((addr - va) & (KMD_LARGE_PAGE_SIZE - 1)) == 0) {
        return ret;
    }
    /* Large leaves between the ends do not fit. */
    for (; !ret && va < end; va += KMD_LARGE_PAGE_SIZE) {
        ret = split_leaf(dev, va);
    }
    return ret;
}

void kmd_pt_replace(KmdDevice *dev, uint64_t va, uint64_t addr, uint64_t size,
                    uint64_t flags)
{
    uint64_t end = va + size;

    while (va < end) {
        KmdTable *table = walk(dev, va, 0);
        uint64_t step = 1ull << MXGPU_PT_SHIFT(table->level);

        assert((va | addr) % step == 0 && end - va >= step);
        entry_set(table, MXGPU_PT_INDEX(va, table->level),
                  addr | flags | MXGPU_PTE_VALID);
        va += step;
        addr += step;
    }
    kmd_write_barrier();
}

void kmd_pt_clear(KmdDevice *dev, uint64_t va, uint64_t size)
{
    uint64_t end = va + size;

    while (va < end) {
        KmdTable *table = walk(dev, va, 0);
        uint64_t step = 1ull << MXGPU_PT_SHIFT(table->level);
        uint64_t stop = (va | ((step << MXGPU_PT_LEVEL_BITS) - 1)) + 1;
        unsigned i = MXGPU_PT_INDEX(va, table->level);

        /* Entries of this table until one has a table of its own. */
        do {
            if (entry_present(table, i)) {
                assert(va % step == 0 && end - va >= step);
                entry_set(table, i, 0);
            }
            va = (va & ~(step - 1)) + step;
            i++;
        } while (va < end && va < stop &&
                 !(table->child && table->child[i]));
        prune(dev, table);
    }
    kmd_write_barrier();
}

void kmd_pt_reap(KmdDevice *dev)
{
    while (dev->vm.dead) {
        KmdTable *table = dev->vm.dead;

        dev->vm.dead = table->next_dead;
        table_free(dev, table);
    }
}
