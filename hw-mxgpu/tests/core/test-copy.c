/* SPDX-License-Identifier: MIT */
/* Copy engines: every pair of memories, fills, faults, aborts, threads. */
#include "core/internal.h"
#include "test_host.h"

#define LEAF   (MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE)
#define VRAM_A 0x10000000ull /* 2 MiB page: VRAM 0 */
#define VRAM_B 0x20000000ull /* 4 KiB pages: VRAM 2 MiB, in reverse order */
#define BUS    0x30000000ull /* 4 KiB pages: 1 MiB of the bus */
#define HOLE   (BUS + TEST_BUS_SIZE)
#define PAGES  256u

static TestHost *new_host(bool deterministic)
{
    TestHost *h = test_host_new(deterministic);
    uint64_t root = test_root(h);

    test_map(h, root, VRAM_A, 1, LEAF);
    for (uint64_t i = 0; i < PAGES; i++) {
        test_map(h, root, VRAM_B + i * 4096, 0,
                 LEAF | ((2u << 20) + (PAGES - 1 - i) * 4096));
        test_map(h, root, BUS + i * 4096, 0,
                 LEAF | MXGPU_PTE_SYSTEM | (TEST_BUS_BASE + i * 4096));
    }
    mcu_write64(h, MXGPU_MMU_ROOT_LO + 8, root);
    return h;
}

/* Where a byte of a virtual address is. */
static uint8_t *at(TestHost *h, uint64_t va)
{
    if (va >= BUS) {
        return h->bus + (va - BUS);
    }
    if (va >= VRAM_B) {
        uint64_t page = (va - VRAM_B) / 4096;

        return h->vram + (2u << 20) + (PAGES - 1 - page) * 4096 + va % 4096;
    }
    return h->vram + (va - VRAM_A);
}

static uint32_t reg(uint32_t base, unsigned engine)
{
    return base + engine * MXGPU_CE_CTRL_STRIDE;
}

static void setup(TestHost *h, unsigned e, unsigned op, uint64_t dst,
                  uint64_t src, uint64_t size, unsigned pattern_size)
{
    mcu_write64(h, reg(MXGPU_CE_SRC_LO, e), src);
    mcu_write64(h, reg(MXGPU_CE_DST_LO, e), dst);
    mcu_write64(h, reg(MXGPU_CE_SIZE_LO, e), size);
    mcu_write(h, reg(MXGPU_CE_CFG, e),
              MXGPU_SET(MXGPU_CE_CFG_OP, op) | MXGPU_SET(MXGPU_CE_CFG_VMID, 1) |
                  MXGPU_SET(MXGPU_CE_CFG_PATTERN_SIZE, pattern_size));
    mcu_write(h, reg(MXGPU_CE_CTRL, e), MXGPU_SET(MXGPU_CE_CTRL_START, 1));
}

static uint32_t finish(TestHost *h, unsigned e)
{
    uint32_t status;

    test_run(h);
    status = mcu_read(h, reg(MXGPU_CE_STATUS, e));
    mcu_write(h, reg(MXGPU_CE_CTRL, e), MXGPU_SET(MXGPU_CE_CTRL_ACK, 1));
    g_assert_cmphex(mcu_read(h, reg(MXGPU_CE_STATUS, e)), ==, 0);
    return status;
}

static uint64_t fault_addr(TestHost *h, unsigned e)
{
    return mcu_read(h, reg(MXGPU_CE_FAULT_LO, e)) |
           (uint64_t)mcu_read(h, reg(MXGPU_CE_FAULT_HI, e)) << 32;
}

static void check_copy(TestHost *h, uint64_t dst, uint64_t src, uint64_t size)
{
    uint8_t before = 0x5a, after = 0xa5;

    for (uint64_t i = 0; i < size; i++) {
        *at(h, src + i) = (uint8_t)(i * 7 + (i >> 8));
        *at(h, dst + i) = 0xee;
    }
    *at(h, dst - 1) = before;
    *at(h, dst + size) = after;
    setup(h, 0, MXGPU_COPY_LINEAR, dst, src, size, 0);
    g_assert_cmphex(finish(h, 0), ==, MXGPU_UNIT_DONE);
    for (uint64_t i = 0; i < size; i++) {
        g_assert_cmphex(*at(h, dst + i), ==, (uint8_t)(i * 7 + (i >> 8)));
    }
    g_assert_cmphex(*at(h, dst - 1), ==, before);
    g_assert_cmphex(*at(h, dst + size), ==, after);
}

