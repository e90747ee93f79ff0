/* SPDX-License-Identifier: MIT */
/*
 * The just-in-time linker: device code of several sources becomes one code
 * object while the program runs (docs/linking.md). Thread-safe; calls for one
 * state wait for each other.
 */
#ifndef MC_LINK_LINK_H
#define MC_LINK_LINK_H

#include "image/relocatable.h"
#include "options.h"

typedef struct McLink McLink;

/* mcErrorJitCompilerNotFound: there is no linker that it could start. */
mcError_t mc_link_create(const McLinkOptions *options, McLink **out);

/* NULL: there is no such state. The caller puts what it got. */
McLink *mc_link_get(const void *handle);
void mc_link_put(McLink *link);
/* False: somebody else has removed it. It goes with its last holder. */
bool mc_link_remove(McLink *link);

/*
 * Copies it. What it must be: of that kind, or anything (NULL). As
 * mc_relocatable_check(), mcErrorInvalidHandle: completed already,
 * mcErrorMemoryAllocation.
 */
mcError_t mc_link_add(McLink *link, const McRelocatableKind *kind,
                      const void *data, size_t size, const char *name);
/* Likewise of a file; mcErrorFileNotFound. */
mcError_t mc_link_add_file(McLink *link, const McRelocatableKind *kind,
                           const char *path);
/* The image is the state's. As mc_link_run(); mcErrorInvalidValue: nothing was
 * added. After an error more may be added. */
mcError_t mc_link_complete(McLink *link, void **image, size_t *size);

#endif
