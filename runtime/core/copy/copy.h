/* SPDX-License-Identifier: MIT */
/*
 * Copies and fills. Copy engines reach device memory and pinned host memory;
 * pageable memory goes through pinned chunks.
 */
#ifndef MC_CORE_COPY_H
#define MC_CORE_COPY_H

#include "core/memory/box.h"
#include "core/stream/stream.h"

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

/* In this order; none when one of them is wrong. */
mcError_t mc_word_ops(McStream *stream, const McWordOp *ops, unsigned count);

/* ---- packets, for those who submit them themselves ---- */

size_t mc_box_size(const McBox *box);
/* By the processor. */
void mc_box_move(const McBox *box);
/* The same box with one side in memory where its rows follow each other. */
McBox mc_box_to(McBox box, void *memory);
McBox mc_box_from(McBox box, const void *memory);

/* How a device makes a copy. */
typedef enum McCopyHow {
    MC_COPY_NOTHING,  /* it is empty */
    MC_COPY_DIRECT,   /* by a packet */
    MC_COPY_UPLOAD,   /* ... from pinned memory, the source being pageable */
    MC_COPY_DOWNLOAD, /* ... to pinned memory, the other end being pageable */
    MC_COPY_HOST,     /* by the processor */
    MC_COPY_REMOTE,   /* it cannot: mc_copy_box() can */
} McCopyHow;

/* Checks a copy; the box is then what mc_copy_packet() takes. */
mcError_t mc_copy_plan(int device, McBox *box, mcMemcpyKind kind,
                       McCopyHow *how);
void mc_copy_packet(const McBox *box, union mxgpu_packet *packet);
/* The packets of mc_fill_box, which *some says whether there is, and of one of
 * mc_word_ops. */
mcError_t mc_fill_plan(int device, const McBox *box, uint32_t pattern,
                       unsigned pattern_size, union mxgpu_packet *packet,
                       bool *some);
mcError_t mc_word_plan(int device, const McWordOp *op,
                       union mxgpu_packet *packet);

#endif
