/* SPDX-License-Identifier: MIT */
/* The in-process host, with a fake MCU: bus, interrupts, reset, both modes. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/iommu.h"
#include "sim/sim.h"
#include "test_host.h"

static void test_iommu(void)
{
    uint8_t *mem = aligned_alloc(4096, 4 * 4096), buf[8192];
    MxgpuSimIommu io;

    mxgpu_sim_iommu_init(&io);
    g_assert_cmpint(mxgpu_sim_iommu_add(&io, 1, mem, 4096), ==, -EINVAL);
    g_assert_cmpint(mxgpu_sim_iommu_add(&io, 0, mem + 1, 4096), ==, -EINVAL);
    g_assert_cmpint(mxgpu_sim_iommu_add(&io, 0, mem, 0), ==, -EINVAL);
    g_assert_cmpint(mxgpu_sim_iommu_add(&io, 0, NULL, 4096), ==, -EINVAL);
    g_assert_cmpint(mxgpu_sim_iommu_add(&io, UINT64_MAX - 4095, mem, 8192), ==,
                    -EINVAL);
    /* Two neighbours, the far half of the process memory first. */
    g_assert_cmpint(mxgpu_sim_iommu_add(&io, 0x1000, mem + 8192, 4096), ==, 0);
    g_assert_cmpint(mxgpu_sim_iommu_add(&io, 0x2000, mem, 8192), ==, 0);
    g_assert_cmpint(
        mxgpu_sim_iommu_add(&io, UINT64_MAX - 4095, mem + 12288, 4096), ==, 0);
    g_assert_cmpint(mxgpu_sim_iommu_add(&io, 0, mem, 8192), ==, -EEXIST);
    g_assert_cmpint(mxgpu_sim_iommu_add(&io, 0x3000, mem, 4096), ==, -EEXIST);
    memset(buf, 0x5a, sizeof(buf));
    g_assert_cmpint(mxgpu_sim_iommu_write(&io, 0x1ffe, buf, 4), ==, 0);
    g_assert_cmphex(mem[8192 + 4095], ==, 0x5a);
    g_assert_cmphex(mem[1], ==, 0x5a);
    g_assert_cmpint(mxgpu_sim_iommu_read(&io, 0x1000, buf, 8192), ==, 0);
    g_assert_cmpint(mxgpu_sim_iommu_read(&io, 0x3fff, buf, 2), ==, -EFAULT);
    g_assert_cmpint(mxgpu_sim_iommu_read(&io, 0xfff, buf, 2), ==, -EFAULT);
    g_assert_cmpint(mxgpu_sim_iommu_read(&io, UINT64_MAX, buf, 1), ==, 0);
    g_assert_cmpint(mxgpu_sim_iommu_read(&io, UINT64_MAX, buf, 2), ==, -EFAULT);
    g_assert_true(mxgpu_sim_iommu_pointer(&io, 0x2004, 4) == mem + 4);
    g_assert_null(mxgpu_sim_iommu_pointer(&io, 0x1ffe, 4));
    g_assert_null(mxgpu_sim_iommu_pointer(&io, 0x4000, 1));
    g_assert_cmpint(mxgpu_sim_iommu_remove(&io, 0x2000, 4096), ==, -ENOENT);
    g_assert_cmpint(mxgpu_sim_iommu_remove(&io, 0x3000, 4096), ==, -ENOENT);
    g_assert_cmpint(mxgpu_sim_iommu_remove(&io, 0x2000, 8192), ==, 0);
    g_assert_cmpint(mxgpu_sim_iommu_remove(&io, 0x2000, 8192), ==, -ENOENT);
    g_assert_cmpint(mxgpu_sim_iommu_read(&io, 0x1fff, buf, 1), ==, 0);
    mxgpu_sim_iommu_free(&io);
    free(mem);
}

static void test_iommu_many(void)
{
    uint8_t *mem = aligned_alloc(4096, 4096);
    MxgpuSimIommu io;

    mxgpu_sim_iommu_init(&io);
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t page = i * 1999 % 3000; /* every order */

        g_assert_cmpint(mxgpu_sim_iommu_add(&io, page << 13, mem, 4096), ==, 0);
    }
    for (uint64_t i = 0; i < 3000; i++) {
        g_assert_true(mxgpu_sim_iommu_pointer(&io, i << 13, 4096) == mem);
        g_assert_null(mxgpu_sim_iommu_pointer(&io, (i << 13) + 4096, 1));
    }
    mxgpu_sim_iommu_free(&io);
    free(mem);
}

static void on_log(void *opaque, const char *line)
{
    GString *log = opaque;

    g_string_append(log, line);
    g_string_append_c(log, '\n');
}

static void wait_irq(const MxgpuSimOps *ops, MxgpuSim *sim, unsigned vector,
                     uint64_t count)
{
    struct pollfd p = {.fd = ops->irq_fd(sim, vector), .events = POLLIN};
    uint64_t n = 0;

    g_assert_cmpint(poll(&p, 1, 300000), ==, 1);
    g_assert_cmpint(read(p.fd, &n, sizeof(n)), ==, sizeof(n));
    g_assert_cmpuint(n, ==, count);
    g_assert_cmpint(read(p.fd, &n, sizeof(n)), ==, -1); /* and now none */
}

