/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

#define TEXT_MAX (1u << 20) /* bytes of messages that are kept */
#define WORDS_MAX 16        /* of options */
#define OUTPUT "linked.fatbin"

extern char **environ;

/* ---- where it is ---- */

static bool runs(char *path, size_t size, const char *folder, const char *name)
{
    int length = snprintf(path, size, "%s/%s", folder, name);

    return length > 0 && (size_t)length < size && access(path, X_OK) == 0;
}

bool mc_link_tool(char *path, size_t size)
{
    const char *root = secure_getenv("MACA_PATH");
    char library[PATH_MAX];
    Dl_info info;

    if (root && *root) {
        return runs(path, size, root, "mxgpu_llvm/bin/mxcc");
    }
    if (!dladdr((const void *)(uintptr_t)mc_link_tool, &info) ||
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

/* folder is a template of mkdtemp(): nobody else can write into it. */
static bool folder_make(char *folder, size_t size)
{
    const char *temps = secure_getenv("TMPDIR");
    int length = snprintf(folder, size, "%s/mclink-XXXXXX",
                          temps && *temps == '/' ? temps : "/tmp");

    return length > 0 && (size_t)length < size && mkdtemp(folder);
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    return remove(path);
}

static void folder_remove(const char *folder)
{
    if (nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0) {
        mc_warn("%s: cannot be removed: %s", folder, strerror(errno));
    }
}

/* Each in a folder of its number: messages name the file as the caller did,
 * and two may have one name. */
static bool write_input(const char *folder, size_t number,
                        const McLinkInput *input, char *path, size_t size)
{
    snprintf(path, size, "%s/%zu", folder, number);
    if (mkdir(path, 0700) != 0) {
        return false;
    }
    snprintf(path, size, "%s/%zu/%s", folder, number, input->name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return false;
    }
    bool written = write_all(fd, input->data, input->size);
    return close(fd) == 0 && written;
}

static mcError_t read_output(const char *folder, McLinkOutput *output)
{
    char path[PATH_MAX];
    struct stat st;
    mcError_t error = mcErrorOperatingSystem;

    snprintf(path, sizeof(path), "%s/%s", folder, OUTPUT);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        output->image = malloc(st.st_size);
        error = mcErrorMemoryAllocation;
        while (output->image && output->size < (size_t)st.st_size) {
            ssize_t n = read(fd, (char *)output->image + output->size,
                             st.st_size - output->size);

            if (n == 0 || (n < 0 && errno != EINTR)) {
                break;
            }
            output->size += n > 0 ? n : 0;
        }
        if (output->image) {
            error = output->size == (size_t)st.st_size
                        ? mcSuccess
                        : mcErrorOperatingSystem;
        }
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
                   posix_spawnattr_t *attributes, const char *folder, int out)
{
    sigset_t none, all;
    int err = posix_spawn_file_actions_addopen(actions, 0, "/dev/null",
                                               O_RDONLY, 0);

    sigemptyset(&none);
    sigfillset(&all);
    err = err ? err : posix_spawn_file_actions_adddup2(actions, out, 1);
    err = err ? err : posix_spawn_file_actions_adddup2(actions, out, 2);
    err = err ? err : posix_spawn_file_actions_addclosefrom_np(actions, 3);
    err = err ? err : posix_spawn_file_actions_addchdir_np(actions, folder);
    err = err ? err : posix_spawnattr_setsigmask(attributes, &none);
    err = err ? err : posix_spawnattr_setsigdefault(attributes, &all);
    return err ? err
               : posix_spawnattr_setflags(attributes,
                                          POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
}

static int start(char *const *argv, const char *folder, int out, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char temps[PATH_MAX + sizeof("TMPDIR=")];

    snprintf(temps, sizeof(temps), "TMPDIR=%s", folder);
    char **env = environment(temps);
    if (!env) {
        return ENOMEM;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int err = prepare(&actions, &attributes, folder, out);
    err = err ? err
              : posix_spawn(pid, argv[0], &actions, &attributes, argv, env);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(env);
    return err;
}

/* All of it is read, so that it goes on, and the first part kept. */
static char *read_text(int fd)
{
    char *text = malloc(TEXT_MAX + 1), rest[4096];
    size_t used = 0;

    for (;;) {
        bool keep = text && used < TEXT_MAX;
        ssize_t n = keep ? read(fd, text + used, TEXT_MAX - used)
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
static mcError_t outcome(pid_t pid, const char *folder)
{
    char path[PATH_MAX];
    pid_t done;
    int status;

    do {
        done = waitpid(pid, &status, 0);
    } while (done < 0 && errno == EINTR);
    if (done < 0) {
        snprintf(path, sizeof(path), "%s/%s", folder, OUTPUT);
        return access(path, F_OK) == 0 ? mcSuccess : mcErrorInvalidKernelImage;
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

static mcError_t run(char *const *argv, const char *folder,
                     McLinkOutput *output)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        mc_error("no pipe for the linker: %s", strerror(errno));
        return mcErrorOperatingSystem;
    }
    int err = start(argv, folder, ends[1], &pid);
    close(ends[1]);
    if (!err) {
        output->text = read_text(ends[0]);
    }
    close(ends[0]);
    if (err) {
        mc_error("%s: %s", argv[0], strerror(err));
        return err == ENOMEM                      ? mcErrorMemoryAllocation
               : err == ENOENT || err == EACCES ? mcErrorJitCompilerNotFound
                                                  : mcErrorOperatingSystem;
    }
    mcError_t error = outcome(pid, folder);
    return error == mcSuccess ? read_output(folder, output) : error;
}

/* argv[n] and on become the inputs, by names from the folder. */
static mcError_t add_inputs(const McLinkInput *inputs, size_t count,
                            const char *folder, char **argv)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < count; i++) {
        if (!write_input(folder, i, &inputs[i], path, sizeof(path))) {
            mc_error("%s: %s", path, strerror(errno));
            return mcErrorOperatingSystem;
        }
        argv[i] = strdup(path + strlen(folder) + 1);
        if (!argv[i]) {
            return mcErrorMemoryAllocation;
        }
    }
    return mcSuccess;
}

mcError_t mc_link_run(const McLinkInput *inputs, size_t count,
                      const char *const *options, McLinkOutput *output)
{
    char tool[PATH_MAX], folder[PATH_MAX - 256];
    char *argv[WORDS_MAX] = {tool, "-dlink", "-fatbin", "-o", OUTPUT};
    size_t words = 5;

    *output = (McLinkOutput){0};
    if (!mc_link_tool(tool, sizeof(tool))) {
        return mcErrorJitCompilerNotFound;
    }
    while (*options && words < WORDS_MAX) {
        argv[words++] = (char *)*options++;
    }
    char **all = calloc(words + count + 1, sizeof(*all));
    if (!all) {
        return mcErrorMemoryAllocation;
    }
    if (!folder_make(folder, sizeof(folder))) {
        mc_error("no folder for the linker: %s", strerror(errno));
        free(all);
        return mcErrorOperatingSystem;
    }
    memcpy(all, argv, words * sizeof(*all));
    mcError_t error = add_inputs(inputs, count, folder, all + words);
    if (error == mcSuccess) {
        error = run(all, folder, output);
    }
    folder_remove(folder);
    for (size_t i = 0; i < count; i++) {
        free(all[words + i]);
    }
    free(all);
    return error;
}
