/* SPDX-License-Identifier: MIT */
/* Register access rules, identity, interrupts, mailbox, doorbells. */
#include "core/describe.h"
#include "mxgpu/packets.h"
#include "test_host.h"

typedef enum Rule { NA, RO, RW, W1C, WO } Rule;

typedef struct Desc {
    const char *name;
    uint32_t offset, count, stride;
    Rule host, mcu;
} Desc;

static const Desc descs[] = {
#define MXGPU_REG(name, offset, count, stride, host, mcu, reset, doc)          \
    {#name, offset, count, stride, host, mcu},
#define MXGPU_FIELD(...)
#include "mxgpu/regs.def"
};

static void test_identity(void)
{
    TestHost *h = test_host_new(true);

    g_assert_cmphex(test_read(h, MXGPU_ID), ==, MXGPU_ID_MAGIC);
    g_assert_cmphex(test_read(h, MXGPU_VERSION), ==, MXGPU_INTERFACE_VERSION);
    g_assert_cmphex(test_read(h, MXGPU_FEATURES), ==, 63);
    g_assert_cmphex(test_read(h, MXGPU_QUEUE_CAPS), ==, 40 | 8 << 16);
    g_assert_cmphex(test_read(h, MXGPU_UNIT_CAPS), ==, 2 | 2 << 16 | 8 << 24);
    g_assert_cmphex(test_read(h, MXGPU_VRAM_SIZE_LO), ==, TEST_VRAM_SIZE);
    g_assert_cmphex(test_read(h, MXGPU_UUID + 4), ==, 0x08070605);
    g_assert_cmphex(test_read(h, MXGPU_CU_REGS), ==, 131072);
    test_host_free(h);
}

/* Every offset of the BAR, against the table: who sees nothing gets 0 and one
 * error; who may read gets none. */
static void test_access_rules(void)
{
    TestHost *h = test_host_new(true);
    static Rule rule[MXGPU_REGS_SIZE / 4];

    for (size_t i = 0; i < G_N_ELEMENTS(descs); i++) {
        for (uint32_t n = 0; n < descs[i].count; n++) {
            uint32_t offset = descs[i].offset + n * descs[i].stride;

            g_assert_cmpuint(rule[offset / 4], ==, NA); /* no overlap */
            rule[offset / 4] = descs[i].host;
            if (offset >= MXGPU_CU_COUNTER_LO + 2 * 8 * MXGPU_COUNTERS ||
                (offset >= MXGPU_CU_PC_LO + 2 * 8 &&
                 offset < MXGPU_CU_COUNTER_LO)) {
                rule[offset / 4] = NA; /* there are two units */
            }
        }
    }
    for (uint32_t offset = 0; offset < MXGPU_REGS_SIZE; offset += 4) {
        uint32_t before = test_read(h, MXGPU_ERR_COUNT);
        uint32_t value = test_read(h, offset);

        g_assert_cmpuint(test_read(h, MXGPU_ERR_COUNT) - before, ==,
                         rule[offset / 4] == NA);
        if (rule[offset / 4] == NA || rule[offset / 4] == WO) {
            g_assert_cmphex(value, ==, 0);
        }
        if (rule[offset / 4] == NA || rule[offset / 4] == RO) {
            before = test_read(h, MXGPU_ERR_COUNT);
            test_write(h, offset, ~value);
            g_assert_cmpuint(test_read(h, MXGPU_ERR_COUNT) - before, ==, 1);
        }
    }
    g_assert_cmphex(test_read(h, MXGPU_ID), ==, MXGPU_ID_MAGIC);
    test_host_free(h);
}

static void test_bad_size(void)
{
    TestHost *h = test_host_new(true);

    g_assert_cmphex(mxgpu_device_mmio_read(h->dev, MXGPU_ID, 8), ==, 0);
    g_assert_cmphex(mxgpu_device_mmio_read(h->dev, MXGPU_ID, 1), ==, 0);
    g_assert_cmphex(mxgpu_device_mmio_read(h->dev, MXGPU_ID + 2, 4), ==, 0);
    g_assert_cmphex(mxgpu_device_mmio_read(h->dev, UINT64_MAX - 3, 4), ==, 0);
    mxgpu_device_mmio_write(h->dev, MXGPU_IRQ_ENABLE, 0xf, 2);
    g_assert_cmphex(test_read(h, MXGPU_IRQ_ENABLE), ==, 0);
    g_assert_cmpuint(test_read(h, MXGPU_ERR_COUNT), ==, 5);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==, 1);
    g_assert_cmphex(test_read(h, MXGPU_ERR_INFO), ==, MXGPU_ID);
    g_assert_cmpuint(h->traces[MXGPU_TRACE_BAD_ACCESS], ==, 5);
    test_host_free(h);
}

