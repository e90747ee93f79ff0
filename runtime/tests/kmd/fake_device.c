/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "fake_device.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define SRAM_SIZE 0x4000u

static Fake *from_base(KmdTransport *t)
{
    return (Fake *)(void *)t;
}

void fake_raise(Fake *fake, unsigned vector)
{
    uint64_t one = 1;

    g_assert_cmpint(write(fake->fds[vector], &one, 8), ==, 8);
}

/* Vector 0, for enabled causes. */
static void raise_locked(Fake *fake, uint32_t causes)
{
    if (causes && !fake->no_interrupts) {
        fake->causes_raised++;
        fake_raise(fake, 0);
    }
}

static void cause_locked(Fake *fake, uint32_t bits)
{
    fake->irq_status |= bits;
    raise_locked(fake, fake->irq_status & fake->irq_enable);
}

void fake_cause(Fake *fake, uint32_t bits)
{
    pthread_mutex_lock(&fake->lock);
    cause_locked(fake, bits);
    pthread_mutex_unlock(&fake->lock);
}

/* ---- walker ---------------------------------------------------------------- */

static FakeTranslation walk_locked(Fake *fake, uint64_t va)
{
    FakeTranslation t = { .malformed = true };
    uint64_t entry = fake->root;
    unsigned shift = 48;

    if (entry == 0) {
        t.malformed = false;
        return t;
    }
    while (entry & 0x100) {
        uint64_t table = entry & 0x000ffffffffff000ull;

        if ((entry & 0xfff0000000000efeull) || shift == 12 ||
            table + 4096 > fake->vram_size) {
            return t;
        }
        shift -= 9;
        entry = __atomic_load_n((uint64_t *)(void *)(fake->vram + table +
                                8 * (va >> shift & 511)), __ATOMIC_SEQ_CST);
        if (!(entry & 1)) {
            t.malformed = entry != 0;
            return t;
        }
    }
    t.page_size = 1ull << shift;
    t.addr = entry & 0x000ffffffffff000ull;
    if ((entry & 0xfff0000000000e00ull) || shift > 30 ||
        t.addr % t.page_size) {
        return t;
    }
    t.addr += va % t.page_size;
    t.valid = true;
    t.malformed = false;
    t.system = entry & 2;
    t.perms = entry & 0x3c;
    return t;
}

FakeTranslation fake_walk(Fake *fake, uint64_t va)
{
    FakeTranslation t;

    pthread_mutex_lock(&fake->lock);
    t = walk_locked(fake, va);
    pthread_mutex_unlock(&fake->lock);
    return t;
}

static void *memory_locked(Fake *fake, uint64_t va)
{
    FakeTranslation t = walk_locked(fake, va);
    unsigned i;

    if (!t.valid) {
        return NULL;
    }
    if (!t.system) {
        return t.addr < fake->vram_size ? fake->vram + t.addr : NULL;
    }
    for (i = 0; i < FAKE_MAPS; i++) {
        FakeMap *m = &fake->maps[i];

        if (m->size && t.addr >= m->iova && t.addr < m->iova + m->size) {
            return m->ptr + (t.addr - m->iova);
        }
    }
    return NULL;
}

void *fake_memory(Fake *fake, uint64_t va)
{
    void *p;

    pthread_mutex_lock(&fake->lock);
    p = memory_locked(fake, va);
    pthread_mutex_unlock(&fake->lock);
    return p;
}

static unsigned count_tables(Fake *fake, uint64_t table, unsigned level)
{
    const uint64_t *entries = (void *)(fake->vram + table);
    unsigned i, n = 1;

    for (i = 0; level && i < 512; i++) {
        if (entries[i] & 0x100) {
            n += count_tables(fake, entries[i] & ~0xfffull, level - 1);
        }
    }
    return n;
}

unsigned fake_tables(Fake *fake)
{
    return count_tables(fake, fake->root & ~0xfffull, 3);
}

/* ---- firmware ------------------------------------------------------------------ */

