/* SPDX-License-Identifier: MIT */
/*
 * What the samples that are whole programs share with their versions for other
 * devices in runtime/bench: each has its input and the same thing done by plain
 * C++ in a header here. usage of all: NAME [RUNS]. With RUNS a line for each:
 * name, seconds without copies from and to the device, whether it was right.
 */
#ifndef SAMPLES_PROGRAM_H
#define SAMPLES_PROGRAM_H

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

class Program {
public:
    Program(const char *name, int argc, char **argv)
        : name_(name), timed_(argc > 1), left_(argc > 1 ? atoi(argv[1]) : 1)
    {
        if (argc > 2 || left_ < 1) {
            fprintf(stderr, "usage: %s [RUNS]\n", name);
            exit(2);
        }
    }
    /* To begin each run with; false after the last. */
    bool again()
    {
        return left_-- > 0;
    }
    void start()
    {
        start_ = std::chrono::steady_clock::now();
        processor_ = clock();
    }
    /* Of the clock or of the processor, whichever is less: what other programs
     * do meanwhile counts little. What threads on other processors have done since
     * the last tick is counted when they sleep: a moment later. */
    void stop()
    {
        std::chrono::duration<double> wall =
            std::chrono::steady_clock::now() - start_;
        double processor;

        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        processor = (double)(clock() - processor_) / CLOCKS_PER_SEC;
        seconds_ = std::fmin(processor, wall.count());
    }
    void result(bool ok)
    {
        ok_ = ok_ && ok;
        if (timed_) {
            printf("%s %.9f %d\n", name_, seconds_, ok);
        }
    }
    /* To be returned from main. */
    int verdict() const
    {
        if (!timed_) {
            printf("%s: %s\n", name_, ok_ ? "PASS" : "FAIL");
        }
        return ok_ ? 0 : 1;
    }

private:
    const char *name_;
    bool timed_, ok_ = true;
    int left_;
    std::chrono::steady_clock::time_point start_;
    clock_t processor_ = 0;
    double seconds_ = 0;
};

/* Numbers that are the same everywhere. */
class Random {
public:
    explicit Random(uint32_t seed = 1) : state_(seed) {}
    uint32_t next()
    {
        state_ = state_ * 1664525 + 1013904223;
        return state_ >> 8;
    }
    uint32_t below(uint32_t n)
    {
        return next() % n;
    }
    float unit()
    {
        return (float)next() * 0x1p-24f;
    }

private:
    uint32_t state_;
};

static inline bool all_close(const std::vector<float> &a,
                             const std::vector<float> &b, float tolerance)
{
    for (size_t i = 0; i < b.size(); i++) {
        if (!(std::fabs(a[i] - b[i]) <= tolerance * (1 + std::fabs(b[i])))) {
            return false;
        }
    }
    return a.size() == b.size();
}

#endif
