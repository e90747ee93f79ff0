/* SPDX-License-Identifier: MIT */
/* Order, overlap, priorities, waiting, time limits, and the end of queues. */
#include "test_util.h"

static bool finish(FwUnitKind kind, unsigned index)
{
    fake_finish(kind, index, MXGPU_FAULT_NONE);
    return fake_settle();
}

static bool send_destroy(unsigned q)
{
    const uint32_t words[] = {MXGPU_MSG_QUEUE_DESTROY, q};

    return fake_send(words, 2);
}

/* ---- order ---- */

static void test_overlap(void)
{
    Packet a = copy(DATA, DATA + 64, 8, 0, 0), b = dispatch(0, 1);
    Packet c = copy(DATA, DATA + 64, 8, 0, 2), d = nop(0, 3);

    start_queue(0);
    put(0, 0, &a);
    put(0, 1, &b);
    put(0, 2, &c);
    put(0, 3, &d);
    ring_settled(0, 4);
    g_assert_cmpuint(busy_units(FW_UNIT_COPY), ==, 2);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
    g_assert_true(signalled(3));
    g_assert_cmpuint(ctl(0)->read_index, ==, 4);
    g_assert_true(finish(FW_UNIT_COPY, 1));
    g_assert_true(signalled(2) && !signalled(0) && !signalled(1));
}

static void test_barrier(void)
{
    Packet a = copy(DATA, DATA + 64, 8, 0, 0);
    Packet b = dispatch(MXGPU_PKT_BARRIER, 1), c = nop(0, 2);

    start_queue(0);
    put(0, 0, &a);
    put(0, 1, &b);
    put(0, 2, &c);
    ring_settled(0, 3);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 0);
    g_assert_true(finish(FW_UNIT_COPY, 0));
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
    g_assert_true(signalled(0) && !signalled(2));
    g_assert_true(finish(FW_UNIT_SLOT, 0));
    g_assert_true(signalled(1) && signalled(2));
}

/* WAIT, TIMESTAMP and TLB_INVALIDATE are barriers without the flag. */
static void test_implied_barriers(void)
{
    Packet types[3] = {wait_for(DATA, 0, 1)};

    types[1] = types[2] = nop(0, 1);
    types[1].header.type = MXGPU_PKT_TIMESTAMP;
    types[1].timestamp.addr = DATA;
    types[2].header.type = MXGPU_PKT_TLB_INVALIDATE;
    for (unsigned i = 0; i < 3; i++) {
        Packet a = copy(DATA, DATA + 64, 8, 0, 0);

        start_queue(0);
        put(0, 0, &a);
        put(0, 1, &types[i]);
        ring_settled(0, 2);
        g_assert_false(signalled(1));
        g_assert_true(finish(FW_UNIT_COPY, 0));
        g_assert_true(signalled(1));
    }
}

/* More packets than units, and than the ring holds at a time. */
static void test_many(void)
{
    start_queue(0);
    bus.finish_at_once = true;
    for (uint64_t i = 0; i < 100; i += 10) {
        for (uint64_t k = i; k < i + 10; k++) {
            Packet p = k % 3 ? dispatch(0, k) : copy(DATA, DATA, 8, 0, k);

            put(0, k, &p);
        }
        ring_settled(0, i + 10);
        g_assert_cmpuint(ctl(0)->read_index, ==, i + 10);
    }
    for (unsigned k = 0; k < 100; k++) {
        g_assert_true(signalled(k));
    }
}

static void test_index(void)
{
    Packet p = nop(0, 0);

    start_queue(0);
    run_packet(&p);
    ring_settled(0, 18); /* one more than the ring holds */
    expect_error(0, MXGPU_QERR_INDEX, 0);
    g_assert_cmpuint(ctl(0)->error.fault_addr, ==, 18);
    g_assert_cmpuint(ctl(0)->error.packet_index, ==, 1);

    start_queue(0);
    run_packet(&p);
    ring_settled(0, 1); /* again: nothing new */
    g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ACTIVE);
    ring_settled(0, 0);
    expect_error(0, MXGPU_QERR_INDEX, 0);
    start_queue(0);
    ring_settled(0, UINT64_MAX);
    expect_error(0, MXGPU_QERR_INDEX, 0);
}

