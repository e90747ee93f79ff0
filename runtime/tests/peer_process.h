/* SPDX-License-Identifier: MIT */
/*
 * A second process of a test: the same program, started anew, with a socket to
 * the first one over which they pass bytes and file descriptors. Include it
 * once; main() calls peer_process_main() before anything else.
 */
#ifndef MC_TESTS_PEER_PROCESS_H
#define MC_TESTS_PEER_PROCESS_H

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env.h"

#define PEER_SOCKET 10 /* of the second process */
#define PEER_BUSY   77 /* its status: the device has another user */

typedef struct Peer {
    pid_t pid;
    int socket;
} Peer;

extern char **environ;

/* In a guest a device has one user: that is the second process now. */
static inline void peer_leave_device(void)
{
    if (env_vfio()) {
        env_two_devices();
        ok(mcSetDevice(1));
        ok(mcDeviceReset());
        ok(mcSetDevice(0));
    }
}

/* With what this process has left of the devices. */
static inline Peer peer_start_beside(const char *what)
{
    char *argv[] = {(char *)"peer", (char *)"--peer", (char *)what, NULL};
    posix_spawn_file_actions_t actions;
    Peer peer;
    int pair[2];

    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair),
                    ==, 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], PEER_SOCKET);
    g_assert_cmpint(posix_spawn(&peer.pid, "/proc/self/exe", &actions, NULL,
                                argv, environ), ==, 0);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    peer.socket = pair[0];
    return peer;
}

static inline Peer peer_start(const char *what)
{
    peer_leave_device();
    return peer_start_beside(what);
}

/* Its exit status. */
static inline int peer_end(Peer *peer)
{
    int status;

    close(peer->socket);
    g_assert_cmpint(waitpid(peer->pid, &status, 0), ==, peer->pid);
    g_assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static inline void peer_write(int socket, const void *data, size_t size)
{
    g_assert_cmpint(send(socket, data, size, MSG_NOSIGNAL), ==, size);
}

/* False: the other side ended. */
static inline bool peer_read(int socket, void *data, size_t size)
{
    size_t at = 0;

    while (at < size) {
        ssize_t n = read(socket, (char *)data + at, size - at);

        if (n <= 0) {
            return false;
        }
        at += n;
    }
    return true;
}

static inline void peer_send_fd(int socket, int fd)
{
    char byte = 'f', control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec iov = {&byte, 1};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof(int));
    g_assert_cmpint(sendmsg(socket, &msg, MSG_NOSIGNAL), ==, 1);
}

static inline int peer_receive_fd(int socket)
{
    char byte, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec iov = {&byte, 1};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    int fd;

    g_assert_cmpint(recvmsg(socket, &msg, MSG_CMSG_CLOEXEC), ==, 1);
    g_assert_nonnull(CMSG_FIRSTHDR(&msg));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
    return fd;
}

/* The second process uses device 1. */
static inline void peer_device(void)
{
    mcError_t error = mcSetDevice(1);

    if (error == mcSuccess) {
        error = mcFree(NULL);
    }
    if (error == mcErrorDevicesUnavailable) {
        exit(PEER_BUSY);
    }
    ok(error);
}

/* In the second process: what "modes" has under its name, and its end. */
typedef struct PeerMode {
    const char *name;
    int (*run)(int socket);
} PeerMode;

static inline void peer_process_main(int argc, char **argv,
                                     const PeerMode *modes)
{
    if (argc != 3 || strcmp(argv[1], "--peer")) {
        return;
    }
    for (; modes->name; modes++) {
        if (!strcmp(modes->name, argv[2])) {
            exit(modes->run(PEER_SOCKET));
        }
    }
    exit(2);
}

#endif