static void test_error_latch(void)
{
    TestHost *h = test_host_new(true);

    test_write(h, MXGPU_IRQ_ENABLE, 1u << MXGPU_IRQ_STATUS_ERROR_SHIFT);
    test_read(h, 0xf000);
    test_read(h, 0xf004);
    g_assert_cmphex(test_read(h, MXGPU_ERR_INFO), ==, 0xf000); /* the first */
    g_assert_cmpuint(h->irqs[0], ==, 1); /* one edge */
    test_write(h, MXGPU_ERR_STATUS, 1);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==, 0);
    test_write(h, MXGPU_IRQ_STATUS, 0xf);
    test_read(h, 0xf004);
    g_assert_cmphex(test_read(h, MXGPU_ERR_INFO), ==, 0xf004);
    g_assert_cmpuint(h->irqs[0], ==, 2);
    test_host_free(h);
}

static void test_irq_edges(void)
{
    TestHost *h = test_host_new(true);
    uint32_t event = 1u << MXGPU_IRQ_STATUS_EVENT_SHIFT;

    mcu_write(h, MXGPU_EVENT_RAISE, 1);
    g_assert_cmpuint(h->irqs[0], ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_IRQ_STATUS), ==, event);
    test_write(h, MXGPU_IRQ_ENABLE, event); /* set, becomes enabled */
    g_assert_cmpuint(h->irqs[0], ==, 1);
    test_write(h, MXGPU_IRQ_ENABLE, event); /* was enabled */
    mcu_write(h, MXGPU_EVENT_RAISE, 1);     /* was set */
    g_assert_cmpuint(h->irqs[0], ==, 1);
    test_write(h, MXGPU_IRQ_STATUS, ~event); /* clears others alone */
    g_assert_cmphex(test_read(h, MXGPU_IRQ_STATUS), ==, event);
    test_write(h, MXGPU_IRQ_STATUS, event);
    mcu_write(h, MXGPU_EVENT_RAISE, 1);
    g_assert_cmpuint(h->irqs[0], ==, 2);
    mcu_write(h, MXGPU_MSIX_RAISE, 7);
    g_assert_cmpuint(h->irqs[7], ==, 1);
    mcu_write(h, MXGPU_MSIX_RAISE, 8); /* there is none */
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==, 1);
    mcu_read(h, MXGPU_COUNTER_LO + 8 * MXGPU_COUNTER_INTERRUPTS);
    test_host_free(h);
}

static void test_mailbox(void)
{
    TestHost *h = test_host_new(true);
    uint32_t mbox = 1u << MXGPU_INT_PENDING_MBOX_SHIFT;

    test_write(h, MXGPU_MBOX_CMD + 4 * 15, 0x1234);
    test_write(h, MXGPU_MBOX_REQ, 1);
    g_assert_cmpuint(h->kicks, ==, 1);
    g_assert_cmphex(mcu_read(h, MXGPU_INT_PENDING) & mbox, ==, mbox);
    g_assert_cmphex(mcu_read(h, MXGPU_MBOX_CMD + 4 * 15), ==, 0x1234);
    g_assert_false(fake_mcu.external);
    mcu_write(h, MXGPU_INT_ENABLE, mbox);
    g_assert_true(fake_mcu.external);
    mcu_write(h, MXGPU_MBOX_RESP, 77);
    mcu_write(h, MXGPU_MBOX_ACK, 1);
    g_assert_false(fake_mcu.external);
    g_assert_cmphex(test_read(h, MXGPU_MBOX_RESP), ==, 77);
    g_assert_cmphex(test_read(h, MXGPU_MBOX_ACK), ==, 1);
    g_assert_cmphex(test_read(h, MXGPU_IRQ_STATUS), ==,
                    1u << MXGPU_IRQ_STATUS_MBOX_SHIFT);
    test_host_free(h);
}

