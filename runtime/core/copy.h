/* SPDX-License-Identifier: MIT */
/*
 * Copies and fills. Copy engines reach device memory and pinned host memory;
 * pageable memory goes through pinned chunks.
 */
#ifndef MC_CORE_COPY_H
#define MC_CORE_COPY_H

#include "stream.h"

/*
 * depth slices of height rows of width bytes. On each side rows start a pitch
 * (bytes) apart, slices a slice (rows). Of a single row, pitches and slices
 * mean nothing; fills have no source. Each number but width and, of a single
 * row, pitches and slices is below 2^32, or it fails with mcErrorInvalidValue.
 */
typedef struct McBox {
    void *dst;
    const void *src;
    size_t dst_pitch, src_pitch;
    size_t dst_slice, src_slice;
    size_t width, height, depth;
} McBox;

/* sync: as mcMemcpy, else as mcMemcpyAsync. */
mcError_t mc_copy(McStream *stream, void *dst, const void *src, size_t size,
                  mcMemcpyKind kind, bool sync);

mcError_t mc_copy_box(McStream *stream, const McBox *box, mcMemcpyKind kind,
                      bool sync);

/* pattern_size 1, 2 or 4 divides address, size, and the pitch of rows. */
mcError_t mc_fill(McStream *stream, void *dst, uint32_t pattern,
                  unsigned pattern_size, size_t size, bool sync);
mcError_t mc_fill_box(McStream *stream, const McBox *box, uint32_t pattern,
                      unsigned pattern_size, bool sync);

/* A word that work behind it waits for, or that is written. size is 4 or 8 and
 * divides the address. */
typedef struct McWordOp {
    void *ptr;
    uint64_t value;
    unsigned size;
    bool wait;
    enum mxgpu_wait_cond cond; /* of a wait */
} McWordOp;

/* In this order; none when one of them is wrong. */
mcError_t mc_word_ops(McStream *stream, const McWordOp *ops, unsigned count);

#endif
