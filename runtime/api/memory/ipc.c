/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <string.h>

#include "core/mapping/foreign.h"
#include "core/memory/alloc.h"

_Static_assert(sizeof(mcIpcMemHandle_t) == sizeof(McToken) &&
                   sizeof(mcIpcEventHandle_t) == sizeof(McToken),
               "tokens");

MC_EXPORT mcError_t mcIpcGetMemHandle(mcIpcMemHandle_t *handle, void *ptr)
{
    McRange range;
    McToken token;

    API_ENTER("%p, %p", (void *)handle, ptr);
    API_CHECK(handle && mc_range_find((uintptr_t)ptr, &range) &&
              range.kind == MC_RANGE_DEVICE, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(range.device, &ctx));
    API_TRY(mc_device_share(ctx, range.base, &token));
    memcpy(handle, &token, sizeof(token));
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcIpcOpenMemHandle(void **ptr, mcIpcMemHandle_t handle,
                                       unsigned int flags)
{
    McToken token;
    McShare share;
    uint64_t va;

    API_ENTER("%p, ..., 0x%x", (void *)ptr, flags);
    API_CHECK(ptr && flags == mcIpcMemLazyEnablePeerAccess,
              mcErrorInvalidValue);
    API_CONTEXT(ctx);
    memcpy(&token, &handle, sizeof(token));
    if (!mc_foreign_again(ctx, &token, &va)) {
        API_TRY(mc_directory_open(MC_RECORD_MEMORY, &token, &share));
        mcError_t error = mc_foreign_map(ctx, &share, MC_RANGE_IPC, &token,
                                         &va);
        mc_share_close(&share);
        API_TRY(error);
    }
    *ptr = (void *)(uintptr_t)va;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcIpcCloseMemHandle(void *ptr)
{
    API_ENTER("%p", ptr);
    API_RETURN(mc_foreign_unmap((uintptr_t)ptr, MC_RANGE_IPC));
}

MC_EXPORT mcError_t mcIpcGetEventHandle(mcIpcEventHandle_t *handle,
                                        mcEvent_t event_handle)
{
    McToken token;

    API_ENTER("%p, %p", (void *)handle, (void *)event_handle);
    API_CHECK(handle, mcErrorInvalidValue);
    API_OBJECT(McEvent, event, event_handle, MC_HANDLE_EVENT,
               mcErrorInvalidResourceHandle);
    API_CHECK(event->shared, mcErrorInvalidResourceHandle);
    API_CHECK(mc_shared_event_token(event->shared, &token),
              mcErrorMemoryAllocation);
    memcpy(handle, &token, sizeof(token));
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcIpcOpenEventHandle(mcEvent_t *out,
                                         mcIpcEventHandle_t handle)
{
    McSharedEvent *shared;
    McEvent *event;
    McToken token;
    McShare share;

    API_ENTER("%p, ...", (void *)out);
    API_CHECK(out, mcErrorInvalidValue);
    API_CONTEXT(ctx);
    memcpy(&token, &handle, sizeof(token));
    API_TRY(mc_directory_open(MC_RECORD_EVENT, &token, &share));
    mcError_t error = mc_shared_event_open(&share, &shared);
    mc_share_close(&share);
    API_TRY(error);
    API_TRY(mc_event_import(ctx, shared, &event));
    *out = (mcEvent_t)event;
    API_RETURN(mcSuccess);
}
