/* SPDX-License-Identifier: MIT */
/* WRITE: one 4 or 8 byte store; of 4, the high half of value is ignored. */
#include "cmd/commands.h"

static uint32_t write_check(const union mxgpu_packet *packet)
{
    const struct mxgpu_packet_write *write = &packet->write;

    if (write->size != 4 && write->size != 8) {
        return FIELD(write, size);
    }
    if (write->addr & (write->size - 1)) {
        return FIELD(write, addr);
    }
    return cmd_check_zero(packet, FIELD(write, reserved) / 4, 11);
}

static FwStart write_start(FwQueue *queue)
{
    const struct mxgpu_packet_write *write = &queue->packet.write;
    uint32_t fault =
        write->size == 8
            ? mem_write64(queue->vmid, write->addr, write->value)
            : mem_write32(queue->vmid, write->addr, (uint32_t)write->value);

    if (unlikely(fault)) {
        cmd_fail_access(queue, MXGPU_QERR_FAULT, fault, write->addr,
                        MXGPU_ACCESS_WRITE);
        return FW_START_FAILED;
    }
    wait_notify(write->addr);
    return FW_START_DONE;
}

const FwCommand cmd_write = {
    .name = "write",
    .check = write_check,
    .start = write_start,
};
