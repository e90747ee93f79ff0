/* SPDX-License-Identifier: MIT */
/* Calls that samples of CUDA make, in the ways they make them: tags, defaults,
 * typed forms, addresses of functions, callbacks, graphs. */
struct CUstream_st; // as programs do that leave the headers out of theirs
typedef struct CUstream_st *cudaStream_t;

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t error_ = (call);                                           \
        if (error_ != cudaSuccess) {                                           \
            fprintf(stderr, "%d: %s: %s\n", __LINE__, #call,                   \
                    cudaGetErrorName(error_));                                 \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

#define EXPECT(what)                                                           \
    do {                                                                       \
        if (!(what)) {                                                         \
            fprintf(stderr, "%d: %s\n", __LINE__, #what);                      \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

__device__ int counter;
__constant__ float table[16];

template <class T> __global__ void add(T *data, T value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        data[i] += value;
    }
    if (i == 0) {
        atomicAdd(&counter, 1);
    }
}

/* One overload for each interface, as samples' helpers have. */
static const char *text(cudaError_t error)
{
    return cudaGetErrorName(error);
}

static const char *text(CUresult error)
{
    const char *name;

    return cuGetErrorName(error, &name) == CUDA_SUCCESS ? name : "?";
}

static void properties()
{
    cudaDeviceProp prop;
    int value, device = -1;

    CHECK(cudaGetDeviceProperties(&prop, 0));
    EXPECT(prop.name[0] && prop.warpSize == 64 && prop.major > 0);
    EXPECT(prop.maxThreadsPerBlock >= 256 && prop.maxGridSize[1] > 0);
    EXPECT(prop.totalGlobalMem > 0 && prop.multiProcessorCount > 0);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
    EXPECT(value == prop.maxThreadsPerBlock);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxTexture2DHeight, 0));
    EXPECT(value == prop.maxTexture2D[1]);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrPciDomainId, 0));
    EXPECT(value == prop.pciDomainID);
    CHECK(cudaChooseDevice(&device, &prop));
    EXPECT(device == 0);
    EXPECT(!strcmp(text(cudaErrorInvalidValue), "cudaErrorInvalidValue"));
    EXPECT(!strcmp(text(CUDA_ERROR_INVALID_VALUE),
                   "CUDA_ERROR_INVALID_VALUE"));
}

static void memory()
{
    cudaError_t (*allocate)(void **, size_t) = cudaMalloc;
    cudaError_t (*release)(void *) = &cudaFree;
    struct cudaExtent extent = make_cudaExtent(8 * sizeof(int), 4, 2);
    struct cudaPitchedPtr pitched;
    struct cudaMemcpy3DParms copy = {};
    struct cudaPointerAttributes attributes;
    int *pinned, *flagged, back[64], in[64];
    size_t pitch, available, total;
    void *p, *address;

    CHECK(allocate(&p, 100));
    CHECK(release(p));
    CHECK(cudaMallocHost((void **)&pinned, 256));
    CHECK(cudaHostAlloc(&flagged, 256, cudaHostAllocMapped |
                                           cudaHostAllocPortable));
    CHECK(cudaPointerGetAttributes(&attributes, pinned));
    EXPECT(attributes.type == cudaMemoryTypeHost && attributes.device == 0);
    CHECK(cudaFreeHost(flagged));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaMemGetInfo(&available, &total));
    EXPECT(available > 0 && available <= total);

    CHECK(cudaMallocPitch(&p, &pitch, 16 * sizeof(int), 4));
    for (int i = 0; i < 64; i++) {
        in[i] = i;
    }
    CHECK(cudaMemcpy2D(p, pitch, in, 64, 64, 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(back, 64, p, pitch, 64, 4, cudaMemcpyDeviceToHost));
    EXPECT(!memcmp(in, back, sizeof(in)));
    CHECK(cudaFree(p));

    CHECK(cudaMalloc3D(&pitched, extent));
    copy.srcPtr = make_cudaPitchedPtr(in, 32, 32, 4);
    copy.dstPtr = pitched;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    memset(back, 0, sizeof(back));
    copy.srcPtr = pitched;
    copy.dstPtr = make_cudaPitchedPtr(back, 32, 32, 4);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    EXPECT(!memcmp(in, back, sizeof(in)));
    CHECK(cudaFree(pitched.ptr));

    float values[16] = { 1, 2, 3 }, read[16];
    size_t size;
    CHECK(cudaMemcpyToSymbol(table, values, sizeof(values)));
    CHECK(cudaMemcpyFromSymbol(read, table, 8, 4, cudaMemcpyDeviceToHost));
    EXPECT(read[0] == 2 && read[1] == 3);
    CHECK(cudaGetSymbolAddress(&address, table));
    CHECK(cudaGetSymbolSize(&size, table));
    EXPECT(size == sizeof(values));
}

