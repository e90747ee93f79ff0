/* SPDX-License-Identifier: MIT */
#include "check.h"

#include "base/log.h"
#include "core/mapping/host_memory.h"
#include "core/memory/alloc.h"
#include "core/pool/pool.h"

mcError_t mc_check_context(McContext *ctx, mcError_t error)
{
    /* Memory of a device that is gone cannot be looked at. */
    if (!mc_checking() || !ctx->allocator ||
        !ctx->ops->alive(ctx->kmd, false)) {
        return error;
    }
    bool damaged = mc_device_damaged(ctx->allocator);

    damaged |= ctx->pools && mc_pools_damaged(ctx);
    damaged |= mc_host_damaged();
    if (damaged) {
        mc_context_fail(ctx, mcErrorIllegalAddress);
    }
    return error != mcSuccess ? error : (mcError_t)atomic_load(&ctx->error);
}
