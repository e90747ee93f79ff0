// SPDX-License-Identifier: MIT
// Several threads of the host, each with a stream; errors are a thread's own.
#include "program.h"

#include <thread>

__global__ void scale(float *data, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        data[i] *= by;
    }
}

static void work(int number)
{
    const int n = 3000;
    std::vector<float> in(n, 1.0f + number);
    cudaStream_t stream;
    float *data;

    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreate(&stream));
    data = device_copy(in);
    for (int i = 0; i < 8; i++) {
        scale<<<(n + 127) / 128, 128, 0, stream>>>(data, 2, n);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaStreamSynchronize(stream));
    std::vector<float> out = host_copy(data, n);
    for (float x : out) {
        REQUIRE(x == 256 * (1.0f + number));
    }
    if (number % 2) {
        scale<<<1, 100000>>>(data, 2, n);
        REQUIRE(cudaGetLastError() == cudaErrorInvalidConfiguration);
    }
    CHECK(cudaFree(data));
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    std::vector<std::thread> threads;

    for (int i = 0; i < 6; i++) {
        threads.emplace_back(work, i);
    }
    for (auto &t : threads) {
        t.join();
    }
    CHECK(cudaGetLastError());
    return passed();
}
