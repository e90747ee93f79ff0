/* SPDX-License-Identifier: MIT */
/* mx-smi: the devices of this machine, and who uses them. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "devices.h"
#include "kmd/vfio_priv.h"

#define CLEAR "\033[H\033[J"

typedef enum Style {
    TABLE, LIST, ALL, JSON, CSV, TOPOLOGY, PROCESSES, MONITOR, RESET,
} Style;

typedef struct Options {
    Style style;
    bool processes;     /* also with --csv */
    int only;           /* a device; negative: all */
    double seconds;     /* between looks; 0: one look */
    unsigned long count; /* of looks; 0: without an end */
    const char *root;
} Options;

static void usage(FILE *out)
{
    fprintf(out,
            "usage: mx-smi [options]\n"
            "Devices of this machine, and who uses them.\n\n"
            "  -L              one line each\n"
            "  -q              all about them\n"
            "  -t, --topology  who reaches whose memory; also: topo -m\n"
            "  -p, --processes who has which device; with --csv as CSV\n"
            "  --json, --csv   for programs\n"
            "  --dmon          a line for each device, again and again\n"
            "  --top           the table, again and again\n"
            "  -l, --loop S    what the other options say, every S seconds\n"
            "  -c, --count N   ends after N looks\n"
            "  -i, --index N   this device only\n"
            "  -r, --reset     resets devices that are not in use\n"
            "  --root DIR      DIR/proc and DIR/sys instead of this "
            "machine's\n\n"
            "MXGPU_DEVICE chooses how they are reached, MXGPU_LOG=error tells "
            "why not.\n");
}

/* A number of at least "least"; false when text is none. */
static bool number(const char *text, double least, double most, double *value)
{
    char *end;

    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value) && *value >= least &&
           *value <= most;
}

static bool whole(const char *text, double least, double most, double *value)
{
    return number(text, least, most, value) && *value == floor(*value);
}

static const char short_options[] = "Lqtpl:c:i:rh";
static const struct option long_options[] = {
    { "help", no_argument, NULL, 'h' },
    { "json", no_argument, NULL, 'J' },
    { "csv", no_argument, NULL, 'C' },
    { "topology", no_argument, NULL, 't' },
    { "processes", no_argument, NULL, 'p' },
    { "dmon", no_argument, NULL, 'D' },
    { "top", no_argument, NULL, 'T' },
    { "loop", required_argument, NULL, 'l' },
    { "count", required_argument, NULL, 'c' },
    { "index", required_argument, NULL, 'i' },
    { "reset", no_argument, NULL, 'r' },
    { "root", required_argument, NULL, 'R' },
    { 0 },
};

/* 'J' and the like; false: not an option, or not its value. */
static bool take(int option, Options *o)
{
    static const struct {
        char option;
        Style style;
    } styles[] = {
        { 'L', LIST }, { 'q', ALL }, { 't', TOPOLOGY }, { 'J', JSON },
        { 'C', CSV }, { 'D', MONITOR }, { 'T', TABLE }, { 'r', RESET },
    };
    double value = 0;

    switch (option) {
    case 'p':
        o->processes = true;
        o->style = o->style == TABLE ? PROCESSES : o->style;
        return true;
    case 'l':
        return number(optarg, 0.01, 86400, &o->seconds);
    case 'c':
        if (!whole(optarg, 1, 1e9, &value)) {
            return false;
        }
        o->count = (unsigned long)value;
        return true;
    case 'i':
        if (!whole(optarg, 0, 1023, &value)) {
            return false;
        }
        o->only = (int)value;
        return true;
    case 'R':
        o->root = optarg;
        return true;
    }
    for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
        if (styles[i].option == option) {
            o->style = styles[i].style;
            if ((option == 'D' || option == 'T') && !o->seconds) {
                o->seconds = 1;
            }
            return true;
        }
    }
    return false;
}

static void print(const MxReport *r, const Options *o, unsigned long look)
{
    switch (o->style) {
    case LIST:
        mx_report_list(r);
        break;
    case ALL:
        mx_report_all(r);
        break;
    case JSON:
        mx_report_json(r);
        break;
    case CSV:
        if (o->processes) {
            mx_report_csv_processes(r, !look);
        } else {
            mx_report_csv(r, !look);
        }
        break;
    case TOPOLOGY:
        mx_report_topology(r);
        break;
    case PROCESSES:
        mx_report_processes(r);
        break;
    case MONITOR:
        mx_report_monitor(r, look % 20 == 0);
        break;
    default:
        mx_report_table(r);
    }
}

static void wait_until(struct timespec *next, double seconds)
{
    double whole_seconds = floor(seconds);

    next->tv_sec += (time_t)whole_seconds;
    next->tv_nsec += (long)((seconds - whole_seconds) * 1e9);
    if (next->tv_nsec >= 1000000000) {
        next->tv_nsec -= 1000000000;
        next->tv_sec++;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next,
                           NULL) == EINTR) {
    }
}

static int run(MxDevices *m, const Options *o)
{
    bool clear = o->seconds && isatty(STDOUT_FILENO) && o->style != JSON &&
                 o->style != CSV && o->style != MONITOR;
    unsigned long looks = o->count ? o->count : o->seconds ? 0 : 1;
    struct timespec next;
    int err;

    /* A picture goes to the terminal at once, so that it does not flicker. */
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (unsigned long i = 0; !looks || i < looks; i++) {
        if (i) {
            wait_until(&next, o->seconds ? o->seconds : 1);
        }
        err = mx_devices_look(m);
        if (err) {
            fprintf(stderr, "mx-smi: %s\n", mx_devices_reason(err));
            return 1;
        }
        printf("%s", clear ? CLEAR : "");
        print(&m->report, o, i);
        if (fflush(stdout)) {
            return 1;
        }
    }
    return m->failed;
}

/* "topo -m", as users of other cards write it. */
static bool is_topo(int argc, char **argv)
{
    return argc == 3 && !strcmp(argv[1], "topo") &&
           (!strcmp(argv[2], "-m") || !strcmp(argv[2], "--matrix"));
}

int main(int argc, char **argv)
{
    Options o = { .only = -1, .root = "" };
    const KmdOps *ops;
    unsigned count = 0;
    int option, err, status;
    MxDevices devices;

    if (is_topo(argc, argv)) {
        o.style = TOPOLOGY;
        optind = argc;
    }
    while ((option = getopt_long(argc, argv, short_options, long_options,
                                 NULL)) != -1) {
        if (option == 'h') {
            usage(stdout);
            return 0;
        }
        if (!take(option, &o)) {
            usage(stderr);
            return 2;
        }
    }
    if (optind != argc) {
        usage(stderr);
        return 2;
    }
    kmd_vfio_set_root(o.root);
    err = kmd_select(&ops);
    if (!err) {
        err = ops->count(&count);
    }
    if (err || !count) {
        fprintf(stderr, "mx-smi: no device: %s\n",
                err ? mx_devices_reason(err) : "none is present");
        return 1;
    }
    err = mx_devices_learn(&devices, ops, o.root, count, o.only);
    if (err) {
        fprintf(stderr, "mx-smi: %s\n", mx_devices_reason(err));
        status = 1;
    } else if (o.style == RESET) {
        status = mx_devices_reset(&devices) != 0;
    } else {
        status = run(&devices, &o);
    }
    mx_devices_free(&devices);
    return status;
}
