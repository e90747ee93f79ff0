/* SPDX-License-Identifier: MIT */
/* UNIT_RESET: what it ends, what goes on, when it answers. */
#include "test_util.h"

#define COPY    MXGPU_RESET_COPY_ENGINE
#define COMPUTE MXGPU_RESET_COMPUTE_UNIT

static bool send_reset(uint32_t kind, uint32_t index)
{
    const uint32_t words[] = {MXGPU_MSG_UNIT_RESET, kind, index};

    return fake_send(words, 3);
}

static void expect_reset(uint32_t kind, uint32_t index,
                         enum mxgpu_msg_status status)
{
    g_assert_true(send_reset(kind, index));
    g_assert_cmpuint(fake_answer(0), ==, status);
}

static void start_queues(unsigned n)
{
    start(0);
    for (unsigned q = 0; q < n; q++) {
        g_assert_cmpuint(create(q, 0), ==, MXGPU_MSG_OK);
    }
}

static void begin(unsigned q, uint64_t index, const Packet *p)
{
    put(q, index, p);
    ring_settled(q, index + 1);
}

/* Which unit of that kind the queue's only job is on. */
static unsigned unit_of(FwUnitKind kind, unsigned q)
{
    const FwUnits *units = &fw.units[kind];

    for (uint32_t busy = units->busy; busy; busy &= busy - 1) {
        if (units->jobs[lowest_bit(busy)].queue == &fw.queues[q]) {
            return lowest_bit(busy);
        }
    }
    g_assert_not_reached();
}

static void set_slots(unsigned unit, uint32_t slots)
{
    bus.regs[MXGPU_CU_SLOTS / 4 + unit] = slots;
}

static void expect_aborted(unsigned q)
{
    expect_error(q, MXGPU_QERR_FAULT, 0);
    g_assert_cmpuint(ctl(q)->error.fault, ==, MXGPU_FAULT_ABORTED);
    g_assert_false(signalled(q));
}

/* The copy of one engine fails, that of the other one goes on. */
static void test_copy(void)
{
    Packet a = copy(DATA, DATA + 0x1000, 64, 0, 0);
    Packet b = copy(DATA, DATA + 0x2000, 64, 0, 1);
    unsigned other;

    start_queues(2);
    begin(0, 0, &a);
    begin(1, 0, &b);
    other = unit_of(FW_UNIT_COPY, 1);
    expect_reset(COPY, unit_of(FW_UNIT_COPY, 0), MXGPU_MSG_OK);
    expect_aborted(0);
    g_assert_false(bus.units[FW_UNIT_COPY][other].aborted);
    fake_finish(FW_UNIT_COPY, other, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(1));
    /* The engine takes the next copy. */
    begin(1, 1, &b);
    g_assert_cmpuint(unit_of(FW_UNIT_COPY, 1), ==, !other ? 0 : other - 1);
}

/* All dispatches that have blocks on the unit fail, and no others. */
static void test_compute(void)
{
    start_queues(4);
    for (unsigned q = 0; q < 4; q++) {
        Packet p = dispatch(0, q);

        begin(q, 0, &p);
    }
    set_slots(1, 1u << unit_of(FW_UNIT_SLOT, 0) |
                     1u << unit_of(FW_UNIT_SLOT, 2));
    set_slots(2, 1u << unit_of(FW_UNIT_SLOT, 3));
    expect_reset(COMPUTE, 1, MXGPU_MSG_OK);
    expect_aborted(0);
    expect_aborted(2);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 2);
    for (unsigned q = 1; q < 4; q += 2) {
        g_assert_cmpuint(ctl(q)->state, ==, MXGPU_QUEUE_ACTIVE);
        fake_finish(FW_UNIT_SLOT, unit_of(FW_UNIT_SLOT, q), MXGPU_FAULT_NONE);
        g_assert_true(fake_settle());
        g_assert_true(signalled(q));
    }
}

/* Other packets of a queue that fails run to their end, as after any fault. */
static void test_in_flight(void)
{
    Packet first = dispatch(0, 0), second = dispatch(0, 1);
    unsigned slot;

    start_queues(1);
    begin(0, 0, &first);
    slot = unit_of(FW_UNIT_SLOT, 0);
    begin(0, 1, &second);
    set_slots(0, 1u << slot);
    expect_reset(COMPUTE, 0, MXGPU_MSG_OK);
    expect_aborted(0);
    g_assert_cmpuint(ctl(0)->error.packet_index, ==, 0);
    fake_finish(FW_UNIT_SLOT, unit_of(FW_UNIT_SLOT, 0), MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(1));
}

/* The answer comes with the last of them; whoever was complete before it saw the
 * abort is, and its queue goes on. */
