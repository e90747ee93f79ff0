/* SPDX-License-Identifier: MIT */
/* Grids that kernels launch: the tests are the kernels, which write records
 * and ring entries. Queue 0 has the packets, queue LQ runs the grids. */
#include "test_util.h"

#define LQ         1
#define LRING      (DATA + 0x40000) /* of 8 entries */
#define RECORD(i)  (DATA + 0x20000 + (i) * 0x100ull)
#define ROOT       RECORD(0)
#define NONE       UINT32_MAX
#define AREA       (DATA + 0x30000)

static uint32_t tail;

static struct mxgpu_launch *record(unsigned i)
{
    return fake_ptr(RECORD(i));
}

static uint32_t launch_queue(unsigned q, uint64_t ring, uint32_t log2)
{
    const uint32_t words[] = {MXGPU_MSG_QUEUE_LAUNCH, q, (uint32_t)ring,
                              (uint32_t)(ring >> 32), log2};

    g_assert_true(fake_send(words, G_N_ELEMENTS(words)));
    return fake_answer(0);
}

static void start_launches(void)
{
    start_queue(0);
    g_assert_cmpuint(create(LQ, 0), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(launch_queue(LQ, LRING, 3), ==, MXGPU_MSG_OK);
    tail = 0;
}

static Packet root_packet(unsigned signal)
{
    Packet p = dispatch(MXGPU_PKT_LAUNCHES | MXGPU_PKT_BARRIER, signal);

    p.dispatch.args = ROOT + MXGPU_LAUNCH_ARGS;
    memset(record(0), 0, sizeof(*record(0)));
    return p;
}

/* What a kernel of grid "parent" does: grid i, after another one or NONE. */
static void launch(unsigned parent, unsigned i, unsigned after)
{
    struct mxgpu_launch_record *r = fake_ptr(RECORD(i));

    r->launch = (struct mxgpu_launch){
        .parent = RECORD(parent),
        .state = MXGPU_LAUNCH_TAKEN,
        .sequence = r->launch.sequence,
        .after = after == NONE ? 0 : RECORD(after),
        .after_sequence = after == NONE ? 0 : record(after)->sequence,
        .depth = record(parent)->depth + 1,
    };
    r->packet = dispatch(0, 0).dispatch;
    r->packet.args = RECORD(i) + MXGPU_LAUNCH_ARGS;
    r->packet.grid[0] = 1000 + i;
    r->packet.signal_addr = 0;
    record(parent)->launched++;
    *mem64(LRING + (tail++ & 7) * 8) = RECORD(i);
}

/* Long enough for a look at the ring. */
static void let_look(void)
{
    fake_advance(200 * FW_US);
    g_assert_true(fake_settle());
}

/* The slot that runs grid i, or NONE. */
static unsigned slot_of(unsigned i)
{
    for (unsigned s = 0; s < FAKE_SLOTS; s++) {
        if (bus.units[FW_UNIT_SLOT][s].state == MXGPU_UNIT_BUSY &&
            bus.regs[(MXGPU_CD_GRID_X + s * MXGPU_CD_CFG_STRIDE) / 4] ==
                1000 + i) {
            return s;
        }
    }
    return NONE;
}

static unsigned busy_slot(void)
{
    unsigned s = 0;

    while (bus.units[FW_UNIT_SLOT][s].state != MXGPU_UNIT_BUSY) {
        s++;
        g_assert_cmpuint(s, <, FAKE_SLOTS);
    }
    return s;
}

static void end_slot(unsigned slot, enum mxgpu_fault fault)
{
    g_assert_cmpuint(slot, !=, NONE);
    fake_finish(FW_UNIT_SLOT, slot, fault);
    g_assert_true(fake_settle());
}

static void end_grid(unsigned i)
{
    end_slot(slot_of(i), MXGPU_FAULT_NONE);
}

/* A kernel that launches nothing costs its packet nothing. */
static void test_nothing(void)
{
    Packet p, after = nop(0, 1);

    start_launches();
    p = root_packet(0);
    put(0, 0, &p);
    put(0, 1, &after);
    ring_settled(0, 2);
    end_slot(0, MXGPU_FAULT_NONE);
    g_assert_true(signalled(0) && signalled(1));
    g_assert_false(fw.launch_polls && fw.launch[1].launchers);
}

/* The packet waits for children, and what follows for the packet. */
static void test_children(void)
{
    Packet p, after = nop(0, 1);

    start_launches();
    p = root_packet(0);
    put(0, 0, &p);
    put(0, 1, &after);
    ring_settled(0, 2);
    launch(0, 1, NONE);
    let_look(); /* begins while the parent runs */
    g_assert_cmpuint(slot_of(1), !=, NONE);
    launch(0, 2, NONE);
    end_slot(0, MXGPU_FAULT_NONE);
    let_look();
    g_assert_false(signalled(0) || signalled(1));
    end_grid(2);
    g_assert_false(signalled(0));
    g_assert_cmpuint(record(2)->state, ==, MXGPU_LAUNCH_FREE);
    g_assert_cmpuint(record(2)->sequence, ==, 1);
    end_grid(1);
    g_assert_true(signalled(0) && signalled(1));
    g_assert_cmpuint(record(0)->completed, ==, 2);
    g_assert_cmpuint(*mem64(LRING), ==, 0);
    /* and again, with the same records */
    put(0, 2, &p);
    *mem64(SIGNAL(0)) = 0;
    ring_settled(0, 3);
    launch(0, 1, NONE);
    end_slot(0, MXGPU_FAULT_NONE);
    let_look();
    g_assert_false(signalled(0));
    end_grid(1);
    g_assert_true(signalled(0));
    g_assert_cmpuint(record(1)->sequence, ==, 2);
}

/* Complete is who has no children left, from the leaves to the packet. */
static void test_levels(void)
{
    Packet p;

    start_launches();
    p = root_packet(0);
    run_packet(&p);
    for (unsigned i = 1; i <= MXGPU_LAUNCH_DEPTH; i++) {
        launch(i - 1, i, NONE);
        let_look();
        if (i == 1) {
            end_slot(0, MXGPU_FAULT_NONE);
        } else {
            end_grid(i - 1);
        }
        g_assert_cmpuint(record(i - 1)->state, ==,
                         i == 1 ? MXGPU_LAUNCH_FREE : MXGPU_LAUNCH_ENDED);
    }
    g_assert_false(signalled(0));
    end_grid(MXGPU_LAUNCH_DEPTH);
    g_assert_true(signalled(0));
    for (unsigned i = 1; i <= MXGPU_LAUNCH_DEPTH; i++) {
        g_assert_cmpuint(record(i)->state, ==, MXGPU_LAUNCH_FREE);
        g_assert_cmpuint(record(i)->sequence, ==, 1);
    }
}

/* Grids of one stream: the next begins when all of the one before is over. */
static void test_stream(void)
{
    Packet p;

    start_launches();
    p = root_packet(0);
    run_packet(&p);
    launch(0, 1, NONE);
    launch(0, 2, 1);
    launch(0, 3, 2);
    end_slot(0, MXGPU_FAULT_NONE);
    let_look();
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
    launch(1, 4, NONE);
    end_grid(1);
    let_look();
    g_assert_cmpuint(slot_of(2), ==, NONE); /* 4 is part of 1 */
    end_grid(4);
    end_grid(2);
    g_assert_false(signalled(0));
    end_grid(3);
    g_assert_true(signalled(0));
}

/* Whom it begins after is complete already. */
static void test_after_complete(void)
{
    Packet p;
    struct mxgpu_launch *late;

    start_launches();
    p = root_packet(0);
    run_packet(&p);
    launch(0, 1, NONE);
    let_look();
    launch(0, 2, 1);
    late = record(2);
    g_assert_cmpuint(late->after_sequence, ==, 0);
    end_grid(1); /* before the firmware looks */
    let_look();
    end_slot(0, MXGPU_FAULT_NONE);
    end_grid(2);
    g_assert_true(signalled(0));
}

/* More than slots; a full ring goes round. */
static void test_many(void)
{
    Packet p;

    start_launches();
    p = root_packet(0);
    run_packet(&p);
    bus.finish_at_once = true;
    for (unsigned i = 1; i <= 64; i += 8) {
        for (unsigned j = i; j < i + 8; j++) {
            launch(0, j, NONE);
        }
        let_look();
    }
    bus.finish_at_once = false;
    g_assert_cmpuint(record(0)->completed, ==, 64);
    for (unsigned i = 1; i <= 8; i++) {
        launch(0, i, NONE);
    }
    let_look(); /* one for each slot but the parent's; one is in line */
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, FAKE_SLOTS);
    end_slot(0, MXGPU_FAULT_NONE);
    for (unsigned i = 1; i <= 8; i++) {
        g_assert_false(signalled(0));
        end_grid(i);
    }
    g_assert_true(signalled(0));
}

