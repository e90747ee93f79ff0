/* SPDX-License-Identifier: MIT */
/* What programs for CUDA and HIP share: they end at the first thing that is wrong.
 * Who includes it says by GPU(name) whose names they are. */
#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
    do {                                                                       \
        GPU(Error_t) error_ = (call);                                          \
        if (error_ != GPU(Success)) {                                          \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,      \
                    GPU(GetErrorString)(error_));                              \
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
        GPU(Error_t) error_ = (call);                                          \
        if (error_ != (error)) {                                               \
            fprintf(stderr, "%s:%d: %s: %s, expected %s\n", __FILE__,          \
                    __LINE__, #call, GPU(GetErrorName)(error_),                \
                    GPU(GetErrorName)(error));                                 \
            exit(1);                                                           \
        }                                                                      \
        REQUIRE(GPU(GetLastError)() == (error));                               \
        REQUIRE(GPU(GetLastError)() == GPU(Success));                          \
    } while (0)

/* After a launch. */
#define LAUNCHED()                                                             \
    do {                                                                       \
        CHECK(GPU(GetLastError)());                                            \
        CHECK(GPU(DeviceSynchronize)());                                       \
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

    CHECK(GPU(Malloc)(&p, count * sizeof(T)));
    return p;
}

template <typename T> T *device_copy(const std::vector<T> &host)
{
    T *p = device_new<T>(host.size());

    CHECK(GPU(Memcpy)(p, host.data(), host.size() * sizeof(T),
                     GPU(MemcpyHostToDevice)));
    return p;
}

template <typename T> std::vector<T> host_copy(const T *device, size_t count)
{
    std::vector<T> host(count);

    CHECK(GPU(Memcpy)(host.data(), device, count * sizeof(T),
                     GPU(MemcpyDeviceToHost)));
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
