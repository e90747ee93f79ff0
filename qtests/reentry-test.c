/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vIOMMU that writes when it translates, to where the guest wants it. A
 * virtio-iommu reports faults into a buffer of its driver's: here that buffer
 * is configuration space, so that an access of the device resets, stops or
 * unplugs the device while the access waits for its translation.
 */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "standard-headers/linux/virtio_iommu.h"
#include "viommu.h"

#define PORT_SLOT  5
#define PORT_BUS   1
#define VA         0x1000
#define FAULT_VA   0x2000
#define OUT_VA     0x3000
#define IOVA       0x50000000ull
#define IOVA_USED  0x60000000ull
/* What a fault's address brings is written here, and 16 bytes before it. */
#define ADDRESS_AT offsetof(struct virtio_iommu_fault, address)
#define OPTIONS    "vram=16M,compute-units=2,threads=2%s"

/* ---- firmware ------------------------------------------------------------ */

enum { zero, s0 = 8, s1 = 9, t0 = 5, t1 = 6, t2 = 7 };

typedef struct Code {
    uint32_t words[100];
    unsigned n;
} Code;

static void emit(Code *c, uint32_t word)
{
    g_assert_cmpuint(c->n, <, G_N_ELEMENTS(c->words));
    c->words[c->n++] = word;
}

static void set(Code *c, unsigned rd, uint32_t value)
{
    emit(c, ((value + 0x800) & 0xfffff000) | rd << 7 | 0x37);
    emit(c, value << 20 | rd << 15 | rd << 7 | 0x13);
}

/* Of the memory port's registers. */
static void put(Code *c, unsigned rs, uint32_t reg)
{
    uint32_t offset = reg - MXGPU_MEM_ADDR_LO;

    emit(c, offset >> 5 << 25 | rs << 20 | s0 << 15 | 2 << 12 |
            (offset & 31) << 7 | 0x23);
}

/* beq (0), bne (1), blt (4) to a word of the code. */
static void branch(Code *c, unsigned funct3, unsigned a, unsigned b,
                   unsigned to)
{
    uint32_t by = 4 * (to - c->n);

    emit(c, (by >> 12 & 1) << 31 | (by >> 5 & 63) << 25 | b << 20 | a << 15 |
            funct3 << 12 | (by >> 1 & 15) << 8 | (by >> 11 & 1) << 7 | 0x63);
}

static void jump(Code *c, unsigned to)
{
    branch(c, 0, zero, zero, to);
}

/* Between MEM_BUF and virtual address va. */
static void move(Code *c, enum mxgpu_mem_op op, uint32_t va, unsigned size)
{
    set(c, t1, va);
    put(c, t1, MXGPU_MEM_ADDR_LO);
    set(c, t1, MXGPU_SET(MXGPU_MEM_CMD_OP, op) |
               MXGPU_SET(MXGPU_MEM_CMD_SIZE, size) |
               MXGPU_SET(MXGPU_MEM_CMD_VMID, 1));
    put(c, t1, MXGPU_MEM_CMD);
}

/* The word at va = rs */
static void store_word(Code *c, unsigned rs, uint32_t va)
{
    put(c, rs, MXGPU_MEM_BUF);
    move(c, MXGPU_MEM_WRITE, va, 4);
}

/* Makes the page table that VMID 1 has from then on, and s0. */
static void begin(Code *c, MxDevice *dev)
{
    dev->dut.root = mx_vram_alloc(dev, MX_PAGE);
    set(c, t0, MXGPU_MCU_REGS_BASE + MXGPU_MMU_ROOT_LO +
               MXGPU_MMU_ROOT_LO_STRIDE);
    set(c, t1, dev->dut.root | MXGPU_PTE_TABLE | MXGPU_PTE_VALID);
    emit(c, t1 << 20 | t0 << 15 | 2 << 12 | 0x23);          /* sw t1, 0(t0) */
    emit(c, zero << 20 | t0 << 15 | 2 << 12 | 4 << 7 | 0x23); /* sw 0, 4(t0) */
    set(c, s0, MXGPU_MCU_REGS_BASE + MXGPU_MEM_ADDR_LO);
    put(c, zero, MXGPU_MEM_ADDR_HI);
}

