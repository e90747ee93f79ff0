// SPDX-License-Identifier: MIT
// Asynchronous copies to shared memory, in batches.
#include <cuda_pipeline.h>

#include "program.h"

const int threads = 128, batches = 8;

__global__ void reversed(const float4 *in, float4 *out)
{
    __shared__ float4 stages[2][threads];

    __pipeline_memcpy_async(&stages[0][threadIdx.x], &in[threadIdx.x],
                            sizeof(float4));
    __pipeline_commit();
    for (int i = 0; i < batches; i++) {
        if (i + 1 < batches) {
            __pipeline_memcpy_async(&stages[(i + 1) & 1][threadIdx.x],
                                    &in[(i + 1) * threads + threadIdx.x],
                                    sizeof(float4));
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[i * threads + threadIdx.x] =
            stages[i & 1][threads - 1 - threadIdx.x];
        __syncthreads();
    }
}

__global__ void filled(const float4 *in, float4 *out)
{
    __shared__ float4 stage[threads];

    __pipeline_memcpy_async(&stage[threadIdx.x], &in[threadIdx.x],
                            sizeof(float4), 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = stage[threadIdx.x];
}

int main()
{
    const int n = threads * batches;
    float4 *in, *out;

    CHECK(cudaMallocManaged(&in, n * sizeof(float4)));
    CHECK(cudaMallocManaged(&out, n * sizeof(float4)));
    for (int i = 0; i < n; i++) {
        in[i] = make_float4(i, i + 0.25f, i + 0.5f, i + 0.75f);
    }
    reversed<<<1, threads>>>(in, out);
    LAUNCHED();
    for (int i = 0; i < n; i++) {
        int from = i / threads * threads + threads - 1 - i % threads;
        REQUIRE(out[i].x == in[from].x && out[i].w == in[from].w);
    }
    filled<<<1, threads>>>(in, out);
    LAUNCHED();
    for (int i = 0; i < threads; i++) {
        REQUIRE(out[i].x == in[i].x && out[i].y == in[i].y);
        REQUIRE(out[i].z == 0 && out[i].w == 0);
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return passed();
}
