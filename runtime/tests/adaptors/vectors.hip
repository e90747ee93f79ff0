/* SPDX-License-Identifier: MIT */
/* A program as written for HIP: launches by macro, properties, error names,
 * vectors with arithmetic, modules' types, a warp of 64. */
#include <cstdio>
#include <cstring>
#include <vector>

#include <hip/hip_runtime.h>

#define HIP_CHECK(call)                                                        \
    do {                                                                       \
        hipError_t error_ = (call);                                            \
        if (error_ != hipSuccess) {                                            \
            fprintf(stderr, "%d: %s: %s (%s)\n", __LINE__, #call,              \
                    hipGetErrorName(error_), hipGetErrorString(error_));       \
            return 1;                                                          \
        }                                                                      \
    } while (0)

#define HIP_EXPECT(call, error)                                                \
    do {                                                                       \
        hipError_t got_ = (call);                                              \
        if (got_ != (error) || strcmp(hipGetErrorName(got_), #error)) {        \
            fprintf(stderr, "%d: %s is %s, not %s\n", __LINE__, #call,         \
                    hipGetErrorName(got_), #error);                            \
            return 1;                                                          \
        }                                                                      \
        (void)hipGetLastError();                                               \
    } while (0)

template <class T, int factor>
__global__ void scale(T *data, int n)
{
    int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;

    if (i < n) {
        data[i] = T(factor) * data[i];
    }
}

__global__ void vectors(float4 *data, int n)
{
    HIP_DYNAMIC_SHARED(float4, shared)
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    shared[threadIdx.x] = i < n ? data[i] : make_float4(0, 0, 0, 0);
    __syncthreads();
    if (i < n) {
        float4 v = shared[threadIdx.x];

        v += make_float4(1, 2, 3, 4);
        data[i] = 2.0f * v - v / 1.0f;
    }
}

__global__ void lanes(unsigned long long *out)
{
#ifdef __HIP_DEVICE_COMPILE__
    unsigned long long set = __ballot(threadIdx.x % 2 == 0);

    if (threadIdx.x == 0) {
        out[0] = set;
        out[1] = warpSize;
        out[2] = __AMDGCN_WAVEFRONT_SIZE__;
    }
#endif
}

int main()
{
    const int n = 1000;
    std::vector<float4> host(n, make_float4(1, 1, 1, 1));
    hipDeviceProp_t prop;
    hipStream_t stream;
    hipEvent_t start, stop;
    float4 *data;
    float ms = -1;
    int *pinned, major, minor;

    HIP_CHECK(hipGetDeviceProperties(&prop, 0));
    HIP_CHECK(hipDeviceComputeCapability(&major, &minor, 0));
    if (prop.warpSize != 64 || !prop.name[0] || prop.major != major ||
        !prop.arch.hasWarpBallot || !prop.gcnArchName[0]) {
        fprintf(stderr, "properties of %s\n", prop.name);
        return 1;
    }
    HIP_CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    HIP_CHECK(hipEventCreate(&start));
    HIP_CHECK(hipEventCreateWithFlags(&stop, hipEventReleaseToSystem));
    HIP_CHECK(hipMalloc(&data, n * sizeof(float4)));
    HIP_CHECK(hipMemcpyAsync(data, host.data(), n * sizeof(float4),
                             hipMemcpyHostToDevice, stream));
    HIP_CHECK(hipEventRecord(start, stream));
    hipLaunchKernelGGL(vectors, dim3((n + 63) / 64), dim3(64),
                       64 * sizeof(float4), stream, data, n);
    HIP_CHECK(hipEventRecord(stop, stream));
    HIP_CHECK(hipEventSynchronize(stop));
    HIP_CHECK(hipEventElapsedTime(&ms, start, stop));
    HIP_CHECK(hipMemcpyDtoH(host.data(), data, n * sizeof(float4)));
    for (int i = 0; i < n; i++) {
        if (host[i] != make_float4(2, 3, 4, 5)) {
            fprintf(stderr, "vector %d\n", i);
            return 1;
        }
    }
    hipLaunchKernelGGL(HIP_KERNEL_NAME(scale<float, 3>), dim3(16), dim3(256),
                       0, stream, (float *)data, n * 4);
    HIP_CHECK(hipStreamSynchronize(stream));
    HIP_CHECK(hipMemcpy(host.data(), data, sizeof(float4), hipMemcpyDefault));
    if (host[0] != make_float4(6, 9, 12, 15)) {
        fprintf(stderr, "scaled: %g\n", host[0].x);
        return 1;
    }

    unsigned long long *out;
    HIP_CHECK(hipMallocManaged(&out, 3 * sizeof(*out)));
    lanes<<<1, 64, 0, stream>>>(out);
    HIP_CHECK(hipDeviceSynchronize());
    if (out[0] != 0x5555555555555555ull || out[1] != 64 || out[2] != 64) {
        fprintf(stderr, "lanes %llx, warps of %llu\n", out[0], out[1]);
        return 1;
    }
    HIP_CHECK(hipHostMalloc(&pinned, 4096, hipHostMallocCoherent));
    hipPointerAttribute_t attributes;
    HIP_CHECK(hipPointerGetAttributes(&attributes, pinned));
    if (attributes.memoryType != hipMemoryTypeHost) {
        fprintf(stderr, "pinned memory is %d\n", attributes.memoryType);
        return 1;
    }
    HIP_CHECK(hipHostFree(pinned));

    HIP_EXPECT(hipSetDevice(1000), hipErrorInvalidDevice);
    HIP_EXPECT(hipMalloc(&out, (size_t)1 << 60), hipErrorOutOfMemory);
    HIP_EXPECT(hipEventQuery((hipEvent_t)0x1234), hipErrorInvalidHandle);
    HIP_EXPECT(hipHostMalloc(&pinned, 4096, 0x100), hipErrorInvalidValue);
    HIP_EXPECT(hipDeviceSynchronize(), hipSuccess);
    HIP_CHECK(hipFree(data));
    printf("PASSED\n");
    return 0;
}
