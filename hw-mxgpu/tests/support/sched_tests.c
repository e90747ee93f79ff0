/* SPDX-License-Identifier: MIT */
/* Kernels without an end that have every unit, on every host of the device:
 * what else gets its turn, and what resets of queues and units end. */
#include "block_tests.h"
#include "mxgpu/kernel.h"

/* In system memory, behind the rings of queues. */
#define SIGNALS 0x10000u
#define DATA    0x20000u
/* In VRAM. */
#define CODE 0x8000u
#define CODE_VA 0x510000000ull

/* Counts in the word that is its argument: addi t0, t0, 1; sd t0, (a0); j -8 */
static const uint32_t endless[] = {0x00128293, 0x00553023, 0xff9ff06f};
static const uint32_t empty[] = {0x0000000b}; /* mx.exit */

/* More than any device of these tests holds at once. */
#define BLOCKS 64u

static void load(Dut *d, unsigned kernel, const uint32_t *code, size_t size)
{
    uint64_t at = CODE + kernel * 256;
    struct mxgpu_kernel_desc desc = {
        .magic = MXGPU_KERNEL_MAGIC,
        .abi = MXGPU_KERNEL_ABI,
        .entry = CODE_VA + kernel * 256 + sizeof(desc),
        .registers = 32,
    };

    d->ops->store(d, DUT_VRAM, d->vram.at + at, &desc, sizeof(desc));
    d->ops->store(d, DUT_VRAM, d->vram.at + at + sizeof(desc), code, size);
}

static void load_kernels(Dut *d)
{
    load(d, 0, endless, sizeof(endless));
    load(d, 1, empty, sizeof(empty));
    load(d, 2, endless, sizeof(endless)); /* its code is elsewhere */
    dut_map(d, CODE_VA, 0,
            MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_EXECUTE |
                (d->vram.at + CODE));
}

static DutQueue new_queue(Dut *d, unsigned id, unsigned priority)
{
    DutQueue q = {
        .id = id,
        .log2 = 4,
        .vector = id + 1,
        .priority = priority,
        .ring = d->sys.at + id * 2 * DUT_PAGE,
        .ctl = d->sys.at + (id * 2 + 1) * DUT_PAGE,
        .ring_va = d->sys.va + id * 2 * DUT_PAGE,
        .ctl_va = d->sys.va + (id * 2 + 1) * DUT_PAGE,
    };

    dut_queue_create(d, &q);
    return q;
}

static void submit_grid(DutQueue *q, unsigned kernel, uint64_t signal,
                        unsigned blocks, unsigned shared)
{
    Dut *d = q->dut;
    struct mxgpu_packet_dispatch p = {
        .type = MXGPU_PKT_DISPATCH,
        .kernel = CODE_VA + kernel * 256,
        .args = d->sys.va + DATA + 64 * q->id,
        .grid = {blocks, 1, 1},
        .block = {1024, 1, 1},
        .dynamic_shared = shared,
        .signal_addr = d->sys.va + SIGNALS + 8 * q->id,
        .signal_value = signal,
    };

    dut_push(q, &p);
    dut_ring(q);
}

static void submit(DutQueue *q, unsigned kernel, uint64_t signal)
{
    submit_grid(q, kernel, signal, BLOCKS, 0);
}

static uint64_t counter(const DutQueue *q)
{
    return dut_load64(q->dut, DUT_SYSTEM, q->dut->sys.at + DATA + 64 * q->id);
}

static uint64_t signalled(const DutQueue *q)
{
    return dut_load64(q->dut, DUT_SYSTEM, q->dut->sys.at + SIGNALS + 8 * q->id);
}

static void wait_counting(const DutQueue *q)
{
    uint64_t before = counter(q);

    DUT_WAIT(q->dut, counter(q) != before);
}

/* A level that is more urgent gets the units, and gives them back. */
void sched_test_urgent(Dut *d)
{
    DutQueue slow = new_queue(d, 0, 2), urgent = new_queue(d, 1, 0);

    load_kernels(d);
    submit(&slow, 0, 1);
    wait_counting(&slow);
    for (unsigned i = 1; i <= 3; i++) {
        submit(&urgent, 1, i);
        DUT_WAIT(d, signalled(&urgent) == i);
        wait_counting(&slow);
    }
    g_assert_cmpuint(signalled(&slow), ==, 0);
    dut_queue_destroy(&slow);
    dut_queue_destroy(&urgent);
}

/* Two of one level take turns, and a third one comes to its end. */
void sched_test_turns(Dut *d)
{
    DutQueue a = new_queue(d, 0, 1), b = new_queue(d, 1, 1);
    DutQueue c = new_queue(d, 2, 1);

    load_kernels(d);
    submit(&a, 0, 1);
    submit(&b, 0, 1);
    for (unsigned i = 0; i < 3; i++) {
        wait_counting(&a);
        wait_counting(&b);
    }
    submit(&c, 1, 7);
    DUT_WAIT(d, signalled(&c) == 7);
    wait_counting(&a);
    wait_counting(&b);
    dut_queue_destroy(&a);
    wait_counting(&b);
    dut_queue_destroy(&b);
    dut_queue_destroy(&c);
}

