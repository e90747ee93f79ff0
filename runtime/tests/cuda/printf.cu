// SPDX-License-Identifier: MIT
// printf in kernels: what it writes, in the stream's order.
#include "program.h"

#include <cstring>
#include <string>
#include <unistd.h>

__global__ void say(int a, double b, const char *unused)
{
    if (threadIdx.x == 5) {
        printf("block %d thread %u: %d %.3f %s %c %% %#x %5lld|\n",
               blockIdx.x, threadIdx.x, a, b, "text", 'q', 255,
               1234567890123ll);
    }
}

__global__ void count(int *results)
{
    results[threadIdx.x] = printf("x%d\n", threadIdx.x);
}

int main()
{
    char name[] = "/tmp/printf-test-XXXXXX", buffer[4096];
    int file = mkstemp(name), keep = dup(1);
    int *results = device_new<int>(16);

    REQUIRE(file >= 0 && keep >= 0);
    unlink(name);
    fflush(stdout);
    REQUIRE(dup2(file, 1) == 1);
    say<<<1, 32>>>(-7, 2.5, nullptr);
    CHECK(cudaDeviceSynchronize());
    count<<<1, 16>>>(results);
    CHECK(cudaDeviceSynchronize());
    fflush(stdout);
    REQUIRE(dup2(keep, 1) == 1);
    ssize_t length = pread(file, buffer, sizeof(buffer) - 1, 0);
    REQUIRE(length > 0);
    buffer[length] = 0;
    const char *first = "block 0 thread 5: -7 2.500 text q % 0xff "
                        "1234567890123|\n";
    REQUIRE(strncmp(buffer, first, strlen(first)) == 0);
    std::string rest = buffer + strlen(first);
    for (int i = 0; i < 16; i++) {
        std::string line = "x" + std::to_string(i) + "\n";

        REQUIRE(rest.find(line) != std::string::npos);
    }
    REQUIRE(rest.size() == 10 * 3 + 6 * 4);
    /* The number of arguments, as CUDA's documentation says. */
    for (int r : host_copy(results, 16)) {
        REQUIRE(r == 1);
    }
    CHECK(cudaFree(results));
    return passed();
}
