// SPDX-License-Identifier: MIT
// Inline PTX: what has an equivalent is translated.
#include "program.h"

__device__ __forceinline__ unsigned lane()
{
    unsigned result;

    asm("mov.u32 %0, %%laneid;" : "=r"(result));
    return result;
}

__global__ void words(unsigned x, unsigned y, unsigned *out)
{
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(out[0]) : "r"(x), "r"(8), "r"(12));
    asm("mad.lo.u32 %0, %1, %2, %3;"
        : "=r"(out[1])
        : "r"(x), "r"(3u), "r"(y));
    asm("{ .reg .u32 low; add.cc.u32 low, %1, %2; addc.u32 %0, 0, 0; }"
        : "=r"(out[2])
        : "r"(x), "r"(~0u));
    asm volatile("membar.gl;" ::: "memory");
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(out[3]) : "l"(out));
}

__global__ void lanes(unsigned *out)
{
    out[threadIdx.x] = lane();
}

int main()
{
    const unsigned x = 0x90abcdef, y = 0x12345678;
    unsigned *out = device_new<unsigned>(256);
    std::vector<unsigned> got(256);
    int warp;

    words<<<1, 1>>>(x, y, out);
    LAUNCHED();
    CHECK(cudaMemcpy(got.data(), out, 16, cudaMemcpyDeviceToHost));
    REQUIRE(got[0] == 0xbcd);
    REQUIRE(got[1] == x * 3 + y);
    REQUIRE(got[2] == 1);
    REQUIRE(got[3] == 0xbcd);

    lanes<<<1, 256>>>(out);
    LAUNCHED();
    CHECK(cudaMemcpy(got.data(), out, 1024, cudaMemcpyDeviceToHost));
    CHECK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
    for (int i = 0; i < 256; i++) {
        REQUIRE(got[i] == (unsigned)(i % warp));
    }
    CHECK(cudaFree(out));
    return passed();
}
