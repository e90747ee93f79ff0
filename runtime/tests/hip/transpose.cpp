// SPDX-License-Identifier: MIT
// A transpose through shared memory.
#include "program.h"

#define TILE 16

__global__ void transpose(const int *in, int *out, int width, int height)
{
    __shared__ int tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE +
                                                 threadIdx.y;

    if (x < width && y < height) {
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width) {
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
    }
}

int main()
{
    const int width = 70, height = 45;
    std::vector<int> in(width * height);

    for (int i = 0; i < width * height; i++) {
        in[i] = i;
    }
    int *a = device_copy(in), *b = device_new<int>(width * height);
    transpose<<<dim3((width + TILE - 1) / TILE, (height + TILE - 1) / TILE),
                dim3(TILE, TILE)>>>(a, b, width, height);
    LAUNCHED();
    std::vector<int> out = host_copy(b, width * height);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            REQUIRE(out[x * height + y] == y * width + x);
        }
    }
    CHECK(hipFree(a));
    CHECK(hipFree(b));
    return passed();
}
