/* SPDX-License-Identifier: MIT */
#include "test_host.h"

#include <errno.h>
#include <sys/mman.h>

static bool on_bus(uint64_t addr, size_t len)
{
    return addr >= TEST_BUS_BASE && addr - TEST_BUS_BASE <= TEST_BUS_SIZE &&
           len <= TEST_BUS_SIZE - (addr - TEST_BUS_BASE);
}

static int dma_read(void *host, uint64_t addr, void *buf, size_t len)
{
    TestHost *h = host;

    if (h->on_dma) {
        h->on_dma(h);
    }
    if (!on_bus(addr, len)) {
        return -EFAULT;
    }
    memcpy(buf, h->bus + (addr - TEST_BUS_BASE), len);
    return 0;
}

static int dma_write(void *host, uint64_t addr, const void *buf, size_t len)
{
    TestHost *h = host;

    if (h->on_dma) {
        h->on_dma(h);
    }
    if (!on_bus(addr, len) || h->read_only) {
        return -EFAULT;
    }
    memcpy(h->bus + (addr - TEST_BUS_BASE), buf, len);
    return 0;
}

static void *dma_map(void *host, uint64_t addr, size_t len, bool write)
{
    TestHost *h = host;

    if (h->no_map || !on_bus(addr, len) || (write && h->read_only)) {
        return NULL;
    }
    return h->bus + (addr - TEST_BUS_BASE);
}

static void irq(void *host, unsigned vector)
{
    TestHost *h = host;

    atomic_fetch_add(&h->irqs[vector], 1);
    /* A host may call back: the device holds no lock. */
    if (h->dev) {
        mxgpu_device_mmio_read(h->dev, MXGPU_ID, 4);
    }
}

static uint64_t clock_ns(void *host)
{
    TestHost *h = host;

    return atomic_load(&h->clock);
}

static void console(void *host, const char *line, size_t len)
{
    TestHost *h = host;

    g_mutex_lock(&h->lock);
    g_string_append_len(h->console, line, (gssize)len);
    g_string_append_c(h->console, '\n');
    g_mutex_unlock(&h->lock);
}

static void kick(void *host)
{
    TestHost *h = host;

    atomic_fetch_add(&h->kicks, 1);
}

static void trace(void *host, MxgpuTraceEvent event, uint64_t a, uint64_t b)
{
    TestHost *h = host;

    atomic_fetch_add(&h->traces[event], 1);
}

static bool queue_listens(void *host)
{
    TestHost *h = host;

    return h->listens;
}

static void queue_event(void *host, const MxgpuQueueEvent *event)
{
    TestHost *h = host;

    h->queue_events++;
    h->queue_event = *event;
}

const MxgpuHostOps test_host_ops = {
    .dma_read = dma_read,
    .dma_write = dma_write,
    .dma_map = dma_map,
    .irq = irq,
    .clock = clock_ns,
    .console = console,
    .kick = kick,
    .trace = trace,
    .queue_listens = queue_listens,
    .queue_event = queue_event,
};

MxgpuConfig test_config(TestHost *h)
{
    MxgpuConfig config = {
        .vram = h->vram,
        .vram_size = TEST_VRAM_SIZE,
        .queues = 40,
        .vectors = 8,
        .compute_units = 2,
        .copy_engines = 2,
        .threads = 2,
        .uuid = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
    };

    return config;
}

/* Zeroed; given back page by page where it was not used. */
static uint8_t *new_memory(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    g_assert_true(p != MAP_FAILED);
    return p;
}

TestHost *test_host_new(bool deterministic)
{
    TestHost *h = g_new0(TestHost, 1);
    MxgpuConfig config;
    const char *error;

    h->vram = new_memory(TEST_VRAM_SIZE);
    h->bus = new_memory(TEST_BUS_SIZE);
    g_mutex_init(&h->lock);
    h->console = g_string_new(NULL);
    h->next_table = TEST_VRAM_SIZE / 2;
    config = test_config(h);
    config.deterministic = deterministic;
    h->dev = mxgpu_device_new(&config, &test_host_ops, h, &error);
    g_assert_nonnull(h->dev);
    return h;
}

void test_host_free(TestHost *h)
{
    mxgpu_device_free(h->dev);
    g_string_free(h->console, TRUE);
    g_mutex_clear(&h->lock);
    munmap(h->vram, TEST_VRAM_SIZE);
    munmap(h->bus, TEST_BUS_SIZE);
    g_free(h);
}

void test_host_renew(TestHost *h)
{
    mxgpu_device_reset(h->dev, MXGPU_RESET_BUS);
    madvise(h->vram, TEST_VRAM_SIZE, MADV_DONTNEED);
    madvise(h->bus, TEST_BUS_SIZE, MADV_DONTNEED);
    h->next_table = TEST_VRAM_SIZE / 2;
    h->no_map = h->read_only = false;
    g_string_truncate(h->console, 0);
}

void test_run(TestHost *h)
{
    uint64_t deadline;

    while (mxgpu_device_run(h->dev, 100, &deadline)) {
    }
}

uint32_t test_read(TestHost *h, uint32_t reg)
{
    return (uint32_t)mxgpu_device_mmio_read(h->dev, reg, 4);
}

void test_write(TestHost *h, uint32_t reg, uint32_t value)
{
    mxgpu_device_mmio_write(h->dev, reg, value, 4);
}

static uint64_t new_table(TestHost *h)
{
    uint64_t table = h->next_table;

    h->next_table += 4096;
    g_assert_cmpuint(h->next_table, <=, TEST_VRAM_SIZE);
    return table | MXGPU_PTE_VALID | MXGPU_PTE_TABLE;
}

uint64_t test_root(TestHost *h)
{
    return new_table(h);
}

uint64_t *test_pte(TestHost *h, uint64_t root, uint64_t va, unsigned level)
{
    uint64_t table = root;

    for (unsigned l = MXGPU_PT_LEVELS - 1;; l--) {
        uint64_t *pte = (uint64_t *)(h->vram + (table & MXGPU_PTE_ADDRESS)) +
                        MXGPU_PT_INDEX(va, l);

        if (l == level) {
            return pte;
        }
        if (!*pte) {
            *pte = new_table(h);
        }
        table = *pte;
    }
}

void test_map(TestHost *h, uint64_t root, uint64_t va, unsigned level,
              uint64_t leaf)
{
    *test_pte(h, root, va, level) = leaf;
}
