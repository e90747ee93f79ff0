/* SPDX-License-Identifier: MIT */
/* Queues that are held still, and go on: here, or on a device that was reset. */
#include "test_util.h"

static uint32_t status_of(const uint32_t *words, unsigned count)
{
    g_assert_true(fake_send(words, count));
    return fake_answer(0);
}

#define STATUS(...)                                                            \
    status_of((const uint32_t[]){__VA_ARGS__},                                 \
              sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static struct mxgpu_msg_queue_hold_resp hold(unsigned q)
{
    struct mxgpu_msg_queue_hold_resp resp;
    uint32_t words[sizeof(resp) / 4];

    g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_HOLD, q), ==, MXGPU_MSG_OK);
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
        words[i] = fake_answer(i);
    }
    memcpy(&resp, words, sizeof(resp));
    return resp;
}

static uint32_t go_on(unsigned q, struct mxgpu_msg_queue_hold_resp at)
{
    return STATUS(MXGPU_MSG_QUEUE_RESUME, q, at.index_lo, at.index_hi,
                  at.tail_lo, at.tail_hi, at.inner, at.head);
}

static void expect(struct mxgpu_msg_queue_hold_resp at, uint32_t state,
                   uint32_t index, uint32_t tail, uint32_t inner)
{
    g_assert_cmpuint(at.state, ==, state);
    g_assert_cmpuint(at.index_lo, ==, index);
    g_assert_cmpuint(at.tail_lo, ==, tail);
    g_assert_cmpuint(at.inner, ==, inner);
    g_assert_cmpuint(at.index_hi | at.tail_hi, ==, 0);
}

/* Another life of the device, with the same memory; the queue is made anew. */
static void sleep_and_wake(unsigned q)
{
    static uint8_t memory[FAKE_MEM_SIZE];

    memcpy(memory, fake_ptr(FAKE_MEM), sizeof(memory));
    start(0);
    memcpy(fake_ptr(FAKE_MEM), memory, sizeof(memory));
    g_assert_cmpuint(create(q, 0), ==, MXGPU_MSG_OK);
    hold(q);
}

static void test_refusals(void)
{
    struct mxgpu_msg_queue_hold_resp at;

    start(0);
    g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_HOLD, 64), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_HOLD, 5), ==, MXGPU_MSG_NOT_FOUND);
    g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_RESUME, 64), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_RESUME, 5), ==,
                     MXGPU_MSG_NOT_FOUND);
    g_assert_cmpuint(create(5, 0), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_RESUME, 5), ==, MXGPU_MSG_BUSY);
    at = hold(5);
    expect(at, MXGPU_HOLD_STILL, 0, 0, 0);
    at.tail_lo = 17; /* packets of 16 */
    g_assert_cmpuint(go_on(5, at), ==, MXGPU_MSG_BAD_ARGUMENT);
    at.tail_lo = 3;
    at.index_lo = 4;
    g_assert_cmpuint(go_on(5, at), ==, MXGPU_MSG_BAD_ARGUMENT);
    at.tail_lo = 4;
    at.head = 1; /* no launch queue */
    g_assert_cmpuint(go_on(5, at), ==, MXGPU_MSG_BAD_ARGUMENT);
    at.head = 0;
    at.inner = MXGPU_INDIRECT_MAX + 1;
    g_assert_cmpuint(go_on(5, at), ==, MXGPU_MSG_BAD_ARGUMENT);
    at.inner = 0;
    at.index_lo = at.index_hi = at.tail_lo = at.tail_hi = UINT32_MAX;
    g_assert_cmpuint(go_on(5, at), ==, MXGPU_MSG_BAD_ARGUMENT);
    expect(hold(5), MXGPU_HOLD_STILL, 0, 0, 0);
    g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_DESTROY, 5), ==, MXGPU_MSG_OK);
    g_assert_true(fake_settle());
}

