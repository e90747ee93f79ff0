/* SPDX-License-Identifier: MIT */
/*
 * The compute units: dispatch slots hold grids, compute units take blocks from
 * them and run their warps. Steppable: whoever drives a compute unit calls
 * mxgpu_simt_run(); a compute unit is driven by one thread at a time, different
 * ones may be driven concurrently.
 */
#ifndef MXGPU_SIMT_SIMT_H
#define MXGPU_SIMT_SIMT_H

#include "mmu/mmu.h"
#include "mxgpu/kernel.h"

typedef struct MxgpuSimt MxgpuSimt;
struct RvInsn;

typedef struct MxgpuDispatch {
    uint64_t entry, args;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared;        /* bytes, static and dynamic */
    uint32_t shared_static;
    uint32_t private_bytes; /* of a thread, multiple of 1024 */
    unsigned vmid, priority, registers;
    bool cooperative;       /* all blocks run at once: mx.grid.sync */
    bool fp_flags;          /* fflags are recorded, and can be read */
    bool strict_align;      /* misaligned loads and stores fault */
    bool accesses;          /* count all memory accesses */
    bool profile;           /* count for this dispatch; accesses of spans */
    /* With profile and interval: where samples go, how many, how often. */
    uint64_t sample_addr;
    uint32_t sample_max, sample_interval;
} MxgpuDispatch;

typedef struct MxgpuDispatchFault {
    enum mxgpu_fault code;
    enum mxgpu_access access;
    uint64_t addr, pc;
    uint32_t block[3];
    uint32_t thread;
} MxgpuDispatchFault;

/* A lane that would fault, as MxgpuSimtConfig.trap gets it and changes it. */
typedef struct MxgpuSimtTrap {
    enum mxgpu_fault code;
    enum mxgpu_access access;
    uint64_t addr;
    uint64_t pc;    /* of the instruction; then: where the lane goes on */
    uint64_t x[32]; /* the lane's registers */
    uint64_t instructions; /* of its warp so far */
    unsigned lane;
} MxgpuSimtTrap;

typedef struct MxgpuSimtConfig {
    unsigned compute_units;
    /* Host memory that private windows of a unit may take; 0: no bound but
     * what CU_WARPS can ask for. */
    uint64_t private_bytes;
    MxgpuMmu *mmu;
    const MxgpuHostOps *ops;
    void *host;
    /* All blocks of the slot ended, faulted or were aborted, and nothing of
     * it runs any more. Called from the thread that drives the last unit, or
     * that aborts. */
    void (*done)(void *opaque, unsigned slot);
    /* Units that were idle have work: wake their drivers. Not called for
     * mxgpu_simt_start(). */
    void (*wake)(void *opaque);
    /*
     * For tools that run programs in an environment of their own; a device
     * leaves these NULL. trap: a lane faults; true: it does not, but goes on as
     * *trap then says, and the other lanes of the instruction do it again.
     * lane_memory: where the len bytes at va are for this lane, NULL: where
     * the page tables say. Not asked for what these permit.
     */
    bool (*trap)(void *opaque, MxgpuSimtTrap *trap);
    void *(*lane_memory)(void *opaque, unsigned lane, uint64_t va,
                         unsigned len);
    /* With trap: whether the instruction at pc is executed; if not, it faults
     * as illegal. Asked when code is decoded: mxgpu_simt_decode_again(). */
    bool (*native)(void *opaque, uint64_t pc, const struct RvInsn *insn);
    void *opaque;
} MxgpuSimtConfig;

/* What a unit counts: F(name, enum mxgpu_counter). Those from mem_requests on
 * only of counted_instructions: see profile.c. */
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
    uint64_t dispatches;
#define F(name, index) uint64_t name;
    MXGPU_SIMT_COUNTERS(F)
#undef F
} MxgpuSimtCounters;

/* A unit's part in a dispatch. */
typedef struct MxgpuSimtTimes {
    uint32_t blocks;
    uint64_t first, last, busy; /* clock, clock, ns */
} MxgpuSimtTimes;

MxgpuSimt *mxgpu_simt_new(const MxgpuSimtConfig *config);
void mxgpu_simt_free(MxgpuSimt *simt);

/* No unit may be running. Drops all work without calling done. The next run of
 * each unit gives its private memory back. */
void mxgpu_simt_reset(MxgpuSimt *simt);

/* Starts a grid in a free slot. MXGPU_FAULT_CONFIG when a block can never fit
 * a compute unit (threads, registers, shared and private memory), the blocks of
 * a cooperative grid not all of them at once, or a parameter is out of range;
 * nothing runs then. MXGPU_FAULT_NONE: there is work now, and the caller wakes
 * whoever drives units, or runs one itself. */
enum mxgpu_fault mxgpu_simt_start(MxgpuSimt *simt, unsigned slot,
                                  const MxgpuDispatch *dispatch)
    __attribute__((warn_unused_result));
/* Ends the slot's grid with MXGPU_FAULT_ABORTED at the next instruction
 * boundary of each warp; done is called as usual. */
void mxgpu_simt_abort(MxgpuSimt *simt, unsigned slot);
/* After done: code MXGPU_FAULT_NONE when every block ended well. */
MxgpuDispatchFault mxgpu_simt_fault(MxgpuSimt *simt, unsigned slot);

/* Runs compute unit cu for about budget warp instructions; returns whether it
 * has more work now. */
bool mxgpu_simt_run(MxgpuSimt *simt, unsigned cu, unsigned budget);
/* The same; once *hold is true it ends behind the next instruction that walks
 * page tables, fetches code, uses the bus or goes lane by lane. */
bool mxgpu_simt_run_held(MxgpuSimt *simt, unsigned cu, unsigned budget,
                         const _Atomic bool *hold);
bool mxgpu_simt_has_work(MxgpuSimt *simt);
/* Whether the slot has a grid that has not ended. */
bool mxgpu_simt_active(MxgpuSimt *simt, unsigned slot);
/* After a run that said there is no more: the unit gives memory back when it
 * has been idle for a second. Returns the clock at which to ask again, and run
 * it; UINT64_MAX: never. */
uint64_t mxgpu_simt_idle(MxgpuSimt *simt, unsigned cu);
/* From within MxgpuSimtConfig.trap: memory with code, or what native says, has
 * changed. All code that follows is fetched and decoded again. */
void mxgpu_simt_decode_again(MxgpuSimt *simt);

/* Of all units, and of one (dispatches 0). */
void mxgpu_simt_counters(MxgpuSimt *simt, MxgpuSimtCounters *out);
void mxgpu_simt_unit_counters(MxgpuSimt *simt, unsigned cu,
                              MxgpuSimtCounters *out);
/* Where a warp of the unit was at the end of its last turn, by any thread at
 * any time: pc, VMID << 48 and bit 63; 0: the unit has no block. */
uint64_t mxgpu_simt_unit_pc(MxgpuSimt *simt, unsigned cu);
/* Of the slot's last dispatch with profile, complete after done: counters,
 * samples taken, and one unit's part. */
void mxgpu_simt_slot_counters(MxgpuSimt *simt, unsigned slot,
                              MxgpuSimtCounters *out);
uint64_t mxgpu_simt_slot_samples(MxgpuSimt *simt, unsigned slot);
void mxgpu_simt_slot_times(MxgpuSimt *simt, unsigned slot, unsigned cu,
                           MxgpuSimtTimes *out);

#endif
