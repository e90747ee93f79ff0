/* SPDX-License-Identifier: MIT */
/*
 * The short way of plain dispatches, by the front end of the hardware: one
 * command takes a packet from memory to a slot, another from its end to its
 * signal. What the front end does not take (MXGPU_FRONT_OTHER) goes the way of
 * all other packets, as if nothing had been tried; so does everything while
 * somebody listens to events, or resets a unit. Which queue comes next and which slot it may have
 * is decided here and in sched.c, unit.c.
 */
#include "fw.h"

void front_init(void)
{
    fw.front_end = MXGPU_GET(MXGPU_FEATURES_FRONT_END,
                             reg_read(MXGPU_FEATURES));
    front_consider();
}

void front_forget(const FwQueue *queue)
{
    if (fw.front_queue == queue) {
        fw.front_queue = NULL;
    }
}

static FW_COLD void select_queue(const FwQueue *queue)
{
    bool vector = queue->vector != FW_NO_VECTOR;

    fw.front_queue = queue;
    reg_write64(MXGPU_FE_CTL_LO, queue->ctl);
    reg_write(MXGPU_FE_CFG,
              MXGPU_SET(MXGPU_FE_CFG_VMID, queue->vmid) |
                  MXGPU_SET(MXGPU_FE_CFG_PRIORITY, queue->priority) |
                  MXGPU_SET(MXGPU_FE_CFG_QUEUE, queue_id(queue)) |
                  MXGPU_SET(MXGPU_FE_CFG_VECTOR, vector ? queue->vector : 0) |
                  MXGPU_SET(MXGPU_FE_CFG_HAS_VECTOR, vector));
}

/* The packet was started: what unit_run() and queue_fetch() do for others. */
static inline __attribute__((always_inline)) void
began(FwQueue *queue, unsigned slot, uint32_t flags)
{
    FwJob *job = &fw.units[FW_UNIT_SLOT].jobs[slot];
    uint32_t busy = fw.units[FW_UNIT_SLOT].busy;

    job->queue = queue;
    job->packet_index = queue->read_index;
    job->header = (struct mxgpu_packet_header){MXGPU_PKT_DISPATCH,
                                               (uint16_t)flags};
    job->inner = 0;
    job->record = 0;
    job->abort = FW_ABORT_NONE;
    job->front = FW_FRONT_ONE;
    if (unlikely(fw.watchdog)) {
        unit_watch(job);
    }
    fw.units[FW_UNIT_SLOT].busy = busy | 1u << slot;
    if (unlikely(busy)) {
        slice_began(queue, job->index);
    }
    queue->running++;
    queue->barrier = flags & MXGPU_PKT_BARRIER;
    if (unlikely(queue->list_count)) {
        job->packet_index--;
        job->inner = ++queue->list_next;
    } else {
        queue->read_index++;
        queue->publish = false;
    }
    sched_ready(queue);
}

/* So many that others get their turn, too. */
#define CHAIN_MOST 64

/* How many of a list may follow its next packet without us. Not with a watchdog,
 * whose time is that of one packet. */
static FW_COLD uint32_t chain(const FwQueue *queue)
{
    uint32_t left = queue->list_count - queue->list_next - 1;

    return queue->running || fw.watchdog ? 0
           : left < CHAIN_MOST           ? left
                                         : CHAIN_MOST;
}

/* What may follow does so before all else of the queue. */
static FW_COLD void chain_began(FwQueue *queue, uint32_t result)
{
    unsigned slot = MXGPU_GET(MXGPU_FE_RESULT_SLOT, result);

    began(queue, slot,
          MXGPU_GET(MXGPU_FE_RESULT_FLAGS, result) | MXGPU_PKT_BARRIER);
    fw.units[FW_UNIT_SLOT].jobs[slot].front = FW_FRONT_CHAIN;
}

