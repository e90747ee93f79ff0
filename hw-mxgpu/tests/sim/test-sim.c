/* SPDX-License-Identifier: MIT */
/* The whole device in one process: firmware, queues, copies, kernels, faults.
 * Every test runs with threads and on one thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "block_tests.h"
#include "mxgpu/kernel.h"
#include "sim_driver.h"

#define SIGNAL 0x100000u /* in system memory: words that packets signal */
#define QUEUE(i) (0x10000u + (i) * 0x2000u)

static Drv *open_mode(gconstpointer deterministic)
{
    MxgpuSimOptions config = {.compute_units = 4,
                             .queues = 16,
                             .deterministic = deterministic != NULL};

    return drv_open(&config);
}

static volatile uint64_t *signal_word(Drv *d, unsigned i)
{
    return (volatile uint64_t *)(d->sys + SIGNAL + 8 * i);
}

static uint64_t signal_va(unsigned i)
{
    return DRV_SYS_VA + SIGNAL + 8 * i;
}

static struct mxgpu_packet_copy copy(uint64_t dst, uint64_t src, uint64_t size)
{
    struct mxgpu_packet_copy p = {
        .type = MXGPU_PKT_COPY, .src = src, .dst = dst, .size = size};

    return p;
}

/* The firmware's console is in the log. */
static void test_console(gconstpointer mode)
{
    Drv *d = open_mode(mode);

    g_assert_nonnull(strstr(d->log->str, "fw: "));
    g_assert_cmphex(d->ops->read(d->sim, MXGPU_ERR_STATUS), ==, 0);
    drv_close(d);
}

/* What the qtests ask of the device in QEMU. */
typedef struct Block {
    const BlockTest *test;
    gconstpointer mode;
} Block;

static void run_block(gconstpointer data)
{
    const Block *b = data;
    Drv *d = open_mode(b->mode);

    d->dut.sys = (DutArea){DRV_SYS_SIZE - BLOCK_TEST_BYTES,
                           DRV_SYS_VA + DRV_SYS_SIZE - BLOCK_TEST_BYTES,
                           BLOCK_TEST_BYTES};
    d->dut.vram = (DutArea){0, DRV_VRAM_VA, BLOCK_TEST_BYTES};
    b->test->func(&d->dut);
    drv_close(d);
}

/* Queues and packets in the log, for those who ask. */
static void test_log(gconstpointer mode)
{
    static const char *const lines[] = {
        "queue 3 packet 0: created vmid 1 priority 0",
        "queue 3 packet 0: start COPY on engine 0",
        "queue 3 packet 0: end COPY signal 7",
    };
    MxgpuSimOptions config = {.compute_units = 1,
                              .deterministic = mode != NULL,
                              .log_packets = true};
    struct mxgpu_packet_copy p =
        copy(DRV_VRAM_VA, DRV_SYS_VA + 0x200000, 4096);

    for (unsigned i = 0; i < 2; i++) {
        Drv *d = drv_open(&config);
        DrvQueue q = drv_queue(d, 3, 0, QUEUE(0));

        p.signal_addr = signal_va(0);
        p.signal_value = 7;
        p.flags = MXGPU_PKT_IRQ; /* behind all that is said of the packet */
        drv_push(&q, &p);
        drv_ring(&q);
        g_assert_cmpuint(drv_wait_irq(d, 4), ==, 1);
        for (unsigned k = 0; k < G_N_ELEMENTS(lines); k++) {
            g_assert_cmpint(strstr(d->log->str, lines[k]) != NULL, ==, !i);
        }
        drv_close(d);
        config.log_packets = false;
    }
}

static uint64_t read64(Drv *d, uint32_t low)
{
    uint64_t value = d->ops->read(d->sim, low);

    return value | (uint64_t)d->ops->read(d->sim, low + 4) << 32;
}

#define VMID 1u /* of drv_queue() */