static void test_pairs(void)
{
    static const uint64_t sizes[] = {0, 1, 3, 4095, 4096, 4097, 70001};
    TestHost *h = new_host(true);

    for (unsigned no_map = 0; no_map < 2; no_map++) {
        h->no_map = no_map;
        for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
            check_copy(h, VRAM_B + 77, VRAM_A + 5, sizes[i]);
            check_copy(h, BUS + 4000, VRAM_B + 4094, sizes[i]);
            check_copy(h, VRAM_A + 9, BUS + 4001, sizes[i]);
            check_copy(h, BUS + 0x80001, BUS + 0x3000, sizes[i]);
        }
    }
    test_host_free(h);
}

static void test_chunks(void)
{
    TestHost *h = new_host(true);

    /* More than one chunk, in one step each. */
    memset(h->vram, 0x42, 1100000);
    setup(h, 1, MXGPU_COPY_LINEAR, VRAM_A + (4096 * 200), VRAM_A, 4096 * 200,
          0);
    g_assert_cmphex(finish(h, 1), ==, MXGPU_UNIT_DONE);
    g_assert_cmpuint(mcu_read(h, MXGPU_COUNTER_LO + 8 * MXGPU_COUNTER_COPIES),
                     ==, 1);
    g_assert_cmpuint(
        mcu_read(h, MXGPU_COUNTER_LO + 8 * MXGPU_COUNTER_COPY_BYTES), ==,
        4096 * 200);
    /* Overlap is allowed to give anything but harm. */
    setup(h, 1, MXGPU_COPY_LINEAR, VRAM_A + 1, VRAM_A, 1000000, 0);
    g_assert_cmphex(finish(h, 1), ==, MXGPU_UNIT_DONE);
    test_host_free(h);
}

static void test_fill(void)
{
    TestHost *h = new_host(true);
    static const uint64_t targets[] = {VRAM_A + 32, VRAM_B + 4096 - 16,
                                       BUS + 4096 - 48};

    for (unsigned i = 0; i < 4; i++) {
        mcu_write(h, MXGPU_CE_PATTERN + 4 * i, 0x03020100u + 0x04040404u * i);
    }
    for (unsigned no_map = 0; no_map < 2; no_map++) {
        h->no_map = no_map;
        for (unsigned n = 1; n <= 16; n *= 2) {
            for (size_t t = 0; t < G_N_ELEMENTS(targets); t++) {
                uint64_t size = 4096 * 2 + 16;

                *at(h, targets[t] + size) = 0xee;
                setup(h, 0, MXGPU_COPY_FILL, targets[t], 0, size, n);
                g_assert_cmphex(finish(h, 0), ==, MXGPU_UNIT_DONE);
                for (uint64_t i = 0; i < size; i++) {
                    g_assert_cmphex(*at(h, targets[t] + i), ==, i % n);
                }
                g_assert_cmphex(*at(h, targets[t] + size), ==, 0xee);
            }
        }
    }
    test_host_free(h);
}

static void check_config(TestHost *h, unsigned op, uint64_t dst, uint64_t size,
                         unsigned n)
{
    setup(h, 0, op, dst, VRAM_A, size, n);
    g_assert_cmphex(finish(h, 0), ==,
                    MXGPU_UNIT_FAULT | MXGPU_FAULT_CONFIG << 8);
}

static void test_impossible(void)
{
    TestHost *h = new_host(true);

    check_config(h, 4, VRAM_B, 16, 1);
    check_config(h, 15, VRAM_B, 16, 1);
    check_config(h, MXGPU_COPY_FILL, VRAM_B, 16, 0);
    check_config(h, MXGPU_COPY_FILL, VRAM_B, 24, 3);
    check_config(h, MXGPU_COPY_FILL, VRAM_B, 32, 32);
    check_config(h, MXGPU_COPY_FILL, VRAM_B + 4, 32, 8);
    check_config(h, MXGPU_COPY_FILL, VRAM_B, 36, 8);
    /* There is no engine 2. */
    mcu_write(h, reg(MXGPU_CE_CTRL, 2), 1);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==, 1);
    g_assert_cmphex(mcu_read(h, reg(MXGPU_CE_STATUS, 2)), ==, 0);
    test_host_free(h);
}

