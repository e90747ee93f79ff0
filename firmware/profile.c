/* SPDX-License-Identifier: MIT */
/*
 * Records of packets with MXGPU_PKT_PROFILE (struct mxgpu_profile): what the
 * hardware counted, written to memory before the packet is signalled. The
 * sequence number comes last, so that a record that is there is complete.
 */
#include "fw.h"

#define RECORD_AT(member) offsetof(struct mxgpu_profile, member)
#define MAX_LOG2_RECORDS  12
#define MAX_SAMPLES       65536u

/* ---- set-up ------------------------------------------------------------- */

static bool check_setup(const struct mxgpu_msg_queue_profile *msg,
                        uint64_t base)
{
    if (!base) {
        return !msg->log2_records && !msg->stride && !msg->samples &&
               !msg->interval && !msg->flags;
    }
    return base % 64 == 0 && msg->log2_records <= MAX_LOG2_RECORDS &&
           msg->stride % 64 == 0 && msg->samples <= MAX_SAMPLES &&
           !msg->samples == !msg->interval &&
           !(msg->flags & ~MXGPU_PROFILE_EXACT) &&
           msg->stride >= MXGPU_PROFILE_SIZE(fw.compute_units, msg->samples) &&
           queue_in_address_space(base, (uint64_t)msg->stride
                                            << msg->log2_records);
}

enum mxgpu_msg_status profile_setup(const struct mxgpu_msg_queue_profile *msg)
{
    uint64_t base = msg->base_lo | (uint64_t)msg->base_hi << 32;
    FwQueue *queue;

    if (msg->queue >= fw.num_queues || !check_setup(msg, base)) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    queue = &fw.queues[msg->queue];
    if (queue->state == FW_QUEUE_FREE) {
        return MXGPU_MSG_NOT_FOUND;
    }
    if (queue->running || queue->fetched || queue->list_count) {
        return MXGPU_MSG_BUSY;
    }
    for (uint32_t i = 0; base && i < 1u << msg->log2_records; i++) {
        if (mem_write64(queue->vmid, base + (uint64_t)i * msg->stride, 0)) {
            return MXGPU_MSG_FAULT;
        }
    }
    queue->profile_base = base;
    queue->profile_mask = (1u << msg->log2_records) - 1;
    queue->profile_stride = msg->stride;
    queue->profile_samples = msg->samples;
    queue->profile_interval = msg->interval;
    queue->profile_flags = msg->flags;
    return MXGPU_MSG_OK;
}

/* ---- records ------------------------------------------------------------ */

static uint64_t record_address(const FwQueue *queue, uint64_t index)
{
    return queue->profile_base +
           (uint64_t)((uint32_t)index & queue->profile_mask) *
               queue->profile_stride;
}

void profile_program_slot(const FwQueue *queue, unsigned index)
{
    uint32_t base = index * MXGPU_CP_UNIT_STRIDE;

    reg_write64(MXGPU_CP_SAMPLE_ADDR_LO + base,
                record_address(queue, queue->read_index - 1) +
                    MXGPU_PROFILE_SIZE(fw.compute_units, 0));
    reg_write(MXGPU_CP_SAMPLE_MAX + base, queue->profile_samples);
    reg_write(MXGPU_CP_SAMPLE_INTERVAL + base, queue->profile_interval);
}

uint32_t profile_config(const FwQueue *queue)
{
    return FW_BIT(MXGPU_CD_CFG_PROFILE) |
           (queue->profile_flags & MXGPU_PROFILE_EXACT
                ? FW_BIT(MXGPU_CD_CFG_ACCESSES)
                : 0);
}

/* Memory being filled from MEM_BUF, up to 128 bytes at a time. */
typedef struct Writer {
    FwQueue *queue;
    uint64_t addr;
    uint32_t fault;
} Writer;

static void put64(uint32_t at, uint64_t value)
{
    reg_write64(MXGPU_MEM_BUF + at, value);
}

static void put(Writer *w, uint32_t size)
{
    if (!w->fault) {
        w->fault = mem_store(w->queue->vmid, w->addr, size);
    }
    if (!w->fault) {
        w->addr += size;
    }
}

