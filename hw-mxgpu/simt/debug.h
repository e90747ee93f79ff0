/* SPDX-License-Identifier: MIT */
/*
 * Kernels under a debugger. While one is there (attached) units look at each
 * instruction before a group of lanes executes it, in the interpreter that can
 * count accesses; all others pay a look at a flag for each turn of a warp. When
 * something happens that the debugger wants to hear of, no unit executes
 * anything any more (stopped), until mxgpu_simt_debug_resume().
 *
 * Lanes that are at one pc run together: a step of a lane is one of its group,
 * and what stops a lane stops its group in front of the same instruction.
 * An address in a window means, in a watch point, the memory of the lane that
 * last stopped or was stepped when the point was inserted.
 *
 * None of it is state of the units; a reset of them keeps it. All functions but
 * mxgpu_simt_debug_halt() are for when no unit is running.
 */
#ifndef MXGPU_SIMT_DEBUG_H
#define MXGPU_SIMT_DEBUG_H

#include "simt.h"

#define MXGPU_SIMT_POINTS 256

typedef struct MxgpuSimtLane {
    unsigned cu, warp, lane;
} MxgpuSimtLane;

typedef enum MxgpuSimtPoint {
    MXGPU_SIMT_BREAK, /* len is of no meaning */
    MXGPU_SIMT_WATCH_WRITE,
    MXGPU_SIMT_WATCH_READ,
    MXGPU_SIMT_WATCH_ACCESS,
} MxgpuSimtPoint;

/* Why units have stopped. The lane is in front of the instruction that
 * matters, of which it has done nothing; of one that faults lanes before it may
 * have stored. */
typedef enum MxgpuSimtStopCause {
    MXGPU_SIMT_STOP_ASKED,  /* mxgpu_simt_debug_halt(): no lane */
    MXGPU_SIMT_STOP_STEP,
    MXGPU_SIMT_STOP_WAIT,   /* the lane is to step off a break point, which was
                               removed for that, and waits for those it holds */
    MXGPU_SIMT_STOP_POINT,  /* point; of a watch point addr, of data */
    MXGPU_SIMT_STOP_FAULT,  /* fault: the grid ends when it is passed on */
    MXGPU_SIMT_STOP_LAUNCH, /* the first instruction of a dispatch */
} MxgpuSimtStopCause;

typedef struct MxgpuSimtStop {
    MxgpuSimtStopCause cause;
    MxgpuSimtLane at;
    MxgpuSimtPoint point;
    uint64_t addr;
    MxgpuDispatchFault fault;
} MxgpuSimtStop;

typedef struct MxgpuSimtDebugOps {
    /* Units have stopped. From the thread that drives one. */
    void (*stopped)(void *opaque);
    /* Whether a break point with that condition stops the lane, from the same
     * thread: mxgpu_simt_debug_read_register() and read() may be called for
     * it. */
    bool (*holds)(void *opaque, void *condition, MxgpuSimtLane lane);
    /* The point is gone, and its condition with it. */
    void (*forget)(void *opaque, void *condition);
} MxgpuSimtDebugOps;

typedef struct MxgpuSimtGo {
    bool lane;         /* this is about one, "at"; else all run */
    MxgpuSimtLane at;
    bool step;         /* it stops when pc is another, and not in [low, high) */
    uint64_t low, high;
    bool others;       /* other groups run, too; they do while it waits */
    bool again;        /* the launch that stopped the units does once more */
    bool pass;         /* the fault that stopped the units ends its grid */
} MxgpuSimtGo;

/* What a lane does. */
typedef enum MxgpuSimtDoes {
    MXGPU_SIMT_RUNS,     /* its group runs, or may next */
    MXGPU_SIMT_DIVERGED, /* another group of its warp does */
    MXGPU_SIMT_BARRIER,  /* waits for its block */
    MXGPU_SIMT_SYNC,     /* waits for lanes of its warp */
    MXGPU_SIMT_GRID,     /* waits for its grid */
    MXGPU_SIMT_PARKED,   /* waits for software after a fault */
} MxgpuSimtDoes;

