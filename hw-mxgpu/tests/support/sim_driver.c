/* SPDX-License-Identifier: MIT */
#include "sim_driver.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAF                                                                   \
    (MXGPU_PTE_VALID | MXGPU_PTE_READ | MXGPU_PTE_WRITE | MXGPU_PTE_EXECUTE |  \
     MXGPU_PTE_ATOMIC)
#define LIMIT (300 * G_USEC_PER_SEC) /* of a hang: the host may be busy */

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

void drv_firmware(uint8_t **image, size_t *size)
{
    g_assert_true(g_file_get_contents(g_getenv("MXGPU_TEST_FIRMWARE"),
                                      (char **)image, size, NULL));
}

void drv_wait(Drv *d, uint32_t reg, uint32_t mask, uint32_t value)
{
    gint64 end = g_get_monotonic_time() + LIMIT;

    while ((d->ops->read(d->sim, reg) & mask) != value) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_usleep(20);
    }
}

void drv_wait64(volatile uint64_t *p, uint64_t value)
{
    gint64 end = g_get_monotonic_time() + LIMIT;

    while (__atomic_load_n(p, __ATOMIC_ACQUIRE) != value) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_thread_yield();
    }
}

uint64_t drv_wait_irq(Drv *d, unsigned vector)
{
    struct pollfd p = {.fd = d->ops->irq_fd(d->sim, vector), .events = POLLIN};
    uint64_t n = 0;

    g_assert_cmpint(poll(&p, 1, LIMIT / 1000), ==, 1);
    g_assert_cmpint(read(p.fd, &n, sizeof(n)), ==, sizeof(n));
    return n;
}

void drv_load(Drv *d, const uint8_t *image, size_t size)
{
    d->ops->write(d->sim, MXGPU_MCU_SRAM_ADDR, 0);
    for (size_t i = 0; i + 4 <= size; i += 4) {
        uint32_t word;

        memcpy(&word, image + i, 4);
        d->ops->write(d->sim, MXGPU_MCU_SRAM_DATA, word);
    }
    d->ops->write(d->sim, MXGPU_MCU_CTRL, MXGPU_SET(MXGPU_MCU_CTRL_START, 1));
}

uint32_t drv_message(Drv *d, const void *msg, size_t size, uint32_t *resp)
{
    uint32_t words[16] = {0};

    memcpy(words, msg, size);
    for (unsigned i = 0; i < 16; i++) {
        d->ops->write(d->sim, MXGPU_MBOX_CMD + 4 * i, words[i]);
    }
    d->ops->write(d->sim, MXGPU_MBOX_REQ, ++d->seq);
    drv_wait(d, MXGPU_MBOX_ACK, UINT32_MAX, d->seq);
    for (unsigned i = 0; resp && i < 16; i++) {
        resp[i] = d->ops->read(d->sim, MXGPU_MBOX_RESP + 4 * i);
    }
    return d->ops->read(d->sim, MXGPU_MBOX_RESP);
}

static uint64_t new_table(Drv *d)
{
    uint64_t table = d->next_table;

    d->next_table += 4096;
    g_assert_cmpuint(d->next_table, <=, DRV_VRAM_SIZE);
    memset(d->vram + table, 0, 4096);
    return table | MXGPU_PTE_VALID | MXGPU_PTE_TABLE;
}

void drv_map(Drv *d, uint64_t va, unsigned level, uint64_t leaf)
{
    uint64_t *table = (uint64_t *)(d->vram + TABLES);

    for (unsigned l = MXGPU_PT_LEVELS - 1; l > level; l--) {
        uint64_t *pte = &table[MXGPU_PT_INDEX(va, l)];

        if (!*pte) {
            *pte = new_table(d);
        }
        table = (uint64_t *)(d->vram + (*pte & MXGPU_PTE_ADDRESS));
    }
    table[MXGPU_PT_INDEX(va, level)] = leaf;
}

void drv_invalidate(Drv *d)
{
    struct mxgpu_msg_tlb_invalidate msg = {.op = MXGPU_MSG_TLB_INVALIDATE,
                                           .vmid = 1};

    g_assert_cmpuint(drv_message(d, &msg, sizeof(msg), NULL), ==,
                     MXGPU_MSG_OK);
}

