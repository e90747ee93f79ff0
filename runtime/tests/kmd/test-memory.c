/* SPDX-License-Identifier: MIT */
/* VRAM, pinned memory and page tables, seen through the fake's own walker. */
#define _GNU_SOURCE
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_device.h"

#define VRAM (64ull << 20)
#define PAGE KMD_PAGE_SIZE
#define BIG  KMD_LARGE_PAGE_SIZE
#define RW   (MXGPU_PTE_READ | MXGPU_PTE_WRITE)

typedef struct Setup {
    Fake *fake;
    KmdDevice *dev;
    uint64_t tables_free;
} Setup;

static Setup setup_dirty(uint64_t vram, bool dirty)
{
    Setup s = { .fake = fake_new(vram) };

    if (dirty) {
        memset(s.fake->vram, 0xaa, vram);
        s.fake->base.vram_is_zero = false;
    }
    g_assert_cmpint(kmd_device_open(&s.fake->base, &s.dev), ==, 0);
    s.tables_free = s.dev->vm.tables.total;
    return s;
}

static Setup setup(void)
{
    return setup_dirty(VRAM, false);
}

/* Nothing may be left: tables, mappings, pins. */
static void finish(Setup *s)
{
    g_assert_cmpuint(fake_tables(s->fake), ==, 1);
    g_assert_cmpuint(s->dev->vm.vmas.count, ==, 0);
    g_assert_cmpuint(s->dev->vm.tables.total, ==, s->tables_free);
    kmd_device_close(s->dev);
    g_assert_cmpuint(fake_pinned(s->fake), ==, 0);
    fake_free(s->fake);
}

/* Device address va and everything of its page reaches p. */
static void check_page(Setup *s, uint64_t va, const void *p, uint64_t perms,
                       uint64_t page_size)
{
    FakeTranslation t = fake_walk(s->fake, va);

    g_assert_true(t.valid);
    g_assert_cmphex(t.perms, ==, perms);
    if (page_size) {
        g_assert_cmphex(t.page_size, ==, page_size);
    }
    g_assert_true(fake_memory(s->fake, va) == p);
}

static void test_vram_basic(void)
{
    Setup s = setup();
    uint64_t before, after, total;
    KmdBo *a, *b, *c;

    kmd_vram_memory(s.dev, &before, &total);
    g_assert_cmpuint(total, ==, VRAM);
    g_assert_cmpint(kmd_bo_alloc(s.dev, PAGE, &a), ==, 0);
    g_assert_cmpint(kmd_bo_alloc(s.dev, 3 * BIG + PAGE, &b), ==, 0);
    g_assert_cmphex(b->addr % BIG, ==, 0);
    g_assert_cmpint(kmd_bo_alloc(s.dev, 0, &c), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_alloc(s.dev, 100, &c), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_alloc(s.dev, VRAM, &c), ==, -ENOMEM);
    g_assert_true((uint8_t *)kmd_bo_cpu(b) == s.fake->vram + b->addr);
    memset(kmd_bo_cpu(b), 1, 3 * BIG + PAGE);
    kmd_bo_free(a);
    kmd_bo_free(b);
    kmd_vram_memory(s.dev, &after, &total);
    g_assert_cmpuint(before, ==, after);
    finish(&s);
}

static void test_vram_exhaust(void)
{
    Setup s = setup_dirty(8 << 20, false);
    uint64_t before, after, total;
    KmdBo *bos[2048];
    unsigned n = 0, i;

    kmd_vram_memory(s.dev, &before, &total);
    while (kmd_bo_alloc(s.dev, PAGE, &bos[n]) == 0) {
        n++;
        g_assert_cmpuint(n, <, 2048);
    }
    g_assert_cmpuint(n, ==, before / PAGE);
    kmd_vram_memory(s.dev, &after, &total);
    g_assert_cmpuint(after, ==, 0);
    for (i = 0; i < n; i += 2) {
        kmd_bo_free(bos[i]);
    }
    for (i = 1; i < n; i += 2) {
        kmd_bo_free(bos[i]);
    }
    kmd_vram_memory(s.dev, &after, &total);
    g_assert_cmpuint(before, ==, after);
    g_assert_cmpuint(s.dev->vram.free.count, <=, 2);
    finish(&s);
}

