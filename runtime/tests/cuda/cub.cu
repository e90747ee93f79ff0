// SPDX-License-Identifier: MIT
// CUB as it is packaged: algorithms of blocks and warps inside a kernel, and
// those of the whole device.
#include <cub/cub.cuh>

#include "program.h"

#include <algorithm>
#include <numeric>
#include <vector>

static const int THREADS = 128;

// Of each block: the sum, the sums before each thread, its numbers sorted, and
// the sum of each warp.
__global__ void of_blocks(const int *in, int *sums, int *before, int *sorted,
                          int *warps)
{
    typedef cub::BlockReduce<int, THREADS> Reduce;
    typedef cub::BlockScan<int, THREADS> Scan;
    typedef cub::BlockRadixSort<int, THREADS, 2> Sort;
    typedef cub::WarpReduce<int> Warp;
    __shared__ union {
        typename Reduce::TempStorage reduce;
        typename Scan::TempStorage scan;
        typename Sort::TempStorage sort;
        typename Warp::TempStorage warp[THREADS / 32];
    } temp;
    int at = blockIdx.x * THREADS + threadIdx.x, prefix;
    int mine = in[at], sum = Reduce(temp.reduce).Sum(mine);

    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
    __syncthreads();
    Scan(temp.scan).ExclusiveSum(mine, prefix);
    before[at] = prefix;
    __syncthreads();
    int keys[2] = {mine, -mine};
    Sort(temp.sort).Sort(keys);
    sorted[2 * at] = keys[0];
    sorted[2 * at + 1] = keys[1];
    __syncthreads();
    sum = Warp(temp.warp[threadIdx.x / 32]).Sum(mine);
    if (threadIdx.x % 32 == 0) {
        warps[at / 32] = sum;
    }
}

static void blocks(const int *in, const std::vector<int> &host)
{
    const int count = 4 * THREADS;
    int *out;

    CHECK(cudaMallocManaged(&out, 8 * count * sizeof(int)));
    int *before = out + count, *sorted = out + 2 * count, *warps =
        out + 4 * count;
    of_blocks<<<4, THREADS>>>(in, out, before, sorted, warps);
    LAUNCHED();
    CHECK(cudaDeviceSynchronize());
    for (int b = 0; b < 4; b++) {
        const int *first = host.data() + b * THREADS;
        std::vector<int> keys(first, first + THREADS);

        REQUIRE(out[b] == std::accumulate(first, first + THREADS, 0));
        for (int i = 0; i < THREADS; i++) {
            REQUIRE(before[b * THREADS + i] ==
                    std::accumulate(first, first + i, 0));
            keys.push_back(-first[i]);
        }
        std::sort(keys.begin(), keys.end());
        REQUIRE(std::equal(keys.begin(), keys.end(),
                           sorted + 2 * b * THREADS));
    }
    for (int w = 0; w < count / 32; w++) {
        REQUIRE(warps[w] == std::accumulate(host.begin() + 32 * w,
                                            host.begin() + 32 * (w + 1), 0));
    }
    CHECK(cudaFree(out));
}

// Asks for the size of the temporary memory, then does it.
template <class F> static void with_memory(F f)
{
    void *temp = nullptr;
    size_t size = 0;

    CHECK(f(temp, size));
    CHECK(cudaMalloc(&temp, size));
    CHECK(f(temp, size));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(temp));
}

struct Small {
    __host__ __device__ bool operator()(int n) const { return n < 300; }
};

static void devices(const int *in, const std::vector<int> &host)
{
    int count = (int)host.size(), *out, *found;
    std::vector<int> right(host);

    CHECK(cudaMallocManaged(&out, count * sizeof(int)));
    CHECK(cudaMallocManaged(&found, 11 * sizeof(int)));
    with_memory([&](void *temp, size_t &size) {
        return cub::DeviceReduce::Sum(temp, size, in, out, count);
    });
    REQUIRE(*out == std::accumulate(host.begin(), host.end(), 0));
    with_memory([&](void *temp, size_t &size) {
        return cub::DeviceScan::InclusiveSum(temp, size, in, out, count);
    });
    std::partial_sum(host.begin(), host.end(), right.begin());
    REQUIRE(std::equal(right.begin(), right.end(), out));
    with_memory([&](void *temp, size_t &size) {
        return cub::DeviceRadixSort::SortKeysDescending(temp, size, in, out,
                                                        count);
    });
    right = host;
    std::sort(right.rbegin(), right.rend());
    REQUIRE(std::equal(right.begin(), right.end(), out));
    with_memory([&](void *temp, size_t &size) {
        return cub::DeviceSelect::If(temp, size, in, out, found, count,
                                     Small());
    });
    right.resize(std::copy_if(host.begin(), host.end(), right.begin(),
                              Small()) - right.begin());
    REQUIRE(*found == (int)right.size() &&
            std::equal(right.begin(), right.end(), out));
    with_memory([&](void *temp, size_t &size) {
        return cub::DeviceHistogram::HistogramEven(temp, size, in, found, 11,
                                                   0, 1000, count);
    });
    for (int bin = 0; bin < 10; bin++) {
        REQUIRE(found[bin] == std::count_if(host.begin(), host.end(),
                                            [=](int n) {
                                                return n / 100 == bin;
                                            }));
    }
    CHECK(cudaFree(found));
    CHECK(cudaFree(out));
}

int main()
{
    std::vector<int> host(50000);
    unsigned state = 7;
    int *in;

    for (int &n : host) {
        state = state * 1664525 + 1013904223;
        n = (int)(state >> 8) % 1000;
    }
    CHECK(cudaMalloc(&in, host.size() * sizeof(int)));
    CHECK(cudaMemcpy(in, host.data(), host.size() * sizeof(int),
                     cudaMemcpyHostToDevice));
    blocks(in, host);
    devices(in, host);
    CHECK(cudaFree(in));
    return passed();
}
