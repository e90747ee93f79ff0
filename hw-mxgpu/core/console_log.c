/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "console_log.h"

void mxgpu_console_log_init(MxgpuConsoleLog *log)
{
    pthread_mutex_init(&log->lock, NULL);
}

void mxgpu_console_log_free(MxgpuConsoleLog *log)
{
    pthread_mutex_destroy(&log->lock);
}

void mxgpu_console_log_add(MxgpuConsoleLog *log, const char *line, size_t len)
{
    pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < len; i++) {
        log->text[log->end++ % MXGPU_CONSOLE_LOG_SIZE] = line[i];
    }
    log->text[log->end++ % MXGPU_CONSOLE_LOG_SIZE] = '\n';
    pthread_mutex_unlock(&log->lock);
}

void mxgpu_console_log_show(MxgpuConsoleLog *log,
                            void (*put)(void *opaque, const char *text,
                                        size_t len),
                            void *opaque)
{
    static _Thread_local char copy[MXGPU_CONSOLE_LOG_SIZE];
    size_t len = 0, skip = 0;

    pthread_mutex_lock(&log->lock);
    if (log->end > MXGPU_CONSOLE_LOG_SIZE) {
        skip = log->end - MXGPU_CONSOLE_LOG_SIZE;
        /* The oldest line may have lost its beginning. */
        while (skip < log->end &&
               log->text[skip++ % MXGPU_CONSOLE_LOG_SIZE] != '\n') {
        }
    }
    for (; skip < log->end; skip++) {
        copy[len++] = log->text[skip % MXGPU_CONSOLE_LOG_SIZE];
    }
    pthread_mutex_unlock(&log->lock);
    put(opaque, copy, len);
}