/* What the first queue's address space has used, and no other has anything. */
static void check_time(Drv *d, uint32_t low, gconstpointer mode)
{
    for (unsigned vmid = 0; vmid < MXGPU_NUM_VMIDS; vmid++) {
        if (vmid != VMID) {
            g_assert_cmpuint(read64(d, low + 8 * vmid), ==, 0);
        }
    }
    /* It is told when a step ends, which may be after its work is seen. */
    while (!mode && !read64(d, low + 8 * VMID)) {
        g_thread_yield();
    }
}

static void test_copy(gconstpointer mode)
{
    Drv *d = open_mode(mode);
    DrvQueue q = drv_queue(d, 3, 1, QUEUE(0));
    struct mxgpu_packet_copy p =
        copy(DRV_VRAM_VA + 12345, DRV_SYS_VA + 0x200000, 1000000);

    for (unsigned i = 0; i < 1000000; i++) {
        d->sys[0x200000 + i] = (uint8_t)(i * 31 + (i >> 9));
    }
    p.signal_addr = signal_va(0);
    p.signal_value = 0x1122334455667788ull;
    p.flags = MXGPU_PKT_IRQ;
    drv_push(&q, &p);
    drv_ring(&q);
    drv_wait64(signal_word(d, 0), p.signal_value);
    g_assert_cmpuint(drv_wait_irq(d, 4), ==, 1);
    g_assert_cmpmem(d->vram + 12345, 1000000, d->sys + 0x200000, 1000000);
    g_assert_cmpuint(q.ctl->read_index, ==, 1);
    g_assert_cmpuint(q.ctl->state, ==, MXGPU_QUEUE_ACTIVE);
    check_time(d, MXGPU_VMID_COPY_NS_LO, mode);
    drv_close(d);
}

/* Memory that went away is refused; page tables that changed are followed. */
static void test_unmap(gconstpointer mode)
{
    Drv *d = open_mode(mode);
    DrvQueue q = drv_queue(d, 0, 0, QUEUE(0));
    uint8_t *extra = aligned_alloc(4096, 4096);
    uint64_t va = DRV_SYS_VA + DRV_SYS_SIZE, iova = 0x90000000ull;
    struct mxgpu_packet_copy p = copy(va, DRV_VRAM_VA, 4096);

    g_assert_cmpint(d->ops->dma_map(d->sim, iova, extra, 4096), ==, 0);
    g_assert_cmpint(d->ops->dma_map(d->sim, iova, extra, 4096), ==, -EEXIST);
    drv_map(d, va, 0,
            MXGPU_PTE_VALID | MXGPU_PTE_SYSTEM | MXGPU_PTE_READ |
                MXGPU_PTE_WRITE | iova);
    memset(d->vram, 0x66, 4096);
    p.signal_addr = signal_va(0);
    p.signal_value = 1;
    drv_push(&q, &p);
    drv_ring(&q);
    drv_wait64(signal_word(d, 0), 1);
    g_assert_cmphex(extra[4095], ==, 0x66);
    g_assert_cmpint(d->ops->dma_unmap(d->sim, iova, 8192), ==, -ENOENT);
    g_assert_cmpint(d->ops->dma_unmap(d->sim, iova, 4096), ==, 0);
    memset(extra, 0, 4096);
    drv_push(&q, &p);
    drv_ring(&q);
    drv_wait_irq(d, 1);
    g_assert_cmpuint(q.ctl->error.fault, ==, MXGPU_FAULT_BUS);
    g_assert_cmphex(q.ctl->error.fault_addr, ==, va);
    g_assert_cmphex(extra[0], ==, 0);
    drv_invalidate(d);
    drv_close(d);
    free(extra);
}

/* Reset in the middle of work, and the same again. */
static void test_reload(gconstpointer mode)
{
    Drv *d = open_mode(mode);

    for (unsigned round = 0; round < 5; round++) {
        DrvQueue q = drv_queue(d, 0, 0, QUEUE(0));
        struct mxgpu_packet_copy p =
            copy(DRV_VRAM_VA + (8u << 20), DRV_VRAM_VA, 8u << 20);

        *signal_word(d, 0) = 0;
        p.flags = MXGPU_PKT_BARRIER;
        p.signal_addr = signal_va(0);
        p.signal_value = 1;
        for (unsigned i = 0; i < 20; i++) {
            drv_push(&q, &p);
        }
        drv_ring(&q);
        if (round & 1) {
            drv_wait64(signal_word(d, 0), 1);
        }
        if (round & 2) {
            g_assert_cmpint(d->ops->reset(d->sim), ==, 0);
        }
        drv_boot(d);
    }
    drv_close(d);
}