/* The work of one queue ends, that of another at the same units does not. */
void sched_test_queue_reset(Dut *d)
{
    DutQueue a = new_queue(d, 0, 1), b = new_queue(d, 1, 1);
    struct mxgpu_msg_queue_reset reset = {MXGPU_MSG_QUEUE_RESET, 0};
    uint64_t at;

    load_kernels(d);
    submit(&a, 0, 1);
    submit(&b, 0, 1);
    wait_counting(&a);
    wait_counting(&b);
    g_assert_cmpuint(dut_call(d, &reset, sizeof(reset), NULL), ==,
                     MXGPU_MSG_OK);
    at = counter(&a);
    wait_counting(&b);
    wait_counting(&b);
    g_assert_cmpuint(counter(&a), ==, at);
    g_assert_cmpuint(signalled(&a), ==, 0);
    g_assert_cmpuint(dut_read_index(&a), ==, 0);

    a.index = 0; /* it is as new, and b goes on beside it */
    submit(&a, 1, 5);
    DUT_WAIT(d, signalled(&a) == 5);
    wait_counting(&b);
    reset.queue = 3;
    g_assert_cmpuint(dut_call(d, &reset, sizeof(reset), NULL), ==,
                     MXGPU_MSG_NOT_FOUND);
    dut_queue_destroy(&b);
    dut_queue_destroy(&a);
}

/* Waits until a unit runs the kernel; its number. */
static unsigned unit_of(Dut *d, unsigned kernel)
{
    unsigned units = MXGPU_GET(MXGPU_UNIT_CAPS_COMPUTE_UNITS,
                               dut_read(d, MXGPU_UNIT_CAPS));
    uint32_t first = (uint32_t)(CODE_VA + kernel * 256), pc, found;

    DUT_WAIT(d, ({
                 found = units;
                 for (unsigned i = 0; i < units && found == units; i++) {
                     pc = dut_read(d, MXGPU_CU_PC_LO +
                                          i * MXGPU_CU_PC_LO_STRIDE);
                     found = pc - first < 256 ? i : units;
                 }
                 found != units;
             }));
    return found;
}

static uint32_t reset_unit(Dut *d, uint32_t kind, uint32_t index)
{
    struct mxgpu_msg_unit_reset reset = {MXGPU_MSG_UNIT_RESET, kind, index};

    return dut_call(d, &reset, sizeof(reset), NULL);
}

/* Of shared memory: a unit has no room for two such blocks. */
#define HALF (40u << 10)

/* Of two dispatches on a unit of their own each one ends; the unit is as good as
 * before. */
void sched_test_unit_reset(Dut *d)
{
    DutQueue a = new_queue(d, 0, 1), b = new_queue(d, 1, 1);
    unsigned units = MXGPU_GET(MXGPU_UNIT_CAPS_COMPUTE_UNITS,
                               dut_read(d, MXGPU_UNIT_CAPS));
    struct mxgpu_msg_queue_reset reset = {MXGPU_MSG_QUEUE_RESET, 0};
    struct mxgpu_queue_error error;

    load_kernels(d);
    submit_grid(&a, 0, 1, 1, HALF);
    wait_counting(&a);
    submit_grid(&b, 2, 1, 1, HALF);
    wait_counting(&b);
    g_assert_cmpuint(unit_of(d, 0), !=, unit_of(d, 2));
    g_assert_cmpuint(reset_unit(d, MXGPU_RESET_COMPUTE_UNIT, unit_of(d, 0)), ==,
                     MXGPU_MSG_OK);
    error = dut_queue_error(&a); /* which is there already */
    g_assert_cmpuint(error.code, ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(error.fault, ==, MXGPU_FAULT_ABORTED);
    g_assert_cmpuint(signalled(&a), ==, 0);
    wait_counting(&b);

    g_assert_cmpuint(dut_call(d, &reset, sizeof(reset), NULL), ==,
                     MXGPU_MSG_OK);
    a.index = 0;
    submit(&a, 1, 5); /* on all units */
    DUT_WAIT(d, signalled(&a) == 5);
    wait_counting(&b); /* it is back, if it had made room */
    g_assert_cmpuint(reset_unit(d, MXGPU_RESET_COMPUTE_UNIT, unit_of(d, 2)), ==,
                     MXGPU_MSG_OK);
    error = dut_queue_error(&b);
    g_assert_cmpuint(error.fault, ==, MXGPU_FAULT_ABORTED);
    for (unsigned i = 0; i < units; i++) { /* nothing is left there */
        g_assert_cmpuint(reset_unit(d, MXGPU_RESET_COMPUTE_UNIT, i), ==,
                         MXGPU_MSG_OK);
    }
    g_assert_cmpuint(reset_unit(d, MXGPU_RESET_COMPUTE_UNIT, units), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    dut_queue_destroy(&b);
    dut_queue_destroy(&a);
}
