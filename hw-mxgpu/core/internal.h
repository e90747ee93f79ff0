/* SPDX-License-Identifier: MIT */
/*
 * The inside of the device: state by block, and what blocks ask of each other.
 *
 * Locking. dev->lock guards regs[] and every member not marked otherwise; it
 * is held for a few instructions and never while a host operation runs: what
 * must reach the host is put into dev->out and sent by mxgpu_unlock(). Members
 * marked (mcu) belong to the thread that steps the MCU, those marked (engine)
 * to the one that steps the engine; a reset changes them while all are held.
 * Lock order: control, faults.writer, then dev->lock, then leaves (a stepper's,
 * the MMU's). faults.writer is held while a host operation runs.
 *
 * Floors. A file calls only files that stand before it here:
 *   stepper, boot, console_log; outbox; irq; control, mailbox, mmu_regs, doorbell,
 *   counters, fault, copy, chain, compute, memport, front, trace_port, mcu_watch, mcu_debug;
 *   mcu_driver; regs; bus, reset; device; inspect_text; inspect_queue,
 * inspect_memory, inspect_unit; inspect, capture; gdb; state; image.
 *
 * State and cache (docs/state.md). State, which state.c and mxgpu_copy_visit()
 * walk: doorbells; of faults all but writer, and busy, which is false between two
 * steps; of a copy engine all but client, tlb and buf; of the MCU's
 * driver all but mcu and sram; and of the device regs, latch,
 * reset_pending and db, and as counters counter and simt_base. Caches, which
 * mxgpu_device_forget() drops: tlb and buf; mbox_pending, copy_pending, chain_pending and
 * dispatch_pending, which follow from registers. Between two steps out, kick,
 * cu_claimed and the _inline members are empty; sram_first and its like are of a
 * trace line. The rest, debug among it, is the host's.
 */
#ifndef MXGPU_CORE_INTERNAL_H
#define MXGPU_CORE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/visit.h"
#include "console_log.h"
#include "device.h"
#include "mcu/mcu.h"
#include "mmu/mmu.h"
#include "mxgpu/packets.h"
#include "simt/debug.h"
#include "stepper.h"

/* Who accesses a register. */
typedef enum MxgpuParty {
    MXGPU_PARTY_HOST,
    MXGPU_PARTY_MCU,
    MXGPU_PARTIES,
} MxgpuParty;

typedef struct MxgpuAccess {
    MxgpuParty party;
    unsigned index; /* element of a register array */
    uint32_t offset;
    uint64_t now; /* clock, for registers that need it */
    bool listens; /* somebody wants queue events, likewise */
    bool peek;    /* a debugger looks: no effect, halves as they are now */
} MxgpuAccess;

/* What a critical section wants to tell the host. */
typedef struct MxgpuOutbox {
    bool any, error;
    uint32_t vectors[8];
    unsigned traces;
    struct {
        MxgpuTraceEvent event;
        uint64_t a, b;
    } trace[8];
} MxgpuOutbox;

typedef struct MxgpuDoorbells {
    _Atomic uint64_t value[MXGPU_MAX_QUEUES];
    _Atomic uint32_t low[MXGPU_MAX_QUEUES]; /* of a pair of 32-bit stores */
    _Atomic uint32_t pending[MXGPU_MAX_QUEUES / 32];
    _Atomic uint32_t enable[MXGPU_MAX_QUEUES / 32];
} MxgpuDoorbells;

#define MXGPU_COPY_TLB 16

/* A run of bytes that a copy engine may reach without asking the MMU. */
typedef struct MxgpuCopyTlb {
    bool valid;
    uint64_t base; /* virtual address of the run */
    MxgpuTranslation t; /* of base */
} MxgpuCopyTlb;

/* One side of a copy. */
typedef struct MxgpuCopySide {
    uint64_t row;        /* where the current row starts */
    uint64_t pitch;      /* from a row to the next */
    uint64_t slice_step; /* from the last row of a slice to the next slice */
    MxgpuCopyTlb tlb;
} MxgpuCopySide;