static bool all_zero(const uint8_t *p, uint64_t size)
{
    return p[0] == 0 && memcmp(p, p + 1, size - 1) == 0;
}

static void test_vram_zeroed(void)
{
    Setup s = setup_dirty(VRAM, true);
    KmdBo *a, *b, *c;

    g_assert_cmpint(kmd_bo_alloc(s.dev, PAGE, &a), ==, 0);
    g_assert_true(all_zero(kmd_bo_cpu(a), PAGE));
    memset(kmd_bo_cpu(a), 0x55, PAGE);
    g_assert_cmpint(kmd_bo_alloc(s.dev, 5 * BIG + PAGE, &b), ==, 0);
    g_assert_true(all_zero(kmd_bo_cpu(b), 5 * BIG + PAGE));
    memset(kmd_bo_cpu(b), 0x66, 5 * BIG + PAGE);
    g_assert_cmpint(kmd_bo_alloc(s.dev, BIG - PAGE, &c), ==, 0);
    g_assert_true(all_zero(kmd_bo_cpu(c), BIG - PAGE));
    /* What was cleared for one did not hit another. */
    g_assert_cmphex(((uint8_t *)kmd_bo_cpu(a))[0], ==, 0x55);
    g_assert_cmphex(((uint8_t *)kmd_bo_cpu(b))[5 * BIG], ==, 0x66);
    kmd_bo_free(a);
    kmd_bo_free(b);
    kmd_bo_free(c);
    /* Stale entries in the page tables would be found here. */
    g_assert_false(fake_walk(s.fake, 0x7fff00000000).malformed);
    finish(&s);
}

static void test_map_small(void)
{
    Setup s = setup();
    uint64_t va = 0x7f1234567000, i;
    KmdBo *bo;

    g_assert_cmpint(kmd_bo_alloc(s.dev, 8 * PAGE, &bo), ==, 0);
    g_assert_cmpint(kmd_bo_map(bo, va, 2 * PAGE, 4 * PAGE, RW), ==, 0);
    for (i = 0; i < 4; i++) {
        check_page(&s, va + i * PAGE,
                   (uint8_t *)kmd_bo_cpu(bo) + (2 + i) * PAGE, RW, PAGE);
    }
    g_assert_false(fake_walk(s.fake, va - 1).valid);
    g_assert_false(fake_walk(s.fake, va + 4 * PAGE).valid);
    g_assert_cmpint(kmd_bo_map(bo, va + 3 * PAGE, 0, 2 * PAGE, RW), ==,
                    -EEXIST);
    g_assert_cmpint(kmd_bo_map(bo, va - PAGE, 0, 2 * PAGE, RW), ==, -EEXIST);
    g_assert_cmpint(kmd_bo_map(bo, va + 4 * PAGE, 0, PAGE,
                               MXGPU_PTE_READ | MXGPU_PTE_EXECUTE), ==, 0);
    check_page(&s, va + 4 * PAGE, kmd_bo_cpu(bo),
               MXGPU_PTE_READ | MXGPU_PTE_EXECUTE, PAGE);
    s.fake->invalidations = 0;
    g_assert_cmpint(kmd_vm_unmap(s.dev, va + PAGE, PAGE), ==, 0);
    g_assert_cmpuint(s.fake->invalidations, ==, 1);
    g_assert_cmphex(s.fake->inv_addr, ==, va + PAGE);
    g_assert_cmphex(s.fake->inv_size, ==, PAGE);
    g_assert_false(fake_walk(s.fake, va + PAGE).valid);
    g_assert_true(fake_walk(s.fake, va).valid);
    g_assert_true(fake_walk(s.fake, va + 2 * PAGE).valid);
    g_assert_cmpuint(bo->mapped, ==, 4 * PAGE);
    /* Holes are nobody's business. */
    g_assert_cmpint(kmd_vm_unmap(s.dev, va - BIG, 4 * BIG), ==, 0);
    g_assert_cmpuint(bo->mapped, ==, 0);
    s.fake->invalidations = 0;
    g_assert_cmpint(kmd_vm_unmap(s.dev, va - BIG, 4 * BIG), ==, 0);
    g_assert_cmpuint(s.fake->invalidations, ==, 0);
    kmd_bo_free(bo);
    finish(&s);
}

