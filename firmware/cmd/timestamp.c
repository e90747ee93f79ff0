/* SPDX-License-Identifier: MIT */
/* TIMESTAMP: the device clock to memory, behind all earlier packets. */
#include "cmd/commands.h"

static uint32_t timestamp_check(const union mxgpu_packet *packet)
{
    const struct mxgpu_packet_timestamp *stamp = &packet->timestamp;

    if (stamp->reserved0) {
        return FIELD(timestamp, reserved0);
    }
    if (stamp->addr & 7) {
        return FIELD(timestamp, addr);
    }
    return cmd_check_zero(packet, FIELD(timestamp, reserved1) / 4, 11);
}

static FwStart timestamp_start(FwQueue *queue)
{
    uint64_t addr = queue->packet.timestamp.addr;
    uint32_t fault =
        mem_write64(queue->vmid, addr, reg_read64(MXGPU_CLOCK_LO));

    if (unlikely(fault)) {
        cmd_fail_access(queue, MXGPU_QERR_FAULT, fault, addr,
                        MXGPU_ACCESS_WRITE);
        return FW_START_FAILED;
    }
    wait_notify(addr);
    return FW_START_DONE;
}

const FwCommand cmd_timestamp = {
    .name = "timestamp",
    .barrier = true,
    .check = timestamp_check,
    .start = timestamp_start,
};
