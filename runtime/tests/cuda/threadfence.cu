// SPDX-License-Identifier: MIT
// The last block to finish adds what the others left: __threadfence.
#include "program.h"

__device__ unsigned finished;

__global__ void sum(const float *in, int n, volatile float *parts, float *out)
{
    __shared__ float tile[128];
    __shared__ bool last;
    float mine = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        mine += in[i];
    }
    tile[threadIdx.x] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            tile[threadIdx.x] += tile[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = tile[0];
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;

        for (unsigned b = 0; b < gridDim.x; b++) {
            all += parts[b];
        }
        *out = all;
    }
}

int main()
{
    const int n = 50000, blocks = 24;
    std::vector<float> in(n);
    float want = 0;

    for (int i = 0; i < n; i++) {
        in[i] = i % 10;
        want += in[i];
    }
    float *data = device_copy(in), *parts = device_new<float>(blocks);
    float *out = device_new<float>(1);
    for (int round = 0; round < 3; round++) {
        CHECK(cudaMemset(out, 0, sizeof(float)));
        sum<<<blocks, 128>>>(data, n, parts, out);
        LAUNCHED();
        REQUIRE(host_copy(out, 1)[0] == want);
    }
    CHECK(cudaFree(data));
    CHECK(cudaFree(parts));
    CHECK(cudaFree(out));
    return passed();
}
