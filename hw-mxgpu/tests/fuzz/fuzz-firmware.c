/* SPDX-License-Identifier: MIT */
/*
 * Hostile firmware: images whose header is right and whose code uses registers
 * at random, or is random altogether, on the real MCU. Nothing may hang, crash
 * or leak, and a reset gives a device like new. See fuzz_mmio.c for
 * MXGPU_LIBFUZZER.
 */
#include <zlib.h>

#include "fuzz_host.h"

#define MAX_WORDS 2000

static const uint32_t offsets[] = {
#define MXGPU_REG(name, offset, ...) offset,
#define MXGPU_FIELD(...)
#include "mxgpu/regs.def"
};

typedef struct Code {
    uint32_t words[MAX_WORDS];
    unsigned count;
} Code;

static void emit(Code *c, uint32_t word)
{
    if (c->count < MAX_WORDS) {
        c->words[c->count++] = word;
    }
}

/* lui rd, with the carry of a signed low part that another insn adds. */
static void emit_lui(Code *c, unsigned rd, uint32_t value)
{
    emit(c, ((value + 0x800) & 0xfffff000) | rd << 7 | 0x37);
}

static void emit_store(Code *c, uint32_t addr, uint32_t value)
{
    emit_lui(c, 6, value);
    emit(c, (value & 0xfff) << 20 | 6 << 15 | 6 << 7 | 0x13); /* addi */
    emit_lui(c, 5, addr);
    emit(c, (addr & 0xfe0) << 20 | 6 << 20 | 5 << 15 | 2 << 12 |
                (addr & 0x1f) << 7 | 0x23); /* sw x6, lo(x5) */
}

static void emit_load(Code *c, uint32_t addr)
{
    emit_lui(c, 5, addr);
    emit(c, (addr & 0xfff) << 20 | 5 << 15 | 2 << 12 | 7 << 7 | 0x03);
}

static uint64_t take(const uint8_t **p, const uint8_t *end, unsigned n)
{
    uint64_t v = 0;

    while (n-- && *p < end) {
        v = v << 8 | *(*p)++;
    }
    return v;
}

static void make_code(Code *c, const uint8_t *p, const uint8_t *end)
{
    while (p < end && c->count < MAX_WORDS) {
        unsigned kind = (unsigned)take(&p, end, 1);
        uint32_t reg = offsets[take(&p, end, 1) % G_N_ELEMENTS(offsets)] +
                       4 * (uint32_t)(take(&p, end, 1) & 7);
        uint32_t value = kind & 0x40 ? (uint32_t)take(&p, end, 4)
                                     : (uint32_t)take(&p, end, 1);

        switch (kind & 7) {
        case 0:
            emit(c, (uint32_t)take(&p, end, 4)); /* anything */
            break;
        case 1:
            emit(c, 0x10500073); /* wfi */
            break;
        case 2:
        case 3:
            emit_load(c, MXGPU_MCU_REGS_BASE + reg);
            break;
        default:
            emit_store(c, MXGPU_MCU_REGS_BASE + reg, value);
            break;
        }
    }
    c->count = c->count < MAX_WORDS - 2 ? c->count : MAX_WORDS - 2;
    emit(c, 0x10500073); /* for ever: wfi, back to it */
    emit(c, 0xffdff06f);
}

static void load(TestHost *h, const Code *c)
{
    struct mxgpu_fw_header fw = {
        .magic = MXGPU_FW_MAGIC,
        .header_size = sizeof(fw),
        .image_size = (uint32_t)(sizeof(fw) + 4 * c->count),
        .crc32 = (uint32_t)crc32(0, (const Bytef *)c->words, 4 * c->count),
        .isa = MXGPU_FW_ISA_RV32IMAC,
        .entry = MXGPU_MCU_SRAM_BASE + (uint32_t)sizeof(fw),
    };

    for (unsigned i = 0; i < 16; i++) {
        test_write(h, MXGPU_MCU_SRAM_DATA, ((uint32_t *)&fw)[i]);
    }
    for (unsigned i = 0; i < c->count; i++) {
        test_write(h, MXGPU_MCU_SRAM_DATA, c->words[i]);
    }
    test_write(h, MXGPU_MCU_CTRL, 1);
}

static void run_one(const uint8_t *data, size_t size)
{
    TestHost *h = fuzz_host();
    uint64_t root = test_root(h), deadline;
    Code code = {0};

    test_map(h, root, 0, 1,
             MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE);
    make_code(&code, data, data + size);
    load(h, &code);
    for (unsigned i = 0; i < 40; i++) {
        mxgpu_device_run(h->dev, 100, &deadline);
        mxgpu_device_doorbell_write(h->dev, i % 4 * 4096, i, 8);
        h->clock += 1000;
    }
    g_assert_cmpuint(test_read(h, MXGPU_MCU_STATUS) & 15, !=,
                     MXGPU_MCU_BOOT_ERROR);
    mxgpu_device_reset(h->dev, MXGPU_RESET_BUS);
    g_assert_cmphex(test_read(h, MXGPU_MCU_STATUS), ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==, 0);
}

/* Every other round without random words, which mostly crash. */
static void tame(uint8_t *data, size_t size, unsigned round)
{
    for (size_t i = 0; round & 1 && i < size; i++) {
        data[i] |= (uint8_t)(i % 4 == 0) << 2;
    }
}

FUZZ_MAIN("/fuzz/firmware", 21, 3000, run_one, tame)
