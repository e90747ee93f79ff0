/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "describe.h"
#include "inspect_text.h"
#include "internal.h"

void mxgpu_put(MxgpuText t, const char *format, ...)
{
    char line[MXGPU_DESCRIBE_MAX + 128];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (n > 0) {
        t.put(t.opaque, line, (size_t)n < sizeof(line) ? (size_t)n
                                                       : sizeof(line) - 1);
    }
}

bool mxgpu_inspect_number(const char **args, uint64_t *value)
{
    const char *at = *args + strspn(*args, " ");
    char *end;
    uint64_t v;

    if (*at < '0' || *at > '9') {
        return false;
    }
    errno = 0;
    v = strtoull(at, &end, 0);
    if (errno || (*end && *end != ' ')) {
        return false;
    }
    *args = end;
    *value = v;
    return true;
}

uint32_t mxgpu_inspect_register(MxgpuDevice *dev, uint32_t offset)
{
    MxgpuParty party = mxgpu_regs_readable(dev, MXGPU_PARTY_MCU, offset)
                           ? MXGPU_PARTY_MCU
                           : MXGPU_PARTY_HOST;

    return mxgpu_regs_peek(dev, party, offset);
}
