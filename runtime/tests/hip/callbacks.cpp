// SPDX-License-Identifier: MIT
// Host functions in a stream's order.
#include "program.h"

#include <atomic>

static std::atomic<int> number;

static void callback(hipStream_t, hipError_t status, void *data)
{
    if (status == hipSuccess) {
        *static_cast<int *>(data) = ++number;
    }
}

static void function(void *data)
{
    *static_cast<int *>(data) = ++number;
}

int main()
{
    hipStream_t stream;
    int first = 0, second = 0;

    CHECK(hipStreamCreate(&stream));
    CHECK(hipStreamAddCallback(stream, callback, &first, 0));
    CHECK(hipLaunchHostFunc(stream, function, &second));
    CHECK(hipStreamSynchronize(stream));
    REQUIRE(first == 1 && second == 2);
    CHECK(hipStreamDestroy(stream));
    return passed();
}
