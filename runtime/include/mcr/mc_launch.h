/* SPDX-License-Identifier: MIT */
/*
 * Launches with attributes, and on several devices. A chapter of
 * mc_runtime_api.h, which includes it and has the general rules; errors of
 * shapes and arguments are those of mcLaunchKernel().
 */
#ifndef MCR_MC_LAUNCH_H
#define MCR_MC_LAUNCH_H

#include "mc_runtime_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mcLaunchAttributeID {
    mcLaunchAttributeIgnore = 0,
    mcLaunchAttributeAccessPolicyWindow = 1,
    mcLaunchAttributeCooperative = 2,
    mcLaunchAttributeSynchronizationPolicy = 3,
    mcLaunchAttributeClusterDimension = 4,
    mcLaunchAttributeClusterSchedulingPolicyPreference = 5,
    mcLaunchAttributeProgrammaticStreamSerialization = 6,
    mcLaunchAttributeProgrammaticEvent = 7,
    mcLaunchAttributePriority = 8,
    mcLaunchAttributeMemSyncDomainMap = 9,
    mcLaunchAttributeMemSyncDomain = 10
} mcLaunchAttributeID;

typedef struct mcLaunchAttribute {
    mcLaunchAttributeID id;
    char pad[8 - sizeof(mcLaunchAttributeID)];
    mcLaunchAttributeValue val;
} mcLaunchAttribute;

/* dynamicSmemBytes: shared memory beside what the kernel declares. */
typedef struct mcLaunchConfig_t {
    dim3 gridDim;
    dim3 blockDim;
    size_t dynamicSmemBytes;
    mcStream_t stream;
    mcLaunchAttribute *attrs; /* at most 64 */
    unsigned int numAttrs;
} mcLaunchConfig_t;

typedef struct mcLaunchConfigExtension {
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    mcStream_t hStream;
    mcLaunchAttribute *attrs;
    unsigned int numAttrs;
} mcLaunchConfigExtension;

/* Flags of launches on several devices. */
#define mcCooperativeLaunchMultiDeviceNoPreSync  0x1
#define mcCooperativeLaunchMultiDeviceNoPostSync 0x2

/* As mcLaunchCooperativeKernel, for a kernel of a module. */
mcError_t mcModuleLaunchCooperativeKernel(
    mcFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
    unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
    unsigned int blockDimZ, unsigned int sharedMemBytes, mcStream_t stream,
    void **kernelParams);

/*
 * mcLaunchKernel and mcModuleLaunchKernel with attributes:
 *   Cooperative           1: all blocks run at once
 *   Priority              of this kernel, clamped as that of streams; it stays
 *                         in order with the stream
 *   AccessPolicyWindow    of no bytes (see mcStreamSetAttribute)
 *   ClusterDimension      1, 1, 1: a block
 *   Ignore                nothing
 * Any other attribute, and larger clusters, are mcErrorInvalidConfiguration.
 */
mcError_t mcLaunchKernelExC(const mcLaunchConfig_t *config, const void *func,
                            void **args);
mcError_t mcModuleLaunchKernelEx(const mcLaunchConfigExtension *config,
                                 mcFunction_t f, void **kernelParams,
                                 void **extra);

/*
 * A kernel on each of several devices, in a stream that is no default stream
 * (mcErrorInvalidResourceHandle) and of a device that no other one is of
 * (mcErrorInvalidDevice). Each waits for what is in all of the streams, and
 * what comes later in one of them for all kernels; the flags leave out one or
 * the other. All are checked before the first is launched. Does not wait.
 * Here the kernel is the same one in the same shape everywhere
 * (mcErrorInvalidValue), and on each device all of its blocks run at once
 * (mcErrorCooperativeLaunchTooLarge). Blocks of different devices cannot be
 * synchronised by a group; memory of the host can.
 */
mcError_t mcLaunchCooperativeKernelMultiDevice(
    mcLaunchParams *launchParamsList, int numDevices, unsigned int flags);
/* The same with a kernel and a shape of its own for each device. */
mcError_t mcExtLaunchMultiKernelMultiDevice(mcLaunchParams *launchParamsList,
                                            int numDevices,
                                            unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif
