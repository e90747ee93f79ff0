// SPDX-License-Identifier: MIT
// A grid whose blocks wait for each other: cudaLaunchCooperativeKernel.
#include "program.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rounds(int *data, int n, int count)
{
    cg::grid_group grid = cg::this_grid();

    for (int round = 0; round < count; round++) {
        const int *from = data + (round % 2) * n;
        int *to = data + (1 - round % 2) * n;

        for (int i = grid.thread_rank(); i < n; i += grid.size()) {
            to[i] = from[(i + 1) % n] + 1;
        }
        grid.sync();
    }
}

int main()
{
    const int n = 5000;
    int count = 6, blocks = 0, cooperative = 0, elements = n;
    std::vector<int> in(2 * n);
    cudaDeviceProp properties;

    CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch,
                                 0));
    REQUIRE(cooperative);
    for (int i = 0; i < n; i++) {
        in[i] = i;
    }
    int *data = device_copy(in);
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rounds, 128,
                                                        0));
    REQUIRE(blocks > 0);
    int most = blocks * properties.multiProcessorCount;
    void *args[] = {&data, &elements, &count};
    CHECK(cudaLaunchCooperativeKernel((void *)rounds, dim3(most < 16 ? most
                                                                     : 16),
                                      dim3(128), args, 0, 0));
    LAUNCHED();
    std::vector<int> out = host_copy(data, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(out[i] == (i + count) % n + count);
    }
    FAILS(cudaErrorCooperativeLaunchTooLarge,
          cudaLaunchCooperativeKernel((void *)rounds, dim3(most + 1),
                                      dim3(128), args, 0, 0));
    CHECK(cudaFree(data));
    return passed();
}