static void test_fetch_fault(void)
{
    start_queue(0);
    bus.readable[(RING(0) - FAKE_MEM) / 4096] = 0;
    ring_settled(0, 1);
    expect_error(0, MXGPU_QERR_FETCH, 0);
    g_assert_cmpuint(ctl(0)->error.fault, ==, MXGPU_FAULT_NOT_PRESENT);
    g_assert_cmphex(ctl(0)->error.fault_addr, ==, RING(0));
}

/* A control block that went away stops the queue, audibly, and no other. */
static void test_ctl_fault(void)
{
    Packet p = nop(0, 0), other = nop(0, 1);

    start_queue(0);
    create(1, 0);
    bus.writable[(CTL(0) - FAKE_MEM) / 4096] = 0;
    run_packet(&p);
    put(1, 0, &other);
    ring_settled(1, 1);
    g_assert_false(signalled(0));
    g_assert_true(signalled(1));
    g_assert_cmpuint(fw.queues[0].state, ==, FW_QUEUE_STOPPED);
    g_assert_cmpuint(bus.irqs[0], ==, 1);
    g_assert_nonnull(strstr(bus.console, "control block is not writable"));
}

/* ---- sharing units ---- */

static void put_ring(unsigned q, uint64_t index, const Packet *p)
{
    put(q, index, p);
    fake_doorbell(q, index + 1);
}

static void test_priority(void)
{
    Packet p = copy(DATA, DATA + 64, 8, 0, 0);

    start(0);
    for (unsigned q = 0; q < 6; q++) {
        create(q, q < 2 ? 0 : 5 - q); /* 2: 3, 3: 2, 4: 1, 5: 0 */
    }
    put_ring(0, 0, &p);
    put_ring(1, 0, &p);
    g_assert_true(fake_settle()); /* both engines are busy */
    for (unsigned q = 2; q < 6; q++) {
        p.copy.signal_addr = SIGNAL(q);
        p.copy.signal_value = 1000 + q;
        put_ring(q, 0, &p);
    }
    g_assert_true(fake_settle());
    for (unsigned q = 5; q >= 2; q--) { /* the most urgent first */
        g_assert_true(finish(FW_UNIT_COPY, 0));
        g_assert_cmpuint(bus.units[FW_UNIT_COPY][0].starts, ==, 7 - q);
        g_assert_true(fw.units[FW_UNIT_COPY].jobs[0].queue == &fw.queues[q]);
    }
}

/* Queues of a level take turns at a unit, however much each has to do. */
static void test_round_robin(void)
{
    Packet p = copy(DATA, DATA + 64, 8, 0, 0);

    start(0);
    for (unsigned q = 0; q < 3; q++) {
        create(q, 4);
    }
    for (unsigned q = 0; q < 3; q++) {
        for (unsigned i = 0; i < 10; i++) {
            put(q, i, &p);
        }
        fake_doorbell(q, 10);
    }
    g_assert_true(fake_settle());
    for (unsigned i = 0; i < 18; i++) {
        uint64_t most = 0, least = 100;

        for (unsigned q = 0; q < 3; q++) {
            uint64_t started = fw.queues[q].read_index - fw.queues[q].fetched;

            most = MAX(most, started);
            least = MIN(least, started);
        }
        g_assert_cmpuint(most - least, <=, 1);
        g_assert_true(finish(FW_UNIT_COPY, i & 1));
    }
}

