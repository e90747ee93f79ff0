/* SPDX-License-Identifier: MIT */
/* Who watches kernels on devices in this process (mxgpu/observer.h): a checker
 * says so before the first device is opened, and the simulator is told. */
#ifndef MC_BASE_KERNEL_WATCH_H
#define MC_BASE_KERNEL_WATCH_H

#include <stdbool.h>

typedef struct McKernelWatch {
    const struct MxgpuObserver *observer; /* NULL: nobody */
    bool strict; /* misaligned loads and stores fault */
} McKernelWatch;

extern McKernelWatch mc_kernel_watch;

#endif
