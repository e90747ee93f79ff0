/* SPDX-License-Identifier: MIT */
/* The host's compiler and CUDA's headers. */
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

void fill(int *data, int n);
void scale(int *data, int n, int by);

int main()
{
    const int n = 100;
    int host[n], *data = nullptr, version = 0;
    bool good = cuDriverGetVersion(&version) == CUDA_SUCCESS &&
                cudaMalloc((void **)&data, sizeof(host)) == cudaSuccess;

    fill(data, n);
    scale(data, n, 3);
    good = good && cudaMemcpy(host, data, sizeof(host),
                              cudaMemcpyDeviceToHost) == cudaSuccess;
    for (int i = 0; i < n; i++) {
        good = good && host[i] == 3 * (i * i + 1);
    }
    cudaFree(data);
    puts(good ? "PASSED" : "FAILED");
    return !good;
}
