// SPDX-License-Identifier: MIT
// cg::reduce and cg::inclusive_scan with their operators.
#include "program.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void kernel(const int *in, int *out)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = threadIdx.x, value = in[i];

    out[i] = cg::reduce(tile, value, cg::plus<int>());
    out[128 + i] = cg::reduce(tile, value, cg::greater<int>());
    out[256 + i] = cg::reduce(tile, value, cg::less<int>());
    out[384 + i] = cg::inclusive_scan(tile, value);
    out[512 + i] = cg::exclusive_scan(tile, value, cg::plus<int>());
    out[640 + i] = cg::reduce(tile, value, [](int a, int b) {
        return a ^ b;
    });
}

int main()
{
    std::vector<int> in(128);

    for (int i = 0; i < 128; i++) {
        in[i] = i * 37 % 101 - 50;
    }
    int *data = device_copy(in), *results = device_new<int>(6 * 128);
    kernel<<<1, 128>>>(data, results);
    LAUNCHED();
    std::vector<int> out = host_copy(results, 6 * 128);
    for (int t = 0; t < 4; t++) {
        int sum = 0, most = -1000, least = 1000, all = 0;

        for (int i = 32 * t; i < 32 * t + 32; i++) {
            REQUIRE(out[512 + i] == sum);
            sum += in[i];
            most = in[i] > most ? in[i] : most;
            least = in[i] < least ? in[i] : least;
            all ^= in[i];
            REQUIRE(out[384 + i] == sum);
        }
        for (int i = 32 * t; i < 32 * t + 32; i++) {
            REQUIRE(out[i] == sum && out[128 + i] == most);
            REQUIRE(out[256 + i] == least && out[640 + i] == all);
        }
    }
    CHECK(cudaFree(data));
    CHECK(cudaFree(results));
    return passed();
}
