/* SPDX-License-Identifier: MIT */
/*
 * mx-isa-run: RISC-V ISA test programs on the cores of the device. A program
 * is linked at its physical address, starts in machine mode and ends by writing
 * tohost: 1 when it passed, (number of the failed test) << 1 | 1 otherwise.
 */
#include "isa_run.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT   10000000
#define DEFAULT_SECONDS 30

enum { EXIT_USAGE = 2, EXIT_STOPPED = 3 };

static const char usage[] =
    "usage: mx-isa-run [options] ELF\n"
    "Runs a RISC-V ISA test program; exit status 0 when it passes, 1 when it\n"
    "fails, 2 when it cannot be run, 3 when it came to no end.\n"
    "  --core simt|mcu         ELF64: simt (a warp of the compute units),\n"
    "                          ELF32: mcu (the microcontroller)\n"
    "  --lanes 1|64            lanes of the warp that run it (64)\n"
    "  --skew SEED             lanes start one after another, in random sets\n"
    "  --interpreter base|avx2|avx512   build of simt to use (the best)\n"
    "  --max-instructions N    give up after so many (10000000)\n"
    "  --timeout SECONDS       and after so long (30)\n"
    "  --quiet                 print nothing when it passes\n";

typedef struct Arguments {
    IsaOptions options;
    const char *core, *path;
    bool quiet;
} Arguments;

static bool number(const char *text, uint64_t *value)
{
    char *end;

    *value = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && !*end;
}

static bool parse(int argc, char **argv, Arguments *a)
{
    static const struct option longs[] = {
        {"core", required_argument, NULL, 'c'},
        {"lanes", required_argument, NULL, 'l'},
        {"skew", required_argument, NULL, 's'},
        {"interpreter", required_argument, NULL, 'i'},
        {"max-instructions", required_argument, NULL, 'm'},
        {"timeout", required_argument, NULL, 't'},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    uint64_t value;
    int c;

    *a = (Arguments){.options = {.lanes = ISA_LANES,
                                 .max_instructions = DEFAULT_LIMIT,
                                 .seconds = DEFAULT_SECONDS}};
    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        switch (c) {
        case 'c':
            a->core = optarg;
            if (strcmp(optarg, "simt") != 0 && strcmp(optarg, "mcu") != 0) {
                return false;
            }
            break;
        case 'l':
            if (!number(optarg, &value) ||
                (value != 1 && value != ISA_LANES)) {
                return false;
            }
            a->options.lanes = (unsigned)value;
            break;
        case 's':
            if (!number(optarg, &value)) {
                return false;
            }
            a->options.skew = true;
            a->options.seed = (uint32_t)value;
            break;
        case 'i':
            a->options.interpreter = optarg;
            break;
        case 'm':
            if (!number(optarg, &a->options.max_instructions)) {
                return false;
            }
            break;
        case 't':
            if (!number(optarg, &value) || value > UINT32_MAX) {
                return false;
            }
            a->options.seconds = (unsigned)value;
            break;
        case 'q':
            a->quiet = true;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            return false;
        }
    }
    a->path = argv[optind];
    return optind + 1 == argc;
}

static int report(const Arguments *a, const char *where, const IsaResult *r)
{
    switch (r->status) {
    case ISA_PASS:
        if (!a->quiet) {
            printf("%s: pass (%s, %" PRIu64 " instructions)\n", a->path, where,
                   r->instructions);
        }
        return 0;
    case ISA_FAIL:
        if (r->tohost & 1) {
            printf("%s: FAIL (%s): test %" PRIu64 " failed", a->path, where,
                   r->tohost >> 1);
        } else {
            printf("%s: FAIL (%s): no answer and no call", a->path, where);
        }
        printf(", lane %u, tohost 0x%" PRIx64 "%s%s\n", r->lane, r->tohost,
               *r->text ? "; " : "", r->text);
        return 1;
    case ISA_LIMIT:
        printf("%s: NO END (%s): lane %u gave no answer in %" PRIu64
               " instructions (limits: %" PRIu64 " instructions, %u s)\n",
               a->path, where, r->lane, r->instructions,
               a->options.max_instructions, a->options.seconds);
        return EXIT_STOPPED;
    default:
        printf("%s: STOPPED (%s): %s\n", a->path, where, r->text);
        return EXIT_STOPPED;
    }
}

int main(int argc, char **argv)
{
    Arguments a;
    IsaImage image = {0};
    IsaResult r;
    char where[32];
    bool mcu;

    if (!parse(argc, argv, &a)) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    if (!isa_image_load(&image, a.path)) {
        return EXIT_USAGE;
    }
    mcu = a.core ? strcmp(a.core, "mcu") == 0 : !image.elf64;
    if (mcu == image.elf64) {
        fprintf(stderr, "mx-isa-run: %s: %s programs run on the %s\n", a.path,
                image.elf64 ? "64-bit" : "32-bit",
                image.elf64 ? "compute units (simt)" : "mcu");
        free(image.bytes);
        return EXIT_USAGE;
    }
    if (mcu) {
        r = isa_run_mcu(&image, &a.options);
        snprintf(where, sizeof(where), "mcu");
    } else {
        r = isa_run_simt(&image, &a.options);
        snprintf(where, sizeof(where), "simt, %u lane%s%s", a.options.lanes,
                 a.options.lanes > 1 ? "s" : "", a.options.skew ? ", skew" : "");
    }
    free(image.bytes);
    return report(&a, where, &r);
}
