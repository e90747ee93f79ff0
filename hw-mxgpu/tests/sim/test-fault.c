/* SPDX-License-Identifier: MIT */
/*
 * Recoverable faults of kernels on the whole device, with threads and on one
 * thread: what is replayed happens once, storms lose nothing, what does not
 * fault goes on, and a queue is rid of what is parked. What is parked can be taken
 * off the units, and off its slot, and is decided about wherever it is.
 */
#include <elf.h>
#include <string.h>

#include "mxgpu/kernel.h"
#include "sim_driver.h"

static const char *kernels;

#define KERNEL_VA 0x10000000ull
#define HOLE_VA   0x700000000ull

/* In VRAM. */
#define CODE  0x100000u
#define PAGES 0x400000u /* for what is mapped */
/* In system memory. */
#define SIGNAL 0x100000u
#define DESC   0x110000u
#define ARGS   0x118000u
#define RING   0x120000u
#define OUT    0x200000u
#define AREA   0x300000u /* for contexts */
#define AREA_SIZE 0x80000u
#define QUEUE(i) (0x10000u + (i) * 0x2000u)

#define UNITS 16u

typedef struct Args {
    uint64_t base, out, n;
} Args;

typedef struct Rig {
    Drv *d;
    char *elf;
    unsigned log2_records;
    uint32_t head; /* records that were looked at */
} Rig;

static volatile uint64_t *word(Drv *d, uint32_t at)
{
    return (volatile uint64_t *)(d->sys + at);
}

static void load_kernels(Rig *r)
{
    const Elf64_Ehdr *eh;
    const Elf64_Phdr *ph;

    g_assert_true(g_file_get_contents(kernels, &r->elf, NULL, NULL));
    eh = (const void *)r->elf;
    ph = (const void *)(r->elf + eh->e_phoff);
    for (unsigned i = 0; i < eh->e_phnum; i++) {
        if (ph[i].p_type == PT_LOAD && ph[i].p_filesz) {
            memcpy(r->d->vram + CODE + (ph[i].p_vaddr - KERNEL_VA),
                   r->elf + ph[i].p_offset, ph[i].p_filesz);
        }
    }
    for (uint64_t at = 0; at < 16 * DUT_PAGE; at += DUT_PAGE) {
        drv_map(r->d, KERNEL_VA + at, 0,
                MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_EXECUTE |
                    (CODE + at));
    }
}

static uint64_t symbol(const Rig *r, const char *name)
{
    const Elf64_Ehdr *eh = (const void *)r->elf;
    const Elf64_Shdr *sh = (const void *)(r->elf + eh->e_shoff);

    for (unsigned i = 0; i < eh->e_shnum; i++) {
        const Elf64_Sym *sym = (const void *)(r->elf + sh[i].sh_offset);
        const char *names = r->elf + sh[sh[i].sh_link].sh_offset;

        for (uint64_t k = 0;
             sh[i].sh_type == SHT_SYMTAB && k < sh[i].sh_size / sizeof(*sym);
             k++) {
            if (strcmp(names + sym[k].st_name, name) == 0) {
                return sym[k].st_value;
            }
        }
    }
    g_error("no %s", name);
}

static void enable_ring(Rig *r)
{
    Dut *d = &r->d->dut;

    dut_write(d, MXGPU_FAULT_RING_LO, (uint32_t)(DRV_SYS_VA + RING));
    dut_write(d, MXGPU_FAULT_RING_HI, (uint32_t)((DRV_SYS_VA + RING) >> 32));
    dut_write(d, MXGPU_FAULT_CFG,
              MXGPU_SET(MXGPU_FAULT_CFG_ENABLE, 1) |
                  MXGPU_SET(MXGPU_FAULT_CFG_VMID, DUT_VMID) |
                  MXGPU_SET(MXGPU_FAULT_CFG_LOG2_RECORDS, r->log2_records));
}

static Rig rig_open(gconstpointer mode, unsigned log2_records)
{
    MxgpuSimOptions config = {.compute_units = UNITS,
                              .queues = 16,
                              .threads = 4,
                              .deterministic = mode != NULL};
    Rig r = {.d = drv_open(&config), .log2_records = log2_records};

    load_kernels(&r);
    enable_ring(&r);
    return r;
}

static void rig_close(Rig *r)
{
    drv_close(r->d);
    g_free(r->elf);
}

