/* SPDX-License-Identifier: MIT */
#include "block_tests.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* In system memory: rings, words that packets signal, data. */
#define RINGS   0u
#define SIGNALS 0x10000u
#define DATA    0x20000u
#define BYTES   (BLOCK_TEST_BYTES - DATA)

static DutQueue new_queue(Dut *d, unsigned id)
{
    uint64_t at = RINGS + id * 2 * DUT_PAGE;
    DutQueue q = {
        .id = id,
        .log2 = 4,
        .vector = id + 1,
        .ring = d->sys.at + at,
        .ctl = d->sys.at + at + DUT_PAGE,
        .ring_va = d->sys.va + at,
        .ctl_va = d->sys.va + at + DUT_PAGE,
    };

    dut_queue_create(d, &q);
    return q;
}

static void submit(DutQueue *q, const void *packet)
{
    dut_push(q, packet);
    dut_ring(q);
}

static uint64_t signal_va(Dut *d, unsigned i)
{
    return d->sys.va + SIGNALS + 8 * i;
}

static uint64_t signalled(Dut *d, unsigned i)
{
    return dut_load64(d, DUT_SYSTEM, d->sys.at + SIGNALS + 8 * i);
}

static uint64_t data64(Dut *d, unsigned i)
{
    return dut_load64(d, DUT_SYSTEM, d->sys.at + DATA + 8 * i);
}

/* ---- mailbox */

static void test_mailbox(Dut *d)
{
    struct mxgpu_msg_ping ping = {.op = MXGPU_MSG_PING};
    struct mxgpu_msg_hello bad = {MXGPU_MSG_HELLO, MXGPU_MSG_ABI + 1000};
    uint32_t unknown = 12345, answer[16];

    for (unsigned i = 0; i < 15; i++) {
        ping.word[i] = i * 0x01010101u + 7;
    }
    g_assert_cmpuint(dut_call(d, &ping, sizeof(ping), answer), ==,
                     MXGPU_MSG_OK);
    g_assert_cmpmem(&answer[1], 60, ping.word, 60);
    g_assert_cmpuint(dut_call(d, &bad, sizeof(bad), NULL), ==,
                     MXGPU_MSG_BAD_ABI);
    g_assert_cmpuint(dut_call(d, &unknown, sizeof(unknown), NULL), ==,
                     MXGPU_MSG_UNKNOWN_OP);
    g_assert_cmphex(dut_read(d, MXGPU_ERR_STATUS), ==, 0);
}

