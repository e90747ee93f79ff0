/* SPDX-License-Identifier: MIT */
#include "pinned.h"

int mc_pinned_new(McContext *ctx, uint64_t size, McPinned *out)
{
    void *memory;
    int err = ctx->ops->shared_alloc(ctx->kmd, size, &memory);

    if (!err) {
        *out = (McPinned){.memory = memory, .size = size};
    }
    return err;
}

void mc_pinned_free(McContext *ctx, McPinned *pinned)
{
    if (pinned->memory) {
        ctx->ops->shared_free(ctx->kmd, pinned->memory, pinned->size);
        pinned->memory = NULL;
    }
}
