/* SPDX-License-Identifier: MIT */
/* Dispatches that leave their slot, and come back. */
#include "test_util.h"

#define AREA      (DATA + 0x30000)
#define AREA_SIZE 0x8000u
#define QUEUES    12

static uint32_t area(uint32_t vmid, uint64_t addr, uint64_t size)
{
    const uint32_t words[] = {
        MXGPU_MSG_CONTEXTS, vmid, (uint32_t)addr, (uint32_t)(addr >> 32),
        (uint32_t)size, (uint32_t)(size >> 32),
    };

    g_assert_true(fake_send(words, G_N_ELEMENTS(words)));
    return fake_answer(0);
}

static void start_queues(unsigned n, uint32_t priority)
{
    start(0);
    for (unsigned q = 0; q < n; q++) {
        g_assert_cmpuint(create(q, priority), ==, MXGPU_MSG_OK);
    }
    g_assert_cmpuint(area(1, AREA, AREA_SIZE), ==, MXGPU_MSG_OK);
}

/* The dispatch of queue q: its grid tells whose it is. */
static void begin(unsigned q)
{
    Packet p = dispatch(0, q);

    p.dispatch.grid[0] = 100 + q;
    put(q, 0, &p);
    ring_settled(q, 1);
}

/* The queues that have slots, by what the hardware runs. */
static uint32_t running(void)
{
    uint32_t queues = 0;

    for (unsigned s = 0; s < FAKE_SLOTS; s++) {
        if (bus.units[FW_UNIT_SLOT][s].state == MXGPU_UNIT_BUSY) {
            queues |=
                1u << (bus.regs[(MXGPU_CD_GRID_X + s * 0x80) / 4] - 100);
        }
    }
    return queues;
}

static void finish(unsigned q)
{
    for (unsigned s = 0; s < FAKE_SLOTS; s++) {
        if (bus.units[FW_UNIT_SLOT][s].state == MXGPU_UNIT_BUSY &&
            bus.regs[(MXGPU_CD_GRID_X + s * 0x80) / 4] == 100 + q) {
            fake_finish(FW_UNIT_SLOT, s, MXGPU_FAULT_NONE);
            g_assert_true(fake_settle());
            return;
        }
    }
    g_assert_not_reached();
}

/* Ends each as soon as it has a slot again. */
static void finish_all(uint32_t queues)
{
    for (unsigned i = 0; i < 1000 && queues; i++) {
        for (uint32_t on = running() & queues; on; on &= on - 1) {
            finish(lowest_bit(on));
            g_assert_true(signalled(lowest_bit(on)));
            queues &= ~(1u << lowest_bit(on));
        }
        fake_advance(FW_MS);
    }
    g_assert_cmphex(queues, ==, 0);
    g_assert_cmpuint(fw.num_contexts, ==, 0);
    g_assert_cmphex(running(), ==, 0);
    g_assert_cmphex(bus.regs[MXGPU_CD_HOLD / 4], ==, 0);
}

