/* SPDX-License-Identifier: MIT */
/*
 * Virtual memory management: addresses, physical memory and access apart. A
 * chapter of mc_runtime_api.h, which includes it and has the general rules;
 * docs/virtual-memory.md tells how the parts go together. Sizes are bytes. What
 * is not said to wait returns at once, whatever runs on devices.
 */
#ifndef MCR_MC_VIRTUAL_MEMORY_H
#define MCR_MC_VIRTUAL_MEMORY_H

#include "mc_array.h"
#include "mc_texture.h"

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
 * mcErrorNotSupported: other handle types, RDMA. A tile pool
 * (MC_MEM_CREATE_USAGE_TILE_POOL) is of a device and mapped by
 * mcMemMapArrayAsync() only.
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

/* ---- sparse arrays: docs/arrays.md ---- */

typedef enum mcArraySparseSubresourceType {
    MC_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL = 0,
    MC_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL = 1
} mcArraySparseSubresourceType;

typedef enum mcMemOperationType {
    MC_MEM_OPERATION_TYPE_MAP = 1,
    MC_MEM_OPERATION_TYPE_UNMAP = 2
} mcMemOperationType;

typedef enum mcMemHandleType {
    MC_MEM_HANDLE_TYPE_GENERIC = 0
} mcMemHandleType;

typedef struct mcArrayMapInfo {
    mcResourceType resourceType; /* mcResourceTypeArray, MipmappedArray */
    union {
        mcMipmappedArray_t mipmap;
        mcArray_t array;
    } resource;
    mcArraySparseSubresourceType subresourceType;
    union {
        struct {
            unsigned int level, layer; /* 0 where there are none */
            /* Elements, rows, slices: multiples of the tile's, but an extent
             * may end where the level does. */
            unsigned int offsetX, offsetY, offsetZ;
            unsigned int extentWidth, extentHeight, extentDepth;
        } sparseLevel;
        struct {
            unsigned int layer;              /* 0: all have one tail */
            unsigned long long offset, size; /* multiples of a tile's bytes */
        } miptail;
    } subresource;
    mcMemOperationType memOperationType;
    mcMemHandleType memHandleType;
    union {
        mcMemGenericAllocationHandle memHandle; /* 0 to take tiles out */
    } memHandle;
    unsigned long long offset;  /* in the pool: a multiple of a tile's bytes */
    unsigned int deviceBitMask; /* just the stream's device */
    unsigned int flags;         /* 0 */
    unsigned int reserved[2];   /* 0 */
} mcArrayMapInfo;

/*
 * In stream order, one behind the other. The arrays and pools are of the
 * stream's device. On errors nothing is done; mcErrorInvalidValue also: not
 * sparse, a level of a mipmapped array, tiles that do not exist, no tile pool,
 * one that ends before. mcErrorStreamCaptureUnsupported.
 */
mcError_t mcMemMapArrayAsync(mcArrayMapInfo *mapInfoList, unsigned int count,
                             mcStream_t hStream __dparm(0));

/* ---- multicast objects ---- */

/*
 * One address for memory of several devices, each with its own: kernels write to
 * all of it, or reduce over it, with mcMultimemStore() and its kin
 * (mcr/mc_multimem.h) or inline PTX (multimem.*). A device that is given access to a
 * mapping of the object (mcMemMap, mcMemSetAccess) finds its own memory there with
 * ordinary loads and stores. The order is: create, add all devices, then bind and
 * map in any order. mcDeviceAttributeMulticastSupported is 1 where devices reach
 * each other's memory, or there is but one.
 */
typedef enum mcMulticastGranularity_flags {
    MC_MULTICAST_GRANULARITY_MINIMUM = 0,
    MC_MULTICAST_GRANULARITY_RECOMMENDED = 1
} mcMulticastGranularity_flags;

typedef struct mcMulticastObjectProp {
    unsigned int numDevices;
    size_t size; /* bytes */
    unsigned long long handleTypes, flags;
} mcMulticastObjectProp;

/*
 * size: a multiple of the granularity; numDevices: 1 or more, and not more than
 * there are; flags 0. The object is given back with mcMemRelease, and exists as
 * long as it is mapped. mcErrorNotSupported: handleTypes is not 0, for objects are
 * not shared between processes.
 */
mcError_t mcMulticastCreate(mcMemGenericAllocationHandle *mcHandle,
                            const mcMulticastObjectProp *prop);
/* mcErrorInvalidDevice: no device. mcErrorInvalidValue: no such object, it has the
 * device already, or as many as it is for. mcErrorNotSupported: the device does
 * not reach the memory of another one of the object. */
mcError_t mcMulticastAddDevice(mcMemGenericAllocationHandle mcHandle,
                               mcDevice_t dev);
/*
 * Binds [memOffset, memOffset + size) of memory that mcMemCreate made for a device
 * at mcOffset of the object, or what is mapped at memptr in one piece. All are
 * multiples of the granularity, flags 0. The memory is kept until it is unbound,
 * or the object or the device's context gone. mcErrorIllegalState: not all devices
 * were added. mcErrorInvalidDevice: the memory is of no device that was.
 * mcErrorInvalidValue also: out of range, or something of the device is bound
 * there.
 */
mcError_t mcMulticastBindMem(mcMemGenericAllocationHandle mcHandle,
                             size_t mcOffset,
                             mcMemGenericAllocationHandle memHandle,
                             size_t memOffset, size_t size,
                             unsigned long long flags);
mcError_t mcMulticastBindAddr(mcMemGenericAllocationHandle mcHandle,
                              size_t mcOffset, mcDeviceptr_t memptr,
                              size_t size, unsigned long long flags);
/* Waits for the devices. mcErrorInvalidValue: not what makes up whole bindings of
 * the device. */
mcError_t mcMulticastUnbind(mcMemGenericAllocationHandle mcHandle,
                            mcDevice_t dev, size_t mcOffset, size_t size);
/* The errors of mcMulticastCreate. Both options are the same. */
mcError_t mcMulticastGetGranularity(size_t *granularity,
                                    const mcMulticastObjectProp *prop,
                                    mcMulticastGranularity_flags option);

#ifdef __cplusplus
}
#endif

#endif
