/* SPDX-License-Identifier: MIT */
#include "simt/exec/variants.h"
#include "simt/state.h"
#include "simt/units/forget.h"
#include "simt/visit.h"
#include "simt/warp/memory.h"
#include "simt_host.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Kernels may race with each other, and litmus tests do: their loads and stores
 * are single host accesses (docs/memory-model.md), but not C atomics. All else
 * is ThreadSanitizer's to judge.
 */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:^x_\n"
           "race:^load_each$\n"
           "race:^store_each$\n"
           "race:^mxgpu_simt_read$\n"
           "race:^mxgpu_simt_write$\n";
}

static uint8_t *bus(SimtHost *h, uint64_t addr, size_t len, bool mapped)
{
    if (addr >= HOST_SYSTEM_BUS && addr - HOST_SYSTEM_BUS < HOST_SYSTEM_SIZE &&
        len <= HOST_SYSTEM_SIZE - (addr - HOST_SYSTEM_BUS)) {
        return h->system + (addr - HOST_SYSTEM_BUS);
    }
    if (!mapped && addr >= HOST_HOLE_BUS && addr - HOST_HOLE_BUS < 4096 &&
        len <= 4096 - (addr - HOST_HOLE_BUS)) {
        return h->hole + (addr - HOST_HOLE_BUS);
    }
    return NULL;
}

static int dma_read(void *host, uint64_t addr, void *buf, size_t len)
{
    uint8_t *p = bus(host, addr, len, false);

    if (p) {
        memcpy(buf, p, len);
    }
    return p ? 0 : -EFAULT;
}

static int dma_write(void *host, uint64_t addr, const void *buf, size_t len)
{
    uint8_t *p = bus(host, addr, len, false);

    if (p) {
        memcpy(p, buf, len);
    }
    return p ? 0 : -EFAULT;
}

static void *dma_map(void *host, uint64_t addr, size_t len, bool write)
{
    return bus(host, addr, len, true);
}

static uint64_t host_clock(void *host)
{
    SimtHost *h = host;

    return atomic_fetch_add_explicit(&h->clock, 1, memory_order_relaxed) + 1;
}

static const MxgpuHostOps ops = {
    .dma_read = dma_read,
    .dma_write = dma_write,
    .dma_map = dma_map,
    .clock = host_clock,
};

static void done(void *opaque, unsigned slot)
{
    SimtHost *h = opaque;

    atomic_fetch_or(&h->done, 1u << slot);
}

static void wake(void *opaque)
{
    SimtHost *h = opaque;

    atomic_fetch_add(&h->wakes, 1);
}

static uint64_t new_table(SimtHost *h)
{
    uint64_t at = h->free_pages;

    h->free_pages += 4096;
    memset(h->vram + at, 0, 4096);
    return at | MXGPU_PTE_VALID | MXGPU_PTE_TABLE;
}

/* The entry for va at a level, making tables on the way. */
static uint64_t *entry(SimtHost *h, unsigned vmid, uint64_t va, int level)
{
    uint64_t table = mxgpu_mmu_root(h->mmu, vmid), *pte;

    if (!table) {
        table = new_table(h);
        mxgpu_mmu_set_root(h->mmu, vmid, table);
    }
    for (int l = 3;; l--) {
        pte = (uint64_t *)(h->vram + (table & MXGPU_PTE_ADDRESS)) +
              MXGPU_PT_INDEX(va, l);
        if (l == level) {
            return pte;
        }
        if (!*pte) {
            *pte = new_table(h);
        }
        table = *pte;
    }
}

void simt_host_map(SimtHost *h, unsigned vmid, uint64_t va, uint64_t addr,
                   uint64_t size, uint64_t bits, unsigned level)
{
    uint64_t step = 1ull << MXGPU_PT_SHIFT(level);

    for (uint64_t at = 0; at < size; at += step) {
        *entry(h, vmid, va + at, level) = (addr + at) | bits | MXGPU_PTE_VALID;
    }
}