/* A grid that fails stops its queue, and the queue of the packet. */
static void test_fault(void)
{
    Packet p, after = nop(0, 1);

    start_launches();
    p = root_packet(0);
    put(0, 0, &p);
    put(0, 1, &after);
    ring_settled(0, 2);
    launch(0, 1, NONE);
    end_slot(0, MXGPU_FAULT_NONE);
    let_look();
    end_slot(slot_of(1), MXGPU_FAULT_PERMISSION);
    expect_error(0, MXGPU_QERR_FAULT, 0);
    expect_error(LQ, MXGPU_QERR_FAULT, 0);
    g_assert_cmpuint(ctl(0)->error.fault, ==, MXGPU_FAULT_PERMISSION);
    g_assert_cmpuint(ctl(0)->error.packet_index, ==, 0);
    g_assert_cmpuint(ctl(0)->error.packet_type, ==, MXGPU_PKT_DISPATCH);
    g_assert_false(signalled(0) || signalled(1));
}

/* The same while the parent runs: its packet fails when its blocks have
 * ended. */
static void test_fault_early(void)
{
    Packet p;

    start_launches();
    p = root_packet(0);
    run_packet(&p);
    launch(0, 1, NONE);
    let_look();
    end_slot(slot_of(1), MXGPU_FAULT_NOT_PRESENT);
    g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ACTIVE);
    /* a kernel that waits sees it, and so does one that comes too late */
    g_assert_cmpuint(record(0)->state, ==, MXGPU_LAUNCH_FAILED);
    g_assert_cmpuint(create(2, 0), ==, MXGPU_MSG_OK);
    p.dispatch.args = RECORD(5) + MXGPU_LAUNCH_ARGS;
    memset(record(5), 0, sizeof(*record(5)));
    put(2, 0, &p);
    ring_settled(2, 1);
    g_assert_cmpuint(record(5)->state, ==, MXGPU_LAUNCH_FAILED);
    end_slot(0, MXGPU_FAULT_NONE);
    expect_error(0, MXGPU_QERR_FAULT, 0);
    end_slot(busy_slot(), MXGPU_FAULT_NONE);
    expect_error(2, MXGPU_QERR_FAULT, 0);
    g_assert_false(signalled(0));
}

