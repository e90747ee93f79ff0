// SPDX-License-Identifier: MIT
// Managed memory and variables, hints and prefetches.
#include "program.h"

struct Node {
    int value;
    Node *next;
};

__managed__ int total;
__managed__ int cells[64];

__global__ void walk(Node *list)
{
    for (Node *n = list; n; n = n->next) {
        total += n->value;
        n->value = -n->value;
    }
}

__global__ void fill()
{
    cells[threadIdx.x] = 2 * threadIdx.x;
}

int main()
{
    Node *list = nullptr;
    int device = 0, count = 0;

    for (int i = 1; i <= 100; i++) {
        Node *n;

        CHECK(cudaMallocManaged(&n, sizeof(*n)));
        *n = {i, list};
        list = n;
    }
    total = 1000;
    walk<<<1, 1>>>(list);
    LAUNCHED();
    REQUIRE(total == 1000 + 5050);
    for (Node *n = list; n; count++) {
        Node *next = n->next;

        REQUIRE(n->value == count - 100);
        CHECK(cudaFree(n));
        n = next;
    }
    REQUIRE(count == 100);
    fill<<<1, 64>>>();
    LAUNCHED();
    REQUIRE(cells[0] == 0 && cells[63] == 126);

    float *data;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaMallocManaged(&data, 1 << 20, cudaMemAttachGlobal));
    CHECK(cudaMemAdvise(data, 1 << 20, cudaMemAdviseSetReadMostly, device));
    CHECK(cudaMemPrefetchAsync(data, 1 << 20, device, 0));
    CHECK(cudaMemset(data, 0, 1 << 20));
    CHECK(cudaMemPrefetchAsync(data, 1 << 20, cudaCpuDeviceId, 0));
    CHECK(cudaDeviceSynchronize());
    REQUIRE(data[0] == 0 && data[(1 << 18) - 1] == 0);
    CHECK(cudaFree(data));
    return passed();
}
