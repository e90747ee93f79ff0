/* SPDX-License-Identifier: MIT */
/* The front end of the command processor, as its firmware sees it. */
#include "mxgpu/dispatch.h"
#include "test_host.h"

#define VA     0x40000000ull /* a page for all of it, at PAGE of VRAM */
#define PAGE   0x5000
#define PACKET (VA + 0x100)
#define DESC   (VA + 0x200)
#define CTL    (VA + 0x300)
#define SIGNAL (VA + 0x400)
#define LEAF   (MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE)

typedef struct Rig {
    TestHost *h;
    uint64_t root;
    struct mxgpu_packet_dispatch *packet;
    struct mxgpu_kernel_desc *desc;
    uint64_t *read_index, *signal;
} Rig;

static void *at(TestHost *h, uint64_t va)
{
    return h->vram + PAGE + (va - VA);
}

static Rig new_rig(void)
{
    TestHost *h = test_host_new(true);
    Rig r = {.h = h,
             .root = test_root(h),
             .packet = at(h, PACKET),
             .desc = at(h, DESC),
             .read_index = at(h, CTL),
             .signal = at(h, SIGNAL)};

    test_map(h, r.root, VA, 0, LEAF | PAGE);
    mcu_write64(h, MXGPU_MMU_ROOT_LO + 3 * MXGPU_MMU_ROOT_LO_STRIDE, r.root);
    *r.packet = (struct mxgpu_packet_dispatch){
        .type = MXGPU_PKT_DISPATCH,
        .flags = MXGPU_PKT_IRQ | MXGPU_PKT_STRICT_ALIGN,
        .dynamic_shared = 100,
        .kernel = DESC,
        .args = 0x1230,
        .grid = {2, 3, 4},
        .block = {16, 4, 2},
        .signal_addr = SIGNAL,
        .signal_value = 0x1122334455667788ull,
    };
    *r.desc = (struct mxgpu_kernel_desc){
        .magic = MXGPU_KERNEL_MAGIC,
        .abi = MXGPU_KERNEL_ABI,
        .entry = 0x7000001000ull,
        .static_shared = 256,
        .private_bytes = 10000,
        .registers = 40,
    };
    mcu_write64(h, MXGPU_FE_PACKET_LO, PACKET);
    mcu_write64(h, MXGPU_FE_CTL_LO, CTL);
    mcu_write64(h, MXGPU_FE_INDEX_LO, 0x500000007ull);
    mcu_write(h, MXGPU_FE_CFG,
              3 | 2 << 4 | 39 << 8 | 6 << 16 | 1 << 24); /* vector 6 */
    return r;
}

static uint32_t launch(const Rig *r, uint32_t command)
{
    mcu_write(r->h, MXGPU_FE_LAUNCH, command);
    return mcu_read(r->h, MXGPU_FE_RESULT);
}

static uint32_t retire(const Rig *r, uint32_t slot)
{
    mcu_write(r->h, MXGPU_FE_RETIRE, slot);
    return mcu_read(r->h, MXGPU_FE_RESULT);
}

#define PUBLISH (1u << MXGPU_FE_LAUNCH_PUBLISH_SHIFT)
#define BUSY    (1u << MXGPU_FE_LAUNCH_BUSY_SHIFT)

