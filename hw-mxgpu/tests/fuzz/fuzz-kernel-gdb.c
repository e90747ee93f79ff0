/* SPDX-License-Identifier: MIT */
/*
 * Random bytes and random packets from a debugger of kernels, while two of them
 * run: nothing but what the kernels can reach is touched, and when the debugger
 * has gone they run on. See fuzz-mmio.c for MXGPU_LIBFUZZER.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/debug.h"
#include "core/internal.h"
#include "fuzz_host.h"

#define CODE 0x1000u /* in VRAM, and so in VMID 1 */
#define ARGS 0x2000u
#define DATA 0x200000u /* the page that kernels may write */

/*
 * csrr t0, lane; loop: addi t1, t1, 1; andi t2, t0, 1; beqz t2, skip
 * addi t3, t3, 3; skip: sd t1, -8(sp); mx.barrier; j loop
 */
static const uint32_t kernel[] = {
    0xccc022f3, 0x00130313, 0x0012f393, 0x00038463,
    0x003e0e13, 0xfe613c23, 0x0200000b, 0xfe9ff06f,
};

static size_t replied;

static void output(void *host, const void *bytes, size_t len)
{
    static volatile uint8_t sink;

    for (size_t i = 0; i < len; i++) { /* all of it is there */
        sink = ((const uint8_t *)bytes)[i];
    }
    (void)sink;
    replied += len;
}

static void ready(void *host)
{
}

static const MxgpuDebugOps ops = {output, ready};

static void put(TestHost *h, uint32_t reg, uint32_t value)
{
    mxgpu_regs_write(h->dev, MXGPU_PARTY_MCU, reg, value);
}

static void dispatch(TestHost *h, unsigned slot, unsigned grid, unsigned block)
{
    uint32_t at = slot * MXGPU_CD_CTRL_STRIDE;

    put(h, MXGPU_CD_ENTRY_LO + at, CODE);
    put(h, MXGPU_CD_ARGS_LO + at, ARGS);
    put(h, MXGPU_CD_GRID_X + at, grid);
    put(h, MXGPU_CD_GRID_Y + at, 1);
    put(h, MXGPU_CD_GRID_Z + at, 1);
    put(h, MXGPU_CD_BLOCK_XY + at, MXGPU_SET(MXGPU_CD_BLOCK_XY_X, block) |
                                       MXGPU_SET(MXGPU_CD_BLOCK_XY_Y, 1));
    put(h, MXGPU_CD_BLOCK_Z + at, 1);
    put(h, MXGPU_CD_SHARED + at, 1024);
    put(h, MXGPU_CD_PRIVATE + at, 1024);
    put(h, MXGPU_CD_CFG + at, MXGPU_SET(MXGPU_CD_CFG_VMID, 1) |
                                  MXGPU_SET(MXGPU_CD_CFG_REGISTERS, 32));
    put(h, MXGPU_CD_CTRL + at, MXGPU_SET(MXGPU_CD_CTRL_START, 1));
}

static void step(TestHost *h)
{
    uint64_t deadline;

    for (unsigned i = 0; i < 3; i++) {
        mxgpu_device_run(h->dev, 300, &deadline);
        h->clock += 1000;
    }
}

static void start(TestHost *h)
{
    uint64_t root = test_root(h);

    memcpy(h->vram + CODE, kernel, sizeof(kernel));
    test_map(h, root, 0, 1,
             MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_EXECUTE);
    test_map(h, root, DATA, 1,
             DATA | MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE);
    put(h, MXGPU_MMU_ROOT_LO + 8, (uint32_t)root);
    put(h, MXGPU_MMU_ROOT_HI + 8, (uint32_t)(root >> 32));
    dispatch(h, 0, 4, 100);
    dispatch(h, 1, 2, 192);
}

static uint8_t take(const uint8_t **p, const uint8_t *end)
{
    return *p < end ? *(*p)++ : 0;
}

/* Of code, data, what is not mapped, the windows, near ends of each. */
static uint64_t take_addr(const uint8_t **p, const uint8_t *end)
{
    static const uint64_t bases[] = {
        CODE, CODE + 16, DATA, DATA + (2u << 20), MXGPU_SHARED_BASE,
        MXGPU_SHARED_BASE + 1024, MXGPU_PRIVATE_END - 64, 0, UINT64_MAX,
        MXGPU_VA_LIMIT,
    };
    uint8_t kind = take(p, end);

    return bases[kind % G_N_ELEMENTS(bases)] + 4 * (take(p, end) % 16) -
           (kind & 0x80 ? 16u : 0u);
}

/* unit + 1, warp, lane: one that may be there, or is not. */
static unsigned take_thread(const uint8_t **p, const uint8_t *end)
{
    unsigned n = take(p, end);

    return n == 255 ? UINT32_MAX
                    : (1 + n % 3) * 10000 + n / 4 % 8 * 100 + n % 66;
}

