/* SPDX-License-Identifier: MIT */
/*
 * Queues and rings. The hardware knows doorbells only: the rest stands in the
 * firmware's memory, where it says (mxgpu/fw_debug.h). Nothing there is
 * trusted.
 */
#include <inttypes.h>

#include "describe.h"
#include "inspect_queue.h"
#include "internal.h"
#include "mxgpu/fw_debug.h"

/* mxgpu_put() of a whole line needs no more. */
#define RING_MOST 64

/* Whatever the firmware says there are. */
#define CONTEXTS_MOST 1024u

typedef uint64_t Queue[MXGPU_FW_DEBUG_FIELDS];
typedef uint64_t Context[MXGPU_FW_DEBUG_CONTEXT_FIELDS];

/* SRAM as it is now; 0 behind its end. The MCU writes it meanwhile. */
static uint64_t sram_load(MxgpuDevice *dev, uint64_t at, unsigned size)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < size && at + i < MXGPU_MCU_SRAM_SIZE; i++) {
        value |= (uint64_t)__atomic_load_n(&dev->mcu.sram[at + i],
                                           __ATOMIC_RELAXED)
                 << 8 * i;
    }
    return value;
}

static bool is_table(MxgpuDevice *dev, uint32_t at)
{
    return sram_load(dev, at, 4) == MXGPU_FW_DEBUG_MAGIC0 &&
           sram_load(dev, at + 4, 4) == MXGPU_FW_DEBUG_MAGIC1;
}

static bool find_table(MxgpuDevice *dev, struct mxgpu_fw_debug *d)
{
    uint32_t words[sizeof(*d) / 4], at = atomic_load(&dev->queue_table);

    if (!is_table(dev, at)) {
        for (at = 0; !is_table(dev, at); at += 16) {
            if (at + sizeof(*d) + 16 > MXGPU_MCU_SRAM_SIZE) {
                return false;
            }
        }
        atomic_store(&dev->queue_table, at);
    }
    for (unsigned i = 0; i < sizeof(*d) / 4; i++) {
        words[i] = (uint32_t)sram_load(dev, at + i * 4, 4);
    }
    memcpy(d, words, sizeof(*d));
    return d->version == MXGPU_FW_DEBUG_VERSION;
}

static void load_record(MxgpuDevice *dev, uint64_t record,
                        const struct mxgpu_fw_debug_member *member,
                        unsigned members, uint64_t *out)
{
    for (unsigned i = 0; i < members; i++) {
        out[i] = sram_load(dev, record - MXGPU_MCU_SRAM_BASE + member[i].offset,
                           member[i].size < 8 ? member[i].size : 8);
    }
}

static uint64_t queue_record(const struct mxgpu_fw_debug *d, unsigned q)
{
    return d->queues + (uint64_t)q * d->stride;
}

static void load_queue(MxgpuDevice *dev, const struct mxgpu_fw_debug *d,
                       unsigned q, Queue out)
{
    memset(out, 0, sizeof(Queue));
    if (q < d->count) {
        load_record(dev, queue_record(d, q), d->field, MXGPU_FW_DEBUG_FIELDS,
                    out);
    }
}

