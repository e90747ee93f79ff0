/* SPDX-License-Identifier: MIT */
/* Pinned memory of the runtime itself, on one device. */
#ifndef MC_CORE_PINNED_H
#define MC_CORE_PINNED_H

#include "core/context/context.h"

typedef struct McPinned {
    void *memory; /* same address on both sides; NULL: nothing */
    uint64_t size;
} McPinned;

/* Zeroed; size a multiple of KMD_PAGE_SIZE. -errno. */
int mc_pinned_new(McContext *ctx, uint64_t size, McPinned *out);
void mc_pinned_free(McContext *ctx, McPinned *pinned);

#endif
