// SPDX-License-Identifier: MIT
// A transpose through a padded tile, with blocks of eight rows of threads.
#include "program.h"

#define TILE 32
#define ROWS 8

template <typename T>
__global__ void transpose(const T *in, T *out, int width, int height)
{
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;

    for (int j = threadIdx.y; j < TILE; j += ROWS) {
        int y = blockIdx.y * TILE + j;

        if (x < width && y < height) {
            tile[j][threadIdx.x] = in[y * width + x];
        }
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    for (int j = threadIdx.y; j < TILE; j += ROWS) {
        int y = blockIdx.x * TILE + j;

        if (x < height && y < width) {
            out[y * height + x] = tile[threadIdx.x][j];
        }
    }
}

template <typename T> static void run(int width, int height)
{
    std::vector<T> in(width * height);

    for (size_t i = 0; i < in.size(); i++) {
        in[i] = T(i);
    }
    T *a = device_copy(in), *b = device_new<T>(in.size());
    transpose<T><<<dim3((width + TILE - 1) / TILE, (height + TILE - 1) / TILE),
                   dim3(TILE, ROWS)>>>(a, b, width, height);
    LAUNCHED();
    std::vector<T> out = host_copy(b, in.size());
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            REQUIRE(out[x * height + y] == in[y * width + x]);
        }
    }
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
}

int main()
{
    run<float>(96, 64);
    run<double>(50, 71);
    run<unsigned char>(1, 100);
    return passed();
}
