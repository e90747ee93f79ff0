/* SPDX-License-Identifier: MIT */
/*
 * Where kernels of a context find the memory behind addresses of multicast
 * objects, in device memory. The host writes it while no kernel of the context
 * runs that uses what changes.
 */
#ifndef MC_DEVICE_MULTIMEM_H
#define MC_DEVICE_MULTIMEM_H

#include <stdint.h>

#define MC_MULTIMEM_VIEWS 63

/* An object as it is mapped at va: what device n has bound at an offset is at
 * base + n * stride + that offset. */
struct mc_multimem_view {
    uint64_t va, size;
    uint64_t base, stride;
    uint32_t devices; /* of the team, a bit each */
    uint32_t reserved[7];
};

struct mc_multimem {
    uint32_t count;
    uint32_t reserved[15];
    struct mc_multimem_view view[MC_MULTIMEM_VIEWS];
};

#endif
