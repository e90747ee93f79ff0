/* SPDX-License-Identifier: MIT */
/*
 * The mc* runtime interface. C11 and C++17.
 *
 * Errors. Unless stated otherwise a call returns mcSuccess or why it failed,
 * and leaves the error for mcGetLastError(). Errors of work that runs later are
 * returned by a later call; those a device cannot go on from are sticky, that
 * is returned by every call on that device until mcDeviceReset(). What a call
 * would write has no meaning when it fails. Beside those that are named below,
 * any call may return
 *   mcErrorInvalidValue              a null pointer where none may be; flags
 *                                    or enumerators that do not exist
 *   mcErrorInvalidDevice             no device of that number
 *   mcErrorInvalidResourceHandle     no such stream, module or function
 *   mcErrorInvalidHandle             no such event
 *   mcErrorMemoryAllocation          no memory, of the host or of the device
 *   mcErrorContextIsDestroyed        another thread resets the device
 *   mcErrorNoDevice, mcErrorInitializationError, mcErrorSystemNotReady ...
 *                                    no device can be opened (docs/errors.md)
 *
 * Waiting. Calls do not wait for work of a device unless they are said to wait.
 * The first one that needs a device opens it, that is resets it and boots its
 * firmware. Asynchronous calls queue their work and return; only when 256 MiB
 * of it wait in one stream they wait for room.
 *
 * Threads. Any call may be made from any thread at any time; the current device
 * and the last error are the thread's own. From a function that a stream calls,
 * what needs a device gives mcErrorNotPermitted; in the child of a fork() of a
 * process that used devices, mcErrorInitializationError.
 *
 * Units. Sizes and pitches are bytes unless elements are said to count.
 *
 * Functions marked "not supported" exist and return mcErrorNotSupported.
 */
#ifndef MCR_MC_RUNTIME_API_H
#define MCR_MC_RUNTIME_API_H

#if defined(MACA_API_PER_THREAD_DEFAULT_STREAM) ||                             \
    defined(__MXCC_PER_THREAD__) /* it found the macro further down */
#include "mc_per_thread.h"
#endif
#include "mc_runtime_types.h"

#define MACART_VERSION 1000 /* 1000 * major + 10 * minor */

#ifndef __dparm
#ifdef __cplusplus
#define __dparm(x) = x /* default argument, C++ only */
#else
#define __dparm(x)
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Initialization ---- */

/* Finds the devices; flags must be 0. Any other call does it too. */
mcError_t mcInit(unsigned int flags);

/* ---- Device management ----
 *
 * Devices are numbered from 0 to mcGetDeviceCount() - 1. What is asked of one
 * by its number may open it, and is answered after a sticky error too. */

/* The UUID of a device. */
mcError_t mcDeviceGetUuid(mcUuid_t *uuid, mcDevice_t device);
/* The device that fits the nonzero members of prop best. */
mcError_t mcChooseDevice(int *deviceId, const mcDeviceProp_t *prop);
/* One attribute; 0 for features that do not exist. mcErrorInvalidValue for an
 * attribute that does not. */
mcError_t mcDeviceGetAttribute(int *value, mcDeviceAttribute_t attr,
                               int deviceId);
/* A limit of the current device, bytes; mcErrorUnsupportedLimit if it has none
 * such. */
mcError_t mcDeviceGetLimit(size_t *pValue, mcLimit_t limit);
/* Relation of two different devices: 0, they do not reach each other's
 * memory. */
mcError_t mcDeviceGetP2PAttribute(int *value, mcDeviceP2PAttr attr,
                                  int srcDevice, int dstDevice);
/* "dddd:bb:dd.f". len counts the terminator; too small: mcErrorInvalidValue and
 * an empty string. */
mcError_t mcDeviceGetPCIBusId(char *pciBusId, int len, int device);
/* Always mcSharedMemBankSizeFourByte. */
mcError_t mcDeviceGetSharedMemConfig(mcSharedMemConfig *pConfig);
/* From 0, the least urgent, down to a negative number. Either may be NULL. */
mcError_t mcDeviceGetStreamPriorityRange(int *leastPriority,
                                         int *greatestPriority);
/* Aborts all work, drops everything the process made on the current device (its
 * handles and device addresses become invalid, pinned host memory stays),
 * clears sticky errors. Waits for calls of other threads on the device, which
 * fail, and for a function that a stream is calling. */
mcError_t mcDeviceReset(void);
/* A hint; shared memory has a fixed size, so without effect. */
mcError_t mcDeviceSetCacheConfig(mcFuncCache_t cacheConfig);
/* Always mcFuncCachePreferNone. */
mcError_t mcDeviceGetCacheConfig(mcFuncCache_t *pCacheConfig);
/* A hint: banks stay four bytes wide. */
mcError_t mcDeviceSetSharedMemConfig(mcSharedMemConfig config);
/* Waits for all work of the current device, and prints what its kernels have
 * printed. */
mcError_t mcDeviceSynchronize(void);
/* The current device of the calling thread. */
mcError_t mcGetDevice(int *deviceId);
/* Devices that may be used; 0 is written when the call fails, too. */
mcError_t mcGetDeviceCount(int *count);
/* Flags of the current device. */
mcError_t mcGetDeviceFlags(unsigned int *flags);
/* All properties. */
mcError_t mcGetDeviceProperties(mcDeviceProp_t *prop, int deviceId);
/* Makes a device current for the calling thread; does not open it. */
mcError_t mcSetDevice(int deviceId);
/* How waits behave on the current device: one of mcDeviceSchedule*, with
 * mcDeviceMapHost or mcDeviceLmemResizeToMax, which have no effect. */
