/* SPDX-License-Identifier: MIT */
/* Every packet type: what it does, each malformed field, each fault. */
#include "test_util.h"

/* ---- what they do ---- */

static void test_nop(void)
{
    Packet p = nop(MXGPU_PKT_IRQ, 0);

    start_queue(0);
    run_packet(&p);
    g_assert_true(signalled(0));
    g_assert_cmpuint(bus.irqs[0], ==, 1);
    g_assert_cmpuint(ctl(0)->read_index, ==, 1);
    g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ACTIVE);
}

static void test_copy(void)
{
    Packet p = copy(DATA, DATA + 0x1000, 100, 0, 0);

    start_queue(0);
    memset(fake_ptr(DATA), 0x5a, 100);
    run_packet(&p);
    g_assert_cmpuint(busy_units(FW_UNIT_COPY), ==, 1);
    g_assert_false(signalled(0));
    fake_finish(FW_UNIT_COPY, 0, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(0));
    g_assert_cmpmem(fake_ptr(DATA), 100, fake_ptr(DATA + 0x1000), 100);
    g_assert_cmphex(*(uint8_t *)fake_ptr(DATA + 0x1064), ==, 0);
}

static void test_copy_empty(void)
{
    Packet p = copy(DATA, DATA, 0, 0, 0);

    start_queue(0);
    run_packet(&p);
    g_assert_true(signalled(0));
    g_assert_cmpuint(bus.units[FW_UNIT_COPY][0].starts, ==, 0);
}

static void test_copy_fault(void)
{
    Packet p = copy(DATA, DATA + 0x1000, 100, 0, 0);

    start_queue(0);
    run_packet(&p);
    bus.units[FW_UNIT_COPY][0].access = MXGPU_ACCESS_WRITE;
    bus.units[FW_UNIT_COPY][0].fault_addr = 0x12345000;
    bus.units[FW_UNIT_COPY][0].done = 77;
    fake_finish(FW_UNIT_COPY, 0, MXGPU_FAULT_PERMISSION);
    g_assert_true(fake_settle());
    expect_error(0, MXGPU_QERR_FAULT, 0);
    g_assert_cmpuint(ctl(0)->error.fault, ==, MXGPU_FAULT_PERMISSION);
    g_assert_cmphex(ctl(0)->error.fault_addr, ==, 0x12345000);
    g_assert_cmpuint(ctl(0)->error.access, ==, MXGPU_ACCESS_WRITE);
    g_assert_cmpuint(ctl(0)->error.done[0], ==, 77);
    g_assert_cmpuint(ctl(0)->error.done[1], ==, 0);
    g_assert_cmpuint(ctl(0)->error.packet_type, ==, MXGPU_PKT_COPY);
    g_assert_false(signalled(0));
    g_assert_cmpuint(bus.irqs[0], ==, 1);
    g_assert_cmpuint(bus.events, ==, 1);
}

static Packet fill(uint32_t n)
{
    Packet p = {.fill = {
                    .type = MXGPU_PKT_FILL,
                    .pattern_size = n,
                    .dst = DATA,
                    .size = 64,
                    .pattern = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                                14, 15, 16},
                    .signal_addr = SIGNAL(0),
                    .signal_value = 1000,
                }};

    return p;
}

static void test_copy_rect(void)
{
    Packet p = copy_rect(DATA, DATA + 0x1000, 0);

    start_queue(0);
    for (unsigned i = 0; i < 512; i++) {
        *(uint8_t *)fake_ptr(DATA + i) = (uint8_t)(i * 7 + (i >> 8) + 1);
    }
    run_packet(&p);
    g_assert_false(signalled(0));
    fake_finish(FW_UNIT_COPY, 0, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(0));
    for (unsigned i = 0; i < 6; i++) {
        const uint8_t *to = fake_ptr(DATA + 0x1000 + i * 48);
        const uint8_t *from = fake_ptr(DATA + (i / 3 * 4 + i % 3) * 64);

        g_assert_cmpmem(to, 40, from, 40);
        g_assert_cmphex(to[40], ==, 0);
    }
    g_assert_cmphex(*(uint8_t *)fake_ptr(DATA + 0x1000 + 6 * 48), ==, 0);
}