static void test_device(gconstpointer deterministic)
{
    const MxgpuSimOps *ops = mxgpu_sim_entry(MXGPU_SIM_ABI);
    GString *log = g_string_new(NULL);
    MxgpuSimOptions config = {.vram_size = 16 << 20,
                             .compute_units = 3,
                             .queues = 4,
                             .index = 0x102,
                             .deterministic = deterministic,
                             .log = on_log,
                             .opaque = log};
    MxgpuSim *sim = NULL;
    uint64_t size;

    g_assert_cmpint(ops->open(&config, &sim), ==, 0);
    g_assert_cmphex(ops->read(sim, MXGPU_ID), ==, MXGPU_ID_MAGIC);
    g_assert_cmphex(ops->read(sim, MXGPU_FEATURES), ==,
                    (deterministic != NULL) |
                        1u << MXGPU_FEATURES_FRONT_END_SHIFT |
                        1u << MXGPU_FEATURES_HOLD_SHIFT |
                        1u << MXGPU_FEATURES_CONTEXTS_SHIFT |
                        1u << MXGPU_FEATURES_VMID_TIME_SHIFT |
                        1u << MXGPU_FEATURES_CU_SLOTS_SHIFT);
    g_assert_cmphex(ops->read(sim, MXGPU_UUID + 12), ==, 0x02010000);
    g_assert_nonnull(ops->vram(sim, &size));
    g_assert_cmpuint(size, ==, 16 << 20);
    g_assert_cmpuint(ops->vectors(sim), ==, 5);
    g_assert_cmpint(ops->irq_fd(sim, 5), ==, -EINVAL);
    ops->write(sim, MXGPU_IRQ_ENABLE, 0xf);
    ops->doorbell(sim, 0, 1); /* disabled: an error, and its interrupt */
    wait_irq(ops, sim, 0, 1);
    g_assert_nonnull(strstr(log->str, "disabled queue 0"));
    ops->write(sim, MXGPU_IRQ_STATUS, 0xf);
    ops->write(sim, MXGPU_MCU_CTRL, 1); /* nothing is loaded */
    wait_irq(ops, sim, 0, 1);
    g_assert_cmphex(ops->read(sim, MXGPU_MCU_STATUS), ==,
                    MXGPU_MCU_BOOT_ERROR | MXGPU_BOOT_BAD_MAGIC << 8);
    ops->write(sim, MXGPU_RESET, MXGPU_RESET_MAGIC);
    while (ops->read(sim, MXGPU_RESET_STATUS) & 1) {
        g_thread_yield();
    }
    g_assert_cmpint(ops->reset(sim), ==, 0);
    g_assert_cmphex(ops->read(sim, MXGPU_RESET_STATUS), ==, 2 << 4 | 2 << 16);
    ops->close(sim);
    g_string_free(log, TRUE);
}

/* VRAM is a file: what is written through it is VRAM, and nobody can take
 * pages away. It outlives the device where it is mapped. */
static void test_vram_fd(void)
{
    const MxgpuSimOps *ops = mxgpu_sim_entry(MXGPU_SIM_ABI);
    MxgpuSimOptions config = {.vram_size = 16 << 20};
    MxgpuSim *sim = NULL;
    uint8_t *vram, *mine;
    int fd;

    g_assert_cmpint(ops->open(&config, &sim), ==, 0);
    vram = ops->vram(sim, NULL);
    fd = ops->vram_fd(sim);
    mine = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 1 << 20);
    g_assert_true(mine != MAP_FAILED);
    mine[1] = 0x5a;
    g_assert_cmphex(vram[(1 << 20) + 1], ==, 0x5a);
    vram[(1 << 20) + 2] = 0xa5;
    g_assert_cmphex(mine[2], ==, 0xa5);
    g_assert_cmpint(lseek(fd, 0, SEEK_END), ==, 16 << 20);
    g_assert_cmpint(ftruncate(fd, 0), ==, -1);
    g_assert_cmpint(ftruncate(fd, 32 << 20), ==, -1);
    ops->close(sim);
    g_assert_cmphex(mine[1], ==, 0x5a);
    munmap(mine, 4096);
}

static void test_bad_config(void)
{
    const MxgpuSimOps *ops = mxgpu_sim_entry(MXGPU_SIM_ABI);
    MxgpuSimOptions config = {.vram_size = 4097};
    MxgpuSim *sim = NULL;

    g_assert_null(mxgpu_sim_entry(MXGPU_SIM_ABI + 1));
    g_assert_cmpint(ops->open(&config, &sim), ==, -EINVAL);
    config.vram_size = 1ull << 50;
    g_assert_cmpint(ops->open(&config, &sim), ==, -EINVAL);
    config.vram_size = 0;
    config.compute_units = 1000;
    g_assert_cmpint(ops->open(&config, &sim), ==, -EINVAL);
    g_assert_cmpint(ops->open(NULL, &sim), ==, -EINVAL);
    g_assert_null(sim);
    ops->close(NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sim/iommu", test_iommu);
    g_test_add_func("/sim/iommu-many", test_iommu_many);
    g_test_add_data_func("/sim/device/threads", NULL, test_device);
    g_test_add_data_func("/sim/device/deterministic", "", test_device);
    g_test_add_func("/sim/vram-fd", test_vram_fd);
    g_test_add_func("/sim/bad-config", test_bad_config);
    return g_test_run();
}