FW_COLD bool front_settled(FwJob *job)
{
    uint32_t state;

    if (likely(job->front != FW_FRONT_CHAIN)) {
        return true;
    }
    state = reg_read(MXGPU_FE_CHAIN + job->index * MXGPU_FE_CHAIN_STRIDE);
    if (MXGPU_GET(MXGPU_FE_CHAIN_LEFT, state)) {
        return false;
    }
    job->front = FW_FRONT_ONE;
    job->inner += MXGPU_GET(MXGPU_FE_CHAIN_DONE, state);
    job->header.flags = MXGPU_PKT_BARRIER;
    if (MXGPU_GET(MXGPU_FE_JOB_RAISE,
                  reg_read(MXGPU_FE_JOB +
                           job->index * MXGPU_FE_JOB_STRIDE))) {
        job->header.flags |= MXGPU_PKT_IRQ;
    }
    if (job->queue && job->queue->list_count) {
        job->queue->list_next = job->inner;
    }
    return true;
}

bool front_serve(FwQueue *queue)
{
    uint32_t command, result;

    if (unlikely(queue->launch_ring ||
                 (queue->list_count && queue->list_next == queue->list_count))) {
        return false;
    }
    if (unlikely(fw.front_queue != queue)) {
        select_queue(queue);
    }
    command = MXGPU_SET(MXGPU_FE_LAUNCH_SLOTS,
                        unit_idle_slots(queue->priority)) |
              MXGPU_SET(MXGPU_FE_LAUNCH_BUSY, queue->running != 0);
    reg_write64(MXGPU_FE_PACKET_LO, queue_next_addr(queue));
    if (queue->list_count) {
        command |= MXGPU_SET(MXGPU_FE_LAUNCH_CHAIN, chain(queue));
    } else {
        command |= FW_BIT(MXGPU_FE_LAUNCH_PUBLISH);
        reg_write64(MXGPU_FE_INDEX_LO, queue->read_index + 1);
    }
    reg_write(MXGPU_FE_LAUNCH, command);
    result = reg_read(MXGPU_FE_RESULT);
    switch (MXGPU_GET(MXGPU_FE_RESULT_STATE, result)) {
    case MXGPU_FRONT_LAUNCHED:
        began(queue, MXGPU_GET(MXGPU_FE_RESULT_SLOT, result),
              MXGPU_GET(MXGPU_FE_RESULT_FLAGS, result));
        return true;
    case MXGPU_FRONT_CHAINED:
        chain_began(queue, result);
        return true;
    case MXGPU_FRONT_NO_SLOT:
        sched_wait_for_slot(queue);
        return true;
    case MXGPU_FRONT_BARRIER:
        return true; /* the end of the last running packet brings it back */
    default:
        return false;
    }
}

/* The hardware does not know who waits for what memory, or listens; an error of
 * the queue is reported with what its packet was. */
static bool retire(FwJob *job, bool alone)
{
    FwQueue *queue = job->queue;

    if (unlikely(!fw.fast || queue->state != FW_QUEUE_ACTIVE ||
                 !list_empty(&fw.waits))) {
        return false;
    }
    reg_write(MXGPU_FE_RETIRE, job->index);
    if (unlikely(MXGPU_GET(MXGPU_FE_RESULT_STATE,
                           reg_read(MXGPU_FE_RESULT)) !=
                 MXGPU_FRONT_RETIRED)) {
        return false;
    }
    if (unlikely(fw.watchdog)) {
        unit_unwatch(job);
    }
    fw.units[FW_UNIT_SLOT].busy &= ~(1u << job->index);
    if (unlikely(slice_watches())) {
        slice_left(job->index);
    }
    queue->running--;
    queue->barrier = false;
    sched_now(queue, alone);
    return true;
}

/* As any other job. */
static FW_COLD void end(FwJob *job)
{
    uint32_t base = job->index * MXGPU_FE_SIGNAL_LO_STRIDE;

    if (job->front) {
        job->front = FW_FRONT_NOT;
        job->signal_addr = reg_read64(MXGPU_FE_SIGNAL_LO + base);
        job->signal_value = reg_read64(MXGPU_FE_VALUE_LO + base);
    }
    unit_end(FW_UNIT_SLOT, job->index);
}

void front_collect(uint32_t slots, bool alone)
{
    slots &= fw.units[FW_UNIT_SLOT].busy;
    alone = alone && !(slots & (slots - 1));
    for (; slots; slots &= slots - 1) {
        FwJob *job = &fw.units[FW_UNIT_SLOT].jobs[lowest_bit(slots)];

        if (unlikely(job->front != FW_FRONT_ONE && !front_settled(job))) {
            continue;
        }
        if (unlikely(!job->front || !retire(job, alone))) {
            end(job);
        }
    }
}
