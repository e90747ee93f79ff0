/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small driver of mxgpu over libqtest: machine, BARs, vIOMMU, MSI-X; what is
 * the same for every host is dut.h. Everything here fails the test on the spot.
 */
#ifndef MXGPU_QTEST_DRIVER_H
#define MXGPU_QTEST_DRIVER_H

#include "tests/qtest/libqtest.h"
#include "tests/qtest/libqos/libqos-malloc.h"
#include "tests/qtest/libqos/pci.h"

#include "dut.h"
#include "mxgpu/kernel.h"

#define MX_PAGE DUT_PAGE
#define MX_SLOT 4 /* of the first device on bus 0 */

/* A way to set up the machine; every test runs in each. */
typedef struct MxEnv {
    const char *name;
    const char *machine; /* arguments of QEMU */
    const char *options; /* of -device mxgpu */
    bool viommu, express;
} MxEnv;

typedef struct MxMachine {
    const MxEnv *env;
    QTestState *qts;
    QPCIBus *bus;
    QGuestAllocator *alloc;
    uint64_t vtd_root, vtd_top, vtd_next; /* vIOMMU tables, next IOVA */
    bool passed; /* the vIOMMU lets devices through */
    char *devices; /* arguments of QEMU behind those of env */
} MxMachine;

typedef struct MxDevice {
    Dut dut;
    MxMachine *machine;
    QTestState *qts;
    QPCIDevice *pci;
    QPCIBar regs, vram, doorbells;
    uint64_t vram_size;
    uint64_t msix; /* guest-physical: where vectors write; 0: not enabled */
} MxDevice;

/* Its memory: ring and control block, guest-physical. */
typedef DutQueue MxQueue;

/* ---- machine.c ----------------------------------------------------------- */

/* devices: arguments after those of the environment, or NULL. */
MxMachine *mx_machine_start(const MxEnv *env, const char *devices);
void mx_machine_stop(MxMachine *machine);
/* Zeroed guest memory, page-aligned; returns its guest-physical address. */
uint64_t mx_alloc(MxMachine *machine, size_t size);
/* Makes guest memory reachable by devices on bus 0; returns the bus address. */
uint64_t mx_bus_map(MxMachine *machine, uint64_t addr, size_t size);
/* Takes that away again (vIOMMU only), with the invalidation. */
void mx_bus_unmap(MxMachine *machine, uint64_t bus, size_t size);
/* The same for 2^log2_pages pages at bus, aligned to their size, with an
 * invalidation that names any of them. */
void mx_bus_unmap_around(MxMachine *machine, uint64_t bus, unsigned log2_pages,
                         uint64_t named);
/* From now on the vIOMMU translates nothing, and is not told that its tables
 * changed: no device may have used it yet. */
void mx_bus_pass(MxMachine *machine);

/*
 * Moves what runs in the machine into a QEMU of its own, live, at so many MiB/s
 * (0: as fast as it goes). Who has a copy of machine->qts takes the new one.
 */
void mx_machine_move(MxMachine *machine, unsigned mib_per_second);
/*
 * The same by postcopy, in two steps: the machine runs in its new QEMU and gets
 * what it touches, and the rest at so many MiB/s, of the old one; and the old one
 * has given all, and ends.
 */
QTestState *mx_machine_move_first(MxMachine *machine, unsigned mib_per_second);
void mx_machine_move_rest(QTestState *old);
/* Saves it in a file while it runs, as it was at the beginning. */
void mx_machine_snapshot(MxMachine *machine, const char *file);
/* Back to such a file, in a new QEMU that stands still; returns the old one. */
QTestState *mx_machine_go_back(MxMachine *machine, const char *file);
/* Stops the machine and saves it in a file. */
void mx_machine_save(MxMachine *machine, const char *file);
/* A QEMU with the same devices that waits for a state; options: further ones of
 * the last device; log: file that gets its error output. */
QTestState *mx_machine_incoming(MxMachine *machine, const char *options,
                                const char *log);
/* Loads a file; whether it was taken. The machine then stands still. */
bool mx_machine_load(QTestState *qts, const char *file);

/* ---- driver.c ------------------------------------------------------------ */

/* The device in a slot of bus 0, BARs mapped, memory and bus master on. */
MxDevice *mx_open(MxMachine *machine, unsigned slot);
void mx_close(MxDevice *dev);
/* All of it but slot and machine; qos-node.c has a device that it was given. */
void mx_init(MxDevice *dev);
void mx_map_bars(MxDevice *dev);
/* Where an extended capability is in q35's memory-mapped space. */
uint64_t mx_extended(MxDevice *dev, unsigned id);

