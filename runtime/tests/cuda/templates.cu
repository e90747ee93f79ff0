// SPDX-License-Identifier: MIT
// Kernel templates: types, numbers, functions and packs as parameters.
#include "program.h"

struct Plus {
    template <typename T> __device__ T operator()(T a, T b) const
    {
        return a + b;
    }
};

struct Power {
    int exponent;
    template <typename T> __device__ T operator()(T a, T b) const
    {
        T r = b;

        for (int i = 0; i < exponent; i++) {
            r *= a;
        }
        return r;
    }
};

template <typename T, int Items, typename Op>
__global__ void combine(const T *a, T *b, int n, Op op)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * Items;

#pragma unroll
    for (int k = 0; k < Items; k++) {
        if (first + k < n) {
            b[first + k] = op(a[first + k], b[first + k]);
        }
    }
}

template <typename... Args> __global__ void sum_all(double *out, Args... args)
{
    *out = (0.0 + ... + args);
}

template <bool Odd> __global__ void pick(int *out)
{
    if constexpr (Odd) {
        out[threadIdx.x] = 2 * threadIdx.x + 1;
    } else {
        out[threadIdx.x] = 2 * threadIdx.x;
    }
}

template <typename T, int Items, typename Op>
static void run(Op op, T (*want)(T, T))
{
    const int n = 777;
    std::vector<T> a(n), b(n);

    for (int i = 0; i < n; i++) {
        a[i] = T(i % 11);
        b[i] = T(i % 7 + 1);
    }
    T *da = device_copy(a), *db = device_copy(b);
    combine<T, Items><<<(n + 64 * Items - 1) / (64 * Items), 64>>>(da, db, n,
                                                                   op);
    LAUNCHED();
    std::vector<T> out = host_copy(db, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(out[i] == want(a[i], b[i]));
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
}

int main()
{
    run<float, 4>(Plus(), +[](float a, float b) { return a + b; });
    run<long long, 1>(Power{3}, +[](long long a, long long b) {
        return a * a * a * b;
    });
    run<short, 3>(Plus(), +[](short a, short b) { return short(a + b); });
    double *out = device_new<double>(1);
    sum_all<<<1, 1>>>(out, 1, 2.5f, 'A', 1ll << 40);
    LAUNCHED();
    REQUIRE(host_copy(out, 1)[0] == 1 + 2.5 + 65 + (double)(1ll << 40));
    int *numbers = device_new<int>(32);
    pick<true><<<1, 32>>>(numbers);
    REQUIRE(host_copy(numbers, 32)[31] == 63);
    pick<false><<<1, 32>>>(numbers);
    REQUIRE(host_copy(numbers, 32)[31] == 62);
    CHECK(cudaFree(out));
    CHECK(cudaFree(numbers));
    return passed();
}
