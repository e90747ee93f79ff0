/* SPDX-License-Identifier: MIT */
/* Lists of packets: order, overlap, errors in them, and their end. */
#include "test_util.h"

static bool finish(FwUnitKind kind, unsigned index)
{
    fake_finish(kind, index, MXGPU_FAULT_NONE);
    return fake_settle();
}

/* The ring's packets around a list run in front of it and behind. */
static void test_order(void)
{
    Packet a = copy(DATA, DATA + 64, 8, 0, 0), list = indirect(3, 1);
    Packet b = nop(0, 2), in[] = {nop(0, 3), dispatch(0, 4), nop(0, 5)};

    start_queue(0);
    for (unsigned i = 0; i < 3; i++) {
        put_list(i, &in[i]);
    }
    put(0, 0, &a);
    put(0, 1, &list);
    put(0, 2, &b);
    ring_settled(0, 3);
    g_assert_false(signalled(3)); /* INDIRECT is a barrier */
    g_assert_true(finish(FW_UNIT_COPY, 0));
    g_assert_true(signalled(0) && signalled(3) && signalled(5));
    g_assert_false(signalled(1) || signalled(2) || signalled(4));
    g_assert_cmpuint(ctl(0)->read_index, ==, 1); /* not the list's */
    g_assert_true(finish(FW_UNIT_SLOT, 0));
    g_assert_true(signalled(4) && signalled(1) && signalled(2));
    g_assert_cmpuint(ctl(0)->read_index, ==, 3);
}

/* Packets of a list overlap, but for barriers. */
static void test_barrier(void)
{
    Packet list = indirect(4, 0);
    Packet in[] = {copy(DATA, DATA, 8, 0, 1), dispatch(0, 2),
                   dispatch(MXGPU_PKT_BARRIER, 3),
                   copy(DATA, DATA, 8, 0, 4)};

    start_queue(0);
    for (unsigned i = 0; i < 4; i++) {
        put_list(i, &in[i]);
    }
    run_packet(&list);
    g_assert_cmpuint(busy_units(FW_UNIT_COPY), ==, 1);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
    g_assert_true(finish(FW_UNIT_SLOT, 0));
    g_assert_cmpuint(bus.units[FW_UNIT_SLOT][0].starts, ==, 1);
    g_assert_true(finish(FW_UNIT_COPY, 0));
    g_assert_cmpuint(bus.units[FW_UNIT_SLOT][0].starts, ==, 2);
    g_assert_cmpuint(busy_units(FW_UNIT_COPY), ==, 0);
    g_assert_true(finish(FW_UNIT_SLOT, 0));
    g_assert_cmpuint(busy_units(FW_UNIT_COPY), ==, 1);
    g_assert_false(signalled(0));
    g_assert_true(finish(FW_UNIT_COPY, 0));
    g_assert_true(signalled(0));
}

/* More than units, one packet of the ring, its interrupt once. */
static void test_many(void)
{
    Packet list = indirect(900, 0), inner = dispatch(MXGPU_PKT_BARRIER, 1);

    start_queue(0);
    bus.finish_at_once = true;
    inner.dispatch.signal_addr = 0;
    for (unsigned i = 0; i < 900; i++) {
        put_list(i, &inner);
    }
    list.header.flags = MXGPU_PKT_IRQ;
    run_packet(&list);
    g_assert_true(signalled(0));
    g_assert_cmpuint(bus.irqs[0], ==, 1);
    g_assert_cmpuint(ctl(0)->read_index, ==, 1);
    unsigned starts = 0;
    for (unsigned i = 0; i < FW_MAX_UNITS; i++) {
        starts += bus.units[FW_UNIT_SLOT][i].starts;
    }
    g_assert_cmpuint(starts, ==, 900);
}

static void test_empty(void)
{
    Packet list = indirect(0, 0), after = nop(0, 1);

    start_queue(0);
    put(0, 0, &list);
    put(0, 1, &after);
    ring_settled(0, 2);
    g_assert_true(signalled(0) && signalled(1));
}

