// SPDX-License-Identifier: MIT
// Memory of the host that the device uses: hipHostMalloc, hipHostRegister.
#include "program.h"

__global__ void square(int *data, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        data[i] *= data[i];
    }
}

int main()
{
    const int n = 1000;
    int *host, *device;
    void *page = nullptr;
    unsigned flags = 0;

    CHECK(hipHostMalloc((void **)&host, n * sizeof(int),
                        hipHostMallocMapped));
    CHECK(hipHostGetFlags(&flags, host));
    REQUIRE(flags & hipHostMallocMapped);
    CHECK(hipHostGetDevicePointer((void **)&device, host, 0));
    for (int i = 0; i < n; i++) {
        host[i] = i;
    }
    square<<<1, 256>>>(device, n);
    LAUNCHED();
    for (int i = 0; i < n; i++) {
        REQUIRE(host[i] == i * i);
    }
    CHECK(hipHostFree(host));
    REQUIRE(posix_memalign(&page, 4096, 8192) == 0);
    ((int *)page)[3] = 12;
    CHECK(hipHostRegister(page, 8192, hipHostRegisterDefault));
    CHECK(hipHostGetDevicePointer((void **)&device, page, 0));
    square<<<1, 64>>>(device + 3, 1);
    LAUNCHED();
    REQUIRE(((int *)page)[3] == 144);
    CHECK(hipHostUnregister(page));
    free(page);
    return passed();
}
