/* SPDX-License-Identifier: MIT */
/* Devices for programs: JSON and CSV, and who reaches whom. */
#ifndef MX_SMI_REPORT_H
#define MX_SMI_REPORT_H

#include "kmd/kmd.h"

/* What a card has that a model has not: constants, always marked so. */
#define MX_MODELLED_CLOCK_MHZ     1000
#define MX_MODELLED_TEMPERATURE_C 40
#define MX_MODELLED_POWER_W       75

typedef struct MxReportDevice {
    KmdDevice *dev;     /* NULL: it could not be opened, for this reason: */
    const char *reason;
    KmdInfo info;
    uint64_t used, total; /* bytes of memory */
} MxReportDevice;

void mx_report_json(const char *back_end, const MxReportDevice *devices,
                    unsigned count);
void mx_report_csv(const MxReportDevice *devices, unsigned count);
void mx_report_topology(const KmdOps *ops, const MxReportDevice *devices,
                        unsigned count);
/* "0000:01:00.0", or "simulated" */
void mx_report_bus(const KmdInfo *info, char *text, size_t size);
void mx_report_uuid(const KmdInfo *info, char text[37]);

#endif
