/* SPDX-License-Identifier: MIT */
#include "thread.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static _Thread_local McThread thread_state;
/* That, once the thread is known. Calls ask for it some twenty times each, so
 * it is where it can be read without a call of the loader; so little fits there
 * also when the library is loaded while the program runs. */
static _Thread_local McThread *known
    __attribute__((tls_model("initial-exec")));
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
static McThread *__attribute__((noinline)) get_to_know(void)
{
    pthread_once(&thread_once, thread_key_init);
    pthread_setspecific(thread_key, &thread_state);
    thread_state.device = atomic_load(&default_device);
    known = &thread_state;
    return known;
}

McThread *mc_thread(void)
{
    return known ? known : get_to_know();
}

void mc_thread_set_default(int device)
{
    atomic_store(&default_device, device);
}

void mc_thread_at_end(void (*call)(McThread *thread))
{
    at_end = call;
}
