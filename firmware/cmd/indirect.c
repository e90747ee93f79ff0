/* SPDX-License-Identifier: MIT */
/*
 * INDIRECT: a list of packets in memory. From its start to its end the queue
 * fetches from the list instead of the ring (queue_fetch()); everything else
 * goes the way of packets of the ring. The list is the producer's memory: each
 * packet is checked when it is fetched.
 */
#include "cmd/commands.h"

static uint32_t indirect_check(const union mxgpu_packet *packet)
{
    const struct mxgpu_packet_indirect *indirect = &packet->indirect;

    if (indirect->count > MXGPU_INDIRECT_MAX) {
        return FIELD(indirect, count);
    }
    if (indirect->list % MXGPU_PACKET_SIZE ||
        !queue_in_address_space(indirect->list,
                                (uint64_t)indirect->count *
                                    MXGPU_PACKET_SIZE)) {
        return FIELD(indirect, list);
    }
    return cmd_check_zero(packet, FIELD(indirect, reserved) / 4, 11);
}

static FwStart indirect_start(FwQueue *queue)
{
    const struct mxgpu_packet_indirect *indirect = &queue->packet.indirect;

    if (!indirect->count) {
        return FW_START_DONE;
    }
    queue->list = indirect->list;
    queue->list_count = indirect->count;
    queue->list_next = 0;
    if (unlikely(queue->skip_at == queue->read_index)) {
        queue->list_next = queue->list_skip < indirect->count
                               ? queue->list_skip
                               : indirect->count;
        queue->skip_at = 0;
    }
    queue->list_header = queue->packet.header;
    queue->list_signal_addr = indirect->signal_addr;
    queue->list_signal_value = indirect->signal_value;
    return FW_START_LIST;
}

const FwCommand cmd_indirect = {
    .name = "indirect",
    .barrier = true,
    .check = indirect_check,
    .start = indirect_start,
};
