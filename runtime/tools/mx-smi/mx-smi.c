/* SPDX-License-Identifier: MIT */
/*
 * mx-smi: the devices of this machine, as a driver finds them. A device belongs
 * to one process at a time: of one that is in use only that is said.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "kmd/kmd.h"

static void print_uuid(const uint8_t *uuid)
{
    for (unsigned i = 0; i < 16; i++) {
        printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
               uuid[i]);
    }
}

static void print_address(const KmdInfo *info)
{
    if (info->simulated) {
        printf("simulated");
    } else {
        printf("%04x:%02x:%02x.%x", info->pci_domain, info->pci_bus,
               info->pci_device, info->pci_function);
    }
}

/* A line of "mx-smi -L". */
static void print_short(unsigned index, const KmdInfo *info)
{
    printf("GPU %u: %s (UUID: ", index, info->name);
    print_uuid(info->uuid);
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
    if (info->simulated) {
        printf("%-12s", "simulated");
    } else {
        print_address(info);
    }
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
    print_uuid(info->uuid);
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

typedef enum Style { TABLE, LIST, ALL } Style;

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
    }
    ops->close(dev);
    return 0;
}

static void usage(FILE *out)
{
    fprintf(out, "usage: mx-smi [-L | -q]\n"
            "Devices of this machine; -L: one line each, -q: all about them.\n"
            "MXGPU_DEVICE chooses how they are reached, MXGPU_LOG=error tells "
            "why not.\n");
}

int main(int argc, char **argv)
{
    static const struct option long_options[] = {
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    const KmdOps *ops;
    Style style = TABLE;
    unsigned count = 0;
    int option, err, status = 0;

    while ((option = getopt_long(argc, argv, "Lqh", long_options,
                                 NULL)) != -1) {
        switch (option) {
        case 'L':
            style = LIST;
            break;
        case 'q':
            style = ALL;
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
