/* SPDX-License-Identifier: MIT */
/* Looking at the zones of all allocations (zone.h). */
#ifndef MC_CORE_CHECK_H
#define MC_CORE_CHECK_H

#include "core/context/context.h"

/*
 * With MXGPU_CHECK, looks at all zones that the device may have written: new
 * damage is reported and makes mcErrorIllegalAddress the context's error.
 * Returns error, or, when that is mcSuccess, the context's.
 */
mcError_t mc_check_context(McContext *ctx, mcError_t error);

#endif