/* A queue that waits for one kind of unit holds up no other queue. */
static void test_no_blocking(void)
{
    Packet p = copy(DATA, DATA + 64, 8, 0, 0), d = dispatch(0, 1);

    start(0);
    create(0, 0);
    create(1, 7);
    for (unsigned i = 0; i < 4; i++) {
        put(0, i, &p);
    }
    ring_settled(0, 4);
    g_assert_cmpuint(ctl(0)->read_index, ==, 2); /* one waits in its place */
    put(1, 0, &d);
    ring_settled(1, 1);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
}

static void test_slots(void)
{
    start_queue(0);
    for (unsigned i = 0; i < 10; i++) {
        Packet p = dispatch(0, i);

        put(0, i, &p);
    }
    ring_settled(0, 10);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 8);
    g_assert_true(finish(FW_UNIT_SLOT, 5));
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 8);
    g_assert_cmpuint(bus.units[FW_UNIT_SLOT][5].starts, ==, 2);
    g_assert_true(signalled(5));
}

static void put_dispatches(unsigned q, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        Packet p = dispatch(0, 16 * q + i);

        put(q, i, &p);
    }
    fake_doorbell(q, count);
    g_assert_true(fake_settle());
}

static void end_one(unsigned q)
{
    const FwUnits *slots = &fw.units[FW_UNIT_SLOT];
    unsigned i = 0;

    while (!(slots->busy >> i & 1) || slots->jobs[i].queue != &fw.queues[q]) {
        g_assert_cmpuint(++i, <, FAKE_SLOTS);
    }
    g_assert_true(finish(FW_UNIT_SLOT, i));
}

/* Dispatches that never end leave slots to more urgent queues: one for each
 * level, at most half of them. */
static void test_kept_slots(void)
{
    start(0);
    create(0, 7);
    put_dispatches(0, 10);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 8); /* alone: all */
    g_assert_true(send_destroy(0));
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 0);

    create(0, 7);
    create(1, 3);
    create(2, 0);
    create(3, 3);
    put_dispatches(0, 10);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 6);
    put_dispatches(1, 10);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 7);
    put_dispatches(2, 3);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 8);
    g_assert_cmpuint(fw.queues[2].running, ==, 1);
    end_one(0); /* the most urgent has it */
    g_assert_cmpuint(fw.queues[2].running, ==, 2);
    end_one(0);
    g_assert_cmpuint(fw.queues[2].running, ==, 3);
    end_one(0);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 7); /* it may want more */
    end_one(0);
    for (unsigned i = 0; i < 3; i++) {
        end_one(2);
    }
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 7);
    g_assert_cmpuint(fw.queues[1].running, ==, 5); /* before less urgent ones */
    g_assert_cmpuint(fw.queues[0].running, ==, 2);
}

static void test_kept_half(void)
{
    start(0);
    for (unsigned q = 0; q < 8; q++) {
        create(q, 7 - q);
    }
    for (unsigned q = 0; q < 8; q++) {
        put_dispatches(q, 10);
        g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, q < 4 ? 4 : q + 1);
    }
}

/* Packets in flight end as usual when another stops their queue. */
static void test_error_in_flight(void)
{
    Packet a = copy(DATA, DATA + 64, 8, 0, 0), b = dispatch(0, 1);
    Packet c = nop(0, 2);

    start_queue(0);
    put(0, 0, &a);
    put(0, 1, &b);
    ring_settled(0, 2);
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_ILLEGAL);
    g_assert_true(fake_settle());
    expect_error(0, MXGPU_QERR_FAULT, 0);
    g_assert_cmpuint(ctl(0)->error.packet_index, ==, 1);
    put(0, 2, &c);
    ring_settled(0, 3);
    g_assert_true(finish(FW_UNIT_COPY, 0));
    g_assert_true(signalled(0));
    g_assert_false(signalled(1) || signalled(2));
    g_assert_true(send_destroy(0));
    g_assert_cmpuint(create(0, 0), ==, MXGPU_MSG_OK);
}

