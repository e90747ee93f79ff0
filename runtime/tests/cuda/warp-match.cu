// SPDX-License-Identifier: MIT
// __match_any_sync and __match_all_sync.
#include "program.h"

__global__ void match(const int *keys, int *peers, int *leaders, int *same)
{
    int t = threadIdx.x;
    const auto all = __activemask();
    unsigned long long mask = __match_any_sync(all, keys[t]);
    int pred = -1;

    peers[t] = __popcll(mask);
    leaders[t] = __ffsll(mask) - 1;
    __match_all_sync(all, keys[t] < 100, &pred);
    same[t] = pred;
}

int main()
{
    cudaDeviceProp properties;

    CHECK(cudaGetDeviceProperties(&properties, 0));
    const int warp = properties.warpSize, n = 2 * warp;
    std::vector<int> keys(n);
    for (int i = 0; i < n; i++) {
        keys[i] = i < warp ? i % 5 : 90 + i % 13;
    }
    int *data = device_copy(keys), *peers = device_new<int>(n);
    int *leaders = device_new<int>(n), *same = device_new<int>(n);
    match<<<1, n>>>(data, peers, leaders, same);
    LAUNCHED();
    std::vector<int> p = host_copy(peers, n), l = host_copy(leaders, n);
    std::vector<int> s = host_copy(same, n);
    for (int i = 0; i < n; i++) {
        int count = 0, first = -1;

        for (int j = i / warp * warp; j < (i / warp + 1) * warp; j++) {
            if (keys[j] == keys[i]) {
                first = first < 0 ? j % warp : first;
                count++;
            }
        }
        REQUIRE(p[i] == count && l[i] == first);
        REQUIRE(s[i] == (i < warp));
    }
    CHECK(cudaFree(data));
    return passed();
}