/* What a kernel may have written by mistake, or on purpose. */
static void bad_record(void (*spoil)(struct mxgpu_launch_record *r),
                       uint32_t code)
{
    Packet p;

    start_launches();
    p = root_packet(0);
    run_packet(&p);
    launch(0, 1, NONE);
    spoil(fake_ptr(RECORD(1)));
    end_slot(0, MXGPU_FAULT_NONE);
    let_look();
    for (unsigned i = 0; i < 3 && slot_of(1) != NONE; i++) {
        end_grid(1);
    }
    g_assert_cmpuint(ctl(LQ)->error.code, ==, code);
    g_assert_cmpuint(ctl(0)->error.code, ==, code);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 0);
}

static void no_dispatch(struct mxgpu_launch_record *r)
{
    r->packet.type = MXGPU_PKT_COPY;
}

static void no_type(struct mxgpu_launch_record *r)
{
    r->packet.type = 0xffff;
}

static void no_kernel(struct mxgpu_launch_record *r)
{
    r->packet.kernel = DATA;
}

static void unmapped_kernel(struct mxgpu_launch_record *r)
{
    r->packet.kernel = 0x12345000;
}

static void no_block(struct mxgpu_launch_record *r)
{
    r->packet.block[1] = 0;
}

static void too_much_shared(struct mxgpu_launch_record *r)
{
    r->packet.dynamic_shared = 1u << 20;
}

