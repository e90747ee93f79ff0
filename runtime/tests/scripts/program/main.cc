// SPDX-License-Identifier: MIT
#include <mcr/mc_runtime_api.h>
#include <stdio.h>

void launch_square(int *data, int count);

int main()
{
    int host[4] = {1, 2, 3, 4}, *device;

    if (mcMalloc((void **)&device, sizeof(host)) != mcSuccess ||
        mcMemcpy(device, host, sizeof(host), mcMemcpyHostToDevice) !=
            mcSuccess) {
        return 1;
    }
    launch_square(device, 4);
    if (mcMemcpy(host, device, sizeof(host), mcMemcpyDeviceToHost) !=
            mcSuccess ||
        mcFree(device) != mcSuccess) {
        return 1;
    }
    puts(host[3] == 16 ? "parts passed" : "parts failed");
    return host[3] != 16;
}
