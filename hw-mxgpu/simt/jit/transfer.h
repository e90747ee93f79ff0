/* SPDX-License-Identifier: MIT */
/* All of some bytes through the socket between device and compiler; false: it is
 * closed. */
#ifndef MXGPU_SIMT_JIT_TRANSFER_H
#define MXGPU_SIMT_JIT_TRANSFER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

static inline bool jit_send(int socket, const void *data, size_t size)
{
    const uint8_t *at = data;

    while (size) {
        ssize_t n = send(socket, at, size, MSG_NOSIGNAL);

        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            return false;
        }
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static inline bool jit_receive(int socket, void *data, size_t size)
{
    uint8_t *at = data;

    while (size) {
        ssize_t n = recv(socket, at, size, 0);

        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            return false;
        }
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

#endif