static void test_map_bad(void)
{
    Setup s = setup();
    KmdBo *bo;

    g_assert_cmpint(kmd_bo_alloc(s.dev, 4 * PAGE, &bo), ==, 0);
    g_assert_cmpint(kmd_bo_map(bo, 0x1001, 0, PAGE, RW), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_map(bo, 0x1000, 1, PAGE, RW), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_map(bo, 0x1000, 0, 1, RW), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_map(bo, 0x1000, 0, 0, RW), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_map(bo, 0x1000, 0, 5 * PAGE, RW), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_map(bo, 0x1000, 4 * PAGE, PAGE, RW), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_map(bo, 0x1000, -PAGE, 2 * PAGE, RW), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_map(bo, 1ull << 47, 0, PAGE, RW), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_map(bo, (1ull << 47) - PAGE, 0, 2 * PAGE, RW), ==,
                    -EINVAL);
    g_assert_cmpint(kmd_bo_map(bo, -PAGE, 0, 2 * PAGE, RW), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_map(bo, 0x1000, 0, PAGE, 0), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_map(bo, 0x1000, 0, PAGE, RW | MXGPU_PTE_SYSTEM),
                    ==, -EINVAL);
    g_assert_cmpint(kmd_vm_unmap(s.dev, 0x1000, 0), ==, -EINVAL);
    g_assert_cmpint(kmd_vm_unmap(s.dev, 0x1000, 1ull << 48), ==, -EINVAL);
    g_assert_cmpint(kmd_vm_unmap(s.dev, 0x1234, PAGE), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_map(bo, (1ull << 47) - PAGE, 0, PAGE, RW), ==, 0);
    g_assert_cmpint(kmd_vm_unmap(s.dev, (1ull << 47) - PAGE, PAGE), ==, 0);
    kmd_bo_free(bo);
    finish(&s);
}

static void test_map_large(void)
{
    Setup s = setup();
    uint64_t va = 0x7f0040000000, i;
    uint8_t *cpu;
    KmdBo *bo;

    g_assert_cmpint(kmd_bo_alloc(s.dev, 4 * BIG, &bo), ==, 0);
    cpu = kmd_bo_cpu(bo);
    g_assert_cmpint(kmd_bo_map(bo, va, 0, 4 * BIG, RW), ==, 0);
    g_assert_cmpuint(fake_tables(s.fake), ==, 3);
    for (i = 0; i < 4; i++) {
        check_page(&s, va + i * BIG + 5, cpu + i * BIG + 5, RW, BIG);
    }
    /* A page out of the middle: its leaf is split. */
    g_assert_cmpint(kmd_vm_unmap(s.dev, va + BIG + 7 * PAGE, PAGE), ==, 0);
    g_assert_false(fake_walk(s.fake, va + BIG + 7 * PAGE).valid);
    check_page(&s, va + BIG + 6 * PAGE, cpu + BIG + 6 * PAGE, RW, PAGE);
    check_page(&s, va + BIG + 8 * PAGE, cpu + BIG + 8 * PAGE, RW, PAGE);
    check_page(&s, va, cpu, RW, BIG);
    /* Across leaves, ending inside one. */
    g_assert_cmpint(kmd_vm_unmap(s.dev, va + BIG + 100 * PAGE, BIG), ==, 0);
    check_page(&s, va + BIG + 99 * PAGE, cpu + BIG + 99 * PAGE, RW, PAGE);
    g_assert_false(fake_walk(s.fake, va + BIG + 100 * PAGE).valid);
    g_assert_false(fake_walk(s.fake, va + 2 * BIG + 99 * PAGE).valid);
    check_page(&s, va + 2 * BIG + 100 * PAGE, cpu + 2 * BIG + 100 * PAGE, RW,
               PAGE);
    check_page(&s, va + 3 * BIG, cpu + 3 * BIG, RW, BIG);
    g_assert_cmpint(kmd_vm_unmap(s.dev, va, 4 * BIG), ==, 0);
    /* Off by a page: no large leaf. And again at the first place. */
    g_assert_cmpint(kmd_bo_map(bo, va + PAGE, 0, 2 * BIG, RW), ==, 0);
    check_page(&s, va + PAGE, cpu, RW, PAGE);
    check_page(&s, va + BIG, cpu + BIG - PAGE, RW, PAGE);
    g_assert_cmpint(kmd_vm_unmap(s.dev, va + PAGE, 2 * BIG), ==, 0);
    /* Small pages around large ones. */
    g_assert_cmpint(kmd_bo_map(bo, va + BIG - PAGE, BIG - PAGE,
                               2 * BIG + 2 * PAGE, RW), ==, 0);
    check_page(&s, va + BIG - PAGE, cpu + BIG - PAGE, RW, PAGE);
    check_page(&s, va + BIG, cpu + BIG, RW, BIG);
    check_page(&s, va + 2 * BIG, cpu + 2 * BIG, RW, BIG);
    check_page(&s, va + 3 * BIG, cpu + 3 * BIG, RW, PAGE);
    g_assert_false(fake_walk(s.fake, va + 3 * BIG + PAGE).valid);
    g_assert_cmpint(kmd_vm_unmap(s.dev, va, 4 * BIG), ==, 0);
    kmd_bo_free(bo);
    finish(&s);
}

