/* SPDX-License-Identifier: MIT */
/*
 * The last lines of the firmware's console, kept for a later look. They belong
 * to the host: resets do not clear them, and saved states do not contain them.
 */
#ifndef MXGPU_CORE_CONSOLE_LOG_H
#define MXGPU_CORE_CONSOLE_LOG_H

#include <pthread.h>
#include <stddef.h>

#define MXGPU_CONSOLE_LOG_SIZE 16384u

typedef struct MxgpuConsoleLog {
    pthread_mutex_t lock; /* a leaf */
    char text[MXGPU_CONSOLE_LOG_SIZE];
    size_t end; /* bytes ever put in; the next goes to end % size */
} MxgpuConsoleLog;

void mxgpu_console_log_init(MxgpuConsoleLog *log);
void mxgpu_console_log_free(MxgpuConsoleLog *log);
/* A line without its newline. */
void mxgpu_console_log_add(MxgpuConsoleLog *log, const char *line, size_t len);
/* Whole lines that are still there, oldest first. */
void mxgpu_console_log_show(MxgpuConsoleLog *log,
                            void (*put)(void *opaque, const char *text,
                                        size_t len),
                            void *opaque);

#endif
