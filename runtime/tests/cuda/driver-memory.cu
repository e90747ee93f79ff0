// SPDX-License-Identifier: MIT
// The driver's interface: contexts, memory, streams and events of its own, and
// a kernel that the runtime knows.
#include "program.h"

#include <cuda.h>

#define DRIVER(call) REQUIRE((call) == CUDA_SUCCESS)

__global__ void add(int *data, int by)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += by;
}

int main()
{
    const int n = 512;
    CUdevice device;
    CUcontext context, current;
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    char name[100];
    int count = 0, warp = 0, by = 7;
    size_t size = 0;
    std::vector<int> in(n), out(n);

    DRIVER(cuInit(0));
    DRIVER(cuDeviceGetCount(&count));
    REQUIRE(count >= 1);
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuDeviceGetName(name, sizeof(name), device));
    DRIVER(cuDeviceTotalMem(&size, device));
    DRIVER(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    REQUIRE(size > 0 && (warp == 32 || warp == 64));
    DRIVER(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER(cuCtxSetCurrent(context));
    DRIVER(cuCtxGetCurrent(&current));
    REQUIRE(current == context);

    for (int i = 0; i < n; i++) {
        in[i] = i;
    }
    DRIVER(cuMemAlloc(&memory, n * sizeof(int)));
    DRIVER(cuMemcpyHtoD(memory, in.data(), n * sizeof(int)));
    DRIVER(cuMemsetD32(memory + 4, 1000, 2));
    DRIVER(cuCtxSynchronize()); /* the stream below does not wait for it */
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER(cuEventCreate(&event, CU_EVENT_DEFAULT));
    add<<<n / 128, 128, 0, stream>>>((int *)memory, by);
    DRIVER(cuEventRecord(event, stream));
    DRIVER(cuEventSynchronize(event));
    DRIVER(cuMemcpyDtoHAsync(out.data(), memory, n * sizeof(int), stream));
    DRIVER(cuStreamSynchronize(stream));
    for (int i = 0; i < n; i++) {
        REQUIRE(out[i] == (i == 1 || i == 2 ? 1007 : i + 7));
    }
    CUdeviceptr base = 0;
    DRIVER(cuMemGetAddressRange(&base, &size, memory + 100));
    REQUIRE(base == memory && size >= n * sizeof(int));
    const char *text = nullptr;
    REQUIRE(cuMemAlloc(&memory, 0) == CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
    REQUIRE(text && *text);
    DRIVER(cuMemFree(base));
    DRIVER(cuStreamDestroy(stream));
    DRIVER(cuEventDestroy(event));
    DRIVER(cuDevicePrimaryCtxRelease(device));
    return passed();
}
