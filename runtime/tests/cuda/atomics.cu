// SPDX-License-Identifier: MIT
// Every atomic operation on 32 and 64 bits.
#include "program.h"

__global__ void atomics(int *i, unsigned *u, unsigned long long *l)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    atomicAdd(&i[0], t);
    atomicSub(&i[1], 2);
    atomicMin(&i[2], -t);
    atomicMax(&i[3], t);
    atomicExch(&i[4], t);
    atomicAnd(&i[5], ~(1 << (t % 16)));
    atomicOr(&i[6], 1 << (t % 16));
    atomicXor(&i[7], t);
    atomicInc(&u[0], 99);
    atomicDec(&u[1], 50);
    int old = i[8], seen;
    do {
        seen = old;
        old = atomicCAS(&i[8], seen, seen + 3);
    } while (old != seen);
    atomicAdd(&l[0], 1ull << 32);
    atomicMax(&l[1], (unsigned long long)t << 40);
    atomicMin(&l[2], (unsigned long long)t << 40);
    atomicCAS(&l[3], 7ull, 1ull << 50);
    atomicOr(&l[4], 1ull << (t % 60));
}

int main()
{
    const int n = 1024;
    int *i = device_new<int>(9);
    unsigned *u = device_new<unsigned>(2);
    std::vector<unsigned long long> start = {0, 0, ~0ull, 7, 0};
    unsigned long long *l = device_copy(start);
    int none = 0;

    CHECK(cudaMemset(i, 0, 9 * sizeof(int)));
    CHECK(cudaMemset(i + 5, 0xff, sizeof(int)));
    CHECK(cudaMemset(u, 0, 2 * sizeof(unsigned)));
    atomics<<<n / 128, 128>>>(i, u, l);
    LAUNCHED();
    std::vector<int> a = host_copy(i, 9);
    std::vector<unsigned> b = host_copy(u, 2);
    std::vector<unsigned long long> c = host_copy(l, 5);
    for (int t = 0; t < n; t++) {
        none ^= t;
    }
    REQUIRE(a[0] == n * (n - 1) / 2 && a[1] == -2 * n);
    REQUIRE(a[2] == 1 - n && a[3] == n - 1);
    REQUIRE(a[4] >= 0 && a[4] < n);
    REQUIRE(a[5] == (int)0xffff0000 && a[6] == 0xffff && a[7] == none);
    REQUIRE(a[8] == 3 * n);
    REQUIRE(b[0] == n % 100);
    /* 0 becomes 50, which takes 51 steps back to 0. */
    REQUIRE(b[1] == 50 - (n - 1) % 51);
    REQUIRE(c[0] == (unsigned long long)n << 32);
    REQUIRE(c[1] == (unsigned long long)(n - 1) << 40 && c[2] == 0);
    REQUIRE(c[3] == 1ull << 50 && c[4] == (1ull << 60) - 1);
    CHECK(cudaFree(i));
    CHECK(cudaFree(u));
    CHECK(cudaFree(l));
    return passed();
}
