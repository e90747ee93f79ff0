// SPDX-License-Identifier: MIT
// Rows with a pitch: cudaMallocPitch, cudaMemcpy2D, cudaMemset2D.
#include "program.h"

__global__ void transform(float *image, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < width && y < height) {
        float *row = (float *)((char *)image + y * pitch);

        row[x] = 2 * row[x] + y;
    }
}

int main()
{
    const int width = 101, height = 37, stride = 128;
    std::vector<float> in(stride * height), out(width * height, -1);
    float *image;
    size_t pitch = 0;

    for (int i = 0; i < stride * height; i++) {
        in[i] = i;
    }
    CHECK(cudaMallocPitch(&image, &pitch, width * sizeof(float), height));
    REQUIRE(pitch >= width * sizeof(float) && pitch % sizeof(float) == 0);
    CHECK(cudaMemcpy2D(image, pitch, in.data(), stride * sizeof(float),
                       width * sizeof(float), height, cudaMemcpyHostToDevice));
    dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
    transform<<<grid, block>>>(image, pitch, width, height);
    LAUNCHED();
    CHECK(cudaMemcpy2D(out.data(), width * sizeof(float), image, pitch,
                       width * sizeof(float), height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            REQUIRE(out[y * width + x] == 2.0f * (y * stride + x) + y);
        }
    }
    /* A rectangle of bytes within. */
    CHECK(cudaMemset2D((char *)image + 5 * pitch + 12, pitch, 0, 8, 3));
    CHECK(cudaMemcpy2D(out.data(), width * sizeof(float), image, pitch,
                       width * sizeof(float), height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < 10; x++) {
            bool inside = y >= 5 && y < 8 && x >= 3 && x < 5;

            REQUIRE((out[y * width + x] == 0) ==
                    (inside || (y == 0 && x == 0)));
        }
    }
    FAILS(cudaErrorInvalidPitchValue,
          cudaMemcpy2D(image, 4, in.data(), stride, 16, 2,
                       cudaMemcpyHostToDevice));
    CHECK(cudaFree(image));
    return passed();
}
