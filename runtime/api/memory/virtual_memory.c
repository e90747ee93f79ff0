/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <string.h>

#include "core/mapping/vmm.h"
#include "core/memory/reserve.h"

/* ---- properties ---- */

/* Node 0 is all that this interface knows of NUMA. */
static bool is_host(const mcMemLocation *location)
{
    return location->type == mcMemLocationTypeHost ||
           (location->type == mcMemLocationTypeHostNuma && location->id == 0);
}

static mcError_t check_location(const mcMemLocation *location)
{
    if (location->type == mcMemLocationTypeDevice) {
        return mc_api_is_device(location->id) ? mcSuccess
                                              : mcErrorInvalidDevice;
    }
    return is_host(location) ? mcSuccess : mcErrorInvalidValue;
}

static mcError_t check_prop(const mcMemAllocationProp *prop)
{
    int types = prop->requestedHandleTypes;

    if (prop->type != mcMemAllocationTypePinned ||
        types & ~(mcMemHandleTypePosixFileDescriptor | mcMemHandleTypeWin32 |
                  mcMemHandleTypeWin32Kmt | mcMemHandleTypeFabric)) {
        return mcErrorInvalidValue;
    }
    if (is_host(&prop->location) && types) {
        return mcErrorInvalidValue;
    }
    if (prop->allocFlags.usage & ~MC_MEM_CREATE_USAGE_TILE_POOL ||
        (is_host(&prop->location) && prop->allocFlags.usage)) {
        return mcErrorInvalidValue;
    }
    /* What a compressed allocation would be, too, is not compressed: that is
     * a wish only. */
    if (types & ~mcMemHandleTypePosixFileDescriptor ||
        prop->allocFlags.gpuDirectRDMACapable) {
        return mcErrorNotSupported;
    }
    return check_location(&prop->location);
}

static bool aligned(uint64_t value)
{
    return value % MC_GRANULARITY == 0;
}

MC_EXPORT mcError_t mcMemGetAllocationGranularity(
    size_t *granularity, const mcMemAllocationProp *prop,
    mcMemAllocationGranularity_flags option)
{
    API_ENTER("%p, %p, %d", (void *)granularity, (const void *)prop, option);
    API_CHECK(granularity && prop &&
              (option == MC_MEM_ALLOC_GRANULARITY_MINIMUM ||
               option == MC_MEM_ALLOC_GRANULARITY_RECOMMENDED),
              mcErrorInvalidValue);
    mcMemAllocationProp copy = *prop;
    API_TRY(check_prop(&copy));
    *granularity = MC_GRANULARITY;
    API_RETURN(mcSuccess);
}

/* ---- addresses ---- */