static void put_header(Writer *w, const struct mxgpu_profile *r)
{
    const uint32_t *words = (const uint32_t *)r;

    for (unsigned i = 0; i < RECORD_AT(counter) / 4; i++) {
        reg_write(MXGPU_MEM_BUF + i * 4, words[i]);
    }
    put(w, RECORD_AT(counter));
}

static void put_counters(Writer *w, unsigned slot)
{
    for (unsigned first = 0; first < MXGPU_COUNTERS; first += 16) {
        for (unsigned i = 0; i < 16; i++) {
            put64(i * 8, reg_read64(MXGPU_CP_COUNTER_LO +
                                    (slot * MXGPU_COUNTERS + first + i) *
                                        MXGPU_CP_COUNTER_LO_STRIDE));
        }
        put(w, 128);
    }
}

/* Those that ran a block; returns how many. */
static uint32_t put_units(Writer *w, unsigned slot)
{
    uint32_t base = slot * MXGPU_CP_UNIT_STRIDE, n = 0;

    for (uint32_t unit = 0; unit < fw.compute_units; unit++) {
        uint32_t blocks;

        reg_write(MXGPU_CP_UNIT + base, unit);
        blocks = reg_read(MXGPU_CP_UNIT_BLOCKS + base);
        if (!blocks) {
            continue;
        }
        reg_write(MXGPU_MEM_BUF, unit);
        reg_write(MXGPU_MEM_BUF + 4, blocks);
        for (unsigned i = 0; i < 6; i++) {
            reg_write(MXGPU_MEM_BUF + 8 + i * 4,
                      reg_read(MXGPU_CP_UNIT_FIRST_LO + base + i * 4));
        }
        put(w, sizeof(struct mxgpu_profile_unit));
        n++;
    }
    return n;
}

static bool write_record(FwQueue *queue, uint64_t index, int slot,
                         struct mxgpu_profile *r)
{
    uint64_t addr = record_address(queue, index);
    Writer w = {.queue = queue, .addr = addr};

    r->sequence = 0;
    if (slot >= 0) {
        w.addr += RECORD_AT(counter);
        put_counters(&w, (unsigned)slot);
        r->units = put_units(&w, (unsigned)slot);
        r->samples = reg_read64(MXGPU_CP_SAMPLES_LO +
                                (unsigned)slot * MXGPU_CP_UNIT_STRIDE);
        r->interval = queue->profile_interval;
        w.addr = w.fault ? w.addr : addr;
    }
    put_header(&w, r);
    if (!w.fault) {
        w.addr = addr;
        put64(0, index + 1);
        put(&w, 8);
    }
    if (unlikely(w.fault)) {
        struct mxgpu_queue_error error = {
            .code = MXGPU_QERR_FAULT,
            .fault = w.fault,
            .packet_index = index,
            .packet_type = r->packet_type,
            .fault_addr = w.addr,
            .access = MXGPU_ACCESS_WRITE,
        };

        queue_fail(queue, &error);
        return false;
    }
    return true;
}

bool profile_job(FwUnitKind kind, const FwJob *job, uint32_t status)
{
    uint32_t base = job->index * MXGPU_CD_STATUS_STRIDE;
    struct mxgpu_profile r;

    r.packet_type = job->header.type;
    r.fault = MXGPU_GET(MXGPU_CD_STATUS_FAULT, status);
    r.start = job->start;
    r.samples = 0;
    r.units = r.interval = 0;
    r.reserved[0] = r.reserved[1] = 0;
    if (kind == FW_UNIT_COPY) {
        r.end = reg_read64(MXGPU_CLOCK_LO);
        return write_record(job->queue, job->packet_index, -1, &r);
    }
    r.start = reg_read64(MXGPU_CD_START_LO + base);
    r.end = reg_read64(MXGPU_CD_END_LO + base);
    return write_record(job->queue, job->packet_index, job->index, &r);
}

bool profile_current(FwQueue *queue)
{
    struct mxgpu_profile r;

    r.packet_type = queue->packet.header.type;
    r.fault = MXGPU_FAULT_NONE;
    r.start = r.end = reg_read64(MXGPU_CLOCK_LO);
    r.samples = 0;
    r.units = r.interval = 0;
    r.reserved[0] = r.reserved[1] = 0;
    return write_record(queue, queue->read_index - 1, -1, &r);
}