static int replace(KmdDevice *dev, KmdBo *bo, uint64_t va, uint64_t offset,
                   uint64_t size)
{
    KmdPlace place = {bo, va, offset, size, MXGPU_PTE_READ};

    return kmd_vm_replace(dev, &place, 1);
}

/* Other memory where something is mapped: within leaves and across them. */
static void test_replace(void)
{
    Setup s = setup();
    uint64_t va = 0x7f0040000000;
    uint8_t *a_cpu, *b_cpu;
    KmdBo *a, *b;

    g_assert_cmpint(kmd_bo_alloc(s.dev, 4 * BIG, &a), ==, 0);
    g_assert_cmpint(kmd_bo_alloc(s.dev, 2 * BIG, &b), ==, 0);
    a_cpu = kmd_bo_cpu(a);
    b_cpu = kmd_bo_cpu(b);
    g_assert_cmpint(kmd_bo_map(a, va, 0, 4 * BIG, RW), ==, 0);
    /* A page out of the middle: its leaf is split. */
    g_assert_cmpint(replace(s.dev, b, va + 7 * PAGE, PAGE, PAGE), ==, 0);
    check_page(&s, va + 6 * PAGE, a_cpu + 6 * PAGE, RW, PAGE);
    check_page(&s, va + 7 * PAGE, b_cpu + PAGE, MXGPU_PTE_READ, PAGE);
    check_page(&s, va + 8 * PAGE, a_cpu + 8 * PAGE, RW, PAGE);
    /* A whole leaf, which fits, and one that does not. */
    g_assert_cmpint(replace(s.dev, b, va + BIG, BIG, BIG), ==, 0);
    check_page(&s, va + BIG + 5, b_cpu + BIG + 5, MXGPU_PTE_READ, BIG);
    g_assert_cmpint(replace(s.dev, b, va + 2 * BIG, PAGE, BIG), ==, 0);
    check_page(&s, va + 2 * BIG, b_cpu + PAGE, MXGPU_PTE_READ, PAGE);
    check_page(&s, va + 3 * BIG - 1, b_cpu + BIG + PAGE - 1, MXGPU_PTE_READ,
               PAGE);
    check_page(&s, va + 3 * BIG, a_cpu + 3 * BIG, RW, BIG);
    /* From the middle of one to the middle of another, back; the same page
     * twice: the last one counts. */
    KmdPlace places[] = {
        {b, va + BIG, 0, PAGE, RW},
        {a, va + PAGE, PAGE, 3 * BIG - PAGE, RW},
        {b, va + BIG, 3 * PAGE, PAGE, RW},
    };
    g_assert_cmpint(kmd_vm_replace(s.dev, places, 3), ==, 0);
    check_page(&s, va + 7 * PAGE, a_cpu + 7 * PAGE, RW, PAGE);
    check_page(&s, va + 2 * BIG, a_cpu + 2 * BIG, RW, PAGE);
    check_page(&s, va + BIG, b_cpu + 3 * PAGE, RW, PAGE);
    g_assert_cmpint(kmd_vm_replace(s.dev, places, 0), ==, 0);
    /* What is not mapped, and what is no such memory: nothing changes. */
    g_assert_cmpint(replace(s.dev, b, va + 4 * BIG, 0, PAGE), ==, -EINVAL);
    g_assert_cmpint(replace(s.dev, b, va + 3 * BIG, 0, 2 * BIG), ==, -EINVAL);
    g_assert_cmpint(replace(s.dev, b, va, 2 * BIG, PAGE), ==, -EINVAL);
    g_assert_cmpint(replace(s.dev, b, va + 1, 0, PAGE), ==, -EINVAL);
    g_assert_cmpint(replace(s.dev, b, va, 0, 0), ==, -EINVAL);
    check_page(&s, va + 3 * BIG, a_cpu + 3 * BIG, RW, BIG);
    check_page(&s, va, a_cpu, RW, PAGE);
    g_assert_cmpint(kmd_vm_unmap(s.dev, va, 4 * BIG), ==, 0);
    g_assert_false(fake_walk(s.fake, va + BIG).valid);
    kmd_bo_free(a);
    kmd_bo_free(b);
    finish(&s);
}

