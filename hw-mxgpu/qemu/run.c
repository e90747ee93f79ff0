/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device in deterministic mode: QEMU drives it, in turns, of which the main
 * loop makes one a round at most. With icount a turn comes at a moment of the
 * virtual clock, which is a number of instructions of the guest, not when the
 * host pleases. That makes two runs equal, and is what record/replay asks for:
 * all that the device does to the machine, interrupts and its console among it,
 * it does in a turn, or in an access of the guest.
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "exec/replay-core.h"
#include "migration/vmstate.h"
#include "system/cpu-timers.h"
#include "mxgpu.h"

/* Warp instructions that the units share in one turn. */
#define MXGPU_RUN_BUDGET 20000

/*
 * Without: from the end of a turn to the next one, in ns of the host's clock. As
 * long the big lock is free: who waits for it, processors and the migration's
 * thread, gets it only if it can wake up meanwhile.
 */
#define MXGPU_RUN_PAUSE 50000

/* With icount: from a cause to the turn, and from turn to turn, in ns of the
 * virtual clock. A unit does about an instruction a nanosecond then. */
#define MXGPU_RUN_LATENCY 1000
#define MXGPU_RUN_PERIOD  20000

/* When a console that took nothing is tried again. */
#define MXGPU_RUN_RETRY 1000000

static bool mxgpu_run_by_clock(MxgpuState *s)
{
    return s->deterministic && icount_enabled();
}

static void mxgpu_run_after(MxgpuState *s, int64_t ns)
{
    timer_mod_anticipate(s->run_timer,
                         qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + ns);
}

/*
 * Not a bottom half: one that schedules itself makes the main loop's AioContext
 * ready in each round, and GLib then never comes to sources of a lower priority,
 * which the end of a connection attempt is, of a migration for instance.
 */
static void mxgpu_turn_in(MxgpuState *s, int64_t ns)
{
    timer_mod(s->turn_timer, qemu_clock_get_ns(QEMU_CLOCK_REALTIME) + ns);
}

static void mxgpu_turn_soon(MxgpuState *s)
{
    if (mxgpu_run_by_clock(s)) {
        mxgpu_run_after(s, MXGPU_RUN_LATENCY);
    } else {
        mxgpu_turn_in(s, 0);
    }
}

void mxgpu_run_soon(MxgpuState *s, QEMUBH *bh)
{
    if (mxgpu_run_by_clock(s)) {
        mxgpu_run_after(s, MXGPU_RUN_LATENCY);
    } else {
        qemu_bh_schedule(bh);
    }
}

/* Resuming schedules us again. A debugger is served all the same. */
static void mxgpu_turn_paused(MxgpuState *s)
{
    uint64_t deadline;

    s->run_due = true;
    mxgpu_device_run(s->dev, MXGPU_RUN_BUDGET, &deadline);
}

static void mxgpu_turn_by_clock(MxgpuState *s)
{
    uint64_t deadline = UINT64_MAX;

    if (mxgpu_device_run(s->dev, MXGPU_RUN_BUDGET, &deadline)) {
        mxgpu_run_after(s, MXGPU_RUN_PERIOD);
    } else if (deadline < INT64_MAX) {
        timer_mod_anticipate(s->run_timer, deadline);
    }
    mxgpu_host_deliver(s);
    if (!mxgpu_host_flush(s)) {
        mxgpu_run_after(s, MXGPU_RUN_RETRY);
    }
}

static void mxgpu_turn(void *opaque)
{
    MxgpuState *s = opaque;
    uint64_t deadline = UINT64_MAX;

    if (s->gone || !s->dev) {
        return;
    }
    if (s->paused) {
        mxgpu_turn_paused(s);
    } else if (mxgpu_run_by_clock(s)) {
        mxgpu_turn_by_clock(s);
    } else if (mxgpu_device_run(s->dev, MXGPU_RUN_BUDGET, &deadline)) {
        mxgpu_turn_in(s, MXGPU_RUN_PAUSE);
    } else if (deadline < INT64_MAX) {
        timer_mod(s->run_timer, deadline);
    }
}

/* As bottom halves do: the device must not be entered from its own DMA. */
static void mxgpu_turn_timer(void *opaque)
{
    MemReentrancyGuard *guard = &DEVICE(opaque)->mem_reentrancy_guard;
    bool engaged = guard->engaged_in_io;

    guard->engaged_in_io = true;
    mxgpu_turn(opaque);
    guard->engaged_in_io = engaged;
}

void mxgpu_run_kick(void *host)
{
    MxgpuState *s = host;

    /* A turn that is not in the record would be one that a replay waits for
     * in vain: who loads or resumes says when the next one is, and what is done
     * to a machine that is stopped, a snapshot for instance, is no cause. */
    if (!s->run_kept && !(s->stopped && replay_mode != REPLAY_MODE_NONE)) {
        mxgpu_turn_soon(s);
    }
}

/* A machine that was stopped, by a debugger for instance, has its timers as
 * they were; only a device that slept has missed turns. */
void mxgpu_run_resume(MxgpuState *s)
{
    if (s->deterministic && (s->run_due || !mxgpu_run_by_clock(s))) {
        s->run_due = false;
        mxgpu_turn_soon(s);
    }
}

/* ---- in a saved state ---------------------------------------------------- */

static bool mxgpu_run_needed(void *opaque)
{
    return mxgpu_run_by_clock(opaque);
}

static int mxgpu_run_post_load(void *opaque, int version)
{
    MxgpuState *s = opaque;

    s->run_kept = mxgpu_run_by_clock(s);
    return 0;
}

const VMStateDescription mxgpu_vmstate_run = {
    .name = TYPE_MXGPU "/run",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = mxgpu_run_needed,
    .post_load = mxgpu_run_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_TIMER_PTR(run_timer, MxgpuState),
        VMSTATE_BOOL(run_due, MxgpuState),
        VMSTATE_END_OF_LIST()
    }
};

/* ---- life ---------------------------------------------------------------- */

void mxgpu_run_init(MxgpuState *s)
{
    s->run_due = s->run_kept = false;
    s->turn_timer = timer_new_ns(QEMU_CLOCK_REALTIME, mxgpu_turn_timer, s);
    s->run_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, mxgpu_turn_timer, s);
}

void mxgpu_run_cleanup(MxgpuState *s)
{
    timer_free(s->run_timer);
    timer_free(s->turn_timer);
}
