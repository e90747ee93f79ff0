/* SPDX-License-Identifier: MIT */
/*
 * Stands in for libmxgpu-sim.so (MXGPU_SIM_LIBRARY names this, BENCH_SIM_LIBRARY
 * the real one) and passes all on, so that a benchmark can read registers of the
 * device that its runtime has opened.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "mxgpu/regs.h"
#include "sim/sim.h"

static const MxgpuSimOps *real;
static MxgpuSimOps ops;
static MxgpuSim *device;

uint64_t bench_counter(unsigned index);
uint64_t bench_mcu_instructions(void);

static int open_device(const MxgpuSimOptions *options, MxgpuSim **sim)
{
    int ret = real->open(options, sim);

    device = ret ? device : *sim;
    return ret;
}

static void close_device(MxgpuSim *sim)
{
    device = device == sim ? NULL : device;
    real->close(sim);
}

static uint64_t read64(uint32_t low)
{
    uint64_t value = 0;

    if (device) {
        value = real->read(device, low); /* latches the high half */
        value |= (uint64_t)real->read(device, low + 4) << 32;
    }
    return value;
}

/* enum mxgpu_counter, since the device's start; 0 while no device is open. */
uint64_t bench_counter(unsigned index)
{
    return read64(MXGPU_COUNTER_LO + index * MXGPU_COUNTER_LO_STRIDE);
}

uint64_t bench_mcu_instructions(void)
{
    return read64(MXGPU_MCU_INSTRET_LO);
}

const MxgpuSimOps *mxgpu_sim_entry(unsigned abi)
{
    const MxgpuSimOps *(*entry)(unsigned);
    const char *path = getenv("BENCH_SIM_LIBRARY");
    void *library = dlopen(path ? path : "libmxgpu-sim.so", RTLD_NOW);

    if (!library) {
        fprintf(stderr, "bench: %s\n", dlerror());
        return NULL;
    }
    *(void **)(void *)&entry = dlsym(library, "mxgpu_sim_entry");
    real = entry ? entry(abi) : NULL;
    if (!real) {
        return NULL;
    }
    ops = *real;
    ops.open = open_device;
    ops.close = close_device;
    return &ops;
}
