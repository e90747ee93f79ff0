// SPDX-License-Identifier: MIT
// Two devices: copies between them, and memory of one used by the other.
#include "program.h"

__global__ void increase(int *data)
{
    data[threadIdx.x] += 1000;
}

int main()
{
    int devices = 0, can = 0;

    CHECK(cudaGetDeviceCount(&devices));
    REQUIRE(devices >= 1);
    if (devices == 1) {
        /* Nothing to talk to: a device is no peer of itself. */
        CHECK(cudaDeviceCanAccessPeer(&can, 0, 0));
        REQUIRE(can == 0);
        return passed();
    }
    std::vector<int> in(128);
    for (int i = 0; i < 128; i++) {
        in[i] = i;
    }
    CHECK(cudaSetDevice(0));
    int *first = device_copy(in);
    CHECK(cudaSetDevice(1));
    int *second = device_new<int>(128);
    CHECK(cudaMemcpyPeer(second, 1, first, 0, 128 * sizeof(int)));
    REQUIRE(host_copy(second, 128) == in);
    CHECK(cudaDeviceCanAccessPeer(&can, 1, 0));
    if (can) {
        CHECK(cudaDeviceEnablePeerAccess(0, 0));
        FAILS(cudaErrorPeerAccessAlreadyEnabled,
              cudaDeviceEnablePeerAccess(0, 0));
        increase<<<1, 128>>>(first);
        LAUNCHED();
        std::vector<int> out = host_copy(first, 128);
        for (int i = 0; i < 128; i++) {
            REQUIRE(out[i] == i + 1000);
        }
        CHECK(cudaDeviceDisablePeerAccess(0));
        FAILS(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));
    }
    FAILS(cudaErrorInvalidDevice, cudaSetDevice(devices));
    CHECK(cudaFree(second));
    CHECK(cudaFree(first));
    return passed();
}
