/* SPDX-License-Identifier: MIT */
/* For people. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fields.h"

#define RULE "+-----+---------------------------+--------------+"             \
             "---------------------+----------+-------+----------+\n"
#define MIB(bytes) ((unsigned long long)(bytes) >> 20)

void mx_report_bus(const KmdInfo *info, char *text, size_t size)
{
    if (info->simulated) {
        snprintf(text, size, "%s", MX_SIMULATED);
    } else {
        snprintf(text, size, "%04x:%02x:%02x.%x", info->pci_domain & 0xffff,
                 info->pci_bus & 0xff, info->pci_device & 0x1f,
                 info->pci_function & 7);
    }
}

const char *mx_report_state(const MxReportDevice *d)
{
    if (d->reason) {
        return d->reason;
    }
    return d->users ? "in use" : "available";
}

/* A process may call itself anything: nothing of it gets at the terminal. */
static void printable(const char *name, char *text, size_t size)
{
    size_t n = 0;

    for (; *name && n + 1 < size; name++) {
        text[n++] = isprint((unsigned char)*name) ? *name : '?';
    }
    text[n] = '\0';
}

/* A field by name as text, "-" where it is not known. */
static const char *value(const MxField *fields, unsigned n, const char *name,
                         char *text, size_t size)
{
    snprintf(text, size, "-");
    for (unsigned i = 0; i < n; i++) {
        const MxField *f = &fields[i];

        if (strcmp(f->name, name)) {
            continue;
        }
        if (f->kind == MX_STRING) {
            return f->text;
        } else if (f->kind == MX_NUMBER || f->kind == MX_MODELLED) {
            snprintf(text, size, "%" PRIu64, f->number);
        } else if (f->kind == MX_PERCENT) {
            snprintf(text, size, "%.0f%%", f->percent);
        }
    }
    return text;
}

static void memory_text(const MxReportDevice *d, char *text, size_t size)
{
    char used[24] = "-", total[24] = "-";

    if (d->has_used) {
        snprintf(used, sizeof(used), "%llu", MIB(d->used));
    }
    if (d->known) {
        snprintf(total, sizeof(total), "%llu", MIB(d->total));
    }
    snprintf(text, size, "%s / %s MiB", used, total);
}

/* ---- the table */

static void table_row(const MxReport *r, const MxReportDevice *d)
{
    char memory[64], a[24], b[24], c[24], e[24];
    MxField f[MX_FIELDS];
    unsigned n = mx_fields_device(r, d, f);

    if (!d->known && !d->bus[0]) {
        printf("| %-3u | %-92s |\n", d->index, mx_report_state(d));
        return;
    }
    memory_text(d, memory, sizeof(memory));
    printf("| %-3u | %-25.25s | %-12s | %-19s | %-8s | %-5s | %-8s |\n",
           d->index, d->known ? d->info.name : mx_report_state(d),
           value(f, n, "bus", a, sizeof(a)), memory,
           value(f, n, "compute_units", b, sizeof(b)),
           value(f, n, "utilization_percent", c, sizeof(c)),
           value(f, n, "firmware", e, sizeof(e)));
}

void mx_report_table(const MxReport *r)
{
    printf("mx-smi %s, devices through %s\n" RULE, MX_VERSION, r->back_end);
    printf("| %-3s | %-25s | %-12s | %-19s | %-8s | %-5s | %-8s |\n" RULE,
           "GPU", "Name", "Bus", "Memory used / total", "Units", "Util",
           "Firmware");
    for (unsigned i = 0; i < r->count; i++) {
        table_row(r, &r->device[i]);
    }
    printf(RULE);
    if (r->procs->count) {
        printf("\n");
        mx_report_processes(r);
    }
}

void mx_report_processes(const MxReport *r)
{
    printf("%-12s %10s  %-6s %12s  %s\n", "Bus", "PID", "Driver", "Memory",
           "Process");
    for (unsigned i = 0; i < r->procs->count; i++) {
        const MxClient *c = &r->procs->client[i];
        char memory[32] = "-", name[MX_NAME];

        if (c->has_memory) {
            snprintf(memory, sizeof(memory), "%llu MiB", MIB(c->memory));
        }
        printable(c->name, name, sizeof(name));
        printf("%-12s %10u  %-6s %12s  %s\n", c->bus, c->pid, c->driver,
               memory, name);
    }
    if (!r->procs->count) {
        printf("no process that this user may see has a device\n");
    }
}

void mx_report_list(const MxReport *r)
{
    char text[64];

    for (unsigned i = 0; i < r->count; i++) {
        MxField f[MX_FIELDS];
        unsigned n = mx_fields_device(r, &r->device[i], f);

        if (r->device[i].known) {
            printf("GPU %u: %s (UUID: %s)\n", r->device[i].index,
                   r->device[i].info.name,
                   value(f, n, "uuid", text, sizeof(text)));
        } else {
            printf("GPU %u: %s\n", r->device[i].index,
                   mx_report_state(&r->device[i]));
        }
    }
}

