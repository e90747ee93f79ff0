/* SPDX-License-Identifier: MIT */
/*
 * Device code that is not linked yet, as mxcc -dc makes it (docs/fatbin.md):
 * records with the bitcode of one source each, alone, in a section of object
 * files, in members of static libraries, or in a fat binary.
 */
#ifndef MC_IMAGE_RELOCATABLE_H
#define MC_IMAGE_RELOCATABLE_H

#include <stddef.h>

#include "mcr/mc_runtime_types.h"

typedef enum McRelocatableKind {
    MC_RELOCATABLE_OBJECT, /* or the records alone */
    MC_RELOCATABLE_FATBIN,
    MC_RELOCATABLE_LIBRARY,
} McRelocatableKind;

/*
 * What it is, and whether all of it is whole. mcErrorInvalidKernelImage: no
 * such thing, or damaged; mcErrorNoKernelImageForDevice: no device code in it
 * that can be linked. Then *why says more.
 */
mcError_t mc_relocatable_check(const void *data, size_t size,
                               McRelocatableKind *kind, const char **why);

#endif