static int make_packet(char *text, size_t size, const uint8_t **p,
                       const uint8_t *end)
{
    uint64_t addr = take_addr(p, end);
    unsigned thread = take_thread(p, end), n = take(p, end);

    switch (take(p, end) % 16) {
    case 0:
        return snprintf(text, size, "m%" PRIx64 ",%x", addr, n << (n & 7));
    case 1:
        return snprintf(text, size, "M%" PRIx64 ",4:%08x", addr, n);
    case 2:
        return snprintf(text, size, "Z%u,%" PRIx64 ",%x", n % 6, addr, n / 6);
    case 3: /* with a condition: reg n; const8; equal; end */
        return snprintf(text, size, "Z0,%" PRIx64 ",4;X%x,26%04x22%02x13%s",
                        addr, n & 7, n, n, n & 8 ? "27" : "");
    case 4:
        return snprintf(text, size, "z%u,%" PRIx64 ",%x", n % 6, addr, n / 6);
    case 5:
        return snprintf(text, size, "vCont;%c:%x%s", "sc"[n & 1], thread,
                        n & 2 ? ";c" : "");
    case 6:
        return snprintf(text, size, "vCont;r%x,%x:%x", CODE, CODE + n, thread);
    case 7:
        return snprintf(text, size, "vCont;C%02x:%x;c", n, thread);
    case 8:
        return snprintf(text, size, "p%x", n & 1 ? n : 31 + n % 60);
    case 9:
        return snprintf(text, size, "P%x=%016" PRIx64, n % 80,
                        n & 1 ? addr : GUINT64_SWAP_LE_BE(addr));
    case 10:
        return snprintf(text, size, "H%c%x", "gc"[n & 1], thread);
    case 11:
        return snprintf(text, size, "T%x", thread);
    case 12:
        return snprintf(text, size, "qXfer:%s:read::%x,%x",
                        n & 1 ? "threads" : "libraries", n, n * n);
    case 13:
        return snprintf(text, size, "%s", (const char *[]){"g", "?", "D",
                        "qSupported", "QStartNoAckMode", "vCont;c",
                        "qRcmd,6c61756e6368206f6e", /* launch on */
                        "qRcmd,7761727073"}[n % 8]); /* warps */
    default:
        for (size_t i = 0; i < n && i < size; i++) {
            text[i] = (char)take(p, end);
        }
        return (int)n;
    }
}

static void send_packet(TestHost *h, const uint8_t **p, const uint8_t *end)
{
    char text[300], frame[310];
    int n = make_packet(text, sizeof(text), p, end);
    uint8_t sum = 0;

    frame[0] = '$';
    for (int i = 0; i < n; i++) {
        frame[i + 1] = text[i];
        sum += (uint8_t)text[i];
    }
    snprintf(frame + n + 1, 4, "#%02x", sum);
    mxgpu_device_gdb_input(h->dev, MXGPU_DEBUG_KERNELS, frame, (size_t)n + 4);
}

static uint64_t instructions(TestHost *h)
{
    MxgpuSimtCounters c;

    mxgpu_simt_counters(h->dev->simt, &c);
    return c.warp_instructions;
}

static void run_one(const uint8_t *data, size_t size)
{
    static const uint8_t interrupt = 3, hello[] = {'$', '?', '#', '3', 'f'};
    const uint8_t *end = data + size;
    TestHost *h = fuzz_host();
    uint64_t before;

    g_assert_true(mxgpu_device_kernel_gdb_open(h->dev, &ops, h,
                                               size && data[0] & 1));
    start(h);
    step(h);
    while (data < end) {
        uint8_t kind = take(&data, end);

        if (kind < 8) {
            mxgpu_device_gdb_input(h->dev, MXGPU_DEBUG_KERNELS, &kind, 1);
        } else if (kind == 8) {
            mxgpu_device_gdb_close(h->dev, MXGPU_DEBUG_KERNELS);
        } else if (kind < 16) {
            mxgpu_device_gdb_input(h->dev, MXGPU_DEBUG_KERNELS, &interrupt, 1);
        } else {
            send_packet(h, &data, end);
        }
        if (kind & 1) {
            step(h);
        }
    }
    /* A device that waits for a debugger waits until one has spoken. */
    mxgpu_device_gdb_input(h->dev, MXGPU_DEBUG_KERNELS, hello, sizeof(hello));
    step(h);
    mxgpu_device_gdb_close(h->dev, MXGPU_DEBUG_KERNELS);
    step(h);
    g_assert_cmpmem(h->vram + CODE, sizeof(kernel), kernel, sizeof(kernel));
    mxgpu_device_reset(h->dev, MXGPU_RESET_BUS);
    replied = 0;
    start(h);
    step(h);
    before = instructions(h);
    step(h);
    g_assert_cmpuint(instructions(h), >, before);
    g_assert_cmpuint(replied, ==, 0);
}

FUZZ_MAIN("/fuzz/kernel-gdb", 33, 600, run_one, NULL)
