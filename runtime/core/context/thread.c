/* SPDX-License-Identifier: MIT */
#include "thread.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static _Thread_local McThread thread_state;
static _Thread_local bool thread_known;
static atomic_int default_device;
static void (*at_end)(McThread *thread);

static void thread_exit(void *opaque)
{
    if (at_end) {
        at_end(opaque);
    }
}

static void thread_key_init(void)
{
    pthread_key_create(&thread_key, thread_exit);
}

/* Apart, so that asking again costs nothing but the question. */
static void __attribute__((noinline)) get_to_know(void)
{
    pthread_once(&thread_once, thread_key_init);
    pthread_setspecific(thread_key, &thread_state);
    thread_known = true;
    thread_state.device = atomic_load(&default_device);
}

McThread *mc_thread(void)
{
    if (!thread_known) {
        get_to_know();
    }
    return &thread_state;
}

void mc_thread_set_default(int device)
{
    atomic_store(&default_device, device);
}

void mc_thread_at_end(void (*call)(McThread *thread))
{
    at_end = call;
}