/* A list in which the queue is parked; another queue ends that. */
static void test_wait(void)
{
    Packet list = indirect(2, 0), in[] = {wait_for(SIGNAL(8), 1008, 1),
                                          nop(0, 2)};
    Packet other = nop(0, 8);

    start_queue(0);
    create(1, 0);
    put_list(0, &in[0]);
    put_list(1, &in[1]);
    run_packet(&list);
    fake_advance(FW_MS);
    g_assert_false(signalled(0) || signalled(1) || signalled(2));
    put(1, 0, &other);
    ring_settled(1, 1);
    fake_advance(FW_MS);
    g_assert_true(signalled(0) && signalled(1) && signalled(2));
}

static void expect_inner(uint32_t code, uint32_t type, uint32_t inner)
{
    g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ERROR);
    g_assert_cmpuint(ctl(0)->error.code, ==, code);
    g_assert_cmpuint(ctl(0)->error.packet_type, ==, type);
    g_assert_cmpuint(ctl(0)->error.packet_index, ==, 1);
    g_assert_cmpuint(ctl(0)->error.inner, ==, inner);
    g_assert_false(signalled(0));
}

/* Behind a NOP in the ring, a list whose third packet is bad. */
static void run_bad(const Packet *bad)
{
    Packet first = nop(0, 9), list = indirect(4, 0);

    start_queue(0);
    for (unsigned i = 0; i < 4; i++) {
        Packet inner = nop(0, 1 + i);

        put_list(i, i == 2 ? bad : &inner);
    }
    put(0, 0, &first);
    put(0, 1, &list);
    ring_settled(0, 2);
}

static void test_bad(void)
{
    Packet nested = indirect(0, 5), unknown = nop(0, 5), field = nop(0, 5);
    Packet profile = dispatch(MXGPU_PKT_PROFILE, 5);
    Packet signal = nop(0, 5), write = nop(0, 5);
    Packet kernel = dispatch(0, 5);

    run_bad(&nested);
    expect_inner(MXGPU_QERR_PACKET, MXGPU_PKT_INDIRECT, 3);
    expect_error(0, MXGPU_QERR_PACKET, 0);
    g_assert_true(signalled(2) && !signalled(4)); /* 1, 2, and no more */
    unknown.header.type = MXGPU_PKT_TYPES;
    run_bad(&unknown);
    expect_inner(MXGPU_QERR_PACKET, MXGPU_PKT_TYPES, 3);
    field.words[1] = 1;
    run_bad(&field);
    expect_inner(MXGPU_QERR_PACKET, MXGPU_PKT_NOP, 3);
    run_bad(&profile);
    expect_inner(MXGPU_QERR_PACKET, MXGPU_PKT_DISPATCH, 3);
    signal.write.signal_addr++;
    run_bad(&signal);
    expect_inner(MXGPU_QERR_SIGNAL, MXGPU_PKT_NOP, 3);
    signal.write.signal_addr = 0x40000000;
    run_bad(&signal);
    expect_inner(MXGPU_QERR_SIGNAL, MXGPU_PKT_NOP, 3);
    write.header.type = MXGPU_PKT_WRITE;
    write.write.size = 8;
    write.write.addr = 0x40000000;
    run_bad(&write);
    expect_inner(MXGPU_QERR_FAULT, MXGPU_PKT_WRITE, 3);
    kernel.dispatch.kernel = DATA;
    run_bad(&kernel);
    expect_inner(MXGPU_QERR_KERNEL, MXGPU_PKT_DISPATCH, 3);
}

/* A flag that only queues with records allow is none for lists even there. */
static void test_profile(void)
{
    const struct mxgpu_msg_queue_profile setup = {
        MXGPU_MSG_QUEUE_PROFILE, 0, (uint32_t)DATA + 0x20000, 0, 2, 1024, 0, 0,
    };
    Packet inner = copy(DATA, DATA, 8, MXGPU_PKT_PROFILE, 1);
    Packet list = indirect(1, 0);

    start_queue(0);
    g_assert_true(fake_send((const uint32_t *)&setup, sizeof(setup) / 4));
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
    put_list(0, &inner);
    run_packet(&list);
    expect_error(0, MXGPU_QERR_PACKET, 2);
}

/* A fault of a unit names the packet, also when later ones have started. */
static void test_unit_fault(void)
{
    Packet first = nop(0, 9), list = indirect(4, 0);
    Packet in[] = {nop(0, 1), dispatch(0, 2), nop(0, 3), nop(0, 4)};

    start_queue(0);
    for (unsigned i = 0; i < 4; i++) {
        put_list(i, &in[i]);
    }
    put(0, 0, &first);
    put(0, 1, &list);
    ring_settled(0, 2);
    g_assert_true(signalled(4));
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_NOT_PRESENT);
    g_assert_true(fake_settle());
    expect_inner(MXGPU_QERR_FAULT, MXGPU_PKT_DISPATCH, 2);
}

