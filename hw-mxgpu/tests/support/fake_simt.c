/* SPDX-License-Identifier: MIT */
/* Stands for simt/ in tests of the core: keeps what was started until the test
 * says how it ended. */
#include "simt/context.h"
#include "simt/debug.h"
#include "simt/visit.h"
#include "test_host.h"

FakeSimt fake_simt;

bool mxgpu_simt_runs_here(void)
{
    return true;
}

MxgpuSimt *mxgpu_simt_new(const MxgpuSimtConfig *config)
{
    memset(&fake_simt, 0, sizeof(fake_simt));
    fake_simt.config = *config;
    return (MxgpuSimt *)&fake_simt;
}

void mxgpu_simt_free(MxgpuSimt *simt)
{
}

void mxgpu_simt_reset(MxgpuSimt *simt)
{
    fake_simt.resets++;
    memset(fake_simt.running, 0, sizeof(fake_simt.running));
}

void mxgpu_simt_expect(MxgpuSimt *simt)
{
    fake_simt.expected = true;
}

enum mxgpu_fault mxgpu_simt_start(MxgpuSimt *simt, unsigned slot,
                                  const MxgpuDispatch *dispatch)
{
    if (fake_simt.start_result != MXGPU_FAULT_NONE) {
        return fake_simt.start_result;
    }
    g_assert_false(fake_simt.running[slot]);
    fake_simt.running[slot] = true;
    fake_simt.dispatch[slot] = *dispatch;
    return MXGPU_FAULT_NONE;
}

void fake_simt_finish(unsigned slot, MxgpuDispatchFault fault)
{
    g_assert_true(fake_simt.running[slot]);
    fake_simt.running[slot] = false;
    fake_simt.fault[slot] = fault;
    fake_simt.config.done(fake_simt.config.opaque, slot);
}

void mxgpu_simt_abort(MxgpuSimt *simt, unsigned slot)
{
    MxgpuDispatchFault fault = {.code = MXGPU_FAULT_ABORTED};

    fake_simt.aborts++;
    fake_simt_finish(slot, fault);
}

void mxgpu_simt_hold(MxgpuSimt *simt, unsigned slot, bool hold)
{
    fake_simt.held = (fake_simt.held & ~(1u << slot)) | (uint32_t)hold << slot;
}

uint32_t mxgpu_simt_held(MxgpuSimt *simt)
{
    return fake_simt.held;
}

bool mxgpu_simt_waits(MxgpuSimt *simt, unsigned slot)
{
    return fake_simt.waits >> slot & 1;
}

uint64_t mxgpu_simt_spent(MxgpuSimt *simt, unsigned slot)
{
    return 0x700000000ull + slot;
}

uint64_t mxgpu_simt_vmid_ns(MxgpuSimt *simt, unsigned vmid)
{
    return 0x900000001ull * vmid;
}

MxgpuDispatchFault mxgpu_simt_fault(MxgpuSimt *simt, unsigned slot)
{
    return fake_simt.fault[slot];
}

bool mxgpu_simt_run(MxgpuSimt *simt, unsigned cu, unsigned budget)
{
    fake_simt.budget += budget;
    fake_simt.runs += cu == 0;
    return false;
}

bool mxgpu_simt_run_held(MxgpuSimt *simt, unsigned cu, unsigned budget,
                         const _Atomic bool *hold)
{
    return mxgpu_simt_run(simt, cu, budget);
}

/* Of unit 0, if the test says so. */
uint64_t mxgpu_simt_idle(MxgpuSimt *simt, unsigned cu)
{
    if (fake_simt.asked) {
        fake_simt.asked(cu);
    }
    return cu == 0 && fake_simt.idle ? fake_simt.idle : UINT64_MAX;
}

bool mxgpu_simt_has_work(MxgpuSimt *simt)
{
    return false;
}

void mxgpu_simt_counters(MxgpuSimt *simt, MxgpuSimtCounters *out)
{
    *out = fake_simt.counters;
}

/* Units count what the test says; of unit n, n more. */
void mxgpu_simt_unit_counters(MxgpuSimt *simt, unsigned cu,
                              MxgpuSimtCounters *out)
{
    *out = fake_simt.counters;
    out->warps += cu;
}

/* Unit 0 has no block; of unit n, 4 n further. */
uint64_t mxgpu_simt_unit_pc(MxgpuSimt *simt, unsigned cu)
{
    return cu ? fake_simt.unit_pc + 4 * cu : 0;
}

