/* SPDX-License-Identifier: MIT */
/* cuda.h beyond plain launches: arguments set one by one, copies of three
 * dimensions, memory operations in a batch, graphs by their nodes, textures by
 * formats, and the stream of each thread. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include <cuda.h>

#include "program.h"

#define CU(call) REQUIRE((call) == CUDA_SUCCESS)

__global__ void add(int *data, int n, float scale)
{
    int i = threadIdx.y * blockDim.x + threadIdx.x;

    if (i < n) {
        data[i] = (int)(data[i] * scale) + i;
    }
}

__global__ void look(CUtexObject image, float *out)
{
    out[threadIdx.x] = tex2D<float>(image, threadIdx.x + 0.5f, 0.5f);
}

static void old_launch(CUfunction f, CUdeviceptr data)
{
    int offset = 0, out[64];

    CU(cuFuncSetBlockShape(f, 32, 2, 1));
    CU(cuFuncSetSharedSize(f, 0));
    CU(cuParamSetv(f, offset, &data, sizeof(data)));
    offset += sizeof(data);
    CU(cuParamSeti(f, offset, 60));
    CU(cuParamSetf(f, offset + 4, 2.0f));
    CU(cuParamSetSize(f, offset + 8));
    CU(cuMemsetD32(data, 5, 64));
    CU(cuLaunchGrid(f, 1, 1));
    CU(cuCtxSynchronize());
    CU(cuMemcpyDtoH(out, data, sizeof(out)));
    for (int i = 0; i < 64; i++) {
        REQUIRE(out[i] == (i < 60 ? 10 + i : 5));
    }
    REQUIRE(cuParamSeti(f, 4095, 1) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuFuncSetBlockShape(f, 0, 1, 1) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuLaunch(nullptr) == CUDA_ERROR_INVALID_HANDLE);
    (void)cudaGetLastError();
}

static CUDA_MEMCPY3D block(CUdeviceptr from, void *to)
{
    CUDA_MEMCPY3D copy = {};

    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.srcPitch = 32;
    copy.srcHeight = 4;
    copy.srcXInBytes = 4;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = to;
    copy.dstPitch = 16;
    copy.dstHeight = 2;
    copy.WidthInBytes = 16;
    copy.Height = 2;
    copy.Depth = 2;
    return copy;
}

static void graph(CUfunction f, CUdeviceptr data, CUstream stream)
{
    CUDA_MEMSET_NODE_PARAMS fill = {};
    CUDA_KERNEL_NODE_PARAMS kernel = {}, again = {};
    int n = 64, out[16];
    float scale = 3;
    void *args[] = { &data, &n, &scale };
    CUDA_MEMCPY3D copy = block(data, out);
    CUgraphNode nodes[3];
    CUgraphNodeType type;
    CUgraphExec run;
    CUgraph graph;
    size_t count;

    fill.dst = data;
    fill.value = 1;
    fill.elementSize = 4;
    fill.width = 64;
    fill.height = 1;
    kernel.func = f;
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
    kernel.blockDimX = 64;
    kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.kernelParams = args;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&nodes[0], graph, nullptr, 0, &fill, nullptr));
    CU(cuGraphAddKernelNode(&nodes[1], graph, nodes, 1, &kernel));
    CU(cuGraphAddMemcpyNode(&nodes[2], graph, nodes + 1, 1, &copy, nullptr));
    CU(cuGraphNodeGetType(nodes[2], &type));
    REQUIRE(type == CU_GRAPH_NODE_TYPE_MEMCPY);
    CU(cuGraphGetNodes(graph, nullptr, &count));
    REQUIRE(count == 3);
    CU(cuGraphKernelNodeGetParams(nodes[1], &again));
    REQUIRE(again.func == f && again.blockDimX == 64 && again.gridDimZ == 1);
    CU(cuGraphInstantiate(&run, graph, nullptr, nullptr, 0));
    fill.value = 2;
    CU(cuGraphExecMemsetNodeSetParams(run, nodes[0], &fill, nullptr));
    CU(cuGraphLaunch(run, stream));
    CU(cuStreamSynchronize(stream));
    for (int z = 0; z < 2; z++) {
        for (int y = 0; y < 2; y++) {
            for (int x = 0; x < 4; x++) {
                REQUIRE(out[(z * 2 + y) * 4 + x] ==
                        6 + (z * 4 + y) * 8 + x + 1);
            }
        }
    }
    REQUIRE(cuGraphExecMemsetNodeSetParams(nullptr, nodes[0], &fill,
                                           nullptr) ==
            CUDA_ERROR_INVALID_VALUE);
    (void)cudaGetLastError();
    CU(cuGraphExecDestroy(run));
    CU(cuGraphDestroy(graph));
}

static void image_of_bytes(float *out)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {};
    CUDA_RESOURCE_DESC resource = {};
    CUDA_TEXTURE_DESC modes = {};
    CUDA_MEMCPY3D copy = {};
    unsigned char bytes[64];
    CUtexObject image;
    CUarray array;

    for (int i = 0; i < 64; i++) {
        bytes[i] = (unsigned char)(i * 3);
    }
    shape.Width = 64;
    shape.Height = 1;
    shape.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    shape.NumChannels = 1;
    CU(cuArray3DCreate(&array, &shape));
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = bytes;
    copy.srcPitch = 64;
    copy.srcHeight = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = 64;
    copy.Height = copy.Depth = 1;
    CU(cuMemcpy3D(&copy));
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CU(cuTexObjectCreate(&image, &resource, &modes, nullptr));
    look<<<1, 64>>>(image, out);
    LAUNCHED();
    std::vector<float> h = host_copy(out, 64);
    for (int i = 0; i < 64; i++) {
        REQUIRE(near(h[i], i * 3 / 255.0, 1e-6));
    }
    CU(cuTexObjectDestroy(image));
    CU(cuArrayDestroy(array));
}

int main()
{
    int *data = device_new<int>(64), out[16];
    CUdeviceptr address = (CUdeviceptr)data;
    CUstreamBatchMemOpParams ops[2] = {};
    CUdevprop properties;
    cudaFunction_t f;
    CUstream stream;

    CHECK(cudaGetFuncBySymbol(&f, (const void *)add));
    CU(cuDeviceGetProperties(&properties, 0));
    REQUIRE(properties.SIMDWidth == 64 && properties.maxThreadsDim[0] >= 512);
    old_launch((CUfunction)f, address);
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    ops[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[0].writeValue.address = address;
    ops[0].writeValue.value = 42;
    ops[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[1].waitValue.address = address;
    ops[1].waitValue.value = 42;
    ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    CU(cuStreamBatchMemOp(stream, 2, ops, 0));
    CU(cuStreamSynchronize(stream));
    CU(cuMemcpyDtoH(out, address, 4));
    REQUIRE(out[0] == 42);

    CUDA_MEMCPY3D copy = block(address, out);
    CU(cuMemcpy3DAsync(&copy, nullptr));
    CU(cuStreamSynchronize(nullptr));
    REQUIRE(out[0] == 11 && out[4] == 19 && out[8] == 10 + 33);
    graph((CUfunction)f, address, stream);
    image_of_bytes(device_new<float>(64));

    /* A NULL stream is not the one that all share. */
    void *entry = nullptr;
    CU(cuGetProcAddress("cuLaunchKernel", &entry, 11060, 0));
    REQUIRE(entry && entry != (void *)cuLaunchKernel);
    CU(cuGetProcAddress("cuLaunchKernel", &entry, 11060,
                        cudaEnablePerThreadDefaultStream));
    REQUIRE(entry == (void *)cuLaunchKernel);
    return passed();
}
