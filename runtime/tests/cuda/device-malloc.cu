// SPDX-License-Identifier: MIT
// malloc and free in kernels; lists that outlive the kernel.
#include "program.h"

struct Item {
    Item *next;
    int value;
};

__device__ Item *heads[64];

__global__ void build(int length)
{
    Item *head = nullptr;

    for (int i = 0; i < length; i++) {
        Item *item = (Item *)malloc(sizeof(Item));

        if (item) {
            item->value = threadIdx.x * 100 + i;
            item->next = head;
            head = item;
        }
    }
    heads[threadIdx.x] = head;
}

__global__ void sum(int *out)
{
    int total = 0;

    for (Item *i = heads[threadIdx.x]; i;) {
        Item *next = i->next;

        total += i->value;
        free(i);
        i = next;
    }
    out[threadIdx.x] = total;
}

__global__ void too_much(size_t size, int *null)
{
    void *p = malloc(size);

    *null = p == nullptr;
    free(p);
}

int main()
{
    int *out = device_new<int>(64);
    size_t limit = 0;

    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    REQUIRE(limit >= 8 << 20);
    for (int round = 0; round < 3; round++) {
        build<<<1, 64>>>(10);
        sum<<<1, 64>>>(out);
        LAUNCHED();
        std::vector<int> got = host_copy(out, 64);
        for (int i = 0; i < 64; i++) {
            REQUIRE(got[i] == 1000 * i + 45);
        }
    }
    too_much<<<1, 1>>>(1ull << 36, out);
    LAUNCHED();
    REQUIRE(host_copy(out, 1)[0] == 1);
    CHECK(cudaFree(out));
    return passed();
}