static void test_fill_rect(void)
{
    Packet p = fill_rect(DATA, 0);

    start_queue(0);
    bus.finish_at_once = true;
    run_packet(&p);
    g_assert_true(signalled(0));
    for (unsigned i = 0; i < 8 * 32; i++) {
        unsigned row = i / 32, x = i % 32;
        bool inside = (row < 3 || row > 4) && x < 19;

        g_assert_cmphex(*(uint8_t *)fake_ptr(DATA + i), ==,
                        inside ? x % 16 + 1 : 0);
    }
}

/* An extent of 0 is complete at once, whatever pitches and addresses are. */
static void test_rect_empty(void)
{
    for (unsigned i = 0; i < 3; i++) {
        Packet c = copy_rect(UINT64_MAX, UINT64_MAX, 0);
        Packet f = fill_rect(UINT64_MAX, 1);

        c.copy_rect.src_pitch = c.copy_rect.dst_slice = 0;
        f.fill_rect.pitch = 0;
        if (i == 0) {
            c.copy_rect.width = f.fill_rect.width = 0;
        } else if (i == 1) {
            c.copy_rect.height = f.fill_rect.height = 0;
        } else {
            c.copy_rect.depth = f.fill_rect.depth = 0;
        }
        start_queue(0);
        put(0, 0, &c);
        put(0, 1, &f);
        ring_settled(0, 2);
        g_assert_true(signalled(0) && signalled(1));
        g_assert_cmpuint(bus.units[FW_UNIT_COPY][0].starts, ==, 0);
    }
}

/* A pitch means nothing for one row, a slice nothing for one slice. */
static void test_rect_single(void)
{
    Packet c = copy_rect(DATA, DATA + 0x1000, 0), f = fill_rect(DATA, 1);

    c.copy_rect.depth = c.copy_rect.height = 1;
    c.copy_rect.src_pitch = c.copy_rect.dst_pitch = 0;
    c.copy_rect.src_slice = c.copy_rect.dst_slice = 0;
    f.fill_rect.depth = 1;
    f.fill_rect.slice = 0;
    start_queue(0);
    bus.finish_at_once = true;
    put(0, 0, &c);
    put(0, 1, &f);
    ring_settled(0, 2);
    g_assert_true(signalled(0) && signalled(1));
    g_assert_cmpuint(bus.units[FW_UNIT_COPY][0].starts, ==, 2);
}

/* Geometry whose size needs more than 64 bits. */
static void test_rect_huge(void)
{
    Packet c = copy_rect(0, 0, 0);

    c.copy_rect.height = c.copy_rect.depth = UINT32_MAX;
    c.copy_rect.src_pitch = c.copy_rect.dst_pitch = UINT32_MAX;
    c.copy_rect.src_slice = c.copy_rect.dst_slice = UINT32_MAX;
    start_queue(0);
    run_packet(&c);
    expect_error(0, MXGPU_QERR_PACKET, 8);
    c.copy_rect.src_slice = c.copy_rect.src_pitch = 0;
    c.copy_rect.depth = c.copy_rect.height = 1;
    start_queue(0);
    run_packet(&c);
    g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ACTIVE);
    fake_finish(FW_UNIT_COPY, 0, MXGPU_FAULT_NONE);
}

static void test_fill(void)
{
    for (uint32_t n = 1; n <= 16; n *= 2) {
        Packet p = fill(n);

        start_queue(0);
        bus.finish_at_once = true;
        run_packet(&p);
        g_assert_true(signalled(0));
        for (unsigned i = 0; i < 64; i++) {
            g_assert_cmpuint(*(uint8_t *)fake_ptr(DATA + i), ==, i % n + 1);
        }
        g_assert_cmpuint(*(uint8_t *)fake_ptr(DATA + 64), ==, 0);
    }
}

static uint32_t slot_reg(uint32_t reg)
{
    return bus.regs[reg / 4];
}

