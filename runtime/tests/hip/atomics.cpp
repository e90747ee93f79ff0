// SPDX-License-Identifier: MIT
// Atomics, also of floating point and of the system.
#include "program.h"

__global__ void atomics(int *i, float *f, double *d)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    atomicAdd(&i[0], t);
    atomicMax(&i[1], t);
    atomicMin(&i[2], -t);
    atomicXor(&i[3], 1 << (t % 31));
    atomicExch(&i[4], 5);
    atomicCAS(&i[5], 0, t + 1);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 1.5);
    unsafeAtomicAdd(f + 1, 2.0f);
}

int main()
{
    const int n = 620;
    int *i = device_new<int>(6);
    float *f = device_new<float>(2);
    double *d = device_new<double>(1);

    CHECK(hipMemset(i, 0, 6 * sizeof(int)));
    CHECK(hipMemset(f, 0, 2 * sizeof(float)));
    CHECK(hipMemset(d, 0, sizeof(double)));
    atomics<<<n / 62, 62>>>(i, f, d);
    LAUNCHED();
    std::vector<int> a = host_copy(i, 6);
    REQUIRE(a[0] == n * (n - 1) / 2 && a[1] == n - 1 && a[2] == 1 - n);
    REQUIRE(a[3] == 0 && a[4] == 5 && a[5] >= 1 && a[5] <= n);
    std::vector<float> g = host_copy(f, 2);
    REQUIRE(g[0] == n / 2 && g[1] == 2 * n);
    REQUIRE(host_copy(d, 1)[0] == 1.5 * n);
    CHECK(hipFree(i));
    CHECK(hipFree(f));
    CHECK(hipFree(d));
    return passed();
}
