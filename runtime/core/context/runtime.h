/* SPDX-License-Identifier: MIT */
/* The process: back end, visible devices, fork and exit. */
#ifndef MC_CORE_RUNTIME_H
#define MC_CORE_RUNTIME_H

#include "kmd/kmd.h"
#include "mcr/mc_runtime_types.h"

/* Selects the back end and counts devices, once. */
mcError_t mc_runtime_init(void);
/* Devices the user may see. */
int mc_device_count(void);
/* Those that new threads may begin with: mcSetValidDevices. */
mcError_t mc_set_valid_devices(const int *devices, int count);
/* mcErrorDeinitialized while the process ends, mcErrorInitializationError in
 * the child of a fork, mcErrorNotPermitted in a stream's host function. */
mcError_t mc_runtime_gate(void);
bool mc_launch_blocking(void);
/* Whether kernels of the program are loaded when a device is opened, rather
 * than when they are first used. */
bool mc_load_eagerly(void);

/* The back end's number of a device the user sees. */
int mc_runtime_physical(int device);
const KmdOps *mc_runtime_ops(void);

/* The library is being unloaded: from now on calls fail. False, with nothing to
 * close, in a forked child of a process that used devices. */
bool mc_runtime_end(void);
bool mc_runtime_ending(void);
/* This is such a child: nothing of what the parent had is touched, and no lock
 * taken that one of its threads may have held. */
void mc_runtime_forked(void);
bool mc_runtime_is_child(void);
/* In a child: the parent was just looking for devices. */
bool mc_runtime_was_starting(void);

#endif