static void test_dispatch(void)
{
    Packet p = dispatch(MXGPU_PKT_IRQ, 0);

    start_queue(0);
    p.dispatch.dynamic_shared = 1024;
    run_packet(&p);
    g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 1);
    g_assert_cmphex(slot_reg(MXGPU_CD_ENTRY_LO), ==, (uint32_t)ENTRY);
    g_assert_cmphex(slot_reg(MXGPU_CD_ENTRY_HI), ==, ENTRY >> 32);
    g_assert_cmphex(slot_reg(MXGPU_CD_ARGS_LO), ==, DATA);
    g_assert_cmpuint(slot_reg(MXGPU_CD_GRID_X), ==, 2);
    g_assert_cmpuint(slot_reg(MXGPU_CD_GRID_Y), ==, 3);
    g_assert_cmpuint(slot_reg(MXGPU_CD_GRID_Z), ==, 4);
    g_assert_cmphex(slot_reg(MXGPU_CD_BLOCK_XY), ==, 64 | 2 << 16);
    g_assert_cmpuint(slot_reg(MXGPU_CD_BLOCK_Z), ==, 1);
    g_assert_cmpuint(slot_reg(MXGPU_CD_SHARED), ==, 1280);
    g_assert_cmpuint(slot_reg(MXGPU_CD_SHARED_STATIC), ==, 256);
    g_assert_cmpuint(slot_reg(MXGPU_CD_PRIVATE), ==, 8192);
    g_assert_cmphex(slot_reg(MXGPU_CD_CFG), ==, 1 | 64 << 8);
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    g_assert_true(signalled(0));
    g_assert_cmpuint(bus.irqs[0], ==, 1);
}

static void test_dispatch_cooperative(void)
{
    Packet p = dispatch(MXGPU_PKT_COOPERATIVE, 0);

    start_queue(0);
    run_packet(&p);
    g_assert_cmphex(slot_reg(MXGPU_CD_CFG), ==, 1 | 64 << 8 | 1 << 16);
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_CONFIG); /* too large */
    g_assert_true(fake_settle());
    expect_error(0, MXGPU_QERR_RESOURCES, 0);
}

static void test_dispatch_strict(void)
{
    Packet p = dispatch(MXGPU_PKT_STRICT_ALIGN, 0);

    start_queue(0);
    run_packet(&p);
    g_assert_cmphex(slot_reg(MXGPU_CD_CFG), ==, 1 | 64 << 8 | 1 << 18);
}

static void enable_faults(void)
{
    bus.regs[MXGPU_FAULT_CFG / 4] = MXGPU_SET(MXGPU_FAULT_CFG_ENABLE, 1);
}

/* Where faults are told of, a packet may ask for that; its unit then knows
 * which queue it works for. */
static void test_recover(void)
{
    Packet p = dispatch(MXGPU_PKT_RECOVER, 0);

    start_queue(0);
    enable_faults();
    bus.regs[MXGPU_CD_QUEUE / 4] = bus.regs[MXGPU_CE_QUEUE / 4] = 77;
    run_packet(&p);
    g_assert_cmphex(slot_reg(MXGPU_CD_CFG), ==, 1 | 64 << 8 | 1 << 19);
    g_assert_cmpuint(bus.regs[MXGPU_CD_QUEUE / 4], ==, 0);
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    p = copy(DATA, DATA + 0x1000, 100, MXGPU_PKT_RECOVER, 0);
    put(0, 1, &p);
    ring_settled(0, 2);
    g_assert_true(MXGPU_GET(MXGPU_CE_CFG_RECOVER,
                            bus.regs[MXGPU_CE_CFG / 4]));
    g_assert_cmpuint(bus.regs[MXGPU_CE_QUEUE / 4], ==, 0);
    fake_finish(FW_UNIT_COPY, 0, MXGPU_FAULT_NONE);
    g_assert_true(fake_settle());
    p = copy(DATA, DATA + 0x1000, 100, 0, 0);
    put(0, 2, &p);
    ring_settled(0, 3);
    g_assert_false(MXGPU_GET(MXGPU_CE_CFG_RECOVER,
                             bus.regs[MXGPU_CE_CFG / 4]));
}

/* Nobody is there who could mend anything. */
static void test_recover_refused(void)
{
    Packet p = copy(DATA, DATA + 0x1000, 100, MXGPU_PKT_RECOVER, 0);

    start_queue(0);
    run_packet(&p);
    expect_error(0, MXGPU_QERR_PACKET,
                 offsetof(struct mxgpu_packet_header, flags));
}

/* A kernel that reads exception flags is run as one. */
static void test_dispatch_flags(void)
{
    Packet p = dispatch(0, 0);
    struct mxgpu_kernel_desc *desc = fake_ptr(KERNEL);

    start_queue(0);
    desc->flags = MXGPU_KERNEL_FP_FLAGS;
    run_packet(&p);
    g_assert_true(MXGPU_GET(MXGPU_CD_CFG_FP_FLAGS, slot_reg(MXGPU_CD_CFG)));
    g_assert_cmphex(slot_reg(MXGPU_CD_CFG) & 0xffff, ==, 1 | 64 << 8);
}

