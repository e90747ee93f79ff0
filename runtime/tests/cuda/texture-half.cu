/* SPDX-License-Identifier: MIT */
/* Arrays of halves: by name, read as floats, read and written as they are. */
#include <cuda_fp16.h>

#include "program.h"

__global__ void twice(cudaTextureObject_t image, cudaSurfaceObject_t same,
                      float *out)
{
    int x = threadIdx.x;
    __half h;

    surf2Dread(&h, same, x * (int)sizeof(h), 1);
    out[x] = tex2D<float>(image, x + 0.5f, 1.5f) + __half2float(h);
    surf2Dwrite(__float2half(-1.0f), same, x * (int)sizeof(h), 1);
}

int main()
{
    cudaChannelFormatDesc desc = cudaCreateChannelDescHalf();
    cudaChannelFormatDesc two = cudaCreateChannelDescHalf2();
    cudaChannelFormatDesc four = cudaCreateChannelDescHalf4();
    __half host[2][64];
    cudaArray_t array;

    REQUIRE(desc.x == 16 && !desc.y && desc.f == cudaChannelFormatKindFloat);
    REQUIRE(two.y == 16 && !two.z && four.w == 16);
    REQUIRE(cudaCreateChannelDesc<__half>().x == 16);
    REQUIRE(cudaCreateChannelDesc<__half2>().y == 16);
    for (int i = 0; i < 128; i++) {
        host[i / 64][i % 64] = __float2half(i * 0.5f);
    }
    CHECK(cudaMallocArray(&array, &desc, 64, 2, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, 128, 128, 2,
                              cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc modes = {};
    cudaTextureObject_t image;
    cudaSurfaceObject_t same;
    CHECK(cudaCreateTextureObject(&image, &resource, &modes, nullptr));
    CHECK(cudaCreateSurfaceObject(&same, &resource));
    float *out = device_new<float>(64);
    twice<<<1, 64>>>(image, same, out);
    LAUNCHED();
    std::vector<float> h = host_copy(out, 64);
    for (int i = 0; i < 64; i++) {
        REQUIRE(h[i] == 64 + i);
    }
    CHECK(cudaMemcpy2DFromArray(host, 128, array, 0, 0, 128, 2,
                                cudaMemcpyDeviceToHost));
    REQUIRE(__half2float(host[1][5]) == -1 && __half2float(host[0][5]) == 2.5f);
    return passed();
}