typedef enum MxgpuCopyParked {
    MXGPU_COPY_RUNS,
    MXGPU_COPY_FAULTED, /* nobody has been told */
    MXGPU_COPY_REPORTED,
    MXGPU_COPY_PARKED,
} MxgpuCopyParked;

typedef struct MxgpuCopyEngine {
    MxgpuMmuClient client; /* host */
    _Atomic bool abort;
    /* (engine) the operation, from START on */
    bool fill;
    unsigned vmid;
    uint64_t width;
    uint32_t height, depth; /* of a linear one 1; depth 0: nothing to do */
    uint64_t x;             /* bytes of the current row that are done */
    uint32_t y, z;          /* rows of the slice, slices that are done */
    uint64_t done;          /* bytes */
    MxgpuCopySide src, dst; /* but their tlb, which is cache */
    uint8_t pattern[16];    /* of a fill, repeated */
    /* A fault that waits for software, in the access that comes next. */
    bool recover;
    uint8_t parked; /* MxgpuCopyParked */
    uint8_t fault;
    bool write;
    uint64_t fault_addr;
    uint32_t sequence, queue; /* sequence: of its record */
    uint8_t *buf;           /* cache: that many times; or the bounce buffer */
} MxgpuCopyEngine;

/* Of a record's number, see fault.c. */
enum {
    MXGPU_FAULT_FREE, /* no unit waits for its verdict */
    MXGPU_FAULT_WAITS,
    MXGPU_FAULT_REPLAYED,
    MXGPU_FAULT_KILLED,
    /* Who waits, or was killed, is in memory, with its dispatch. */
    MXGPU_FAULT_AWAY,
    MXGPU_FAULT_AWAY_KILLED,
    MXGPU_FAULT_STATES,
};
#define MXGPU_FAULT_RECORDS 4096u

/* Whose a record is whose lanes are away; else all 0. */
typedef struct MxgpuFaultOwner {
    uint32_t sequence, queue, vmid;
} MxgpuFaultOwner;

typedef struct MxgpuFaults {
    pthread_mutex_t writer; /* host: one record at a time */
    _Atomic uint8_t verdict[MXGPU_FAULT_RECORDS];
    MxgpuFaultOwner owner[MXGPU_FAULT_RECORDS];
    bool stalled, error, busy; /* as in FAULT_STATUS */
} MxgpuFaults;

typedef struct MxgpuMcuDriver {
    MxgpuMcu *mcu; /* (mcu) */
    uint8_t *sram;
    bool start, stop;          /* posted by MCU_CTRL */
    uint64_t start_time;       /* (mcu) clock at MTIME 0 */
    bool timer, external;      /* (mcu) interrupt lines */
    bool panic;                /* (mcu) */
    char line[256];            /* (mcu) */
    unsigned line_len;         /* (mcu) */
    _Atomic uint64_t instret;
    _Atomic uint32_t pc, ra, sp; /* as MCU_PC and its like show them */
    bool progress;      /* (mcu) since the last look of the watchdog */
    bool stuck;         /* (mcu) and said so */
    uint64_t progress_at; /* (mcu) clock */
} MxgpuMcuDriver;

typedef struct MxgpuMemPort {
    MxgpuMmuClient client; /* (mcu) active during a command only */
} MxgpuMemPort;

/* Bits of MxgpuDebug.events: what has happened to the MCU. */
enum {
    MXGPU_DEBUG_STOPPED = 1, /* a point, a step, an exception */
    MXGPU_DEBUG_STARTED = 2, /* before its first instruction */
    MXGPU_DEBUG_LOCKUP = 4,
    MXGPU_DEBUG_PANIC = 8,
    MXGPU_DEBUG_RESET = 16,
};

struct MxgpuGdb;
struct MxgpuDebugOps;

