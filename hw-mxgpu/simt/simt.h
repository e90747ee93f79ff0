/* SPDX-License-Identifier: MIT */
/*
 * The compute units: dispatch slots hold grids, compute units take blocks from
 * them and run their warps. Nothing runs by itself: who drives a compute unit
 * calls mxgpu_simt_run(). A unit is driven by one thread at a time; different
 * units may be driven by different threads at the same time.
 *
 * Unless a function says otherwise it may be called from any thread at any time
 * between mxgpu_simt_new() and mxgpu_simt_free(), takes bounded time and does
 * not wait for anybody. Numbers of slots are below MXGPU_DISPATCH_SLOTS, of
 * units below MxgpuSimtConfig.compute_units. Addresses are virtual addresses of
 * the dispatch's VMID; sizes are in bytes; times are ns of MxgpuHostOps.clock.
 */
#ifndef MXGPU_SIMT_SIMT_H
#define MXGPU_SIMT_SIMT_H

#include "mmu/mmu.h"
#include "mxgpu/kernel.h"
#include "mxgpu/observer.h"

typedef struct MxgpuSimt MxgpuSimt;
struct RvInsn;

/* A grid to run. mxgpu_simt_start() checks the ranges. */
typedef struct MxgpuDispatch {
    uint64_t entry;         /* pc of each thread's first instruction, even */
    uint64_t args;          /* what a0 and the CSR ARGS hold at entry */
    uint32_t grid[3];       /* blocks in x, y, z: 1 or more; fewer than 2^48 - 1 */
    uint32_t block[3];      /* threads in x, y, z: 1 or more, 1024 together */
    uint32_t shared;        /* of a block, static and dynamic: at most 64 KiB */
    uint32_t shared_static; /* of that, where the dynamic part begins */
    uint32_t private_bytes; /* of a thread: multiple of 1024, at most 1 MiB */
    unsigned vmid;          /* 0 to 15 */
    unsigned priority;      /* any; slots with lower numbers come first */
    unsigned registers;     /* 32-bit ones of a thread: 1 to 255 */
    bool cooperative;       /* all blocks run at once: mx.grid.sync */
    bool fp_flags;          /* fflags are recorded, and can be read */
    bool strict_align;      /* misaligned loads and stores fault */
    bool recover;           /* what software can mend parks the warp */
    uint32_t queue;         /* for MxgpuSimtParked */
    bool accesses;          /* count all memory accesses */
    bool profile;           /* count for this dispatch; accesses of spans */
    /* With profile and an interval, which is in warp instructions: samples go
     * to sample_addr, a multiple of 8, that has room for sample_max of 8
     * bytes. */
    uint64_t sample_addr;
    uint32_t sample_max, sample_interval;
} MxgpuDispatch;

/* Why a grid ended early. */
typedef struct MxgpuDispatchFault {
    enum mxgpu_fault code;    /* MXGPU_FAULT_NONE: all its blocks ended well */
    enum mxgpu_access access;
    uint64_t addr, pc;        /* of the access, of its instruction */
    uint32_t block[3];
    uint32_t thread;          /* in the block, x first */
} MxgpuDispatchFault;

/* Lanes of a warp that wait in front of an access that faulted, in a dispatch
 * with "recover". */
typedef struct MxgpuSimtParked {
    MxgpuDispatchFault fault; /* of the first lane that did */
    uint64_t lanes;           /* of the warp */
    unsigned vmid, cu, slot;
    uint32_t queue; /* MxgpuDispatch.queue */
} MxgpuSimtParked;

/* What becomes of them. */
typedef enum MxgpuVerdict {
    MXGPU_VERDICT_NONE, /* they wait */
    MXGPU_VERDICT_REPLAY,
    MXGPU_VERDICT_KILL, /* the grid ends with their fault */
} MxgpuVerdict;

