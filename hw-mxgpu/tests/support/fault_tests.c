/* SPDX-License-Identifier: MIT */
/* Recoverable faults on every host of the device: a copy and a kernel that run
 * into pages that are not there, and a driver that maps them, or does not. */
#include <stdbool.h>
#include <string.h>

#include "block_tests.h"
#include "mxgpu/kernel.h"

/* In system memory, behind the rings of queues. */
#define RING    0x18000u /* of fault records */
#define SIGNALS 0x10000u
#define DATA    0x20000u
/* In VRAM. */
#define CODE 0x8000u
#define PAGE 0x9000u /* some */

/* Where nothing is mapped before a test does. */
#define HOLE_VA 0x500000000ull
#define CODE_VA 0x510000000ull

#define LOG2_RECORDS 2u

typedef struct Faults {
    Dut *d;
    DutQueue q;
    uint32_t head;
} Faults;

static void enable_ring(Dut *d)
{
    uint64_t va = d->sys.va + RING;

    dut_write(d, MXGPU_FAULT_RING_LO, (uint32_t)va);
    dut_write(d, MXGPU_FAULT_RING_HI, (uint32_t)(va >> 32));
    dut_write(d, MXGPU_FAULT_CFG,
              MXGPU_SET(MXGPU_FAULT_CFG_ENABLE, 1) |
                  MXGPU_SET(MXGPU_FAULT_CFG_VMID, DUT_VMID) |
                  MXGPU_SET(MXGPU_FAULT_CFG_LOG2_RECORDS, LOG2_RECORDS));
}

static Faults open_faults(Dut *d)
{
    Faults f = {.d = d,
                .q = {
                    .id = 5,
                    .log2 = 4,
                    .vector = 6,
                    .ring = d->sys.at,
                    .ctl = d->sys.at + DUT_PAGE,
                    .ring_va = d->sys.va,
                    .ctl_va = d->sys.va + DUT_PAGE,
                }};

    dut_queue_create(d, &f.q);
    enable_ring(d);
    return f;
}

static void close_faults(Faults *f)
{
    dut_queue_destroy(&f->q);
    dut_write(f->d, MXGPU_FAULT_CFG, 0);
    g_assert_cmphex(dut_read(f->d, MXGPU_ERR_STATUS) &
                        MXGPU_SET(MXGPU_ERR_STATUS_BAD_ACCESS, 1), ==, 0);
}

static uint64_t signalled(Dut *d)
{
    return dut_load64(d, DUT_SYSTEM, d->sys.at + SIGNALS);
}

/* Waits for the next record. */
static struct mxgpu_fault_record next_record(Faults *f)
{
    Dut *d = f->d;
    struct mxgpu_fault_record r;

    DUT_WAIT(d, dut_read(d, MXGPU_FAULT_TAIL) != f->head);
    d->ops->load(d, DUT_SYSTEM,
                 d->sys.at + RING + f->head % (1u << LOG2_RECORDS) * sizeof(r),
                 &r, sizeof(r));
    g_assert_cmpuint(r.sequence, ==, f->head);
    g_assert_cmpuint(r.vmid, ==, DUT_VMID);
    g_assert_cmpuint(r.queue, ==, f->q.id);
    g_assert_cmpuint(r.fault, ==, MXGPU_FAULT_NOT_PRESENT);
    f->head++;
    return r;
}

static void replay(Faults *f)
{
    dut_write(f->d, MXGPU_FAULT_HEAD, f->head);
}

/* A page of VRAM at va. */
static void mend(Dut *d, uint64_t va, unsigned page)
{
    dut_map(d, va, 0,
            MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE |
                MXGPU_PTE_ATOMIC | (d->vram.at + PAGE + page * DUT_PAGE));
}

/* Takes the page away again. */
static void tear(Dut *d, uint64_t va)
{
    dut_store64(d, DUT_VRAM, dut_pte(d, va, 0), 0);
    dut_invalidate(d);
}

/* ---- copies */

/* A copy over three pages, none of which is there. */
static struct mxgpu_packet_copy missing_copy(Dut *d)
{
    return (struct mxgpu_packet_copy){
        .type = MXGPU_PKT_COPY,
        .flags = MXGPU_PKT_RECOVER,
        .src = d->sys.va + DATA,
        .dst = HOLE_VA + 100,
        .size = 2 * DUT_PAGE,
        .signal_addr = d->sys.va + SIGNALS,
        .signal_value = 1,
    };
}