/* A connection to a debugger: gdb_port.c. */
typedef struct MxgpuDebugPort {
    struct MxgpuGdb *gdb; /* (mcu) NULL: the host has no debugger */
    const struct MxgpuDebugOps *ops;
    void *host;
    void (*service)(MxgpuDevice *dev); /* does what it has asked for */
    char *text;           /* (mcu) the last document it was given */
    pthread_mutex_t lock; /* a leaf but for output() of ops */
    uint8_t in[4096];     /* what it has sent */
    size_t in_len;
    bool closed; /* ... after the connection before was closed */
    bool full;   /* the host was told that there is no room */
} MxgpuDebugPort;

/* The debugger of the MCU. */
typedef struct MxgpuDebug {
    bool halted;   /* (mcu) it has stopped the MCU */
    bool attached; /* (mcu) there is one */
    _Atomic bool halt_at_start;
    _Atomic uint32_t events;
    MxgpuDebugPort port;
} MxgpuDebug;

/* A file with symbols of kernels, for a debugger. */
typedef struct MxgpuModule {
    struct MxgpuModule *next;
    uint64_t address;
    char path[];
} MxgpuModule;

/* The debugger of kernels: kernel_gdb.c. */
typedef struct MxgpuKernelDebug {
    bool attached;        /* (mcu) */
    bool halt;            /* (mcu) units wait for one */
    bool stops_at_launch; /* (mcu) its user wants that */
    bool told_modules;    /* (mcu) the last stop was to tell of them */
    MxgpuSimtLane lane;   /* (mcu) that registers and memory are of */
    bool has_lane;        /* (mcu) */
    uint64_t ended;       /* (mcu) the thread that has ended and is shown once more */
    bool is_ended;        /* (mcu) it is what registers are of */
    uint64_t last[33];    /* (mcu) its registers */
    _Atomic bool stopped; /* units have, and nobody was told */
    _Atomic bool news;    /* of modules, that it does not know */
    pthread_mutex_t lock; /* of what follows; a leaf */
    MxgpuModule *modules;
    MxgpuDebugPort port;
} MxgpuKernelDebug;

/* Whether a kernel with as many blocks took long the last time. */
typedef struct MxgpuTook {
    uint32_t key;
    bool longer;
} MxgpuTook;

#define MXGPU_TOOK 64

struct MxgpuDevice {
    MxgpuConfig config;
    const MxgpuHostOps *ops;
    void *host;

    pthread_mutex_t control; /* one hold-change-release at a time */
    pthread_mutex_t lock;
    MxgpuOutbox out;
    _Atomic unsigned alerts; /* interrupts, and wake-ups of the MCU's thread: see
                              * MxgpuStepper.alerts */
    _Atomic bool kick; /* deterministic: tell the host there is work */

    uint32_t regs[MXGPU_REGS_SIZE / 4];
    /* Constant after creation: which register is at an offset, the bits of
     * each that are fields. */
    uint8_t reg_index[MXGPU_REGS_SIZE / 4];
    uint32_t fields[256];
    /* High halves of 64-bit values, as each reader last latched them. */
    uint32_t latch[MXGPU_PARTIES][MXGPU_REGS_SIZE / 4];
    /* Accesses to MCU_SRAM_DATA that are to be one event. */
    _Atomic uint32_t sram_first, sram_bytes;
    _Atomic bool sram_write;
    _Atomic uint64_t counter[MXGPU_COUNTERS];
    _Atomic uint64_t copy_ns[MXGPU_NUM_VMIDS]; /* of each address space */
    MxgpuSimtCounters simt_base; /* simt counts from creation */
    bool reset_pending;

