/* SPDX-License-Identifier: MIT */
/* MCU start, stop, crash, console, timer; dispatch slots; reset and pause. */
#include <zlib.h>

#include "test_host.h"

#define ENTRY (MXGPU_MCU_SRAM_BASE + 64)

static struct mxgpu_fw_header good_header(void)
{
    struct mxgpu_fw_header fw = {
        .magic = MXGPU_FW_MAGIC,
        .header_size = sizeof(fw),
        .image_size = sizeof(fw) + 64,
        .isa = MXGPU_FW_ISA_RV32IMAC,
        .entry = ENTRY,
    };
    uint8_t code[64];

    memset(code, 0x13, sizeof(code));
    fw.crc32 = (uint32_t)crc32(0, code, sizeof(code));
    return fw;
}

static void load(TestHost *h, const struct mxgpu_fw_header *fw)
{
    const uint32_t *words = (const uint32_t *)fw;

    test_write(h, MXGPU_MCU_SRAM_ADDR, 0);
    for (unsigned i = 0; i < 16; i++) {
        test_write(h, MXGPU_MCU_SRAM_DATA, words[i]);
    }
    for (unsigned i = 0; i < 16; i++) {
        test_write(h, MXGPU_MCU_SRAM_DATA, 0x13131313);
    }
}

static uint32_t state(TestHost *h)
{
    return test_read(h, MXGPU_MCU_STATUS) & 15;
}

static void boot(TestHost *h)
{
    struct mxgpu_fw_header fw = good_header();

    load(h, &fw);
    test_write(h, MXGPU_MCU_CTRL, 1);
    test_run(h);
    g_assert_cmpuint(state(h), ==, MXGPU_MCU_RUNNING);
}

static void check_boot(TestHost *h, struct mxgpu_fw_header fw,
                       enum mxgpu_boot_error error)
{
    unsigned runs = fake_mcu.runs;

    load(h, &fw);
    test_write(h, MXGPU_IRQ_STATUS, 0xf);
    test_write(h, MXGPU_MCU_CTRL, 1);
    /* The write itself runs nothing, and shows no old verdict. */
    g_assert_cmpuint(test_read(h, MXGPU_MCU_STATUS), ==, 0);
    test_run(h);
    g_assert_cmphex(test_read(h, MXGPU_MCU_STATUS), ==,
                    MXGPU_MCU_BOOT_ERROR | (uint32_t)error << 8);
    g_assert_cmphex(test_read(h, MXGPU_IRQ_STATUS), ==, 2);
    g_assert_cmpuint(fake_mcu.runs, ==, runs);
}

static void test_boot_errors(void)
{
    TestHost *h = test_host_new(true);
    struct mxgpu_fw_header fw;

    check_boot(h, (struct mxgpu_fw_header){0}, MXGPU_BOOT_BAD_MAGIC);
#define BAD(change, error)                                                     \
    do {                                                                       \
        fw = good_header();                                                    \
        change;                                                                \
        check_boot(h, fw, error);                                              \
    } while (0)
    BAD(fw.magic++, MXGPU_BOOT_BAD_MAGIC);
    BAD(fw.header_size = 60, MXGPU_BOOT_BAD_HEADER);
    BAD(fw.image_size = 60, MXGPU_BOOT_BAD_HEADER);
    BAD(fw.image_size++, MXGPU_BOOT_BAD_HEADER);
    BAD(fw.image_size = MXGPU_MCU_SRAM_SIZE + 4, MXGPU_BOOT_BAD_HEADER);
    BAD(fw.image_size = 0xfffffffc, MXGPU_BOOT_BAD_HEADER);
    BAD(fw.entry = MXGPU_MCU_SRAM_BASE, MXGPU_BOOT_BAD_HEADER);
    BAD(fw.entry = MXGPU_MCU_SRAM_BASE + 128, MXGPU_BOOT_BAD_HEADER);
    BAD(fw.entry++, MXGPU_BOOT_BAD_HEADER);
    BAD(fw.entry = 0, MXGPU_BOOT_BAD_HEADER);
    BAD(fw.isa = 2, MXGPU_BOOT_BAD_ISA);
    BAD(fw.crc32++, MXGPU_BOOT_BAD_CRC);
    BAD(fw.image_size += 4, MXGPU_BOOT_BAD_CRC); /* truncated on the way */
    boot(h); /* and then a good one */
    g_assert_cmphex(fake_mcu.entry, ==, ENTRY);
    test_host_free(h);
}

