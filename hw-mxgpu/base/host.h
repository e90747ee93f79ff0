/* SPDX-License-Identifier: MIT */
/*
 * What the core needs from the party that hosts it: QEMU, the in-process sim
 * host, a unit test or a fuzzer. Every operation may be called from any of the
 * device's threads, and never while the core holds a lock that an entry point
 * of core/device.h takes, so a host may call back into the device from here.
 */
#ifndef MXGPU_BASE_HOST_H
#define MXGPU_BASE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* F(name): things worth a trace line; a and b are explained beside each. Captures
 * have their numbers: new ones go to the end. */
#define MXGPU_TRACE_EVENTS(F)                                                  \
    F(MMIO_READ)       /* a: offset, b: value */                               \
    F(MMIO_WRITE)      /* a: offset, b: value */                               \
    F(SRAM)            /* accesses to MCU_SRAM_DATA ended. a: first offset in  \
                          SRAM, b: bytes | write << 32 */                      \
    F(BAD_ACCESS)      /* a: offset, b: size | write << 8 */                   \
    F(DOORBELL)        /* a: queue, b: value */                                \
    F(BAD_DOORBELL)    /* a: queue, b: value */                                \
    F(IRQ)             /* a: vector */                                         \
    F(MCU_STATE)       /* a: enum mxgpu_mcu_state, b: cause or error */        \
    F(MCU_STUCK)       /* a: pc, b: ra | sp << 32 */                           \
    F(COPY_START)      /* a: engine, b: bytes */                               \
    F(COPY_END)        /* a: engine, b: enum mxgpu_fault */                    \
    F(DISPATCH_START)  /* a: slot, b: entry */                                 \
    F(DISPATCH_END)    /* a: slot, b: enum mxgpu_fault */                      \
    F(FAULT)           /* a: address, b: fault | access << 8 */                \
    F(INVALIDATE)      /* a: VMID */                                           \
    F(RESET)           /* a: enum mxgpu_reset_cause */                         \
    F(DISPATCH_HOLD)   /* a: slots that are held now, b: those of which        \
                          it is new, or new that they are not */

typedef enum MxgpuTraceEvent {
#define F(name) MXGPU_TRACE_##name,
    MXGPU_TRACE_EVENTS(F)
#undef F
} MxgpuTraceEvent;

/* What the firmware says of a queue or a packet: see enum mxgpu_queue_event of
 * mxgpu/regs.h. Nothing of it is checked. */
typedef struct MxgpuQueueEvent {
    uint32_t event;
    unsigned queue;
    unsigned type; /* enum mxgpu_packet_type */
    unsigned unit; /* MXGPU_QEV_UNIT_* */
    uint64_t index, value;
} MxgpuQueueEvent;

typedef struct MxgpuHostOps {
    /* Moves bytes to or from a bus address, in memory by mxgpu_copy_single()
     * (single.h). 0, or -EFAULT when the bus refuses any part (some bytes may
     * then have been moved). */
    int (*dma_read)(void *host, uint64_t addr, void *buf, size_t len);
    int (*dma_write)(void *host, uint64_t addr, const void *buf, size_t len);

    /*
     * Host pointer to [addr, addr + len) of system memory for loads, stores
     * and atomics of the compute units, or NULL when there is none for the
     * whole range (not RAM, not permitted, not contiguous): the unit then
     * uses dma_read/dma_write. Valid until mxgpu_device_bus_invalidate() of
     * the range or a TLB invalidation has taken effect.
     */
    void *(*dma_map)(void *host, uint64_t addr, size_t len, bool write);

    void (*irq)(void *host, unsigned vector);

    /* The hardware has an error inside that it cannot mend: its firmware has
     * crashed, or the watchdog saw it stuck. May be NULL. */
    void (*error)(void *host);

    /* Monotonic nanoseconds; stands still while a virtual machine is
     * stopped. */
    uint64_t (*clock)(void *host);

    /* One line of firmware output, without the newline. */
    void (*console)(void *host, const char *line, size_t len);

    /* Deterministic mode only: there is work for mxgpu_device_run(). */
    void (*kick)(void *host);

    /* May be NULL. */
    void (*trace)(void *host, MxgpuTraceEvent event, uint64_t a, uint64_t b);

    /* Both may be NULL. Whether anybody wants queue events: asked all the
     * time. And an event, if so; the firmware may be a moment late to stop. */
    bool (*queue_listens)(void *host);
    void (*queue_event)(void *host, const MxgpuQueueEvent *event);
} MxgpuHostOps;

#endif