static void map_memories(Drv *d)
{
    struct mxgpu_msg_vm_set vm = {.op = MXGPU_MSG_VM_SET, .vmid = 1};
    uint64_t root;

    d->next_table = TABLES;
    root = new_table(d);
    vm.root_lo = (uint32_t)root;
    vm.root_hi = (uint32_t)(root >> 32);
    for (uint64_t at = 0; at < TABLES; at += 2u << 20) {
        drv_map(d, DRV_VRAM_VA + at, 1, LEAF | at);
    }
    for (uint64_t at = 0; at < DRV_SYS_SIZE; at += 4096) {
        drv_map(d, DRV_SYS_VA + at, 0,
                LEAF | MXGPU_PTE_SYSTEM | (DRV_SYS_IOVA + at));
    }
    g_assert_cmpuint(drv_message(d, &vm, sizeof(vm), NULL), ==, MXGPU_MSG_OK);
}

void drv_boot(Drv *d)
{
    struct mxgpu_msg_hello hello = {MXGPU_MSG_HELLO, MXGPU_MSG_ABI};
    struct mxgpu_msg_hello_resp *answer;
    uint32_t ready = MXGPU_MCU_RUNNING |
                     MXGPU_SET(MXGPU_MCU_STATUS_READY, 1);
    uint32_t resp[16];
    uint8_t *image;
    size_t size;

    d->ops->write(d->sim, MXGPU_RESET, MXGPU_RESET_MAGIC);
    drv_wait(d, MXGPU_RESET_STATUS, 1, 0);
    d->seq = 0;
    drv_firmware(&image, &size);
    drv_load(d, image, size);
    g_free(image);
    drv_wait(d, MXGPU_MCU_STATUS, UINT32_MAX, ready);
    g_assert_cmpuint(drv_message(d, &hello, sizeof(hello), resp), ==,
                     MXGPU_MSG_OK);
    answer = (struct mxgpu_msg_hello_resp *)resp;
    g_assert_cmpuint(answer->abi, ==, MXGPU_MSG_ABI);
    g_assert_cmphex(answer->version, ==,
                    d->ops->read(d->sim, MXGPU_MCU_FW_VERSION));
    g_assert_cmphex(answer->packets, ==, (1u << MXGPU_PKT_TYPES) - 1);
    map_memories(d);
}

Drv *drv_open(const MxgpuSimOptions *config)
{
    const MxgpuSimOps *(*entry)(unsigned abi);
    MxgpuSimOptions c = *config;
    Drv *d = g_new0(Drv, 1);

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
    DrvQueue q = {.drv = d, .id = id, .log2 = 6};
    uint64_t ring = DRV_SYS_VA + offset, ctl = ring + 4096;
    struct mxgpu_msg_queue_create msg = {
        .op = MXGPU_MSG_QUEUE_CREATE,
        .queue = id,
        .vmid = 1,
        .priority = priority,
        .ring_lo = (uint32_t)ring,
        .ring_hi = (uint32_t)(ring >> 32),
        .log2_packets = q.log2,
        .ctl_lo = (uint32_t)ctl,
        .ctl_hi = (uint32_t)(ctl >> 32),
        .vector = id + 1,
    };

    q.ring = (union mxgpu_packet *)(d->sys + offset);
    q.ctl = (volatile struct mxgpu_queue_ctl *)(d->sys + offset + 4096);
    g_assert_cmpuint(drv_message(d, &msg, sizeof(msg), NULL), ==,
                     MXGPU_MSG_OK);
    return q;
}

void drv_push(DrvQueue *q, const void *packet)
{
    gint64 end = g_get_monotonic_time() + LIMIT;
    uint64_t size = 1ull << q->log2;

    while (q->write_index -
               __atomic_load_n(&q->ctl->read_index, __ATOMIC_ACQUIRE) >=
           size) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        drv_ring(q);
        g_thread_yield();
    }
    memcpy(&q->ring[q->write_index++ % size], packet, MXGPU_PACKET_SIZE);
}

void drv_ring(DrvQueue *q)
{
    q->drv->ops->doorbell(q->drv->sim, q->id, q->write_index);
}
