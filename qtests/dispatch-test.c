/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels, assembled here by hand. */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "qemu/units.h"
#include "driver.h"
#include "hw/mxgpu/include/mxgpu/isa.h"

#define CODE_VA 0x500000000ull /* descriptor, then code */
#define ARGS_VA 0x510000000ull
#define DATA_VA 0x520000000ull
#define CODE_OFFSET 256

enum { zero, ra, sp, gp, tp, t0, t1, t2, s0, s1, a0, a1, a2, a3, a4 };

static uint32_t csrr(unsigned rd, unsigned csr)
{
    return csr << 20 | 2 << 12 | rd << 7 | 0x73;
}

static uint32_t op(unsigned funct7, unsigned funct3, unsigned rd, unsigned rs1,
                   unsigned rs2)
{
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33;
}

static uint32_t imm(unsigned opcode, unsigned funct3, unsigned rd,
                    unsigned rs1, int value)
{
    return (uint32_t)value << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static uint32_t store(unsigned funct3, unsigned rs1, unsigned rs2, int offset)
{
    return (uint32_t)(offset >> 5) << 25 | rs2 << 20 | rs1 << 15 |
           funct3 << 12 | (offset & 31) << 7 | 0x23;
}

#define ADD(rd, a, b)  op(0, 0, rd, a, b)
#define MUL(rd, a, b)  op(1, 0, rd, a, b)
#define ADDI(rd, a, v) imm(0x13, 0, rd, a, v)
#define SLLI(rd, a, v) imm(0x13, 1, rd, a, v)
#define LW(rd, a, v)   imm(0x03, 2, rd, a, v)
#define LD(rd, a, v)   imm(0x03, 3, rd, a, v)
#define SW(b, a, v)    store(2, a, b, v)
#define EXIT           (MXGPU_F7_EXIT << 25 | MXGPU_OPCODE_CUSTOM0)
#define BARRIER        (MXGPU_F7_BARRIER << 25 | MXGPU_OPCODE_CUSTOM0)
#define FOREVER        0x0000006fu

typedef struct Kernel {
    uint64_t code, args, data; /* VRAM, VRAM, guest memory */
    uint64_t bus;              /* of data */
    MxQueue *queue;
} Kernel;

static void setup(MxDevice *dev, Kernel *k, const uint32_t *words,
                  unsigned count)
{
    struct mxgpu_kernel_desc desc = {
        .magic = MXGPU_KERNEL_MAGIC, .abi = MXGPU_KERNEL_ABI,
        .entry = CODE_VA + CODE_OFFSET, .registers = 32,
    };

    k->code = mx_vram_alloc(dev, MX_PAGE);
    k->args = mx_vram_alloc(dev, MX_PAGE);
    k->data = mx_alloc(dev->machine, 16 * MX_PAGE);
    mx_map(dev, CODE_VA, k->code, MX_PAGE,
           MXGPU_PTE_READ | MXGPU_PTE_EXECUTE);
    mx_map(dev, ARGS_VA, k->args, MX_PAGE, MXGPU_PTE_READ);
    k->bus = mx_bus_map(dev->machine, k->data, 16 * MX_PAGE);
    mx_map(dev, DATA_VA, k->bus, 16 * MX_PAGE, MX_SYS | MXGPU_PTE_ATOMIC);
    mx_invalidate(dev);
    qtest_memwrite(dev->qts, dev->vram.addr + k->code, &desc, sizeof(desc));
    qtest_memwrite(dev->qts, dev->vram.addr + k->code + CODE_OFFSET, words,
                   4 * count);
    mx_vram_write(dev, k->args, DATA_VA);
    mx_vram_write(dev, k->args + 8, DATA_VA + 8 * MX_PAGE);
    k->queue = mx_queue_new(dev, 0);
}

static struct mxgpu_packet_dispatch dispatch(unsigned grid, unsigned block)
{
    return (struct mxgpu_packet_dispatch) {
        .type = MXGPU_PKT_DISPATCH, .kernel = CODE_VA, .args = ARGS_VA,
        .grid = { grid, 1, 1 }, .block = { block, 1, 1 },
        .signal_addr = DATA_VA + 15 * MX_PAGE, .signal_value = 1,
    };
}

static void wait_done(MxDevice *dev, Kernel *k)
{
    MX_WAIT(dev, qtest_readq(dev->qts, k->data + 15 * MX_PAGE) == 1);
}

/* out[i] = 3 * in[i] + i, one thread an element */
static void test_map(MxDevice *dev)
{
    const uint32_t code[] = {
        csrr(t0, MXGPU_CSR_TID_X),
        csrr(t1, MXGPU_CSR_NTID_X),
        csrr(t2, MXGPU_CSR_CTAID_X),
        MUL(t1, t1, t2),
        ADD(t0, t0, t1),
        LD(a1, a0, 0),
        LD(a2, a0, 8),
        SLLI(t1, t0, 2),
        ADD(a1, a1, t1),
        ADD(a2, a2, t1),
        LW(t2, a1, 0),
        ADDI(t1, zero, 3),
        MUL(t2, t2, t1),
        ADD(t2, t2, t0),
        SW(t2, a2, 0),
        EXIT,
    };
    struct mxgpu_packet_dispatch packet = dispatch(21, 96);
    Kernel k;

    setup(dev, &k, code, G_N_ELEMENTS(code));
    for (unsigned i = 0; i < 21 * 96; i++) {
        qtest_writel(dev->qts, k.data + 4 * i, i * i);
    }
    mx_push(k.queue, &packet);
    wait_done(dev, &k);
    for (unsigned i = 0; i < 21 * 96; i++) {
        g_assert_cmpuint(qtest_readl(dev->qts, k.data + 8 * MX_PAGE + 4 * i),
                         ==, 3 * i * i + i);
    }
    g_assert_cmpuint(mx_read(dev, MXGPU_COUNTER_LO +
                                  8 * MXGPU_COUNTER_BLOCKS), ==, 21);
    mx_queue_free(k.queue);
}

/* out[i] = value that thread 127 - i put into shared memory */
static void test_shared(MxDevice *dev)
{
    const uint32_t code[] = {
        csrr(t0, MXGPU_CSR_TID_X),
        (uint32_t)MXGPU_SHARED_BASE | a1 << 7 | 0x37, /* lui */
        SLLI(t1, t0, 2),
        ADD(a3, a1, t1),
        ADDI(t2, t0, 1000),
        SW(t2, a3, 0),
        BARRIER,
        ADDI(a4, zero, 127 * 4),
        op(0x20, 0, a4, a4, t1), /* sub */
        ADD(a4, a1, a4),
        LW(t2, a4, 0),
        LD(a2, a0, 8),
        ADD(a2, a2, t1),
        SW(t2, a2, 0),
        EXIT,
    };
    struct mxgpu_packet_dispatch packet = dispatch(1, 128);
    Kernel k;

    packet.dynamic_shared = 512;
    setup(dev, &k, code, G_N_ELEMENTS(code));
    mx_push(k.queue, &packet);
    wait_done(dev, &k);
    for (unsigned i = 0; i < 128; i++) {
        g_assert_cmpuint(qtest_readl(dev->qts, k.data + 8 * MX_PAGE + 4 * i),
                         ==, 1000 + 127 - i);
    }
    mx_queue_free(k.queue);
}

static struct mxgpu_queue_error expect_fault(MxDevice *dev,
                                             const uint32_t *code,
                                             unsigned count)
{
    struct mxgpu_packet_dispatch packet = dispatch(3, 64);
    struct mxgpu_queue_error error;
    Kernel k;

    setup(dev, &k, code, count);
    mx_push(k.queue, &packet);
    error = dut_queue_error(k.queue);
    g_assert_cmpuint(error.code, ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(error.packet_type, ==, MXGPU_PKT_DISPATCH);
    g_assert_cmpuint(qtest_readq(dev->qts, k.data + 15 * MX_PAGE), ==, 0);
    mx_queue_free(k.queue);
    return error;
}

static void test_bad_pointer(MxDevice *dev)
{
    const uint32_t code[] = { 0x00001537 /* lui a0, 1 */, LW(a1, a0, 4), EXIT };
    struct mxgpu_queue_error error = expect_fault(dev, code, 3);

    g_assert_cmpuint(error.fault, ==, MXGPU_FAULT_NOT_PRESENT);
    g_assert_cmphex(error.fault_addr, ==, 0x1004);
    g_assert_cmphex(error.fault_pc, ==, CODE_VA + CODE_OFFSET + 4);
    g_assert_cmpuint(error.access, ==, MXGPU_ACCESS_READ);
}

static void test_illegal(MxDevice *dev)
{
    const uint32_t code[] = { ADDI(a1, a1, 1), 0xffffffff, EXIT };
    struct mxgpu_queue_error error = expect_fault(dev, code, 3);

    g_assert_cmpuint(error.fault, ==, MXGPU_FAULT_ILLEGAL);
    g_assert_cmphex(error.fault_pc, ==, CODE_VA + CODE_OFFSET + 4);
}

/* Loads a word from the third byte of its data. */
struct mxgpu_queue_error mx_run_misaligned(MxDevice *dev, unsigned flags)
{
    const uint32_t code[] = { LD(a1, a0, 0), LW(a2, a1, 2), EXIT };
    struct mxgpu_packet_dispatch packet = dispatch(1, 64);
    struct mxgpu_queue_error error;
    uint64_t ctl;
    Kernel k;

    setup(dev, &k, code, G_N_ELEMENTS(code));
    ctl = k.queue->ctl;
    packet.flags = flags;
    mx_push(k.queue, &packet);
    MX_WAIT(dev, qtest_readq(dev->qts, k.data + 15 * MX_PAGE) == 1 ||
                 qtest_readl(dev->qts, ctl +
                             offsetof(struct mxgpu_queue_ctl, state)));
    qtest_memread(dev->qts, ctl + offsetof(struct mxgpu_queue_ctl, error),
                  &error, sizeof(error));
    mx_queue_free(k.queue);
    return error;
}

static void test_strict(MxDevice *dev)
{
    struct mxgpu_queue_error error = mx_run_misaligned(dev, 0);

    g_assert_cmpuint(error.code, ==, MXGPU_QERR_NONE);
    error = mx_run_misaligned(dev, MXGPU_PKT_STRICT_ALIGN);
    g_assert_cmpuint(error.code, ==, MXGPU_QERR_FAULT);
    g_assert_cmpuint(error.fault, ==, MXGPU_FAULT_MISALIGNED);
    g_assert_cmphex(error.fault_addr, ==, DATA_VA + 2);
    g_assert_cmphex(error.fault_pc, ==, CODE_VA + CODE_OFFSET + 4);
    g_assert_cmpuint(error.access, ==, MXGPU_ACCESS_READ);
    g_assert_cmpuint(error.thread, ==, 0);
}

static void test_bad_kernel(MxDevice *dev)
{
    const uint32_t code[] = { EXIT };
    struct mxgpu_packet_dispatch packet = dispatch(1, 64);
    Kernel k;

    setup(dev, &k, code, 1);
    mx_vram_write(dev, k.code, 0); /* no magic number */
    mx_push(k.queue, &packet);
    g_assert_cmpuint(dut_queue_error(k.queue).code, ==, MXGPU_QERR_KERNEL);
    mx_queue_free(k.queue);
}

/* An endless kernel: registers, other queues and destruction of its queue go
 * on; QEMU ends with a second one running. */
static void test_endless(MxDevice *dev)
{
    const uint32_t code[] = { FOREVER };
    struct mxgpu_packet_dispatch packet = dispatch(1, 64);
    union mxgpu_packet nop = { 0 };
    MxQueue *other;
    Kernel k;

    setup(dev, &k, code, 1);
    mx_push(k.queue, &packet);
    MX_WAIT(dev, mx_read(dev, MXGPU_COUNTER_LO +
                              8 * MXGPU_COUNTER_WARP_INSTRUCTIONS) != 0);
    other = mx_queue_new(dev, 1);
    mx_push(other, &nop);
    mx_wait_read_index(other, 1);
    mx_queue_free(k.queue);
    g_assert_cmpuint(qtest_readq(dev->qts, k.data + 15 * MX_PAGE), ==, 0);
    packet.signal_addr = 0;
    mx_push(other, &packet);
    mx_wait_read_index(other, 2);
    qtest_qmp_assert_success(dev->qts, "{'execute': 'stop'}");
    qtest_qmp_assert_success(dev->qts, "{'execute': 'cont'}");
    g_free(other);
}

/* Counts up a word of guest memory for ever. */
static void push_counter(MxDevice *dev, Kernel *k)
{
    const uint32_t code[] = {
        LD(a1, a0, 0),
        ADDI(t0, t0, 1),
        SW(t0, a1, 0),
        0xff9ff06f, /* j -8 */
    };
    struct mxgpu_packet_dispatch packet = dispatch(1, 1);

    setup(dev, k, code, G_N_ELEMENTS(code));
    mx_push(k->queue, &packet);
}

static void start_counter(MxDevice *dev, Kernel *k)
{
    push_counter(dev, k);
    MX_WAIT(dev, qtest_readl(dev->qts, k->data) > 100);
}

uint64_t mx_push_for_ever(MxDevice *dev)
{
    Kernel k;

    push_counter(dev, &k);
    g_free(k.queue);
    return k.data;
}

uint64_t mx_run_for_ever(MxDevice *dev)
{
    uint64_t word = mx_push_for_ever(dev);

    MX_WAIT(dev, qtest_readl(dev->qts, word) > 100);
    return word;
}

static void expect_still(MxDevice *dev, uint64_t addr)
{
    uint32_t before = qtest_readl(dev->qts, addr);

    for (int i = 0; i < 10; i++) {
        mx_tick(dev);
        g_usleep(2000);
        g_assert_cmpuint(qtest_readl(dev->qts, addr), ==, before);
    }
}

/* Once the invalidation is over, not one store gets through any more. */
static void test_unmap_running(MxDevice *dev)
{
    struct mxgpu_queue_error error;
    Kernel k;

    start_counter(dev, &k);
    mx_bus_unmap(dev->machine, k.bus, 16 * MX_PAGE);
    expect_still(dev, k.data);
    error = dut_queue_error(k.queue);
    g_assert_cmpuint(error.fault, ==, MXGPU_FAULT_BUS);
    g_assert_cmphex(error.fault_addr, ==, DATA_VA);
    mx_queue_free(k.queue);
}

static void test_master_running(MxDevice *dev)
{
    Kernel k;

    start_counter(dev, &k);
    qpci_config_writew(dev->pci, PCI_COMMAND, PCI_COMMAND_MEMORY);
    expect_still(dev, k.data);
    MX_WAIT(dev, MXGPU_GET(MXGPU_ERR_STATUS_BUS,
                           mx_read(dev, MXGPU_ERR_STATUS)));
    g_free(k.queue);
}

static void test_reset_running(MxDevice *dev)
{
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_EXP, 0);
    Kernel k;

    start_counter(dev, &k);
    qpci_config_writew(dev->pci, cap + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
    expect_still(dev, k.data);
    g_free(k.queue);
    mx_map_bars(dev);
    dev->dut.root = 0;
    mx_boot(dev);
    start_counter(dev, &k);
    qtest_qmp_assert_success(dev->qts, "{'execute': 'stop'}");
    expect_still(dev, k.data);
    qtest_qmp_assert_success(dev->qts, "{'execute': 'cont'}");
    g_free(k.queue);
}

void mx_dispatch_tests(void)
{
    mx_test("dispatch/map", MX_BOOTED, test_map);
    mx_test("dispatch/shared", MX_BOOTED, test_shared);
    mx_test("dispatch/bad-pointer", MX_BOOTED, test_bad_pointer);
    mx_test("dispatch/illegal", MX_BOOTED, test_illegal);
    mx_test("dispatch/strict", MX_BOOTED, test_strict);
    mx_test("dispatch/bad-kernel", MX_BOOTED, test_bad_kernel);
    mx_test("dispatch/endless", MX_BOOTED, test_endless);
    mx_test("dispatch/master-off", MX_BOOTED, test_master_running);
    mx_test("dispatch/reset", MX_BOOTED, test_reset_running);
    if (mx_env()->viommu) {
        mx_test("dispatch/unmap", MX_BOOTED, test_unmap_running);
    }
}
