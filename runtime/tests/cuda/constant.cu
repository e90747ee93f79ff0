// SPDX-License-Identifier: MIT
// Constant memory: coefficients of a polynomial, and a table of structures.
#include "program.h"

#define DEGREE 6

struct Point {
    float x, y;
    int weight;
};

__constant__ float coefficients[DEGREE + 1];
__constant__ Point points[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
static __constant__ const int squares[4] = {0, 1, 4, 9};

__global__ void evaluate(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        float sum = 0;

        for (int k = DEGREE; k >= 0; k--) {
            sum = sum * x[i] + coefficients[k];
        }
        const Point &p = points[i % 3];
        y[i] = sum + p.x * p.weight + p.y + squares[i % 4];
    }
}

int main()
{
    const int n = 300;
    float c[DEGREE + 1];
    std::vector<float> x(n);

    for (int k = 0; k <= DEGREE; k++) {
        c[k] = k - 3;
    }
    for (int i = 0; i < n; i++) {
        x[i] = (i % 8) - 4;
    }
    CHECK(cudaMemcpyToSymbol(coefficients, c, sizeof(c)));
    float *in = device_copy(x), *out = device_new<float>(n);
    evaluate<<<3, 128>>>(in, out, n);
    LAUNCHED();
    std::vector<float> y = host_copy(out, n);
    for (int i = 0; i < n; i++) {
        float sum = 0;
        int p = i % 3, q = i % 4;

        for (int k = DEGREE; k >= 0; k--) {
            sum = sum * x[i] + c[k];
        }
        sum += (3 * p + 1) * (3 * p + 3) + 3 * p + 2 + q * q;
        REQUIRE(y[i] == sum);
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return passed();
}
