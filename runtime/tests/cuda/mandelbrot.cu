// SPDX-License-Identifier: MIT
// The Mandelbrot set in double precision; the image is symmetric.
#include "program.h"

__host__ __device__ static int escape(double cx, double cy)
{
    double x = 0, y = 0;
    int n = 0;

    while (n < 64 && x * x + y * y < 4) {
        double next = x * x - y * y + cx;

        y = 2 * x * y + cy;
        x = next;
        n++;
    }
    return n;
}

__global__ void mandelbrot(int *image, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < width && y < height) {
        image[y * width + x] = escape(-2 + 3.0 * x / width,
                                      -1 + 2.0 * (y + 0.5) / height);
    }
}

int main()
{
    const int width = 90, height = 60;
    int *image = device_new<int>(width * height), inside = 0, different = 0;

    mandelbrot<<<dim3((width + 15) / 16, (height + 7) / 8), dim3(16, 8)>>>(
        image, width, height);
    LAUNCHED();
    std::vector<int> out = host_copy(image, width * height);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            int n = out[y * width + x];

            inside += n == 64;
            different += n != escape(-2 + 3.0 * x / width,
                                     -1 + 2.0 * (y + 0.5) / height);
            REQUIRE(n > 0);
        }
    }
    /* The set's area is 1.51 of 6; a sum may be rounded another way. */
    REQUIRE(inside > width * height / 5 && inside < width * height * 3 / 10);
    REQUIRE(different < 20);
    CHECK(cudaFree(image));
    return passed();
}