static void *host_memory(uint64_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    g_assert_true(p != MAP_FAILED);
    return p;
}

static void test_pin(void)
{
    Setup s = setup();
    uint64_t size = 4 * BIG, va;
    uint8_t *p = host_memory(size);
    KmdBo *bo, *none = NULL;

    va = (uintptr_t)p;
    g_assert_cmpint(kmd_bo_pin(s.dev, p + 1, PAGE, &none), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_pin(s.dev, p, PAGE + 1, &none), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_pin(s.dev, p, 0, &none), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_pin(s.dev, NULL, PAGE, &none), ==, -EINVAL);
    s.fake->dma_error = -ENOMEM;
    g_assert_cmpint(kmd_bo_pin(s.dev, p, size, &none), ==, -ENOMEM);
    s.fake->dma_error = 0;
    g_assert_cmpint(kmd_bo_pin(s.dev, p, size, &bo), ==, 0);
    g_assert_true(kmd_bo_cpu(bo) == p);
    g_assert_cmpint(kmd_bo_map(bo, va, 0, size, RW), ==, 0);
    check_page(&s, va, p, RW, 0);
    check_page(&s, va + size - 1, p + size - 1, RW, 0);
    /* In the middle there are large leaves. */
    check_page(&s, (va + BIG) & ~(BIG - 1),
               (void *)(uintptr_t)((va + BIG) & ~(BIG - 1)), RW, BIG);
    g_assert_true(fake_walk(s.fake, va).system);
    g_assert_cmpint(kmd_vm_unmap(s.dev, va, size), ==, 0);
    kmd_bo_free(bo);
    g_assert_cmpuint(fake_pinned(s.fake), ==, 0);
    /* Freed while mapped: it is unmapped first. */
    g_assert_cmpint(kmd_bo_pin(s.dev, p, size, &bo), ==, 0);
    g_assert_cmpint(kmd_bo_map(bo, va, 0, size, RW), ==, 0);
    g_assert_cmpint(kmd_bo_map(bo, va + size, 0, size, RW), ==, 0);
    kmd_bo_free(bo);
    g_assert_false(fake_walk(s.fake, va).valid);
    g_assert_false(fake_walk(s.fake, va + size).valid);
    g_assert_cmpuint(fake_pinned(s.fake), ==, 0);
    munmap(p, size);
    finish(&s);
}

/* What the caller forgets is released by close. */
static void test_close_releases(void)
{
    Setup s = setup();
    void *p = host_memory(BIG);
    KmdBo *a, *b;

    g_assert_cmpint(kmd_bo_pin(s.dev, p, BIG, &a), ==, 0);
    g_assert_cmpint(kmd_bo_alloc(s.dev, BIG, &b), ==, 0);
    g_assert_cmpint(kmd_bo_map(a, (uintptr_t)p, 0, BIG, RW), ==, 0);
    g_assert_cmpint(kmd_bo_map(b, 0x1000, 0, BIG, RW), ==, 0);
    kmd_device_close(s.dev);
    g_assert_cmpuint(fake_pinned(s.fake), ==, 0);
    fake_free(s.fake);
    munmap(p, BIG);
}

