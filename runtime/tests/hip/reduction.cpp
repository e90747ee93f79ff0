// SPDX-License-Identifier: MIT
// A sum by shared memory and wavefronts.
#include "program.h"

__global__ void sum(const float *in, float *out, int n)
{
    __shared__ float parts[16];
    float value = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += blockDim.x * gridDim.x) {
        value += in[i];
    }
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        value += __shfl_down(value, offset);
    }
    if (threadIdx.x % warpSize == 0) {
        parts[threadIdx.x / warpSize] = value;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / warpSize; w++) {
            value += parts[w];
        }
        atomicAdd(out, value);
    }
}

int main()
{
    const int n = 30000;
    std::vector<float> in(n);
    float want = 0;

    for (int i = 0; i < n; i++) {
        in[i] = i % 8;
        want += in[i];
    }
    float *data = device_copy(in), *out = device_new<float>(1);
    CHECK(hipMemset(out, 0, sizeof(float)));
    sum<<<10, 256>>>(data, out, n);
    LAUNCHED();
    REQUIRE(host_copy(out, 1)[0] == want);
    CHECK(hipFree(data));
    CHECK(hipFree(out));
    return passed();
}