/* A list that cannot be read, from its start or from the next page on. */
static void test_fetch(void)
{
    for (unsigned page = 0; page < 2; page++) {
        Packet first = nop(0, 9), list = indirect(65, 0);

        start_queue(0);
        bus.readable[(LIST - FAKE_MEM) / 4096 + page] = 0;
        put(0, 0, &first);
        put(0, 1, &list);
        ring_settled(0, 2);
        expect_inner(MXGPU_QERR_FETCH, 0, page ? 65 : 1);
        g_assert_cmphex(ctl(0)->error.fault_addr, ==, LIST + page * 4096);
        g_assert_cmpuint(ctl(0)->read_index, ==, 2);
    }
}

/* Two queues take turns, packet by packet. */
static void test_turns(void)
{
    Packet list = indirect(64, 0), other = nop(0, 1);

    start_queue(0);
    create(1, 0);
    bus.finish_at_once = true;
    for (unsigned i = 0; i < 64; i++) {
        Packet inner = dispatch(MXGPU_PKT_BARRIER, 2);

        put_list(i, &inner);
    }
    put(0, 0, &list);
    put(1, 0, &other);
    fake_doorbell(0, 1);
    fake_doorbell(1, 1);
    for (unsigned i = 0; i < 30 && !signalled(1); i++) {
        fw_step();
    }
    g_assert_true(signalled(1) && !signalled(0));
    g_assert_true(fake_settle());
    g_assert_true(signalled(0));
}

/* Destroyed in a list; the queue that comes next begins in its ring. */
static void test_destroy(void)
{
    const uint32_t words[] = {MXGPU_MSG_QUEUE_DESTROY, 0};
    Packet list = indirect(2, 0), in[] = {dispatch(0, 1),
                                          nop(MXGPU_PKT_BARRIER, 2)};
    Packet after = nop(0, 3);

    start_queue(0);
    bus.ignore_abort = true;
    put_list(0, &in[0]);
    put_list(1, &in[1]);
    run_packet(&list);
    fake_send(words, 2); /* answered when the dispatch is gone */
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_ABORTED);
    g_assert_true(fake_settle());
    g_assert_cmpuint(fw.queues[0].state, ==, FW_QUEUE_FREE);
    g_assert_false(signalled(0) || signalled(1) || signalled(2));
    bus.ignore_abort = false;
    bus.db_value[0] = 0;
    g_assert_cmpuint(create(0, 0), ==, MXGPU_MSG_OK);
    run_packet(&after);
    g_assert_true(signalled(3));
    g_assert_cmpuint(ctl(0)->read_index, ==, 1);
}

static void test_watchdog(void)
{
    Packet first = nop(0, 9), list = indirect(1, 0), inner = dispatch(0, 1);

    start_queue(5);
    put_list(0, &inner);
    put(0, 0, &first);
    put(0, 1, &list);
    ring_settled(0, 2);
    fake_advance(6 * FW_MS);
    expect_inner(MXGPU_QERR_TIMEOUT, MXGPU_PKT_DISPATCH, 1);
}

/* ---- chains: what the front end does of a list by itself */

#define CHAIN 5

/* A list of dispatches, one after the other; the last one has a signal. */
static void start_chain(uint32_t watchdog)
{
    Packet first = nop(0, 9), list = indirect(CHAIN, 0);

    start_queue(watchdog);
    for (unsigned i = 0; i < CHAIN; i++) {
        Packet inner = dispatch(i ? MXGPU_PKT_BARRIER : 0, 1 + i);

        if (i < CHAIN - 1) {
            inner.dispatch.signal_addr = 0;
        }
        put_list(i, &inner);
    }
    list.header.flags = MXGPU_PKT_IRQ;
    put(0, 0, &first);
    put(0, 1, &list);
    ring_settled(0, 2);
}

static void expect_followed(unsigned count)
{
    if (MXGPU_GET(MXGPU_FEATURES_FRONT_END, bus.regs[MXGPU_FEATURES / 4])) {
        g_assert_cmpuint(bus.followed, ==, count);
    }
}

