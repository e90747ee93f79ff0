/* SPDX-License-Identifier: MIT */
#include "dut.h"

#include <stddef.h>
#include <string.h>

#define LIMIT (300 * G_USEC_PER_SEC) /* of a hang: the host may be busy */

/* ---- waiting */

int64_t dut_deadline(void)
{
    return g_get_monotonic_time() + LIMIT;
}

void dut_turn(Dut *d, int64_t deadline, const char *file, int line,
              const char *what)
{
    if (g_get_monotonic_time() > deadline) {
        g_error("%s:%d: never: %s", file, line, what);
    }
    d->ops->relax(d);
}

/* ---- registers and memory */

uint32_t dut_read(Dut *d, uint32_t reg)
{
    return d->ops->read(d, reg);
}

void dut_write(Dut *d, uint32_t reg, uint32_t value)
{
    d->ops->write(d, reg, value);
}

uint32_t dut_load32(Dut *d, DutMemory memory, uint64_t at)
{
    uint32_t value;

    d->ops->load(d, memory, at, &value, sizeof(value));
    return value;
}

uint64_t dut_load64(Dut *d, DutMemory memory, uint64_t at)
{
    uint64_t value;

    d->ops->load(d, memory, at, &value, sizeof(value));
    return value;
}

void dut_store64(Dut *d, DutMemory memory, uint64_t at, uint64_t value)
{
    d->ops->store(d, memory, at, &value, sizeof(value));
}

uint64_t dut_vram_alloc(Dut *d, size_t size)
{
    static const uint8_t zeros[DUT_PAGE];
    uint64_t at = d->vram_next;

    for (size_t done = 0; done < size; done += DUT_PAGE) {
        g_assert_cmphex(d->vram_next + DUT_PAGE, <=, d->vram_end);
        d->ops->store(d, DUT_VRAM, d->vram_next, zeros, DUT_PAGE);
        d->vram_next += DUT_PAGE;
    }
    return at;
}

/* ---- firmware and mailbox */

uint8_t *dut_firmware(const char *variable, size_t *size)
{
    const char *path = g_getenv(variable);
    char *data;
    gsize len;

    if (!path) {
        g_error("%s must name the firmware image", variable);
    }
    if (!g_file_get_contents(path, &data, &len, NULL)) {
        g_error("cannot read %s", path);
    }
    *size = len;
    return (uint8_t *)data;
}

void dut_start(Dut *d, const void *image, size_t size)
{
    dut_write(d, MXGPU_MCU_SRAM_ADDR, 0);
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word = 0;

        memcpy(&word, (const uint8_t *)image + i, MIN(4, size - i));
        dut_write(d, MXGPU_MCU_SRAM_DATA, word);
    }
    dut_write(d, MXGPU_MCU_CTRL, MXGPU_SET(MXGPU_MCU_CTRL_START, 1));
}

unsigned dut_mcu_state(Dut *d)
{
    return MXGPU_GET(MXGPU_MCU_STATUS_STATE, dut_read(d, MXGPU_MCU_STATUS));
}

static void hello(Dut *d)
{
    struct mxgpu_msg_hello message = {MXGPU_MSG_HELLO, MXGPU_MSG_ABI};
    struct mxgpu_msg_hello_resp answer;
    uint32_t response[16];

    g_assert_cmpuint(dut_call(d, &message, sizeof(message), response), ==,
                     MXGPU_MSG_OK);
    memcpy(&answer, response, sizeof(answer));
    g_assert_cmpuint(answer.abi, ==, MXGPU_MSG_ABI);
    g_assert_cmphex(answer.version, ==, dut_read(d, MXGPU_MCU_FW_VERSION));
    g_assert_cmphex(answer.packets, ==, (1u << MXGPU_PKT_TYPES) - 1);
}

void dut_boot(Dut *d, const void *image, size_t size)
{
    dut_start(d, image, size);
    DUT_WAIT(d, MXGPU_GET(MXGPU_MCU_STATUS_READY,
                          dut_read(d, MXGPU_MCU_STATUS)));
    g_assert_cmpuint(dut_mcu_state(d), ==, MXGPU_MCU_RUNNING);
    d->sequence = dut_read(d, MXGPU_MBOX_ACK);
    hello(d);
}

uint32_t dut_call(Dut *d, const void *message, size_t size,
                  uint32_t response[16])
{
    uint32_t words[16] = {0};

    g_assert_cmpuint(size, <=, sizeof(words));
    memcpy(words, message, size);
    for (unsigned i = 0; i < 16; i++) {
        dut_write(d, MXGPU_MBOX_CMD + 4 * i, words[i]);
    }
    dut_write(d, MXGPU_MBOX_REQ, ++d->sequence);
    DUT_WAIT(d, dut_read(d, MXGPU_MBOX_ACK) == d->sequence);
    for (unsigned i = 0; response && i < 16; i++) {
        response[i] = dut_read(d, MXGPU_MBOX_RESP + 4 * i);
    }
    return dut_read(d, MXGPU_MBOX_RESP);
}

