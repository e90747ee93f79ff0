// SPDX-License-Identifier: MIT
// hip_complex.h.
#include "program.h"

#include <hip/hip_complex.h>

__global__ void products(const hipFloatComplex *a, hipFloatComplex *b)
{
    int i = threadIdx.x;

    b[i] = hipCaddf(hipCmulf(a[i], hipConjf(a[i])),
                    make_hipFloatComplex(0, hipCabsf(a[i])));
}

int main()
{
    std::vector<hipFloatComplex> in(64);

    for (int i = 0; i < 64; i++) {
        in[i] = make_hipFloatComplex(3 * i, 4 * i);
    }
    hipFloatComplex *a = device_copy(in);
    hipFloatComplex *b = device_new<hipFloatComplex>(64);
    products<<<1, 64>>>(a, b);
    LAUNCHED();
    std::vector<hipFloatComplex> out = host_copy(b, 64);
    for (int i = 0; i < 64; i++) {
        REQUIRE(near(hipCrealf(out[i]), 25.0 * i * i, 1e-6));
        REQUIRE(near(hipCimagf(out[i]), 5.0 * i, 1e-6));
    }
    CHECK(hipFree(a));
    CHECK(hipFree(b));
    return passed();
}
