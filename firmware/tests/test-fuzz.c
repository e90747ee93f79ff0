/* SPDX-License-Identifier: MIT */
/*
 * Random guests: packets, doorbells, messages, faults, time. The fake bus ends
 * the program when the firmware makes an access that the hardware would refuse
 * or does not come to rest; in the end every queue must be destroyable.
 *
 * A short deterministic run as a test; `ninja firmware/tests/fuzz-queues`
 * builds it with libFuzzer.
 */
#include "test_util.h"

#define QUEUES 6

typedef struct Input {
    const uint8_t *data;
    size_t size;
} Input;

static uint32_t take(Input *in, unsigned bytes)
{
    uint32_t value = 0;

    for (; bytes && in->size; bytes--, in->size--) {
        value = value << 8 | *in->data++;
    }
    return value;
}

static Packet random_packet(Input *in)
{
    uint32_t kind = take(in, 1), signal = take(in, 1) % 16;
    uint16_t flags = take(in, 1) & 15;
    Packet p;

    switch (kind % 11) {
    case 0:
        p = nop(flags & 7, signal);
        break;
    case 1:
        p = copy(DATA, DATA + 0x1000, take(in, 2), flags & 11, signal);
        break;
    case 2:
        p = dispatch(flags, signal);
        break;
    case 3:
        p = wait_for(SIGNAL(take(in, 1) % 16), 1000, signal);
        break;
    case 4:
    case 5:
        p = kind % 11 == 4 ? copy_rect(DATA, DATA + 0x1000, signal)
                           : fill_rect(DATA, signal);
        p.header.flags = flags & 11;
        p.words[5 + take(in, 1) % 7] = take(in, 1);
        break;
    case 10: /* of up to 7 packets that were put there, or not */
        p = indirect(take(in, 1) % 8, signal);
        p.header.flags = flags & 3;
        break;
    default:
        p = nop(flags & 7, signal);
        p.header.type = kind % 12;
        p.write.size = 8;
        p.write.addr = DATA + take(in, 1) * 8;
        break;
    }
    if (kind & 0x80) { /* one word of anything */
        p.words[take(in, 1) % 16] = take(in, 4);
    }
    return p;
}

/* Where the queue is, or almost. */
static void random_resume(Input *in, uint32_t queue)
{
    const uint32_t hold[] = {MXGPU_MSG_QUEUE_HOLD, queue};
    uint32_t words[8] = {MXGPU_MSG_QUEUE_RESUME, queue}, spoil;

    fake_send(hold, 2);
    for (unsigned i = 2; i < 8; i++) {
        words[i] = fake_answer(i);
    }
    spoil = take(in, 1);
    if (spoil & 1) {
        words[2 + spoil / 2 % 6] += 1 + take(in, 1) % 4;
    }
    fake_send(words, 8);
}

static void random_message(Input *in)
{
    uint32_t words[16] = {take(in, 1) % (MXGPU_MSG_UNIT_RESET + 2),
                          take(in, 1) % (QUEUES + 2)};

    if (!fake_answered()) {
        return;
    }
    if (words[0] == MXGPU_MSG_QUEUE_CREATE && words[1] < QUEUES) {
        create(words[1], take(in, 1) % 9);
        return;
    }
    if (words[0] == MXGPU_MSG_QUEUE_PROFILE && take(in, 1) % 8) {
        uint32_t at = (uint32_t)DATA + 0x20000 + take(in, 1) % 8 * 0x1000;
        struct mxgpu_msg_queue_profile setup = {
            words[0], words[1], at, 0, take(in, 1) % 4, 1024, 16, 100,
        };

        fake_send((const uint32_t *)&setup, sizeof(setup) / 4);
        return;
    }
    if (words[0] == MXGPU_MSG_QUEUE_RESUME && take(in, 1) % 8) {
        random_resume(in, words[1]);
        return;
    }
    if (words[0] == MXGPU_MSG_UNIT_RESET && take(in, 1) % 8) {
        words[1] = take(in, 1) % 3;
        words[2] = take(in, 1) % 5;
        bus.regs[MXGPU_CU_SLOTS / 4 + words[2]] = take(in, 1);
        fake_send(words, 3);
        return;
    }
    if (words[0] == MXGPU_MSG_PING) {
        for (unsigned i = 0; i < 10; i++) {
            words[i] = take(in, 4);
        }
    } else if (words[0] != MXGPU_MSG_QUEUE_DESTROY &&
               (words[0] != MXGPU_MSG_QUEUE_HOLD || take(in, 1) % 4 == 0)) {
        words[2 + take(in, 1) % 10] = take(in, 4);
    }
    fake_send(words, 16);
}

