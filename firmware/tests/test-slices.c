/* SPDX-License-Identifier: MIT */
/* Which dispatches are held, for how long, and QUEUE_RESET. */
#include "test_util.h"

/* The slots of the queues in a mask, and the queues of slots: the tests are
 * about queues. */
static uint32_t slots_of(uint32_t queues)
{
    const FwUnits *units = &fw.units[FW_UNIT_SLOT];
    uint32_t slots = 0;

    for (uint32_t busy = units->busy; busy; busy &= busy - 1) {
        unsigned slot = lowest_bit(busy);

        if (queues >> queue_id(units->jobs[slot].queue) & 1) {
            slots |= 1u << slot;
        }
    }
    return slots;
}

static uint32_t held(void)
{
    uint32_t queues = 0;

    for (unsigned q = 0; q < 4; q++) {
        if (bus.regs[MXGPU_CD_HOLD / 4] & slots_of(1u << q)) {
            queues |= 1u << q;
        }
    }
    return queues;
}

static void set_waits(uint32_t queues)
{
    bus.regs[MXGPU_CD_WAITS / 4] = slots_of(queues);
}

/* A dispatch in queue q, in the first slot that it may have. */
static void begin(unsigned q, uint64_t index)
{
    Packet p = dispatch(0, q);

    put(q, index, &p);
    ring_settled(q, index + 1);
}

