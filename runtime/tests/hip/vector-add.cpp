// SPDX-License-Identifier: MIT
// hipLaunchKernelGGL and the triple brackets.
#include "program.h"

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;

    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

template <typename T> __global__ void scale(T *data, T by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        data[i] *= by;
    }
}

int main()
{
    const int n = 10000, blocks = (n + 255) / 256;
    std::vector<float> a(n), b(n);

    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
    float *da = device_copy(a), *db = device_copy(b);
    float *dc = device_new<float>(n);
    hipLaunchKernelGGL(vector_add, dim3(blocks), dim3(256), 0, 0, da, db, dc,
                       n);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(scale<float>), blocks, 256, 0, 0, dc,
                       0.5f, n);
    scale<float><<<blocks, 256>>>(dc, 4, n);
    LAUNCHED();
    std::vector<float> c = host_copy(dc, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(c[i] == 6.0f * i);
    }
    CHECK(hipFree(da));
    CHECK(hipFree(db));
    CHECK(hipFree(dc));
    return passed();
}