/* Reads the byte at bus address bus: two translations, of its page and of the
 * byte itself. */
static void read_byte(MxDevice *dev, uint64_t bus)
{
    Code c = { 0 };

    begin(&c, dev);
    mx_map(dev, VA, bus & ~(MX_PAGE - 1ull), MX_PAGE, MX_SYS);
    move(&c, MXGPU_MEM_READ, VA + bus % MX_PAGE, 1);
    jump(&c, c.n); /* for ever */
    mx_load_code(dev, c.words, c.n);
}

/* ---- tests --------------------------------------------------------------- */

static bool was_reset(MxDevice *dev)
{
    return !(qpci_config_readw(dev->pci, PCI_COMMAND) & PCI_COMMAND_MEMORY);
}

static MxMachine *start(MxDevice *unused, const char *more)
{
    g_autofree char *devices = g_strdup_printf(
        "-device virtio-iommu-pci,addr=%d %s", MX_VIOMMU_SLOT, more);

    return mx_machine_start(unused->machine->env, devices);
}

static MxMachine *start_one(MxDevice *unused)
{
    g_autofree char *device = g_strdup_printf(
        "-device mxgpu,addr=%d," OPTIONS, MX_SLOT,
        unused->machine->env->options);

    return start(unused, device);
}

static void stop(MxMachine *machine, MxViommu *iommu)
{
    mx_viommu_free(iommu);
    mx_machine_stop(machine);
}

static void test_flr(MxDevice *unused)
{
    MxMachine *machine = start_one(unused);
    MxDevice *dev = mx_open(machine, MX_SLOT);
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_EXP, 0);
    MxViommu *iommu = mx_viommu_start(
        machine, mx_ecam(0, MX_SLOT, cap + PCI_EXP_DEVCTL - ADDRESS_AT));

    read_byte(dev, 0x40000000 | PCI_EXP_DEVCTL_BCR_FLR);
    MX_WAIT(dev, was_reset(dev));
    mx_map_bars(dev);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_RESET);
    g_assert_cmpuint(MXGPU_GET(MXGPU_RESET_STATUS_CAUSE,
                               mx_read(dev, MXGPU_RESET_STATUS)), ==,
                     MXGPU_RESET_BUS);
    /* and life goes on */
    mx_viommu_bypass(iommu);
    dev->dut.root = 0;
    mx_boot(dev);
    mx_close(dev);
    stop(machine, iommu);
}

static void test_sleep(MxDevice *unused)
{
    MxMachine *machine = start_one(unused);
    MxDevice *dev = mx_open(machine, MX_SLOT);
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_PM, 0);
    MxViommu *iommu = mx_viommu_start(
        machine, mx_ecam(0, MX_SLOT, cap + PCI_PM_CTRL - ADDRESS_AT));

    read_byte(dev, 0x40000003); /* D3hot */
    MX_WAIT(dev, qpci_config_readw(dev->pci, cap + PCI_PM_CTRL) & 3);
    qpci_config_writew(dev->pci, cap + PCI_PM_CTRL, 0);
    mx_map_bars(dev);
    MX_WAIT(dev, mx_mcu_state(dev) == MXGPU_MCU_RESET);
    mx_close(dev);
    stop(machine, iommu);
}

/* The device is behind a port that is made to switch its slot off. */
static void test_unplug(MxDevice *unused)
{
    g_autofree char *devices = g_strdup_printf(
        "-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off "
        "-device pcie-root-port,id=port1,addr=%d,chassis=1 "
        "-device mxgpu,id=gpu,bus=port1," OPTIONS, PORT_SLOT,
        unused->machine->env->options);
    MxMachine *machine = start(unused, devices);
    QPCIDevice *port = qpci_device_find(machine->bus,
                                        QPCI_DEVFN(PORT_SLOT, 0));
    uint8_t cap = qpci_find_capability(port, PCI_CAP_ID_EXP, 0);
    MxDevice *dev;
    MxViommu *iommu;

    qpci_config_writel(port, PCI_PRIMARY_BUS, PORT_BUS << 8 | PORT_BUS << 16);
    qpci_config_writel(port, PCI_MEMORY_BASE, 0xeff0e000);
    qpci_device_enable(port);
    dev = mx_open(machine, QPCI_DEVFN(0, 0) | PORT_BUS << 5);
    iommu = mx_viommu_start(
        machine, mx_ecam(0, PORT_SLOT, cap + PCI_EXP_SLTCTL - ADDRESS_AT));
    read_byte(dev, 0x40000000 | PCI_EXP_SLTCTL_PCC | PCI_EXP_SLTCTL_PIC);
    qtest_qmp_eventwait(machine->qts, "DEVICE_DELETED");
    g_assert_null(qpci_device_find(machine->bus, PORT_BUS << 8));
    mx_close(dev);
    g_free(port);
    stop(machine, iommu);
}

