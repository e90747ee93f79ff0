/* SPDX-License-Identifier: MIT */
/*
 * The end of what the firmware has said, for whoever looks later. It is the
 * host's: no reset clears it, no state has it.
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
