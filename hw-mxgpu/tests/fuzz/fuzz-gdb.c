/* SPDX-License-Identifier: MIT */
/*
 * Random bytes and random packets from a debugger, to a device whose firmware
 * runs: nothing outside the MCU's memory is touched, nothing is replied to
 * what is no packet, and when the debugger has gone the firmware runs on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "core/debug.h"
#include "debug/agent.h"
#include "fuzz_host.h"

#define ENTRY (MXGPU_MCU_SRAM_BASE + (uint32_t)sizeof(struct mxgpu_fw_header))

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

static uint8_t take(const uint8_t **p, const uint8_t *end)
{
    return *p < end ? *(*p)++ : 0;
}

/* An address: of code, of registers, near the ends of both, anything. */
static uint32_t take_addr(const uint8_t **p, const uint8_t *end)
{
    static const uint32_t bases[] = {
        ENTRY, MXGPU_MCU_REGS_BASE, MXGPU_MCU_SRAM_BASE + MXGPU_MCU_SRAM_SIZE,
        MXGPU_MCU_REGS_BASE + MXGPU_REGS_SIZE, 0, UINT32_MAX,
    };
    uint8_t kind = take(p, end);

    return bases[kind % G_N_ELEMENTS(bases)] + take(p, end) -
           (kind & 0x80 ? 16u : 0u);
}

/* A packet with arguments that fit, mostly. */
static int make_packet(char *text, size_t size, const uint8_t **p,
                       const uint8_t *end)
{
    uint32_t addr = take_addr(p, end), n = take(p, end);

    switch (take(p, end) % 16) {
    case 0:
        return snprintf(text, size, "m%x,%x", addr, n << (n & 7));
    case 1:
        return snprintf(text, size, "M%x,4:%08x", addr, addr ^ n);
    case 2:
        return snprintf(text, size, "X%x,3:}%cab", addr, (int)n);
    case 3:
        return snprintf(text, size, "Z%u,%x,%x", n % 6, addr, n / 6);
    case 4:
        return snprintf(text, size, "z%u,%x,%x", n % 6, addr, n / 6);
    case 5:
        return snprintf(text, size, "vCont;%c", "cs"[n & 1]);
    case 6:
        return snprintf(text, size, "vCont;r%x,%x:1", addr, addr + n);
    case 7:
        return snprintf(text, size, "%c%02x", "CS"[n & 1], n / 2);
    case 8:
        return snprintf(text, size, "p%x", n & 1 ? addr & 0xfff : n);
    case 9:
        return snprintf(text, size, "P%x=%08x", n & 1 ? 0x200 + n * 4 : n / 2,
                        addr);
    case 10:
        return snprintf(text, size, "qXfer:features:read:target.xml:%x,%x", n,
                        addr);
    case 11:
        return snprintf(text, size, "%s", (const char *[]){"g", "?", "D", "k",
                        "qSupported", "QStartNoAckMode", "vKill;1",
                        "qXfer:memory-map:read::0,ffff"}[n % 8]);
    case 12: /* "status", "registers", "reset", "queues", "engines" */
        return snprintf(text, size, "qRcmd,%s", (const char *[]){
                        "737461747573", "726567697374657273", "7265736574",
                        "717565756573", "656e67696e6573"}[n % 5]);
    case 13:
        return snprintf(text, size, "b%c", "sc"[n & 1]);
    case 14: /* "record on 9", "record off", "record status" */
        return snprintf(text, size, "qRcmd,7265636f726420%s",
                        (const char *[]){"6f6e2039", "6f6666",
                                         "737461747573"}[n % 3]);
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
    mxgpu_device_gdb_input(h->dev, MXGPU_DEBUG_FIRMWARE, frame,
                           (size_t)n + 4);
}

/* loop: addi x5, x5, 1; sw x5, 64(x6); lw x7, 64(x6); j loop */
static void start_firmware(TestHost *h)
{
    static const uint32_t code[] = {
        0x20001337, 0x00128293, 0x0c532023, 0x0c032383, 0xff5ff06f,
    };
    struct mxgpu_fw_header fw = {
        .magic = MXGPU_FW_MAGIC,
        .header_size = sizeof(fw),
        .image_size = sizeof(fw) + sizeof(code),
        .crc32 = (uint32_t)crc32(0, (const Bytef *)code, sizeof(code)),
        .isa = MXGPU_FW_ISA_RV32IMAC,
        .entry = ENTRY,
    };

    test_write(h, MXGPU_MCU_SRAM_ADDR, 0);
    for (unsigned i = 0; i < sizeof(fw) / 4; i++) {
        test_write(h, MXGPU_MCU_SRAM_DATA, ((uint32_t *)&fw)[i]);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(code); i++) {
        test_write(h, MXGPU_MCU_SRAM_DATA, code[i]);
    }
    test_write(h, MXGPU_MCU_CTRL, 1);
}

static void settle(TestHost *h)
{
    uint64_t deadline;

    for (unsigned i = 0; i < 4; i++) {
        mxgpu_device_run(h->dev, 50, &deadline);
    }
}

static bool agent_register(void *opaque, unsigned number, uint64_t *value)
{
    *value = number;
    return number < 33;
}

static bool agent_memory(void *opaque, uint64_t addr, uint8_t *buf, size_t len)
{
    memset(buf, (int)addr, len);
    return addr < 4096;
}

/* A condition of a break point: it ends, and stays in its bytes. */
static void evaluate(const uint8_t *data, size_t size)
{
    static const MxgpuAgentOps agent_ops = {agent_register, agent_memory};
    uint8_t *code = g_memdup2(data, size); /* of exactly this size */
    uint64_t value;

    (void)!mxgpu_agent_evaluate(code, size, &agent_ops, NULL, &value);
    g_free(code);
}

static void run_one(const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size;
    TestHost *h = fuzz_host();
    uint32_t before;

    evaluate(data, size);
    g_assert_true(mxgpu_device_gdb_open(h->dev, &ops, h,
                                        size && data[0] & 1));
    start_firmware(h);
    settle(h);
    while (data < end) {
        uint8_t kind = take(&data, end);

        if (kind < 16) {
            mxgpu_device_gdb_input(h->dev, MXGPU_DEBUG_FIRMWARE, &kind, 1);
        } else if (kind == 16) {
            mxgpu_device_gdb_close(h->dev, MXGPU_DEBUG_FIRMWARE);
        } else if (kind == 17) {
            mxgpu_device_reset(h->dev, MXGPU_RESET_BUS);
            start_firmware(h);
        } else if (kind == 18) {
            static const uint8_t interrupt = 3;

            mxgpu_device_gdb_input(h->dev, MXGPU_DEBUG_FIRMWARE, &interrupt, 1);
        } else {
            send_packet(h, &data, end);
        }
        if (kind & 1) {
            settle(h);
        }
    }
    mxgpu_device_gdb_close(h->dev, MXGPU_DEBUG_FIRMWARE);
    settle(h);
    g_assert_true(mxgpu_device_gdb_open(h->dev, &ops, h, false));
    mxgpu_device_reset(h->dev, MXGPU_RESET_BUS);
    replied = 0;
    start_firmware(h);
    settle(h);
    before = test_read(h, MXGPU_MCU_INSTRET_LO);
    settle(h);
    g_assert_cmpuint(test_read(h, MXGPU_MCU_INSTRET_LO), >, before);
    g_assert_cmpuint(replied, ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==, 0);
}

FUZZ_MAIN("/fuzz/gdb", 33, 2000, run_one, NULL)