/* A kernel by its name; its signal becomes 1. */
static struct mxgpu_packet_dispatch dispatch(Rig *r, unsigned id,
                                             const char *name, unsigned grid,
                                             unsigned block)
{
    struct mxgpu_kernel_desc desc = {
        .magic = MXGPU_KERNEL_MAGIC,
        .abi = MXGPU_KERNEL_ABI,
        .entry = symbol(r, name),
        .registers = 32,
    };
    Args args = {HOLE_VA, DRV_SYS_VA + OUT, 0};

    memcpy(r->d->sys + DESC + id * 512, &desc, sizeof(desc));
    memcpy(r->d->sys + ARGS + id * 512, &args, sizeof(args));
    return (struct mxgpu_packet_dispatch){
        .type = MXGPU_PKT_DISPATCH,
        .flags = MXGPU_PKT_RECOVER,
        .kernel = DRV_SYS_VA + DESC + id * 512,
        .args = DRV_SYS_VA + ARGS + id * 512,
        .grid = {grid, 1, 1},
        .block = {block, 1, 1},
        .signal_addr = DRV_SYS_VA + SIGNAL + 8 * id,
        .signal_value = 1,
    };
}

static DrvQueue start_at(Rig *r, unsigned id, unsigned priority,
                         const char *name, unsigned grid, unsigned block)
{
    struct mxgpu_packet_dispatch p = dispatch(r, id, name, grid, block);
    DrvQueue q = drv_queue(r->d, id, priority, QUEUE(id));

    drv_push(&q, &p);
    drv_ring(&q);
    return q;
}

static DrvQueue start(Rig *r, unsigned id, const char *name, unsigned grid,
                      unsigned block)
{
    return start_at(r, id, 0, name, grid, block);
}

static bool has_record(Rig *r)
{
    return dut_read(&r->d->dut, MXGPU_FAULT_TAIL) != r->head;
}

static struct mxgpu_fault_record take_record(Rig *r)
{
    struct mxgpu_fault_record record;
    unsigned slot;

    DUT_WAIT(&r->d->dut, has_record(r));
    slot = r->head % (1u << r->log2_records);
    memcpy(&record, r->d->sys + RING + slot * sizeof(record), sizeof(record));
    g_assert_cmpuint(record.sequence, ==, r->head);
    g_assert_cmpuint(record.vmid, ==, DUT_VMID);
    g_assert_cmpuint(record.source, ==, MXGPU_FAULT_COMPUTE);
    r->head++;
    return record;
}

static void replay(Rig *r)
{
    dut_write(&r->d->dut, MXGPU_FAULT_HEAD, r->head);
}

/* Also what no record was taken of. */
static void replay_all(Rig *r)
{
    dut_write(&r->d->dut, MXGPU_FAULT_HEAD,
              dut_read(&r->d->dut, MXGPU_FAULT_TAIL));
}

static void mend(Rig *r, uint64_t va, uint64_t page)
{
    drv_map(r->d, va & ~(uint64_t)(DUT_PAGE - 1), 0,
            MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE |
                MXGPU_PTE_ATOMIC | (PAGES + page * DUT_PAGE));
}

static uint64_t *page_words(Rig *r, uint64_t page)
{
    return (uint64_t *)(r->d->vram + PAGES + page * DUT_PAGE);
}

/* ---- storms */

#define STORM_WARPS 10000u
#define STORM_PAGES 1024u /* of VRAM: some are at several addresses */

/*
 * Ten thousand warps of all units fault, through a ring of 64 records. Each
 * reports its fault at least once, and its access happens once.
 */