/* Wrong, truncated and crashing images are told apart, and a good one starts
 * after each. */
static void test_bad_firmware(gconstpointer mode)
{
    Drv *d = open_mode(mode);
    uint8_t *image;
    size_t size;
    uint32_t stop = MXGPU_SET(MXGPU_MCU_CTRL_STOP, 1);
    uint32_t error = 0xff00 | 0xf;

    drv_firmware(&image, &size);
    d->ops->write(d->sim, MXGPU_MCU_CTRL, stop);
    drv_wait(d, MXGPU_MCU_STATUS, 0xf, MXGPU_MCU_RESET);
    image[size / 2] ^= 1;
    drv_load(d, image, size);
    drv_wait(d, MXGPU_MCU_STATUS, error,
             MXGPU_MCU_BOOT_ERROR | MXGPU_BOOT_BAD_CRC << 8);
    image[size / 2] ^= 1;
    image[0] ^= 1;
    drv_load(d, image, size);
    drv_wait(d, MXGPU_MCU_STATUS, error,
             MXGPU_MCU_BOOT_ERROR | MXGPU_BOOT_BAD_MAGIC << 8);
    g_free(image);
    drv_boot(d);
    drv_close(d);
}

#ifdef MXGPU_TEST_COMPUTE
/*
 * out[blockIdx.x * blockDim.x + threadIdx.x] = that index * 3, in machine code:
 *   ld a1, 0(a0); csrr a2, ctaid_x; csrr a3, ntid_x; mul a2, a2, a3
 *   csrr a3, tid_x; add a2, a2, a3; slli a3, a2, 2; add a1, a1, a3
 *   slli a3, a2, 1; add a2, a2, a3; sw a2, 0(a1); mx.exit
 */
static const uint32_t triple[] = {
    0x00053583, 0xcc602673, 0xcc3026f3, 0x02d60633, 0xcc0026f3, 0x00d60633,
    0x00261693, 0x00d585b3, 0x00161693, 0x00d60633, 0x00c5a023, 0x0000000b,
};
static const uint32_t endless[] = {0x0000006f};
static const uint32_t illegal[] = {0xffffffff};

#define CODE 0x10000u /* offsets in VRAM */
#define DESC 0x11000u
#define ARGS 0x12000u
#define OUT  0x20000u

/* "at" is added to all three places above; the results are in one. */
static struct mxgpu_packet_dispatch kernel_at(Drv *d, unsigned at,
                                              const uint32_t *code, size_t size,
                                              unsigned grid, unsigned block)
{
    struct mxgpu_kernel_desc desc = {
        .magic = MXGPU_KERNEL_MAGIC,
        .abi = MXGPU_KERNEL_ABI,
        .entry = DRV_VRAM_VA + CODE + at,
        .arg_size = 8,
        .registers = 32,
        .private_bytes = 1024,
    };
    struct mxgpu_packet_dispatch p = {
        .type = MXGPU_PKT_DISPATCH,
        .kernel = DRV_VRAM_VA + DESC + at,
        .args = DRV_VRAM_VA + ARGS + at,
        .grid = {grid, 1, 1},
        .block = {(uint16_t)block, 1, 1},
        .signal_addr = signal_va(0),
        .signal_value = 1,
    };
    uint64_t out = DRV_VRAM_VA + OUT;

    memcpy(d->vram + CODE + at, code, size);
    memcpy(d->vram + DESC + at, &desc, sizeof(desc));
    memcpy(d->vram + ARGS + at, &out, sizeof(out));
    return p;
}

static struct mxgpu_packet_dispatch kernel(Drv *d, const uint32_t *code,
                                           size_t size, unsigned grid,
                                           unsigned block)
{
    return kernel_at(d, 0, code, size, grid, block);
}

