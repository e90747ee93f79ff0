// SPDX-License-Identifier: MIT
// What a pointer is.
#include "program.h"

int main()
{
    int on_stack, *device = device_new<int>(4), *host, *managed;
    cudaPointerAttributes a;

    CHECK(cudaMallocHost(&host, 64));
    CHECK(cudaMallocManaged(&managed, 64));
    CHECK(cudaPointerGetAttributes(&a, device + 1));
    REQUIRE(a.type == cudaMemoryTypeDevice && a.device == 0);
    REQUIRE(a.devicePointer == device + 1 && a.hostPointer == nullptr);
    CHECK(cudaPointerGetAttributes(&a, host));
    REQUIRE(a.type == cudaMemoryTypeHost && a.hostPointer == host);
    REQUIRE(a.devicePointer != nullptr);
    CHECK(cudaPointerGetAttributes(&a, managed));
    REQUIRE(a.type == cudaMemoryTypeManaged);
    REQUIRE(a.hostPointer == managed && a.devicePointer == managed);
    /* Since CUDA 11 memory of nobody is no error. */
    CHECK(cudaPointerGetAttributes(&a, &on_stack));
    REQUIRE(a.type == cudaMemoryTypeUnregistered);
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(managed));
    return passed();
}
