// SPDX-License-Identifier: MIT
// Addresses first, memory later: an array that grows without moving.
#include "program.h"

#include <cuda.h>

#define DRIVER(call) REQUIRE((call) == CUDA_SUCCESS)

__global__ void fill(int *data, size_t from, size_t to)
{
    for (size_t i = from + threadIdx.x; i < to; i += blockDim.x) {
        data[i] = (int)(i * 3);
    }
}

int main()
{
    CUmemAllocationProp properties = {};
    CUmemGenericAllocationHandle part[2];
    CUmemAccessDesc access = {};
    CUdeviceptr base;
    size_t grain = 0;

    DRIVER(cuInit(0));
    CHECK(cudaFree(0)); /* the context of the runtime */
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = 0;
    DRIVER(cuMemGetAllocationGranularity(&grain, &properties,
                                         CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    REQUIRE(grain > 0 && (grain & (grain - 1)) == 0);
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER(cuMemAddressReserve(&base, 8 * grain, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        DRIVER(cuMemCreate(&part[i], grain, &properties, 0));
        DRIVER(cuMemMap(base + i * grain, grain, 0, part[i], 0));
        DRIVER(cuMemSetAccess(base + i * grain, grain, &access, 1));
        fill<<<1, 256>>>((int *)base, i * grain / 4, (i + 1) * grain / 4);
        LAUNCHED();
    }
    std::vector<int> out = host_copy((int *)base, 2 * grain / 4);
    for (size_t i = 0; i < out.size(); i += 97) {
        REQUIRE(out[i] == (int)(i * 3));
    }
    /* The same memory at two places. */
    CUdeviceptr alias = base + 4 * grain;
    DRIVER(cuMemMap(alias, grain, 0, part[1], 0));
    DRIVER(cuMemSetAccess(alias, grain, &access, 1));
    REQUIRE(host_copy((int *)alias, 1)[0] == out[grain / 4]);
    DRIVER(cuMemUnmap(alias, grain));
    DRIVER(cuMemUnmap(base, 2 * grain));
    DRIVER(cuMemRelease(part[0]));
    DRIVER(cuMemRelease(part[1]));
    REQUIRE(cuMemRelease(part[1]) == CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuMemAddressFree(base, 8 * grain));
    return passed();
}