static void test_faults(void)
{
    TestHost *h = new_host(true);
    uint32_t write = 1u << MXGPU_CE_STATUS_WRITE_SHIFT;

    /* Source, target; the address is that of the first byte missing, and what
     * came before was moved. */
    memset(h->bus, 0x77, TEST_BUS_SIZE);
    setup(h, 0, MXGPU_COPY_LINEAR, VRAM_A, HOLE - 100, 200, 0);
    g_assert_cmphex(finish(h, 0), ==,
                    MXGPU_UNIT_FAULT | MXGPU_FAULT_NOT_PRESENT << 8);
    g_assert_cmphex(fault_addr(h, 0), ==, HOLE);
    g_assert_cmphex(h->vram[99], ==, 0x77);
    g_assert_cmphex(h->vram[100], ==, 0);
    setup(h, 0, MXGPU_COPY_LINEAR, HOLE - 1, VRAM_A, 2, 0);
    g_assert_cmphex(finish(h, 0), ==,
                    MXGPU_UNIT_FAULT | MXGPU_FAULT_NOT_PRESENT << 8 | write);
    g_assert_cmphex(fault_addr(h, 0), ==, HOLE);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==,
                    1u << MXGPU_ERR_STATUS_FAULT_SHIFT);
    test_write(h, MXGPU_ERR_STATUS, 0x1f);
    /* The bus refuses a write. */
    h->read_only = true;
    setup(h, 0, MXGPU_COPY_FILL, BUS, 0, 16, 1);
    g_assert_cmphex(finish(h, 0), ==,
                    MXGPU_UNIT_FAULT | MXGPU_FAULT_BUS << 8 | write);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==,
                    1u << MXGPU_ERR_STATUS_BUS_SHIFT);
    /* Sizes that run through everything stop at the first hole. */
    setup(h, 0, MXGPU_COPY_LINEAR, VRAM_A, VRAM_B, UINT64_MAX, 0);
    g_assert_cmphex(finish(h, 0), ==,
                    MXGPU_UNIT_FAULT | MXGPU_FAULT_NOT_PRESENT << 8);
    g_assert_cmphex(fault_addr(h, 0), ==, VRAM_B + PAGES * 4096);
    setup(h, 0, MXGPU_COPY_LINEAR, UINT64_MAX - 3, VRAM_B, 16, 0);
    g_assert_cmphex(finish(h, 0), ==,
                    MXGPU_UNIT_FAULT | MXGPU_FAULT_WINDOW << 8 | write);
    test_host_free(h);
}

/* ---- boxes ---- */

typedef struct Box {
    uint64_t dst, src, width;
    uint32_t height, depth, src_pitch, dst_pitch, src_slice, dst_slice;
} Box;

static void setup_box(TestHost *h, unsigned e, unsigned op, const Box *b)
{
    mcu_write(h, reg(MXGPU_CE_HEIGHT, e), b->height);
    mcu_write(h, reg(MXGPU_CE_DEPTH, e), b->depth);
    mcu_write(h, reg(MXGPU_CE_SRC_PITCH, e), b->src_pitch);
    mcu_write(h, reg(MXGPU_CE_DST_PITCH, e), b->dst_pitch);
    mcu_write(h, reg(MXGPU_CE_SRC_SLICE, e), b->src_slice);
    mcu_write(h, reg(MXGPU_CE_DST_SLICE, e), b->dst_slice);
    setup(h, e, op, b->dst, b->src, b->width, 0);
}

static uint64_t bytes_done(TestHost *h, unsigned e)
{
    return mcu_read(h, reg(MXGPU_CE_DONE_LO, e)) |
           (uint64_t)mcu_read(h, reg(MXGPU_CE_DONE_HI, e)) << 32;
}

#define SPAN (64u * 4096) /* bytes that are looked at on each side */

/* What target memory should be, byte by byte. */
static void reference(TestHost *h, bool fill, const Box *b, uint8_t *image)
{
    for (uint64_t z = 0; z < b->depth; z++) {
        for (uint64_t y = 0; y < b->height; y++) {
            uint64_t to = (z * b->dst_slice + y) * b->dst_pitch;
            uint64_t from = (z * b->src_slice + y) * b->src_pitch;

            for (uint64_t x = 0; x < b->width; x++) {
                image[to + x] = fill ? 0x80 + x % 16
                                     : *at(h, b->src + from + x);
            }
        }
    }
}

