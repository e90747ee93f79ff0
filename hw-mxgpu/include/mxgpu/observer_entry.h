/* SPDX-License-Identifier: MIT */
/*
 * What a library that a device loads to have its kernels watched (observer.h;
 * observer=FILE of the PCI card) exports as mxgpu_observer_entry. NULL: it does
 * not watch, and *why says so. Each device that loads it calls this; the first
 * argument of the functions is then the number of the device, from 0.
 */
#ifndef MXGPU_OBSERVER_ENTRY_H
#define MXGPU_OBSERVER_ENTRY_H

#include "mxgpu/observer.h"

#define MXGPU_OBSERVER_ABI 1

typedef const MxgpuObserver *MxgpuObserverEntry(unsigned abi,
                                                const char **why);

#endif
