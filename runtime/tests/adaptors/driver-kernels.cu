/* SPDX-License-Identifier: MIT */
/* Loaded by driver.c. */
__constant__ float scale;
__device__ int launches;

extern "C" __global__ void VecAdd_kernel(const float *A, const float *B,
                                         float *C, int N)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i == 0) {
        atomicAdd(&launches, 1);
    }
    if (i < N) {
        C[i] = scale * (A[i] + B[i]);
    }
}