mcError_t mcSetDeviceFlags(unsigned int flag);
/* The first of these is current in threads that never chose one; len 0: device
 * 0. */
mcError_t mcSetValidDevices(int *deviceArray, int len);
/* Handle of the device with this number. */
mcError_t mcDeviceGet(mcDevice_t *device, int ordinal);
/* Name, cut to len bytes with the terminator. */
mcError_t mcDeviceGetName(char *name, int len, mcDevice_t device);
/* Bytes of device memory, used or not. */
mcError_t mcDeviceTotalMem(size_t *totmem, mcDevice_t device);
/* The pool a device has from the start; it cannot be destroyed. */
mcError_t mcDeviceGetDefaultMemPool(mcMemPool_t *memPool, mcDevice_t device);
/* The pool that mcMallocAsync takes from: the default pool, or what
 * mcDeviceSetMemPool set. */
mcError_t mcDeviceGetMemPool(mcMemPool_t *memPool, mcDevice_t device);
/* Sets a limit of the current device, bytes: mcLimitStackSize (a thread, at
 * most 1 MiB, rounded up to KiB), mcLimitPrintfFifoSize, mcLimitMallocHeapSize
 * (both until a kernel that uses them was launched, afterwards
 * mcErrorInvalidValue). More than the device has: mcErrorMemoryAllocation;
 * others: mcErrorUnsupportedLimit. */
mcError_t mcDeviceSetLimit(mcLimit_t limit, size_t value);
/* Eight bytes and a mask of one node, made of the UUID: graphics interfaces do
 * not know this device by another. */
mcError_t mcDeviceGetLuid(char *luid, unsigned int *deviceNodeMask,
                          mcDevice_t dev);
/* A pool of that device, not an imported one, else mcErrorInvalidValue. */
mcError_t mcDeviceSetMemPool(mcDevice_t dev, mcMemPool_t pool);
/* mcGetDeviceCount. */
mcError_t mcDeviceGetCount(int *count);
/* The device at a PCI address, [domain:]bus:device[.function] in hexadecimal;
 * mcErrorInvalidDevice when there is none. */
mcError_t mcDeviceGetByPCIBusId(int *device, const char *pciBusId);
/* 1: mcDeviceEnablePeerAccess() can give the one access to the memory of the
 * other. Opens both. */
mcError_t mcDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice);

/* ---- Peer access ----
 *
 * mcErrorInvalidDevice: no such device, or the current one itself. */

/* Kernels and copies of the current device may use what is, and will be,
 * allocated on another one, but for device variables; not the other way round.
 * flags must be 0. mcErrorPeerAccessUnsupported: mcDeviceCanAccessPeer() says
 * no; mcErrorPeerAccessAlreadyEnabled. A reset of either device ends it. */
mcError_t mcDeviceEnablePeerAccess(int peerDevice, unsigned int flags);
/* Waits for work of the current device, and ends that.
 * mcErrorPeerAccessNotEnabled. */
mcError_t mcDeviceDisablePeerAccess(int peerDevice);
/* The same by a context of the other device. */
mcError_t mcCtxEnablePeerAccess(mcCtx_t peerContext, unsigned int flags);
/* The same by a context of the other device. */
mcError_t mcCtxDisablePeerAccess(mcCtx_t peerContext);

/* ---- Context management ----
 *
 * mcErrorDeviceUninitialized: a handle that is none, or no context is current;
 * mcErrorContextIsDestroyed: another thread destroyed the current one. */

/* A context of a device, which is opened, made current. All contexts of a
 * device share its memory, objects and flags; flags other than 0 become the
 * device's. */
mcError_t mcCtxCreate(mcCtx_t *ctx, unsigned int flags, mcDevice_t device);
/* The handle ends; what was made with it current stays with the device. Not
 * for primary contexts. */
mcError_t mcCtxDestroy(mcCtx_t ctx);
/* Makes it current for the calling thread, over what was. */
mcError_t mcCtxPushCurrent(mcCtx_t ctx);
/* Back to what was current before; ctx may be NULL. */
mcError_t mcCtxPopCurrent(mcCtx_t *ctx);
/* In place of the current one; NULL: as mcCtxPopCurrent. */
mcError_t mcCtxSetCurrent(mcCtx_t ctx);
/* NULL for a thread that chose no device and whose device is not in use. */
mcError_t mcCtxGetCurrent(mcCtx_t *ctx);
/* The device of the current context. */
mcError_t mcCtxGetDevice(mcDevice_t *device);
/* mcGetDeviceFlags. */
mcError_t mcCtxGetFlags(unsigned int *flags);
/* MACART_VERSION; ctx NULL: of the current one. */
mcError_t mcCtxGetApiVersion(mcCtx_t ctx, unsigned int *version);
/* mcDeviceSynchronize. */
mcError_t mcCtxSynchronize(void);
/* mcDeviceGetLimit. */
mcError_t mcCtxGetLimit(size_t *pValue, mcLimit_t limit);
/* mcDeviceSetLimit. */
mcError_t mcCtxSetLimit(mcLimit_t limit, size_t value);
/* mcDeviceGetCacheConfig. */
mcError_t mcCtxGetCacheConfig(mcFuncCache_t *pConfig);
/* mcDeviceSetCacheConfig. */
mcError_t mcCtxSetCacheConfig(mcFuncCache_t config);
/* mcDeviceGetSharedMemConfig. */
mcError_t mcCtxGetSharedMemConfig(mcSharedMemConfig *pConfig);
/* mcDeviceSetSharedMemConfig. */
mcError_t mcCtxSetSharedMemConfig(mcSharedMemConfig config);
/* mcDeviceGetStreamPriorityRange. */
mcError_t mcCtxGetStreamPriorityRange(int *leastPriority, int
                                      *greatestPriority);
