/* SPDX-License-Identifier: MIT */
/* Page-table walks, faults, accessed and dirty bits, the memory port. */
#include "test_host.h"

#include "mmu/log.h"
#include "mmu/mmu.h"

#define LEAF (MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE)
#define VA   0x123456789000ull

typedef struct Fixture {
    TestHost *h;
    MxgpuMmu *mmu;
    uint64_t root;
} Fixture;

static void set_up(Fixture *f, gconstpointer data)
{
    f->h = test_host_new(true);
    f->mmu = mxgpu_mmu_new(f->h->vram, TEST_VRAM_SIZE, &test_host_ops, f->h);
    f->root = test_root(f->h);
    mxgpu_mmu_set_root(f->mmu, 3, f->root);
}

static void tear_down(Fixture *f, gconstpointer data)
{
    mxgpu_mmu_free(f->mmu);
    test_host_free(f->h);
}

static enum mxgpu_fault walk(Fixture *f, uint64_t va, enum mxgpu_access access,
                             MxgpuTranslation *t)
{
    return mxgpu_mmu_translate(f->mmu, 3, va, access, t);
}

static enum mxgpu_fault fault(Fixture *f, uint64_t va)
{
    MxgpuTranslation t;

    return walk(f, va, MXGPU_ACCESS_READ, &t);
}

static void test_vram_4k(Fixture *f, gconstpointer data)
{
    MxgpuTranslation t;

    test_map(f->h, f->root, VA, 0, LEAF | 0x5000);
    g_assert_cmpint(walk(f, VA + 0x123, MXGPU_ACCESS_READ, &t), ==, 0);
    g_assert_cmphex(t.addr, ==, 0x5123);
    g_assert_true(t.host == f->h->vram + 0x5123);
    g_assert_cmpuint(t.page_shift, ==, 12);
    g_assert_cmpuint(t.granule_shift, ==, 12);
    g_assert_false(t.system);
    g_assert_cmphex(t.perms, ==, MXGPU_PTE_READ | MXGPU_PTE_WRITE);
}

static void test_vram_large(Fixture *f, gconstpointer data)
{
    uint64_t va = 0x40000000ull;
    MxgpuTranslation t;

    test_map(f->h, f->root, va, 1, LEAF | 0x200000);
    g_assert_cmpint(walk(f, va + 0x1fffff, MXGPU_ACCESS_WRITE, &t), ==, 0);
    g_assert_cmphex(t.addr, ==, 0x3fffff);
    g_assert_cmpuint(t.page_shift, ==, 21);
    g_assert_cmpuint(t.granule_shift, ==, 21);
    test_map(f->h, f->root, va, 1, LEAF | 0x1000); /* misaligned */
    g_assert_cmpint(fault(f, va), ==, MXGPU_FAULT_TABLE);
    /* 1 GiB over 8 MiB of VRAM: what is there can be used, the rest not. */
    va = 0x80000000ull;
    test_map(f->h, f->root, va, 2, LEAF);
    g_assert_cmpint(walk(f, va + 0x7fffff, MXGPU_ACCESS_READ, &t), ==, 0);
    g_assert_cmphex(t.addr, ==, 0x7fffff);
    g_assert_cmpuint(t.granule_shift, ==, 21);
    g_assert_cmpint(fault(f, va + 0x800000), ==, MXGPU_FAULT_BUS);
}

typedef struct Used {
    unsigned calls;
    uint64_t offset;
    size_t len;
} Used;

static Used used;

static void note(void *host, uint64_t offset, size_t len)
{
    used = (Used){used.calls + 1, offset, len};
}

/* What a unit may write is told by pages, before it can; entries of page tables
 * that a walk marks are, too. */
