/* SPDX-License-Identifier: MIT */
#include "rig.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/image.h"
#include "mxgpu/kernel.h"

#define QUEUES    3
#define KERNEL_VA 0x10000000ull /* where the kernels are linked */

/* Offsets in VRAM and in system memory. */
#define CODE   (1u << 20)
#define DATA   (4u << 20)
#define RINGS  0u
#define SIGNAL 0x40000u
#define DESCS  0x50000u
#define ARGS   0x58000u

/* ---- a device and its host */

static uint8_t *bus(Rig *r, uint64_t addr, size_t len)
{
    return addr >= DRV_SYS_IOVA && addr - DRV_SYS_IOVA <= DRV_SYS_SIZE &&
                   len <= DRV_SYS_SIZE - (addr - DRV_SYS_IOVA)
               ? r->drv.sys + (addr - DRV_SYS_IOVA)
               : NULL;
}

static int dma_read(void *host, uint64_t addr, void *buf, size_t len)
{
    const uint8_t *p = bus(host, addr, len);

    if (p) {
        memcpy(buf, p, len);
    }
    return p ? 0 : -EFAULT;
}

static int dma_write(void *host, uint64_t addr, const void *buf, size_t len)
{
    uint8_t *p = bus(host, addr, len);

    if (p) {
        memcpy(p, buf, len);
    }
    return p ? 0 : -EFAULT;
}

static void *dma_map(void *host, uint64_t addr, size_t len, bool write)
{
    return bus(host, addr, len);
}

static void on_irq(void *host, unsigned vector)
{
    ((Rig *)host)->irqs[vector]++;
}

static uint64_t on_clock(void *host)
{
    Rig *r = host;

    return r->threads ? (uint64_t)g_get_monotonic_time() * 1000 : r->clock;
}

static void on_console(void *host, const char *line, size_t len)
{
    g_test_message("%.*s", (int)len, line);
}

static const MxgpuHostOps host_ops = {
    .dma_read = dma_read,
    .dma_write = dma_write,
    .dma_map = dma_map,
    .irq = on_irq,
    .clock = on_clock,
    .console = on_console,
};

bool rig_step(Rig *r, unsigned budget)
{
    uint64_t deadline;

    r->clock += 1000;
    return mxgpu_device_run(r->dev, budget, &deadline);
}

/* The driver polls while the device runs. */
static uint32_t rig_read(MxgpuSim *sim, uint32_t offset)
{
    Rig *r = (Rig *)sim;

    if (!r->threads) {
        rig_step(r, 1000);
    }
    return (uint32_t)mxgpu_device_mmio_read(r->dev, offset, 4);
}

static void rig_write(MxgpuSim *sim, uint32_t offset, uint32_t value)
{
    mxgpu_device_mmio_write(((Rig *)sim)->dev, offset, value, 4);
}

static void rig_doorbell(MxgpuSim *sim, unsigned queue, uint64_t value)
{
    mxgpu_device_doorbell_write(((Rig *)sim)->dev,
                                queue * MXGPU_DOORBELL_STRIDE, value, 8);
}

static const MxgpuSimOps driver_ops = {
    .read = rig_read,
    .write = rig_write,
    .doorbell = rig_doorbell,
};

static uint8_t *new_memory(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    g_assert_true(p != MAP_FAILED);
    return p;
}

Rig *rig_new(unsigned units, bool threads)
{
    Rig *r = g_new0(Rig, 1);
    MxgpuConfig config = {
        .vram_size = DRV_VRAM_SIZE,
        .queues = 8,
        .vectors = 8,
        .compute_units = units,
        .copy_engines = 2,
        .private_memory = 64u << 20,
        .threads = 2,
        .deterministic = !threads,
    };
    const char *error;

    config.vram = new_memory(DRV_VRAM_SIZE);
    r->drv = (Drv){.ops = &driver_ops, .sim = (MxgpuSim *)r};
    drv_init(&r->drv);
    r->drv.vram = config.vram;
    r->threads = threads;
    r->drv.sys = new_memory(DRV_SYS_SIZE);
    r->dev = mxgpu_device_new(&config, &host_ops, r, &error);
    g_assert_nonnull(r->dev);
    r->dev->simt->extra_work = INT32_MAX; /* what is cached must not matter */
    return r;
}