/* ---- waiting ---- */

static void test_wait_backoff(void)
{
    Packet p = wait_for(DATA, 5, 0);
    unsigned looks;

    start_queue(0);
    run_packet(&p);
    bus.accesses = 0;
    fake_advance(100 * FW_MS); /* about 1000 looks at 100 us */
    looks = bus.accesses;
    g_assert_cmpuint(looks, >, 1000);
    g_assert_cmpuint(looks, <, 30000);
    *mem64(DATA) = 5;
    fake_advance(100 * FW_US);
    g_assert_true(signalled(0));
    g_assert_cmpuint(bus.mtimecmp, ==, FW_NEVER);
}

/* A signal of another queue is seen at once, not at the next look. */
static void test_wait_notify(void)
{
    Packet p = wait_for(SIGNAL(1), 1001, 0), n = nop(0, 1);

    start_queue(0);
    create(1, 7);
    run_packet(&p);
    fake_advance(100 * FW_MS);
    g_assert_false(signalled(0));
    put(1, 0, &n);
    ring_settled(1, 1);
    g_assert_true(signalled(0));
}

static void test_idle(void)
{
    Packet p = nop(0, 0);

    start_queue(0);
    run_packet(&p);
    bus.accesses = 0;
    bus.mtime += 1000 * FW_MS;
    g_assert_true(fake_settle());
    g_assert_cmpuint(bus.accesses, <=, 1);
}

static void test_wait_fault(void)
{
    Packet p = wait_for(DATA, 5, 0);

    start_queue(0);
    run_packet(&p);
    bus.readable[(DATA - FAKE_MEM) / 4096] = 0;
    fake_advance(FW_MS);
    expect_error(0, MXGPU_QERR_FAULT, 0);
    g_assert_cmpuint(bus.mtimecmp, ==, FW_NEVER);
}

/* ---- time limits ---- */

static void test_watchdog(void)
{
    Packet p = dispatch(0, 0), c = copy(DATA, DATA + 64, 8, 0, 1);

    start_queue(50);
    put(0, 0, &p);
    put(0, 1, &c);
    ring_settled(0, 2);
    fake_advance(49 * FW_MS);
    g_assert_false(bus.units[FW_UNIT_SLOT][0].aborted);
    fake_advance(2 * FW_MS);
    expect_error(0, MXGPU_QERR_TIMEOUT, 0);
    g_assert_cmpuint(ctl(0)->error.packet_index, ==, 0);
    g_assert_cmpuint(ctl(0)->error.fault, ==, MXGPU_FAULT_ABORTED);
    g_assert_cmpuint(bus.units[FW_UNIT_COPY][0].state, ==, MXGPU_UNIT_BUSY);
    g_assert_false(signalled(0));
    g_assert_cmpuint(bus.mtimecmp, ==, FW_NEVER);
}

static void test_watchdog_in_time(void)
{
    Packet p = dispatch(0, 0);

    start_queue(50);
    run_packet(&p);
    fake_advance(40 * FW_MS);
    g_assert_true(finish(FW_UNIT_SLOT, 0));
    g_assert_true(signalled(0));
    g_assert_cmpuint(fw.timed_jobs, ==, 0);
    fake_advance(1000 * FW_MS);
    g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ACTIVE);
}

static void test_abort_without_effect(void)
{
    Packet p = dispatch(0, 0);

    start_queue(50);
    bus.ignore_abort = true;
    run_packet(&p);
    fake_advance(2000 * FW_MS);
    g_assert_true(bus.units[FW_UNIT_SLOT][0].aborted);
    g_assert_nonnull(
        strstr(bus.console, "dispatch slot 0: abort has no effect"));
    g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ACTIVE);
}

/* ---- destruction ---- */

