/* SPDX-License-Identifier: MIT */
/*
 * How much of everything there can be, and the address map of the MCU. A device
 * may have less than the most: its capability registers say. Plain numbers, as
 * texts, the linker script of the firmware and other languages take them too.
 */
#ifndef MXGPU_LIMITS_H
#define MXGPU_LIMITS_H

#define MXGPU_MAX_QUEUES        256
#define MXGPU_MAX_VECTORS       256 /* of MSI-X: the device's own, and queues' */
#define MXGPU_MAX_COPY_ENGINES  8
#define MXGPU_MAX_COMPUTE_UNITS 128
#define MXGPU_MAX_THREADS       256 /* of the host, that drive compute units */
#define MXGPU_NUM_VMIDS         16
#define MXGPU_DISPATCH_SLOTS    8

/* A compute unit, and a block on it. */
#define MXGPU_WARP_SIZE      64
#define MXGPU_BLOCK_THREADS  1024
#define MXGPU_CU_THREADS     2048
#define MXGPU_CU_BLOCKS      16
#define MXGPU_CU_REGISTERS   131072
#define MXGPU_SHARED_GRANULE 64 /* bytes: shared memory is given out in these */

/* Of the MCU. SRAM is readable, writable and executable. */
#define MXGPU_MCU_SRAM_BASE 0x20000000
#define MXGPU_MCU_SRAM_SIZE 0x80000 /* 512 KiB */
#define MXGPU_MCU_REGS_BASE 0x40000000

#endif
