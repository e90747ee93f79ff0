/* SPDX-License-Identifier: MIT */
/*
 * mxgpu-jit: compiles regions for a device, one after the other, through the
 * socket that is its standard input; what it was asked for when that is closed,
 * too, for a few seconds, as it keeps on the disk what it makes. It does so in a
 * process that is no child of the one that started it. Devices start it by
 * themselves. With MXGPU_JIT_DUMP LLVM's code of the n-th region goes to the
 * file of that name and .n.ll.
 */
#include "cache.h"
#include "compile.h"
#include "simt/jit/transfer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char program[4096], module[4096]; /* paths; "": there is none */
static const JitCompiler *compiler; /* NULL: it has not been needed */
static JitOrigin llvm;
static JitCache *cache; /* NULL: there is none */

static void find_files(void)
{
    ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
    char *name;

    program[n > 0 ? n : 0] = 0;
    strcpy(module, program);
    name = strrchr(module, '/');
    if (!name ||
        name + 1 + sizeof(JIT_MODULE) > module + sizeof(module)) {
        module[0] = 0;
        return;
    }
    strcpy(name + 1, JIT_MODULE);
}

/* The first time that something is to be compiled. */
static bool load_compiler(void)
{
    static const JitRequest mine = JIT_REQUEST(0);
    void *handle;

    if (!compiler) {
        handle = module[0] ? dlopen(module, RTLD_NOW) : NULL;
        compiler = handle ? dlsym(handle, "mxgpu_jit_compiler") : NULL;
        if (!compiler || memcmp(&compiler->speaks, &mine, sizeof(mine)) ||
            !compiler->start(&llvm)) {
            return false;
        }
    }
    return true;
}

/* false: there is no compiler. */
static bool make(const JitCode *code, const JitRequest *request,
                 const char *dump, JitReply *reply, uint8_t **bytes)
{
    *bytes =
        cache ? jit_cache_load(cache, code, request->lanes, reply) : NULL;
    if (*bytes) {
        return true;
    }
    if (request->look) {
        *reply = (JitReply){.absent = 1};
        return true;
    }
    if (!load_compiler()) {
        return false;
    }
    *bytes = compiler->compile(code, request->lanes, dump, reply);
    if (!*bytes) {
        *reply = (JitReply){0};
    } else if (cache) {
        jit_cache_store(cache, code, request->lanes, &llvm, reply, *bytes);
    }
    return true;
}

/* false: as make(). */
static bool answer(const JitCode *code, const JitRequest *request,
                   unsigned number)
{
    const char *prefix = getenv("MXGPU_JIT_DUMP");
    JitReply reply = {0};
    uint8_t *bytes;
    char dump[4096];

    if (prefix) {
        snprintf(dump, sizeof(dump), "%s.%u.ll", prefix, number);
    }
    if (!make(code, request, prefix ? dump : NULL, &reply, &bytes)) {
        return false;
    }
    /* Nobody may want to know any more. */
    if (jit_send(STDIN_FILENO, &reply, sizeof(reply))) {
        (void)jit_send(STDIN_FILENO, bytes, reply.bytes);
    }
    free(bytes);
    return true;
}

/* ---- requests */

/* How long a process goes on for whoever asks next, in seconds, and how nice it
 * is: it does get on beside others. */
#define LINGER      10
#define LINGER_NICE 10

typedef struct Job {
    bool last; /* there is nothing else in it */
    JitRequest request;
    JitCode code;
} Job;

static GAsyncQueue *jobs;

static bool is_valid(const JitRequest *request)
{
    JitRequest mine = JIT_REQUEST(request->lanes);
    bool is_sort = false;

    for (unsigned i = 0; i < JIT_SORTS; i++) {
        is_sort |= request->lanes == jit_lanes((JitLanes)i);
    }
    mine.look = request->look != 0;
    return is_sort && !memcmp(request, &mine, sizeof(mine));
}

static Job *receive_job(void)
{
    Job *job = g_new0(Job, 1);

    job->last =
        !jit_receive(STDIN_FILENO, &job->request, sizeof(job->request)) ||
        !is_valid(&job->request) ||
        !jit_receive(STDIN_FILENO, &job->code, sizeof(job->code));
    return job;
}

/* Nobody waits for the process any more: what is left is compiled for a while, by
 * processors that others need less; whoever waits for the end of what the device's
 * process writes does not wait for this one. */
static void linger(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (!cache) { /* it would be for nobody */
        _exit(0);
    }
    alarm(LINGER);
    /* the thread that compiles */
    (void)setpriority(PRIO_PROCESS, getpid(), LINGER_NICE);
    (void)chdir("/");
    if (nowhere >= 0) {
        dup2(nowhere, STDERR_FILENO);
    }
}

/* Takes requests while others are worked on, so that whoever asks can leave. */
static void *receive(void *opaque)
{
    Job *job;
    bool last;

    (void)opaque;
    do {
        job = receive_job();
        last = job->last;
        if (last) {
            linger();
        }
        g_async_queue_push(jobs, job);
    } while (!last);
    return NULL;
}

int main(void)
{
    pthread_t receiver;
    unsigned number = 0;
    bool ok = true;

    if (fork() != 0) { /* nobody is to wait for this process */
        _exit(0);
    }
    find_files();
    if (!getenv("MXGPU_JIT_DUMP")) {
        cache = jit_cache_open(program, module);
    }
    jobs = g_async_queue_new();
    if (pthread_create(&receiver, NULL, receive, NULL)) {
        return 1;
    }
    while (ok) {
        Job *job = g_async_queue_pop(jobs);

        ok = !job->last && answer(&job->code, &job->request, number);
        number += !job->request.look;
        g_free(job);
    }
    _exit(0);
}