uint64_t *simt_host_pte(SimtHost *h, unsigned vmid, uint64_t va)
{
    uint64_t *pte = entry(h, vmid, va, 1);

    return *pte & MXGPU_PTE_TABLE ? entry(h, vmid, va, 0) : pte;
}

/* MXGPU_TEST_ISA: the interpreter to use instead of the host's best; "best", or
 * one that the host cannot run: that one. */
static void choose_isa(MxgpuSimt *simt)
{
    const char *isa = g_getenv("MXGPU_TEST_ISA");
    SimtVariant v[SIMT_VARIANTS];
    unsigned n = mxgpu_simt_variants(v);

    for (unsigned i = 0; i < n; i++) {
        if (g_strcmp0(isa, v[i].name) == 0) {
            simt->exec = v[i].exec;
            simt->count = v[i].count;
            simt->convoy = v[i].convoy;
        }
    }
}

/* Compiling takes long: what begins less often is left to the interpreter. */
#define JIT_PATIENCE 32

/* MXGPU_TEST_JIT: 1, or how often code begins until it is compiled. */
static unsigned jit_patience(void)
{
    const char *named = g_getenv("MXGPU_TEST_JIT");
    unsigned n = named ? atoi(named) : 0;

    return n == 1 ? JIT_PATIENCE : n;
}

