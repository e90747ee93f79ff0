/* SPDX-License-Identifier: MIT */
/* What is known of addresses. */
#include <string.h>

#include "api/api.h"
#include "core/context/peer.h"
#include "core/mapping/vmm.h"
#include "core/memory/alloc.h"
#include "core/memory/range.h"
#include "core/memory/reserve.h"
#include "core/pool/pool_alloc.h"
#include "core/pool/pool_share.h"
#include "process/current.h"

MC_EXPORT mcError_t mcPointerGetAttributes(mcPointerAttribute_t *out,
                                           const void *ptr)
{
    McRange range;

    API_ENTER("%p, %p", (void *)out, ptr);
    API_CHECK(out && ptr, mcErrorInvalidValue);
    if (!mc_range_find((uintptr_t)ptr, &range)) {
        *out = (mcPointerAttribute_t){
            .type = mcMemoryTypeUnregistered,
            .device = mcInvalidDeviceId,
            .hostPointer = (void *)(uintptr_t)ptr,
        };
        API_RETURN(mcSuccess);
    }
    if (range.kind == MC_RANGE_MAPPED) {
        *out = (mcPointerAttribute_t){
            .type = range.device < 0 ? mcMemoryTypeHost : mcMemoryTypeDevice,
            .device = range.device, /* -1: mcCpuDeviceId */
            .devicePointer = range.reach ? (void *)(uintptr_t)ptr : NULL,
            .hostPointer = range.cpu ? (void *)(uintptr_t)ptr : NULL,
        };
        API_RETURN(mcSuccess);
    }
    bool host = mc_range_is_host(&range);
    bool managed = range.kind == MC_RANGE_MANAGED;
    *out = (mcPointerAttribute_t){
        .type = managed ? mcMemoryTypeManaged
                : host  ? mcMemoryTypeHost
                        : mcMemoryTypeDevice,
        .device = range.device,
        .devicePointer = (void *)(uintptr_t)ptr,
        .hostPointer = host ? (void *)(uintptr_t)ptr : NULL,
        .isManaged = managed,
        .allocationFlags = range.flags,
    };
    API_RETURN(mcSuccess);
}

/* ---- one by one ---- */

typedef union Value {
    void *pointer;
    unsigned long long number;
    unsigned word;
} Value;

/* What belongs to another device: whether that lets this one. */
static bool peer_reaches(const McRange *range, int device)
{
    bool yes = false;

    if (range->kind == MC_RANGE_DEVICE) {
        return mc_peer_sees(device, range->device);
    }
    McContext *ctx = range->kind == MC_RANGE_POOL
                         ? mc_context_peek(range->device)
                         : NULL;
    if (ctx) {
        yes = mc_pool_seen(ctx, range->base, device);
        mc_context_put(ctx);
    }
    return yes;
}

/* Whether kernels of the current device get at it, and how. */
static mcMemAccessFlags access_of(const McRange *range)
{
    mcMemAccessFlags flags = mcMemAccessFlagsProtNone;
    int device = mc_thread()->device;

    if (range->kind == MC_RANGE_MAPPED) {
        return mc_vmm_get_access(range->base, device, &flags) == mcSuccess
                   ? flags
                   : mcMemAccessFlagsProtNone;
    }
    if (range->kind == MC_RANGE_REGISTERED &&
        range->flags & mcHostRegisterReadOnly) {
        return mcMemAccessFlagsProtRead;
    }
    return mc_range_is_host(range) || range->device == device ||
                   peer_reaches(range, device)
               ? mcMemAccessFlagsProtReadWrite
               : mcMemAccessFlagsProtNone;
}

static bool host_reaches(const McRange *range)
{
    return range->kind == MC_RANGE_MAPPED ? range->cpu
                                          : mc_range_is_host(range);
}

