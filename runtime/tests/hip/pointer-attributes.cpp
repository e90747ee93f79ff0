// SPDX-License-Identifier: MIT
// What a pointer is.
#include "program.h"

int main()
{
    hipPointerAttribute_t a;
    int *device = device_new<int>(16), *host;

    CHECK(hipHostMalloc((void **)&host, 64));
    CHECK(hipPointerGetAttributes(&a, device));
    REQUIRE(a.type == hipMemoryTypeDevice && a.device == 0);
    REQUIRE(a.devicePointer == device);
    CHECK(hipPointerGetAttributes(&a, host));
    REQUIRE(a.type == hipMemoryTypeHost && a.hostPointer == host);
    hipDeviceptr_t base;
    size_t size;
    CHECK(hipMemGetAddressRange(&base, &size, (hipDeviceptr_t)(device + 3)));
    REQUIRE((int *)base == device && size >= 64);
    CHECK(hipFree(device));
    CHECK(hipHostFree(host));
    return passed();
}