static void test_dispatch(gconstpointer mode)
{
    Drv *d = open_mode(mode);
    DrvQueue q = drv_queue(d, 0, 0, QUEUE(0));
    struct mxgpu_packet_dispatch p =
        kernel(d, triple, sizeof(triple), 100, 200);

    drv_push(&q, &p);
    drv_ring(&q);
    drv_wait64(signal_word(d, 0), 1);
    for (uint32_t i = 0; i < 100 * 200; i++) {
        g_assert_cmpuint(((uint32_t *)(d->vram + OUT))[i], ==, i * 3);
    }
    g_assert_cmpuint(
        d->ops->read(d->sim, MXGPU_COUNTER_LO + 8 * MXGPU_COUNTER_BLOCKS), ==,
        100);
    check_time(d, MXGPU_VMID_COMPUTE_NS_LO, mode);
    /* And a thousand small ones in a row: no completion is lost. */
    p.flags = MXGPU_PKT_BARRIER; /* or their signals come in any order */
    p.grid[0] = 1;
    p.block[0] = 64;
    for (uint64_t i = 2; i < 1000; i++) {
        p.signal_value = i;
        drv_push(&q, &p);
        drv_ring(&q);
        if (i % 10 == 0) {
            drv_wait64(signal_word(d, 0), i);
        }
    }
    drv_wait64(signal_word(d, 0), 999);
    drv_close(d);
}

/* Instructions of the firmware a dispatch, from its fetch to its completion: of
 * many that wait in the ring, and of one by itself, for which the MCU is woken
 * twice. On one thread they do not depend on the machine. */
static const unsigned launch_cost[] = {250, 410};
#define LAUNCHES 64

static uint64_t instructions(Drv *d)
{
    uint64_t low = d->ops->read(d->sim, MXGPU_MCU_INSTRET_LO);

    return low | (uint64_t)d->ops->read(d->sim, MXGPU_MCU_INSTRET_HI) << 32;
}

static void test_launch_cost(gconstpointer mode)
{
    Drv *d = open_mode(mode);
    DrvQueue q = drv_queue(d, 0, 0, QUEUE(0));
    struct mxgpu_packet_dispatch p = kernel(d, triple, sizeof(triple), 1, 64);
    uint64_t before = 0, most;

    for (unsigned each = 0; each < 2; each++) {
        p.flags = each ? 0 : MXGPU_PKT_BARRIER;
        for (unsigned round = 0; round < 2; round++) { /* the first one warms */
            *signal_word(d, 0) = 0;
            before = instructions(d);
            for (unsigned i = 1; i <= LAUNCHES; i++) {
                p.signal_value = i;
                drv_push(&q, &p);
                if (each) {
                    drv_ring(&q);
                    drv_wait64(signal_word(d, 0), i);
                }
            }
            drv_ring(&q);
            drv_wait64(signal_word(d, 0), LAUNCHES);
        }
        most = (instructions(d) - before) / LAUNCHES;
        g_test_message("%s: %u instructions a dispatch",
                       each ? "one at a time" : "in a row", (unsigned)most);
        if (mode) {
            g_assert_cmpuint(most, <=, launch_cost[each]);
        }
    }
    drv_close(d);
}

/* Everyone counts, meets the whole grid, and says what the count then is. */
static const uint32_t meet[] = {
    0x00053583, 0x00100613, 0x00c5a02f, 0x1000000b, 0x0005a603,
    0xcc602773, 0xcc3027f3, 0x02f70733, 0xcc0027f3, 0x00f70733,
    0x00271713, 0x00e585b3, 0x04c5a023, 0x0000000b,
};

