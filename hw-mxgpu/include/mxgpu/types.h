/* SPDX-License-Identifier: MIT */
/*
 * Fixed-width types and static assertions for every environment that shares
 * these headers: hosted C11 and C++, freestanding firmware, the Linux kernel.
 * All structures of this interface are little-endian, without padding.
 */
#ifndef MXGPU_TYPES_H
#define MXGPU_TYPES_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
#define MXGPU_STATIC_ASSERT(cond) static_assert(cond, #cond)
#else
#define MXGPU_STATIC_ASSERT(cond) _Static_assert(cond, #cond)
#endif

/* Size and field offsets of a structure another party reads. */
#define MXGPU_ASSERT_SIZE(type, size) MXGPU_STATIC_ASSERT(sizeof(type) == (size))
#define MXGPU_ASSERT_OFFSET(type, member, off)                                 \
    MXGPU_STATIC_ASSERT(offsetof(type, member) == (off))

/* Fields: F is a name with F##_SHIFT and F##_MASK (mask of the width). */
#define MXGPU_GET(F, value) (((value) >> F##_SHIFT) & (uint32_t)F##_MASK)
#define MXGPU_SET(F, field) (((uint32_t)(field) & (uint32_t)F##_MASK) << F##_SHIFT)

#endif