/* VRAM gone for tables: -ENOMEM, and nothing changed. */
static void test_no_tables(void)
{
    Setup s = setup_dirty(4 << 20, false);
    uint64_t total, free, va;
    KmdBo *all, *p;
    uint8_t *host = host_memory(PAGE);
    unsigned n = 0;

    kmd_vram_memory(s.dev, &free, &total);
    g_assert_cmpint(kmd_bo_alloc(s.dev, free, &all), ==, 0);
    g_assert_cmpint(kmd_bo_pin(s.dev, host, PAGE, &p), ==, 0);
    for (va = 1ull << 30;; va += 1ull << 30, n++) {
        int ret = kmd_bo_map(p, va, 0, PAGE, RW);

        if (ret) {
            g_assert_cmpint(ret, ==, -ENOMEM);
            break;
        }
        g_assert_cmpuint(n, <, 1024);
    }
    g_assert_cmpuint(n, >, 4);
    g_assert_false(fake_walk(s.fake, va).valid);
    check_page(&s, 1ull << 30, host, RW, PAGE);
    g_assert_cmpint(kmd_vm_unmap(s.dev, 1ull << 30, PAGE), ==, 0);
    g_assert_cmpint(kmd_bo_map(p, va, 0, PAGE, RW), ==, 0);
    g_assert_cmpint(kmd_vm_unmap(s.dev, 1ull << 30, va), ==, 0);
    kmd_bo_free(p);
    kmd_bo_free(all);
    munmap(host, PAGE);
    finish(&s);
}

/* Random maps and unmaps of random ranges against a plain table of pages. */
static void test_random(void)
{
    enum { PAGES = 3 * 512, BOS = 4 };
    const uint64_t base = (1ull << 39) - BIG; /* across top-level entries */
    struct {
        KmdBo *bo;
        uint64_t page;
    } model[PAGES] = { { 0 } };
    Setup s = setup();
    GRand *rand = g_rand_new_with_seed(7);
    KmdBo *bos[BOS];
    unsigned step, i;

    for (i = 0; i < BOS; i++) {
        g_assert_cmpint(kmd_bo_alloc(s.dev, 4 * BIG, &bos[i]), ==, 0);
    }
    for (step = 0; step < 3000; step++) {
        uint64_t first, count, offset;
        bool taken = false;

        if (g_rand_boolean(rand)) { /* likely to be large */
            first = (uint64_t)g_rand_int_range(rand, 0, 3) * 512;
            offset = (uint64_t)g_rand_int_range(rand, 0, 2) * 512;
            count = (uint64_t)g_rand_int_range(rand, 300, 1000);
        } else {
            first = (uint64_t)g_rand_int_range(rand, 0, PAGES);
            offset = (uint64_t)g_rand_int_range(rand, 0, 1000);
            count = (uint64_t)g_rand_int_range(rand, 1, 200);
        }
        count = MIN(count, PAGES - first);
        if (g_rand_int_range(rand, 0, 3)) {
            KmdBo *bo = bos[g_rand_int_range(rand, 0, BOS)];
            int ret = kmd_bo_map(bo, base + first * PAGE, offset * PAGE,
                                 count * PAGE, RW);

            for (i = 0; i < count; i++) {
                taken |= model[first + i].bo != NULL;
            }
            g_assert_cmpint(ret, ==, taken ? -EEXIST : 0);
            for (i = 0; !taken && i < count; i++) {
                model[first + i].bo = bo;
                model[first + i].page = offset + i;
            }
        } else {
            g_assert_cmpint(kmd_vm_unmap(s.dev, base + first * PAGE,
                                         count * PAGE), ==, 0);
            memset(&model[first], 0, count * sizeof(model[0]));
        }
        for (i = step % 7; i < PAGES; i += 7) {
            FakeTranslation t = fake_walk(s.fake, base + i * PAGE);

            g_assert_false(t.malformed);
            g_assert_true(t.valid == (model[i].bo != NULL));
            if (t.valid) {
                g_assert_cmphex(t.addr, ==, model[i].bo->addr +
                                model[i].page * PAGE);
            }
        }
    }
    g_assert_cmpint(kmd_vm_unmap(s.dev, base, PAGES * PAGE), ==, 0);
    for (i = 0; i < BOS; i++) {
        kmd_bo_free(bos[i]);
    }
    g_rand_free(rand);
    finish(&s);
}

/* The device vanishes and its memory reads as all ones: what was mapped can be
 * unmapped and freed. */
