// SPDX-License-Identifier: MIT
// cuLaunchKernel of a kernel of this program.
#include "program.h"

#include <cuda.h>

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

int main()
{
    int n = 1000, value = 0;
    std::vector<float> a(n), b(n);
    cudaFunction_t function = nullptr;

    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 0.5f * i;
    }
    float *da = device_copy(a), *db = device_copy(b);
    float *dc = device_new<float>(n);
    CHECK(cudaGetFuncBySymbol(&function, (const void *)vector_add));
    void *args[] = {&da, &db, &dc, &n};
    REQUIRE(cuLaunchKernel((CUfunction)function, (n + 255) / 256, 1, 1, 256, 1,
                           1, 0, 0, args, nullptr) == CUDA_SUCCESS);
    REQUIRE(cuCtxSynchronize() == CUDA_SUCCESS);
    std::vector<float> c = host_copy(dc, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(c[i] == 1.5f * i);
    }
    REQUIRE(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                               (CUfunction)function) == CUDA_SUCCESS);
    REQUIRE(value >= 256);
    REQUIRE(cuLaunchKernel((CUfunction)function, 1, 1, 1, 100000, 1, 1, 0, 0,
                           args, nullptr) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, 0, args, nullptr) ==
            CUDA_ERROR_INVALID_HANDLE);

    // As in later versions, with attributes.
    CUlaunchAttribute attribute = {};
    CUlaunchConfig config = {};
    config.gridDimX = (n + 255) / 256;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 256;
    config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    CHECK(cudaMemset(dc, 0, n * sizeof(float)));
    REQUIRE(cuLaunchKernelEx(&config, (CUfunction)function, args, nullptr) ==
            CUDA_SUCCESS);
    REQUIRE(host_copy(dc, n)[n - 1] == c[n - 1]);
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = 2;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    REQUIRE(cuLaunchKernelEx(&config, (CUfunction)function, args, nullptr) ==
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuLaunchKernelEx(nullptr, (CUfunction)function, args, nullptr) ==
            CUDA_ERROR_INVALID_VALUE);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    return passed();
}