/* Two queues of grids that fill the device, and one that does not fit. */
static void test_cooperative(gconstpointer mode)
{
    Drv *d = open_mode(mode);
    DrvQueue q[2] = {drv_queue(d, 0, 0, QUEUE(0)), drv_queue(d, 1, 1, QUEUE(1))};
    unsigned units = MXGPU_GET(MXGPU_UNIT_CAPS_COMPUTE_UNITS,
                               d->ops->read(d->sim, MXGPU_UNIT_CAPS));
    unsigned rounds = 5, total = 2 * units * 1024;
    struct mxgpu_packet_dispatch p =
        kernel(d, meet, sizeof(meet), 2 * units, 1024);
    uint32_t *out[2];

    p.flags = MXGPU_PKT_BARRIER | MXGPU_PKT_COOPERATIVE;
    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned n = 0; n < 2; n++) {
            uint64_t at = OUT + n * 0x100000;

            p.args = DRV_VRAM_VA + ARGS + n * 16;
            p.signal_addr = signal_va(n);
            p.signal_value = i + 1;
            out[n] = (uint32_t *)(d->vram + at);
            at += DRV_VRAM_VA;
            memcpy(d->vram + ARGS + n * 16, &at, 8);
            drv_push(&q[n], &p);
            drv_ring(&q[n]);
        }
    }
    for (unsigned n = 0; n < 2; n++) {
        drv_wait64(signal_word(d, n), rounds);
        g_assert_cmpuint(out[n][0], ==, rounds * total);
        for (unsigned i = 0; i < total; i++) {
            g_assert_cmpuint(out[n][16 + i], ==, rounds * total);
        }
    }
    p.grid[0]++;
    drv_push(&q[0], &p);
    drv_ring(&q[0]);
    drv_wait_irq(d, 1);
    g_assert_cmpuint(q[0].ctl->error.code, ==, MXGPU_QERR_RESOURCES);
    p.grid[0] = 2;
    p.flags = 0; /* the barrier of the grid is not for any kernel */
    drv_push(&q[1], &p);
    drv_ring(&q[1]);
    drv_wait_irq(d, 2);
    g_assert_cmpuint(q[1].ctl->error.code, ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(q[1].ctl->error.fault, ==, MXGPU_FAULT_BARRIER);
    g_assert_cmphex(q[1].ctl->error.fault_pc, ==, DRV_VRAM_VA + CODE + 12);
    drv_close(d);
}

/* Two kernels without end fill all units: a short one of their level ends all
 * the same, so does an urgent one, and resetting their queues ends nothing
 * else. */
static void test_preempt(gconstpointer mode)
{
    Drv *d = open_mode(mode);
    DrvQueue q[4];
    struct mxgpu_packet_dispatch p =
        kernel(d, endless, sizeof(endless), 1000, 1024);
    struct mxgpu_msg_queue_reset reset = {MXGPU_MSG_QUEUE_RESET, 0};

    for (unsigned i = 0; i < 4; i++) {
        q[i] = drv_queue(d, i, i == 3 ? 0 : 4, QUEUE(i));
    }
    for (unsigned i = 0; i < 2; i++) {
        drv_push(&q[i], &p);
        drv_ring(&q[i]);
        drv_wait64(&q[i].ctl->read_index, 1);
    }
    p = kernel_at(d, 0x4000, triple, sizeof(triple), 100, 200);
    for (unsigned i = 2; i < 4; i++) {
        memset(d->vram + OUT, 0xff, 100 * 200 * 4);
        p.signal_addr = signal_va(i);
        drv_push(&q[i], &p);
        drv_ring(&q[i]);
        drv_wait64(signal_word(d, i), 1);
        for (uint32_t n = 0; n < 100 * 200; n++) {
            g_assert_cmpuint(((uint32_t *)(d->vram + OUT))[n], ==, n * 3);
        }
    }
    for (reset.queue = 0; reset.queue < 2; reset.queue++) {
        g_assert_cmpuint(drv_message(d, &reset, sizeof(reset), NULL), ==,
                         MXGPU_MSG_OK);
        g_assert_cmpuint(q[reset.queue].ctl->read_index, ==, 0);
    }
    drv_close(d);
}

