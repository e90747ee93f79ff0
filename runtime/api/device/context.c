/* SPDX-License-Identifier: MIT */
/* Contexts by handles, the stack of the thread, and pairs of devices. */
#include "process/current.h"

#include "api/api.h"
#include "core/context/peer.h"
#include "device.h"

/* CUDA's number for a handle that is none, and for a thread without context. */
#define NO_CONTEXT mcErrorDeviceUninitialized

static void put_ctx(McCtx **ctx)
{
    if (*ctx) {
        mc_ctx_put(*ctx);
    }
}

#define API_CTX(ctx, handle)                                                   \
    McCtx *ctx __attribute__((cleanup(put_ctx))) =                             \
        (handle) ? mc_ctx_get(handle) : NULL;                                  \
    API_CHECK(ctx, NO_CONTEXT)

static bool is_open(int device)
{
    McContext *open = mc_context_peek(device);

    if (open) {
        mc_context_put(open);
    }
    return open;
}

/* What the thread made current; else the primary context, once the thread has
 * chosen its device or that is in use. NULL: neither. */
static McCtx *current(void)
{
    McThread *thread = mc_thread();
    McCtx *top = mc_ctx_top();

    if (top || thread->device >= mc_device_count()) {
        return top;
    }
    return thread->device_chosen || is_open(thread->device)
               ? mc_ctx_primary(thread->device)
               : NULL;
}

/* For calls about the current context. */
static mcError_t check_current(void)
{
    const McCtx *ctx = current();

    return !ctx ? NO_CONTEXT
           : mc_ctx_destroyed(ctx) ? mcErrorContextIsDestroyed
                                   : mcSuccess;
}

/* ---- contexts ---- */