static void test_through(void)
{
    Rig r = new_rig();
    const MxgpuDispatch *d = &fake_simt.dispatch[5];

    g_assert_cmphex(launch(&r, 0xe0 | PUBLISH), ==,
                    MXGPU_FRONT_LAUNCHED | 5 << 8 |
                        (uint32_t)r.packet->flags << 16);
    g_assert_true(fake_simt.running[5]);
    g_assert_cmphex(*r.read_index, ==, 0x500000007ull);
    g_assert_cmphex(d->entry, ==, 0x7000001000ull);
    g_assert_cmphex(d->args, ==, 0x1230);
    g_assert_cmpuint(d->grid[0] * 100 + d->grid[1] * 10 + d->grid[2], ==, 234);
    g_assert_cmpuint(d->block[0] + d->block[1] + d->block[2], ==, 22);
    g_assert_cmpuint(d->shared, ==, 356);
    g_assert_cmpuint(d->shared_static, ==, 256);
    g_assert_cmpuint(d->private_bytes, ==, 10240);
    g_assert_cmpuint(d->vmid, ==, 3);
    g_assert_cmpuint(d->priority, ==, 2);
    g_assert_cmpuint(d->registers, ==, 40);
    g_assert_cmpuint(d->queue, ==, 39);
    g_assert_true(d->strict_align && !d->cooperative && !d->fp_flags);

    g_assert_cmphex(retire(&r, 5), ==, MXGPU_FRONT_OTHER); /* it runs */
    g_assert_cmphex(*r.signal, ==, 0);
    fake_simt_finish(5, (MxgpuDispatchFault){0});
    g_assert_cmphex(mcu_read(r.h, MXGPU_INT_PENDING), ==, 8 | 0x20 << 8);
    g_assert_cmphex(retire(&r, 5), ==, MXGPU_FRONT_RETIRED);
    g_assert_cmphex(*r.signal, ==, 0x1122334455667788ull);
    g_assert_cmpuint(r.h->irqs[6], ==, 1);
    g_assert_cmphex(mcu_read(r.h, MXGPU_INT_PENDING), ==, 0);
    g_assert_cmphex(mcu_read(r.h, MXGPU_CD_STATUS + 5 * MXGPU_CD_STATUS_STRIDE),
                    ==, MXGPU_UNIT_IDLE);
    g_assert_cmphex(retire(&r, 5), ==, MXGPU_FRONT_OTHER); /* once */
    g_assert_cmpuint(r.h->irqs[6], ==, 1);
    g_assert_cmphex(test_read(r.h, MXGPU_ERR_STATUS), ==, 0);
    test_host_free(r.h);
}

/* Without PUBLISH, a signal, a vector. */
static void test_quiet(void)
{
    Rig r = new_rig();

    r.packet->signal_addr = 0;
    mcu_write(r.h, MXGPU_FE_CFG, 3);
    g_assert_cmphex(launch(&r, 1) & 0xff, ==, MXGPU_FRONT_LAUNCHED);
    fake_simt_finish(0, (MxgpuDispatchFault){0});
    g_assert_cmphex(retire(&r, 0), ==, MXGPU_FRONT_RETIRED);
    g_assert_cmphex(*r.read_index | *r.signal, ==, 0);
    for (unsigned i = 0; i < 8; i++) {
        g_assert_cmpuint(r.h->irqs[i], ==, 0);
    }
    test_host_free(r.h);
}

static void test_later(void)
{
    Rig r = new_rig();

    r.packet->flags = MXGPU_PKT_BARRIER;
    g_assert_cmphex(launch(&r, 0xff | BUSY | PUBLISH) & 0xff, ==,
                    MXGPU_FRONT_BARRIER);
    g_assert_cmphex(launch(&r, PUBLISH) & 0xff, ==, MXGPU_FRONT_NO_SLOT);
    g_assert_cmphex(*r.read_index, ==, 0);
    for (unsigned i = 0; i < 8; i++) {
        g_assert_false(fake_simt.running[i]);
    }
    r.packet->flags = 0;
    g_assert_cmphex(launch(&r, 1 | BUSY) & 0xff, ==, MXGPU_FRONT_LAUNCHED);
    g_assert_cmphex(launch(&r, 1), ==, MXGPU_FRONT_OTHER); /* not idle */
    test_host_free(r.h);
}