/* The context that calls use when none was made current; opens the device. */
mcError_t mcDevicePrimaryCtxRetain(mcCtx_t *ctx, mcDevice_t device);
/* Once for each mcDevicePrimaryCtxRetain. The device stays open: other
 * calls use it too. */
mcError_t mcDevicePrimaryCtxRelease(mcDevice_t device);
/* The device's flags, and whether it is open. */
mcError_t mcDevicePrimaryCtxGetState(mcDevice_t device, unsigned int *flags, int
                                     *active);
/* mcSetDeviceFlags of any device. */
mcError_t mcDevicePrimaryCtxSetFlags(mcDevice_t device, unsigned int flags);
/* mcDeviceReset of any device. */
mcError_t mcDevicePrimaryCtxReset(mcDevice_t device);

/* ---- Thread management (old names) ---- */

/* mcDeviceReset. */
mcError_t mcThreadExit(void);
/* mcDeviceSynchronize. */
mcError_t mcThreadSynchronize(void);
/* mcDeviceSetLimit. */
mcError_t mcThreadSetLimit(mcLimit_t limit, size_t value);
/* mcDeviceGetLimit. */
mcError_t mcThreadGetLimit(size_t *pValue, mcLimit_t limit);
/* mcDeviceGetCacheConfig. */
mcError_t mcThreadGetCacheConfig(mcFuncCache_t *pCacheConfig);
/* mcDeviceSetCacheConfig. */
mcError_t mcThreadSetCacheConfig(mcFuncCache_t cacheConfig);

/* ---- Stream management ----
 *
 * Work of a stream runs in order. NULL and mcStreamLegacy name the default
 * stream of the current device, mcStreamPerThread that of the calling thread.
 * Where MACA_API_PER_THREAD_DEFAULT_STREAM is defined before the first header
 * of the runtime (mxcc --default-stream per-thread), NULL, and the default
 * stream of functions that name none, is that of the calling thread, too.
 * Nobody has to synchronise before a stream is destroyed. */

/* A stream that is ordered with the legacy default stream. */
mcError_t mcStreamCreate(mcStream_t *stream);
/* mcStreamDefault, or mcStreamNonBlocking: not ordered with the default
 * stream. */
mcError_t mcStreamCreateWithFlags(mcStream_t *pStream, unsigned int flags);
/* The priority is clamped to the range of the device. */
mcError_t mcStreamCreateWithPriority(mcStream_t *stream, unsigned int flags,
                                     int priority);
/* Returns at once; work already in the stream is done. The default streams give
 * mcErrorInvalidResourceHandle. */
mcError_t mcStreamDestroy(mcStream_t stream);
/* The flags it was made with. */
mcError_t mcStreamGetFlags(mcStream_t hStream, unsigned int *flags);
/* Its priority after clamping. */
mcError_t mcStreamGetPriority(mcStream_t hStream, int *priority);
/* The context of its device. */
mcError_t mcStreamGetCtx(mcStream_t hStream, mcCtx_t *ctx);
/* mcSuccess when all its work is done, mcErrorNotReady when not; the latter is
 * not left for mcGetLastError(). */
mcError_t mcStreamQuery(mcStream_t stream);
/* Waits for all its work; of the default stream, for that of all streams
 * without mcStreamNonBlocking. Returns a sticky error of the device. */
mcError_t mcStreamSynchronize(mcStream_t stream);
/* Later work of the stream waits for what the event last recorded, on any
 * device; not at all when it never did. Does not wait itself. flags:
 * mcEventWaitDefault; in a stream that captures mcEventWaitExternal too, with
 * which the graph waits for what is recorded outside. */
mcError_t mcStreamWaitEvent(mcStream_t stream, mcEvent_t event,
                            unsigned int flags __dparm(0));
/* When earlier work is done a thread of the library calls the function with the
 * status of the stream, after an error too; later work waits until it returns.
 * It must not call the runtime. flags must be 0. */
mcError_t mcStreamAddCallback(mcStream_t stream, mcStreamCallback_t callback,
                              void *userData, unsigned int flags);
/* The device of a stream. */
mcError_t mcStreamGetDevice(mcStream_t hStream, mcDevice_t *device);

/* ---- Execution control ----
 *
 * Grids are counted in blocks, blocks in threads, shared memory in bytes beside
 * what the kernel declares. A launch queues the kernel and returns; arguments
 * have been read by then; with MACA_LAUNCH_BLOCKING=1 in the environment it
 * waits for the kernel. What goes wrong while that runs is a sticky error.
 *   mcErrorInvalidConfiguration      grid or block of 0, too many threads
 *   mcErrorInvalidValue              arguments missing or of another size, more
 *                                    shared memory than the kernel may have
 *   mcErrorLaunchOutOfResources      registers or stacks do not fit
 *   mcErrorInvalidDeviceFunction     the host symbol names no kernel
 *   mcErrorInvalidResourceHandle     function and stream of different devices,
 *                                    or a stream that is not of the current one
 * The first launch of a kernel of the program loads it to the device. */

