// SPDX-License-Identifier: MIT
// C++17 and plain C++ in kernels: what programs use of the language that other
// programs here do not.
#include "program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <type_traits>

struct Big {
    int numbers[64];
    double real;
    char name[8];
};

union Bits {
    float real;
    unsigned word;
    unsigned char bytes[4];
};

struct Fields {
    unsigned a : 3, b : 5;
    int c : 7;
    unsigned long long d : 40;
};

enum Mode { First, Second = 5, Third };

struct Point {
    int x;
    float y;
};

struct Adder {
    int base;
    __device__ int add(int n) const { return base + n; }
};

template <class T> struct Counter {
    static __device__ int count;
};
template <class T> __device__ int Counter<T>::count = 3;
template <class T> __device__ T table[4] = {1, 2, 3, 4};
template <auto N> struct Constant {
    static constexpr auto value = N;
};
template <int N> struct Fibonacci {
    static const int value = Fibonacci<N - 1>::value + Fibonacci<N - 2>::value;
};
template <> struct Fibonacci<0> {
    static const int value = 0;
};
template <> struct Fibonacci<1> {
    static const int value = 1;
};

inline __device__ int shared_number = 9;
__constant__ constexpr int primes[] = {2, 3, 5, 7};
__constant__ int rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ const char *const names[] = {"zero", "one", "two"};

__host__ __device__ int side()
{
#ifdef __CUDA_ARCH__
    return 1;
#else
    return 2;
#endif
}

template <class T, size_t N> __device__ size_t length(const T (&)[N])
{
    return N;
}

template <class... T> __device__ auto sum(T... values)
{
    return (values + ... + 0);
}

template <class T> __device__ T part(T value)
{
    if constexpr (std::is_integral_v<T>) {
        return value * 2;
    } else {
        return value / 2;
    }
}

template <class F>
__device__ void each(std::initializer_list<int> list, F function)
{
    for (int i : list) {
        function(i);
    }
}

__device__ int cases(Mode mode)
{
    switch (mode) {
    case First:
        return 1;
    case Second: {
        int three = 3;
        return three;
    }
    default:;
    }
    return 9;
}

__device__ int once()
{
    static int n = 10;

    return atomicAdd(&n, 1);
}

__device__ int ackermann(int m, int n)
{
    return m == 0 ? n + 1
                  : n == 0 ? ackermann(m - 1, 1)
                           : ackermann(m - 1, ackermann(m, n - 1));
}

__device__ Point point(int i)
{
    return {i, i * .5f};
}

__global__ void templates(int *out)
{
    auto [x, y] = point(7);
    auto tuple = std::make_tuple(1, 2.5f, 'c');
    std::array<int, 3> array{4, 5, 6};
    int total = 0;
    auto counts = [=, q = 5](auto z) mutable { return q += z; };
    auto factorial = [](auto self, int n) -> int {
        return n < 2 ? 1 : n * self(self, n - 1);
    };

    each({1, 2, 3}, [&](int i) { total += i; });
    for (int v : array) {
        total += v;
    }
    const int results[] = {
        x, (int)(y * 10), sum(1, 2, 3), part(4), (int)part(9.0),
        Constant<42>::value, Counter<int>::count++ + Counter<float>::count,
        table<int>[2] + (int)table<float>[3], shared_number, primes[3],
        total, std::get<0>(tuple) + std::get<2>(tuple), counts(3) + counts(1),
        factorial(factorial, 6), Fibonacci<20>::value, (int)length(primes),
    };
    for (size_t i = 0; i < length(results); i++) {
        out[i] = results[i];
    }
}

__global__ void plain(Big big, Fields *fields, int *out)
{
    __shared__ union {
        float real[32];
        int word[32];
    } both;
    int (Adder::*method)(int) const = &Adder::add;
    int Adder::*member = &Adder::base;
    Adder adder{4};
    Bits bits;
    volatile int loud = 3;
    int turns = 0, matrix[3][3] = {}, n = 0;
    __int128 wide = (__int128)1 << 100;

    both.real[4] = 1;
    bits.real = 1;
    fields->a = 9;
    fields->b = 33;
    fields->c = 100;
    fields->d = 1ull << 41 | 5;
    matrix[1][1] = 5;
    auto copies = [matrix] { return matrix[1][1]; };
    loud += 4;
again:
    if (++turns < 5) {
        goto again;
    }
    out[n++] = big.numbers[63] + (int)big.real + big.name[1];
    out[n++] = once() >= 10;
    out[n++] = side();
    out[n++] = names[2][1];
    out[n++] = rows[1][2];
    out[n++] = both.word[4];
    out[n++] = cases(Second) + cases(Third) + cases(First);
    out[n++] = turns;
    out[n++] = (int)offsetof(Big, real);
    out[n++] = (adder.*method)(5) + adder.*member;
    out[n++] = (int)(bits.word >> 20);
    out[n++] = bits.bytes[3];
    out[n++] = (int)((unsigned __int128)wide /
                     ((unsigned __int128)1 << 90));
    out[n++] = copies() + loud;
    out[n++] = ackermann(2, 3);
    out[n++] = -7 / 2 + -7 % 2;
}

__global__ void arguments(int3 a, short2 b, bool c, char d, float e, double f,
                          const Point __grid_constant__ g, int *out)
{
    *out = a.z + b.y + c + d + (int)e + (int)f + g.x;
}

int main()
{
    int *out = device_new<int>(32), n = 0;
    Big big = {};
    Fields *fields = device_copy(std::vector<Fields>(1));

    templates<<<1, 1>>>(out);
    LAUNCHED();
    for (int got : host_copy(out, 16)) {
        const int want[] = {7, 35, 6, 8, 4, 42, 6, 7, 9, 7, 21, 100, 17, 720,
                            6765, 4};
        REQUIRE(got == want[n]);
        n++;
    }
    big.numbers[63] = 63;
    big.real = 2.9;
    big.name[1] = 4;
    plain<<<1, 1>>>(big, fields, out);
    LAUNCHED();
    n = 0;
    for (int got : host_copy(out, 16)) {
        const int want[] = {69, 1, 1, 'w', 6, 0x3f800000, 13, 5, 256, 13, 1016,
                            63, 1024, 12, 9, -4};
        REQUIRE(got == want[n]);
        n++;
    }
    Fields f = host_copy(fields, 1)[0];
    REQUIRE(f.a == 1 && f.b == 1 && f.c == -28 && f.d == 5 && side() == 2);

    int count, *address;
    size_t size;
    CHECK(cudaMemcpyFromSymbol(&count, Counter<int>::count, sizeof count));
    REQUIRE(count == 4);
    CHECK(cudaGetSymbolAddress((void **)&address, table<int>));
    CHECK(cudaGetSymbolSize(&size, table<int>));
    REQUIRE(size == 4 * sizeof(int) && host_copy(address, 4)[3] == 4);
    arguments<<<1, 1>>>(make_int3(1, 2, 3), make_short2(4, 5), true, 'a', 1.5f,
                        2.5, Point{8, 0}, out);
    LAUNCHED();
    REQUIRE(host_copy(out, 1)[0] == 3 + 5 + 1 + 'a' + 1 + 2 + 8);
    return passed();
}
