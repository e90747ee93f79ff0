/* SPDX-License-Identifier: MIT */
/* Where the MCU is, the firmware watchdog, and what a step of it may take. */
#include <zlib.h>

#include "core/internal.h"
#include "test_host.h"

#define ENTRY (MXGPU_MCU_SRAM_BASE + 64)
#define MS    1000000ull
#define LIMIT 50 /* ms */

static TestHost *host;

static void reg(FakeMcu *m, uint32_t offset, uint32_t value)
{
    m->ops.write(m->opaque, MXGPU_MCU_REGS_BASE + offset, value);
}

static MxgpuMcuState *cpu(void)
{
    return mxgpu_mcu_state(host->dev->mcu.mcu);
}

static void start(MxgpuMcuStop (*program)(FakeMcu *))
{
    struct mxgpu_fw_header fw = {
        .magic = MXGPU_FW_MAGIC,
        .header_size = sizeof(fw),
        .image_size = sizeof(fw) + 4,
        .isa = MXGPU_FW_ISA_RV32IMAC,
        .entry = ENTRY,
    };
    const uint32_t code = 0x13, *words = (const uint32_t *)&fw;

    fw.crc32 = (uint32_t)crc32(0, (const uint8_t *)&code, 4);
    for (unsigned i = 0; i < sizeof(fw) / 4; i++) {
        test_write(host, MXGPU_MCU_SRAM_DATA, words[i]);
    }
    test_write(host, MXGPU_MCU_SRAM_DATA, code);
    fake_mcu.program = program;
    test_write(host, MXGPU_MCU_CTRL, 1);
}

static void setup(unsigned limit)
{
    MxgpuConfig config;
    const char *error;

    host = test_host_new(true);
    mxgpu_device_free(host->dev);
    config = test_config(host);
    config.deterministic = true;
    config.firmware_watchdog_ms = limit;
    host->dev = mxgpu_device_new(&config, &test_host_ops, host, &error);
    g_assert_nonnull(host->dev);
}

static void step(uint64_t *deadline)
{
    mxgpu_device_run(host->dev, 100, deadline);
}

static bool stuck(void)
{
    return test_read(host, MXGPU_ERR_STATUS) >>
           MXGPU_ERR_STATUS_MCU_STUCK_SHIFT & 1;
}

/* ---- where it is */

static MxgpuMcuStop endless(FakeMcu *m)
{
    cpu()->pc += 4;
    cpu()->x[1] = 0x20001111;
    cpu()->x[2] = 0x20002222;
    return MXGPU_MCU_STOP_BUDGET;
}

static void test_place(void)
{
    uint64_t deadline;

    setup(0);
    start(endless);
    step(&deadline);
    g_assert_cmphex(test_read(host, MXGPU_MCU_PC), ==, cpu()->pc);
    g_assert_cmphex(test_read(host, MXGPU_MCU_RA), ==, 0x20001111);
    g_assert_cmphex(test_read(host, MXGPU_MCU_SP), ==, 0x20002222);
    step(&deadline);
    g_assert_cmphex(test_read(host, MXGPU_MCU_PC), ==, cpu()->pc);
    mxgpu_device_reset(host->dev, MXGPU_RESET_BUS);
    g_assert_cmphex(test_read(host, MXGPU_MCU_RA), ==, 0);
    test_host_free(host);
}

/* The handler of a trap has overwritten ra and sp. */
static MxgpuMcuStop panic(FakeMcu *m)
{
    cpu()->trap_pc = 0x20000444;
    cpu()->trap_ra = 0x20000555;
    cpu()->trap_sp = 0x20000666;
    cpu()->pc = 0x20000100;
    cpu()->x[1] = cpu()->x[2] = 0x20000200;
    reg(m, MXGPU_MCU_TRAP_PC, 0x20000444);
    reg(m, MXGPU_FW_PANIC, 1);
    return MXGPU_MCU_STOP_HALT;
}

static void test_crash(void)
{
    setup(0);
    start(panic);
    test_run(host);
    g_assert_cmphex(test_read(host, MXGPU_MCU_STATUS), ==, MXGPU_MCU_CRASHED);
    g_assert_cmphex(test_read(host, MXGPU_MCU_PC), ==, 0x20000444);
    g_assert_cmphex(test_read(host, MXGPU_MCU_RA), ==, 0x20000555);
    g_assert_cmphex(test_read(host, MXGPU_MCU_SP), ==, 0x20000666);
    test_host_free(host);
}

/* ---- progress */

