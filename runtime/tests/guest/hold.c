/* SPDX-License-Identifier: MIT */
/*
 * Waits, in the way the argument names, for work that never ends, while
 * somebody outside takes the device away; for reset.sh. Says "holding"
 * when the work was given to the device. Exit status 3: the wait ended with
 * mcErrorDevicesUnavailable, and after mcDeviceReset the device could be used
 * again; 4: it could not; 1: anything else.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mcr/mc_runtime_api.h"

static mcStream_t stream;
static mcEvent_t event;
static void *device;
static uint64_t *gate;

static mcError_t wait_device(void)
{
    return mcDeviceSynchronize();
}

static mcError_t wait_stream(void)
{
    return mcStreamSynchronize(stream);
}

static mcError_t wait_event(void)
{
    return mcEventSynchronize(event);
}

static mcError_t wait_query(void)
{
    mcError_t error;

    while ((error = mcStreamQuery(stream)) == mcErrorNotReady) {
        usleep(1000);
    }
    return error;
}

static mcError_t wait_copy(void)
{
    char host[64];

    return mcMemcpy(host, device, sizeof(host), mcMemcpyDeviceToHost);
}

/* More than a ring or any other place keeps: ends up waiting for room. */
static mcError_t wait_ring(void)
{
    mcError_t error = mcSuccess;

    for (unsigned i = 0; error == mcSuccess && i < 100000; i++) {
        error = mcMemsetAsync(device, 0, 64, stream);
    }
    return error == mcSuccess ? mcStreamSynchronize(stream) : error;
}

/* Calls that ask the firmware: a queue each, while there are queues. */
static mcError_t wait_firmware(void)
{
    mcError_t error;
    mcStream_t s;

    do {
        usleep(20000);
        error = mcStreamCreate(&s);
    } while (error == mcSuccess);
    return error;
}

static const struct {
    const char *name;
    mcError_t (*wait)(void);
} ways[] = {
    {"device", wait_device}, {"stream", wait_stream}, {"event", wait_event},
    {"query", wait_query},   {"copy", wait_copy},     {"ring", wait_ring},
    {"firmware", wait_firmware},
};

static mcError_t prepare(void)
{
    mcError_t error = mcMalloc(&device, 4096);

    error = error == mcSuccess ? mcMallocHost((void **)&gate, 4096, 0) : error;
    error = error == mcSuccess ? mcStreamCreate(&stream) : error;
    error = error == mcSuccess ? mcEventCreate(&event) : error;
    if (error == mcSuccess) {
        *gate = 0;
        error = mcStreamWaitValue64(stream, gate, 1, 0);
    }
    return error == mcSuccess ? mcEventRecord(event, stream) : error;
}

int main(int argc, char **argv)
{
    for (unsigned i = 0; argc == 2 && i < sizeof(ways) / sizeof(*ways); i++) {
        if (strcmp(argv[1], ways[i].name)) {
            continue;
        }
        mcError_t error = prepare();
        if (error != mcSuccess) {
            fprintf(stderr, "preparing: %s\n", mcGetErrorName(error));
            return 1;
        }
        printf("holding\n");
        fflush(stdout);
        error = ways[i].wait();
        fprintf(stderr, "%s: %s\n", argv[1], mcGetErrorName(error));
        if (error != mcErrorDevicesUnavailable) {
            return 1;
        }
        error = mcDeviceReset();
        error = error == mcSuccess ? mcMalloc(&device, 4096) : error;
        error = error == mcSuccess ? mcMemset(device, 1, 4096) : error;
        error = error == mcSuccess ? mcDeviceSynchronize() : error;
        fprintf(stderr, "afterwards: %s\n", mcGetErrorName(error));
        return error == mcSuccess ? 3 : 4;
    }
    fprintf(stderr, "usage: runtime-hold WAY\n");
    return 2;
}