/* A queue that cannot be is refused, and its number stays free. */
static void test_bad_queue(Dut *d)
{
    struct mxgpu_msg_queue_create good = {
        .op = MXGPU_MSG_QUEUE_CREATE,
        .queue = 1,
        .vmid = DUT_VMID,
        .log2_packets = 4,
        .vector = UINT32_MAX,
    }, bad = good;
    uint64_t hole = d->sys.va + d->sys.size;
    DutQueue q;

    bad.queue = MXGPU_MAX_QUEUES;
    g_assert_cmpuint(dut_call(d, &bad, sizeof(bad), NULL), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    bad = good;
    bad.log2_packets = 17;
    g_assert_cmpuint(dut_call(d, &bad, sizeof(bad), NULL), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    bad = good;
    bad.ring_lo = bad.ctl_lo = (uint32_t)hole;
    bad.ring_hi = bad.ctl_hi = (uint32_t)(hole >> 32);
    g_assert_cmpuint(dut_call(d, &bad, sizeof(bad), NULL), ==,
                     MXGPU_MSG_FAULT);
    q = new_queue(d, 1);
    dut_queue_destroy(&q);
}

/* ---- queues */

static void test_packets(Dut *d)
{
    DutQueue q = new_queue(d, 0);
    struct mxgpu_packet_write write = {
        .type = MXGPU_PKT_WRITE,
        .size = 4,
        .addr = d->sys.va + DATA,
        .value = 0xcafef00d,
    };
    struct mxgpu_packet_timestamp stamp = {
        .type = MXGPU_PKT_TIMESTAMP,
        .flags = MXGPU_PKT_BARRIER,
        .addr = d->sys.va + DATA + 16,
        .signal_addr = signal_va(d, 0),
        .signal_value = 7,
    };
    struct mxgpu_packet_tlb_invalidate invalidate = {
        .type = MXGPU_PKT_TLB_INVALIDATE,
        .signal_addr = signal_va(d, 0),
        .signal_value = 8,
    };

    d->ops->relax(d); /* so that the clock is not at 0 */
    submit(&q, &write);
    write.size = 8;
    write.addr += 8;
    write.value = 0x1122334455667788ull;
    submit(&q, &write);
    submit(&q, &stamp);
    DUT_WAIT(d, signalled(d, 0) == 7);
    g_assert_cmphex(data64(d, 0), ==, 0xcafef00d);
    g_assert_cmphex(data64(d, 1), ==, 0x1122334455667788ull);
    g_assert_cmpuint(data64(d, 2), !=, 0);
    submit(&q, &invalidate);
    DUT_WAIT(d, signalled(d, 0) == 8);
    g_assert_cmpuint(dut_read_index(&q), ==, 4);
    dut_queue_destroy(&q);
}

/* More packets than rings have slots, on several queues at once, each in
 * order: a copy of what was just written, to a place of its own. */
static void test_wrap(Dut *d)
{
    const unsigned queues = 4, rounds = 100;
    DutQueue q[4];

    for (unsigned n = 0; n < queues; n++) {
        q[n] = new_queue(d, n * 2);
    }
    for (unsigned i = 1; i <= rounds; i++) {
        for (unsigned n = 0; n < queues; n++) {
            struct mxgpu_packet_write write = {
                .type = MXGPU_PKT_WRITE,
                .flags = MXGPU_PKT_BARRIER,
                .size = 8,
                .addr = d->vram.va + 8 * n,
                .value = i + 1000 * n,
            };
            struct mxgpu_packet_copy copy = {
                .type = MXGPU_PKT_COPY,
                .flags = MXGPU_PKT_BARRIER,
                .src = write.addr,
                .dst = d->sys.va + DATA + 8 * (n * rounds + i - 1),
                .size = 8,
                .signal_addr = signal_va(d, n),
                .signal_value = i,
            };

            dut_push(&q[n], &write);
            dut_push(&q[n], &copy);
            if (i % 7 == n) {
                dut_ring(&q[n]);
            }
        }
    }
    for (unsigned n = 0; n < queues; n++) {
        dut_ring(&q[n]);
        DUT_WAIT(d, signalled(d, n) == rounds);
        for (unsigned i = 0; i < rounds; i++) {
            g_assert_cmpuint(data64(d, n * rounds + i), ==, i + 1 + 1000 * n);
        }
        g_assert_cmpuint(dut_read_index(&q[n]), ==, 2 * rounds);
        dut_queue_destroy(&q[n]);
    }
}

/* A queue that waits stands, whatever others do, until what it waits for. */
static void test_wait(Dut *d)
{
    DutQueue q = new_queue(d, 0), other = new_queue(d, 1);
    struct mxgpu_packet_wait wait = {
        .type = MXGPU_PKT_WAIT,
        .size = 8,
        .cond = MXGPU_WAIT_GEQ,
        .addr = d->sys.va + DATA,
        .value = 5,
        .signal_addr = signal_va(d, 0),
        .signal_value = 1,
    };
    struct mxgpu_packet_write write = {
        .type = MXGPU_PKT_WRITE,
        .flags = MXGPU_PKT_BARRIER,
        .size = 8,
        .addr = d->sys.va + DATA,
        .signal_addr = signal_va(d, 1),
    };

    submit(&q, &wait);
    for (uint64_t i = 1; i <= 40; i++) {
        write.value = i % 5;
        write.signal_value = i;
        dut_push(&other, &write);
    }
    dut_ring(&other);
    DUT_WAIT(d, signalled(d, 1) == 40);
    g_assert_cmpuint(signalled(d, 0), ==, 0);
    write.value = 6;
    submit(&other, &write);
    DUT_WAIT(d, signalled(d, 0) == 1);
    dut_queue_destroy(&q);
    dut_queue_destroy(&other);
}

static void test_interrupt(Dut *d)
{
    struct mxgpu_packet_write write = {
        .type = MXGPU_PKT_WRITE,
        .flags = MXGPU_PKT_IRQ,
        .size = 8,
        .addr = d->sys.va + DATA,
        .value = 1,
    };
    DutQueue q = new_queue(d, 2);

    g_assert_cmpuint(d->ops->irqs(d, q.vector), ==, 0);
    submit(&q, &write);
    DUT_WAIT(d, d->ops->irqs(d, q.vector) > 0);
    g_assert_cmpuint(data64(d, 0), ==, 1);
    g_assert_cmpuint(dut_read_index(&q), ==, 1);
    write.flags = 0;
    write.signal_addr = signal_va(d, 0);
    write.signal_value = 1;
    submit(&q, &write);
    DUT_WAIT(d, signalled(d, 0) == 1);
    dut_queue_destroy(&q); /* all that it would have sent is sent */
    g_assert_cmpuint(d->ops->irqs(d, q.vector), ==, 0);
}

/* ---- errors */

/* A packet that is wrong in one field stops its queue, and says which. */
static void refused(Dut *d, const union mxgpu_packet *packet, unsigned field)
{
    DutQueue q = new_queue(d, 3);
    const union mxgpu_packet nop = {.words = {0}};
    struct mxgpu_queue_error error;

    dut_push(&q, &nop);
    submit(&q, packet);
    error = dut_queue_error(&q);
    g_assert_cmpuint(error.code, ==, MXGPU_QERR_PACKET);
    g_assert_cmpuint(error.packet_index, ==, 1);
    g_assert_cmpuint(error.packet_type, ==, packet->header.type);
    g_assert_cmpuint(error.field, ==, field);
    dut_queue_destroy(&q);
}

static void test_malformed(Dut *d)
{
    DutQueue other = new_queue(d, 7);
    union mxgpu_packet p = {.words = {0}}, nop = p;

    p.header.type = 0x7777;
    refused(d, &p, 0);
    p = nop;
    p.header.flags = 0x8000;
    refused(d, &p, offsetof(struct mxgpu_packet_write, flags));
    p = nop;
    p.words[10] = 1; /* reserved */
    refused(d, &p, 40);
    p = nop;
    p.write.type = MXGPU_PKT_WRITE;
    p.write.size = 3;
    p.write.addr = d->sys.va + DATA;
    refused(d, &p, offsetof(struct mxgpu_packet_write, size));
    p.write.size = 8;
    p.write.addr += 4;
    refused(d, &p, offsetof(struct mxgpu_packet_write, addr));
    p = nop;
    p.fill.type = MXGPU_PKT_FILL;
    p.fill.pattern_size = 5;
    p.fill.dst = d->sys.va + DATA;
    p.fill.size = 5;
    refused(d, &p, offsetof(struct mxgpu_packet_fill, pattern_size));
    p = nop;
    p.dispatch.type = MXGPU_PKT_DISPATCH;
    p.dispatch.kernel = d->sys.va + DATA;
    for (unsigned i = 0; i < 3; i++) {
        p.dispatch.grid[i] = p.dispatch.block[i] = 1;
    }
    p.dispatch.block[0] = 1025;
    refused(d, &p, offsetof(struct mxgpu_packet_dispatch, block));
    submit(&other, &nop); /* which is not concerned */
    DUT_WAIT(d, dut_read_index(&other) == 1);
    dut_queue_destroy(&other);
}

/* A fault stops its queue with a record; other queues go on. */
static void test_fault(Dut *d)
{
    DutQueue bad = new_queue(d, 0), good = new_queue(d, 1);
    uint64_t end = d->sys.va + d->sys.size;
    struct mxgpu_packet_copy copy = {
        .type = MXGPU_PKT_COPY,
        .src = d->vram.va,
        .dst = end - 16,
        .size = 32,
    };
    struct mxgpu_queue_error error;

    submit(&bad, &copy);
    error = dut_queue_error(&bad);
    g_assert_cmpuint(error.code, ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(error.fault, ==, MXGPU_FAULT_NOT_PRESENT);
    g_assert_cmphex(error.fault_addr, ==, end);
    g_assert_cmpuint(error.access, ==, MXGPU_ACCESS_WRITE);
    copy.dst = d->vram.va + 64;
    copy.signal_addr = signal_va(d, 0);
    copy.signal_value = 1;
    submit(&good, &copy);
    DUT_WAIT(d, signalled(d, 0) == 1);
    dut_queue_destroy(&bad);
    dut_queue_destroy(&good);
}

static void test_bad_index(Dut *d)
{
    DutQueue q = new_queue(d, 0);

    d->ops->doorbell(d, q.id, (1u << q.log2) + 1);
    g_assert_cmpuint(dut_queue_error(&q).code, ==, MXGPU_QERR_INDEX);
    dut_queue_destroy(&q);
}

/* ---- copies */

/* What both memories should hold, and do. */
typedef struct Mirror {
    uint8_t sys[BYTES], vram[BYTES], got[BYTES];
} Mirror;

static void check(Dut *d, Mirror *m)
{
    d->ops->load(d, DUT_SYSTEM, d->sys.at + DATA, m->got, BYTES);
    g_assert_true(memcmp(m->got, m->sys, BYTES) == 0);
    d->ops->load(d, DUT_VRAM, d->vram.at, m->got, BYTES);
    g_assert_true(memcmp(m->got, m->vram, BYTES) == 0);
}

static Mirror *new_mirror(Dut *d)
{
    Mirror *m = g_new(Mirror, 1);

    for (unsigned i = 0; i < BYTES; i++) {
        m->sys[i] = (uint8_t)g_test_rand_int();
        m->vram[i] = (uint8_t)g_test_rand_int();
    }
    d->ops->store(d, DUT_SYSTEM, d->sys.at + DATA, m->sys, BYTES);
    d->ops->store(d, DUT_VRAM, d->vram.at, m->vram, BYTES);
    return m;
}

static void test_copy(Dut *d)
{
    static const struct {
        bool to_vram, from_vram;
        uint32_t dst, src, size;
    } cases[] = {
        {true, false, 0, 0, BYTES},        {true, false, 1, 3, 4095},
        {true, false, 4095, 4094, 3},      {false, true, 60001, 0, 60000},
        {false, false, 7, 100000, 10001},  {true, true, 64000, 13, 60000},
        {true, false, 5, 5, 0},            {false, true, 5, 6, 1},
    };
    g_autofree Mirror *m = new_mirror(d);
    DutQueue q = new_queue(d, 0);

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        bool to = cases[i].to_vram, from = cases[i].from_vram;
        struct mxgpu_packet_copy copy = {
            .type = MXGPU_PKT_COPY,
            .src = (from ? d->vram.va : d->sys.va + DATA) + cases[i].src,
            .dst = (to ? d->vram.va : d->sys.va + DATA) + cases[i].dst,
            .size = cases[i].size,
            .signal_addr = signal_va(d, 0),
            .signal_value = i + 1,
        };

        submit(&q, &copy);
        DUT_WAIT(d, signalled(d, 0) == i + 1);
        memcpy((to ? m->vram : m->sys) + cases[i].dst,
               (from ? m->vram : m->sys) + cases[i].src, cases[i].size);
        check(d, m);
    }
    dut_queue_destroy(&q);
}

static void test_fill(Dut *d)
{
    g_autofree Mirror *m = new_mirror(d);
    DutQueue q = new_queue(d, 0);
    uint64_t n = 0;

    for (unsigned size = 1; size <= 16; size *= 2) {
        unsigned at = size * 5008 / 4 * 4 + size, bytes = 5008;
        struct mxgpu_packet_fill fill = {
            .type = MXGPU_PKT_FILL,
            .pattern_size = size,
            .size = bytes,
            .pattern = "0123456789abcdef",
            .signal_addr = signal_va(d, 0),
        };

        for (unsigned i = 0; i < 2; i++) {
            fill.dst = (i ? d->vram.va : d->sys.va + DATA) + at;
            fill.signal_value = ++n;
            submit(&q, &fill);
            DUT_WAIT(d, signalled(d, 0) == n);
        }
        for (unsigned i = 0; i < bytes; i++) {
            m->sys[at + i] = m->vram[at + i] = fill.pattern[i % size];
        }
        check(d, m);
    }
    dut_queue_destroy(&q);
}

const BlockTest block_tests[] = {
    {"mailbox/messages", test_mailbox},
    {"queue/bad-create", test_bad_queue},
    {"queue/packets", test_packets},
    {"queue/wrap", test_wrap},
    {"queue/wait", test_wait},
    {"queue/interrupt", test_interrupt},
    {"queue/malformed", test_malformed},
    {"queue/fault", test_fault},
    {"queue/bad-index", test_bad_index},
    {"copy/linear", test_copy},
    {"copy/fill", test_fill},
    {"fault/copy", fault_test_copy},
    {"fault/kill", fault_test_kill},
    {"fault/engine-reset", fault_test_engine_reset},
    {"fault/refused", fault_test_refused},
    {"fault/kernel", fault_test_kernel},
    {"sched/urgent", sched_test_urgent},
    {"sched/turns", sched_test_turns},
    {"sched/queue-reset", sched_test_queue_reset},
    {"sched/unit-reset", sched_test_unit_reset},
};

const unsigned block_test_count = G_N_ELEMENTS(block_tests);
