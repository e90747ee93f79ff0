/* SPDX-License-Identifier: MIT */
#include "sim_driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAF                                                                   \
    (MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_EXECUTE |  \
     MXGPU_PTE_ATOMIC)

/* Page tables begin here in VRAM; the root is the first. */
#define TABLES (DRV_VRAM_SIZE - (4u << 20))

static void on_log(void *opaque, const char *line)
{
    Drv *d = opaque;

    g_mutex_lock(&d->lock);
    g_string_append(d->log, line);
    g_string_append_c(d->log, '\n');
    g_mutex_unlock(&d->lock);
}

/* ---- the device in this process, as dut.h wants it */

static uint32_t host_read(Dut *dut, uint32_t reg)
{
    Drv *d = dut->host;

    return d->ops->read(d->sim, reg);
}

static void host_write(Dut *dut, uint32_t reg, uint32_t value)
{
    Drv *d = dut->host;

    d->ops->write(d->sim, reg, value);
}

static void host_doorbell(Dut *dut, unsigned queue, uint64_t write_index)
{
    Drv *d = dut->host;

    d->ops->doorbell(d->sim, queue, write_index);
}

static uint8_t *host_memory(Dut *dut, DutMemory memory, uint64_t at, size_t len)
{
    Drv *d = dut->host;
    uint64_t size = memory == DUT_VRAM ? DRV_VRAM_SIZE : DRV_SYS_SIZE;

    g_assert_true(at <= size && len <= size - at);
    return (memory == DUT_VRAM ? d->vram : d->sys) + at;
}

static void host_load(Dut *dut, DutMemory memory, uint64_t at, void *buf,
                      size_t len)
{
    const uint8_t *p = host_memory(dut, memory, at, len);

    if (len == 8 && at % 8 == 0) {
        uint64_t value = __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE);

        memcpy(buf, &value, sizeof(value));
    } else if (len == 4 && at % 4 == 0) {
        uint32_t value = __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);

        memcpy(buf, &value, sizeof(value));
    } else {
        memcpy(buf, p, len);
    }
}

static void host_store(Dut *dut, DutMemory memory, uint64_t at, const void *buf,
                       size_t len)
{
    uint8_t *p = host_memory(dut, memory, at, len);

    if (len == 8 && at % 8 == 0) {
        uint64_t value;

        memcpy(&value, buf, sizeof(value));
        __atomic_store_n((uint64_t *)p, value, __ATOMIC_RELEASE);
    } else {
        memcpy(p, buf, len);
    }
}

static uint64_t host_irqs(Dut *dut, unsigned vector)
{
    Drv *d = dut->host;
    uint64_t n = 0;

    return read(d->ops->irq_fd(d->sim, vector), &n, sizeof(n)) == sizeof(n) ? n
                                                                           : 0;
}

static void host_relax(Dut *dut)
{
    g_usleep(20);
}

static const DutOps host_ops = {
    .read = host_read,
    .write = host_write,
    .doorbell = host_doorbell,
    .load = host_load,
    .store = host_store,
    .irqs = host_irqs,
    .relax = host_relax,
};

void drv_init(Drv *d)
{
    d->dut = (Dut){.ops = &host_ops, .host = d};
}

/* ---- the driver */

void drv_firmware(uint8_t **image, size_t *size)
{
    *image = dut_firmware("MXGPU_TEST_FIRMWARE", size);
}

void drv_wait(Drv *d, uint32_t reg, uint32_t mask, uint32_t value)
{
    DUT_WAIT(&d->dut, (dut_read(&d->dut, reg) & mask) == value);
}

void drv_wait64(volatile uint64_t *p, uint64_t value)
{
    int64_t end = dut_deadline();

    while (__atomic_load_n(p, __ATOMIC_ACQUIRE) != value) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_thread_yield();
    }
}

uint64_t drv_wait_irq(Drv *d, unsigned vector)
{
    uint64_t n = 0;

    DUT_WAIT(&d->dut, (n = host_irqs(&d->dut, vector)) > 0);
    return n;
}

