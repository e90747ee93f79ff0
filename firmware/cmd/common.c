/* SPDX-License-Identifier: MIT */
/* Helpers of several commands. */
#include "cmd/commands.h"

uint32_t cmd_find_nonzero(const union mxgpu_packet *packet, unsigned first,
                          unsigned last)
{
    for (unsigned i = first; i <= last; i++) {
        if (packet->words[i]) {
            return i * 4;
        }
    }
    return FW_FIELD_OK;
}

void cmd_fail_access(FwQueue *queue, uint32_t code, uint32_t fault,
                     uint64_t addr, enum mxgpu_access access)
{
    struct mxgpu_queue_error error = {
        .code = code,
        .fault = fault,
        .packet_index = queue->read_index - 1,
        .packet_type = queue->packet.header.type,
        .inner = queue_inner(queue),
        .fault_addr = addr,
        .access = access,
    };

    queue_fail(queue, &error);
}
