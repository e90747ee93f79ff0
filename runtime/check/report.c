/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/module/module.h"
#include "image/source.h"
#include "link.h"
#include "options.h"
#include "watch.h"

static atomic_uint errors, printed;

static void put(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t n = write(fd, text, length);

        if (n <= 0) {
            return; /* there is nowhere to complain */
        }
        text += n;
        length -= (size_t)n;
    }
}

static void put_log(const char *text, size_t length)
{
    if (!mc_check_options.log_far) {
        put(mc_check_options.log, text, length);
    } else if (mc_link_on()) {
        mc_link_text(MC_LINK_LOG, text, length);
    } else {
        put(STDERR_FILENO, text, length); /* nobody takes it there */
    }
}

void mc_report_status(const char *letters)
{
    if (mc_check_options.status_far) {
        mc_link_text(MC_LINK_STATUS, letters, strlen(letters));
    } else if (mc_check_options.status >= 0) {
        put(mc_check_options.status, letters, strlen(letters));
    }
}

/* One write, so that reports of several threads and processes do not mix. */
void mc_report_end(McReport *r)
{
    unsigned limit = mc_check_options.print_limit;
    bool muted;

    if (r->dropped) {
        return;
    }
    if (mc_check_suppressed(r->text)) {
        mc_report_status("S");
        return;
    }
    muted = limit && atomic_fetch_add(&printed, 1) >= limit;
    atomic_fetch_add(&errors, 1);
    mc_report_status(muted ? "EM" : "E");
    if (!muted) {
        mc_line_add(r, MC_TEXT_HEAD "\n");
        put_log(r->text, r->length);
    }
}

void mc_report_note(const char *format, ...)
{
    McReport r = {.length = 0};
    va_list args;

    mc_line_add(&r, MC_TEXT_HEAD);
    va_start(args, format);
    mc_line_addv(&r, format, args);
    va_end(args);
    mc_line_end(&r, 0);
    put_log(r.text, r.length);
}

unsigned mc_report_errors(void)
{
    return atomic_load(&errors);
}

unsigned mc_report_muted(void)
{
    unsigned n = atomic_load(&printed), limit = mc_check_options.print_limit;

    return limit && n > limit ? n - limit : 0;
}

/* ---- places ---- */

void mc_report_pc(McReport *r, const char *lead, uint64_t pc)
{
    char text[1024], *rest = text, *part;

    mc_module_describe(pc, text, sizeof(text));
    if (!text[0]) {
        mc_report_line(r, "%s 0x%" PRIx64, lead, pc);
        return;
    }
    rest += 5; /* ", in " */
    while (rest) {
        char *at, *more = strstr(rest, ", inlined into ");

        part = rest;
        rest = more;
        if (more) {
            *more = 0;
            rest = more + strlen(", inlined into ");
        }
        at = strstr(part, " at ");
        if (at) {
            *at = 0;
            mc_report_line(r, "%s %s in %s", lead, part, at + 4);
        } else {
            mc_report_line(r, "%s %s", lead, part);
        }
        if (!(mc_check_options.backtraces & MC_BACKTRACE_DEVICE)) {
            return;
        }
        lead = "inlined into";
    }
}

void mc_report_unless_own(McReport *r, uint64_t pc)
{
    char text[1024];

    mc_module_describe(pc, text, sizeof(text));
    r->dropped |= strncmp(text, ", in __mx_", 10) == 0;
}

void mc_report_trace(McReport *r, const char *title, const McTrace *trace)
{
    char text[1024];

    if (!trace->count ||
        !(mc_check_options.backtraces & MC_BACKTRACE_HOST)) {
        return;
    }
    mc_report_line(r, "%s", title);
    for (unsigned i = 0; i < trace->count; i++) {
        const char *place = text;

        mc_source_caller(trace->frames[i], text, sizeof(text));
        if (strncmp(place, ", called in ", 12) == 0) {
            place += 12;
        } else if (strncmp(place, ", called from ", 14) == 0) {
            place += 14;
        }
        mc_report_line(r, "    Host Frame: %s [%p]", *place ? place : "?",
                       trace->frames[i]);
        if (strncmp(place, "main at ", 8) == 0 ||
            strncmp(place, "main+", 5) == 0 ||
            strstr(place, "inlined into main at ")) {
            break; /* what calls main() is the C library's */
        }
    }
}

static const char *kind_name(McRangeKind kind)
{
    static const char *const names[] = {
        [MC_RANGE_DEVICE] = "device",   [MC_RANGE_POOL] = "pool",
        [MC_RANGE_MODULE] = "module",   [MC_RANGE_HOST] = "pinned host",
        [MC_RANGE_REGISTERED] = "registered host",
        [MC_RANGE_MAPPED] = "mapped",   [MC_RANGE_IPC] = "another process's",
        [MC_RANGE_EXTERNAL] = "external", [MC_RANGE_MANAGED] = "managed",
        [MC_RANGE_SPARSE] = "sparse",
    };

    return names[kind];
}

