/* SPDX-License-Identifier: MIT */
/* Random numbers by HIP's names, in kernels and by the library: both halves of
 * Philox's numbers are those that the seed and the place say. */
#include "program.h"

#include <hiprand/hiprand.h>
#include <hiprand/hiprand_kernel.h>

__global__ void draw(unsigned *out, unsigned long long seed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    hiprandStatePhilox4_32_10_t state;

    hiprand_init(seed, i % 4096, i / 4096, &state);
    out[i] = hiprand(&state);
}

int main()
{
    const unsigned N = 8192;
    unsigned *device = device_new<unsigned>(N);
    std::vector<unsigned> kernel(N), library(N);
    hiprandGenerator_t g;

    draw<<<N / 128, 128>>>(device, 99);
    LAUNCHED();
    CHECK(hipMemcpy(kernel.data(), device, N * sizeof(unsigned),
                    hipMemcpyDeviceToHost));
    REQUIRE(hiprandCreateGenerator(&g, HIPRAND_RNG_PSEUDO_PHILOX4_32_10) ==
            HIPRAND_STATUS_SUCCESS);
    REQUIRE(hiprandSetPseudoRandomGeneratorSeed(g, 99) ==
            HIPRAND_STATUS_SUCCESS);
    REQUIRE(hiprandGenerate(g, device, N) == HIPRAND_STATUS_SUCCESS);
    CHECK(hipMemcpy(library.data(), device, N * sizeof(unsigned),
                    hipMemcpyDeviceToHost));
    REQUIRE(kernel == library);
    REQUIRE(hiprandDestroyGenerator(g) == HIPRAND_STATUS_SUCCESS);
    return passed();
}