void rig_free(Rig *r)
{
    mxgpu_device_free(r->dev);
    munmap(r->drv.vram, DRV_VRAM_SIZE);
    munmap(r->drv.sys, DRV_SYS_SIZE);
    g_free(r);
}

/* ---- work for it */

static void load_kernels(Rig *r, const char *path)
{
    g_autofree char *elf = NULL;
    const Elf64_Ehdr *eh;
    const Elf64_Phdr *ph;
    gsize len;

    g_assert_true(g_file_get_contents(path, &elf, &len, NULL));
    eh = (const void *)elf;
    ph = (const void *)(elf + eh->e_phoff);
    for (unsigned i = 0; i < eh->e_phnum; i++) {
        if (ph[i].p_type == PT_LOAD && ph[i].p_filesz) {
            memcpy(r->drv.vram + CODE + (ph[i].p_vaddr - KERNEL_VA),
                   elf + ph[i].p_offset, ph[i].p_filesz);
        }
    }
    for (uint64_t at = 0; at < 1u << 20; at += 4096) {
        drv_map(&r->drv, KERNEL_VA + at, 0,
                MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_EXECUTE |
                    (CODE + at));
    }
}

static uint64_t symbol(const char *path, const char *name)
{
    g_autofree char *elf = NULL;
    const Elf64_Ehdr *eh;
    const Elf64_Shdr *sh;
    gsize len;

    g_assert_true(g_file_get_contents(path, &elf, &len, NULL));
    eh = (const void *)elf;
    sh = (const void *)(elf + eh->e_shoff);
    for (unsigned i = 0; i < eh->e_shnum; i++) {
        const Elf64_Sym *sym = (const void *)(elf + sh[i].sh_offset);
        const char *names = elf + sh[sh[i].sh_link].sh_offset;

        for (size_t n = 0; sh[i].sh_type == SHT_SYMTAB &&
                           n < sh[i].sh_size / sizeof(*sym); n++) {
            if (strcmp(names + sym[n].st_name, name) == 0) {
                return sym[n].st_value;
            }
        }
    }
    g_assert_not_reached();
}

static uint64_t signal_va(unsigned i)
{
    return DRV_SYS_VA + SIGNAL + 8 * i;
}

/* The i-th kernel; n is its last argument. */
static struct mxgpu_packet_dispatch dispatch(Rig *r, const char *path,
                                             const char *name, unsigned i,
                                             uint64_t n)
{
    struct mxgpu_kernel_desc desc = {
        .magic = MXGPU_KERNEL_MAGIC,
        .abi = MXGPU_KERNEL_ABI,
        .entry = symbol(path, name),
        .arg_size = 24,
        .registers = 64,
        .static_shared = 4096,
        .private_bytes = 2048,
    };
    uint64_t args[] = {DRV_VRAM_VA + OUT + i * 0x40000,
                       DRV_VRAM_VA + DATA + i * 0x40000, n};

    memcpy(r->drv.sys + DESCS + 64 * i, &desc, sizeof(desc));
    memcpy(r->drv.sys + ARGS + 64 * i, args, sizeof(args));
    return (struct mxgpu_packet_dispatch){
        .type = MXGPU_PKT_DISPATCH,
        .kernel = DRV_SYS_VA + DESCS + 64 * i,
        .args = DRV_SYS_VA + ARGS + 64 * i,
        .signal_addr = signal_va(i),
        .signal_value = 1,
        .grid = {1, 1, 1},
        .block = {64, 1, 1},
    };
}

/* Of packets that units execute. */
static void push(Rig *r, DrvQueue *q, const void *packet)
{
    union mxgpu_packet p = *(const union mxgpu_packet *)packet;

    p.header.flags |= r->recover ? MXGPU_PKT_RECOVER : 0;
    drv_push(q, &p);
}