static void test_log(Fixture *f, gconstpointer data)
{
    uint64_t va = 0x40000000ull;
    MxgpuTranslation t;

    test_map(f->h, f->root, va, 1, LEAF | 0x200000);
    mxgpu_mmu_log_writes(f->mmu, note);
    used = (Used){0};
    g_assert_cmpint(walk(f, va + 0x5432, MXGPU_ACCESS_READ, &t), ==, 0);
    g_assert_cmpuint(t.granule_shift, ==, 21);
    g_assert_cmpuint(used.calls, ==, 1); /* ACCESSED */
    g_assert_cmpuint(used.len, ==, 8);
    g_assert_cmpint(walk(f, va + 0x5432, MXGPU_ACCESS_READ, &t), ==, 0);
    g_assert_cmpuint(used.calls, ==, 1);
    g_assert_cmpint(walk(f, va + 0x5432, MXGPU_ACCESS_WRITE, &t), ==, 0);
    g_assert_cmpuint(used.calls, ==, 3); /* the page, and DIRTY */
    g_assert_cmpint(walk(f, va + 0x5432, MXGPU_ACCESS_WRITE, &t), ==, 0);
    g_assert_cmpuint(used.calls, ==, 4);
    g_assert_cmphex(used.offset, ==, 0x205000);
    g_assert_cmpuint(used.len, ==, 4096);
    g_assert_cmpuint(t.granule_shift, ==, 12);
    g_assert_true(t.host == f->h->vram + 0x205432);
    mxgpu_mmu_log_writes(f->mmu, NULL);
    g_assert_cmpint(walk(f, va + 0x5432, MXGPU_ACCESS_WRITE, &t), ==, 0);
    g_assert_cmpuint(used.calls, ==, 4);
    g_assert_cmpuint(t.granule_shift, ==, 21);
}

static void test_system(Fixture *f, gconstpointer data)
{
    MxgpuTranslation t;
    uint32_t word = 0x11223344, back = 0;

    test_map(f->h, f->root, VA, 0, LEAF | MXGPU_PTE_SYSTEM | TEST_BUS_BASE);
    g_assert_cmpint(walk(f, VA + 8, MXGPU_ACCESS_WRITE, &t), ==, 0);
    g_assert_true(t.system);
    g_assert_true(t.host == f->h->bus + 8);
    f->h->no_map = true;
    g_assert_cmpint(walk(f, VA + 8, MXGPU_ACCESS_WRITE, &t), ==, 0);
    g_assert_null(t.host);
    g_assert_cmpint(mxgpu_mmu_write(f->mmu, &t, &word, 4), ==, 0);
    g_assert_cmpint(mxgpu_mmu_read(f->mmu, &t, &back, 4), ==, 0);
    g_assert_cmphex(back, ==, word);
    g_assert_cmpint(memcmp(f->h->bus + 8, &word, 4), ==, 0);
    /* Not on the bus: the walk is good, the access fails. */
    test_map(f->h, f->root, VA, 0, LEAF | MXGPU_PTE_SYSTEM | 0x1000);
    g_assert_cmpint(walk(f, VA, MXGPU_ACCESS_READ, &t), ==, 0);
    g_assert_cmpint(mxgpu_mmu_read(f->mmu, &t, &back, 4), ==, MXGPU_FAULT_BUS);
}

static void test_system_large(Fixture *f, gconstpointer data)
{
    uint64_t va = 0x40000000ull;
    MxgpuTranslation t;

    /* The bus has 1 MiB there: a pointer to 4 KiB, not to the 2 MiB. */
    test_map(f->h, f->root, va, 1, LEAF | MXGPU_PTE_SYSTEM | TEST_BUS_BASE);
    g_assert_cmpint(walk(f, va + 0x2345, MXGPU_ACCESS_READ, &t), ==, 0);
    g_assert_cmpuint(t.page_shift, ==, 21);
    g_assert_cmpuint(t.granule_shift, ==, 12);
    g_assert_true(t.host == f->h->bus + 0x2345);
}

static void test_tables_in_system(Fixture *f, gconstpointer data)
{
    for (unsigned no_map = 0; no_map < 2; no_map++) {
        uint64_t *table = (uint64_t *)(f->h->bus + 0x1000);
        MxgpuTranslation t;

        f->h->no_map = no_map;
        *test_pte(f->h, f->root, VA, 1) = MXGPU_PTE_VALID | MXGPU_PTE_TABLE |
                                          MXGPU_PTE_SYSTEM |
                                          (TEST_BUS_BASE + 0x1000);
        table[MXGPU_PT_INDEX(VA, 0)] = LEAF | 0x7000;
        g_assert_cmpint(walk(f, VA, MXGPU_ACCESS_WRITE, &t), ==, 0);
        g_assert_cmphex(t.addr, ==, 0x7000);
        g_assert_cmphex(table[MXGPU_PT_INDEX(VA, 0)], ==,
                        LEAF | 0x7000 | MXGPU_PTE_ACCESSED | MXGPU_PTE_DIRTY);
    }
    *test_pte(f->h, f->root, VA, 1) =
        MXGPU_PTE_VALID | MXGPU_PTE_TABLE | MXGPU_PTE_SYSTEM;
    g_assert_cmpint(fault(f, VA), ==, MXGPU_FAULT_BUS);
}

