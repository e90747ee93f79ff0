/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "compiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

extern char **environ;

/* ---- where it is ---- */

static bool runs(char *path, size_t size, const char *folder, const char *name)
{
    int length = snprintf(path, size, "%s/%s", folder, name);

    return length > 0 && (size_t)length < size && access(path, X_OK) == 0;
}

bool mc_compiler_find(char *path, size_t size)
{
    const char *root = secure_getenv("MACA_PATH");
    char library[PATH_MAX];
    Dl_info info;

    if (root && *root) {
        return runs(path, size, root, "mxgpu_llvm/bin/mxcc");
    }
    if (!dladdr((const void *)(uintptr_t)mc_compiler_find, &info) ||
        !info.dli_fname || !realpath(info.dli_fname, library)) {
        return false;
    }
    *strrchr(library, '/') = 0;
    /* As installed, and as built. */
    return runs(path, size, library, "../mxgpu_llvm/bin/mxcc") ||
           runs(path, size, library, "tools/mxcc/mxcc");
}

/* ---- its folder ---- */

static bool write_all(int fd, const void *data, size_t size)
{
    const char *from = data;

    while (size) {
        ssize_t n = write(fd, from, size);

        if (n < 0 && errno != EINTR) {
            return false;
        }
        from += n > 0 ? n : 0;
        size -= n > 0 ? n : 0;
    }
    return true;
}

bool mc_compiler_folder_make(char *folder, const char *prefix)
{
    const char *temps = secure_getenv("TMPDIR");
    int length = snprintf(folder, MC_COMPILER_FOLDER, "%s/%s-XXXXXX",
                          temps && *temps == '/' ? temps : "/tmp", prefix);

    if (length <= 0 || length >= MC_COMPILER_FOLDER) {
        errno = ENAMETOOLONG;
        return false;
    }
    return mkdtemp(folder);
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    return remove(path);
}

void mc_compiler_folder_remove(const char *folder)
{
    if (nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0) {
        mc_warn("%s: cannot be removed: %s", folder, strerror(errno));
    }
}

bool mc_compiler_write(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0) {
        return false;
    }
    bool written = write_all(fd, data, size);
    return close(fd) == 0 && written;
}

static mcError_t read_all(int fd, size_t size, void **data)
{
    char *room = malloc(size + 1);
    size_t done = 0;

    if (!room) {
        return mcErrorMemoryAllocation;
    }
    while (done < size) {
        ssize_t n = read(fd, room + done, size - done);

        if (n == 0 || (n < 0 && errno != EINTR)) {
            free(room);
            return mcErrorOperatingSystem;
        }
        done += n > 0 ? n : 0;
    }
    room[size] = 0;
    *data = room;
    return mcSuccess;
}

mcError_t mc_compiler_read(const char *path, void **data, size_t *size)
{
    struct stat st;
    mcError_t error = mcErrorOperatingSystem;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        error = read_all(fd, st.st_size, data);
        *size = error == mcSuccess ? (size_t)st.st_size : 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return error;
}

/* ---- its process ---- */

/* The environment with its own folder for temporary files: when it is killed
 * these go with it. */
static char **environment(char *temps)
{
    size_t count = 0, used = 0;

    while (environ && environ[count]) {
        count++;
    }
    char **copy = calloc(count + 2, sizeof(*copy));
    for (size_t i = 0; copy && i < count; i++) {
        if (strncmp(environ[i], "TMPDIR=", 7) != 0) {
            copy[used++] = environ[i];
        }
    }
    if (copy) {
        copy[used] = temps;
    }
    return copy;
}

/* Whatever the caller did to its signals and files is none of the child's. */
static int prepare(posix_spawn_file_actions_t *actions,
                   posix_spawnattr_t *attributes, const char *where, int out)
{
    sigset_t none, all;
    int err = posix_spawn_file_actions_addopen(actions, 0, "/dev/null",
                                               O_RDONLY, 0);

    sigemptyset(&none);
    sigfillset(&all);
    err = err ? err : posix_spawn_file_actions_adddup2(actions, out, 1);
    err = err ? err : posix_spawn_file_actions_adddup2(actions, out, 2);
    err = err ? err : posix_spawn_file_actions_addclosefrom_np(actions, 3);
    if (where && !err) {
        err = posix_spawn_file_actions_addchdir_np(actions, where);
    }
    err = err ? err : posix_spawnattr_setsigmask(attributes, &none);
    err = err ? err : posix_spawnattr_setsigdefault(attributes, &all);
    return err ? err
               : posix_spawnattr_setflags(attributes,
                                          POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
}

static int start(const McCompilerRun *run, int out, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char temps[PATH_MAX + sizeof("TMPDIR=")];

    snprintf(temps, sizeof(temps), "TMPDIR=%s", run->folder);
    char **env = environment(temps);
    if (!env) {
        return ENOMEM;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int err = prepare(&actions, &attributes, run->where, out);
    err = err ? err
              : posix_spawn(pid, run->argv[0], &actions, &attributes,
                            run->argv, env);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(env);
    return err;
}

/* All of it is read, so that it goes on, and the first part kept. */
static char *read_text(int fd, size_t max)
{
    char *text = malloc(max + 1), rest[4096];
    size_t used = 0;

    for (;;) {
        bool keep = text && used < max;
        ssize_t n = keep ? read(fd, text + used, max - used)
                         : read(fd, rest, sizeof(rest));

        if (n == 0 || (n < 0 && errno != EINTR)) {
            break;
        }
        used += keep && n > 0 ? n : 0;
    }
    if (text) {
        text[used] = 0;
    }
    return text;
}

/* Statuses of mxcc: 1 is an error that it has told, 3 a program that is not
 * installed. A caller that ignores SIGCHLD has no statuses: then what is there
 * counts. */
static mcError_t outcome(pid_t pid, const char *output)
{
    pid_t done;
    int status;

    do {
        done = waitpid(pid, &status, 0);
    } while (done < 0 && errno == EINTR);
    if (done < 0) {
        return access(output, F_OK) == 0 ? mcSuccess
                                         : mcErrorInvalidKernelImage;
    }
    if (!WIFEXITED(status)) {
        return mcErrorOperatingSystem;
    }
    switch (WEXITSTATUS(status)) {
    case 0:
        return mcSuccess;
    case 1:
        return mcErrorInvalidKernelImage;
    case 3:
    case 127: /* no interpreter of it */
        return mcErrorJitCompilerNotFound;
    default:
        return mcErrorOperatingSystem;
    }
}

mcError_t mc_compiler_run(const McCompilerRun *run, char **text)
{
    int ends[2];
    pid_t pid;

    *text = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        mc_error("no pipe for mxcc: %s", strerror(errno));
        return mcErrorOperatingSystem;
    }
    int err = start(run, ends[1], &pid);
    close(ends[1]);
    if (!err) {
        *text = read_text(ends[0], run->text_max);
    }
    close(ends[0]);
    if (err) {
        mc_error("%s: %s", run->argv[0], strerror(err));
        return err == ENOMEM                      ? mcErrorMemoryAllocation
               : err == ENOENT || err == EACCES ? mcErrorJitCompilerNotFound
                                                  : mcErrorOperatingSystem;
    }
    return outcome(pid, run->output);
}
