// SPDX-License-Identifier: MIT
// Memory and an event of another process.
#include "program.h"

#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void multiply(int *data, int by)
{
    data[threadIdx.x] *= by;
}

struct Message {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

static int child(int in)
{
    Message m;
    int *data;
    cudaEvent_t event;

    REQUIRE(read(in, &m, sizeof(m)) == sizeof(m));
    CHECK(cudaIpcOpenMemHandle((void **)&data, m.memory,
                               cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenEventHandle(&event, m.event));
    CHECK(cudaStreamWaitEvent(0, event, 0));
    multiply<<<1, 64>>>(data, 10);
    CHECK(cudaEventRecord(event, 0));
    LAUNCHED();
    CHECK(cudaIpcCloseMemHandle(data));
    CHECK(cudaEventDestroy(event));
    return 0;
}

/* The file that this program is: fork alone is not enough, a context does not
 * survive it. */
int main(int argc, char **argv)
{
    int pipes[2], status = -1;
    char number[12];
    Message m;

    if (argc == 3 && !strcmp(argv[1], "child")) {
        return child(atoi(argv[2]));
    }
    /* The child keeps the end that it reads, not the one that is written. */
    REQUIRE(pipe(pipes) == 0);
    REQUIRE(fcntl(pipes[1], F_SETFD, FD_CLOEXEC) == 0);
    snprintf(number, sizeof(number), "%d", pipes[0]);
    pid_t pid = fork();
    if (!pid) {
        execl("/proc/self/exe", "ipc", "child", number, nullptr);
        _exit(100);
    }
    std::vector<int> in(64);
    for (int i = 0; i < 64; i++) {
        in[i] = i;
    }
    int *data = device_copy(in);
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming |
                                               cudaEventInterprocess));
    multiply<<<1, 64>>>(data, 3);
    CHECK(cudaEventRecord(event, 0));
    CHECK(cudaIpcGetMemHandle(&m.memory, data));
    CHECK(cudaIpcGetEventHandle(&m.event, event));
    REQUIRE(write(pipes[1], &m, sizeof(m)) == sizeof(m));
    REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(cudaEventSynchronize(event));
    std::vector<int> out = host_copy(data, 64);
    for (int i = 0; i < 64; i++) {
        REQUIRE(out[i] == 30 * i);
    }
    CHECK(cudaEventDestroy(event));
    CHECK(cudaFree(data));
    return passed();
}
