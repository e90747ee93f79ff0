/* SPDX-License-Identifier: MIT */
/* Random numbers in kernels: known answers, places in the sequence, moments. */
#include "program.h"

#include <curand_kernel.h>

/* Random123's known answers. */
__global__ void known(unsigned *wrong)
{
    const unsigned cases[3][10] = {
        { 0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
        { ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
          0x6d5451fd },
        { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822,
          0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 },
    };
    curandStatePhilox4_32_10_t s;

    for (int i = 0; i < 3; i++) {
        const unsigned *c = cases[i];
        unsigned long long low = (unsigned long long)c[1] << 32 | c[0];
        unsigned long long high = (unsigned long long)c[3] << 32 | c[2];

        curand_init((unsigned long long)c[5] << 32 | c[4], high, 0, &s);
        for (int k = 0; k < 4; k++) { /* an offset counts numbers, not blocks */
            skipahead(low, &s);
        }
        for (int k = 0; k < 4; k++) {
            *wrong += curand(&s) != c[6 + k];
        }
    }
}

/* Step by step as Marsaglia has it, from a state that is known. */
__global__ void marsaglia(unsigned *wrong)
{
    curandState s;
    curand_init(42, 0, 0, &s);
    unsigned x = s.v[0], y = s.v[1], z = s.v[2], w = s.v[3], v = s.v[4];
    unsigned d = s.weyl;

    for (int i = 0; i < 1000; i++) {
        unsigned t = x ^ (x >> 2);

        x = y, y = z, z = w, w = v;
        v = (v ^ (v << 4)) ^ (t ^ (t << 1));
        *wrong += curand(&s) != (d += 362437) + v;
    }
}

/* A place reached in one step, in two and one by one is the same. */
template <class State> __global__ void places(unsigned *wrong)
{
    int n = threadIdx.x * 37 % 501;
    State one, two, steps;

    curand_init(7, threadIdx.x, n, &one);
    curand_init(7, 0, 0, &two);
    skipahead_sequence(threadIdx.x, &two);
    skipahead(n / 3, &two);
    skipahead(n - n / 3, &two);
    curand_init(7, threadIdx.x, 0, &steps);
    for (int i = 0; i < n; i++) {
        curand(&steps);
    }
    for (int i = 0; i < 9; i++) {
        unsigned x = curand(&steps);

        if (curand(&one) != x || curand(&two) != x) {
            atomicAdd(wrong, 1);
        }
    }
    /* Far ones add up: 2^40 is 2^39 twice, of numbers and of sequences. */
    curand_init(7, 1ull << 40, 1ull << 40, &one);
    curand_init(7, 1ull << 39, 1ull << 39, &two);
    skipahead(1ull << 39, &two);
    skipahead_sequence(1ull << 39, &two);
    if (curand(&one) != curand(&two)) {
        atomicAdd(wrong, 1);
    }
}

__global__ void fours(unsigned *wrong)
{
    curandStatePhilox4_32_10_t s, t;

    curand_init(5, 6, 3, &s);
    t = s;
    for (int i = 0; i < 5; i++) {
        uint4 four = curand4(&s);

        *wrong += four.x != curand(&t);
        *wrong += four.y != curand(&t);
        *wrong += four.z != curand(&t);
        *wrong += four.w != curand(&t);
    }
    float4 u = curand_uniform4(&s);
    *wrong += u.x != curand_uniform(&t) || u.y != curand_uniform(&t) ||
              u.z != curand_uniform(&t) || u.w != curand_uniform(&t);
    float4 g = curand_normal4(&s);
    float2 a = curand_normal2(&t);
    *wrong += g.x != a.x || g.y != a.y || g.z != curand_normal(&t) ||
              g.w != curand_normal(&t);
}

enum { UNIFORM, UNIFORM2, NORMAL, NORMAL2, LOGS, LOGS2, FEW, MANY, KINDS };

template <class State> __global__ void sample(double *out, int count)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    double *row = out + (size_t)thread * count * KINDS;
    State s;

    curand_init(2026, thread, 0, &s);
    for (int i = 0; i < count; i++, row += KINDS) {
        row[UNIFORM] = curand_uniform(&s);
        row[UNIFORM2] = curand_uniform_double(&s);
        row[NORMAL] = curand_normal(&s);
        row[NORMAL2] = curand_normal_double(&s);
        row[LOGS] = curand_log_normal(&s, 0.5f, 0.25f);
        row[LOGS2] = curand_log_normal_double(&s, 0.5, 0.25);
        row[FEW] = curand_poisson(&s, 3.5);
        row[MANY] = curand_poisson(&s, 400);
    }
}

/* Within five standard errors of what each must have. */
template <class State> void moments()
{
    const int THREADS = 1024, COUNT = 16, N = THREADS * COUNT;
    const double log_mean = exp(0.5 + 0.25 * 0.25 / 2);
    const double log_variance = log_mean * log_mean * (exp(0.0625) - 1);
    const double expected[KINDS][2] = {
        { 0.5, 1 / 12.0 },          { 0.5, 1 / 12.0 },
        { 0, 1 },                   { 0, 1 },
        { log_mean, log_variance }, { log_mean, log_variance },
        { 3.5, 3.5 },               { 400, 400 },
    };
    double *device = device_new<double>((size_t)N * KINDS);

    sample<State><<<THREADS / 128, 128>>>(device, COUNT);
    LAUNCHED();
    std::vector<double> all = host_copy(device, (size_t)N * KINDS);
    for (int kind = 0; kind < KINDS; kind++) {
        double mean = expected[kind][0], variance = expected[kind][1];
        double sum = 0, square = 0;

        for (int i = 0; i < N; i++) {
            double x = all[(size_t)i * KINDS + kind];

            REQUIRE(kind > UNIFORM2 || (x > 0 && x <= 1));
            sum += x - mean;
            square += (x - mean) * (x - mean);
        }
        REQUIRE(fabs(sum / N) < 5 * sqrt(variance / N));
        REQUIRE(fabs(square / N / variance - 1) < 0.06);
    }
    CHECK(cudaFree(device));
}

int main()
{
    std::vector<unsigned> zero(1);
    unsigned *wrong = device_copy(zero);

    known<<<1, 1>>>(wrong);
    marsaglia<<<1, 1>>>(wrong);
    places<curandStatePhilox4_32_10_t><<<1, 128>>>(wrong);
    places<curandStateXORWOW_t><<<1, 128>>>(wrong);
    fours<<<1, 1>>>(wrong);
    LAUNCHED();
    REQUIRE(host_copy(wrong, 1)[0] == 0);
    moments<curandStatePhilox4_32_10_t>();
    moments<curandState_t>();
    return passed();
}