static void a_root(struct mxgpu_launch_record *r)
{
    r->packet.flags = MXGPU_PKT_LAUNCHES | MXGPU_PKT_BARRIER;
}

static void cooperative(struct mxgpu_launch_record *r)
{
    r->packet.flags = MXGPU_PKT_COOPERATIVE;
}

static void bad_entry(struct mxgpu_launch_record *r)
{
    (void)r;
    *mem64(LRING) += 8;
}

static void unmapped_entry(struct mxgpu_launch_record *r)
{
    (void)r;
    *mem64(LRING) = 0x12345000;
}

static void upper_entry(struct mxgpu_launch_record *r)
{
    (void)r;
    *mem64(LRING) = ~63ull;
}

static void bad_parent(struct mxgpu_launch_record *r)
{
    r->launch.parent = 8;
}

static void unmapped_parent(struct mxgpu_launch_record *r)
{
    r->launch.parent = 0x12345000;
}

static void bad_after(struct mxgpu_launch_record *r)
{
    r->launch.after = RECORD(2) + 1;
}

static void bad_next(struct mxgpu_launch_record *r)
{
    r->launch.next = ~0ull;
}

static void test_bad(void)
{
    bad_record(no_dispatch, MXGPU_QERR_PACKET);
    bad_record(no_type, MXGPU_QERR_PACKET);
    bad_record(no_kernel, MXGPU_QERR_KERNEL);
    bad_record(unmapped_kernel, MXGPU_QERR_KERNEL);
    bad_record(no_block, MXGPU_QERR_PACKET);
    bad_record(too_much_shared, MXGPU_QERR_RESOURCES);
    bad_record(a_root, MXGPU_QERR_PACKET);
    bad_record(cooperative, MXGPU_QERR_PACKET);
    bad_record(bad_entry, MXGPU_QERR_PACKET);
    bad_record(unmapped_entry, MXGPU_QERR_FETCH);
    bad_record(upper_entry, MXGPU_QERR_PACKET);
    bad_record(bad_parent, MXGPU_QERR_PACKET);
    bad_record(unmapped_parent, MXGPU_QERR_FETCH);
    bad_record(bad_after, MXGPU_QERR_PACKET);
    bad_record(bad_next, MXGPU_QERR_PACKET);
}

/* A grid that is its own ancestor: the visit ends, the queues stop. */
static void test_circle(void)
{
    Packet p;

    start_launches();
    p = root_packet(0);
    run_packet(&p);
    launch(0, 1, NONE);
    let_look();
    record(1)->parent = RECORD(2);
    *record(2) = (struct mxgpu_launch){
        .parent = RECORD(2), .state = MXGPU_LAUNCH_ENDED,
    };
    /* Its own count can never be reached twice: it waits for ever, and the
     * queue can be destroyed. */
    record(2)->launched = 1;
    end_slot(0, MXGPU_FAULT_NONE);
    end_grid(1);
    g_assert_false(signalled(0));
    const uint32_t destroy[] = {MXGPU_MSG_QUEUE_DESTROY, 0};
    g_assert_true(fake_send(destroy, 2));
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
}

/* Flags and places that a packet may not have. */
static void test_packet(void)
{
    Packet p;

    start_queue(0); /* no launch queue */
    p = root_packet(0);
    run_packet(&p);
    expect_error(0, MXGPU_QERR_PACKET, 2);

    start_launches();
    p = root_packet(0);
    p.header.flags = MXGPU_PKT_LAUNCHES;
    run_packet(&p);
    expect_error(0, MXGPU_QERR_PACKET, 2);

    start_launches();
    p = copy(DATA, DATA, 8, MXGPU_PKT_LAUNCHES | MXGPU_PKT_BARRIER, 0);
    run_packet(&p);
    expect_error(0, MXGPU_QERR_PACKET, 2);

    start_launches();
    p = root_packet(0);
    p.dispatch.args += 16;
    run_packet(&p);
    expect_error(0, MXGPU_QERR_PACKET,
                 offsetof(struct mxgpu_packet_dispatch, args));

    start_launches();
    p = root_packet(0);
    p.dispatch.args = 64;
    run_packet(&p);
    expect_error(0, MXGPU_QERR_PACKET,
                 offsetof(struct mxgpu_packet_dispatch, args));
}