/* A lane that would fault, as MxgpuSimtConfig.trap gets it and changes it. */
typedef struct MxgpuSimtTrap {
    enum mxgpu_fault code;
    enum mxgpu_access access;
    uint64_t addr;
    uint64_t pc;    /* in: of the instruction; out: where the lane goes on */
    uint64_t x[32]; /* in, out: the lane's x registers */
    uint64_t instructions; /* that its warp has executed */
    unsigned lane;         /* 0 to 63 */
} MxgpuSimtTrap;

typedef struct MxgpuSimtConfig {
    unsigned compute_units; /* 1 or more */
    /* Host memory that private memory of a unit's threads may take; 0: no bound
     * but what the threads of a unit can ask for, 2 GiB. */
    uint64_t private_bytes;
    MxgpuMmu *mmu;           /* these three outlive the units */
    const MxgpuHostOps *ops; /* clock; the rest is used by mmu */
    void *host;              /* argument of ops */
    /* All blocks of the slot ended, faulted or were aborted, and nothing of
     * it runs any more. Called once for each dispatch, from the thread that
     * drives the last unit, or that aborts; the slot is free already. */
    void (*done)(void *opaque, unsigned slot);
    /* Units that were idle have work: their drivers are to run them. From any
     * thread that is in a function of this file. Not called by
     * mxgpu_simt_start(). */
    void (*wake)(void *opaque);
    /*
     * Recoverable faults; all NULL: all faults end their grid. Called from the
     * thread that drives the unit.
     *
     * park: reports a fault, as number *sequence; false: there is no room to
     * report it now. It is called again when the unit runs.
     * verdict: of a fault that was reported. Not NONE: the number is not used
     * any more.
     * unpark: the lanes have ended without a verdict; nor is it used.
     * away: the lanes have left the device, with the context of their dispatch
     * (context.h); back: a context that came says that its lanes wait for this
     * number. false: they do not, and are to be replayed.
     */
    bool (*park)(void *opaque, const MxgpuSimtParked *parked,
                 uint32_t *sequence);
    MxgpuVerdict (*verdict)(void *opaque, uint32_t sequence);
    void (*unpark)(void *opaque, uint32_t sequence);
    void (*away)(void *opaque, uint32_t sequence, unsigned vmid,
                 uint32_t queue);
    bool (*back)(void *opaque, uint32_t sequence, unsigned vmid,
                 uint32_t queue);
    /*
     * For tools that run programs in an environment of their own; a device
     * leaves these NULL. They are called from the thread that drives the unit.
     *
     * trap: a lane faults. true: it does not, but goes on as *trap then says,
     * and the other lanes of its group execute the instruction once more.
     * Warps then never run as convoys.
     * lane_memory: where the len bytes at va are for this lane; NULL: where the
     * page tables say. Not asked for addresses that they map.
     */
    bool (*trap)(void *opaque, MxgpuSimtTrap *trap);
    void *(*lane_memory)(void *opaque, unsigned lane, uint64_t va,
                         unsigned len);
    /* With trap: whether the instruction at pc is executed; if not, it faults
     * as illegal. Asked when code is decoded: mxgpu_simt_decode_again(). */
    bool (*native)(void *opaque, uint64_t pc, const struct RvInsn *insn);
    void *opaque; /* first argument of all functions above */
    /* Times that code begins until it is compiled; 0: never. For tests: whoever
     * asks for code waits for it. */
    unsigned jit;
    bool jit_waits;
    /* Sees all that warps do: they run as with "accesses". NULL: nobody. */
    const MxgpuObserver *observer;
    void *observer_opaque; /* first argument of its functions */
} MxgpuSimtConfig;

/*
 * What a unit counts: F(name, enum mxgpu_counter); docs/profiling.md says what
 * each is. Those from mem_requests on are of the instructions that
 * counted_instructions counts only: all in a dispatch with "accesses", some
 * with "profile".
 */
