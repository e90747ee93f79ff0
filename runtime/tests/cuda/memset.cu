// SPDX-License-Identifier: MIT
// cudaMemset and its asynchronous form.
#include "program.h"

int main()
{
    const int n = 4099;
    unsigned char *data = device_new<unsigned char>(n);
    cudaStream_t stream;

    CHECK(cudaMemset(data, 0x55, n));
    CHECK(cudaMemset(data + 7, 0x1ff, 3)); /* the lowest byte counts */
    std::vector<unsigned char> out = host_copy(data, n);
    for (int i = 0; i < n; i++) {
        REQUIRE(out[i] == (i >= 7 && i < 10 ? 0xff : 0x55));
    }
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < 32; i++) {
        CHECK(cudaMemsetAsync(data + 64 * i, i, 64, stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    out = host_copy(data, n);
    for (int i = 0; i < 32 * 64; i++) {
        REQUIRE(out[i] == i / 64);
    }
    REQUIRE(out[32 * 64] == 0x55);
    FAILS(cudaErrorInvalidValue, cudaMemset(nullptr, 0, 16));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(data));
    return passed();
}
