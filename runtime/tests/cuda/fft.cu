// SPDX-License-Identifier: MIT
// A radix-2 Fourier transform in shared memory, and back.
#include "program.h"

#define N 512

__global__ void fft(float2 *data, int sign)
{
    __shared__ float2 x[N];
    int t = threadIdx.x;

    data += blockIdx.x * N;
    for (int i = t; i < N; i += N / 2) {
        x[__brev(i) >> 23] = data[i];
    }
    for (int half = 1; half < N; half *= 2) {
        __syncthreads();
        int k = t % half, a = t / half * 2 * half + k, b = a + half;
        float s, c;

        sincospif(sign * (float)k / half, &s, &c);
        float2 u = x[a], v = make_float2(x[b].x * c - x[b].y * s,
                                         x[b].x * s + x[b].y * c);
        x[a] = make_float2(u.x + v.x, u.y + v.y);
        x[b] = make_float2(u.x - v.x, u.y - v.y);
    }
    __syncthreads();
    for (int i = t; i < N; i += N / 2) {
        data[i] = x[i];
    }
}

int main()
{
    const int batch = 3;
    std::vector<float2> in(batch * N);

    for (int i = 0; i < N; i++) {
        in[i] = make_float2(i == 1, 0);                     /* an impulse */
        in[N + i] = make_float2(std::cos(2 * M_PI * 5 * i / N), 0);
        in[2 * N + i] = make_float2(i % 13, i % 7);
    }
    float2 *data = device_copy(in);
    fft<<<batch, N / 2>>>(data, -1);
    LAUNCHED();
    std::vector<float2> out = host_copy(data, batch * N);
    for (int i = 0; i < N; i++) {
        double angle = -2 * M_PI * i / N;

        REQUIRE(std::fabs(out[i].x - std::cos(angle)) < 1e-4);
        REQUIRE(std::fabs(out[i].y - std::sin(angle)) < 1e-4);
        float peak = i == 5 || i == N - 5 ? N / 2 : 0;
        REQUIRE(std::fabs(out[N + i].x - peak) < 1e-2);
    }
    fft<<<batch, N / 2>>>(data, 1);
    LAUNCHED();
    out = host_copy(data, batch * N);
    for (int i = 0; i < batch * N; i++) {
        REQUIRE(std::fabs(out[i].x / N - in[i].x) < 1e-4);
        REQUIRE(std::fabs(out[i].y / N - in[i].y) < 1e-4);
    }
    CHECK(cudaFree(data));
    return passed();
}
