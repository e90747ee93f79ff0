/* SPDX-License-Identifier: MIT */
/* TRACE_EVENT: what the firmware tells of queues and packets, and when. */
#include "test_util.h"

static unsigned next; /* event of bus.trace */

static void expect(uint32_t event, unsigned queue, unsigned type, unsigned unit,
                   uint64_t index, uint64_t value)
{
    g_assert_cmpuint(next, <, bus.traces);
    g_assert_cmphex(bus.trace[next].event, ==, event);
    g_assert_cmphex(bus.trace[next].info, ==, queue | type << 16 | unit << 24);
    g_assert_cmphex(bus.trace[next].index, ==, index);
    g_assert_cmphex(bus.trace[next].value, ==, value);
    next++;
}

static void finish(FwUnitKind kind, unsigned index)
{
    fake_finish(kind, index, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
}

/* Each way in which a packet is executed: by a unit, at once, waiting. */
static void run_all(bool listens)
{
    Packet a = copy(DATA, DATA + 64, 8, 0, 0), b = dispatch(0, 1);
    Packet c = nop(0, 2), d = wait_for(DATA + 128, 1, 3);
    const uint32_t destroy[] = {MXGPU_MSG_QUEUE_DESTROY, 5};

    start(0);
    bus.listens = listens;
    g_assert_cmpuint(create(5, 3), ==, MXGPU_MSG_OK);
    c.write.signal_addr = 0;
    put(5, 0, &a);
    put(5, 1, &b);
    put(5, 2, &c);
    put(5, 3, &d);
    ring_settled(5, 4);
    finish(FW_UNIT_SLOT, 0);
    finish(FW_UNIT_COPY, 0);
    *mem64(DATA + 128) = 1;
    fake_advance(10 * FW_MS);
    g_assert_true(fake_settle());
    g_assert_true(signalled(3));
    a.header.type = 99;
    put(5, 4, &a);
    ring_settled(5, 5);
    g_assert_true(fake_send(destroy, 2));
}

static void test_events(void)
{
    run_all(true);
    next = 0;
    expect(MXGPU_QEV_CREATE, 5, 0, 0, 0, 1 | 3 << 8);
    expect(MXGPU_QEV_PACKET_START, 5, MXGPU_PKT_COPY, MXGPU_QEV_UNIT_COPY, 0,
           0);
    expect(MXGPU_QEV_PACKET_START, 5, MXGPU_PKT_DISPATCH, MXGPU_QEV_UNIT_SLOT,
           1, 0);
    expect(MXGPU_QEV_PACKET_START, 5, MXGPU_PKT_NOP, 0, 2, 0);
    expect(MXGPU_QEV_PACKET_END, 5, MXGPU_PKT_NOP, 0, 2, 0);
    expect(MXGPU_QEV_PACKET_END, 5, MXGPU_PKT_DISPATCH, 0, 1, 1001);
    expect(MXGPU_QEV_PACKET_END, 5, MXGPU_PKT_COPY, 0, 0, 1000);
    expect(MXGPU_QEV_PACKET_START, 5, MXGPU_PKT_WAIT, 0, 3, 0);
    expect(MXGPU_QEV_PACKET_END, 5, MXGPU_PKT_WAIT, 0, 3, 1003);
    expect(MXGPU_QEV_ERROR, 5, 99, 0, 4, MXGPU_QERR_PACKET);
    expect(MXGPU_QEV_DESTROY, 5, 0, 0, 5, 0);
    g_assert_cmpuint(next, ==, bus.traces);
}

/* Nobody listens: the port is not touched. */
static void test_silent(void)
{
    run_all(false);
    g_assert_cmpuint(bus.trace_accesses, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trace/events", test_events);
    g_test_add_func("/trace/silent", test_silent);
    return g_test_run();
}
