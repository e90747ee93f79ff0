/* SPDX-License-Identifier: MIT */
/* What commands of inspect.h are made of. */
#ifndef MXGPU_CORE_INSPECT_TEXT_H
#define MXGPU_CORE_INSPECT_TEXT_H

#include "device.h"

/* Takes pieces of a text, without a 0 behind them. */
typedef struct MxgpuText {
    void (*put)(void *opaque, const char *text, size_t len);
    void *opaque;
    bool held; /* the device is paused: warps can be shown */
} MxgpuText;

typedef void MxgpuInspectFn(MxgpuDevice *dev, const char *args, MxgpuText t);

void mxgpu_put(MxgpuText t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The next number of *args, decimal or 0x...; false: there is none, and
 * *value stays. */
bool mxgpu_inspect_number(const char **args, uint64_t *value);
/* A register as whoever may read it would see it; 0 where nobody may. */
uint32_t mxgpu_inspect_register(MxgpuDevice *dev, uint32_t offset);

#endif