static void test_clock_latch(void)
{
    TestHost *h = test_host_new(true);

    h->clock = 0x1ffffffffull;
    g_assert_cmphex(test_read(h, MXGPU_CLOCK_LO), ==, 0xffffffff);
    h->clock = 0x200000000ull;
    g_assert_cmphex(mcu_read(h, MXGPU_CLOCK_LO), ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_CLOCK_HI), ==, 1);
    g_assert_cmphex(mcu_read(h, MXGPU_CLOCK_HI), ==, 2);
    fake_simt.counters.blocks = 0x300000004ull;
    g_assert_cmphex(test_read(h, MXGPU_COUNTER_LO + 16), ==, 4);
    fake_simt.counters.blocks = 0x400000005ull;
    g_assert_cmphex(mcu_read(h, MXGPU_COUNTER_LO + 16), ==, 5);
    g_assert_cmphex(test_read(h, MXGPU_COUNTER_HI + 16), ==, 3);
    g_assert_cmphex(mcu_read(h, MXGPU_COUNTER_HI + 16), ==, 4);
    test_host_free(h);
}

/* Counters of units and of dispatches, as the machine tells them. */
static void test_counters(void)
{
    TestHost *h = test_host_new(true);
    uint32_t warps = MXGPU_CU_COUNTER_LO + 8 * MXGPU_COUNTER_WARPS;

    fake_simt.counters.warps = 0x100000002ull;
    fake_simt.counters.mem_requests = 0x600000007ull;
    g_assert_cmphex(test_read(h, warps), ==, 2);
    g_assert_cmphex(test_read(h, warps + 4), ==, 1);
    g_assert_cmphex(test_read(h, warps + 8 * MXGPU_COUNTERS), ==, 3);
    g_assert_cmphex(mcu_read(h, warps + 16), ==, 0);
    g_assert_cmphex(test_read(h, warps + 4), ==, 1); /* its own latch */
    g_assert_cmphex(mcu_read(h, warps + 4), ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_COUNTER_LO +
                                     8 * MXGPU_COUNTER_MEM_REQUESTS),
                    ==, 7);

    g_assert_cmphex(mcu_read(h, MXGPU_CP_COUNTER_LO + 3 * 256 +
                                    8 * MXGPU_COUNTER_MEM_REQUESTS),
                    ==, 10);
    g_assert_cmphex(mcu_read(h, MXGPU_CP_COUNTER_HI + 3 * 256 +
                                    8 * MXGPU_COUNTER_MEM_REQUESTS),
                    ==, 6);
    g_assert_cmphex(mcu_read(h, MXGPU_CP_SAMPLES_LO + 5 * 0x40), ==, 5);
    g_assert_cmphex(mcu_read(h, MXGPU_CP_SAMPLES_HI + 5 * 0x40), ==, 1);
    mcu_write(h, MXGPU_CP_UNIT + 0x40, 1);
    g_assert_cmphex(mcu_read(h, MXGPU_CP_UNIT + 0x40), ==, 1);
    g_assert_cmphex(mcu_read(h, MXGPU_CP_UNIT_BLOCKS + 0x40), ==, 2);
    g_assert_cmphex(mcu_read(h, MXGPU_CP_UNIT_FIRST_LO + 0x40), ==, 1);
    g_assert_cmphex(mcu_read(h, MXGPU_CP_UNIT_FIRST_HI + 0x40), ==, 1);
    g_assert_cmphex(mcu_read(h, MXGPU_CP_UNIT_LAST_HI + 0x40), ==, 2);
    g_assert_cmphex(mcu_read(h, MXGPU_CP_UNIT_BUSY_LO + 0x40), ==, 7);
    g_assert_cmphex(mcu_read(h, MXGPU_CP_UNIT_BLOCKS), ==, 0);

    g_assert_cmphex(test_read(h, MXGPU_VMID_COMPUTE_NS_LO + 8 * 5), ==, 5);
    g_assert_cmphex(test_read(h, MXGPU_VMID_COMPUTE_NS_HI + 8 * 5), ==, 0x2d);
    g_assert_cmphex(test_read(h, MXGPU_VMID_COPY_NS_LO + 8 * 5), ==, 0);

    test_write(h, MXGPU_PROFILE_CTRL, UINT32_MAX);
    g_assert_cmphex(mcu_read(h, MXGPU_PROFILE_CTRL), ==, 1);
    test_host_free(h);
}

