// SPDX-License-Identifier: MIT
// Atomics of floating point, and one made of atomicCAS.
#include "program.h"

__device__ float atomic_max(float *address, float value)
{
    int *as_int = (int *)address, old = *as_int, assumed;

    do {
        assumed = old;
        old = atomicCAS(as_int, assumed,
                        __float_as_int(fmaxf(value,
                                             __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}

__global__ void sums(float *f, double *d, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float shared;

    if (threadIdx.x == 0) {
        shared = 0;
    }
    __syncthreads();
    if (i < n) {
        atomicAdd(&f[0], 0.5f);
        atomicAdd(d, 0.25);
        atomicAdd(&shared, 1.0f);
        atomic_max(&f[1], in[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd_system(&f[2], shared);
        atomicAdd_block(&f[3 + blockIdx.x], shared);
    }
}

int main()
{
    const int n = 1000, blocks = (n + 255) / 256;
    std::vector<float> in(n);
    Random random(9);
    float most = -1;

    for (auto &x : in) {
        x = random.real() - 0.9f;
        most = x > most ? x : most;
    }
    float *data = device_copy(in), *f = device_new<float>(3 + blocks);
    double *d = device_new<double>(1);
    CHECK(cudaMemset(f, 0, (3 + blocks) * sizeof(float)));
    CHECK(cudaMemset(d, 0, sizeof(double)));
    sums<<<blocks, 256>>>(f, d, data, n);
    LAUNCHED();
    std::vector<float> out = host_copy(f, 3 + blocks);
    REQUIRE(out[0] == 500 && host_copy(d, 1)[0] == 250);
    REQUIRE(out[1] == (most > 0 ? most : 0) && out[2] == n);
    REQUIRE(out[3] == 256 && out[2 + blocks] == n - 256 * (blocks - 1));
    CHECK(cudaFree(data));
    CHECK(cudaFree(f));
    CHECK(cudaFree(d));
    return passed();
}
