// SPDX-License-Identifier: MIT
// Textures of linear memory, and bytes read as fractions of one.
#include "program.h"

__global__ void fetch(cudaTextureObject_t texture, int4 *out, int n)
{
    int i = threadIdx.x;

    if (i < n) {
        out[i] = tex1Dfetch<int4>(texture, n - 1 - i);
    }
}

__global__ void normalized(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 1.5f);
}

int main()
{
    const int n = 50;
    std::vector<int4> in(n);
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;

    for (int i = 0; i < n; i++) {
        in[i] = make_int4(i, 2 * i, 3 * i, -i);
    }
    int4 *data = device_copy(in), *out = device_new<int4>(n);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.desc = cudaCreateChannelDesc<int4>();
    resource.res.linear.sizeInBytes = n * sizeof(int4);
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    fetch<<<1, 64>>>(texture, out, n);
    LAUNCHED();
    std::vector<int4> got = host_copy(out, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(got[i].x == n - 1 - i && got[i].w == i + 1 - n);
    }
    CHECK(cudaDestroyTextureObject(texture));

    unsigned char *image;
    size_t pitch;
    float *floats = device_new<float>(16);
    std::vector<unsigned char> rows(16 * 3);
    for (int i = 0; i < 48; i++) {
        rows[i] = 5 * i;
    }
    CHECK(cudaMallocPitch(&image, &pitch, 16, 3));
    CHECK(cudaMemcpy2D(image, pitch, rows.data(), 16, 16, 3,
                       cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = image;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
    resource.res.pitch2D.width = 16;
    resource.res.pitch2D.height = 3;
    resource.res.pitch2D.pitchInBytes = pitch;
    how.readMode = cudaReadModeNormalizedFloat;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    normalized<<<1, 16>>>(texture, floats);
    LAUNCHED();
    std::vector<float> f = host_copy(floats, 16);
    for (int i = 0; i < 16; i++) {
        REQUIRE(near(f[i], rows[16 + i] / 255.0, 1e-6));
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFree(image));
    CHECK(cudaFree(data));
    return passed();
}