static void expect_report(unsigned times)
{
    unsigned n = 0;

    for (const char *p = host->console->str;
         (p = strstr(p, "firmware watchdog: no progress for 50 ms, pc 0x"));
         p++) {
        n++;
    }
    g_assert_cmpuint(n, ==, times);
    g_assert_true(stuck() == (times > 0));
    g_assert_cmpuint(host->traces[MXGPU_TRACE_MCU_STUCK], ==, times);
}

/* What firmware does that waits for something in memory. */
static MxgpuMcuStop wait_in_vain(FakeMcu *m)
{
    reg(m, MXGPU_MEM_CMD, 1 << 8);
    reg(m, MXGPU_CONSOLE, 'x');
    reg(m, MXGPU_MTIMECMP_LO, 1);
    return endless(m);
}

static void test_endless(void)
{
    uint64_t deadline;

    setup(LIMIT);
    start(wait_in_vain);
    step(&deadline);
    host->clock += LIMIT * MS - 1;
    step(&deadline);
    expect_report(0);
    host->clock++;
    step(&deadline);
    expect_report(1);
    host->clock += 10 * LIMIT * MS;
    step(&deadline); /* said once; it runs on */
    expect_report(1);
    g_assert_cmphex(test_read(host, MXGPU_MCU_STATUS), ==, MXGPU_MCU_RUNNING);
    test_host_free(host);
}

static MxgpuMcuStop act(FakeMcu *m)
{
    static const uint32_t regs[] = {
        MXGPU_MBOX_ACK, MXGPU_DB_PENDING, MXGPU_CE_CTRL, MXGPU_CD_CTRL,
        MXGPU_MSIX_RAISE, MXGPU_EVENT_RAISE, MXGPU_MMU_INV_CMD,
    };
    static unsigned n;

    reg(m, regs[n++ % G_N_ELEMENTS(regs)], 0);
    return MXGPU_MCU_STOP_BUDGET;
}

static MxgpuMcuStop rest(FakeMcu *m)
{
    return MXGPU_MCU_STOP_WFI;
}

static void test_progress(void)
{
    uint64_t deadline;

    setup(LIMIT);
    start(act);
    for (unsigned i = 0; i < 30; i++) {
        host->clock += (LIMIT - 1) * MS;
        step(&deadline);
    }
    fake_mcu.program = rest; /* nothing to do is no standstill */
    step(&deadline);
    g_assert_cmpuint(deadline, ==, UINT64_MAX);
    host->clock += 10 * LIMIT * MS;
    mxgpu_stepper_wake(&host->dev->steppers[MXGPU_STEPPER_MCU]);
    step(&deadline);
    expect_report(0);
    test_host_free(host);
}

/* It sleeps although somebody waits for an answer. */
static void test_asleep(void)
{
    uint64_t deadline;

    setup(LIMIT);
    start(rest);
    step(&deadline);
    test_write(host, MXGPU_MBOX_REQ, 7);
    step(&deadline);
    g_assert_cmpuint(deadline, ==, host->clock + LIMIT * MS);
    host->clock = deadline;
    step(&deadline);
    expect_report(1);
    fake_mcu.program = act;
    test_write(host, MXGPU_MBOX_REQ, 8);
    step(&deadline); /* it was only slow: the next time is told, too */
    fake_mcu.program = endless;
    host->clock += LIMIT * MS;
    step(&deadline);
    expect_report(2);
    test_host_free(host);
}

/* ---- what firmware starts is charged, and ends a step that is waited for */

static MxgpuMcuStop costly(FakeMcu *m)
{
    uint64_t before = m->charged;

    reg(m, MXGPU_CONSOLE, 'x');
    g_assert_cmpuint(m->charged, ==, before);
    reg(m, MXGPU_MEM_ADDR_LO, 4096 - 8); /* two pages on the bus */
    reg(m, MXGPU_MEM_CMD, 1 << 4 | 16 << 8);
    g_assert_cmpuint(mcu_read(host, MXGPU_MEM_STATUS), ==, MXGPU_FAULT_NONE);
    g_assert_cmpuint(m->charged - before, >=, 2 * 2 * 16);
    before = m->charged;
    reg(m, MXGPU_CD_CTRL, 1);
    g_assert_cmpuint(m->charged - before, >=, 32);
    before = m->charged;
    mxgpu_stepper_hold(&host->dev->steppers[MXGPU_STEPPER_MCU]);
    reg(m, MXGPU_CONSOLE, 'x');
    g_assert_cmpuint(m->charged - before, >=, UINT32_MAX);
    mxgpu_stepper_release(&host->dev->steppers[MXGPU_STEPPER_MCU]);
    m->program = NULL;
    return MXGPU_MCU_STOP_WFI;
}