/* What is for the firmware leaves no trace. */
static void expect_other(Rig *r)
{
    g_assert_cmphex(launch(r, 0xff | PUBLISH), ==, MXGPU_FRONT_OTHER);
    g_assert_false(fake_simt.running[0]);
    g_assert_cmphex(*r->read_index | *r->signal, ==, 0);
    g_assert_cmphex(test_read(r->h, MXGPU_ERR_STATUS), ==, 0);
    test_host_free(r->h);
}

#define EXPECT_OTHER(statement)                                                \
    do {                                                                       \
        Rig r = new_rig();                                                     \
        statement;                                                             \
        expect_other(&r);                                                      \
    } while (0)

static void test_other(void)
{
    static const uint16_t flags[] = {
        MXGPU_PKT_COOPERATIVE, MXGPU_PKT_PROFILE, MXGPU_PKT_LAUNCHES,
        MXGPU_PKT_RECOVER, /* while there is no fault ring */
        0x80,
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(flags); i++) {
        EXPECT_OTHER(r.packet->flags = flags[i]);
    }
    EXPECT_OTHER(r.packet->type = MXGPU_PKT_NOP);
    EXPECT_OTHER(r.packet->args = 8);
    EXPECT_OTHER(r.packet->grid[1] = 0);
    EXPECT_OTHER(r.packet->block[0] = 129);
    EXPECT_OTHER(r.packet->block[2] = 0);
    EXPECT_OTHER(r.packet->private_kib = 1025);
    EXPECT_OTHER(r.packet->reserved = 1);
    EXPECT_OTHER(r.packet->signal_addr = SIGNAL + 4);
    EXPECT_OTHER(r.packet->kernel = VA + 0x1000);
    EXPECT_OTHER(r.packet->dynamic_shared = UINT32_MAX);
    EXPECT_OTHER(r.desc->magic = 0);
    EXPECT_OTHER(r.desc->max_threads = 127);
    EXPECT_OTHER(r.desc->registers = 256);
    EXPECT_OTHER(r.desc->reserved = 1);
    EXPECT_OTHER(mcu_write64(r.h, MXGPU_FE_PACKET_LO, PACKET + 32));
    EXPECT_OTHER(mcu_write64(r.h, MXGPU_FE_PACKET_LO, VA + 0x1000));
    EXPECT_OTHER(mcu_write64(r.h, MXGPU_FE_CTL_LO, VA + 0x1000));
    EXPECT_OTHER(mcu_write(r.h, MXGPU_FE_CFG, 4));
}

/* The slot stays as it is for the firmware when its packet cannot be ended. */
static void test_not_ended(void)
{
    Rig r = new_rig();

    g_assert_cmphex(launch(&r, 1) & 0xff, ==, MXGPU_FRONT_LAUNCHED);
    fake_simt_finish(0, (MxgpuDispatchFault){.code = MXGPU_FAULT_BARRIER});
    g_assert_cmphex(retire(&r, 0), ==, MXGPU_FRONT_OTHER);
    mcu_write(r.h, MXGPU_CD_CTRL, 1u << MXGPU_CD_CTRL_ACK_SHIFT);

    r.packet->signal_addr = VA + 0x1000;
    g_assert_cmphex(launch(&r, 1) & 0xff, ==, MXGPU_FRONT_LAUNCHED);
    fake_simt_finish(0, (MxgpuDispatchFault){0});
    g_assert_cmphex(retire(&r, 0), ==, MXGPU_FRONT_OTHER);
    g_assert_cmphex(mcu_read(r.h, MXGPU_CD_STATUS), ==, MXGPU_UNIT_DONE);
    g_assert_cmphex(mcu_read(r.h, MXGPU_FE_SIGNAL_LO), ==, VA + 0x1000);
    g_assert_cmphex(mcu_read(r.h, MXGPU_FE_VALUE_HI), ==, 0x11223344);
    mcu_write(r.h, MXGPU_CD_CTRL, 1u << MXGPU_CD_CTRL_ACK_SHIFT);

    /* What the firmware starts by itself is not the front end's. */
    mcu_write(r.h, MXGPU_CD_CTRL, 1u << MXGPU_CD_CTRL_START_SHIFT);
    fake_simt_finish(0, (MxgpuDispatchFault){0});
    g_assert_cmphex(retire(&r, 0), ==, MXGPU_FRONT_OTHER);
    g_assert_cmphex(retire(&r, 8), ==, MXGPU_FRONT_OTHER);
    g_assert_cmphex(retire(&r, UINT32_MAX), ==, MXGPU_FRONT_OTHER);
    g_assert_cmphex(*r.signal, ==, 0);
    test_host_free(r.h);
}

