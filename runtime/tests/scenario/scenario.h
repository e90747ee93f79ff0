/* SPDX-License-Identifier: MIT */
/*
 * What the scenarios share: checks, and TAP. A scenario is a function; its
 * first call of the interface that does not return what it should ends it, a
 * check that fails does not. main() runs them with RUN() and returns end().
 *
 * FAILS() also checks that the error is the thread's last one, and clears it;
 * a scenario that leaves an error behind has failed.
 */
#ifndef MC_TESTS_SCENARIO_H
#define MC_TESTS_SCENARIO_H

#include <mc_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace scenario {

struct Stop {
};

static std::atomic<unsigned> checks, mistakes;
static unsigned number, failures;

static inline bool check(bool right, const char *text, const char *file,
                         int line)
{
    checks++;
    if (!right) {
        printf("# %s:%d: %s\n", file, line, text);
        mistakes++;
    }
    return right;
}

static inline void expect(mcError_t got, mcError_t want, const char *call,
                          const char *file, int line)
{
    checks++;
    if (got != want) {
        printf("# %s:%d: %s: %s, expected %s\n", file, line, call,
               mcGetErrorName(got), mcGetErrorName(want));
        mistakes++;
        throw Stop();
    }
    if (want != mcSuccess) {
        mcError_t last = mcGetLastError();
        if (last != want) {
            printf("# %s:%d: %s: the last error is %s, expected %s\n", file,
                   line, call, mcGetErrorName(last), mcGetErrorName(want));
            mistakes++;
        }
    }
}

static inline void run(const char *name, void (*body)())
{
    checks = 0;
    mistakes = 0;
    try {
        body();
    } catch (Stop) {
    }
    if (mistakes == 0) {
        expect(mcGetLastError(), mcSuccess, "the last error", name, 0);
    }
    if (mistakes) {
        mcGetLastError();
        failures++;
    }
    printf("%s %u - %s # %u checks\n", mistakes ? "not ok" : "ok", ++number,
           name, checks.load());
    fflush(stdout);
}

static inline int end()
{
    printf("1..%u\n", number);
    return failures != 0;
}

/* ---- what most of them need ---- */

static inline int devices()
{
    int count = 0;

    expect(mcGetDeviceCount(&count), mcSuccess, "mcGetDeviceCount", __FILE__,
           __LINE__);
    return count;
}

/* The device is in this process, and what it takes to compile is beside it. */
static inline bool simulated()
{
    const char *device = getenv("MXGPU_DEVICE");

    return device && !strncmp(device, "sim", 3);
}

static inline bool shared_device()
{
    const char *device = getenv("MXGPU_DEVICE");

    return simulated() || (device && !strcmp(device, "driver"));
}

static inline int attribute(mcDeviceAttribute_t which, int device = 0)
{
    int value = -1;

    expect(mcDeviceGetAttribute(&value, which, device), mcSuccess,
           "mcDeviceGetAttribute", __FILE__, __LINE__);
    return value;
}

static inline bool reaches(int device, int peer)
{
    int can = 0;

    expect(mcDeviceCanAccessPeer(&can, device, peer), mcSuccess,
           "mcDeviceCanAccessPeer", __FILE__, __LINE__);
    return can != 0;
}

static inline int blocks(int n, int threads)
{
    return (n + threads - 1) / threads;
}

/*
 * A word on which streams wait until the host opens it; so work is known to be
 * unfinished without a clock.
 */
class Gate {
public:
    Gate()
    {
        expect(mcMallocHost(&word, sizeof(*word)), mcSuccess, "a gate",
               __FILE__, __LINE__);
        close();
    }
    ~Gate()
    {
        open();
        mcFreeHost(word);
    }
    void hold(mcStream_t stream)
    {
        expect(mcStreamWaitValue32(stream, word, 1, MC_STREAM_WAIT_VALUE_EQ),
               mcSuccess, "mcStreamWaitValue32", __FILE__, __LINE__);
    }
    void open() { __atomic_store_n(word, 1u, __ATOMIC_RELEASE); }
    void close() { __atomic_store_n(word, 0u, __ATOMIC_RELEASE); }

private:
    uint32_t *word;
};

} // namespace scenario

#define CHECK(condition)                                                       \
    scenario::check((condition), #condition, __FILE__, __LINE__)
#define OK(call)                                                               \
    scenario::expect((call), mcSuccess, #call, __FILE__, __LINE__)
#define FAILS(error, call)                                                     \
    scenario::expect((call), (error), #call, __FILE__, __LINE__)
#define RUN(body) scenario::run(#body, body)

#endif
