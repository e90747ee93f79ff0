/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "fields.h"

static MxField *next(MxField *list, unsigned *n, const char *name, bool known,
                     MxKind kind)
{
    MxField *f = &list[(*n)++];

    *f = (MxField){ .name = name, .kind = known ? kind : MX_UNKNOWN };
    f->modelled = kind == MX_MODELLED;
    return f;
}

static void string(MxField *list, unsigned *n, const char *name, bool known,
                   const char *text)
{
    snprintf(next(list, n, name, known, MX_STRING)->text,
             sizeof(list->text), "%s", text);
}

static void number(MxField *list, unsigned *n, const char *name, bool known,
                   uint64_t value)
{
    next(list, n, name, known, MX_NUMBER)->number = value;
}

static void modelled(MxField *list, unsigned *n, const char *name, bool known,
                     unsigned value)
{
    next(list, n, name, known, MX_MODELLED)->number = value;
}

static void percent(MxField *list, unsigned *n, const char *name, bool known,
                    double value)
{
    next(list, n, name, known, MX_PERCENT)->percent = value;
}

/* Of an engine by name: 0 when nobody has used it, for then no client names
 * it. */
static double engine_use(const MxReportDevice *d, const char *name)
{
    for (unsigned i = 0; i < d->use.engines; i++) {
        if (!strcmp(d->use.engine[i].name, name)) {
            return d->use.engine[i].percent;
        }
    }
    return 0;
}

static void uuid_text(const KmdInfo *info, char text[37])
{
    for (unsigned i = 0; i < 16; i++) {
        text += sprintf(text, "%s%02x",
                        i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                        info->uuid[i]);
    }
}

unsigned mx_fields_device(const MxReport *r, const MxReportDevice *d,
                          MxField list[MX_FIELDS])
{
    const KmdInfo *info = &d->info;
    char uuid[37], version[24];
    unsigned n = 0;

    uuid_text(info, uuid);
    snprintf(version, sizeof(version), "%u.%u.%u", info->fw_version >> 16,
             info->fw_version >> 8 & 0xff, info->fw_version & 0xff);
    number(list, &n, "index", true, d->index);
    string(list, &n, "state", true, mx_report_state(d));
    string(list, &n, "name", d->known, info->name);
    string(list, &n, "uuid", d->known, uuid);
    string(list, &n, "bus", d->bus[0], d->bus);
    string(list, &n, "driver", true, r->back_end);
    string(list, &n, "firmware", d->known, version);
    string(list, &n, "firmware_build", d->known, info->fw_build);
    number(list, &n, "memory_used_bytes", d->has_used, d->used);
    number(list, &n, "memory_total_bytes", d->known, d->total);
    number(list, &n, "vram_bytes", d->known, info->vram_size);
    percent(list, &n, "utilization_percent", d->has_use, d->use.most);
    percent(list, &n, "compute_percent", d->has_use,
            engine_use(d, "compute"));
    percent(list, &n, "copy_percent", d->has_use, engine_use(d, "copy"));
    number(list, &n, "compute_units", d->known, info->compute_units);
    number(list, &n, "copy_engines", d->known, info->copy_engines);
    number(list, &n, "queues", d->known, info->queues);
    number(list, &n, "watchdog_ms", d->known, info->watchdog_ms);
    modelled(list, &n, "clock_mhz", d->known, MX_MODELLED_CLOCK_MHZ);
    modelled(list, &n, "temperature_c", d->known, MX_MODELLED_TEMPERATURE_C);
    modelled(list, &n, "power_w", d->known, MX_MODELLED_POWER_W);
    next(list, &n, "topology", true, MX_TOPOLOGY);
    next(list, &n, "pids", d->bus[0], MX_PIDS);
    return n;
}

unsigned mx_fields_process(const MxClient *c, MxField list[MX_FIELDS])
{
    unsigned n = 0;

    string(list, &n, "bus", true, c->bus);
    number(list, &n, "pid", true, c->pid);
    string(list, &n, "name", true, c->name);
    string(list, &n, "driver", true, c->driver);
    number(list, &n, "memory_used_bytes", c->has_memory, c->memory);
    return n;
}

const char *mx_fields_reach(const MxReport *r, unsigned a, unsigned b)
{
    switch (r->reach[a * r->count + b]) {
    case 'X':
        return "X";
    case 'P':
        return "PEER";
    case 'H':
        return "HOST";
    default:
        return "?";
    }
}
