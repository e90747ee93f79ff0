// SPDX-License-Identifier: MIT
// Inline PTX on a multicast object, by the driver's functions.
#include "program.h"

#include <cuda.h>

__global__ void reduce(float *p, float *out)
{
    float a, b, c, d;

    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(p)
                 : "memory");
    out[0] = a + b + c + d;
    unsigned largest;
    asm volatile("multimem.ld_reduce.global.max.u32 %0, [%1];"
                 : "=r"(largest)
                 : "l"(p + 4));
    out[1] = largest;
    unsigned halves; // 1.5 and 2
    asm volatile("multimem.ld_reduce.weak.global.add.f16x2 %0, [%1+4];"
                 : "=r"(halves)
                 : "l"(p + 4));
    out[2] = halves == 0x40003e00u ? 1 : 0;
}

__global__ void write(float *p)
{
    asm volatile("multimem.st.relaxed.gpu.global.v2.f32 [%0], {%1, %2};" ::"l"(
                     p + 8 + 2 * threadIdx.x),
                 "f"((float)threadIdx.x), "f"(2.0f * threadIdx.x)
                 : "memory");
    asm volatile("multimem.red.release.sys.global.add.u64 [%0], %1;" ::"l"(
                     p + 200),
                 "l"(1ull << 32)
                 : "memory");
    asm volatile("multimem.red.global.or.b32 [%0], %1;" ::"l"(p + 210),
                 "r"(1u << (threadIdx.x % 32)));
    asm volatile("multimem.red.global.add.f16x2 [%0], %1;" ::"l"(p + 211),
                 "r"(0x3c004000u)); // 2 and 1
}

#define DRIVER(call) REQUIRE((call) == CUDA_SUCCESS)

int main()
{
    const size_t grain = 2u << 20;
    CUmulticastObjectProp prop = {};
    CUmemAllocationProp how = {};
    CUmemAccessDesc desc = {};
    CUmemGenericAllocationHandle object, memory;
    CUdeviceptr va;
    size_t least = 0;

    CHECK(cudaFree(0));
    prop.numDevices = 1;
    prop.size = grain;
    DRIVER(cuMulticastGetGranularity(&least, &prop,
                                     CU_MULTICAST_GRANULARITY_MINIMUM));
    REQUIRE(least == grain);
    DRIVER(cuMulticastCreate(&object, &prop));
    DRIVER(cuMulticastAddDevice(object, 0));
    how.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    how.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    DRIVER(cuMemCreate(&memory, grain, &how, 0));
    DRIVER(cuMulticastBindMem(object, 0, memory, 0, grain, 0));
    DRIVER(cuMemAddressReserve(&va, grain, 0, 0, 0));
    DRIVER(cuMemMap(va, grain, 0, object, 0));
    desc.location = how.location;
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER(cuMemSetAccess(va, grain, &desc, 1));

    float *p = (float *)va, *out = device_new<float>(3), in[6] = {1, 2, 3, 4};
    ((unsigned *)in)[4] = 77;
    ((unsigned *)in)[5] = 0x40003e00u;
    CHECK(cudaMemset(p, 0, 4096));
    CHECK(cudaMemcpy(p, in, sizeof in, cudaMemcpyHostToDevice));
    reduce<<<1, 1>>>(p, out);
    LAUNCHED();
    std::vector<float> got = host_copy(out, 3);
    REQUIRE(got[0] == 10 && got[1] == 77 && got[2] == 1);
    write<<<1, 64>>>(p);
    LAUNCHED();
    got = host_copy(p, 256);
    REQUIRE(got[8 + 2 * 63] == 63 && got[8 + 2 * 63 + 1] == 126);
    REQUIRE(((unsigned *)got.data())[201] == 64);
    REQUIRE(((unsigned *)got.data())[210] == 0xffffffffu);
    REQUIRE(((unsigned *)got.data())[211] == 0x54005800u); // 64, 128
    DRIVER(cuMulticastUnbind(object, 0, 0, grain));
    DRIVER(cuMemUnmap(va, grain));
    DRIVER(cuMemAddressFree(va, grain));
    DRIVER(cuMemRelease(object));
    DRIVER(cuMemRelease(memory));
    CHECK(cudaFree(out));
    return passed();
}
