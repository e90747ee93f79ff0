// SPDX-License-Identifier: MIT
// hip/hip_cooperative_groups.h: a tile and a whole grid.
#include "program.h"

#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void tiles(int *out)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int value = threadIdx.x;

    for (int offset = tile.size() / 2; offset; offset /= 2) {
        value += tile.shfl_xor(value, offset);
    }
    out[threadIdx.x] = value;
}

__global__ void grid(int *data, int n)
{
    cg::grid_group all = cg::this_grid();

    for (int i = all.thread_rank(); i < n; i += all.size()) {
        data[i] = i;
    }
    all.sync();
    for (int i = all.thread_rank(); i < n; i += all.size()) {
        data[n + i] = data[n - 1 - i];
    }
}

int main()
{
    int n = 1000, *out = device_new<int>(64), *data = device_new<int>(2 * n);
    void *args[] = {&data, &n};

    tiles<<<1, 64>>>(out);
    LAUNCHED();
    std::vector<int> sums = host_copy(out, 64);
    for (int i = 0; i < 64; i++) {
        REQUIRE(sums[i] == 120 + i / 16 * 256);
    }
    CHECK(hipLaunchCooperativeKernel((void *)grid, dim3(4), dim3(64), args, 0,
                                     0));
    LAUNCHED();
    std::vector<int> turned = host_copy(data, 2 * n);
    for (int i = 0; i < n; i++) {
        REQUIRE(turned[n + i] == n - 1 - i);
    }
    CHECK(hipFree(out));
    CHECK(hipFree(data));
    return passed();
}
