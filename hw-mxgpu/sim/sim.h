/* SPDX-License-Identifier: MIT */
/*
 * The in-process host: the device model without QEMU, for programs that load
 * libmxgpu-sim.so. It offers what a driver has of a PCI function: registers,
 * the VRAM aperture, doorbells, an IOMMU, interrupt vectors as eventfds, reset.
 * Bus addresses are whatever the caller maps. Errors are -errno.
 */
#ifndef MXGPU_SIM_SIM_H
#define MXGPU_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MXGPU_SIM_ABI 4

typedef struct MxgpuSim MxgpuSim;

/* Ranges and defaults: mxgpu/properties.def. */
typedef struct MxgpuSimOptions {
    uint64_t vram_size;     /* 0: default; memory is used only when touched */
    unsigned compute_units; /* 0: default */
    unsigned threads;       /* 0: one a host CPU */
    unsigned queues;        /* 0: default */
    unsigned copy_engines;  /* 0: default */
    unsigned watchdog_ms;   /* 0: none */
    bool deterministic;     /* one thread drives every unit in order */
    unsigned index;         /* device number: makes the UUID */
    uint64_t private_memory; /* most that kernels' private memory takes, for
                                all units; 0: default */
    unsigned firmware_watchdog_ms; /* 0: none */
    bool strict_alignment;  /* misaligned loads and stores of kernels fault,
                               in every dispatch */
    /* Lines of the firmware console and of the model; may be NULL. */
    void (*log)(void *opaque, const char *line);
    void *opaque;
    bool log_packets; /* also a line when a queue or a packet begins or ends */
} MxgpuSimOptions;

/* The table a loader gets from mxgpu_sim_entry(MXGPU_SIM_ABI). */
typedef struct MxgpuSimOps {
    int (*open)(const MxgpuSimOptions *config, MxgpuSim **sim);
    void (*close)(MxgpuSim *sim);
    uint32_t (*read)(MxgpuSim *sim, uint32_t offset);
    void (*write)(MxgpuSim *sim, uint32_t offset, uint32_t value);
    void (*doorbell)(MxgpuSim *sim, unsigned queue, uint64_t value);
    void *(*vram)(MxgpuSim *sim, uint64_t *size);
    unsigned (*vectors)(MxgpuSim *sim);
    /* A non-blocking eventfd that counts interrupts of a vector; owned by
     * the sim. */
    int (*irq_fd)(MxgpuSim *sim, unsigned vector);
    /* Device address iova .. + size is process memory at ptr; all multiples
     * of 4096. -EEXIST on overlap. */
    int (*dma_map)(MxgpuSim *sim, uint64_t iova, void *ptr, uint64_t size);
    /* Exactly a range mapped before; waits until no unit uses it. */
    int (*dma_unmap)(MxgpuSim *sim, uint64_t iova, uint64_t size);
    int (*reset)(MxgpuSim *sim);
} MxgpuSimOps;

/* NULL when the library does not offer this ABI. */
const MxgpuSimOps *mxgpu_sim_entry(unsigned abi);

#ifdef __cplusplus
}
#endif

#endif
