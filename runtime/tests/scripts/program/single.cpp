// SPDX-License-Identifier: MIT
#include <cstdio>
#include <mc_common.h>
#include <mc_runtime.h>

#define COUNT 1000

__managed__ int launches;

template <typename T> __global__ void increase(T *data, int count, T by)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i < count) {
        data[i] += by;
    }
    if (i == 0) {
        launches++;
    }
}

int main()
{
    float *host, *device;

    mcMallocHost(&host, COUNT * sizeof(float));
    mcMallocAsync(reinterpret_cast<void **>(&device), COUNT * sizeof(float),
                  NULL);
    for (int i = 0; i < COUNT; i++) {
        host[i] = i;
    }
    mcMemcpyAsync(device, host, COUNT * sizeof(float), mcMemcpyHostToDevice,
                  NULL);
    increase<float><<<(COUNT + 255) / 256, 256>>>(device, COUNT, 0.5f);
    mcMemcpyAsync(host, device, COUNT * sizeof(float), mcMemcpyDeviceToHost,
                  NULL);
    mcFreeAsync(device, NULL);
    if (mcStreamSynchronize(NULL) != mcSuccess || launches != 1) {
        return 1;
    }
    for (int i = 0; i < COUNT; i++) {
        if (host[i] != i + 0.5f) {
            return 1;
        }
    }
    mcFreeHost(host);
    puts("single passed");
    return 0;
}
