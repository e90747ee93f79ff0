// SPDX-License-Identifier: MIT
// Vector types and their operators.
#include "program.h"

__global__ void add(const float4 *a, float4 *b, const int2 *c, int2 *d)
{
    int i = threadIdx.x;

    b[i] += a[i] * make_float4(2, 2, 2, 2);
    d[i] = c[i] - make_int2(1, 2);
}

int main()
{
    std::vector<float4> a(64), b(64);
    std::vector<int2> c(64);

    for (int i = 0; i < 64; i++) {
        a[i] = make_float4(i, i + 1, i + 2, i + 3);
        b[i] = make_float4(1, 1, 1, 1);
        c[i] = make_int2(i, 10 * i);
    }
    float4 *da = device_copy(a), *db = device_copy(b);
    int2 *dc = device_copy(c), *dd = device_new<int2>(64);
    add<<<1, 64>>>(da, db, dc, dd);
    LAUNCHED();
    b = host_copy(db, 64);
    c = host_copy(dd, 64);
    for (int i = 0; i < 64; i++) {
        REQUIRE(b[i].x == 2 * i + 1 && b[i].w == 2 * i + 7);
        REQUIRE(c[i].x == i - 1 && c[i].y == 10 * i - 2);
    }
    CHECK(hipFree(da));
    CHECK(hipFree(db));
    CHECK(hipFree(dc));
    CHECK(hipFree(dd));
    return passed();
}
