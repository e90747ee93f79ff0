/* SPDX-License-Identifier: MIT */
/*
 * A look at the device in words, for people: what gdb's "monitor", QEMU's
 * "info mxgpu" and a debugger of the model in a process show. It changes
 * nothing: no error is counted, no half of a register latched, no accessed bit
 * set. What runs meanwhile may be shown as it was at different moments.
 */
#ifndef MXGPU_CORE_INSPECT_H
#define MXGPU_CORE_INSPECT_H

#include "inspect_text.h"

/* A command and its arguments, "registers CE_" for instance; "" is "status".
 * false: there is no such command, and nothing was put. */
bool mxgpu_inspect(MxgpuDevice *dev, const char *command, MxgpuText text);
/* Whether the command shows more of a device that is paused meanwhile
 * (MxgpuText.held). */
bool mxgpu_inspect_holds(const char *command);
/* A line for each command. */
void mxgpu_inspect_help(MxgpuText text);

#endif
