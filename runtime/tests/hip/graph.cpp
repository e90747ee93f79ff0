// SPDX-License-Identifier: MIT
// A captured graph, launched with new data.
#include "program.h"

__global__ void step(int *data, int by)
{
    data[threadIdx.x] = data[threadIdx.x] * 2 + by;
}

int main()
{
    int *data = device_new<int>(64), *host;
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t exec;
    size_t nodes = 0;

    CHECK(hipHostMalloc((void **)&host, 64 * sizeof(int)));
    CHECK(hipStreamCreate(&stream));
    CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK(hipMemcpyAsync(data, host, 64 * sizeof(int), hipMemcpyHostToDevice,
                         stream));
    step<<<1, 64, 0, stream>>>(data, 1);
    step<<<1, 64, 0, stream>>>(data, 10);
    CHECK(hipMemcpyAsync(host, data, 64 * sizeof(int), hipMemcpyDeviceToHost,
                         stream));
    CHECK(hipStreamEndCapture(stream, &graph));
    CHECK(hipGraphGetNodes(graph, nullptr, &nodes));
    REQUIRE(nodes == 4);
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 64; i++) {
        host[i] = i;
    }
    for (int round = 0; round < 3; round++) {
        CHECK(hipGraphLaunch(exec, stream));
        CHECK(hipStreamSynchronize(stream));
    }
    for (int i = 0; i < 64; i++) {
        REQUIRE(host[i] == ((i * 4 + 12) * 4 + 12) * 4 + 12);
    }
    CHECK(hipGraphExecDestroy(exec));
    CHECK(hipGraphDestroy(graph));
    CHECK(hipStreamDestroy(stream));
    return passed();
}
