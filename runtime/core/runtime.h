/* SPDX-License-Identifier: MIT */
/* Between runtime.c (the process) and context.c (its devices). */
#ifndef MC_CORE_RUNTIME_H
#define MC_CORE_RUNTIME_H

#include "context.h"

/* The back end's number of a device the user sees. */
int mc_runtime_physical(int device);
const KmdOps *mc_runtime_ops(void);
bool mc_runtime_ending(void);

bool mc_context_any(void);
void mc_context_close_all(void);

/* The thread ends, or its streams are not wanted any more. */
void mc_thread_drop_streams(McThread *thread);

#endif
