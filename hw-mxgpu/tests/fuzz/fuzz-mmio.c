/* SPDX-License-Identifier: MIT */
/*
 * Random use of everything a host and a firmware can reach: registers of both
 * sides, doorbells, SRAM, page tables, copies, dispatches, resets. With
 * -DMXGPU_LIBFUZZER the input comes from libFuzzer; otherwise this is a short
 * deterministic run as a unit test.
 */
#include <stdlib.h>

#include "fuzz_host.h"

#define LEAF (MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE)

typedef struct Input {
    const uint8_t *data;
    size_t left;
} Input;

static uint64_t take(Input *in, unsigned bytes)
{
    uint64_t v = 0;

    while (bytes-- && in->left) {
        v = v << 8 | *in->data++;
        in->left--;
    }
    return v;
}

static const uint32_t offsets[] = {
#define MXGPU_REG(name, offset, ...) offset,
#define MXGPU_FIELD(...)
#include "mxgpu/regs.def"
};

/* Mostly real registers, and their array elements. */
static uint32_t take_offset(Input *in)
{
    uint32_t pick = (uint32_t)take(in, 2);

    if (pick & 0x8000) {
        return pick & 0x7fff;
    }
    return offsets[(pick & 0xff) % G_N_ELEMENTS(offsets)] +
           (pick >> 8 & 7) * (pick & 0x4000 ? 0x80 : 4);
}

static uint32_t take_value(Input *in)
{
    uint8_t kind = (uint8_t)take(in, 1);

    return kind & 1 ? kind >> 1 : (uint32_t)take(in, 4);
}

static uint64_t take_va(Input *in)
{
    uint64_t v = take(in, 2);

    return v & 0x8000 ? take(in, 8) : v << 11;
}

static void put_pte(TestHost *h, uint64_t root, Input *in)
{
    unsigned level = (unsigned)take(in, 1) & 3;
    uint64_t pte = take(in, 8);
    unsigned kind = (unsigned)take(in, 1);

    if (kind & 1) {
        pte = (pte & 0x7ff000) | LEAF;
    }
    if (kind & 2) {
        pte = (pte & 0xff000) | LEAF | MXGPU_PTE_SYSTEM | TEST_BUS_BASE;
    }
    /* A table among VRAM's, which may well be the root itself. */
    if (kind & 4) {
        pte = (TEST_VRAM_SIZE / 2 + (pte & 0x7000)) | MXGPU_PTE_VALID |
              MXGPU_PTE_TABLE;
    }
    memcpy(h->vram + TEST_VRAM_SIZE / 2 + level * 4096u +
               (take(in, 2) & 511) * 8 % (kind & 8 ? 64 : 4096),
           &pte, 8);
}

static void copy(TestHost *h, Input *in)
{
    unsigned e = (unsigned)take(in, 1) & 1;
    uint32_t base = e * MXGPU_CE_CTRL_STRIDE;

    mcu_write64(h, MXGPU_CE_SRC_LO + base, take_va(in));
    mcu_write64(h, MXGPU_CE_DST_LO + base, take_va(in));
    mcu_write64(h, MXGPU_CE_SIZE_LO + base, take(in, 3));
    mcu_write(h, MXGPU_CE_CFG + base, (uint32_t)take(in, 2) & 0xf01);
    mcu_write(h, MXGPU_CE_CTRL + base, 3);
}

static void finish_slots(void)
{
    for (unsigned i = 0; i < MXGPU_DISPATCH_SLOTS; i++) {
        if (fake_simt.running[i]) {
            fake_simt_finish(i, (MxgpuDispatchFault){.code = i});
        }
    }
}

static void step(TestHost *h, uint64_t root, Input *in)
{
    uint32_t offset = take_offset(in);
    uint64_t deadline;

    switch (take(in, 1) % 12) {
    case 0:
        mxgpu_device_mmio_read(h->dev, offset, take(in, 1) & 8 ? 8 : 4);
        break;
    case 1:
        test_write(h, offset, take_value(in));
        break;
    case 2:
        mxgpu_device_doorbell_write(h->dev, take(in, 3), take(in, 8),
                                    take(in, 1) & 1 ? 8 : 4);
        break;
    case 3:
        mcu_read(h, offset & ~3u);
        break;
    case 4:
    case 5:
        mcu_write(h, offset & ~3u, take_value(in));
        break;
    case 6:
        put_pte(h, root, in);
        break;
    case 7:
        copy(h, in);
        break;
    case 8:
        mcu_write64(h, MXGPU_MEM_ADDR_LO, take_va(in));
        mcu_write(h, MXGPU_MEM_CMD, (uint32_t)take(in, 2) & 0xff01);
        break;
    case 9:
        finish_slots();
        break;
    case 10:
        h->clock += take(in, 4);
        h->no_map = take(in, 1) & 1;
        break;
    default:
        mxgpu_device_run(h->dev, 1, &deadline);
        break;
    }
}

static void run_one(const uint8_t *data, size_t size)
{
    Input in = {data, size};
    TestHost *h = fuzz_host();
    uint64_t root = test_root(h), deadline;

    h->next_table += 3 * 4096;
    mcu_write(h, MXGPU_DB_ENABLE, 0xffff);
    mcu_write64(h, MXGPU_MMU_ROOT_LO, root);
    while (in.left) {
        step(h, root, &in);
    }
    for (unsigned i = 0; i < 20; i++) {
        mxgpu_device_run(h->dev, 1, &deadline);
    }
    /* Whatever was done, a reset gives a device like new. */
    mxgpu_device_reset(h->dev, MXGPU_RESET_BUS);
    g_assert_cmphex(test_read(h, MXGPU_ID), ==, MXGPU_ID_MAGIC);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_MCU_STATUS), ==, 0);
}

FUZZ_MAIN("/fuzz/mmio", 20, 4000, run_one, NULL)