void mc_report_address(McReport *r, uint64_t addr, unsigned size)
{
    McAlloc a;

    if (mc_live_at(addr, &a)) {
        if (addr + size > a.base + a.size) {
            mc_report_line(r, "Address 0x%" PRIx64 " is out of bounds", addr);
            mc_report_line(r, "and its last %" PRIu64 " bytes are behind the "
                           "%s allocation at 0x%" PRIx64 " of size %" PRIu64
                           " bytes", addr + size - (a.base + a.size),
                           kind_name(a.kind), a.base, a.size);
        } else {
            mc_report_line(r, "Address 0x%" PRIx64 " is %" PRIu64
                           " bytes inside the %s allocation at 0x%" PRIx64
                           " of size %" PRIu64 " bytes", addr, addr - a.base,
                           kind_name(a.kind), a.base, a.size);
        }
        mc_report_trace(r, "Allocated at:", &a.made);
        return;
    }
    if (mc_live_freed(addr, &a)) {
        mc_report_line(r, "Address 0x%" PRIx64 " is %" PRIu64 " bytes inside "
                       "the %s allocation at 0x%" PRIx64 " of size %" PRIu64
                       " bytes, which was freed", addr, addr - a.base,
                       kind_name(a.kind), a.base, a.size);
        mc_report_trace(r, "Allocated at:", &a.made);
        mc_report_trace(r, "Freed at:", &a.freed);
        return;
    }
    mc_report_line(r, "Address 0x%" PRIx64 " is out of bounds", addr);
    if (mc_live_near(addr, &a)) {
        bool behind = a.base < addr;
        uint64_t far = behind ? addr - (a.base + a.size) + 1 : a.base - addr;

        mc_report_line(r, "and is %" PRIu64 " bytes %s the nearest allocation"
                       " at 0x%" PRIx64 " of size %" PRIu64 " bytes", far,
                       behind ? "after" : "before", a.base, a.size);
        mc_report_trace(r, "Allocated at:", &a.made);
    }
}

/* ---- kernels and launches ---- */

typedef struct Kernel {
    uint64_t entry;
    char *name;
    bool wanted;
} Kernel;

typedef struct Launch {
    uint64_t args;
    McTrace trace;
} Launch;

#define LAUNCHES 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Kernel *kernels;
static unsigned kernel_count, kernel_room;
static Launch launches[LAUNCHES]; /* by a hash of args: the last one there */

void mc_kernels_add(uint64_t entry, const char *name)
{
    Kernel k = {.entry = entry, .name = strdup(name)};
    char plain[512];
    unsigned i = 0;

    mc_source_name(name, plain, sizeof(plain));
    k.wanted = mc_check_wants(name, plain);
    pthread_mutex_lock(&lock);
    while (i < kernel_count && kernels[i].entry != entry) {
        i++;
    }
    if (i == kernel_room) {
        unsigned room = kernel_room ? 2 * kernel_room : 64;
        Kernel *more = realloc(kernels, room * sizeof(*more));

        if (!more) {
            free(k.name);
            pthread_mutex_unlock(&lock);
            return;
        }
        kernels = more;
        kernel_room = room;
    }
    if (i < kernel_count) { /* its module is gone */
        free(kernels[i].name);
    } else {
        kernel_count++;
    }
    kernels[i] = k;
    pthread_mutex_unlock(&lock);
}

static const Kernel *find_kernel(uint64_t entry)
{
    for (unsigned i = 0; i < kernel_count; i++) {
        if (kernels[i].entry == entry) {
            return &kernels[i];
        }
    }
    return NULL;
}

void mc_kernels_name(uint64_t entry, char *text, size_t size)
{
    const Kernel *k;

    pthread_mutex_lock(&lock);
    k = find_kernel(entry);
    mc_source_name(k && k->name ? k->name : "", text, size);
    pthread_mutex_unlock(&lock);
}

bool mc_kernels_wanted(uint64_t entry)
{
    const Kernel *k;
    bool wanted;

    pthread_mutex_lock(&lock);
    k = find_kernel(entry);
    wanted = !k || k->wanted;
    pthread_mutex_unlock(&lock);
    return wanted;
}

static Launch *launch_of(uint64_t args)
{
    return &launches[(args >> 4) * 0x9e3779b97f4a7c15ull >> 52];
}

void mc_launch_note(uint64_t args)
{
    Launch l = {.args = args};

    if (!(mc_check_options.backtraces & MC_BACKTRACE_HOST)) {
        return;
    }
    mc_trace_take(&l.trace);
    pthread_mutex_lock(&lock);
    *launch_of(args) = l;
    pthread_mutex_unlock(&lock);
}

void mc_report_kernel(McReport *r, const MxgpuObservedWarp *w)
{
    char name[512];
    Launch l;

    mc_kernels_name(w->entry, name, sizeof(name));
    mc_report_line(r, "in kernel %s, grid (%u,%u,%u), block (%u,%u,%u)",
                   name[0] ? name : "?", w->grid[0], w->grid[1], w->grid[2],
                   w->size[0], w->size[1], w->size[2]);
    pthread_mutex_lock(&lock);
    l = *launch_of(w->args);
    pthread_mutex_unlock(&lock);
    if (l.args == w->args && w->args) {
        mc_report_trace(r, "Launched at:", &l.trace);
    }
}