SimtHost *simt_host_new(unsigned cus)
{
    SimtHost *h = g_new0(SimtHost, 1);
    MxgpuSimtConfig config = {
        .compute_units = cus,
        .ops = &ops,
        .host = h,
        .done = done,
        .wake = wake,
        .opaque = h,
        .jit = jit_patience(),
        .jit_waits = !g_getenv("MXGPU_TEST_JIT_HASTY"),
    };
    uint8_t *p = mmap(NULL, HOST_VRAM_SIZE + (2 << 20), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    g_assert_true(p != MAP_FAILED && cus <= HOST_UNITS);
    /* nobody may reach behind VRAM */
    g_assert_cmpint(mprotect(p + HOST_VRAM_SIZE, 2 << 20, PROT_NONE), ==, 0);
    h->vram = p;
    h->system = g_malloc0(HOST_SYSTEM_SIZE);
    h->cus = cus;
    h->mmu = mxgpu_mmu_new(h->vram, HOST_VRAM_SIZE, &ops, h);
    config.mmu = h->mmu;
    h->simt = mxgpu_simt_new(&config);
    g_assert_nonnull(h->simt);
    choose_isa(h->simt);
    if (g_getenv("MXGPU_TEST_FORGET")) {
        simt_host_forget(h, 1);
    }
    h->symbols = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    h->code = 1 << 20;
    h->small = 2 << 20;
    h->free_pages = 4 << 20;
    h->data = 256ull << 20;
    simt_host_map(h, HOST_VMID, HOST_CODE_VA, h->code, 1 << 20, PERM_RX, 0);
    simt_host_map(h, HOST_VMID, HOST_SMALL_VA, h->small, 1 << 20, PERM_RW, 0);
    simt_host_map(h, HOST_VMID, HOST_DATA_VA, h->data, HOST_DATA_BYTES,
                  PERM_RW, 1);
    simt_host_map(h, HOST_VMID, HOST_SYS_VA, HOST_SYSTEM_BUS, HOST_SYSTEM_SIZE,
                  PERM_RW | MXGPU_PTE_SYSTEM, 0);
    simt_host_map(h, HOST_VMID, HOST_HOLE_VA, HOST_HOLE_BUS, 4096,
                  PERM_RW | MXGPU_PTE_SYSTEM, 0);
    return h;
}

void simt_host_free(SimtHost *h)
{
    mxgpu_simt_free(h->simt);
    mxgpu_mmu_free(h->mmu);
    munmap(h->vram, HOST_VRAM_SIZE + (2 << 20));
    g_hash_table_destroy(h->symbols);
    g_free(h->system);
    g_free(h);
}

void *simt_host_data(SimtHost *h, uint64_t va)
{
    if (va >= HOST_CODE_VA && va < HOST_CODE_VA + (1 << 20)) {
        return h->vram + h->code + (va - HOST_CODE_VA);
    }
    if (va >= HOST_SMALL_VA && va < HOST_SMALL_VA + (1 << 20)) {
        return h->vram + h->small + (va - HOST_SMALL_VA);
    }
    g_assert_cmphex(va, >=, HOST_DATA_VA);
    return h->vram + h->data + (va - HOST_DATA_VA);
}

static void add_symbols(SimtHost *h, const char *elf, const Elf64_Shdr *sh)
{
    const Elf64_Ehdr *eh = (const void *)elf;
    const Elf64_Shdr *strings =
        (const Elf64_Shdr *)(elf + eh->e_shoff) + sh->sh_link;
    const Elf64_Sym *sym = (const void *)(elf + sh->sh_offset);

    for (size_t i = 0; i < sh->sh_size / sizeof(*sym); i++) {
        uint64_t *value = g_new(uint64_t, 1);

        *value = sym[i].st_value;
        g_hash_table_insert(
            h->symbols, g_strdup(elf + strings->sh_offset + sym[i].st_name),
            value);
    }
}

void simt_host_load(SimtHost *h, const char *path)
{
    g_autofree char *elf = NULL;
    const Elf64_Ehdr *eh;
    const Elf64_Phdr *ph;
    const Elf64_Shdr *sh;
    gsize len;

    g_assert_true(g_file_get_contents(path, &elf, &len, NULL));
    eh = (const void *)elf;
    ph = (const void *)(elf + eh->e_phoff);
    sh = (const void *)(elf + eh->e_shoff);
    for (unsigned i = 0; i < eh->e_phnum; i++) {
        if (ph[i].p_type == PT_LOAD && ph[i].p_filesz) {
            memcpy(simt_host_data(h, ph[i].p_vaddr), elf + ph[i].p_offset,
                   ph[i].p_filesz);
        }
    }
    for (unsigned i = 0; i < eh->e_shnum; i++) {
        if (sh[i].sh_type == SHT_SYMTAB) {
            add_symbols(h, elf, &sh[i]);
        }
    }
}

uint64_t simt_host_symbol(SimtHost *h, const char *name)
{
    uint64_t *value = g_hash_table_lookup(h->symbols, name);

    g_assert_nonnull(value);
    return *value;
}

MxgpuDispatch simt_host_dispatch(uint64_t entry, unsigned grid, unsigned block)
{
    return (MxgpuDispatch){
        .entry = entry,
        .args = HOST_DATA_VA,
        .grid = {grid, 1, 1},
        .block = {block, 1, 1},
        .private_bytes = 8192,
        .vmid = HOST_VMID,
        .registers = 32,
    };
}

void simt_host_forget(SimtHost *h, uint64_t seed)
{
    for (unsigned i = 0; i < HOST_UNITS; i++) {
        h->forget[i] = seed ? (seed + i) * 0x9e3779b97f4a7c15 | 1 : 0;
    }
    h->simt->extra_work = seed ? INT32_MAX : 0;
    h->reload = false;
}

/* A unit may have a thread of its own, and has a state of its own. */
static unsigned random_of(SimtHost *h, unsigned cu)
{
    uint64_t *r = &h->forget[cu];

    *r ^= *r << 13;
    *r ^= *r >> 7;
    *r ^= *r << 17;
    return (unsigned)(*r >> 16);
}

/* ---- a state in memory */

typedef struct Image {
    GByteArray *bytes;
    size_t at; /* loading */
} Image;

static int no_section(void *opaque, const char *name, unsigned version)
{
    return 0;
}

static int put(void *opaque, void *ptr, size_t len)
{
    g_byte_array_append(((Image *)opaque)->bytes, ptr, len);
    return 0;
}

static int get(void *opaque, void *ptr, size_t len)
{
    Image *m = opaque;

    if (len > m->bytes->len - m->at) {
        return -EINVAL;
    }
    memcpy(ptr, m->bytes->data + m->at, len);
    m->at += len;
    return 0;
}

static int put_sparse(void *opaque, void *ptr, size_t len, size_t granule)
{
    return put(opaque, ptr, len);
}

static int get_sparse(void *opaque, void *ptr, size_t len, size_t granule)
{
    return get(opaque, ptr, len);
}

static const MxgpuStateOps saves = {
    .section = no_section,
    .bytes = put,
    .sparse = put_sparse,
};
static const MxgpuStateOps loads = {
    .loads = true,
    .section = no_section,
    .bytes = get,
    .sparse = get_sparse,
};

static void reload(SimtHost *h)
{
    Image m = {.bytes = g_byte_array_new()};
    MxgpuVisit v = {.ops = &saves, .opaque = &m};

    mxgpu_simt_visit(h->simt, &v);
    mxgpu_simt_reset(h->simt);
    v.ops = &loads;
    mxgpu_simt_visit(h->simt, &v);
    g_assert_cmpint(v.error, ==, 0);
    g_assert_cmpuint(m.at, ==, m.bytes->len);
    g_byte_array_unref(m.bytes);
}

GByteArray *simt_host_take_context(SimtHost *h, unsigned slot)
{
    Image m = {.bytes = g_byte_array_new()};
    MxgpuVisit v = {.ops = &saves, .opaque = &m};

    mxgpu_simt_context_save(h->simt, slot, &v);
    g_assert_cmpint(v.error, ==, 0);
    mxgpu_simt_context_drop(h->simt, slot);
    return m.bytes;
}

MxgpuContextState simt_host_give_context(SimtHost *h, unsigned slot,
                                         const MxgpuDispatch *whose,
                                         GByteArray *bytes)
{
    Image m = {.bytes = bytes};
    MxgpuVisit v = {.ops = &loads, .opaque = &m};

    return mxgpu_simt_context_load(h->simt, slot, whose, &v);
}

/* Half of the time, so that caches are used, too. */
bool simt_host_step(SimtHost *h, unsigned cu, unsigned budget)
{
    unsigned random = h->forget[cu] ? random_of(h, cu) : 0;

    if (random % 16 == 15 && h->reload) {
        reload(h);
    } else if (random % 2) {
        mxgpu_cu_forget(&h->simt->cus[cu]);
    }
    return mxgpu_simt_run(h->simt, cu, budget);
}

bool simt_host_steps(SimtHost *h, unsigned cu, unsigned budget)
{
    if (!h->forget[cu]) {
        return simt_host_step(h, cu, budget);
    }
    return simt_host_step(h, cu, 1 + random_of(h, cu) % 500);
}

void simt_host_start(SimtHost *h, unsigned slot, const MxgpuDispatch *d)
{
    g_assert_cmpint(mxgpu_simt_start(h->simt, slot, d), ==, MXGPU_FAULT_NONE);
    wake(h);
}

MxgpuDispatchFault simt_host_run(SimtHost *h, const MxgpuDispatch *d)
{
    enum mxgpu_fault fault;

    h->done = 0;
    fault = mxgpu_simt_start(h->simt, 0, d);
    if (fault != MXGPU_FAULT_NONE) {
        return (MxgpuDispatchFault){.code = fault};
    }
    for (unsigned rounds = 0; !(h->done & 1); rounds++) {
        g_assert_cmpuint(rounds, <, 1000000);
        for (unsigned i = 0; i < h->cus; i++) {
            simt_host_steps(h, i, 100000);
        }
    }
    return mxgpu_simt_fault(h->simt, 0);
}
