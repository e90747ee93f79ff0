/* SPDX-License-Identifier: MIT */
/*
 * gdb on kernels: what debug/gdb.h asks of the compute units (simt/debug.h).
 * Each resident lane is a thread. All of it runs on the MCU's thread, under
 * dev->control and with the units held, which takes as long as their steps;
 * what they do while gdb has stopped them is nothing, held or not. Conditions
 * of break points are the exception: they are evaluated by the thread that
 * drives the unit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "debug.h"
#include "debug/agent.h"
#include "debug/gdb.h"
#include "inspect.h"
#include "internal.h"
#include "kernel_gdb_show.h"
#include "simt/debug.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WARPS (MXGPU_CU_THREADS / MXGPU_WARP_SIZE)

/* A thread's number, in decimal: unit + 1, two digits of warp, two of lane.
 * NOBODY is there when no lane is, for gdb needs a thread. */
#define NOBODY 1

static bool lane_of(uint64_t thread, MxgpuSimtLane *at)
{
    *at = (MxgpuSimtLane){(unsigned)(thread / 10000 - 1),
                          (unsigned)(thread / 100 % 100),
                          (unsigned)(thread % 100)};
    return thread >= 10000 && thread / 10000 <= UINT32_MAX &&
           at->warp < WARPS && at->lane < MXGPU_WARP_SIZE;
}

/* The first lane from a unit on; false: there is none. */
static bool next_lane(MxgpuDevice *dev, MxgpuSimtLane *at)
{
    MxgpuSimtWarpInfo info;

    for (unsigned cu = 0; cu < dev->config.compute_units; cu++) {
        for (unsigned warp = 0; warp < WARPS; warp++) {
            if (mxgpu_simt_debug_warp(dev->simt, cu, warp, &info) &&
                info.live) {
                *at = (MxgpuSimtLane){cu, warp,
                                      (unsigned)__builtin_ctzll(info.live)};
                return true;
            }
        }
    }
    return false;
}

static uint64_t any_thread(MxgpuDevice *dev)
{
    MxgpuSimtLane at = mxgpu_simt_debug_stop(dev->simt)->at;
    MxgpuSimtLaneInfo info;

    if (mxgpu_simt_debug_lane(dev->simt, at, &info) || next_lane(dev, &at)) {
        return mxgpu_kernel_gdb_thread(at);
    }
    return NOBODY;
}

/* ---- run control */

static MxgpuGdbStop gdb_attach(void *opaque)
{
    MxgpuDevice *dev = opaque;
    MxgpuGdbStop stop = {.signal = MXGPU_GDB_SIGINT,
                         .point = MXGPU_GDB_POINTS};

    dev->kernels.attached = true;
    if (!dev->kernels.halt) {
        mxgpu_simt_debug_attach(dev->simt, true);
    }
    dev->kernels.halt = false;
    atomic_store(&dev->kernels.stopped, false);
    stop.thread = any_thread(dev);
    return stop;
}

static void gdb_detach(void *opaque)
{
    MxgpuDevice *dev = opaque;

    dev->kernels.attached = dev->kernels.stops_at_launch = false;
    mxgpu_simt_debug_attach(dev->simt, false);
}

/* The lock: a program that loads a module meanwhile wants it on. */
static void watch_launches(MxgpuDevice *dev)
{
    pthread_mutex_lock(&dev->kernels.lock);
    mxgpu_simt_debug_at_launch(dev->simt,
                               dev->kernels.stops_at_launch ||
                                   atomic_load(&dev->kernels.news));
    pthread_mutex_unlock(&dev->kernels.lock);
}

/* A lane that ends while it is stepped is there for one more stop, as it was
 * before: gdb wants to hear of the thread that it has stepped. */
static void remember(MxgpuDevice *dev, MxgpuSimtLane at)
{
    dev->kernels.ended = 0;
    for (unsigned i = 0; i < COUNT(dev->kernels.last); i++) {
        (void)mxgpu_kernel_gdb_read(dev, at, i, &dev->kernels.last[i]);
    }
}

static void gdb_resume(void *opaque, const MxgpuGdbResume *how)
{
    MxgpuDevice *dev = opaque;
    MxgpuSimtGo go = {
        .step = how->step,
        .low = how->range ? how->low : 0,
        .high = how->range ? how->high : 0,
        .others = how->others,
        .again = dev->kernels.stops_at_launch && dev->kernels.told_modules,
        .pass = how->signal != 0,
    };

    dev->kernels.told_modules = false;
    dev->kernels.ended = 0;

    go.lane = how->thread && lane_of(how->thread, &go.at);
    if (go.lane && go.step) {
        remember(dev, go.at);
    }
    atomic_store(&dev->kernels.stopped, false);
    watch_launches(dev);
    mxgpu_simt_debug_resume(dev->simt, &go);
}

