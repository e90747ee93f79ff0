/* SPDX-License-Identifier: MIT */
/*
 * How many blocks of a kind fit a compute unit together: what the hardware
 * places, and software that asks before a launch calculates.
 */
#ifndef MXGPU_OCCUPANCY_H
#define MXGPU_OCCUPANCY_H

#include "limits.h"
#include "types.h"

/* What a unit has (CU_CAPS, CU_CAPS2, CU_REGS, CU_PRIVATE). */
struct mxgpu_cu {
    uint32_t warp_size, threads, blocks, registers;
    uint64_t shared, private_bytes;
};

/* What a block takes; registers and private_bytes are a thread's. */
struct mxgpu_block_needs {
    uint32_t threads, registers;
    uint64_t shared, private_bytes;
};

static inline uint64_t mxgpu_shared_rounded(uint64_t bytes)
{
    return (bytes + MXGPU_SHARED_GRANULE - 1) / MXGPU_SHARED_GRANULE *
           MXGPU_SHARED_GRANULE;
}

/* 0: not even one, or a block without threads. */
static inline uint32_t mxgpu_occupancy(const struct mxgpu_cu *cu,
                                       const struct mxgpu_block_needs *block)
{
    /* Warps are whole. */
    uint64_t lanes = ((uint64_t)block->threads + cu->warp_size - 1) /
                     cu->warp_size * cu->warp_size;
    const uint64_t has[] = {cu->threads, cu->registers, cu->shared,
                            cu->private_bytes};
    const uint64_t takes[] = {lanes, lanes * block->registers,
                              mxgpu_shared_rounded(block->shared),
                              lanes * block->private_bytes};
    uint64_t n = lanes && block->shared <= cu->shared ? cu->blocks : 0;

    for (unsigned i = 0; i < sizeof(has) / sizeof(has[0]); i++) {
        if (takes[i] && has[i] / takes[i] < n) {
            n = has[i] / takes[i];
        }
    }
    return (uint32_t)n;
}

#endif