static void test_bad_kernel(gconstpointer mode)
{
    Drv *d = open_mode(mode);
    DrvQueue q = drv_queue(d, 0, 0, QUEUE(0));
    struct mxgpu_packet_dispatch p =
        kernel(d, illegal, sizeof(illegal), 1, 64);
    struct mxgpu_msg_queue_destroy destroy = {MXGPU_MSG_QUEUE_DESTROY, 0};

    drv_push(&q, &p);
    drv_ring(&q);
    drv_wait_irq(d, 1);
    g_assert_cmpuint(q.ctl->error.code, ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(q.ctl->error.fault, ==, MXGPU_FAULT_ILLEGAL);
    g_assert_cmphex(q.ctl->error.fault_pc, ==, DRV_VRAM_VA + CODE);
    g_assert_cmpuint(drv_message(d, &destroy, sizeof(destroy), NULL), ==,
                     MXGPU_MSG_OK);
    /* An endless kernel: the device answers, and the queue can be destroyed. */
    q = drv_queue(d, 0, 0, QUEUE(0));
    p = kernel(d, endless, sizeof(endless), 1000, 1024);
    drv_push(&q, &p);
    drv_ring(&q);
    drv_wait64(&q.ctl->read_index, 1);
    g_assert_cmpuint(drv_message(d, &destroy, sizeof(destroy), NULL), ==,
                     MXGPU_MSG_OK);
    /* And again, cut by a reset, and by closing the device. */
    for (unsigned i = 0; i < 2; i++) {
        q = drv_queue(d, 0, 0, QUEUE(0));
        p = kernel(d, endless, sizeof(endless), 1000, 1024);
        drv_push(&q, &p);
        drv_ring(&q);
        drv_wait64(&q.ctl->read_index, 1);
        if (!i) {
            drv_boot(d);
        }
    }
    drv_close(d);
}
#endif

#ifdef MXGPU_TEST_COMPUTE
static uint64_t counter(Drv *d, uint32_t reg, enum mxgpu_counter n)
{
    return read64(d, reg + 8 * n);
}

#define UNITS 4u

/* The samples that were taken: of instructions of the kernel, with as many
 * lanes as the block has in its warps. */
static void check_samples(const struct mxgpu_profile *r)
{
    const uint64_t *s = (const uint64_t *)((const uint8_t *)r +
                                           MXGPU_PROFILE_SIZE(UNITS, 0));

    g_assert_cmpuint(r->samples, >, 400);
    for (unsigned i = 0; i < 100; i++) {
        g_assert_cmphex(MXGPU_SAMPLE_PC(s[i]) - (DRV_VRAM_VA + CODE), <,
                        sizeof(triple));
        g_assert_true(MXGPU_SAMPLE_LANES(s[i]) == 64 ||
                      MXGPU_SAMPLE_LANES(s[i]) == 8);
        g_assert_cmpuint(MXGPU_SAMPLE_UNIT(s[i]), <, UNITS);
    }
    g_assert_cmphex(s[100], ==, 0);
}

/* A record, and that it agrees with the registers, also while other queues run
 * the same kernel without one. */
static void test_profile(gconstpointer mode)
{
    Drv *d = open_mode(mode);
    DrvQueue q = drv_queue(d, 0, 0, QUEUE(0)), other = drv_queue(d, 1, 0,
                                                                 QUEUE(1));
    uint32_t at = 0x200000;
    uint64_t base = DRV_SYS_VA + at, units = 0;
    struct mxgpu_msg_queue_profile setup = {
        .op = MXGPU_MSG_QUEUE_PROFILE,
        .base_lo = (uint32_t)base,
        .base_hi = (uint32_t)(base >> 32),
        .log2_records = 1,
        .stride = 4096,
        .samples = 100,
        .interval = 11,
        .flags = MXGPU_PROFILE_EXACT,
    };
    struct mxgpu_packet_dispatch p =
        kernel(d, triple, sizeof(triple), 100, 200), plain = p;
    const struct mxgpu_profile *r = (const void *)(d->sys + at + 4096);
    const struct mxgpu_profile_unit *unit = (const void *)(r + 1);

    g_assert_cmpuint(drv_message(d, &setup, sizeof(setup), NULL), ==,
                     MXGPU_MSG_OK);
    p.flags = MXGPU_PKT_BARRIER;
    drv_push(&q, &p);
    p.flags |= MXGPU_PKT_PROFILE;
    p.signal_value = 2;
    drv_push(&q, &p);
    plain.signal_addr += 8;
    plain.args += 64; /* it writes elsewhere */
    memcpy(d->vram + ARGS + 64, &(uint64_t){DRV_VRAM_VA + OUT + 0x20000}, 8);
    for (unsigned i = 1; i <= 50; i++) {
        plain.flags = MXGPU_PKT_BARRIER;
        plain.signal_value = i;
        drv_push(&other, &plain);
    }
    drv_ring(&other);
    drv_ring(&q);
    drv_wait64(signal_word(d, 0), 2);
    g_assert_cmpuint(r->sequence, ==, 2);
    g_assert_cmpuint(r->fault, ==, 0);
    g_assert_cmpuint(r->end, >, r->start);
    g_assert_cmpuint(r->counter[MXGPU_COUNTER_BLOCKS], ==, 100);
    g_assert_cmpuint(r->counter[MXGPU_COUNTER_WARPS], ==, 400);
    g_assert_cmpuint(r->counter[MXGPU_COUNTER_WARP_INSTRUCTIONS], ==,
                     400 * G_N_ELEMENTS(triple));
    g_assert_cmpuint(r->counter[MXGPU_COUNTER_LANE_INSTRUCTIONS], ==,
                     100 * 200 * G_N_ELEMENTS(triple));
    /* One load and one store each; the last warp has 8 lanes. */
    g_assert_cmpuint(r->counter[MXGPU_COUNTER_MEM_REQUESTS], ==, 800);
    g_assert_cmpuint(r->counter[MXGPU_COUNTER_MEM_BYTES], ==,
                     100 * 200 * (8 + 4));
    for (unsigned i = 0; i < r->units; i++) {
        g_assert_cmpuint(unit[i].unit, <, UNITS);
        g_assert_cmpuint(unit[i].first, >=, r->start);
        g_assert_cmpuint(unit[i].last, >=, unit[i].first);
        g_assert_cmpuint(unit[i].last, <=, r->end);
        units += unit[i].blocks;
    }
    g_assert_cmpuint(units, ==, 100);
    check_samples(r);
    drv_wait64(signal_word(d, 1), 50);
    units = 0;
    for (unsigned i = 0; i < UNITS; i++) {
        units += counter(d, MXGPU_CU_COUNTER_LO + i * 256,
                         MXGPU_COUNTER_WARPS);
    }
    g_assert_cmpuint(units, ==, 52 * 400);
    g_assert_cmpuint(counter(d, MXGPU_COUNTER_LO, MXGPU_COUNTER_WARPS), ==,
                     52 * 400);
    g_assert_cmpuint(counter(d, MXGPU_COUNTER_LO, MXGPU_COUNTER_MEM_REQUESTS),
                     ==, 800);
    drv_close(d);
}
#endif

static void add(const char *name, GTestDataFunc func)
{
    char *path = g_strdup_printf("/sim/threads/%s", name);

    g_test_add_data_func(path, NULL, func);
    g_free(path);
    path = g_strdup_printf("/sim/deterministic/%s", name);
    g_test_add_data_func(path, "", func);
    g_free(path);
}

static void add_blocks(void)
{
    for (unsigned i = 0; i < 2 * block_test_count; i++) {
        Block *b = g_new(Block, 1);
        char *path;

        b->test = &block_tests[i / 2];
        b->mode = i % 2 ? "" : NULL;
        path = g_strdup_printf("/sim/%s/%s",
                               i % 2 ? "deterministic" : "threads",
                               b->test->name);
        g_test_add_data_func_full(path, b, run_block, g_free);
        g_free(path);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_blocks();
    add("console", test_console);
    add("log", test_log);
    add("copy", test_copy);
    add("unmap", test_unmap);
    add("reload", test_reload);
    add("bad-firmware", test_bad_firmware);
#ifdef MXGPU_TEST_COMPUTE
    add("dispatch", test_dispatch);
    add("launch-cost", test_launch_cost);
    add("preempt", test_preempt);
    add("cooperative", test_cooperative);
    add("profile", test_profile);
    add("bad-kernel", test_bad_kernel);
#endif
    return g_test_run();
}
