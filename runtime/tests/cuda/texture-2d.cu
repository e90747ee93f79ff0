// SPDX-License-Identifier: MIT
// A texture of an array: points and filtered, addresses beyond the edge.
#include "program.h"

__global__ void read(cudaTextureObject_t texture, float *out, float step,
                     float start, int n)
{
    int i = threadIdx.x;

    if (i < n) {
        out[i] = tex2D<float>(texture, start + i * step, 1.5f);
    }
}

int main()
{
    const int width = 8, height = 4;
    std::vector<float> in(width * height);
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    float *out = device_new<float>(64);

    for (int i = 0; i < width * height; i++) {
        in[i] = 10 * (i / width) + i % width;
    }
    CHECK(cudaMallocArray(&array, &channel, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, in.data(), width * sizeof(float),
                              width * sizeof(float), height,
                              cudaMemcpyHostToDevice));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    read<<<1, 64>>>(texture, out, 1, -2, 12);
    LAUNCHED();
    std::vector<float> got = host_copy(out, 12);
    for (int i = 0; i < 12; i++) {
        int x = i - 2 < 0 ? 0 : i - 2 >= width ? width - 1 : i - 2;

        REQUIRE(got[i] == 10 + x);
    }
    CHECK(cudaDestroyTextureObject(texture));
    /* Between two texels, with a fraction of 8 bits. */
    how.filterMode = cudaFilterModeLinear;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    read<<<1, 64>>>(texture, out, 0.25f, 1.5f, 20);
    LAUNCHED();
    got = host_copy(out, 20);
    for (int i = 0; i < 20; i++) {
        REQUIRE(got[i] == 10 + 1 + 0.25f * i);
    }
    CHECK(cudaDestroyTextureObject(texture));
    /* Normalised coordinates that wrap. */
    how.normalizedCoords = 1;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
    how.filterMode = cudaFilterModePoint;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    read<<<1, 64>>>(texture, out, 0.125f, -0.9375f, 32);
    LAUNCHED();
    got = host_copy(out, 32);
    for (int i = 0; i < 32; i++) {
        REQUIRE(got[i] == 20 + i % width);
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(out));
    return passed();
}