static void test_dispatch_private(void)
{
    struct mxgpu_kernel_desc *desc;
    Packet p = dispatch(0, 0);

    start_queue(0);
    bus.finish_at_once = true;
    p.dispatch.private_kib = 16;
    run_packet(&p);
    g_assert_cmpuint(slot_reg(MXGPU_CD_PRIVATE), ==, 16 * 1024);
    desc = fake_ptr(KERNEL);
    desc->private_bytes = 20 * 1024 + 1;
    put(0, 1, &p);
    ring_settled(0, 2);
    g_assert_cmpuint(slot_reg(MXGPU_CD_PRIVATE), ==, 21 * 1024);
}

static void test_dispatch_fault(void)
{
    Packet p = dispatch(0, 0);

    start_queue(0);
    run_packet(&p);
    bus.units[FW_UNIT_SLOT][0].access = MXGPU_ACCESS_ATOMIC;
    bus.units[FW_UNIT_SLOT][0].fault_addr = 0xdead0000;
    bus.units[FW_UNIT_SLOT][0].fault_pc = ENTRY + 8;
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_MISALIGNED);
    g_assert_true(fake_settle());
    expect_error(0, MXGPU_QERR_FAULT, 0);
    g_assert_cmpuint(ctl(0)->error.fault, ==, MXGPU_FAULT_MISALIGNED);
    g_assert_cmphex(ctl(0)->error.fault_addr, ==, 0xdead0000);
    g_assert_cmphex((uint32_t)ctl(0)->error.fault_pc, ==, (uint32_t)ENTRY + 8);
    g_assert_cmpuint(ctl(0)->error.access, ==, MXGPU_ACCESS_ATOMIC);
    g_assert_cmpuint(ctl(0)->error.thread, ==, 77);
    g_assert_cmpuint(ctl(0)->error.block[1], ==, 3);
}

static void test_write(void)
{
    Packet p = {.write = {.type = MXGPU_PKT_WRITE,
                          .size = 8,
                          .addr = DATA + 8,
                          .value = 0x1122334455667788ull,
                          .signal_addr = SIGNAL(0),
                          .signal_value = 1000}};

    start_queue(0);
    run_packet(&p);
    g_assert_cmphex(*mem64(DATA + 8), ==, 0x1122334455667788ull);
    p.write.size = 4;
    p.write.addr = DATA + 20;
    put(0, 1, &p);
    ring_settled(0, 2);
    g_assert_cmphex(*mem64(DATA + 16), ==, 0x5566778800000000ull);
    g_assert_true(signalled(0));
}

static void test_timestamp(void)
{
    Packet p = {.timestamp = {.type = MXGPU_PKT_TIMESTAMP, .addr = DATA}};

    start_queue(0);
    bus.mtime = 0x123456789aull;
    run_packet(&p);
    g_assert_cmpuint(*mem64(DATA), ==, 0x123456789aull);
}

static void test_wait_conditions(void)
{
    static const struct {
        uint16_t size, cond;
        uint64_t value, no, yes;
    } cases[] = {
        {8, MXGPU_WAIT_GEQ, 5, 4, 6},
        {8, MXGPU_WAIT_GEQ, 1, UINT64_MAX, 1},
        {8, MXGPU_WAIT_GEQ, UINT64_MAX, UINT64_MAX - 1, 0},
        {4, MXGPU_WAIT_GEQ, 5, 4 | 9ull << 32, 5},
        {4, MXGPU_WAIT_GEQ, 0xffffffff, 0xfffffffe, 1},
        {8, MXGPU_WAIT_EQ, 1ull << 40, 0, 1ull << 40},
        {4, MXGPU_WAIT_EQ, 7ull << 32 | 1, 2, 1},
        {8, MXGPU_WAIT_AND, 1ull << 63, 1, 3ull << 62},
        {4, MXGPU_WAIT_AND, 1ull << 32 | 2, 1ull << 32, 2},
        {8, MXGPU_WAIT_NOR, 1, UINT64_MAX, UINT64_MAX - 2},
        {4, MXGPU_WAIT_NOR, 1, 0xffffffff, 0x7fffffff},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        Packet p = wait_for(DATA, cases[i].value, 0);

        p.wait.size = cases[i].size;
        p.wait.cond = cases[i].cond;
        start_queue(0);
        *mem64(DATA) = cases[i].no;
        run_packet(&p);
        fake_advance(FW_MS);
        g_assert_false(signalled(0));
        *mem64(DATA) = cases[i].yes;
        fake_advance(FW_MS);
        g_assert_true(signalled(0));
    }
}

