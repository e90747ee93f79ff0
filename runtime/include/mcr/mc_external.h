/* SPDX-License-Identifier: MIT */
/*
 * Memory and semaphores of other interfaces, Vulkan first of all. A chapter of
 * mc_runtime_api.h, which includes it and has the general rules;
 * docs/external.md says what the file descriptors may be.
 */
#ifndef MCR_MC_EXTERNAL_H
#define MCR_MC_EXTERNAL_H

#include "mc_array.h"
#include "mc_runtime_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MCextMemory_st *mcExternalMemory_t;
typedef struct MCextSemaphore_st *mcExternalSemaphore_t;

typedef enum mcExternalMemoryHandleType {
    mcExternalMemoryHandleTypeOpaqueFd = 1,
    mcExternalMemoryHandleTypeOpaqueWin32 = 2,
    mcExternalMemoryHandleTypeOpaqueWin32Kmt = 3,
    mcExternalMemoryHandleTypeD3D12Heap = 4,
    mcExternalMemoryHandleTypeD3D12Resource = 5,
    mcExternalMemoryHandleTypeD3D11Resource = 6,
    mcExternalMemoryHandleTypeD3D11ResourceKmt = 7,
    mcExternalMemoryHandleTypeNvSciBuf = 8
} mcExternalMemoryHandleType;

#define mcExternalMemoryDedicated 0x1

typedef struct mcExternalMemoryHandleDesc {
    mcExternalMemoryHandleType type;
    union {
        int fd;
        struct {
            void *handle;
            const void *name;
        } win32;
        const void *nvSciBufObject;
    } handle;
    unsigned long long size; /* of the object, bytes */
    unsigned int flags;      /* 0 or mcExternalMemoryDedicated */
} mcExternalMemoryHandleDesc;

typedef struct mcExternalMemoryBufferDesc {
    unsigned long long offset, size; /* bytes of the object */
    unsigned int flags;              /* 0 */
} mcExternalMemoryBufferDesc;

typedef struct mcExternalMemoryMipmappedArrayDesc {
    unsigned long long offset; /* bytes of the object */
    mcArray3DDescriptor arrayDesc;
    unsigned int numLevels;
    unsigned int reserved[16];
} mcExternalMemoryMipmappedArrayDesc;

typedef enum mcExternalSemaphoreHandleType {
    mcExternalSemaphoreHandleTypeOpaqueFd = 1,
    mcExternalSemaphoreHandleTypeOpaqueWin32 = 2,
    mcExternalSemaphoreHandleTypeOpaqueWin32Kmt = 3,
    mcExternalSemaphoreHandleTypeD3D12Fence = 4,
    mcExternalSemaphoreHandleTypeD3D11Fence = 5,
    mcExternalSemaphoreHandleTypeNvSciSync = 6,
    mcExternalSemaphoreHandleTypeKeyedMutex = 7,
    mcExternalSemaphoreHandleTypeKeyedMutexKmt = 8,
    mcExternalSemaphoreHandleTypeTimelineSemaphoreFd = 9,
    mcExternalSemaphoreHandleTypeTimelineSemaphoreWin32 = 10
} mcExternalSemaphoreHandleType;

typedef struct mcExternalSemaphoreHandleDesc {
    mcExternalSemaphoreHandleType type;
    union {
        int fd;
        struct {
            void *handle;
            const void *name;
        } win32;
        const void *nvSciSyncObj;
    } handle;
    unsigned int flags; /* 0 */
} mcExternalSemaphoreHandleDesc;

typedef struct mcExternalSemaphoreSignalParams {
    struct {
        struct {
            unsigned long long value; /* of a timeline */
        } fence;
        union {
            void *fence;
            unsigned long long reserved;
        } nvSciSync;
        struct {
            unsigned long long key;
        } keyedMutex;
        unsigned int reserved[12];
    } params;
    unsigned int flags; /* 0 */
    unsigned int reserved[16];
} mcExternalSemaphoreSignalParams;

typedef struct mcExternalSemaphoreWaitParams {
    struct {
        struct {
            unsigned long long value; /* of a timeline */
        } fence;
        union {
            void *fence;
            unsigned long long reserved;
        } nvSciSync;
        struct {
            unsigned long long key;
            unsigned int timeoutMs;
        } keyedMutex;
        unsigned int reserved[10];
    } params;
    unsigned int flags; /* 0 */
    unsigned int reserved[16];
} mcExternalSemaphoreWaitParams;

/* For the current device. The file descriptor belongs to the runtime once this
 * has succeeded. mcErrorInvalidValue: it is not memory of that size, or its
 * owner can make it smaller; mcErrorNotSupported: other types. */
mcError_t mcImportExternalMemory(mcExternalMemory_t *extMem_out,
                                 const mcExternalMemoryHandleDesc *desc);
/* What is mapped stays until mcFree(). mcErrorInvalidResourceHandle. */
mcError_t mcDestroyExternalMemory(mcExternalMemory_t extMem);
/* An address of the device it was imported for; give it back with mcFree().
 * offset need not be aligned. mcErrorInvalidValue: not within the object. */
mcError_t mcExternalMemoryGetMappedBuffer(
    void **devPtr, mcExternalMemory_t extMem,
    const mcExternalMemoryBufferDesc *desc);
/* Arrays over a part of the object, in which rows, slices and levels follow each
 * other without gaps; give them back with mcFreeMipmappedArray(). Errors as of
 * mcMallocMipmappedArray(); mcErrorInvalidValue: not within the object. */
mcError_t mcExternalMemoryGetMappedMipmappedArray(
    mcMipmappedArray_t *mipmap, mcExternalMemory_t extMem,
    const mcExternalMemoryMipmappedArrayDesc *desc);
/* As for memory. OpaqueFd: an eventfd; TimelineSemaphoreFd: a file whose first
 * 8 bytes are the value. */
mcError_t mcImportExternalSemaphore(mcExternalSemaphore_t *extSem_out,
                                    const mcExternalSemaphoreHandleDesc *desc);
/* Work in streams keeps what it needs. mcErrorInvalidResourceHandle. */
mcError_t mcDestroyExternalSemaphore(mcExternalSemaphore_t extSem);
/*
 * In stream order; return at once. A signal sets, or gives a timeline its value.
 * A wait holds up the stream until each is set, which resets it, or a timeline
 * has reached the value. Waiting ends with the context. No semaphores are
 * nothing to do. mcErrorInvalidResourceHandle: one is not a semaphore.
 */
mcError_t mcSignalExternalSemaphoresAsync(
    const mcExternalSemaphore_t *extSemArray,
    const mcExternalSemaphoreSignalParams *paramsArray, unsigned int numExtSems,
    mcStream_t stream __dparm(0));
mcError_t mcWaitExternalSemaphoresAsync(
    const mcExternalSemaphore_t *extSemArray,
    const mcExternalSemaphoreWaitParams *paramsArray, unsigned int numExtSems,
    mcStream_t stream __dparm(0));

#ifdef __cplusplus
}
#endif

#endif
