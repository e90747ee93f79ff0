/* SPDX-License-Identifier: MIT */
/*
 * main returns while another thread is in mcDeviceReset(), which waits for a
 * host function that never returns: the process must end all the same. Prints
 * TAP; who waits for ever is ended by SIGALRM.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "mcr/mc_runtime_api.h"

#define LIMIT_S 100

static sem_t begun;

static void never_returns(void *unused)
{
    sem_post(&begun);
    for (;;) {
        pause();
    }
}

static void *reset(void *unused)
{
    mcDeviceReset();
    return NULL;
}

int main(void)
{
    mcStream_t stream;
    pthread_t thread;

    alarm(LIMIT_S);
    sem_init(&begun, 0, 0);
    bool started = mcStreamCreate(&stream) == mcSuccess &&
                   mcLaunchHostFunc(stream, never_returns, NULL) == mcSuccess;
    if (started) {
        while (sem_wait(&begun)) {
        }
        started = pthread_create(&thread, NULL, reset, NULL) == 0;
    }
    /* Until the reset has taken the stream away. */
    while (started && mcStreamQuery(stream) == mcErrorNotReady) {
        usleep(1000);
    }
    printf("1..1\n%s 1 - main returns while a reset waits for ever\n",
           started ? "ok" : "not ok");
    return !started;
}
