/* SPDX-License-Identifier: MIT */
/*
 * What a DISPATCH packet and the kernel descriptor that it names must be, and
 * what a slot gets of them. The front end of the command processor and the
 * firmware, which says what is wrong with a packet, both decide by this.
 */
#ifndef MXGPU_DISPATCH_H
#define MXGPU_DISPATCH_H

#ifndef __KERNEL__
#include <stdbool.h>
#endif

#include "kernel.h"
#include "launch.h"
#include "packets.h"

/* Offset of the first field that is out of range, or UINT32_MAX. Type, flags
 * and signal_addr are not looked at. */
static inline uint32_t
mxgpu_dispatch_check(const struct mxgpu_packet_dispatch *p,
                     uint32_t block_threads)
{
    uint32_t xy;

    if (p->args & 15 || (p->flags & MXGPU_PKT_LAUNCHES &&
                         (p->args < MXGPU_LAUNCH_ARGS ||
                          p->args % MXGPU_LAUNCH_ALIGN))) {
        return offsetof(struct mxgpu_packet_dispatch, args);
    }
    for (unsigned i = 0; i < 3; i++) {
        if (!p->grid[i]) {
            return offsetof(struct mxgpu_packet_dispatch, grid) + i * 4;
        }
        if (!p->block[i]) {
            return offsetof(struct mxgpu_packet_dispatch, block) + i * 2;
        }
    }
    /* The product of all three could overflow: the first two come first. */
    xy = (uint32_t)p->block[0] * p->block[1];
    if (xy > block_threads || xy * p->block[2] > block_threads) {
        return offsetof(struct mxgpu_packet_dispatch, block);
    }
    if (p->private_kib > MXGPU_PRIVATE_MAX / 1024) {
        return offsetof(struct mxgpu_packet_dispatch, private_kib);
    }
    return p->reserved ? offsetof(struct mxgpu_packet_dispatch, reserved)
                       : UINT32_MAX;
}

/* Threads of a block of a packet that passed the check. */
static inline uint32_t
mxgpu_dispatch_threads(const struct mxgpu_packet_dispatch *p)
{
    return (uint32_t)p->block[0] * p->block[1] * p->block[2];
}

static inline bool mxgpu_kernel_valid(const struct mxgpu_kernel_desc *desc)
{
    return desc->magic == MXGPU_KERNEL_MAGIC &&
           desc->abi == MXGPU_KERNEL_ABI && !(desc->entry & 1) &&
           desc->registers >= 1 && desc->registers <= 255 &&
           desc->static_shared <= MXGPU_SHARED_MAX &&
           desc->private_bytes <= MXGPU_PRIVATE_MAX &&
           !(desc->flags & ~MXGPU_KERNEL_FP_FLAGS) && !desc->reserved;
}

/* Offset of the field that asks for more than a compute unit has, for a block,
 * or UINT32_MAX. Packet and descriptor have passed their checks. */
static inline uint32_t
mxgpu_dispatch_fits(const struct mxgpu_packet_dispatch *p,
                    const struct mxgpu_kernel_desc *desc, uint32_t registers,
                    uint32_t shared)
{
    uint32_t threads = mxgpu_dispatch_threads(p);

    if ((desc->max_threads && threads > desc->max_threads) ||
        threads * desc->registers > registers) {
        return offsetof(struct mxgpu_packet_dispatch, block);
    }
    if (p->dynamic_shared > shared ||
        desc->static_shared + p->dynamic_shared > shared) {
        return offsetof(struct mxgpu_packet_dispatch, dynamic_shared);
    }
    return UINT32_MAX;
}

/* Stack of a thread: what the packet says, else the default; never less than
 * the kernel is known to need. */
static inline uint32_t
mxgpu_dispatch_private(const struct mxgpu_packet_dispatch *p,
                       const struct mxgpu_kernel_desc *desc)
{
    uint32_t kib = p->private_kib ? p->private_kib : MXGPU_PRIVATE_DEFAULT_KIB;
    uint32_t need = (desc->private_bytes + 1023) & ~1023u;

    return kib * 1024 > need ? kib * 1024 : need;
}

#endif