static void test_setup(void)
{
    start_launches();
    g_assert_cmpuint(create(2, 0), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(launch_queue(2, LRING, 3), ==, MXGPU_MSG_BUSY);
    g_assert_cmpuint(launch_queue(3, LRING, 3), ==, MXGPU_MSG_NOT_FOUND);
    g_assert_cmpuint(launch_queue(FAKE_QUEUES, LRING, 3), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(launch_queue(2, LRING + 8, 3), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(launch_queue(2, 0, 3), ==, MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(launch_queue(2, LRING, 2), ==, MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(launch_queue(2, LRING, 17), ==, MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(launch_queue(2, ~0ull << 6, 3), ==,
                     MXGPU_MSG_BAD_ARGUMENT);

    start_queue(0);
    g_assert_cmpuint(launch_queue(0, 0x12345000, 3), ==, MXGPU_MSG_FAULT);
    g_assert_cmpuint(create(2, 0), ==, MXGPU_MSG_OK);
    ring_settled(2, 1); /* a NOP */
    g_assert_cmpuint(launch_queue(2, LRING, 3), ==, MXGPU_MSG_BUSY);
    g_assert_cmpuint(launch_queue(0, LRING, 3), ==, MXGPU_MSG_OK);
    ring_settled(0, 1); /* nobody rings it */
    expect_error(0, MXGPU_QERR_INDEX, 0);
}

/* Destroyed while it runs: aborted, and the packet is complete without what
 * was not begun. */
static void test_destroy(void)
{
    const uint32_t destroy[] = {MXGPU_MSG_QUEUE_DESTROY, LQ};
    const uint32_t destroy_root[] = {MXGPU_MSG_QUEUE_DESTROY, 0};
    Packet p;

    start_launches();
    p = root_packet(0);
    run_packet(&p);
    launch(0, 1, NONE);
    launch(0, 2, 1);
    let_look();
    g_assert_true(fake_send(destroy, 2) || fake_settle());
    g_assert_true(fake_answered());
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
    end_slot(0, MXGPU_FAULT_NONE);
    g_assert_true(signalled(0));
    g_assert_cmpuint(create(LQ, 0), ==, MXGPU_MSG_OK);
    memset(fake_ptr(LRING), 0, 64);
    g_assert_cmpuint(launch_queue(LQ, LRING, 3), ==, MXGPU_MSG_OK);

    /* the queue of a packet that waits: what it launched goes on */
    start_launches();
    p = root_packet(0);
    run_packet(&p);
    launch(0, 1, NONE);
    end_slot(0, MXGPU_FAULT_NONE);
    let_look();
    g_assert_true(fake_send(destroy_root, 2));
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
    end_grid(1);
    g_assert_cmpuint(record(0)->completed, ==, 1);
    g_assert_false(signalled(0));
    g_assert_cmpuint(ctl(LQ)->state, ==, MXGPU_QUEUE_ACTIVE);
}

/* A list of packets: the record's number in it comes through. */
static void test_list(void)
{
    Packet list = indirect(2, 0), p, after = nop(0, 2);

    start_launches();
    p = root_packet(1);
    put_list(0, &p);
    put_list(1, &after);
    run_packet(&list);
    launch(0, 1, NONE);
    end_slot(0, MXGPU_FAULT_NONE);
    let_look();
    g_assert_false(signalled(1) || signalled(2) || signalled(0));
    end_grid(1);
    g_assert_true(signalled(1) && signalled(2) && signalled(0));
}

/* Cooperative dispatches without an end leave a slot to what comes later. */
static void test_cooperative_slots(void)
{
    Packet coop = dispatch(MXGPU_PKT_COOPERATIVE, 1), plain = dispatch(0, 2);
    unsigned urgent = FAKE_SLOTS + 1;

    start(0);
    for (unsigned q = 0; q <= FAKE_SLOTS; q++) {
        g_assert_cmpuint(create(q, 4), ==, MXGPU_MSG_OK);
        put(q, 0, &coop);
        ring_settled(q, 1);
    }
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, FAKE_SLOTS - 1);
    g_assert_cmpuint(create(urgent, 0), ==, MXGPU_MSG_OK);
    put(urgent, 0, &plain);
    ring_settled(urgent, 1);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, FAKE_SLOTS);
    end_slot(FAKE_SLOTS - 1, MXGPU_FAULT_NONE); /* the last that was free */
    g_assert_true(signalled(2));
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, FAKE_SLOTS - 1);

    end_slot(0, MXGPU_FAULT_NONE); /* another one may now */
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, FAKE_SLOTS - 1);
    g_assert_cmpuint(fw.cooperative, ==, FAKE_SLOTS - 1);
    for (unsigned i = 0; i < FAKE_SLOTS; i++) {
        end_slot(busy_slot(), MXGPU_FAULT_NONE);
    }
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 0);
    g_assert_cmpuint(fw.cooperative, ==, 0);
}

/* A cooperative dispatch waits for trees, and new trees for it. */
static void test_cooperative(void)
{
    Packet p, coop = dispatch(MXGPU_PKT_COOPERATIVE, 1), other;

    start_launches();
    g_assert_cmpuint(create(2, 0), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(create(3, 0), ==, MXGPU_MSG_OK);
    p = root_packet(0);
    run_packet(&p);
    launch(0, 1, NONE);
    put(2, 0, &coop);
    ring_settled(2, 1);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
    end_slot(0, MXGPU_FAULT_NONE);
    let_look();
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1); /* the child */
    other = root_packet(2);
    other.dispatch.args = RECORD(5) + MXGPU_LAUNCH_ARGS;
    memset(record(5), 0, sizeof(*record(5)));
    record(0)->launched = 1;
    put(3, 0, &other);
    ring_settled(3, 1);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
    end_grid(1);
    g_assert_true(signalled(0));
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
    g_assert_false(signalled(1) || signalled(2));
    end_slot(busy_slot(), MXGPU_FAULT_NONE); /* the cooperative one */
    g_assert_true(signalled(1));
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
    end_slot(busy_slot(), MXGPU_FAULT_NONE);
    g_assert_true(signalled(2));
    g_assert_cmpuint(fw.trees, ==, 0);
    g_assert_cmpuint(fw.cooperative, ==, 0);

    /* a tree that fails, or is destroyed, is none any more */
    for (unsigned how = 0; how < 2; how++) {
        const uint32_t destroy[] = {MXGPU_MSG_QUEUE_DESTROY, 0};

        start_launches();
        g_assert_cmpuint(create(2, 0), ==, MXGPU_MSG_OK);
        p = root_packet(0);
        run_packet(&p);
        launch(0, 1, NONE);
        end_slot(0, MXGPU_FAULT_NONE);
        let_look();
        put(2, 0, &coop);
        ring_settled(2, 1);
        g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
        if (how) {
            end_slot(slot_of(1), MXGPU_FAULT_PERMISSION);
        } else {
            g_assert_true(fake_send(destroy, 2));
            g_assert_true(fake_settle());
            end_grid(1);
        }
        g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
        g_assert_cmpuint(fw.trees, ==, 0);
        g_assert_cmpuint(fw.cooperative, ==, 1);
        end_slot(busy_slot(), MXGPU_FAULT_NONE);
        g_assert_true(signalled(1));
        *mem64(SIGNAL(1)) = 0;
    }
}

/* Who waits behind a cooperative dispatch that is no more goes on. */
static void test_cooperative_gone(void)
{
    for (unsigned reset = 0; reset < 2; reset++) {
        const uint32_t words[] = {
            reset ? MXGPU_MSG_QUEUE_RESET : MXGPU_MSG_QUEUE_DESTROY, 2,
        };
        Packet p, coop = dispatch(MXGPU_PKT_COOPERATIVE, 1);

        start_launches();
        g_assert_cmpuint(create(2, 0), ==, MXGPU_MSG_OK);
        g_assert_cmpuint(create(3, 0), ==, MXGPU_MSG_OK);
        p = root_packet(0);
        run_packet(&p);
        put(2, 0, &coop);
        ring_settled(2, 1); /* waits for the tree */
        p = root_packet(2);
        p.dispatch.args = RECORD(5) + MXGPU_LAUNCH_ARGS;
        memset(record(5), 0, sizeof(*record(5)));
        put(3, 0, &p);
        ring_settled(3, 1); /* waits for queue 2 */
        g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
        g_assert_true(fake_send(words, 2));
        g_assert_true(fake_settle());
        g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 2);
        end_slot(busy_slot(), MXGPU_FAULT_NONE);
        end_slot(busy_slot(), MXGPU_FAULT_NONE);
        g_assert_true(signalled(0) && signalled(2));
        g_assert_cmpuint(fw.trees, ==, 0);
        *mem64(SIGNAL(0)) = *mem64(SIGNAL(2)) = 0;
    }
}

