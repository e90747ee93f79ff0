// SPDX-License-Identifier: MIT
// Breadth-first search of a graph, a launch a level.
#include "program.h"

#include <queue>

__global__ void expand(const int *start, const int *edge, int *level, int now,
                       int n, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;

    if (v < n && level[v] == now) {
        for (int e = start[v]; e < start[v + 1]; e++) {
            if (atomicCAS(&level[edge[e]], -1, now + 1) == -1) {
                *changed = 1;
            }
        }
    }
}

int main()
{
    const int n = 2000;
    std::vector<int> start(n + 1), edge, want(n, -1);
    std::queue<int> queue;
    Random random(7);

    for (int v = 0; v < n; v++) {
        start[v] = edge.size();
        edge.push_back((v + 1) % (n - 100)); /* the last 100 are not reached */
        if (v % 3 == 0) {
            edge.push_back(random.next() % (n - 100));
        }
    }
    start[n] = edge.size();
    want[0] = 0;
    for (queue.push(0); !queue.empty(); queue.pop()) {
        int v = queue.front();

        for (int e = start[v]; e < start[v + 1]; e++) {
            if (want[edge[e]] < 0) {
                want[edge[e]] = want[v] + 1;
                queue.push(edge[e]);
            }
        }
    }
    std::vector<int> level(n, -1);
    level[0] = 0;
    int *ds = device_copy(start), *de = device_copy(edge);
    int *dl = device_copy(level), *changed;
    CHECK(cudaHostAlloc(&changed, sizeof(int), cudaHostAllocMapped));
    int now = 0;
    do {
        *changed = 0;
        expand<<<(n + 127) / 128, 128>>>(ds, de, dl, now++, n, changed);
        LAUNCHED();
    } while (*changed);
    REQUIRE(host_copy(dl, n) == want);
    REQUIRE(want[n - 1] == -1 && now > 3);
    CHECK(cudaFree(ds));
    CHECK(cudaFree(de));
    CHECK(cudaFree(dl));
    CHECK(cudaFreeHost(changed));
    return passed();
}
