/* SPDX-License-Identifier: MIT */
/*
 * mxgpu-jit: compiles regions for a device, one after the other, through the
 * socket that is its standard input, until that is closed; it does so in a
 * process that is no child of the one that started it. Devices start it by
 * themselves. With MXGPU_JIT_DUMP LLVM's code of the n-th region goes to the
 * file of that name and .n.ll.
 */
#define _GNU_SOURCE /* POLLRDHUP */
#include "cache.h"
#include "compile.h"
#include "link.h"
#include "simt/jit/transfer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint8_t *compile(LLVMTargetMachineRef machine, const JitCode *code,
                        unsigned lanes, const char *dump, JitReply *reply)
{
    LLVMMemoryBufferRef object = jit_object(machine, code, lanes, dump);
    uint8_t *bytes = NULL;

    if (object) {
        bytes = jit_link((const uint8_t *)LLVMGetBufferStart(object),
                         LLVMGetBufferSize(object), reply);
        LLVMDisposeMemoryBuffer(object);
    }
    return bytes;
}

static bool answer(LLVMTargetMachineRef machine, JitCache *cache,
                   const JitCode *code, unsigned lanes, unsigned number)
{
    const char *prefix = getenv("MXGPU_JIT_DUMP");
    JitReply reply = {0};
    uint8_t *bytes = NULL;
    char dump[4096];
    bool ok;

    if (prefix) {
        snprintf(dump, sizeof(dump), "%s.%u.ll", prefix, number);
    } else if (cache) {
        bytes = jit_cache_load(cache, code, lanes, &reply);
    }
    if (!bytes) {
        bytes = compile(machine, code, lanes, prefix ? dump : NULL, &reply);
        if (bytes && cache) {
            jit_cache_store(cache, code, lanes, &reply, bytes);
        }
    }
    if (!bytes) {
        reply = (JitReply){0};
    }
    ok = jit_send(STDIN_FILENO, &reply, sizeof(reply)) &&
         jit_send(STDIN_FILENO, bytes, reply.bytes);
    free(bytes);
    return ok;
}

/* Ends the process when nobody waits for it any more, whatever it does. */
static void *watch(void *opaque)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLRDHUP};

    (void)opaque;
    while (poll(&fd, 1, -1) < 0 && errno == EINTR) {
    }
    _exit(0);
}

int main(void)
{
    pthread_t watcher;
    LLVMTargetMachineRef machine;
    JitRequest request, mine;
    JitCode *code = malloc(sizeof(*code));
    unsigned number = 0;
    JitCache *cache;

    if (fork() != 0) { /* nobody is to wait for this process */
        _exit(0);
    }
    if (pthread_create(&watcher, NULL, watch, NULL)) {
        return 1;
    }
    machine = jit_host_machine();
    if (!machine || !code) {
        return 1;
    }
    cache = jit_cache_open(machine);
    while (jit_receive(STDIN_FILENO, &request, sizeof(request))) {
        mine = JIT_REQUEST(request.lanes == JIT_FEW ? JIT_FEW : LANES);
        if (memcmp(&request, &mine, sizeof(mine)) ||
            !jit_receive(STDIN_FILENO, code, sizeof(*code)) ||
            !answer(machine, cache, code, request.lanes, number++)) {
            return 1;
        }
    }
    return 0;
}
