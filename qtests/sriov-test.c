/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Virtual functions: enabling, what they are, that each is a device, and moves to
 * another QEMU with its card. */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "driver.h"

#define DATA_VA 0x600000000ull
#define VFS 2
#define VF_VRAM (4u << 20)

typedef struct Card {
    MxMachine *machine;
    MxDevice *pf, *vf[VFS];
    uint64_t cap; /* the SR-IOV capability, in memory-mapped space */
} Card;

/* Room for all functions' BAR of a kind, aligned to one. */
static uint64_t place_bar(Card *c, unsigned bar, uint64_t size)
{
    QPCIBus *bus = c->machine->bus;
    uint64_t at = QEMU_ALIGN_UP(bus->mmio_alloc_ptr, size);

    bus->mmio_alloc_ptr = at + size * VFS;
    qtest_writel(c->machine->qts, c->cap + PCI_SRIOV_BAR + 4 * bar, at);
    qtest_writel(c->machine->qts, c->cap + PCI_SRIOV_BAR + 4 * bar + 4,
                 at >> 32);
    return at;
}

static void enable(Card *c, bool on)
{
    qtest_writew(c->machine->qts, c->cap + PCI_SRIOV_CTRL,
                 on ? PCI_SRIOV_CTRL_VFE | PCI_SRIOV_CTRL_MSE : 0);
}

/* Its vendor is that of the physical function: a scan does not see it. */
static MxDevice *open_vf(Card *c, unsigned i, const uint64_t bars[3])
{
    MxDevice *dev = g_new0(MxDevice, 1);
    QTestState *qts = c->machine->qts;

    dev->machine = c->machine;
    dev->qts = qts;
    dev->dut = c->pf->dut;
    dev->dut.host = dev;
    dev->dut.vram_next = 64 << 10;
    dev->dut.vram_end = dev->vram_size = VF_VRAM;
    dev->pci = g_new0(QPCIDevice, 1);
    dev->pci->bus = c->machine->bus;
    dev->pci->devfn = c->pf->pci->devfn +
                      qtest_readw(qts, c->cap + PCI_SRIOV_VF_OFFSET) +
                      i * qtest_readw(qts, c->cap + PCI_SRIOV_VF_STRIDE);
    dev->regs.addr = bars[0] + i * MXGPU_REGS_SIZE;
    dev->vram.addr = bars[1] + i * VF_VRAM;
    dev->doorbells.addr = bars[2] + i * MXGPU_DOORBELL_SIZE;
    return dev;
}

static void card_open(Card *c, const MxEnv *env)
{
    g_autofree char *device = g_strdup_printf(
        "-device mxgpu,id=a,addr=4,vram=16M,compute-units=2,threads=1,vfs=%u,"
        "vf-vram=4M,vf-compute-units=1%s", VFS, env->options);
    uint64_t bars[3];

    c->machine = mx_machine_start(env, device);
    c->pf = mx_open(c->machine, 4);
    c->cap = mx_extended(c->pf, PCI_EXT_CAP_ID_SRIOV);
    bars[0] = place_bar(c, MXGPU_BAR_REGS, MXGPU_REGS_SIZE);
    bars[1] = place_bar(c, MXGPU_BAR_VRAM, VF_VRAM);
    bars[2] = place_bar(c, MXGPU_BAR_DOORBELL, MXGPU_DOORBELL_SIZE);
    qtest_writew(c->machine->qts, c->cap + PCI_SRIOV_NUM_VF, VFS);
    for (unsigned i = 0; i < VFS; i++) {
        c->vf[i] = open_vf(c, i, bars);
    }
}

static void card_close(Card *c)
{
    for (unsigned i = 0; i < VFS; i++) {
        mx_close(c->vf[i]);
    }
    mx_close(c->pf);
    mx_machine_stop(c->machine);
}

static uint32_t class_of(MxDevice *dev)
{
    return qpci_config_readl(dev->pci, PCI_CLASS_REVISION) >> 16;
}

static bool is_there(MxDevice *dev)
{
    return class_of(dev) != 0xffff;
}

static void write_word(MxDevice *dev, uint64_t value)
{
    uint64_t data = mx_alloc(dev->machine, MX_PAGE);
    struct mxgpu_packet_write packet = {
        .type = MXGPU_PKT_WRITE, .size = 8, .addr = DATA_VA, .value = value,
    };
    MxQueue *queue;

    mx_map(dev, DATA_VA, mx_bus_map(dev->machine, data, MX_PAGE), MX_PAGE,
           MX_SYS);
    mx_invalidate(dev);
    queue = mx_queue_new(dev, 1);
    mx_push(queue, &packet);
    MX_WAIT(dev, qtest_readq(dev->qts, data) == value);
    mx_queue_free(queue);
}

static void flr(MxDevice *dev)
{
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_EXP, 0);

    qpci_config_writew(dev->pci, cap + PCI_EXP_DEVCTL,
                       PCI_EXP_DEVCTL_BCR_FLR);
}

