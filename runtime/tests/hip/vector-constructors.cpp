/* SPDX-License-Identifier: MIT */
/* Vectors are made as float4(a, b, c, d), of one scalar and with braces, and are
 * one thing, "data", with an index. */
#include "program.h"

union Words {
    float4 vector;
    float scalars[4];
};

struct Ray {
    float3 from = float3(0, 0, 0), to{ 1, 2, 3 };
};

__host__ __device__ float4 mixed(int i, double d)
{
    float4 a(i, d, 1, 2u), b = { 1.0f, 2.0f, 3.0f, 4.0f };
    float4 c = float4(2), zero{};
    Ray ray;

    a += b * c + zero;
    a.w += ray.to.z;
    return a;
}

/* As generators of random numbers do: the next one of four. */
__global__ void by_index(uint4 *out, int n)
{
    uint4 next(1, 2, 3, 4);
    short3 less(-1, -2, -3);

    next.data[n] += 10;
    less.data[n - 1] -= 10;
    out[0] = next;
    out[1] = uint4(less.x, less.y, less.z, next.data[n] - next.data[0]);
}

__global__ void kernel(float4 *out)
{
    __shared__ float4 tile[64];
    __shared__ Words words;
    int t = threadIdx.x;

    words.vector = float4(1.0f);
    tile[t] = mixed(t, 0.5) * words.scalars[3];
    __syncthreads();
    out[t] = tile[63 - t];
}

int main()
{
    constexpr double2 fixed(1.5, 2);
    uchar4 bytes(1, 2, 3, 300); /* converts as by a cast */
    int2 pair = int2(7, 8);
    std::vector<float4> out(64);
    float4 *device = device_new<float4>(64);

    static_assert(fixed.x == 1.5 && fixed.y == 2, "constants");
    static_assert(sizeof(float3) == 12 && alignof(float4) == 16, "shape");
    REQUIRE(bytes.w == 44 && pair.y == 8);
    uint2 bits = (uint2(5, 6) << 2u | 1u) & 0xfeu, rest = bits % 7u;
    REQUIRE(bits == uint2(20, 24) && (rest ^ 1u) == uint2(7, 2));
    hipExtLaunchKernelGGL(kernel, dim3(1), dim3(64), 0, nullptr, nullptr,
                          nullptr, 0, device);
    LAUNCHED();
    CHECK(hipMemcpy(out.data(), device, 64 * sizeof(float4),
                    hipMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) {
        REQUIRE(out[i] == mixed(63 - i, 0.5));
        REQUIRE(out[i].x == 63 - i + 2 && out[i].w == 13);
    }
    uint4 *data = device_new<uint4>(2), got[2];

    static_assert(sizeof(double4) == 32 && alignof(double4) == 16, "shape");
    by_index<<<1, 1>>>(data, 2);
    LAUNCHED();
    CHECK(hipMemcpy(got, data, sizeof(got), hipMemcpyDeviceToHost));
    REQUIRE(got[0] == uint4(1, 2, 13, 4));
    REQUIRE(got[1] == uint4(-1, -12, -3, 12));
    return passed();
}
