// SPDX-License-Identifier: MIT
// Layers of an array, and a volume, through textures.
#include "program.h"

__global__ void layers(cudaTextureObject_t texture, float *out, int width)
{
    int x = threadIdx.x, layer = blockIdx.x;

    out[layer * width + x] = tex2DLayered<float>(texture, x + 0.5f, 0.5f,
                                                 layer);
}

__global__ void volume(cudaTextureObject_t texture, float *out, int width)
{
    int x = threadIdx.x, z = blockIdx.x;

    out[z * width + x] = tex3D<float>(texture, x + 1.0f, 0.5f, z + 0.5f);
}

static cudaArray_t make(unsigned flags, const std::vector<float> &in,
                        int width, int height, int depth)
{
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaMemcpy3DParms copy = {};
    cudaArray_t array;

    CHECK(cudaMalloc3DArray(&array, &channel,
                            make_cudaExtent(width, height, depth), flags));
    copy.srcPtr = make_cudaPitchedPtr((void *)in.data(),
                                      width * sizeof(float), width, height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, height, depth);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return array;
}

int main()
{
    const int width = 16, height = 2, depth = 5;
    std::vector<float> in(width * height * depth);
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    float *out = device_new<float>(width * depth);

    for (int i = 0; i < width * height * depth; i++) {
        in[i] = i % width + 100 * (i / width / height);
    }
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = make(cudaArrayLayered, in, width, height,
                                    depth);
    for (auto &mode : how.addressMode) {
        mode = cudaAddressModeClamp;
    }
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    layers<<<depth, width>>>(texture, out, width);
    LAUNCHED();
    std::vector<float> got = host_copy(out, width * depth);
    for (int i = 0; i < width * depth; i++) {
        REQUIRE(got[i] == i % width + 100 * (i / width));
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(resource.res.array.array));

    resource.res.array.array = make(0, in, width, height, depth);
    how.filterMode = cudaFilterModeLinear;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    volume<<<depth, width>>>(texture, out, width);
    LAUNCHED();
    got = host_copy(out, width * depth);
    for (int i = 0; i < width * depth; i++) {
        float x = i % width == width - 1 ? width - 1 : i % width + 0.5f;

        REQUIRE(got[i] == x + 100 * (i / width));
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(resource.res.array.array));
    CHECK(cudaFree(out));
    return passed();
}
