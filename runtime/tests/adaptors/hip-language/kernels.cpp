// SPDX-License-Identifier: MIT
#include <hip/hip_runtime.h>

__global__ void number(int *data)
{
    data[threadIdx.x] = threadIdx.x * FACTOR;
}

void number_all(int *data, int n)
{
    hipLaunchKernelGGL(number, dim3(1), dim3(n), 0, 0, data);
}
