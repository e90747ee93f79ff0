/* SPDX-License-Identifier: MIT */
/* A program of C that uses CUDA's driver interface only. argv[1]: its kernels. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 5000

static int failures;

static const char *name_of(CUresult error)
{
    const char *name = NULL;

    return cuGetErrorName(error, &name) == CUDA_SUCCESS ? name : "?";
}

#define CHECK(call)                                                            \
    do {                                                                       \
        CUresult error_ = (call);                                              \
        if (error_ != CUDA_SUCCESS) {                                          \
            fprintf(stderr, "%d: %s: %s\n", __LINE__, #call, name_of(error_)); \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

#define EXPECT(call, error)                                                    \
    do {                                                                       \
        CUresult got_ = (call);                                                \
        if (got_ != (error) || strcmp(name_of(got_), #error)) {                \
            fprintf(stderr, "%d: %s is %s, not %s\n", __LINE__, #call,         \
                    name_of(got_), #error);                                    \
            failures++;                                                        \
        }                                                                      \
    } while (0)

static void errors(CUmodule module, CUfunction function, CUdeviceptr memory)
{
    CUdevice device;
    CUfunction other;
    CUmodule none;
    CUdeviceptr address;
    size_t bytes;
    int value;

    EXPECT(cuDeviceGet(&device, 1000), CUDA_ERROR_INVALID_DEVICE);
    EXPECT(cuDeviceGetAttribute(&value, (CUdevice_attribute)123456, 0),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuModuleGetFunction(&other, module, "nothing"),
           CUDA_ERROR_NOT_FOUND);
    EXPECT(cuModuleGetGlobal(&address, &bytes, module, "nothing"),
           CUDA_ERROR_NOT_FOUND);
    EXPECT(cuModuleLoad(&none, "/nonexistent"), CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT(cuModuleLoadData(&none, "no image"), CUDA_ERROR_INVALID_IMAGE);
    EXPECT(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAlloc(&address, (size_t)1 << 60), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(cuMemcpyHtoD(memory, NULL, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuEventQuery((CUevent)0x1234), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 4096, 1, 1, 0, NULL, NULL, NULL),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuCtxSetCurrent((CUcontext)0x1234), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuGetErrorName((CUresult)4711, (const char *[]){ NULL }),
           CUDA_ERROR_INVALID_VALUE);
}

/* Both names are one function, by linking and by looking up; with the flag for
 * the stream of the thread, another than without where there is a stream. */
static void same(const char *name, void *plain, void *versioned, int stream)
{
    void *found = NULL, *threads = NULL;

    CHECK(cuGetProcAddress(name, &found, CUDA_VERSION, 0));
    CHECK(cuGetProcAddress(name, &threads, CUDA_VERSION,
                           cudaEnablePerThreadDefaultStream));
    if (plain != versioned || found != plain ||
        (threads != plain) != (stream != 0)) {
        fprintf(stderr, "%s: %p %p %p %p\n", name, plain, versioned, found,
                threads);
        failures++;
    }
}

static void versions(void)
{
#define CU_V2(name) same(#name "_v2", (void *)name, (void *)name##_v2, 0);
#define CUS_V2(name) same(#name "_v2", (void *)name, (void *)name##_v2, 1);
#include <cuda_adaptor/driver_versions.def>
}

static void occupancy(CUfunction function)
{
    int blocks, grid, block;

    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256,
                                                      0));
    CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0,
                                           0));
    if (blocks < 1 || grid < 1 || block < 64) {
        fprintf(stderr, "occupancy %d, grid %d, block %d\n", blocks, grid,
                block);
        failures++;
    }
}

int main(int argc, char **argv)
{
    static float a[N], b[N], c[N];
    float scale = 3;
    int n = N, count, major, launches = -1;
    char name[100];
    CUdevice device;
    CUcontext context, current;
    CUmodule module;
    CUfunction function, found;
    CUdeviceptr dA, dB, dC, global;
    size_t bytes;
    CUstream stream;

    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&count));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof(name), device));
    CHECK(cuDeviceGetAttribute(
        &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(cuCtxCreate(&context, CU_CTX_SCHED_AUTO, device));
    CHECK(cuCtxGetCurrent(&current));
    if (count < 1 || !name[0] || major < 1 || current != context) {
        fprintf(stderr, "%d devices, %s, %d\n", count, name, major);
        failures++;
    }
    CHECK(cuModuleLoad(&module, argv[1]));
    CHECK(cuModuleGetFunction(&function, module, "VecAdd_kernel"));
    CHECK(cuModuleGetGlobal(&global, &bytes, module, "scale"));
    if (bytes != sizeof(scale)) {
        fprintf(stderr, "%zu bytes\n", bytes);
        failures++;
    }
    CHECK(cuMemcpyHtoD(global, &scale, bytes));
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = (float)(2 * i);
    }
    CHECK(cuMemAlloc(&dA, sizeof(a)));
    CHECK(cuMemAlloc(&dB, sizeof(b)));
    CHECK(cuMemAlloc(&dC, sizeof(c)));
    CHECK(cuMemcpyHtoD(dA, a, sizeof(a)));
    CHECK(cuMemcpyHtoD(dB, b, sizeof(b)));
    CHECK(cuMemsetD32(dC, 0, N));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuCtxSynchronize());

    void *args[] = { &dA, &dB, &dC, &n };
    CHECK(cuLaunchKernel(function, (N + 255) / 256, 1, 1, 256, 1, 1, 0, stream,
                         args, NULL));
    CHECK(cuStreamSynchronize(stream));

    struct {
        CUdeviceptr a, b, c;
        int n;
    } packed = { dA, dB, dC, n };
    size_t size = sizeof(packed);
    void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &packed,
                      CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      CU_LAUNCH_PARAM_END };
    CHECK(cuLaunchKernel(function, (N + 255) / 256, 1, 1, 256, 1, 1, 0, stream,
                         NULL, extra));
    CHECK(cuMemcpyDtoHAsync(c, dC, sizeof(c), stream));
    CHECK(cuStreamSynchronize(stream));
    for (int i = 0; i < N; i++) {
        if (c[i] != 9.0f * (float)i) {
            fprintf(stderr, "element %d: %g\n", i, (double)c[i]);
            failures++;
            break;
        }
    }
    CHECK(cuModuleGetGlobal(&global, NULL, module, "launches"));
    CHECK(cuMemcpyDtoH(&launches, global, sizeof(launches)));
    if (launches != 2) {
        fprintf(stderr, "%d launches\n", launches);
        failures++;
    }
    occupancy(function);
    versions();
    errors(module, function, dA);
    CHECK(cuGetProcAddress("cuMemAlloc", (void **)&found, CUDA_VERSION, 0));
    EXPECT(cuGetProcAddress("cuNothing", (void **)&found, CUDA_VERSION, 0),
           CUDA_ERROR_NOT_FOUND);
    CHECK(cuMemFree(dA));
    CHECK(cuMemFree(dB));
    CHECK(cuMemFree(dC));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    printf("%s\n", failures ? "FAILED" : "PASSED");
    return failures != 0;
}
