/* SPDX-License-Identifier: MIT */
/*
 * Contexts from open to close. One is opened by the first call that needs it
 * and goes with mcDeviceReset or the process; closing waits until nobody holds
 * it.
 */
#ifndef MC_PROCESS_CONTEXTS_H
#define MC_PROCESS_CONTEXTS_H

#include "core/context/context.h"

/*
 * Opens the device when needed. The caller holds the context afterwards. A
 * sticky error of the device is not looked at.
 *
 * A context that is being closed is waited for, but only by a thread that
 * holds nothing: closing waits for all holders, and one that waited for a close
 * in turn would wait for ever. Who holds a context, or an object of one, in
 * whatever order it was taken, gets mcErrorContextIsDestroyed instead.
 */
mcError_t mc_context_open(int device, McContext **ctx);

/* Ends everything and closes the device, for which the caller holds no context
 * and waits until nobody does; the device's flags are the default again. */
mcError_t mc_context_reset(int device);

#endif
