/* SPDX-License-Identifier: MIT */
/*
 * A whole device with the real firmware, whose structures tests can look into,
 * and work for it: copies, and kernels that have a little of all the state
 * there is (state_kernels.c).
 */
#ifndef MXGPU_TESTS_RIG_H
#define MXGPU_TESTS_RIG_H

#include "core/internal.h"
#include "sim_driver.h"
#include "simt/state.h"

#define UNITS     2
#define OUT    (2u << 20)
#define COPIES (8u << 20)
#define FAULTS 0x60000u /* in system memory: the fault ring */
#define LOG2_FAULTS 1u
#define TARGET (1u << 20)

typedef struct Rig {
    MxgpuDevice *dev;
    Drv drv;
    bool threads;
    bool recover; /* before rig_start(): its packets ask for recoverable faults,
                   * and the kernels' and copies' VRAM is not mapped */
    uint64_t clock; /* of a deterministic one */
    _Atomic uint64_t irqs[8];
} Rig;

typedef struct Saved {
    uint8_t *bytes;
    size_t size;
} Saved;

Rig *rig_new(unsigned units, bool threads);
void rig_free(Rig *r);
/* Boots, and gives all queues their work. */
void rig_start(Rig *r, const char *kernels);
/* Of a deterministic one; false: there is nothing to do now. */
bool rig_step(Rig *r, unsigned budget);
bool rig_done(Rig *r);
/* A deterministic one in the middle of everything, after so many steps. */
#define RIG_BUDGET 700
Rig *rig_busy(const char *kernels, unsigned steps);
Saved rig_save(Rig *r);

#endif