static void test_charges(void)
{
    uint64_t root;

    setup(0);
    root = test_root(host);
    for (unsigned i = 0; i < 2; i++) {
        test_map(host, root, i * 4096, 0,
                 (TEST_BUS_BASE + i * 4096) | MXGPU_PTE_VALID |
                     MXGPU_PTE_SYSTEM | MXGPU_PTE_READ | MXGPU_PTE_WRITE);
    }
    start(NULL);
    test_run(host);
    mcu_write64(host, MXGPU_MMU_ROOT_LO + MXGPU_MMU_ROOT_LO_STRIDE, root);
    fake_mcu.program = costly;
    mxgpu_stepper_wake(&host->dev->steppers[MXGPU_STEPPER_MCU]);
    test_run(host);
    g_assert_null(fake_mcu.program);
    test_host_free(host);
}

/* ---- a small kernel that the MCU's thread runs */

/* As on a device with threads, where that is done. */
static MxgpuMcuStop launch(FakeMcu *m)
{
    for (unsigned i = 0; i < 3; i++) {
        reg(m, MXGPU_CD_GRID_X + 4 * i, 1);
    }
    reg(m, MXGPU_CD_BLOCK_XY, 1 | 1 << 16);
    reg(m, MXGPU_CD_BLOCK_Z, 1);
    host->dev->config.deterministic = false;
    reg(m, MXGPU_CD_CTRL, 1);
    host->dev->config.deterministic = true;
    fake_simt_finish(0, (MxgpuDispatchFault){.code = MXGPU_FAULT_NONE});
    reg(m, MXGPU_CD_CTRL, 2);
    m->program = rest;
    return MXGPU_MCU_STOP_WFI;
}

/* Some worker looks at its unit when that has been idle for long: when the last
 * one of them says. */
static void test_idle_unit(void)
{
    uint64_t deadline;
    unsigned runs;

    setup(0);
    start(rest);
    test_run(host);
    runs = fake_simt.runs;
    for (unsigned i = 1; i < 3; i++) {
        host->clock += 900 * MS;
        fake_mcu.program = launch;
        fake_simt.idle = host->clock + 1000 * MS;
        mxgpu_stepper_wake(&host->dev->steppers[MXGPU_STEPPER_MCU]);
        step(&deadline); /* the end of the kernel wakes the MCU once more */
        step(&deadline);
        g_assert_cmpuint(deadline, ==, fake_simt.idle);
        g_assert_cmpuint(fake_simt.runs, ==, runs + i);
    }
    host->clock = fake_simt.idle;
    fake_simt.idle = 0;
    test_run(host);
    g_assert_cmpuint(fake_simt.runs, >, runs + 2);
    step(&deadline);
    g_assert_cmpuint(deadline, ==, UINT64_MAX);
    test_host_free(host);
}

/* A worker looks at the unit just while the MCU's thread has it. */
static void look(unsigned cu)
{
    uint64_t deadline = UINT64_MAX;
    unsigned runs = fake_simt.runs;

    fake_simt.asked = NULL;
    g_assert_false(mxgpu_compute_step(host->dev, 0, 100, &deadline));
    g_assert_cmpuint(fake_simt.runs, ==, runs);
}

/* It is woken again: what it was to look for may be there still. */
static void test_claimed_unit(void)
{
    unsigned runs;

    setup(0);
    start(rest);
    test_run(host);
    for (unsigned looks = 0; looks < 2; looks++) {
        runs = fake_simt.runs;
        fake_mcu.program = launch;
        fake_simt.asked = looks ? look : NULL;
        mxgpu_stepper_wake(&host->dev->steppers[MXGPU_STEPPER_MCU]);
        test_run(host);
        g_assert_null(fake_simt.asked);
        g_assert_cmpuint(fake_simt.runs, ==, runs + 1 + looks);
    }
    test_host_free(host);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/watch/place", test_place);
    g_test_add_func("/watch/crash", test_crash);
    g_test_add_func("/watch/endless", test_endless);
    g_test_add_func("/watch/progress", test_progress);
    g_test_add_func("/watch/asleep", test_asleep);
    g_test_add_func("/watch/charges", test_charges);
    g_test_add_func("/watch/idle-unit", test_idle_unit);
    g_test_add_func("/watch/claimed-unit", test_claimed_unit);
    return g_test_run();
}
