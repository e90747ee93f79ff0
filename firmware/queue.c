/* SPDX-License-Identifier: MIT */
/*
 * Queues: their life, their doorbells, and what is written to their memory.
 * Everything in that memory, and the doorbell, is the producer's: nothing read
 * from it is trusted, and a failing access stops only this queue.
 */
#include "fw.h"
#include "mxgpu/pte.h"

void queue_init(void)
{
    for (unsigned i = 0; i < MXGPU_MAX_QUEUES; i++) {
        list_init(&fw.queues[i].link);
    }
    for (unsigned i = 0; i < MXGPU_DB_ENABLE_COUNT; i++) {
        reg_write(MXGPU_DB_ENABLE + i * 4, 0);
        reg_write(MXGPU_DB_PENDING + i * 4, 0xffffffff);
    }
}

static void enable_doorbell(unsigned id, bool enable)
{
    uint32_t offset = id / 32 * 4, bit = 1u << id % 32;
    uint32_t value = reg_read(MXGPU_DB_ENABLE + offset) & ~bit;

    reg_write(MXGPU_DB_ENABLE + offset, enable ? value | bit : value);
    reg_write(MXGPU_DB_PENDING + offset, bit);
}

/* ---- creation --------------------------------------------------------- */

bool queue_in_address_space(uint64_t addr, uint64_t size)
{
    return addr < MXGPU_VA_LIMIT && size <= MXGPU_VA_LIMIT - addr;
}

static enum mxgpu_msg_status
check_create(const struct mxgpu_msg_queue_create *msg)
{
    uint64_t ring = msg->ring_lo | (uint64_t)msg->ring_hi << 32;
    uint64_t ctl = msg->ctl_lo | (uint64_t)msg->ctl_hi << 32;

    if (msg->queue >= fw.num_queues || msg->vmid >= MXGPU_NUM_VMIDS ||
        msg->priority >= FW_PRIORITIES || msg->log2_packets < 2 ||
        msg->log2_packets > 16 || ring % MXGPU_PACKET_SIZE ||
        ctl % 64 ||
        !queue_in_address_space(ring, (uint64_t)MXGPU_PACKET_SIZE
                                          << msg->log2_packets) ||
        !queue_in_address_space(ctl, sizeof(struct mxgpu_queue_ctl)) ||
        (msg->vector != FW_NO_VECTOR && msg->vector >= fw.num_vectors)) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    if (fw.queues[msg->queue].state != FW_QUEUE_FREE) {
        return MXGPU_MSG_BUSY;
    }
    return MXGPU_MSG_OK;
}

/* Clears the control block and touches every page of the ring. */
static bool probe_memory(const FwQueue *queue)
{
    const uint32_t zero[sizeof(struct mxgpu_queue_ctl) / 4] = {0};
    uint64_t end = queue->ring + (uint64_t)(queue->mask + 1) * 64;

    if (mem_write_words(queue->vmid, queue->ctl, zero,
                        sizeof(zero) / sizeof(zero[0]))) {
        return false;
    }
    for (uint64_t addr = queue->ring; addr < end;
         addr = (addr | 0xfff) + 1) {
        if (mem_load(queue->vmid, addr, 4)) {
            return false;
        }
    }
    return true;
}

/* Nothing has been fetched, and nothing is known of what was; false: its memory
 * is not there. */
static bool begin(FwQueue *queue)
{
    queue->fetched = queue->barrier = queue->publish = false;
    queue->paused = false;
    queue->skip_at = 0;
    queue->running = 0;
    queue->profile_stride = 0;
    queue->list_count = 0;
    queue->held.record = queue->launch_ring = 0;
    queue->tree = queue->reset = false;
    queue->write_index = queue->read_index = 0;
    front_forget(queue);
    return probe_memory(queue);
}

enum mxgpu_msg_status queue_create(const struct mxgpu_msg_queue_create *msg)
{
    enum mxgpu_msg_status status = check_create(msg);
    FwQueue *queue;

    if (status != MXGPU_MSG_OK) {
        return status;
    }
    queue = &fw.queues[msg->queue];
    queue->vmid = (uint8_t)msg->vmid;
    queue->priority = (uint8_t)msg->priority;
    queue->vector = msg->vector;
    queue->mask = (1u << msg->log2_packets) - 1;
    queue->ring = msg->ring_lo | (uint64_t)msg->ring_hi << 32;
    queue->ctl = msg->ctl_lo | (uint64_t)msg->ctl_hi << 32;
    if (!begin(queue)) {
        return MXGPU_MSG_FAULT;
    }
    queue->state = FW_QUEUE_ACTIVE;
    fw.vmid_queues[queue->vmid]++;
    fw.level_queues[queue->priority]++;
    fw.levels |= 1u << queue->priority;
    enable_doorbell(msg->queue, true);
    trace_event(queue, MXGPU_QEV_CREATE, 0, MXGPU_QEV_UNIT_NONE, 0,
                queue->vmid | (uint32_t)queue->priority << 8);
    fw_log(FW_LOG_DEBUG, "queue %u: created, vmid %u priority %u", msg->queue,
           msg->vmid, msg->priority);
    return MXGPU_MSG_OK;
}

