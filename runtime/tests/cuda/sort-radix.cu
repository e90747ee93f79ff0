// SPDX-License-Identifier: MIT
// A stable radix sort of keys with values, four bits a pass.
#include "program.h"

#include <algorithm>

#define BLOCK 128
#define DIGITS 16

__global__ void count(const unsigned *keys, unsigned *counts, int n, int shift)
{
    __shared__ unsigned local[DIGITS];

    if (threadIdx.x < DIGITS) {
        local[threadIdx.x] = 0;
    }
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) {
        atomicAdd(&local[keys[i] >> shift & (DIGITS - 1)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < DIGITS) {
        counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
    }
}

__global__ void scan(unsigned *counts, int n)
{
    __shared__ unsigned sums[256];
    int each = (n + 255) / 256, from = threadIdx.x * each;
    unsigned sum = 0;

    for (int i = from; i < min(from + each, n); i++) {
        sum += counts[i];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    unsigned before = 0;
    for (int t = 0; t < threadIdx.x; t++) {
        before += sums[t];
    }
    for (int i = from; i < min(from + each, n); i++) {
        unsigned c = counts[i];

        counts[i] = before;
        before += c;
    }
}

__global__ void scatter(const unsigned *keys, const int *values,
                        const unsigned *starts, unsigned *out_keys,
                        int *out_values, int n, int shift)
{
    __shared__ unsigned digits[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;

    digits[t] = i < n ? keys[i] >> shift & (DIGITS - 1) : DIGITS;
    __syncthreads();
    if (i < n) {
        unsigned rank = 0;

        for (int k = 0; k < t; k++) {
            rank += digits[k] == digits[t];
        }
        unsigned at = starts[digits[t] * gridDim.x + blockIdx.x] + rank;
        out_keys[at] = keys[i];
        out_values[at] = values[i];
    }
}

int main()
{
    const int n = 3000, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<unsigned> keys(n);
    std::vector<int> values(n);
    Random random(6);

    for (int i = 0; i < n; i++) {
        keys[i] = random.next() % 60000;
        values[i] = i;
    }
    unsigned *k[2] = {device_copy(keys), device_new<unsigned>(n)};
    int *v[2] = {device_copy(values), device_new<int>(n)};
    unsigned *counts = device_new<unsigned>(DIGITS * blocks);
    for (int pass = 0; pass < 4; pass++) {
        int from = pass % 2, to = 1 - from, shift = 4 * pass;

        count<<<blocks, BLOCK>>>(k[from], counts, n, shift);
        scan<<<1, 256>>>(counts, DIGITS * blocks);
        scatter<<<blocks, BLOCK>>>(k[from], v[from], counts, k[to], v[to], n,
                                   shift);
    }
    LAUNCHED();
    std::sort(values.begin(), values.end(), [&](int a, int b) {
        return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
    });
    REQUIRE(host_copy(v[0], n) == values);
    std::sort(keys.begin(), keys.end());
    REQUIRE(host_copy(k[0], n) == keys);
    return passed();
}
