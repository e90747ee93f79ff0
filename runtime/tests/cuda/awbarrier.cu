/* SPDX-License-Identifier: MIT */
/* Barriers of two steps, in C and in nvcuda::experimental; types of numbers. */
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
#include <library_types.h>

#include "program.h"

using nvcuda::experimental::awbarrier;
using nvcuda::experimental::pipeline;

__global__ void reverse(int *data, int rounds)
{
    __shared__ awbarrier barrier;
    __shared__ int tile[256];
    int t = threadIdx.x;

    if (t == 0) {
        init(&barrier, blockDim.x);
    }
    __syncthreads();
    for (int i = 0; i < rounds; i++) {
        tile[t] = data[t];
        awbarrier::arrival_token token = barrier.arrive();
        barrier.wait(token);
        data[t] = tile[blockDim.x - 1 - t] + 1;
        barrier.arrive_and_wait();
    }
}

/* The second half of the block leaves after its first arrival. */
__global__ void drop(int *data)
{
    __shared__ __mbarrier_t barrier;
    int t = threadIdx.x;

    if (t == 0) {
        __mbarrier_init(&barrier, blockDim.x);
    }
    __syncthreads();
    if (t >= blockDim.x / 2) {
        data[t] = 7;
        __mbarrier_arrive_and_drop(&barrier);
        return;
    }
    __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
    data[t] = data[t + blockDim.x / 2] + t;
    token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
}

__global__ void staged(const int4 *in, int4 *out)
{
    __shared__ int4 tile[64];
    pipeline pipe;
    int t = threadIdx.x;

    memcpy_async(tile[t], in[t], pipe);
    pipe.commit();
    pipe.wait_prior<0>();
    out[t] = tile[t];
}

int main()
{
    std::vector<int> in(256);

    for (int i = 0; i < 256; i++) {
        in[i] = i;
    }
    int *data = device_copy(in), *out = device_new<int>(256);
    reverse<<<1, 256>>>(data, 4);
    LAUNCHED();
    std::vector<int> h = host_copy(data, 256);
    for (int i = 0; i < 256; i++) {
        REQUIRE(h[i] == i + 4);
    }
    drop<<<1, 256>>>(out);
    LAUNCHED();
    h = host_copy(out, 256);
    for (int i = 0; i < 128; i++) {
        REQUIRE(h[i] == 7 + i);
    }
    staged<<<1, 64>>>((int4 *)data, (int4 *)out);
    LAUNCHED();
    REQUIRE(host_copy(out, 256) == host_copy(data, 256));
    REQUIRE(awbarrier::max() > 1024);

    cudaDataType_t type = CUDA_C_64F;
    libraryPropertyType property = PATCH_LEVEL;
    REQUIRE(type == 5 && CUDA_R_32F == 0 && property == 2);
    return passed();
}
