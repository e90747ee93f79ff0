// SPDX-License-Identifier: MIT
// Functions of mathematics and intrinsics.
#include "program.h"

__global__ void math(double *out)
{
    float s, c;

    out[0] = sqrt(2.0);
    out[1] = sinf(0.5f);
    out[2] = pow(1.5, 4.0);
    out[3] = fmaf(2, 3, 4);
    out[4] = rsqrtf(0.25f);
    sincosf(1.0f, &s, &c);
    out[5] = s * s + c * c;
    out[6] = __expf(0.0f) + __logf(1.0f);
    out[7] = __popc(0xff00ff00) + __clz(1) + __ffs(8);
    out[8] = __umulhi(0x80000000u, 6);
    out[9] = erf(0.5) + erfc(0.5);
    out[10] = __float_as_int(2.0f);
    out[11] = fmin(NAN, 4.0) + abs(-3) + max(2, 5);
}

int main()
{
    double *out = device_new<double>(12);

    math<<<1, 1>>>(out);
    LAUNCHED();
    const double want[12] = {std::sqrt(2.0), std::sin(0.5), 5.0625, 10, 2, 1,
                             1, 16 + 31 + 4, 3, 1, 0x40000000, 12};
    std::vector<double> got = host_copy(out, 12);
    for (int i = 0; i < 12; i++) {
        REQUIRE(near(got[i], want[i], 2e-7));
    }
    CHECK(hipFree(out));
    return passed();
}
