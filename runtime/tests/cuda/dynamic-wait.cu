// SPDX-License-Identifier: MIT
// A kernel that waits for the kernels it launched, as CUDA 11 has it.
#include "program.h"

__global__ void step(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        data[i] = 2 * data[i] + 1;
    }
}

// Launches until the sum is large enough: it has to see each result.
__global__ void until(int *data, int n, long enough, int *rounds)
{
    __shared__ long sum;

    for (int round = 1; round <= 20; round++) {
        if (threadIdx.x == 0) {
            step<<<(n + 63) / 64, 64>>>(data, n);
            sum = cudaDeviceSynchronize() == cudaSuccess ? 0 : enough;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            atomicAdd((unsigned long long *)&sum,
                      (unsigned long long)((volatile int *)data)[i]);
        }
        __syncthreads();
        if (sum >= enough) {
            if (threadIdx.x == 0) {
                *rounds = round;
            }
            return;
        }
        __syncthreads();
    }
}

int main()
{
    const int n = 1000;
    int *data = device_new<int>(n), *rounds = device_new<int>(1);
    int host;
    size_t depth;

    CHECK(cudaDeviceGetLimit(&depth, cudaLimitDevRuntimeSyncDepth));
    REQUIRE(depth >= 1);
    CHECK(cudaMemset(data, 0, n * sizeof(int)));
    CHECK(cudaMemset(rounds, 0, sizeof(int)));
    // after r rounds each number is 2^r - 1
    until<<<1, 128>>>(data, n, 1000l * 127, rounds);
    LAUNCHED();
    CHECK(cudaMemcpy(&host, rounds, sizeof host, cudaMemcpyDeviceToHost));
    REQUIRE(host == 7);
    CHECK(cudaMemcpy(&host, data + n - 1, sizeof host, cudaMemcpyDeviceToHost));
    REQUIRE(host == 127);
    CHECK(cudaFree(data));
    CHECK(cudaFree(rounds));
    return passed();
}
