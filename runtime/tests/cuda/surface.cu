// SPDX-License-Identifier: MIT
// A surface that kernels write and read, in bytes across.
#include "program.h"

__global__ void write(cudaSurfaceObject_t surface, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < width && y < height) {
        surf2Dwrite(make_uchar4(x, y, x + y, 255), surface,
                    x * (int)sizeof(uchar4), y);
    }
}

__global__ void swap(cudaSurfaceObject_t in, cudaSurfaceObject_t out,
                     int width)
{
    int x = threadIdx.x, y = blockIdx.x;
    uchar4 v;

    surf2Dread(&v, in, (width - 1 - x) * (int)sizeof(uchar4), y);
    surf2Dwrite(make_uchar4(v.w, v.z, v.y, v.x), out, x * (int)sizeof(uchar4),
                y);
}

int main()
{
    const int width = 30, height = 11;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<uchar4>();
    cudaArray_t array[2];
    cudaSurfaceObject_t surface[2];
    std::vector<uchar4> out(width * height);

    for (int i = 0; i < 2; i++) {
        cudaResourceDesc resource = {};

        CHECK(cudaMallocArray(&array[i], &channel, width, height,
                              cudaArraySurfaceLoadStore));
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array[i];
        CHECK(cudaCreateSurfaceObject(&surface[i], &resource));
    }
    write<<<dim3(4, 2), dim3(8, 8)>>>(surface[0], width, height);
    swap<<<height, width>>>(surface[0], surface[1], width);
    LAUNCHED();
    CHECK(cudaMemcpy2DFromArray(out.data(), width * sizeof(uchar4), array[1],
                                0, 0, width * sizeof(uchar4), height,
                                cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const uchar4 v = out[y * width + x];
            int from = width - 1 - x;

            REQUIRE(v.x == 255 && v.y == from + y && v.z == y && v.w == from);
        }
    }
    for (int i = 0; i < 2; i++) {
        CHECK(cudaDestroySurfaceObject(surface[i]));
        CHECK(cudaFreeArray(array[i]));
    }
    return passed();
}