static const char *state_name(uint64_t state)
{
    static const char *const names[] = {"free", "active", "stopped", "dying"};

    return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

static void put_error(MxgpuDevice *dev, const Queue queue, MxgpuText t)
{
    struct mxgpu_queue_ctl ctl;

    if (queue[MXGPU_FW_DEBUG_STATE] != 2) {
        return;
    }
    if (mxgpu_mmu_look_read(dev->mmu, (unsigned)queue[MXGPU_FW_DEBUG_VMID],
                            queue[MXGPU_FW_DEBUG_CTL], &ctl,
                            sizeof(ctl)) != MXGPU_FAULT_NONE) {
        mxgpu_put(t, "  its control block cannot be read\n");
        return;
    }
    mxgpu_put(t, "  error %s %s at packet %" PRIu64 " address 0x%" PRIx64
              " field %" PRIu32 "\n",
              mxgpu_describe_queue_error(ctl.error.code),
              mxgpu_describe_fault(ctl.error.fault), ctl.error.packet_index,
              ctl.error.fault_addr, ctl.error.field);
}

static void put_firmware(MxgpuDevice *dev, const Queue queue, MxgpuText t)
{
    mxgpu_put(t, "  %s, vmid %" PRIu64 " priority %" PRIu64 ", ring 0x%" PRIx64
              " of %" PRIu64 " packets, control block 0x%" PRIx64 "\n",
              state_name(queue[MXGPU_FW_DEBUG_STATE]),
              queue[MXGPU_FW_DEBUG_VMID], queue[MXGPU_FW_DEBUG_PRIORITY],
              queue[MXGPU_FW_DEBUG_RING], queue[MXGPU_FW_DEBUG_MASK] + 1,
              queue[MXGPU_FW_DEBUG_CTL]);
    mxgpu_put(t, "  packets rung %" PRIu64 ", fetched %" PRIu64
              ", in units %" PRIu64 "%s\n",
              queue[MXGPU_FW_DEBUG_WRITE], queue[MXGPU_FW_DEBUG_READ],
              queue[MXGPU_FW_DEBUG_RUNNING],
              queue[MXGPU_FW_DEBUG_PAUSED] ? ", held still" : "");
    put_error(dev, queue, t);
}

/* Packets of the queue that have left their slot. */
static void put_contexts(MxgpuDevice *dev, const struct mxgpu_fw_debug *d,
                         unsigned q, MxgpuText t)
{
    uint32_t count =
        d->context_count < CONTEXTS_MOST ? d->context_count : CONTEXTS_MOST;
    Context c;

    for (uint32_t i = 0; i < count; i++) {
        load_record(dev, d->contexts + (uint64_t)i * d->context_stride,
                    d->context_field, MXGPU_FW_DEBUG_CONTEXT_FIELDS, c);
        if (c[MXGPU_FW_DEBUG_OWNER] != queue_record(d, q)) {
            continue;
        }
        mxgpu_put(t, "  packet %" PRIu64 " has left its slot, waits for %s: "
                  "%" PRIu64 " bytes at 0x%" PRIx64 "\n",
                  c[MXGPU_FW_DEBUG_PACKET],
                  c[MXGPU_FW_DEBUG_RECORD] && !c[MXGPU_FW_DEBUG_RUNNABLE]
                      ? "grids that it launched"
                      : "another one",
                  c[MXGPU_FW_DEBUG_SIZE], c[MXGPU_FW_DEBUG_ADDR]);
    }
}

void mxgpu_inspect_queues(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    struct mxgpu_fw_debug d;
    bool known = find_table(dev, &d), any = false;

    for (unsigned q = 0; q < dev->config.queues; q++) {
        bool enabled = atomic_load(&dev->db.enable[q / 32]) >> q % 32 & 1;
        Queue queue = {0};

        if (known) {
            load_queue(dev, &d, q, queue);
        }
        if (!enabled && !queue[MXGPU_FW_DEBUG_STATE]) {
            continue;
        }
        mxgpu_put(t, "queue %u: doorbell %" PRIu64 "%s%s\n", q,
                  atomic_load(&dev->db.value[q]), enabled ? "" : ", disabled",
                  atomic_load(&dev->db.pending[q / 32]) >> q % 32 & 1
                      ? ", rung" : "");
        if (known) {
            put_firmware(dev, queue, t);
            put_contexts(dev, &d, q, t);
        }
        any = true;
    }
    if (!any) {
        mxgpu_put(t, "the firmware has enabled no queue\n");
    }
}

bool mxgpu_inspect_packet(MxgpuDevice *dev, unsigned q, uint64_t index,
                          union mxgpu_packet *packet)
{
    struct mxgpu_fw_debug d;
    Queue queue;

    if (!find_table(dev, &d) || q >= dev->config.queues) {
        return false;
    }
    load_queue(dev, &d, q, queue);
    return queue[MXGPU_FW_DEBUG_STATE] &&
           mxgpu_mmu_look_read(
               dev->mmu, (unsigned)queue[MXGPU_FW_DEBUG_VMID],
               queue[MXGPU_FW_DEBUG_RING] +
                   (index & queue[MXGPU_FW_DEBUG_MASK]) * MXGPU_PACKET_SIZE,
               packet, sizeof(*packet)) == MXGPU_FAULT_NONE;
}

static void put_packet(MxgpuDevice *dev, unsigned q, uint64_t index,
                       const Queue queue, MxgpuText t)
{
    char words[MXGPU_DESCRIBE_MAX] = "cannot be read";
    union mxgpu_packet packet;

    if (mxgpu_inspect_packet(dev, q, index, &packet)) {
        mxgpu_describe_packet(&packet, words, sizeof(words));
    }
    mxgpu_put(t, "%c %" PRIu64 ": %s\n",
              index < queue[MXGPU_FW_DEBUG_READ] ? ' ' : '>', index, words);
}

void mxgpu_inspect_ring(MxgpuDevice *dev, const char *args, MxgpuText t)
{
    uint64_t q, count = 8, first, end;
    struct mxgpu_fw_debug d;
    Queue queue;

    if (!mxgpu_inspect_number(&args, &q) || q >= dev->config.queues) {
        mxgpu_put(t, "ring QUEUE [COUNT], at most %u\n", RING_MOST);
        return;
    }
    mxgpu_inspect_number(&args, &count);
    count = count < RING_MOST ? count : RING_MOST;
    if (!find_table(dev, &d)) {
        mxgpu_put(t, "the firmware does not tell where its queues are\n");
        return;
    }
    load_queue(dev, &d, (unsigned)q, queue);
    if (!queue[MXGPU_FW_DEBUG_STATE]) {
        mxgpu_put(t, "there is no queue %" PRIu64 "\n", q);
        return;
    }
    put_firmware(dev, queue, t);
    /* Those that come next, and before them the last that were fetched. */
    end = queue[MXGPU_FW_DEBUG_WRITE];
    if (end - queue[MXGPU_FW_DEBUG_READ] > count) {
        end = queue[MXGPU_FW_DEBUG_READ] + count;
    }
    first = end > count ? end - count : 0;
    if (end - first > queue[MXGPU_FW_DEBUG_MASK] + 1) {
        first = end - queue[MXGPU_FW_DEBUG_MASK] - 1;
    }
    while (first < end) {
        put_packet(dev, (unsigned)q, first++, queue, t);
    }
}
