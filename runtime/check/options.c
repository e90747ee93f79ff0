/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* secure_getenv */
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

McCheckOptions mc_check_options = {.log = STDERR_FILENO, .status = -1};

/* MXGPU_MEMCHECK_KERNEL and _EXCLUDE: "kns=TEXT" (a part of the name) or
 * "regex=TEXT" or "kne=TEXT" (all of it); several are lines. */
#define FILTERS 16
typedef struct Filter {
    enum { FILTER_PART, FILTER_WHOLE, FILTER_REGEX } kind;
    const char *text;
    regex_t regex;
} Filter;
typedef struct Filters {
    Filter of[FILTERS];
    unsigned count;
} Filters;
static Filters include, exclude;

static void add_filter(Filters *filters, char *text)
{
    Filter *f = &filters->of[filters->count];

    if (filters->count == FILTERS) {
        return;
    }
    if (strncmp(text, "kns=", 4) == 0) {
        f->kind = FILTER_PART;
        f->text = text + 4;
    } else if (strncmp(text, "kne=", 4) == 0) {
        f->kind = FILTER_WHOLE;
        f->text = text + 4;
    } else if (strncmp(text, "regex=", 6) == 0 &&
               regcomp(&f->regex, text + 6, REG_EXTENDED | REG_NOSUB) == 0) {
        f->kind = FILTER_REGEX;
    } else {
        mc_error("memcheck: the filter \"%s\" is not understood", text);
        return;
    }
    filters->count++;
}

static void read_filters(const char *name, Filters *filters)
{
    const char *value = secure_getenv(name);
    char *all = value ? strdup(value) : NULL, *rest = all, *line;

    while (rest && (line = strsep(&rest, "\n")) != NULL) {
        if (*line) {
            add_filter(filters, line);
        }
    }
    /* "all" stays: filters point into it. */
}

static bool matches(const Filters *filters, const char *name)
{
    for (unsigned i = 0; i < filters->count; i++) {
        const Filter *f = &filters->of[i];

        if (f->kind == FILTER_REGEX
                ? regexec(&f->regex, name, 0, NULL, 0) == 0
            : f->kind == FILTER_WHOLE ? strcmp(name, f->text) == 0
                                      : strstr(name, f->text) != NULL) {
            return true;
        }
    }
    return false;
}

bool mc_check_wants(const char *mangled, const char *plain)
{
    if (include.count && !matches(&include, mangled) &&
        !matches(&include, plain)) {
        return false;
    }
    return !matches(&exclude, mangled) && !matches(&exclude, plain);
}

/* ---- suppressions: a file with an expression in each line ---- */

#define SUPPRESSIONS 256
static regex_t suppressions[SUPPRESSIONS];
static unsigned suppression_count;

static void read_suppressions(const char *name)
{
    FILE *f = fopen(name, "re");
    char line[1024];

    if (!f) {
        mc_error("memcheck: %s: %s", name, strerror(errno));
        return;
    }
    while (suppression_count < SUPPRESSIONS && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\r\n")] = 0;
        if (!line[0] || line[0] == '#') {
            continue;
        }
        if (regcomp(&suppressions[suppression_count], line,
                    REG_EXTENDED | REG_NOSUB | REG_NEWLINE) == 0) {
            suppression_count++;
        } else {
            mc_error("memcheck: %s: \"%s\" is no expression", name, line);
        }
    }
    fclose(f);
}

bool mc_check_suppressed(const char *report)
{
    for (unsigned i = 0; i < suppression_count; i++) {
        if (regexec(&suppressions[i], report, 0, NULL, 0) == 0) {
            return true;
        }
    }
    return false;
}

static McTool tool_of(const char *text)
{
    static const char *const names[] = {
        [MC_TOOL_MEMCHECK] = "memcheck",   [MC_TOOL_RACECHECK] = "racecheck",
        [MC_TOOL_INITCHECK] = "initcheck", [MC_TOOL_SYNCCHECK] = "synccheck",
    };

    for (unsigned i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            return (McTool)i;
        }
    }
    return MC_TOOL_NONE;
}

/* %p in the name is the number of the process. */
static int open_file(const char *pattern)
{
    const char *percent = strstr(pattern, "%p");
    char name[4096];
    int fd = -1;

    snprintf(name, sizeof(name), "%.*s", (int)sizeof(name) - 1, pattern);
    if (percent) {
        snprintf(name, sizeof(name), "%.*s%d%s", (int)(percent - pattern),
                 pattern, (int)getpid(), percent + 2);
    }
    fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

    if (fd < 0) {
        mc_error("memcheck: %s: %s", name, strerror(errno));
    }
    return fd;
}

static void read_option(const char *name, const char *value)
{
    McCheckOptions *o = &mc_check_options;
    unsigned number = (unsigned)strtoul(value, NULL, 0);

    if (strcmp(name, "leaks") == 0) {
        o->leaks = number;
    } else if (strcmp(name, "api") == 0) {
        o->api_errors = number != 0;
        o->all_api_errors = number > 1;
    } else if (strcmp(name, "backtrace") == 0) {
        o->backtraces = number;
    } else if (strcmp(name, "limit") == 0) {
        o->print_limit = number;
    } else if (strcmp(name, "skip") == 0) {
        o->launch_skip = number;
    } else if (strcmp(name, "count") == 0) {
        o->launch_count = number;
    } else {
        mc_error("MXGPU_MEMCHECK_OPTIONS: \"%s\" is not understood", name);
    }
}

static void read_files(void)
{
    McCheckOptions *o = &mc_check_options;
    const char *port = secure_getenv("MXGPU_MEMCHECK_PORT");
    const char *log = secure_getenv("MXGPU_MEMCHECK_LOG");
    const char *status = secure_getenv("MXGPU_MEMCHECK_STATUS");

    o->port = port && *port ? port : NULL;
    o->log_far = o->port && log && *log;
    o->status_far = o->port && status && *status;
    if (log && *log && !o->port) {
        int fd = open_file(log);

        o->log = fd < 0 ? STDERR_FILENO : fd;
    }
    if (status && *status && !o->port) {
        o->status = open_file(status);
    }
}

bool mc_check_read_options(void)
{
    const char *tool = secure_getenv("MXGPU_MEMCHECK"), *text;
    char options[256], *rest = options, *word;

    if (!tool || !*tool || strcmp(tool, "0") == 0) {
        return false;
    }
    mc_check_options.tool = strcmp(tool, "1") == 0 ? MC_TOOL_MEMCHECK
                                                   : tool_of(tool);
    if (mc_check_options.tool == MC_TOOL_NONE) {
        mc_error("MXGPU_MEMCHECK=%s: no such tool (memcheck, racecheck, "
                 "initcheck, synccheck)", tool);
        return false;
    }
    mc_check_options.backtraces = MC_BACKTRACE_YES;
    mc_check_options.print_limit = 100;
    text = secure_getenv("MXGPU_MEMCHECK_OPTIONS");
    strncpy(options, text ? text : "", sizeof(options) - 1);
    options[sizeof(options) - 1] = 0;
    while (rest && (word = strsep(&rest, ",")) != NULL) {
        char *value = strchr(word, '=');

        if (value) {
            *value++ = 0;
            read_option(word, value);
        }
    }
    read_files();
    text = secure_getenv("MXGPU_MEMCHECK_SUPPRESSIONS");
    if (text && *text) {
        read_suppressions(text);
    }
    read_filters("MXGPU_MEMCHECK_KERNEL", &include);
    read_filters("MXGPU_MEMCHECK_EXCLUDE", &exclude);
    return true;
}