/* ---- reports in the midst of an unmap ------------------------------------ */

/* t2 = a register of the memory port */
static void get(Code *c, uint32_t reg)
{
    emit(c, (reg - MXGPU_MEM_ADDR_LO) << 20 | s0 << 15 | 2 << 12 | t2 << 7 |
            0x03);
}

/* Waits until that many requests were taken, reads a byte at bus, and writes 1
 * at OUT_VA; 2, when the count could not be read any more. Returns when it
 * waits. */
static void read_during(MxDevice *dev, uint16_t taken, uint64_t bus,
                        uint64_t out)
{
    Code c = { 0 };
    unsigned poll, late;

    begin(&c, dev);
    mx_map(dev, VA, IOVA_USED, MX_PAGE, MX_SYS);
    mx_map(dev, FAULT_VA, bus & ~(MX_PAGE - 1ull), MX_PAGE, MX_SYS);
    mx_map(dev, OUT_VA, out, MX_PAGE, MX_RW);
    store_word(&c, s0, OUT_VA + 8);
    set(&c, s1, taken);
    branch(&c, 0, zero, zero, c.n + 11);
    late = c.n;
    set(&c, t2, 2);
    store_word(&c, t2, OUT_VA);
    jump(&c, c.n);
    poll = c.n;
    g_assert_cmpuint(poll, ==, late + 10);
    move(&c, MXGPU_MEM_READ, VA + MX_VIOMMU_TAKEN, 2);
    get(&c, MXGPU_MEM_STATUS);
    branch(&c, 1, t2, zero, late);
    get(&c, MXGPU_MEM_BUF);
    emit(&c, 0x20u << 25 | s1 << 20 | t2 << 15 | t2 << 7 | 0x33);  /* sub s1 */
    emit(&c, 16 << 20 | t2 << 15 | 1 << 12 | t2 << 7 | 0x13); /* slli t2, 16 */
    branch(&c, 4, t2, zero, poll);                           /* blt */
    move(&c, MXGPU_MEM_READ, FAULT_VA + bus % MX_PAGE, 1);
    set(&c, t2, 1);
    store_word(&c, t2, OUT_VA);
    jump(&c, c.n);
    mx_load_code(dev, c.words, c.n);
    MX_WAIT(dev, mx_vram_read(dev, out + 8));
}

/*
 * Has the device fault while an unmap waits for it. Its first report goes to
 * where the unmap's answer is written, which tells what came first; the second
 * resets it. False: the unmap was done too early for the device.
 */
static bool try_guarded(MxDevice *unused)
{
    MxMachine *machine = start_one(unused);
    MxDevice *dev = mx_open(machine, MX_SLOT);
    uint8_t cap = qpci_find_capability(dev->pci, PCI_CAP_ID_EXP, 0);
    MxViommu *iommu = mx_viommu_start(
        machine, mx_ecam(0, MX_SLOT, cap + PCI_EXP_DEVCTL - ADDRESS_AT));
    uint64_t out = mx_vram_alloc(dev, MX_PAGE), answer;
    uint64_t page = mx_alloc(machine, MX_PAGE);
    bool reset, during;

    mx_viommu_attach(iommu, MX_SLOT);
    mx_viommu_map(iommu, IOVA_USED, iommu->requests.used, MX_PAGE);
    mx_viommu_hold(iommu);
    for (unsigned i = 0; i < MX_VIOMMU_RING / 2 - 1; i++) { /* take time */
        mx_viommu_map(iommu, IOVA + i * MX_PAGE, page, MX_PAGE);
    }
    mx_viommu_unmap(iommu, IOVA_USED, MX_PAGE); /* which the device uses */
    answer = mx_viommu_answer(iommu);
    mx_viommu_report_to(iommu, answer);
    read_during(dev, iommu->count - iommu->held + 1,
                0x40000000 | PCI_EXP_DEVCTL_BCR_FLR, out);
    mx_viommu_release(iommu);
    MX_WAIT(dev, (reset = was_reset(dev)) || mx_vram_read(dev, out));
    during = qtest_readb(machine->qts, answer) == VIRTIO_IOMMU_S_OK;
    g_assert_false(reset && during);
    if (during && mx_vram_read(dev, out) == 1) {
        g_assert_cmpuint(mx_viommu_reports(iommu), ==, 2);
    } else {
        during = false;
    }
    mx_close(dev);
    stop(machine, iommu);
    return during;
}

