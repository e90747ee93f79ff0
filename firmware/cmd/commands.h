/* SPDX-License-Identifier: MIT */
/* What the files of this directory share. */
#ifndef FW_CMD_COMMANDS_H
#define FW_CMD_COMMANDS_H

#include "fw.h"

extern const FwCommand cmd_nop, cmd_copy, cmd_fill, cmd_dispatch, cmd_write,
    cmd_wait, cmd_timestamp, cmd_tlb_invalidate, cmd_copy_rect, cmd_fill_rect,
    cmd_indirect;

/* Offset of a field of a packet. */
#define FIELD(packet, member)                                                  \
    ((uint32_t)offsetof(struct mxgpu_packet_##packet, member))

/* Offset of the first of words first .. last that is not 0, or FW_FIELD_OK. */
uint32_t cmd_find_nonzero(const union mxgpu_packet *packet, unsigned first,
                          unsigned last);

static inline uint32_t cmd_check_zero(const union mxgpu_packet *packet,
                                      unsigned first, unsigned last)
{
    uint32_t any = 0;

#ifdef __clang__
#pragma clang loop unroll(full)
#endif
    for (unsigned i = first; i <= last; i++) {
        any |= packet->words[i];
    }
    return unlikely(any) ? cmd_find_nonzero(packet, first, last) : FW_FIELD_OK;
}

/* Stops the queue over memory that its current packet names. */
void cmd_fail_access(FwQueue *queue, uint32_t code, uint32_t fault,
                     uint64_t addr, enum mxgpu_access access);

#endif