static void test_tlb(void)
{
    Packet p = {.tlb_invalidate = {.type = MXGPU_PKT_TLB_INVALIDATE,
                                   .addr = 0x1234000,
                                   .size = 0x2000,
                                   .signal_addr = SIGNAL(0),
                                   .signal_value = 1000}};
    Packet n = nop(0, 1);

    start_queue(0);
    create(1, 3);
    bus.inv_busy = true;
    bus.inv_commands = 0;
    run_packet(&p);
    put(1, 0, &n);
    ring_settled(1, 1);
    g_assert_true(signalled(1)); /* others go on */
    g_assert_cmpuint(bus.inv_commands, ==, 1);
    g_assert_cmphex(bus.regs[MXGPU_MMU_INV_ADDR_LO / 4], ==, 0x1234000);
    g_assert_cmphex(bus.regs[MXGPU_MMU_INV_SIZE_LO / 4], ==, 0x2000);
    g_assert_cmphex(bus.regs[MXGPU_MMU_INV_CMD / 4], ==, 1);
    fake_advance(FW_MS);
    g_assert_false(signalled(0));
    bus.inv_busy = false;
    fake_advance(FW_MS);
    g_assert_true(signalled(0));
}

/* What is asked for while one is under way is issued after it. */
static void test_tlb_batches(void)
{
    Packet p = {.tlb_invalidate = {.type = MXGPU_PKT_TLB_INVALIDATE}};
    const uint32_t msg[] = {MXGPU_MSG_TLB_INVALIDATE, 1};

    start(0);
    for (unsigned q = 0; q < 4; q++) {
        create(q, 0);
    }
    bus.inv_commands = 0;
    bus.inv_busy = true;
    for (unsigned q = 0; q < 4; q++) {
        p.tlb_invalidate.signal_addr = SIGNAL(q);
        p.tlb_invalidate.signal_value = 1000 + q;
        put(q, 0, &p);
        ring_settled(q, 1);
    }
    g_assert_false(fake_send(msg, 2));
    g_assert_cmpuint(bus.inv_commands, ==, 1);
    bus.inv_busy = false;
    fake_advance(FW_MS);
    g_assert_cmpuint(bus.inv_commands, ==, 5);
    g_assert_true(fake_answered());
    g_assert_cmpuint(fake_answer(0), ==, MXGPU_MSG_OK);
    for (unsigned q = 0; q < 4; q++) {
        g_assert_true(signalled(q));
    }
}

/* ---- malformed fields ---- */

typedef struct Bad {
    uint16_t type;
    uint8_t offset, size; /* of the field that is overwritten */
    uint64_t value;
    int field; /* reported; -1: as offset */
} Bad;

static Packet valid(uint16_t type)
{
    Packet p;

    switch (type) {
    case MXGPU_PKT_COPY:
        return copy(DATA, DATA + 0x1000, 64, 0, 0);
    case MXGPU_PKT_FILL:
        return fill(4);
    case MXGPU_PKT_COPY_RECT:
        return copy_rect(DATA, DATA + 0x1000, 0);
    case MXGPU_PKT_FILL_RECT:
        return fill_rect(DATA, 0);
    case MXGPU_PKT_DISPATCH:
        return dispatch(0, 0);
    case MXGPU_PKT_WAIT:
        return wait_for(DATA, 0, 0);
    case MXGPU_PKT_INDIRECT:
        return indirect(2, 0); /* of NOPs: memory is 0 */
    default:
        p = nop(0, 0);
        p.header.type = type;
        if (type != MXGPU_PKT_NOP) {
            p.write.addr = DATA;
        }
        if (type == MXGPU_PKT_WRITE) {
            p.write.size = 8;
        }
        return p;
    }
}

