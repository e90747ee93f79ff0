/* SPDX-License-Identifier: MIT */
/* Random numbers in memory, by the library. */
#include "program.h"

#include <curand.h>

#define RAND(call) REQUIRE((call) == CURAND_STATUS_SUCCESS)

static void order(curandRngType_t type)
{
    const size_t N = 10000, FIRST = 3001;
    unsigned *device = device_new<unsigned>(N);
    std::vector<unsigned> all, parts, host(N);
    curandGenerator_t g, h;

    RAND(curandCreateGenerator(&g, type));
    RAND(curandSetPseudoRandomGeneratorSeed(g, 1234));
    RAND(curandGenerate(g, device, N));
    all = host_copy(device, N);

    /* in two calls */
    RAND(curandSetPseudoRandomGeneratorSeed(g, 1234));
    RAND(curandGenerate(g, device, FIRST));
    RAND(curandGenerate(g, device + FIRST, N - FIRST));
    REQUIRE(host_copy(device, N) == all);

    /* from an offset */
    RAND(curandSetGeneratorOffset(g, FIRST));
    RAND(curandGenerate(g, device, N - FIRST));
    parts = host_copy(device, N - FIRST);
    REQUIRE(std::vector<unsigned>(all.begin() + FIRST, all.end()) == parts);

    /* to the host's memory */
    RAND(curandCreateGeneratorHost(&h, type));
    RAND(curandSetPseudoRandomGeneratorSeed(h, 1234));
    RAND(curandGenerate(h, host.data(), N));
    REQUIRE(host == all);

    /* another seed is another sequence */
    RAND(curandSetPseudoRandomGeneratorSeed(h, 1235));
    RAND(curandGenerate(h, host.data(), N));
    REQUIRE(host != all);
    RAND(curandDestroyGenerator(h));
    RAND(curandDestroyGenerator(g));
    CHECK(cudaFree(device));
}

template <class T>
static void moments(const T *device, size_t n, double mean, double variance)
{
    double sum = 0, square = 0;

    CHECK(cudaDeviceSynchronize());
    for (T t : host_copy(device, n)) {
        double x = t - mean;

        sum += x;
        square += x * x;
    }
    REQUIRE(std::fabs(sum / n) < 5 * std::sqrt(variance / n));
    REQUIRE(std::fabs(square / n / variance - 1) < 0.06);
}

static void distributions(curandRngType_t type)
{
    const size_t N = 20000;
    float *f = device_new<float>(N);
    double *d = device_new<double>(N);
    unsigned *u = device_new<unsigned>(N);
    double log_mean = std::exp(0.125), log_square = std::exp(0.25) - 1;
    cudaStream_t stream;
    curandGenerator_t g;

    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    RAND(curandCreateGenerator(&g, type));
    RAND(curandSetStream(g, stream));
    RAND(curandGenerateUniform(g, f, N));
    moments(f, N, 0.5, 1 / 12.0);
    RAND(curandGenerateUniformDouble(g, d, N));
    moments(d, N, 0.5, 1 / 12.0);
    RAND(curandGenerateNormal(g, f, N, 10, 2));
    moments(f, N, 10, 4);
    RAND(curandGenerateNormalDouble(g, d, N, -1, 0.5));
    moments(d, N, -1, 0.25);
    RAND(curandGenerateLogNormal(g, f, N, 0, 0.5));
    moments(f, N, log_mean, log_mean * log_mean * log_square);
    RAND(curandGenerateLogNormalDouble(g, d, N, 0, 0.5));
    moments(d, N, log_mean, log_mean * log_mean * log_square);
    RAND(curandGeneratePoisson(g, u, N, 4));
    moments(u, N, 4, 4);
    RAND(curandGeneratePoisson(g, u, N, 1000));
    moments(u, N, 1000, 1000);

    REQUIRE(curandGenerateNormal(g, f, 3, 0, 1) ==
            CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    REQUIRE(curandGeneratePoisson(g, u, N, 0) == CURAND_STATUS_OUT_OF_RANGE);
    REQUIRE(curandGenerateLongLong(g, (unsigned long long *)d, 1) ==
            CURAND_STATUS_TYPE_ERROR);
    RAND(curandDestroyGenerator(g));
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    curandGenerator_t g;

    order(CURAND_RNG_PSEUDO_DEFAULT);
    order(CURAND_RNG_PSEUDO_PHILOX4_32_10);
    distributions(CURAND_RNG_PSEUDO_XORWOW);
    distributions(CURAND_RNG_PSEUDO_PHILOX4_32_10);
    REQUIRE(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32) ==
            CURAND_STATUS_TYPE_ERROR);
    REQUIRE(curandGenerate(nullptr, nullptr, 0) ==
            CURAND_STATUS_NOT_INITIALIZED);
    return passed();
}