    _Atomic uint32_t mbox_pending;
    _Atomic uint32_t copy_pending;     /* engines DONE or FAULT */
    _Atomic uint32_t dispatch_pending; /* slots DONE or FAULT */
    _Atomic uint32_t chain_pending;    /* slots DONE, FE_CHAIN.LEFT not 0 */
    MxgpuDoorbells db;
    MxgpuFaults faults;
    MxgpuMemPort memport;
    MxgpuMcuDriver mcu;
    MxgpuDebug debug;
    MxgpuKernelDebug kernels;
    MxgpuConsoleLog console_log; /* host */
    _Atomic uint32_t queue_table; /* host: where inspect_queue.c found it last */
    MxgpuCopyEngine ce[MXGPU_MAX_COPY_ENGINES];
    MxgpuMmu *mmu;
    MxgpuSimt *simt;
    _Atomic uint8_t *cu_claimed; /* MxgpuClaim */
    MxgpuTook took[MXGPU_TOOK]; /* (lock) by key */
    uint32_t took_by[MXGPU_DISPATCH_SLOTS]; /* (lock) keys of what runs */
    bool compute_long; /* (mcu) what it has just started takes long */
    bool compute_inline; /* (mcu) it runs what it has just started */
    _Atomic uint32_t copy_inline; /* engines that were just started, likewise */
    bool inline_ran; /* (mcu) unit 0, and inline_idle is not known */
    uint64_t inline_idle; /* (mcu) when to look at unit 0 after that */

    unsigned num_steppers, num_workers;
    MxgpuStepper *steppers; /* control, MCU, copy engines, compute workers */
};

/* A warp whose threads have 1 KiB each. */
#define MXGPU_PRIVATE_GRAIN (64u << 10)

/* Private memory of a compute unit, bytes. */
static inline uint64_t mxgpu_cu_private(const MxgpuDevice *dev)
{
    uint64_t bytes = dev->config.private_memory / dev->config.compute_units;
    uint64_t most = MXGPU_CU_THREADS * MXGPU_PRIVATE_MAX;

    bytes = bytes < most ? bytes : most;
    return bytes / MXGPU_PRIVATE_GRAIN * MXGPU_PRIVATE_GRAIN;
}

/* Order of dev->steppers. */
enum {
    MXGPU_STEPPER_CONTROL,
    MXGPU_STEPPER_MCU,
    MXGPU_STEPPER_COPY,
};

static inline uint32_t *mxgpu_reg(MxgpuDevice *dev, uint32_t offset)
{
    return &dev->regs[offset / 4];
}

static inline uint64_t mxgpu_reg64(MxgpuDevice *dev, uint32_t offset)
{
    return *mxgpu_reg(dev, offset) |
           (uint64_t)*mxgpu_reg(dev, offset + 4) << 32;
}

static inline void mxgpu_set_reg64(MxgpuDevice *dev, uint32_t offset,
                                   uint64_t value)
{
    *mxgpu_reg(dev, offset) = (uint32_t)value;
    *mxgpu_reg(dev, offset + 4) = (uint32_t)(value >> 32);
}

static inline uint64_t mxgpu_now(MxgpuDevice *dev)
{
    return dev->ops->clock(dev->host);
}

static inline void mxgpu_count(MxgpuDevice *dev, enum mxgpu_counter counter,
                               uint64_t n)
{
    atomic_fetch_add_explicit(&dev->counter[counter], n, memory_order_relaxed);
}

/* outbox.c */
void mxgpu_lock(MxgpuDevice *dev);
void mxgpu_unlock(MxgpuDevice *dev); /* and sends the outbox */
void mxgpu_out_vector(MxgpuDevice *dev, unsigned vector);
void mxgpu_out_error(MxgpuDevice *dev); /* see MxgpuHostOps */
void mxgpu_out_trace(MxgpuDevice *dev, MxgpuTraceEvent event, uint64_t a,
                     uint64_t b);
/* The stepper of a worker. */
static inline unsigned mxgpu_worker(const MxgpuDevice *dev, unsigned index)
{
    return MXGPU_STEPPER_COPY + dev->config.copy_engines + index;
}

void mxgpu_wake(MxgpuDevice *dev, unsigned unit);
void mxgpu_wake_compute(MxgpuDevice *dev);
/* The first worker is to come itself. */
void mxgpu_call_compute(MxgpuDevice *dev);
/* Not under the lock: sends what mxgpu_wake() left for the host. */
void mxgpu_send_kick(MxgpuDevice *dev);

