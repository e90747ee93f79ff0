// SPDX-License-Identifier: MIT
// Boxes: cudaMalloc3D, cudaMemset3D, cudaMemcpy3D.
#include "program.h"

__global__ void fill(cudaPitchedPtr box, cudaExtent extent, int width)
{
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;

    if (x < width && y < extent.height && z < extent.depth) {
        char *slice = (char *)box.ptr + z * box.pitch * extent.height;

        ((int *)(slice + y * box.pitch))[x] += x + 100 * y + 10000 * z;
    }
}

int main()
{
    const int width = 13, height = 7, depth = 5;
    cudaExtent extent = make_cudaExtent(width * sizeof(int), height, depth);
    cudaPitchedPtr box;
    std::vector<int> out(width * height * depth, -1);

    CHECK(cudaMalloc3D(&box, extent));
    REQUIRE(box.pitch >= width * sizeof(int));
    CHECK(cudaMemset3D(box, 1, extent));
    fill<<<dim3(height, depth), 32>>>(box, extent, width);
    LAUNCHED();
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(out.data(), width * sizeof(int), width,
                                      height);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (int z = 0; z < depth; z++) {
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                REQUIRE(out[(z * height + y) * width + x] ==
                        0x01010101 + x + 100 * y + 10000 * z);
            }
        }
    }
    /* Two cells of two rows of one slice, to another place. */
    std::vector<int> part(4, -1);
    copy.srcPos = make_cudaPos(3 * sizeof(int), 2, 4);
    copy.dstPos = make_cudaPos(0, 0, 0);
    copy.dstPtr = make_cudaPitchedPtr(part.data(), 2 * sizeof(int), 2, 2);
    copy.extent = make_cudaExtent(2 * sizeof(int), 2, 1);
    CHECK(cudaMemcpy3DAsync(&copy, 0));
    CHECK(cudaStreamSynchronize(0));
    for (int i = 0; i < 4; i++) {
        REQUIRE(part[i] == out[(4 * height + 2 + i / 2) * width + 3 + i % 2]);
    }
    CHECK(cudaFree(box.ptr));
    return passed();
}