static const Bad bad_fields[] = {
    {0, 0, 2, MXGPU_PKT_TYPES, -1},
    {0, 0, 2, 0xffff, -1},
    {0, 2, 2, 4, -1},
    {0, 2, 2, 0x8000, -1},
    {MXGPU_PKT_COPY, 2, 2, MXGPU_PKT_COOPERATIVE, -1},
    {MXGPU_PKT_WAIT, 2, 2, MXGPU_PKT_COOPERATIVE, -1},
    {0, 4, 4, 1, -1},
    {0, 44, 4, 1, -1},
    {MXGPU_PKT_COPY, 2, 2, 8, -1},
    {MXGPU_PKT_COPY, 4, 4, 1, -1},
    {MXGPU_PKT_COPY, 24, 8, UINT64_MAX, -1},
    {MXGPU_PKT_COPY, 32, 8, 1, -1},
    {MXGPU_PKT_COPY, 40, 8, 1, -1},
    {MXGPU_PKT_FILL, 4, 4, 0, -1},
    {MXGPU_PKT_FILL, 4, 4, 3, -1},
    {MXGPU_PKT_FILL, 4, 4, 32, -1},
    {MXGPU_PKT_FILL, 8, 8, DATA + 2, -1},
    {MXGPU_PKT_FILL, 16, 8, 63, -1},
    {MXGPU_PKT_FILL, 16, 8, UINT64_MAX - 3, -1},
    {MXGPU_PKT_FILL, 40, 4, 1, -1},
    {MXGPU_PKT_DISPATCH, 16, 8, DATA + 8, -1},
    {MXGPU_PKT_DISPATCH, 24, 4, 0, -1},
    {MXGPU_PKT_DISPATCH, 28, 4, 0, -1},
    {MXGPU_PKT_DISPATCH, 32, 4, 0, -1},
    {MXGPU_PKT_DISPATCH, 36, 2, 0, -1},
    {MXGPU_PKT_DISPATCH, 38, 2, 0, -1},
    {MXGPU_PKT_DISPATCH, 40, 2, 0, -1},
    {MXGPU_PKT_DISPATCH, 36, 2, 513, -1},
    {MXGPU_PKT_DISPATCH, 36, 4, 0xffffffff, -1},
    {MXGPU_PKT_DISPATCH, 40, 2, 0xffff, 36},
    {MXGPU_PKT_DISPATCH, 42, 2, 1025, -1},
    {MXGPU_PKT_DISPATCH, 44, 4, 1, -1},
    {MXGPU_PKT_WRITE, 4, 4, 2, -1},
    {MXGPU_PKT_WRITE, 4, 4, 16, -1},
    {MXGPU_PKT_WRITE, 8, 8, DATA + 4, -1},
    {MXGPU_PKT_WRITE, 24, 4, 1, -1},
    {MXGPU_PKT_WRITE, 44, 4, 1, -1},
    {MXGPU_PKT_WAIT, 4, 2, 2, -1},
    {MXGPU_PKT_WAIT, 6, 2, MXGPU_WAIT_CONDS, -1},
    {MXGPU_PKT_WAIT, 8, 8, DATA + 4, -1},
    {MXGPU_PKT_WAIT, 40, 4, 1, -1},
    {MXGPU_PKT_TIMESTAMP, 4, 4, 1, -1},
    {MXGPU_PKT_TIMESTAMP, 8, 8, DATA + 4, -1},
    {MXGPU_PKT_TIMESTAMP, 16, 4, 1, -1},
    {MXGPU_PKT_TIMESTAMP, 44, 4, 1, -1},
    {MXGPU_PKT_TLB_INVALIDATE, 4, 4, 1, -1},
    {MXGPU_PKT_TLB_INVALIDATE, 16, 8, UINT64_MAX, -1},
    {MXGPU_PKT_TLB_INVALIDATE, 24, 4, 1, -1},
    {MXGPU_PKT_TLB_INVALIDATE, 44, 4, 1, -1},
    {MXGPU_PKT_COPY_RECT, 2, 2, MXGPU_PKT_COOPERATIVE, -1},
    {MXGPU_PKT_COPY_RECT, 4, 4, 49, 36},  /* rows of the target overlap */
    {MXGPU_PKT_COPY_RECT, 32, 4, 39, -1}, /* rows of the source */
    {MXGPU_PKT_COPY_RECT, 36, 4, 0, -1},
    {MXGPU_PKT_COPY_RECT, 40, 4, 2, -1}, /* slices */
    {MXGPU_PKT_COPY_RECT, 44, 4, 2, -1},
    {MXGPU_PKT_COPY_RECT, 24, 4, 4, 44},
    {MXGPU_PKT_COPY_RECT, 8, 8, UINT64_MAX - 423, -1},
    {MXGPU_PKT_COPY_RECT, 16, 8, UINT64_MAX - 279, -1},
    {MXGPU_PKT_FILL_RECT, 2, 2, MXGPU_PKT_COOPERATIVE, -1},
    {MXGPU_PKT_FILL_RECT, 4, 4, 33, 24},
    {MXGPU_PKT_FILL_RECT, 28, 4, 2, -1},
    {MXGPU_PKT_FILL_RECT, 8, 8, UINT64_MAX - 100, -1},
    {MXGPU_PKT_INDIRECT, 2, 2, MXGPU_PKT_COOPERATIVE, -1},
    {MXGPU_PKT_INDIRECT, 2, 2, MXGPU_PKT_PROFILE, -1},
    {MXGPU_PKT_INDIRECT, 4, 4, MXGPU_INDIRECT_MAX + 1, -1},
    {MXGPU_PKT_INDIRECT, 8, 8, LIST + 32, -1},
    {MXGPU_PKT_INDIRECT, 8, 8, UINT64_MAX - 63, -1},
    {MXGPU_PKT_INDIRECT, 8, 8, (1ull << 47) - 64, -1},
    {MXGPU_PKT_INDIRECT, 16, 4, 1, -1},
    {MXGPU_PKT_INDIRECT, 44, 4, 1, -1},
};

