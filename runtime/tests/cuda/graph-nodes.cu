// SPDX-License-Identifier: MIT
// A graph of nodes: memset, kernels, copy, host function; launched twice.
#include "program.h"

__global__ void add(int *data, int value)
{
    data[threadIdx.x] += value;
}

__global__ void join(const int *a, const int *b, int *c)
{
    c[threadIdx.x] = a[threadIdx.x] * 1000 + b[threadIdx.x];
}

static void CUDART_CB count(void *data)
{
    ++*static_cast<int *>(data);
}

static cudaGraphNode_t kernel(cudaGraph_t graph, void *function, void **args,
                              std::vector<cudaGraphNode_t> after)
{
    cudaKernelNodeParams params = {};
    cudaGraphNode_t node;

    params.func = function;
    params.gridDim = dim3(1);
    params.blockDim = dim3(32);
    params.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(),
                                 &params));
    return node;
}

int main()
{
    int *a = device_new<int>(32), *b = device_new<int>(32);
    int *c = device_new<int>(32), out[32], called = 0, five = 5, seven = 7;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStream_t stream;
    cudaGraphNode_t clear[2], last;

    CHECK(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < 2; i++) {
        cudaMemsetParams set = {};

        set.dst = i ? b : a;
        set.elementSize = 4;
        set.width = 32;
        set.height = 1;
        set.value = i + 1;
        CHECK(cudaGraphAddMemsetNode(&clear[i], graph, nullptr, 0, &set));
    }
    void *args_a[] = {&a, &five}, *args_b[] = {&b, &seven};
    void *args_c[] = {&a, &b, &c};
    cudaGraphNode_t left = kernel(graph, (void *)add, args_a, {clear[0]});
    cudaGraphNode_t right = kernel(graph, (void *)add, args_b, {clear[1]});
    cudaGraphNode_t both = kernel(graph, (void *)join, args_c, {left, right});
    CHECK(cudaGraphAddMemcpyNode1D(&last, graph, &both, 1, out, c, sizeof(out),
                                   cudaMemcpyDeviceToHost));
    cudaHostNodeParams host = {count, &called};
    CHECK(cudaGraphAddHostNode(&last, graph, &last, 1, &host));
    size_t nodes = 0, edges = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
    REQUIRE(nodes == 7 && edges == 6);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(both, &type));
    REQUIRE(type == cudaGraphNodeTypeKernel);
    CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < 2; i++) {
        out[0] = out[31] = -1;
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        REQUIRE(called == i + 1);
        REQUIRE(out[0] == 6009 && out[31] == 6009);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    return passed();
}