static void CUDART_CB callback(cudaStream_t, cudaError_t status, void *data)
{
    *(int *)data = status == cudaSuccess ? 1 : -1;
}

static void CUDART_CB host_function(void *data)
{
    ++*(int *)data;
}

static size_t shared_of(int block)
{
    return block * sizeof(int);
}

static void launches()
{
    cudaFuncAttributes attributes;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    unsigned long long id;
    int blocks, grid, block, called = 0, *data, n = 1000, zero = 0;

    CHECK(cudaFuncGetAttributes(&attributes, add<int>));
    EXPECT(attributes.maxThreadsPerBlock >= 256);
    CHECK(cudaFuncSetCacheConfig(add<int>, cudaFuncCachePreferL1));
    CHECK(cudaFuncSetAttribute(
        add<int>, cudaFuncAttributePreferredSharedMemoryCarveout,
        cudaSharedmemCarveoutMaxShared));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add<int>,
                                                        256, 0));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add<int>, 0, n));
    EXPECT(blocks > 0 && grid > 0 && block > 0);
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        &grid, &block, add<int>, shared_of));

    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocManaged(&data, n * sizeof(int)));
    CHECK(cudaMemPrefetchAsync(data, n * sizeof(int), 0, stream));
    CHECK(cudaMemcpyToSymbol(counter, &zero, sizeof(zero)));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<4, 256, 0, stream>>>(data, 2, n);
    CHECK(cudaStreamGetCaptureInfo(stream, &status, &id));
    EXPECT(status == cudaStreamCaptureStatusActive);
    CHECK(cudaLaunchHostFunc(stream, host_function, &called));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0));
    for (int i = 0; i < 3; i++) {
        CHECK(cudaGraphLaunch(exec, stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpyFromSymbol(&blocks, counter, sizeof(blocks)));
    EXPECT(called == 3 && blocks == 3 && data[0] == 6 && data[n - 1] == 6);
    CHECK(cudaStreamAddCallback(stream, callback, &called, 0));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(called == 1);

    void *args[] = { &data, &n, &n };
    CHECK(cudaLaunchCooperativeKernel((void *)add<int>, 4, 256, args));
    CHECK(cudaDeviceSynchronize());
    EXPECT(data[0] == 1006);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(data));
    CHECK(cudaStreamDestroy(stream));
}

static void both_interfaces()
{
    void *function = NULL;
    CUcontext context;
    CUdevice device;
    CUdeviceptr address = 0;
    int value = 5, back = 0;

    CHECK(cudaFree(0)); // makes the context
    EXPECT(cuCtxGetCurrent(&context) == CUDA_SUCCESS && context);
    EXPECT(cuCtxGetDevice(&device) == CUDA_SUCCESS && device == 0);
    EXPECT(cuMemAlloc(&address, 4) == CUDA_SUCCESS);
    CHECK(cudaMemcpy((void *)address, &value, 4, cudaMemcpyHostToDevice));
    EXPECT(cuMemcpyDtoH(&back, address, 4) == CUDA_SUCCESS && back == 5);
    EXPECT(cuMemFree(address) == CUDA_SUCCESS);
    CHECK(cudaGetDriverEntryPoint("cuMemFree", &function, cudaEnableDefault));
    EXPECT(function == (void *)cuMemFree);
    CHECK(cudaGetDriverEntryPoint("cuNothing", &function, cudaEnableDefault));
    EXPECT(!function);
    EXPECT(cudaGetDriverEntryPoint(NULL, &function, 0) ==
           cudaErrorInvalidValue);
}

int main()
{
    dim3 fromVector(make_uint3(1, 2, 3));

    EXPECT(fromVector.y == 2 && uint3(fromVector).z == 3);
    properties();
    memory();
    launches();
    both_interfaces();
    printf("PASSED\n");
    return 0;
}
