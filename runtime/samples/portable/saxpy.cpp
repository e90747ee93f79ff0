// SPDX-License-Identifier: MIT
// y = a x + y in two streams, timed by events.
#include "gpu.h"

__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

int main()
{
    const int n = 100000, half = n / 2;
    std::vector<float> x(n), y(n, 1);
    gpu(Stream_t) stream[2];
    gpu(Event_t) start, stop;
    float ms = 0;
    bool ok = true;

    for (int i = 0; i < n; i++) {
        x[i] = i % 1000;
    }
    float *dx = to_device(x), *dy = to_device(y);
    CHECK(gpu(EventCreate)(&start));
    CHECK(gpu(EventCreate)(&stop));
    for (auto &s : stream) {
        CHECK(gpu(StreamCreate)(&s));
    }
    CHECK(gpu(EventRecord)(start, 0));
    for (int i = 0; i < 2; i++) {
        saxpy<<<(half + 255) / 256, 256, 0, stream[i]>>>(
            2, dx + i * half, dy + i * half, half);
        CHECK(gpu(GetLastError)());
    }
    CHECK(gpu(EventRecord)(stop, 0));
    CHECK(gpu(EventSynchronize)(stop));
    CHECK(gpu(EventElapsedTime)(&ms, start, stop));
    to_host(y, dy);
    for (int i = 0; i < n; i++) {
        ok = ok && y[i] == 2.0f * (i % 1000) + 1;
    }
    for (auto &s : stream) {
        CHECK(gpu(StreamDestroy)(s));
    }
    CHECK(gpu(EventDestroy)(start));
    CHECK(gpu(EventDestroy)(stop));
    CHECK(gpu(Free)(dx));
    CHECK(gpu(Free)(dy));
    printf("%d elements, %g ms\n", n, ms);
    return verdict("saxpy", ok && ms > 0);
}
