/* SPDX-License-Identifier: MIT */
/*
 * The stream-ordered memory allocator. A chapter of mc_runtime_api.h, which
 * includes it and has the general rules.
 */
#ifndef MCR_MC_MEM_POOL_H
#define MCR_MC_MEM_POOL_H

#include "mc_runtime_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Device memory, aligned to 256 bytes, not cleared, from the current pool of the
 * stream's device. Work that is submitted to the stream from now on may use it,
 * and work that comes after that. Size 0 gives NULL. Neither this nor the
 * others of this chapter waits. mcErrorMemoryAllocation: no memory of the device
 * is left, nor any in the pool that could be had by waiting in the stream. */
mcError_t mcMallocAsync(void **devPtr, size_t size, mcStream_t hStream);
/* The same from a pool, which may be one of another device.
 * mcErrorInvalidValue: no such pool, or an imported one. */
mcError_t mcMallocFromPoolAsync(void **ptr, size_t size, mcMemPool_t memPool,
                                mcStream_t stream);
/* Frees when the stream's work so far is complete; later work may not use it,
 * and no call takes the address any more. Memory of mcMalloc goes back to the
 * device when it is free and somebody synchronises. mcErrorInvalidValue: not
 * the start of such memory; freed before; NULL. */
mcError_t mcFreeAsync(void *devPtr, mcStream_t hStream);
/* The same three. */
mcError_t mcMemAllocAsync(mcDeviceptr_t *dptr, size_t bytesize,
                          mcStream_t hStream);
mcError_t mcMemAllocFromPoolAsync(mcDeviceptr_t *dptr, size_t bytesize,
                                  mcMemPool_t pool, mcStream_t hStream);
mcError_t mcMemFreeAsync(mcDeviceptr_t dptr, mcStream_t hStream);

/* allocType mcMemAllocationTypePinned; location a device. handleTypes:
 * mcMemHandleTypeNone, or mcMemHandleTypePosixFileDescriptor, whose memory is
 * pinned memory of the host; others mcErrorNotSupported. */
mcError_t mcMemPoolCreate(mcMemPool_t *memPool,
                          const mcMemPoolProps *poolProps);
/* The handle is invalid afterwards. Memory of the pool stays until it is freed.
 * If it was the current pool of its device, the default pool is.
 * mcErrorInvalidValue: no such pool, or a default pool. */
mcError_t mcMemPoolDestroy(mcMemPool_t memPool);
/* Gives memory that is free back to the device, as long as minBytesToKeep bytes
 * stay in the pool. What was freed in a stream that has not come so far stays. */
mcError_t mcMemPoolTrimTo(mcMemPool_t memPool, size_t minBytesToKeep);
/*
 * mcMemPoolReuse*: int, 1 at first. FollowEventDependencies: memory freed in
 * another stream, when the stream waits for an event recorded after that.
 * AllowOpportunistic: when that stream has come so far already.
 * AllowInternalDependencies: when memory is short, by making the stream wait.
 * Others are uint64_t, bytes. ReleaseThreshold, 0 at first: what stays in the
 * pool when a stream, event or device was synchronised. ReservedMem: taken of
 * the device. UsedMem: allocated from the pool. The two of Current cannot be
 * set, those of High only to 0, which makes them the current ones.
 */
mcError_t mcMemPoolGetAttribute(mcMemPool_t memPool, mcMemPoolAttr attr,
                                void *value);
mcError_t mcMemPoolSetAttribute(mcMemPool_t memPool, mcMemPoolAttr attr,
                                void *value);
/* Locations are devices. The pool's own always may read and write, others when
 * this says so, also what is allocated later; mcDeviceEnablePeerAccess has no
 * part in it. flags are mcMemAccessFlagsProtReadWrite or None, which waits for
 * the device that loses it. mcErrorPeerAccessUnsupported: the device cannot
 * reach the pool's. */
mcError_t mcMemPoolSetAccess(mcMemPool_t memPool,
                             const mcMemAccessDesc *descList, size_t count);
mcError_t mcMemPoolGetAccess(mcMemAccessFlags *flags, mcMemPool_t memPool,
                             mcMemLocation *location);

/*
 * Pools of other processes. One that was made with
 * mcMemHandleTypePosixFileDescriptor is exported as a file descriptor (an int,
 * the caller's), and its allocations, each by 64 bytes of data: the start of
 * one, or mcErrorInvalidValue. shareableHandle of the import is the file
 * descriptor itself, which stays the caller's; the pool is one of the current
 * device. Nothing can be allocated from it.
 * An imported pointer is memory of its own, freed by mcFree or mcFreeAsync, and
 * before the process that exported it frees it. mcErrorInvalidValue: data of
 * another pool, or of memory that was freed. Other types of handles are
 * mcErrorNotSupported; flags are 0.
 */
mcError_t mcMemPoolExportToShareableHandle(
    void *sharedHandle, mcMemPool_t memPool,
    mcMemAllocationHandleType handleType, unsigned int flags);
mcError_t mcMemPoolImportFromShareableHandle(
    mcMemPool_t *memPool, void *sharedHandle,
    mcMemAllocationHandleType handleType, unsigned int flags);
mcError_t mcMemPoolExportPointer(mcMemPoolPtrExportData *exportData, void *ptr);
mcError_t mcMemPoolImportPointer(void **ptr, mcMemPool_t memPool,
                                 mcMemPoolPtrExportData *exportData);

#ifdef __cplusplus
}
#endif

#endif