/* regs.c: every access to a register. Not under the lock. */
void mxgpu_regs_init(MxgpuDevice *dev);
void mxgpu_regs_reset(MxgpuDevice *dev);
/* After that: registers from a state. false: they are no such device's. */
bool mxgpu_regs_load(MxgpuDevice *dev, const uint32_t *image);
uint32_t mxgpu_regs_read(MxgpuDevice *dev, MxgpuParty party, uint32_t offset);
/* What the party would read, without any effect; 0 where it must not read. */
uint32_t mxgpu_regs_peek(MxgpuDevice *dev, MxgpuParty party, uint32_t offset);
/* Whether there is a register that it may read. */
bool mxgpu_regs_readable(MxgpuDevice *dev, MxgpuParty party, uint32_t offset);
void mxgpu_regs_write(MxgpuDevice *dev, MxgpuParty party, uint32_t offset,
                      uint32_t value);

/* irq.c: under the lock */
void mxgpu_irq_set(MxgpuDevice *dev, uint32_t bits);
void mxgpu_irq_enable_write(MxgpuDevice *dev, const MxgpuAccess *a,
                            uint32_t value);
void mxgpu_err_set(MxgpuDevice *dev, uint32_t bit, uint32_t info,
                   uint64_t addr);
/* A unit has ended with a fault: counts it, and sets its bit of ERR_STATUS if
 * it has one. */
void mxgpu_err_fault(MxgpuDevice *dev, enum mxgpu_fault fault,
                     enum mxgpu_access access, uint64_t addr);
void mxgpu_msix_raise_write(MxgpuDevice *dev, const MxgpuAccess *a,
                            uint32_t value);
void mxgpu_event_raise_write(MxgpuDevice *dev, const MxgpuAccess *a,
                             uint32_t value);
/* irq.c: anywhere */
uint32_t mxgpu_int_pending(MxgpuDevice *dev);
uint32_t mxgpu_int_pending_read(MxgpuDevice *dev, const MxgpuAccess *a);
/* irq.c: not under the lock */
void mxgpu_bad_access(MxgpuDevice *dev, uint64_t offset, unsigned size,
                      bool write);

/* trace_port.c; not under the lock */
bool mxgpu_trace_listens(MxgpuDevice *dev);
void mxgpu_trace_event_write(MxgpuDevice *dev, const MxgpuAccess *a,
                             uint32_t value);

/* mailbox.c */
void mxgpu_mbox_write(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value);

/* mmu_regs.c */
void mxgpu_mmu_root_write(MxgpuDevice *dev, const MxgpuAccess *a,
                          uint32_t value);
void mxgpu_mmu_inv_write(MxgpuDevice *dev, const MxgpuAccess *a,
                         uint32_t value);
uint32_t mxgpu_mmu_inv_read(MxgpuDevice *dev, const MxgpuAccess *a);

/* counters.c */
uint64_t mxgpu_counter_read(MxgpuDevice *dev, const MxgpuAccess *a);
uint64_t mxgpu_vmid_compute_read(MxgpuDevice *dev, const MxgpuAccess *a);
uint64_t mxgpu_vmid_copy_read(MxgpuDevice *dev, const MxgpuAccess *a);
uint64_t mxgpu_cu_counter_read(MxgpuDevice *dev, const MxgpuAccess *a);
uint64_t mxgpu_cu_pc_read(MxgpuDevice *dev, const MxgpuAccess *a);
/* Of dispatches; the MCU is the only reader. */
uint64_t mxgpu_cp_counter_read(MxgpuDevice *dev, const MxgpuAccess *a);
uint64_t mxgpu_cp_samples_read(MxgpuDevice *dev, const MxgpuAccess *a);
void mxgpu_cp_unit_write(MxgpuDevice *dev, const MxgpuAccess *a,
                         uint32_t value);
void mxgpu_counters_reset(MxgpuDevice *dev);

