/* SPDX-License-Identifier: MIT */
/* Sleeping for a time, or until something was counted. */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "priv.h"

void kmd_sleep_ns(uint64_t ns)
{
    struct timespec ts = {
        .tv_sec = (time_t)(ns / 1000000000),
        .tv_nsec = (long)(ns % 1000000000),
    };

    nanosleep(&ts, NULL);
}

void kmd_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    struct timespec ts = {
        .tv_sec = (time_t)(timeout_ns / 1000000000),
        .tv_nsec = (long)(timeout_ns % 1000000000),
    };

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen,
            timeout_ns == UINT64_MAX ? NULL : &ts, NULL, 0);
}

void kmd_count(_Atomic uint32_t *word)
{
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void kmd_irq_wake_all(KmdDevice *dev)
{
    unsigned i;

    kmd_count(&dev->irq.answered);
    for (i = 0; i < dev->t->vectors; i++) {
        kmd_count(&dev->irq.counts[i]);
    }
}
