/* SPDX-License-Identifier: MIT */
/*
 * States that somebody has changed: what loads one gives an error and a reset
 * device, or a device that runs, saves and can be reset. The state is that of
 * units in the middle of kernels, copies and firmware; input: what to change,
 * 8 bytes each: where, how, and the value. See fuzz_mmio.c for MXGPU_LIBFUZZER.
 */
#include <zlib.h>

#include "core/image.h"
#include "core/internal.h"
#include "fuzz_host.h"

#define CODE 0x1000u /* in VRAM, and so in VMID 1 */
#define ARGS 0x2000u

/*
 * csrr t0, lane; loop: addi t1, t1, 1; andi t2, t0, 1; beqz t2, skip
 * addi t3, t3, 3; skip: sd t1, -8(sp); mx.barrier; j loop
 */
static const uint32_t kernel[] = {
    0xccc022f3, 0x00130313, 0x0012f393, 0x00038463,
    0x003e0e13, 0xfe613c23, 0x0200000b, 0xfe9ff06f,
};
static const uint32_t firmware[] = {0x10500073, 0xffdff06f}; /* wfi; j -4 */

static uint8_t *image;
static size_t image_size;

static void boot(TestHost *h)
{
    struct mxgpu_fw_header fw = {
        .magic = MXGPU_FW_MAGIC,
        .header_size = sizeof(fw),
        .image_size = sizeof(fw) + sizeof(firmware),
        .crc32 = (uint32_t)crc32(0, (const Bytef *)firmware, sizeof(firmware)),
        .isa = MXGPU_FW_ISA_RV32IMAC,
        .entry = MXGPU_MCU_SRAM_BASE + (uint32_t)sizeof(fw),
    };

    for (unsigned i = 0; i < sizeof(fw) / 4; i++) {
        test_write(h, MXGPU_MCU_SRAM_DATA, ((uint32_t *)&fw)[i]);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(firmware); i++) {
        test_write(h, MXGPU_MCU_SRAM_DATA, firmware[i]);
    }
    test_write(h, MXGPU_MCU_CTRL, 1);
}

/* What firmware writes. */
static void put(TestHost *h, uint32_t reg, uint32_t value)
{
    mxgpu_regs_write(h->dev, MXGPU_PARTY_MCU, reg, value);
}

static void dispatch(TestHost *h, unsigned slot, unsigned grid, unsigned block,
                     uint32_t flags)
{
    uint32_t at = slot * MXGPU_CD_CTRL_STRIDE;

    put(h, MXGPU_CD_ENTRY_LO + at, CODE);
    put(h, MXGPU_CD_ARGS_LO + at, ARGS);
    put(h, MXGPU_CD_GRID_X + at, grid);
    put(h, MXGPU_CD_GRID_Y + at, 1);
    put(h, MXGPU_CD_GRID_Z + at, 1);
    put(h, MXGPU_CD_BLOCK_XY + at,
        MXGPU_SET(MXGPU_CD_BLOCK_XY_X, block) |
            MXGPU_SET(MXGPU_CD_BLOCK_XY_Y, 1));
    put(h, MXGPU_CD_BLOCK_Z + at, 1);
    put(h, MXGPU_CD_SHARED + at, 1024);
    put(h, MXGPU_CD_PRIVATE + at, 1024);
    put(h, MXGPU_CD_CFG + at,
        MXGPU_SET(MXGPU_CD_CFG_VMID, 1) |
            MXGPU_SET(MXGPU_CD_CFG_REGISTERS, 32) | flags);
    put(h, MXGPU_CD_CTRL + at, MXGPU_SET(MXGPU_CD_CTRL_START, 1));
}

static void copy(TestHost *h)
{
    put(h, MXGPU_CE_SRC_LO, 1u << 20);
    put(h, MXGPU_CE_DST_LO, 3u << 19);
    put(h, MXGPU_CE_SIZE_LO, 100);
    put(h, MXGPU_CE_HEIGHT, 1000);
    put(h, MXGPU_CE_DEPTH, 1000);
    put(h, MXGPU_CE_CFG, MXGPU_SET(MXGPU_CE_CFG_OP, MXGPU_COPY_RECT) |
                             MXGPU_SET(MXGPU_CE_CFG_VMID, 1));
    put(h, MXGPU_CE_SRC_PITCH, 100);
    put(h, MXGPU_CE_DST_PITCH, 100);
    put(h, MXGPU_CE_SRC_SLICE, 1000);
    put(h, MXGPU_CE_DST_SLICE, 1000);
    put(h, MXGPU_CE_CTRL, MXGPU_SET(MXGPU_CE_CTRL_START, 1));
}

static void step(TestHost *h, unsigned steps)
{
    uint64_t deadline;

    for (unsigned i = 0; i < steps; i++) {
        mxgpu_device_run(h->dev, 300, &deadline);
        h->clock += 1000;
    }
}

/* The code and tables of all runs; the state that they change. */
static void prepare(TestHost *h)
{
    uint64_t root = test_root(h);

    memcpy(h->vram + CODE, kernel, sizeof(kernel));
    test_map(h, root, 0, 1,
             MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE |
                 MXGPU_PTE_EXECUTE);
    if (image) {
        return;
    }
    boot(h);
    step(h, 2);
    put(h, MXGPU_MMU_ROOT_LO + 8, (uint32_t)root);
    put(h, MXGPU_MMU_ROOT_HI + 8, (uint32_t)(root >> 32));
    put(h, MXGPU_DB_ENABLE, 3);
    mxgpu_device_doorbell_write(h->dev, 0, 7, 8);
    dispatch(h, 0, 50, 100, 0);
    dispatch(h, 1, 2, 192, MXGPU_SET(MXGPU_CD_CFG_COOPERATIVE, 1));
    dispatch(h, 2, 3, 64, MXGPU_SET(MXGPU_CD_CFG_PROFILE, 1));
    copy(h);
    step(h, 4);
    g_assert_true(mxgpu_simt_has_work(h->dev->simt));
    image_size = mxgpu_state_size(h->dev);
    image = g_malloc(image_size);
    g_assert_cmpint(mxgpu_state_save(h->dev, image, image_size, &image_size),
                    ==, 0);
}

static void run_one(const uint8_t *data, size_t size)
{
    TestHost *h = fuzz_host();
    g_autofree uint8_t *own = NULL;

    prepare(h);
    own = g_memdup2(image, image_size);
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint32_t where, value;

        memcpy(&where, data + i, 4);
        memcpy(&value, data + i + 4, 4);
        where %= image_size - 4;
        memcpy(own + where, &value, 1 + (value >> 24) % 4);
    }
    if (mxgpu_state_load(h->dev, own, image_size) == 0) {
        size_t now;

        step(h, 3);
        mxgpu_device_forget(h->dev);
        step(h, 3);
        now = mxgpu_state_size(h->dev);
        g_assert_cmpuint(now, >, 0);
        mxgpu_device_reset(h->dev, MXGPU_RESET_BUS);
    }
    g_assert_cmphex(test_read(h, MXGPU_MCU_STATUS), ==, 0);
    g_assert_false(mxgpu_simt_has_work(h->dev->simt));
}

/* One change in most rounds, or all of them are refused. */
static void tame(uint8_t *data, size_t size, unsigned round)
{
    for (size_t i = 8; round % 4 && i < size; i++) {
        data[i] = data[i - 8];
    }
}

FUZZ_MAIN("/fuzz/state", 33, 64, run_one, tame)