/* Runs the kernel of a host symbol; args[i] points to argument i. */
mcError_t mcLaunchKernel(const void *function_address, dim3 numBlocks,
                         dim3 dimBlocks, void **args,
                         size_t sharedMemBytes __dparm(0),
                         mcStream_t stream __dparm(0));
/* Runs a kernel of a module; arguments in kernelParams or, packed, in extra. */
mcError_t mcModuleLaunchKernel(mcFunction_t f, unsigned int gridDimX,
                               unsigned int gridDimY, unsigned int gridDimZ,
                               unsigned int blockDimX, unsigned int blockDimY,
                               unsigned int blockDimZ,
                               unsigned int sharedMemBytes, mcStream_t stream,
                               void **kernelParams, void **extra);
/* When earlier work is done a thread of the library calls the function; later
 * work waits until it returns. Not called after an error. It must not call the
 * runtime. */
mcError_t mcLaunchHostFunc(mcStream_t stream, mcHostFn_t fn, void *userData);
/* As mcLaunchKernel; all blocks run at once and may wait for each other.
 * mcErrorCooperativeLaunchTooLarge when the device cannot hold them all. */
mcError_t mcLaunchCooperativeKernel(const void *f, dim3 gridDim, dim3 blockDim,
                                    void **kernelParams,
                                    unsigned int sharedMemBytes,
                                    mcStream_t stream);
/* What a kernel needs: sizes in bytes, registers and threads in numbers. */
mcError_t mcFuncGetAttributes(mcFuncAttributes *attr, const void *func);
/* Of a kernel: mcFuncAttributeMaxDynamicSharedMemorySize, the most dynamic
 * shared memory of a launch, bytes;
 * mcFuncAttributePreferredSharedMemoryCarveout, -1 to 100, a hint without
 * effect. */
mcError_t mcFuncSetAttribute(const void *func, mcFuncAttribute attr, int value);
/* A hint without effect. */
mcError_t mcFuncSetCacheConfig(const void *func, mcFuncCache_t config);
/* A hint: banks stay four bytes wide. */
mcError_t mcFuncSetSharedMemConfig(const void *func, mcSharedMemConfig config);

/* ---- Event management ---- */

/* An event with timing. */
mcError_t mcEventCreate(mcEvent_t *event);
/* mcEventBlockingSync (who waits sleeps at once), mcEventDisableTiming.
 * mcEventInterprocess is mcErrorNotSupported. */
mcError_t mcEventCreateWithFlags(mcEvent_t *event, unsigned int flags);
/* The event stands for the work in the stream so far, and for nothing that it
 * stood for before. mcErrorInvalidHandle when they are of different devices. */
mcError_t mcEventRecord(mcEvent_t event, mcStream_t stream __dparm(0));
/* flags: mcEventRecordDefault; in a stream that captures mcEventRecordExternal
 * too, with which each launch of the graph records it. */
mcError_t mcEventRecordWithFlags(mcEvent_t event,
                                 mcStream_t stream __dparm(0),
                                 unsigned int flags __dparm(0));
/* Waits for what the event stands for; not at all when it was never recorded.
 * Returns a sticky error of its device. */
mcError_t mcEventSynchronize(mcEvent_t event);
/* Device time from start to stop in milliseconds, by a clock of nanoseconds.
 * mcErrorNotReady until both are reached. mcErrorInvalidHandle when one was
 * never recorded or has no timing, or they are of different devices. */
mcError_t mcEventElapsedTime(float *ms, mcEvent_t start, mcEvent_t stop);
/* The same; flag must be 0, mcEventElapsedTimeInterDevice is
 * mcErrorNotSupported. */
mcError_t mcEventElapsedTimeWithFlags(float *ms, mcEvent_t start,
                                      mcEvent_t stop, unsigned int flag);
/* mcSuccess when reached or never recorded, else mcErrorNotReady. */
mcError_t mcEventQuery(mcEvent_t event);
/* Returns at once; streams that wait for it go on waiting for what it stood
 * for. */
mcError_t mcEventDestroy(mcEvent_t event);

/* ---- Occupancy ----
 *
 * f is the host symbol of a kernel; of the current device. Blocks are counted
 * in threads, shared memory in bytes. Nothing is launched. */

/* Dynamic shared memory that still lets numBlocks blocks run on a compute
 * unit; mcErrorInvalidValue when so many never do. */
mcError_t mcOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize,
                                                  const void *f, int numBlocks,
                                                  int blockSize);
/* Block size with the best occupancy, at most blockSizeLimit (0: no limit), and
 * the grid that fills the device. mcErrorInvalidValue when no block fits. */
mcError_t mcOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize,
                                           const void *f,
                                           size_t dynSharedMemPerBlk,
                                           int blockSizeLimit);
/* The same; flags do not matter here. */
mcError_t mcOccupancyMaxPotentialBlockSizeWithFlags(int *gridSize,
                                                    int *blockSize,
                                                    const void *f,
                                                    size_t dynSharedMemPerBlk,
                                                    int blockSizeLimit,
                                                    unsigned int flags);
