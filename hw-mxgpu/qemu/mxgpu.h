/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mxgpu as a PCI device of QEMU: state shared by the files of this folder.
 */
#ifndef HW_MXGPU_QEMU_MXGPU_H
#define HW_MXGPU_QEMU_MXGPU_H

#include "hw/pci/pci_device.h"
#include "hw/pci/pcie_regs.h"
#include "qemu/thread.h"
#include "qemu/timer.h"
#include "qemu/uuid.h"

#include "../core/debug.h"
#include "../core/device.h"
#include "compat.h"

#define TYPE_MXGPU "mxgpu"
OBJECT_DECLARE_SIMPLE_TYPE(MxgpuState, MXGPU)

/* A virtual function: sriov.c. */
#define TYPE_MXGPU_VF "mxgpu-vf"
#define MXGPU_MAX_VFS 7

#define MXGPU_CONSOLE_MAX (64 * KiB)

/*
 * Device threads must never wait for the big lock (BQL): whoever holds it may
 * be waiting for them to pause. What needs the BQL on their behalf is queued
 * as a call and served by a bottom half, or by the waiting holder itself.
 */
typedef struct MxgpuCall {
    void (*func)(MxgpuState *s, void *opaque);
    void *opaque;
    bool done, served;
    QSIMPLEQ_ENTRY(MxgpuCall) next;
} MxgpuCall;

/* How the holder of the BQL treats the calls of threads that it waits for. */
typedef enum MxgpuWait {
    MXGPU_SERVE,  /* their work goes on afterwards */
    MXGPU_REFUSE, /* it is dropped by what is done */
} MxgpuWait;

/* DMA translation: dma.c. */
typedef struct MxgpuMemoryMap MxgpuMemoryMap;
typedef struct MxgpuIotlbEntry MxgpuIotlbEntry;
typedef struct MxgpuIommu MxgpuIommu;

#define MXGPU_IOTLB_SIZE  4096 /* pages */
#define MXGPU_IOTLB_LARGE 256  /* larger ones */

/* Watches an address space and keeps the map of its RAM. */
typedef struct MxgpuWatch {
    MemoryListener listener;
    MxgpuState *s;
    const char *name;
    AddressSpace *as;
    MxgpuMemoryMap *map;  /* RCU */
    MxgpuMemoryMap *next; /* being built in a transaction */
} MxgpuWatch;

typedef struct MxgpuDma {
    MxgpuWatch bus;    /* the device's own address space */
    MxgpuWatch system; /* what IOMMU translations point into */
    /* RCU; [is_write]; pages, then larger ones */
    MxgpuIotlbEntry *iotlb[2][MXGPU_IOTLB_SIZE + MXGPU_IOTLB_LARGE];
    bool iotlb_has_large; /* there was one */
    bool iotlb_evicted;   /* since the last sync, without an unmap */
    bool iotlb_filled;    /* while mxgpu_dma_sync() waited */
    QLIST_HEAD(, MxgpuIommu) iommus;
    MxgpuMemoryMap *stale; /* replaced; pointers from them may be in use */
    bool listening;
    bool used; /* atomic: memory was looked up since the last sync */
} MxgpuDma;

/* Memory that units may have written, while somebody logs: log.c. */
typedef struct MxgpuLog {
    bool on;            /* atomic; changed under the BQL */
    QemuMutex lock;     /* a leaf */
    GHashTable *chunks; /* of MxgpuLogChunk */
} MxgpuLog;

/* The model's state on its way to or from a stream: state.c. */
/* A debugger's character device: gdb.c. */
typedef struct MxgpuGdbChannel {
    MxgpuState *s;
    MxgpuDebugged which;
    CharFrontend chr;
    bool halt;       /* what it debugs waits for it */
    QemuMutex lock;  /* of the next */
    GByteArray *out; /* for chr */
    guint watch;
    bool room;       /* atomic: the device takes more bytes again */
    QEMUBH *bh;
} MxgpuGdbChannel;

typedef struct MxgpuImage MxgpuImage;

/* What mxgpu_config_note() is told: bits. */
#define MXGPU_NOTE_INTERNAL     1u /* error that the hardware cannot mend */
#define MXGPU_NOTE_MASTER_ABORT 2u /* nobody took a read of ours */
#define MXGPU_NOTES             3u

#define MXGPU_IRQ_WORDS (MXGPU_MAX_VECTORS / 64)

