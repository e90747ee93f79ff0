/* SPDX-License-Identifier: MIT */
/* Queues and packets for the tests: queue n has its memory at its own pages. */
#ifndef FW_TESTS_TEST_UTIL_H
#define FW_TESTS_TEST_UTIL_H

#include <glib.h>
#include <string.h>

#include "fake_bus.h"
#include "mxgpu/kernel.h"

#define LOG2_PACKETS 4
#define RING(q)   (FAKE_MEM + (q) * 0x2000ull)
#define CTL(q)    (RING(q) + 0x1000)
#define DATA      (FAKE_MEM + 0x80000ull) /* free for the tests */
#define KERNEL    (FAKE_MEM + 0xf0000ull) /* a valid descriptor */
#define ENTRY     0x7000001000ull
#define SIGNAL(i) (DATA + 0x10000 + (i) * 8ull)

typedef union mxgpu_packet Packet;

static inline uint64_t *mem64(uint64_t addr)
{
    return fake_ptr(addr);
}

static inline struct mxgpu_queue_ctl *ctl(unsigned q)
{
    return fake_ptr(CTL(q));
}

static inline uint32_t create(unsigned q, uint32_t priority)
{
    const uint32_t words[] = {
        MXGPU_MSG_QUEUE_CREATE, q, 1,       priority,      (uint32_t)RING(q),
        0, LOG2_PACKETS, (uint32_t)CTL(q), 0, q % FAKE_VECTORS,
    };

    g_assert_true(fake_send(words, G_N_ELEMENTS(words)));
    return fake_answer(0);
}

/* Firmware up, VMID 1 there, kernel descriptor in memory. */
static inline void start(unsigned watchdog_ms)
{
    const uint32_t hello[] = {MXGPU_MSG_HELLO, MXGPU_MSG_ABI};
    const uint32_t vm[] = {MXGPU_MSG_VM_SET, 1, (uint32_t)FAKE_ROOT, 0};
    const struct mxgpu_kernel_desc desc = {
        .magic = MXGPU_KERNEL_MAGIC,
        .abi = MXGPU_KERNEL_ABI,
        .entry = ENTRY,
        .static_shared = 256,
        .private_bytes = 100,
        .registers = 64,
    };

    fake_reset(watchdog_ms);
    g_assert_true(fake_send(hello, 2));
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
    g_assert_true(fake_send(vm, 4));
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
    memcpy(fake_ptr(KERNEL), &desc, sizeof(desc));
}

static inline void start_queue(unsigned watchdog_ms)
{
    start(watchdog_ms);
    g_assert_cmpuint(create(0, 0), ==, MXGPU_MSG_OK);
}

/* Puts a packet at index of queue q; the caller rings. */
static inline void put(unsigned q, uint64_t index, const Packet *p)
{
    memcpy(fake_ptr(RING(q) + (index % (1 << LOG2_PACKETS)) * 64), p, 64);
}

static inline void ring_settled(unsigned q, uint64_t value)
{
    fake_doorbell(q, value);
    g_assert_true(fake_settle());
}

/* Runs one packet, as the first of queue 0. */
static inline void run_packet(const Packet *p)
{
    put(0, 0, p);
    ring_settled(0, 1);
}

static inline Packet nop(uint16_t flags, unsigned signal)
{
    Packet p = {.write = {.type = MXGPU_PKT_NOP, .flags = flags}};

    p.write.signal_addr = SIGNAL(signal);
    p.write.signal_value = 1000 + signal;
    return p;
}

static inline Packet dispatch(uint16_t flags, unsigned signal)
{
    Packet p = {.dispatch = {
                    .type = MXGPU_PKT_DISPATCH,
                    .flags = flags,
                    .kernel = KERNEL,
                    .args = DATA,
                    .grid = {2, 3, 4},
                    .block = {64, 2, 1},
                    .signal_addr = SIGNAL(signal),
                    .signal_value = 1000 + signal,
                }};

    return p;
}

static inline Packet copy(uint64_t src, uint64_t dst, uint64_t size,
                          uint16_t flags, unsigned signal)
{
    Packet p = {.copy = {
                    .type = MXGPU_PKT_COPY,
                    .flags = flags,
                    .src = src,
                    .dst = dst,
                    .size = size,
                    .signal_addr = SIGNAL(signal),
                    .signal_value = 1000 + signal,
                }};

    return p;
}

/* Two slices of three rows of 40 bytes, out of rows of 64 and slices of 4, to
 * rows of 48 and slices of 3. */
static inline Packet copy_rect(uint64_t src, uint64_t dst, unsigned signal)
{
    Packet p = {.copy_rect = {
                    .type = MXGPU_PKT_COPY_RECT,
                    .width = 40,
                    .src = src,
                    .dst = dst,
                    .height = 3,
                    .depth = 2,
                    .src_pitch = 64,
                    .dst_pitch = 48,
                    .src_slice = 4,
                    .dst_slice = 3,
                    .signal_addr = SIGNAL(signal),
                    .signal_value = 1000 + signal,
                }};

    return p;
}

static inline Packet fill_rect(uint64_t dst, unsigned signal)
{
    Packet p = {.fill_rect = {
                    .type = MXGPU_PKT_FILL_RECT,
                    .width = 19,
                    .dst = dst,
                    .height = 3,
                    .depth = 2,
                    .pitch = 32,
                    .slice = 5,
                    .signal_addr = SIGNAL(signal),
                    .signal_value = 1000 + signal,
                }};

    for (unsigned i = 0; i < 16; i++) {
        p.fill_rect.pattern[i] = (uint8_t)(i + 1);
    }
    return p;
}

static inline Packet wait_for(uint64_t addr, uint64_t value, unsigned signal)
{
    Packet p = {.wait = {
                    .type = MXGPU_PKT_WAIT,
                    .size = 8,
                    .cond = MXGPU_WAIT_GEQ,
                    .addr = addr,
                    .value = value,
                    .signal_addr = SIGNAL(signal),
                    .signal_value = 1000 + signal,
                }};

    return p;
}

/* A list in memory is the caller's to fill. */
#define LIST (DATA + 0x30000)

static inline Packet indirect(uint32_t count, unsigned signal)
{
    Packet p = {.indirect = {
                    .type = MXGPU_PKT_INDIRECT,
                    .count = count,
                    .list = LIST,
                    .signal_addr = SIGNAL(signal),
                    .signal_value = 1000 + signal,
                }};

    return p;
}

static inline void put_list(unsigned index, const Packet *p)
{
    memcpy(fake_ptr(LIST + index * 64ull), p, 64);
}

static inline bool signalled(unsigned signal)
{
    return *mem64(SIGNAL(signal)) == 1000 + signal;
}

static inline unsigned busy_units(FwUnitKind kind)
{
    unsigned n = 0;

    for (unsigned i = 0; i < FW_MAX_UNITS; i++) {
        n += bus.units[kind][i].state == MXGPU_UNIT_BUSY;
    }
    return n;
}

static inline void expect_error(unsigned q, uint32_t code, uint32_t field)
{
    g_assert_cmpuint(ctl(q)->state, ==, MXGPU_QUEUE_ERROR);
    g_assert_cmpuint(ctl(q)->error.code, ==, code);
    g_assert_cmpuint(ctl(q)->error.field, ==, field);
}

#endif
