// SPDX-License-Identifier: MIT
// What docs/migration.md says of memory: managed memory stays with the host,
// and addresses of atomics have to be aligned.
#include "program.h"

__global__ void count(int *shared, int n)
{
    for (int i = 0; i < n; i++) {
        atomicAdd_system(shared, 1);
    }
}

__global__ void misaligned(char *p)
{
    *(int *)(p + 1) = 0x01020304;
}

__global__ void misaligned_atomic(char *p)
{
    atomicAdd((int *)(p + 1), 1);
}

int main()
{
    size_t before, after, total;
    int *managed;

    CHECK(cudaFree(0));
    CHECK(cudaMemGetInfo(&before, &total));
    CHECK(cudaMallocManaged(&managed, 32 << 20));
    CHECK(cudaMemPrefetchAsync(managed, 32 << 20, 0, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemGetInfo(&after, &total));
    REQUIRE(before == after); /* it takes no memory of the device */
    /* Host and device may use it at the same time. */
    *managed = 0;
    count<<<1, 64>>>(managed, 100);
    for (int i = 0; i < 1000; i++) {
        __atomic_fetch_add(managed, 1, __ATOMIC_SEQ_CST);
    }
    LAUNCHED();
    REQUIRE(*managed == 6400 + 1000);
    CHECK(cudaFree(managed));

    char *p = device_new<char>(64);
    CHECK(cudaMemset(p, 0, 64));
    misaligned<<<1, 1>>>(p);
    LAUNCHED();
    std::vector<char> bytes = host_copy(p, 6);
    REQUIRE(bytes[0] == 0 && bytes[1] == 4 && bytes[4] == 1 && bytes[5] == 0);
    misaligned_atomic<<<1, 1>>>(p);
    REQUIRE(cudaDeviceSynchronize() == cudaErrorMisalignedAddress);
    REQUIRE(cudaFree(p) == cudaErrorMisalignedAddress);
    CHECK(cudaDeviceReset());
    CHECK(cudaFree(device_new<char>(64)));
    return passed();
}