static void push_copies(Rig *r, DrvQueue *q)
{
    struct mxgpu_packet_fill fill = {
        .type = MXGPU_PKT_FILL,
        .flags = MXGPU_PKT_BARRIER,
        .pattern_size = 8,
        .dst = DRV_VRAM_VA + COPIES,
        .size = (5u << 20) / 2,
        .pattern = "12345678",
    };
    struct mxgpu_packet_copy copy = {
        .type = MXGPU_PKT_COPY,
        .flags = MXGPU_PKT_BARRIER,
        .src = DRV_VRAM_VA + COPIES + 12345,
        .dst = DRV_VRAM_VA + COPIES + (4u << 20) + 77,
        .size = (5u << 20) / 2,
    };
    struct mxgpu_packet_copy_rect rect = {
        .type = MXGPU_PKT_COPY_RECT,
        .flags = MXGPU_PKT_BARRIER | MXGPU_PKT_IRQ,
        .width = 100,
        .src = DRV_VRAM_VA + COPIES + (4u << 20),
        .dst = DRV_SYS_VA + TARGET,
        .height = 40,
        .depth = 160,
        .src_pitch = 200,
        .dst_pitch = 128,
        .src_slice = 50,
        .dst_slice = 41,
        .signal_addr = signal_va(3),
        .signal_value = 1,
    };

    for (unsigned i = 0; i < 4; i++) {
        fill.pattern[0] = (uint8_t)i;
        push(r, q, &fill);
        push(r, q, &copy);
        push(r, q, &rect);
        rect.signal_value++;
    }
}

/* Takes what the kernels and copies work on out of the page tables. */
static void tear_vram(Rig *r)
{
    Dut *d = &r->drv.dut;
    uint64_t ring = DRV_SYS_VA + FAULTS;

    for (uint64_t at = OUT; at < COPIES + (8u << 20); at += 2u << 20) {
        dut_store64(d, DUT_VRAM, dut_pte(d, DRV_VRAM_VA + at, 1), 0);
    }
    dut_write(d, MXGPU_FAULT_RING_LO, (uint32_t)ring);
    dut_write(d, MXGPU_FAULT_RING_HI, (uint32_t)(ring >> 32));
    dut_write(d, MXGPU_FAULT_CFG,
              MXGPU_SET(MXGPU_FAULT_CFG_ENABLE, 1) |
                  MXGPU_SET(MXGPU_FAULT_CFG_VMID, DUT_VMID) |
                  MXGPU_SET(MXGPU_FAULT_CFG_LOG2_RECORDS, LOG2_FAULTS));
}

/* Boots, and gives all queues their work. */
void rig_start(Rig *r, const char *path)
{
    struct mxgpu_packet_dispatch p;
    DrvQueue q[QUEUES];

    drv_boot(&r->drv);
    load_kernels(r, path);
    if (r->recover) {
        tear_vram(r);
    }
    drv_invalidate(&r->drv);
    for (unsigned i = 0; i < QUEUES; i++) {
        q[i] = drv_queue(&r->drv, i, i, RINGS + i * 0x4000);
    }
    p = dispatch(r, path, "all_sorts", 0, 12);
    p.grid[0] = 9;
    p.block[0] = 192;
    push(r, &q[0], &p);
    p = dispatch(r, path, "small", 1, 0);
    p.grid[0] = 3000;
    push(r, &q[0], &p);
    p = dispatch(r, path, "together", 2, 6);
    p.flags = MXGPU_PKT_COOPERATIVE;
    p.grid[0] = 4;
    p.block[0] = 128;
    push(r, &q[1], &p);
    push_copies(r, &q[2]);
    for (unsigned i = 0; i < QUEUES; i++) {
        drv_ring(&q[i]);
    }
}

bool rig_done(Rig *r)
{
    static const uint64_t last[] = {1, 1, 1, 4};

    return memcmp(r->drv.sys + SIGNAL, last, sizeof(last)) == 0;
}

/* ---- its state */

Saved rig_save(Rig *r)
{
    Saved s = {.size = mxgpu_state_size(r->dev)};
    size_t used;

    g_assert_cmpuint(s.size, >, 0);
    s.bytes = g_malloc(s.size);
    g_assert_cmpint(mxgpu_state_save(r->dev, s.bytes, s.size - 1, &used), ==,
                    -ENOSPC);
    g_assert_cmpint(mxgpu_state_save(r->dev, s.bytes, s.size, &used), ==, 0);
    g_assert_cmpuint(used, ==, s.size);
    return s;
}

/* A device in the middle of everything. */
Rig *rig_busy(const char *kernels, unsigned steps)
{
    Rig *r = rig_new(UNITS, false);

    rig_start(r, kernels);
    for (unsigned i = 0; i < steps; i++) {
        rig_step(r, RIG_BUDGET);
    }
    g_assert_false(rig_done(r));
    return r;
}
