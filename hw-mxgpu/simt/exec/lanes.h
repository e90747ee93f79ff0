/* SPDX-License-Identifier: MIT */
/*
 * What all files of the interpreters have in common: loops over the lanes of a
 * warp, and functions that the files of one instruction set share.
 */
#ifndef MXGPU_SIMT_EXEC_LANES_H
#define MXGPU_SIMT_EXEC_LANES_H

#include <string.h>

#include "isa.h"
#include "simt/state.h"
#include "simt/warp/budget.h"
#include "simt/warp/memory.h"
#include "simt/warp/warp.h"

#if defined(__clang__)
#define LANE_LOOP                                                              \
    _Pragma("clang loop vectorize(assume_safety)")                             \
    for (unsigned i = 0; i < LANES; i++)
#else
#define LANE_LOOP _Pragma("GCC ivdep") for (unsigned i = 0; i < LANES; i++)
#endif
#define SEXT32(v) ((uint64_t)(int64_t)(int32_t)(v))
#define SELECT(m, a, b) (((a) & (m)) | ((b) & ~(m)))

/* One bit for each of 64 bytes that are 0 or 1. */
static inline uint64_t pack_bits(const uint8_t *bytes)
{
    uint64_t bits = 0, eight;

    for (unsigned i = 0; i < LANES / 8; i++) {
        memcpy(&eight, bytes + 8 * i, 8);
        bits |= (eight * 0x0102040810204080ull >> 56) << (8 * i);
    }
    return bits;
}

#endif
