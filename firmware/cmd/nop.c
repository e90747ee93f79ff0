/* SPDX-License-Identifier: MIT */
/* NOP: completes at once; with BARRIER a fence. Bytes 4 to 47 are reserved. */
#include "cmd/commands.h"

static uint32_t nop_check(const union mxgpu_packet *packet)
{
    return cmd_check_zero(packet, 1, 11);
}

static FwStart nop_start(FwQueue *queue)
{
    return FW_START_DONE;
}

const FwCommand cmd_nop = {
    .name = "nop",
    .check = nop_check,
    .start = nop_start,
};