/* What is in flight ends; what comes after it waits, though it is rung. */
static void test_running(void)
{
    Packet a = copy(DATA, DATA + 64, 8, 0, 0), b = dispatch(0, 1);
    struct mxgpu_msg_queue_hold_resp at;

    start_queue(0);
    run_packet(&a);
    at = hold(0);
    g_assert_cmpuint(at.state, ==, MXGPU_HOLD_BUSY);
    put(0, 1, &b);
    ring_settled(0, 2);
    fake_finish(FW_UNIT_COPY, 0, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(0));
    g_assert_cmpuint(bus.units[FW_UNIT_SLOT][0].starts, ==, 0);
    expect(hold(0), MXGPU_HOLD_STILL, 1, 2, 0);
    /* What was answered while it was busy is not where it is now. */
    at.index_lo = 0;
    at.tail_lo = 2;
    bus.units[FW_UNIT_COPY][0].starts = 0;
    g_assert_cmpuint(go_on(0, hold(0)), ==, MXGPU_MSG_OK);
    g_assert_true(fake_settle());
    g_assert_cmpuint(bus.units[FW_UNIT_COPY][0].starts, ==, 0);
    g_assert_cmpuint(bus.units[FW_UNIT_SLOT][0].starts, ==, 1);
    at = hold(0);
    g_assert_cmpuint(at.state, ==, MXGPU_HOLD_BUSY);
    at.index_lo = 0;
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_BUSY);
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(1));
    expect(hold(0), MXGPU_HOLD_STILL, 2, 2, 0);
}

/* A doorbell that is rung meanwhile counts more than what was answered. */
static void test_rung_meanwhile(void)
{
    Packet a = nop(0, 0), b = nop(0, 1);
    struct mxgpu_msg_queue_hold_resp at;

    start_queue(0);
    at = hold(0);
    put(0, 0, &a);
    put(0, 1, &b);
    ring_settled(0, 2);
    g_assert_false(signalled(0));
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_OK);
    g_assert_true(fake_settle());
    g_assert_true(signalled(0) && signalled(1));
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_BUSY); /* not held */
}

/* A WAIT keeps its place in the ring, and begins anew in the next life. */
static void test_wait(void)
{
    Packet a = nop(0, 0), w = wait_for(SIGNAL(8), 1008, 1), b = nop(0, 2);
    struct mxgpu_msg_queue_hold_resp at;

    start_queue(0);
    put(0, 0, &a);
    put(0, 1, &w);
    put(0, 2, &b);
    ring_settled(0, 3);
    g_assert_true(signalled(0));
    g_assert_cmpuint(ctl(0)->read_index, ==, 1);
    at = hold(0);
    expect(at, MXGPU_HOLD_STILL, 1, 3, 0);
    *mem64(SIGNAL(8)) = 1008;
    fake_advance(FW_MS);
    g_assert_false(signalled(1)); /* held */
    *mem64(SIGNAL(8)) = 0;
    *mem64(SIGNAL(0)) = 0;
    sleep_and_wake(0);
    g_assert_cmpuint(ctl(0)->read_index, ==, 0);
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(ctl(0)->read_index, ==, 1);
    fake_advance(FW_MS);
    g_assert_false(signalled(1));
    *mem64(SIGNAL(8)) = 1008;
    fake_advance(FW_MS);
    g_assert_true(signalled(1) && signalled(2));
    g_assert_false(signalled(0)); /* not once more */
    g_assert_cmpuint(ctl(0)->read_index, ==, 3);
    expect(hold(0), MXGPU_HOLD_STILL, 3, 3, 0);
}