/* Blocks of a kernel that run on a compute unit at once; 0 when none fits. */
mcError_t mcOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks,
                                                      const void *f,
                                                      int blockSize,
                                                      size_t dynamicSMemSize);
/* The same; flags do not matter here. */
mcError_t mcOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, const void *f, int blockSize, size_t dynamicSMemSize,
    unsigned int flags);
/* The same for a kernel of a module. */
mcError_t mcModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int *numBlocks, mcFunction_t f, int blockSize, size_t dynamicSMemSize);

/* ---- Profiler control ---- */

/* mx-prof records from here on; without it nothing happens. */
mcError_t mcProfilerStart(void);
/* ... up to here. */
mcError_t mcProfilerStop(void);

/* ---- Version management ---- */

/* 1000 * major + 10 * minor of this library. */
mcError_t mcRuntimeGetVersion(int *version);
/* 1000 * major + 10 * minor of the lower half; 0 without a device. */
mcError_t mcDriverGetVersion(int *version);

/* ---- Error handling ---- */

/* A sticky error of the current device, else the last error of the calling
 * thread, which is cleared; the former is not. Opens no device. */
mcError_t mcGetLastError(void);
/* The same without clearing. */
mcError_t mcPeekAtLastError(void);
/* The name of the enumerator; a text for other numbers too, never NULL, not to
 * be freed. */
const char *mcGetErrorName(mcError_t mc_error);
/* A description; likewise. */
const char *mcGetErrorString(mcError_t mc_error);

/* ---- Memory allocation ----
 *
 * Memory is of the current device, and freed from the one that it is on. A free
 * waits for all work of the devices that may use the memory. */

/* Device memory, aligned to 256 bytes, not cleared. Size 0 gives NULL. */
mcError_t mcMalloc(void **ptr, size_t sizeBytes);
/* Waits for the device, then frees. NULL is allowed. What mcMalloc and its kin
 * did not return is mcErrorInvalidDevicePointer. After a sticky error it
 * returns that and frees nothing: mcDeviceReset() does. */
mcError_t mcFree(void *ptr);
/* Pinned host memory with the same address on every device. flags have no
 * effect: mcMallocHostPortable, -Mapped, -WriteCombined. Size 0 gives NULL. */
mcError_t mcMallocHost(void **ptr, size_t size,
                       unsigned int flags __dparm(mcMallocHostDefault));
/* mcMallocHost; flags are mcHostAlloc*. */
mcError_t mcHostAlloc(void **pHost, size_t size, unsigned int flags);
/* mcMallocHost. */
mcError_t mcHostMalloc(void **ptr, size_t size,
                       unsigned int flags __dparm(mcMallocHostDefault));
/* Waits for the devices, then frees. NULL is allowed. mcErrorInvalidValue when
 * it is not the start of such memory. */
mcError_t mcFreeHost(void *ptr);
/* height rows of width bytes; *pitch, a multiple of 256, is the bytes from row
 * to row. */
mcError_t mcMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height);
/* height times depth rows as of mcMallocPitch; extent.width is in bytes. */
mcError_t mcMalloc3D(mcPitchedPtr *pitchedDevPtr, mcExtent extent);
/* Pins process memory; the device sees whole pages around it. Size is not 0.
 * mcErrorHostMemoryAlreadyRegistered; mcErrorInvalidValue when it is not all
 * memory of the process, readable and (but for mcHostRegisterReadOnly)
 * writable; mcErrorNotSupported for mcHostRegisterIoMemory. */
mcError_t mcHostRegister(void *hostPtr, size_t sizeBytes,
                         unsigned int flags __dparm(mcHostRegisterDefault));
/* The address given to mcHostRegister, else mcErrorHostMemoryNotRegistered.
 * Waits for the devices. */
mcError_t mcHostUnregister(void *hostPtr);
/* The same address; flags must be 0. mcErrorInvalidValue for other memory than
 * pinned. */
mcError_t mcHostGetDevicePointer(void **devPtr, void *hostPtr,
                                 unsigned int flags __dparm(0));
/* The flags given at allocation or registration. */
mcError_t mcHostGetFlags(unsigned int *flagsPtr, void *hostPtr);
/* mcMalloc; flags are mcDeviceMallocDefault or mcDeviceMallocFinegrained, which
 * are the same, others mcErrorNotSupported. */
mcError_t mcExtMallocWithFlags(void **ptr, size_t sizeBytes,
                               unsigned int flags);
/* Bytes of device memory, free and in all; either may be NULL. */
mcError_t mcMemGetInfo(size_t *free, size_t *total);
/* Start and bytes of the allocation, of device or pinned memory, that an
 * address lies in; either may be NULL. mcErrorNotFound. */
mcError_t mcMemGetAddressRange(mcDeviceptr_t *base, size_t *size,
                               mcDeviceptr_t ptr);

/* ---- Memory copy ----
 *
 * Forms without a stream use the default stream of the current device, and
 * return when the copy is complete, but from device to device of one device at
 * once. Forms in stream order ("Async") return at once for device and pinned
 * memory; of pageable memory a source has been read, a target written when they
 * return, so the latter wait. All forms between host and host, and between
 * devices, wait for the stream and are complete when they return. See
 * docs/memory.md.
 *   mcErrorInvalidMemcpyDirection    a kind that does not exist
 *   mcErrorInvalidValue              beyond an allocation; addresses that do
 *                                    not fit the kind; a null pointer
 *   mcErrorInvalidPitchValue         a pitch below the width, or above INT_MAX
 *   mcErrorInvalidSymbol             the symbol names no device variable */

