/* SPDX-License-Identifier: MIT */
/* One compiled kernel on compute units, its results and its data. */
#ifndef MXGPU_TESTS_RUN_H
#define MXGPU_TESTS_RUN_H

#include "simt_host.h"

#define RUN_UNITS 2
#define RUN_OUT   (HOST_DATA_VA + (2 << 20))
#define RUN_DATA  (HOST_DATA_VA + (4 << 20))

typedef struct SimtRun {
    SimtHost *h;
    uint64_t *args, *out, *data; /* args: out, data, what the test adds */
    MxgpuDispatch d;
} SimtRun;

SimtRun simt_run_new(const char *elf, const char *kernel, unsigned grid,
                     unsigned block);
void simt_run_free(SimtRun *r);
/* To its end, which is a good one. */
void simt_run(SimtRun *r);

#endif