struct MxgpuState {
    PCIDevice parent_obj;

    /* properties */
    uint64_t vram_size, private_memory;
    uint32_t compute_units, threads, queues, copy_engines, watchdog_ms;
    uint32_t firmware_watchdog_ms, jit;
    bool deterministic, strict_alignment;
    QemuUUID uuid;
    PCIExpLinkSpeed link_speed;
    PCIExpLinkWidth link_width;
    CharFrontend console;
    uint32_t vfs, vf_compute_units; /* of a physical function */
    uint64_t vf_vram;


    MemoryRegion regs, aperture, vram, bar4, doorbell;
    MxgpuDevice *dev;
    char *name; /* for traces */
    VMChangeStateEntry *vm_state;

    /* What is wanted of the device, and its state: see mxgpu_settle(). */
    bool stopped;    /* the machine is */
    bool asleep;     /* in D3hot */
    bool reset, sync; /* asked for */
    bool paused;     /* the device is */
    bool gone;       /* unplugged */
    QEMUBH *settle_bh;

    /* Interrupts raised by device threads, delivered under the BQL. */
    unsigned long irq_pending[BITS_TO_LONGS(MXGPU_MAX_VECTORS)];
    uint64_t irq_saved[MXGPU_IRQ_WORDS]; /* of a state; host-independent */
    uint32_t notes_pending, notes_saved; /* MXGPU_NOTE_*, in the same way */
    QEMUBH *irq_bh;

    /* Calls of device threads, and of the control thread's user. */
    QemuMutex call_lock;
    QemuCond call_cond;
    QSIMPLEQ_HEAD(, MxgpuCall) calls;
    QEMUBH *call_bh;
    bool refusing;    /* calls */
    unsigned serving; /* calls being served; under the BQL */
    QemuThread control;
    QemuCond control_cond;
    void (*control_func)(MxgpuState *s); /* NULL: idle */
    bool control_quit;

    /* Deterministic mode: run.c. */
    QEMUTimer *turn_timer; /* of the host's clock */
    QEMUTimer *run_timer;  /* of the machine's */
    bool run_due;    /* a turn was missed while the device was paused */
    bool run_kept;   /* run_timer says when, whatever the core asks for */

    QemuMutex console_lock;
    GByteArray *console_out;
    uint64_t console_lost; /* bytes */
    guint console_watch;
    QEMUBH *console_bh;

    MxgpuGdbChannel gdb[MXGPU_DEBUG_KERNELS + 1]; /* by MxgpuDebugged */

    char *observer_path;
    char *capture_path;
    struct MxgpuCapture *capture; /* NULL: none */
    char *inspect; /* command of the property x-inspect */
    struct MxgpuLook *look; /* inspect.c: what mxgpu_host_wait() is to do */

    MxgpuDma dma;
    MxgpuLog log;
    MxgpuImage *image;
};

/* host.c: what the core asks of us. */
extern const MxgpuHostOps mxgpu_host_ops;
void mxgpu_host_init(MxgpuState *s);
void mxgpu_host_start(MxgpuState *s);
void mxgpu_host_stop(MxgpuState *s);
void mxgpu_host_cleanup(MxgpuState *s);
/* From any thread: something that configuration space is to say. */
void mxgpu_host_note(MxgpuState *s, uint32_t note);
void mxgpu_host_drop_irqs(MxgpuState *s);
/* Those that were raised and not delivered: to and from irq_saved. */
void mxgpu_host_save_irqs(MxgpuState *s);
void mxgpu_host_load_irqs(MxgpuState *s);
/* The machine runs again. */
void mxgpu_host_cont(MxgpuState *s);
/* BQL held: sends interrupts that wait, what the console takes now; false:
 * some is left. */
void mxgpu_host_deliver(MxgpuState *s);
bool mxgpu_host_flush(MxgpuState *s);

/* run.c: turns of a deterministic device. _soon: the next one does what the
 * bottom half given does, where turns do not come by the machine's clock. */
void mxgpu_run_init(MxgpuState *s);
void mxgpu_run_cleanup(MxgpuState *s);
void mxgpu_run_soon(MxgpuState *s, QEMUBH *bh);
void mxgpu_run_kick(void *host);
void mxgpu_run_resume(MxgpuState *s);
extern const VMStateDescription mxgpu_vmstate_run;

/*
 * Runs func(s, opaque) under the BQL and waits for it; from any thread. false
 * when that is refused.
 */