static void random_finish(Input *in)
{
    static const uint8_t faults[] = {0, 0, 0, MXGPU_FAULT_NOT_PRESENT,
                                     MXGPU_FAULT_CONFIG, MXGPU_FAULT_ILLEGAL,
                                     MXGPU_FAULT_ABORTED, 0xff};
    uint32_t value = take(in, 2);
    FwUnitKind kind = value & 1;
    unsigned index = value >> 1 & 7;

    if (bus.units[kind][index].state == MXGPU_UNIT_BUSY) {
        fake_finish(kind, index, faults[value >> 4 & 7]);
    }
}

static void step(Input *in)
{
    uint32_t op = take(in, 1), arg = take(in, 1);
    unsigned q = arg % QUEUES;
    Packet p;

    switch (op % 12) {
    case 0:
    case 1:
    case 2:
    case 3:
        p = random_packet(in);
        if (op & 0x80) {
            put_list(op >> 4 & 7, &p);
            break;
        }
        put(q, bus.db_value[q], &p);
        fake_doorbell(q, bus.db_value[q] + 1);
        break;
    case 4:
        fake_doorbell(q, take(in, 1));
        break;
    case 5:
        random_message(in);
        break;
    case 6:
    case 7:
        random_finish(in);
        break;
    case 8:
        fake_advance(take(in, 2) * 1000ull);
        break;
    case 9:
        bus.readable[arg] = bus.writable[arg] = op & 0x80 ? 0 : 1;
        break;
    case 10:
        bus.inv_busy = op & 0x80;
        bus.ignore_abort = op & 0x40;
        break;
    default:
        *mem64(SIGNAL(arg % 16)) = take(in, 2);
        break;
    }
}

/* Everything can be taken down whatever happened. */
static void take_down(void)
{
    bus.inv_busy = bus.ignore_abort = false;
    g_assert_true(fake_settle());
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < FW_MAX_UNITS; i++) {
            for (unsigned kind = 0; kind < FW_UNIT_KINDS; kind++) {
                if (bus.units[kind][i].state == MXGPU_UNIT_BUSY) {
                    fake_finish(kind, i, MXGPU_FAULT_ABORTED);
                }
            }
        }
        fake_advance(FW_MS);
    }
    g_assert_true(fake_answered());
    for (unsigned q = 0; q < FAKE_QUEUES; q++) {
        const uint32_t words[] = {MXGPU_MSG_QUEUE_DESTROY, q};

        g_assert_true(fake_send(words, 2));
    }
    for (unsigned q = 0; q < FAKE_QUEUES; q++) {
        g_assert_cmpuint(fw.queues[q].state, ==, FW_QUEUE_FREE);
    }
    g_assert_cmpuint(fw.units[0].busy | fw.units[1].busy, ==, 0);
    g_assert_cmpuint(fw.timed_jobs, ==, 0);
}

static void run_input(const uint8_t *data, size_t size)
{
    Input in = {data, size};

    start(take(&in, 1) & 1 ? 5 : 0);
    for (unsigned q = 0; q < QUEUES; q++) {
        create(q, q % 3);
    }
    while (in.size) {
        step(&in);
        if (take(&in, 1) & 3) {
            g_assert_true(fake_settle());
        }
    }
    take_down();
}

#ifdef MXGPU_LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run_input(data, size);
    return 0;
}

#else

static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(20);

    for (unsigned i = 0; i < 300; i++) {
        uint8_t data[1500];

        for (unsigned k = 0; k < sizeof(data); k++) {
            data[k] = (uint8_t)g_rand_int(rand);
        }
        run_input(data, sizeof(data));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fuzz/random", test_random);
    return g_test_run();
}

#endif