static void test_storm(gconstpointer mode)
{
    Rig r = rig_open(mode, 6);
    g_autofree uint8_t *seen = g_malloc0(STORM_WARPS);
    uint64_t units = 0, faults = 0;
    DrvQueue q = start(&r, 0, "storm", STORM_WARPS / 4, 256);

    /* Units hold more warps than the ring has records. */
    DUT_WAIT(&r.d->dut, dut_read(&r.d->dut, MXGPU_FAULT_STATUS) ==
                            MXGPU_SET(MXGPU_FAULT_STATUS_STALLED, 1));
    while (*word(r.d, SIGNAL) != 1) {
        struct mxgpu_fault_record f;
        uint64_t page;

        if (!has_record(&r)) {
            g_thread_yield();
            continue;
        }
        f = take_record(&r);
        page = (f.addr - HOLE_VA) / DUT_PAGE;
        g_assert_cmpuint(page, ==, f.block[0] * 4 + f.thread / 64);
        g_assert_cmpuint(page, <, STORM_WARPS);
        g_assert_cmpuint(f.unit, <, UNITS);
        faults += !seen[page];
        seen[page] = 1;
        units |= 1ull << f.unit;
        mend(&r, f.addr, page % STORM_PAGES);
        replay(&r);
    }
    g_assert_cmpuint(faults, ==, STORM_WARPS);
    g_assert_cmphex(units, ==, (1ull << UNITS) - 1);
    for (unsigned i = 0; i < STORM_PAGES; i++) {
        unsigned n = (STORM_WARPS - i + STORM_PAGES - 1) / STORM_PAGES;

        for (unsigned lane = 0; lane < 64; lane++) {
            g_assert_cmpuint(page_words(&r, i)[lane], ==, n);
        }
    }
    g_test_message("%u records", r.head);
    g_assert_cmpuint(q.ctl->state, ==, MXGPU_QUEUE_ACTIVE);
    rig_close(&r);
}

/* ---- once */

/*
 * Of a store's lanes all but the last ones are on a page that is there. None of
 * them has stored when the fault is reported, and what others store then stays
 * in the bytes that the lanes do not store to.
 */
static void test_once(gconstpointer mode)
{
    static const struct {
        const char *name;
        unsigned step, first; /* where lane n's bytes are */
        bool adds, is_float;
    } cases[] = {
        {"store_each", 64, 64, false, false},
        {"store_float", 64, 64, false, true},
        {"store_split", 64, 60, false, false},
        {"add_each", 64, 64, true, false},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        Rig r = rig_open(mode, 4);
        uint8_t *bytes = (uint8_t *)page_words(&r, 0);
        struct mxgpu_fault_record f;

        mend(&r, HOLE_VA, 0);
        (void)start(&r, 0, cases[i].name, 1, 64);
        f = take_record(&r);
        g_assert_cmphex(f.addr, ==, HOLE_VA + DUT_PAGE);
        g_assert_cmpuint(f.thread, ==, 63);
        g_assert_cmphex(f.lanes, ==, UINT64_MAX);
        for (unsigned at = 0; at < DUT_PAGE; at++) {
            g_assert_cmpuint(bytes[at], ==, 0);
        }
        mend(&r, HOLE_VA + DUT_PAGE, 1);
        replay(&r);
        drv_wait64(word(r.d, SIGNAL), 1);
        g_assert_cmpuint(dut_read(&r.d->dut, MXGPU_FAULT_TAIL), ==, 1);
        for (unsigned lane = 0; lane < 64; lane++) {
            uint64_t want = lane + 1, got = 0;
            float x = (float)(lane + 1);

            memcpy(&got, bytes + cases[i].first + lane * cases[i].step,
                   cases[i].is_float ? 4 : 8);
            if (cases[i].is_float) {
                want = 0;
                memcpy(&want, &x, 4);
            }
            g_assert_cmphex(got, ==, want);
        }
        rig_close(&r);
    }
}

static void test_load(gconstpointer mode)
{
    Rig r = rig_open(mode, 4);

    for (unsigned i = 0; i < 1024; i++) {
        page_words(&r, 0)[i] = i;
    }
    mend(&r, HOLE_VA, 0);
    (void)start(&r, 0, "load_each", 1, 64);
    g_assert_cmpuint(take_record(&r).access, ==, MXGPU_ACCESS_READ);
    replay(&r); /* nothing was mended: it faults again */
    (void)take_record(&r);
    mend(&r, HOLE_VA + DUT_PAGE, 1);
    dut_write(&r.d->dut, MXGPU_FAULT_REPLAY, r.head - 1);
    drv_wait64(word(r.d, SIGNAL), 1);
    for (unsigned lane = 0; lane < 64; lane++) {
        g_assert_cmpuint(word(r.d, OUT)[lane], ==, (lane + 1) * 8);
    }
    replay(&r);
    rig_close(&r);
}

