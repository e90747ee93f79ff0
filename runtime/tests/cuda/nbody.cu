// SPDX-License-Identifier: MIT
// Bodies that attract each other, by tiles; momentum stays what it is.
#include "program.h"

#define BLOCK 64

__global__ void forces(const float4 *body, float3 *force, int n)
{
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 me = body[i];
    float3 f = make_float3(0, 0, 0);

    for (int t = 0; t < n; t += BLOCK) {
        tile[threadIdx.x] = body[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < BLOCK; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y;
            float dz = tile[k].z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float s = me.w * tile[k].w * r * r * r;

            f.x += dx * s;
            f.y += dy * s;
            f.z += dz * s;
        }
        __syncthreads();
    }
    force[i] = f;
}

int main()
{
    const int n = 256;
    std::vector<float4> body(n);
    Random random(8);

    for (auto &b : body) {
        b = make_float4(random.real(), random.real(), random.real(),
                        0.5f + random.real());
    }
    float4 *bodies = device_copy(body);
    float3 *force = device_new<float3>(n);
    forces<<<n / BLOCK, BLOCK>>>(bodies, force, n);
    LAUNCHED();
    std::vector<float3> out = host_copy(force, n);
    double total[3] = {0, 0, 0}, size = 0;
    for (int i = 0; i < n; i++) {
        double f[3] = {0, 0, 0};

        for (int k = 0; k < n; k++) {
            double dx = body[k].x - body[i].x, dy = body[k].y - body[i].y;
            double dz = body[k].z - body[i].z;
            double r = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01);
            double s = body[i].w * body[k].w * r * r * r;

            f[0] += dx * s;
            f[1] += dy * s;
            f[2] += dz * s;
        }
        REQUIRE(near(out[i].x, f[0], 1e-4) && near(out[i].y, f[1], 1e-4) &&
                near(out[i].z, f[2], 1e-4));
        total[0] += out[i].x;
        total[1] += out[i].y;
        total[2] += out[i].z;
        size += std::fabs(out[i].x);
    }
    for (double t : total) {
        REQUIRE(std::fabs(t) < 1e-5 * size);
    }
    CHECK(cudaFree(bodies));
    CHECK(cudaFree(force));
    return passed();
}
