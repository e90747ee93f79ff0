/* SPDX-License-Identifier: MIT */
/* The whole device in this process: dut.h over the sim library, with both
 * memories mapped. */
#ifndef MXGPU_TESTS_SIM_DRIVER_H
#define MXGPU_TESTS_SIM_DRIVER_H

#include <glib.h>

#include "dut.h"
#include "sim/sim.h"

#define DRV_VRAM_SIZE (32u << 20)
#define DRV_SYS_SIZE  (4u << 20)
/* Where the two memories are in VMID 1: VRAM in large pages, system memory in
 * small ones; one hole behind each. */
#define DRV_VRAM_VA 0x100000000ull
#define DRV_SYS_VA  0x200000000ull
#define DRV_SYS_IOVA 0x40000000ull

typedef struct DrvQueue {
    DutQueue q;
    volatile struct mxgpu_queue_ctl *ctl;
} DrvQueue;

typedef struct Drv {
    Dut dut;
    const MxgpuSimOps *ops;
    MxgpuSim *sim;
    void *library;
    uint8_t *vram;
    uint8_t *sys;
    GMutex lock;
    GString *log;
} Drv;

/* Of a Drv that has ops, sim and the two memories: that dut works. */
void drv_init(Drv *d);
/* Opens the device, resets, loads and starts the firmware, says HELLO and maps
 * both memories. */
Drv *drv_open(const MxgpuSimOptions *config);
void drv_close(Drv *d);
void drv_load(Drv *d, const uint8_t *image, size_t size);
/* The firmware image of the build. */
void drv_firmware(uint8_t **image, size_t *size);
void drv_boot(Drv *d);
/* Waits for bits of a register, with a limit that fails the test. */
void drv_wait(Drv *d, uint32_t reg, uint32_t mask, uint32_t value);
/* The status; the whole answer is in resp when that is not NULL. */
uint32_t drv_message(Drv *d, const void *msg, size_t size, uint32_t *resp);
void drv_map(Drv *d, uint64_t va, unsigned level, uint64_t leaf);
void drv_invalidate(Drv *d);
/* Ring and control block at an offset of system memory, 8 KiB. */
DrvQueue drv_queue(Drv *d, unsigned id, unsigned priority, uint64_t offset);
void drv_push(DrvQueue *q, const void *packet);
void drv_ring(DrvQueue *q);
void drv_wait64(volatile uint64_t *p, uint64_t value);
/* Interrupts of a vector since the last call, after waiting for one. */
uint64_t drv_wait_irq(Drv *d, unsigned vector);

#endif
