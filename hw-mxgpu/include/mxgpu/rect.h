/* SPDX-License-Identifier: MIT */
/*
 * Where a box of rows lies in memory. A row has width bytes; rows of a slice
 * start pitch bytes apart, slices "slice" rows apart. Whoever takes a box from
 * somebody else checks it here: runtime, firmware and copy engine.
 */
#ifndef MXGPU_RECT_H
#define MXGPU_RECT_H

#include "types.h"

enum mxgpu_rect_check {
    MXGPU_RECT_OK,
    MXGPU_RECT_PITCH, /* rows would overlap: pitch below width */
    MXGPU_RECT_SLICE, /* slices would overlap: slice below height */
    MXGPU_RECT_END,   /* passes the end of 64 bits */
};

/*
 * *reach becomes the bytes from the first of the box to behind its last; 0 when
 * an extent is 0, whatever the rest. pitch is ignored for a single row, slice
 * for a single slice.
 */
static inline enum mxgpu_rect_check
mxgpu_rect_reach(uint64_t width, uint32_t height, uint32_t depth,
                 uint32_t pitch, uint32_t slice, uint64_t *reach)
{
    uint64_t rows, low, high;

    *reach = 0;
    if (!width || !height || !depth) {
        return MXGPU_RECT_OK;
    }
    if (pitch < width && (height > 1 || depth > 1)) {
        return MXGPU_RECT_PITCH;
    }
    if (slice < height && depth > 1) {
        return MXGPU_RECT_SLICE;
    }
    /* Rows in front of the last one: below 2^64. Their bytes need 96 bits. */
    rows = (uint64_t)(depth - 1) * slice + (height - 1);
    low = (rows & 0xffffffffu) * pitch;
    high = (rows >> 32) * pitch + (low >> 32);
    if (high >> 32) {
        return MXGPU_RECT_END;
    }
    *reach = (high << 32 | (low & 0xffffffffu)) + width;
    return *reach < width ? MXGPU_RECT_END : MXGPU_RECT_OK;
}

#endif
