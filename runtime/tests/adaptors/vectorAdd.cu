/* SPDX-License-Identifier: MIT */
/* The first program everybody writes, as written for CUDA: no header of the
 * mc* interface, no name of it. */
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>
#include <device_launch_parameters.h>

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t error_ = (call);                                           \
        if (error_ != cudaSuccess) {                                           \
            fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, \
                    cudaGetErrorName(error_), cudaGetErrorString(error_));     \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

__constant__ float scale;

__global__ void vectorAdd(const float *a, const float *b, float *c, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i < n) {
        c[i] = scale * (a[i] + b[i]);
    }
}

static void compare(const float *dC, float *hC, int n, float factor)
{
    enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost;

    CHECK(cudaMemcpy(hC, dC, n * sizeof(float), kind));
    for (int i = 0; i < n; i++) {
        if (hC[i] != factor * 3.0f * i) {
            fprintf(stderr, "element %d: %g\n", i, hC[i]);
            exit(1);
        }
    }
}

int main()
{
    int n = 50000, threads = 256, blocks = (n + threads - 1) / threads;
    size_t size = n * sizeof(float);
    float *hA = (float *)malloc(size), *hB = (float *)malloc(size);
    float *hC = (float *)malloc(size), *dA = NULL, *dB, *dC, ms = -1;
    float two = 2, five = 5;
    cudaEvent_t start, stop;
    cudaStream_t stream;

    for (int i = 0; i < n; i++) {
        hA[i] = i;
        hB[i] = 2 * i;
    }
    CHECK(cudaMalloc((void **)&dA, size));
    CHECK(cudaMalloc(&dB, size));
    CHECK(cudaMalloc<float>(&dC, size));
    CHECK(cudaMemcpy(dA, hA, size, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, hB, size, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(scale, &two, sizeof(two)));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    CHECK(cudaEventRecord(start, stream));
    vectorAdd<<<blocks, threads, 0, stream>>>(dA, dB, dC, n);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (!(ms >= 0)) {
        fprintf(stderr, "time %g\n", ms);
        return 1;
    }
    compare(dC, hC, n, two);

    void *args[] = { &dA, &dB, &dC, &n };
    CHECK(cudaMemcpyToSymbolAsync(scale, &five, sizeof(five), 0,
                                  cudaMemcpyHostToDevice, stream));
    CHECK(cudaLaunchKernel((const void *)vectorAdd, dim3(blocks),
                           dim3(threads), args, 0, stream));
    CHECK(cudaStreamSynchronize(stream));
    compare(dC, hC, n, five);

    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(dA));
    CHECK(cudaFree(dB));
    CHECK(cudaFree(dC));
    free(hA);
    free(hB);
    free(hC);
    CHECK(cudaDeviceReset());
    printf("Test PASSED\n");
    return 0;
}
