/* SPDX-License-Identifier: MIT */
/* Alignment, storage and qualifiers of shared variables in any order. */
#include "program.h"

struct alignas(16) Pair {
    double a, b;
};

__device__ alignas(8) float of_device[64];
__constant__ alignas(16) float of_constant[64];

__global__ void sum(float *out, unsigned long long *where)
{
    __shared__ alignas(16) float first[64];
    alignas(32) __shared__ float second[64];
    __align__(16) __shared__ float third[64];
    __shared__ __align__(8) float fourth[64];
    static __shared__ alignas(Pair) float fifth[64];
    __shared__ volatile alignas(64) float sixth[64];
    volatile __shared__ float seventh[64];
    extern __shared__ alignas(double) unsigned char raw[];
    float *dynamic = reinterpret_cast<float *>(raw);
    int t = threadIdx.x;

    first[t] = second[t] = third[t] = fourth[t] = fifth[t] = (float)t;
    sixth[t] = seventh[t] = dynamic[t] = (float)t;
    of_device[t] = (float)t;
    __syncthreads();
    out[t] = first[63 - t] + second[t] + third[t] + fourth[t] + fifth[t] +
             sixth[t] + seventh[t] + dynamic[t] + of_device[t] +
             of_constant[t];
    if (t == 0) {
        where[0] = (unsigned long long)first % 16;
        where[1] = (unsigned long long)second % 32;
        where[2] = (unsigned long long)fifth % alignof(Pair);
        where[3] = (unsigned long long)&sixth[0] % 64;
    }
}

int main()
{
    float *out = device_new<float>(64);
    unsigned long long *where = device_new<unsigned long long>(4);

    sum<<<1, 64, 256>>>(out, where);
    LAUNCHED();
    std::vector<float> h = host_copy(out, 64);
    for (int i = 0; i < 64; i++) {
        REQUIRE(h[i] == 63 - i + 8 * i);
    }
    for (unsigned long long rest : host_copy(where, 4)) {
        REQUIRE(rest == 0);
    }
    return passed();
}