#define MXGPU_SIMT_COUNTERS(F)                                                 \
    F(warp_instructions, WARP_INSTRUCTIONS)                                    \
    F(lane_instructions, LANE_INSTRUCTIONS)                                    \
    F(blocks, BLOCKS)                                                          \
    F(warps, WARPS)                                                            \
    F(divergent_branches, DIVERGENT_BRANCHES)                                  \
    F(tlb_misses, TLB_MISSES)                                                  \
    F(barrier_waits, BARRIER_WAITS)                                            \
    F(atomics, ATOMICS)                                                        \
    F(busy_ns, BUSY_NS)                                                        \
    F(mem_requests, MEM_REQUESTS)                                              \
    F(mem_transactions, MEM_TRANSACTIONS)                                      \
    F(mem_bytes, MEM_BYTES)                                                    \
    F(tlb_lookups, TLB_LOOKUPS)                                                \
    F(shared_requests, SHARED_REQUESTS)                                        \
    F(bank_conflicts, BANK_CONFLICTS)                                          \
    F(counted_instructions, COUNTED_INSTRUCTIONS)                              \
    F(counted_spans, COUNTED_SPANS)

typedef struct MxgpuSimtCounters {
    uint64_t dispatches; /* that were started */
#define F(name, index) uint64_t name;
    MXGPU_SIMT_COUNTERS(F)
#undef F
} MxgpuSimtCounters;

/* A unit's part in a dispatch. */
typedef struct MxgpuSimtTimes {
    uint32_t blocks;       /* that it has ended; 0: the rest is 0, too */
    uint64_t first, last;  /* clock when the first began, when the last ended */
    uint64_t busy;         /* ns in which warps of them ran */
} MxgpuSimtTimes;

/* ---- as a whole */

/* NULL: the host has no memory. What *config points to is used until
 * mxgpu_simt_free(), *config itself is copied. */
MxgpuSimt *mxgpu_simt_new(const MxgpuSimtConfig *config);

/* Whether there is an interpreter that this host can run; without one nothing
 * can be created. */
bool mxgpu_simt_runs_here(void);
/* No other function may be running, nor be called later. */
void mxgpu_simt_free(MxgpuSimt *simt);

/* No unit may be running. Drops all work without calling done. The next run of
 * each unit gives its private memory back. */
void mxgpu_simt_reset(MxgpuSimt *simt);

/* ---- dispatches */

/* There may be a grid soon: what takes a while to be there is started. From any
 * thread. */
void mxgpu_simt_expect(MxgpuSimt *simt);

/*
 * Starts a grid in a free slot. MXGPU_FAULT_NONE: there is work now, and the
 * caller wakes the threads that drive units, or runs one itself.
 * MXGPU_FAULT_CONFIG, and nothing runs: the slot is not free, a parameter is
 * out of range, a block can never fit a compute unit (threads, registers,
 * shared and private memory), or not all blocks of a cooperative grid fit the
 * units at once. Not for the same slot from two threads.
 */
enum mxgpu_fault mxgpu_simt_start(MxgpuSimt *simt, unsigned slot,
                                  const MxgpuDispatch *dispatch)
    __attribute__((warn_unused_result));
/* Ends the slot's grid with MXGPU_FAULT_ABORTED, if it has one, at the next
 * turn of each warp; done is called as usual, maybe before this returns. */
void mxgpu_simt_abort(MxgpuSimt *simt, unsigned slot);
/* Holds the slot's grid, if it has one, or lets it go on: at the next turn of
 * each warp units write its blocks to memory, begin no more of them, and have
 * their room for others. It ends when aborted, as any other. A grid that starts
 * is not held. */
void mxgpu_simt_hold(MxgpuSimt *simt, unsigned slot, bool hold);
/* Slots that are held, a bit each. */
uint32_t mxgpu_simt_held(MxgpuSimt *simt);
/* Whether the slot's grid has blocks that have no room on a unit now. */
bool mxgpu_simt_waits(MxgpuSimt *simt, unsigned slot);
/* Instructions of warps that units have spent on the slot's grids since the last
 * reset. */