/* In the middle of a list: what was done of it is not done again. */
static void test_list(void)
{
    Packet list = indirect(4, 0), after = nop(0, 5);
    Packet in[] = {nop(0, 1), nop(0, 2), wait_for(SIGNAL(8), 1008, 3),
                   nop(0, 4)};
    struct mxgpu_msg_queue_hold_resp at;

    start_queue(0);
    for (unsigned i = 0; i < G_N_ELEMENTS(in); i++) {
        put_list(i, &in[i]);
    }
    put(0, 0, &list);
    put(0, 1, &after);
    ring_settled(0, 2);
    g_assert_true(signalled(1) && signalled(2));
    g_assert_cmpuint(ctl(0)->read_index, ==, 0);
    at = hold(0);
    expect(at, MXGPU_HOLD_STILL, 0, 2, 2);
    *mem64(SIGNAL(1)) = *mem64(SIGNAL(2)) = 0;
    sleep_and_wake(0);
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_OK);
    /* Once more before it has begun, and when it waits again. */
    expect(hold(0), MXGPU_HOLD_STILL, 0, 2, 2);
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_OK);
    fake_advance(FW_MS);
    expect(hold(0), MXGPU_HOLD_STILL, 0, 2, 2);
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_OK);
    *mem64(SIGNAL(8)) = 1008;
    fake_advance(FW_MS);
    g_assert_true(signalled(3) && signalled(4) && signalled(0) &&
                  signalled(5));
    g_assert_false(signalled(1) || signalled(2));
    g_assert_cmpuint(ctl(0)->read_index, ==, 2);
    /* A list that is shorter than what is said of it ends. */
    sleep_and_wake(0);
    *mem64(SIGNAL(0)) = 0;
    at.inner = 9;
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_OK);
    g_assert_true(fake_settle());
    g_assert_true(signalled(0));
}

/* A list ends between the answer and the request: it is not executed again. */
static void test_here(void)
{
    Packet list = indirect(2, 0), after = nop(0, 5);
    Packet in[] = {nop(0, 1), copy(DATA, DATA + 64, 8, 0, 2)};
    struct mxgpu_msg_queue_hold_resp at;

    start_queue(0);
    for (unsigned i = 0; i < G_N_ELEMENTS(in); i++) {
        put_list(i, &in[i]);
    }
    put(0, 0, &list);
    ring_settled(0, 1);
    at = hold(0);
    g_assert_cmpuint(at.state, ==, MXGPU_HOLD_BUSY);
    put(0, 1, &after);
    ring_settled(0, 2);
    fake_finish(FW_UNIT_COPY, 0, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(1) && signalled(2) && !signalled(5));
    *mem64(SIGNAL(1)) = 0;
    at = (struct mxgpu_msg_queue_hold_resp){0};
    at.index_lo = (uint32_t)MXGPU_RESUME_HERE;
    at.index_hi = (uint32_t)(MXGPU_RESUME_HERE >> 32);
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_OK);
    g_assert_true(fake_settle());
    g_assert_true(signalled(0) && signalled(5) && !signalled(1));
    g_assert_cmpuint(bus.units[FW_UNIT_COPY][0].starts, ==, 1);
    g_assert_cmpuint(ctl(0)->read_index, ==, 2);
    /* It is not held any more. */
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_BUSY);
}

/* A packet of the line for a unit gives its turn away. */
static void test_line(void)
{
    Packet p = dispatch(0, 0), q = dispatch(0, 1), w = dispatch(0, 2);
    struct mxgpu_msg_queue_hold_resp at;

    start_queue(0);
    create(1, 0);
    create(2, 0);
    for (unsigned i = 0; i < FAKE_SLOTS; i++) {
        put(0, i, &p);
    }
    ring_settled(0, FAKE_SLOTS);
    put(1, 0, &q);
    put(2, 0, &w);
    ring_settled(1, 1);
    ring_settled(2, 1);
    at = hold(1);
    expect(at, MXGPU_HOLD_STILL, 0, 1, 0);
    g_assert_cmpuint(ctl(1)->read_index, ==, 0);
    fake_finish(FW_UNIT_SLOT, 3, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    fake_finish(FW_UNIT_SLOT, 3, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(2));
    g_assert_cmpuint(go_on(1, at), ==, MXGPU_MSG_OK);
    g_assert_true(fake_settle());
    fake_finish(FW_UNIT_SLOT, 3, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(1));
    for (unsigned i = 0; i < FAKE_SLOTS; i++) {
        if (bus.units[FW_UNIT_SLOT][i].state == MXGPU_UNIT_BUSY) {
            fake_finish(FW_UNIT_SLOT, i, MXGPU_FAULT_NONE);
        }
    }
    g_assert_true(fake_settle());
}

/* An invalidation that is under way is made again. */
static void test_invalidation(void)
{
    Packet p = {.tlb_invalidate = {.type = MXGPU_PKT_TLB_INVALIDATE,
                                   .signal_addr = SIGNAL(0),
                                   .signal_value = 1000}};
    struct mxgpu_msg_queue_hold_resp at;
    unsigned commands;

    start_queue(0);
    bus.inv_busy = true;
    run_packet(&p);
    at = hold(0);
    expect(at, MXGPU_HOLD_STILL, 0, 1, 0);
    bus.inv_busy = false;
    fake_advance(FW_MS);
    g_assert_false(signalled(0));
    commands = bus.inv_commands;
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_OK);
    fake_advance(FW_MS);
    g_assert_true(signalled(0));
    g_assert_cmpuint(bus.inv_commands, ==, commands + 1);
}

