/* SPDX-License-Identifier: MIT */
/*
 * What a context has for the grids that its kernels launch, in device memory
 * that both sides reach: this head, the ring, and the records with room for
 * arguments (mxgpu/launch.h). The host makes it before such a kernel is
 * launched.
 */
#ifndef MC_DEVICE_LAUNCH_H
#define MC_DEVICE_LAUNCH_H

#include <stdint.h>

#include "mxgpu/launch.h"

#define MC_LAUNCH_ARGS_MAX 4096u
#define MC_LAUNCH_STRIDE   (MXGPU_LAUNCH_ARGS + MC_LAUNCH_ARGS_MAX)

/* Of a multiple of 64 bytes: the ring follows. */
struct __attribute__((aligned(64))) mc_launch_area {
    uint64_t tail; /* of the ring: records that were ever put into it */
    uint64_t reserved0[7];
    uint32_t hint; /* where the next record may be free */
    uint32_t reserved1[15];
    uint64_t ring, records; /* addresses */
    uint32_t mask;          /* of the ring */
    uint32_t count;         /* records */
    uint32_t device, devices;
    /* what a block may have */
    uint32_t block_threads, cu_registers, cu_shared, warp_size;
    uint64_t cu_private;
    uint32_t compute_units;
    uint32_t sync_depth; /* kernels of grids above that depth may wait */
};

/* What is between <<< and >>>, as __mc_launch_config of launch_device.h. */
struct mc_launch_config {
    uint32_t grid[3], block[3];
    uint64_t shared;
    uint64_t stream;  /* of the device, or 0 */
    uint64_t *null_stream; /* of the block */
};

/* A stream of the device begins with this: the last grid launched in it, as
 * (index of its record + 1) << 32 | sequence of that; 0: none. */
struct mc_launch_stream {
    uint64_t last;
    uint64_t magic;
};
#define MC_LAUNCH_STREAM_MAGIC 0x6d787374726d3031ull

/* An event of the device. */
struct mc_launch_event {
    uint64_t magic;
};
#define MC_LAUNCH_EVENT_MAGIC 0x6d78657674726d31ull

/* Whether all streams of a block are one (events.c). */
extern const int __mx_one_stream;

#ifdef __riscv /* device code */
#include "device.h"

extern struct mc_launch_area *volatile __mx_launch;

/* The record of this thread's grid. */
static inline struct mxgpu_launch *mx_launch_own(void)
{
    return (struct mxgpu_launch *)(uintptr_t)(MX_CSR(MXGPU_CSR_ARGS) -
                                              MXGPU_LAUNCH_ARGS);
}

static inline struct mxgpu_launch_record *
mx_launch_record(const struct mc_launch_area *area, uint32_t index)
{
    return (struct mxgpu_launch_record *)(uintptr_t)(
        area->records + (uint64_t)index * MC_LAUNCH_STRIDE);
}
#endif

#endif
