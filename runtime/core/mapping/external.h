/* SPDX-License-Identifier: MIT */
/*
 * Memory and semaphores of other interfaces, known by file descriptors. Their
 * work in streams is host functions, so that it is the same on every back end.
 * Thread-safe; what lies behind a file descriptor is not trusted.
 */
#ifndef MC_CORE_EXTERNAL_H
#define MC_CORE_EXTERNAL_H

#include "core/context/handle.h"
#include "core/stream/stream.h"

/* ---- memory ---- */

typedef struct McExternalMemory {
    McHandle handle;
    int fd;
    uint64_t offset, size; /* of the object in the file */
} McExternalMemory;

/* Takes fd over on success. mcErrorInvalidValue: not a file of memory that
 * large. */
mcError_t mc_external_memory_new(McContext *ctx, int fd, uint64_t size,
                                 McExternalMemory **out);
/* mcErrorInvalidValue: not in the object. The address lives on without it, until
 * mc_foreign_unmap(MC_RANGE_EXTERNAL). */
mcError_t mc_external_memory_map(McExternalMemory *memory, uint64_t offset,
                                 uint64_t size, uint64_t *va);

/* ---- semaphores ---- */

typedef struct McSemaphore McSemaphore;

typedef struct McExternalSemaphore {
    McHandle handle;
    McSemaphore *semaphore;
} McExternalSemaphore;

/* Takes fd over on success. mcErrorInvalidValue: not such a semaphore. */
mcError_t mc_external_semaphore_new(McContext *ctx, int fd, bool timeline,
                                    McExternalSemaphore **out);

/* Of one semaphore; value: of a timeline. */
typedef struct McSemaphoreOp {
    McSemaphore *semaphore;
    uint64_t value;
} McSemaphoreOp;

/* In stream order, as one piece of work; ops is copied. */
mcError_t mc_semaphores_signal(McStream *stream, const McSemaphoreOp *ops,
                               unsigned count);
mcError_t mc_semaphores_wait(McStream *stream, const McSemaphoreOp *ops,
                             unsigned count);

#endif