static void test_sram(void)
{
    TestHost *h = test_host_new(true);

    test_write(h, MXGPU_MCU_SRAM_ADDR, MXGPU_MCU_SRAM_SIZE - 4);
    test_write(h, MXGPU_MCU_SRAM_DATA, 0x11111111);
    g_assert_cmphex(test_read(h, MXGPU_MCU_SRAM_ADDR), ==, 0); /* wraps */
    test_write(h, MXGPU_MCU_SRAM_ADDR, 0xffffffff);
    g_assert_cmphex(test_read(h, MXGPU_MCU_SRAM_ADDR), ==,
                    MXGPU_MCU_SRAM_SIZE - 4);
    g_assert_cmphex(test_read(h, MXGPU_MCU_SRAM_DATA), ==, 0x11111111);
    boot(h);
    test_write(h, MXGPU_MCU_SRAM_ADDR, 256);
    test_write(h, MXGPU_MCU_SRAM_DATA, 0x22222222); /* running: refused */
    g_assert_cmphex(test_read(h, MXGPU_ERR_INFO), ==, MXGPU_MCU_SRAM_DATA);
    g_assert_cmphex(test_read(h, MXGPU_MCU_SRAM_ADDR), ==, 256);
    g_assert_cmphex(test_read(h, MXGPU_MCU_SRAM_DATA), ==, 0);
    test_host_free(h);
}

static MxgpuMcuStop say(FakeMcu *m)
{
    static const char text[] = "hello\r\n\n\x1b[2Jx\n";

    for (const char *p = text; *p; p++) {
        m->ops.write(m->opaque, MXGPU_MCU_REGS_BASE + MXGPU_CONSOLE,
                     (uint32_t)(unsigned char)*p);
    }
    for (unsigned i = 0; i < 300; i++) {
        m->ops.write(m->opaque, MXGPU_MCU_REGS_BASE + MXGPU_CONSOLE, 'y');
    }
    m->ops.write(m->opaque, MXGPU_MCU_REGS_BASE + MXGPU_FW_READY, 1);
    m->program = NULL;
    return MXGPU_MCU_STOP_BUDGET;
}

static void test_console(void)
{
    TestHost *h = test_host_new(true);
    char *rest;

    fake_mcu.program = say;
    boot(h);
    g_assert_cmphex(test_read(h, MXGPU_MCU_STATUS), ==, MXGPU_MCU_RUNNING | 16);
    g_assert_true(g_str_has_prefix(h->console->str, "hello\n\n?[2Jx\nyyyy"));
    rest = strchr(h->console->str, 'y');
    g_assert_cmpuint(strlen(rest), ==, 257); /* a line that got too long */
    test_write(h, MXGPU_MCU_CTRL, 2);
    test_run(h);
    g_assert_cmpuint(strlen(rest), ==, 257 + 45); /* the rest, at the stop */
    g_assert_cmphex(test_read(h, MXGPU_MCU_STATUS), ==, MXGPU_MCU_RESET);
    test_host_free(h);
}

static MxgpuMcuStop get_ready(FakeMcu *m)
{
    m->ops.write(m->opaque, MXGPU_MCU_REGS_BASE + MXGPU_FW_READY, 1);
    m->program = NULL;
    return MXGPU_MCU_STOP_WFI;
}

/* READY interrupts when it rises, once. */
static void test_ready(void)
{
    TestHost *h = test_host_new(true);

    boot(h);
    test_write(h, MXGPU_IRQ_STATUS, 0xf);
    test_write(h, MXGPU_IRQ_ENABLE, 2);
    for (unsigned i = 1; i <= 2; i++) {
        h->irqs[0] = 0;
        fake_mcu.program = get_ready;
        test_write(h, MXGPU_MBOX_REQ, i);
        test_run(h);
        g_assert_cmphex(test_read(h, MXGPU_MCU_STATUS), ==,
                        MXGPU_MCU_RUNNING | 16);
        g_assert_cmpuint(h->irqs[0], ==, i == 1);
        g_assert_cmphex(test_read(h, MXGPU_IRQ_STATUS), ==, i == 1 ? 2 : 0);
        test_write(h, MXGPU_IRQ_STATUS, 0xf);
    }
    test_host_free(h);
}

static MxgpuMcuStop lock_up(FakeMcu *m)
{
    return MXGPU_MCU_STOP_LOCKUP;
}

