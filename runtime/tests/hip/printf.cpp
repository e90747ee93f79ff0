// SPDX-License-Identifier: MIT
// printf in kernels.
#include "program.h"

#include <cstring>
#include <unistd.h>

__global__ void hello()
{
    printf("hello from %d of %d\n", (int)threadIdx.x, (int)blockDim.x);
}

int main()
{
    char name[] = "/tmp/printf-test-XXXXXX", buffer[1024];
    int file = mkstemp(name), keep = dup(1);

    REQUIRE(file >= 0 && keep >= 0);
    unlink(name);
    fflush(stdout);
    dup2(file, 1);
    hello<<<1, 4>>>();
    CHECK(hipDeviceSynchronize());
    fflush(stdout);
    dup2(keep, 1);
    ssize_t length = pread(file, buffer, sizeof(buffer) - 1, 0);
    REQUIRE(length == 4 * 18);
    buffer[length] = 0;
    for (int i = 0; i < 4; i++) {
        char line[32];

        snprintf(line, sizeof(line), "hello from %d of 4\n", i);
        REQUIRE(strstr(buffer, line));
    }
    return passed();
}
