/* SPDX-License-Identifier: MIT */
/*
 * The checkers in QEMU, as a library that a device loads (observer=FILE,
 * mxgpu/observer.h). What they have to know of the process in the guest comes
 * over link.h: through a Unix socket, MXGPU_MEMCHECK_SOCKET in the environment,
 * which is the other end of the port in the guest.
 */
#ifndef MC_CHECK_REMOTE_H
#define MC_CHECK_REMOTE_H

#include <stddef.h>

#include "../link.h"

/* NULL, or why not. */
const char *mc_remote_start(void);

/* To the process, if there is one. From any thread; waits for nobody: what the
 * socket does not take is lost, and the process told so. */
void mc_remote_tell(enum McLinkType type, const char *text, size_t length);

/* One record of a process; what is wrong is not done. For the tests, too. */
void mc_remote_take(const McLinkRecord *r);

#endif
