// SPDX-License-Identifier: MIT
// Prefix sums: blocks by Blelloch's way, then the blocks' sums.
#include "program.h"

#define BLOCK 256

__global__ void scan_blocks(const int *in, int *out, int *sums, int n)
{
    __shared__ int tile[2 * BLOCK];
    int t = threadIdx.x, base = blockIdx.x * 2 * BLOCK;

    tile[2 * t] = base + 2 * t < n ? in[base + 2 * t] : 0;
    tile[2 * t + 1] = base + 2 * t + 1 < n ? in[base + 2 * t + 1] : 0;
    int offset = 1;
    for (int d = BLOCK; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;

            tile[b] += tile[a];
        }
        offset *= 2;
    }
    if (t == 0) {
        sums[blockIdx.x] = tile[2 * BLOCK - 1];
        tile[2 * BLOCK - 1] = 0;
    }
    for (int d = 1; d < 2 * BLOCK; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            int left = tile[a];

            tile[a] = tile[b];
            tile[b] += left;
        }
    }
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        if (base + 2 * t + k < n) {
            out[base + 2 * t + k] = tile[2 * t + k];
        }
    }
}

__global__ void add_blocks(int *out, const int *sums, int n)
{
    int before = 0;

    for (int b = 0; b < blockIdx.x; b++) {
        before += sums[b];
    }
    for (int k = threadIdx.x; k < 2 * BLOCK; k += BLOCK) {
        int i = blockIdx.x * 2 * BLOCK + k;

        if (i < n) {
            out[i] += before;
        }
    }
}

int main()
{
    const int n = 9001, blocks = (n + 2 * BLOCK - 1) / (2 * BLOCK);
    std::vector<int> in(n);
    Random random(3);

    for (auto &x : in) {
        x = random.next() % 100 - 30;
    }
    int *data = device_copy(in), *out = device_new<int>(n);
    int *sums = device_new<int>(blocks);
    scan_blocks<<<blocks, BLOCK>>>(data, out, sums, n);
    add_blocks<<<blocks, BLOCK>>>(out, sums, n);
    LAUNCHED();
    std::vector<int> got = host_copy(out, n);
    for (int i = 0, sum = 0; i < n; sum += in[i++]) {
        REQUIRE(got[i] == sum);
    }
    CHECK(cudaFree(data));
    CHECK(cudaFree(out));
    CHECK(cudaFree(sums));
    return passed();
}