/* Packets whose kernels may wait leave slots for those that they launch. */
static void test_slots(void)
{
    start_launches();
    for (unsigned i = 0; i < 5; i++) {
        unsigned q = i ? i + 1 : 0;
        Packet p = root_packet(i);

        if (q) {
            g_assert_cmpuint(create(q, 0), ==, MXGPU_MSG_OK);
        }
        p.dispatch.args = RECORD(i) + MXGPU_LAUNCH_ARGS;
        memset(record(i), 0, sizeof(*record(i)));
        put(q, 0, &p);
        ring_settled(q, 1);
        g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==,
                         MIN(i + 1, FAKE_SLOTS / 2 - 1));
    }
    launch(0, 6, NONE);
    let_look();
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, FAKE_SLOTS / 2);
    end_grid(6);
    for (unsigned i = 0; i < 5; i++) {
        g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==,
                         MIN(5 - i, FAKE_SLOTS / 2 - 1));
        end_slot(busy_slot(), MXGPU_FAULT_NONE);
    }
    for (unsigned i = 0; i < 5; i++) {
        g_assert_true(signalled(i));
    }
    g_assert_cmpuint(fw.trees, ==, 0);
    g_assert_cmpuint(fw.tree_slots, ==, 0);
}

static void name_area(uint64_t size)
{
    const uint32_t words[] = {
        MXGPU_MSG_CONTEXTS, 1, (uint32_t)AREA, 0, (uint32_t)size, 0,
    };

    g_assert_true(fake_send(words, G_N_ELEMENTS(words)));
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
}

