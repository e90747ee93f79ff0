/* SPDX-License-Identifier: MIT */
/*
 * The driver of the tests: firmware, mailbox, page tables and queues of a
 * device under test, over the few things that differ between its hosts. Its
 * users are sim_driver.c (the device in this process) and the qtests (the PCI
 * function in QEMU); block_tests.c runs on both. Whatever goes wrong fails the
 * test on the spot.
 */
#ifndef MXGPU_TESTS_DUT_H
#define MXGPU_TESTS_DUT_H

#include <glib.h>

#include "mxgpu/msg.h"
#include "mxgpu/packets.h"
#include "mxgpu/pte.h"
#include "mxgpu/regs.h"

#define DUT_PAGE 4096u
#define DUT_VMID 1u /* of page tables and queues */

typedef struct Dut Dut;

/* VRAM is named by offset, system memory as its host likes. */
typedef enum DutMemory { DUT_VRAM, DUT_SYSTEM } DutMemory;

/* What a host is asked for. */
typedef struct DutOps {
    uint32_t (*read)(Dut *d, uint32_t reg);
    void (*write)(Dut *d, uint32_t reg, uint32_t value);
    void (*doorbell)(Dut *d, unsigned queue, uint64_t write_index);
    /* 4 and 8 aligned bytes are one access, ordered as the device's are. */
    void (*load)(Dut *d, DutMemory memory, uint64_t at, void *buf, size_t len);
    void (*store)(Dut *d, DutMemory memory, uint64_t at, const void *buf,
                  size_t len);
    /* Interrupts of a vector since the last call; the first call makes that
     * they arrive. */
    uint64_t (*irqs)(Dut *d, unsigned vector);
    /* A turn of waiting: the device, or its time, may go on. */
    void (*relax)(Dut *d);
} DutOps;

/* Memory that tests may use: where it is, and where the device has it. */
typedef struct DutArea {
    uint64_t at, va, size;
} DutArea;

struct Dut {
    const DutOps *ops;
    void *host;
    uint64_t vram_next, vram_end; /* what dut_vram_alloc() gives */
    uint64_t root;                /* of the page table; 0: none yet */
    uint32_t sequence;            /* of the last message */
    DutArea sys, vram;            /* of block_tests.c: set by who runs them */
};

typedef struct DutQueue {
    Dut *dut;
    unsigned id, log2, vector, priority;
    uint64_t ring, ctl;       /* in system memory */
    uint64_t ring_va, ctl_va; /* of DUT_VMID */
    uint64_t index;           /* of the next packet */
} DutQueue;

/* ---- waiting */

int64_t dut_deadline(void);
/* One turn; fails the test behind the deadline. */
void dut_turn(Dut *d, int64_t deadline, const char *file, int line,
              const char *what);
#define DUT_WAIT(d, condition)                                                 \
    do {                                                                       \
        int64_t deadline_ = dut_deadline();                                    \
        while (!(condition)) {                                                 \
            dut_turn(d, deadline_, __FILE__, __LINE__, #condition);            \
        }                                                                      \
    } while (0)

/* ---- registers and memory */

uint32_t dut_read(Dut *d, uint32_t reg);
void dut_write(Dut *d, uint32_t reg, uint32_t value);
uint32_t dut_load32(Dut *d, DutMemory memory, uint64_t at);
uint64_t dut_load64(Dut *d, DutMemory memory, uint64_t at);
void dut_store64(Dut *d, DutMemory memory, uint64_t at, uint64_t value);
/* Whole pages of zeros. */
uint64_t dut_vram_alloc(Dut *d, size_t size);

/* ---- firmware and mailbox */

/* The file that an environment variable names; g_free() it. */
uint8_t *dut_firmware(const char *variable, size_t *size);
/* Writes an image of any size to the MCU's memory and starts it. */
void dut_start(Dut *d, const void *image, size_t size);
unsigned dut_mcu_state(Dut *d);
/* Starts firmware and waits for it; says HELLO. */
void dut_boot(Dut *d, const void *image, size_t size);
/* Sends a message of at most 64 bytes; its status, and the whole answer in
 * response unless that is NULL. */
uint32_t dut_call(Dut *d, const void *message, size_t size,
                  uint32_t response[16]);

/* ---- page tables of DUT_VMID */

/* Tells the firmware the root, which is made if there is none. */
void dut_vm_set(Dut *d);
/* Where the entry for an address is, in VRAM; makes the tables above it. */
uint64_t dut_pte(Dut *d, uint64_t va, unsigned level);
/* One entry: a page of level 0, or a large one of level 1. */
void dut_map(Dut *d, uint64_t va, unsigned level, uint64_t leaf);
void dut_invalidate(Dut *d);

/* ---- queues */

/* All but index is set. */
void dut_queue_create(Dut *d, DutQueue *q);
void dut_queue_destroy(DutQueue *q);
/* Writes a packet, waiting for room; returns its index. */
uint64_t dut_push(DutQueue *q, const void *packet);
void dut_ring(DutQueue *q);
uint64_t dut_read_index(DutQueue *q);
/* Waits until the queue stops; its record. */
struct mxgpu_queue_error dut_queue_error(DutQueue *q);

#endif
