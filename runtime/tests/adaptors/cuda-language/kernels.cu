/* SPDX-License-Identifier: MIT */
extern __device__ int squared(int x);

__global__ void filled(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        data[i] = squared(i) + 1;
    }
}

void fill(int *data, int n)
{
    filled<<<(n + 63) / 64, 64>>>(data, n);
}
