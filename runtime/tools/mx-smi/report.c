/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

void mx_report_bus(const KmdInfo *info, char *text, size_t size)
{
    if (info->simulated) {
        snprintf(text, size, "simulated");
    } else {
        snprintf(text, size, "%04x:%02x:%02x.%x", info->pci_domain,
                 info->pci_bus, info->pci_device, info->pci_function);
    }
}

void mx_report_uuid(const KmdInfo *info, char text[37])
{
    for (unsigned i = 0; i < 16; i++) {
        text += sprintf(text, "%s%02x",
                        i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                        info->uuid[i]);
    }
}

static void version(const KmdInfo *info, char *text, size_t size)
{
    snprintf(text, size, "%u.%u.%u", info->fw_version >> 16,
             info->fw_version >> 8 & 0xff, info->fw_version & 0xff);
}

/* ---- JSON */

static void json_string(const char *name, const char *text, const char *behind)
{
    printf("      \"%s\": \"", name);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\') {
            printf("\\%c", c);
        } else if (c < ' ' || c >= 0x7f) {
            printf("\\u%04x", c);
        } else {
            putchar(c);
        }
    }
    printf("\"%s\n", behind);
}

static void json_number(const char *name, uint64_t value)
{
    printf("      \"%s\": %" PRIu64 ",\n", name, value);
}

static void json_modelled(const char *name, unsigned value, const char *behind)
{
    printf("      \"%s\": {\"value\": %u, \"modelled\": true}%s\n", name, value,
           behind);
}

static void json_device(const MxReportDevice *d)
{
    char text[64];

    json_string("state", "available", ",");
    json_string("name", d->info.name, ",");
    mx_report_uuid(&d->info, text);
    json_string("uuid", text, ",");
    mx_report_bus(&d->info, text, sizeof(text));
    json_string("bus", text, ",");
    version(&d->info, text, sizeof(text));
    json_string("firmware", text, ",");
    json_string("firmware_build", d->info.fw_build, ",");
    json_number("memory_total_bytes", d->total);
    json_number("memory_used_bytes", d->used);
    json_number("vram_bytes", d->info.vram_size);
    json_number("compute_units", d->info.compute_units);
    json_number("copy_engines", d->info.copy_engines);
    json_number("queues", d->info.queues);
    json_number("watchdog_ms", d->info.watchdog_ms);
    json_modelled("clock_mhz", MX_MODELLED_CLOCK_MHZ, ",");
    json_modelled("temperature_c", MX_MODELLED_TEMPERATURE_C, ",");
    json_modelled("power_w", MX_MODELLED_POWER_W, "");
}

void mx_report_json(const char *back_end, const MxReportDevice *devices,
                    unsigned count)
{
    printf("{\n  \"version\": \"%s\",\n  \"driver\": \"%s\",\n"
           "  \"devices\": [", MX_VERSION, back_end);
    for (unsigned i = 0; i < count; i++) {
        printf("%s\n    {\n      \"index\": %u,\n", i ? "," : "", i);
        if (devices[i].dev) {
            json_device(&devices[i]);
        } else {
            json_string("state", devices[i].reason, "");
        }
        printf("    }");
    }
    printf("\n  ]\n}\n");
}

/* ---- CSV, as RFC 4180 has it */

static void csv_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"') {
            putchar('"');
        }
        putchar(*text);
    }
    printf("\",");
}

void mx_report_csv(const MxReportDevice *devices, unsigned count)
{
    printf("index,state,name,uuid,bus,firmware,memory_used_bytes,"
           "memory_total_bytes,compute_units,clock_mhz_modelled,"
           "temperature_c_modelled,power_w_modelled\n");
    for (unsigned i = 0; i < count; i++) {
        const MxReportDevice *d = &devices[i];
        char text[64];

        printf("%u,", i);
        if (!d->dev) {
            csv_string(d->reason);
            printf(",,,,,,,,,\n");
            continue;
        }
        csv_string("available");
        csv_string(d->info.name);
        mx_report_uuid(&d->info, text);
        csv_string(text);
        mx_report_bus(&d->info, text, sizeof(text));
        csv_string(text);
        version(&d->info, text, sizeof(text));
        csv_string(text);
        printf("%" PRIu64 ",%" PRIu64 ",%u,%u,%u,%u\n", d->used, d->total,
               d->info.compute_units, MX_MODELLED_CLOCK_MHZ,
               MX_MODELLED_TEMPERATURE_C, MX_MODELLED_POWER_W);
    }
}

/* ---- topology */

static const char *relation(const KmdOps *ops, const MxReportDevice *a,
                            const MxReportDevice *b)
{
    if (a == b) {
        return "X";
    }
    if (!a->dev || !b->dev) {
        return "?";
    }
    return ops->reaches && ops->reaches(a->dev, b->dev) ? "PEER" : "HOST";
}

void mx_report_topology(const KmdOps *ops, const MxReportDevice *devices,
                        unsigned count)
{
    printf("%-6s", "");
    for (unsigned i = 0; i < count; i++) {
        printf(" GPU%-3u", i);
    }
    printf("\n");
    for (unsigned i = 0; i < count; i++) {
        printf("GPU%-3u", i);
        for (unsigned k = 0; k < count; k++) {
            printf(" %-6s", relation(ops, &devices[i], &devices[k]));
        }
        printf("\n");
    }
    printf("\nX: itself; PEER: reaches its memory; HOST: copies go through the "
           "host's;\n?: in use by another process\n");
}
