// SPDX-License-Identifier: MIT
// Several devices: the current one, copies between them.
#include "program.h"

int main()
{
    int count = 0, can = -1, device = -1;
    std::vector<int> in(100);

    CHECK(hipGetDeviceCount(&count));
    for (int i = 0; i < 100; i++) {
        in[i] = 3 * i;
    }
    int last = count - 1;
    CHECK(hipSetDevice(last));
    CHECK(hipGetDevice(&device));
    REQUIRE(device == last);
    int *there = device_new<int>(100);
    CHECK(hipSetDevice(0));
    int *here = device_copy(in);
    CHECK(hipMemcpyPeer(there, last, here, 0, 100 * sizeof(int)));
    CHECK(hipMemset(here, 0, 100 * sizeof(int)));
    CHECK(hipMemcpyPeerAsync(here, 0, there, last, 100 * sizeof(int), 0));
    CHECK(hipStreamSynchronize(0));
    REQUIRE(host_copy(here, 100) == in);
    CHECK(hipDeviceCanAccessPeer(&can, 0, last));
    REQUIRE(can == 0 || can == 1);
    CHECK(hipFree(here));
    CHECK(hipFree(there));
    return passed();
}
