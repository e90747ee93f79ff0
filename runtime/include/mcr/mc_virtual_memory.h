/* SPDX-License-Identifier: MIT */
/*
 * Virtual memory management: addresses, physical memory and access apart. A
 * chapter of mc_runtime_api.h, which includes it and has the general rules;
 * docs/virtual-memory.md tells how the parts go together. Sizes are bytes. What
 * is not said to wait returns at once, whatever runs on devices.
 */
#ifndef MCR_MC_VIRTUAL_MEMORY_H
#define MCR_MC_VIRTUAL_MEMORY_H

#include "mc_runtime_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * size and addr are multiples of 4096, alignment a power of two or 0; what is
 * reserved is aligned to the granularity at least. addr is a hint, 0 for none.
 * flags is 0. mcErrorMemoryAllocation: no addresses are left.
 */
mcError_t mcMemAddressReserve(mcDeviceptr_t *ptr, size_t size, size_t alignment,
                              mcDeviceptr_t addr, unsigned long long flags);
/* Exactly what was reserved, with nothing mapped in it: else
 * mcErrorInvalidValue. */
mcError_t mcMemAddressFree(mcDeviceptr_t ptr, size_t size);
/*
 * Not cleared if it is VRAM that this process used before. size is a multiple
 * of the granularity, flags is 0. Locations: a device, or the host (its id does
 * not count; of HostNuma it is 0), which takes no requestedHandleTypes. The
 * memory of a device that may be exported as a file descriptor is memory of the
 * host that the device reaches. mcErrorMemoryAllocation; mcErrorInvalidDevice;
 * mcErrorNotSupported: other handle types, tile pools, RDMA.
 */
mcError_t mcMemCreate(mcMemGenericAllocationHandle *handle, size_t size,
                      const mcMemAllocationProp *prop,
                      unsigned long long flags);
/* The memory goes when it is mapped nowhere and all references are given back,
 * those of other processes too. mcErrorInvalidValue: no such handle. */
mcError_t mcMemRelease(mcMemGenericAllocationHandle handle);
/*
 * The first size bytes of the memory. ptr and size are multiples of the
 * granularity, in one reservation, where nothing is mapped; offset and flags
 * are 0. Nobody has access yet.
 */
mcError_t mcMemMap(mcDeviceptr_t ptr, size_t size, size_t offset,
                   mcMemGenericAllocationHandle handle,
                   unsigned long long flags);
/* One or several whole mappings in a row: else mcErrorInvalidValue. Waits for
 * the work submitted to devices that have access. */
mcError_t mcMemUnmap(mcDeviceptr_t ptr, size_t size);
/*
 * Of one or several whole mappings in a row; locations that are not named keep
 * what they have. Waits for the devices whose access changes from something.
 * On errors nothing has changed. mcErrorInvalidDevice; mcErrorNotSupported: a
 * device does not reach the memory of another; mcErrorInvalidValue also: the
 * host, on memory of a device.
 */
mcError_t mcMemSetAccess(mcDeviceptr_t ptr, size_t size,
                         const mcMemAccessDesc *desc, size_t count);
/* A mcMemAccessFlags. mcErrorInvalidValue: nothing is mapped there. */
mcError_t mcMemGetAccess(unsigned long long *flags,
                         const mcMemLocation *location, mcDeviceptr_t ptr);
/* 2 MiB, the least and the best. */
mcError_t mcMemGetAllocationGranularity(
    size_t *granularity, const mcMemAllocationProp *prop,
    mcMemAllocationGranularity_flags option);
mcError_t mcMemGetAllocationPropertiesFromHandle(
    mcMemAllocationProp *prop, mcMemGenericAllocationHandle handle);
/* addr may be any address of a mapping. Takes a reference, which is given back
 * with mcMemRelease(). */
mcError_t mcMemRetainAllocationHandle(mcMemGenericAllocationHandle *handle,
                                      void *addr);
/*
 * shareableHandle is the file descriptor itself, which stays the caller's. The
 * memory is the current device's here. mcErrorInvalidValue: not a file of
 * memory, its size is no multiple of the granularity, or its owner can make it
 * smaller. mcErrorNotSupported: other handle types.
 */
mcError_t mcMemImportFromShareableHandle(
    mcMemGenericAllocationHandle *handle, void *shareableHandle,
    mcMemAllocationHandleType shHandleType);
/* *shareableHandle is an int: a file descriptor of the caller's, closed on
 * exec(). mcErrorInvalidValue also: not made for that type. flags is 0. */
mcError_t mcMemExportToShareableHandle(void *shareableHandle,
                                       mcMemGenericAllocationHandle handle,
                                       mcMemAllocationHandleType handleType,
                                       unsigned long long flags);

/* ---- not supported ---- */

/* Of sparse arrays: it has no members yet. */
typedef struct mcArrayMapInfo mcArrayMapInfo;

mcError_t mcMemMapArrayAsync(mcArrayMapInfo *mapInfoList, unsigned int count,
                             mcStream_t hStream);

/* Multicast objects: mcDeviceAttributeMulticastSupported is 0. */
typedef enum mcMulticastGranularity_flags {
    MC_MULTICAST_GRANULARITY_MINIMUM = 0,
    MC_MULTICAST_GRANULARITY_RECOMMENDED = 1
} mcMulticastGranularity_flags;

typedef struct mcMulticastObjectProp {
    unsigned int numDevices;
    size_t size; /* bytes */
    unsigned long long handleTypes, flags;
} mcMulticastObjectProp;

mcError_t mcMulticastCreate(mcMemGenericAllocationHandle *mcHandle,
                            const mcMulticastObjectProp *prop);
mcError_t mcMulticastAddDevice(mcMemGenericAllocationHandle mcHandle,
                               mcDevice_t dev);
mcError_t mcMulticastBindMem(mcMemGenericAllocationHandle mcHandle,
                             size_t mcOffset,
                             mcMemGenericAllocationHandle memHandle,
                             size_t memOffset, size_t size,
                             unsigned long long flags);
mcError_t mcMulticastBindAddr(mcMemGenericAllocationHandle mcHandle,
                              size_t mcOffset, mcDeviceptr_t memptr,
                              size_t size, unsigned long long flags);
mcError_t mcMulticastUnbind(mcMemGenericAllocationHandle mcHandle,
                            mcDevice_t dev, size_t mcOffset, size_t size);
mcError_t mcMulticastGetGranularity(size_t *granularity,
                                    const mcMulticastObjectProp *prop,
                                    mcMulticastGranularity_flags option);

#ifdef __cplusplus
}
#endif

#endif