static MxgpuMcuStop panic(FakeMcu *m)
{
    m->ops.write(m->opaque, MXGPU_MCU_REGS_BASE + MXGPU_MCU_TRAP_CAUSE, 5);
    m->ops.write(m->opaque, MXGPU_MCU_REGS_BASE + MXGPU_MCU_TRAP_PC, 0x1234);
    m->ops.write(m->opaque, MXGPU_MCU_REGS_BASE + MXGPU_FW_PANIC, 1);
    return MXGPU_MCU_STOP_BUDGET;
}

static void test_crash(void)
{
    TestHost *h = test_host_new(true);

    boot(h);
    test_write(h, MXGPU_IRQ_ENABLE, 2);
    h->irqs[0] = 0;
    test_write(h, MXGPU_IRQ_STATUS, 0xf);
    fake_mcu.program = lock_up;
    test_write(h, MXGPU_MBOX_REQ, 1);
    test_run(h);
    g_assert_cmpuint(state(h), ==, MXGPU_MCU_CRASHED);
    g_assert_cmphex(test_read(h, MXGPU_MCU_TRAP_CAUSE), ==, 2);
    g_assert_cmphex(test_read(h, MXGPU_MCU_TRAP_PC), ==, 0x20000100);
    g_assert_cmphex(test_read(h, MXGPU_MCU_TRAP_VALUE), ==, 0xdead);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==,
                    1u << MXGPU_ERR_STATUS_MCU_CRASH_SHIFT);
    g_assert_cmpuint(h->irqs[0], ==, 1);
    /* It stays down, and can be loaded again. */
    fake_mcu.runs = 0;
    test_write(h, MXGPU_MBOX_REQ, 2);
    test_run(h);
    g_assert_cmpuint(fake_mcu.runs, ==, 0);
    fake_mcu.program = panic;
    test_write(h, MXGPU_MCU_CTRL, 1);
    test_run(h);
    g_assert_cmpuint(state(h), ==, MXGPU_MCU_CRASHED);
    g_assert_cmphex(test_read(h, MXGPU_MCU_TRAP_CAUSE), ==, 5);
    g_assert_cmphex(test_read(h, MXGPU_MCU_TRAP_PC), ==, 0x1234);
    fake_mcu.program = NULL;
    boot(h);
    g_assert_cmphex(test_read(h, MXGPU_MCU_TRAP_CAUSE), ==, 0);
    test_host_free(h);
}

/* Of a turn's budget each unit that has work gets a part, not all of it. */
static void test_share(void)
{
    TestHost *h = test_host_new(true);
    uint64_t deadline;

    boot(h);
    test_run(h);
    mxgpu_device_pause(h->dev);
    mxgpu_device_resume(h->dev); /* everybody looks for work */
    fake_mcu.budget = fake_simt.budget = 0;
    mxgpu_device_run(h->dev, 10000, &deadline);
    g_assert_cmpuint(fake_mcu.budget, ==, 2000); /* control, MCU, 2, compute */
    g_assert_cmpuint(fake_simt.budget, ==, 2000);
    test_host_free(h);
}

static void test_timer(void)
{
    TestHost *h = test_host_new(true);
    uint64_t deadline;

    h->clock = 1000;
    boot(h);
    mcu_write64(h, MXGPU_MTIMECMP_LO, 500);
    while (mxgpu_device_run(h->dev, 1, &deadline)) {
    }
    g_assert_cmpuint(deadline, ==, UINT64_MAX); /* nobody told the unit */
    test_write(h, MXGPU_MBOX_REQ, 1);
    while (mxgpu_device_run(h->dev, 1, &deadline)) {
    }
    g_assert_cmpuint(deadline, ==, 1500);
    g_assert_false(fake_mcu.timer);
    h->clock = 1499;
    fake_mcu.runs = 0;
    g_assert_false(mxgpu_device_run(h->dev, 1, &deadline));
    g_assert_cmpuint(fake_mcu.runs, ==, 0);
    h->clock = 1500;
    while (mxgpu_device_run(h->dev, 1, &deadline)) {
    }
    g_assert_true(fake_mcu.timer);
    g_assert_cmpuint(fake_mcu.runs, >=, 1);
    g_assert_cmpuint(deadline, ==, UINT64_MAX); /* it waits for others */
    g_assert_cmpuint(mcu_read(h, MXGPU_MTIME_LO), ==, 500);
    mcu_write(h, MXGPU_MTIMECMP_HI, 1);
    g_assert_false(fake_mcu.timer);
    g_assert_cmphex(test_read(h, MXGPU_MCU_INSTRET_LO) & 0x7fffffff, ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_MCU_INSTRET_HI), >, 0);
    test_host_free(h);
}