/* Bits of what it can be exported by. */
static uint64_t handle_types(const McRange *range)
{
    mcMemAllocationProp prop = {.type = mcMemAllocationTypeInvalid};
    uint64_t handle;

    if (range->kind == MC_RANGE_POOL) {
        McContext *ctx = mc_context_peek(range->device);

        if (ctx) {
            prop.requestedHandleTypes = mc_pool_handle_type(ctx, range->base);
            mc_context_put(ctx);
        }
    }
    if (range->kind == MC_RANGE_MAPPED &&
        mc_vmm_retain(range->base, &handle) == mcSuccess) {
        mc_memory_prop(handle, &prop);
        mc_memory_release(handle);
    }
    return prop.requestedHandleTypes;
}

/* What an address can be added to: all of a reservation, or the allocation. */
static void reach_of(const McRange *range, uint64_t *start, uint64_t *size)
{
    if (range->kind != MC_RANGE_MAPPED ||
        !mc_reservation_find(range->base, start, size)) {
        *start = range->base;
        *size = range->size;
    }
}

/* Whether mcIpcGetMemHandle takes it. */
static bool ipc_capable(const McRange *range)
{
    McContext *ctx = range->kind == MC_RANGE_DEVICE
                         ? mc_context_peek(range->device)
                         : NULL;
    bool yes = ctx && mc_device_can_share(ctx, range->base);

    if (ctx) {
        mc_context_put(ctx);
    }
    return yes;
}

static mcMemPool_t pool_of(const McRange *range)
{
    mcMemPool_t pool = NULL;
    McContext *ctx = range->kind == MC_RANGE_POOL
                         ? mc_context_peek(range->device)
                         : NULL;

    if (ctx) {
        pool = mc_pool_at(ctx, range->base);
        mc_context_put(ctx);
    }
    return pool;
}

static bool memory_type(const McRange *range, Value *value)
{
    bool host = range->kind == MC_RANGE_MAPPED
                    ? range->device < 0
                    : mc_range_is_host(range) &&
                          range->kind != MC_RANGE_MANAGED;

    value->word = host ? mcMemoryTypeHost : mcMemoryTypeDevice;
    return true;
}

/* Those of four bytes. */
static bool word_of(const McRange *range, mcPointer_attribute attribute,
                    Value *value)
{
    switch ((int)attribute) {
    case mcPointerAttributeMemoryType:
        return memory_type(range, value);
    case mcPointerAttributeSyncMemops:
        value->word = range->sync;
        return true;
    case mcPointerAttributeIsManaged:
        value->word = range->kind == MC_RANGE_MANAGED;
        return true;
    case mcPointerAttributeDevice:
        value->word = range->device;
        return true;
    case mcPointerAttributeMapped:
        value->word = range->id != 0;
        return true;
    case mcPointerAttributeIsLegacyIpcCapable:
        value->word = ipc_capable(range);
        return true;
    case mcPointerAttributeIsGpuDirectRdmaCapable:
        value->word = 0;
        return true;
    case mcPointerAttributeAccessFlags:
        value->word = access_of(range);
        return true;
    default:
        return false;
    }
}

/* *size: bytes of the value. False: the range has none. */
static bool value_of(const McRange *range, uint64_t address,
                     mcPointer_attribute attribute, Value *value, size_t *size)
{
    uint64_t start, bytes;

    *size = sizeof(value->word);
    if (word_of(range, attribute, value)) {
        return true;
    }
    *size = sizeof(value->number);
    switch ((int)attribute) {
    case mcPointerAttributeContext:
        value->pointer = range->device < 0 ? NULL
                                           : mc_ctx_primary(range->device);
        return range->device >= 0;
    case mcPointerAttributeDevicePointer:
        value->number = address;
        return access_of(range) != mcMemAccessFlagsProtNone;
    case mcPointerAttributeHostPointer:
        value->number = address;
        return host_reaches(range);
    case mcPointerAttributeBufferId:
    case mcPointerAttributeMemoryBlockId:
        value->number = range->id;
        return true;
    case mcPointerAttributeRangeStartAddr:
        reach_of(range, &start, &bytes);
        value->number = start;
        return true;
    case mcPointerAttributeRangeSize:
        reach_of(range, &start, &bytes);
        value->number = bytes;
        return true;
    case mcPointerAttributeMappingBaseAddr:
        value->number = range->base;
        return true;
    case mcPointerAttributeMappingSize:
        value->number = range->size;
        return true;
    case mcPointerAttributeAllowedHandleTypes:
        value->number = handle_types(range);
        return true;
    case mcPointerAttributeMempoolHandle:
        value->pointer = pool_of(range);
        return true;
    }
    return false;
}