/* The one dispatch of the queue. */
static void finish(unsigned q)
{
    fake_finish(FW_UNIT_SLOT, lowest_bit(slots_of(1u << q)),
                MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
}

static void start_queues(unsigned watchdog_ms, unsigned n,
                         const uint32_t *priorities)
{
    start(watchdog_ms);
    for (unsigned q = 0; q < n; q++) {
        g_assert_cmpuint(create(q, priorities[q]), ==, MXGPU_MSG_OK);
    }
}

/* Until it is held, or not, for at most that long. */
static void expect_held_within(uint32_t queues, uint64_t ns)
{
    uint64_t end = bus.mtime + ns;

    while (held() != queues && bus.mtime < end) {
        fake_advance(10 * FW_US);
    }
    g_assert_cmphex(held(), ==, queues);
}

/* What is less urgent makes room soon, and goes on when that has ended. */
static void test_urgent(void)
{
    const uint32_t priorities[] = {4, 0};

    start_queues(0, 2, priorities);
    begin(0, 0);
    set_waits(1);
    fake_advance(50 * FW_MS);
    g_assert_cmphex(held(), ==, 0); /* alone */
    begin(1, 0);
    set_waits(3);
    g_assert_cmphex(held(), ==, 0);
    expect_held_within(1, 300 * FW_US);
    set_waits(1);
    expect_held_within(0, 5 * FW_MS); /* there is room for both */
    set_waits(3);
    expect_held_within(1, 5 * FW_MS);
    finish(1);
    g_assert_cmphex(held(), ==, 0);
    g_assert_true(signalled(1));
    finish(0);
    g_assert_true(signalled(0));
    g_assert_cmpuint(bus.mtimecmp, ==, FW_NEVER);
}

/* Within 20 ms all but one of the queues are held. */
static void expect_one_of(uint32_t queues)
{
    for (unsigned i = 0; i < 200; i++) {
        uint32_t on = ~held() & queues;

        if (on && !(on & (on - 1))) {
            return;
        }
        fake_advance(100 * FW_US);
    }
    g_assert_not_reached();
}

/* Each of three equals has the units a third of the time. */
static void test_turns(void)
{
    const uint32_t priorities[] = {2, 2, 2};
    unsigned runs[3] = {0}, tries = 0;

    start_queues(0, 3, priorities);
    for (unsigned q = 0; q < 3; q++) {
        begin(q, 0);
    }
    set_waits(7);
    fake_advance(4 * FW_MS);
    for (unsigned i = 0; i < 3000; i++) {
        uint32_t on = ~held() & 7;

        g_assert_cmphex(on, !=, 0);
        tries += on == 7; /* whether all find room now */
        if (!(on & (on - 1))) {
            runs[lowest_bit(on)]++;
        }
        fake_advance(100 * FW_US);
    }
    for (unsigned q = 0; q < 3; q++) {
        g_assert_cmpuint(runs[q], >, 900);
        g_assert_cmpuint(runs[q], <, 1050);
    }
    g_assert_cmpuint(tries, >, 0);
    g_assert_cmpuint(tries, <, 60);
    finish(1);
    set_waits(5);
    expect_one_of(5);
    finish(0);
    g_assert_cmphex(held(), ==, 0);
}

/* The queue's dispatch has the units for so long, and uses them. */
static void spend(unsigned q, uint64_t ns, uint32_t each)
{
    for (uint64_t t = 0; t < ns; t += 100 * FW_US) {
        bus.regs[MXGPU_CD_SPENT / 4 + lowest_bit(slots_of(1u << q))] += each;
        fake_advance(100 * FW_US);
    }
}

/* One that comes while another has had the units alone is the next, whichever
 * slot it has; and so is the other after that. */
static void test_comes(void)
{
    const uint32_t priorities[] = {2, 2};

    start_queues(0, 2, priorities);
    begin(0, 0);
    begin(1, 0);
    set_waits(3);
    for (unsigned i = 0; i < 3; i++) {
        unsigned q = i & 1;

        finish(q);
        spend(q ^ 1, 10 * FW_MS, 100);
        g_assert_cmphex(held(), ==, 0);
        begin(q, i / 2 + 1);
        set_waits(3);
        spend(q ^ 1, 1900 * FW_US, 100);
        g_assert_cmphex(held(), ==, 0);
        expect_held_within(1u << (q ^ 1), 200 * FW_US);
        spend(q, 1900 * FW_US, 200);
        expect_held_within(1u << q, 200 * FW_US);
    }
}

/* Equals get equal shares of what units spend, although one of them spends three
 * times as much in the same time, and half of a slice goes to the one before. */
static void test_shares(void)
{
    const uint32_t priorities[] = {2, 2, 2};
    const uint32_t speed[] = {300, 100, 200};
    uint32_t sum[3] = {0}, all = 0;
    unsigned before = 0;

    start_queues(0, 3, priorities);
    for (unsigned slot = 0; slot < FAKE_SLOTS; slot++) { /* spent on others */
        bus.regs[MXGPU_CD_SPENT / 4 + slot] = UINT32_MAX - 50000 * slot;
    }
    for (unsigned q = 0; q < 3; q++) {
        begin(q, 0);
    }
    set_waits(7);
    fake_advance(4 * FW_MS);
    for (unsigned i = 0; i < 30000; i++) {
        unsigned on = lowest_bit(~held() & 7), q = i % 20 < 10 ? before : on;

        before = q;
        bus.regs[MXGPU_CD_SPENT / 4 + lowest_bit(slots_of(1u << q))] +=
            speed[q];
        sum[q] += speed[q];
        all += speed[q];
        fake_advance(100 * FW_US);
    }
    for (unsigned q = 0; q < 3; q++) {
        g_assert_cmpuint(sum[q], >, all / 3 / 10 * 9);
        g_assert_cmpuint(sum[q], <, all / 3 / 10 * 11);
    }
}

/* One that spends nothing does not keep the units for ever. */
static void test_idler(void)
{
    const uint32_t priorities[] = {2, 2};
    unsigned runs[2] = {0};

    start_queues(0, 2, priorities);
    begin(0, 0);
    begin(1, 0);
    set_waits(3);
    fake_advance(4 * FW_MS);
    for (unsigned i = 0; i < 3000; i++) {
        unsigned q = lowest_bit(~held() & 3);

        runs[q]++;
        bus.regs[MXGPU_CD_SPENT / 4 + lowest_bit(slots_of(2))] += 1000 * q;
        fake_advance(100 * FW_US);
    }
    g_assert_cmpuint(runs[1], >, 300);
}

/* Equals take turns although less urgent ones are in slots between them. */
static void test_levels(void)
{
    const uint32_t priorities[] = {1, 6, 1, 6};
    unsigned runs[4] = {0};

    start_queues(0, 4, priorities);
    for (unsigned q = 0; q < 4; q++) {
        begin(q, 0);
    }
    set_waits(15);
    fake_advance(4 * FW_MS);
    for (unsigned i = 0; i < 1000; i++) {
        runs[lowest_bit(~held() & 15)]++;
        fake_advance(100 * FW_US);
    }
    g_assert_cmpuint(runs[1] + runs[3], ==, 0);
    g_assert_cmpuint(runs[0], >, 450);
    g_assert_cmpuint(runs[2], >, 450);
}

/* As long as there is room, everything runs. */
static void test_room(void)
{
    const uint32_t priorities[] = {2, 2, 5};

    start_queues(0, 3, priorities);
    for (unsigned q = 0; q < 3; q++) {
        begin(q, 0);
    }
    for (unsigned i = 0; i < 100; i++) {
        fake_advance(100 * FW_US);
        g_assert_cmphex(held(), ==, 0);
    }
    for (unsigned q = 0; q < 3; q++) {
        finish(q);
    }
    fake_advance(10 * FW_MS);
    g_assert_cmpuint(bus.mtimecmp, ==, FW_NEVER);
}

/* The watchdog counts the time in which a dispatch may run. */
static void test_watchdog(void)
{
    const uint32_t priorities[] = {4, 0};

    start_queues(50, 2, priorities);
    begin(0, 0);
    fake_advance(30 * FW_MS);
    begin(1, 0);
    set_waits(3);
    fake_advance(45 * FW_MS);
    g_assert_cmphex(held(), ==, 1);
    g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ACTIVE);
    finish(1);
    fake_advance(15 * FW_MS);
    g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ACTIVE);
    fake_advance(10 * FW_MS);
    expect_error(0, MXGPU_QERR_TIMEOUT, 0);
}