MC_EXPORT mcError_t mcMemAddressReserve(mcDeviceptr_t *ptr, size_t size,
                                        size_t alignment, mcDeviceptr_t addr,
                                        unsigned long long flags)
{
    uint64_t va;

    API_ENTER("%p, %zu, %zu, %p, 0x%llx", (void *)ptr, size, alignment, addr,
              flags);
    API_CHECK(ptr && size && size % KMD_PAGE_SIZE == 0 &&
              (uintptr_t)addr % KMD_PAGE_SIZE == 0 &&
              (alignment & (alignment - 1)) == 0 && flags == 0,
              mcErrorInvalidValue);
    if (alignment < MC_GRANULARITY) {
        alignment = MC_GRANULARITY;
    }
    API_TRY(mc_reserve(size, alignment, (uintptr_t)addr, &va));
    *ptr = (void *)(uintptr_t)va;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMemAddressFree(mcDeviceptr_t ptr, size_t size)
{
    API_ENTER("%p, %zu", ptr, size);
    API_RETURN(mc_vmm_address_free((uintptr_t)ptr, size));
}

/* ---- memory ---- */

MC_EXPORT mcError_t mcMemCreate(mcMemGenericAllocationHandle *handle,
                                size_t size, const mcMemAllocationProp *prop,
                                unsigned long long flags)
{
    uint64_t number;

    API_ENTER("%p, %zu, %p, 0x%llx", (void *)handle, size, (const void *)prop,
              flags);
    API_CHECK(handle && prop && size && aligned(size) && flags == 0,
              mcErrorInvalidValue);
    mcMemAllocationProp copy = *prop;
    API_TRY(check_prop(&copy));
    API_UNSAFE();
    McContext *ctx __attribute__((cleanup(mc_api_put_context))) = NULL;
    if (is_host(&copy.location)) {
        copy.location.id = 0;
    } else {
        API_TRY(mc_api_device(copy.location.id, &ctx));
    }
    copy.allocFlags.compressionType = 0;
    copy.win32HandleMetaData = NULL;
    API_TRY(mc_memory_create(ctx, size, &copy, &number));
    *handle = number;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMemRelease(mcMemGenericAllocationHandle handle)
{
    API_ENTER("%llu", handle);
    API_RETURN(mc_memory_release(handle));
}

MC_EXPORT mcError_t mcMemGetAllocationPropertiesFromHandle(
    mcMemAllocationProp *prop, mcMemGenericAllocationHandle handle)
{
    API_ENTER("%p, %llu", (void *)prop, handle);
    API_CHECK(prop, mcErrorInvalidValue);
    API_RETURN(mc_memory_prop(handle, prop));
}

MC_EXPORT mcError_t mcMemRetainAllocationHandle(
    mcMemGenericAllocationHandle *handle, void *addr)
{
    uint64_t number;

    API_ENTER("%p, %p", (void *)handle, addr);
    API_CHECK(handle, mcErrorInvalidValue);
    API_TRY(mc_vmm_retain((uintptr_t)addr, &number));
    *handle = number;
    API_RETURN(mcSuccess);
}

/* mcErrorNotSupported for kinds that exist elsewhere. */
static mcError_t check_handle_type(mcMemAllocationHandleType type)
{
    switch ((int)type) {
    case mcMemHandleTypePosixFileDescriptor:
        return mcSuccess;
    case mcMemHandleTypeWin32:
    case mcMemHandleTypeWin32Kmt:
    case mcMemHandleTypeFabric:
        return mcErrorNotSupported;
    default:
        return mcErrorInvalidValue;
    }
}

MC_EXPORT mcError_t mcMemExportToShareableHandle(
    void *shareable, mcMemGenericAllocationHandle handle,
    mcMemAllocationHandleType type, unsigned long long flags)
{
    int fd;

    API_ENTER("%p, %llu, %d, 0x%llx", shareable, handle, type, flags);
    API_CHECK(shareable && flags == 0, mcErrorInvalidValue);
    API_TRY(check_handle_type(type));
    API_TRY(mc_memory_export(handle, &fd));
    *(int *)shareable = fd;
    API_RETURN(mcSuccess);
}

MC_EXPORT mcError_t mcMemImportFromShareableHandle(
    mcMemGenericAllocationHandle *handle, void *shareable,
    mcMemAllocationHandleType type)
{
    intptr_t fd = (intptr_t)shareable;
    uint64_t number;

    API_ENTER("%p, %p, %d", (void *)handle, shareable, type);
    API_CHECK(handle && fd >= 0 && fd <= INT_MAX, mcErrorInvalidValue);
    API_TRY(check_handle_type(type));
    API_CONTEXT(ctx);
    API_TRY(mc_memory_import(ctx, (int)fd, &number));
    *handle = number;
    API_RETURN(mcSuccess);
}

/* ---- mappings ---- */

MC_EXPORT mcError_t mcMemMap(mcDeviceptr_t ptr, size_t size, size_t offset,
                             mcMemGenericAllocationHandle handle,
                             unsigned long long flags)
{
    API_ENTER("%p, %zu, %zu, %llu, 0x%llx", ptr, size, offset, handle, flags);
    API_CHECK(size && aligned((uintptr_t)ptr) && aligned(size) &&
              offset == 0 && flags == 0, mcErrorInvalidValue);
    API_UNSAFE();
    API_RETURN(mc_vmm_map((uintptr_t)ptr, size, handle));
}

MC_EXPORT mcError_t mcMemUnmap(mcDeviceptr_t ptr, size_t size)
{
    API_ENTER("%p, %zu", ptr, size);
    API_CHECK(size && aligned((uintptr_t)ptr) && aligned(size),
              mcErrorInvalidValue);
    API_UNSAFE();
    API_RETURN(mc_vmm_unmap((uintptr_t)ptr, size));
}

static mcError_t check_flags(mcMemAccessFlags flags)
{
    return flags == mcMemAccessFlagsProtNone ||
                   flags == mcMemAccessFlagsProtRead ||
                   flags == mcMemAccessFlagsProtReadWrite
               ? mcSuccess
               : mcErrorInvalidValue;
}

/* The last word on each location counts. */
static mcError_t read_access(const mcMemAccessDesc *desc, size_t count,
                             McAccess *access)
{
    memset(access, MC_ACCESS_KEEP, sizeof(*access));
    for (size_t i = 0; i < count; i++) {
        mcMemAccessDesc d = desc[i]; /* the caller may change its own */

        if (d.location.type == mcMemLocationTypeHostNuma) {
            d.location.id = 0; /* whichever node it is */
        }
        mcError_t error = check_location(&d.location);

        if (error == mcSuccess) {
            error = check_flags(d.flags);
        }
        if (error != mcSuccess) {
            return error;
        }
        if (d.location.type == mcMemLocationTypeDevice) {
            access->device[d.location.id] = (signed char)d.flags;
        } else {
            access->cpu = (signed char)d.flags;
        }
    }
    return mcSuccess;
}

/* Devices that get access are open until it is set. */
static mcError_t set_access(uint64_t va, uint64_t size, const McAccess *access)
{
    McContext *held[MC_MAX_DEVICES];
    mcError_t error = mcSuccess;
    unsigned count = 0;

    for (int i = 0; i < MC_MAX_DEVICES && error == mcSuccess; i++) {
        if (access->device[i] > 0) {
            error = mc_api_device(i, &held[count]);
            count += error == mcSuccess;
        }
    }
    if (error == mcSuccess) {
        error = mc_vmm_set_access(va, size, access);
    }
    while (count) {
        mc_context_put(held[--count]);
    }
    return error;
}

MC_EXPORT mcError_t mcMemSetAccess(mcDeviceptr_t ptr, size_t size,
                                   const mcMemAccessDesc *desc, size_t count)
{
    McAccess access;

    API_ENTER("%p, %zu, %p, %zu", ptr, size, (const void *)desc, count);
    API_CHECK(size && aligned((uintptr_t)ptr) && aligned(size) && desc &&
              count, mcErrorInvalidValue);
    API_TRY(read_access(desc, count, &access));
    API_UNSAFE();
    API_RETURN(set_access((uintptr_t)ptr, size, &access));
}

MC_EXPORT mcError_t mcMemGetAccess(unsigned long long *flags,
                                   const mcMemLocation *location,
                                   mcDeviceptr_t ptr)
{
    mcMemAccessFlags found;

    API_ENTER("%p, %p, %p", (void *)flags, (const void *)location, ptr);
    API_CHECK(flags && location, mcErrorInvalidValue);
    mcMemLocation where = *location;
    API_TRY(check_location(&where));
    API_TRY(mc_vmm_get_access((uintptr_t)ptr,
                              where.type == mcMemLocationTypeDevice ? where.id
                                                                    : -1,
                              &found));
    *flags = (unsigned long long)found;
    API_RETURN(mcSuccess);
}
