/* SPDX-License-Identifier: MIT */
#ifndef KERNELS_H
#define KERNELS_H

#include <cuda_runtime.h>

extern __device__ int helper(int x);
void run(int *device, int n, cudaStream_t stream);

#endif
