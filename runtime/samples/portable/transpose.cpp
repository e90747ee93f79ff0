// SPDX-License-Identifier: MIT
// A matrix is transposed through tiles in shared memory.
#include "gpu.h"

constexpr int TILE = 16;

__global__ void transpose(const int *in, int *out, int width, int height)
{
    __shared__ int tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;

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
    const int width = 300, height = 170;
    std::vector<int> in(width * height), out(width * height);
    bool ok = true;

    for (int i = 0; i < width * height; i++) {
        in[i] = i;
    }
    int *a = to_device(in), *b = to_device(out);
    transpose<<<dim3((width + TILE - 1) / TILE, (height + TILE - 1) / TILE),
                dim3(TILE, TILE)>>>(a, b, width, height);
    CHECK(gpu(GetLastError)());
    to_host(out, b);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            ok = ok && out[x * height + y] == in[y * width + x];
        }
    }
    CHECK(gpu(Free)(a));
    CHECK(gpu(Free)(b));
    return verdict("transpose", ok);
}