static void test_bus(void)
{
    TestHost *h = test_host_new(true);
    uint32_t v;

    g_assert_false(fake_mcu.ops.read(fake_mcu.opaque, 0x40010000, &v));
    g_assert_false(fake_mcu.ops.read(fake_mcu.opaque, 0x3ffffffc, &v));
    g_assert_false(fake_mcu.ops.write(fake_mcu.opaque, 0, 1));
    g_assert_cmphex(mcu_read(h, 0xf000), ==, 0); /* missing, reported */
    g_assert_cmphex(test_read(h, MXGPU_ERR_INFO), ==, 0xf000);
    mcu_write(h, MXGPU_RESET, MXGPU_RESET_MAGIC); /* not the MCU's */
    g_assert_cmphex(test_read(h, MXGPU_RESET_STATUS), ==, 0);
    test_host_free(h);
}

/* ---- dispatch slots ------------------------------------------------------------ */

static uint32_t cd(uint32_t reg, unsigned slot)
{
    return reg + slot * MXGPU_CD_CTRL_STRIDE;
}

static void fill_slot(TestHost *h, unsigned slot)
{
    mcu_write64(h, cd(MXGPU_CD_ENTRY_LO, slot), 0x123400005678ull);
    mcu_write64(h, cd(MXGPU_CD_ARGS_LO, slot), 0x1000);
    mcu_write(h, cd(MXGPU_CD_GRID_X, slot), 3);
    mcu_write(h, cd(MXGPU_CD_GRID_Y, slot), 4);
    mcu_write(h, cd(MXGPU_CD_GRID_Z, slot), 5);
    mcu_write(h, cd(MXGPU_CD_BLOCK_XY, slot), 6 | 7 << 16);
    mcu_write(h, cd(MXGPU_CD_BLOCK_Z, slot), 8);
    mcu_write(h, cd(MXGPU_CD_SHARED, slot), 4096);
    mcu_write(h, cd(MXGPU_CD_SHARED_STATIC, slot), 1024);
    mcu_write(h, cd(MXGPU_CD_PRIVATE, slot), 8192);
    mcu_write(h, cd(MXGPU_CD_CFG, slot), 9 | 2 << 4 | 100 << 8);
}

static void test_dispatch(void)
{
    TestHost *h = test_host_new(true);
    MxgpuDispatchFault fault = {.code = MXGPU_FAULT_NOT_PRESENT,
                                .access = MXGPU_ACCESS_ATOMIC,
                                .addr = 0xdead00000000ull,
                                .pc = 0x400,
                                .block = {1, 2, 3},
                                .thread = 99};
    MxgpuDispatch *d = &fake_simt.dispatch[7];

    fill_slot(h, 7);
    mcu_write(h, MXGPU_INT_ENABLE, 0xf);
    h->clock = 0x500000007ull;
    mcu_write(h, cd(MXGPU_CD_CTRL, 7), 1);
    g_assert_true(fake_simt.running[7]);
    g_assert_cmphex(d->entry, ==, 0x123400005678ull);
    g_assert_cmphex(d->args, ==, 0x1000);
    g_assert_cmpuint(d->grid[2], ==, 5);
    g_assert_cmpuint(d->block[0] + d->block[1] + d->block[2], ==, 21);
    g_assert_cmpuint(d->shared + d->shared_static, ==, 5120);
    g_assert_cmpuint(d->private_bytes, ==, 8192);
    g_assert_cmpuint(d->vmid, ==, 9);
    g_assert_cmpuint(d->priority, ==, 2);
    g_assert_cmpuint(d->registers, ==, 100);
    fake_simt.budget = 0;
    test_run(h);
    g_assert_cmpuint(fake_simt.budget, !=, 0); /* who drives units was woken */
    mcu_write(h, cd(MXGPU_CD_CTRL, 7), 3); /* busy: nothing */
    h->clock = 0x600000001ull;
    fake_simt_finish(7, (MxgpuDispatchFault){0});
    g_assert_cmphex(mcu_read(h, MXGPU_INT_PENDING), ==, 8 | 0x80 << 8);
    g_assert_cmphex(mcu_read(h, cd(MXGPU_CD_STATUS, 7)), ==, MXGPU_UNIT_DONE);
    g_assert_cmphex(mcu_read(h, cd(MXGPU_CD_START_LO, 7)), ==, 7);
    g_assert_cmphex(mcu_read(h, cd(MXGPU_CD_END_HI, 7)), ==, 6);
    mcu_write(h, cd(MXGPU_CD_CTRL, 7), 3); /* ACK and START */
    fake_simt_finish(7, fault);
    g_assert_cmphex(mcu_read(h, cd(MXGPU_CD_STATUS, 7)), ==,
                    MXGPU_UNIT_FAULT | MXGPU_FAULT_NOT_PRESENT << 8 | 3 << 16);
    g_assert_cmphex(mcu_read(h, cd(MXGPU_CD_FAULT_ADDR_HI, 7)), ==, 0xdead);
    g_assert_cmphex(mcu_read(h, cd(MXGPU_CD_FAULT_PC_LO, 7)), ==, 0x400);
    g_assert_cmpuint(mcu_read(h, cd(MXGPU_CD_FAULT_BLOCK_Z, 7)), ==, 3);
    g_assert_cmpuint(mcu_read(h, cd(MXGPU_CD_FAULT_THREAD, 7)), ==, 99);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==,
                    1u << MXGPU_ERR_STATUS_FAULT_SHIFT);
    test_host_free(h);
}