static void test_stopped(void)
{
    Packet bad = {.header.type = 77}, good = nop(0, 0);
    struct mxgpu_msg_queue_hold_resp at;

    start_queue(0);
    run_packet(&bad);
    at = hold(0);
    g_assert_cmpuint(at.state, ==, MXGPU_HOLD_ERROR);
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_BUSY);
    g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_RESET, 0), ==, MXGPU_MSG_OK);
    /* That is an end of the hold, too. */
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_BUSY);
    run_packet(&good);
    g_assert_true(signalled(0));

    /* It fails while it is held. */
    start_queue(0);
    good = dispatch(0, 0);
    run_packet(&good);
    hold(0);
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_NOT_PRESENT);
    g_assert_true(fake_settle());
    g_assert_cmpuint(hold(0).state, ==, MXGPU_HOLD_ERROR);
    g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ERROR);
}

/* Its control block has gone meanwhile. */
static void test_fault(void)
{
    struct mxgpu_msg_queue_hold_resp at = {.index_lo = 3, .tail_lo = 3};

    start_queue(0);
    hold(0);
    bus.writable[(CTL(0) - FAKE_MEM) / 4096] = false;
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_FAULT);
    g_assert_cmpuint(hold(0).state, ==, MXGPU_HOLD_ERROR);
}

/* A launch queue counts records, and its kernels count on it. */
static void test_launch(void)
{
    struct mxgpu_msg_queue_hold_resp at = {
        .index_lo = 5, .tail_lo = 5, .head = 13};
    const uint64_t ring = DATA + 0x20000;

    start_queue(0);
    g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_LAUNCH, 0, (uint32_t)ring,
                            (uint32_t)(ring >> 32), 3),
                     ==, MXGPU_MSG_OK);
    expect(hold(0), MXGPU_HOLD_STILL, 0, 0, 0);
    at.tail_lo = 6;
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_BAD_ARGUMENT);
    at.tail_lo = 5;
    at.inner = 1;
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_BAD_ARGUMENT);
    at.inner = 0;
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_OK);
    at = hold(0);
    expect(at, MXGPU_HOLD_STILL, 5, 5, 0);
    g_assert_cmpuint(at.head, ==, 13);
    g_assert_cmpuint(go_on(0, at), ==, MXGPU_MSG_OK);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hold/refusals", test_refusals);
    g_test_add_func("/hold/running", test_running);
    g_test_add_func("/hold/rung-meanwhile", test_rung_meanwhile);
    g_test_add_func("/hold/wait", test_wait);
    g_test_add_func("/hold/list", test_list);
    g_test_add_func("/hold/here", test_here);
    g_test_add_func("/hold/line", test_line);
    g_test_add_func("/hold/invalidation", test_invalidation);
    g_test_add_func("/hold/stopped", test_stopped);
    g_test_add_func("/hold/fault", test_fault);
    g_test_add_func("/hold/launch", test_launch);
    return g_test_run();
}
