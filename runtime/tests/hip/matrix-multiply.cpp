// SPDX-License-Identifier: MIT
// A product of matrices by tiles.
#include "program.h"

#define TILE 8

__global__ void multiply(const double *a, const double *b, double *c, int n)
{
    __shared__ double ta[TILE][TILE], tb[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    double sum = 0;

    for (int t = 0; t < n; t += TILE) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}

int main()
{
    const int n = 48;
    std::vector<double> a(n * n), b(n * n);

    for (int i = 0; i < n * n; i++) {
        a[i] = i % 11 - 5;
        b[i] = i % 13 - 6;
    }
    double *da = device_copy(a), *db = device_copy(b);
    double *dc = device_new<double>(n * n);
    hipLaunchKernelGGL(multiply, dim3(n / TILE, n / TILE), dim3(TILE, TILE),
                       0, 0, da, db, dc, n);
    LAUNCHED();
    std::vector<double> c = host_copy(dc, n * n);
    for (int r = 0; r < n; r++) {
        for (int s = 0; s < n; s++) {
            double sum = 0;

            for (int k = 0; k < n; k++) {
                sum += a[r * n + k] * b[k * n + s];
            }
            REQUIRE(c[r * n + s] == sum);
        }
    }
    CHECK(hipFree(da));
    CHECK(hipFree(db));
    CHECK(hipFree(dc));
    return passed();
}
