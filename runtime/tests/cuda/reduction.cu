// SPDX-License-Identifier: MIT
// A sum by trees: shared memory, then shuffles, any warpSize.
#include "program.h"

template <typename T> __device__ T warp_sum(T value)
{
    for (int offset = warpSize / 2; offset > 0; offset >>= 1) {
        value += __shfl_down_sync(__activemask(), value, offset);
    }
    return value;
}

template <typename T> __global__ void sum(const T *in, T *out, int n)
{
    __shared__ T partial[32];
    T value = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += blockDim.x * gridDim.x) {
        value += in[i];
    }
    value = warp_sum(value);
    if (threadIdx.x % warpSize == 0) {
        partial[threadIdx.x / warpSize] = value;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / warpSize; w++) {
            value += partial[w];
        }
        out[blockIdx.x] = value;
    }
}

template <typename T> static void run(int n)
{
    const int blocks = 16;
    std::vector<T> in(n);
    T want = 0, total = 0;

    for (int i = 0; i < n; i++) {
        in[i] = i % 17 - 5;
        want += in[i];
    }
    T *data = device_copy(in), *parts = device_new<T>(blocks);
    sum<T><<<blocks, 256>>>(data, parts, n);
    LAUNCHED();
    for (T p : host_copy(parts, blocks)) {
        total += p;
    }
    REQUIRE(total == want);
    CHECK(cudaFree(data));
    CHECK(cudaFree(parts));
}

int main()
{
    run<int>(100000);
    run<float>(77777);
    run<double>(1);
    run<long long>(4096);
    return passed();
}