static void check_box(TestHost *h, bool fill, const Box *b)
{
    g_autofree uint8_t *image = g_malloc(SPAN);

    for (uint64_t i = 0; i < SPAN; i++) {
        *at(h, b->src + i) = (uint8_t)(i * 7 + (i >> 8) * 3);
        *at(h, b->dst + i) = image[i] = 0xee;
    }
    reference(h, fill, b, image);
    setup_box(h, 0, fill ? MXGPU_COPY_FILL_RECT : MXGPU_COPY_RECT, b);
    g_assert_cmphex(finish(h, 0), ==, MXGPU_UNIT_DONE);
    g_assert_cmpuint(bytes_done(h, 0), ==,
                     b->width * b->height * b->depth);
    for (uint64_t i = 0; i < SPAN; i++) {
        if (*at(h, b->dst + i) != image[i]) {
            g_error("byte %" G_GUINT64_FORMAT ": %02x, not %02x", i,
                    *at(h, b->dst + i), image[i]);
        }
    }
}

static uint32_t upto(GRand *rand, uint32_t most)
{
    return g_rand_int(rand) % (most + 1);
}

/* A box whose sides lie within SPAN bytes. */
static Box random_box(GRand *rand)
{
    static const uint64_t from[] = {VRAM_A + (1u << 20), VRAM_B, BUS};
    static const uint64_t to[] = {VRAM_A, VRAM_B + 2 * SPAN,
                                  BUS + 2 * SPAN};
    Box b = {
        .width = 1 + upto(rand, upto(rand, 3) ? 40 : 9000),
        .height = 1 + upto(rand, 12),
        .depth = 1 + upto(rand, 3),
        .src = from[upto(rand, 2)] + upto(rand, 70),
        .dst = to[upto(rand, 2)] + upto(rand, 70),
    };

    do {
        b.height = b.height > 1 ? b.height / 2 : 1;
        b.depth = b.depth > 1 ? b.depth - 1 : 1;
        b.src_pitch = b.width + upto(rand, upto(rand, 1) ? 9 : 5000);
        b.dst_pitch = b.width + upto(rand, upto(rand, 1) ? 9 : 5000);
        b.src_slice = b.height + upto(rand, 2);
        b.dst_slice = b.height + upto(rand, 2);
    } while ((uint64_t)b.depth * b.src_slice * b.src_pitch > SPAN - 100 ||
             (uint64_t)b.depth * b.dst_slice * b.dst_pitch > SPAN - 100);
    return b;
}

static void test_boxes(void)
{
    TestHost *h = new_host(true);
    GRand *rand = g_rand_new_with_seed(g_test_rand_int());

    for (unsigned i = 0; i < 4; i++) {
        mcu_write(h, MXGPU_CE_PATTERN + 4 * i, 0x83828180u + 0x04040404u * i);
    }
    for (unsigned round = 0; round < 60; round++) {
        Box b = random_box(rand);

        h->no_map = round % 3 == 0;
        check_box(h, false, &b);
        check_box(h, true, &b);
    }
    g_rand_free(rand);
    test_host_free(h);
}

/* Geometry that firmware should have refused. */
static void test_impossible_boxes(void)
{
    TestHost *h = new_host(true);
    const Box good = {VRAM_B, VRAM_A, 40, 3, 2, 64, 48, 4, 3};
    Box bad[8];

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        bad[i] = good;
    }
    bad[0].src_pitch = 39;
    bad[1].dst_pitch = 0;
    bad[2].src_slice = 2;
    bad[3].dst_slice = 0;
    bad[4].src = UINT64_MAX - 423;
    bad[5].dst = UINT64_MAX - 279;
    bad[6].width = 1ull << 32;
    bad[7] = (Box){VRAM_B, VRAM_A, 1, UINT32_MAX, UINT32_MAX, UINT32_MAX,
                   UINT32_MAX, UINT32_MAX, UINT32_MAX};
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        setup_box(h, 0, MXGPU_COPY_RECT, &bad[i]);
        g_assert_cmphex(finish(h, 0), ==,
                        MXGPU_UNIT_FAULT | MXGPU_FAULT_CONFIG << 8);
        g_assert_cmpuint(bytes_done(h, 0), ==, 0);
    }
    /* The source is nothing to a fill; extents of 0 are nothing at all. */
    setup_box(h, 0, MXGPU_COPY_FILL_RECT, &bad[0]);
    g_assert_cmphex(finish(h, 0), ==, MXGPU_UNIT_DONE);
    for (unsigned i = 0; i < 3; i++) {
        bad[7].width = i != 0;
        bad[7].height = i == 1 ? 0 : UINT32_MAX;
        bad[7].depth = i == 2 ? 0 : UINT32_MAX;
        setup_box(h, 0, MXGPU_COPY_RECT, &bad[7]);
        g_assert_cmphex(finish(h, 0), ==, MXGPU_UNIT_DONE);
        g_assert_cmpuint(bytes_done(h, 0), ==, 0);
    }
    test_host_free(h);
}

