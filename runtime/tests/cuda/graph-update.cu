// SPDX-License-Identifier: MIT
// Other arguments for a graph that was instantiated.
#include "program.h"

__global__ void store(int *data, int value)
{
    data[threadIdx.x] = value + threadIdx.x;
}

int main()
{
    int *data = device_new<int>(32), value = 100;
    cudaGraph_t graph, other;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, error_node;
    cudaKernelNodeParams params = {};
    void *args[] = {&data, &value};
    cudaGraphExecUpdateResult result;

    params.func = (void *)store;
    params.gridDim = dim3(1);
    params.blockDim = dim3(32);
    params.kernelParams = args;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    value = 0; /* arguments were copied */
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    REQUIRE(host_copy(data, 32)[31] == 131);

    value = 200;
    params.blockDim = dim3(16);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    REQUIRE(host_copy(data, 32)[15] == 215);
    REQUIRE(host_copy(data, 32)[16] == 116);

    value = 300;
    CHECK(cudaGraphClone(&other, graph));
    cudaGraphNode_t clone;
    CHECK(cudaGraphNodeFindInClone(&clone, node, other));
    CHECK(cudaGraphKernelNodeSetParams(clone, &params));
    CHECK(cudaGraphExecUpdate(exec, other, &error_node, &result));
    REQUIRE(result == cudaGraphExecUpdateSuccess);
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    REQUIRE(host_copy(data, 32)[0] == 300);

    /* One more node is another graph. */
    CHECK(cudaGraphAddEmptyNode(&clone, other, nullptr, 0));
    FAILS(cudaErrorGraphExecUpdateFailure,
          cudaGraphExecUpdate(exec, other, &error_node, &result));
    REQUIRE(result == cudaGraphExecUpdateErrorTopologyChanged);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(other));
    CHECK(cudaFree(data));
    return passed();
}
