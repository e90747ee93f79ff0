/* SPDX-License-Identifier: MIT */
/*
 * Which queue is served next, and what a queue does then.
 *
 * Priorities are strict: a queue is served only when no queue of a more urgent
 * level can do anything; there is no ageing, so busy urgent queues starve less
 * urgent ones of starts (never of completions: those come from interrupts).
 * Inside a level queues take turns, one packet each. Queues whose packet needs
 * a unit while none is free for them wait in line for that kind of unit, and go
 * before the ready queues of their level when one becomes free.
 */
#include "fw.h"

void sched_init(void)
{
    fw.ready = 0;
    for (unsigned i = 0; i < FW_PRIORITIES; i++) {
        list_init(&fw.ready_list[i]);
        for (unsigned kind = 0; kind < FW_UNIT_KINDS; kind++) {
            list_init(&fw.units[kind].waiters[i]);
        }
    }
    list_init(&fw.waits);
    list_init(&fw.exclusive);
}

static bool is_ready(const FwQueue *queue)
{
    return queue->state == FW_QUEUE_ACTIVE &&
           !(queue->barrier | queue->paused) && list_empty(&queue->link) &&
           (queue->fetched || queue_has_more(queue));
}

void sched_ready(FwQueue *queue)
{
    if (is_ready(queue)) {
        list_add_tail(&fw.ready_list[queue->priority], &queue->link);
        fw.ready |= 1u << queue->priority;
    }
}

void sched_forget(FwQueue *queue)
{
    /* Bits of priorities that become empty by this are cleared in pick(). */
    list_remove(&queue->link);
    if (queue->fetched &&
        queue->packet.header.flags & MXGPU_PKT_COOPERATIVE) {
        launch_start_exclusive(); /* who waits may have waited for this one */
    }
}

static void wait_for_unit(FwQueue *queue, FwUnitKind kind)
{
    FwUnits *units = &fw.units[kind];

    list_add_tail(&units->waiters[queue->priority], &queue->link);
    units->waiting |= 1u << queue->priority;
}

void sched_wait_for_slot(FwQueue *queue)
{
    wait_for_unit(queue, FW_UNIT_SLOT);
}

bool sched_more(void)
{
    return fw.ready || unit_levels(FW_UNIT_COPY) || unit_levels(FW_UNIT_SLOT);
}

static FW_COLD FwQueue *pick(void)
{
    for (;;) {
        uint32_t copy = unit_levels(FW_UNIT_COPY);
        uint32_t slot = unit_levels(FW_UNIT_SLOT);
        uint32_t any = fw.ready | copy | slot, bit = any & -any;
        unsigned level;
        uint32_t *mask;
        FwList *list;

        if (!any) {
            return NULL;
        }
        level = lowest_bit(any);
        if (slot & bit) {
            mask = &fw.units[FW_UNIT_SLOT].waiting;
            list = &fw.units[FW_UNIT_SLOT].waiters[level];
        } else if (copy & bit) {
            mask = &fw.units[FW_UNIT_COPY].waiting;
            list = &fw.units[FW_UNIT_COPY].waiters[level];
        } else {
            mask = &fw.ready;
            list = &fw.ready_list[level];
        }
        if (!list_empty(list)) {
            FwQueue *queue = list_entry(list->next, FwQueue, link);

            list_remove(&queue->link);
            if (list_empty(list)) {
                *mask &= ~bit;
            }
            return queue;
        }
        *mask &= ~bit; /* sched_forget() has taken the last one */
    }
}

static void refuse(FwQueue *queue, uint32_t code, uint32_t fault,
                   uint32_t field, uint64_t addr)
{
    struct mxgpu_queue_error error = {
        .code = code,
        .fault = fault,
        .packet_index = queue->read_index - 1,
        .packet_type = queue->packet.header.type,
        .field = field,
        .fault_addr = addr,
        .inner = queue_inner(queue),
    };

    queue_fail(queue, &error);
}

/* Without a fault ring, what faults would wait for ever. */
static bool faults_are_reported(void)
{
    return MXGPU_GET(MXGPU_FAULT_CFG_ENABLE, reg_read(MXGPU_FAULT_CFG));
}

/* Whether the packet may have flags that not all types have. */
static bool more_flags(const FwQueue *queue)
{
    const struct mxgpu_packet_header *header = &queue->packet.header;
    uint16_t allowed = MXGPU_PKT_FLAGS | fw_commands[header->type]->flags;

    return !(header->flags & ~allowed) &&
           (!(header->flags & MXGPU_PKT_PROFILE) ||
            (queue->profile_stride && !queue->list_count)) &&
           (!(header->flags & MXGPU_PKT_RECOVER) || faults_are_reported()) &&
           (!(header->flags & MXGPU_PKT_LAUNCHES) || launch_allowed(queue));
}