MC_EXPORT mcError_t mcCtxCreate(mcCtx_t *out, unsigned int flags,
                                mcDevice_t device)
{
    API_ENTER("%p, 0x%x, %d", (void *)out, flags, device);
    API_CHECK(out && mc_api_flags_ok(flags), mcErrorInvalidValue);
    McContext *open __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &open));
    McCtx *ctx = mc_ctx_new(device);
    API_CHECK(ctx, mcErrorMemoryAllocation);
    if (!mc_ctx_push(ctx)) {
        mc_ctx_destroy(ctx);
        API_RETURN(mcErrorMemoryAllocation);
    }
    if (flags) {
        mc_device_set_flags(device, flags);
    }
    *out = (mcCtx_t)ctx;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcCtxDestroy(mcCtx_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_CTX(ctx, handle);
    API_CHECK(mc_ctx_destroy(ctx), NO_CONTEXT);
    if (mc_ctx_top() == ctx) {
        mc_ctx_pop();
    }
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcCtxPushCurrent(mcCtx_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_CTX(ctx, handle);
    API_CHECK(mc_ctx_push(ctx), mcErrorMemoryAllocation);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcCtxPopCurrent(mcCtx_t *out)
{
    API_ENTER("%p", (void *)out);
    McCtx *top = mc_ctx_top();
    API_CHECK(top, NO_CONTEXT);
    if (out) {
        *out = (mcCtx_t)top;
    }
    mc_ctx_pop();
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcCtxSetCurrent(mcCtx_t handle)
{
    API_ENTER("%p", (void *)handle);
    if (!handle) {
        if (mc_ctx_top()) {
            mc_ctx_pop();
        }
        API_RETURN(mcSuccess);
    }
    API_CTX(ctx, handle);
    if (mc_ctx_top()) {
        mc_ctx_replace(ctx);
        API_RETURN(mcSuccess);
    }
    API_CHECK(mc_ctx_push(ctx), mcErrorMemoryAllocation);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcCtxGetCurrent(mcCtx_t *out)
{
    API_ENTER("%p", (void *)out);
    API_CHECK(out, mcErrorInvalidValue);
    *out = (mcCtx_t)current();
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcCtxGetDevice(mcDevice_t *device)
{
    API_ENTER("%p", (void *)device);
    API_CHECK(device, mcErrorInvalidValue);
    API_TRY(check_current());
    *device = mc_ctx_device(current());
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcCtxGetFlags(unsigned int *flags)
{
    API_ENTER("%p", (void *)flags);
    API_CHECK(flags, mcErrorInvalidValue);
    API_TRY(check_current());
    return mcGetDeviceFlags(flags);
}

MC_EXPORT mcError_t mcCtxGetApiVersion(mcCtx_t handle, unsigned int *version)
{
    API_ENTER("%p, %p", (void *)handle, (void *)version);
    API_CHECK(version, mcErrorInvalidValue);
    if (handle) {
        API_CTX(ctx, handle);
    } else {
        API_TRY(check_current());
    }
    *version = MACART_VERSION;
    API_RETURN(mcSuccess);
}

/* ---- the same as of the device, if there is a current context ---- */

#define OF_DEVICE(name, device_name, parameters, arguments)                    \
    MC_EXPORT mcError_t name parameters                                        \
    {                                                                          \
        API_ENTER("%s", "");                                                   \
        API_TRY(check_current());                                              \
        return device_name arguments;                                          \
    }

OF_DEVICE(mcCtxSynchronize, mcDeviceSynchronize, (void), ())
OF_DEVICE(mcCtxGetLimit, mcDeviceGetLimit, (size_t *value, mcLimit_t limit),
          (value, limit))
OF_DEVICE(mcCtxSetLimit, mcDeviceSetLimit, (mcLimit_t limit, size_t value),
          (limit, value))
OF_DEVICE(mcCtxGetCacheConfig, mcDeviceGetCacheConfig,
          (mcFuncCache_t *config), (config))
OF_DEVICE(mcCtxSetCacheConfig, mcDeviceSetCacheConfig,
          (mcFuncCache_t config), (config))
OF_DEVICE(mcCtxGetSharedMemConfig, mcDeviceGetSharedMemConfig,
          (mcSharedMemConfig *config), (config))
OF_DEVICE(mcCtxSetSharedMemConfig, mcDeviceSetSharedMemConfig,
          (mcSharedMemConfig config), (config))
OF_DEVICE(mcCtxGetStreamPriorityRange, mcDeviceGetStreamPriorityRange,
          (int *least, int *greatest), (least, greatest))

/* ---- primary contexts ---- */

static atomic_uint retained[MC_MAX_DEVICES];

MC_EXPORT mcError_t mcDevicePrimaryCtxRetain(mcCtx_t *out, mcDevice_t device)
{
    API_ENTER("%p, %d", (void *)out, device);
    API_CHECK(out, mcErrorInvalidValue);
    McContext *open __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &open));
    atomic_fetch_add(&retained[device], 1);
    *out = (mcCtx_t)mc_ctx_primary(device);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDevicePrimaryCtxRelease(mcDevice_t device)
{
    API_ENTER("%d", device);
    API_DEVICE(device);
    unsigned count = atomic_load(&retained[device]);
    while (count && !atomic_compare_exchange_weak(&retained[device], &count,
                                                  count - 1)) {
    }
    API_CHECK(count, NO_CONTEXT);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDevicePrimaryCtxGetState(mcDevice_t device,
                                               unsigned int *flags,
                                               int *active)
{
    API_ENTER("%d, %p, %p", device, (void *)flags, (void *)active);
    API_CHECK(flags && active, mcErrorInvalidValue);
    API_DEVICE(device);
    *flags = mc_device_flags(device);
    *active = is_open(device);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDevicePrimaryCtxSetFlags(mcDevice_t device,
                                               unsigned int flags)
{
    API_ENTER("%d, 0x%x", device, flags);
    API_DEVICE(device);
    API_CHECK(mc_api_flags_ok(flags), mcErrorInvalidValue);
    API_RETURN(mc_device_set_flags(device, flags));
}

MC_EXPORT mcError_t mcDevicePrimaryCtxReset(mcDevice_t device)
{
    API_ENTER("%d", device);
    API_DEVICE(device);
    mc_thread()->last_error = mcSuccess;
    API_RETURN(mc_context_reset(device));
}

/* ---- pairs of devices ---- */

static mcError_t enable(int device, int other)
{
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    McContext *peer __attribute__((cleanup(mc_api_put_context))) = NULL;
    mcError_t error = mc_api_device(device, &ctx);

    if (error == mcSuccess) {
        error = mc_api_device(other, &peer);
    }
    return error != mcSuccess ? error : mc_peer_enable(ctx, peer);
}

/* Work that may use the memory is waited for. */
static mcError_t disable(int device, int other)
{
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;

    if (device == other || !mc_peer_sees(device, other)) {
        return mcErrorPeerAccessNotEnabled;
    }
    mcError_t error = mc_api_device(device, &ctx);
    if (error == mcSuccess) {
        error = mc_context_sync(ctx);
    }
    return error != mcSuccess ? error : mc_peer_disable(ctx, other);
}

MC_EXPORT mcError_t mcDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    int device = mc_thread()->device;

    API_ENTER("%d, 0x%x", peer, flags);
    API_CHECK(flags == 0, mcErrorInvalidValue);
    API_DEVICE(peer);
    API_CHECK(peer != device, mcErrorInvalidDevice);
    API_RETURN(enable(device, peer));
}

MC_EXPORT mcError_t mcDeviceDisablePeerAccess(int peer)
{
    int device = mc_thread()->device;

    API_ENTER("%d", peer);
    API_DEVICE(peer);
    API_CHECK(peer != device, mcErrorInvalidDevice);
    API_RETURN(disable(device, peer));
}

/* Contexts of one device have the same memory: there is nothing to enable. */
MC_EXPORT mcError_t mcCtxEnablePeerAccess(mcCtx_t handle, unsigned int flags)
{
    API_ENTER("%p, 0x%x", (void *)handle, flags);
    API_CHECK(flags == 0, mcErrorInvalidValue);
    API_TRY(check_current());
    API_CTX(peer, handle);
    int device = mc_ctx_device(current()), other = mc_ctx_device(peer);
    API_CHECK(device != other, NO_CONTEXT);
    API_RETURN(enable(device, other));
}

MC_EXPORT mcError_t mcCtxDisablePeerAccess(mcCtx_t handle)
{
    API_ENTER("%p", (void *)handle);
    API_TRY(check_current());
    API_CTX(peer, handle);
    API_RETURN(disable(mc_ctx_device(current()), mc_ctx_device(peer)));
}
