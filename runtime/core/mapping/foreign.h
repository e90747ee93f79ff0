/* SPDX-License-Identifier: MIT */
/*
 * Memory of others on a device: parts of files, pinned and mapped behind each
 * other at an address of their own. Thread-safe.
 */
#ifndef MC_CORE_FOREIGN_H
#define MC_CORE_FOREIGN_H

#include "core/context/context.h"
#include "core/memory/directory.h"
#include "core/memory/range.h"

/* What the same token names on the same device is mapped once, and counted.
 * False: it is not there yet. */
bool mc_foreign_again(McContext *ctx, const McToken *token, uint64_t *va);
/* token: NULL, or what mc_foreign_again() asks for, in which case another
 * thread may have been faster. The file descriptors stay the caller's. */
mcError_t mc_foreign_map(McContext *ctx, const McShare *share,
                         McRangeKind kind, const McToken *token, uint64_t *va);
/* Waits for the device when it was the last one. mcErrorInvalidValue: nothing of
 * that kind begins at va. */
mcError_t mc_foreign_unmap(uint64_t va, McRangeKind kind);
/* The context goes away. */
void mc_foreign_detach(McContext *ctx);

#endif
