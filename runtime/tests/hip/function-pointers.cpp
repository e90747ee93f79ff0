// SPDX-License-Identifier: MIT
// Functions of the device in a table, and virtual ones.
#include "program.h"

typedef int (*Step)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ int next(int x) { return x + 1; }
__device__ Step steps[2] = {twice, next};

struct Base {
    __device__ virtual int value(int x) const { return x; }
};

struct Derived : Base {
    int by;
    __device__ explicit Derived(int by) : by(by) {}
    __device__ int value(int x) const override { return x * by; }
};

__global__ void run(int *out)
{
    Derived three(3);
    Base plain;
    const Base *b = threadIdx.x % 4 == 0 ? &three : &plain;

    out[threadIdx.x] = b->value(steps[threadIdx.x % 2](threadIdx.x));
}

int main()
{
    int *out = device_new<int>(64);

    run<<<1, 64>>>(out);
    LAUNCHED();
    std::vector<int> got = host_copy(out, 64);
    for (int i = 0; i < 64; i++) {
        REQUIRE(got[i] == (i % 2 ? i + 1 : 2 * i) * (i % 4 ? 1 : 3));
    }
    CHECK(hipFree(out));
    return passed();
}