static uint32_t queue_create(Fake *fake)
{
    struct mxgpu_msg_queue_create m;
    FakeQueue *q;
    uint64_t ring, ctl, i;

    memcpy(&m, fake->cmd, sizeof(m));
    if (m.queue >= FAKE_QUEUES || m.vector >= FAKE_VECTORS ||
        m.log2_packets < 2 || m.log2_packets > 16 || m.priority >= 4) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    q = &fake->queues[m.queue];
    if (q->active) {
        return MXGPU_MSG_BUSY;
    }
    ring = m.ring_lo | (uint64_t)m.ring_hi << 32;
    ctl = m.ctl_lo | (uint64_t)m.ctl_hi << 32;
    for (i = 0; i < 64ull << m.log2_packets; i += 64) {
        if (!memory_locked(fake, ring + i)) {
            return MXGPU_MSG_FAULT;
        }
    }
    if (ring % 64 || ctl % 64 || !memory_locked(fake, ctl)) {
        return MXGPU_MSG_FAULT;
    }
    memset(memory_locked(fake, ctl), 0, sizeof(struct mxgpu_queue_ctl));
    *q = (FakeQueue){ .active = true, .create = m };
    return MXGPU_MSG_OK;
}

static uint32_t answer(Fake *fake)
{
    static const unsigned words[] = { 0, 16, 2, 4, 6, 10, 2, 2 };
    uint32_t op = fake->cmd[0];
    unsigned i;

    if (op == 0 || op >= G_N_ELEMENTS(words)) {
        return MXGPU_MSG_UNKNOWN_OP;
    }
    for (i = words[op]; i < 16; i++) {
        g_assert_cmpuint(fake->cmd[i], ==, 0);
    }
    if (fake->refuse_op == op) {
        return fake->refuse_status;
    }
    switch (op) {
    case MXGPU_MSG_PING:
        memcpy(fake->resp, fake->cmd, sizeof(fake->resp));
        return MXGPU_MSG_OK;
    case MXGPU_MSG_HELLO:
        fake->resp[1] = MXGPU_MSG_ABI;
        fake->resp[2] = 0x010203;
        fake->resp[3] = FAKE_QUEUES;
        fake->resp[4] = 4;
        fake->resp[5] = (1u << MXGPU_PKT_TYPES) - 1;
        memcpy(&fake->resp[6], fake->build, sizeof(fake->build));
        return fake->cmd[1] == MXGPU_MSG_ABI ? MXGPU_MSG_OK
                                             : MXGPU_MSG_BAD_ABI;
    case MXGPU_MSG_VM_SET:
        if (fake->cmd[1] == 0 || fake->cmd[1] >= MXGPU_NUM_VMIDS) {
            return MXGPU_MSG_BAD_ARGUMENT;
        }
        fake->root = fake->cmd[2] | (uint64_t)fake->cmd[3] << 32;
        return MXGPU_MSG_OK;
    case MXGPU_MSG_TLB_INVALIDATE:
        fake->invalidations++;
        fake->inv_addr = fake->cmd[2] | (uint64_t)fake->cmd[3] << 32;
        fake->inv_size = fake->cmd[4] | (uint64_t)fake->cmd[5] << 32;
        return MXGPU_MSG_OK;
    case MXGPU_MSG_QUEUE_CREATE:
        return queue_create(fake);
    case MXGPU_MSG_QUEUE_DESTROY:
        if (fake->cmd[1] >= FAKE_QUEUES || !fake->queues[fake->cmd[1]].active) {
            return MXGPU_MSG_NOT_FOUND;
        }
        fake->queues[fake->cmd[1]].active = false;
        return MXGPU_MSG_OK;
    case MXGPU_MSG_LOG_LEVEL:
        return fake->cmd[1] <= 3 ? MXGPU_MSG_OK : MXGPU_MSG_BAD_ARGUMENT;
    default:
        return MXGPU_MSG_UNKNOWN_OP;
    }
}

static void request(Fake *fake, uint32_t seq);

static void enable(Fake *fake, uint32_t value)
{
    uint32_t rising = value & ~fake->irq_enable, seq = fake->held_seq;

    fake->irq_enable = value;
    raise_locked(fake, rising & fake->irq_status);
    if (seq && (value & KMD_IRQ_MBOX)) {
        fake->answers_sleepers = false;
        fake->held_seq = 0;
        request(fake, seq);
    }
}

