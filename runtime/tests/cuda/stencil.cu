// SPDX-License-Identifier: MIT
// A five-point stencil with a halo in shared memory.
#include "program.h"

#define TILE 16

__global__ void heat(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE + 2][TILE + 2];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE +
                                                 threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    auto at = [=](int x, int y) {
        x = min(max(x, 0), width - 1);
        y = min(max(y, 0), height - 1);
        return in[y * width + x];
    };

    tile[ty][tx] = at(x, y);
    if (threadIdx.x == 0) {
        tile[ty][0] = at(x - 1, y);
        tile[ty][TILE + 1] = at(x + TILE, y);
    }
    if (threadIdx.y == 0) {
        tile[0][tx] = at(x, y - 1);
        tile[TILE + 1][tx] = at(x, y + TILE);
    }
    __syncthreads();
    if (x < width && y < height) {
        out[y * width + x] = 0.5f * tile[ty][tx] +
                             0.125f * (tile[ty - 1][tx] + tile[ty + 1][tx] +
                                       tile[ty][tx - 1] + tile[ty][tx + 1]);
    }
}

static std::vector<float> reference(const std::vector<float> &in, int width,
                                    int height)
{
    std::vector<float> out(in.size());
    auto at = [&](int x, int y) {
        x = x < 0 ? 0 : x >= width ? width - 1 : x;
        y = y < 0 ? 0 : y >= height ? height - 1 : y;
        return in[y * width + x];
    };

    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            out[y * width + x] = 0.5f * at(x, y) +
                                 0.125f * (at(x, y - 1) + at(x, y + 1) +
                                           at(x - 1, y) + at(x + 1, y));
        }
    }
    return out;
}

int main()
{
    const int width = 75, height = 41, steps = 6;
    std::vector<float> in(width * height);

    in[20 * width + 30] = 4096;
    in[0] = 1024;
    float *a = device_copy(in), *b = device_new<float>(in.size());
    dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    for (int s = 0; s < steps; s++) {
        heat<<<grid, dim3(TILE, TILE)>>>(a, b, width, height);
        std::swap(a, b);
        in = reference(in, width, height);
    }
    LAUNCHED();
    std::vector<float> out = host_copy(a, in.size());
    for (size_t i = 0; i < in.size(); i++) {
        REQUIRE(near(out[i], in[i], 1e-5));
    }
    REQUIRE(out[20 * width + 30] > 0 && out[20 * width + 30] < 4096);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return passed();
}
