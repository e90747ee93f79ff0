// SPDX-License-Identifier: MIT
// Streams that are captured, with a fork and a join.
#include "program.h"

__global__ void times(int *data, int by)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] *= by;
}

__global__ void sum(const int *a, const int *b, int *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    c[i] = a[i] + b[i];
}

int main()
{
    const int n = 1024;
    const size_t bytes = n * sizeof(int);
    int *in, *out, *a = device_new<int>(n), *b = device_new<int>(n);
    cudaStream_t main_stream, side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;

    CHECK(cudaMallocHost(&in, bytes));
    CHECK(cudaMallocHost(&out, bytes));
    CHECK(cudaStreamCreate(&main_stream));
    CHECK(cudaStreamCreate(&side));
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));

    CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamIsCapturing(main_stream, &status));
    REQUIRE(status == cudaStreamCaptureStatusActive);
    CHECK(cudaMemcpyAsync(a, in, bytes, cudaMemcpyHostToDevice, main_stream));
    CHECK(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice,
                          main_stream));
    CHECK(cudaEventRecord(fork, main_stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    times<<<n / 256, 256, 0, main_stream>>>(a, 3);
    times<<<n / 256, 256, 0, side>>>(b, 100);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(main_stream, join, 0));
    sum<<<n / 256, 256, 0, main_stream>>>(a, b, a);
    CHECK(cudaMemcpyAsync(out, a, bytes, cudaMemcpyDeviceToHost, main_stream));
    CHECK(cudaStreamEndCapture(main_stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++) {
            in[i] = i + round;
            out[i] = -1;
        }
        CHECK(cudaGraphLaunch(exec, main_stream));
        CHECK(cudaStreamSynchronize(main_stream));
        for (int i = 0; i < n; i++) {
            REQUIRE(out[i] == 103 * (i + round));
        }
    }
    /* Waiting is not allowed in a capture, and breaks it. */
    CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeRelaxed));
    FAILS(cudaErrorStreamCaptureUnsupported,
          cudaStreamSynchronize(main_stream));
    cudaGraph_t broken = nullptr;
    FAILS(cudaErrorStreamCaptureInvalidated,
          cudaStreamEndCapture(main_stream, &broken));
    REQUIRE(!broken);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(main_stream));
    CHECK(cudaStreamDestroy(side));
    return passed();
}