/* Copies count bytes; the areas may not overlap. */
mcError_t mcMemcpy(void *dst, const void *src, size_t count, mcMemcpyKind kind);
/* The same in stream order. */
mcError_t mcMemcpyAsync(void *dst, const void *src, size_t count,
                        mcMemcpyKind kind, mcStream_t stream __dparm(0));
/* mcMemcpyAsync, then waits for the stream. */
mcError_t mcMemcpyWithStream(void *dst, const void *src, size_t sizeBytes,
                             mcMemcpyKind kind, mcStream_t stream);
/* From device to device; the addresses say which they are, the numbers must
 * exist. It is done by a device that has access to both areas, else through the
 * host. Of two devices: in order with all their work, and waited for. */
mcError_t mcMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice,
                       size_t sizeBytes);
/* The same in stream order alone; waits when it goes through the host. */
mcError_t mcMemcpyPeerAsync(void *dst, int dstDevice, const void *src,
                            int srcDevice, size_t sizeBytes, mcStream_t stream __dparm(0));
/* height rows of width bytes, a pitch apart on each side. */
mcError_t mcMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch,
                     size_t width, size_t height, mcMemcpyKind kind);
/* The same in stream order. */
mcError_t mcMemcpy2DAsync(void *dst, size_t dpitch, const void *src,
                          size_t spitch, size_t width, size_t height,
                          mcMemcpyKind kind, mcStream_t stream __dparm(0));
/* Device address of a variable on the current device. */
mcError_t mcGetSymbolAddress(void **devPtr, const void *symbol);
/* Its size in bytes. */
mcError_t mcGetSymbolSize(size_t *size, const void *symbol);
/* Reads a device variable of the current device, from offset bytes on. */
mcError_t mcMemcpyFromSymbol(void *dst, const void *symbol, size_t sizeBytes,
                             size_t offset __dparm(0),
                             mcMemcpyKind kind __dparm(mcMemcpyDefault));
/* The same in stream order. */
mcError_t mcMemcpyFromSymbolAsync(void *dst, const void *symbol,
                                  size_t sizeBytes, size_t offset __dparm(0),
                                  mcMemcpyKind kind __dparm(mcMemcpyDefault),
                                  mcStream_t stream __dparm(0));
/* Writes a device variable of the current device, from offset bytes on. */
mcError_t mcMemcpyToSymbol(const void *symbol, const void *src,
                           size_t sizeBytes, size_t offset __dparm(0),
                           mcMemcpyKind kind __dparm(mcMemcpyDefault));
/* The same in stream order. */
mcError_t mcMemcpyToSymbolAsync(const void *symbol, const void *src,
                                size_t sizeBytes, size_t offset __dparm(0),
                                mcMemcpyKind kind __dparm(mcMemcpyDefault),
                                mcStream_t stream __dparm(0));
/* A box of extent.width bytes, height rows, depth slices between pitched
 * pointers and arrays; positions are bytes, rows, slices. It lies in the rows
 * (else mcErrorInvalidPitchValue) and slices (else mcErrorInvalidValue) of each.
 * Where there is an array, extent.width counts its elements, and so does the
 * position in it; elements of two arrays are of one size (else
 * mcErrorInvalidValue). */
mcError_t mcMemcpy3D(const mcMemcpy3DParms *pCopy);
/* The same in stream order. */
mcError_t mcMemcpy3DAsync(const mcMemcpy3DParms *pCopy,
                          mcStream_t hStream __dparm(0));
/* mcMemcpy3D between devices: the addresses say which, and the kind says
 * nothing. In order and waited for as mcMemcpyPeer. */
mcError_t mcMemcpy3DPeer(const mcMemcpy3DParms *pCopy);
/* The same in stream order alone; waits when it goes through the host. */
mcError_t mcMemcpy3DPeerAsync(const mcMemcpy3DParms *pCopy,
                              mcStream_t hStream __dparm(0));
/* count copies of the kind mcMemcpyDefault in stream order, in no order among
 * each other. attrs[i] holds for the copies from number attrsIdxs[i] on, the
 * first for those from 0 on. The call waits for the stream when a source may not
 * be read after it. failIdx, which may be NULL: the copy that failed, before
 * which the others have been queued, else SIZE_MAX. mcErrorInvalidValue: no
 * copies, numbers that do not rise, the legacy default stream. */
mcError_t mcMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes,
                             size_t count, mcMemcpyAttributes *attrs,
                             size_t *attrsIdxs, size_t numAttrs,
                             size_t *failIdx, mcStream_t stream);
/* Device to device. */
mcError_t mcMemcpyDtoD(mcDeviceptr_t dstDevice, mcDeviceptr_t srcDevice,
                       size_t ByteCount);
/* The same in stream order. */
mcError_t mcMemcpyDtoDAsync(mcDeviceptr_t dstDevice, mcDeviceptr_t srcDevice,
                            size_t ByteCount, mcStream_t hStream);
/* Device to host. */
mcError_t mcMemcpyDtoH(void *dstHost, mcDeviceptr_t srcDevice,
                       size_t ByteCount);
/* The same in stream order. */
mcError_t mcMemcpyDtoHAsync(void *dstHost, mcDeviceptr_t srcDevice,
                            size_t ByteCount, mcStream_t hStream);
