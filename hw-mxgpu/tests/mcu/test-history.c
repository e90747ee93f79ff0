/* SPDX-License-Identifier: MIT */
/* The core goes back, instruction by instruction, and forward again. */
#include "mcu/debug.h"
#include "mcu/mcu.h"

#include <glib.h>
#include <string.h>

#include "mxgpu/regs.h"

#define BASE      MXGPU_MCU_SRAM_BASE
#define SRAM_SIZE 0x4000u
#define DATA      0x2000u
#define BUS       0x40000010u
#define WORDS     1024u

typedef struct Rig {
    uint8_t sram[SRAM_SIZE];
    MxgpuMcu *mcu;
    unsigned reads, writes;
} Rig;

typedef struct Moment {
    MxgpuMcuState s;
    uint8_t data[256];
} Moment;

static bool bus_read(void *opaque, uint32_t addr, uint32_t *value)
{
    *value = ++((Rig *)opaque)->reads;
    return addr == BUS;
}

static bool bus_write(void *opaque, uint32_t addr, uint32_t value)
{
    ((Rig *)opaque)->writes++;
    return addr == BUS;
}

static const MxgpuMcuOps ops = {bus_read, bus_write};

/*
 * A loop that counts in x5, with everything that changes something: stores of
 * each size, one of them misaligned over two words, an AMO, lr and sc, the bus,
 * a CSR, and an exception (ecall) whose handler comes back behind it.
 */
static const uint32_t program[] = {
    0x20002537, /* lui  a0, 0x20002: DATA */
    0x400005b7, /* lui  a1, 0x40000 */
    0x200002b7, /* lui  t0, 0x20000 */
    0x08028293, /* addi t0, t0, 0x80 */
    0x30529073, /* csrw mtvec, t0 */
    0x00000293, /* li   t0, 0 */
    /* loop: */
    0x00128293, /* addi t0, t0, 1 */
    0x00552023, /* sw   t0, 0(a0) */
    0x005512a3, /* sh   t0, 5(a0) */
    0x00550523, /* sb   t0, 10(a0) */
    0x005527a3, /* sw   t0, 15(a0) */
    0x0055a823, /* sw   t0, 16(a1) */
    0x0105a603, /* lw   a2, 16(a1) */
    0x005526af, /* amoadd.w a3, t0, (a0) */
    0x1005272f, /* lr.w a4, (a0) */
    0x1855262f, /* sc.w a2, t0, (a0) */
    0x00000073, /* ecall */
    0xfd5ff06f, /* j    loop */
};
static const uint32_t handler[] = { /* at 0x80 */
    0x34102373, /* csrr t1, mepc */
    0x00430313, /* addi t1, t1, 4 */
    0x34131073, /* csrw mepc, t1 */
    0x30200073, /* mret */
};
#define LOOP (BASE + 6 * 4)

static Rig *rig_new(uint64_t words)
{
    Rig *r = g_new0(Rig, 1);

    memcpy(r->sram, program, sizeof(program));
    memcpy(r->sram + 0x80, handler, sizeof(handler));
    r->mcu = mxgpu_mcu_new(r->sram, SRAM_SIZE, &ops, r);
    mxgpu_mcu_reset(r->mcu, BASE);
    mxgpu_mcu_debug_attach(r->mcu, true);
    g_assert_true(mxgpu_mcu_debug_record(r->mcu, words));
    return r;
}

static void rig_free(Rig *r)
{
    mxgpu_mcu_free(r->mcu);
    g_free(r);
}

static uint32_t pc(Rig *r)
{
    return mxgpu_mcu_state(r->mcu)->pc;
}

static void step(Rig *r)
{
    mxgpu_mcu_debug_resume(r->mcu, true, 0, 0, false);
    if (!mxgpu_mcu_debug_again(r->mcu)) {
        g_assert_cmpint(mxgpu_mcu_run(r->mcu, 10), ==, MXGPU_MCU_STOP_DEBUG);
    }
    g_assert_cmpint(mxgpu_mcu_debug_stop(r->mcu)->why, ==,
                    MXGPU_MCU_DEBUG_STEP);
}

static MxgpuMcuDebugStop back(Rig *r, bool one)
{
    mxgpu_mcu_debug_back(r->mcu, one, 0, 0);
    return *mxgpu_mcu_debug_stop(r->mcu);
}