void drv_load(Drv *d, const uint8_t *image, size_t size)
{
    dut_start(&d->dut, image, size);
}

uint32_t drv_message(Drv *d, const void *msg, size_t size, uint32_t *resp)
{
    return dut_call(&d->dut, msg, size, resp);
}

void drv_map(Drv *d, uint64_t va, unsigned level, uint64_t leaf)
{
    dut_map(&d->dut, va, level, leaf);
}

void drv_invalidate(Drv *d)
{
    dut_invalidate(&d->dut);
}

static void map_memories(Drv *d)
{
    d->dut.vram_next = TABLES;
    d->dut.vram_end = DRV_VRAM_SIZE;
    d->dut.root = dut_vram_alloc(&d->dut, DUT_PAGE);
    for (uint64_t at = 0; at < TABLES; at += 2u << 20) {
        drv_map(d, DRV_VRAM_VA + at, 1, LEAF | at);
    }
    for (uint64_t at = 0; at < DRV_SYS_SIZE; at += DUT_PAGE) {
        drv_map(d, DRV_SYS_VA + at, 0,
                LEAF | MXGPU_PTE_SYSTEM | (DRV_SYS_IOVA + at));
    }
    dut_vm_set(&d->dut);
}

void drv_boot(Drv *d)
{
    g_autofree uint8_t *image = NULL;
    size_t size;

    dut_write(&d->dut, MXGPU_RESET, MXGPU_RESET_MAGIC);
    drv_wait(d, MXGPU_RESET_STATUS, 1, 0);
    drv_firmware(&image, &size);
    dut_boot(&d->dut, image, size);
    map_memories(d);
}

Drv *drv_open(const MxgpuSimOptions *config)
{
    const MxgpuSimOps *(*entry)(unsigned abi);
    MxgpuSimOptions c = *config;
    Drv *d = g_new0(Drv, 1);

    drv_init(d);
    d->log = g_string_new(NULL);
    g_mutex_init(&d->lock);
    d->library = dlopen(g_getenv("MXGPU_TEST_SIM"), RTLD_NOW | RTLD_LOCAL);
    if (!d->library) {
        g_error("%s", dlerror());
    }
    *(void **)&entry = dlsym(d->library, "mxgpu_sim_entry");
    g_assert_nonnull(entry);
    d->ops = entry(MXGPU_SIM_ABI);
    g_assert_nonnull(d->ops);
    c.vram_size = DRV_VRAM_SIZE;
    c.log = on_log;
    c.opaque = d;
    g_assert_cmpint(d->ops->open(&c, &d->sim), ==, 0);
    d->vram = d->ops->vram(d->sim, NULL);
    d->sys = aligned_alloc(4096, DRV_SYS_SIZE);
    memset(d->sys, 0, DRV_SYS_SIZE);
    g_assert_cmpint(d->ops->dma_map(d->sim, DRV_SYS_IOVA, d->sys, DRV_SYS_SIZE),
                    ==, 0);
    drv_boot(d);
    return d;
}

void drv_close(Drv *d)
{
    d->ops->close(d->sim);
    dlclose(d->library);
    if (g_test_verbose()) {
        g_printerr("%s", d->log->str);
    }
    g_string_free(d->log, TRUE);
    g_mutex_clear(&d->lock);
    free(d->sys);
    g_free(d);
}

DrvQueue drv_queue(Drv *d, unsigned id, unsigned priority, uint64_t offset)
{
    DrvQueue q = {
        .q =
            {
                .id = id,
                .log2 = 6,
                .vector = id + 1,
                .priority = priority,
                .ring = offset,
                .ctl = offset + DUT_PAGE,
                .ring_va = DRV_SYS_VA + offset,
                .ctl_va = DRV_SYS_VA + offset + DUT_PAGE,
            },
    };

    q.ctl = (volatile struct mxgpu_queue_ctl *)(d->sys + q.q.ctl);
    dut_queue_create(&d->dut, &q.q);
    return q;
}

void drv_push(DrvQueue *q, const void *packet)
{
    dut_push(&q->q, packet);
}

void drv_ring(DrvQueue *q)
{
    dut_ring(&q->q);
}