static void test_dispatch_hold(void)
{
    TestHost *h = test_host_new(true);

    mcu_write(h, MXGPU_CD_HOLD, 0xffffff05);
    g_assert_cmphex(fake_simt.held, ==, 5);
    g_assert_cmphex(mcu_read(h, MXGPU_CD_HOLD), ==, 5);
    mcu_write(h, MXGPU_CD_HOLD, 6);
    g_assert_cmphex(fake_simt.held, ==, 6);
    fake_simt.waits = 0x82;
    g_assert_cmphex(mcu_read(h, MXGPU_CD_WAITS), ==, 0x82);
    g_assert_cmphex(test_read(h, MXGPU_CD_WAITS), ==, 0); /* not the host's */
    g_assert_cmphex(mcu_read(h, MXGPU_CD_SPENT + 5 * MXGPU_CD_SPENT_STRIDE), ==,
                    5);
    fake_simt.waits = fake_simt.held = 0;
    test_host_free(h);
}

static void test_dispatch_bad(void)
{
    TestHost *h = test_host_new(true);

    fill_slot(h, 0);
    fake_simt.start_result = MXGPU_FAULT_CONFIG; /* does not fit */
    mcu_write(h, MXGPU_CD_CTRL, 1);
    g_assert_cmphex(mcu_read(h, MXGPU_CD_STATUS), ==,
                    MXGPU_UNIT_FAULT | MXGPU_FAULT_CONFIG << 8);
    mcu_write(h, MXGPU_CD_CTRL, 2);
    mcu_write(h, MXGPU_CD_CTRL, 4); /* idle: nothing to abort */
    g_assert_cmpuint(fake_simt.aborts, ==, 0);
    fake_simt.start_result = MXGPU_FAULT_NONE;
    mcu_write(h, MXGPU_CD_CTRL, 1);
    mcu_write(h, MXGPU_CD_CTRL, 4);
    g_assert_cmphex(mcu_read(h, MXGPU_CD_STATUS), ==,
                    MXGPU_UNIT_FAULT | MXGPU_FAULT_ABORTED << 8);
    test_host_free(h);
}

/* ---- reset and pause ------------------------------------------------------------ */

static void disturb(TestHost *h)
{
    boot(h);
    test_write(h, MXGPU_IRQ_ENABLE, 0xf);
    test_write(h, MXGPU_MBOX_REQ, 5);
    test_read(h, 0xf000);
    mcu_write(h, MXGPU_DB_ENABLE, 1);
    mxgpu_device_doorbell_write(h->dev, 0, 9, 8);
    mcu_write64(h, MXGPU_MMU_ROOT_LO, 0x1101);
    mcu_write64(h, MXGPU_CE_SIZE_LO, 64);
    mcu_write(h, MXGPU_CE_CTRL, 1);
    fill_slot(h, 0);
    mcu_write(h, MXGPU_CD_CTRL, 1);
    h->vram[123] = 0x55;
}