/* doorbell.c */
uint32_t mxgpu_db_pending_read(MxgpuDevice *dev, const MxgpuAccess *a);
void mxgpu_db_pending_write(MxgpuDevice *dev, const MxgpuAccess *a,
                            uint32_t value);
uint32_t mxgpu_db_enable_read(MxgpuDevice *dev, const MxgpuAccess *a);
void mxgpu_db_enable_write(MxgpuDevice *dev, const MxgpuAccess *a,
                           uint32_t value);
uint32_t mxgpu_db_next_read(MxgpuDevice *dev, const MxgpuAccess *a);
uint64_t mxgpu_db_value_read(MxgpuDevice *dev, const MxgpuAccess *a);
void mxgpu_db_reset(MxgpuDevice *dev);
/* The bits of a word of DB_ENABLE whose queues the device has. */
uint32_t mxgpu_db_exist(const MxgpuDevice *dev, unsigned index);

/* memport.c: on the MCU's thread */
void mxgpu_mem_cmd_write(MxgpuDevice *dev, const MxgpuAccess *a,
                         uint32_t value);
/* Moves at most 128 bytes between buf and va, all of them or none. The port's
 * client of the MMU is active. */
enum mxgpu_fault mxgpu_memport_move(MxgpuDevice *dev, unsigned vmid,
                                    uint64_t va, void *buf, unsigned size,
                                    bool write, uint64_t *fault_addr)
    __attribute__((warn_unused_result));

/* front.c: on the MCU's thread */
/* Whether packets may follow in the slot. Under the lock, as the next two. */
bool mxgpu_fe_chains(MxgpuDevice *dev, unsigned slot);
/* No packet follows any more: the end of the last one is for the firmware. */
void mxgpu_fe_break(MxgpuDevice *dev, unsigned slot);
void mxgpu_fe_forget(MxgpuDevice *dev, unsigned slot);
/* Lets packets follow in the slots that have ended; on the MCU's thread. */
void mxgpu_fe_follow(MxgpuDevice *dev);
void mxgpu_fe_launch_write(MxgpuDevice *dev, const MxgpuAccess *a,
                           uint32_t value);
void mxgpu_fe_retire_write(MxgpuDevice *dev, const MxgpuAccess *a,
                           uint32_t value);

/* fault.c: from units, not under the lock */
/* Adds a record, whose sequence is set here; false: there is no room now. The
 * unit is woken when there may be. It is a client of the MMU that is active. */
bool mxgpu_fault_report(MxgpuDevice *dev, struct mxgpu_fault_record *record);
/* Any but NONE is given once. */
MxgpuVerdict mxgpu_fault_verdict(MxgpuDevice *dev, uint32_t sequence);
/* The unit waits no longer for the verdict. */
void mxgpu_fault_release(MxgpuDevice *dev, uint32_t sequence);
/* The lanes leave with their dispatch, and the verdict waits for them. */
void mxgpu_fault_away(MxgpuDevice *dev, uint32_t sequence, unsigned vmid,
                      uint32_t queue);
/* They are back, they say. false: no record of that queue waits for them, and
 * they do not wait for a verdict. */
bool mxgpu_fault_back(MxgpuDevice *dev, uint32_t sequence, unsigned vmid,
                      uint32_t queue);
/* fault.c: under the lock */
void mxgpu_fault_ring_write(MxgpuDevice *dev, const MxgpuAccess *a,
                            uint32_t value);
void mxgpu_fault_cfg_write(MxgpuDevice *dev, const MxgpuAccess *a,
                           uint32_t value);
void mxgpu_fault_head_write(MxgpuDevice *dev, const MxgpuAccess *a,
                            uint32_t value);
void mxgpu_fault_replay_write(MxgpuDevice *dev, const MxgpuAccess *a,
                              uint32_t value);
void mxgpu_fault_kill_write(MxgpuDevice *dev, const MxgpuAccess *a,
                            uint32_t value);
