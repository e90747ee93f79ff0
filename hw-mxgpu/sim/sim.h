/* SPDX-License-Identifier: MIT */
/*
 * The in-process host: the device model without QEMU, for programs that load
 * libmxgpu-sim.so. It offers what a driver has of a PCI function: registers,
 * the VRAM aperture, doorbells, an IOMMU, interrupt vectors as eventfds, reset.
 * Bus addresses are whatever the caller maps. Errors are -errno. Any function
 * may be called from any thread, several at once on one device, but close().
 * None blocks for long; what may wait says so. docs/sim.md has more.
 */
#ifndef MXGPU_SIM_SIM_H
#define MXGPU_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MXGPU_SIM_ABI 10

typedef struct MxgpuSim MxgpuSim;

/* Ranges and defaults: mxgpu/properties.def. All 0 is a valid choice. */
typedef struct MxgpuSimOptions {
    uint64_t vram_size;     /* bytes, a multiple of 1 MiB; 0: default. Memory is
                               used only when touched */
    unsigned compute_units; /* 0: default */
    unsigned threads;       /* 0: one a host CPU */
    unsigned queues;        /* 0: default */
    unsigned copy_engines;  /* 0: default */
    unsigned watchdog_ms;   /* longest run of a kernel; 0: no limit */
    bool deterministic;     /* one thread drives every unit in order */
    unsigned index;         /* device number: makes the UUID */
    uint64_t private_memory; /* bytes, the most that kernels' private memory
                                takes, for all units; 0: default */
    unsigned firmware_watchdog_ms; /* time without progress of the firmware
                                      after which it is reported; 0: never */
    bool strict_alignment;  /* misaligned loads and stores of kernels fault,
                               in every dispatch */
    unsigned jit;           /* times that code of kernels begins until it is
                               compiled for the host; 0: it never is */
    /* Gets lines, without a newline, of the firmware console ("fw: ") and of
     * the model ("hw: "): one at a time, from threads of the device or in the
     * midst of a call of the table. It may make no such call itself. May be
     * NULL. */
    void (*log)(void *opaque, const char *line);
    void *opaque;
    bool log_packets; /* also a line when a queue or a packet begins or ends */
    /* Where gdb reaches the firmware: a port of 127.0.0.1, to which index is
     * added ("0": any that is free), or the path of a Unix socket; behind that
     * may be ",halt": the firmware waits for gdb before its first instruction.
     * log gets a line that says where it is. NULL or "": no gdb. */
    const char *fw_gdb;
    /* The same for kernels, whose limit of time is then taken away; ",halt":
     * they wait for gdb. */
    const char *kernel_gdb;
    /* Sees each access to memory of kernels, barriers and faults:
     * mxgpu/observer.h. NULL: nobody; then this costs nothing. */
    const struct MxgpuObserver *observer;
    void *observer_opaque; /* first argument of its functions */
} MxgpuSimOptions;

