// SPDX-License-Identifier: MIT
// Vector types: layout, make functions, loads of whole vectors.
#include "program.h"

static_assert(sizeof(float3) == 12 && alignof(float3) == 4, "");
static_assert(sizeof(float4) == 16 && alignof(float4) == 16, "");
static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4, "");
static_assert(sizeof(double2) == 16 && alignof(double2) == 16, "");
static_assert(sizeof(short3) == 6 && alignof(short3) == 2, "");

__host__ __device__ inline float4 operator+(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void add(const float4 *a, const float4 *b, float4 *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

__global__ void mixed(const uchar4 *colors, int3 *out, dim3 size)
{
    uchar4 c = colors[threadIdx.x];
    double2 d = make_double2(c.x, c.y);
    longlong2 l = make_longlong2(c.z, 1);

    out[threadIdx.x] = make_int3(d.x + d.y, l.x * l.y, c.w + size.x * size.z);
}

int main()
{
    const int n = 300;
    std::vector<float4> a(n), b(n);

    for (int i = 0; i < n; i++) {
        a[i] = make_float4(i, 2 * i, 3 * i, 4 * i);
        b[i] = {1, 2, 3, 4};
    }
    float4 *da = device_copy(a), *db = device_copy(b);
    add<<<3, 128>>>(da, db, da, n);
    LAUNCHED();
    std::vector<float4> c = host_copy(da, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(c[i].x == i + 1 && c[i].y == 2 * (i + 1));
        REQUIRE(c[i].z == 3 * (i + 1) && c[i].w == 4 * (i + 1));
    }
    std::vector<uchar4> colors(64);
    for (int i = 0; i < 64; i++) {
        colors[i] = make_uchar4(i, 2 * i, 3 * i, 255 - i);
    }
    uchar4 *dc = device_copy(colors);
    int3 *out = device_new<int3>(64);
    mixed<<<1, 64>>>(dc, out, dim3(10, 20));
    LAUNCHED();
    std::vector<int3> got = host_copy(out, 64);
    for (int i = 0; i < 64; i++) {
        REQUIRE(got[i].x == 3 * i && got[i].y == 3 * i);
        REQUIRE(got[i].z == 255 - i + 10);
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    CHECK(cudaFree(out));
    return passed();
}
