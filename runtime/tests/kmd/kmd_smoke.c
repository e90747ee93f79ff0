/* SPDX-License-Identifier: MIT */
/*
 * Uses every device of the back end that MXGPU_DEVICE names; prints TAP. Runs
 * on a host with the simulator and in a guest with a PCI function alike.
 *
 *   kmd_smoke [--uid N] [--memlock BYTES] [--hold SECONDS]
 *
 * --uid and --memlock give up rights first. --hold opens the first device only
 * and keeps a queue busy: exit status 0 when the time is over, 3 when the
 * device was lost before.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "smoke.h"

#define MAX_DEVICES 8

static bool open_device(Smoke *s, unsigned index)
{
    uint64_t start = smoke_now();
    int ret = s->ops->open(index, &s->dev);

    smoke_note("open took %llu us",
               (unsigned long long)(smoke_now() - start) / 1000);
    return smoke_ok(ret == 0, "device %u opens%s%s", index, ret ? ": " : "",
                    ret ? strerror(-ret) : "");
}

static int hold(const KmdOps *ops, unsigned seconds)
{
    uint64_t end = smoke_now() + seconds * 1000000000ull;
    Smoke s = { .ops = ops };
    union mxgpu_packet p;
    SmokeQueue q;
    int ret;

    if (!open_device(&s, 0) || !smoke_ok(smoke_queue(&s, 0, 16, &q), "queue")) {
        return 1;
    }
    p = (union mxgpu_packet){ .wait = {
        .type = MXGPU_PKT_WAIT, .size = 8, .cond = MXGPU_WAIT_EQ,
        .addr = q.signals.va + 64, .value = 1 } };
    smoke_submit(&q, &p);
    printf("holding\n");
    fflush(stdout);
    do {
        ret = ops->irq_wait(q.q, ops->irq_count(q.q), end - smoke_now());
    } while (ret == 0);
    smoke_queue_end(&q);
    ops->close(s.dev);
    return ret == -ENODEV ? 3 : 0;
}

/* Rights that a user without privileges would have. */
static bool options(int argc, char **argv, unsigned *seconds)
{
    struct rlimit limit;
    long uid = -1;
    int i;

    for (i = 1; i + 1 < argc; i += 2) {
        unsigned long value = strtoul(argv[i + 1], NULL, 0);

        if (!strcmp(argv[i], "--uid")) {
            uid = (long)value;
        } else if (!strcmp(argv[i], "--hold")) {
            *seconds = (unsigned)value;
        } else if (!strcmp(argv[i], "--memlock")) {
            limit.rlim_cur = limit.rlim_max = value;
            if (setrlimit(RLIMIT_MEMLOCK, &limit)) {
                return false;
            }
        } else {
            return false;
        }
    }
    if (uid >= 0 && (setgid((gid_t)uid) || setuid((uid_t)uid))) {
        return false;
    }
    return i == argc;
}

static void test_all(const KmdOps *ops, unsigned count)
{
    Smoke s[MAX_DEVICES] = { { 0 } };
    unsigned i, round;

    /* All at once; the second round finds what the first left behind. */
    for (round = 0; round < 2; round++) {
        for (i = 0; i < count; i++) {
            s[i] = (Smoke){ .ops = ops };
            if (!open_device(&s[i], i)) {
                s[i].dev = NULL;
            }
        }
        for (i = 0; i < count; i++) {
            if (s[i].dev) {
                smoke_tests(&s[i]);
            }
        }
        for (i = 1; i < count; i++) {
            if (s[i].dev && s[0].dev) {
                smoke_peer(&s[0], &s[i]);
            }
        }
        for (i = 0; i < count; i++) {
            if (s[i].dev) {
                ops->close(s[i].dev);
                smoke_ok(true, "device %u closes", i);
            }
        }
    }
}

int main(int argc, char **argv)
{
    const KmdOps *ops = NULL;
    unsigned count = 0, seconds = 0;
    int ret;

    setenv("MXGPU_LOG", "warn", 0);
    if (!options(argc, argv, &seconds)) {
        fprintf(stderr, "usage: kmd_smoke [--uid N] [--memlock BYTES] "
                "[--hold SECONDS]\n");
        return 2;
    }
    ret = kmd_select(&ops);
    if (smoke_ok(ret == 0, "a back end: %s", ret ? strerror(-ret)
                                                 : ops->name)) {
        ret = ops->count(&count);
        smoke_ok(ret == 0 && count > 0, "%u devices%s%s", count,
                 ret ? ": " : "", ret ? strerror(-ret) : "");
    }
    if (seconds && count) {
        return hold(ops, seconds);
    }
    test_all(ops, count > MAX_DEVICES ? MAX_DEVICES : count);
    printf("1..%u\n", smoke_count);
    return smoke_failed ? 1 : 0;
}