/* What came before the fault was moved, and CE_DONE tells how much. */
static void test_box_faults(void)
{
    TestHost *h = new_host(true);
    uint32_t write = 1u << MXGPU_CE_STATUS_WRITE_SHIFT;
    Box b = {HOLE - 4096, VRAM_A, 100, 9, 1, 100, 1000, 0, 0};

    memset(h->vram, 0x77, 1000);
    setup_box(h, 1, MXGPU_COPY_RECT, &b);
    g_assert_cmphex(finish(h, 1), ==,
                    MXGPU_UNIT_FAULT | MXGPU_FAULT_NOT_PRESENT << 8 | write);
    g_assert_cmphex(fault_addr(h, 1), ==, HOLE);
    g_assert_cmpuint(bytes_done(h, 1), ==, 496);
    g_assert_cmphex(*at(h, HOLE - 1), ==, 0x77);
    g_assert_cmphex(*at(h, HOLE - 97), ==, 0);
    /* The second slice of the source. */
    b = (Box){VRAM_A, HOLE - 8192, 64, 2, 3, 64, 64, 128, 2};
    setup_box(h, 1, MXGPU_COPY_RECT, &b);
    g_assert_cmphex(finish(h, 1), ==,
                    MXGPU_UNIT_FAULT | MXGPU_FAULT_NOT_PRESENT << 8);
    g_assert_cmphex(fault_addr(h, 1), ==, HOLE);
    g_assert_cmpuint(bytes_done(h, 1), ==, 128);
    test_host_free(h);
}

/* A step is bounded by rows and pages, not by bytes alone. */
static void test_box_steps(void)
{
    static const struct {
        uint32_t pitch, rows, most;
    } cases[] = {{2, 100000, 4096}, {2048, 512, 512}};
    uint64_t deadline;

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        TestHost *h = new_host(true);
        Box b = {i ? BUS : VRAM_A, 0, 1, cases[i].rows, 1, 0, cases[i].pitch,
                 0, 0};
        unsigned count = 0, before;

        mcu_write(h, MXGPU_CE_PATTERN, 0xaa);
        setup_box(h, 0, MXGPU_COPY_FILL_RECT, &b);
        do {
            before = count;
            mxgpu_device_run(h->dev, 1, &deadline);
            for (count = 0; count < b.height &&
                 *at(h, b.dst + (uint64_t)count * b.dst_pitch) == 0xaa;) {
                count++;
            }
            g_assert_cmpuint(count - before, >, 0);
            g_assert_cmpuint(count - before, <=, cases[i].most);
        } while (count < b.height);
        g_assert_cmphex(finish(h, 0), ==, MXGPU_UNIT_DONE);
        test_host_free(h);
    }
}

