/* SPDX-License-Identifier: MIT */
/* The fields of a device and of a process, written once for JSON and CSV. */
#ifndef MX_SMI_FIELDS_H
#define MX_SMI_FIELDS_H

#include "report.h"

#define MX_FIELDS 40

typedef enum MxKind {
    MX_UNKNOWN, /* null, or an empty column */
    MX_STRING,
    MX_NUMBER,
    MX_PERCENT,
    MX_MODELLED, /* a number that is a constant: marked */
    MX_TOPOLOGY, /* an array of strings, in CSV with spaces between */
    MX_PIDS,     /* of numbers, likewise */
} MxKind;

typedef struct MxField {
    const char *name;
    MxKind kind;
    bool modelled; /* the name says so in CSV, whether known or not */
    char text[64];
    uint64_t number;
    double percent;
} MxField;

unsigned mx_fields_device(const MxReport *r, const MxReportDevice *d,
                          MxField field[MX_FIELDS]);
unsigned mx_fields_process(const MxClient *c, MxField field[MX_FIELDS]);
/* The relation of two devices, "PEER" for instance. */
const char *mx_fields_reach(const MxReport *r, unsigned a, unsigned b);

#endif
