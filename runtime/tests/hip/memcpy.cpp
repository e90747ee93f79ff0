// SPDX-License-Identifier: MIT
// Copies: kinds, streams, functions named by their direction.
#include "program.h"

int main()
{
    const int n = 5000;
    const size_t bytes = n * sizeof(int);
    std::vector<int> in(n), out(n, -1);
    int *a = device_new<int>(n), *b = device_new<int>(n);
    hipStream_t stream;

    for (int i = 0; i < n; i++) {
        in[i] = i ^ 0x55;
    }
    CHECK(hipMemcpyHtoD((hipDeviceptr_t)a, in.data(), bytes));
    CHECK(hipMemcpyDtoD((hipDeviceptr_t)b, (hipDeviceptr_t)a, bytes));
    CHECK(hipMemcpyDtoH(out.data(), (hipDeviceptr_t)b, bytes));
    REQUIRE(in == out);
    CHECK(hipStreamCreate(&stream));
    CHECK(hipMemsetAsync(b, 0, bytes, stream));
    CHECK(hipMemcpyAsync(b + 10, a, 40, hipMemcpyDeviceToDevice, stream));
    CHECK(hipMemcpyAsync(out.data(), b, bytes, hipMemcpyDeviceToHost, stream));
    CHECK(hipStreamSynchronize(stream));
    for (int i = 0; i < n; i++) {
        REQUIRE(out[i] == (i >= 10 && i < 20 ? in[i - 10] : 0));
    }
    CHECK(hipMemcpyWithStream(out.data(), a, bytes, hipMemcpyDefault, stream));
    REQUIRE(in == out);
    CHECK(hipMemsetD32((hipDeviceptr_t)a, 77, n));
    REQUIRE(host_copy(a, n)[n - 1] == 77);
    CHECK(hipStreamDestroy(stream));
    CHECK(hipFree(a));
    CHECK(hipFree(b));
    return passed();
}
