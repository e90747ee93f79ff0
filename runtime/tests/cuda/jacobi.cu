// SPDX-License-Identifier: MIT
// A system of equations by Jacobi's way until it stands still.
#include "program.h"

#include <cstring>

__global__ void iterate(const float *a, const float *b, const float *x,
                        float *y, unsigned *change, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        float sum = b[i];

        for (int j = 0; j < n; j++) {
            if (j != i) {
                sum -= a[i * n + j] * x[j];
            }
        }
        y[i] = sum / a[i * n + i];
        /* Numbers from 0 on are ordered as their bits are. */
        atomicMax(change, __float_as_uint(fabsf(y[i] - x[i])));
    }
}

int main()
{
    const int n = 96;
    std::vector<float> a(n * n), b(n), solution(n);
    Random random(13);

    for (int i = 0; i < n; i++) {
        solution[i] = i % 5 - 2;
        for (int j = 0; j < n; j++) {
            a[i * n + j] = i == j ? n : random.real() - 0.5f;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            b[i] += a[i * n + j] * solution[j];
        }
    }
    float *da = device_copy(a), *db = device_copy(b);
    float *x = device_new<float>(n), *y = device_new<float>(n);
    unsigned *change = device_new<unsigned>(1), bits;
    float last = 1;
    int rounds = 0;
    CHECK(cudaMemset(x, 0, n * sizeof(float)));
    for (; last > 1e-5f && rounds < 100; rounds++) {
        CHECK(cudaMemset(change, 0, sizeof(unsigned)));
        iterate<<<2, 64>>>(da, db, x, y, change, n);
        LAUNCHED();
        bits = host_copy(change, 1)[0];
        memcpy(&last, &bits, sizeof(last));
        std::swap(x, y);
    }
    REQUIRE(rounds > 2 && rounds < 100);
    std::vector<float> out = host_copy(x, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(std::fabs(out[i] - solution[i]) < 1e-3);
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    return passed();
}