/* A page that may only be read, and one with code. */
static void test_kinds(gconstpointer mode)
{
    Rig r = rig_open(mode, 4);
    uint64_t code = symbol(&r, "store_each") & ~(uint64_t)(DUT_PAGE - 1);
    uint64_t pte = dut_pte(&r.d->dut, code, 0);
    uint64_t leaf = dut_load64(&r.d->dut, DUT_VRAM, pte);
    struct mxgpu_fault_record f;

    drv_map(r.d, HOLE_VA, 0, MXGPU_PTE_VALID | MXGPU_PTE_READ | PAGES);
    mend(&r, HOLE_VA + DUT_PAGE, 1);
    dut_store64(&r.d->dut, DUT_VRAM, pte, 0);
    drv_invalidate(r.d);
    (void)start(&r, 0, "store_each", 1, 64);
    f = take_record(&r);
    g_assert_cmpuint(f.access, ==, MXGPU_ACCESS_EXECUTE);
    g_assert_cmphex(f.pc, ==, symbol(&r, "store_each"));
    dut_store64(&r.d->dut, DUT_VRAM, pte, leaf);
    replay(&r);
    f = take_record(&r);
    g_assert_cmpuint(f.fault, ==, MXGPU_FAULT_PERMISSION);
    g_assert_cmpuint(f.access, ==, MXGPU_ACCESS_WRITE);
    mend(&r, HOLE_VA, 0);
    replay(&r);
    drv_wait64(word(r.d, SIGNAL), 1);
    rig_close(&r);
}

/* ---- what goes on */

static void test_others(gconstpointer mode)
{
    Rig r = rig_open(mode, 4);

    (void)start(&r, 0, "barrier_wait", 1, 256);
    (void)take_record(&r);
    drv_wait64(word(r.d, OUT), 192);
    g_assert_cmpuint(word(r.d, OUT)[1], ==, 0);
    mend(&r, HOLE_VA, 0);
    page_words(&r, 0)[0] = 5;
    replay(&r);
    drv_wait64(word(r.d, SIGNAL), 1);
    g_assert_cmpuint(word(r.d, OUT)[1], ==, 256 + 64 * 5);

    *word(r.d, OUT) = 0;
    dut_store64(&r.d->dut, DUT_VRAM, dut_pte(&r.d->dut, HOLE_VA, 0), 0);
    drv_invalidate(r.d);
    (void)start(&r, 1, "some_lanes", 1, 64);
    g_assert_cmphex(take_record(&r).lanes, ==, 0xaaaaaaaaaaaaaaaaull);
    drv_wait64(word(r.d, OUT), 32);
    mend(&r, HOLE_VA, 0);
    replay(&r);
    drv_wait64(word(r.d, SIGNAL + 8), 1);
    g_assert_cmpuint(page_words(&r, 0)[0], ==, 7);
    rig_close(&r);
}

/* ---- the end */

