/* SPDX-License-Identifier: MIT */
/* Stands for simt/ in tests of the core: keeps what was started until the test
 * says how it ended. */
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
