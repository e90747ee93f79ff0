// SPDX-License-Identifier: MIT
// The host's part, for any C++ compiler.
#include <cstdio>

#include "kernels.h"

int main()
{
    int host[500], *device = nullptr;
    cudaStream_t stream;

    for (int i = 0; i < 500; i++) {
        host[i] = i;
    }
    cudaError_t error = cudaMalloc(&device, sizeof(host));
    if (error == cudaSuccess) {
        error = cudaStreamCreate(&stream);
    }
    if (error == cudaSuccess) {
        error = cudaMemcpy(device, host, sizeof(host),
                           cudaMemcpyHostToDevice);
    }
    if (error == cudaSuccess) {
        run(device, 500, stream);
        error = cudaStreamSynchronize(stream);
    }
    if (error == cudaSuccess) {
        error = cudaMemcpy(host, device, sizeof(host),
                           cudaMemcpyDeviceToHost);
    }
    for (int i = 0; i < 500 && error == cudaSuccess; i++) {
        if (host[i] != SCALE * i * i) {
            printf("element %d: %d\n", i, host[i]);
            return 1;
        }
    }
    printf("%s\n", error == cudaSuccess ? "PASSED" : cudaGetErrorName(error));
    return error != cudaSuccess;
}