/* Where units are: the halves that were read first belong together. */
static void test_unit_pc(void)
{
    TestHost *h = test_host_new(true);
    uint32_t at = MXGPU_CU_PC_LO + MXGPU_CU_PC_LO_STRIDE, hi, units;

    fake_simt.unit_pc = 0x80057ffffffffff0ull;
    g_assert_cmphex(test_read(h, MXGPU_CU_PC_LO), ==, 0);
    g_assert_cmphex(test_read(h, MXGPU_CU_PC_HI), ==, 0);
    g_assert_cmphex(test_read(h, at), ==, 0xfffffff4);
    fake_simt.unit_pc = 0x8003000000000000ull;
    g_assert_cmphex(mcu_read(h, at), ==, 4);
    hi = test_read(h, at + 4);
    g_assert_cmphex(MXGPU_GET(MXGPU_CU_PC_HI_PC, hi), ==, 0x7fff);
    g_assert_cmphex(MXGPU_GET(MXGPU_CU_PC_HI_VMID, hi), ==, 5);
    g_assert_true(MXGPU_GET(MXGPU_CU_PC_HI_VALID, hi));
    g_assert_cmphex(mcu_read(h, at + 4), ==, 0x80030000);
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==, 0);

    /* What they do is the firmware's to know. */
    g_assert_true(MXGPU_GET(MXGPU_FEATURES_CU_SLOTS,
                            mcu_read(h, MXGPU_FEATURES)));
    g_assert_cmphex(mcu_read(h, MXGPU_CU_SLOTS), ==, 1);
    g_assert_cmphex(mcu_read(h, MXGPU_CU_SLOTS + MXGPU_CU_SLOTS_STRIDE), ==, 2);
    g_assert_cmphex(test_read(h, MXGPU_ERR_COUNT), ==, 0);

    units = MXGPU_GET(MXGPU_UNIT_CAPS_COMPUTE_UNITS,
                      test_read(h, MXGPU_UNIT_CAPS));
    test_read(h, MXGPU_CU_PC_LO + units * MXGPU_CU_PC_LO_STRIDE);
    g_assert_cmphex(test_read(h, MXGPU_ERR_COUNT), ==, 1);
    test_host_free(h);
}

/* What a dispatch is started with. */
static void test_profile_dispatch(void)
{
    TestHost *h = test_host_new(true);
    const MxgpuDispatch *d = &fake_simt.dispatch[1];

    for (unsigned i = 0; i < 3; i++) {
        mcu_write(h, MXGPU_CD_GRID_X + 0x80 + 4 * i, 1);
    }
    mcu_write(h, MXGPU_CD_BLOCK_XY + 0x80, 1 | 1 << 16);
    mcu_write(h, MXGPU_CD_BLOCK_Z + 0x80, 1);
    mcu_write(h, MXGPU_CD_CFG + 0x80, 32 << 8);
    mcu_write(h, MXGPU_CD_CTRL + 0x80, 1);
    g_assert_false(d->profile || d->accesses);
    fake_simt_finish(1, (MxgpuDispatchFault){.code = MXGPU_FAULT_NONE});
    mcu_write(h, MXGPU_CD_CTRL + 0x80, 2);
    test_write(h, MXGPU_PROFILE_CTRL, 1);
    mcu_write64(h, MXGPU_CP_SAMPLE_ADDR_LO + 0x40, 0x123456789abcull);
    mcu_write(h, MXGPU_CP_SAMPLE_MAX + 0x40, 55);
    mcu_write(h, MXGPU_CP_SAMPLE_INTERVAL + 0x40, 66);
    mcu_write(h, MXGPU_CD_CFG + 0x80, 32 << 8 | 1 << 24);
    mcu_write(h, MXGPU_CD_CTRL + 0x80, 1);
    g_assert_true(d->profile && d->accesses);
    fake_simt_finish(1, (MxgpuDispatchFault){.code = MXGPU_FAULT_NONE});
    mcu_write(h, MXGPU_CD_CTRL + 0x80, 2);
    test_write(h, MXGPU_PROFILE_CTRL, 0);
    mcu_write(h, MXGPU_CD_CTRL + 0x80, 1);
    g_assert_true(d->profile && !d->accesses);
    fake_simt_finish(1, (MxgpuDispatchFault){.code = MXGPU_FAULT_NONE});
    mcu_write(h, MXGPU_CD_CTRL + 0x80, 2);
    mcu_write(h, MXGPU_CD_CFG + 0x80, 32 << 8 | 3 << 24);
    mcu_write(h, MXGPU_CD_CTRL + 0x80, 1);
    g_assert_true(d->profile && d->accesses);
    g_assert_cmphex(d->sample_addr, ==, 0x123456789abcull);
    g_assert_cmpuint(d->sample_max, ==, 55);
    g_assert_cmpuint(d->sample_interval, ==, 66);
    test_host_free(h);
}

