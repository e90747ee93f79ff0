// SPDX-License-Identifier: MIT
// Pi by chance: a generator in each thread, the same numbers on the host.
#include "program.h"

__host__ __device__ static unsigned hash(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

__host__ __device__ static unsigned inside(unsigned thread, int rounds)
{
    unsigned state = hash(thread + 1), count = 0;

    for (int i = 0; i < rounds; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        unsigned x = state & 0xffff, y = state >> 16;

        count += x * x / 4 + y * y / 4 < 0x40000000u;
    }
    return count;
}

__global__ void pi(unsigned long long *count, int rounds)
{
    atomicAdd(count, (unsigned long long)inside(
                         blockIdx.x * blockDim.x + threadIdx.x, rounds));
}

int main()
{
    const int threads = 2048, rounds = 100;
    unsigned long long *count = device_new<unsigned long long>(1), want = 0;

    CHECK(cudaMemset(count, 0, sizeof(*count)));
    pi<<<threads / 128, 128>>>(count, rounds);
    LAUNCHED();
    for (int t = 0; t < threads; t++) {
        want += inside(t, rounds);
    }
    unsigned long long got = host_copy(count, 1)[0];
    REQUIRE(got == want);
    REQUIRE(std::fabs(4.0 * got / threads / rounds - 3.14159) < 0.02);
    CHECK(cudaFree(count));
    return passed();
}