void fault_test_copy(Dut *d)
{
    struct mxgpu_packet_copy copy = missing_copy(d);
    g_autofree uint8_t *data = g_malloc(2 * DUT_PAGE);
    g_autofree uint8_t *got = g_malloc(2 * DUT_PAGE);
    Faults f = open_faults(d);

    for (unsigned i = 0; i < 2 * DUT_PAGE; i++) {
        data[i] = (uint8_t)(i * 7 + (i >> 8));
    }
    d->ops->store(d, DUT_SYSTEM, d->sys.at + DATA, data, 2 * DUT_PAGE);
    (void)d->ops->irqs(d, 0);
    dut_write(d, MXGPU_IRQ_STATUS, MXGPU_SET(MXGPU_IRQ_STATUS_FAULT, 1));
    dut_write(d, MXGPU_IRQ_ENABLE, MXGPU_SET(MXGPU_IRQ_STATUS_FAULT, 1));
    f.head = dut_read(d, MXGPU_FAULT_HEAD);
    dut_push(&f.q, &copy);
    dut_ring(&f.q);
    for (unsigned i = 0; i < 3; i++) {
        struct mxgpu_fault_record r = next_record(&f);
        uint64_t bytes = i * DUT_PAGE - (i ? 100 : 0);

        g_assert_cmpuint(r.source, ==, MXGPU_FAULT_COPY);
        g_assert_cmpuint(r.access, ==, MXGPU_ACCESS_WRITE);
        g_assert_cmphex(r.addr, ==, HOLE_VA + 100 + bytes);
        g_assert_cmpuint(r.done, ==, bytes);
        DUT_WAIT(d, d->ops->irqs(d, 0) > 0);
        g_assert_true(dut_read(d, MXGPU_IRQ_STATUS) &
                      MXGPU_SET(MXGPU_IRQ_STATUS_FAULT, 1));
        dut_write(d, MXGPU_IRQ_STATUS, MXGPU_SET(MXGPU_IRQ_STATUS_FAULT, 1));
        g_assert_cmpuint(signalled(d), ==, 0);
        mend(d, HOLE_VA + i * DUT_PAGE, i);
        replay(&f);
    }
    DUT_WAIT(d, signalled(d) == 1);
    d->ops->load(d, DUT_VRAM, d->vram.at + PAGE + 100, got, 2 * DUT_PAGE);
    g_assert_cmpmem(got, 2 * DUT_PAGE, data, 2 * DUT_PAGE);
    g_assert_cmpuint(dut_read(d, MXGPU_FAULT_STATUS), ==, 0);
    dut_write(d, MXGPU_IRQ_ENABLE, 0);
    for (unsigned i = 0; i < 3; i++) {
        tear(d, HOLE_VA + i * DUT_PAGE);
    }
    close_faults(&f);
}

/* Killed, it stops its queue as a fault does that cannot be mended; destroyed,
 * it leaves nothing behind. */