/* The grid no longer waits for what it is about to launch. */
static void go_on(unsigned i)
{
    record(i)->waiting = 0;
    record(i)->launched = record(i)->completed;
}

/* A packet whose kernel launched as many grids as there are other slots; each
 * of these waits for a child, and the first one's is in the ring. */
static void all_wait(uint64_t area)
{
    Packet p;

    start_launches();
    name_area(area);
    p = root_packet(0);
    put(0, 0, &p);
    ring_settled(0, 1);
    for (unsigned i = 1; i < FAKE_SLOTS; i++) {
        launch(0, i, NONE);
        let_look();
        g_assert_cmpuint(slot_of(i), !=, NONE);
        record(i)->waiting = 1;
        record(i)->launched = i > 1;
    }
    launch(1, 20, NONE);
    let_look();
    g_assert_cmpuint(slot_of(20), ==, NONE);
}

/* A grid that waits makes room for what it waits for, and goes on behind it. */
static void test_waiting(void)
{
    all_wait(0x8000);
    fake_advance(20 * FW_MS);
    g_assert_cmpuint(slot_of(20), !=, NONE);
    g_assert_cmpuint(fw.num_contexts, ==, 1);
    g_assert_cmpuint(bus.loads, ==, 0); /* it does not come for nothing */
    end_grid(20);
    for (unsigned i = 1; i < FAKE_SLOTS; i++) {
        go_on(i);
        if (slot_of(i) == NONE) { /* nobody else's child has ended */
            launch(i, 30, NONE);
            let_look();
            end_grid(30);
        }
        fake_advance(10 * FW_MS);
        end_grid(i);
    }
    g_assert_cmpuint(fw.num_contexts, ==, 0);
    end_slot(busy_slot(), MXGPU_FAULT_NONE);
    g_assert_true(signalled(0));
}

/* Whose children are complete is about to go on: it does not leave its slot for
 * those of others, that is, nobody leaves while the others run. */
