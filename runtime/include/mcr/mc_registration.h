/* SPDX-License-Identifier: MIT */
/*
 * What mxcc's generated code calls, not for programs. Kernels and variables
 * that are registered are loaded to a device when they are first used there.
 */
#ifndef MCR_MC_REGISTRATION_H
#define MCR_MC_REGISTRATION_H

#include "mc_runtime_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* data is a wrapper (mxgpu/fatbin.h) that stays valid until unregistered. */
void **__mcRegisterFatBinary(const void *data);
void __mcUnregisterFatBinary(void **modules);
void __mcRegisterFunction(void **modules, const void *hostFunction,
                          char *deviceFunction, const char *deviceName,
                          unsigned int threadLimit, void *tid, void *bid,
                          dim3 *blockDim, dim3 *gridDim, int *wSize);
void __mcRegisterVar(void **modules, void *var, char *hostVar,
                     char *deviceVar, int ext, size_t size, int constant,
                     int global);
/* *pointer becomes its address; it begins with what init has. */
void __mcRegisterManagedVar(void **modules, void **pointer, void *init,
                            const char *name, size_t size,
                            unsigned int align);
void __mcRegisterTexture(void **modules, const void *var, const void **address,
                         const char *name, int type, int normalized, int ext);
void __mcRegisterSurface(void **modules, const void *var, const void **address,
                         const char *name, int type, int ext);
mcError_t __mcPushCallConfiguration(dim3 gridDim, dim3 blockDim,
                                    size_t sharedMem __dparm(0),
                                    mcStream_t stream __dparm(0));
mcError_t __mcPopCallConfiguration(dim3 *gridDim, dim3 *blockDim,
                                   size_t *sharedMem, mcStream_t *stream);

#ifdef __cplusplus
}
#endif

#endif
