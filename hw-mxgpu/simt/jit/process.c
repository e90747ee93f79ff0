/* SPDX-License-Identifier: MIT */
/*
 * The compiler's process: what LLVM does with foreign code, how long it takes
 * and what memory it takes are not the device's. It gets regions through a
 * socket and answers with code that has no references to anything but itself.
 */
#ifndef _GNU_SOURCE /* QEMU defines it */
#define _GNU_SOURCE /* dladdr1(), addclosefrom_np() */
#endif
#include "process.h"

#include "transfer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct JitProcess {
    int socket;
};

extern char **environ;

/* From where the device's code is: beside it, in a build directory, where it is
 * installed. */
static const char *const places[] = {
    "mxgpu-jit",
    "../simt/mxgpu-jit",
    "../hw-mxgpu/simt/mxgpu-jit",
    "../../hw-mxgpu/simt/mxgpu-jit", /* of QEMU */
    "../libexec/mxgpu/mxgpu-jit",
};

/* The file that this code is in: a library, or the program, for which the loader
 * only has the name that it was started by. */
static bool own_file(char *path, size_t size)
{
    struct link_map *map;
    Dl_info here;
    ssize_t n;

    if (!dladdr1((void *)(uintptr_t)mxgpu_jit_process_new, &here, (void **)&map,
                 RTLD_DL_LINKMAP)) {
        return false;
    }
    if (map->l_name[0]) {
        return (size_t)snprintf(path, size, "%s", map->l_name) < size;
    }
    n = readlink("/proc/self/exe", path, size);
    if (n < 0 || (size_t)n >= size) {
        return false;
    }
    path[n] = 0;
    return true;
}

char *mxgpu_jit_process_find(void)
{
    const char *named = getenv("MXGPU_JIT_PROGRAM");
    char own[4096], path[4096], *name;

    if (named) {
        return strdup(named);
    }
    if (!own_file(own, sizeof(own))) {
        return NULL;
    }
    name = strrchr(own, '/');
    if (!name) {
        return NULL;
    }
    name[1] = 0;
    for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if ((size_t)snprintf(path, sizeof(path), "%s%s", own, places[i]) <
                sizeof(path) &&
            access(path, X_OK) == 0) {
            return strdup(path);
        }
    }
    return NULL;
}

/*
 * What is started leaves a process of its own behind and ends: a program that
 * waits for its children knows nothing of this one. It ends when the socket is
 * closed.
 */
static bool spawn(JitProcess *p, const char *path)
{
    char *argv[] = {(char *)"mxgpu-jit", NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none;
    int pair[2];
    pid_t pid;
    bool ok;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        return false;
    }
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, pair[1], STDIN_FILENO);
    /* Whoever waits for the end of what the program writes does not wait for
     * this process. */
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    ok = !posix_spawn(&pid, path, &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    close(pair[1]);
    while (ok && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    if (!ok) {
        close(pair[0]);
        return false;
    }
    p->socket = pair[0];
    return true;
}

JitProcess *mxgpu_jit_process_new(const char *path)
{
    JitProcess *p = calloc(1, sizeof(*p));

    if (!p || !spawn(p, path)) {
        free(p);
        return NULL;
    }
    return p;
}

void mxgpu_jit_process_stop(JitProcess *p)
{
    const struct timeval patience = {.tv_sec = 1};

    setsockopt(p->socket, SOL_SOCKET, SO_SNDTIMEO, &patience,
               sizeof(patience));
    shutdown(p->socket, SHUT_RD);
}

void mxgpu_jit_process_free(JitProcess *p)
{
    if (!p) {
        return;
    }
    close(p->socket);
    free(p);
}

static bool ask(JitProcess *p, const JitCode *code, const JitRequest *request)
{
    return jit_send(p->socket, request, sizeof(*request)) &&
           jit_send(p->socket, code, sizeof(*code));
}

bool mxgpu_jit_process_leave(JitProcess *p, const JitCode *code, unsigned lanes)
{
    const JitRequest request = JIT_REQUEST(lanes);

    return ask(p, code, &request);
}

JitState mxgpu_jit_process_get(JitProcess *p, const JitCode *code,
                               unsigned lanes, bool look, JitMade *m)
{
    JitRequest request = JIT_REQUEST(lanes);
    JitReply reply;
    void *at;

    request.look = look;
    if (!ask(p, code, &request) ||
        !jit_receive(p->socket, &reply, sizeof(reply))) {
        return JIT_REFUSED;
    }
    if (look && !reply.bytes && reply.absent) {
        return JIT_ABSENT;
    }
    if (reply.bytes > JIT_REPLY_MAX || reply.entry >= PAGE_BYTES ||
        reply.entry >= reply.bytes) {
        return JIT_REFUSED;
    }
    at = mmap(NULL, reply.bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return JIT_REFUSED;
    }
    if (!jit_receive(p->socket, at, reply.bytes) ||
        mprotect(at, reply.bytes, PROT_READ | PROT_EXEC)) {
        munmap(at, reply.bytes);
        return JIT_REFUSED;
    }
    m->size = reply.bytes;
    m->fn = (JitFn *)((uintptr_t)at + reply.entry);
    return JIT_READY;
}
