/* SPDX-License-Identifier: MIT */
/* Functions that C has not, called by the host; shapes of functions that differ
 * from one version of CUDA to the next. */
#include "program.h"

/* A program's own one goes before those of the headers. */
static inline float rhypotf(float x, float y)
{
    return -1.0f / (x + y);
}

__host__ __device__ float length(float x, float y, float z)
{
    return 1.0f / rnorm3df(x, y, z) + rsqrtf(4.0f) + rcbrtf(8.0f) +
           cospif(1.0f) + sinpif(0.5f) + normcdff(0.0f) +
           norm4df(1.0f, 1.0f, 1.0f, 1.0f);
}

__global__ void same(float *out)
{
    if (threadIdx.x > 64) {
        abort();
    }
    out[threadIdx.x] = length(threadIdx.x, 2.0f, 3.0f);
}

int main()
{
    float *out = device_new<float>(64);
    double s, c;
    int grid, block;

    REQUIRE(near(rsqrt(16.0), 0.25, 1e-15) && rsqrtf(16) == 0.25f);
    REQUIRE(near(rcbrt(27.0), 1.0 / 3, 1e-15));
    sincospi(1.75, &s, &c);
    REQUIRE(near(s, -std::sqrt(0.5), 1e-15) && near(c, std::sqrt(0.5), 1e-15));
    REQUIRE(sinpi(1e9) == 0 && cospi(0.5) == 0 && sinpi(-0.5) == -1);
    REQUIRE(std::isnan(sinpi(INFINITY)) && cospi(5) == -1);
    REQUIRE(near(normcdf(1.0), 0.84134474606854293, 1e-15));
    REQUIRE(near(norm3d(1, 2, 2), 3, 1e-15));
    REQUIRE(near(rnorm4d(1, 1, 1, 1), 0.5, 1e-15));
    REQUIRE(rhypotf(1, 1) == -0.5f && near(rhypot(3.0, 4.0), 0.2, 1e-15));

    same<<<1, 64>>>(out);
    LAUNCHED();
    std::vector<float> h = host_copy(out, 64);
    for (int i = 0; i < 64; i++) {
        REQUIRE(near(h[i], length(i, 2, 3), 1e-6));
    }

    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, (void *)same));
    REQUIRE(grid > 0 && block > 0);
    cudaGraph_t graph;
    cudaGraphExec_t run;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphInstantiate(&run, graph, 0)); /* of CUDA 12 */
    CHECK(cudaGraphExecDestroy(run));
    CHECK(cudaGraphInstantiate(&run, graph, nullptr, nullptr, 0));
    CHECK(cudaGraphLaunch(run, 0));
    LAUNCHED();
    return passed();
}
