/* SPDX-License-Identifier: MIT */
/*
 * Device memory and events of other processes on this machine. A chapter of
 * mc_runtime_api.h, which includes it and has the general rules; docs/ipc.md
 * tells what a handle is worth, and for how long.
 */
#ifndef MCR_MC_IPC_H
#define MCR_MC_IPC_H

#include "mc_runtime_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of memory from mcMalloc() and the like that devPtr is in; the same handle each
 * time. mcErrorInvalidValue: other memory; mcErrorNotSupported: device memory
 * cannot be shared on this back end. */
mcError_t mcIpcGetMemHandle(mcIpcMemHandle_t *handle, void *devPtr);
/*
 * The start of the allocation, for the current device. Opened again it is the
 * same address, to be closed as often. flags is mcIpcMemLazyEnablePeerAccess.
 * mcErrorInvalidValue: not a handle; mcErrorDeviceUninitialized: a handle of this
 * process; mcErrorMapBufferObjectFailed: its process has ended;
 * mcErrorInvalidResourceHandle: the memory was freed; mcErrorNotPermitted: a
 * process that may not be looked at, as that of another user.
 */
mcError_t mcIpcOpenMemHandle(void **devPtr, mcIpcMemHandle_t handle,
                             unsigned int flags);
/* Waits for the work submitted to the device. mcErrorInvalidValue: not what
 * mcIpcOpenMemHandle() gave. */
mcError_t mcIpcCloseMemHandle(void *devPtr);
/* Of an event made with mcEventInterprocess (and mcEventDisableTiming): else
 * mcErrorInvalidResourceHandle. */
mcError_t mcIpcGetEventHandle(mcIpcEventHandle_t *handle, mcEvent_t event);
/* An event of the current device, to be destroyed with mcEventDestroy(). Errors
 * as of mcIpcOpenMemHandle(). */
mcError_t mcIpcOpenEventHandle(mcEvent_t *event, mcIpcEventHandle_t handle);

#ifdef __cplusplus
}
#endif

#endif