uint32_t mxgpu_fault_status_read(MxgpuDevice *dev, const MxgpuAccess *a);
void mxgpu_fault_reset(MxgpuDevice *dev);
/* Whether the entry is one of lanes that are in memory. */
bool mxgpu_fault_is_away(MxgpuDevice *dev, uint32_t i);
/* After the registers. */
void mxgpu_fault_visit(MxgpuDevice *dev, MxgpuVisit *v);

/* copy.c */
bool mxgpu_copy_init(MxgpuDevice *dev);
void mxgpu_copy_free(MxgpuDevice *dev);
void mxgpu_copy_reset(MxgpuDevice *dev);
void mxgpu_ce_ctrl_write(MxgpuDevice *dev, const MxgpuAccess *a,
                         uint32_t value);
MxgpuStep mxgpu_copy_step;
/* The operation of engine i, if it is busy; its registers come first. */
void mxgpu_copy_visit(MxgpuDevice *dev, unsigned i, MxgpuVisit *v);
/* As mxgpu_simt_each_parked(). */
void mxgpu_copy_each_parked(MxgpuDevice *dev,
                            void (*fn)(void *opaque, uint32_t sequence),
                            void *opaque);
void mxgpu_copy_forget(MxgpuDevice *dev);

/* mcu_driver.c */
/* ops: how the MCU reaches the registers; told of with bus_accessed (reads) or
 * bus_written after each access. */
bool mxgpu_mcu_driver_init(MxgpuDevice *dev, const MxgpuMcuOps *ops);
void mxgpu_mcu_driver_free(MxgpuDevice *dev);
void mxgpu_mcu_driver_reset(MxgpuDevice *dev);
MxgpuStep mxgpu_mcu_step;
void mxgpu_mcu_bus_accessed(MxgpuDevice *dev);
void mxgpu_mcu_bus_written(MxgpuDevice *dev, uint32_t offset);
void mxgpu_mcu_ctrl_write(MxgpuDevice *dev, const MxgpuAccess *a,
                          uint32_t value);
uint32_t mxgpu_sram_data_read(MxgpuDevice *dev, const MxgpuAccess *a);
void mxgpu_sram_data_write(MxgpuDevice *dev, const MxgpuAccess *a,
                           uint32_t value);
uint64_t mxgpu_mtime_read(MxgpuDevice *dev, const MxgpuAccess *a);
uint64_t mxgpu_instret_read(MxgpuDevice *dev, const MxgpuAccess *a);
void mxgpu_mtimecmp_write(MxgpuDevice *dev, const MxgpuAccess *a,
                          uint32_t value);
void mxgpu_console_write(MxgpuDevice *dev, const MxgpuAccess *a,
                         uint32_t value);
void mxgpu_fw_ready_write(MxgpuDevice *dev, const MxgpuAccess *a,
                          uint32_t value);
void mxgpu_fw_panic_write(MxgpuDevice *dev, const MxgpuAccess *a,
                          uint32_t value);
/* mcu_watch.c: all on the MCU's thread */
/* The MCU starts, or is reset: it is at pc. */
void mxgpu_mcu_watch_start(MxgpuDevice *dev, uint32_t pc, uint64_t now);
/* After each step of the MCU. *deadline: the clock at which to call this again
 * while the MCU sleeps. */
void mxgpu_mcu_watch(MxgpuDevice *dev, bool sleeps, uint64_t *deadline);
/* It has crashed, by FW_PANIC or a lockup; the trap registers are set. */
void mxgpu_mcu_watch_crash(MxgpuDevice *dev);
/* The firmware wrote to the register at offset. */
void mxgpu_mcu_watch_write(MxgpuDevice *dev, uint32_t offset);
uint32_t mxgpu_mcu_pc_read(MxgpuDevice *dev, const MxgpuAccess *a);
uint32_t mxgpu_mcu_ra_read(MxgpuDevice *dev, const MxgpuAccess *a);
uint32_t mxgpu_mcu_sp_read(MxgpuDevice *dev, const MxgpuAccess *a);