/* ---- destruction ------------------------------------------------------- */

/* Nothing of the queue runs: it begins anew. One whose memory is not there any
 * more is destroyed. */
static bool come_back(FwQueue *queue)
{
    if (!begin(queue)) {
        return false;
    }
    queue->state = FW_QUEUE_ACTIVE;
    enable_doorbell(queue_id(queue), true);
    fw_log(FW_LOG_INFO, "queue %u: reset", queue_id(queue));
    return true;
}

void queue_reap(FwQueue *queue)
{
    bool reset = queue->reset;

    if (reset && come_back(queue)) {
        if (fw.destroying == queue) {
            fw.destroying = NULL;
            mailbox_finish(MXGPU_MSG_OK);
        }
        return;
    }
    queue->state = FW_QUEUE_FREE;
    fw.vmid_queues[queue->vmid]--;
    if (--fw.level_queues[queue->priority] == 0) {
        fw.levels &= ~(1u << queue->priority);
    }
    fw_log(FW_LOG_DEBUG, "queue %u: destroyed", queue_id(queue));
    trace_event(queue, MXGPU_QEV_DESTROY, 0, MXGPU_QEV_UNIT_NONE,
                queue->read_index, 0);
    if (fw.destroying == queue) {
        fw.destroying = NULL;
        mailbox_finish(reset ? MXGPU_MSG_FAULT : MXGPU_MSG_OK);
    }
}

/* Ends what the queue does. */
static enum mxgpu_msg_status end_work(uint32_t id, bool reset)
{
    FwQueue *queue;

    if (id >= fw.num_queues) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    queue = &fw.queues[id];
    if (queue->state == FW_QUEUE_FREE) {
        return MXGPU_MSG_NOT_FOUND;
    }
    enable_doorbell(id, false);
    sched_forget(queue);
    launch_forget(queue);
    queue->reset = reset;
    queue->state = FW_QUEUE_DYING;
    context_forget(queue);
    if (queue->running) {
        fw.destroying = queue;
        unit_abort_queue(queue);
        return MXGPU_MSG_BUSY;
    }
    queue_reap(queue);
    return reset && queue->state != FW_QUEUE_ACTIVE ? MXGPU_MSG_FAULT
                                                    : MXGPU_MSG_OK;
}

enum mxgpu_msg_status queue_destroy(uint32_t id)
{
    return end_work(id, false);
}

enum mxgpu_msg_status queue_reset(uint32_t id)
{
    return end_work(id, true);
}

/* ---- errors ------------------------------------------------------------- */

static void raise_vector(const FwQueue *queue)
{
    if (queue->vector != FW_NO_VECTOR) {
        reg_write(MXGPU_MSIX_RAISE, queue->vector);
    }
}

/* Brings the control block up to date: read index, record, then state. */
static bool write_record(FwQueue *queue, const struct mxgpu_queue_error *error)
{
    uint32_t words[sizeof(*error) / 4];

    __builtin_memcpy(words, error, sizeof(words));
    return !mem_write64(queue->vmid,
                        queue->ctl +
                            offsetof(struct mxgpu_queue_ctl, read_index),
                        queue->read_index) &&
           !mem_write_words(queue->vmid,
                            queue->ctl +
                                offsetof(struct mxgpu_queue_ctl, error),
                            words, sizeof(words) / sizeof(words[0])) &&
           !mem_write32(queue->vmid,
                        queue->ctl + offsetof(struct mxgpu_queue_ctl, state),
                        MXGPU_QUEUE_ERROR);
}

void queue_fail(FwQueue *queue, struct mxgpu_queue_error *error)
{
    fw_log(FW_LOG_WARNING,
           "queue %u: error %u fault %u packet 0x%llx type %u field %u "
           "address 0x%llx pc 0x%llx",
           queue_id(queue), error->code, error->fault,
           (unsigned long long)error->packet_index, error->packet_type,
           error->field, (unsigned long long)error->fault_addr,
           (unsigned long long)error->fault_pc);
    if (queue->state != FW_QUEUE_ACTIVE) {
        return; /* the first record stays */
    }
    trace_event(queue, MXGPU_QEV_ERROR, error->packet_type,
                MXGPU_QEV_UNIT_NONE, error->packet_index,
                error->code | error->fault << 8);
    queue->state = FW_QUEUE_STOPPED;
    queue->fetched = queue->publish = false;
    queue->list_count = 0;
    sched_forget(queue);
    context_forget(queue);
    launch_failed(queue, error);
    if (!write_record(queue, error)) {
        fw_log(FW_LOG_ERROR, "queue %u: control block is not writable",
               queue_id(queue));
    }
    raise_vector(queue);
    reg_write(MXGPU_EVENT_RAISE, 1);
}

/* ---- progress ----------------------------------------------------------- */