/* Reserved addresses, where nothing is mapped, are a range without a number, to
 * which nobody has access. */
static bool range_at(const void *ptr, McRange *range)
{
    uint64_t start, size;

    if (mc_range_find((uintptr_t)ptr, range)) {
        return true;
    }
    if (!mc_reservation_find((uintptr_t)ptr, &start, &size)) {
        return false;
    }
    *range = (McRange){
        .base = start,
        .size = size,
        .kind = MC_RANGE_MAPPED,
        .device = mc_thread()->device,
    };
    return true;
}

static mcError_t check_attribute(mcPointer_attribute attribute)
{
    if ((int)attribute < mcPointerAttributeContext ||
        (int)attribute > mcPointerAttributeMemoryBlockId) {
        return mcErrorInvalidValue;
    }
    return attribute == mcPointerAttributeP2PTokens ? mcErrorNotSupported
                                                    : mcSuccess;
}

MC_EXPORT mcError_t mcPointerGetAttribute(void *data,
                                          mcPointer_attribute attribute,
                                          mcDeviceptr_t ptr)
{
    McRange range;
    Value value;
    size_t size;

    API_ENTER("%p, %d, %p", data, (int)attribute, ptr);
    API_CHECK(data, mcErrorInvalidValue);
    API_TRY(check_attribute(attribute));
    API_CHECK(range_at(ptr, &range) &&
              value_of(&range, (uintptr_t)ptr, attribute, &value, &size),
              mcErrorInvalidValue);
    memcpy(data, &value, size);
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcDrvPointerGetAttributes(unsigned int number,
                                              mcPointer_attribute *attributes,
                                              void **data, mcDeviceptr_t ptr)
{
    McRange range = {.base = 0};

    API_ENTER("%u, %p, %p, %p", number, (void *)attributes, (void *)data, ptr);
    API_CHECK(number && attributes && data, mcErrorInvalidValue);
    for (unsigned i = 0; i < number; i++) {
        API_CHECK(data[i], mcErrorInvalidValue);
        API_TRY(check_attribute(attributes[i]));
    }
    bool known = range_at(ptr, &range);
    for (unsigned i = 0; i < number; i++) {
        mcPointer_attribute attribute = attributes[i];
        void *out = data[i];
        Value value;
        size_t size;

        if (!value_of(&range, (uintptr_t)ptr, attribute, &value, &size) ||
            !known) {
            value = (Value){.number = 0};
        }
        if (!known && attribute == mcPointerAttributeDevice) {
            value.word = mcInvalidDeviceId;
        }
        memcpy(out, &value, size);
    }
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcPointerSetAttribute(const void *in,
                                          mcPointer_attribute attribute,
                                          mcDeviceptr_t ptr)
{
    McRange range;

    API_ENTER("%p, %d, %p", in, (int)attribute, ptr);
    API_CHECK(in && attribute == mcPointerAttributeSyncMemops,
              mcErrorInvalidValue);
    unsigned value = *(const unsigned *)in;
    API_CHECK(value <= 1 && mc_range_find((uintptr_t)ptr, &range),
              mcErrorInvalidValue);
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    API_TRY(mc_api_device(range.device < 0 ? mc_thread()->device
                                           : range.device, &ctx));
    API_CHECK(mc_range_set_sync((uintptr_t)ptr, value), mcErrorInvalidValue);
    if (value) {
        API_TRY(mc_context_sync(ctx));
    }
    API_RETURN(mcSuccess);
}