static void check_clean(TestHost *h, uint32_t reset_status)
{
    g_assert_cmphex(test_read(h, MXGPU_RESET_STATUS), ==, reset_status);
    g_assert_cmphex(test_read(h, MXGPU_MCU_STATUS), ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_IRQ_ENABLE), ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_IRQ_STATUS), ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_ERR_COUNT), ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_MBOX_REQ), ==, 0);
    g_assert_cmphex(mcu_read(h, MXGPU_INT_PENDING), ==, 0);
    g_assert_cmphex(mcu_read(h, MXGPU_DB_ENABLE), ==, 0);
    g_assert_cmphex(mcu_read(h, MXGPU_DB_VALUE_LO), ==, 0);
    g_assert_cmphex(mcu_read(h, MXGPU_MMU_ROOT_LO), ==, 0);
    g_assert_cmphex(mcu_read(h, MXGPU_CE_STATUS), ==, 0);
    g_assert_cmphex(mcu_read(h, MXGPU_CD_STATUS), ==, 0);
    g_assert_cmphex(mcu_read(h, MXGPU_MTIMECMP_LO), ==, 0xffffffff);
    g_assert_cmphex(test_read(h, MXGPU_MCU_SRAM_DATA), ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_ID), ==, MXGPU_ID_MAGIC);
    g_assert_cmphex(test_read(h, MXGPU_VRAM_SIZE_LO), ==, TEST_VRAM_SIZE);
    g_assert_cmphex(h->vram[123], ==, 0x55);
    g_assert_false(fake_simt.running[0]);
}

static void test_reset(void)
{
    TestHost *h = test_host_new(true);

    disturb(h);
    test_write(h, MXGPU_RESET, 1); /* not the magic */
    g_assert_cmphex(test_read(h, MXGPU_RESET_STATUS), ==, 0);
    test_write(h, MXGPU_RESET, MXGPU_RESET_MAGIC);
    g_assert_cmphex(test_read(h, MXGPU_RESET_STATUS) & 1, ==, 1);
    g_assert_cmphex(test_read(h, MXGPU_IRQ_ENABLE), ==, 0xf); /* posted */
    test_run(h);
    check_clean(h, 1 << 4 | 1 << 16);
    disturb(h);
    mxgpu_device_reset(h->dev, MXGPU_RESET_BUS);
    check_clean(h, 2 << 4 | 2 << 16);
    boot(h);
    test_host_free(h);
}

static void test_pause(void)
{
    TestHost *h = test_host_new(true);

    boot(h);
    mxgpu_device_pause(h->dev);
    mxgpu_device_pause(h->dev);
    fake_mcu.runs = 0;
    test_write(h, MXGPU_MBOX_REQ, 1);
    test_write(h, MXGPU_RESET, MXGPU_RESET_MAGIC);
    test_run(h);
    mxgpu_device_resume(h->dev);
    test_run(h);
    g_assert_cmpuint(fake_mcu.runs, ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_RESET_STATUS) & 1, ==, 1);
    h->kicks = 0;
    mxgpu_device_resume(h->dev);
    g_assert_cmpuint(h->kicks, ==, 1);
    test_run(h);
    g_assert_cmphex(test_read(h, MXGPU_RESET_STATUS) & 1, ==, 0);
    /* A bus reset of a stopped machine. */
    disturb(h);
    mxgpu_device_pause(h->dev);
    mxgpu_device_reset(h->dev, MXGPU_RESET_BUS);
    check_clean(h, 2 << 4 | 2 << 16);
    mxgpu_device_resume(h->dev);
    test_host_free(h);
}

/* ---- under threads ----------------------------------------------------------------- */

/* Answers the mailbox and doorbells, as long as there is something. Doorbells are
 * enabled before a request is answered: who sees the answer may ring. */
static MxgpuMcuStop serve(FakeMcu *m)
{
    uint32_t base = MXGPU_MCU_REGS_BASE, req, ack, db;

    m->ops.write(m->opaque, base + MXGPU_DB_ENABLE, 1);
    m->ops.read(m->opaque, base + MXGPU_MBOX_REQ, &req);
    m->ops.read(m->opaque, base + MXGPU_MBOX_ACK, &ack);
    if (req != ack) {
        m->ops.write(m->opaque, base + MXGPU_MBOX_ACK, req);
    }
    m->ops.read(m->opaque, base + MXGPU_DB_PENDING, &db);
    m->ops.write(m->opaque, base + MXGPU_DB_PENDING, db);
    if (db) {
        m->ops.read(m->opaque, base + MXGPU_DB_VALUE_LO, &db);
        m->ops.write(m->opaque, base + MXGPU_MBOX_RESP, db);
        m->ops.write(m->opaque, base + MXGPU_MSIX_RAISE, 3);
    }
    return MXGPU_MCU_STOP_WFI;
}