static void test_vanished(void)
{
    Setup s = setup();
    KmdBo *a, *b;

    g_assert_cmpint(kmd_bo_alloc(s.dev, 4 * BIG, &a), ==, 0);
    g_assert_cmpint(kmd_bo_alloc(s.dev, 3 * PAGE, &b), ==, 0);
    g_assert_cmpint(kmd_bo_map(a, 8 * BIG, 0, 4 * BIG, RW), ==, 0);
    g_assert_cmpint(kmd_bo_map(b, 16 * BIG - PAGE, 0, 3 * PAGE, RW), ==, 0);
    pthread_mutex_lock(&s.fake->lock);
    s.fake->dead = true;
    memset(s.fake->vram, 0xff, VRAM);
    pthread_mutex_unlock(&s.fake->lock);
    kmd_vm_unmap(s.dev, 8 * BIG + PAGE, PAGE);
    kmd_vm_unmap(s.dev, 0, 14 * BIG);
    g_assert_cmpuint(a->mapped, ==, 0);
    kmd_vm_unmap(s.dev, 16 * BIG, PAGE);
    g_assert_cmpuint(b->mapped, ==, 2 * PAGE);
    kmd_bo_free(a);
    kmd_bo_free(b);
    g_assert_cmpuint(s.dev->vm.vmas.count, ==, 0);
    g_assert_cmpuint(s.dev->vm.tables.total, ==, s.tables_free);
    kmd_device_close(s.dev);
    fake_free(s.fake);
}

typedef struct Worker {
    Setup *s;
    unsigned number;
} Worker;

static gpointer work(gpointer opaque)
{
    Worker *w = opaque;
    KmdDevice *dev = w->s->dev;
    uint64_t va = 0x100000000ull + w->number * 0x10000000ull;
    uint8_t *host = host_memory(4 * PAGE);
    unsigned i;

    for (i = 0; i < 200; i++) {
        uint64_t size = i % 5 ? 3 * PAGE : BIG;
        KmdBo *bo, *pin;

        g_assert_cmpint(kmd_bo_alloc(dev, size, &bo), ==, 0);
        g_assert_cmpint(kmd_bo_pin(dev, host, 4 * PAGE, &pin), ==, 0);
        *(uint32_t *)kmd_bo_cpu(bo) = w->number;
        g_assert_cmpint(kmd_bo_map(bo, va, 0, size, RW), ==, 0);
        g_assert_cmpint(kmd_bo_map(pin, va + BIG, 0, 4 * PAGE, RW), ==, 0);
        g_assert_cmpuint(*(uint32_t *)fake_memory(w->s->fake, va), ==,
                         w->number);
        g_assert_cmpint(kmd_vm_unmap(dev, va, size), ==, 0);
        g_assert_cmpint(kmd_vm_unmap(dev, va + BIG, 4 * PAGE), ==, 0);
        kmd_bo_free(bo);
        kmd_bo_free(pin);
    }
    munmap(host, 4 * PAGE);
    return NULL;
}

static void test_threads(void)
{
    Setup s = setup();
    GThread *threads[4];
    Worker workers[4];
    unsigned i;

    for (i = 0; i < 4; i++) {
        workers[i] = (Worker){ &s, i + 1 };
        threads[i] = g_thread_new("work", work, &workers[i]);
    }
    for (i = 0; i < 4; i++) {
        g_thread_join(threads[i]);
    }
    finish(&s);
}

