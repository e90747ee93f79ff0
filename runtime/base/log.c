/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static pthread_once_t log_once = PTHREAD_ONCE_INIT;
static McLogLevel log_level;
static int log_fd = STDERR_FILENO;
static bool checking;

static const char *const level_names[] = {
    [MC_LOG_OFF] = "off",   [MC_LOG_ERROR] = "error", [MC_LOG_WARN] = "warn",
    [MC_LOG_INFO] = "info", [MC_LOG_API] = "api",     [MC_LOG_DEBUG] = "debug",
};

bool mc_log_parse_level(const char *text, unsigned length, McLogLevel *level)
{
    if (length == 1 && text[0] >= '0' && text[0] <= '0' + MC_LOG_DEBUG) {
        *level = text[0] - '0';
        return true;
    }
    for (unsigned i = 0; i < sizeof(level_names) / sizeof(*level_names); i++) {
        if (strlen(level_names[i]) == length &&
            strncasecmp(level_names[i], text, length) == 0) {
            *level = i;
            return true;
        }
    }
    return false;
}

static void log_init(void)
{
    const char *text = getenv("MXGPU_CHECK");

    checking = text && *text && strcmp(text, "0") != 0;
    text = getenv("MXGPU_LOG");
    bool vendor = !text;

    if (vendor) {
        text = getenv("MXLOG_LEVEL");
    }
    if (!text || !*text) {
        log_level = checking ? MC_LOG_ERROR : MC_LOG_OFF;
        return;
    }
    const char *colon = vendor ? NULL : strchr(text, ':');
    unsigned length = colon ? (unsigned)(colon - text) : strlen(text);

    if (!mc_log_parse_level(text, length, &log_level)) {
        /* Not understood: the user wants to know something, so show errors. */
        log_level = MC_LOG_ERROR;
        fprintf(stderr, "mxgpu: %s=%s: no such level (error, warn, info, "
                "api, debug)\n", vendor ? "MXLOG_LEVEL" : "MXGPU_LOG", text);
    }
    if (colon && colon[1]) {
        int fd = open(colon + 1, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                      0644);
        if (fd < 0) {
            fprintf(stderr, "mxgpu: cannot write the log to %s: %s\n",
                    colon + 1, strerror(errno));
        } else {
            log_fd = fd;
        }
    }
}

bool mc_log_enabled(McLogLevel level)
{
    pthread_once(&log_once, log_init);
    return level <= log_level;
}

bool mc_checking(void)
{
    pthread_once(&log_once, log_init);
    return checking;
}

void mc_log(McLogLevel level, const char *format, ...)
{
    int saved = errno;
    char line[1024];
    va_list args;

    /* One write per line keeps the lines of several threads apart. */
    int head = snprintf(line, sizeof(line), "mxgpu: %s: ",
                        level_names[level <= MC_LOG_DEBUG ? level : 0]);
    va_start(args, format);
    int body = vsnprintf(line + head, sizeof(line) - head, format, args);
    va_end(args);
    size_t length = head + (body < 0 ? 0 : body);
    if (length > sizeof(line) - 1) {
        length = sizeof(line) - 1;
    }
    for (char *p = line + head; p < line + length; p++) {
        if (*p == '\n' || *p == '\r') {
            *p = ' '; /* foreign text must not forge lines */
        }
    }
    line[length++] = '\n';
    ssize_t written = write(log_fd, line, length);
    (void)written; /* there is nowhere to complain */
    errno = saved;
}
