/* SPDX-License-Identifier: MIT */
/*
 * mx-smi: the devices of this machine, as a driver finds them. A device belongs
 * to one process at a time: of one that is in use only that is said.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kmd/kmd.h"
#include "report.h"

static void print_uuid(const KmdInfo *info)
{
    char text[37];

    mx_report_uuid(info, text);
    printf("%s", text);
}

static void print_address(const KmdInfo *info)
{
    char text[32];

    mx_report_bus(info, text, sizeof(text));
    printf("%-12s", text);
}

/* A line of "mx-smi -L". */
static void print_short(unsigned index, const KmdInfo *info)
{
    printf("GPU %u: %s (UUID: ", index, info->name);
    print_uuid(info);
    printf(")\n");
}

#define RULE "+-----+---------------------------+--------------+"             \
             "---------------------+----------+----------+\n"

static void print_head(const char *back_end)
{
    printf("mx-smi %s, devices through %s\n", MX_VERSION, back_end);
    printf(RULE);
    printf("| %-3s | %-25s | %-12s | %-19s | %-8s | %-8s |\n", "GPU", "Name",
           "Bus", "Memory used / total", "Units", "Firmware");
    printf(RULE);
}

static void print_row(unsigned index, const KmdOps *ops, KmdDevice *dev,
                      const KmdInfo *info)
{
    uint64_t unused = 0, total = 0;
    char text[64];

    ops->memory(dev, &unused, &total);
    printf("| %-3u | %-25.25s | ", index, info->name);
    print_address(info);
    snprintf(text, sizeof(text), "%llu / %llu MiB",
             (unsigned long long)(total - unused) >> 20,
             (unsigned long long)total >> 20);
    printf(" | %-19s | %-8u | ", text, info->compute_units);
    snprintf(text, sizeof(text), "%u.%u.%u", info->fw_version >> 16,
             info->fw_version >> 8 & 0xff, info->fw_version & 0xff);
    printf("%-8s |\n", text);
}

static void print_all(unsigned index, const KmdOps *ops, KmdDevice *dev,
                      const KmdInfo *info)
{
    uint64_t unused = 0, total = 0;

    ops->memory(dev, &unused, &total);
    printf("GPU %u\n", index);
    printf("    Name                 %s\n    UUID                 ",
           info->name);
    print_uuid(info);
    printf("\n    Bus                  ");
    print_address(info);
    printf("\n    Firmware             %u.%u.%u %s\n",
           info->fw_version >> 16, info->fw_version >> 8 & 0xff,
           info->fw_version & 0xff, info->fw_build);
    printf("    Memory               %llu MiB, %llu MiB for programs, "
           "%llu MiB free\n",
           (unsigned long long)info->vram_size >> 20,
           (unsigned long long)total >> 20, (unsigned long long)unused >> 20);
    printf("    Compute units        %u\n", info->compute_units);
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

static const char *reason(int err)
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

typedef enum Style { TABLE, LIST, ALL, JSON, CSV, TOPOLOGY } Style;

static int show(const KmdOps *ops, unsigned index, Style style)
{
    KmdDevice *dev;
    KmdInfo info;
    int err = ops->open(index, &dev);

    if (err) {
        if (style == TABLE) {
            printf("| %-3u | %-89s |\n", index, reason(err));
        } else {
            printf("GPU %u: %s\n", index, reason(err));
        }
        return err == -EBUSY ? 0 : err;
    }
    ops->info(dev, &info);
    switch (style) {
    case TABLE:
        print_row(index, ops, dev, &info);
        break;
    case LIST:
        print_short(index, &info);
        break;
    case ALL:
        print_all(index, ops, dev, &info);
        break;
    default:
        break; /* report() */
    }
    ops->close(dev);
    return 0;
}

/* All of them at once, for they may have something to do with each other. */
static int report(const KmdOps *ops, unsigned count, Style style)
{
    MxReportDevice *devices = calloc(count, sizeof(*devices));
    int status = 0;

    if (!devices) {
        fprintf(stderr, "mx-smi: out of memory\n");
        return 1;
    }
    for (unsigned i = 0; i < count; i++) {
        MxReportDevice *d = &devices[i];
        uint64_t unused = 0;
        int err = ops->open(i, &d->dev);

        if (err) {
            d->dev = NULL;
            d->reason = reason(err);
            status |= err != -EBUSY;
            continue;
        }
        ops->info(d->dev, &d->info);
        ops->memory(d->dev, &unused, &d->total);
        d->used = d->total - unused;
    }
    if (style == JSON) {
        mx_report_json(ops->name, devices, count);
    } else if (style == CSV) {
        mx_report_csv(devices, count);
    } else {
        mx_report_topology(ops, devices, count);
    }
    for (unsigned i = 0; i < count; i++) {
        if (devices[i].dev) {
            ops->close(devices[i].dev);
        }
    }
    free(devices);
    return status;
}

static void usage(FILE *out)
{
    fprintf(out, "usage: mx-smi [-L | -q | -t | --json | --csv]\n"
            "Devices of this machine; -L: one line each, -q: all about them, "
            "-t: who\nreaches whom, --json and --csv: for programs.\n"
            "MXGPU_DEVICE chooses how they are reached, MXGPU_LOG=error tells "
            "why not.\n");
}

int main(int argc, char **argv)
{
    static const struct option long_options[] = {
        { "help", no_argument, NULL, 'h' },
        { "json", no_argument, NULL, 'j' },
        { "csv", no_argument, NULL, 'c' },
        { "topology", no_argument, NULL, 't' },
        { 0 },
    };
    const KmdOps *ops;
    Style style = TABLE;
    unsigned count = 0;
    int option, err, status = 0;

    while ((option = getopt_long(argc, argv, "Lqth", long_options,
                                 NULL)) != -1) {
        switch (option) {
        case 'L':
            style = LIST;
            break;
        case 'q':
            style = ALL;
            break;
        case 't':
            style = TOPOLOGY;
            break;
        case 'j':
            style = JSON;
            break;
        case 'c':
            style = CSV;
            break;
        case 'h':
            usage(stdout);
            return 0;
        default:
            usage(stderr);
            return 2;
        }
    }
    if (optind != argc) {
        usage(stderr);
        return 2;
    }
    err = kmd_select(&ops);
    if (!err) {
        err = ops->count(&count);
    }
    if (err || !count) {
        fprintf(stderr, "mx-smi: no device: %s\n",
                err ? reason(err) : "none is present");
        return 1;
    }
    if (style >= JSON) {
        return report(ops, count, style);
    }
    if (style == TABLE) {
        print_head(ops->name);
    }
    for (unsigned i = 0; i < count; i++) {
        if (show(ops, i, style)) {
            status = 1;
        }
    }
    if (style == TABLE) {
        printf(RULE);
    }
    return status;
}