static void test_enable(MxDevice *unused)
{
    QTestState *qts;
    Card c = { 0 };

    card_open(&c, unused->machine->env);
    qts = c.machine->qts;
    g_assert_cmpuint(qtest_readw(qts, c.cap + PCI_SRIOV_TOTAL_VF), ==, VFS);
    g_assert_cmpuint(qtest_readw(qts, c.cap + PCI_SRIOV_INITIAL_VF), ==, VFS);
    g_assert_cmphex(qtest_readw(qts, c.cap + PCI_SRIOV_VF_DID), ==,
                    MXGPU_PCI_DEVICE);
    g_assert_false(is_there(c.vf[0]));
    enable(&c, true);
    for (unsigned i = 0; i < VFS; i++) {
        g_assert_cmphex(class_of(c.vf[i]), ==, MXGPU_PCI_CLASS);
        g_assert_cmphex(qpci_config_readl(c.vf[i]->pci, PCI_VENDOR_ID), ==,
                        0xffffffff);
        qpci_device_enable(c.vf[i]->pci);
        g_assert_cmphex(mx_read(c.vf[i], MXGPU_VRAM_SIZE_LO), ==, VF_VRAM);
        g_assert_cmpuint(MXGPU_GET(MXGPU_UNIT_CAPS_COMPUTE_UNITS,
                                   mx_read(c.vf[i], MXGPU_UNIT_CAPS)), ==, 1);
    }
    g_assert_false(mx_read(c.vf[0], MXGPU_UUID) ==
                       mx_read(c.vf[1], MXGPU_UUID) &&
                   mx_read(c.vf[0], MXGPU_UUID + 4) ==
                       mx_read(c.vf[1], MXGPU_UUID + 4));
    mx_vram_write(c.vf[0], 4096, 0x1111);
    mx_vram_write(c.vf[1], 4096, 0x2222);
    mx_vram_write(c.pf, 4096, 0x3333);
    g_assert_cmphex(mx_vram_read(c.vf[0], 4096), ==, 0x1111);
    g_assert_cmphex(mx_vram_read(c.vf[1], 4096), ==, 0x2222);
    enable(&c, false);
    g_assert_false(is_there(c.vf[0]));
    g_assert_false(is_there(c.vf[1]));
    g_assert_cmphex(mx_vram_read(c.pf, 4096), ==, 0x3333);
    card_close(&c);
}

/* All at once; resets of one are nothing to the others. */
static void test_work(MxDevice *unused)
{
    uint64_t word;
    uint32_t last;
    Card c = { 0 };

    card_open(&c, unused->machine->env);
    enable(&c, true);
    mx_boot(c.pf);
    for (unsigned i = 0; i < VFS; i++) {
        qpci_device_enable(c.vf[i]->pci);
        mx_boot(c.vf[i]);
        write_word(c.vf[i], 0x100 + i);
    }
    write_word(c.pf, 0x99);
    word = mx_run_for_ever(c.vf[1]);
    flr(c.vf[0]);
    g_assert_cmpuint(mx_mcu_state(c.pf), ==, MXGPU_MCU_RUNNING);
    qpci_device_enable(c.vf[0]->pci);
    g_assert_cmpuint(mx_mcu_state(c.vf[0]), ==, MXGPU_MCU_RESET);
    last = qtest_readl(c.machine->qts, word);
    MX_WAIT(c.vf[1], qtest_readl(c.machine->qts, word) != last);
    mx_boot(c.vf[0]);
    write_word(c.vf[0], 0x200);

    /* Hidden, it stands still; shown again it is as after power-on. */
    enable(&c, false);
    last = qtest_readl(c.machine->qts, word);
    mx_tick(c.pf);
    g_usleep(2000);
    g_assert_cmpuint(qtest_readl(c.machine->qts, word), ==, last);
    write_word(c.pf, 0x98);
    enable(&c, true);
    qpci_device_enable(c.vf[1]->pci);
    g_assert_cmpuint(mx_mcu_state(c.vf[1]), ==, MXGPU_MCU_RESET);
    mx_boot(c.vf[1]);
    write_word(c.vf[1], 0x201);
    flr(c.pf);
    g_assert_false(is_there(c.vf[1]));
    card_close(&c);
}

static void move(Card *c)
{
    mx_machine_move(c->machine, 0);
    c->pf->qts = c->machine->qts;
    for (unsigned i = 0; i < VFS; i++) {
        c->vf[i]->qts = c->machine->qts;
    }
}

/* In another QEMU hidden ones are hidden, and what runs on others goes on. A
 * deterministic device has QEMU's main loop while it has work, and the machine does
 * not move before that ends. */
static void test_move(MxDevice *unused)
{
    bool runs = !strstr(unused->machine->env->options, "deterministic");
    uint64_t word = 0;
    uint32_t last;
    Card c = { 0 };

    card_open(&c, unused->machine->env);
    move(&c);
    g_assert_false(is_there(c.vf[0]));
    enable(&c, true);
    mx_boot(c.pf);
    for (unsigned i = 0; i < VFS; i++) {
        qpci_device_enable(c.vf[i]->pci);
        mx_boot(c.vf[i]);
        mx_vram_write(c.vf[i], VF_VRAM - 8, 0x1111 * (i + 1));
    }
    if (runs) {
        word = mx_run_for_ever(c.vf[1]);
    }
    for (unsigned n = 0; n < 2; n++) {
        move(&c);
        if (runs) {
            last = qtest_readl(c.machine->qts, word);
            MX_WAIT(c.vf[1], qtest_readl(c.machine->qts, word) != last);
        }
        for (unsigned i = 0; i < VFS; i++) {
            g_assert_cmphex(mx_vram_read(c.vf[i], VF_VRAM - 8), ==,
                            0x1111 * (i + 1));
        }
        write_word(c.vf[0], 0x300 + n);
        write_word(c.pf, 0x400 + n);
    }
    flr(c.pf);
    g_assert_false(is_there(c.vf[1]));
    card_close(&c);
}

void mx_sriov_tests(void)
{
    if (mx_env()->express) {
        mx_test("sriov/enable", MX_BARE, test_enable);
        mx_test("sriov/work", MX_BARE, test_work);
        mx_test("sriov/move", MX_BARE, test_move);
    }
}