/* Of the dispatch with that CD_CFG on a device with that property. */
static bool is_strict(bool property, uint32_t cfg)
{
    TestHost *h = test_host_new(true);
    MxgpuConfig config = test_config(h);
    const char *error;
    bool strict;

    mxgpu_device_free(h->dev);
    config.deterministic = true;
    config.strict_alignment = property;
    h->dev = mxgpu_device_new(&config, &test_host_ops, h, &error);
    for (unsigned i = 0; i < 3; i++) {
        mcu_write(h, MXGPU_CD_GRID_X + 4 * i, 1);
    }
    mcu_write(h, MXGPU_CD_BLOCK_XY, 1 | 1 << 16);
    mcu_write(h, MXGPU_CD_BLOCK_Z, 1);
    mcu_write(h, MXGPU_CD_CFG, 32 << 8 | cfg);
    mcu_write(h, MXGPU_CD_CTRL, 1);
    strict = fake_simt.dispatch[0].strict_align;
    test_host_free(h);
    return strict;
}

static void test_strict_dispatch(void)
{
    g_assert_false(is_strict(false, 0));
    g_assert_true(is_strict(false, 1 << 18));
    g_assert_true(is_strict(true, 0));
    g_assert_true(is_strict(true, 1 << 18));
}

static void ring(TestHost *h, unsigned queue, uint64_t value)
{
    mxgpu_device_doorbell_write(h->dev, queue * 4096ull, value, 8);
}

static uint64_t db_value(TestHost *h, unsigned queue)
{
    uint64_t lo = mcu_read(h, MXGPU_DB_VALUE_LO + 8 * queue);

    return lo | (uint64_t)mcu_read(h, MXGPU_DB_VALUE_HI + 8 * queue) << 32;
}

static void test_doorbells(void)
{
    TestHost *h = test_host_new(true);

    ring(h, 33, 5); /* disabled */
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==,
                    1u << MXGPU_ERR_STATUS_BAD_DOORBELL_SHIFT);
    g_assert_cmpuint(test_read(h, MXGPU_ERR_INFO), ==, 33);
    g_assert_cmphex(mcu_read(h, MXGPU_DB_PENDING + 4), ==, 0);
    mcu_write(h, MXGPU_DB_ENABLE + 4, 0xffffffff);
    g_assert_cmphex(mcu_read(h, MXGPU_DB_ENABLE + 4), ==, 0xff); /* 40 queues */
    mcu_write(h, MXGPU_INT_ENABLE, 0xf);
    ring(h, 33, 0x123456789abcull);
    g_assert_cmphex(mcu_read(h, MXGPU_INT_PENDING), ==, 2);
    g_assert_cmphex(mcu_read(h, MXGPU_DB_PENDING + 4), ==, 2);
    mcu_write(h, MXGPU_DB_PENDING + 4, 2);
    g_assert_cmphex(mcu_read(h, MXGPU_INT_PENDING), ==, 0);
    g_assert_cmphex(db_value(h, 33), ==, 0x123456789abcull);
    mxgpu_device_doorbell_write(h->dev, 33 * 4096, 0x11111111, 4);
    g_assert_cmphex(db_value(h, 33), ==, 0x11111111);
    mxgpu_device_doorbell_write(h->dev, 33 * 4096 + 4, 0x22222222, 4);
    g_assert_cmphex(db_value(h, 33), ==, 0x2222222211111111ull);
    g_assert_cmphex(mxgpu_device_doorbell_read(h->dev, 33 * 4096, 8), ==, 0);
    /* Disabled: a ring that was pending is gone; enabled: starts at 0. */
    mcu_write(h, MXGPU_DB_ENABLE + 4, 0);
    g_assert_cmphex(mcu_read(h, MXGPU_DB_PENDING + 4), ==, 0);
    mcu_write(h, MXGPU_DB_ENABLE + 4, 2);
    g_assert_cmphex(db_value(h, 33), ==, 0);
    test_host_free(h);
}

