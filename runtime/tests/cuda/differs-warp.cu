// SPDX-License-Identifier: MIT
// What docs/migration.md says of warps: 64 lanes, and masks of 32 and 64 bits.
#include "program.h"

__global__ void widths(int *out)
{
    out[threadIdx.x] = warpSize;
}

/* As a program for 32 lanes has it: lanes, masks and votes of half a warp. */
__global__ void idiom(int *sums, unsigned *votes, int *ranks)
{
    int t = threadIdx.x, lane = t & 31, value = t;

    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffff, value, offset);
    }
    if (lane == 0) {
        sums[t / 32] = value;
    }
    votes[t] = __ballot_sync(0xffffffff, t % 3 == 0);
    if (t % 2) {
        unsigned active = __activemask();

        ranks[t] = __popc(active & ((1u << lane) - 1));
    } else {
        ranks[t] = -1;
    }
}

/* Over all lanes, whose masks have 64 bits. */
__global__ void whole(int *sums, unsigned long long *votes)
{
    int t = threadIdx.x, value = t;

    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        value += __shfl_down_sync(~0ull, value, offset);
    }
    if (t % warpSize == 0) {
        sums[t / warpSize] = value;
    }
    votes[t] = __ballot_sync(~0ull, t % 3 == 0);
}

int main()
{
    int *sums = device_new<int>(128), *ranks = device_new<int>(128), warp = 0;
    unsigned *votes = device_new<unsigned>(128);
    unsigned long long *wide = device_new<unsigned long long>(128);

    CHECK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
    REQUIRE(warp == 64);
    widths<<<1, 64>>>(sums);
    LAUNCHED();
    REQUIRE(host_copy(sums, 64)[63] == 64);

    idiom<<<1, 128>>>(sums, votes, ranks);
    LAUNCHED();
    std::vector<int> s = host_copy(sums, 4), r = host_copy(ranks, 128);
    std::vector<unsigned> v = host_copy(votes, 128);
    for (int half = 0; half < 4; half++) {
        unsigned want = 0;

        for (int lane = 0; lane < 32; lane++) {
            want |= (unsigned)((32 * half + lane) % 3 == 0) << lane;
        }
        REQUIRE(s[half] == 32 * 32 * half + 496);
        for (int t = 32 * half; t < 32 * half + 32; t++) {
            REQUIRE(v[t] == want);
            REQUIRE(r[t] == (t % 2 ? t % 32 / 2 : -1));
        }
    }
    whole<<<1, 128>>>(sums, wide);
    LAUNCHED();
    s = host_copy(sums, 2);
    REQUIRE(s[0] == 2016 && s[1] == 2016 + 64 * 64);
    std::vector<unsigned long long> w = host_copy(wide, 128);
    unsigned long long want = 0;
    for (int lane = 0; lane < 64; lane += 3) {
        want |= 1ull << lane;
    }
    REQUIRE(w[0] == want && w[63] == want && w[64] != want);
    return passed();
}
