// SPDX-License-Identifier: MIT
// Lambdas as arguments of kernels, with what they captured.
#include "program.h"

template <typename F> __global__ void for_each(int n, F f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        f(i);
    }
}

template <typename F> static void parallel_for(int n, F f)
{
    for_each<<<4, 64>>>(n, f);
    LAUNCHED();
}

int main()
{
    const int n = 1000;
    float a = 2.5f;
    float *x = device_new<float>(n), *y = device_new<float>(n);
    int *count = device_new<int>(1);

    parallel_for(n, [=] __device__(int i) {
        x[i] = i;
        y[i] = 1;
    });
    parallel_for(n, [=] __device__(int i) { y[i] += a * x[i]; });
    CHECK(cudaMemset(count, 0, sizeof(int)));
    /* One for both sides. */
    auto above_100 = [=] __host__ __device__(float v) { return v > 100 * a; };
    parallel_for(n, [=] __device__(int i) {
        if (above_100(y[i])) {
            atomicAdd(count, 1);
        }
    });
    int above = 0;
    std::vector<float> out = host_copy(y, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(out[i] == 1 + 2.5f * i);
        above += above_100(out[i]);
    }
    REQUIRE(host_copy(count, 1)[0] == above && above > 0);
    /* One within a kernel's own code. */
    parallel_for(n, [=] __device__(int i) {
        auto twice = [](float v) { return 2 * v; };

        x[i] = twice(x[i]);
    });
    REQUIRE(host_copy(x, n)[n - 1] == 2 * (n - 1));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(count));
    return passed();
}