/* Each bad packet stops its queue in front of the next, and no other queue. */
static void test_malformed(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(bad_fields); i++) {
        const Bad *bad = &bad_fields[i];
        Packet p = valid(bad->type), next = nop(0, 1), other = nop(0, 2);

        start_queue(0);
        create(1, 0);
        memcpy((uint8_t *)&p + bad->offset, &bad->value, bad->size);
        put(0, 0, &p);
        put(0, 1, &next);
        ring_settled(0, 2);
        put(1, 0, &other);
        ring_settled(1, 1);
        expect_error(0, MXGPU_QERR_PACKET,
                     bad->field < 0 ? bad->offset : (uint32_t)bad->field);
        g_assert_cmpuint(ctl(0)->error.packet_index, ==, 0);
        g_assert_cmpuint(ctl(0)->error.packet_type, ==, p.header.type);
        g_assert_cmpuint(bus.irqs[0], ==, 1);
        g_assert_false(signalled(0) || signalled(1));
        g_assert_true(signalled(2));
        g_assert_cmpuint(busy_units(FW_UNIT_COPY), ==, 0);
        g_assert_cmpuint(busy_units(FW_UNIT_SLOT), ==, 0);
    }
}

/* The packets that the cases above start from are all right themselves. */
static void test_well_formed(void)
{
    for (uint16_t type = 0; type < MXGPU_PKT_TYPES; type++) {
        Packet p = valid(type);

        start_queue(0);
        bus.finish_at_once = true;
        run_packet(&p);
        g_assert_cmpuint(ctl(0)->state, ==, MXGPU_QUEUE_ACTIVE);
        g_assert_true(signalled(0));
    }
}

static void test_signal_errors(void)
{
    for (uint16_t type = 0; type < MXGPU_PKT_TYPES; type++) {
        Packet p = valid(type);

        start_queue(0);
        p.write.signal_addr = SIGNAL(0) + 4;
        run_packet(&p);
        expect_error(0, MXGPU_QERR_SIGNAL, 48);
        g_assert_cmpuint(ctl(0)->error.fault, ==, MXGPU_FAULT_MISALIGNED);

        start_queue(0);
        bus.finish_at_once = true;
        p.write.signal_addr = 0x40000000;
        run_packet(&p);
        expect_error(0, MXGPU_QERR_SIGNAL, 48);
        g_assert_cmpuint(ctl(0)->error.fault, ==, MXGPU_FAULT_NOT_PRESENT);
        g_assert_cmphex(ctl(0)->error.fault_addr, ==, 0x40000000);
    }
}

static void test_memory_faults(void)
{
    static const struct {
        uint16_t type;
        uint32_t access;
    } cases[] = {
        {MXGPU_PKT_WRITE, MXGPU_ACCESS_WRITE},
        {MXGPU_PKT_TIMESTAMP, MXGPU_ACCESS_WRITE},
        {MXGPU_PKT_WAIT, MXGPU_ACCESS_READ},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        Packet p = valid(cases[i].type);

        start_queue(0);
        p.write.addr = 0x40000000;
        run_packet(&p);
        expect_error(0, MXGPU_QERR_FAULT, 0);
        g_assert_cmpuint(ctl(0)->error.fault, ==, MXGPU_FAULT_NOT_PRESENT);
        g_assert_cmphex(ctl(0)->error.fault_addr, ==, 0x40000000);
        g_assert_cmpuint(ctl(0)->error.access, ==, cases[i].access);
    }
}

