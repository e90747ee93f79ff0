/* SPDX-License-Identifier: MIT */
/* Host messages: handshake, every operation, every refusal. */
#include "test_util.h"

static uint32_t status_of(const uint32_t *words, unsigned count)
{
    g_assert_true(fake_send(words, count));
    return fake_answer(0);
}

#define STATUS(...)                                                            \
    status_of((const uint32_t[]){__VA_ARGS__},                                 \
              sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void test_handshake(void)
{
    char build[sizeof(fw_header.build)];

    fake_reset(0);
    g_assert_cmphex(bus.regs[MXGPU_MCU_FW_VERSION / 4], ==, FW_VERSION);
    g_assert_cmpuint(bus.regs[MXGPU_MCU_FW_ABI / 4], ==, MXGPU_MSG_ABI);
    g_assert_nonnull(strstr(bus.console, "64 queues, 2 copy engines\n"));

    g_assert_cmpuint(STATUS(MXGPU_MSG_PING, 5, 6), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(STATUS(MXGPU_MSG_VM_SET, 1), ==, MXGPU_MSG_NO_HELLO);
    g_assert_cmpuint(STATUS(99), ==, MXGPU_MSG_NO_HELLO);
    g_assert_cmpuint(STATUS(MXGPU_MSG_HELLO, MXGPU_MSG_ABI + 1), ==,
                     MXGPU_MSG_BAD_ABI);
    g_assert_cmpuint(fake_answer(1), ==, MXGPU_MSG_ABI);
    g_assert_cmpuint(STATUS(MXGPU_MSG_LOG_LEVEL, 1), ==, MXGPU_MSG_NO_HELLO);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpuint(STATUS(MXGPU_MSG_HELLO, MXGPU_MSG_ABI), ==,
                         MXGPU_MSG_OK);
        g_assert_cmphex(fake_answer(2), ==, FW_VERSION);
        g_assert_cmpuint(fake_answer(3), ==, FAKE_QUEUES);
        g_assert_cmpuint(fake_answer(4), ==, FW_PRIORITIES);
        g_assert_cmphex(fake_answer(5), ==, (1u << MXGPU_PKT_TYPES) - 1);
        for (unsigned w = 0; w < sizeof(build) / 4; w++) {
            uint32_t word = fake_answer(6 + w);

            memcpy(build + 4 * w, &word, 4);
        }
        g_assert_cmpstr(build, ==, "not packed");
        g_assert_cmphex(fake_answer(14), ==, FAKE_LOG);
        g_assert_cmpuint(fake_answer(15) & (fake_answer(15) - 1), ==, 0);
    }
}

static void test_ping(void)
{
    uint32_t words[16] = {MXGPU_MSG_PING};

    fake_reset(0);
    for (unsigned i = 1; i < 16; i++) {
        words[i] = i * 0x01010101;
    }
    g_assert_true(fake_send(words, 16));
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
    for (unsigned i = 1; i < 16; i++) {
        g_assert_cmphex(fake_answer(i), ==, words[i]);
    }
}

/* Words behind a message must be 0, and are refused with it. */
static void test_reserved_words(void)
{
    static const unsigned words[] = {
        [MXGPU_MSG_HELLO] = 2,        [MXGPU_MSG_VM_SET] = 4,
        [MXGPU_MSG_TLB_INVALIDATE] = 6, [MXGPU_MSG_QUEUE_CREATE] = 10,
        [MXGPU_MSG_QUEUE_DESTROY] = 2, [MXGPU_MSG_LOG_LEVEL] = 2,
        [MXGPU_MSG_QUEUE_PROFILE] = 9, [MXGPU_MSG_QUEUE_LAUNCH] = 5,
        [MXGPU_MSG_QUEUE_RESET] = 2,  [MXGPU_MSG_CONTEXTS] = 6,
        [MXGPU_MSG_QUEUE_HOLD] = 2,   [MXGPU_MSG_QUEUE_RESUME] = 8,
        [MXGPU_MSG_UNIT_RESET] = 3,
    };

    start(0);
    for (uint32_t op = MXGPU_MSG_HELLO; op < G_N_ELEMENTS(words); op++) {
        for (unsigned i = words[op]; i < 16; i++) {
            uint32_t msg[16] = {op, 1};

            msg[i] = 1;
            g_assert_cmpuint(status_of(msg, 16), ==, MXGPU_MSG_BAD_ARGUMENT);
        }
    }
    g_assert_cmpuint(STATUS(0), ==, MXGPU_MSG_UNKNOWN_OP);
    g_assert_cmpuint(STATUS(15), ==, MXGPU_MSG_UNKNOWN_OP);
    g_assert_cmpuint(STATUS(UINT32_MAX), ==, MXGPU_MSG_UNKNOWN_OP);
}

static void test_vm_set(void)
{
    start(0);
    g_assert_cmpuint(STATUS(MXGPU_MSG_VM_SET, 16, 0x101, 0), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(STATUS(MXGPU_MSG_VM_SET, 2, 0x100, 0), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(STATUS(MXGPU_MSG_VM_SET, 2, 0x1, 0), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(STATUS(MXGPU_MSG_VM_SET, 2, 0x105, 0), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(STATUS(MXGPU_MSG_VM_SET, 2, 0x101, 1u << 20), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmphex(bus.regs[MXGPU_MMU_ROOT_LO / 4 + 4], ==, 0);
    g_assert_cmpuint(STATUS(MXGPU_MSG_VM_SET, 2, 0x7103, 9), ==, MXGPU_MSG_OK);
    g_assert_cmphex(bus.regs[MXGPU_MMU_ROOT_LO / 4 + 4], ==, 0x7103);
    g_assert_cmphex(bus.regs[MXGPU_MMU_ROOT_HI / 4 + 4], ==, 9);

    g_assert_cmpuint(create(0, 0), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(STATUS(MXGPU_MSG_VM_SET, 1, 0, 0), ==, MXGPU_MSG_BUSY);
    g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_DESTROY, 0), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(STATUS(MXGPU_MSG_VM_SET, 1, 0, 0), ==, MXGPU_MSG_OK);
    g_assert_cmphex(bus.regs[MXGPU_MMU_ROOT_LO / 4 + 2], ==, 0);
}

/* Changing a root answers when the old one is out of use. */
static void test_vm_set_deferred(void)
{
    const uint32_t words[] = {MXGPU_MSG_VM_SET, 2, 0x101, 0};

    start(0);
    bus.inv_busy = true;
    g_assert_false(fake_send(words, 4));
    fake_advance(10 * FW_MS);
    g_assert_false(fake_answered());
    bus.inv_busy = false;
    fake_advance(FW_MS);
    g_assert_true(fake_answered());
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(STATUS(MXGPU_MSG_PING), ==, MXGPU_MSG_OK);
}

static void test_tlb(void)
{
    start(0);
    bus.inv_commands = 0;
    g_assert_cmpuint(STATUS(MXGPU_MSG_TLB_INVALIDATE, 16), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(STATUS(MXGPU_MSG_TLB_INVALIDATE, 1, 0x1000, 0, UINT32_MAX,
                            UINT32_MAX),
                     ==, MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(bus.inv_commands, ==, 0);
    g_assert_cmpuint(STATUS(MXGPU_MSG_TLB_INVALIDATE, 3, 0x1000, 2, 0x4000, 1),
                     ==, MXGPU_MSG_OK);
    g_assert_cmpuint(bus.regs[MXGPU_MMU_INV_CMD / 4], ==, 3);
    g_assert_cmphex(bus.regs[MXGPU_MMU_INV_ADDR_HI / 4], ==, 2);
    g_assert_cmphex(bus.regs[MXGPU_MMU_INV_SIZE_HI / 4], ==, 1);
}

static void test_queue_create(void)
{
    static const struct {
        unsigned word;
        uint32_t value;
    } bad[] = {
        {1, FAKE_QUEUES}, {1, UINT32_MAX},       {2, 16}, {3, FW_PRIORITIES},
        {4, 32},          {5, 0x8000},           {5, 0xffffffff},
        {6, 1},           {6, 17},               {6, 63}, {7, 32},
        {8, 0x8000},      {9, FAKE_VECTORS},     {9, 0xfffffffe},
    };
    const uint32_t good[10] = {
        MXGPU_MSG_QUEUE_CREATE, 3, 1, 7, (uint32_t)RING(3), 0, 4,
        (uint32_t)CTL(3), 0, FW_NO_VECTOR,
    };

    start(0);
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        uint32_t words[10];

        memcpy(words, good, sizeof(words));
        words[bad[i].word] = bad[i].value;
        g_assert_cmpuint(status_of(words, 10), ==, MXGPU_MSG_BAD_ARGUMENT);
    }
    memset(ctl(3), 0xff, 128);
    g_assert_cmpuint(status_of(good, 10), ==, MXGPU_MSG_OK);
    for (unsigned i = 0; i < 16; i++) {
        g_assert_cmphex(mem64(CTL(3))[i], ==, 0);
    }
    g_assert_cmphex(bus.regs[MXGPU_DB_ENABLE / 4], ==, 1 << 3);
    g_assert_cmpuint(status_of(good, 10), ==, MXGPU_MSG_BUSY);
}

static void test_queue_create_faults(void)
{
    uint32_t words[10] = {
        MXGPU_MSG_QUEUE_CREATE, 3, 1, 0, (uint32_t)RING(3), 0, 8,
        (uint32_t)CTL(20), 0, FW_NO_VECTOR,
    };

    start(0);
    words[2] = 5; /* a VMID without tables */
    g_assert_cmpuint(status_of(words, 10), ==, MXGPU_MSG_FAULT);
    words[2] = 1;
    bus.writable[(CTL(20) - FAKE_MEM) / 4096] = 0;
    g_assert_cmpuint(status_of(words, 10), ==, MXGPU_MSG_FAULT);
    bus.writable[(CTL(20) - FAKE_MEM) / 4096] = 1;
    bus.readable[(RING(3) - FAKE_MEM) / 4096 + 3] = 0; /* the last page */
    g_assert_cmpuint(status_of(words, 10), ==, MXGPU_MSG_FAULT);
    g_assert_cmphex(bus.regs[MXGPU_DB_ENABLE / 4], ==, 0);
    bus.readable[(RING(3) - FAKE_MEM) / 4096 + 3] = 1;
    g_assert_cmpuint(status_of(words, 10), ==, MXGPU_MSG_OK);
}

static void test_queue_destroy(void)
{
    start(0);
    g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_DESTROY, FAKE_QUEUES), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_DESTROY, 3), ==,
                     MXGPU_MSG_NOT_FOUND);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmpuint(create(3, 0), ==, MXGPU_MSG_OK);
        g_assert_cmpuint(STATUS(MXGPU_MSG_QUEUE_DESTROY, 3), ==, MXGPU_MSG_OK);
        g_assert_cmphex(bus.regs[MXGPU_DB_ENABLE / 4], ==, 0);
    }
}

static void test_log_level(void)
{
    start(0);
    g_assert_cmpuint(STATUS(MXGPU_MSG_LOG_LEVEL, 4), ==,
                     MXGPU_MSG_BAD_ARGUMENT);
    g_assert_cmpuint(create(0, 0), ==, MXGPU_MSG_OK);
    g_assert_null(strstr(bus.console, "debug:"));
    g_assert_cmpuint(STATUS(MXGPU_MSG_LOG_LEVEL, 3), ==, MXGPU_MSG_OK);
    g_assert_cmpuint(create(7, 5), ==, MXGPU_MSG_OK);
    g_assert_nonnull(
        strstr(bus.console, "debug: queue 7: created, vmid 1 priority 5\n"));
}

static void test_log_format(void)
{
    start(0);
    bus.console_len = 0;
    fw_log(FW_LOG_ERROR, "%s %c %u %d %d %x %llx %llx%%", "text", 'c',
           4294967295u, -2147483647 - 1, 12, 0xbeefu, 0x123456789abcdef0ull,
           0ull);
    bus.console[bus.console_len] = 0;
    g_assert_cmpstr(bus.console, ==,
                    "error: text c 4294967295 -2147483648 12 beef "
                    "123456789abcdef0 0%\n");
}

/* What went to the console is in the ring, and after a while its end. */
static void test_log_ring(void)
{
    uint32_t size, n;

    start(0);
    g_assert_cmpuint(STATUS(MXGPU_MSG_HELLO, MXGPU_MSG_ABI), ==, MXGPU_MSG_OK);
    size = fake_answer(15);
    g_assert_cmpuint(size, >=, 4096);
    g_assert_cmpuint(bus.log->written, ==, bus.console_len);
    g_assert_cmpmem(bus.log->text, bus.log->written, bus.console,
                    bus.console_len);
    for (unsigned i = 0; bus.log->written < 2 * size + 7; i++) {
        fw_log(FW_LOG_ERROR, "line %u", i);
    }
    bus.console_len = 0;
    n = bus.log->written;
    fw_log(FW_LOG_ERROR, "the last one");
    for (unsigned i = 0; i < bus.console_len; i++) {
        g_assert_cmpint(bus.log->text[(n + i) % size], ==, bus.console[i]);
    }
    g_assert_cmpuint(bus.log->written, ==, n + bus.console_len);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mailbox/handshake", test_handshake);
    g_test_add_func("/mailbox/ping", test_ping);
    g_test_add_func("/mailbox/log-ring", test_log_ring);
    g_test_add_func("/mailbox/reserved-words", test_reserved_words);
    g_test_add_func("/mailbox/vm-set", test_vm_set);
    g_test_add_func("/mailbox/vm-set/deferred", test_vm_set_deferred);
    g_test_add_func("/mailbox/tlb", test_tlb);
    g_test_add_func("/mailbox/queue-create", test_queue_create);
    g_test_add_func("/mailbox/queue-create/faults", test_queue_create_faults);
    g_test_add_func("/mailbox/queue-destroy", test_queue_destroy);
    g_test_add_func("/mailbox/log-level", test_log_level);
    g_test_add_func("/mailbox/log-format", test_log_format);
    return g_test_run();
}