/* ---- chains */

/* Packets with BARRIER behind the rig's, up to the descriptor. */
#define PACKETS  4
#define CHAIN(n) (1u | (uint32_t)(n) << MXGPU_FE_LAUNCH_CHAIN_SHIFT)

static Rig new_list(void)
{
    Rig r = new_rig();

    r.packet->signal_addr = 0;
    r.packet->flags = 0;
    for (unsigned i = 1; i < PACKETS; i++) {
        r.packet[i] = r.packet[0];
        r.packet[i].flags = MXGPU_PKT_BARRIER;
        r.packet[i].args = 0x1230 + 16 * i;
    }
    mcu_write(r.h, MXGPU_FE_CTL_LO, 0); /* nothing is published */
    mcu_write(r.h, MXGPU_INT_ENABLE, 0xf);
    return r;
}

static void finish(const Rig *r, enum mxgpu_fault code)
{
    fake_simt_finish(0, (MxgpuDispatchFault){.code = code});
    test_run(r->h);
}

/* The slot runs packet n, or has ended there, and so many may follow. */
static void expect_at(const Rig *r, unsigned n, bool runs, unsigned left)
{
    g_assert_true(fake_simt.running[0] == runs);
    g_assert_cmphex(fake_simt.dispatch[0].args, ==, 0x1230 + 16 * n);
    g_assert_cmphex(mcu_read(r->h, MXGPU_FE_CHAIN), ==, left | n << 16);
    g_assert_cmphex(mcu_read(r->h, MXGPU_INT_PENDING) >> 8 & 1, ==, !runs);
}

static void test_chain(void)
{
    Rig r = new_list();

    r.packet[3].flags |= MXGPU_PKT_IRQ;
    r.packet[3].signal_addr = SIGNAL;
    g_assert_cmphex(launch(&r, CHAIN(9)), ==, MXGPU_FRONT_CHAINED);
    /* Another queue has the front end's attention meanwhile. */
    mcu_write(r.h, MXGPU_FE_CFG, 4);
    for (unsigned i = 0; i < 3; i++) {
        expect_at(&r, i, true, 9 - i);
        finish(&r, MXGPU_FAULT_NONE);
        g_assert_cmpuint(fake_simt.dispatch[0].vmid, ==, 3);
        g_assert_cmpuint(fake_simt.dispatch[0].priority, ==, 2);
        g_assert_cmpuint(fake_simt.dispatch[0].queue, ==, 39);
    }
    expect_at(&r, 3, true, 0); /* who waits for its signal is not known here */
    finish(&r, MXGPU_FAULT_NONE);
    expect_at(&r, 3, false, 0);
    g_assert_cmphex(*r.signal, ==, 0);
    g_assert_cmphex(retire(&r, 0), ==, MXGPU_FRONT_RETIRED);
    g_assert_cmphex(*r.signal, ==, 0x1122334455667788ull);
    g_assert_cmpuint(r.h->irqs[6], ==, 1);
    g_assert_cmphex(mcu_read(r.h, MXGPU_FE_CHAIN), ==, 0);
    test_host_free(r.h);
}