/* The doorbell was rung: whether its value is one. */
static bool ring(FwQueue *queue)
{
    uint64_t value = reg_read64(MXGPU_DB_VALUE_LO +
                                queue_id(queue) * MXGPU_DB_VALUE_LO_STRIDE);

    if (queue->state != FW_QUEUE_ACTIVE) {
        return false;
    }
    if (unlikely(queue->launch_ring || value < queue->write_index ||
                 value - queue->read_index > (uint64_t)queue->mask + 1)) {
        struct mxgpu_queue_error error = {
            .code = MXGPU_QERR_INDEX,
            .packet_index = queue->read_index,
            .fault_addr = value,
        };

        queue_fail(queue, &error);
        return false;
    }
    queue->write_index = value;
    return true;
}

/* As many as there are queues, however often they are rung meanwhile. */
static void next_doorbells(bool alone)
{
    FwQueue *last = NULL;

    for (unsigned i = 0; i < fw.num_queues; i++) {
        uint32_t next = reg_read(MXGPU_DB_NEXT);

        if (next >= MXGPU_MAX_QUEUES) {
            break;
        }
        if (unlikely(last)) {
            sched_ready(last);
            alone = false;
        }
        last = ring(&fw.queues[next]) ? &fw.queues[next] : NULL;
    }
    if (last) {
        sched_now(last, alone);
    }
}

static FW_COLD void all_doorbells(void)
{
    for (unsigned first = 0; first < fw.num_queues; first += 32) {
        uint32_t offset = MXGPU_DB_PENDING + first / 32 * 4;
        uint32_t rung = reg_read(offset);

        if (!rung) {
            continue;
        }
        reg_write(offset, rung);
        for (; rung; rung &= rung - 1) {
            FwQueue *queue = &fw.queues[first + lowest_bit(rung)];

            if (ring(queue)) {
                sched_ready(queue);
            }
        }
    }
}

void queue_doorbells(bool alone)
{
    if (likely(fw.front_end)) {
        next_doorbells(alone);
    } else {
        all_doorbells();
    }
}

bool queue_fetch(FwQueue *queue)
{
    if (unlikely(queue->launch_ring)) {
        return launch_fetch(queue);
    }

    bool inner = queue->list_count;
    uint64_t addr = queue_next_addr(queue);
    uint32_t fault =
        mem_read_words(queue->vmid, addr, queue->packet.words, 16);

    if (unlikely(fault)) {
        struct mxgpu_queue_error error = {
            .code = MXGPU_QERR_FETCH,
            .fault = fault,
            .packet_index = queue->read_index - inner,
            .fault_addr = addr,
            .access = MXGPU_ACCESS_READ,
            .inner = inner ? queue->list_next + 1 : 0,
        };

        queue_fail(queue, &error);
        return false;
    }
    queue->fetched = true;
    if (inner) {
        queue->list_next++;
    } else {
        queue->read_index++;
        queue->publish = true;
    }
    return true;
}

void queue_publish(FwQueue *queue)
{
    uint64_t addr =
        queue->ctl + offsetof(struct mxgpu_queue_ctl, read_index);
    uint64_t index = queue->read_index;
    bool again = false;
    uint32_t fault;

    if (unlikely(queue->fetched | queue->list_count)) {
        index = queue_position(queue);
        /* The end of a list asks for it anew: not each of its packets does. */
        again = !queue->list_count;
    }
    fault = mem_write64(queue->vmid, addr, index);
    queue->publish = again;
    if (unlikely(fault)) {
        struct mxgpu_queue_error error = {
            .code = MXGPU_QERR_FETCH,
            .fault = fault,
            .packet_index = queue->read_index,
            .fault_addr = addr,
            .access = MXGPU_ACCESS_WRITE,
        };

        queue_fail(queue, &error);
    }
}

bool queue_complete(FwQueue *queue, uint64_t index,
                    const struct mxgpu_packet_header *header,
                    uint64_t signal_addr, uint64_t signal_value,
                    uint32_t inner)
{
    uint32_t fault;

    /* Who sees the signal must also see the slot free. */
    if (queue->publish) {
        queue_publish(queue);
        if (queue->state != FW_QUEUE_ACTIVE) {
            return false;
        }
    }
    if (signal_addr) {
        fault = mem_write64(queue->vmid, signal_addr, signal_value);
        if (unlikely(fault)) {
            struct mxgpu_queue_error error = {
                .code = MXGPU_QERR_SIGNAL,
                .fault = fault,
                .packet_index = index,
                .packet_type = header->type,
                .field = offsetof(struct mxgpu_packet_write, signal_addr),
                .fault_addr = signal_addr,
                .access = MXGPU_ACCESS_WRITE,
                .inner = inner,
            };

            queue_fail(queue, &error);
            return false;
        }
        wait_notify(signal_addr);
    }
    trace_event(queue, MXGPU_QEV_PACKET_END, header->type, MXGPU_QEV_UNIT_NONE,
                index, signal_addr ? signal_value : 0);
    if (header->flags & MXGPU_PKT_IRQ) {
        raise_vector(queue);
    }
    return queue->state == FW_QUEUE_ACTIVE;
}
