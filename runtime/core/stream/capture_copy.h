/* SPDX-License-Identifier: MIT */
/* Copies, fills and operations on words as nodes. */
#ifndef MC_CORE_CAPTURE_COPY_H
#define MC_CORE_CAPTURE_COPY_H

#include "capture.h"
#include "core/memory/box.h"

/* Of a capturing stream; all has been checked. */
mcError_t mc_capture_copy(McStream *stream, const McBox *box,
                          mcMemcpyKind kind);
/* A node a slice, one behind the other. */
mcError_t mc_capture_fill(McStream *stream, const McBox *box, uint32_t pattern,
                          unsigned pattern_size);
mcError_t mc_capture_words(McStream *stream, const McWordOp *ops,
                           unsigned count);

#endif
