/* SPDX-License-Identifier: MIT */
/*
 * WAIT: parks the queue until memory meets a condition. Memory is looked at
 * when the packet starts, when the firmware itself writes the address, and by
 * the clock with a growing pause: 1 us at first, doubled up to 100 us, or to
 * 4 us a waiting queue when that is more. Of size 4, the high half of value is
 * ignored.
 */
#include "cmd/commands.h"

#define FIRST_PAUSE      (1 * FW_US)
#define LONGEST_PAUSE    (100 * FW_US)
#define PAUSE_PER_WAITER (4 * FW_US)

static uint32_t wait_check(const union mxgpu_packet *packet)
{
    const struct mxgpu_packet_wait *wait = &packet->wait;

    if (wait->size != 4 && wait->size != 8) {
        return FIELD(wait, size);
    }
    if (wait->cond >= MXGPU_WAIT_CONDS) {
        return FIELD(wait, cond);
    }
    if (wait->addr & (wait->size - 1u)) {
        return FIELD(wait, addr);
    }
    return cmd_check_zero(packet, FIELD(wait, reserved) / 4, 11);
}

static bool condition(const struct mxgpu_packet_wait *wait, uint64_t memory)
{
    /* Operands of 4 bytes go to the upper half: signs and zeroes carry over. */
    unsigned shift = wait->size == 4 ? 32 : 0;
    uint64_t value = wait->value << shift;

    memory <<= shift;
    switch (wait->cond) {
    case MXGPU_WAIT_GEQ:
        return (int64_t)(memory - value) >= 0;
    case MXGPU_WAIT_EQ:
        return memory == value;
    case MXGPU_WAIT_AND:
        return (memory & value) != 0;
    default: /* MXGPU_WAIT_NOR */
        return (~(memory | value) >> shift) << shift != 0;
    }
}

typedef enum Look { LOOK_MET, LOOK_NOT_MET, LOOK_FAILED } Look;

static Look look(FwQueue *queue)
{
    const struct mxgpu_packet_wait *wait = &queue->packet.wait;
    uint32_t fault = mem_load(queue->vmid, wait->addr, wait->size);

    if (unlikely(fault)) {
        cmd_fail_access(queue, MXGPU_QERR_FAULT, fault, wait->addr,
                        MXGPU_ACCESS_READ);
        return LOOK_FAILED;
    }
    /* Of 4 bytes, the high half is stale and condition() ignores it. */
    return condition(wait, reg_read64(MXGPU_MEM_BUF)) ? LOOK_MET
                                                      : LOOK_NOT_MET;
}

static FwStart wait_start(FwQueue *queue)
{
    switch (look(queue)) {
    case LOOK_MET:
        return FW_START_DONE;
    case LOOK_FAILED:
        return FW_START_FAILED;
    default:
        queue->backoff = FIRST_PAUSE;
        queue->poll_time = time_now() + FIRST_PAUSE;
        list_add_tail(&fw.waits, &queue->link);
        return FW_START_PARKED;
    }
}

static void pause_queue(FwQueue *queue, uint64_t now)
{
    uint32_t longest = fw.num_waits * PAUSE_PER_WAITER;

    longest = longest > LONGEST_PAUSE ? longest : LONGEST_PAUSE;
    queue->backoff *= 2;
    if (queue->backoff > longest) {
        queue->backoff = longest;
    }
    queue->poll_time = now + queue->backoff;
}

void wait_poll(uint64_t now)
{
    uint32_t count = 0;
    FwList *node, *next;

    for (node = fw.waits.next; node != &fw.waits; node = next) {
        FwQueue *queue = list_entry(node, FwQueue, link);

        next = node->next;
        count++;
        if (now < queue->poll_time) {
            continue;
        }
        switch (look(queue)) {
        case LOOK_MET:
            sched_unpark(queue);
            break;
        case LOOK_NOT_MET:
            pause_queue(queue, now);
            break;
        case LOOK_FAILED:
            break;
        }
    }
    fw.num_waits = count;
}

uint64_t wait_next(void)
{
    uint64_t next = FW_NEVER;

    for (FwList *node = fw.waits.next; node != &fw.waits; node = node->next) {
        uint64_t time = list_entry(node, FwQueue, link)->poll_time;

        next = time < next ? time : next;
    }
    return next;
}

void wait_notify(uint64_t addr)
{
    for (FwList *node = fw.waits.next; node != &fw.waits; node = node->next) {
        FwQueue *queue = list_entry(node, FwQueue, link);

        if ((queue->packet.wait.addr ^ addr) < 8) {
            queue->poll_time = 0;
        }
    }
}

const FwCommand cmd_wait = {
    .name = "wait",
    .barrier = true,
    .check = wait_check,
    .start = wait_start,
};
