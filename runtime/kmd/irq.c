/* SPDX-License-Identifier: MIT */
/*
 * Interrupts: one thread a device waits for all vectors, counts them and wakes
 * who sleeps on the count. Vector 0 also carries the device's own causes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "priv.h"

/* epoll data: a vector number or one of these. */
#define EVENT_STOP UINT32_MAX
#define EVENT_GONE (UINT32_MAX - 1)

static void handle_errors(KmdDevice *dev)
{
    KmdTransport *t = dev->t;
    uint32_t err = kmd_read(t, MXGPU_ERR_STATUS);
    uint32_t info = kmd_read(t, MXGPU_ERR_INFO);
    uint64_t addr = kmd_read(t, MXGPU_ERR_ADDR_LO);

    addr |= (uint64_t)kmd_read(t, MXGPU_ERR_ADDR_HI) << 32;
    kmd_write(t, MXGPU_ERR_STATUS, err);
    mc_warn("device errors:%s%s%s%s%s%s; first: info 0x%x, address 0x%llx; %u "
            "in all",
            MXGPU_GET(MXGPU_ERR_STATUS_BAD_ACCESS, err) ? " bad access" : "",
            MXGPU_GET(MXGPU_ERR_STATUS_BAD_DOORBELL, err) ? " bad doorbell"
                                                          : "",
            MXGPU_GET(MXGPU_ERR_STATUS_BUS, err) ? " bus" : "",
            MXGPU_GET(MXGPU_ERR_STATUS_FAULT, err) ? " fault" : "",
            MXGPU_GET(MXGPU_ERR_STATUS_MCU_CRASH, err) ? " MCU crash" : "",
            MXGPU_GET(MXGPU_ERR_STATUS_MCU_STUCK, err) ? " MCU stuck" : "",
            info, (unsigned long long)addr, kmd_read(t, MXGPU_ERR_COUNT));
    if (MXGPU_GET(MXGPU_ERR_STATUS_MCU_STUCK, err)) {
        mc_warn("the firmware makes no progress: pc 0x%x ra 0x%x sp 0x%x",
                kmd_read(t, MXGPU_MCU_PC), kmd_read(t, MXGPU_MCU_RA),
                kmd_read(t, MXGPU_MCU_SP));
    }
}

/* Vector 0: find out why, clear, act. */
static void handle_device(KmdDevice *dev)
{
    KmdTransport *t = dev->t;
    uint32_t status = kmd_read(t, MXGPU_IRQ_STATUS);

    if (status == UINT32_MAX) {
        kmd_device_alive(dev);
        return;
    }
    if (status) {
        kmd_write(t, MXGPU_IRQ_STATUS, status);
    }
    if (MXGPU_GET(MXGPU_IRQ_STATUS_MBOX, status)) {
        kmd_count(&dev->irq.answered);
    }
    if (MXGPU_GET(MXGPU_IRQ_STATUS_ERROR, status)) {
        handle_errors(dev);
    }
    if (MXGPU_GET(MXGPU_IRQ_STATUS_FAULT, status)) {
        kmd_fault_told(dev);
    }
    if (MXGPU_GET(MXGPU_IRQ_STATUS_EVENT, status)) {
        mc_debug("the firmware signalled an event");
    }
    kmd_device_check(dev);
}

static void handle_vector(KmdDevice *dev, unsigned vector)
{
    uint64_t count;

    if (read(dev->t->irq_fds[vector], &count, sizeof(count)) !=
        sizeof(count)) {
        return;
    }
    if (vector == 0) {
        handle_device(dev);
    }
    kmd_count(&dev->irq.counts[vector]);
}

static void *irq_thread(void *opaque)
{
    KmdDevice *dev = opaque;
    struct epoll_event events[32];

    pthread_setname_np(pthread_self(), "mxgpu-irq");
    for (;;) {
        int i, n = epoll_wait(dev->irq.epoll_fd, events, 32, -1);

        for (i = 0; i < n; i++) {
            uint32_t what = events[i].data.u32;

            if (what == EVENT_STOP) {
                return NULL;
            }
            if (what == EVENT_GONE) {
                epoll_ctl(dev->irq.epoll_fd, EPOLL_CTL_DEL, dev->t->gone_fd,
                          NULL);
                kmd_device_lose(dev, "the system takes the device away");
            } else {
                handle_vector(dev, what);
            }
        }
    }
}

static int watch(KmdDevice *dev, int fd, uint32_t what)
{
    struct epoll_event event = { .events = EPOLLIN, .data.u32 = what };

    return epoll_ctl(dev->irq.epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int watch_all(KmdDevice *dev)
{
    unsigned i;
    int ret = watch(dev, dev->irq.stop_fd, EVENT_STOP);

    for (i = 0; !ret && i < dev->t->vectors; i++) {
        ret = watch(dev, dev->t->irq_fds[i], i);
    }
    if (!ret && dev->t->gone_fd >= 0) {
        ret = watch(dev, dev->t->gone_fd, EVENT_GONE);
    }
    return ret;
}

int kmd_irq_start(KmdDevice *dev)
{
    KmdIrq *irq = &dev->irq;
    sigset_t all, old;
    int ret;

    irq->counts = calloc(dev->t->vectors, sizeof(*irq->counts));
    irq->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    irq->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!irq->counts || irq->epoll_fd < 0 || irq->stop_fd < 0) {
        ret = irq->counts ? -errno : -ENOMEM;
    } else {
        ret = watch_all(dev);
    }
    if (!ret) {
        /* Signals belong to the program's own threads. */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        ret = -pthread_create(&irq->thread, NULL, irq_thread, dev);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    if (ret) {
        mc_error("interrupt thread: %s", strerror(-ret));
        return ret;
    }
    irq->running = true;
    return 0;
}

void kmd_irq_stop(KmdDevice *dev)
{
    KmdIrq *irq = &dev->irq;
    uint64_t one = 1;

    if (irq->running) {
        while (write(irq->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
        }
        pthread_join(irq->thread, NULL);
        irq->running = false;
    }
    if (irq->stop_fd >= 0) {
        close(irq->stop_fd);
    }
    if (irq->epoll_fd >= 0) {
        close(irq->epoll_fd);
    }
    free((void *)irq->counts);
    irq->counts = NULL;
}
