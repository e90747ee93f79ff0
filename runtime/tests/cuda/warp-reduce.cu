// SPDX-License-Identifier: MIT
// __reduce_add_sync and its kin.
#include "program.h"

__global__ void reduce(const unsigned *in, unsigned *out, int n)
{
    int t = threadIdx.x;
    const auto all = __activemask();

    out[t] = __reduce_add_sync(all, in[t]);
    out[n + t] = __reduce_min_sync(all, in[t]);
    out[2 * n + t] = __reduce_max_sync(all, in[t]);
    out[3 * n + t] = __reduce_and_sync(all, in[t]);
    out[4 * n + t] = __reduce_or_sync(all, in[t]);
    out[5 * n + t] = __reduce_xor_sync(all, in[t]);
}

int main()
{
    cudaDeviceProp properties;

    CHECK(cudaGetDeviceProperties(&properties, 0));
    const int warp = properties.warpSize, n = 2 * warp;
    std::vector<unsigned> in(n);
    Random random(5);
    for (auto &x : in) {
        x = random.next() | 0x800;
    }
    unsigned *data = device_copy(in), *results = device_new<unsigned>(6 * n);
    reduce<<<1, n>>>(data, results, n);
    LAUNCHED();
    std::vector<unsigned> out = host_copy(results, 6 * n);
    for (int w = 0; w < 2; w++) {
        unsigned sum = 0, least = ~0u, most = 0, both = ~0u, any = 0, odd = 0;

        for (int i = w * warp; i < (w + 1) * warp; i++) {
            sum += in[i];
            least = in[i] < least ? in[i] : least;
            most = in[i] > most ? in[i] : most;
            both &= in[i];
            any |= in[i];
            odd ^= in[i];
        }
        const unsigned want[6] = {sum, least, most, both, any, odd};
        for (int k = 0; k < 6; k++) {
            for (int i = w * warp; i < (w + 1) * warp; i++) {
                REQUIRE(out[k * n + i] == want[k]);
            }
        }
    }
    CHECK(cudaFree(data));
    return passed();
}
