/* SPDX-License-Identifier: MIT */
/*
 * A look at the device in words, for people: what gdb's "monitor", QEMU's
 * "info mxgpu" and a debugger of the model in a process show. It changes
 * nothing: no error is counted, no half of a register latched, no accessed bit
 * set. What runs meanwhile may be shown as it was at different moments.
 */
#ifndef MXGPU_CORE_INSPECT_H
#define MXGPU_CORE_INSPECT_H

#include "device.h"
#include "mxgpu/packets.h"

/* Takes pieces of a text, without a 0 behind them. */
typedef struct MxgpuText {
    void (*put)(void *opaque, const char *text, size_t len);
    void *opaque;
    bool held; /* the device is paused: warps can be shown */
} MxgpuText;

/* A command and its arguments, "registers CE_" for instance; "" is "status".
 * false: there is no such command, and nothing was put. */
bool mxgpu_inspect(MxgpuDevice *dev, const char *command, MxgpuText text);
/* Whether the command shows more of a device that is paused meanwhile
 * (MxgpuText.held). */
bool mxgpu_inspect_holds(const char *command);
/* A line for each command. */
void mxgpu_inspect_help(MxgpuText text);
/* A register as whoever may read it would see it; 0 where nobody may. */
uint32_t mxgpu_inspect_register(MxgpuDevice *dev, uint32_t offset);
/* A packet of a ring as it is now; false: the firmware does not tell where it
 * is, or it cannot be read. */
bool mxgpu_inspect_packet(MxgpuDevice *dev, unsigned queue, uint64_t index,
                          union mxgpu_packet *packet);

#endif
