/* SPDX-License-Identifier: MIT */
/* Members that the structures of properties have in common. */
#ifndef ADAPTORS_LIB_PROPERTIES_H
#define ADAPTORS_LIB_PROPERTIES_H

#include <stddef.h>
#include <string.h>

#define ADAPTOR_COMMON_MEMBERS(COPY)                                           \
    COPY(name)                                                                 \
    COPY(uuid)                                                                 \
    COPY(totalGlobalMem)                                                       \
    COPY(sharedMemPerBlock)                                                    \
    COPY(regsPerBlock)                                                         \
    COPY(warpSize)                                                             \
    COPY(memPitch)                                                             \
    COPY(maxThreadsPerBlock)                                                   \
    COPY(maxThreadsDim)                                                        \
    COPY(maxGridSize)                                                          \
    COPY(clockRate)                                                            \
    COPY(totalConstMem)                                                        \
    COPY(major)                                                                \
    COPY(minor)                                                                \
    COPY(textureAlignment)                                                     \
    COPY(texturePitchAlignment)                                                \
    COPY(deviceOverlap)                                                        \
    COPY(multiProcessorCount)                                                  \
    COPY(kernelExecTimeoutEnabled)                                             \
    COPY(integrated)                                                           \
    COPY(canMapHostMemory)                                                     \
    COPY(computeMode)                                                          \
    COPY(concurrentKernels)                                                    \
    COPY(ECCEnabled)                                                           \
    COPY(pciBusID)                                                             \
    COPY(pciDeviceID)                                                          \
    COPY(pciDomainID)                                                          \
    COPY(asyncEngineCount)                                                     \
    COPY(unifiedAddressing)                                                    \
    COPY(memoryClockRate)                                                      \
    COPY(memoryBusWidth)                                                       \
    COPY(l2CacheSize)                                                          \
    COPY(maxThreadsPerMultiProcessor)                                          \
    COPY(streamPrioritiesSupported)                                            \
    COPY(sharedMemPerMultiprocessor)                                           \
    COPY(regsPerMultiprocessor)                                                \
    COPY(managedMemory)                                                        \
    COPY(pageableMemoryAccess)                                                 \
    COPY(concurrentManagedAccess)                                              \
    COPY(cooperativeLaunch)                                                    \
    COPY(cooperativeMultiDeviceLaunch)                                         \
    COPY(sharedMemPerBlockOptin)                                               \
    COPY(maxBlocksPerMultiProcessor)

#define ADAPTOR_COPY(member)                                                   \
    _Static_assert(sizeof(to->member) == sizeof(from->member), #member);       \
    memcpy(&to->member, &from->member, sizeof(to->member));

/* A member of type int that is an attribute. */
typedef struct AdaptorMember {
    int attribute;
    size_t offset;
} AdaptorMember;

#endif
