/* SPDX-License-Identifier: MIT */
/*
 * The seam between the runtime and a device: what a kernel driver would offer.
 * Back ends: driver (the DRM driver of driver-stub/mxgpu), vfio (a PCI function
 * through /dev/vfio), sim (the model in this process). All functions return 0
 * or -errno and may be called from any thread. Each failure has logged a
 * one-line reason (runtime/base/log.h).
 *
 * One address space per device, of the process: device virtual addresses are
 * chosen by the caller, who keeps them equal to what the CPU would use.
 */
#ifndef MC_KMD_KMD_H
#define MC_KMD_KMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mxgpu/packets.h"

#define KMD_PAGE_SIZE 4096ull
#define KMD_LARGE_PAGE_SIZE (2ull << 20) /* maps with one PTE when aligned */

#define KMD_LOOK_NS 500000000ull

typedef struct KmdDevice KmdDevice;
typedef struct KmdBo KmdBo; /* a memory object: VRAM or pinned host memory */

typedef struct KmdInfo {
    char name[64];
    uint64_t vram_size;      /* bytes */
    unsigned compute_units, copy_engines, queues, priorities, vectors;
    unsigned warp_size, cu_threads, cu_blocks, block_threads;
    unsigned cu_registers, cu_shared; /* registers; bytes */
    uint64_t cu_private;     /* bytes of private memory, of all threads */
    unsigned watchdog_ms;
    unsigned pci_domain, pci_bus, pci_device, pci_function;
    uint32_t fw_version;     /* major << 16 | minor << 8 | patch */
    char fw_build[32];       /* names the image: printable, empty if unknown */
    uint8_t uuid[16];
    bool simulated;          /* in this process, no PCI function */
    bool pageable;           /* packets with MXGPU_PKT_RECOVER reach memory of
                                the process that nobody pinned */
} KmdInfo;

/* Page permissions: MXGPU_PTE_READ | WRITE | EXECUTE | ATOMIC (pte.h). */

/* What takes the place of what is mapped at va. */
typedef struct KmdPlace {
    KmdBo *bo;
    uint64_t va, offset, size, perms; /* as of map */
} KmdPlace;

/* A queue as its only producer sees it. The producer writes packets to
 * ring[index & (packets - 1)], then calls ring(queue, new write index). */
typedef struct KmdQueue {
    KmdDevice *dev;
    volatile union mxgpu_packet *ring;
    uint32_t packets; /* power of two */
    volatile struct mxgpu_queue_ctl *ctl;
    unsigned id;
} KmdQueue;

/* Where packets of a queue with MXGPU_PKT_PROFILE leave their records. */
typedef struct KmdProfile {
    void *memory;      /* mapped writable at the same address on the device */
    unsigned records;  /* power of two, at most 4096 */
    uint32_t stride, samples, interval; /* as in mxgpu_msg_queue_profile */
    bool exact;        /* every access is counted */
} KmdProfile;

/*
 * What a packet with MXGPU_PKT_RECOVER needs and has not: the function maps it
 * and returns true, whereupon the access is done again; or false, and the
 * packet fails with the fault. It is called from one thread of the device, and
 * may use all operations but close.
 */
typedef bool KmdMendFn(void *opaque, const struct mxgpu_fault_record *record);