static void test_destroy_in_flight(void)
{
    Packet a = copy(DATA, DATA + 64, 8, MXGPU_PKT_IRQ, 0), b = dispatch(0, 1);

    start_queue(0);
    bus.ignore_abort = true;
    put(0, 0, &a);
    put(0, 1, &b);
    ring_settled(0, 2);
    g_assert_false(send_destroy(0));
    g_assert_true(bus.units[FW_UNIT_COPY][0].aborted);
    g_assert_true(bus.units[FW_UNIT_SLOT][0].aborted);
    g_assert_true(finish(FW_UNIT_COPY, 0));
    g_assert_false(fake_answered());
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_ABORTED);
    g_assert_true(fake_settle());
    g_assert_true(fake_answered());
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
    g_assert_false(signalled(0) || signalled(1));
    g_assert_cmpuint(bus.irqs[0], ==, 0);
    g_assert_cmpuint(create(0, 0), ==, MXGPU_MSG_OK);
}

/* Whatever list a queue is on, it leaves it. */
static void test_destroy_waiting(void)
{
    Packet p[4] = {wait_for(DATA, 1, 0), nop(0, 0),
                   copy(DATA, DATA + 64, 8, 0, 0), dispatch(0, 0)};
    Packet c = copy(DATA, DATA + 64, 8, 0, 1), d = dispatch(0, 1);

    p[1].header.type = MXGPU_PKT_TLB_INVALIDATE;
    for (unsigned i = 0; i < 4; i++) {
        start_queue(0);
        create(1, 0);
        for (unsigned k = 0; k < 2; k++) {
            put(1, k, &c);
        }
        for (unsigned k = 2; k < 10; k++) {
            put(1, k, &d);
        }
        ring_settled(1, 10);
        bus.inv_busy = true;
        run_packet(&p[i]);
        g_assert_cmpuint(ctl(0)->read_index, ==, 0); /* none has begun */
        g_assert_true(send_destroy(0));
        g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
        bus.inv_busy = false;
        *mem64(DATA) = 1;
        bus.finish_at_once = true;
        g_assert_true(finish(FW_UNIT_COPY, 0));
        g_assert_true(finish(FW_UNIT_SLOT, 0));
        fake_advance(FW_MS);
        g_assert_false(signalled(0));
        g_assert_true(signalled(1));
        g_assert_cmpuint(create(0, 0), ==, MXGPU_MSG_OK);
    }
}

/* Other queues work while the mailbox owes an answer. */
static void test_destroy_others(void)
{
    Packet a = dispatch(0, 0), n = nop(0, 1);

    start_queue(0);
    create(1, 0);
    bus.ignore_abort = true;
    run_packet(&a);
    g_assert_false(send_destroy(0));
    put(1, 0, &n);
    ring_settled(1, 1);
    g_assert_true(signalled(1));
    fake_advance(2000 * FW_MS);
    g_assert_nonnull(strstr(bus.console, "abort has no effect"));
    g_assert_false(fake_answered());
    g_assert_true(finish(FW_UNIT_SLOT, 0));
    g_assert_true(fake_answered());
}

/* What an earlier firmware started is stopped, and the unit used again. */
static void test_restart(void)
{
    Packet a = copy(DATA, DATA + 64, 8, 0, 0);

    start_queue(0);
    run_packet(&a);
    bus.units[FW_UNIT_SLOT][3].state = MXGPU_UNIT_DONE;
    memset(&fw, 0, sizeof(fw));
    fw_init();
    g_assert_true(bus.units[FW_UNIT_COPY][0].aborted);
    g_assert_true(fake_settle());
    g_assert_cmpuint(bus.units[FW_UNIT_COPY][0].state, ==, MXGPU_UNIT_IDLE);
    g_assert_cmpuint(bus.units[FW_UNIT_SLOT][3].state, ==, MXGPU_UNIT_IDLE);
    g_assert_cmpuint(fw.units[FW_UNIT_COPY].busy, ==, 0);
    g_assert_cmphex(bus.regs[MXGPU_DB_ENABLE / 4], ==, 0);
    g_assert_cmpuint(fw.timed_jobs, ==, 0);
}