static void request(Fake *fake, uint32_t seq)
{
    fake->looks = 0;
    fake->shown_ack = fake->ack;
    if (fake->answers_sleepers) {
        fake->held_seq = seq;
        return;
    }
    if (MXGPU_GET(MXGPU_MCU_STATUS_STATE, fake->mcu_status) !=
        MXGPU_MCU_RUNNING || seq == fake->ack ||
        fake->cmd[0] == fake->silent_op) {
        return;
    }
    if (fake->cmd[0] == fake->crash_op) {
        fake->mcu_status = MXGPU_MCU_CRASHED;
        cause_locked(fake, MXGPU_SET(MXGPU_IRQ_STATUS_MCU, 1));
        return;
    }
    memset(fake->resp, 0, sizeof(fake->resp));
    fake->resp[0] = answer(fake);
    fake->ack = seq;
    cause_locked(fake, MXGPU_SET(MXGPU_IRQ_STATUS_MBOX, 1));
}

/* ---- registers ------------------------------------------------------------------- */

static void start(Fake *fake)
{
    fake->starts++;
    fake->mcu_status =
        MXGPU_SET(MXGPU_MCU_STATUS_STATE, fake->boot_state) |
        MXGPU_SET(MXGPU_MCU_STATUS_BOOT_ERROR, fake->boot_error) |
        MXGPU_SET(MXGPU_MCU_STATUS_READY, !fake->never_ready);
}

static void reset(Fake *fake)
{
    fake->resets++;
    fake->mcu_status = 0;
    fake->root = 0;
    fake->ack = 0;
    fake->irq_enable = 0;
    fake->irq_status = 0;
    memset(fake->cmd, 0, sizeof(fake->cmd));
    memset(fake->queues, 0, sizeof(fake->queues));
}

static uint32_t read_locked(Fake *fake, uint32_t offset)
{
    if (fake->dead) {
        return UINT32_MAX;
    }
    if (offset >= MXGPU_MBOX_RESP && offset < MXGPU_MBOX_RESP + 64) {
        return fake->resp[(offset - MXGPU_MBOX_RESP) / 4];
    }
    if (offset >= MXGPU_UUID && offset < MXGPU_UUID + 16) {
        return 0x01010101u * (1 + (offset - MXGPU_UUID) / 4);
    }
    if (offset >= MXGPU_CU_PC_LO && offset < MXGPU_CU_PC_LO + 8 * 8) {
        return (uint32_t)(fake->unit_pc[(offset - MXGPU_CU_PC_LO) / 8] >>
                          offset % 8 * 8);
    }
    switch (offset) {
    case MXGPU_ID:
        return fake->id;
    case MXGPU_VERSION:
        return fake->version;
    case MXGPU_QUEUE_CAPS:
        return 64 | FAKE_VECTORS << 16;
    case MXGPU_UNIT_CAPS:
        return 8 | 2 << 16 | 4 << 24;
    case MXGPU_CU_CAPS:
        return 2048 | 1024 << 16;
    case MXGPU_CU_CAPS2:
        return 16 | 64 << 8 | 64 << 16;
    case MXGPU_CU_REGS:
        return 131072;
    case MXGPU_CU_PRIVATE:
        return 65536;
    case MXGPU_VRAM_SIZE_LO:
        return (uint32_t)fake->vram_size;
    case MXGPU_VRAM_SIZE_HI:
        return (uint32_t)(fake->vram_size >> 32);
    case MXGPU_SRAM_SIZE:
        return SRAM_SIZE;
    case MXGPU_CLOCK_LO:
        fake->clock += 0x80000001ull;
        return (uint32_t)fake->clock;
    case MXGPU_CLOCK_HI:
        return (uint32_t)(fake->clock >> 32);
    case MXGPU_RESET_STATUS:
        return fake->reset_stuck;
    case MXGPU_MCU_STATUS:
        return fake->mcu_status;
    case MXGPU_MCU_FW_ABI:
        return fake->fw_abi;
    case MXGPU_MCU_FW_VERSION:
        return 0x010203;
    case MXGPU_MCU_TRAP_CAUSE:
        return 2;
    case MXGPU_MCU_TRAP_PC:
        return 0x20000100;
    case MXGPU_MBOX_ACK:
        return fake->looks++ < fake->late_looks ? fake->shown_ack : fake->ack;
    case MXGPU_IRQ_STATUS:
        return fake->irq_status;
    case MXGPU_ERR_STATUS:
        return fake->err_status;
    default:
        return 0;
    }
}

