/* SPDX-License-Identifier: MIT */
/*
 * The device as its host sees it: create, access through the BARs, reset, run.
 * All entry points may be called from any thread; none blocks on device work
 * except where stated. Those that wait (free, reset, pause) must not be called
 * from a host operation, nor must mxgpu_device_resume(); nor by a party that a
 * host operation waits for.
 */
#ifndef MXGPU_CORE_DEVICE_H
#define MXGPU_CORE_DEVICE_H

#include "base/host.h"
#include "mmu/log.h"
#include "mxgpu/observer.h"
#include "mxgpu/regs.h"

typedef struct MxgpuDevice MxgpuDevice;

typedef struct MxgpuConfig {
    void *vram;             /* page-aligned, owned by the host */
    uint64_t vram_size;     /* multiple of 1 MiB */
    unsigned vectors;       /* MSI-X vectors, 1 to MXGPU_MAX_VECTORS */
    /* mxgpu/properties.def has the ranges. */
    unsigned queues;
    unsigned compute_units;
    unsigned copy_engines;
    unsigned threads;       /* worker threads for compute; 0: one a host CPU */
    /* Host memory that threads' private memory may take, shared evenly by the
     * units: at least 64 KiB for each. 0: the default. */
    uint64_t private_memory;
    unsigned watchdog_ms;   /* 0: none */
    unsigned firmware_watchdog_ms; /* 0: none; see ERR_STATUS.MCU_STUCK */
    unsigned jit; /* times that code begins until it is compiled; 0: never */
    bool deterministic;     /* no threads: the host calls mxgpu_device_run() */
    bool strict_alignment;  /* every dispatch as if CD_CFG.STRICT_ALIGN were
                               set */
    uint8_t uuid[16];
    /* Sees what kernels do (mxgpu/observer.h), with its argument. NULL: nobody,
     * as where a driver is not in this process. */
    const MxgpuObserver *observer;
    void *observer_opaque;
    void *log_host; /* argument of what mxgpu_device_log_writes() is given;
                     * NULL: that of the operations */
} MxgpuConfig;

/* NULL and *error (static text) for a configuration out of range. */
MxgpuDevice *mxgpu_device_new(const MxgpuConfig *config,
                              const MxgpuHostOps *ops, void *host,
                              const char **error);
/* Stops everything and waits for it: bounded time. */
void mxgpu_device_free(MxgpuDevice *dev);

/* BAR 0 and BAR 4. Accesses of a wrong size or alignment are counted, read 0
 * and have no effect. */
uint64_t mxgpu_device_mmio_read(MxgpuDevice *dev, uint64_t offset,
                                unsigned size);
void mxgpu_device_mmio_write(MxgpuDevice *dev, uint64_t offset, uint64_t value,
                             unsigned size);
/* For a debugger: what reads of BAR 0 would give, of any alignment and up to 8
 * bytes, without any effect on the device; 0 where there is nothing to read. */
uint64_t mxgpu_device_mmio_peek(MxgpuDevice *dev, uint64_t offset,
                                unsigned size);
uint64_t mxgpu_device_doorbell_read(MxgpuDevice *dev, uint64_t offset,
                                    unsigned size);
void mxgpu_device_doorbell_write(MxgpuDevice *dev, uint64_t offset,
                                 uint64_t value, unsigned size);

/* Bus reset, FLR: complete when it returns (bounded time). VRAM is kept. */
void mxgpu_device_reset(MxgpuDevice *dev, enum mxgpu_reset_cause cause);

/* Stops all units at an instruction or chunk boundary and waits for it
 * (bounded time); starts them again. Nests. For a stopped virtual machine. */
void mxgpu_device_pause(MxgpuDevice *dev);
void mxgpu_device_resume(MxgpuDevice *dev);

/* For a thread of the host that waits for the device: whether the MCU's thread, or the
 * first worker's for what takes no longer than waking that, was woken and has not
 * begun, and a step of theirs on the caller's. It takes as long as one of these
 * threads', and as much of their stack. */
bool mxgpu_device_stands(const MxgpuDevice *dev);
void mxgpu_device_help(MxgpuDevice *dev);

/* System memory behind [addr, addr + len) changed or went away: units drop
 * their host pointers at the next instruction boundary. Does not wait. */
void mxgpu_device_bus_invalidate(MxgpuDevice *dev, uint64_t addr, uint64_t len);
/* Whether a unit may still use a pointer from before the last
 * mxgpu_device_bus_invalidate(). */
bool mxgpu_device_bus_busy(MxgpuDevice *dev);

/*
 * For a host that has to know what memory the device changes. From now on used()
 * is told of each page of VRAM, and dma_map for writing is called for each of
 * system memory, before a unit writes to it for the first time; the unit may
 * then write to it, untold, until it has been held (mxgpu_device_pause()) and
 * let go behind an mxgpu_device_bus_invalidate(). So it may to what it had
 * before. Large pages are translated in pieces of 4 KiB. NULL ends that.
 */
void mxgpu_device_log_writes(MxgpuDevice *dev, MxgpuVramUsed *used);

/*
 * Deterministic mode: runs units in a fixed order for about "budget"
 * instructions, which those that have work share. Returns whether there is more
 * to do now; *deadline is the clock at which the MCU timer fires next,
 * UINT64_MAX for never.
 */
bool mxgpu_device_run(MxgpuDevice *dev, unsigned budget, uint64_t *deadline);

#endif
