/* SPDX-License-Identifier: MIT */
/* What mx-smi prints of devices and processes. */
#ifndef MX_SMI_REPORT_H
#define MX_SMI_REPORT_H

#include "kmd/kmd.h"
#include "procs.h"

/* What a card has that a model has not: constants, always marked so. */
#define MX_MODELLED_CLOCK_MHZ     1000
#define MX_MODELLED_TEMPERATURE_C 40
#define MX_MODELLED_POWER_W       75

typedef struct MxReportDevice {
    unsigned index;
    bool known;         /* info and total are; else for this reason not: */
    const char *reason;
    KmdInfo info;
    char bus[16];       /* "0000:01:00.0", "simulated"; "" not known */
    unsigned users;     /* processes that have it, but this one */
    bool has_used, has_use;
    uint64_t used, total; /* bytes of memory */
    MxUse use;
} MxReportDevice;

typedef struct MxReport {
    const char *back_end;
    const MxReportDevice *device;
    unsigned count;
    const char *reach;  /* count * count of 'X' itself, 'P' peer, 'H' through
                           the host, '?' */
    const MxProcs *procs;
} MxReport;

void mx_report_json(const MxReport *r);
/* "head": with the names of the columns, once in front of all. */
void mx_report_csv(const MxReport *r, bool head);
void mx_report_csv_processes(const MxReport *r, bool head);
void mx_report_table(const MxReport *r);
void mx_report_processes(const MxReport *r);
void mx_report_list(const MxReport *r);
void mx_report_all(const MxReport *r);
void mx_report_monitor(const MxReport *r, bool head);
void mx_report_topology(const MxReport *r);
void mx_report_bus(const KmdInfo *info, char *text, size_t size);
/* "available", "in use", or why it could not be asked */
const char *mx_report_state(const MxReportDevice *d);

#endif
