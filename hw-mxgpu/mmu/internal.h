/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_MMU_INTERNAL_H
#define MXGPU_MMU_INTERNAL_H

#include <pthread.h>

#include "log.h"
#include "mmu.h"

struct MxgpuMmu {
    uint8_t *vram;
    uint64_t vram_size;
    const MxgpuHostOps *ops;
    void *host;
    _Atomic uint64_t root[MXGPU_NUM_VMIDS];
    _Atomic uint64_t epoch; /* invalidations since creation */
    /* Gets each page that is written to, of which then none is large. */
    _Atomic(MxgpuVramUsed *) used;
    void *used_host; /* its first argument */
    pthread_mutex_t clients_lock; /* a leaf; guards the list alone */
    MxgpuMmuClient *clients;
};

#endif