bool mxgpu_host_call(MxgpuState *s, void (*func)(MxgpuState *, void *),
                     void *opaque);
/*
 * BQL held: runs func(s), which may wait for device threads. False, and
 * nothing done, while mxgpu_host_serving(): one of them waits for us.
 */
bool mxgpu_host_wait(MxgpuState *s, void (*func)(MxgpuState *),
                     MxgpuWait calls);
bool mxgpu_host_serving(MxgpuState *s);
/* For good, when the device is about to go. */
void mxgpu_host_refuse(MxgpuState *s);

/*
 * mxgpu.c. BQL held: resets, pauses or resumes the device and ends its use of
 * old memory, as the state asks. While a call of one of its threads is served
 * that is done as soon as possible afterwards: what a vIOMMU writes when it
 * translates (faults, events, access bits) goes where the guest wants it,
 * registers that reset, stop or unplug this device among them.
 */
void mxgpu_settle(MxgpuState *s);

/* tracing.c */
void mxgpu_trace(void *host, MxgpuTraceEvent event, uint64_t a, uint64_t b);
bool mxgpu_trace_queue_listens(void *host);
void mxgpu_trace_queue(void *host, const MxgpuQueueEvent *event);

/* gdb.c, in the order of calls */
bool mxgpu_gdb_connected(MxgpuState *s, MxgpuDebugged which);
void mxgpu_gdb_prepare(MxgpuState *s);
void mxgpu_gdb_listen(MxgpuState *s);  /* there is a device */
void mxgpu_gdb_quit(MxgpuState *s);    /* it is about to go */
void mxgpu_gdb_cleanup(MxgpuState *s); /* its threads are gone */

/* observer.c: has the library observer_path watch the device's kernels. */
bool mxgpu_observer_load(MxgpuState *s, MxgpuConfig *config, Error **errp);

/* inspect.c */
void mxgpu_inspect_class_init(ObjectClass *class); /* and "info mxgpu" */

/* sriov.c */
bool mxgpu_is_vf(MxgpuState *s);
void mxgpu_vf_inherit(MxgpuState *s); /* its properties */
bool mxgpu_sriov_init(MxgpuState *s, Error **errp);
void mxgpu_sriov_exit(MxgpuState *s);

/* config.c */
bool mxgpu_config_init(MxgpuState *s, Error **errp);
void mxgpu_config_exit(PCIDevice *pci);
void mxgpu_config_write(PCIDevice *pci, uint32_t addr, uint32_t value, int len);
void mxgpu_config_reset(MxgpuState *s);
void mxgpu_config_note(PCIDevice *pci, uint32_t notes);
unsigned mxgpu_config_power_state(PCIDevice *pci); /* 0: D0 */
/* What follows from configuration space that was loaded; false: it cannot be
 * of such a device. */
bool mxgpu_config_loaded(MxgpuState *s);

/* state.c: savevm and migration */
extern const VMStateDescription mxgpu_vmstate;
/* The same for a function that others belong to. */
const VMStateDescription *mxgpu_vmstate_first(void);
void mxgpu_state_init(MxgpuState *s);
void mxgpu_state_free(MxgpuState *s);

/* log.c: the dirty log. Operations of the listener of the system's memory. */
void mxgpu_log_init(MxgpuState *s);
void mxgpu_log_free(MxgpuState *s);
bool mxgpu_log_start(MemoryListener *listener, Error **errp);
void mxgpu_log_stop(MemoryListener *listener);
void mxgpu_log_sync(MemoryListener *listener, bool last_stage);
/* From any thread: it is about to write to these bytes of a RAM region through
 * a pointer. */
void mxgpu_log_note(MxgpuState *s, MemoryRegion *mr, hwaddr offset, hwaddr len);

/* dma.c */
void mxgpu_dma_start(MxgpuState *s);
void mxgpu_dma_stop(MxgpuState *s);
/* BQL held. Ends the use of memory that went away, if s->sync is false then. */
void mxgpu_dma_sync(MxgpuState *s);
/* No thread of the device runs any more. */
void mxgpu_dma_free(MxgpuState *s);
int mxgpu_dma_read(void *host, uint64_t addr, void *buf, size_t len);
int mxgpu_dma_write(void *host, uint64_t addr, const void *buf, size_t len);
void *mxgpu_dma_map(void *host, uint64_t addr, size_t len, bool write);

#endif