/* false: it ran on for real. */
static bool on(Rig *r)
{
    mxgpu_mcu_debug_resume(r->mcu, false, 0, 0, false);
    return mxgpu_mcu_debug_again(r->mcu);
}

static Moment moment(Rig *r)
{
    Moment m;

    memset(&m, 0, sizeof(m));
    m.s = *mxgpu_mcu_state(r->mcu);
    memcpy(m.data, r->sram + DATA, sizeof(m.data));
    return m;
}

static void expect(Rig *r, const Moment *m)
{
    g_assert_cmpmem(mxgpu_mcu_state(r->mcu), sizeof(m->s), &m->s,
                    sizeof(m->s));
    g_assert_cmpmem(r->sram + DATA, sizeof(m->data), m->data,
                    sizeof(m->data));
}

static void expect_recorded(Rig *r, uint64_t behind, uint64_t ahead)
{
    uint64_t b, a;

    g_assert_true(mxgpu_mcu_debug_recorded(r->mcu, &b, &a));
    g_assert_cmpuint(b, ==, behind);
    g_assert_cmpuint(a, ==, ahead);
}

/* Every moment is met again, whichever way one comes. */
static void test_there_and_back(void)
{
    enum { N = 120 };
    Rig *r = rig_new(1u << 16);
    Moment m[N + 1];
    unsigned reads, writes;

    for (unsigned i = 0; i < N; i++) {
        m[i] = moment(r);
        step(r);
    }
    m[N] = moment(r);
    reads = r->reads;
    writes = r->writes;
    g_assert_cmpuint(reads, >, 3);
    for (unsigned pass = 0; pass < 3; pass++) {
        for (unsigned i = N; i-- > 0;) {
            g_assert_cmpint(back(r, true).why, ==, MXGPU_MCU_DEBUG_STEP);
            expect(r, &m[i]);
        }
        expect_recorded(r, 0, N);
        g_assert_cmpint(back(r, true).why, ==, MXGPU_MCU_DEBUG_HISTORY);
        expect(r, &m[0]);
        for (unsigned i = 1; i <= N; i++) {
            step(r);
            expect(r, &m[i]);
        }
        expect_recorded(r, N, 0);
    }
    /* Nothing of it was executed. */
    g_assert_cmpuint(r->reads, ==, reads);
    g_assert_cmpuint(r->writes, ==, writes);
    rig_free(r);
}

static void insert(Rig *r, MxgpuMcuPoint kind, uint32_t addr, uint32_t len)
{
    g_assert_true(mxgpu_mcu_debug_insert(r->mcu, kind, addr, len));
}

static void test_points(void)
{
    Rig *r = rig_new(1u << 16);
    MxgpuMcuDebugStop stop;

    for (unsigned i = 0; i < 100; i++) {
        step(r);
    }
    insert(r, MXGPU_MCU_BREAK, LOOP, 4);
    stop = back(r, false);
    g_assert_cmpint(stop.why, ==, MXGPU_MCU_DEBUG_POINT);
    g_assert_cmphex(stop.pc, ==, LOOP);
    g_assert_cmphex(pc(r), ==, LOOP);
    {
        uint32_t x5 = mxgpu_mcu_state(r->mcu)->x[5];

        back(r, false);
        g_assert_cmpuint(mxgpu_mcu_state(r->mcu)->x[5], ==, x5 - 1);
        step(r);
        g_assert_true(on(r)); /* within what is known */
        g_assert_cmphex(pc(r), ==, LOOP);
        g_assert_cmpuint(mxgpu_mcu_state(r->mcu)->x[5], ==, x5);
    }
    g_assert_true(mxgpu_mcu_debug_remove(r->mcu, MXGPU_MCU_BREAK, LOOP, 4));
    /* The instruction that wrote it is the next one. */
    insert(r, MXGPU_MCU_WATCH_WRITE, BASE + DATA + 10, 1);
    stop = back(r, false);
    g_assert_cmpint(stop.why, ==, MXGPU_MCU_DEBUG_POINT);
    g_assert_cmpint(stop.kind, ==, MXGPU_MCU_WATCH_WRITE);
    g_assert_cmphex(stop.addr, ==, BASE + DATA + 10);
    g_assert_cmphex(stop.pc, ==, LOOP + 3 * 4);
    g_assert_true(mxgpu_mcu_debug_remove(r->mcu, MXGPU_MCU_WATCH_WRITE,
                                         BASE + DATA + 10, 1));
    g_assert_cmpint(back(r, false).why, ==, MXGPU_MCU_DEBUG_HISTORY);
    g_assert_cmphex(pc(r), ==, BASE);
    /* To the end, and on from there. */
    g_assert_false(on(r));
    expect_recorded(r, 100, 0);
    g_assert_cmpint(mxgpu_mcu_run(r->mcu, 50), ==, MXGPU_MCU_STOP_BUDGET);
    g_assert_cmpint(back(r, true).why, ==, MXGPU_MCU_DEBUG_STEP);
    expect_recorded(r, 149, 1);
    rig_free(r);
}

