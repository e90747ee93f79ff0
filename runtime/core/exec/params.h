/* SPDX-License-Identifier: MIT */
/* What the structures say that users describe work with: each is checked as far
 * as that takes no device. */
#ifndef MC_CORE_PARAMS_H
#define MC_CORE_PARAMS_H

#include <limits.h>

#include "core/copy/copy.h"
#include "mcr/mc_runtime_api.h"

/* Bytes between rows of a copy or fill; what attributes and properties say. */
#define MC_MAX_PITCH ((size_t)INT_MAX)
/* Operations of a batch. */
#define MC_BATCH_MAX 256

mcError_t mc_pitched(const mcPitchedPtr *p, mcPos pos, mcExtent extent,
                     void **start);
bool mc_extent_empty(mcExtent extent);
/* An empty one has the width 0. Arrays have to be there as long as the box is
 * used. mcErrorInvalidResourceHandle: one is not. */
mcError_t mc_box_of_copy(const mcMemcpy3DParms *params, McBox *box);
mcError_t mc_box_of_fill(const mcMemsetParams *params, McBox *box);

/* flags: MC_STREAM_WAIT_VALUE_* and MC_STREAM_WRITE_VALUE_*. */
mcError_t mc_wait_op(McWordOp *op, void *ptr, uint64_t value, unsigned size,
                     unsigned flags);
mcError_t mc_write_op(McWordOp *op, void *ptr, uint64_t value, unsigned size,
                      unsigned flags);
/* *word false: there is nothing to do. */
mcError_t mc_batch_op(const mcStreamBatchMemOpParams *params, McWordOp *op,
                      bool *word);

#endif
