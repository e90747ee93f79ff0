/* SPDX-License-Identifier: MIT */
#ifndef MXGPU_SIMT_WARP_LOCATE_H
#define MXGPU_SIMT_WARP_LOCATE_H

#include "simt/state.h"

/*
 * Host addresses of what mask's lanes access at a[lane] + imm, size bytes each,
 * to at[lane]; they are on their way to the host's caches. false: a lane's
 * access is misaligned, would fault or has no host address. Nothing has been
 * accessed, and no fault recorded. Translations are loaded whatever is left of
 * the work budget.
 */
bool mxgpu_simt_locate(MxgpuCu *cu, const MxgpuWarp *w, SimtKind kind,
                       const uint64_t *a, uint64_t imm, uint64_t mask,
                       unsigned size, uint64_t *at);

#endif