static void test_message(void)
{
    const uint32_t vm[] = {MXGPU_MSG_VM_SET, 2, (uint32_t)FAKE_ROOT, 0};

    start_queues(1, 0);
    g_assert_cmpuint(area(16, AREA, 64), ==, MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(area(1, AREA + 8, 64), ==, MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(area(1, AREA, 60), ==, MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(area(1, 0, 64), ==, MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(area(1, AREA, 1ull << 60), ==, MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(area(1, 0, 0), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(area(2, AREA, 64), ==, MXGPU_MSG_OK);
    g_assert_true(fake_send(vm, 4));
    g_assert_cmpuint(fw.context_area[2].size, ==, 0);
    fw.can_leave = false; /* as other hardware */
    g_assert_cmpuint(area(1, AREA, 64), ==, MXGPU_MSG_UNKNOWN_OP);
}

/* More dispatches without an end than slots: each has one again and again. */
static void test_turns(void)
{
    unsigned had[QUEUES] = {0};

    start_queues(QUEUES, 3);
    for (unsigned q = 0; q < QUEUES; q++) {
        begin(q);
    }
    g_assert_cmphex(running(), ==, 0xff);
    for (unsigned i = 0; i < 2000; i++) {
        for (unsigned q = 0; q < QUEUES; q++) {
            had[q] += running() >> q & 1;
        }
        fake_advance(FW_MS);
    }
    for (unsigned q = 0; q < QUEUES; q++) {
        g_assert_cmpuint(had[q], >, 1000);
    }
    g_assert_cmpuint(bus.saves, >, 20);
    g_assert_cmpuint(area(1, AREA, AREA_SIZE), ==, MXGPU_MSG_BUSY);
    finish_all((1u << QUEUES) - 1);
    g_assert_cmpuint(area(1, AREA, AREA_SIZE), ==, MXGPU_MSG_OK);
}

/* Nobody leaves for what is less urgent, nor without an area. */
static void test_stay(void)
{
    start_queues(FAKE_SLOTS, 3);
    g_assert_cmpuint(create(9, 4), ==, MXGPU_MSG_OK);
    for (unsigned q = 0; q < FAKE_SLOTS; q++) {
        begin(q);
    }
    begin(9);
    fake_advance(500 * FW_MS);
    g_assert_cmpuint(bus.saves, ==, 0);
    finish(2);
    g_assert_cmphex(running(), ==, 0xfb); /* the last one is not for it */
    g_assert_cmpuint(create(10, 3), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(area(1, 0, 0), ==, MXGPU_MSG_OK);
    begin(10);
    fake_advance(500 * FW_MS);
    g_assert_cmpuint(bus.saves, ==, 0);
    finish_all(0x6fb);
}

/* Queues are destroyed and reset while what they run is in memory. */
static void test_destroy(void)
{
    const uint32_t destroy[] = {MXGPU_MSG_QUEUE_DESTROY, 0};
    const uint32_t reset[] = {MXGPU_MSG_QUEUE_RESET, 0};

    for (unsigned way = 0; way < 2; way++) {
        start_queues(9, 3);
        for (unsigned q = 0; q < 9; q++) {
            begin(q);
        }
        for (unsigned i = 0; i < 1000 && running() & 1; i++) {
            fake_advance(FW_MS);
        }
        g_assert_cmpuint(fw.num_contexts, ==, 1);
        g_assert_true(fake_send(way ? reset : destroy, 2));
        g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
        g_assert_cmpuint(fw.num_contexts, ==, 0);
        finish_all(0x1fe);
        if (way) {
            begin(0);
            finish(0);
            g_assert_true(signalled(0));
        }
    }
}

/* What cannot be saved keeps its slot; it is tried once. */
static void test_refused(void)
{
    static const MxgpuContextState says[] = {
        MXGPU_CONTEXT_ROOM, MXGPU_CONTEXT_FAULT, MXGPU_CONTEXT_REFUSED,
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(says); i++) {
        start_queues(9, 3);
        for (unsigned q = 0; q < 9; q++) {
            begin(q);
        }
        bus.context_says = says[i];
        fake_advance(2000 * FW_MS);
        g_assert_cmphex(running(), ==, 0xff);
        g_assert_cmphex(fw.stay_slots, ==, 0xff);
        bus.context_says = MXGPU_CONTEXT_DONE;
        finish(3);
        g_assert_cmphex(running(), ==, 0x1f7);
        finish_all(0x1f7);
    }
}

/* Units that do not get to it in time are asked again: the host was slow. */
static void test_slow(void)
{
    start_queues(9, 3);
    for (unsigned q = 0; q < 9; q++) {
        begin(q);
    }
    bus.context_says = MXGPU_CONTEXT_BUSY;
    fake_advance(2000 * FW_MS); /* all have been asked */
    g_assert_cmphex(running(), ==, 0xff);
    g_assert_cmphex(bus.regs[MXGPU_CD_HOLD / 4] & fw.stay_slots, ==, 0);
    bus.context_says = MXGPU_CONTEXT_DONE;
    for (unsigned i = 0; i < 700 && !(running() >> 8 & 1); i++) {
        fake_advance(FW_MS);
    }
    g_assert_cmphex(running() & 0x100, ==, 0x100);
    finish_all(0x1ff);
}

/* Somebody has changed what is in memory: an error of that queue. */
static void test_forged(void)
{
    uint64_t at;
    unsigned q;

    start_queues(9, 3);
    for (q = 0; q < 9; q++) {
        begin(q);
    }
    for (unsigned i = 0; i < 1000 && !fw.contexts[0].job.queue; i++) {
        fake_advance(100 * FW_US);
    }
    q = queue_id(fw.contexts[0].job.queue);
    at = fw.contexts[0].addr;
    *mem64(at) = 1;
    for (unsigned i = 0; i < 1000 && ctl(q)->state != MXGPU_QUEUE_ERROR; i++) {
        fake_advance(100 * FW_US);
    }
    g_assert_cmpuint(ctl(q)->error.code, ==, MXGPU_QERR_FETCH);
    g_assert_cmphex(ctl(q)->error.fault_addr, ==, at);
    finish_all(0x1ff & ~(1u << q));
}

/* Contexts of different sizes, and an area that has room for some. */
static void test_room(void)
{
    start_queues(QUEUES, 3);
    bus.context_size = 0x3f01; /* two of them, nearly */
    for (unsigned q = 0; q < QUEUES; q++) {
        begin(q);
    }
    for (unsigned i = 0; i < 1000; i++) {
        fake_advance(FW_MS);
        g_assert_cmpuint(fw.num_contexts, <=, 2);
        for (unsigned n = 0; n < FW_MAX_CONTEXTS; n++) {
            const FwContext *c = &fw.contexts[n];

            if (c->job.queue) {
                g_assert_true(c->addr >= AREA &&
                              c->addr + c->size <= AREA + AREA_SIZE);
            }
        }
    }
    finish_all((1u << QUEUES) - 1);
}

/* The watchdog's time stands still for what is in memory. */
static void test_watchdog(void)
{
    start(400);
    for (unsigned q = 0; q < 9; q++) {
        g_assert_cmpuint(create(q, 3), ==, MXGPU_MSG_OK);
    }
    g_assert_cmpuint(area(1, AREA, AREA_SIZE), ==, MXGPU_MSG_OK);
    for (unsigned q = 0; q < 9; q++) {
        begin(q);
    }
    fake_advance(399 * FW_MS);
    for (unsigned q = 0; q < 9; q++) {
        g_assert_cmpuint(ctl(q)->state, !=, MXGPU_QUEUE_ERROR);
    }
    fake_advance(200 * FW_MS);
    for (unsigned q = 0; q < 9; q++) {
        g_assert_cmpuint(ctl(q)->state, ==, MXGPU_QUEUE_ERROR);
        g_assert_cmpuint(ctl(q)->error.code, ==, MXGPU_QERR_TIMEOUT);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/contexts/message", test_message);
    g_test_add_func("/contexts/turns", test_turns);
    g_test_add_func("/contexts/stay", test_stay);
    g_test_add_func("/contexts/destroy", test_destroy);
    g_test_add_func("/contexts/refused", test_refused);
    g_test_add_func("/contexts/slow", test_slow);
    g_test_add_func("/contexts/forged", test_forged);
    g_test_add_func("/contexts/room", test_room);
    g_test_add_func("/contexts/watchdog", test_watchdog);
    return g_test_run();
}
