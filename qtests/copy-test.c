/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies and fills, between guest memory and VRAM in all directions. */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "driver.h"

#define SYS_VA   0x300000000ull
#define VRAM_VA  0x310000000ull
#define DONE_VA  0x320000000ull
#define SIZE     (256 * KiB)

typedef struct Memory {
    uint64_t sys, bus, vram, done;
    MxQueue *queue;
    uint64_t signals;
} Memory;

static void setup(MxDevice *dev, Memory *m)
{
    m->sys = mx_alloc(dev->machine, SIZE);
    m->done = mx_alloc(dev->machine, MX_PAGE);
    m->vram = mx_vram_alloc(dev, SIZE);
    m->bus = mx_bus_map(dev->machine, m->sys, SIZE);
    m->signals = 0;
    mx_map(dev, SYS_VA, m->bus, SIZE, MX_SYS);
    mx_map(dev, VRAM_VA, m->vram, SIZE, MX_RW);
    mx_map(dev, DONE_VA, mx_bus_map(dev->machine, m->done, MX_PAGE), MX_PAGE,
           MX_SYS);
    mx_invalidate(dev);
    m->queue = mx_queue_new(dev, 0);
}

static void random_bytes(uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        data[i] = g_test_rand_int_range(0, 256);
    }
}

/* Many copies in flight on several engines; all of them arrive. */
static void test_many(MxDevice *dev)
{
    g_autofree uint8_t *sys = g_malloc(SIZE), *got = g_malloc(SIZE);
    const unsigned part = SIZE / 16;
    Memory m;

    setup(dev, &m);
    random_bytes(sys, SIZE);
    qtest_memwrite(dev->qts, m.sys, sys, SIZE);
    for (unsigned i = 0; i < 15; i++) {
        struct mxgpu_packet_copy packet = {
            .type = MXGPU_PKT_COPY, .src = SYS_VA + i * part,
            .dst = VRAM_VA + i * part, .size = part,
        };

        mx_push(m.queue, &packet);
    }
    for (unsigned i = 15; i < 16; i++) {
        struct mxgpu_packet_copy packet = {
            .type = MXGPU_PKT_COPY, .flags = MXGPU_PKT_BARRIER,
            .src = SYS_VA + i * part, .dst = VRAM_VA + i * part, .size = part,
            .signal_addr = DONE_VA, .signal_value = 99,
        };

        mx_push(m.queue, &packet);
    }
    MX_WAIT(dev, qtest_readq(dev->qts, m.done) == 99);
    qtest_memread(dev->qts, dev->vram.addr + m.vram, got, SIZE);
    g_assert_true(memcmp(got, sys, SIZE) == 0);
    mx_queue_free(m.queue);
}

/* Boxes between guest memory and VRAM, to reference. */
static void test_rect(MxDevice *dev)
{
    const struct mxgpu_packet_copy_rect box = {
        .type = MXGPU_PKT_COPY_RECT, .width = 77, .height = 19, .depth = 5,
        .src_pitch = 301, .dst_pitch = 128, .src_slice = 23, .dst_slice = 20,
        .signal_addr = DONE_VA,
    };
    g_autofree uint8_t *sys = g_malloc(SIZE), *vram = g_malloc(SIZE);
    g_autofree uint8_t *want = g_malloc(SIZE);
    Memory m;

    setup(dev, &m);
    random_bytes(sys, SIZE);
    random_bytes(vram, SIZE);
    for (unsigned round = 0; round < 2; round++) {
        struct mxgpu_packet_copy_rect packet = box;
        struct mxgpu_packet_fill_rect fill = {
            .type = MXGPU_PKT_FILL_RECT, .width = 50, .height = 7, .depth = 3,
            .pitch = 4100, .slice = 9, .pattern = "0123456789abcdef",
            .signal_addr = DONE_VA,
        };
        uint8_t *from = round ? vram : sys, *to = round ? sys : vram;

        qtest_memwrite(dev->qts, m.sys, sys, SIZE);
        qtest_memwrite(dev->qts, dev->vram.addr + m.vram, vram, SIZE);
        packet.src = (round ? VRAM_VA : SYS_VA) + 4000;
        packet.dst = (round ? SYS_VA : VRAM_VA) + 5;
        fill.dst = (round ? SYS_VA : VRAM_VA) + 100001;
        packet.signal_value = ++m.signals;
        mx_push(m.queue, &packet);
        MX_WAIT(dev, qtest_readq(dev->qts, m.done) == m.signals);
        fill.signal_value = ++m.signals;
        mx_push(m.queue, &fill);
        MX_WAIT(dev, qtest_readq(dev->qts, m.done) == m.signals);
        memcpy(want, to, SIZE);
        for (unsigned z = 0; z < 5; z++) {
            for (unsigned y = 0; y < 19; y++) {
                memcpy(want + 5 + (z * 20 + y) * 128,
                       from + 4000 + (z * 23 + y) * 301, 77);
            }
        }
        for (unsigned i = 0; i < 3 * 7 * 50; i++) {
            want[100001 + (i / 350 * 9 + i / 50 % 7) * 4100 + i % 50] =
                fill.pattern[i % 50 % 16];
        }
        qtest_memread(dev->qts, round ? m.sys : dev->vram.addr + m.vram, to,
                      SIZE);
        g_assert_true(memcmp(to, want, SIZE) == 0);
    }
    mx_queue_free(m.queue);
}

void mx_copy_tests(void)
{
    mx_test("copy/rect", MX_BOOTED, test_rect);
    mx_test("copy/many", MX_BOOTED, test_many);
}
