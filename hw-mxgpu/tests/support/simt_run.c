/* SPDX-License-Identifier: MIT */
#include "simt_run.h"

SimtRun simt_run_new(const char *elf, const char *kernel, unsigned grid,
                     unsigned block)
{
    SimtRun r = {.h = simt_host_new(RUN_UNITS)};

    simt_host_load(r.h, elf);
    r.args = simt_host_data(r.h, HOST_DATA_VA);
    r.out = simt_host_data(r.h, RUN_OUT);
    r.data = simt_host_data(r.h, RUN_DATA);
    r.args[0] = RUN_OUT;
    r.args[1] = RUN_DATA;
    r.d = simt_host_dispatch(simt_host_symbol(r.h, kernel), grid, block);
    return r;
}

void simt_run_free(SimtRun *r)
{
    simt_host_free(r->h);
}

void simt_run(SimtRun *r)
{
    MxgpuDispatchFault f = simt_host_run(r->h, &r->d);

    if (f.code) {
        g_test_message("fault %d at %lx pc %lx", f.code, (long)f.addr,
                       (long)f.pc);
    }
    g_assert_cmpint(f.code, ==, MXGPU_FAULT_NONE);
}
