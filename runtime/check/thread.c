/* SPDX-License-Identifier: MIT */
#include "thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

bool mc_check_thread(void *(*run)(void *))
{
    sigset_t all, old;
    pthread_t thread;
    bool done;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    done = pthread_create(&thread, NULL, run, NULL) == 0 &&
           pthread_detach(thread) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return done;
}
