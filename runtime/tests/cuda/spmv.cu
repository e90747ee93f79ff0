// SPDX-License-Identifier: MIT
// A sparse matrix (CSR) by a vector: a thread a row, a warp a row.
#include "program.h"

__global__ void by_thread(const int *start, const int *column, const float *a,
                          const float *x, float *y, int rows)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;

    if (r < rows) {
        float sum = 0;

        for (int i = start[r]; i < start[r + 1]; i++) {
            sum += a[i] * x[column[i]];
        }
        y[r] = sum;
    }
}

__global__ void by_warp(const int *start, const int *column, const float *a,
                        const float *x, float *y, int rows)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int lane = threadIdx.x % warpSize;
    float sum = 0;

    if (r >= rows) {
        return;
    }
    for (int i = start[r] + lane; i < start[r + 1]; i += warpSize) {
        sum += a[i] * __ldg(&x[column[i]]);
    }
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(__activemask(), sum, offset);
    }
    if (lane == 0) {
        y[r] = sum;
    }
}

int main()
{
    const int rows = 500, columns = 400;
    std::vector<int> start(rows + 1), column;
    std::vector<float> a, x(columns), want(rows);
    Random random(11);

    for (int c = 0; c < columns; c++) {
        x[c] = c % 10;
    }
    for (int r = 0; r < rows; r++) {
        start[r] = column.size();
        for (int i = random.next() % 90; i > 0; i--) {
            column.push_back(random.next() % columns);
            a.push_back((int)(random.next() % 9) - 4);
            want[r] += a.back() * x[column.back()];
        }
    }
    start[rows] = column.size();
    int *ds = device_copy(start), *dc = device_copy(column);
    float *da = device_copy(a), *dx = device_copy(x);
    float *dy = device_new<float>(rows);
    by_thread<<<(rows + 127) / 128, 128>>>(ds, dc, da, dx, dy, rows);
    LAUNCHED();
    REQUIRE(host_copy(dy, rows) == want);
    CHECK(cudaMemset(dy, 0xff, rows * sizeof(float)));
    by_warp<<<rows, 64>>>(ds, dc, da, dx, dy, rows);
    LAUNCHED();
    REQUIRE(host_copy(dy, rows) == want);
    CHECK(cudaFree(ds));
    CHECK(cudaFree(dc));
    CHECK(cudaFree(da));
    CHECK(cudaFree(dx));
    CHECK(cudaFree(dy));
    return passed();
}
