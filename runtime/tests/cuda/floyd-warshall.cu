// SPDX-License-Identifier: MIT
// Shortest paths between all pairs, a launch for each way over.
#include "program.h"

#include <algorithm>

__global__ void over(int *distance, int n, int k)
{
    int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;

    if (j < n) {
        int d = distance[i * n + k] + distance[k * n + j];

        if (d < distance[i * n + j]) {
            distance[i * n + j] = d;
        }
    }
}

int main()
{
    const int n = 60, far = 1 << 20;
    std::vector<int> d(n * n, far);
    Random random(12);

    for (int i = 0; i < n; i++) {
        d[i * n + i] = 0;
        d[i * n + (i + 1) % n] = 50;
        for (int e = 0; e < 3; e++) {
            d[i * n + random.next() % n] = 1 + random.next() % 100;
        }
    }
    int *data = device_copy(d);
    for (int k = 0; k < n; k++) {
        over<<<dim3(1, n), 64>>>(data, n, k);
    }
    LAUNCHED();
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                d[i * n + j] = std::min(d[i * n + j],
                                        d[i * n + k] + d[k * n + j]);
            }
        }
    }
    REQUIRE(host_copy(data, n * n) == d);
    CHECK(cudaFree(data));
    return passed();
}
