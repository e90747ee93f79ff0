// SPDX-License-Identifier: MIT
// Functions of the device through pointers: tables, arguments, symbols.
#include "program.h"

typedef float (*Operation)(float, float);

__device__ float add(float a, float b) { return a + b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ float larger(float a, float b) { return a > b ? a : b; }

__device__ Operation table[3] = {add, multiply, larger};
__device__ Operation chosen = multiply;

__global__ void by_table(float *out)
{
    int i = threadIdx.x;

    out[i] = table[i % 3](i, 5);
}

__global__ void by_argument(Operation operation, float *out)
{
    out[threadIdx.x] = operation(threadIdx.x, 3);
}

__device__ __noinline__ float twice(Operation f, float x)
{
    return f(f(x, 2), 2);
}

__global__ void by_call(float *out)
{
    out[threadIdx.x] = threadIdx.x % 2 ? twice(add, threadIdx.x)
                                       : twice(multiply, threadIdx.x);
}

int main()
{
    float *out = device_new<float>(64);
    Operation operation;

    by_table<<<1, 64>>>(out);
    LAUNCHED();
    std::vector<float> got = host_copy(out, 64);
    for (int i = 0; i < 64; i++) {
        REQUIRE(got[i] == (i % 3 == 0   ? i + 5
                           : i % 3 == 1 ? i * 5
                           : i > 5      ? i
                                        : 5));
    }
    CHECK(cudaMemcpyFromSymbol(&operation, chosen, sizeof(operation)));
    by_argument<<<1, 64>>>(operation, out);
    LAUNCHED();
    REQUIRE(host_copy(out, 64)[20] == 60);
    by_call<<<1, 64>>>(out);
    LAUNCHED();
    got = host_copy(out, 64);
    REQUIRE(got[10] == 40 && got[11] == 15);
    CHECK(cudaFree(out));
    return passed();
}
