/* SPDX-License-Identifier: MIT */
/* What copies, fills and operations on words are about. */
#ifndef MC_CORE_BOX_H
#define MC_CORE_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mxgpu/packets.h"

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

/* A word that work behind it waits for, or that is written. size is 4 or 8 and
 * divides the address. */
typedef struct McWordOp {
    void *ptr;
    uint64_t value;
    unsigned size;
    bool wait;
    enum mxgpu_wait_cond cond; /* of a wait */
} McWordOp;

#endif
