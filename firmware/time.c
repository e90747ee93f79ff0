/* SPDX-License-Identifier: MIT */
/*
 * The clock: what waits for a time rather than for an interrupt. Those are the
 * polls of WAIT packets, of TLB invalidations and of what kernels launch, slices, and
 * the deadlines of jobs.
 */
#include "fw.h"

uint64_t time_now(void)
{
    return reg_read64(MXGPU_MTIME_LO);
}

bool time_needed(void)
{
    return fw.inv_busy || fw.timed_jobs || fw.launch_polls ||
           !list_empty(&fw.waits);
}

FW_COLD void time_poll(void)
{
    uint64_t now = time_now();

    if (!list_empty(&fw.waits)) {
        wait_poll(now);
    }
    if (fw.inv_busy) {
        tlb_poll(now);
    }
    if (fw.launch_polls) {
        launch_poll(now);
    }
    if (fw.timed_jobs) {
        slice_poll(now);
        unit_check_deadlines(now);
    }
}

static uint64_t next_deadline(void)
{
    uint64_t next = wait_next(), launch = launch_next();

    next = launch < next ? launch : next;
    next = fw.slice_time < next ? fw.slice_time : next;
    if (fw.inv_busy && fw.inv_poll_time < next) {
        next = fw.inv_poll_time;
    }
    for (unsigned kind = 0; fw.timed_jobs && kind < FW_UNIT_KINDS; kind++) {
        const FwUnits *units = &fw.units[kind];

        for (uint32_t busy = units->busy; busy; busy &= busy - 1) {
            uint64_t deadline = units->jobs[lowest_bit(busy)].deadline;

            next = deadline < next ? deadline : next;
        }
    }
    return next;
}

void time_arm(void)
{
    uint64_t next = FW_NEVER;

    if (time_needed()) {
        next = next_deadline();
    } else if (fw.alarm == FW_NEVER) {
        return;
    }
    if (next != fw.alarm) {
        fw.alarm = next;
        reg_write64(MXGPU_MTIMECMP_LO, next);
    }
}