static void test_faults(Fixture *f, gconstpointer data)
{
    MxgpuTranslation t;
    uint64_t *pte;

    g_assert_cmpint(fault(f, VA), ==, MXGPU_FAULT_NOT_PRESENT);
    g_assert_cmpint(fault(f, 1ull << 47), ==, MXGPU_FAULT_NON_CANONICAL);
    g_assert_cmpint(fault(f, 0xfffe000000000000ull), ==,
                    MXGPU_FAULT_NON_CANONICAL);
    g_assert_cmpint(fault(f, MXGPU_SHARED_BASE), ==, MXGPU_FAULT_WINDOW);
    g_assert_cmpint(mxgpu_mmu_translate(f->mmu, 4, VA, MXGPU_ACCESS_READ, &t),
                    ==, MXGPU_FAULT_NO_VMID);
    g_assert_cmpint(mxgpu_mmu_translate(f->mmu, 99, VA, MXGPU_ACCESS_READ, &t),
                    ==, MXGPU_FAULT_NO_VMID);
    /* Reserved bits of leaves and tables. */
    pte = test_pte(f->h, f->root, VA, 0);
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t reserved = MXGPU_PTE_LEAF_RESERVED & 1ull << bit;

        *pte = LEAF | reserved;
        g_assert_cmpint(fault(f, VA), ==, reserved ? MXGPU_FAULT_TABLE : 0);
    }
    *pte = LEAF | MXGPU_PTE_TABLE; /* a table at level 0 */
    g_assert_cmpint(fault(f, VA), ==, MXGPU_FAULT_TABLE);
    pte = test_pte(f->h, f->root, VA, 1);
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t old = *pte;

        if (MXGPU_PTE_TABLE_RESERVED & 1ull << bit) {
            *pte |= 1ull << bit;
            g_assert_cmpint(fault(f, VA), ==, MXGPU_FAULT_TABLE);
            *pte = old;
        }
    }
    *pte = MXGPU_PTE_VALID | MXGPU_PTE_TABLE | TEST_VRAM_SIZE;
    g_assert_cmpint(fault(f, VA), ==, MXGPU_FAULT_TABLE);
    *test_pte(f->h, f->root, VA, 3) = LEAF; /* a leaf at level 3 */
    g_assert_cmpint(fault(f, VA), ==, MXGPU_FAULT_TABLE);
    mxgpu_mmu_set_root(f->mmu, 3, f->root | 1ull << 60);
    g_assert_cmpint(fault(f, VA), ==, MXGPU_FAULT_TABLE);
    mxgpu_mmu_set_root(f->mmu, 3, MXGPU_PTE_VALID | MXGPU_PTE_TABLE | 1ull << 40);
    g_assert_cmpint(fault(f, VA), ==, MXGPU_FAULT_TABLE);
}

static void test_permissions(Fixture *f, gconstpointer data)
{
    static const uint64_t need[] = {
        [MXGPU_ACCESS_READ] = MXGPU_PTE_READ,
        [MXGPU_ACCESS_WRITE] = MXGPU_PTE_WRITE,
        [MXGPU_ACCESS_EXECUTE] = MXGPU_PTE_EXECUTE,
        [MXGPU_ACCESS_ATOMIC] =
            MXGPU_PTE_ATOMIC | MXGPU_PTE_READ | MXGPU_PTE_WRITE,
    };
    uint64_t *pte = test_pte(f->h, f->root, VA, 0);
    MxgpuTranslation t;

    for (uint64_t perms = 0; perms < 16; perms++) {
        for (unsigned a = 0; a < 4; a++) {
            bool ok = (perms << 2 & need[a]) == need[a];

            *pte = MXGPU_PTE_VALID | perms << 2;
            g_assert_cmpint(walk(f, VA, a, &t), ==,
                            ok ? 0 : MXGPU_FAULT_PERMISSION);
            /* A refused access leaves no mark. */
            g_assert_cmphex(*pte >> 6 & 3, ==,
                            ok ? (a == 1 || a == 3 ? 3 : 1) : 0);
        }
    }
}

