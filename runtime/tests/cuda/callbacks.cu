// SPDX-License-Identifier: MIT
// Functions of the host in a stream's order.
#include "program.h"

#include <atomic>

static std::atomic<int> called, in_order;

__global__ void set(int *data, int value)
{
    *data = value;
}

static void CUDART_CB host_function(void *data)
{
    int *at = static_cast<int *>(data);

    in_order += *at == called;
    called++;
}

static void CUDART_CB callback(cudaStream_t stream, cudaError_t status,
                               void *data)
{
    in_order += status == cudaSuccess && data == &called && stream != nullptr;
    called++;
}

int main()
{
    cudaStream_t stream;
    int *value;

    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaHostAlloc(&value, 10 * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < 10; i++) {
        value[i] = -1;
        set<<<1, 1, 0, stream>>>(value + i, i); /* seen by the function */
        CHECK(cudaLaunchHostFunc(stream, host_function, value + i));
    }
    CHECK(cudaStreamAddCallback(stream, callback, &called, 0));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(called == 11 && in_order == 11);
    FAILS(cudaErrorInvalidValue,
          cudaLaunchHostFunc(stream, nullptr, nullptr));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(value));
    return passed();
}
