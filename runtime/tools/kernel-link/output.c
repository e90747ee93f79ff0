/* SPDX-License-Identifier: MIT */
/*
 * The file that -o names. It is written beside itself and renamed at the end:
 * what was there before survives any failure, and nothing is left behind. What
 * is no regular file (/dev/null, a pipe) is written to, and never removed.
 */
#include "kl.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *made;    /* the file being written; NULL: none */
static char *real;    /* what it becomes */
static bool stream;   /* it is copied there */

/* Of a signal that ends the process: only what handlers may call. */
static void leave(int number)
{
    if (made) {
        unlink(made);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_signals(void)
{
    static const int numbers[] = { SIGHUP, SIGINT, SIGTERM };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (signal(numbers[i], leave) == SIG_IGN) {
            signal(numbers[i], SIG_IGN);
        }
    }
}

static bool is_stream(const char *path)
{
    struct stat st;

    return !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6) ||
           (!stat(path, &st) && !S_ISREG(st.st_mode));
}

const char *kl_output_begin(const char *path, const char *temps)
{
    mode_t mask = umask(0);
    char *target;
    int fd;

    umask(mask);
    stream = is_stream(path);
    target = stream ? NULL : realpath(path, NULL);
    real = target ? target : kl_printf("%s", path);
    made = stream ? kl_printf("%s/output.XXXXXX", temps)
                  : kl_printf("%s.XXXXXX", real);
    fd = mkstemp(made);
    if (fd < 0) {
        kl_error("%s: %s", path, strerror(errno));
        made = NULL;
        return NULL;
    }
    fchmod(fd, 0666 & ~mask);
    close(fd);
    watch_signals();
    return made;
}

static bool copy(void)
{
    size_t size;
    void *data = kl_read_file(made, &size);

    return data && kl_write_file(real, data, size);
}

bool kl_output_end(bool keep)
{
    bool ok = true;

    if (keep && stream) {
        ok = copy();
    } else if (keep && rename(made, real)) {
        kl_error("%s: %s", real, strerror(errno));
        ok = false;
    }
    if (!keep || stream || !ok) {
        unlink(made);
    }
    made = NULL;
    return ok;
}
