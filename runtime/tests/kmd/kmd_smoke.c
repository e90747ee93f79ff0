/* SPDX-License-Identifier: MIT */
/*
 * Uses every device of the back end that MXGPU_DEVICE names; prints TAP. Runs
 * on a host with the simulator and in a guest with a PCI function alike.
 */
#include <errno.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(void)
{
    Smoke s[MAX_DEVICES] = { { 0 } };
    const KmdOps *ops = NULL;
    unsigned i, count = 0, round;
    int ret;

    setenv("MXGPU_LOG", "warn", 0);
    ret = kmd_select(&ops);
    if (smoke_ok(ret == 0, "a back end: %s", ret ? strerror(-ret)
                                                 : ops->name)) {
        ret = ops->count(&count);
        smoke_ok(ret == 0 && count > 0, "%u devices%s%s", count,
                 ret ? ": " : "", ret ? strerror(-ret) : "");
    }
    count = count > MAX_DEVICES ? MAX_DEVICES : count;
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
        for (i = 0; i < count; i++) {
            if (s[i].dev) {
                ops->close(s[i].dev);
                smoke_ok(true, "device %u closes", i);
            }
        }
    }
    printf("1..%u\n", smoke_count);
    return smoke_failed ? 1 : 0;
}