static void test_waiting_complete(void)
{
    all_wait(0x8000);
    for (unsigned i = 1; i < FAKE_SLOTS; i++) {
        record(i)->launched = record(i)->completed = 3;
    }
    fake_advance(20 * FW_MS);
    g_assert_cmpuint(fw.num_contexts, ==, 0);
    g_assert_cmphex(bus.regs[MXGPU_CD_HOLD / 4], ==, 0);
    record(1)->launched++; /* grid 20 */
    fake_advance(20 * FW_MS);
    g_assert_cmpuint(fw.num_contexts, ==, 1);
    g_assert_cmpuint(slot_of(1), ==, NONE);
    g_assert_cmpuint(slot_of(20), !=, NONE);
}

/* There is no room for it, and nobody else would end: that is an error. */
static void test_waiting_without_room(void)
{
    all_wait(64);
    fake_advance(20 * FW_MS);
    g_assert_cmpuint(ctl(LQ)->state, ==, MXGPU_QUEUE_ERROR);
    g_assert_cmpuint(ctl(LQ)->error.code, ==, MXGPU_QERR_RESOURCES);
    g_assert_cmpuint(record(0)->state, ==, MXGPU_LAUNCH_FAILED);
    g_assert_cmpuint(record(3)->state, ==, MXGPU_LAUNCH_FAILED);
}

/* The grid that is to leave goes on, and ends before the firmware has seen that:
 * the hardware refuses to save it, and nobody lacks room for that. */
static void test_waiting_ended(void)
{
    unsigned ended = NONE;

    all_wait(0x8000);
    bus.context_says = MXGPU_CONTEXT_REFUSED;
    fake_advance(20 * FW_MS);
    g_assert_cmpuint(ctl(LQ)->state, !=, MXGPU_QUEUE_ERROR);
    for (unsigned i = 1; i < FAKE_SLOTS; i++) {
        if (slot_of(i) == fw.leaving) {
            ended = i;
        }
    }
    g_assert_cmpuint(ended, !=, NONE);
    end_grid(ended);
    fake_advance(20 * FW_MS);
    g_assert_cmpuint(slot_of(20), !=, NONE);
    end_grid(20);
    for (unsigned i = 1; i < FAKE_SLOTS; i++) {
        if (i != ended) {
            go_on(i);
            end_grid(i);
        }
    }
    end_slot(busy_slot(), MXGPU_FAULT_NONE);
    g_assert_true(signalled(0));
}

/* It is refused for good. */
static void test_waiting_refused(void)
{
    all_wait(0x8000);
    bus.context_says = MXGPU_CONTEXT_REFUSED;
    fake_advance(200 * FW_MS);
    g_assert_cmpuint(ctl(LQ)->state, ==, MXGPU_QUEUE_ERROR);
    g_assert_cmpuint(ctl(LQ)->error.code, ==, MXGPU_QERR_RESOURCES);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/launch/nothing", test_nothing);
    g_test_add_func("/launch/children", test_children);
    g_test_add_func("/launch/levels", test_levels);
    g_test_add_func("/launch/stream", test_stream);
    g_test_add_func("/launch/after-complete", test_after_complete);
    g_test_add_func("/launch/many", test_many);
    g_test_add_func("/launch/fault", test_fault);
    g_test_add_func("/launch/fault-early", test_fault_early);
    g_test_add_func("/launch/bad", test_bad);
    g_test_add_func("/launch/circle", test_circle);
    g_test_add_func("/launch/packet", test_packet);
    g_test_add_func("/launch/setup", test_setup);
    g_test_add_func("/launch/destroy", test_destroy);
    g_test_add_func("/launch/list", test_list);
    g_test_add_func("/launch/cooperative", test_cooperative);
    g_test_add_func("/launch/cooperative/slots", test_cooperative_slots);
    g_test_add_func("/launch/cooperative/gone", test_cooperative_gone);
    g_test_add_func("/launch/slots", test_slots);
    g_test_add_func("/launch/waiting", test_waiting);
    g_test_add_func("/launch/waiting-complete", test_waiting_complete);
    g_test_add_func("/launch/waiting-without-room", test_waiting_without_room);
    g_test_add_func("/launch/waiting-ended", test_waiting_ended);
    g_test_add_func("/launch/waiting-refused", test_waiting_refused);
    return g_test_run();
}