/* Who waits for the device serves its translations meanwhile, but what these
 * write does not reach configuration space. */
static void test_guarded(MxDevice *unused)
{
    int64_t deadline = dut_deadline();

    while (!try_guarded(unused)) {
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
    }
}

/* ---- translations in the midst of an unmap ------------------------------- */

/* Copies a word at VA to OUT_VA all the time, and counts behind that. */
static void copy_word(MxDevice *dev, uint64_t out)
{
    Code c = { 0 };
    unsigned loop;

    begin(&c, dev);
    mx_map(dev, VA, IOVA, MX_PAGE, MX_SYS);
    mx_map(dev, OUT_VA, out, MX_PAGE, MX_RW);
    loop = c.n;
    move(&c, MXGPU_MEM_READ, VA, 4); /* MEM_BUF stays when it faults */
    move(&c, MXGPU_MEM_WRITE, OUT_VA, 4);
    emit(&c, 1 << 20 | s1 << 15 | s1 << 7 | 0x13); /* addi s1, s1, 1 */
    store_word(&c, s1, OUT_VA + 8);
    jump(&c, loop);
    mx_load_code(dev, c.words, c.n);
}

/* What it copied last, when all of that happened from now on. */
static uint32_t copied(MxDevice *dev, uint64_t out)
{
    uint32_t start = mx_vram_read(dev, out + 8);

    MX_WAIT(dev, (uint32_t)mx_vram_read(dev, out + 8) - start >= 2);
    return mx_vram_read(dev, out);
}

/* virtio-iommu tells of an unmap before it forgets the mapping: a translation
 * that it serves meanwhile is one that goes. */
static void test_remap(MxDevice *unused)
{
    const uint32_t values[2] = { 0xa1a1a1a1, 0xb2b2b2b2 };
    MxMachine *machine = start_one(unused);
    MxDevice *dev = mx_open(machine, MX_SLOT);
    uint64_t pages[2], out = mx_vram_alloc(dev, MX_PAGE);
    MxViommu *iommu = mx_viommu_start(machine, mx_alloc(machine, MX_PAGE));

    for (unsigned i = 0; i < 2; i++) {
        pages[i] = mx_alloc(machine, MX_PAGE);
        qtest_writel(machine->qts, pages[i], values[i]);
    }
    mx_viommu_attach(iommu, MX_SLOT);
    mx_viommu_map(iommu, IOVA, pages[0], MX_PAGE);
    copy_word(dev, out);
    g_assert_cmphex(copied(dev, out), ==, values[0]);
    for (unsigned i = 1; i <= 100; i++) {
        mx_viommu_unmap(iommu, IOVA, MX_PAGE);
        g_assert_cmphex(copied(dev, out), <, values[0]); /* the count */
        mx_viommu_map(iommu, IOVA, pages[i % 2], MX_PAGE);
        g_assert_cmphex(copied(dev, out), ==, values[i % 2]);
    }
    mx_close(dev);
    stop(machine, iommu);
}

void mx_reentry_tests(void)
{
    if (mx_env()->express && !mx_env()->viommu) {
        mx_test("reentry/flr", MX_BARE, test_flr);
        mx_test("reentry/sleep", MX_BARE, test_sleep);
        mx_test("reentry/unplug", MX_BARE, test_unplug);
        mx_test("reentry/remap", MX_BARE, test_remap);
        if (!strstr(mx_env()->options, "deterministic")) {
            mx_test("reentry/guarded", MX_BARE, test_guarded);
        }
    }
}