static uint64_t gdb_halt(void *opaque)
{
    MxgpuDevice *dev = opaque;

    mxgpu_simt_debug_halt(dev->simt);
    return any_thread(dev);
}

static bool lane_is_there(MxgpuDevice *dev, MxgpuSimtLane at)
{
    MxgpuSimtLaneInfo info;

    return mxgpu_simt_debug_lane(dev->simt, at, &info);
}

static unsigned fault_signal(enum mxgpu_fault code)
{
    switch (code) {
    case MXGPU_FAULT_BREAKPOINT:
        return MXGPU_GDB_SIGTRAP;
    case MXGPU_FAULT_ILLEGAL:
        return MXGPU_GDB_SIGILL;
    case MXGPU_FAULT_MISALIGNED:
    case MXGPU_FAULT_BUS:
        return MXGPU_GDB_SIGBUS;
    case MXGPU_FAULT_NOT_PRESENT:
    case MXGPU_FAULT_PERMISSION:
    case MXGPU_FAULT_NON_CANONICAL:
    case MXGPU_FAULT_WINDOW:
        return MXGPU_GDB_SIGSEGV;
    default:
        return MXGPU_GDB_SIGABRT;
    }
}

static void tell_stop(MxgpuDevice *dev)
{
    static const MxgpuGdbPoint points[] = {
        [MXGPU_SIMT_BREAK] = MXGPU_GDB_BREAK_SOFTWARE,
        [MXGPU_SIMT_WATCH_WRITE] = MXGPU_GDB_WATCH_WRITE,
        [MXGPU_SIMT_WATCH_READ] = MXGPU_GDB_WATCH_READ,
        [MXGPU_SIMT_WATCH_ACCESS] = MXGPU_GDB_WATCH_ACCESS,
    };
    const MxgpuSimtStop *s = mxgpu_simt_debug_stop(dev->simt);
    MxgpuGdbStop stop = {.signal = MXGPU_GDB_SIGTRAP,
                         .point = MXGPU_GDB_POINTS,
                         .addr = s->addr,
                         .thread = mxgpu_kernel_gdb_thread(s->at)};

    if (s->cause == MXGPU_SIMT_STOP_STEP && !lane_is_there(dev, s->at)) {
        dev->kernels.ended = stop.thread;
        dev->kernels.last[MXGPU_SIMT_PC] += 4; /* mx.exit is behind it */
    }
    if (s->cause == MXGPU_SIMT_STOP_POINT) {
        stop.point = points[s->point];
    } else if (s->cause == MXGPU_SIMT_STOP_WAIT) {
        /* A signal that comes while gdb steps off a break point makes it put
         * all points back and let all threads run. */
        stop.signal = MXGPU_GDB_SIGURG;
    } else if (s->cause == MXGPU_SIMT_STOP_FAULT) {
        stop.signal = fault_signal(s->fault.code);
    } else if (s->cause == MXGPU_SIMT_STOP_LAUNCH) {
        /* gdb reads their symbols, and goes on by itself. */
        stop.library = atomic_load(&dev->kernels.news);
        dev->kernels.told_modules = stop.library;
    }
    mxgpu_gdb_stopped(dev->kernels.port.gdb, &stop);
}

/* ---- registers and memory */

static bool gdb_select(void *opaque, uint64_t thread)
{
    MxgpuDevice *dev = opaque;
    MxgpuSimtLaneInfo info;

    dev->kernels.has_lane = lane_of(thread, &dev->kernels.lane) &&
                            mxgpu_simt_debug_lane(dev->simt,
                                                  dev->kernels.lane, &info);
    dev->kernels.is_ended = thread && thread == dev->kernels.ended;
    return dev->kernels.has_lane || dev->kernels.is_ended || thread == NOBODY;
}

static bool gdb_alive(void *opaque, uint64_t thread)
{
    MxgpuDevice *dev = opaque;
    MxgpuSimtLaneInfo info;
    MxgpuSimtLane at;

    if (thread && thread == dev->kernels.ended) {
        return true;
    }
    if (thread == NOBODY) {
        return !next_lane(dev, &at);
    }
    return lane_of(thread, &at) &&
           mxgpu_simt_debug_lane(dev->simt, at, &info);
}

static bool gdb_read_register(void *opaque, unsigned number, uint64_t *value)
{
    MxgpuDevice *dev = opaque;

    *value = 0;
    if (dev->kernels.is_ended) {
        *value = number < COUNT(dev->kernels.last)
                     ? dev->kernels.last[number] : 0;
        return true;
    }
    return !dev->kernels.has_lane ||
           mxgpu_kernel_gdb_read(dev, dev->kernels.lane, number, value);
}