/* ---- kernel descriptors and resources ---- */

static void test_descriptors(void)
{
    static const struct {
        uint8_t offset, size;
        uint64_t value;
    } bad[] = {
        {0, 4, 1},       {4, 4, 2},       {8, 8, ENTRY + 1},
        {40, 4, 0x10001}, {44, 4, 0x100001}, {48, 4, 0},
        {48, 4, 256},    {56, 4, 2},      {60, 4, 1},
    };
    Packet p = dispatch(0, 0);

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        start_queue(0);
        memcpy(fake_ptr(KERNEL + bad[i].offset), &bad[i].value, bad[i].size);
        run_packet(&p);
        expect_error(0, MXGPU_QERR_KERNEL, 0);
        g_assert_cmpuint(ctl(0)->error.fault, ==, 0);
        g_assert_cmpuint(bus.units[FW_UNIT_SLOT][0].starts, ==, 0);
    }
    start_queue(0);
    p.dispatch.kernel = 0;
    run_packet(&p);
    expect_error(0, MXGPU_QERR_KERNEL, 0);
    g_assert_cmpuint(ctl(0)->error.fault, ==, MXGPU_FAULT_NOT_PRESENT);
}

static void test_resources(void)
{
    struct mxgpu_kernel_desc *desc = fake_ptr(KERNEL);
    Packet p = dispatch(0, 0);

    start_queue(0);
    desc->max_threads = 127;
    run_packet(&p);
    expect_error(0, MXGPU_QERR_RESOURCES, 36);

    start_queue(0);
    desc->max_threads = 128;
    bus.regs[MXGPU_CU_REGS / 4] = fw.cu_registers = 64 * 128 - 1;
    run_packet(&p);
    expect_error(0, MXGPU_QERR_RESOURCES, 36);

    for (unsigned i = 0; i < 2; i++) {
        start_queue(0);
        p.dispatch.dynamic_shared = i ? UINT32_MAX : 0x10000 - 255;
        run_packet(&p);
        expect_error(0, MXGPU_QERR_RESOURCES, 4);
    }

    start_queue(0); /* the hardware's word */
    p.dispatch.dynamic_shared = 0x10000 - 256;
    run_packet(&p);
    fake_finish(FW_UNIT_SLOT, 0, MXGPU_FAULT_CONFIG);
    g_assert_true(fake_settle());
    expect_error(0, MXGPU_QERR_RESOURCES, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/packets/nop", test_nop);
    g_test_add_func("/packets/copy", test_copy);
    g_test_add_func("/packets/copy/empty", test_copy_empty);
    g_test_add_func("/packets/copy/fault", test_copy_fault);
    g_test_add_func("/packets/copy-rect", test_copy_rect);
    g_test_add_func("/packets/fill-rect", test_fill_rect);
    g_test_add_func("/packets/rect/empty", test_rect_empty);
    g_test_add_func("/packets/rect/single", test_rect_single);
    g_test_add_func("/packets/rect/huge", test_rect_huge);
    g_test_add_func("/packets/fill", test_fill);
    g_test_add_func("/packets/dispatch", test_dispatch);
    g_test_add_func("/packets/dispatch/cooperative", test_dispatch_cooperative);
    g_test_add_func("/packets/dispatch/strict", test_dispatch_strict);
    g_test_add_func("/packets/dispatch/flags", test_dispatch_flags);
    g_test_add_func("/packets/recover", test_recover);
    g_test_add_func("/packets/recover/refused", test_recover_refused);
    g_test_add_func("/packets/dispatch/private", test_dispatch_private);
    g_test_add_func("/packets/dispatch/fault", test_dispatch_fault);
    g_test_add_func("/packets/dispatch/descriptors", test_descriptors);
    g_test_add_func("/packets/dispatch/resources", test_resources);
    g_test_add_func("/packets/write", test_write);
    g_test_add_func("/packets/timestamp", test_timestamp);
    g_test_add_func("/packets/wait", test_wait_conditions);
    g_test_add_func("/packets/tlb", test_tlb);
    g_test_add_func("/packets/tlb/batches", test_tlb_batches);
    g_test_add_func("/packets/well-formed", test_well_formed);
    g_test_add_func("/packets/malformed", test_malformed);
    g_test_add_func("/packets/signal-errors", test_signal_errors);
    g_test_add_func("/packets/memory-faults", test_memory_faults);
    return g_test_run();
}
