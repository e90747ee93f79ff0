/* SPDX-License-Identifier: MIT */
/* Counters of a unit. Only the thread that runs the unit adds to them, others
 * may read them at any time. */
#ifndef MXGPU_SIMT_WARP_COUNT_H
#define MXGPU_SIMT_WARP_COUNT_H

#include "simt/state.h"

static inline void simt_count(MxgpuCu *cu, SimtCount counter, uint64_t n)
{
    atomic_store_explicit(
        &cu->n.count[counter],
        atomic_load_explicit(&cu->n.count[counter], memory_order_relaxed) + n,
        memory_order_relaxed);
}

#endif