static void wait_for(TestHost *h, uint32_t reg, uint32_t mask, uint32_t value)
{
    gint64 end = g_get_monotonic_time() + 300 * G_USEC_PER_SEC;

    while ((test_read(h, reg) & mask) != value) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_thread_yield();
    }
}

/* No wake-up is lost: every request and ring is answered by a sleeping MCU. */
static void test_wakeups(void)
{
    TestHost *h = test_host_new(false);
    struct mxgpu_fw_header fw = good_header();

    fake_mcu.program = serve;
    load(h, &fw);
    test_write(h, MXGPU_MCU_CTRL, 1);
    wait_for(h, MXGPU_MCU_STATUS, 15, MXGPU_MCU_RUNNING);
    test_write(h, MXGPU_MBOX_REQ, 1);
    wait_for(h, MXGPU_MBOX_ACK, UINT32_MAX, 1);
    for (uint32_t i = 2; i < 2000; i++) {
        mxgpu_device_doorbell_write(h->dev, 0, i, 8);
        wait_for(h, MXGPU_MBOX_RESP, UINT32_MAX, i);
        test_write(h, MXGPU_MBOX_REQ, i);
        wait_for(h, MXGPU_MBOX_ACK, UINT32_MAX, i);
    }
    g_assert_cmpuint(h->irqs[3], <=, 1998);
    g_assert_cmpuint(h->irqs[3], >, 0);
    test_host_free(h);
}

static gpointer storm(gpointer data)
{
    TestHost *h = data;

    for (unsigned i = 0; i < 200; i++) {
        mxgpu_device_pause(h->dev);
        test_write(h, MXGPU_RESET, MXGPU_RESET_MAGIC);
        mxgpu_device_resume(h->dev);
        if (i % 8 == 0) {
            mxgpu_device_reset(h->dev, MXGPU_RESET_BUS);
        }
    }
    return NULL;
}

/* Pauses, resets of both kinds and a starting MCU at once: all of it ends. */
static void test_storm(void)
{
    TestHost *h = test_host_new(false);
    struct mxgpu_fw_header fw = good_header();
    GThread *threads[2];

    fake_mcu.program = serve;
    for (unsigned i = 0; i < 2; i++) {
        threads[i] = g_thread_new("storm", storm, h);
    }
    for (unsigned i = 0; i < 100; i++) {
        load(h, &fw);
        test_write(h, MXGPU_MCU_CTRL, 1);
        mxgpu_device_doorbell_write(h->dev, 0, i, 8);
        test_write(h, MXGPU_MBOX_REQ, i);
    }
    for (unsigned i = 0; i < 2; i++) {
        g_thread_join(threads[i]);
    }
    wait_for(h, MXGPU_RESET_STATUS, 1, 0);
    load(h, &fw);
    test_write(h, MXGPU_MCU_CTRL, 1);
    wait_for(h, MXGPU_MCU_STATUS, 15, MXGPU_MCU_RUNNING);
    test_host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mcu/boot-errors", test_boot_errors);
    g_test_add_func("/mcu/sram", test_sram);
    g_test_add_func("/mcu/console", test_console);
    g_test_add_func("/mcu/ready", test_ready);
    g_test_add_func("/mcu/crash", test_crash);
    g_test_add_func("/mcu/share", test_share);
    g_test_add_func("/mcu/timer", test_timer);
    g_test_add_func("/mcu/bus", test_bus);
    g_test_add_func("/dispatch/slot", test_dispatch);
    g_test_add_func("/dispatch/bad", test_dispatch_bad);
    g_test_add_func("/dispatch/hold", test_dispatch_hold);
    g_test_add_func("/reset/register-and-bus", test_reset);
    g_test_add_func("/reset/pause", test_pause);
    g_test_add_func("/threads/wakeups", test_wakeups);
    g_test_add_func("/threads/storm", test_storm);
    return g_test_run();
}