/* Host to device. */
mcError_t mcMemcpyHtoD(mcDeviceptr_t dstDevice, const void *srcHost,
                       size_t ByteCount);
/* The same in stream order. */
mcError_t mcMemcpyHtoDAsync(mcDeviceptr_t dstDevice, const void *srcHost,
                            size_t ByteCount, mcStream_t hStream);

/* ---- Memory set ----
 *
 * Device or pinned memory; pageable memory is mcErrorInvalidValue. Forms
 * without a stream use the default stream, and return at once for device
 * memory, when complete for pinned memory. Elements lie at multiples of their
 * size, pitches are bytes. Errors are those of copies. */

/* Sets sizeBytes bytes to the low byte of value. */
mcError_t mcMemset(void *dst, int value, size_t sizeBytes);
/* The same in stream order. */
mcError_t mcMemsetAsync(void *dst, int value, size_t sizeBytes,
                        mcStream_t stream __dparm(0));
/* height rows of width bytes, a pitch apart. */
mcError_t mcMemset2D(void *dst, size_t pitch, int value, size_t width,
                     size_t height);
/* The same in stream order. */
mcError_t mcMemset2DAsync(void *dst, size_t pitch, int value, size_t width,
                          size_t height, mcStream_t stream __dparm(0));
/* A box of extent.width bytes, height rows, depth slices; bounds as of
 * mcMemcpy3D. */
mcError_t mcMemset3D(mcPitchedPtr pitchedDevPtr, int value, mcExtent extent);
/* The same in stream order. */
mcError_t mcMemset3DAsync(mcPitchedPtr pitchedDevPtr, int value,
                          mcExtent extent, mcStream_t stream __dparm(0));
/* mSize bytes. */
mcError_t mcMemsetD8(mcDeviceptr_t dstDevice, unsigned char mValue,
                     size_t mSize);
/* The same in stream order. */
mcError_t mcMemsetD8Async(mcDeviceptr_t dstDevice, unsigned char mValue,
                          size_t mSize, mcStream_t hStream);
/* mSize elements of two bytes. */
mcError_t mcMemsetD16(mcDeviceptr_t dstDevice, unsigned short mValue,
                      size_t mSize);
/* The same in stream order. */
mcError_t mcMemsetD16Async(mcDeviceptr_t dstDevice, unsigned short mValue,
                           size_t mSize, mcStream_t hStream);
/* mSize elements of four bytes. */
mcError_t mcMemsetD32(mcDeviceptr_t dstDevice, unsigned int mValue,
                      size_t mSize);
/* The same in stream order. */
mcError_t mcMemsetD32Async(mcDeviceptr_t dstDevice, unsigned int mValue,
                           size_t mSize, mcStream_t hStream);
/* Rows of mWidth bytes. */
mcError_t mcMemsetD2D8(mcDeviceptr_t dstDevice, size_t dstPitch,
                       unsigned char mValue, size_t mWidth, size_t mHeight);
/* The same in stream order. */
mcError_t mcMemsetD2D8Async(mcDeviceptr_t dstDevice, size_t dstPitch,
                            unsigned char mValue, size_t mWidth, size_t mHeight,
                            mcStream_t hStream);
/* Rows of mWidth elements of two bytes. */
mcError_t mcMemsetD2D16(mcDeviceptr_t dstDevice, size_t dstPitch,
                        unsigned short mValue, size_t mWidth, size_t mHeight);
/* The same in stream order. */
mcError_t mcMemsetD2D16Async(mcDeviceptr_t dstDevice, size_t dstPitch,
                             unsigned short mValue, size_t mWidth,
                             size_t mHeight, mcStream_t hStream);
/* Rows of mWidth elements of four bytes. */
mcError_t mcMemsetD2D32(mcDeviceptr_t dstDevice, size_t dstPitch,
                        unsigned int mValue, size_t mWidth, size_t mHeight);
/* The same in stream order. */
mcError_t mcMemsetD2D32Async(mcDeviceptr_t dstDevice, size_t dstPitch,
                             unsigned int mValue, size_t mWidth, size_t mHeight,
                             mcStream_t hStream);

/* ---- Module management ----
 *
 * On the current device. An image is an ELF file, a fat binary or its wrapper;
 * it has been read when the call returns, and may go. Loading does not wait for
 * work of the device.
 *   mcErrorInvalidKernelImage        neither, truncated or malformed
 *   mcErrorNoKernelImageForDevice    of another machine, none for this device
 *   mcErrorUnsupportedKernelVersion  of a format version that is not known
 *   mcErrorSharedObjectSymbolNotFound
 *                                    an undefined symbol */

/*
 * The just-in-time linker (docs/linking.md): objects, fat binaries and static
 * libraries with relocatable device code, as mxcc -dc makes them, become one
 * code object for mcModuleLoadData. It needs mxcc, below MACA_PATH or beside
 * this library. Values of options travel in the pointers; those of wall time
 * and log sizes are written whenever a call for the state returns.
 *
 * mcErrorInvalidValue: an option that there is not or a value it cannot have;
 * mcErrorJitCompilerNotFound: no mxcc. optionValues stay valid until
 * mcLinkDestroy where results are asked for.
 */
mcError_t mcLinkCreate(unsigned int numOptions, mcJitOption *options,
                       void **optionValues, mcLinkState_t *stateOut);
