// SPDX-License-Identifier: MIT
// What passes a test, in its order: votes, counts of warps, a scan of blocks.
#include "program.h"

#define BLOCK 256

__device__ int rank_in_block(bool keep, int *warp_counts, int &total)
{
    const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    unsigned long long votes = __ballot_sync(__activemask(), keep);
    int before = __popcll(votes & ((1ull << lane) - 1));

    if (lane == 0) {
        warp_counts[warp] = __popcll(votes);
    }
    __syncthreads();
    total = 0;
    for (int w = 0; w < BLOCK / warpSize; w++) {
        before += w < warp ? warp_counts[w] : 0;
        total += warp_counts[w];
    }
    return before;
}

__global__ void count(const int *in, int *counts, int n)
{
    __shared__ int warp_counts[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x, total;

    rank_in_block(i < n && in[i] > 0, warp_counts, total);
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = total;
    }
}

__global__ void place(const int *in, int *out, const int *counts, int n)
{
    __shared__ int warp_counts[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x, total, first = 0;
    bool keep = i < n && in[i] > 0;
    int rank = rank_in_block(keep, warp_counts, total);

    for (int b = 0; b < blockIdx.x; b++) {
        first += counts[b];
    }
    if (keep) {
        out[first + rank] = in[i];
    }
}

int main()
{
    const int n = 5000, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<int> in(n), want;
    Random random(14);

    for (auto &x : in) {
        x = (int)(random.next() % 1000) - 700;
        if (x > 0) {
            want.push_back(x);
        }
    }
    int *data = device_copy(in), *out = device_new<int>(n);
    int *counts = device_new<int>(blocks);
    count<<<blocks, BLOCK>>>(data, counts, n);
    place<<<blocks, BLOCK>>>(data, out, counts, n);
    LAUNCHED();
    int found = 0;
    for (int c : host_copy(counts, blocks)) {
        found += c;
    }
    REQUIRE(found == (int)want.size());
    REQUIRE(host_copy(out, found) == want);
    CHECK(cudaFree(data));
    CHECK(cudaFree(out));
    CHECK(cudaFree(counts));
    return passed();
}
