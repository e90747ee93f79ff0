// SPDX-License-Identifier: MIT
// One of HIP, in a file that nothing says has kernels.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void fill(int *p)
{
    p[threadIdx.x] = threadIdx.x;
}

int main()
{
    int *p, host[64] = {};

    if (hipMalloc(&p, sizeof(host)) != hipSuccess) {
        return 1;
    }
    hipLaunchKernelGGL(fill, dim3(1), dim3(64), 0, 0, p);
    if (hipMemcpy(host, p, sizeof(host), hipMemcpyDeviceToHost) !=
            hipSuccess || host[63] != 63) {
        return 1;
    }
    printf("PASSED\n");
}
