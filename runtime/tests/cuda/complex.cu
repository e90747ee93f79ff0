// SPDX-License-Identifier: MIT
// cuComplex.h on both sides: a Julia set's escape counts.
#include "program.h"

#include <cuComplex.h>

__host__ __device__ static int escape(cuFloatComplex z)
{
    const cuFloatComplex c = make_cuFloatComplex(-0.5f, 0.5f);
    int n = 0;

    while (n < 40 && cuCrealf(z) * cuCrealf(z) + cuCimagf(z) * cuCimagf(z) <
                         4) {
        z = cuCaddf(cuCmulf(z, z), c);
        n++;
    }
    return n;
}

__global__ void julia(int *out, int width)
{
    int x = threadIdx.x, y = blockIdx.x;

    out[y * width + x] = escape(make_cuFloatComplex(
        (x - width / 2) / 32.0f, (y - width / 2) / 32.0f));
}

__global__ void functions(cuDoubleComplex *out)
{
    cuDoubleComplex a = make_cuDoubleComplex(3, 4);
    cuDoubleComplex b = make_cuDoubleComplex(1, -2);

    out[0] = cuCadd(a, b);
    out[1] = cuCsub(a, b);
    out[2] = cuCmul(a, b);
    out[3] = cuCdiv(a, b);
    out[4] = cuConj(a);
    out[5] = make_cuDoubleComplex(cuCabs(a), cuCimag(b));
    out[6] = cuCfma(a, b, a);
}

int main()
{
    const int width = 64;
    int *counts = device_new<int>(width * width);
    cuDoubleComplex *out = device_new<cuDoubleComplex>(7);

    julia<<<width, width>>>(counts, width);
    functions<<<1, 1>>>(out);
    LAUNCHED();
    std::vector<int> got = host_copy(counts, width * width);
    int different = 0, most = 0;
    for (int y = 0; y < width; y++) {
        for (int x = 0; x < width; x++) {
            int want = escape(make_cuFloatComplex((x - width / 2) / 32.0f,
                                                  (y - width / 2) / 32.0f));

            /* Products may be fused on one side. */
            different += got[y * width + x] != want;
            most = got[y * width + x] > most ? got[y * width + x] : most;
        }
    }
    REQUIRE(different < width && most == 40);
    const double want[7][2] = {{4, 2},  {2, 6},  {11, -2}, {-1, 2},
                               {3, -4}, {5, -2}, {14, 2}};
    std::vector<cuDoubleComplex> z = host_copy(out, 7);
    for (int i = 0; i < 7; i++) {
        REQUIRE(near(cuCreal(z[i]), want[i][0], 1e-15));
        REQUIRE(near(cuCimag(z[i]), want[i][1], 1e-15));
    }
    CHECK(cudaFree(counts));
    CHECK(cudaFree(out));
    return passed();
}