/* A range of pc is stepped over backwards, too. */
static void test_range(void)
{
    Rig *r = rig_new(1u << 16);

    for (unsigned i = 0; i < 60; i++) {
        step(r);
    }
    while (pc(r) != BASE + 0x80) {
        back(r, true);
    }
    mxgpu_mcu_debug_back(r->mcu, true, LOOP, BASE + 0x80);
    g_assert_cmpint(mxgpu_mcu_debug_stop(r->mcu)->why, ==,
                    MXGPU_MCU_DEBUG_STEP);
    g_assert_cmphex(pc(r), ==, BASE + 0x8c); /* mret of the turn before */
    rig_free(r);
}

/* What is changed in the past has another future. */
static void test_changed(void)
{
    Rig *r = rig_new(1u << 16);
    uint32_t writes;

    for (unsigned i = 0; i < 60; i++) {
        step(r);
    }
    while (pc(r) != LOOP) {
        back(r, true);
    }
    writes = r->writes;
    mxgpu_mcu_debug_changed(r->mcu);
    mxgpu_mcu_state(r->mcu)->x[5] = 1000;
    g_assert_false(on(r));
    g_assert_cmpint(mxgpu_mcu_run(r->mcu, 6), ==, MXGPU_MCU_STOP_BUDGET);
    g_assert_cmpuint(r->writes, ==, writes + 1);
    g_assert_cmpuint(r->sram[DATA + 10], ==, 1001 & 0xff);
    back(r, true);
    g_assert_cmpuint(mxgpu_mcu_state(r->mcu)->x[5], ==, 1001);
    rig_free(r);
}

/* The oldest instructions are forgotten. */
static void test_full(void)
{
    Rig *r = rig_new(WORDS);
    Moment m;
    uint64_t behind, ahead;

    g_assert_cmpint(mxgpu_mcu_run(r->mcu, 5000), ==, MXGPU_MCU_STOP_BUDGET);
    m = moment(r);
    g_assert_cmpint(back(r, false).why, ==, MXGPU_MCU_DEBUG_HISTORY);
    mxgpu_mcu_debug_recorded(r->mcu, &behind, &ahead);
    g_assert_cmpuint(behind, ==, 0);
    g_assert_cmpuint(ahead, >, WORDS / 8);
    g_assert_cmpuint(ahead, <, WORDS);
    g_assert_false(on(r));
    expect(r, &m);
    rig_free(r);
}

/* A reset is no instruction; the debugger leaves the core where the device is. */
static void test_ends(void)
{
    Rig *r = rig_new(WORDS);
    uint64_t behind, ahead;
    Moment m;

    g_assert_cmpint(mxgpu_mcu_run(r->mcu, 40), ==, MXGPU_MCU_STOP_BUDGET);
    mxgpu_mcu_reset(r->mcu, BASE);
    g_assert_cmpint(back(r, true).why, ==, MXGPU_MCU_DEBUG_HISTORY);
    g_assert_cmpint(mxgpu_mcu_run(r->mcu, 40), ==, MXGPU_MCU_STOP_BUDGET);
    m = moment(r);
    back(r, true);
    back(r, true);
    mxgpu_mcu_debug_attach(r->mcu, false);
    expect(r, &m);
    g_assert_false(mxgpu_mcu_debug_recorded(r->mcu, &behind, &ahead));
    g_assert_cmpint(back(r, true).why, ==, MXGPU_MCU_DEBUG_HISTORY);
    expect(r, &m);
    rig_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/history/there-and-back", test_there_and_back);
    g_test_add_func("/history/points", test_points);
    g_test_add_func("/history/range", test_range);
    g_test_add_func("/history/changed", test_changed);
    g_test_add_func("/history/full", test_full);
    g_test_add_func("/history/ends", test_ends);
    return g_test_run();
}
