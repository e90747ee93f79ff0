/* SPDX-License-Identifier: MIT */
/*
 * Managed memory, and what pointers are. A chapter of mc_runtime_api.h, which
 * includes it and has the general rules.
 *
 * Managed memory is used by the host and by every device, by one pointer and at
 * any time: it lies in memory of the host, which devices reach, and stays
 * there (docs/memory.md).
 */
#ifndef MCR_MC_MANAGED_H
#define MCR_MC_MANAGED_H

#include "mc_runtime_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mcMemoryAdvise {
    mcMemAdviseSetReadMostly = 1,
    mcMemAdviseUnsetReadMostly = 2,
    mcMemAdviseSetPreferredLocation = 3,
    mcMemAdviseUnsetPreferredLocation = 4,
    mcMemAdviseSetAccessedBy = 5,
    mcMemAdviseUnsetAccessedBy = 6
} mcMemoryAdvise;

/* What is answered, and in how many bytes. A range has a value when all of its
 * pages have. */
typedef enum mcMemRangeAttribute {
    mcMemRangeAttributeReadMostly = 1,           /* int, 0 or 1 */
    mcMemRangeAttributePreferredLocation = 2,    /* int: a device,
                                     mcCpuDeviceId or mcInvalidDeviceId */
    mcMemRangeAttributeAccessedBy = 3,           /* int[], of the same, as many
                                     as there is room for */
    mcMemRangeAttributeLastPrefetchLocation = 4, /* int, as 2 */
    mcMemRangeAttributePreferredLocationType = 5, /* mcMemLocationType */
    mcMemRangeAttributePreferredLocationId = 6,  /* int: a device, a node */
    mcMemRangeAttributeLastPrefetchLocationType = 7,
    mcMemRangeAttributeLastPrefetchLocationId = 8
} mcMemRangeAttribute;

/* Zeroed. flags: mcMemAttachGlobal or mcMemAttachHost; both can be used
 * everywhere at any time. size 0 is mcErrorInvalidValue. mcFree frees it, also
 * after a reset of the device that was current. */
mcError_t mcMallocManaged(void **ptr, size_t size,
                          unsigned int flags __dparm(mcMemAttachGlobal));

/*
 * What will be done with the pages that [devPtr, devPtr + count) touches. Kept
 * for mcMemRangeGetAttribute; memory does not move, whatever is said. device: a
 * device or mcCpuDeviceId, ignored where the advice names no place. The second
 * form names nodes of memory as well, but not for mcMemAdvise*AccessedBy.
 *   mcErrorInvalidValue   not all of it is managed memory; count 0; advice or
 *                         type of location that does not exist
 *   mcErrorInvalidDevice  no such device
 */
mcError_t mcMemAdvise(const void *devPtr, size_t count, mcMemoryAdvise advice,
                      int device);
mcError_t mcMemAdvise_v2(const void *devPtr, size_t count,
                         mcMemoryAdvise advice, mcMemLocation location);
/* Where it will be used next, by work that follows in the stream. Errors as
 * above; flags must be 0. */
mcError_t mcMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice,
                             mcStream_t stream __dparm(0));
mcError_t mcMemPrefetchAsync_v2(const void *devPtr, size_t count,
                                mcMemLocation location, unsigned int flags,
                                mcStream_t stream __dparm(0));
/* dataSize as the attribute has it, for mcMemRangeAttributeAccessedBy a
 * multiple of 4, not 0; else mcErrorInvalidValue. */
mcError_t mcMemRangeGetAttribute(void *data, size_t dataSize,
                                 mcMemRangeAttribute attribute,
                                 const void *devPtr, size_t count);
mcError_t mcMemRangeGetAttributes(void **data, size_t *dataSizes,
                                  mcMemRangeAttribute *attributes,
                                  size_t numAttributes, const void *devPtr,
                                  size_t count);
/*
 * Who uses managed memory from here on in the order of the stream: everybody,
 * the host, or this stream (mcMemAttachGlobal, Host, Single). Memory can be
 * used everywhere whatever it says. devPtr: the start of an allocation or
 * variable; length 0 or its size.
 *   mcErrorInvalidValue   other memory, lengths or flags; mcMemAttachSingle
 *                         with a default stream
 */
mcError_t mcStreamAttachMemAsync(
    mcStream_t stream, void *devPtr, size_t length __dparm(0),
    unsigned int flags __dparm(mcMemAttachSingle));

/* What is known of an address; pageable memory is mcMemoryTypeUnregistered. */
mcError_t mcPointerGetAttributes(mcPointerAttribute_t *attributes,
                                 const void *ptr);
/*
 * One of them. Types of *data beside the enumerators; mcErrorInvalidValue where
 * a pointer has no such attribute, or is none of this interface.
 */
mcError_t mcPointerGetAttribute(void *data, mcPointer_attribute attribute,
                                mcDeviceptr_t ptr);
/* Several; those a pointer has not are 0. */
mcError_t mcDrvPointerGetAttributes(unsigned int numAttributes,
                                    mcPointer_attribute *attributes,
                                    void **data, mcDeviceptr_t ptr);
/* mcPointerAttributeSyncMemops, unsigned int 0 or 1: copies and sets of the
 * allocation that are not asynchronous wait for their end, whatever memory it
 * is. Waits for those that were made before. Others are
 * mcErrorInvalidValue. */
mcError_t mcPointerSetAttribute(const void *value,
                                mcPointer_attribute attribute,
                                mcDeviceptr_t ptr);

#ifdef __cplusplus
}
#endif

#endif
