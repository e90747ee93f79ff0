/* SPDX-License-Identifier: MIT */
/* The device in this process: name is the path of libmxgpu-sim.so. */
#include <dlfcn.h>
#include <stdlib.h>

#include "gpu.h"
#include "sim/sim.h"

static const MxgpuSimOps *ops;

static uint32_t sim_read(Gpu *gpu, uint32_t offset)
{
    return ops->read(gpu->opaque, offset);
}

static void sim_write(Gpu *gpu, uint32_t offset, uint32_t value)
{
    ops->write(gpu->opaque, offset, value);
}

static void sim_doorbell(Gpu *gpu, uint64_t value)
{
    ops->doorbell(gpu->opaque, 0, value);
}

void gpu_open(Gpu *gpu, const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    MxgpuSimOptions config = {.vram_size = 64u << 20, .compute_units = 2};
    const MxgpuSimOps *(*entry)(unsigned abi) = NULL;
    MxgpuSim *sim;

    if (library) {
        *(void **)&entry = dlsym(library, "mxgpu_sim_entry");
    }
    ops = entry ? entry(MXGPU_SIM_ABI) : NULL;
    if (!ops || ops->open(&config, &sim) < 0) {
        die(name);
    }
    *gpu = (Gpu){.read = sim_read, .write = sim_write,
                 .doorbell = sim_doorbell, .opaque = sim,
                 .vram = ops->vram(sim, NULL),
                 .sys = aligned_alloc(4096, SYS_SIZE)};
    for (unsigned i = 0; i < VECTORS; i++) {
        gpu->irq_fd[i] = ops->irq_fd(sim, i);
    }
    if (!gpu->sys || ops->dma_map(sim, SYS_IOVA, gpu->sys, SYS_SIZE) < 0) {
        die("dma_map");
    }
}

void gpu_close(Gpu *gpu)
{
    ops->close(gpu->opaque);
    free(gpu->sys);
}