static void test_doorbell_bad(void)
{
    TestHost *h = test_host_new(true);
    static const struct {
        uint64_t offset;
        unsigned size;
    } bad[] = {{8, 8}, {4, 8}, {2, 4}, {0, 1}, {0, 2}, {40 * 4096, 8},
               {4092, 4}, {UINT64_MAX - 7, 8}};

    mcu_write(h, MXGPU_DB_ENABLE, 0xffffffff);
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        mxgpu_device_doorbell_write(h->dev, bad[i].offset, 1, bad[i].size);
        g_assert_cmpuint(test_read(h, MXGPU_ERR_COUNT), ==, i + 1);
    }
    g_assert_cmphex(mcu_read(h, MXGPU_DB_PENDING), ==, 0);
    test_host_free(h);
}

static void test_config_range(void)
{
    TestHost *h = test_host_new(true);
    MxgpuConfig c;
    const char *error;

#define REFUSED(change)                                                        \
    do {                                                                       \
        c = test_config(h);                                                    \
        change;                                                                \
        error = NULL;                                                          \
        g_assert_null(mxgpu_device_new(&c, &test_host_ops, h, &error));        \
        g_assert_nonnull(error);                                               \
    } while (0)
    REFUSED(c.vram = NULL);
    REFUSED(c.vram_size = 4096);
    REFUSED(c.vram_size = 0);
    REFUSED(c.queues = 0);
    REFUSED(c.queues = 257);
    REFUSED(c.vectors = 0);
    REFUSED(c.vectors = 257);
    REFUSED(c.compute_units = 0);
    REFUSED(c.compute_units = 129);
    REFUSED(c.copy_engines = 0);
    REFUSED(c.copy_engines = 9);
    /* Each number of the table, and the text says which and what. */
#define MXGPU_NUMBER(field, name, min, max, card, sim, text)                   \
    if ((max) < UINT32_MAX) {                                                  \
        REFUSED(c.field = (max) + 1);                                          \
        g_assert_true(g_str_has_prefix(error, name " must be "));              \
        g_assert_true(g_str_has_suffix(error, TEXT(max)));                     \
    }
#define TEXT(number) TEXT_(number)
#define TEXT_(number) " to " #number
#define MXGPU_SIZE(field, name, min, max, card, sim, text)                     \
    REFUSED(c.field = ((max) + 1024) * 1024ull);                               \
    g_assert_true(g_str_has_prefix(error, name " must be "));
#define MXGPU_SWITCH(...)
#include "mxgpu/properties.def"
#undef MXGPU_NUMBER
#undef MXGPU_SIZE
#undef MXGPU_SWITCH
    test_host_free(h);
}

/* What the firmware tells of queues reaches who listens, and nobody else. */
static void test_trace_port(void)
{
    TestHost *h = test_host_new(true);

    g_assert_cmphex(mcu_read(h, MXGPU_INT_PENDING), ==, 0);
    mcu_write(h, MXGPU_TRACE_EVENT, MXGPU_QEV_DESTROY);
    g_assert_cmpuint(h->queue_events, ==, 0);
    h->listens = true;
    g_assert_cmphex(mcu_read(h, MXGPU_INT_PENDING), ==, 1u << 31);
    mcu_write(h, MXGPU_INT_ENABLE, UINT32_MAX);
    g_assert_false(fake_mcu.external); /* it is no interrupt */
    g_assert_cmphex(mcu_read(h, MXGPU_INT_ENABLE), ==, 0xf);
    mcu_write(h, MXGPU_TRACE_INFO, 0x21030005);
    mcu_write64(h, MXGPU_TRACE_INDEX_LO, 0x123456789abcull);
    mcu_write64(h, MXGPU_TRACE_VALUE_LO, 0xfedcba9876543210ull);
    mcu_write(h, MXGPU_TRACE_EVENT, MXGPU_QEV_PACKET_START);
    g_assert_cmpuint(h->queue_events, ==, 1);
    g_assert_cmpuint(h->queue_event.event, ==, MXGPU_QEV_PACKET_START);
    g_assert_cmpuint(h->queue_event.queue, ==, 5);
    g_assert_cmpuint(h->queue_event.type, ==, 3);
    g_assert_cmphex(h->queue_event.unit, ==, 0x21);
    g_assert_cmphex(h->queue_event.index, ==, 0x123456789abcull);
    g_assert_cmphex(h->queue_event.value, ==, 0xfedcba9876543210ull);
    test_read(h, MXGPU_TRACE_EVENT); /* the MCU's own */
    g_assert_cmphex(test_read(h, MXGPU_ERR_STATUS), ==, 1);
    test_host_free(h);
}