/* Unit n has blocks of slot n. */
uint32_t mxgpu_simt_unit_slots(MxgpuSimt *simt, unsigned cu)
{
    return 1u << cu;
}

void mxgpu_simt_groups(MxgpuSimt *simt, unsigned cu,
                       void (*see)(void *opaque, const MxgpuSimtGroup *group),
                       void *opaque)
{
}

void mxgpu_simt_slot_counters(MxgpuSimt *simt, unsigned slot,
                              MxgpuSimtCounters *out)
{
    *out = fake_simt.counters;
    out->mem_requests += slot;
}

uint64_t mxgpu_simt_slot_samples(MxgpuSimt *simt, unsigned slot)
{
    return 0x100000000ull + slot;
}

void mxgpu_simt_slot_times(MxgpuSimt *simt, unsigned slot, unsigned cu,
                           MxgpuSimtTimes *out)
{
    *out = (MxgpuSimtTimes){cu + 1, 0x100000000ull + slot, 0x200000000ull, 7};
}

bool mxgpu_simt_active(MxgpuSimt *simt, unsigned slot)
{
    return fake_simt.running[slot];
}

void mxgpu_simt_visit(MxgpuSimt *simt, MxgpuVisit *v)
{
}

void mxgpu_simt_each_parked(MxgpuSimt *simt,
                            void (*fn)(void *opaque, uint32_t sequence),
                            void *opaque)
{
}

void mxgpu_simt_forget(MxgpuSimt *simt)
{
}

/* ---- its debugger: there is none to be had */

bool mxgpu_simt_debug_open(MxgpuSimt *simt, const MxgpuSimtDebugOps *ops,
                           void *opaque)
{
    return false;
}

void mxgpu_simt_debug_attach(MxgpuSimt *simt, bool attached)
{
}

void mxgpu_simt_debug_halt(MxgpuSimt *simt)
{
}

void mxgpu_simt_debug_resume(MxgpuSimt *simt, const MxgpuSimtGo *go)
{
}

bool mxgpu_simt_debug_is_stopped(const MxgpuSimt *simt)
{
    return false;
}

const MxgpuSimtStop *mxgpu_simt_debug_stop(const MxgpuSimt *simt)
{
    static const MxgpuSimtStop none;

    return &none;
}

void mxgpu_simt_debug_at_launch(MxgpuSimt *simt, bool stops)
{
}

bool mxgpu_simt_debug_insert(MxgpuSimt *simt, MxgpuSimtPoint point,
                             uint64_t addr, uint64_t len, void *condition)
{
    return false;
}

bool mxgpu_simt_debug_remove(MxgpuSimt *simt, MxgpuSimtPoint point,
                             uint64_t addr, uint64_t len)
{
    return false;
}

bool mxgpu_simt_debug_warp(const MxgpuSimt *simt, unsigned cu, unsigned warp,
                           MxgpuSimtWarpInfo *info)
{
    return false;
}

bool mxgpu_simt_debug_lane(const MxgpuSimt *simt, MxgpuSimtLane at,
                           MxgpuSimtLaneInfo *info)
{
    return false;
}

bool mxgpu_simt_debug_read_register(MxgpuSimt *simt, MxgpuSimtLane at,
                                    unsigned number, uint64_t *value)
{
    return false;
}

bool mxgpu_simt_debug_write_register(MxgpuSimt *simt, MxgpuSimtLane at,
                                     unsigned number, uint64_t value)
{
    return false;
}

size_t mxgpu_simt_debug_read(MxgpuSimt *simt, MxgpuSimtLane at, uint64_t va,
                             uint8_t *buf, size_t len)
{
    return 0;
}

size_t mxgpu_simt_debug_write(MxgpuSimt *simt, MxgpuSimtLane at, uint64_t va,
                              const uint8_t *buf, size_t len)
{
    return 0;
}

/* There are none. */
MxgpuContextState mxgpu_simt_context_ready(MxgpuSimt *simt, unsigned slot)
{
    return MXGPU_CONTEXT_REFUSED;
}

void mxgpu_simt_context_save(MxgpuSimt *simt, unsigned slot, MxgpuVisit *v)
{
}

void mxgpu_simt_context_drop(MxgpuSimt *simt, unsigned slot)
{
}

MxgpuContextState mxgpu_simt_context_load(MxgpuSimt *simt, unsigned slot,
                                          const MxgpuDispatch *whose,
                                          MxgpuVisit *v)
{
    return MXGPU_CONTEXT_REFUSED;
}
