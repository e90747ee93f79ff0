/* SPDX-License-Identifier: MIT */
/*
 * Who has which device, as /proc tells: clients of the DRM driver by the keys
 * of drm-usage-stats in fdinfo, users of VFIO by the group that they have open,
 * and programs with simulated devices by the simulator that they have loaded.
 * A process that this one may not look into is not seen.
 */
#ifndef MX_SMI_PROCS_H
#define MX_SMI_PROCS_H

#include <stdbool.h>
#include <stdint.h>

#define MX_ENGINES  8
#define MX_NAME     24
#define MX_SIMULATED "simulated" /* in place of a bus address */

typedef struct MxEngine {
    char name[MX_NAME];
    uint64_t busy_ns;
    unsigned capacity; /* so many of that name */
} MxEngine;

typedef struct MxClient {
    unsigned pid;
    char name[MX_NAME];
    char bus[16];       /* 0000:01:00.0, or MX_SIMULATED */
    const char *driver; /* "mxgpu", "vfio", "sim" */
    uint64_t id;        /* of the DRM driver: tells clients apart */
    bool has_memory;
    uint64_t memory;    /* bytes of VRAM */
    MxEngine engine[MX_ENGINES];
    unsigned engines;
} MxClient;

typedef struct MxProcs {
    uint64_t at_ns; /* CLOCK_MONOTONIC */
    MxClient *client;
    unsigned count;
} MxProcs;

/* What the engines of a device did between two moments. */
typedef struct MxUse {
    struct {
        char name[MX_NAME];
        double percent;
    } engine[MX_ENGINES];
    unsigned engines;
    double most; /* percent of the busiest */
} MxUse;

/* root: "" or a folder with proc/ and sys/. 0 or -errno; 0 also when there is
 * no proc/, with no client then. */
int mx_procs_scan(const char *root, MxProcs *procs);
void mx_procs_free(MxProcs *procs);
/* Reads the lines of one fdinfo; false: not one of this driver. */
bool mx_procs_parse(const char *text, MxClient *client);
/* A client that came after "before" worked since then. */
void mx_procs_use(const MxProcs *before, const MxProcs *now, const char *bus,
                  MxUse *use);
/* Memory of all clients of a device; false when none tells. */
bool mx_procs_memory(const MxProcs *procs, const char *bus, uint64_t *bytes);
/* The n-th process that has a device; NULL behind the last, and for
 * MX_SIMULATED, since each program's are its own. */
const MxClient *mx_procs_of(const MxProcs *procs, const char *bus, unsigned n);

#endif
