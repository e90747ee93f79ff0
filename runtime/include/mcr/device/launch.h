/* SPDX-License-Identifier: MIT */
/*
 * What clang needs to find for kernel<<<...>>>(). mxcc renames the symbols to
 * __mcPushCallConfiguration, __mcPopCallConfiguration and mcLaunchKernel.
 * A stream 0 is the default stream that the program chose.
 */
#ifndef MCR_DEVICE_LAUNCH_H
#define MCR_DEVICE_LAUNCH_H

#include "mcr/mc_runtime_api.h"

extern "C" {
#ifdef MCR_MC_PER_THREAD_H
static inline unsigned __hipPushCallConfiguration(dim3 grid, dim3 block,
                                                  size_t shared = 0,
                                                  mcStream_t stream = nullptr)
{
    return __mcPushCallConfiguration(grid, block, shared,
                                     stream ? stream : mcStreamPerThread);
}
#else
unsigned __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                    mcStream_t stream = nullptr);
#endif
mcError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                    mcStream_t *stream);
mcError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block,
                          void **args, size_t shared, mcStream_t stream);
}

#endif
