/* SPDX-License-Identifier: MIT */
/*
 * Queues that are held still, and go on later: here, or on a device that was
 * reset meanwhile. A packet that has not begun is fetched again, for memory says
 * that its place in the ring is still needed (queue_position()); one that the
 * firmware executes itself and that waits for something begins anew.
 */
#include "fw.h"

static uint64_t pair(uint32_t lo, uint32_t hi)
{
    return lo | (uint64_t)hi << 32;
}

/* Packets that are done of the list of the packet at queue_position(). */
static uint32_t inner(const FwQueue *queue)
{
    return queue->list_count ? queue->list_next - queue->fetched
           : queue->skip_at == queue_position(queue) + 1 ? queue->list_skip
                                                         : 0;
}

static bool rung(const FwQueue *queue)
{
    unsigned id = queue_id(queue);

    return reg_read(MXGPU_DB_PENDING + id / 32 * 4) >> id % 32 & 1;
}

/* Grids that can begin are known to the firmware alone. */
static bool busy(const FwQueue *queue)
{
    return queue->running || queue->held.record ||
           (queue->launch_ring && queue->read_index != queue->write_index) ||
           rung(queue);
}

enum mxgpu_msg_status queue_hold(uint32_t id,
                                 struct mxgpu_msg_queue_hold_resp *answer)
{
    FwQueue *queue;
    uint64_t index;

    if (id >= fw.num_queues) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    queue = &fw.queues[id];
    if (queue->state == FW_QUEUE_FREE) {
        return MXGPU_MSG_NOT_FOUND;
    }
    if (!queue->paused) {
        queue->paused = true;
        sched_forget(queue);
        if (fw.next == queue) {
            fw.next = NULL;
        }
    }
    index = queue_position(queue);
    answer->state = queue->state == FW_QUEUE_STOPPED ? MXGPU_HOLD_ERROR
                    : busy(queue)                    ? MXGPU_HOLD_BUSY
                                                     : MXGPU_HOLD_STILL;
    answer->index_lo = (uint32_t)index;
    answer->index_hi = (uint32_t)(index >> 32);
    answer->tail_lo = (uint32_t)queue->write_index;
    answer->tail_hi = (uint32_t)(queue->write_index >> 32);
    answer->inner = inner(queue);
    answer->head = queue->launch_ring ? queue->launch_head : 0;
    return MXGPU_MSG_OK;
}

static bool is_there(const FwQueue *queue,
                     const struct mxgpu_msg_queue_resume *msg)
{
    return queue_position(queue) == pair(msg->index_lo, msg->index_hi) &&
           inner(queue) == msg->inner &&
           (!queue->launch_ring || queue->launch_head == msg->head);
}

/* Nothing of the queue is in flight. False: it stopped. */
static bool go_there(FwQueue *queue, const struct mxgpu_msg_queue_resume *msg)
{
    uint64_t index = pair(msg->index_lo, msg->index_hi);

    queue->fetched = false;
    queue->list_count = 0;
    queue->read_index = index;
    queue->write_index = index;
    queue->skip_at = msg->inner ? index + 1 : 0;
    queue->list_skip = msg->inner;
    if (queue->launch_ring) {
        queue->launch_head = msg->head;
    }
    queue_publish(queue);
    return queue->state == FW_QUEUE_ACTIVE;
}

static bool valid(const FwQueue *queue,
                  const struct mxgpu_msg_queue_resume *msg)
{
    uint64_t index = pair(msg->index_lo, msg->index_hi);
    uint64_t tail = pair(msg->tail_lo, msg->tail_hi);

    return tail >= index && index != UINT64_MAX &&
           tail - index <= (uint64_t)queue->mask + 1 &&
           msg->inner <= MXGPU_INDIRECT_MAX &&
           (queue->launch_ring ? tail == index && !msg->inner : !msg->head);
}

/* It was only held, and what was in flight may have moved it since. */
static bool wherever(const struct mxgpu_msg_queue_resume *msg)
{
    return pair(msg->index_lo, msg->index_hi) == MXGPU_RESUME_HERE &&
           !(msg->tail_lo | msg->tail_hi | msg->inner | msg->head);
}

enum mxgpu_msg_status
queue_resume(const struct mxgpu_msg_queue_resume *msg)
{
    uint64_t tail = pair(msg->tail_lo, msg->tail_hi);
    FwQueue *queue;

    if (msg->queue >= fw.num_queues) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    queue = &fw.queues[msg->queue];
    if (queue->state == FW_QUEUE_FREE) {
        return MXGPU_MSG_NOT_FOUND;
    }
    if (queue->state != FW_QUEUE_ACTIVE || !queue->paused) {
        return MXGPU_MSG_BUSY;
    }
    if (!wherever(msg) && !is_there(queue, msg)) {
        if (!valid(queue, msg)) {
            return MXGPU_MSG_BAD_ARGUMENT;
        }
        if (busy(queue)) {
            return MXGPU_MSG_BUSY;
        }
        if (!go_there(queue, msg)) {
            return MXGPU_MSG_FAULT;
        }
    } else if (!wherever(msg) && !queue->launch_ring && !valid(queue, msg)) {
        return MXGPU_MSG_BAD_ARGUMENT;
    }
    if (!queue->launch_ring && tail > queue->write_index) {
        queue->write_index = tail;
    }
    queue->paused = false;
    sched_ready(queue);
    return MXGPU_MSG_OK;
}