static void test_chain_count(void)
{
    Rig r = new_list();

    g_assert_cmphex(launch(&r, CHAIN(1)), ==, MXGPU_FRONT_CHAINED);
    finish(&r, MXGPU_FAULT_NONE);
    expect_at(&r, 1, true, 0);
    finish(&r, MXGPU_FAULT_NONE);
    expect_at(&r, 1, false, 0);
    test_host_free(r.h);
}

/* What does not begin a chain is launched alone. */
static void expect_alone(Rig *r, uint32_t command)
{
    g_assert_cmphex(launch(r, command) & 0xff, ==, MXGPU_FRONT_LAUNCHED);
    finish(r, MXGPU_FAULT_NONE);
    expect_at(r, 0, false, 0);
    test_host_free(r->h);
}

#define EXPECT_ALONE(command, statement)                                       \
    do {                                                                       \
        Rig r = new_list();                                                    \
        statement;                                                             \
        expect_alone(&r, command);                                             \
    } while (0)

static void test_chain_not(void)
{
    EXPECT_ALONE(CHAIN(0), (void)0);
    EXPECT_ALONE(CHAIN(3) | BUSY, (void)0);
    EXPECT_ALONE(CHAIN(3), r.packet[0].signal_addr = SIGNAL);
    EXPECT_ALONE(CHAIN(3), r.packet[0].flags = MXGPU_PKT_IRQ);
    EXPECT_ALONE(CHAIN(3), r.packet[1].flags = 0);
    EXPECT_ALONE(CHAIN(3), r.packet[1].flags |= MXGPU_PKT_PROFILE);
    EXPECT_ALONE(CHAIN(3), r.packet[1].type = MXGPU_PKT_NOP);
}

/* What ends one leaves the slot at the packet before. */
static void expect_end(Rig *r)
{
    g_assert_cmphex(launch(r, CHAIN(3)), ==, MXGPU_FRONT_CHAINED);
    finish(r, MXGPU_FAULT_NONE);
    expect_at(r, 1, true, 2);
    finish(r, MXGPU_FAULT_NONE);
    expect_at(r, 1, false, 0);
    g_assert_cmphex(mcu_read(r->h, MXGPU_CD_STATUS), ==, MXGPU_UNIT_DONE);
    g_assert_cmphex(retire(r, 0), ==, MXGPU_FRONT_RETIRED);
    test_host_free(r->h);
}

#define EXPECT_END(statement)                                                  \
    do {                                                                       \
        Rig r = new_list();                                                    \
        statement;                                                             \
        expect_end(&r);                                                        \
    } while (0)

static void test_chain_ends(void)
{
    Rig r;

    EXPECT_END(r.packet[2].type = MXGPU_PKT_COPY);
    EXPECT_END(r.packet[2].flags = 0);
    EXPECT_END(r.packet[2].flags |= MXGPU_PKT_COOPERATIVE);
    EXPECT_END(r.packet[2].grid[0] = 0);
    EXPECT_END(r.packet[2].kernel = VA + 0x1000);
    EXPECT_END(r.packet[2].signal_addr = SIGNAL + 4);

    r = new_list();
    g_assert_cmphex(launch(&r, CHAIN(3)), ==, MXGPU_FRONT_CHAINED);
    finish(&r, MXGPU_FAULT_NONE);
    finish(&r, MXGPU_FAULT_BARRIER);
    expect_at(&r, 1, false, 0);
    g_assert_cmpuint(mcu_read(r.h, MXGPU_CD_STATUS) & 0xff, ==,
                     MXGPU_UNIT_FAULT);
    test_host_free(r.h);
}

/* The firmware wants the slot's room for others. */
static void test_chain_held(void)
{
    Rig r = new_list();

    g_assert_cmphex(launch(&r, CHAIN(3)), ==, MXGPU_FRONT_CHAINED);
    mcu_write(r.h, MXGPU_CD_HOLD, 1);
    finish(&r, MXGPU_FAULT_NONE);
    expect_at(&r, 0, false, 0);
    mcu_write(r.h, MXGPU_CD_HOLD, 0);
    test_host_free(r.h);
}

