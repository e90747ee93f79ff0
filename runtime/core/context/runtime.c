/* SPDX-License-Identifier: MIT */
#include "runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "error.h"
#include "thread.h"
#include "visible.h"

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool initialized;
static atomic_bool ending;  /* the library is being unloaded */
static atomic_bool forked;  /* a child whose parent used devices */
static const KmdOps *kmd_ops;
static int visible[MC_MAX_DEVICES];
static int visible_count;
static bool blocking_launches;
static bool eager_loading;

/* ---- devices ---- */

/* The list of the user; the other name is that of programs for CUDA. */
static void choose_visible(unsigned present)
{
    static const char *const names[] = {"MACA_VISIBLE_DEVICES",
                                        "CUDA_VISIBLE_DEVICES"};

    for (unsigned i = 0; i < 2; i++) {
        const char *list = getenv(names[i]);

        if (list) {
            visible_count = mc_visible(kmd_ops, names[i], list, present,
                                       visible, MC_MAX_DEVICES);
            return;
        }
    }
}

static mcError_t init_locked(void)
{
    unsigned present = 0;
    int err = kmd_select(&kmd_ops);

    if (!err) {
        err = kmd_ops->count(&present);
    }
    if (err) {
        mc_error("no device can be used: %s", strerror(-err));
        return mc_error_from_open(err);
    }
    if (present > MC_MAX_DEVICES) {
        present = MC_MAX_DEVICES;
    }
    for (visible_count = 0; visible_count < (int)present; visible_count++) {
        visible[visible_count] = visible_count;
    }
    choose_visible(present);
    const char *text = getenv("MACA_LAUNCH_BLOCKING");
    blocking_launches = text && atoi(text) != 0;
    text = getenv("MACA_MODULE_LOADING");
    eager_loading = text && strcmp(text, "EAGER") == 0;
    if (text && !eager_loading && strcmp(text, "LAZY") != 0) {
        mc_warn("MACA_MODULE_LOADING=%s is neither LAZY nor EAGER: LAZY",
                text);
    }
    if (visible_count == 0) {
        mc_error("no device is %s", present ? "visible" : "present");
        return mcErrorNoDevice;
    }
    return mcSuccess;
}

mcError_t mc_runtime_init(void)
{
    if (atomic_load_explicit(&initialized, memory_order_acquire)) {
        return mcSuccess;
    }
    pthread_mutex_lock(&init_lock);
    mcError_t error = mcSuccess;
    if (!atomic_load(&initialized)) {
        /* Not remembered when it fails: a device may be there later. */
        error = init_locked();
        if (error == mcSuccess) {
            atomic_store_explicit(&initialized, true, memory_order_release);
        }
    }
    pthread_mutex_unlock(&init_lock);
    return error;
}

int mc_device_count(void)
{
    return visible_count;
}

int mc_runtime_physical(int device)
{
    return visible[device];
}

const KmdOps *mc_runtime_ops(void)
{
    return kmd_ops;
}

bool mc_runtime_ending(void)
{
    return atomic_load(&ending);
}

bool mc_launch_blocking(void)
{
    return blocking_launches;
}

bool mc_load_eagerly(void)
{
    return eager_loading;
}

mcError_t mc_runtime_gate(void)
{
    if (atomic_load_explicit(&ending, memory_order_relaxed)) {
        return mcErrorDeinitialized;
    }
    if (atomic_load_explicit(&forked, memory_order_relaxed)) {
        mc_error("the parent process used devices before it forked; a child "
                 "cannot use them");
        return mcErrorInitializationError;
    }
    if (mc_thread()->in_callback) {
        mc_error("a function called by a stream made a runtime call");
        return mcErrorNotPermitted;
    }
    return mcSuccess;
}

mcError_t mc_set_valid_devices(const int *devices, int count)
{
    int wanted[MC_MAX_DEVICES]; /* the caller may change its own */

    if (count < 0 || count > visible_count || (count && !devices)) {
        return mcErrorInvalidValue;
    }
    for (int i = 0; i < count; i++) {
        wanted[i] = __atomic_load_n(&devices[i], __ATOMIC_RELAXED);
        if (wanted[i] < 0 || wanted[i] >= visible_count) {
            return mcErrorInvalidDevice;
        }
    }
    McThread *thread = mc_thread();
    int first = count ? wanted[0] : 0;

    mc_thread_set_default(first);
    if (!thread->device_chosen && !thread->depth) {
        thread->device = first;
    }
    return mcSuccess;
}

/* ---- exit ---- */

bool mc_runtime_end(void)
{
    if (atomic_load(&forked)) {
        return false;
    }
    atomic_store(&ending, true);
    return true;
}

void mc_runtime_forked(void)
{
    atomic_store(&forked, true);
}

bool mc_runtime_is_child(void)
{
    return atomic_load_explicit(&forked, memory_order_relaxed);
}

bool mc_runtime_was_starting(void)
{
    bool was = pthread_mutex_trylock(&init_lock) != 0;

    if (!was) {
        pthread_mutex_unlock(&init_lock);
    }
    return was;
}
