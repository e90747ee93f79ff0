/* SPDX-License-Identifier: MIT */
/* QUEUE_PROFILE, and the records of packets with MXGPU_PKT_PROFILE. */
#include "test_util.h"

#define RECORDS (DATA + 0x20000)
#define SAMPLES 16u
#define STRIDE  1024u

typedef struct mxgpu_msg_queue_profile Setup;

static Setup setup(void)
{
    return (Setup){
        .op = MXGPU_MSG_QUEUE_PROFILE,
        .base_lo = (uint32_t)RECORDS,
        .log2_records = 2,
        .stride = STRIDE,
        .samples = SAMPLES,
        .interval = 1000,
    };
}

static uint32_t send(const Setup *s)
{
    g_assert_true(fake_send((const uint32_t *)s, sizeof(*s) / 4));
    return fake_answer(0);
}

static void start_profiled(void)
{
    Setup s = setup();

    start_queue(0);
    g_assert_cmpuint(send(&s), ==, MXGPU_MSG_OK);
}

static struct mxgpu_profile *record(unsigned index)
{
    return fake_ptr(RECORDS + index * STRIDE);
}

static void set_reg64(uint32_t reg, uint64_t value)
{
    bus.regs[reg / 4] = (uint32_t)value;
    bus.regs[reg / 4 + 1] = (uint32_t)(value >> 32);
}

/* ---- the request ---- */

static void test_setup(void)
{
    Setup s = setup();

    start_queue(0);
    *mem64(RECORDS + 3 * STRIDE) = 5; /* not to be taken for a record */
    g_assert_cmpuint(send(&s), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(record(3)->sequence, ==, 0);
    memset(&s, 0, sizeof(s)); /* and off again */
    s.op = MXGPU_MSG_QUEUE_PROFILE;
    g_assert_cmpuint(send(&s), ==, MXGPU_MSG_OK);
}

static void test_bad_setup(void)
{
    static const struct {
        unsigned word;
        uint32_t value;
    } bad[] = {
        {1, FAKE_QUEUES}, {1, UINT32_MAX}, {2, RECORDS + 8}, {3, 0x8000},
        {3, UINT32_MAX},  {4, 13},         {4, UINT32_MAX},  {5, STRIDE + 8},
        {5, 0},           {5, 64},         {5, 0xffffffc0},  {6, UINT32_MAX},
        {6, 0},           {6, 65537},      {6, 100},         {7, 0},
        {8, 2},           {8, UINT32_MAX}, {9, 1},           {2, 0},
    };

    start_queue(0);
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        uint32_t words[10] = {0};
        Setup s = setup();

        memcpy(words, &s, sizeof(s));
        words[bad[i].word] = bad[i].value;
        /* The last one but one word of each is all that is wrong. */
        g_assert_true(fake_send(words, 10));
        if (bad[i].word == 5 && bad[i].value == 0xffffffc0) {
            g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_FAULT);
        } else {
            g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_BAD_ARGUMENT);
        }
    }
}

static void test_setup_state(void)
{
    Packet p = dispatch(0, 0);
    Setup s = setup();

    start_queue(0);
    s.queue = 1;
    g_assert_cmpuint(send(&s), ==, MXGPU_MSG_NOT_FOUND);
    s.queue = 0;
    bus.writable[(RECORDS - FAKE_MEM) / 4096] = 0;
    g_assert_cmpuint(send(&s), ==, MXGPU_MSG_FAULT);
    bus.writable[(RECORDS - FAKE_MEM) / 4096] = 1;
    run_packet(&p);
    g_assert_cmpuint(send(&s), ==, MXGPU_MSG_BUSY);
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_cmpuint(send(&s), ==, MXGPU_MSG_OK);
}

/* ---- packets ---- */

/* The flag without a place for records, and on packets that have none. */
static void test_flag(void)
{
    Packet p = dispatch(MXGPU_PKT_PROFILE, 0), n = nop(MXGPU_PKT_PROFILE, 0);

    start_queue(0);
    run_packet(&p);
    expect_error(0, MXGPU_QERR_PACKET, 2);
    start_profiled();
    run_packet(&n);
    expect_error(0, MXGPU_QERR_PACKET, 2);
    for (unsigned bit = 5; bit < 16; bit++) {
        start_profiled();
        p.header.flags = MXGPU_PKT_PROFILE | 1u << bit;
        run_packet(&p);
        expect_error(0, MXGPU_QERR_PACKET, 2);
    }
}