static uint32_t fake_read(KmdTransport *t, uint32_t offset)
{
    Fake *fake = from_base(t);
    uint32_t value;

    pthread_mutex_lock(&fake->lock);
    g_assert_cmpuint(offset % 4, ==, 0);
    value = read_locked(fake, offset);
    pthread_mutex_unlock(&fake->lock);
    return value;
}

static void write_locked(Fake *fake, uint32_t offset, uint32_t value)
{
    if (fake->dead) {
        return;
    }
    if (offset >= MXGPU_MBOX_CMD && offset < MXGPU_MBOX_CMD + 64) {
        fake->cmd[(offset - MXGPU_MBOX_CMD) / 4] = value;
        return;
    }
    switch (offset) {
    case MXGPU_RESET:
        g_assert_cmphex(value, ==, MXGPU_RESET_MAGIC);
        reset(fake);
        break;
    case MXGPU_MCU_SRAM_ADDR:
        fake->sram_at = value;
        break;
    case MXGPU_MCU_SRAM_DATA:
        g_assert_cmpuint(fake->sram_at + 4, <=, SRAM_SIZE);
        memcpy(fake->sram + fake->sram_at, &value, 4);
        fake->sram_at += 4;
        fake->sram_writes++;
        break;
    case MXGPU_MCU_CTRL:
        if (value & 1) {
            start(fake);
        }
        break;
    case MXGPU_MBOX_REQ:
        request(fake, value);
        break;
    case MXGPU_IRQ_STATUS:
        fake->irq_status &= ~value;
        break;
    case MXGPU_IRQ_ENABLE:
        enable(fake, value);
        break;
    case MXGPU_ERR_STATUS:
        fake->err_status &= ~value;
        break;
    default:
        g_error("write to register 0x%x", offset);
    }
}

static void fake_write(KmdTransport *t, uint32_t offset, uint32_t value)
{
    Fake *fake = from_base(t);

    pthread_mutex_lock(&fake->lock);
    write_locked(fake, offset, value);
    pthread_mutex_unlock(&fake->lock);
}

static void fake_doorbell(KmdTransport *t, unsigned queue, uint64_t value)
{
    Fake *fake = from_base(t);

    pthread_mutex_lock(&fake->lock);
    g_assert_cmpuint(queue, <, FAKE_QUEUES);
    g_assert_true(fake->queues[queue].active);
    fake->queues[queue].doorbell = value;
    pthread_mutex_unlock(&fake->lock);
}

static int fake_dma_map(KmdTransport *t, void *ptr, uint64_t size,
                        uint64_t *iova)
{
    Fake *fake = from_base(t);
    unsigned i;
    int ret = -ENOSPC;

    if (fake->dma_error) {
        return fake->dma_error;
    }
    pthread_mutex_lock(&fake->lock);
    for (i = 0; i < FAKE_MAPS && ret; i++) {
        if (fake->maps[i].size == 0) {
            *iova = fake->next_iova + ((uintptr_t)ptr & 0x1fffff);
            fake->next_iova += (size + 0x5fffff) & ~0x1fffffull;
            fake->maps[i] = (FakeMap){ *iova, size, ptr };
            ret = 0;
        }
    }
    pthread_mutex_unlock(&fake->lock);
    return ret;
}

static int fake_dma_unmap(KmdTransport *t, uint64_t iova, uint64_t size)
{
    Fake *fake = from_base(t);
    unsigned i;

    pthread_mutex_lock(&fake->lock);
    for (i = 0; i < FAKE_MAPS; i++) {
        if (fake->maps[i].size && fake->maps[i].iova == iova) {
            break;
        }
    }
    g_assert_cmpuint(i, <, FAKE_MAPS);
    g_assert_cmpuint(fake->maps[i].size, ==, size);
    fake->maps[i].size = 0;
    pthread_mutex_unlock(&fake->lock);
    return 0;
}

unsigned fake_pinned(Fake *fake)
{
    unsigned i, n = 0;

    pthread_mutex_lock(&fake->lock);
    for (i = 0; i < FAKE_MAPS; i++) {
        n += fake->maps[i].size != 0;
    }
    pthread_mutex_unlock(&fake->lock);
    return n;
}

