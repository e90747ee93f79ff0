// SPDX-License-Identifier: MIT
// Of the host: compiled by the C++ compiler.
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <vector>

void number_all(int *data, int n);
void scale_all(int *data, int n, int by);

int main()
{
    std::vector<int> host(64);
    int *data;

    if (hipMalloc((void **)&data, 256) != hipSuccess) {
        return 1;
    }
    number_all(data, 64);
    scale_all(data, 64, 5);
    if (hipMemcpy(host.data(), data, 256, hipMemcpyDeviceToHost) !=
        hipSuccess) {
        return 1;
    }
    for (int i = 0; i < 64; i++) {
        if (host[i] != i * FACTOR * 5) {
            return 1;
        }
    }
    hipFree(data);
    puts("PASSED");
    return 0;
}