static void test_dispatch(void)
{
    Packet p = dispatch(MXGPU_PKT_PROFILE, 0);
    const struct mxgpu_profile *r = record(0);
    const struct mxgpu_profile_unit *unit = (const void *)(r + 1);

    start_profiled();
    run_packet(&p);
    g_assert_cmphex(bus.regs[MXGPU_CD_CFG / 4], ==, 1 | 64 << 8 | 1 << 24);
    g_assert_cmphex(bus.regs[MXGPU_CP_SAMPLE_ADDR_LO / 4], ==,
                    RECORDS + sizeof(*r) + 4 * sizeof(*unit));
    g_assert_cmpuint(bus.regs[MXGPU_CP_SAMPLE_MAX / 4], ==, SAMPLES);
    g_assert_cmpuint(bus.regs[MXGPU_CP_SAMPLE_INTERVAL / 4], ==, 1000);
    g_assert_cmpuint(r->sequence, ==, 0);

    set_reg64(MXGPU_CD_START_LO, 0x100000005ull);
    set_reg64(MXGPU_CD_END_LO, 0x200000007ull);
    for (unsigned i = 0; i < MXGPU_COUNTERS; i++) {
        set_reg64(MXGPU_CP_COUNTER_LO + 8 * i, 0x300000000ull + i);
    }
    set_reg64(MXGPU_CP_SAMPLES_LO, 0x500000004ull);
    set_reg64(MXGPU_CP_UNIT_FIRST_LO, 11); /* all four units show these */
    set_reg64(MXGPU_CP_UNIT_LAST_LO, 12);
    set_reg64(MXGPU_CP_UNIT_BUSY_LO, 0x100000000ull);
    bus.regs[MXGPU_CP_UNIT_BLOCKS / 4] = 6;
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(0));
    g_assert_cmpuint(r->sequence, ==, 1);
    g_assert_cmpuint(r->packet_type, ==, MXGPU_PKT_DISPATCH);
    g_assert_cmpuint(r->fault, ==, 0);
    g_assert_cmphex(r->start, ==, 0x100000005ull);
    g_assert_cmphex(r->end, ==, 0x200000007ull);
    g_assert_cmphex(r->samples, ==, 0x500000004ull);
    g_assert_cmpuint(r->interval, ==, 1000);
    g_assert_cmpuint(r->units, ==, 4);
    for (unsigned i = 0; i < MXGPU_COUNTERS; i++) {
        g_assert_cmphex(r->counter[i], ==, 0x300000000ull + i);
    }
    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmpuint(unit[i].unit, ==, i);
        g_assert_cmpuint(unit[i].blocks, ==, 6);
        g_assert_cmpuint(unit[i].first, ==, 11);
        g_assert_cmpuint(unit[i].last, ==, 12);
        g_assert_cmphex(unit[i].busy, ==, 0x100000000ull);
    }
    g_assert_cmpuint(unit[4].unit, ==, 0); /* not written behind them */
    g_assert_cmpuint(unit[4].blocks, ==, 0);
}

/* All accesses are counted where the queue was set up so. */
static void test_exact(void)
{
    Packet p = dispatch(MXGPU_PKT_PROFILE, 0), plain = dispatch(0, 1);
    Setup s = setup();

    start_queue(0);
    s.flags = MXGPU_PROFILE_EXACT;
    g_assert_cmpuint(send(&s), ==, MXGPU_MSG_OK);
    bus.finish_at_once = true;
    run_packet(&p);
    g_assert_cmphex(bus.regs[MXGPU_CD_CFG / 4], ==, 1 | 64 << 8 | 3 << 24);
    put(0, 1, &plain);
    ring_settled(0, 2);
    g_assert_cmphex(bus.regs[MXGPU_CD_CFG / 4], ==, 1 | 64 << 8);
}