static void test_in_page(Fixture *f, gconstpointer data)
{
    uint8_t buf[16] = {0};
    MxgpuTranslation t;

    test_map(f->h, f->root, VA, 0, LEAF | 0x5000);
    g_assert_cmpint(walk(f, VA + 4088, MXGPU_ACCESS_WRITE, &t), ==, 0);
    g_assert_cmpint(mxgpu_mmu_write(f->mmu, &t, buf, 8), ==, 0);
    g_assert_cmpint(mxgpu_mmu_write(f->mmu, &t, buf, 9), ==, MXGPU_FAULT_BUS);
    g_assert_cmpint(mxgpu_mmu_read(f->mmu, &t, buf, 9), ==, MXGPU_FAULT_BUS);
    g_assert_cmpint(mxgpu_mmu_read(f->mmu, &t, buf, 0), ==, 0);
}

static void test_invalidate(Fixture *f, gconstpointer data)
{
    MxgpuMmuClient c = {0}, d = {0};

    mxgpu_mmu_client_add(f->mmu, &c);
    mxgpu_mmu_client_add(f->mmu, &d);
    mxgpu_mmu_client_begin(&c);
    g_assert_false(mxgpu_mmu_client_poll(&c));
    g_assert_false(mxgpu_mmu_invalidate_busy(f->mmu));
    mxgpu_mmu_invalidate(f->mmu);
    g_assert_true(mxgpu_mmu_invalidate_busy(f->mmu)); /* c has not polled */
    g_assert_true(mxgpu_mmu_client_poll(&c));
    g_assert_false(mxgpu_mmu_invalidate_busy(f->mmu));
    g_assert_false(mxgpu_mmu_client_poll(&c));
    mxgpu_mmu_invalidate(f->mmu);
    g_assert_true(mxgpu_mmu_invalidate_busy(f->mmu));
    mxgpu_mmu_client_end(&c); /* inactive is as good */
    g_assert_false(mxgpu_mmu_invalidate_busy(f->mmu));
    g_assert_true(mxgpu_mmu_client_begin(&c)); /* but must drop when back */
    g_assert_true(mxgpu_mmu_client_begin(&d));
    mxgpu_mmu_client_remove(&d);
    mxgpu_mmu_set_root(f->mmu, 1, 0);
    mxgpu_mmu_client_remove(&c);
    g_assert_false(mxgpu_mmu_invalidate_busy(f->mmu));
}

/* ---- under threads: no client uses a page after the invalidation ------------ */

typedef struct Race {
    MxgpuMmu *mmu;
    _Atomic bool stop;
    uint32_t *page; /* plain: what the protocol protects */
    _Atomic(uint32_t *) current;
} Race;

static gpointer race_main(gpointer data)
{
    Race *r = data;
    MxgpuMmuClient c = {0};
    uint32_t *tlb = NULL;

    mxgpu_mmu_client_add(r->mmu, &c);
    while (!atomic_load(&r->stop)) {
        if (mxgpu_mmu_client_begin(&c)) {
            tlb = NULL;
        }
        for (unsigned i = 0; i < 50; i++) {
            if (mxgpu_mmu_client_poll(&c)) {
                tlb = NULL;
            }
            if (!tlb) {
                tlb = atomic_load(&r->current);
            }
            g_assert_cmphex(*tlb, ==, 0x600d);
        }
        mxgpu_mmu_client_end(&c);
    }
    mxgpu_mmu_client_remove(&c);
    return NULL;
}

static void test_race(Fixture *f, gconstpointer data)
{
    Race r = {.mmu = f->mmu};
    GThread *threads[2];
    uint32_t *page = g_new(uint32_t, 1);

    *page = 0x600d;
    r.current = page;
    for (unsigned i = 0; i < 2; i++) {
        threads[i] = g_thread_new("client", race_main, &r);
    }
    for (unsigned i = 0; i < 500; i++) {
        uint32_t *old = r.current, *fresh = g_new(uint32_t, 1);

        *fresh = 0x600d;
        atomic_store(&r.current, fresh);
        mxgpu_mmu_invalidate(f->mmu);
        while (mxgpu_mmu_invalidate_busy(f->mmu)) {
            g_thread_yield();
        }
        *old = 0xbad;
        g_free(old);
    }
    atomic_store(&r.stop, true);
    for (unsigned i = 0; i < 2; i++) {
        g_thread_join(threads[i]);
    }
    g_free(r.current);
}

/* ---- memory port ---------------------------------------------------------------- */