void fault_test_kill(Dut *d)
{
    struct mxgpu_packet_copy copy = missing_copy(d);
    struct mxgpu_queue_error error;
    Faults f = open_faults(d);

    f.head = dut_read(d, MXGPU_FAULT_HEAD);
    dut_push(&f.q, &copy);
    dut_ring(&f.q);
    dut_write(d, MXGPU_FAULT_KILL, next_record(&f).sequence);
    error = dut_queue_error(&f.q);
    g_assert_cmpuint(error.code, ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(error.fault, ==, MXGPU_FAULT_NOT_PRESENT);
    g_assert_cmphex(error.fault_addr, ==, HOLE_VA + 100);
    g_assert_cmpuint(error.done[0], ==, 0);
    replay(&f);
    dut_queue_destroy(&f.q);

    f.q.index = 0;
    dut_queue_create(d, &f.q);
    dut_push(&f.q, &copy);
    dut_ring(&f.q);
    (void)next_record(&f);
    close_faults(&f); /* answers when the engine has let go of it */
    g_assert_cmpuint(signalled(d), ==, 0);
}

/* A copy that waits for ever ends with its engine's reset; that of another queue,
 * which waits as well, goes on when its page is there. */
void fault_test_engine_reset(Dut *d)
{
    struct mxgpu_packet_copy copy = missing_copy(d), other = copy;
    struct mxgpu_msg_unit_reset reset = {MXGPU_MSG_UNIT_RESET,
                                         MXGPU_RESET_COPY_ENGINE, 0};
    struct mxgpu_queue_error error;
    Faults f = open_faults(d);
    DutQueue q = {.id = 6, .log2 = 4, .vector = 7,
                  .ring = d->sys.at + 2 * DUT_PAGE,
                  .ctl = d->sys.at + 3 * DUT_PAGE,
                  .ring_va = d->sys.va + 2 * DUT_PAGE,
                  .ctl_va = d->sys.va + 3 * DUT_PAGE};

    f.head = dut_read(d, MXGPU_FAULT_HEAD);
    dut_queue_create(d, &q);
    dut_push(&f.q, &copy);
    dut_ring(&f.q);
    reset.index = next_record(&f).unit;
    other.dst = HOLE_VA + 4 * DUT_PAGE;
    other.size = DUT_PAGE;
    dut_push(&q, &other);
    dut_ring(&q);
    DUT_WAIT(d, dut_read(d, MXGPU_FAULT_TAIL) != f.head);
    f.head++;
    g_assert_cmpuint(dut_call(d, &reset, sizeof(reset), NULL), ==,
                     MXGPU_MSG_OK);
    error = dut_queue_error(&f.q);
    g_assert_cmpuint(error.code, ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(error.fault, ==, MXGPU_FAULT_ABORTED);
    g_assert_cmpuint(signalled(d), ==, 0);
    mend(d, other.dst, 0);
    replay(&f);
    DUT_WAIT(d, signalled(d) == 1);
    tear(d, other.dst);
    dut_queue_destroy(&q);
    close_faults(&f);
}

/* Without a ring there is nobody to mend anything. */
void fault_test_refused(Dut *d)
{
    struct mxgpu_packet_copy copy = missing_copy(d);
    struct mxgpu_queue_error error;
    Faults f = open_faults(d);

    dut_write(d, MXGPU_FAULT_CFG, 0);
    dut_push(&f.q, &copy);
    dut_ring(&f.q);
    error = dut_queue_error(&f.q);
    g_assert_cmpuint(error.code, ==, MXGPU_QERR_PACKET);
    g_assert_cmpuint(error.field, ==, 2);
    close_faults(&f);
}

/* ---- kernels */

/*
 * Thread t adds t + 1 to the doubleword at HOLE_VA + blockIdx.x * 4096, and
 * stores its number at + 64 + 4 t:
 *   csrr a1, ctaid_x; slli a1, a1, 12; add a1, a1, a0; csrr a2, tid_x
 *   addi a3, a2, 1; amoadd.d x0, a3, (a1); slli a4, a2, 2; add a4, a4, a1
 *   sw a2, 64(a4); mx.exit
 */
static const uint32_t kernel[] = {
    0xcc6025f3, 0x00c59593, 0x00a585b3, 0xcc002673, 0x00160693,
    0x00d5b02f, 0x00261713, 0x00b70733, 0x04c72023, 0x0000000b,
};

#define BLOCKS  6u
#define THREADS 128u

static struct mxgpu_packet_dispatch load_kernel(Dut *d)
{
    struct mxgpu_kernel_desc desc = {
        .magic = MXGPU_KERNEL_MAGIC,
        .abi = MXGPU_KERNEL_ABI,
        .entry = CODE_VA + sizeof(desc),
        .registers = 32,
    };

    d->ops->store(d, DUT_VRAM, d->vram.at + CODE, &desc, sizeof(desc));
    d->ops->store(d, DUT_VRAM, d->vram.at + CODE + sizeof(desc), kernel,
                  sizeof(kernel));
    dut_map(d, CODE_VA, 0,
            MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_EXECUTE |
                (d->vram.at + CODE));
    return (struct mxgpu_packet_dispatch){
        .type = MXGPU_PKT_DISPATCH,
        .flags = MXGPU_PKT_RECOVER,
        .kernel = CODE_VA,
        .args = HOLE_VA,
        .grid = {BLOCKS, 1, 1},
        .block = {THREADS, 1, 1},
        .signal_addr = d->sys.va + SIGNALS,
        .signal_value = 1,
    };
}

/* Every block needs a page of its own, and both of its warps ask for it: more
 * than the ring has room for. Each access happens once all the same. */
void fault_test_kernel(Dut *d)
{
    struct mxgpu_packet_dispatch p = load_kernel(d);
    bool mapped[BLOCKS] = {false};
    Faults f = open_faults(d);

    f.head = dut_read(d, MXGPU_FAULT_HEAD);
    for (unsigned i = 0; i < BLOCKS; i++) {
        static const uint8_t zero[DUT_PAGE];

        d->ops->store(d, DUT_VRAM, d->vram.at + PAGE + i * DUT_PAGE, zero,
                      sizeof(zero));
    }
    dut_push(&f.q, &p);
    dut_ring(&f.q);
    while (signalled(d) != 1) {
        if (dut_read(d, MXGPU_FAULT_TAIL) != f.head) {
            struct mxgpu_fault_record r = next_record(&f);
            unsigned page = (unsigned)((r.addr - HOLE_VA) / DUT_PAGE);

            g_assert_cmpuint(r.source, ==, MXGPU_FAULT_COMPUTE);
            g_assert_cmpuint(r.access, ==, MXGPU_ACCESS_ATOMIC);
            g_assert_cmpuint(page, <, BLOCKS);
            g_assert_cmpuint(r.block[0], ==, page);
            g_assert_cmphex(r.lanes, ==, UINT64_MAX);
            g_assert_cmphex(r.pc, ==, CODE_VA + sizeof(struct mxgpu_kernel_desc)
                                      + 5 * 4);
            g_assert_cmpuint(r.thread % 64, ==, 0);
            if (!mapped[page]) {
                mend(d, r.addr & ~(uint64_t)(DUT_PAGE - 1), page);
                mapped[page] = true;
            }
            replay(&f);
        } else {
            d->ops->relax(d);
        }
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        uint64_t at = d->vram.at + PAGE + i * DUT_PAGE;

        g_assert_true(mapped[i]);
        g_assert_cmpuint(dut_load64(d, DUT_VRAM, at), ==,
                         THREADS * (THREADS + 1) / 2);
        for (unsigned t = 0; t < THREADS; t++) {
            g_assert_cmpuint(dut_load32(d, DUT_VRAM, at + 64 + 4 * t), ==, t);
        }
        tear(d, HOLE_VA + i * DUT_PAGE);
    }
    close_faults(&f);
}
