/* SPDX-License-Identifier: MIT */
/* What the programs here share: they end at the first thing that is wrong. */
#ifndef TESTS_HIP_PROGRAM_H
#define TESTS_HIP_PROGRAM_H

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
    do {                                                                       \
        hipError_t error_ = (call);                                           \
        if (error_ != hipSuccess) {                                           \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,      \
                    hipGetErrorString(error_));                               \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

#define REQUIRE(condition)                                                     \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,         \
                    #condition);                                               \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

/* A call that has to fail, and leaves its error behind once. */
#define FAILS(error, call)                                                     \
    do {                                                                       \
        hipError_t error_ = (call);                                           \
        if (error_ != (error)) {                                               \
            fprintf(stderr, "%s:%d: %s: %s, expected %s\n", __FILE__,          \
                    __LINE__, #call, hipGetErrorName(error_),                 \
                    hipGetErrorName(error));                                  \
            exit(1);                                                           \
        }                                                                      \
        REQUIRE(hipGetLastError() == (error));                                \
        REQUIRE(hipGetLastError() == hipSuccess);                            \
    } while (0)

/* After a launch. */
#define LAUNCHED()                                                             \
    do {                                                                       \
        CHECK(hipGetLastError());                                             \
        CHECK(hipDeviceSynchronize());                                        \
    } while (0)

static inline int passed()
{
    puts("PASS");
    return 0;
}

/* Device memory of a vector. */
template <typename T> T *device_new(size_t count)
{
    T *p = nullptr;

    CHECK(hipMalloc(&p, count * sizeof(T)));
    return p;
}

template <typename T> T *device_copy(const std::vector<T> &host)
{
    T *p = device_new<T>(host.size());

    CHECK(hipMemcpy(p, host.data(), host.size() * sizeof(T),
                     hipMemcpyHostToDevice));
    return p;
}

template <typename T> std::vector<T> host_copy(const T *device, size_t count)
{
    std::vector<T> host(count);

    CHECK(hipMemcpy(host.data(), device, count * sizeof(T),
                     hipMemcpyDeviceToHost));
    return host;
}

static inline bool near(double a, double b, double relative)
{
    return std::fabs(a - b) <= relative * (1 + std::fabs(b));
}

/* The same numbers on every machine. */
struct Random {
    unsigned state;

    explicit Random(unsigned seed) : state(seed * 2654435761u + 1) {}
    unsigned next()
    {
        state = state * 1664525u + 1013904223u;
        return state >> 8;
    }
    float real() { return next() * (1.0f / (1 << 24)); }
};

#endif