/*
 * The data may go when it returns. Options of compilers are checked and have no
 * effect; the others are mcErrorInvalidValue. name may be NULL.
 *   mcErrorInvalidHandle             no such state, or completed
 *   mcErrorInvalidKernelImage        damaged, or not of that type
 *   mcErrorNoKernelImageForDevice    no device code in it that can be linked
 */
mcError_t mcLinkAddData(mcLinkState_t state, mcJitInputType type, void *data,
                        size_t size, const char *name, unsigned int numOptions,
                        mcJitOption *options, void **optionValues);
/* mcErrorFileNotFound. */
mcError_t mcLinkAddFile(mcLinkState_t state, mcJitInputType type,
                        const char *path, unsigned int numOptions,
                        mcJitOption *options, void **optionValues);
/*
 * The code object belongs to the state; a module loaded from it does not need
 * it any more. Once it is there, the same again.
 *   mcErrorInvalidValue              no such state, or nothing was added
 *   mcErrorInvalidKernelImage        it cannot be linked, the error log says
 *                                    why: undefined symbols ...; more may be
 *                                    added, and it is called again
 *   mcErrorJitCompilerNotFound       a program that mxcc needs is missing
 *   mcErrorOperatingSystem           no room for temporary files, no process
 */
mcError_t mcLinkComplete(mcLinkState_t state, void **dataOut, size_t *sizeOut);
/* mcErrorInvalidValue: no such state. */
mcError_t mcLinkDestroy(mcLinkState_t state);
/* Loads an image from a file; mcErrorFileNotFound. */
mcError_t mcModuleLoad(mcModule_t *module, const char *fname);
/* Waits for the device, then unloads; handles of its kernels end. Returns a
 * sticky error. mcErrorNotPermitted for kernels of the program itself. */
mcError_t mcModuleUnload(mcModule_t module);
/* A kernel by its name in the image, mangled where the source is C++;
 * mcErrorNotFound. The handle is valid as long as the module is. */
mcError_t mcModuleGetFunction(mcFunction_t *function, mcModule_t module,
                              const char *kname);
/* The kernel of a host symbol on the current device. */
mcError_t mcGetFuncBySymbol(mcFunction_t *functionPtr, const void *symbolPtr);
/* One attribute of a kernel. */
mcError_t mcFuncGetAttribute(int *value, mcFunction_attribute attrib,
                             mcFunction_t hfunc);
/* The module a kernel is from. */
mcError_t mcFuncGetModule(mcModule_t *module, mcFunction_t f);
/* Loads an image from memory. */
mcError_t mcModuleLoadData(mcModule_t *module, const void *image);
/* The same; there is no just-in-time compiler the options could steer. */
mcError_t mcModuleLoadDataEx(mcModule_t *module, const void *image,
                             unsigned int numOptions, mcJitOption *options,
                             void **optionValues);
/* mcModuleLoadData. */
mcError_t mcModuleLoadFatBinary(mcModule_t *module, const void *fatbin);
/* Device address and bytes of a variable; either pointer may be NULL.
 * mcErrorNotFound. */
mcError_t mcModuleGetGlobal(mcDeviceptr_t *dptr, size_t *bytes, mcModule_t hmod,
                            const char *name);

/* ---- Stream memory operations ----
 *
 * ptr is device or pinned memory, a multiple of the word's size, else
 * mcErrorInvalidValue. They queue the operation and return. */

/* Later work waits for memory to meet a condition, MC_STREAM_WAIT_VALUE_*: the
 * signed difference to value >= 0, equal, a common bit, or a bit that both
 * lack; with MC_STREAM_WAIT_VALUE_FLUSH it sees, too, what others wrote before
 * the value, which it does without. Else only mcDeviceReset() or a sticky error ends the wait. */
mcError_t mcStreamWaitValue32(mcStream_t stream, void *ptr, uint32_t value,
                              unsigned int flags);
/* The same, 64 bits. */
mcError_t mcStreamWaitValue64(mcStream_t stream, void *ptr, uint64_t value,
                              unsigned int flags);
/* Writes a word in stream order, after all that is before it in the stream;
 * MC_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER would allow less and changes
 * nothing. */
mcError_t mcStreamWriteValue32(mcStream_t stream, void *ptr, uint32_t value,
                               unsigned int flags);
/* The same, 64 bits. */
mcError_t mcStreamWriteValue64(mcStream_t stream, void *ptr, uint64_t value,
                               unsigned int flags);

#ifdef __cplusplus
}
#endif

#include "mc_array.h"
#include "mc_texture.h"
#include "mc_texture_driver.h"
#include "mc_launch.h"
#include "mc_stream.h"
#include "mc_virtual_memory.h"
#include "mc_external.h"
#include "mc_graph.h"
#include "mc_capture.h"
#include "mc_ipc.h"
#include "mc_mem_pool.h"
#include "mc_managed.h"
#include "mc_driver.h"
#include "mc_registration.h"
#include "mc_driver_functions.h"
#ifdef __cplusplus
#include "mc_runtime_api_template_wrapper.h"
#endif

#endif

#if defined(MACA_API_PER_THREAD_DEFAULT_STREAM) && \
    !defined(MCR_MC_PER_THREAD_H) && !defined(__MXCC_LOOKS__)
#error "MACA_API_PER_THREAD_DEFAULT_STREAM is defined too late: a header of\
 the runtime came before it. Use -D, or mxcc --default-stream per-thread."
#endif
