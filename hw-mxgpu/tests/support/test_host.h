/* SPDX-License-Identifier: MIT */
/* A host for tests of the core: a little bus memory, a clock that is set by
 * hand, and a record of what the device told its host. */
#ifndef MXGPU_TEST_HOST_H
#define MXGPU_TEST_HOST_H

#include <glib.h>
#include <stdatomic.h>
#include <string.h>

#include "core/device.h"
#include "mxgpu/pte.h"

#define TEST_VRAM_SIZE (8u << 20)
#define TEST_BUS_BASE  0x100000000ull
#define TEST_BUS_SIZE  (1u << 20)

typedef struct TestHost {
    MxgpuDevice *dev;
    uint8_t *vram;
    uint8_t *bus;       /* TEST_BUS_SIZE bytes at TEST_BUS_BASE */
    bool no_map;        /* dma_map gives no pointers */
    bool read_only;     /* writes to the bus fail */
    void (*on_dma)(struct TestHost *h); /* before each access, or NULL */
    _Atomic uint64_t clock;
    _Atomic unsigned irqs[256];
    _Atomic unsigned kicks;
    bool listens; /* to queue events */
    unsigned queue_events;
    MxgpuQueueEvent queue_event; /* the last one */
    _Atomic unsigned traces[MXGPU_TRACE_DISPATCH_HOLD + 1];
    GMutex lock;
    GString *console;
    uint64_t next_table; /* VRAM offset of the next free page table */
} TestHost;

extern const MxgpuHostOps test_host_ops;

/* 2 copy engines, 2 compute units, 40 queues, 8 vectors. */
MxgpuConfig test_config(TestHost *h);
TestHost *test_host_new(bool deterministic);
void test_host_free(TestHost *h);
/* As new: a reset, and memory of zeros. The clock goes on. */
void test_host_renew(TestHost *h);
/* Runs a deterministic device until it has nothing to do. */
void test_run(TestHost *h);

/* The host's view of registers. */
uint32_t test_read(TestHost *h, uint32_t reg);
void test_write(TestHost *h, uint32_t reg, uint32_t value);
/* The MCU's view, through the bus of the fake MCU. */
uint32_t mcu_read(TestHost *h, uint32_t reg);
void mcu_write(TestHost *h, uint32_t reg, uint32_t value);
void mcu_write64(TestHost *h, uint32_t reg, uint64_t value);

/* Page tables in the upper half of VRAM. The root is made on first use. */
uint64_t test_root(TestHost *h);
void test_map(TestHost *h, uint64_t root, uint64_t va, unsigned level,
              uint64_t leaf);
uint64_t *test_pte(TestHost *h, uint64_t root, uint64_t va, unsigned level);

/* ---- the fake MCU (fake_mcu.c) and compute units (fake_simt.c) ------------- */
#include "mcu/mcu.h"
#include "simt/simt.h"

typedef struct FakeMcu {
    MxgpuMcuOps ops;
    void *opaque;
    bool timer, external;
    unsigned resets, runs;
    uint64_t charged; /* instructions */
    uint64_t budget;  /* of all runs */
    uint32_t entry;
    /* What a run does; NULL waits for an interrupt. */
    MxgpuMcuStop (*program)(struct FakeMcu *m);
} FakeMcu;
extern FakeMcu fake_mcu;

typedef struct FakeSimt {
    MxgpuSimtConfig config;
    MxgpuDispatch dispatch[MXGPU_DISPATCH_SLOTS];
    bool running[MXGPU_DISPATCH_SLOTS];
    MxgpuDispatchFault fault[MXGPU_DISPATCH_SLOTS];
    enum mxgpu_fault start_result;
    _Atomic uint64_t budget; /* of all runs */
    MxgpuSimtCounters counters;
    uint64_t unit_pc;
    uint64_t idle; /* what mxgpu_simt_idle() says; 0: never */
    void (*asked)(unsigned cu); /* called in it, if not NULL */
    unsigned runs; /* of unit 0 */
    unsigned resets, aborts;
    bool expected; /* a grid may come */
    uint32_t held, waits; /* slots, a bit each */
} FakeSimt;
extern FakeSimt fake_simt;
void fake_simt_finish(unsigned slot, MxgpuDispatchFault fault);

#endif