/* VRAM of one device, part of it mapped on another. */
static void test_peer(void)
{
    Setup s = setup(), other = setup();
    KmdBo *vram, *peer, *none;

    g_assert_cmpint(kmd_bo_alloc(other.dev, 2 * BIG, &vram), ==, 0);
    g_assert_cmpint(kmd_bo_peer(s.dev, vram, PAGE, 2 * PAGE, &peer), ==, 0);
    g_assert_true(kmd_bo_cpu(peer) == (uint8_t *)kmd_bo_cpu(vram) + PAGE);
    g_assert_cmpint(kmd_bo_map(peer, BIG, 0, 2 * PAGE, RW), ==, 0);
    check_page(&s, BIG + PAGE, (uint8_t *)kmd_bo_cpu(vram) + 2 * PAGE, RW,
               PAGE);
    g_assert_true(fake_walk(s.fake, BIG).system);
    g_assert_cmpint(kmd_vm_unmap(s.dev, BIG, 2 * PAGE), ==, 0);
    kmd_bo_free(peer);

    /* Not what the object has. */
    g_assert_cmpint(kmd_bo_peer(s.dev, vram, 2 * BIG, PAGE, &none), ==,
                    -EINVAL);
    g_assert_cmpint(kmd_bo_peer(s.dev, vram, PAGE, 2 * BIG, &none), ==,
                    -EINVAL);
    g_assert_cmpint(kmd_bo_peer(s.dev, vram, 1, PAGE, &none), ==, -EINVAL);
    g_assert_cmpint(kmd_bo_peer(s.dev, vram, 0, 0, &none), ==, -EINVAL);

    /* The IOMMU takes no memory of functions, or has no room. */
    g_assert_true(kmd_device_reaches(s.dev, s.dev));
    g_assert_true(kmd_device_reaches(s.dev, other.dev));
    g_assert_cmpuint(fake_pinned(s.fake), ==, 0);
    s.fake->dma_error = -EFAULT;
    g_assert_cmpint(kmd_bo_peer(s.dev, vram, 0, PAGE, &none), ==,
                    -EOPNOTSUPP);
    g_assert_false(kmd_device_reaches(s.dev, other.dev));
    s.fake->dma_error = -ENOMEM;
    g_assert_cmpint(kmd_bo_peer(s.dev, vram, 0, PAGE, &none), ==, -ENOMEM);
    s.fake->dma_error = 0;
    kmd_device_lose(other.dev, "test");
    g_assert_cmpint(kmd_bo_peer(s.dev, vram, 0, PAGE, &none), ==, -ENODEV);
    g_assert_false(kmd_device_reaches(s.dev, other.dev));
    kmd_bo_free(vram);
    finish(&s);
    finish(&other);
}

/* VRAM as a part of a file, where it is one. */
static void test_share(void)
{
    Setup s = setup();
    uint64_t offset = 1;
    KmdBo *a, *b, *pin;
    uint8_t *host = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = -1;

    g_assert_cmpint(kmd_bo_alloc(s.dev, PAGE, &a), ==, 0);
    g_assert_cmpint(kmd_bo_alloc(s.dev, PAGE, &b), ==, 0);
    g_assert_cmpint(kmd_bo_pin(s.dev, host, PAGE, &pin), ==, 0);
    g_assert_cmpint(kmd_bo_share(b, &fd, &offset), ==, -EOPNOTSUPP);
    s.fake->base.vram_fd = 7;
    g_assert_cmpint(kmd_bo_share(b, &fd, &offset), ==, 0);
    g_assert_cmpint(fd, ==, 7);
    g_assert_cmphex(offset, ==, b->addr);
    g_assert_cmpint(kmd_bo_share(pin, &fd, &offset), ==, -EOPNOTSUPP);
    kmd_bo_free(a);
    kmd_bo_free(b);
    kmd_bo_free(pin);
    munmap(host, PAGE);
    finish(&s);
}

int main(int argc, char **argv)
{
    int ret;

    g_test_init(&argc, &argv, NULL);
    g_setenv("MXGPU_FIRMWARE", fake_firmware_file(), TRUE);
    g_test_add_func("/kmd/memory/vram-basic", test_vram_basic);
    g_test_add_func("/kmd/memory/vram-exhaust", test_vram_exhaust);
    g_test_add_func("/kmd/memory/vram-zeroed", test_vram_zeroed);
    g_test_add_func("/kmd/memory/map-small", test_map_small);
    g_test_add_func("/kmd/memory/map-bad", test_map_bad);
    g_test_add_func("/kmd/memory/map-large", test_map_large);
    g_test_add_func("/kmd/memory/replace", test_replace);
    g_test_add_func("/kmd/memory/pin", test_pin);
    g_test_add_func("/kmd/memory/peer", test_peer);
    g_test_add_func("/kmd/memory/share", test_share);
    g_test_add_func("/kmd/memory/close-releases", test_close_releases);
    g_test_add_func("/kmd/memory/no-tables", test_no_tables);
    g_test_add_func("/kmd/memory/random", test_random);
    g_test_add_func("/kmd/memory/vanished", test_vanished);
    g_test_add_func("/kmd/memory/threads", test_threads);
    ret = g_test_run();
    g_unlink(fake_firmware_file());
    return ret;
}
