// SPDX-License-Identifier: MIT
// A stream waits for another one's event: no reader overtakes its writer.
#include "program.h"

__global__ void write(int *data, int value, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        data[i] = value;
    }
}

__global__ void check(const int *data, int value, int n, int *wrong)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (data[i] != value) {
            atomicAdd(wrong, 1);
        }
    }
}

int main()
{
    const int n = 20000;
    int *data = device_new<int>(n), *wrong = device_new<int>(1);
    cudaStream_t writer, reader;
    cudaEvent_t written, was_read;

    CHECK(cudaMemset(wrong, 0, sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&writer, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&was_read, cudaEventDisableTiming));
    for (int round = 1; round <= 20; round++) {
        CHECK(cudaStreamWaitEvent(writer, was_read, 0));
        write<<<1, 256, 0, writer>>>(data, round, n);
        CHECK(cudaEventRecord(written, writer));
        CHECK(cudaStreamWaitEvent(reader, written, 0));
        check<<<1, 256, 0, reader>>>(data, round, n, wrong);
        CHECK(cudaEventRecord(was_read, reader));
    }
    CHECK(cudaStreamSynchronize(reader));
    REQUIRE(host_copy(wrong, 1)[0] == 0);
    check<<<1, 256, 0, reader>>>(data, 19, n, wrong);
    CHECK(cudaStreamSynchronize(reader));
    REQUIRE(host_copy(wrong, 1)[0] == n);
    CHECK(cudaEventDestroy(written));
    CHECK(cudaEventDestroy(was_read));
    CHECK(cudaStreamDestroy(writer));
    CHECK(cudaStreamDestroy(reader));
    return passed();
}