typedef struct MxgpuSimtLaneInfo {
    uint64_t pc;
    MxgpuSimtDoes does;
    uint64_t group;     /* lanes that are there with it */
    uint32_t thread[3]; /* in its block */
} MxgpuSimtLaneInfo;

typedef struct MxgpuSimtWarpInfo {
    uint64_t live;   /* lanes that have not ended */
    unsigned slot, vmid, index; /* index: of the warp in its block */
    uint32_t block[3];
    uint64_t entry;  /* of its kernel */
    const MxgpuDispatch *dispatch; /* until units run again */
} MxgpuSimtWarpInfo;

/* Once, before units run. false: the host has no memory. */
bool mxgpu_simt_debug_open(MxgpuSimt *simt, const MxgpuSimtDebugOps *ops,
                           void *opaque) __attribute__((warn_unused_result));

/* The units stop, or, with false, run without points. */
void mxgpu_simt_debug_attach(MxgpuSimt *simt, bool attached);
/* From any thread: they stop at their next instruction. No call of stopped. */
void mxgpu_simt_debug_halt(MxgpuSimt *simt);
void mxgpu_simt_debug_resume(MxgpuSimt *simt, const MxgpuSimtGo *go);
bool mxgpu_simt_debug_is_stopped(const MxgpuSimt *simt);
/* The last stop. */
const MxgpuSimtStop *mxgpu_simt_debug_stop(const MxgpuSimt *simt);
/* Whether dispatches stop before their first instruction; from any thread. */
void mxgpu_simt_debug_at_launch(MxgpuSimt *simt, bool stops);

/* false: there is no room, or the range is empty. The condition, if it is not
 * NULL, then belongs to the point. One that is there gets the condition. */
bool mxgpu_simt_debug_insert(MxgpuSimt *simt, MxgpuSimtPoint point,
                             uint64_t addr, uint64_t len, void *condition)
    __attribute__((warn_unused_result));
/* false: there is no such point. */
bool mxgpu_simt_debug_remove(MxgpuSimt *simt, MxgpuSimtPoint point,
                             uint64_t addr, uint64_t len)
    __attribute__((warn_unused_result));

/* false: there is no block on it. */
bool mxgpu_simt_debug_warp(const MxgpuSimt *simt, unsigned cu, unsigned warp,
                           MxgpuSimtWarpInfo *info);
/* false: there is no such lane, or it has ended. */
bool mxgpu_simt_debug_lane(const MxgpuSimt *simt, MxgpuSimtLane at,
                           MxgpuSimtLaneInfo *info);

/* Registers of a lane that has not ended: x0 to x31, pc, f0 to f31, fcsr, and
 * then mask, the lanes of its group. pc is written for this lane alone; not
 * while it waits. */
enum {
    MXGPU_SIMT_PC = 32,
    MXGPU_SIMT_F0 = 33,
    MXGPU_SIMT_FCSR = 65,
    MXGPU_SIMT_MASK = 66,
};
bool mxgpu_simt_debug_read_register(MxgpuSimt *simt, MxgpuSimtLane at,
                                    unsigned number, uint64_t *value);
bool mxgpu_simt_debug_write_register(MxgpuSimt *simt, MxgpuSimtLane at,
                                     unsigned number, uint64_t value);
/* Memory as the lane sees it, shared and private windows included; what it may
 * only execute can be read, too. How many bytes could be. */
size_t mxgpu_simt_debug_read(MxgpuSimt *simt, MxgpuSimtLane at, uint64_t va,
                             uint8_t *buf, size_t len);
size_t mxgpu_simt_debug_write(MxgpuSimt *simt, MxgpuSimtLane at, uint64_t va,
                              const uint8_t *buf, size_t len);

#endif
