// SPDX-License-Identifier: MIT
// Launches by functions: cudaLaunchKernel, sizes in three dimensions.
#include "program.h"

__global__ void where(int4 *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;

    if (x < width && y < height) {
        out[(z * height + y) * width + x] = make_int4(x, y, z, gridDim.y);
    }
}

struct Big {
    int values[200];
};

__global__ void by_value(Big big, char c, int *out, double d)
{
    int sum = c + (int)d;

    for (int v : big.values) {
        sum += v;
    }
    *out = sum;
}

int main()
{
    int width = 19, height = 11;
    const int depth = 6;
    int4 *out = device_new<int4>(width * height * depth);
    void *args[] = {&out, &width, &height};
    dim3 block(8, 4, 2);
    dim3 grid((width + 7) / 8, (height + 3) / 4, depth / 2);

    CHECK(cudaLaunchKernel((const void *)where, grid, block, args, 0, 0));
    CHECK(cudaDeviceSynchronize());
    std::vector<int4> got = host_copy(out, width * height * depth);
    for (int i = 0; i < width * height * depth; i++) {
        REQUIRE(got[i].x == i % width && got[i].y == i / width % height);
        REQUIRE(got[i].z == i / width / height && got[i].w == 3);
    }
    Big big;
    for (int i = 0; i < 200; i++) {
        big.values[i] = i;
    }
    int *sum = device_new<int>(1);
    by_value<<<1, 1>>>(big, 'A', sum, 1e6);
    LAUNCHED();
    REQUIRE(host_copy(sum, 1)[0] == 19900 + 65 + 1000000);

    // As in later versions: with attributes, arguments as of a call.
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.gridDim = config.blockDim = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, by_value, big, 'B', sum, 5)); // an int
    REQUIRE(host_copy(sum, 1)[0] == 19900 + 66 + 5);
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    FAILS(cudaErrorInvalidConfiguration,
          cudaLaunchKernelEx(&config, by_value, big, 'B', sum, 5));

    FAILS(cudaErrorInvalidDeviceFunction,
          cudaLaunchKernel((const void *)&big, grid, block, args, 0, 0));
    CHECK(cudaFree(out));
    CHECK(cudaFree(sum));
    return passed();
}
