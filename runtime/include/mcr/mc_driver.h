/* SPDX-License-Identifier: MIT */
/*
 * Forms for programs that load modules themselves (docs/driver-forms.md). A
 * chapter of mc_runtime_api.h, which includes it and has the general rules.
 */
#ifndef MCR_MC_DRIVER_H
#define MCR_MC_DRIVER_H

#include "mc_runtime_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define mcGetProcAddressDefault                0x0
#define mcGetProcAddressLegacyStream           0x1
#define mcGetProcAddressPerThreadDefaultStream 0x2

typedef enum mcModuleLoadingMode {
    mcModuleEagerLoading = 1,
    mcModuleLazyLoading = 2
} mcModuleLoadingMode;

/* mcErrorInvalidValue, and NULL: there is no such error. */
mcError_t mcDrvGetErrorName(mcError_t error, const char **name);
mcError_t mcDrvGetErrorString(mcError_t error, const char **text);

mcError_t mcDeviceComputeCapability(int *major, int *minor, mcDevice_t device);
/* Old ways to count users of a context: they neither keep nor end it. */
mcError_t mcCtxAttach(mcCtx_t *ctx, unsigned int flags);
mcError_t mcCtxDetach(mcCtx_t ctx);
mcError_t mcCtxResetPersistingL2Cache(void);

/* width in bytes; elementSize 4, 8 or 16. */
mcError_t mcMemAllocPitch(mcDeviceptr_t *ptr, size_t *pitch, size_t width,
                          size_t height, unsigned int elementSize);
mcError_t mcMemAllocHost(void **ptr, size_t size);
/* Positions and width are bytes, rows and slices, of arrays too.
 * mcErrorInvalidPitchValue: a row is longer than the pitch. */
mcError_t mcDrvMemcpy3D(const mc_Memcpy3D *copy);
mcError_t mcDrvMemcpy3DAsync(const mc_Memcpy3D *copy, mcStream_t stream);

/* MC_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES or
 * MC_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT. */
mcError_t mcDrvFuncSetAttribute(mcFunction_t function,
                                mcFunction_attribute attribute, int value);
mcError_t mcDrvFuncSetCacheConfig(mcFunction_t function, mcFuncCache_t config);
mcError_t mcDrvFuncSetSharedMemConfig(mcFunction_t function,
                                      mcSharedMemConfig config);
mcError_t mcFuncGetName(const char **name, mcFunction_t function);
mcError_t mcModuleGetLoadingMode(mcModuleLoadingMode *mode);

mcError_t mcModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, mcFunction_t f, int blockSize, size_t dynamicSMemSize,
    unsigned int flags);
mcError_t mcModuleOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize,
                                                 mcFunction_t f,
                                                 size_t dynSharedMemPerBlk,
                                                 int blockSizeLimit);
mcError_t mcModuleOccupancyMaxPotentialBlockSizeWithFlags(
    int *gridSize, int *blockSize, mcFunction_t f, size_t dynSharedMemPerBlk,
    int blockSizeLimit, unsigned int flags);
mcError_t mcModuleOccupancyAvailableDynamicSMemPerBlock(
    size_t *dynamicSmemSize, mcFunction_t f, int numBlocks, int blockSize);

/* version: no later one than that; flags: mcGetProcAddress*. Forms for the
 * default stream of each thread: mcErrorNotSupported. */
mcError_t mcGetProcAddress(const char *symbol, void **function, int version,
                           unsigned long long flags);
mcError_t mcGetDriverEntryPoint(const char *symbol, void **function,
                                unsigned long long flags);

#ifdef __cplusplus
}
#endif

#endif
