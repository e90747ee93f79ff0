// SPDX-License-Identifier: MIT
// __launch_bounds__ and what the occupancy functions say.
#include "program.h"

__global__ void __launch_bounds__(128, 2) bounded(int *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x]++;
}

__global__ void with_shared(int *data)
{
    __shared__ int room[4096];

    room[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

int main()
{
    int *data = device_new<int>(4096), blocks = 0, least = 0, size = 0;
    cudaFuncAttributes attributes;
    cudaDeviceProp properties;

    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaFuncGetAttributes(&attributes, bounded));
    REQUIRE(attributes.maxThreadsPerBlock == 128);
    CHECK(cudaMemset(data, 0, 4096 * sizeof(int)));
    bounded<<<2, 128>>>(data);
    LAUNCHED();
    REQUIRE(host_copy(data, 256)[255] == 1);
    bounded<<<1, 129>>>(data);
    cudaError_t error = cudaGetLastError();
    REQUIRE(error == cudaErrorLaunchOutOfResources ||
            error == cudaErrorInvalidConfiguration);
    CHECK(cudaFuncGetAttributes(&attributes, with_shared));
    REQUIRE(attributes.sharedSizeBytes == 4096 * sizeof(int));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared,
                                                        64, 0));
    REQUIRE(blocks >= 1);
    REQUIRE(blocks <= (int)(properties.sharedMemPerMultiprocessor /
                            (4096 * sizeof(int))));
    int fewer = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &fewer, with_shared, 64, properties.sharedMemPerBlock / 2));
    REQUIRE(fewer <= blocks);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&least, &size, bounded, 0, 0));
    REQUIRE(size > 0 && size <= 128 && size % properties.warpSize == 0);
    REQUIRE(least >= properties.multiProcessorCount);
    bounded<<<4096 / size, size>>>(data);
    LAUNCHED();
    CHECK(cudaFree(data));
    return passed();
}
