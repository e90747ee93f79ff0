// SPDX-License-Identifier: MIT
// __reduce_add_sync and its kin; sums by shuffles among fewer lanes than a warp.
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

/* Sums of warps, then their sum by as many lanes as there are warps: what a
 * lane that is not among them would give adds nothing. */
__device__ float sum_of(unsigned mask, float v)
{
    for (int d = warpSize / 2; d > 0; d /= 2) {
        v += __shfl_down_sync(mask, v, d);
    }
    return v;
}

__global__ void block_sum(const float *in, float *out)
{
    __shared__ float sums[32];
    int t = threadIdx.x, warps = blockDim.x / warpSize;
    float v = sum_of(0xffffffff, in[t]);

    if (t % warpSize == 0) {
        sums[t / warpSize] = v;
    }
    __syncthreads();
    unsigned few = __ballot_sync(0xffffffff, t < warps);
    if (t < warps) {
        v = sum_of(few, sums[t]);
    }
    if (t == 0) {
        *out = v;
    }
}

static void sums_of_blocks()
{
    std::vector<float> in(512);
    float want = 0, *data, *out = device_new<float>(1);

    for (int i = 0; i < 512; i++) {
        in[i] = i % 9 + 1;
    }
    data = device_copy(in);
    for (int done = 0, threads = 64; threads <= 512; threads *= 2) {
        for (; done < threads; done++) {
            want += in[done];
        }
        block_sum<<<1, threads>>>(data, out);
        LAUNCHED();
        REQUIRE(host_copy(out, 1)[0] == want);
    }
}

int main()
{
    sums_of_blocks();
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
