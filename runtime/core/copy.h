/* SPDX-License-Identifier: MIT */
/*
 * Copies and fills. Copy engines reach device memory and pinned host memory;
 * pageable memory goes through pinned chunks.
 */
#ifndef MC_CORE_COPY_H
#define MC_CORE_COPY_H

#include "stream.h"

mcError_t mc_staging_new(McContext *ctx, McStaging **out);
void mc_staging_free(McStaging *staging);

/* sync: as mcMemcpy, else as mcMemcpyAsync. */
mcError_t mc_copy(McStream *stream, void *dst, const void *src, size_t size,
                  mcMemcpyKind kind, bool sync);

/* pattern_size 1, 2 or 4; size in bytes. */
mcError_t mc_fill(McStream *stream, void *dst, uint32_t pattern,
                  unsigned pattern_size, size_t size, bool sync);

/* word_size 4 or 8. */
mcError_t mc_write_value(McStream *stream, void *ptr, uint64_t value,
                         unsigned word_size);
mcError_t mc_wait_value(McStream *stream, void *ptr, uint64_t value,
                        unsigned word_size, enum mxgpu_wait_cond cond);

#endif
