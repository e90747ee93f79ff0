// SPDX-License-Identifier: MIT
// What docs/migration.md says of mathematics: what is exact, and that small
// numbers are not flushed.
#include "program.h"

#include <cstring>

__global__ void sines(const float *x, float *s, float *fast, float *q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        s[i] = sinf(x[i]);
        fast[i] = __sinf(x[i]);
        q[i] = __fdividef(x[i], 3.0f);
    }
}

__global__ void small(float *out, float tiny)
{
    out[0] = tiny / 4;             /* subnormal */
    out[1] = __fmul_rn(tiny, 0.5f);
    out[2] = sqrtf(tiny / 4);
    out[3] = fmaf(tiny, 0.25f, 0);
}

int main()
{
    const int n = 4096;
    const float tiny = 1.17549435e-38f;
    std::vector<float> x(n);
    Random random(17);
    int wrong = 0;

    for (auto &v : x) {
        v = (random.real() - 0.5f) * 2000;
    }
    float *dx = device_copy(x), *s = device_new<float>(n);
    float *fast = device_new<float>(n), *q = device_new<float>(n);
    sines<<<n / 256, 256>>>(dx, s, fast, q, n);
    LAUNCHED();
    std::vector<float> a = host_copy(s, n), b = host_copy(fast, n);
    std::vector<float> c = host_copy(q, n);
    for (int i = 0; i < n; i++) {
        wrong += a[i] != (float)std::sin((double)x[i]);
        REQUIRE(near(b[i], std::sin((double)x[i]), 1e-5));
        REQUIRE(near(c[i], x[i] / 3.0, 1e-6));
    }
    REQUIRE(wrong <= n / 100); /* rounded from a result in double */
    float *out = device_new<float>(4);
    small<<<1, 1>>>(out, tiny);
    LAUNCHED();
    std::vector<float> r = host_copy(out, 4);
    REQUIRE(r[0] == tiny / 4 && r[0] > 0 && r[1] == tiny / 2);
    REQUIRE(r[2] == std::sqrt(tiny / 4) && r[3] == tiny / 4);
    return passed();
}