static void test_later(void)
{
    start_queues(2);
    bus.ignore_abort = true;
    for (unsigned q = 0; q < 2; q++) {
        Packet p = dispatch(0, q);

        begin(q, 0, &p);
    }
    set_slots(3, 0xff); /* those that do not run do not matter */
    g_assert_false(send_reset(COMPUTE, 3));
    fake_finish(FW_UNIT_SLOT, unit_of(FW_UNIT_SLOT, 0), MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_false(fake_answered());
    g_assert_true(signalled(0));
    fake_finish(FW_UNIT_SLOT, unit_of(FW_UNIT_SLOT, 1), MXGPU_FAULT_ABORTED);
    g_assert_true(fake_settle());
    g_assert_true(fake_answered());
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
    expect_aborted(1);
    g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ACTIVE);
    fake_advance(10 * FW_MS);
    g_assert_cmpuint(bus.mtimecmp, ==, FW_NEVER); /* nobody waits any more */
    expect_reset(COMPUTE, 3, MXGPU_MSG_OK);
}

/* Dispatches go their short way again afterwards. */
static void test_front(void)
{
    Packet p = dispatch(0, 0);
    unsigned launched;

    start_queues(1);
    begin(0, 0, &p);
    set_slots(0, 1u << unit_of(FW_UNIT_SLOT, 0));
    expect_reset(COMPUTE, 0, MXGPU_MSG_OK);
    expect_aborted(0);
    g_assert_cmpuint(create(1, 0), ==, MXGPU_MSG_OK);
    launched = bus.launched;
    p = dispatch(0, 1);
    begin(1, 0, &p);
    g_assert_cmpuint(bus.launched, ==, launched + fw.front_end);
    fake_finish(FW_UNIT_SLOT, unit_of(FW_UNIT_SLOT, 1), MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(1));
}

/* What would have followed in a list does not. */
static void test_list(void)
{
    Packet list = indirect(3, 0);

    start_queues(1);
    for (unsigned i = 0; i < 3; i++) {
        Packet p = dispatch(MXGPU_PKT_BARRIER, 1 + i);

        put_list(i, &p);
    }
    begin(0, 0, &list);
    fake_finish(FW_UNIT_SLOT, unit_of(FW_UNIT_SLOT, 0), MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    set_slots(0, 1u << unit_of(FW_UNIT_SLOT, 0));
    expect_reset(COMPUTE, 0, MXGPU_MSG_OK);
    expect_aborted(0);
    g_assert_cmpuint(ctl(0)->error.inner, ==, 2);
    g_assert_true(signalled(1));
    g_assert_false(signalled(2));
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 0);
}

/* An engine that does not stop is told of after a second. */
static void test_stuck(void)
{
    Packet p = copy(DATA, DATA + 0x1000, 64, 0, 0);

    start_queues(1);
    bus.ignore_abort = true;
    begin(0, 0, &p);
    g_assert_false(send_reset(COPY, unit_of(FW_UNIT_COPY, 0)));
    fake_advance(1001 * FW_MS);
    g_assert_false(fake_answered());
    g_assert_nonnull(strstr(bus.console, "abort has no effect"));
    fake_finish(FW_UNIT_COPY, unit_of(FW_UNIT_COPY, 0), MXGPU_FAULT_ABORTED);
    g_assert_true(fake_settle());
    g_assert_true(fake_answered());
    expect_aborted(0);
}

static void test_refused(void)
{
    start_queues(1);
    expect_reset(COPY, FAKE_COPIES, MXGPU_MSG_BAD_ARGUMENT);
    expect_reset(COPY, 32, MXGPU_MSG_BAD_ARGUMENT);
    expect_reset(COPY, UINT32_MAX, MXGPU_MSG_BAD_ARGUMENT);
    expect_reset(COMPUTE, fw.compute_units, MXGPU_MSG_BAD_ARGUMENT);
    expect_reset(COMPUTE, UINT32_MAX, MXGPU_MSG_BAD_ARGUMENT);
    expect_reset(2, 0, MXGPU_MSG_BAD_ARGUMENT);
    expect_reset(COPY, FAKE_COPIES - 1, MXGPU_MSG_OK);
    expect_reset(COMPUTE, fw.compute_units - 1, MXGPU_MSG_OK);
    bus.regs[MXGPU_FEATURES / 4] &= ~FW_BIT(MXGPU_FEATURES_CU_SLOTS);
    expect_reset(COMPUTE, 0, MXGPU_MSG_UNKNOWN_OP);
    expect_reset(COPY, 0, MXGPU_MSG_OK);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/resets/copy", test_copy);
    g_test_add_func("/resets/compute", test_compute);
    g_test_add_func("/resets/in-flight", test_in_flight);
    g_test_add_func("/resets/later", test_later);
    g_test_add_func("/resets/front", test_front);
    g_test_add_func("/resets/list", test_list);
    g_test_add_func("/resets/stuck", test_stuck);
    g_test_add_func("/resets/refused", test_refused);
    return g_test_run();
}