/* ---- all about them */

static void all_info(const MxReportDevice *d)
{
    const KmdInfo *info = &d->info;

    printf("    Of a unit            %u threads, %u blocks, %u registers, "
           "%u KiB shared memory\n", info->cu_threads, info->cu_blocks,
           info->cu_registers, info->cu_shared >> 10);
    printf("    Private memory       %llu KiB a unit\n",
           (unsigned long long)info->cu_private >> 10);
    printf("    Warp, block          %u lanes, %u threads\n", info->warp_size,
           info->block_threads);
    printf("    Copy engines         %u\n", info->copy_engines);
    printf("    Queues               %u, %u priorities, %u vectors\n",
           info->queues, info->priorities, info->vectors);
    if (info->watchdog_ms) {
        printf("    Watchdog             %u ms\n", info->watchdog_ms);
    } else {
        printf("    Watchdog             none\n");
    }
    printf("    Clock                %u MHz (modelled)\n"
           "    Temperature          %u C (modelled)\n"
           "    Power                %u W (modelled)\n",
           MX_MODELLED_CLOCK_MHZ, MX_MODELLED_TEMPERATURE_C,
           MX_MODELLED_POWER_W);
}

static void all_use(const MxReport *r, const MxReportDevice *d)
{
    const MxClient *c;
    char name[MX_NAME];

    if (d->has_use) {
        printf("    Utilisation          %.0f%%", d->use.most);
        for (unsigned i = 0; i < d->use.engines; i++) {
            printable(d->use.engine[i].name, name, sizeof(name));
            printf(", %s %.0f%%", name, d->use.engine[i].percent);
        }
        printf("\n");
    } else {
        printf("    Utilisation          not known\n");
    }
    for (unsigned i = 0; d->bus[0] && (c = mx_procs_of(r->procs, d->bus, i));
         i++) {
        printable(c->name, name, sizeof(name));
        printf("    Process              %u %s\n", c->pid, name);
    }
}

void mx_report_all(const MxReport *r)
{
    char text[64];

    for (unsigned i = 0; i < r->count; i++) {
        const MxReportDevice *d = &r->device[i];
        MxField f[MX_FIELDS];
        unsigned n = mx_fields_device(r, d, f);

        printf("GPU %u\n    State                %s\n", d->index,
               mx_report_state(d));
        printf("    Bus                  %s\n",
               value(f, n, "bus", text, sizeof(text)));
        all_use(r, d);
        if (!d->known) {
            continue;
        }
        printf("    Name                 %s\n    UUID                 %s\n",
               d->info.name, value(f, n, "uuid", text, sizeof(text)));
        printf("    Firmware             %s %s\n",
               value(f, n, "firmware", text, sizeof(text)), d->info.fw_build);
        printf("    Memory               %llu MiB, %llu MiB for programs",
               MIB(d->info.vram_size), MIB(d->total));
        if (d->has_used && d->used <= d->total) {
            printf(", %llu MiB free", MIB(d->total - d->used));
        }
        printf("\n    Compute units        %u\n", d->info.compute_units);
        all_info(d);
    }
}

/* ---- lines and topology */

void mx_report_monitor(const MxReport *r, bool head)
{
    char a[24], b[24], used[24];

    if (head) {
        printf("# clock, temperature and power are modelled constants\n"
               "# gpu  compute     copy   mem MiB  procs   MHz    C    W\n");
    }
    for (unsigned i = 0; i < r->count; i++) {
        const MxReportDevice *d = &r->device[i];
        MxField f[MX_FIELDS];
        unsigned n = mx_fields_device(r, d, f);

        snprintf(used, sizeof(used), "-");
        if (d->has_used) {
            snprintf(used, sizeof(used), "%llu", MIB(d->used));
        }
        printf("%5u %8s %8s %9s %6u %5u %4u %4u\n", d->index,
               value(f, n, "compute_percent", a, sizeof(a)),
               value(f, n, "copy_percent", b, sizeof(b)), used, d->users,
               MX_MODELLED_CLOCK_MHZ, MX_MODELLED_TEMPERATURE_C,
               MX_MODELLED_POWER_W);
    }
}

void mx_report_topology(const MxReport *r)
{
    printf("%-6s", "");
    for (unsigned i = 0; i < r->count; i++) {
        printf(" GPU%-3u", r->device[i].index);
    }
    printf("\n");
    for (unsigned i = 0; i < r->count; i++) {
        printf("GPU%-3u", r->device[i].index);
        for (unsigned k = 0; k < r->count; k++) {
            printf(" %-6s", mx_fields_reach(r, i, k));
        }
        printf("\n");
    }
    printf("\nX: itself; PEER: reaches its memory; HOST: copies go through the "
           "host's;\n?: in use by another process\n");
}
