/* SPDX-License-Identifier: MIT */
/*
 * Bytes between a unit and memory that other parties use at the same time, as
 * docs/memory-model.md promises them: 1, 2, 4 or 8 bytes whose address there is
 * a multiple of their number are one single access, a load that acquires or a
 * store that releases. All else is moved byte by byte in any order.
 */
#ifndef MXGPU_BASE_SINGLE_H
#define MXGPU_BASE_SINGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* load: src is the memory, and dst the unit's own; else the other way round. */
static inline void mxgpu_copy_single(void *dst, const void *src, size_t len,
                                     bool load)
{
    uintptr_t memory = (uintptr_t)(load ? src : dst);

    if (memory & (len - 1)) {
        memmove(dst, src, len);
        return;
    }
    switch (len) {
#define MXGPU_SINGLE(n, type)                                                  \
    case n: {                                                                  \
        type v;                                                                \
        if (load) {                                                            \
            v = __atomic_load_n((const type *)src, __ATOMIC_ACQUIRE);          \
            memcpy(dst, &v, n);                                                \
        } else {                                                               \
            memcpy(&v, src, n);                                                \
            __atomic_store_n((type *)dst, v, __ATOMIC_RELEASE);                \
        }                                                                      \
        return;                                                                \
    }
        MXGPU_SINGLE(1, uint8_t)
        MXGPU_SINGLE(2, uint16_t)
        MXGPU_SINGLE(4, uint32_t)
        MXGPU_SINGLE(8, uint64_t)
#undef MXGPU_SINGLE
    default:
        memmove(dst, src, len);
    }
}

#endif
