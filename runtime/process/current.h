/* SPDX-License-Identifier: MIT */
/*
 * What mcCtx_t stands for, and each thread's stack of them. All contexts of a
 * device, its primary one and those that programs create, are the same
 * McContext: they share memory, objects, flags and errors. A context that was
 * destroyed stays on the stacks of other threads, where calls fail.
 */
#ifndef MC_PROCESS_CURRENT_H
#define MC_PROCESS_CURRENT_H

#include "core/context/context.h"

typedef struct McCtx McCtx;

/* Always there; the same after a reset. */
McCtx *mc_ctx_primary(int device);
/* NULL: no memory. */
McCtx *mc_ctx_new(int device);
/* The context of a handle, held; NULL when there is none such. */
McCtx *mc_ctx_get(const void *handle);
void mc_ctx_put(McCtx *ctx);
/* The handle is none any more. False: it was not, or is a primary one. */
bool mc_ctx_destroy(McCtx *ctx);

int mc_ctx_device(const McCtx *ctx);
bool mc_ctx_destroyed(const McCtx *ctx);

/* ---- of the calling thread ---- */

/* The top of the stack; NULL when it is empty. */
McCtx *mc_ctx_top(void);
/* Makes it current; false: no memory. */
bool mc_ctx_push(McCtx *ctx);
/* Only if there is a top. */
void mc_ctx_pop(void);
void mc_ctx_replace(McCtx *ctx);
void mc_ctx_thread_end(McThread *thread);

#endif
