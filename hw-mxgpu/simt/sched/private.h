/* SPDX-License-Identifier: MIT */
/* The host memory behind the threads' private windows: see private.c. */
#ifndef MXGPU_SIMT_SCHED_PRIVATE_H
#define MXGPU_SIMT_SCHED_PRIVATE_H

#include "simt/state.h"

/* Address space for all that a unit's threads can ask for; false: the host has
 * none. Once it has some there is nothing to do. */
bool mxgpu_private_reserve(MxgpuCu *cu);
void mxgpu_private_free(MxgpuCu *cu);
/* What SimtCuState.owner says of threads of that address space now. */
uint64_t mxgpu_private_owner(const MxgpuCu *cu, unsigned vmid);
/* A block begins in the warp. */
void mxgpu_private_start(MxgpuCu *cu, unsigned warp, const MxgpuWarp *w);
/* After that, for all of a block's warps. */
void mxgpu_private_fit(MxgpuCu *cu);
/* Does what the above left to do, as far as the work budget goes; before a warp
 * runs. false: some is left. */
bool mxgpu_private_clean(MxgpuCu *cu);
/* What the warp's block has there is kept elsewhere; false: no memory, and some
 * may be kept. It is back in another place, with what that had given back. */
bool mxgpu_private_save(MxgpuCu *cu, unsigned warp, SimtSavedPrivate *to);
void mxgpu_private_load(MxgpuCu *cu, unsigned warp,
                        const SimtSavedPrivate *from);
/* What no block uses is to be given back. */
void mxgpu_private_drop(MxgpuCu *cu);

#endif
