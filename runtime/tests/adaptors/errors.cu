/* SPDX-License-Identifier: MIT */
/* Errors have CUDA's numbers, names and behaviour. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <cuda_runtime.h>

static int failures;

#define EXPECT(call, error)                                                    \
    do {                                                                       \
        cudaError_t got_ = (call);                                             \
        if (got_ != (error)) {                                                 \
            fprintf(stderr, "%d: %s is %s (%d), not %s\n", __LINE__, #call,    \
                    cudaGetErrorName(got_), (int)got_, #error);                \
            failures++;                                                        \
        } else if (strcmp(cudaGetErrorName(got_), #error)) {                   \
            fprintf(stderr, "%d: %s is called %s\n", __LINE__, #error,         \
                    cudaGetErrorName(got_));                                   \
            failures++;                                                        \
        }                                                                      \
        (void)cudaGetLastError();                                              \
    } while (0)

static_assert(cudaErrorInvalidValue == 1, "");
static_assert(cudaErrorMemoryAllocation == 2, "");
static_assert(cudaErrorInitializationError == 3, "");
static_assert(cudaErrorCudartUnloading == 4, "");
static_assert(cudaErrorInvalidConfiguration == 9, "");
static_assert(cudaErrorInvalidSymbol == 13, "");
static_assert(cudaErrorInvalidMemcpyDirection == 21, "");
static_assert(cudaErrorInvalidDeviceFunction == 98, "");
static_assert(cudaErrorNoDevice == 100, "");
static_assert(cudaErrorInvalidDevice == 101, "");
static_assert(cudaErrorInvalidPtx == 218, "");
static_assert(cudaErrorInvalidResourceHandle == 400, "");
static_assert(cudaErrorNotReady == 600, "");
static_assert(cudaErrorIllegalAddress == 700, "");
static_assert(cudaErrorLaunchFailure == 719, "");
static_assert(cudaErrorNotSupported == 801, "");
static_assert(cudaErrorUnknown == 999, "");

__global__ void nothing()
{
}

/* Which overload, and which case: they are distinct constants of one type. */
static const char *kind(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "success";
    case cudaErrorNotReady:
        return "not ready";
    default:
        return "error";
    }
}

int main()
{
    cudaEvent_t event, untimed;
    float ms;
    void *p = NULL;
    enum cudaError error = cudaErrorInvalidValue;

    EXPECT(cudaSuccess, cudaSuccess);
    EXPECT(cudaSetDevice(1000), cudaErrorInvalidDevice);
    EXPECT(cudaMalloc(&p, (size_t)1 << 60), cudaErrorMemoryAllocation);
    EXPECT(cudaMalloc((void **)NULL, 4), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(&ms, &error, 4, (cudaMemcpyKind)17),
           cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaEventQuery((cudaEvent_t)0x1234),
           cudaErrorInvalidResourceHandle);
    EXPECT(cudaStreamSynchronize((cudaStream_t)0x1234),
           cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventCreate(&event), cudaSuccess);
    EXPECT(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming),
           cudaSuccess);
    EXPECT(cudaEventElapsedTime(&ms, event, untimed),
           cudaErrorInvalidResourceHandle);
    EXPECT(cudaGetDeviceProperties(NULL, 0), cudaErrorInvalidValue);
    EXPECT(cudaLaunchKernel((void *)main, dim3(1), dim3(1), NULL, 0, NULL),
           cudaErrorInvalidDeviceFunction);
    nothing<<<1, 4096>>>();
    EXPECT(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    EXPECT(cudaGetLastError(), cudaSuccess);
    EXPECT(cudaMemcpyToSymbol((const void *)&ms, &ms, 4),
           cudaErrorInvalidSymbol);

    if (strcmp(cudaGetErrorName((cudaError_t)4711),
               "unrecognized error code") ||
        strcmp(cudaGetErrorString((cudaError_t)4711),
               "unrecognized error code") ||
        strcmp(kind(cudaErrorNotReady), "not ready")) {
        fprintf(stderr, "unknown numbers\n");
        failures++;
    }
    printf("%s\n", failures ? "FAILED" : "PASSED");
    return failures != 0;
}