/* Idle units have no entry; records take turns; plain packets leave none. */
static void test_turns(void)
{
    Packet p = dispatch(MXGPU_PKT_PROFILE, 0), plain = dispatch(0, 0);

    start_profiled();
    bus.finish_at_once = true;
    for (unsigned i = 0; i < 7; i++) {
        put(0, i, i == 1 ? &plain : &p);
        ring_settled(0, i + 1);
        g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ACTIVE);
    }
    g_assert_cmpuint(record(0)->sequence, ==, 5);
    g_assert_cmpuint(record(1)->sequence, ==, 6);
    g_assert_cmpuint(record(2)->sequence, ==, 7);
    g_assert_cmpuint(record(3)->sequence, ==, 4);
    g_assert_cmpuint(record(0)->units, ==, 0);
}

static void test_copies(void)
{
    Packet c = copy(DATA, DATA + 0x1000, 100, MXGPU_PKT_PROFILE, 0);
    Packet empty = copy(DATA, DATA, 0, MXGPU_PKT_PROFILE, 1);

    start_profiled();
    record(0)->counter[0] = 77;
    run_packet(&c);
    fake_advance(5000);
    fake_finish(FW_UNIT_COPY, 0, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(0));
    g_assert_cmpuint(record(0)->sequence, ==, 1);
    g_assert_cmpuint(record(0)->packet_type, ==, MXGPU_PKT_COPY);
    g_assert_cmpuint(record(0)->end - record(0)->start, >=, 5000);
    g_assert_cmpuint(record(0)->counter[0], ==, 77);
    put(0, 1, &empty);
    ring_settled(0, 2);
    g_assert_true(signalled(1));
    g_assert_cmpuint(record(1)->sequence, ==, 2);
    g_assert_cmpuint(record(1)->end, ==, record(1)->start);
}

/* A fault leaves its record before the queue stops. */
static void test_fault(void)
{
    Packet p = dispatch(MXGPU_PKT_PROFILE, 0);

    start_profiled();
    run_packet(&p);
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_ILLEGAL);
    g_assert_true(fake_settle());
    expect_error(0, MXGPU_QERR_FAULT, 0);
    g_assert_cmpuint(ctl(0)->error.fault, ==, MXGPU_FAULT_ILLEGAL);
    g_assert_cmpuint(record(0)->sequence, ==, 1);
    g_assert_cmpuint(record(0)->fault, ==, MXGPU_FAULT_ILLEGAL);
}

/* Records whose memory went away stop the queue; the packet is not signalled,
 * and its slot is free again. */
static void test_lost_memory(void)
{
    for (unsigned unit = 0; unit < 2; unit++) {
        Packet p = unit ? copy(DATA, DATA + 0x1000, 8, MXGPU_PKT_PROFILE, 0)
                        : dispatch(MXGPU_PKT_PROFILE, 0);
        Packet other = dispatch(0, 1);

        start_profiled();
        create(1, 0);
        run_packet(&p);
        bus.writable[(RECORDS - FAKE_MEM) / 4096] = 0;
        fake_finish(unit ? FW_UNIT_COPY : FW_UNIT_SLOT, 0, MXGPU_FAULT_NONE);
        g_assert_true(fake_settle());
        expect_error(0, MXGPU_QERR_FAULT, 0);
        g_assert_cmpuint(ctl(0)->error.fault, ==, MXGPU_FAULT_PERMISSION);
        g_assert_cmpuint(ctl(0)->error.access, ==, MXGPU_ACCESS_WRITE);
        g_assert_cmphex(ctl(0)->error.fault_addr, ==,
                        RECORDS + (unit ? 0 : 64));
        g_assert_false(signalled(0));
        g_assert_cmpuint(bus.units[FW_UNIT_SLOT][0].state, ==,
                         MXGPU_UNIT_IDLE);
        g_assert_cmpuint(bus.units[FW_UNIT_COPY][0].state, ==,
                         MXGPU_UNIT_IDLE);
        put(1, 0, &other);
        ring_settled(1, 1);
        g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/profile/setup", test_setup);
    g_test_add_func("/profile/setup/bad", test_bad_setup);
    g_test_add_func("/profile/setup/state", test_setup_state);
    g_test_add_func("/profile/flag", test_flag);
    g_test_add_func("/profile/dispatch", test_dispatch);
    g_test_add_func("/profile/exact", test_exact);
    g_test_add_func("/profile/turns", test_turns);
    g_test_add_func("/profile/copies", test_copies);
    g_test_add_func("/profile/fault", test_fault);
    g_test_add_func("/profile/lost-memory", test_lost_memory);
    return g_test_run();
}