/* ---- page tables */

void dut_vm_set(Dut *d)
{
    struct mxgpu_msg_vm_set message = {.op = MXGPU_MSG_VM_SET,
                                       .vmid = DUT_VMID};
    uint64_t root;

    if (!d->root) {
        d->root = dut_vram_alloc(d, DUT_PAGE);
    }
    root = d->root | MXGPU_PTE_TABLE | MXGPU_PTE_VALID;
    message.root_lo = (uint32_t)root;
    message.root_hi = (uint32_t)(root >> 32);
    g_assert_cmpuint(dut_call(d, &message, sizeof(message), NULL), ==,
                     MXGPU_MSG_OK);
}

uint64_t dut_pte(Dut *d, uint64_t va, unsigned level)
{
    uint64_t table = d->root;

    for (unsigned l = MXGPU_PT_LEVELS - 1; l > level; l--) {
        uint64_t slot = table + 8 * MXGPU_PT_INDEX(va, l);
        uint64_t entry = dut_load64(d, DUT_VRAM, slot);

        if (!entry) {
            entry = dut_vram_alloc(d, DUT_PAGE) | MXGPU_PTE_TABLE |
                    MXGPU_PTE_VALID;
            dut_store64(d, DUT_VRAM, slot, entry);
        }
        table = entry & MXGPU_PTE_ADDRESS;
    }
    return table + 8 * MXGPU_PT_INDEX(va, level);
}

void dut_map(Dut *d, uint64_t va, unsigned level, uint64_t leaf)
{
    dut_store64(d, DUT_VRAM, dut_pte(d, va, level), leaf);
}

void dut_invalidate(Dut *d)
{
    struct mxgpu_msg_tlb_invalidate message = {
        .op = MXGPU_MSG_TLB_INVALIDATE,
        .vmid = DUT_VMID,
    };

    g_assert_cmpuint(dut_call(d, &message, sizeof(message), NULL), ==,
                     MXGPU_MSG_OK);
}

/* ---- queues */

void dut_queue_create(Dut *d, DutQueue *q)
{
    struct mxgpu_msg_queue_create message = {
        .op = MXGPU_MSG_QUEUE_CREATE,
        .queue = q->id,
        .vmid = DUT_VMID,
        .priority = q->priority,
        .ring_lo = (uint32_t)q->ring_va,
        .ring_hi = (uint32_t)(q->ring_va >> 32),
        .log2_packets = q->log2,
        .ctl_lo = (uint32_t)q->ctl_va,
        .ctl_hi = (uint32_t)(q->ctl_va >> 32),
        .vector = q->vector,
    };

    q->dut = d;
    q->index = 0;
    g_assert_cmpuint(dut_call(d, &message, sizeof(message), NULL), ==,
                     MXGPU_MSG_OK);
}

void dut_queue_destroy(DutQueue *q)
{
    struct mxgpu_msg_queue_destroy message = {
        MXGPU_MSG_QUEUE_DESTROY, q->id,
    };

    g_assert_cmpuint(dut_call(q->dut, &message, sizeof(message), NULL), ==,
                     MXGPU_MSG_OK);
}

uint64_t dut_push(DutQueue *q, const void *packet)
{
    uint64_t slots = 1ull << q->log2;

    if (q->index >= slots && q->index - dut_read_index(q) >= slots) {
        dut_ring(q); /* or what is there would never be read */
        DUT_WAIT(q->dut, q->index - dut_read_index(q) < slots);
    }
    q->dut->ops->store(q->dut, DUT_SYSTEM,
                       q->ring + q->index % slots * MXGPU_PACKET_SIZE, packet,
                       MXGPU_PACKET_SIZE);
    return q->index++;
}

void dut_ring(DutQueue *q)
{
    q->dut->ops->doorbell(q->dut, q->id, q->index);
}

uint64_t dut_read_index(DutQueue *q)
{
    return dut_load64(q->dut, DUT_SYSTEM,
                      q->ctl + offsetof(struct mxgpu_queue_ctl, read_index));
}

struct mxgpu_queue_error dut_queue_error(DutQueue *q)
{
    struct mxgpu_queue_error error;

    DUT_WAIT(q->dut,
             dut_load32(q->dut, DUT_SYSTEM,
                        q->ctl + offsetof(struct mxgpu_queue_ctl, state)) ==
                 MXGPU_QUEUE_ERROR);
    q->dut->ops->load(q->dut, DUT_SYSTEM,
                      q->ctl + offsetof(struct mxgpu_queue_ctl, error), &error,
                      sizeof(error));
    return error;
}
