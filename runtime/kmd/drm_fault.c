/* SPDX-License-Identifier: MIT */
/*
 * Recoverable faults through the kernel driver: those of memory of the process
 * are mended by the driver itself (its ioctl SVM); the others come to a file, and
 * a thread shows each to whoever mends it, as on other back ends (fault.c).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "drm_priv.h"

struct DrmFaults {
    DrmDevice *dev;
    KmdMendFn *mend;
    void *opaque;
    int file, stop; /* records; an eventfd */
    pthread_t thread;
};

static void serve(DrmFaults *f)
{
    struct mxgpu_fault_record record;

    while (read(f->file, &record, sizeof(record)) == sizeof(record)) {
        struct drm_mxgpu_resolve verdict = {
            .sequence = record.sequence,
            .verdict = f->mend(f->opaque, &record) ? MXGPU_RESOLVE_REPLAY
                                                   : MXGPU_RESOLVE_KILL,
        };

        /* -ENOENT: what waited has ended meanwhile. */
        (void)drm_call(f->dev, DRM_IOCTL_MXGPU_RESOLVE, &verdict);
    }
}

static void *fault_thread(void *opaque)
{
    DrmFaults *f = opaque;
    struct pollfd fds[2] = {
        {.fd = f->file, .events = POLLIN}, {.fd = f->stop, .events = POLLIN},
    };

    pthread_setname_np(pthread_self(), "mxgpu-fault");
    while (fds[1].revents == 0) {
        if (poll(fds, 2, -1) < 0) {
            continue;
        }
        if (fds[0].revents & POLLIN) {
            serve(f);
        } else if (fds[0].revents) {
            fds[0].fd = -1; /* the device is lost: there will be none */
        }
    }
    return NULL;
}

static int start_thread(DrmFaults *f)
{
    sigset_t all, old;
    int ret;

    /* Signals belong to the program's own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    ret = -pthread_create(&f->thread, NULL, fault_thread, f);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return ret;
}

static void faults_free(DrmFaults *f)
{
    if (f->file >= 0) {
        close(f->file); /* what is open is killed */
    }
    if (f->stop >= 0) {
        close(f->stop);
    }
    free(f);
}

static int faults_start(DrmFaults *f)
{
    struct drm_mxgpu_faults args = {.flags = O_CLOEXEC | O_NONBLOCK};
    int ret = drm_call(f->dev, DRM_IOCTL_MXGPU_FAULTS, &args);

    if (ret) {
        return drm_error(f->dev, ret);
    }
    f->file = args.fd;
    f->stop = eventfd(0, EFD_CLOEXEC);
    ret = f->stop < 0 ? -errno : start_thread(f);
    if (ret) {
        mc_error("fault thread: %s", strerror(-ret));
    }
    return ret;
}

int drm_faults(KmdDevice *dev, KmdMendFn *mend, void *opaque)
{
    DrmDevice *d = drm_of(dev);
    DrmFaults *f;
    int ret;

    if (d->faults) {
        return -EBUSY;
    }
    f = malloc(sizeof(*f));
    if (!f) {
        return -ENOMEM;
    }
    *f = (DrmFaults){
        .dev = d, .mend = mend, .opaque = opaque, .file = -1, .stop = -1,
    };
    ret = faults_start(f);
    if (ret) {
        faults_free(f);
        return ret;
    }
    d->faults = f;
    return 0;
}

void drm_faults_stop(DrmDevice *d)
{
    DrmFaults *f = d->faults;

    if (!f) {
        return;
    }
    d->faults = NULL;
    (void)eventfd_write(f->stop, 1);
    pthread_join(f->thread, NULL);
    faults_free(f);
}

/* A driver that is older, or a device, may not have it: then it is not there. */
bool drm_pageable(DrmDevice *d)
{
    struct drm_mxgpu_svm args = {0};

    return drm_call(d, DRM_IOCTL_MXGPU_SVM, &args) == 0;
}