static bool send_reset(unsigned q)
{
    const uint32_t words[] = {MXGPU_MSG_QUEUE_RESET, q};

    return fake_send(words, 2);
}

/* One queue's work goes, held or not; the others' stays, and it goes on. */
static void test_reset(void)
{
    const uint32_t priorities[] = {3, 3, 0};
    uint32_t mine;

    start_queues(0, 3, priorities);
    for (unsigned q = 0; q < 3; q++) {
        begin(q, 0);
    }
    begin(0, 1);
    set_waits(7);
    mine = slots_of(1);
    fake_advance(10 * FW_MS);
    g_assert_cmphex(held(), ==, 3);
    g_assert_true(send_reset(0));
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
    g_assert_false(signalled(0));
    for (unsigned slot = 0; slot < FAKE_SLOTS; slot++) {
        g_assert_cmpint(bus.units[FW_UNIT_SLOT][slot].aborted, ==,
                        mine >> slot & 1);
    }
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 2);
    g_assert_cmpuint(ctl(0)->read_index, ==, 0);
    begin(0, 0);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 3);
    for (unsigned q = 0; q < 3; q++) {
        finish(q);
        g_assert_true(signalled(q));
    }
}

/* A stopped queue is reset; one that is not there is not. */
static void test_reset_stopped(void)
{
    Packet bad = nop(0, 0);

    start_queue(0);
    bad.header.type = 200;
    run_packet(&bad);
    expect_error(0, MXGPU_QERR_PACKET, 0);
    g_assert_true(send_reset(0));
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ACTIVE);
    begin(0, 0);
    finish(0);
    g_assert_true(signalled(0));
    g_assert_true(send_reset(1));
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_NOT_FOUND);
    g_assert_true(send_reset(FAKE_QUEUES));
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_BAD_ARGUMENT);
}

/* The answer comes when the last packet has gone; without its memory the queue
 * is destroyed. */
static void test_reset_later(void)
{
    start_queue(0);
    bus.ignore_abort = true;
    begin(0, 0);
    g_assert_false(send_reset(0));
    bus.writable[(CTL(0) - FAKE_MEM) / 4096] = 0;
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_ABORTED);
    g_assert_true(fake_settle());
    g_assert_true(fake_answered());
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_FAULT);
    bus.writable[(CTL(0) - FAKE_MEM) / 4096] = 1;
    g_assert_cmpuint(create(0, 0), ==, MXGPU_MSG_OK);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/slices/urgent", test_urgent);
    g_test_add_func("/slices/turns", test_turns);
    g_test_add_func("/slices/comes", test_comes);
    g_test_add_func("/slices/shares", test_shares);
    g_test_add_func("/slices/idler", test_idler);
    g_test_add_func("/slices/levels", test_levels);
    g_test_add_func("/slices/room", test_room);
    g_test_add_func("/slices/watchdog", test_watchdog);
    g_test_add_func("/slices/reset", test_reset);
    g_test_add_func("/slices/reset/stopped", test_reset_stopped);
    g_test_add_func("/slices/reset/later", test_reset_later);
    return g_test_run();
}