static uint32_t mem_cmd(TestHost *h, unsigned op, unsigned vmid, uint64_t va,
                        unsigned size)
{
    mcu_write64(h, MXGPU_MEM_ADDR_LO, va);
    mcu_write(h, MXGPU_MEM_CMD,
              MXGPU_SET(MXGPU_MEM_CMD_OP, op) |
                  MXGPU_SET(MXGPU_MEM_CMD_VMID, vmid) |
                  MXGPU_SET(MXGPU_MEM_CMD_SIZE, size));
    return mcu_read(h, MXGPU_MEM_STATUS);
}

static void test_memport(Fixture *f, gconstpointer data)
{
    TestHost *h = f->h;

    mcu_write64(h, MXGPU_MMU_ROOT_LO + 5 * 8, f->root);
    test_map(h, f->root, VA, 0, LEAF | 0x5000);
    test_map(h, f->root, VA + 4096, 0, LEAF | MXGPU_PTE_SYSTEM | TEST_BUS_BASE);
    for (unsigned i = 0; i < 32; i++) {
        mcu_write(h, MXGPU_MEM_BUF + 4 * i, 0x01010101u * i);
    }
    g_assert_cmpuint(mem_cmd(h, MXGPU_MEM_WRITE, 5, VA + 4096 - 64, 128), ==,
                     0);
    g_assert_cmphex(h->vram[0x5fc0 + 4], ==, 1);
    g_assert_cmphex(h->bus[60], ==, 31);
    mcu_write(h, MXGPU_MEM_BUF, 0);
    g_assert_cmpuint(mem_cmd(h, MXGPU_MEM_READ, 5, VA + 4096 + 60, 4), ==, 0);
    g_assert_cmphex(mcu_read(h, MXGPU_MEM_BUF), ==, 0x1f1f1f1f);
    /* Odd address and size. */
    g_assert_cmpuint(mem_cmd(h, MXGPU_MEM_READ, 5, VA + 4096 - 61, 3), ==, 0);
    g_assert_cmphex(mcu_read(h, MXGPU_MEM_BUF), ==, 0x1f010100);
}

static void test_memport_bad(Fixture *f, gconstpointer data)
{
    TestHost *h = f->h;

    g_assert_cmpuint(mem_cmd(h, 0, 5, VA, 4), ==, MXGPU_FAULT_NO_VMID);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==,
                    1u << MXGPU_ERR_STATUS_FAULT_SHIFT);
    g_assert_cmphex(test_read(h, MXGPU_ERR_ADDR_HI), ==, VA >> 32);
    mcu_write64(h, MXGPU_MMU_ROOT_LO + 5 * 8, f->root);
    g_assert_cmpuint(mem_cmd(h, 0, 5, VA, 0), ==, MXGPU_FAULT_CONFIG);
    g_assert_cmpuint(mem_cmd(h, 0, 5, VA, 129), ==, MXGPU_FAULT_CONFIG);
    g_assert_cmpuint(mem_cmd(h, 2, 5, VA, 4), ==, MXGPU_FAULT_CONFIG);
    /* The second page is missing: nothing of the first is written. */
    test_map(h, f->root, VA, 0, LEAF | 0x5000);
    mcu_write(h, MXGPU_MEM_BUF, 0xffffffff);
    g_assert_cmpuint(mem_cmd(h, 1, 5, VA + 4094, 4), ==,
                     MXGPU_FAULT_NOT_PRESENT);
    g_assert_cmphex(h->vram[0x5ffe], ==, 0);
    /* At the end of the address space. */
    g_assert_cmpuint(mem_cmd(h, 0, 5, UINT64_MAX, 4), ==, MXGPU_FAULT_WINDOW);
    g_assert_cmpuint(mcu_read(h, MXGPU_COUNTER_LO + 8 * MXGPU_COUNTER_FAULTS),
                     ==, 6);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func)                                                        \
    g_test_add(path, Fixture, NULL, set_up, func, tear_down)
    ADD("/mmu/vram-4k", test_vram_4k);
    ADD("/mmu/vram-large", test_vram_large);
    ADD("/mmu/system", test_system);
    ADD("/mmu/log", test_log);
    ADD("/mmu/system-large", test_system_large);
    ADD("/mmu/tables-in-system", test_tables_in_system);
    ADD("/mmu/faults", test_faults);
    ADD("/mmu/permissions", test_permissions);
    ADD("/mmu/in-page", test_in_page);
    ADD("/mmu/invalidate", test_invalidate);
    ADD("/mmu/race", test_race);
    ADD("/memport/straddle", test_memport);
    ADD("/memport/bad", test_memport_bad);
    return g_test_run();
}