uint32_t mx_read(MxDevice *dev, uint32_t reg);
void mx_write(MxDevice *dev, uint32_t reg, uint32_t value);
uint64_t mx_vram_read(MxDevice *dev, uint64_t offset);
void mx_vram_write(MxDevice *dev, uint64_t offset, uint64_t value);
uint64_t mx_vram_alloc(MxDevice *dev, size_t size); /* zeroed, aligned */

/* Lets time pass, real and virtual. */
void mx_tick(MxDevice *dev);
#define MX_WAIT(dev, condition) DUT_WAIT(&(dev)->dut, condition)

/* Firmware: the file that MXGPU_FIRMWARE names; frees what *data was. */
void mx_firmware(uint8_t **data, size_t *size);
void mx_load(MxDevice *dev, const void *image, size_t size);
/* firmware-test.c: an image of the right form whose code is `words`. */
void mx_load_code(MxDevice *dev, const uint32_t *words, unsigned count);
unsigned mx_mcu_state(MxDevice *dev);
/* Loads the firmware, waits for it, says hello, makes VMID 1. */
void mx_boot(MxDevice *dev);
/* Sends a message; returns its status, answer in response (or NULL). */
uint32_t mx_call(MxDevice *dev, const void *message, size_t size,
                 uint32_t response[16]);

/* Page table of VMID 1. flags: MXGPU_PTE_*; addr: VRAM offset or bus. */
void mx_map(MxDevice *dev, uint64_t va, uint64_t addr, size_t size,
            uint64_t flags);
uint64_t mx_pte_offset(MxDevice *dev, uint64_t va, unsigned level);
void mx_invalidate(MxDevice *dev);
#define MX_RW (MXGPU_PTE_READ | MXGPU_PTE_WRITE)
#define MX_SYS (MX_RW | MXGPU_PTE_SYSTEM)

MxQueue *mx_queue_new(MxDevice *dev, unsigned id);
void mx_queue_free(MxQueue *queue);
/* Writes a packet and rings; returns its index. */
uint64_t mx_push(MxQueue *queue, const void *packet);
void mx_wait_read_index(MxQueue *queue, uint64_t index);

/* MSI-X: vectors send their number + MX_MSI_DATA to a word of guest memory. */
#define MX_MSI_DATA 0x4d580000u
void mx_msix_enable(MxDevice *dev);
uint64_t mx_msix_target(MxDevice *dev, unsigned vector); /* guest-physical */
void mx_msix_mask(MxDevice *dev, unsigned vector, bool mask);
bool mx_msix_pending(MxDevice *dev, unsigned vector);

/* dispatch-test.c: starts a kernel on queue 0 that never ends and counts up a
 * word of guest memory; returns the word's guest-physical address. */
uint64_t mx_run_for_ever(MxDevice *dev);
/* The same, but does not wait until it counts. */
uint64_t mx_push_for_ever(MxDevice *dev);
/* Runs a kernel with a misaligned load on queue 0, its packet with these flags;
 * the queue's error, code MXGPU_QERR_NONE when it ended well. */
struct mxgpu_queue_error mx_run_misaligned(MxDevice *dev, unsigned flags);

/* ---- main.c -------------------------------------------------------------- */

typedef enum MxTestKind {
    MX_BARE,   /* the device as it is after power-on */
    MX_BOOTED, /* mx_boot() was done */
} MxTestKind;

/* Adds a test to the environment that is being set up. */
void mx_test(const char *name, MxTestKind kind, void (*func)(MxDevice *));
/* The same with data for func. In mxgpu-qtest only. */
void mx_test_data(const char *name, MxTestKind kind,
                  void (*func)(MxDevice *, const void *), const void *data);
const MxEnv *mx_env(void);

/* One function a block adds its tests. */
void mx_block_tests(void);
void mx_identity_tests(void);
void mx_reset_tests(void);
void mx_msix_tests(void);
void mx_firmware_tests(void);
void mx_queue_tests(void);
void mx_copy_tests(void);
void mx_mmu_tests(void);
void mx_dispatch_tests(void);
void mx_plug_tests(void);
void mx_bus_tests(void);
void mx_error_tests(void);
void mx_reentry_tests(void);
void mx_trace_tests(void);
void mx_save_tests(void);
void mx_sriov_tests(void);
void mx_gdb_tests(void);
void mx_monitor_tests(void);

#endif