/* Plain dispatches go by the front end if there is one, in the ring and in
 * lists; others and what comes while somebody waits or listens do not. What
 * the queue's owner sees is the same both ways. */
static void test_front(void)
{
    Packet p = dispatch(MXGPU_PKT_IRQ, 0), c = dispatch(MXGPU_PKT_COOPERATIVE, 1);
    unsigned n = 0, plain;

    start_queue(0);
    bus.finish_at_once = true;
    plain = fw.front_end ? 1 : 0;
    put(0, n++, &p);
    ring_settled(0, n);
    g_assert_cmpuint(bus.launched, ==, plain);
    g_assert_cmpuint(bus.retired, ==, plain);
    g_assert_cmpuint(bus.irqs[0], ==, 1);
    g_assert_cmpuint(ctl(0)->read_index, ==, 1);
    g_assert_true(signalled(0));

    put(0, n++, &c);
    ring_settled(0, n);
    g_assert_true(signalled(1));
    bus.listens = true;
    put(0, n++, &p);
    ring_settled(0, n);
    bus.listens = false;
    g_assert_cmpuint(bus.launched, ==, plain);

    *mem64(SIGNAL(0)) = 0;
    p.dispatch.kernel = KERNEL + 64; /* no descriptor: the firmware says so */
    put(0, n++, &p);
    ring_settled(0, n);
    expect_error(0, MXGPU_QERR_KERNEL, 0);
    g_assert_false(signalled(0));
    g_assert_cmpuint(bus.launched, ==, plain);
}

/* One that waits for what the dispatch signals sees it at once. */
static void test_front_notifies(void)
{
    Packet d = dispatch(0, 0), w = wait_for(SIGNAL(0), 1000, 1);

    start_queue(0);
    create(1, 0);
    put(1, 0, &w);
    ring_settled(1, 1);
    put(0, 0, &d);
    ring_settled(0, 1);
    g_assert_false(signalled(1));
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(0) && signalled(1));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/queues/overlap", test_overlap);
    g_test_add_func("/queues/barrier", test_barrier);
    g_test_add_func("/queues/implied-barriers", test_implied_barriers);
    g_test_add_func("/queues/many", test_many);
    g_test_add_func("/queues/index", test_index);
    g_test_add_func("/queues/fetch-fault", test_fetch_fault);
    g_test_add_func("/queues/ctl-fault", test_ctl_fault);
    g_test_add_func("/queues/priority", test_priority);
    g_test_add_func("/queues/round-robin", test_round_robin);
    g_test_add_func("/queues/no-blocking", test_no_blocking);
    g_test_add_func("/queues/slots", test_slots);
    g_test_add_func("/queues/slots/kept", test_kept_slots);
    g_test_add_func("/queues/slots/kept-half", test_kept_half);
    g_test_add_func("/queues/error-in-flight", test_error_in_flight);
    g_test_add_func("/queues/wait/backoff", test_wait_backoff);
    g_test_add_func("/queues/wait/notify", test_wait_notify);
    g_test_add_func("/queues/wait/fault", test_wait_fault);
    g_test_add_func("/queues/idle", test_idle);
    g_test_add_func("/queues/watchdog", test_watchdog);
    g_test_add_func("/queues/watchdog/in-time", test_watchdog_in_time);
    g_test_add_func("/queues/watchdog/abort", test_abort_without_effect);
    g_test_add_func("/queues/destroy/in-flight", test_destroy_in_flight);
    g_test_add_func("/queues/destroy/waiting", test_destroy_waiting);
    g_test_add_func("/queues/destroy/others", test_destroy_others);
    g_test_add_func("/queues/restart", test_restart);
    g_test_add_func("/queues/front", test_front);
    g_test_add_func("/queues/front/notifies", test_front_notifies);
    return g_test_run();
}
