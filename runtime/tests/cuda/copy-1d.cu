// SPDX-License-Identifier: MIT
// Copies in every direction, with cudaMemcpyDefault, and of parts.
#include "program.h"

#include <cstring>

int main()
{
    const int n = 10000;
    std::vector<int> in(n), out(n, -1);
    int *a = device_new<int>(n), *b = device_new<int>(n);

    for (int i = 0; i < n; i++) {
        in[i] = 3 * i + 1;
    }
    CHECK(cudaMemcpy(a, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, a, n * sizeof(int), cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(out.data(), b, n * sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(in == out);

    /* The middle of b from the beginning of a; the kind is found out. */
    CHECK(cudaMemcpy(b + 100, a, 50 * sizeof(int), cudaMemcpyDefault));
    CHECK(cudaMemcpy(out.data(), b, n * sizeof(int), cudaMemcpyDefault));
    for (int i = 0; i < n; i++) {
        REQUIRE(out[i] == (i >= 100 && i < 150 ? in[i - 100] : in[i]));
    }
    CHECK(cudaMemcpy(out.data(), in.data(), 8, cudaMemcpyHostToHost));
    REQUIRE(memcmp(out.data(), in.data(), 8) == 0);

    /* Bytes at odd addresses. */
    CHECK(cudaMemcpy((char *)a + 3, "odd", 3, cudaMemcpyHostToDevice));
    char text[4] = "";
    CHECK(cudaMemcpy(text, (char *)a + 3, 3, cudaMemcpyDeviceToHost));
    REQUIRE(strcmp(text, "odd") == 0);

    CHECK(cudaMemcpyAsync(a, in.data(), n * sizeof(int),
                          cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpyAsync(out.data(), a, n * sizeof(int),
                          cudaMemcpyDeviceToHost, 0));
    CHECK(cudaStreamSynchronize(0));
    REQUIRE(in == out);
    CHECK(cudaMemcpy(a, in.data(), 0, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidValue,
          cudaMemcpy(nullptr, in.data(), 4, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidMemcpyDirection,
          cudaMemcpy(a, in.data(), 4, (cudaMemcpyKind)99));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(nullptr));
    return passed();
}