static bool gdb_write_register(void *opaque, unsigned number, uint64_t value)
{
    MxgpuDevice *dev = opaque;

    return dev->kernels.has_lane &&
           mxgpu_kernel_gdb_write(dev, dev->kernels.lane, number, value);
}

static size_t gdb_read_memory(void *opaque, uint64_t addr, uint8_t *buf,
                              size_t len)
{
    MxgpuDevice *dev = opaque;

    return dev->kernels.has_lane
               ? mxgpu_simt_debug_read(dev->simt, dev->kernels.lane, addr,
                                       buf, len)
               : 0;
}

static bool gdb_write_memory(void *opaque, uint64_t addr, const uint8_t *buf,
                             size_t len)
{
    MxgpuDevice *dev = opaque;

    return dev->kernels.has_lane &&
           mxgpu_simt_debug_write(dev->simt, dev->kernels.lane, addr, buf,
                                  len) == len;
}

/* ---- points and their conditions */

static bool point_kind(MxgpuGdbPoint point, MxgpuSimtPoint *kind)
{
    static const MxgpuSimtPoint kinds[MXGPU_GDB_POINTS] = {
        [MXGPU_GDB_BREAK_SOFTWARE] = MXGPU_SIMT_BREAK,
        [MXGPU_GDB_BREAK_HARDWARE] = MXGPU_SIMT_BREAK,
        [MXGPU_GDB_WATCH_WRITE] = MXGPU_SIMT_WATCH_WRITE,
        [MXGPU_GDB_WATCH_READ] = MXGPU_SIMT_WATCH_READ,
        [MXGPU_GDB_WATCH_ACCESS] = MXGPU_SIMT_WATCH_ACCESS,
    };

    if (point >= MXGPU_GDB_POINTS) {
        return false;
    }
    *kind = kinds[point];
    return true;
}

typedef struct Condition {
    size_t len;
    uint8_t code[];
} Condition;

static bool gdb_insert(void *opaque, MxgpuGdbPoint point, uint64_t addr,
                       uint64_t len, MxgpuGdbConditions when)
{
    MxgpuDevice *dev = opaque;
    MxgpuSimtPoint kind;
    Condition *c = NULL;

    if (!point_kind(point, &kind)) {
        return false;
    }
    if (when.len && kind == MXGPU_SIMT_BREAK) {
        c = malloc(sizeof(*c) + when.len);
        if (!c) {
            return false;
        }
        c->len = when.len;
        memcpy(c->code, when.code, when.len);
    }
    if (!mxgpu_simt_debug_insert(dev->simt, kind, addr, len, c)) {
        free(c);
        return false;
    }
    return true;
}

static bool gdb_remove(void *opaque, MxgpuGdbPoint point, uint64_t addr,
                       uint64_t len)
{
    MxgpuDevice *dev = opaque;
    MxgpuSimtPoint kind;

    return point_kind(point, &kind) &&
           mxgpu_simt_debug_remove(dev->simt, kind, addr, len);
}

typedef struct At {
    MxgpuDevice *dev;
    MxgpuSimtLane lane;
} At;

static bool agent_register(void *opaque, unsigned number, uint64_t *value)
{
    At *at = opaque;

    return mxgpu_kernel_gdb_read(at->dev, at->lane, number, value);
}

static bool agent_memory(void *opaque, uint64_t addr, uint8_t *buf, size_t len)
{
    At *at = opaque;

    return mxgpu_simt_debug_read(at->dev->simt, at->lane, addr, buf, len) ==
           len;
}

/* One that cannot be evaluated stops: gdb then finds out why. */
static bool holds(void *opaque, void *condition, MxgpuSimtLane lane)
{
    static const MxgpuAgentOps ops = {agent_register, agent_memory};
    const Condition *c = condition;
    At at = {opaque, lane};
    bool holds = false;
    uint64_t value;

    for (size_t i = 0, len; i + 2 <= c->len && !holds; i += 2 + len) {
        len = c->code[i] | (size_t)c->code[i + 1] << 8;
        holds = !mxgpu_agent_evaluate(&c->code[i + 2], len, &ops, &at,
                                      &value) || value;
    }
    return holds;
}

static void forget(void *opaque, void *condition)
{
    free(condition);
}

