// SPDX-License-Identifier: MIT
// A product of matrices by tiles in shared memory.
#include "program.h"

#define TILE 16

__global__ void multiply(const float *a, const float *b, float *c, int m,
                         int n, int k)
{
    __shared__ float ta[TILE][TILE], tb[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;

    for (int t = 0; t < (k + TILE - 1) / TILE; t++) {
        int ka = t * TILE + threadIdx.x, kb = t * TILE + threadIdx.y;

        ta[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0;
        tb[threadIdx.y][threadIdx.x] = kb < k && column < n
                                           ? b[kb * n + column]
                                           : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++) {
            sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}

int main()
{
    const int m = 50, n = 71, k = 33;
    std::vector<float> a(m * k), b(k * n);

    for (int i = 0; i < m * k; i++) {
        a[i] = i % 9 - 4;
    }
    for (int i = 0; i < k * n; i++) {
        b[i] = i % 7 - 3;
    }
    float *da = device_copy(a), *db = device_copy(b);
    float *dc = device_new<float>(m * n);
    multiply<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE),
               dim3(TILE, TILE)>>>(da, db, dc, m, n, k);
    LAUNCHED();
    std::vector<float> c = host_copy(dc, m * n);
    for (int r = 0; r < m; r++) {
        for (int s = 0; s < n; s++) {
            float sum = 0;

            for (int i = 0; i < k; i++) {
                sum += a[r * k + i] * b[i * n + s];
            }
            REQUIRE(c[r * n + s] == sum);
        }
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    return passed();
}