static void test_chain(void)
{
    start_chain(0);
    for (unsigned i = 0; i < CHAIN; i++) {
        g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
        expect_followed(i);
        g_assert_false(signalled(CHAIN) || signalled(0));
        g_assert_true(finish(FW_UNIT_SLOT, 0));
    }
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 0);
    g_assert_true(signalled(CHAIN) && signalled(0));
    g_assert_cmpuint(bus.irqs[0], ==, 1);
    g_assert_cmpuint(ctl(0)->read_index, ==, 2);
}

/* Each packet's fault names it, and ends the list. */
static void test_chain_fault(void)
{
    for (unsigned bad = 0; bad < CHAIN; bad++) {
        start_chain(0);
        for (unsigned i = 0; i < bad; i++) {
            g_assert_true(finish(FW_UNIT_SLOT, 0));
        }
        fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_NOT_PRESENT);
        g_assert_true(fake_settle());
        expect_inner(MXGPU_QERR_FAULT, MXGPU_PKT_DISPATCH, bad + 1);
        expect_followed(bad);
        g_assert_false(signalled(CHAIN));
        g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 0);
    }
}

/* A packet that the front end does not take is the firmware's, and what comes
 * behind it may be followed again. */
static void test_chain_other(void)
{
    Packet other = nop(MXGPU_PKT_BARRIER, 8);

    start_chain(0);
    put_list(2, &other);
    for (unsigned i = 0; i < CHAIN - 1; i++) {
        g_assert_cmpuint(signalled(8), ==, i > 1);
        g_assert_true(finish(FW_UNIT_SLOT, 0));
    }
    expect_followed(2);
    g_assert_true(signalled(8) && signalled(CHAIN) && signalled(0));
}

/* Bad packets of a chain are refused as such. */
static void test_chain_bad(void)
{
    Packet bad = dispatch(MXGPU_PKT_BARRIER, 8);

    bad.dispatch.grid[1] = 0;
    start_chain(0);
    put_list(3, &bad);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_true(finish(FW_UNIT_SLOT, 0));
    }
    expect_inner(MXGPU_QERR_PACKET, MXGPU_PKT_DISPATCH, 4);
}

/* Time limits are of packets: those of a chain are started one by one. */
static void test_chain_watchdog(void)
{
    start_chain(5);
    g_assert_true(finish(FW_UNIT_SLOT, 0));
    fake_advance(3 * FW_MS);
    g_assert_true(finish(FW_UNIT_SLOT, 0));
    fake_advance(3 * FW_MS);
    expect_followed(0);
    fake_advance(3 * FW_MS);
    expect_inner(MXGPU_QERR_TIMEOUT, MXGPU_PKT_DISPATCH, 3);
}

static void test_chain_destroy(void)
{
    const uint32_t words[] = {MXGPU_MSG_QUEUE_DESTROY, 0};

    start_chain(0);
    g_assert_true(finish(FW_UNIT_SLOT, 0));
    fake_send(words, 2);
    g_assert_true(fake_settle());
    g_assert_cmpuint(fw.queues[0].state, ==, FW_QUEUE_FREE);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 0);
    expect_followed(1);
    g_assert_false(signalled(CHAIN) || signalled(0));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/indirect/order", test_order);
    g_test_add_func("/indirect/barrier", test_barrier);
    g_test_add_func("/indirect/many", test_many);
    g_test_add_func("/indirect/empty", test_empty);
    g_test_add_func("/indirect/wait", test_wait);
    g_test_add_func("/indirect/bad", test_bad);
    g_test_add_func("/indirect/profile", test_profile);
    g_test_add_func("/indirect/unit-fault", test_unit_fault);
    g_test_add_func("/indirect/fetch", test_fetch);
    g_test_add_func("/indirect/turns", test_turns);
    g_test_add_func("/indirect/destroy", test_destroy);
    g_test_add_func("/indirect/watchdog", test_watchdog);
    g_test_add_func("/indirect/chain", test_chain);
    g_test_add_func("/indirect/chain-fault", test_chain_fault);
    g_test_add_func("/indirect/chain-other", test_chain_other);
    g_test_add_func("/indirect/chain-bad", test_chain_bad);
    g_test_add_func("/indirect/chain-watchdog", test_chain_watchdog);
    g_test_add_func("/indirect/chain-destroy", test_chain_destroy);
    return g_test_run();
}