static int fake_reset(KmdTransport *t)
{
    Fake *fake = from_base(t);

    pthread_mutex_lock(&fake->lock);
    fake->function_resets++;
    fake->reset_stuck &= !fake->function_reset_helps;
    pthread_mutex_unlock(&fake->lock);
    return 0;
}

static void fake_close(KmdTransport *t)
{
    from_base(t)->closed = true;
}

static const KmdTransportOps fake_ops = {
    .read = fake_read,
    .write = fake_write,
    .doorbell = fake_doorbell,
    .dma_map = fake_dma_map,
    .dma_unmap = fake_dma_unmap,
    .reset = fake_reset,
    .close = fake_close,
};

Fake *fake_new(uint64_t vram_size)
{
    Fake *fake = g_new0(Fake, 1);
    unsigned i;

    pthread_mutex_init(&fake->lock, NULL);
    fake->vram_size = vram_size;
    fake->vram = mmap(NULL, vram_size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(fake->vram != MAP_FAILED);
    fake->sram = g_malloc0(SRAM_SIZE);
    fake->next_iova = 1ull << 33;
    for (i = 0; i < FAKE_VECTORS; i++) {
        fake->fds[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    }
    fake->id = MXGPU_ID_MAGIC;
    fake->version = MXGPU_INTERFACE_VERSION + 7;
    fake->boot_state = MXGPU_MCU_RUNNING;
    fake->fw_abi = MXGPU_MSG_ABI;
    fake->base.ops = &fake_ops;
    fake->base.vram = fake->vram;
    fake->base.aperture_size = vram_size;
    fake->base.irq_fds = fake->fds;
    fake->base.vectors = FAKE_VECTORS;
    fake->base.gone_fd = -1;
    fake->base.vram_fd = -1;
    fake->base.vram_is_zero = true;
    return fake;
}

void fake_free(Fake *fake)
{
    unsigned i;

    for (i = 0; i < FAKE_VECTORS; i++) {
        close(fake->fds[i]);
    }
    munmap(fake->vram, fake->vram_size);
    g_free(fake->sram);
    pthread_mutex_destroy(&fake->lock);
    g_free(fake);
}

/* ---- firmware files ------------------------------------------------------------------- */

/* Bit by bit from the definition, most significant bit first. */
static uint32_t crc_reference(const uint8_t *data, size_t size)
{
    uint32_t crc = 0xffffffffu, out = 0;
    size_t i;
    int bit;

    for (i = 0; i < size; i++) {
        for (bit = 0; bit < 8; bit++) {
            uint32_t in = data[i] >> bit & 1;
            uint32_t top = crc >> 31;

            crc = crc << 1 ^ ((top ^ in) ? 0x04c11db7u : 0);
        }
    }
    for (bit = 0; bit < 32; bit++) {
        out |= (crc >> bit & 1) << (31 - bit);
    }
    return ~out;
}

void fake_firmware_header(uint8_t *image, size_t size)
{
    struct mxgpu_fw_header h = {
        .magic = MXGPU_FW_MAGIC,
        .header_size = sizeof(h),
        .image_size = (uint32_t)size,
        .isa = MXGPU_FW_ISA_RV32IMAC,
        .entry = MXGPU_MCU_SRAM_BASE + sizeof(h),
        .version = 0x010203,
        .abi = MXGPU_MSG_ABI,
    };

    h.crc32 = crc_reference(image + sizeof(h), size - sizeof(h));
    memcpy(image, &h, sizeof(h));
}

void fake_firmware_image(uint8_t *image, size_t size)
{
    size_t i;

    for (i = sizeof(struct mxgpu_fw_header); i < size; i++) {
        image[i] = (uint8_t)(i * 7 + i / 256);
    }
    fake_firmware_header(image, size);
}

const char *fake_firmware_file(void)
{
    static char path[128];
    uint8_t image[1024];
    int fd;

    if (!path[0]) {
        g_snprintf(path, sizeof(path), "%s/mxgpu-fw-XXXXXX", g_get_tmp_dir());
        fd = g_mkstemp(path);
        g_assert_cmpint(fd, >=, 0);
        fake_firmware_image(image, sizeof(image));
        g_assert_cmpint(write(fd, image, sizeof(image)), ==, sizeof(image));
        close(fd);
    }
    return path;
}
