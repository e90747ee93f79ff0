// SPDX-License-Identifier: MIT
// What kernels call beside launches: events between streams, copies, fills,
// memory, attributes, and the text of an error.
#include "program.h"

#include <cstring>

__global__ void late(int *cell, int value)
{
    for (int i = 0; i < 50; i++) {
        __nanosleep(100);
    }
    *cell = value;
}

__global__ void twice(const int *from, int *to)
{
    *to = *from * 2 + 1;
}

__global__ void diamonds(int *cells)
{
    cudaStream_t a, b;
    cudaEvent_t left, right;
    int *mine = cells + 8 * (blockIdx.x * blockDim.x + threadIdx.x);

    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&left, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&right, cudaEventDisableTiming);
    late<<<1, 1, 0, a>>>(mine, 20);
    cudaEventRecord(left, a);
    cudaStreamWaitEvent(b, left, 0);
    twice<<<1, 1, 0, b>>>(mine, mine + 1);
    cudaEventRecord(right, b);
    cudaStreamWaitEvent(a, right, 0);
    twice<<<1, 1, 0, a>>>(mine + 1, mine + 2);
    cudaMemcpyAsync(mine + 3, mine + 2, sizeof(int), cudaMemcpyDeviceToDevice,
                    a);
    cudaEventDestroy(left);
    cudaEventDestroy(right);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
}

__global__ void copies(char *to, const char *from, size_t size)
{
    cudaMemsetAsync(to, 0x5a, size);
    cudaMemcpyAsync(to + 3, from + 1, size - 7, cudaMemcpyDefault);
}

struct Found {
    int errors[6], attributes[2], value;
    char text[32];
};

__global__ void calls(Found *out)
{
    cudaEvent_t event, timed;
    int *memory, *more;

    out->errors[0] = cudaEventCreateWithFlags(&timed, cudaEventDefault);
    out->errors[1] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    out->errors[2] = cudaEventDestroy(event);
    out->errors[3] = cudaStreamWaitEvent(0, nullptr, 0);
    out->errors[4] = cudaMemcpyAsync(out, out, 4, cudaMemcpyHostToDevice);
    out->errors[5] = cudaGetLastError();
    cudaDeviceGetAttribute(&out->attributes[0], cudaDevAttrWarpSize, 0);
    cudaDeviceGetAttribute(&out->attributes[1],
                           cudaDevAttrMaxThreadsPerBlock, 0);
    if (cudaMalloc(&memory, 4000) == cudaSuccess) {
        memory[999] = 42;
        out->value = memory[999];
        cudaFree(memory);
    }
    out->value += cudaMalloc(&more, (size_t)1 << 40);
    const char *text = cudaGetErrorString(cudaErrorMemoryAllocation);
    for (int i = 0; i < 31 && text[i]; i++) {
        out->text[i] = text[i];
    }
}

int main()
{
    const int threads = 32, n = threads * 8, size = 5000;
    int *cells = device_new<int>(n);

    diamonds<<<4, threads / 4>>>(cells);
    LAUNCHED();
    std::vector<int> got = host_copy(cells, n);
    for (int i = 0; i < n; i += 8) {
        REQUIRE(got[i] == 20 && got[i + 1] == 41 && got[i + 2] == 83);
        REQUIRE(got[i + 3] == 83);
    }

    std::vector<char> from(size);
    for (int i = 0; i < size; i++) {
        from[i] = (char)(i * 7);
    }
    char *in = device_copy(from), *out = device_new<char>(size);
    copies<<<1, 1>>>(out, in, size);
    LAUNCHED();
    std::vector<char> to = host_copy(out, size);
    for (int i = 0; i < size; i++) {
        REQUIRE(to[i] == (i < 3 || i >= size - 4 ? 0x5a : from[i - 2]));
    }

    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    Found *found = device_copy(std::vector<Found>(1));
    calls<<<1, 1>>>(found);
    LAUNCHED();
    Found f = host_copy(found, 1)[0];
    REQUIRE(f.errors[0] == cudaErrorInvalidValue && !f.errors[1]);
    REQUIRE(!f.errors[2] && f.errors[3] == cudaErrorInvalidResourceHandle);
    REQUIRE(f.errors[4] == cudaErrorInvalidMemcpyDirection);
    REQUIRE(f.errors[5] == f.errors[4]);
    REQUIRE(f.attributes[0] == p.warpSize);
    REQUIRE(f.attributes[1] == p.maxThreadsPerBlock);
    REQUIRE(f.value == 42 + cudaErrorMemoryAllocation);
    REQUIRE(!strncmp(f.text, cudaGetErrorString(cudaErrorMemoryAllocation),
                     31));
    return passed();
}
