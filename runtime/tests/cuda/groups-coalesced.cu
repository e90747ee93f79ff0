// SPDX-License-Identifier: MIT
// Threads that took the same way count together: one atomic for all of them.
#include "program.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ int add_together(int *counter)
{
    cg::coalesced_group active = cg::coalesced_threads();
    int first = 0;

    if (active.thread_rank() == 0) {
        first = atomicAdd(counter, active.size());
    }
    return active.shfl(first, 0) + active.thread_rank();
}

__global__ void filter(const int *in, int *out, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n && in[i] % 3 == 0) {
        out[add_together(count)] = in[i];
    }
}

int main()
{
    const int n = 10000;
    std::vector<int> in(n), seen(n);
    Random random(1);

    for (int i = 0; i < n; i++) {
        in[i] = i;
    }
    for (int i = n - 1; i > 0; i--) {
        std::swap(in[i], in[random.next() % (i + 1)]);
    }
    int *data = device_copy(in), *out = device_new<int>(n);
    int *count = device_new<int>(1);
    CHECK(cudaMemset(count, 0, sizeof(int)));
    filter<<<(n + 255) / 256, 256>>>(data, out, count, n);
    LAUNCHED();
    int found = host_copy(count, 1)[0];
    REQUIRE(found == (n + 2) / 3);
    for (int value : host_copy(out, found)) {
        REQUIRE(value % 3 == 0 && value < n && !seen[value]++);
    }
    CHECK(cudaFree(data));
    CHECK(cudaFree(out));
    CHECK(cudaFree(count));
    return passed();
}