static void test_control(void)
{
    TestHost *h = new_host(true);
    uint64_t deadline;

    mcu_write(h, MXGPU_INT_ENABLE, 0xf);
    setup(h, 0, MXGPU_COPY_LINEAR, VRAM_B, VRAM_A, 4096, 0);
    g_assert_cmphex(mcu_read(h, MXGPU_CE_STATUS), ==, MXGPU_UNIT_BUSY);
    mcu_write(h, MXGPU_CE_CTRL, 2); /* ACK of a busy engine: nothing */
    g_assert_cmphex(mcu_read(h, MXGPU_CE_STATUS), ==, MXGPU_UNIT_BUSY);
    mcu_write(h, MXGPU_CE_CTRL, 4);
    mxgpu_device_run(h->dev, 1, &deadline);
    g_assert_cmphex(mcu_read(h, MXGPU_CE_STATUS), ==,
                    MXGPU_UNIT_FAULT | MXGPU_FAULT_ABORTED << 8);
    g_assert_cmphex(mcu_read(h, MXGPU_INT_PENDING), ==, 4);
    mcu_write(h, MXGPU_CE_CTRL, 1); /* START before ACK: nothing */
    g_assert_cmphex(mcu_read(h, MXGPU_CE_STATUS), !=, MXGPU_UNIT_BUSY);
    mcu_write(h, MXGPU_CE_CTRL, 2);
    g_assert_false(fake_mcu.external);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==, 0);
    /* ACK and START in one write. */
    setup(h, 0, MXGPU_COPY_LINEAR, VRAM_B, VRAM_A, 0, 0);
    test_run(h);
    mcu_write(h, MXGPU_CE_CTRL, 3);
    g_assert_cmphex(mcu_read(h, MXGPU_CE_STATUS), ==, MXGPU_UNIT_BUSY);
    g_assert_cmphex(finish(h, 0), ==, MXGPU_UNIT_DONE);
    test_host_free(h);
}

/* Somebody wants the engine to stop in the middle of a step. */
static unsigned dmas, hold_at;

static void hold_engine(TestHost *h)
{
    if (++dmas == hold_at) {
        mxgpu_stepper_hold(&h->dev->steppers[MXGPU_STEPPER_COPY]);
    }
}

/* Page by page through the buffer, each a question to the bus: a step that
 * nobody waits for asks a hundred, and one that is waited for no more than are
 * on the way. */
static void test_held(void)
{
    TestHost *h = new_host(true);
    uint64_t deadline;

    h->no_map = true;
    h->on_dma = hold_engine;
    memset(h->bus, 0x67, TEST_BUS_SIZE);
    setup(h, 0, MXGPU_COPY_LINEAR, VRAM_B, BUS, TEST_BUS_SIZE, 0);
    dmas = hold_at = 0;
    mxgpu_device_run(h->dev, 1, &deadline);
    g_assert_cmpuint(dmas, >, 50);
    for (unsigned n = 1; n < 4; n++) {
        dmas = 0;
        hold_at = n;
        mxgpu_device_run(h->dev, 1, &deadline);
        g_assert_cmpuint(dmas, ==, n);
        mxgpu_stepper_release(&h->dev->steppers[MXGPU_STEPPER_COPY]);
    }
    g_assert_cmphex(finish(h, 0), ==, MXGPU_UNIT_DONE);
    for (unsigned i = 0; i < TEST_BUS_SIZE; i += 64) {
        g_assert_cmphex(*at(h, VRAM_B + i), ==, 0x67);
    }
    test_host_free(h);
}

/* Both engines on their own threads, again and again. */
static void test_threads(void)
{
    TestHost *h = new_host(false);

    memset(h->vram, 0x31, 1 << 20);
    for (unsigned round = 0; round < 200; round++) {
        unsigned e = round & 1;
        gint64 end = g_get_monotonic_time() + 300 * G_USEC_PER_SEC;

        setup(h, e, MXGPU_COPY_LINEAR, e ? BUS : VRAM_B, VRAM_A,
              round % 7 * 30000, 0);
        if (round % 5 == 0) {
            mcu_write(h, reg(MXGPU_CE_CTRL, e), 4);
        }
        while ((mcu_read(h, reg(MXGPU_CE_STATUS, e)) & 15) ==
               MXGPU_UNIT_BUSY) {
            g_assert_cmpint(g_get_monotonic_time(), <, end);
            g_thread_yield();
        }
        mcu_write(h, reg(MXGPU_CE_CTRL, e), 2);
    }
    test_host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/copy/pairs", test_pairs);
    g_test_add_func("/copy/chunks", test_chunks);
    g_test_add_func("/copy/fill", test_fill);
    g_test_add_func("/copy/config", test_impossible);
    g_test_add_func("/copy/faults", test_faults);
    g_test_add_func("/copy/boxes", test_boxes);
    g_test_add_func("/copy/boxes/config", test_impossible_boxes);
    g_test_add_func("/copy/boxes/faults", test_box_faults);
    g_test_add_func("/copy/boxes/steps", test_box_steps);
    g_test_add_func("/copy/control", test_control);
    g_test_add_func("/copy/held", test_held);
    g_test_add_func("/copy/threads", test_threads);
    return g_test_run();
}
