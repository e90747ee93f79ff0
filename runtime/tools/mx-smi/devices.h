/* SPDX-License-Identifier: MIT */
/* What is known of the devices: once by opening them, then by looking from
 * outside, so that a view that runs does not keep anybody away. */
#ifndef MX_SMI_DEVICES_H
#define MX_SMI_DEVICES_H

#include "report.h"

typedef struct MxDevices {
    const KmdOps *ops;
    const char *root;       /* of proc/ */
    MxReport report;        /* for mx_report_*(); its parts are owned here: */
    MxReportDevice *device;
    char *reach;
    MxProcs before, now;
    bool failed;            /* one could not be asked, and was not in use */
} MxDevices;

/* Opens, asks and closes all, or the one with that index if it is not
 * negative. 0 or -errno. */
int mx_devices_learn(MxDevices *m, const KmdOps *ops, const char *root,
                     unsigned count, int only);
/* Processes, memory and utilisation since the last time; at first since a
 * tenth of a second, in which it waits if that tells anything. */
int mx_devices_look(MxDevices *m);
/* Resets all that are not in use. Returns the number of those that were not. */
unsigned mx_devices_reset(MxDevices *m);
void mx_devices_free(MxDevices *m);
/* A sentence's part for -errno. */
const char *mx_devices_reason(int err);

#endif