uint64_t mxgpu_simt_spent(MxgpuSimt *simt, unsigned slot);
/* Time that units have run warps of the address space, ns, since the last reset.
 */
uint64_t mxgpu_simt_vmid_ns(MxgpuSimt *simt, unsigned vmid);
/* The slot's last dispatch, from done on until the next one starts. */
MxgpuDispatchFault mxgpu_simt_fault(MxgpuSimt *simt, unsigned slot);

/* ---- running */

/*
 * Runs compute unit cu for about budget warp instructions; returns whether it
 * has more work now. It may ask the host for memory and for places on the bus
 * (MxgpuHostOps), and calls done and wake; it waits for nobody. One thread at a
 * time for a unit.
 */
bool mxgpu_simt_run(MxgpuSimt *simt, unsigned cu, unsigned budget);
/* The same; once *hold is true it ends behind the next instruction that walks
 * page tables, fetches code, uses the bus or goes lane by lane. */
bool mxgpu_simt_run_held(MxgpuSimt *simt, unsigned cu, unsigned budget,
                         const _Atomic bool *hold);
/* Whether any slot has a grid that has not ended. */
bool mxgpu_simt_has_work(MxgpuSimt *simt);
/* Whether the slot has one. */
bool mxgpu_simt_active(MxgpuSimt *simt, unsigned slot);
/* After a run that said there is no more: the unit gives memory back when it
 * has been idle for a second. Returns the clock at which to call this again,
 * and to run the unit then; UINT64_MAX: never. From the thread that drives
 * it. */
uint64_t mxgpu_simt_idle(MxgpuSimt *simt, unsigned cu);
/* From within MxgpuSimtConfig.trap: memory with code, or what native says, has
 * changed. All code that follows is fetched and decoded again. */
void mxgpu_simt_decode_again(MxgpuSimt *simt);

/* ---- for debuggers */

/* Lanes of a resident warp that are at one pc. */
typedef struct MxgpuSimtGroup {
    unsigned cu, warp, slot, vmid;
    uint32_t block[3];
    unsigned first_thread; /* of the warp, in its block */
    uint64_t pc, lanes;    /* a bit each */
    const char *state;     /* "runs", "ready", or what it waits for */
    uint64_t instructions; /* of the whole warp */
} MxgpuSimtGroup;

/* Calls see() for each group of unit cu, which nobody drives meanwhile. */
void mxgpu_simt_groups(MxgpuSimt *simt, unsigned cu,
                       void (*see)(void *opaque, const MxgpuSimtGroup *group),
                       void *opaque);

/* ---- counters: exact between two runs, otherwise of the last turns */

/* Since the start or the last reset, of all units, and of one (dispatches 0; of
 * a unit that does not exist all 0). */
void mxgpu_simt_counters(MxgpuSimt *simt, MxgpuSimtCounters *out);
void mxgpu_simt_unit_counters(MxgpuSimt *simt, unsigned cu,
                              MxgpuSimtCounters *out);
/* Where a warp of the unit was at the end of its last turn: pc, VMID << 48 and
 * bit 63; 0: the unit has no block. */
uint64_t mxgpu_simt_unit_pc(MxgpuSimt *simt, unsigned cu);
/* Slots that have begun a block on the unit which has not ended, a bit each. From
 * any thread: as it was a moment ago. */
uint32_t mxgpu_simt_unit_slots(MxgpuSimt *simt, unsigned cu);
/* Of the slot's last dispatch with profile, complete after done: counters,
 * samples taken (more than sample_max, maybe), and one unit's part. */
void mxgpu_simt_slot_counters(MxgpuSimt *simt, unsigned slot,
                              MxgpuSimtCounters *out);
uint64_t mxgpu_simt_slot_samples(MxgpuSimt *simt, unsigned slot);
void mxgpu_simt_slot_times(MxgpuSimt *simt, unsigned slot, unsigned cu,
                           MxgpuSimtTimes *out);

#endif