typedef struct KmdOps {
    const char *name;

    /* Devices present, in PCI order. -ENODEV when there is none or the back
     * end cannot work on this machine at all; when devices exist but none may
     * be used, -EACCES, or -ENOTSUP where there is no IOMMU; all with a reason
     * in the log. */
    int (*count)(unsigned *count);
    /* Cheap: what is known without taking the device (PCI address, uuid when
     * known); open fills in the rest. */
    int (*open)(unsigned index, KmdDevice **dev);
    /* Of a device that may be in use: "0000:01:00.0". NULL where it is not
     * known before a device is open. */
    int (*address)(unsigned index, char bdf[16]);
    /* Stops and resets the device and releases everything on it. */
    void (*close)(KmdDevice *dev);
    void (*info)(KmdDevice *dev, KmdInfo *info);

    /* VRAM of size bytes (multiple of KMD_PAGE_SIZE), zeroed for the first
     * user in this process. -ENOMEM. */
    int (*alloc)(KmdDevice *dev, uint64_t size, KmdBo **bo);
    /* Pins process memory; ptr and size multiples of KMD_PAGE_SIZE. */
    int (*pin)(KmdDevice *dev, void *ptr, uint64_t size, KmdBo **bo);
    /* Part of another device's bo, VRAM or pinned memory, as an object of dev:
     * it is mapped and freed like any other, and has to be freed before "of"
     * is. All multiples of KMD_PAGE_SIZE. -EOPNOTSUPP: dev does not reach that
     * memory (see reaches). */
    int (*peer)(KmdDevice *dev, KmdBo *of, uint64_t offset, uint64_t size,
                KmdBo **bo);
    /* Whether dev reaches the VRAM of another device: found out by trying, so
     * remember the answer; it stays what it is. */
    bool (*reaches)(KmdDevice *dev, KmdDevice *other);
    /* For other processes: VRAM as a part of a file, from *offset on. The file
     * descriptor is the device's own; the file cannot be made smaller.
     * -EOPNOTSUPP: pinned memory, or VRAM that is no file. */
    int (*share)(KmdBo *bo, int *fd, uint64_t *offset);
    /* A part of such a file, if that is a dma-buf, which another process has
     * shared. May be NULL. Pages of other files can be mapped and pinned. */
    int (*import)(KmdDevice *dev, int fd, uint64_t offset, uint64_t size,
                  KmdBo **bo);
    /* The bo must not be mapped. */
    void (*free)(KmdBo *bo);
    /* CPU address of a bo: the VRAM aperture, or the pinned memory. */
    void *(*cpu)(KmdBo *bo);
    /* Free and total VRAM, bytes. */
    void (*memory)(KmdDevice *dev, uint64_t *free, uint64_t *total);

    /* Maps [offset, offset + size) of bo at device address va (all multiples
     * of KMD_PAGE_SIZE, below 2^47). -EEXIST when part of it is mapped. */
    int (*map)(KmdBo *bo, uint64_t va, uint64_t offset, uint64_t size,
               uint64_t perms);
    /* Complete when it returns: no unit uses the old translation. */
    int (*unmap)(KmdDevice *dev, uint64_t va, uint64_t size);
    /* Other memory at addresses that are mapped, each page in one step: who
     * uses it meanwhile finds the one or the other. Complete when it returns:
     * what was there may be freed. -EINVAL: not all of it is mapped; -ENOMEM;
     * nothing has changed then. */
    int (*replace)(KmdDevice *dev, const KmdPlace *places, unsigned count);

    /* Zeroed memory of the process, pinned and mapped at its own address,
     * where the device may read, write and do atomics. size is a multiple of
     * KMD_PAGE_SIZE. -ENOMEM, -ENODEV. */
    int (*shared_alloc)(KmdDevice *dev, uint64_t size, void **memory);
    /* What shared_alloc gave, with its size; the device is done with it. */
    void (*shared_free)(KmdDevice *dev, void *memory, uint64_t size);

    /* priority 0 is the most urgent; packets is a power of two >= 4. The
     * memory of ring and control block belongs to the queue, at device
     * addresses the back end chooses (mc_va_reserve()). */
    int (*queue_create)(KmdDevice *dev, unsigned priority, unsigned packets,
                        KmdQueue **queue);
    void (*queue_ring)(KmdQueue *queue, uint64_t write_index);
    /* While nothing of the queue is in flight. -EOPNOTSUPP: the firmware does
     * not know of profiles. */
    int (*queue_profile)(KmdQueue *queue, const KmdProfile *profile);
    /* A new queue becomes the one that runs what kernels launch
     * (mxgpu/launch.h). ring: 2^log2_records words of device memory, all 0.
     * -EOPNOTSUPP: the firmware does not know of launches. */
    int (*queue_launch)(KmdQueue *queue, uint64_t ring, unsigned log2_records);
    /* Aborts what is in flight. */
    void (*queue_destroy)(KmdQueue *queue);

    /* Memory for dispatches that have to leave their slot (MXGPU_MSG_CONTEXTS),
     * while there are queues. size 0: no more; it stays mapped until then, or
     * until there is no queue. -EBUSY: there is something in it. -EOPNOTSUPP: the
     * device cannot. */
    int (*contexts)(KmdDevice *dev, uint64_t addr, uint64_t size);

    /* From now on packets may have MXGPU_PKT_RECOVER; until close. -EBUSY: it
     * was called before. -EOPNOTSUPP: the device does not know of it. */
    int (*faults)(KmdDevice *dev, KmdMendFn *mend, void *opaque);

    /* Interrupts of a queue, counted; queues may share a vector, and that of
     * an earlier user may come late: look at memory again. irq_wait returns 0
     * as soon as the count differs from seen, -ETIMEDOUT after timeout_ns
     * (UINT64_MAX: none), -ENODEV when the device is lost. Any number of
     * threads may wait. */
    uint32_t (*irq_count)(KmdQueue *queue);
    int (*irq_wait)(KmdQueue *queue, uint32_t seen, uint64_t timeout_ns);

    /* Who waits for the device and does not sleep calls this now and then: a device
     * that is in this process may use the thread meanwhile. May be NULL. */
    void (*help)(KmdDevice *dev);

    /* Whether the device is there and its firmware runs. look: at most once in
     * KMD_LOOK_NS the device itself is asked, however often this is called;
     * else only what is known is told. Who waits for a device in any other way
     * than by irq_wait looks: a device that was reset, or taken its power,
     * raises no interrupt. */
    bool (*alive)(KmdDevice *dev, bool look);

    /* Device clock, ns: the clock of timestamp packets. */
    uint64_t (*clock)(KmdDevice *dev);
    /* Where kernels are: for each compute unit that runs one, up to "room", a
     * device address of its code, a moment old. Returns how many; 0 also when
     * the device cannot tell. Does not block. */
    unsigned (*where)(KmdDevice *dev, uint64_t *pcs, unsigned room);
    /* For a debugger of kernels: the file to read their symbols from, whose
     * first segment is at that address of the device; path NULL: it is not
     * loaded any more. May be NULL, and does nothing where no debugger is. */
    void (*module)(KmdDevice *dev, uint64_t address, const char *path);
} KmdOps;

/*
 * The back end MXGPU_DEVICE names: sim, driver, vfio, vfio:BDF or auto (the
 * default: driver when there is a device of it, vfio when the machine has such
 * a PCI function, else sim). An unknown value
 * is -EINVAL.
 */
int kmd_select(const KmdOps **ops);

#endif
