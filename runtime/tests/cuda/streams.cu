// SPDX-License-Identifier: MIT
// Work cut in pieces for several streams.
#include "program.h"

__global__ void polynomial(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        out[i] = in[i] * in[i] - 2 * in[i] + 1;
    }
}

int main()
{
    const int streams = 4, piece = 4096, n = streams * piece;
    cudaStream_t stream[streams];
    float *host_in, *host_out;
    float *in = device_new<float>(n), *out = device_new<float>(n);

    CHECK(cudaMallocHost(&host_in, n * sizeof(float)));
    CHECK(cudaMallocHost(&host_out, n * sizeof(float)));
    for (int i = 0; i < n; i++) {
        host_in[i] = i % 1000;
    }
    for (auto &s : stream) {
        CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    }
    for (int i = 0; i < streams; i++) {
        int at = i * piece;

        CHECK(cudaMemcpyAsync(in + at, host_in + at, piece * sizeof(float),
                              cudaMemcpyHostToDevice, stream[i]));
        polynomial<<<piece / 256, 256, 0, stream[i]>>>(in + at, out + at,
                                                       piece);
        CHECK(cudaMemcpyAsync(host_out + at, out + at, piece * sizeof(float),
                              cudaMemcpyDeviceToHost, stream[i]));
    }
    for (auto &s : stream) {
        CHECK(cudaStreamSynchronize(s));
        REQUIRE(cudaStreamQuery(s) == cudaSuccess);
    }
    for (int i = 0; i < n; i++) {
        float x = i % 1000;

        REQUIRE(host_out[i] == (x - 1) * (x - 1));
    }
    unsigned flags = 0;
    CHECK(cudaStreamGetFlags(stream[0], &flags));
    REQUIRE(flags == cudaStreamNonBlocking);
    for (auto &s : stream) {
        CHECK(cudaStreamDestroy(s));
    }
    FAILS(cudaErrorInvalidResourceHandle, cudaStreamQuery(stream[0]));
    CHECK(cudaFreeHost(host_in));
    CHECK(cudaFreeHost(host_out));
    return passed();
}