static void test_describe_queue_event(void)
{
    static const struct {
        MxgpuQueueEvent event;
        const char *text;
    } cases[] = {
        {{MXGPU_QEV_CREATE, 3, 0, 0, 0, 0x702}, "vmid 2 priority 7"},
        {{MXGPU_QEV_DESTROY, 3, 0, 0, 0, 0}, ""},
        {{MXGPU_QEV_ERROR, 3, 3, 0, 9, MXGPU_FAULT_BUS << 8 | MXGPU_QERR_FAULT},
         "FAULT BUS at DISPATCH"},
        {{MXGPU_QEV_PACKET_START, 3, 8, 0x11, 9, 0}, "COPY_RECT on engine 1"},
        {{MXGPU_QEV_PACKET_START, 3, 3, 0x27, 9, 0}, "DISPATCH on slot 7"},
        {{MXGPU_QEV_PACKET_START, 3, 0, 0, 9, 0}, "NOP"},
        {{MXGPU_QEV_PACKET_END, 3, 5, 0, 9, 77}, "WAIT signal 77"},
        {{MXGPU_QEV_PACKET_END, 3, 200, 0, 9, 0}, "(unknown packet) signal 0"},
        {{99, 3, 200, 0, 9, 0}, ""},
    };
    char text[MXGPU_DESCRIBE_MAX];

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        mxgpu_describe_queue_event(&cases[i].event, text, sizeof(text));
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

/* A debugger's look shows what a read then gives, and leaves no mark. */
static void test_peek(void)
{
    TestHost *h = test_host_new(true);

    test_write(h, MXGPU_MCU_SRAM_ADDR, 0);
    for (uint32_t i = 0; i < 64; i++) {
        test_write(h, MXGPU_MCU_SRAM_DATA, 0x01020304 * i);
    }
    test_write(h, MXGPU_MCU_SRAM_ADDR, 16);
    for (uint32_t offset = 0; offset < MXGPU_REGS_SIZE; offset += 4) {
        uint64_t two = mxgpu_device_mmio_peek(h->dev, offset, 8);
        uint32_t word = (uint32_t)mxgpu_device_mmio_peek(h->dev, offset, 4);
        uint32_t errors = test_read(h, MXGPU_ERR_COUNT);
        uint64_t odd = mxgpu_device_mmio_peek(h->dev, offset + 1, 3);

        g_assert_cmphex((uint32_t)two, ==, word);
        g_assert_cmphex(odd, ==, word >> 8);
        g_assert_cmpuint(test_read(h, MXGPU_ERR_COUNT), ==, errors);
        g_assert_cmphex(test_read(h, offset), ==, word);
    }
    g_assert_cmphex(mxgpu_device_mmio_peek(h->dev, MXGPU_REGS_SIZE, 8), ==, 0);
    g_assert_cmphex(mxgpu_device_mmio_peek(h->dev, UINT64_MAX, 8), ==, 0);
    test_host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/regs/identity", test_identity);
    g_test_add_func("/regs/access-rules", test_access_rules);
    g_test_add_func("/regs/counters", test_counters);
    g_test_add_func("/regs/unit-pc", test_unit_pc);
    g_test_add_func("/regs/profile", test_profile_dispatch);
    g_test_add_func("/regs/strict", test_strict_dispatch);
    g_test_add_func("/regs/bad-size", test_bad_size);
    g_test_add_func("/regs/clock-latch", test_clock_latch);
    g_test_add_func("/regs/peek", test_peek);
    g_test_add_func("/irq/error-latch", test_error_latch);
    g_test_add_func("/irq/edges", test_irq_edges);
    g_test_add_func("/irq/mailbox", test_mailbox);
    g_test_add_func("/doorbell/protocol", test_doorbells);
    g_test_add_func("/doorbell/bad", test_doorbell_bad);
    g_test_add_func("/device/config", test_config_range);
    g_test_add_func("/trace/port", test_trace_port);
    g_test_add_func("/trace/words", test_describe_queue_event);
    return g_test_run();
}
