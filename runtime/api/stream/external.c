/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <stdlib.h>

#include "core/mapping/external.h"
#include "core/mapping/foreign.h"

/* ---- memory ---- */

MC_EXPORT mcError_t mcImportExternalMemory(
    mcExternalMemory_t *out, const mcExternalMemoryHandleDesc *desc)
{
    McExternalMemory *memory;

    API_ENTER("%p, %p", (void *)out, (const void *)desc);
    API_CHECK(out && desc, mcErrorInvalidValue);
    mcExternalMemoryHandleDesc d = *desc;
    API_CHECK((int)d.type >= mcExternalMemoryHandleTypeOpaqueFd &&
              d.type <= mcExternalMemoryHandleTypeNvSciBuf, mcErrorInvalidValue);
    API_CHECK(d.type == mcExternalMemoryHandleTypeOpaqueFd,
              mcErrorNotSupported);
    API_CHECK(d.size && d.handle.fd >= 0 &&
              !(d.flags & ~(unsigned)mcExternalMemoryDedicated),
              mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_TRY(mc_external_memory_new(ctx, d.handle.fd, d.size, &memory));
    *out = (mcExternalMemory_t)memory;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDestroyExternalMemory(mcExternalMemory_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_OBJECT(McExternalMemory, memory, handle, MC_HANDLE_EXTERNAL_MEMORY,
               mcErrorInvalidResourceHandle);
    API_CHECK(mc_handle_remove(memory), mcErrorInvalidResourceHandle);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcExternalMemoryGetMappedBuffer(
    void **ptr, mcExternalMemory_t handle,
    const mcExternalMemoryBufferDesc *desc)
{
    uint64_t va;

    API_ENTER("%p, %p, %p", (void *)ptr, (void *)handle, (const void *)desc);
    API_CHECK(ptr && desc, mcErrorInvalidValue);
    mcExternalMemoryBufferDesc d = *desc;
    API_CHECK(d.flags == 0, mcErrorInvalidValue);
    API_OBJECT(McExternalMemory, memory, handle, MC_HANDLE_EXTERNAL_MEMORY,
               mcErrorInvalidResourceHandle);
    API_TRY(mc_external_memory_map(memory, d.offset, d.size, &va));
    *ptr = (void *)(uintptr_t)va;
    API_RETURN(mcSuccess);
}

/* ---- semaphores ---- */

MC_EXPORT mcError_t mcImportExternalSemaphore(
    mcExternalSemaphore_t *out, const mcExternalSemaphoreHandleDesc *desc)
{
    McExternalSemaphore *semaphore;

    API_ENTER("%p, %p", (void *)out, (const void *)desc);
    API_CHECK(out && desc, mcErrorInvalidValue);
    mcExternalSemaphoreHandleDesc d = *desc;
    bool timeline = d.type == mcExternalSemaphoreHandleTypeTimelineSemaphoreFd;
    API_CHECK((int)d.type >= mcExternalSemaphoreHandleTypeOpaqueFd &&
              d.type <= mcExternalSemaphoreHandleTypeTimelineSemaphoreWin32,
              mcErrorInvalidValue);
    API_CHECK(timeline || d.type == mcExternalSemaphoreHandleTypeOpaqueFd,
              mcErrorNotSupported);
    API_CHECK(d.handle.fd >= 0 && d.flags == 0, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    API_TRY(mc_external_semaphore_new(ctx, d.handle.fd, timeline, &semaphore));
    *out = (mcExternalSemaphore_t)semaphore;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDestroyExternalSemaphore(mcExternalSemaphore_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_OBJECT(McExternalSemaphore, semaphore, handle,
               MC_HANDLE_EXTERNAL_SEMAPHORE, mcErrorInvalidResourceHandle);
    API_CHECK(mc_handle_remove(semaphore), mcErrorInvalidResourceHandle);
    API_RETURN(mcSuccess);
}

/* Objects that are held while their work is submitted. */
typedef struct Batch {
    unsigned count;
    McExternalSemaphore **held;
    McSemaphoreOp *ops;
} Batch;

static void batch_end(Batch *batch)
{
    while (batch->count) {
        mc_handle_put(batch->held[--batch->count]);
    }
    free(batch->held);
    free(batch->ops);
}

static mcError_t batch_begin(Batch *batch, unsigned most)
{
    batch->count = 0;
    batch->held = calloc(most, sizeof(*batch->held));
    batch->ops = calloc(most, sizeof(*batch->ops));
    return batch->held && batch->ops ? mcSuccess : mcErrorMemoryAllocation;
}

static mcError_t batch_add(Batch *batch, mcExternalSemaphore_t handle,
                           uint64_t value, unsigned flags)
{
    McExternalSemaphore *s =
        handle ? mc_handle_get(handle, MC_HANDLE_EXTERNAL_SEMAPHORE) : NULL;

    if (!s) {
        return mcErrorInvalidResourceHandle;
    }
    batch->ops[batch->count] = (McSemaphoreOp){s->semaphore, value};
    batch->held[batch->count++] = s;
    return flags ? mcErrorInvalidValue : mcSuccess;
}

MC_EXPORT mcError_t mcSignalExternalSemaphoresAsync(
    const mcExternalSemaphore_t *handles,
    const mcExternalSemaphoreSignalParams *params, unsigned int count,
    mcStream_t stream_handle)
{
    Batch batch __attribute__((cleanup(batch_end))) = {0};

    API_ENTER("%p, %p, %u, %p", (const void *)handles, (const void *)params,
              count, (void *)stream_handle);
    API_CHECK(!count || (handles && params), mcErrorInvalidValue);
    API_STREAM(stream, stream_handle);
    if (!count) {
        API_RETURN(mcSuccess);
    }
    API_TRY(batch_begin(&batch, count));
    for (unsigned i = 0; i < count; i++) {
        mcExternalSemaphoreSignalParams p = params[i];

        API_TRY(batch_add(&batch, handles[i], p.params.fence.value, p.flags));
    }
    if (mc_capturing(stream)) {
        McNodeParams node = {
            .type = mcGraphNodeTypeExtSemaphoreSignal,
            .device = stream->ctx->device,
            .signal = {(mcExternalSemaphore_t *)handles, params, count},
        };

        API_RETURN(mc_capture_node(stream, &node));
    }
    API_RETURN(mc_semaphores_signal(stream, batch.ops, count));
}

MC_EXPORT mcError_t mcWaitExternalSemaphoresAsync(
    const mcExternalSemaphore_t *handles,
    const mcExternalSemaphoreWaitParams *params, unsigned int count,
    mcStream_t stream_handle)
{
    Batch batch __attribute__((cleanup(batch_end))) = {0};

    API_ENTER("%p, %p, %u, %p", (const void *)handles, (const void *)params,
              count, (void *)stream_handle);
    API_CHECK(!count || (handles && params), mcErrorInvalidValue);
    API_STREAM(stream, stream_handle);
    if (!count) {
        API_RETURN(mcSuccess);
    }
    API_TRY(batch_begin(&batch, count));
    for (unsigned i = 0; i < count; i++) {
        mcExternalSemaphoreWaitParams p = params[i];

        API_TRY(batch_add(&batch, handles[i], p.params.fence.value, p.flags));
    }
    if (mc_capturing(stream)) {
        McNodeParams node = {
            .type = mcGraphNodeTypeExtSemaphoreWait,
            .device = stream->ctx->device,
            .wait = {(mcExternalSemaphore_t *)handles, params, count},
        };

        API_RETURN(mc_capture_node(stream, &node));
    }
    API_RETURN(mc_semaphores_wait(stream, batch.ops, count));
}
