/* SPDX-License-Identifier: MIT */
#include "device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/log.h"
#include "core/context/peer.h"
#include "mxgpu/launch.h"
#include "process/current.h"
#include "properties.h"
#include "services/services.h"

MC_EXPORT mcError_t mcInit(unsigned int flags)
{
    API_ENTER("0x%x", flags);
    API_CHECK(flags == 0, mcErrorInvalidValue);
    API_RETURN(mcSuccess);
}

/* ---- which device ---- */

MC_EXPORT mcError_t mcGetDeviceCount(int *count)
{
    if (count) {
        *count = 0;
    }
    API_ENTER("%p", (void *)count);
    API_CHECK(count, mcErrorInvalidValue);
    *count = mc_device_count();
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceGetCount(int *count)
{
    return mcGetDeviceCount(count);
}

MC_EXPORT mcError_t mcGetDevice(int *device)
{
    API_ENTER("%p", (void *)device);
    API_CHECK(device, mcErrorInvalidValue);
    *device = mc_thread()->device;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcSetDevice(int device)
{
    McThread *thread = mc_thread();

    API_ENTER("%d", device);
    API_DEVICE(device);
    thread->device_chosen = true;
    if (mc_ctx_top()) {
        mc_ctx_replace(mc_ctx_primary(device));
    } else {
        thread->device = device;
    }
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcSetValidDevices(int *devices, int count)
{
    API_ENTER("%p, %d", (void *)devices, count);
    API_RETURN(mc_set_valid_devices(devices, count));
}

MC_EXPORT mcError_t mcDeviceGet(mcDevice_t *device, int ordinal)
{
    API_ENTER("%p, %d", (void *)device, ordinal);
    API_CHECK(device, mcErrorInvalidValue);
    API_DEVICE(ordinal);
    *device = ordinal;
    API_RETURN(mcSuccess);
}

bool mc_api_flags_ok(unsigned flags)
{
    unsigned schedule = flags & mcDeviceScheduleMask;

    return !(flags & ~(unsigned)(mcDeviceScheduleMask | mcDeviceMapHost |
                                 mcDeviceLmemResizeToMax)) &&
           (schedule & (schedule - 1)) == 0;
}

MC_EXPORT mcError_t mcSetDeviceFlags(unsigned int flags)
{
    API_ENTER("0x%x", flags);
    API_CHECK(mc_api_flags_ok(flags), mcErrorInvalidValue);
    API_RETURN(mc_device_set_flags(mc_thread()->device, flags));
}

MC_EXPORT mcError_t mcGetDeviceFlags(unsigned int *flags)
{
    API_ENTER("%p", (void *)flags);
    API_CHECK(flags, mcErrorInvalidValue);
    /* Host memory is always mapped. */
    *flags = mc_device_flags(mc_thread()->device) | mcDeviceMapHost;
    API_RETURN(mcSuccess);
}

/* ---- the device as a whole ---- */

MC_EXPORT mcError_t mcDeviceSynchronize(void)
{
    API_ENTER("%s", "");
    API_CONTEXT(ctx);
    API_TRY(mc_capture_device(ctx));
    API_UNSAFE();
    API_RETURN(mc_context_sync(ctx));
}

MC_EXPORT mcError_t mcDeviceReset(void)
{
    API_ENTER("%s", "");
    mc_thread()->last_error = mcSuccess;
    API_RETURN(mc_context_reset(mc_thread()->device));
}

MC_EXPORT mcError_t mcDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    API_ENTER("%p, %p", (void *)least, (void *)greatest);
    API_CONTEXT(ctx);
    if (least) {
        *least = 0;
    }
    if (greatest) {
        *greatest = ctx->info.priorities ? 1 - (int)ctx->info.priorities : 0;
    }
    API_RETURN(mcSuccess);
}

/* Sizes that may be set; the other limits do not exist. */
static bool limit_exists(mcLimit_t limit)
{
    return limit == mcLimitStackSize || limit == mcLimitPrintfFifoSize ||
           limit == mcLimitMallocHeapSize ||
           limit == mcLimitDevRuntimeSyncDepth ||
           limit == mcLimitDevRuntimePendingLaunchCount;
}

MC_EXPORT mcError_t mcDeviceGetLimit(size_t *value, mcLimit_t limit)
{
    API_ENTER("%p, %d", (void *)value, (int)limit);
    API_CHECK(value && (unsigned)limit < mcLimitMax, mcErrorInvalidValue);
    API_CHECK(limit_exists(limit), mcErrorUnsupportedLimit);
    API_CONTEXT(ctx);
    *value = limit == mcLimitStackSize ? atomic_load(&ctx->stack)
             : limit == mcLimitPrintfFifoSize
                 ? mc_services_fifo(ctx->services)
             : limit == mcLimitDevRuntimeSyncDepth
                 ? mc_services_sync_depth(ctx->services)
             : limit == mcLimitDevRuntimePendingLaunchCount
                 ? mc_services_launches(ctx->services)
                 : mc_services_heap(ctx->services);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceSetLimit(mcLimit_t limit, size_t value)
{
    API_ENTER("%d, %zu", (int)limit, value);
    API_CHECK((unsigned)limit < mcLimitMax, mcErrorInvalidValue);
    API_CHECK(limit_exists(limit), mcErrorUnsupportedLimit);
    API_CHECK(limit != mcLimitStackSize || value <= MXGPU_PRIVATE_MAX,
              mcErrorInvalidValue);
    API_CONTEXT(ctx);
    if (limit == mcLimitPrintfFifoSize) {
        API_RETURN(mc_services_set_fifo(ctx->services, value));
    }
    if (limit == mcLimitMallocHeapSize) {
        API_RETURN(mc_services_set_heap(ctx->services, value));
    }
    if (limit == mcLimitDevRuntimeSyncDepth) {
        API_RETURN(mc_services_set_sync_depth(ctx->services, value));
    }
    if (limit == mcLimitDevRuntimePendingLaunchCount) {
        API_RETURN(mc_services_set_launches(ctx->services, value));
    }
    value = (value + 1023) & ~(size_t)1023;
    if (value * ctx->info.warp_size > ctx->info.cu_private) {
        mc_error("stacks of %zu bytes: a compute unit has %llu bytes for all "
                 "threads, at least %u of them", value,
                 (unsigned long long)ctx->info.cu_private, ctx->info.warp_size);
        API_RETURN(mcErrorMemoryAllocation);
    }
    atomic_store(&ctx->stack, value ? value : 1024);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceSetCacheConfig(mcFuncCache_t config)
{
    API_ENTER("%d", (int)config);
    API_CHECK((unsigned)config <= mcFuncCachePreferEqual, mcErrorInvalidValue);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceGetCacheConfig(mcFuncCache_t *config)
{
    API_ENTER("%p", (void *)config);
    API_CHECK(config, mcErrorInvalidValue);
    *config = mcFuncCachePreferNone;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceGetSharedMemConfig(mcSharedMemConfig *config)
{
    API_ENTER("%p", (void *)config);
    API_CHECK(config, mcErrorInvalidValue);
    *config = mcSharedMemBankSizeFourByte;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceSetSharedMemConfig(mcSharedMemConfig config)
{
    API_ENTER("%d", (int)config);
    API_CHECK((unsigned)config <= mcSharedMemBankSizeEightByte,
              mcErrorInvalidValue);
    API_RETURN(mcSuccess);
}

/* ---- identity ---- */

MC_EXPORT mcError_t mcDeviceGetUuid(mcUuid_t *uuid, mcDevice_t device)
{
    API_ENTER("%p, %d", (void *)uuid, device);
    API_CHECK(uuid, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    memcpy(uuid->bytes, ctx->info.uuid, sizeof(uuid->bytes));
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceGetLuid(char *luid, unsigned int *mask,
                                    mcDevice_t device)
{
    API_ENTER("%p, %p, %d", (void *)luid, (void *)mask, device);
    API_CHECK(luid && mask, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    for (unsigned i = 0; i < 8; i++) {
        luid[i] = (char)(ctx->info.uuid[i] ^ ctx->info.uuid[i + 8]);
    }
    *mask = 1;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceGetName(char *name, int len, mcDevice_t device)
{
    API_ENTER("%p, %d, %d", (void *)name, len, device);
    API_CHECK(name && len > 0, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    snprintf(name, len, "%s", ctx->info.name);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceTotalMem(size_t *total, mcDevice_t device)
{
    API_ENTER("%p, %d", (void *)total, device);
    API_CHECK(total, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    uint64_t unused, bytes;
    ctx->ops->memory(ctx->kmd, &unused, &bytes);
    *total = bytes;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceGetPCIBusId(char *text, int len, int device)
{
    char id[32];

    API_ENTER("%p, %d, %d", (void *)text, len, device);
    API_CHECK(text && len > 0, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    int n = snprintf(id, sizeof(id), "%04x:%02x:%02x.%x",
                     ctx->info.pci_domain, ctx->info.pci_bus,
                     ctx->info.pci_device, ctx->info.pci_function);
    if (n >= len) {
        text[0] = '\0'; /* a string in any case */
        API_RETURN(mcErrorInvalidValue);
    }
    memcpy(text, id, n + 1);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDeviceGetByPCIBusId(int *out, const char *text)
{
    unsigned domain = 0, bus, slot, function = 0;
    int used = 0;

    API_ENTER("%p, %s", (void *)out, text ? text : "NULL");
    API_CHECK(out && text, mcErrorInvalidValue);
    /* [domain:]bus:device[.function] */
    bool ok = sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function,
                     &used) >= 3;
    if (!ok) {
        domain = function = 0;
        ok = sscanf(text, "%x:%x.%x%n", &bus, &slot, &function, &used) >= 2;
    }
    API_CHECK(ok, mcErrorInvalidValue);
    for (int i = 0; i < mc_device_count(); i++) {
        McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;

        API_TRY(mc_api_device(i, &ctx));
        if (ctx->info.pci_domain == domain && ctx->info.pci_bus == bus &&
            ctx->info.pci_device == slot &&
            ctx->info.pci_function == function) {
            *out = i;
            API_RETURN(mcSuccess);
        }
    }
    API_RETURN(mcErrorInvalidDevice);
}

/* ---- properties ---- */

MC_EXPORT mcError_t mcGetDeviceProperties(mcDeviceProp_t *prop, int device)
{
    API_ENTER("%p, %d", (void *)prop, device);
    API_CHECK(prop, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    mc_api_properties(ctx, prop);
    API_RETURN(mcSuccess);
}

static mcError_t reaches(int device, int other, int *yes);

MC_EXPORT mcError_t mcDeviceGetAttribute(int *value, mcDeviceAttribute_t which,
                                         int device)
{
    mcDeviceProp_t prop;

    API_ENTER("%p, %d, %d", (void *)value, (int)which, device);
    API_CHECK(value, mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(device, &ctx));
    if (which == mcDeviceAttributeMulticastSupported) {
        int count = mc_device_count(); /* all are alike */

        *value = 1;
        API_RETURN(count == 1 ? mcSuccess
                              : reaches(device, (device + 1) % count, value));
    }
    mc_api_properties(ctx, &prop);
    API_CHECK(mc_api_attribute(ctx, &prop, which, value), mcErrorInvalidValue);
    API_RETURN(mcSuccess);
}

/* A point for every wish that a device meets. */
static unsigned score(const mcDeviceProp_t *have, const mcDeviceProp_t *want)
{
    unsigned points = 0;

#define AT_LEAST(member) (want->member && have->member >= want->member)
    points += want->name[0] && strcmp(have->name, want->name) == 0;
    points += AT_LEAST(totalGlobalMem);
    points += AT_LEAST(sharedMemPerBlock);
    points += AT_LEAST(regsPerBlock);
    points += want->warpSize && have->warpSize == want->warpSize;
    points += AT_LEAST(maxThreadsPerBlock);
    points += want->major && (have->major > want->major ||
                              (have->major == want->major &&
                               have->minor >= want->minor));
    points += AT_LEAST(multiProcessorCount);
    points += AT_LEAST(asyncEngineCount);
#undef AT_LEAST
    return points;
}

MC_EXPORT mcError_t mcChooseDevice(int *device, const mcDeviceProp_t *want)
{
    unsigned best = 0;

    API_ENTER("%p, %p", (void *)device, (const void *)want);
    API_CHECK(device && want, mcErrorInvalidValue);
    *device = 0;
    for (int i = 0; i < mc_device_count(); i++) {
        McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
        mcDeviceProp_t have;

        API_TRY(mc_api_device(i, &ctx));
        mc_api_properties(ctx, &have);
        if (score(&have, want) > best) {
            best = score(&have, want);
            *device = i;
        }
    }
    API_RETURN(mcSuccess);
}

/* ---- pairs of devices ---- */

static bool is_pair(int a, int b)
{
    return mc_api_is_device(a) && mc_api_is_device(b);
}

/* What one does to its own memory it does to another one's, atomics too; if it
 * gets there at all. */
static mcError_t reaches(int device, int other, int *yes)
{
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    McContext *peer __attribute__((cleanup(mc_api_put_context))) = NULL;
    mcError_t error = mc_api_device(device, &ctx);

    if (error == mcSuccess) {
        error = mc_api_device(other, &peer);
    }
    if (error == mcSuccess) {
        *yes = mc_peer_reaches(ctx, peer);
    }
    return error;
}

MC_EXPORT mcError_t mcDeviceCanAccessPeer(int *can, int device, int peer)
{
    API_ENTER("%p, %d, %d", (void *)can, device, peer);
    API_CHECK(can, mcErrorInvalidValue);
    API_CHECK(is_pair(device, peer), mcErrorInvalidDevice);
    API_RETURN(reaches(device, peer, can));
}

MC_EXPORT mcError_t mcDeviceGetP2PAttribute(int *value, mcDeviceP2PAttr which,
                                            int source, int target)
{
    API_ENTER("%p, %d, %d, %d", (void *)value, (int)which, source, target);
    API_CHECK(value && which >= mcDevP2PAttrPerformanceRank &&
              which <= mcDevP2PAttrMcArrayAccessSupported,
              mcErrorInvalidValue);
    API_CHECK(is_pair(source, target) && source != target,
              mcErrorInvalidDevice);
    API_TRY(reaches(source, target, value));
    if (which == mcDevP2PAttrPerformanceRank) {
        *value = 0; /* all are alike */
    }
    API_RETURN(mcSuccess);
}

/* ---- versions ---- */

MC_EXPORT mcError_t mcRuntimeGetVersion(int *version)
{
    API_NOTE("%p", (void *)version);
    API_CHECK(version, mcErrorInvalidValue);
    *version = MACART_VERSION;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDriverGetVersion(int *version)
{
    API_NOTE("%p", (void *)version);
    API_CHECK(version, mcErrorInvalidValue);
    *version = mc_runtime_gate() == mcSuccess &&
                       mc_runtime_init() == mcSuccess
                   ? MACART_VERSION
                   : 0;
    API_RETURN(mcSuccess);
}