/* Aborts, while a packet runs and between two of them. */
static void test_chain_abort(void)
{
    Rig r = new_list();

    g_assert_cmphex(launch(&r, CHAIN(3)), ==, MXGPU_FRONT_CHAINED);
    mcu_write(r.h, MXGPU_CD_CTRL, 1u << MXGPU_CD_CTRL_ABORT_SHIFT);
    test_run(r.h);
    expect_at(&r, 0, false, 0);
    g_assert_cmpuint(mcu_read(r.h, MXGPU_CD_STATUS) & 0xff, ==,
                     MXGPU_UNIT_FAULT);
    test_host_free(r.h);

    r = new_list();
    g_assert_cmphex(launch(&r, CHAIN(3)), ==, MXGPU_FRONT_CHAINED);
    fake_simt_finish(0, (MxgpuDispatchFault){0});
    g_assert_cmphex(mcu_read(r.h, MXGPU_INT_PENDING), ==, 0);
    mcu_write(r.h, MXGPU_CD_CTRL, 1u << MXGPU_CD_CTRL_ABORT_SHIFT);
    test_run(r.h);
    expect_at(&r, 0, false, 0);
    g_assert_cmphex(mcu_read(r.h, MXGPU_CD_STATUS), ==, MXGPU_UNIT_DONE);
    test_host_free(r.h);
}

/* DB_NEXT: each ring once, the first queue first; looking changes nothing. */
static void test_doorbells(void)
{
    TestHost *h = test_host_new(true);

    g_assert_cmphex(mcu_read(h, MXGPU_DB_NEXT), ==, UINT32_MAX);
    mxgpu_device_doorbell_write(h->dev, 35 * 4096, 9, 8); /* not enabled */
    g_assert_false(fake_simt.expected);
    mcu_write(h, MXGPU_DB_ENABLE, UINT32_MAX);
    mcu_write(h, MXGPU_DB_ENABLE + 4, UINT32_MAX);
    mxgpu_device_doorbell_write(h->dev, 35 * 4096, 9, 8);
    g_assert_true(fake_simt.expected); /* there may be a grid soon */
    mxgpu_device_doorbell_write(h->dev, 3 * 4096, 7, 8);
    mxgpu_device_doorbell_write(h->dev, 3 * 4096, 8, 8);
    mcu_write(h, MXGPU_INT_ENABLE, 0xf);
    g_assert_true(fake_mcu.external);
    g_assert_cmpuint(mcu_read(h, MXGPU_DB_NEXT), ==, 3);
    g_assert_true(fake_mcu.external);
    g_assert_cmphex(mcu_read(h, MXGPU_DB_PENDING), ==, 0);
    g_assert_cmpuint(mcu_read(h, MXGPU_DB_VALUE_LO + 3 * 8), ==, 8);
    g_assert_cmpuint(mcu_read(h, MXGPU_DB_NEXT), ==, 35);
    g_assert_false(fake_mcu.external); /* the line falls with the last one */
    g_assert_cmphex(mcu_read(h, MXGPU_DB_NEXT), ==, UINT32_MAX);
    test_host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/front/through", test_through);
    g_test_add_func("/front/quiet", test_quiet);
    g_test_add_func("/front/later", test_later);
    g_test_add_func("/front/other", test_other);
    g_test_add_func("/front/not-ended", test_not_ended);
    g_test_add_func("/front/chain", test_chain);
    g_test_add_func("/front/chain-count", test_chain_count);
    g_test_add_func("/front/chain-not", test_chain_not);
    g_test_add_func("/front/chain-ends", test_chain_ends);
    g_test_add_func("/front/chain-held", test_chain_held);
    g_test_add_func("/front/chain-abort", test_chain_abort);
    g_test_add_func("/front/doorbells", test_doorbells);
    return g_test_run();
}