/* Checks a packet that was just fetched; false: the queue stopped. */
static bool check_packet(FwQueue *queue)
{
    const union mxgpu_packet *packet = &queue->packet;
    uint32_t field;

    if (packet->header.type >= MXGPU_PKT_TYPES ||
        unlikely(packet->header.type == MXGPU_PKT_INDIRECT &&
                 queue->list_count)) {
        field = offsetof(struct mxgpu_packet_header, type);
    } else if (unlikely(packet->header.flags & ~MXGPU_PKT_FLAGS) &&
               !more_flags(queue)) {
        field = offsetof(struct mxgpu_packet_header, flags);
    } else {
        field = fw_commands[packet->header.type]->check(packet);
    }
    if (unlikely(field != FW_FIELD_OK)) {
        refuse(queue, MXGPU_QERR_PACKET, MXGPU_FAULT_NONE, field, 0);
        return false;
    }
    if (unlikely(packet_signal_addr(packet) & 7)) {
        refuse(queue, MXGPU_QERR_SIGNAL, MXGPU_FAULT_MISALIGNED,
               offsetof(struct mxgpu_packet_write, signal_addr),
               packet_signal_addr(packet));
        return false;
    }
    return true;
}

static bool is_barrier(const FwQueue *queue)
{
    return (queue->packet.header.flags & MXGPU_PKT_BARRIER) ||
           fw_commands[queue->packet.header.type]->barrier;
}

static bool complete_current(FwQueue *queue)
{
    queue->fetched = false;
    if (unlikely(queue->packet.header.flags & MXGPU_PKT_PROFILE) &&
        !profile_current(queue)) {
        return false;
    }
    return queue_complete(queue, queue->read_index - 1, &queue->packet.header,
                          packet_signal_addr(&queue->packet),
                          packet_signal_value(&queue->packet),
                          queue_inner(queue));
}

void sched_unpark(FwQueue *queue)
{
    list_remove(&queue->link);
    if (complete_current(queue)) {
        sched_ready(queue);
    }
}

/* The firmware executes the packet itself. */
static void trace_own(const FwQueue *queue)
{
    trace_event(queue, MXGPU_QEV_PACKET_START, queue->packet.header.type,
                MXGPU_QEV_UNIT_NONE, queue->read_index - 1, 0);
}

/* Starts the queue's packet if it may start; false: the queue stopped. */
static bool start_packet(FwQueue *queue)
{
    bool barrier = is_barrier(queue);

    if (barrier && queue->running) {
        return true; /* the end of the last running packet brings it back */
    }
    switch (fw_commands[queue->packet.header.type]->start(queue)) {
    case FW_START_DONE:
        trace_own(queue);
        if (!complete_current(queue)) {
            return false;
        }
        sched_ready(queue);
        return true;
    case FW_START_RUNNING:
        queue->fetched = false;
        queue->barrier = barrier;
        sched_ready(queue);
        return true;
    case FW_START_PARKED:
        trace_own(queue);
        return true;
    case FW_START_LATER:
        return true;
    case FW_START_LIST:
        trace_own(queue);
        queue->fetched = false;
        sched_ready(queue);
        return true;
    case FW_START_NEEDS_COPY:
        wait_for_unit(queue, FW_UNIT_COPY);
        return true;
    case FW_START_NEEDS_SLOT:
        wait_for_unit(queue, FW_UNIT_SLOT);
        return true;
    case FW_START_FAILED:
        break;
    }
    return false;
}

/* All packets of the list were started: INDIRECT is complete when they are. */
static void end_list(FwQueue *queue)
{
    if (queue->running) {
        return; /* as in start_packet() */
    }
    queue->list_count = 0;
    queue->publish = true;
    if (queue_complete(queue, queue->read_index - 1, &queue->list_header,
                       queue->list_signal_addr, queue->list_signal_value,
                       0)) {
        sched_ready(queue);
    }
}

/* Any packet, the way of all of them. */
static FW_COLD void serve_packet(FwQueue *queue)
{
    if (unlikely(queue->list_count) && !queue->fetched &&
        queue->list_next == queue->list_count) {
        end_list(queue);
        return;
    }
    if (!queue->fetched && (!queue_fetch(queue) || !check_packet(queue))) {
        return;
    }
    /* The start comes first: it is what the producer waits for. */
    if (start_packet(queue) && queue->publish) {
        queue_publish(queue);
    }
}

void sched_now(FwQueue *queue, bool alone)
{
    if (!alone || fw.ready || fw.units[FW_UNIT_COPY].waiting ||
        fw.units[FW_UNIT_SLOT].waiting) {
        sched_ready(queue);
    } else if (is_ready(queue)) {
        fw.next = queue;
    }
}

static void serve(FwQueue *queue)
{
    if (queue->fetched || !fw.fast || !front_serve(queue)) {
        serve_packet(queue);
    }
}

bool sched_step(void)
{
    FwQueue *queue = fw.next;

    if (queue) {
        fw.next = NULL;
    } else {
        queue = sched_more() ? pick() : NULL;
        if (!queue) {
            return false;
        }
    }
    serve(queue);
    return true;
}