/* One warp's fault is killed: its queue stops, as others do not. */
static void test_kill(gconstpointer mode)
{
    Rig r = rig_open(mode, 4);
    DrvQueue bad = start(&r, 0, "storm", 1, 64);
    struct mxgpu_fault_record f = take_record(&r);
    DrvQueue good = start(&r, 1, "storm", 1, 64);
    struct mxgpu_queue_error error;

    (void)take_record(&r);
    dut_write(&r.d->dut, MXGPU_FAULT_KILL, f.sequence);
    error = dut_queue_error(&bad.q);
    g_assert_cmpuint(error.code, ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(error.fault, ==, MXGPU_FAULT_NOT_PRESENT);
    g_assert_cmphex(error.fault_addr, ==, f.addr);
    g_assert_cmphex(error.fault_pc, ==, f.pc);
    g_assert_cmpuint(error.thread, ==, f.thread);
    g_assert_cmpuint(*word(r.d, SIGNAL + 8), ==, 0);
    mend(&r, HOLE_VA, 0);
    replay(&r);
    drv_wait64(word(r.d, SIGNAL + 8), 1);
    g_assert_cmpuint(good.ctl->state, ==, MXGPU_QUEUE_ACTIVE);
    rig_close(&r);
}

/* A queue is destroyed while its warps wait, told of and not. */
static void test_destroy(gconstpointer mode)
{
    Rig r = rig_open(mode, 2);
    DrvQueue q = start(&r, 0, "storm", 64, 256), next;

    DUT_WAIT(&r.d->dut, dut_read(&r.d->dut, MXGPU_FAULT_TAIL) == 4);
    DUT_WAIT(&r.d->dut, dut_read(&r.d->dut, MXGPU_FAULT_STATUS) ==
                            MXGPU_SET(MXGPU_FAULT_STATUS_STALLED, 1));
    dut_queue_destroy(&q.q);
    g_assert_cmpuint(dut_read(&r.d->dut, MXGPU_FAULT_TAIL), ==, 4);
    r.head = 4;
    replay(&r);
    next = start(&r, 1, "storm", 1, 64);
    (void)take_record(&r);
    mend(&r, HOLE_VA, 0);
    replay(&r);
    drv_wait64(word(r.d, SIGNAL + 8), 1);
    dut_queue_destroy(&next.q);
    rig_close(&r);
}

/*
 * Kernels that never end have all units, and one waits for a page. To destroy
 * the queue of the endless ones disturbs neither that nor what could not begin,
 * nor copies.
 */
static void test_isolated(gconstpointer mode)
{
    Rig r = rig_open(mode, 4);
    struct mxgpu_packet_copy copy = {
        .type = MXGPU_PKT_COPY,
        .src = DRV_SYS_VA + OUT,
        .dst = DRV_VRAM_VA + PAGES + 0x100000,
        .size = 0x100000,
        .signal_addr = DRV_SYS_VA + SIGNAL + 24,
        .signal_value = 1,
    };
    DrvQueue parked = start(&r, 0, "storm", 1, 64), endless, later, copies;

    (void)take_record(&r);
    endless = start(&r, 1, "endless", 2 * UNITS, 1024);
    DUT_WAIT(&r.d->dut, *word(r.d, OUT) != 0);
    later = start(&r, 2, "storm", 1, 64);
    copies = drv_queue(r.d, 3, 0, QUEUE(3));
    drv_push(&copies, &copy);
    drv_ring(&copies);
    drv_wait64(word(r.d, SIGNAL + 24), 1);
    mend(&r, HOLE_VA, 0);
    g_assert_cmpuint(*word(r.d, SIGNAL), ==, 0);
    dut_queue_destroy(&endless.q);
    g_assert_cmpuint(*word(r.d, SIGNAL + 8), ==, 0);
    /* Where it found a place before the page was there, it waits, too. */
    DUT_WAIT(&r.d->dut, (replay_all(&r), *word(r.d, SIGNAL + 16) == 1));
    drv_wait64(word(r.d, SIGNAL), 1);
    for (unsigned lane = 0; lane < 64; lane++) {
        g_assert_cmpuint(page_words(&r, 0)[lane], ==, 2);
    }
    g_assert_cmpuint(parked.ctl->state, ==, MXGPU_QUEUE_ACTIVE);
    g_assert_cmpuint(later.ctl->state, ==, MXGPU_QUEUE_ACTIVE);
    g_assert_cmpuint(copies.ctl->state, ==, MXGPU_QUEUE_ACTIVE);
    rig_close(&r);
}

/* A block that is counted while it runs, whose warps might run together. */
static void test_profiled(gconstpointer mode)
{
    Rig r = rig_open(mode, 4);
    struct mxgpu_packet_dispatch p = dispatch(&r, 0, "storm", 1, 256);
    uint64_t records = DRV_SYS_VA + OUT + 0x10000;
    struct mxgpu_msg_queue_profile setup = {
        .op = MXGPU_MSG_QUEUE_PROFILE,
        .base_lo = (uint32_t)records,
        .base_hi = (uint32_t)(records >> 32),
        .log2_records = 1,
        .stride = 4096,
    };
    DrvQueue q = drv_queue(r.d, 0, 0, QUEUE(0));

    g_assert_cmpuint(drv_message(r.d, &setup, sizeof(setup), NULL), ==,
                     MXGPU_MSG_OK);
    p.flags |= MXGPU_PKT_PROFILE;
    drv_push(&q, &p);
    drv_ring(&q);
    for (unsigned warp = 0; warp < 4; warp++) {
        struct mxgpu_fault_record record = take_record(&r);

        mend(&r, record.addr, (record.addr - HOLE_VA) / DUT_PAGE);
    }
    replay_all(&r);
    drv_wait64(word(r.d, SIGNAL), 1);
    for (unsigned i = 0; i < 256; i++) {
        g_assert_cmpuint(page_words(&r, i / 64)[i % 64], ==, 1);
    }
    rig_close(&r);
}

/* ---- elsewhere */

/* Full units of warps that wait, more than the ring has records, and a queue
 * that is more urgent has the units all the same, for ever. */
#define HELD_WARPS (UNITS * MXGPU_CU_THREADS / 64)

static void open_held(Rig *r, DrvQueue *waits, DrvQueue *urgent)
{
    Dut *d = &r->d->dut;

    *waits = start_at(r, 0, 4, "storm", 2 * UNITS, 1024);
    DUT_WAIT(d, dut_read(d, MXGPU_COUNTER_LO + MXGPU_COUNTER_WARPS *
                                                   MXGPU_COUNTER_LO_STRIDE) ==
                    HELD_WARPS);
    DUT_WAIT(d, dut_read(d, MXGPU_FAULT_STATUS) ==
                    MXGPU_SET(MXGPU_FAULT_STATUS_STALLED, 1));
    *urgent = start_at(r, 1, 0, "endless", 2 * UNITS, 1024);
    DUT_WAIT(d, *word(r->d, OUT) != 0);
}

/* Mends what the next record tells of; it is the warp's first one. */
static void mend_held(Rig *r, bool *seen)
{
    struct mxgpu_fault_record f = take_record(r);
    uint64_t page = (f.addr - HOLE_VA) / DUT_PAGE;

    g_assert_cmpuint(page, ==, f.block[0] * 16 + f.thread / 64);
    g_assert_cmpuint(page, <, HELD_WARPS);
    g_assert_false(seen[page]);
    seen[page] = true;
    mend(r, f.addr, page);
    replay(r);
}

/* Those that wait are told of, and told to go on, while they are off the units;
 * and do, when they are back. Some had not come to their access. */
static void test_held(gconstpointer mode)
{
    g_autofree bool *seen = g_new0(bool, HELD_WARPS);
    Rig r = rig_open(mode, 4);
    DrvQueue waits, urgent;

    open_held(&r, &waits, &urgent);
    for (unsigned i = 0; i < HELD_WARPS / 2; i++) {
        mend_held(&r, seen);
    }
    g_assert_cmpuint(*word(r.d, SIGNAL), ==, 0);
    dut_queue_destroy(&urgent.q);
    while (*word(r.d, SIGNAL) != 1) {
        if (has_record(&r)) {
            mend_held(&r, seen);
        } else {
            g_thread_yield();
        }
    }
    g_assert_cmpuint(r.head, ==, HELD_WARPS);
    for (unsigned i = 0; i < HELD_WARPS; i++) {
        for (unsigned lane = 0; lane < 64; lane++) {
            g_assert_cmpuint(page_words(&r, i)[lane], ==, 1);
        }
    }
    g_assert_cmpuint(waits.ctl->state, ==, MXGPU_QUEUE_ACTIVE);
    rig_close(&r);
}

/* One is killed there: its queue stops while the other one has the units. */
static void test_held_kill(gconstpointer mode)
{
    Rig r = rig_open(mode, 4);
    struct mxgpu_queue_error error;
    struct mxgpu_fault_record f;
    DrvQueue waits, urgent;
    uint64_t before;

    open_held(&r, &waits, &urgent);
    f = take_record(&r);
    dut_write(&r.d->dut, MXGPU_FAULT_KILL, f.sequence);
    error = dut_queue_error(&waits.q);
    g_assert_cmpuint(error.code, ==, MXGPU_QERR_FAULT);
    g_assert_cmphex(error.fault_addr, ==, f.addr);
    g_assert_cmphex(error.fault_pc, ==, f.pc);
    g_assert_cmpuint(error.block[0], ==, f.block[0]);
    g_assert_cmpuint(error.thread, ==, f.thread);
    replay_all(&r);
    before = *word(r.d, OUT);
    DUT_WAIT(&r.d->dut, *word(r.d, OUT) != before);
    dut_queue_destroy(&waits.q);
    dut_queue_destroy(&urgent.q);
    g_assert_cmpuint(dut_read(&r.d->dut, MXGPU_FAULT_STATUS), ==, 0);
    rig_close(&r);
}

/* One more of them than there are slots, each with a page of its own: so at any
 * time one is in memory. */
#define AWAY_QUEUES (MXGPU_DISPATCH_SLOTS + 1)
#define AWAY_STEP   0x100000u

static void open_away(Rig *r, DrvQueue *q)
{
    struct mxgpu_msg_contexts area = {
        .op = MXGPU_MSG_CONTEXTS,
        .vmid = DUT_VMID,
        .addr_lo = (uint32_t)(DRV_SYS_VA + AREA),
        .addr_hi = (uint32_t)((DRV_SYS_VA + AREA) >> 32),
        .size_lo = AREA_SIZE,
    };

    g_assert_cmpuint(drv_message(r->d, &area, sizeof(area), NULL), ==,
                     MXGPU_MSG_OK);
    for (unsigned i = 0; i < AWAY_QUEUES; i++) {
        struct mxgpu_packet_dispatch p = dispatch(r, i, "storm", 1, 64);
        Args args = {HOLE_VA + i * AWAY_STEP, DRV_SYS_VA + OUT, 0};

        memcpy(r->d->sys + ARGS + i * 512, &args, sizeof(args));
        q[i] = drv_queue(r->d, i, 4, QUEUE(i));
        drv_push(&q[i], &p);
        drv_ring(&q[i]);
    }
    for (unsigned i = 0; i < AWAY_QUEUES; i++) {
        struct mxgpu_fault_record f = take_record(r);

        g_assert_cmpuint(f.queue, <, AWAY_QUEUES);
        g_assert_cmphex(f.addr, ==, HOLE_VA + f.queue * AWAY_STEP);
    }
}

/* All are killed, and none faults again. */
static void test_away_kill(gconstpointer mode)
{
    Rig r = rig_open(mode, 4);
    DrvQueue q[AWAY_QUEUES];

    open_away(&r, q);
    for (unsigned i = 0; i < AWAY_QUEUES; i++) {
        dut_write(&r.d->dut, MXGPU_FAULT_KILL, i);
    }
    replay(&r);
    for (unsigned i = 0; i < AWAY_QUEUES; i++) {
        struct mxgpu_queue_error error = dut_queue_error(&q[i].q);

        g_assert_cmpuint(error.code, ==, MXGPU_QERR_FAULT);
        g_assert_cmphex(error.fault_addr, ==, HOLE_VA + i * AWAY_STEP);
        dut_queue_destroy(&q[i].q);
    }
    g_assert_cmpuint(dut_read(&r.d->dut, MXGPU_FAULT_TAIL), ==, AWAY_QUEUES);
    rig_close(&r);
}

/* All go on; a verdict that comes much later finds each where it is then. */
static void test_away(gconstpointer mode)
{
    Rig r = rig_open(mode, 4);
    DrvQueue q[AWAY_QUEUES];
    Dut *d = &r.d->dut;

    open_away(&r, q);
    for (unsigned i = 0; i < AWAY_QUEUES; i++) {
        uint64_t until = dut_read(d, MXGPU_CLOCK_LO) + 7000000u * (i % 4);

        /* Each has been away and is back by then, or is away. */
        DUT_WAIT(d, dut_read(d, MXGPU_CLOCK_LO) - until < 1u << 31);
        mend(&r, HOLE_VA + i * AWAY_STEP, i);
    }
    replay(&r);
    for (unsigned i = 0; i < AWAY_QUEUES; i++) {
        drv_wait64(word(r.d, SIGNAL + 8 * i), 1);
        for (unsigned lane = 0; lane < 64; lane++) {
            g_assert_cmpuint(page_words(&r, i)[lane], ==, 1);
        }
        g_assert_cmpuint(q[i].ctl->state, ==, MXGPU_QUEUE_ACTIVE);
    }
    g_assert_cmpuint(dut_read(d, MXGPU_FAULT_TAIL), ==, AWAY_QUEUES);
    rig_close(&r);
}

/* Queues are destroyed wherever their warps are, and leave no record that waits:
 * as many as there are numbers can be written afterwards. */
static void test_away_destroy(gconstpointer mode)
{
    Rig r = rig_open(mode, 4);
    DrvQueue q[AWAY_QUEUES];

    open_away(&r, q);
    for (unsigned i = 0; i < AWAY_QUEUES; i++) {
        dut_queue_destroy(&q[i].q);
    }
    for (unsigned i = 0; i < AWAY_QUEUES; i++) {
        dut_write(&r.d->dut, MXGPU_FAULT_KILL, i);
    }
    replay(&r);
    (void)start(&r, 0, "storm", 1100, 256);
    while (*word(r.d, SIGNAL) != 1) {
        if (!has_record(&r)) {
            g_thread_yield();
            continue;
        }
        mend(&r, take_record(&r).addr, 0);
        replay(&r);
    }
    g_assert_cmpuint(dut_read(&r.d->dut, MXGPU_FAULT_TAIL), >,
                     AWAY_QUEUES + 4096);
    rig_close(&r);
}

/* A ring that is not there is reported, and can be replaced. */
static void test_bad_ring(gconstpointer mode)
{
    Rig r = rig_open(mode, 4);
    Dut *d = &r.d->dut;

    dut_write(d, MXGPU_FAULT_CFG, 0);
    dut_write(d, MXGPU_FAULT_RING_HI, 0x123);
    dut_write(d, MXGPU_FAULT_CFG,
              MXGPU_SET(MXGPU_FAULT_CFG_ENABLE, 1) |
                  MXGPU_SET(MXGPU_FAULT_CFG_VMID, DUT_VMID) |
                  MXGPU_SET(MXGPU_FAULT_CFG_LOG2_RECORDS, 4));
    (void)start(&r, 0, "storm", 1, 64);
    DUT_WAIT(d, dut_read(d, MXGPU_FAULT_STATUS) &
                    MXGPU_SET(MXGPU_FAULT_STATUS_ERROR, 1));
    g_assert_true(dut_read(d, MXGPU_ERR_STATUS) &
                  MXGPU_SET(MXGPU_ERR_STATUS_FAULT, 1));
    g_assert_cmpuint(dut_read(d, MXGPU_FAULT_TAIL), ==, 0);
    dut_write(d, MXGPU_FAULT_CFG, 0);
    enable_ring(&r);
    (void)take_record(&r);
    mend(&r, HOLE_VA, 0);
    replay(&r);
    drv_wait64(word(r.d, SIGNAL), 1);
    rig_close(&r);
}

/* What cannot be is an error of whoever writes it. */
static void test_registers(gconstpointer mode)
{
    static const struct {
        uint32_t reg, value;
    } bad[] = {
        {MXGPU_FAULT_HEAD, 1},
        {MXGPU_FAULT_HEAD, UINT32_MAX},
        {MXGPU_FAULT_REPLAY, 0},
        {MXGPU_FAULT_KILL, 0},
        {MXGPU_FAULT_RING_LO, 0},
        {MXGPU_FAULT_CFG, 1},
        {MXGPU_FAULT_TAIL, 1},
    };
    Rig r = rig_open(mode, 4);
    Dut *d = &r.d->dut;
    uint32_t bit = MXGPU_SET(MXGPU_ERR_STATUS_BAD_ACCESS, 1);

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_cmphex(dut_read(d, MXGPU_ERR_STATUS), ==, 0);
        dut_write(d, bad[i].reg, bad[i].value);
        g_assert_cmphex(dut_read(d, MXGPU_ERR_STATUS), ==, bit);
        g_assert_cmphex(dut_read(d, MXGPU_ERR_INFO), ==, bad[i].reg);
        dut_write(d, MXGPU_ERR_STATUS, bit);
    }
    dut_write(d, MXGPU_FAULT_CFG, 0);
    dut_write(d, MXGPU_FAULT_CFG,
              MXGPU_SET(MXGPU_FAULT_CFG_ENABLE, 1) |
                  MXGPU_SET(MXGPU_FAULT_CFG_LOG2_RECORDS, 13));
    g_assert_cmphex(dut_read(d, MXGPU_ERR_STATUS), ==, bit);
    g_assert_cmphex(dut_read(d, MXGPU_FAULT_CFG), ==, 0);
    rig_close(&r);
}

static void add(const char *name, GTestDataFunc func)
{
    g_autofree char *threads = g_strdup_printf("/fault/threads/%s", name);
    g_autofree char *one = g_strdup_printf("/fault/deterministic/%s", name);

    g_test_add_data_func(threads, NULL, func);
    g_test_add_data_func(one, "", func);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    kernels = argv[1];
    add("registers", test_registers);
    add("once", test_once);
    add("load", test_load);
    add("kinds", test_kinds);
    add("others", test_others);
    add("kill", test_kill);
    add("destroy", test_destroy);
    add("isolated", test_isolated);
    add("profiled", test_profiled);
    add("held", test_held);
    add("held-kill", test_held_kill);
    add("away", test_away);
    add("away-kill", test_away_kill);
    add("away-destroy", test_away_destroy);
    add("bad-ring", test_bad_ring);
    add("storm", test_storm);
    return g_test_run();
}