/* mcu_debug.c: on the MCU's thread, or while that is held */
bool mxgpu_mcu_debug_holds(MxgpuDevice *dev); /* the MCU executes nothing */
void mxgpu_mcu_debug_stopped(MxgpuDevice *dev);
void mxgpu_mcu_debug_started(MxgpuDevice *dev);
void mxgpu_mcu_debug_crashed(MxgpuDevice *dev, bool lockup);
void mxgpu_mcu_debug_reset(MxgpuDevice *dev);

/* boot.c */
enum mxgpu_boot_error mxgpu_boot_check(const uint8_t *sram, uint32_t *entry);

/* compute.c */
bool mxgpu_compute_init(MxgpuDevice *dev);
void mxgpu_compute_free(MxgpuDevice *dev);
void mxgpu_compute_reset(MxgpuDevice *dev);
uint32_t mxgpu_cd_hold_read(MxgpuDevice *dev, const MxgpuAccess *a);
void mxgpu_cd_hold_write(MxgpuDevice *dev, const MxgpuAccess *a,
                         uint32_t value);
uint32_t mxgpu_cd_waits_read(MxgpuDevice *dev, const MxgpuAccess *a);
uint32_t mxgpu_cu_slots_read(MxgpuDevice *dev, const MxgpuAccess *a);
uint32_t mxgpu_cd_spent_read(MxgpuDevice *dev, const MxgpuAccess *a);
void mxgpu_cd_ctrl_write(MxgpuDevice *dev, const MxgpuAccess *a,
                         uint32_t value);
/* For the front end: starts an IDLE slot whose registers are set; enum
 * mxgpu_unit_state; from DONE back to IDLE, under the lock. */
void mxgpu_cd_start(MxgpuDevice *dev, unsigned slot, uint64_t now);
uint32_t mxgpu_cd_state(MxgpuDevice *dev, unsigned slot);
void mxgpu_cd_ack(MxgpuDevice *dev, unsigned slot);
MxgpuStep mxgpu_compute_step;
/* After each step of the MCU: what it started and may run by itself. */
void mxgpu_compute_inline(MxgpuDevice *dev);
/* Before the MCU's thread sleeps. */
void mxgpu_compute_inline_idle(MxgpuDevice *dev, uint64_t *deadline);
void mxgpu_copy_inline(MxgpuDevice *dev);

/* context.c: on the MCU's thread */
void mxgpu_cx_ctrl_write(MxgpuDevice *dev, const MxgpuAccess *a,
                         uint32_t value);

/* control.c: all units but the control unit; under dev->control */
void mxgpu_hold_units(MxgpuDevice *dev); /* and waits for them */
void mxgpu_release_units(MxgpuDevice *dev);
/* Those that drive compute units; from any other thread, the MCU's too. */
void mxgpu_hold_workers(MxgpuDevice *dev); /* and waits for them */
void mxgpu_release_workers(MxgpuDevice *dev);
void mxgpu_reset_write(MxgpuDevice *dev, const MxgpuAccess *a, uint32_t value);

/* bus.c */
extern const MxgpuMcuOps mxgpu_mcu_bus;

/* reset.c */
MxgpuStep mxgpu_control_step;
/* Every unit is held. */
void mxgpu_reset_state(MxgpuDevice *dev, enum mxgpu_reset_cause cause);

/* ---- debuggers: gdb_port.c, gdb.c, kernel_gdb.c */

/* Bytes for it, unless the connection is closed already. */
void mxgpu_debug_port_output(MxgpuDebugPort *port, const void *bytes,
                             size_t len);
/* Takes what has come; the host is told when there is room again. *closed: the
 * connection before that is gone. Returns how many bytes there are in "in", of
 * which there is room for all. */
size_t mxgpu_debug_port_take(MxgpuDebugPort *port, uint8_t *in, bool *closed);
/* The MCU's thread, between two steps: does what all have asked for. */
void mxgpu_gdb_service(void *opaque);

#endif
