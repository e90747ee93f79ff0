/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devices.h"

#define SAMPLE_NS 100000000

const char *mx_devices_reason(int err)
{
    switch (-err) {
    case EBUSY:
        return "in use by another process";
    case EACCES:
    case EPERM:
        return "not permitted";
    default:
        return strerror(-err);
    }
}

static int open_one(MxDevices *m, MxReportDevice *d, KmdDevice **dev)
{
    uint64_t unused = 0;
    int err = m->ops->open(d->index, dev);

    if (err) {
        *dev = NULL;
        d->reason = mx_devices_reason(err);
        m->failed |= err != -EBUSY;
        return err;
    }
    d->known = true;
    d->reason = NULL;
    m->ops->info(*dev, &d->info);
    m->ops->memory(*dev, &unused, &d->total);
    d->used = d->total - unused;
    mx_report_bus(&d->info, d->bus, sizeof(d->bus));
    return 0;
}

static char relation(const KmdOps *ops, KmdDevice *a, KmdDevice *b)
{
    if (a && a == b) {
        return 'X';
    }
    if (!a || !b) {
        return '?';
    }
    return ops->reaches && ops->reaches(a, b) ? 'P' : 'H';
}

/* All are open at once, for only then they tell who reaches whom. */
static int open_all(MxDevices *m, unsigned count)
{
    KmdDevice **dev = calloc(count, sizeof(KmdDevice *));

    if (!dev) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < count; i++) {
        MxReportDevice *d = &m->device[i];

        if (m->ops->address && m->ops->address(d->index, d->bus)) {
            d->bus[0] = '\0';
        }
        open_one(m, d, &dev[i]);
    }
    for (unsigned i = 0; i < count * count; i++) {
        m->reach[i] = i / count == i % count ? 'X' :
                      relation(m->ops, dev[i / count], dev[i % count]);
    }
    for (unsigned i = 0; i < count; i++) {
        if (dev[i]) {
            m->ops->close(dev[i]);
        }
    }
    free(dev);
    return 0;
}

int mx_devices_learn(MxDevices *m, const KmdOps *ops, const char *root,
                     unsigned count, int only)
{
    unsigned n = only < 0 ? count : 1;

    *m = (MxDevices){ .ops = ops, .root = root };
    if (only >= 0 && (unsigned)only >= count) {
        return -ENODEV;
    }
    m->device = calloc(n, sizeof(*m->device));
    m->reach = calloc(n, n);
    if (!m->device || !m->reach) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < n; i++) {
        m->device[i].index = only < 0 ? i : (unsigned)only;
    }
    m->report = (MxReport){ ops->name, m->device, n, m->reach, &m->now };
    return open_all(m, n);
}

/* ---- from outside */

static void look_at(MxDevices *m, MxReportDevice *d)
{
    uint64_t bytes;
    bool told;

    d->users = 0;
    d->use = (MxUse){ 0 };
    while (d->bus[0] && mx_procs_of(&m->now, d->bus, d->users)) {
        d->users++;
    }
    told = d->bus[0] && mx_procs_memory(&m->now, d->bus, &bytes);
    if (told) {
        d->used = bytes;
    }
    d->has_used = told || (d->known && !d->users);
    if (d->bus[0]) {
        mx_procs_use(&m->before, &m->now, d->bus, &d->use);
    }
    /* Nobody has it: nothing runs. A user of VFIO does not tell what runs. */
    d->has_use = d->use.engines || (d->known && !d->users);
}

static bool any_engine(const MxProcs *procs)
{
    for (unsigned i = 0; i < procs->count; i++) {
        if (procs->client[i].engines) {
            return true;
        }
    }
    return false;
}

/* One that was in use when it was to be opened and is not any more. */
static void learn_later(MxDevices *m, MxReportDevice *d)
{
    KmdDevice *dev;

    if (!d->known && !d->users && d->reason == mx_devices_reason(-EBUSY) &&
        !open_one(m, d, &dev)) {
        m->ops->close(dev);
        look_at(m, d);
    }
}

int mx_devices_look(MxDevices *m)
{
    struct timespec pause = { .tv_nsec = SAMPLE_NS };
    bool first = !m->now.at_ns;
    int err;

    mx_procs_free(&m->before);
    m->before = m->now;
    m->now = (MxProcs){ 0 };
    err = mx_procs_scan(m->root, &m->now);
    if (!err && first && any_engine(&m->now)) {
        m->before = m->now;
        nanosleep(&pause, NULL);
        err = mx_procs_scan(m->root, &m->now);
    }
    for (unsigned i = 0; !err && i < m->report.count; i++) {
        look_at(m, &m->device[i]);
        if (!first) {
            learn_later(m, &m->device[i]);
        }
    }
    return err;
}

/* ---- reset */

/* A function reset by the kernel, in which the driver takes part. */
static int reset_function(const MxDevices *m, const MxReportDevice *d)
{
    char path[512];
    FILE *f;
    int err = 0;

    snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/reset", m->root,
             d->bus);
    f = fopen(path, "we");
    if (!f) {
        return -errno;
    }
    if (fputs("1", f) < 0) {
        err = -errno;
    }
    return fclose(f) && !err ? -errno : err;
}

/* What processes share is reset when none has it, and then opened again, which
 * asks the firmware who it is. */
static int reset_shared(MxDevices *m, MxReportDevice *d)
{
    KmdDevice *dev;
    int err = mx_devices_look(m);

    if (!err && d->users) {
        err = -EBUSY;
    }
    if (!err) {
        err = reset_function(m, d);
    }
    if (!err) {
        err = open_one(m, d, &dev);
        if (!err) {
            m->ops->close(dev);
        }
    }
    d->reason = err ? mx_devices_reason(err) : NULL;
    return err;
}

/* VFIO resets a function when it is opened, and then the runtime does, starts
 * the firmware and asks it who it is. */
static int reset_one(MxDevices *m, MxReportDevice *d)
{
    bool opens = !strcmp(m->ops->name, "vfio") || !strcmp(m->ops->name, "sim");

    return !d->known ? -ENODEV : opens ? 0 : reset_shared(m, d);
}

unsigned mx_devices_reset(MxDevices *m)
{
    unsigned failed = 0;

    for (unsigned i = 0; i < m->report.count; i++) {
        MxReportDevice *d = &m->device[i];

        if (reset_one(m, d)) {
            fprintf(stderr, "GPU %u: not reset: %s\n", d->index, d->reason);
            failed++;
        } else {
            printf("GPU %u: reset, its firmware runs\n", d->index);
        }
    }
    return failed;
}

void mx_devices_free(MxDevices *m)
{
    mx_procs_free(&m->before);
    mx_procs_free(&m->now);
    free(m->device);
    free(m->reach);
}
