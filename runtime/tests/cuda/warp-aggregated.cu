/* SPDX-License-Identifier: MIT */
/* One atomic operation for all threads of a warp that are there: the leader's
 * result is shuffled to lanes that have none. */
#include "program.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ int next_of_group(int *counter)
{
    cg::coalesced_group active = cg::coalesced_threads();
    int first;

    if (active.thread_rank() == 0) {
        first = atomicAdd(counter, active.size());
    }
    return active.shfl(first, 0) + active.thread_rank();
}

__device__ int next_of_mask(int *counter)
{
    unsigned active = __activemask();
    unsigned lower = active & ((1u << (threadIdx.x & 31)) - 1);
    int leader = __ffs(active) - 1, first;

    if (!lower) {
        first = atomicAdd(counter, __popc(active));
    }
    first = __shfl_sync(active, first, leader);
    return first + __popc(lower);
}

__device__ int next_of_bin(int *counters, int bin)
{
    cg::coalesced_group same =
        cg::labeled_partition(cg::coalesced_threads(), bin);
    int first;

    if (same.thread_rank() == 0) {
        first = atomicAdd(&counters[bin], same.size());
    }
    return same.shfl(first, 0) + same.thread_rank();
}

template <int how>
__global__ void filter(const int *in, int n, int *out, int *count)
{
    int step = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        if (in[i] % 3 == 1) {
            out[how ? next_of_mask(count) : next_of_group(count)] = in[i];
        }
    }
}

__global__ void places(const int *in, int n, int *counters, int *place)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        place[i] = next_of_bin(counters, in[i] % 5);
    }
}

int main()
{
    const int n = 5000;
    std::vector<int> in(n), want(n), bins(5);
    int wanted = 0;

    for (int i = 0; i < n; i++) {
        in[i] = i * 7 % 1001;
        wanted += in[i] % 3 == 1;
        want[in[i]] += 2 * (in[i] % 3 == 1);
        bins[in[i] % 5]++;
    }
    int *din = device_copy(in), *out = device_new<int>(n);
    int *counts = device_copy(std::vector<int>(7));

    filter<0><<<8, 128>>>(din, n, out, counts);
    filter<1><<<8, 128>>>(din, n, out + wanted, counts + 1);
    LAUNCHED();
    std::vector<int> got = host_copy(out, n), count = host_copy(counts, 2);
    REQUIRE(count[0] == wanted && count[1] == wanted);
    for (int i = 0; i < 2 * wanted; i++) {
        want[got[i]]--;
    }
    for (int i = 0; i < n; i++) {
        REQUIRE(want[i] == 0);
    }

    places<<<(n + 127) / 128, 128>>>(din, n, counts + 2, out);
    LAUNCHED();
    got = host_copy(out, n);
    std::vector<int> end = host_copy(counts + 2, 5);
    std::vector<std::vector<bool>> taken(5);
    for (int b = 0; b < 5; b++) {
        REQUIRE(end[b] == bins[b]);
        taken[b].resize(bins[b]);
    }
    for (int i = 0; i < n; i++) {
        REQUIRE(got[i] >= 0 && got[i] < bins[in[i] % 5]);
        REQUIRE(!taken[in[i] % 5][got[i]]);
        taken[in[i] % 5][got[i]] = true;
    }
    return passed();
}