/* From the thread that drives a unit. */
static void stopped(void *opaque)
{
    MxgpuDevice *dev = opaque;

    atomic_store(&dev->kernels.stopped, true);
    mxgpu_stepper_ask(&dev->steppers[MXGPU_STEPPER_MCU]);
    if (dev->config.deterministic) {
        atomic_store(&dev->kick, true);
        mxgpu_send_kick(dev);
    }
}

/* ---- the user's commands */

static void gdb_monitor(void *opaque, const char *command, MxgpuGdbText text)
{
    static const char help[] =
        "launch on           stops at the first instruction of each dispatch\n"
        "launch off\n"
        "warps               resident warps, and where their lanes are\n";
    static const char unknown[] =
        "no such command; \"monitor help\" lists them\n";
    MxgpuDevice *dev = opaque;
    MxgpuText sink = {text.put, text.opaque};

    command += strspn(command, " ");
    if (!*command || !strcmp(command, "help")) {
        text.put(text.opaque, help, sizeof(help) - 1);
        mxgpu_inspect_help(sink);
    } else if (!strcmp(command, "launch on")) {
        dev->kernels.stops_at_launch = true;
    } else if (!strcmp(command, "launch off")) {
        dev->kernels.stops_at_launch = false;
    } else if (!strcmp(command, "warps")) {
        const char *warps = mxgpu_kernel_gdb_warps(dev);

        text.put(text.opaque, warps ? warps : "", warps ? strlen(warps) : 0);
    } else if (!mxgpu_inspect(dev, command, sink)) {
        text.put(text.opaque, unknown, sizeof(unknown) - 1);
    }
}

/* ---- the service */

static void gdb_output(void *opaque, const void *bytes, size_t len)
{
    mxgpu_debug_port_output(&((MxgpuDevice *)opaque)->kernels.port, bytes,
                            len);
}

static const MxgpuGdbOps gdb_ops = {
    .attach = gdb_attach,
    .detach = gdb_detach,
    .resume = gdb_resume,
    .halt = gdb_halt,
    .word = 8,
    .registers = 33, /* x0 to x31, pc */
    .read_register = gdb_read_register,
    .write_register = gdb_write_register,
    .read_memory = gdb_read_memory,
    .write_memory = gdb_write_memory,
    .evaluates = true,
    .insert = gdb_insert,
    .remove = gdb_remove,
    .monitor = gdb_monitor,
    .description = mxgpu_kernel_gdb_description,
    .memory_map = mxgpu_kernel_gdb_memory_map,
    .threads = mxgpu_kernel_gdb_threads,
    .libraries = mxgpu_kernel_gdb_libraries,
    .select = gdb_select,
    .alive = gdb_alive,
    .output = gdb_output,
};

static const MxgpuSimtDebugOps simt_ops = {stopped, holds, forget};

static void service(MxgpuDevice *dev)
{
    MxgpuDebugPort *port = &dev->kernels.port;
    uint8_t in[sizeof(port->in)];
    bool closed;
    size_t len = mxgpu_debug_port_take(port, in, &closed);

    if (!len && !closed && !atomic_load(&dev->kernels.stopped)) {
        return;
    }
    pthread_mutex_lock(&dev->control);
    mxgpu_hold_workers(dev);
    if (closed) {
        mxgpu_gdb_close(port->gdb);
    }
    if (atomic_exchange(&dev->kernels.stopped, false) &&
        mxgpu_simt_debug_is_stopped(dev->simt)) {
        tell_stop(dev);
    }
    mxgpu_gdb_input(port->gdb, in, len);
    mxgpu_release_workers(dev);
    pthread_mutex_unlock(&dev->control);
}

bool mxgpu_device_kernel_gdb_open(MxgpuDevice *dev, const MxgpuDebugOps *ops,
                                  void *host, bool halt)
{
    MxgpuDebugPort *port = &dev->kernels.port;

    if (!port->gdb) {
        port->gdb = mxgpu_gdb_new(&gdb_ops, dev);
        if (!port->gdb ||
            !mxgpu_simt_debug_open(dev->simt, &simt_ops, dev)) {
            return false;
        }
    }
    port->ops = ops;
    port->host = host;
    port->service = service;
    dev->steppers[MXGPU_STEPPER_MCU].service = mxgpu_gdb_service;
    if (halt) {
        dev->kernels.halt = true;
        mxgpu_simt_debug_attach(dev->simt, true);
    }
    return true;
}

void mxgpu_device_kernel_gdb_end(MxgpuDevice *dev)
{
    if (!dev->kernels.port.gdb) {
        return;
    }
    pthread_mutex_lock(&dev->control);
    mxgpu_hold_workers(dev);
    mxgpu_gdb_exited(dev->kernels.port.gdb);
    mxgpu_release_workers(dev);
    pthread_mutex_unlock(&dev->control);
}
