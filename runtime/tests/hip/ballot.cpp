// SPDX-License-Identifier: MIT
// Votes of 64 lanes.
#include "program.h"

__global__ void votes(unsigned long long *masks, int *out)
{
    int t = threadIdx.x;

    masks[t] = __ballot(t % 3 == 0);
    out[t] = __any(t == 40) + 2 * __all(t < 64) + 4 * (int)__lane_id();
    if (t % 2) {
        out[64 + t] = __popcll(__ballot(1));
    } else {
        out[64 + t] = 0;
    }
}

int main()
{
    unsigned long long *masks = device_new<unsigned long long>(64), want = 0;
    int *out = device_new<int>(128);

    votes<<<1, 64>>>(masks, out);
    LAUNCHED();
    for (int i = 0; i < 64; i += 3) {
        want |= 1ull << i;
    }
    std::vector<unsigned long long> m = host_copy(masks, 64);
    std::vector<int> o = host_copy(out, 128);
    for (int i = 0; i < 64; i++) {
        REQUIRE(m[i] == want && o[i] == 3 + 4 * i);
        REQUIRE(o[64 + i] == (i % 2 ? 32 : 0));
    }
    CHECK(hipFree(masks));
    CHECK(hipFree(out));
    return passed();
}
