/* SPDX-License-Identifier: MIT */
/* Agent expressions, the conditions of break points that gdb leaves to the
 * target ("Agent Expressions" in gdb's manual). They are foreign bytes. */
#ifndef MXGPU_DEBUG_AGENT_H
#define MXGPU_DEBUG_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MxgpuAgentOps {
    bool (*reg)(void *opaque, unsigned number, uint64_t *value);
    bool (*memory)(void *opaque, uint64_t addr, uint8_t *buf, size_t len);
} MxgpuAgentOps;

/* false: it does not end well within a few thousand operations, reads what
 * cannot be read, or has an operation that is not known. */
bool mxgpu_agent_evaluate(const uint8_t *code, size_t len,
                          const MxgpuAgentOps *ops, void *opaque,
                          uint64_t *value)
    __attribute__((warn_unused_result));

#endif