/* The table a loader gets from mxgpu_sim_entry(MXGPU_SIM_ABI). */
typedef struct MxgpuSimOps {
    /* A device after power-on, with threads of its own; the options are copied.
     * 0 and *sim, or an error and *sim as it was. -EINVAL: an option is out of
     * range, or threads or memory are missing (log gets what); -ENOMEM,
     * -EMFILE; of fw_gdb what bind(2) says, -EADDRINUSE for instance. */
    int (*open)(const MxgpuSimOptions *config, MxgpuSim **sim);
    /* The last call on the device; waits for its threads, each of which ends
     * its piece of work. NULL is allowed. */
    void (*close)(MxgpuSim *sim);
    /* A register of BAR 0, by its offset in bytes, a multiple of 4. An access
     * that the device does not permit reads 0, has no effect and is an error of
     * the device (ERR_STATUS). */
    uint32_t (*read)(MxgpuSim *sim, uint32_t offset);
    void (*write)(MxgpuSim *sim, uint32_t offset, uint32_t value);
    /* The write index of a queue, in packets since it was created, to its
     * doorbell. Memory that was written before is seen by the device. A queue
     * that does not exist, or is not enabled, is an error of the device. Does
     * not wait for the queue. */
    void (*doorbell)(MxgpuSim *sim, unsigned queue, uint64_t value);
    /* VRAM, zero at first; valid until close(). size, in bytes, may be NULL. */
    void *(*vram)(MxgpuSim *sim, uint64_t *size);
    /* A file descriptor of the same memory (memfd_create(2)), for a mapping of
     * one's own or another process; it cannot be made smaller or larger. Closed
     * by close(); the memory lives on in mappings of it. */
    int (*vram_fd)(MxgpuSim *sim);
    /* Number of interrupt vectors: vector 0, of the device, and one for each
     * queue as far as they go. */
    unsigned (*vectors)(MxgpuSim *sim);
    /* A non-blocking eventfd(2) that counts interrupts of a vector; it stays the
     * device's, and close() closes it. -EINVAL: no such vector. */
    int (*irq_fd)(MxgpuSim *sim, unsigned vector);
    /* Bus addresses from iova on, size bytes, are process memory at ptr, for
     * reads and writes; all multiples of 4096, else -EINVAL. -EEXIST on
     * overlap, -ENOMEM. The memory stays the caller's. */
    int (*dma_map)(MxgpuSim *sim, uint64_t iova, void *ptr, uint64_t size);
    /* Exactly a range mapped before, else -ENOENT; waits until no unit uses it,
     * that is for the piece of work that each is at. */
    int (*dma_unmap)(MxgpuSim *sim, uint64_t iova, uint64_t size);
    /* A function-level reset: waits until every unit is reset. VRAM is kept.
     * Always 0. */
    int (*reset)(MxgpuSim *sim);
    /* What the device is doing, in lines for people, to which put is called with
     * pieces; nothing of the device changes. command: "registers CE_" for
     * instance, NULL for "status"; docs/debugging.md lists them. -EINVAL: there
     * is no such command. */
    int (*inspect)(MxgpuSim *sim, const char *command,
                   void (*put)(void *opaque, const char *text, size_t len),
                   void *opaque);
    /* For a thread that waits for the device and does not sleep: does on it what
     * the device's own threads were woken for and have not begun: steps of the MCU and
     * of kernels that are short. */
    void (*help)(MxgpuSim *sim);
    /* Stops every unit at an instruction or a piece of a copy and waits for
     * that; lets them go on. Accesses to registers work meanwhile. Nests. */
    void (*pause)(MxgpuSim *sim);
    void (*resume)(MxgpuSim *sim);
    /*
     * A checkpoint: the device with its VRAM, to fd and from it, at its offset;
     * a pipe will do. What the device sees of process memory, and the ranges
     * that are mapped, are the caller's to keep: while the device is paused it
     * writes to none. load() takes checkpoints of devices with the same options
     * but threads, log and gdb, and of the same version of the model; the
     * device's clock goes on from there. -EINVAL: it is of another device or
     * not whole; as with other errors of load() the device is then as after
     * reset(), and VRAM has anything in it. -ENOMEM, or what read(2), write(2)
     * say.
     */
    int (*save)(MxgpuSim *sim, int fd);
    int (*load)(MxgpuSim *sim, int fd);
    /* For kernel_gdb: a file that gdb reads symbols of kernels from; its first
     * segment is at that address. path NULL: it is there no more.
     * Without gdb nothing happens. -ENOMEM. */
    int (*module)(MxgpuSim *sim, uint64_t address, const char *path);
} MxgpuSimOps;

/* The only symbol of the library. NULL when it does not offer this ABI: a
 * different number means other structures. */
const MxgpuSimOps *mxgpu_sim_entry(unsigned abi);

#ifdef __cplusplus
}
#endif

#endif
